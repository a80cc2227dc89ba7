"""Catalogue entries of learners on few more examples than they need.

Each entry runs a learner on its hardest problem, at a size where few runs fail. With only 0.7 of its ε the
learner fails, and the audit refutes the claim. The sizes were found by trial (`benchmarks/README.md`). There
is no entry where sampling error decides the least size.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from audit.catalogue import Entry, Later
from learners.approximate.point import PointLearner
from learners.approximate.searching import SearchingIntervalLearner
from learners.by_queries.perceptron import Perceptron
from learners.concepts import IntervalClass
from learners.finite.least import OnSample
from learners.generic.agnostic import VCLearner
from learners.parity import ParityLearner
from learners.pure.hashed import HashedPointLearner
from learners.pure.proper import PurePointLearner

if TYPE_CHECKING:
    from collections.abc import Callable

__all__: list[str] = []


def _least(name: str, part: Callable[[], Any], *, examples: int, hardest: str, budget: int = 1_000) -> Entry:
    """Return an entry on the problems whose name begins with `hardest`."""
    made = part()

    def audited() -> dict[str, Any]:
        problems = OnSample(part=made, examples=examples).problems()
        return {
            "problems": [problem for problem in problems if problem.name.startswith(hardest)],
            "exact": False,
            "budget": budget,
        }

    return Entry(
        f"{name}-least",
        partial(OnSample, part=made, examples=examples),
        options=None,
        utility=Later(audited),
        reference=made.reference,
        summary=f"on m = {examples:,} where {made.sample_size():,} are stated: wider noise would show",
    )


_RARE = "1.01·α at 0"
#: The runs of an entry that fails in 6 of 100 runs, near β = 0.1. At significance 1e-7 a fixed sample of
#: 1,280 runs would show that the failure probability is below β.
_CLOSE = 2_500

entries = (
    _least(
        "searching-interval-learner",
        partial(SearchingIntervalLearner, epsilon=8.0, delta=0.4),
        examples=175,
        hardest="1.01",
    ),
    _least(
        "point-learner-64",
        partial(PointLearner, dimension=64),
        examples=840,
        hardest=_RARE,
    ),
    _least(
        "pure-point-learner-64",
        partial(PurePointLearner, dimension=64),
        examples=1_050,
        hardest=_RARE,
        budget=_CLOSE,
    ),
    _least(
        "hashed-point-learner-64",
        partial(HashedPointLearner, dimension=64),
        examples=280,
        hardest=_RARE,
        budget=_CLOSE,
    ),
    _least(
        "parity-64",
        partial(ParityLearner, dimension=64),
        examples=600,
        hardest="rarely uniform",
    ),
)


def slow() -> tuple[Entry, ...]:
    """Return the entries that are too slow for `make audit`."""
    return (
        _least(
            "vc-learner",
            partial(VCLearner, concepts=IntervalClass(10), alpha=0.2, beta=0.1, epsilon=0.1),
            examples=1_050,
            hardest="two rivals",
        ),
        _least(
            "perceptron-local",
            partial(Perceptron, model="local", dimension=2, margin=0.9, alpha=0.45, rounds=None, epsilon=0.3),
            examples=22_000,
            hardest="both sides",
            budget=_CLOSE,
        ),
    )
