"""Private summaries that answer all queries of a class.

Examples
--------
>>> from learners.sanitizers import IntervalSanitizer
>>> print(IntervalSanitizer(dimension=64, alpha=0.25).utility_claim)
PAC(alpha=0.25, beta=0.1)
"""

from learners.sanitizers.cuts.interval_cuts import IntervalCuts
from learners.sanitizers.generic import GenericSanitizer
from learners.sanitizers.intervals import IntervalSanitizer
from learners.sanitizers.points import PointSanitizer
from learners.sanitizers.reduction import SanitizingLearner

__all__ = ["GenericSanitizer", "IntervalCuts", "IntervalSanitizer", "PointSanitizer", "SanitizingLearner"]
