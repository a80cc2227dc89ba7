"""The part of the catalogue on POINT_d and INTERVAL_d: approximate, pure, improper."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from audit.catalogue import Entry
from learners.approximate.interval import IntervalLearner
from learners.approximate.lumped import LumpedLearner
from learners.approximate.point import PointLearner
from learners.pure import HashedPointLearner, PureIntervalLearner, PurePointLearner
from learners.studies.families import SearchedProblems
from mechanisms.concave.instances import QualityFunctions, random_pair, telling_pairs

if TYPE_CHECKING:
    import numpy as np

__all__ = ["composed_pairs", "entries"]

_LAST = 2**64 - 1
_LOOSE: dict[str, Any] = {"epsilon": 2.0, "delta": 0.05}
"""A budget at which a few records already show what a learner loses."""

_STATED: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6}
"""The budget of the learners as they are by default."""


def entries() -> list[Entry]:
    """Return the entries: exact on small domains, then d = 64, with the accuracy at the stated m there.

    Examples
    --------
    >>> [entry.name for entry in entries()][:3]
    ['point-learner', 'interval-learner', 'pure-point-learner']
    """
    return [*_exact(), *_lumps(), *_far()]


def _exact() -> list[Entry]:
    """Return entries whose privacy is compared on every database of a size."""
    return [
        _entry("point-learner", PointLearner, "POINT_2, all samples of 3", **_LOOSE),
        _entry("interval-learner", IntervalLearner, "INTERVAL_2, all samples of 3", **_LOOSE),
        _entry("pure-point-learner", PurePointLearner, "POINT_2, all samples of 3"),
        _entry("pure-interval-learner", PureIntervalLearner, "INTERVAL_2, all samples of 3"),
        _entry("hashed-point-learner", HashedPointLearner, "POINT_2 by one bit of hash", bits=1),
    ]


def _lumps() -> list[Entry]:
    """Return entries at d = 64 whose answers are joined: exact on every sample of three numbers."""
    told: dict[str, Any] = {"dimension": 64, "size": 4}
    return [
        _lumped("point-learner-64-lumped", PointLearner(**told, **_LOOSE), "δ/2 is reached"),
        _lumped("point-learner-64-tight", PointLearner(tight=True, **told, **_LOOSE), "δ is reached"),
        _lumped("pure-point-learner-64-lumped", PurePointLearner(**told), "ε is reached"),
    ]


def _far() -> list[Entry]:
    """Return entries at d = 64: runs or laws, accuracy, and the split of the budget against the exact law."""
    return [
        _accurate("point-learner-64", PointLearner, _sampled(58)),
        _accurate("pure-point-learner-64", PurePointLearner),
        _accurate("hashed-point-learner-64", HashedPointLearner, {"budget": 5_000}),
        _accurate("interval-learner-64", IntervalLearner, _listed(), problems=_thresholds()),
        _accurate("pure-interval-learner-64", PureIntervalLearner),
        Entry(
            "interval-learner-64-budget",
            partial(_rec, dimension=64),
            options={"pairs": composed_pairs(64), "budget": 2_000},
            reference="BNS Lemma 2, with the calls that are made",
            summary="Rec at T = 2^64 with the fitted split: exact laws against the whole's (ε, δ)",
        ),
        Entry(
            "interval-learner-64-budget-stated",
            partial(_rec, dimension=64, **_STATED),
            options={"pairs": composed_pairs(64, **_STATED), "budget": 2_000},
            reference="BNS Lemma 2, with the calls that are made",
            summary="the same at ε = 1, δ = 1e-06, where the accuracy is claimed: a third of δ is reached",
        ),
    ]


def composed_pairs(dimension: int, *, count: int = 24, **budget: float) -> list[tuple[Any, Any]]:
    """Return neighbouring qualities for Rec at the fitted split: telling ones, and random ones near its gaps.

    Parameters
    ----------
    dimension
        d.
    count
        Of the random pairs for each level of Rec.
    budget
        `epsilon` and `delta` that are split; (2, 0.05) by default.

    Examples
    --------
    >>> len(composed_pairs(64, count=3)) > 3
    True
    """
    import numpy as np

    rng = np.random.default_rng(0)
    top, found = 1 << dimension, []
    for level in _rec(dimension=dimension, **budget).budgets.levels:
        if level.test is not None:
            found += telling_pairs(top, lead=level.test.threshold)
            found += [random_pair(top, rng, lead=level.test.threshold) for _ in range(count)]
    return found


def _rec(*, dimension: int, **budget: float) -> Any:
    """Return Rec as the learner of thresholds runs it, on quality functions."""
    from dataclasses import replace

    learner = IntervalLearner(dimension=dimension, **{**_LOOSE, **budget})
    return replace(learner.mechanism(learner.sample_size), relation=QualityFunctions())


def _entry(name: str, kind: Any, summary: str, **settings: Any) -> Entry:
    return Entry(name, partial(kind, **settings), reference=kind.reference, summary=summary)


def _lumped(name: str, learner: Any, found: str) -> Entry:
    return Entry(
        name,
        partial(LumpedLearner, of=learner),
        reference=learner.reference,
        summary=f"d = 64, all samples of 4 over three numbers, the others joined in one: {found}",
    )


def _accurate(name: str, kind: Any, options: Any = None, **utility: Any) -> Entry:
    return Entry(
        name,
        partial(kind, dimension=64),
        options=options or {"budget": 20_000},
        utility={"exact": False, **utility},
        reference=kind.reference,
        summary=f"d = 64; accurate at α = β = 0.1 on the stated m = {kind(dimension=64).sample_size:,}",
    )


def _thresholds() -> SearchedProblems:
    """Return the thresholds' family; of the law spread over all numbers, which takes long, no variations."""
    learner = IntervalLearner(dimension=64)
    library = learner.problems()
    *short, spread = library

    def vary(problem: Any, rng: np.random.Generator) -> Any:
        near_spread = str(problem.name).startswith(spread.name)
        return learner.vary(short[int(rng.integers(len(short)))] if near_spread else problem, rng)

    return SearchedProblems(library, vary)


def _sampled(ahead: int) -> dict[str, Any]:
    """Return options with a pair where a number is about as far ahead as A_dist asks for."""
    left = [(0, 1)] * ahead + [(_LAST, 0)] * 5
    return {"pairs": [(left, [(1, 1), *left[1:]])], "budget": 40_000}


def _listed() -> dict[str, Any]:
    """Return options with samples around a threshold at which Rec's A_dist decides."""
    pairs = []
    for ones in (50, 500):
        left = [(2**63 - 1, 1)] * ones + [(2**63 + 1, 0)] * ones
        pairs += [(left, [(2**63 + 1, 0), *left[1:]]), (left, [(_LAST, 1), *left[1:]])]
    return {"pairs": pairs, "budget": 6_000}
