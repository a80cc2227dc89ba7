"""Catalogue entries of sanitizers at 64 bits."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from audit.catalogue import Entry
from learners.formulas import budgets
from learners.sanitizers.flawed import UnsplitIntervalSanitizer, UnsplitPointSanitizer
from learners.sanitizers.intervals import IntervalSanitizer
from learners.sanitizers.lumped import LumpedIntervals, LumpedPoints
from learners.sanitizers.points import PointSanitizer
from learners.sanitizers.tallies import CountedNumbers, Tally

_REFUTED: dict[str, Any] = {"expected": "refuted"}


def _lumps() -> list[Entry]:
    """Return entries of the sanitizers' exact laws at 64 bits."""
    lumped = partial(_lumped, LumpedPoints, other=2**64 - 1)
    between = partial(_lumped, LumpedIntervals, other=2**15)
    quarter: dict[str, Any] = {"alpha": 0.25}
    return [
        lumped("point-sanitizer-64-lumped", PointSanitizer, "rounds of choosing and noise"),
        between("interval-sanitizer-64-lumped", IntervalSanitizer, "Rec, choosing and noise", **quarter),
        lumped("flawed-point-sanitizer-64-lumped", UnsplitPointSanitizer, "nothing is split", **_REFUTED),
        between(
            "flawed-interval-sanitizer-64-lumped",
            UnsplitIntervalSanitizer,
            "nothing is split",
            **quarter,
            **_REFUTED,
        ),
    ]


def _lumped(lumps: Any, name: str, kind: Any, told: str, *, other: int, **settings: Any) -> Entry:
    """Return the entry of a lumped sanitizer on databases of two points."""
    expected = settings.pop("expected", "not refuted")
    size = kind(**settings).private_size
    made = kind(**settings, size=size)
    heads = _heads(made)
    edges = (heads, tuple(size - head + 1 for head in reversed(heads)))
    return Entry(
        name,
        partial(lumps, of=made, told=(0, other), edges=edges),
        options={"pairs": [_swap(size, head, other=other) for head in heads], "budget": 500},
        expected=expected,
        formulas=budgets.lumped if expected == "not refuted" else None,
        reference=made.reference,
        summary=f"{told}: the exact law of the whole at d = 64, ε = 1, δ = 1e-06",
    )


def _far(name: str, factory: Any, what: str) -> Entry:
    """Return an entry with large ε and δ and few records."""
    made = factory()
    options = {"pairs": _two_swaps(made), "budget": 8_000}
    summary = f"{what}: privacy by runs at a loose budget, where α = {made.alpha:g} takes m = {made.size:,}"
    return Entry(name, factory, options=options, reference=made.reference, summary=summary)


def _accurate(name: str, factory: Any, what: str, *, varies: bool = False, **more: Any) -> Entry:
    """Return an entry that audits accuracy at the default parameters."""
    made = factory()
    options = {"pairs": _two_swaps(made)[1:], "budget": 5_000} if varies else None
    summary = (
        f"{what}: accurate on the stated m = {made.size:,}, below 10^6 at α = β = {made.alpha:g}, "
        f"ε = {made.epsilon:g}, δ = {made.delta:g}"
    )
    told = {"options": options, "utility": {}, "reference": made.reference, "summary": summary, **more}
    return Entry(name, factory, **told)


def _heads(made: Any) -> tuple[int, int]:
    """Return two counts that one record may decide."""
    return round(made.choosing_alpha * made.size / 2.0), made.size // 2


def _two_swaps(made: Any) -> list[tuple[CountedNumbers, CountedNumbers]]:
    return [_swap(made.size, head) for head in _heads(made)]


def _swap(size: int, head: int, *, other: int = 2**64 - 1) -> tuple[CountedNumbers, CountedNumbers]:
    """Return neighbours with `head` and `head` − 1 zeros."""
    ends = np.array([0, other], dtype=np.uint64)
    left, right = (Tally(ends, np.array([some, size - some])) for some in (head, head - 1))
    return CountedNumbers(left), CountedNumbers(right)


_LOOSE: dict[str, Any] = {"alpha": 0.5, "epsilon": 2.0, "delta": 0.1}

entries = (
    *_lumps(),
    _far("point-sanitizer-64", partial(PointSanitizer, **_LOOSE), "POINT_64"),
    _far("interval-sanitizer-64", partial(IntervalSanitizer, **_LOOSE), "INTERVAL_64"),
    _accurate("point-sanitizer-estimates", PointSanitizer, "POINT_64, estimates", varies=True),
    _accurate("point-sanitizer-accuracy", partial(PointSanitizer, proper=True), "POINT_64, a database"),
    _accurate("interval-sanitizer-accuracy", IntervalSanitizer, "INTERVAL_64, a database", long=("utility",)),
)
