"""The catalogue's entries for learners of any class and by statistical queries, and their flawed twins."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from audit.catalogue import Entry
from learners.by_queries.conjunctions import ConjunctionLearner
from learners.by_queries.kmeans import KMeans
from learners.by_queries.noisy_labels import NoiseIgnored, NoisyConjunctionLearner
from learners.by_queries.perceptron import Perceptron
from learners.concepts import ConjunctionClass, ExplicitClass, IntervalClass, PointClass
from learners.entries.at_size import at_size
from learners.generic.agnostic import GenericLearner, VCLearner
from learners.generic.compression import CompressionLearner
from learners.generic.labels import LabelPrivateLearner, ReplacedRecords
from learners.masked import MaskedParityLearner

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
    return [*_small(), *_at_size(), *_flawed()]


def _small() -> Iterator[Entry]:
    """Yield the learners on so few records that their laws on all databases can be compared."""
    yield _entry(GenericLearner, "exponential mechanism over the points of {0, …, 3}, by errors", useful=True)
    summary = "the same over one concept for each labelling: intervals"
    yield _entry(VCLearner, summary, useful=True, concepts=IntervalClass(2))
    summary = "concepts from the x's, which are public; private in the labels"
    yield _entry(LabelPrivateLearner, summary, useful=True, size=3)
    yield _entry(ConjunctionLearner, "monotone conjunctions by d queries, noise on the averages")
    yield _local(ConjunctionLearner, "monotone conjunctions by d queries, everybody adds noise", size=4)
    noisy = {"dimension": 1, "size": 4}
    yield _entry(NoisyConjunctionLearner, "a conjunction from labels flipped with 0.1", **noisy)
    yield _entry(MaskedParityLearner, "MASKED-PARITY in two rounds of queries, noise on the averages")
    yield _local(MaskedParityLearner, "MASKED-PARITY in two rounds, local and interactive", size=2)
    yield _entry(CompressionLearner, "Occam's razor by compression: rounds that double the sample", **_SMALL)
    yield _sampled(_entry(Perceptron, "the perceptron by adaptive queries (no law)"))
    yield _sampled(_local(Perceptron, "the perceptron by adaptive queries, local (no law)"))
    yield _sampled(_entry(KMeans, "k-means by adaptive queries (no law)"))
    yield _sampled(_local(KMeans, "k-means by adaptive queries, local (no law)"))


def _at_size() -> Iterator[Entry]:
    """Yield the learners with the sample that their utility asks for: both claims by runs."""
    zeros = (0,) * 9
    yield _useful(
        GenericLearner,
        "conjunctions of 9 variables",
        {"concepts": ConjunctionClass(9), "alpha": 0.2, "beta": 0.1, "calm": (zeros, 1), "odd": (zeros, 0)},
        budget=20_000,
        runs=2_600,
    )
    yield _useful(
        VCLearner,
        "the intervals of {0, …, 1023}",
        {"concepts": IntervalClass(10), "alpha": 0.2, "beta": 0.1, "calm": (512, 0), "odd": (512, 1)},
        budget=20_000,
        runs=2_600,
    )
    yield _useful(
        LabelPrivateLearner,
        "the points of {0, …, 255}",
        {"concepts": PointClass(8), "beta": 0.1, "calm": (5, 0), "odd": (5, 1)},
        budget=20_000,
        runs=2_200,
    )
    yield _useful(
        CompressionLearner,
        "conjunctions of 6 variables",
        {
            "concepts": ConjunctionClass(6),
            "alpha": 0.3,
            "beta": 0.1,
            "calm": (zeros[:6], 1),
            "odd": (zeros[:6], 0),
            "placed": {"share": 0.2, "places": (0,)},
        },
        budget=10_000,
        runs=2_600,
    )
    summary = "two variables, labels flipped with 0.1"
    yield _useful(NoisyConjunctionLearner, summary, _NOISY, budget=5_000, runs=2_600)
    ignored = _useful(NoiseIgnored, "labels flipped with 0.3 taken for clean", _NOISY, budget=1_000, runs=600)
    yield replace(ignored, name="noisy-conjunctions-ignored-at-size", utility_expected="refuted")
    models = (({"model": "central", "epsilon": 1.0}, 30_000), ({"model": "local", "epsilon": 2.0}, 20_000))
    for noise, budget in models:
        yield _useful(
            ConjunctionLearner,
            "conjunctions of 4 variables",
            noise | _CONJUNCTIONS,
            budget=20_000,
            runs=2_600,
        )
        yield _useful(MaskedParityLearner, "d = 4", noise | _MASKED, budget=20_000, runs=2_400)
        yield _useful(
            Perceptron, "d = 2, margin 0.9, all its rounds", noise | _PERCEPTRON, budget=budget, runs=2_600
        )
        yield _useful(
            KMeans, "two centres in the plane, two rounds", noise | _KMEANS, budget=budget, runs=2_600
        )


def _flawed() -> Iterator[Entry]:
    yield Entry(
        ReplacedRecords.name,
        ReplacedRecords,
        expected="refuted",
        reference=ReplacedRecords.reference,
        summary="label privacy taken for privacy: an x tells which concepts were kept",
    )


def _entry(kind: Any, summary: str, *, useful: Any = False, **settings: Any) -> Entry:
    factory = partial(kind, **settings)
    utility = {"budget": 4_000} if useful else None
    return Entry(kind.name, factory, utility=utility, reference=kind.reference, summary=summary)


def _local(kind: Any, summary: str, **settings: Any) -> Entry:
    factory = partial(kind, model="local", **settings)
    return Entry(f"{kind.name}-local", factory, reference=kind.reference, summary=summary)


def _sampled(entry: Entry) -> Entry:
    """Return the entry with the budget that learners without a law are given."""
    return replace(entry, options={"budget": 20_000})


def _useful(
    kind: Any, summary: str, settings: Mapping[str, Any], *, budget: int = 10_000, runs: int = 1_500
) -> Entry:
    """Return the entry of a learner with its stated sample: the budgets of privacy and of utility.

    A tenth of the runs of a utility audit is for the search.
    """
    model = "-local" if settings.get("model") == "local" else ""
    return Entry(
        f"{kind.name}{model}-at-size",
        partial(at_size, kind, **settings),
        options={"budget": budget},
        utility={"budget": runs},
        reference=kind.reference,
        summary=f"by runs, with the stated n: {summary}",
    )


_CONJUNCTIONS = {
    "dimension": 4,
    "beta": 0.1,
    "calm": ((1, 1, 1, 1), 1),
    "odd": ((0, 0, 0, 0), 1),
    "placed": {"share": 0.025},
}
"""The share is the threshold alpha/2d at which a variable is kept."""

_MASKED = {
    "dimension": 4,
    "beta": 0.1,
    "calm": ((0, 0, 0, 0, 0, 0, 0), 1),
    "odd": ((0, 0, 0, 0, 0, 0, 1), -1),
    "placed": {"share": 0.0625, "labels": (1, -1)},
}
"""The share is the threshold 1/4d of the first bit."""

_PERCEPTRON = {
    "dimension": 2,
    "rounds": None,
    "margin": 0.9,
    "alpha": 0.45,
    "beta": 0.1,
    "calm": ((0.6, 0.8), 1),
    "odd": ((-0.8, -0.6), 1),
    "placed": {"audited": 75_000, "places": (1_500, 3_500), "labels": (1, -1)},
}
"""Chunks of 1,000: replaced is a record that the first round's mean mistake reads, or the next error."""

_KMEANS = {
    "start": ((0.1, 0.1), (0.9, 0.9)),
    "rounds": 2,
    "tau": 0.03,
    "least_mass": 0.3,
    "beta": 0.1,
    "calm": (0.1, 0.1),
    "odd": (0.9, 0.9),
    "placed": {"audited": 12_000, "places": (500, 10_500), "labels": None},
}
"""Chunks of 1,000: replaced is a record that a mass of the first round reads, or one of the second."""

_NOISY = {"beta": 0.1, "calm": ((1, 1), 1), "odd": ((0, 0), 1), "placed": {"share": 0.1, "labels": (-1, 1)}}
"""The share at which answers without noise, 1.125 times it, are the threshold alpha/2d."""

_SMALL = {
    "concepts": ExplicitClass("uv", [[0, 0], [0, 1], [1, 1]]),
    "bits": int,
    "first_round": 2,
    "caps": (0, 1, 2),
    "size": 6,
}
"""Two rounds of two and four records, over three concepts of 0, 1 and 2 bits."""
