"""Algorithm Rec of BNS §3.3 for quasi-concave promise problems."""

from mechanisms.concave.bounds import calls, least_promise, lemma_2, levels, log_star
from mechanisms.concave.instances import QualityFunctions, random_pair
from mechanisms.concave.promise import ConcavePromise
from mechanisms.concave.qualities import IntervalVotes, ThresholdAgreement

__all__ = [
    "ConcavePromise",
    "IntervalVotes",
    "QualityFunctions",
    "ThresholdAgreement",
    "calls",
    "least_promise",
    "lemma_2",
    "levels",
    "log_star",
    "random_pair",
]
