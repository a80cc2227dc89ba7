"""The catalogue's entries for the learners of this part: generic, label-private, by statistical queries."""

from __future__ import annotations

from functools import partial
from typing import Any

from audit.catalogue import Entry
from learners.compression import CompressionLearner
from learners.concepts import ExplicitClass, IntervalClass
from learners.conjunctions import ConjunctionLearner
from learners.generic import GenericLearner, VCLearner
from learners.kmeans import KMeans
from learners.labels import LabelPrivateLearner, ReplacedRecords
from learners.masked import MaskedParityLearner
from learners.perceptron import Perceptron

__all__ = ["entries"]


def entries() -> list[Entry]:
    """Return an entry for every learner, at sizes that its exact law lets an audit prove.

    Examples
    --------
    >>> by_name = {entry.name: entry for entry in entries()}
    >>> print(by_name["generic-learner"].factory(epsilon=0.5).claim)
    PureDP(epsilon=0.5)
    >>> by_name["flawed-label-private-learner"].expected
    'refuted'
    """
    return [
        _entry(GenericLearner, "exponential mechanism over the points of {0, …, 3}, by errors"),
        _entry(
            VCLearner, "the same over one concept for each labelling: intervals", concepts=IntervalClass(2)
        ),
        _entry(LabelPrivateLearner, "concepts from the x's, which are public; private in the labels", size=3),
        _entry(ConjunctionLearner, "monotone conjunctions by d queries, noise on the averages"),
        _local(ConjunctionLearner, "monotone conjunctions by d queries, everybody adds noise", size=4),
        _entry(MaskedParityLearner, "MASKED-PARITY in two rounds of queries, noise on the averages"),
        _local(MaskedParityLearner, "MASKED-PARITY in two rounds, local and interactive", size=2),
        _entry(CompressionLearner, "Occam's razor by compression: rounds that double the sample", **_SMALL),
        _entry(Perceptron, "the perceptron by adaptive queries (no law)"),
        _local(Perceptron, "the perceptron by adaptive queries, local (no law)"),
        _entry(KMeans, "k-means by adaptive queries (no law)"),
        _local(KMeans, "k-means by adaptive queries, local (no law)"),
        Entry(
            ReplacedRecords.name,
            ReplacedRecords,
            expected="refuted",
            reference=ReplacedRecords.reference,
            summary="label privacy taken for privacy: an x tells which concepts were kept",
        ),
    ]


def _entry(kind: Any, summary: str, **settings: Any) -> Entry:
    return Entry(kind.name, partial(kind, **settings), reference=kind.reference, summary=summary)


def _local(kind: Any, summary: str, **settings: Any) -> Entry:
    factory = partial(kind, model="local", **settings)
    return Entry(f"{kind.name}-local", factory, reference=kind.reference, summary=summary)


_SMALL = {
    "concepts": ExplicitClass("uv", [[0, 0], [0, 1], [1, 1]]),
    "bits": int,
    "first_round": 2,
    "caps": (0, 1, 2),
    "size": 6,
}
"""Two rounds of two and four records, over three concepts of 0, 1 and 2 bits."""
