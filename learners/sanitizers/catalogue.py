"""The sanitizers' part of the catalogue: exact on small domains, by runs and for accuracy at 64 bits."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from audit.catalogue import Entry
from learners.sanitizers.cuts import IntervalCuts
from learners.sanitizers.flawed import UnsplitPointSanitizer
from learners.sanitizers.generic import GenericSanitizer
from learners.sanitizers.intervals import IntervalSanitizer
from learners.sanitizers.points import PointSanitizer
from learners.sanitizers.reduction import SanitizingLearner
from learners.sanitizers.tallies import CountedNumbers, Tally

__all__ = ["entries", "swaps"]

_LOOSE: dict[str, Any] = {"epsilon": 8.0, "delta": 0.1, "alpha": 0.5, "beta": 0.5}
"""Parameters at which choosing is private on few records, so that all counts can be listed."""

_REFUTED: dict[str, Any] = {"expected": "refuted"}

_FEW_RUNS = {"budget": 1500}


def swaps(*points: int, size: int, many: int) -> list[tuple[list[int], list[int]]]:
    """Return databases of two points, `many` of them evenly from one extreme to the other, and one swap each.

    For two points that are the whole domain and many = size these are all pairs of multisets.

    Examples
    --------
    >>> swaps(0, 1, size=2, many=2)
    [([1, 1], [0, 1]), ([0, 1], [0, 0])]
    """
    first, second = points
    heads = dict.fromkeys(size * i // many for i in range(many))
    return [
        ([first] * head + [second] * (size - head), [first] * (head + 1) + [second] * (size - head - 1))
        for head in heads
    ]


def entries() -> list[Entry]:
    """Return the entries.

    Examples
    --------
    >>> [entry.name for entry in entries()][-2:]
    ['generic-sanitizer', 'sanitizing-learner']
    """
    bits: dict[str, Any] = {"dimension": 1, **_LOOSE}
    point = partial(PointSanitizer, **bits, size=42)
    proper = partial(PointSanitizer, **bits, size=85, proper=True)
    interval = partial(IntervalSanitizer, **bits, size=241)
    unsplit = partial(UnsplitPointSanitizer, **bits, size=18)
    cuts = partial(IntervalCuts, dimension=2, alpha=0.5, epsilon=4.0, delta=0.01, size=648)
    far: dict[str, Any] = {"alpha": 0.5, "epsilon": 2.0, "delta": 0.1}
    return [
        _exact("point-sanitizer", point, "POINT_1 by repeated choosing, exact: all pairs"),
        _exact("point-sanitizer-proper", proper, "the same, a database comes out: all pairs"),
        _exact("interval-sanitizer", interval, "INTERVAL_1 by Rec and choosing, exact: all pairs"),
        _exact("interval-cuts", cuts, "where INTERVAL_2 is cut, exact: the budget but for the noise", many=6),
        _exact("flawed-point-sanitizer-unsplit", unsplit, "every round spends the whole budget", **_REFUTED),
        _far("point-sanitizer-64", partial(PointSanitizer, **far), "POINT_64"),
        _far("interval-sanitizer-64", partial(IntervalSanitizer, **far), "INTERVAL_64"),
        _accurate("point-sanitizer-estimates", PointSanitizer, "POINT_64, estimates"),
        _accurate("point-sanitizer-accuracy", partial(PointSanitizer, proper=True), "POINT_64, a database"),
        _accurate("interval-sanitizer-accuracy", IntervalSanitizer, "INTERVAL_64, a database"),
        _pure(GenericSanitizer, "the exponential mechanism over small databases: intervals of {0, …, 3}"),
        _pure(SanitizingLearner, "intervals of {0, 1} learned through the sanitizer for C^label"),
    ]


def _exact(name: str, factory: Any, summary: str, *, many: int | None = None, **expected: Any) -> Entry:
    """Return an entry whose laws are compared on `many` of the pairs over two points; None: on all."""
    size = factory.keywords["size"]
    options = {"pairs": swaps(0, 1, size=size, many=many or size), "budget": 2000}
    reference = factory.func.reference
    return Entry(name, factory, options=options, reference=reference, summary=summary, **expected)


def _far(name: str, factory: Any, what: str) -> Entry:
    """Return an entry at a loose budget: few records, so that runs show much of what a swap moves.

    Its accuracy is audited where m is that of the default parameters (`_accurate`).
    """
    made = factory()
    summary = f"{what}: privacy by runs at a loose budget, where α = {made.alpha:g} takes m = {made.size:,}"
    return Entry(name, factory, options=_FEW_RUNS, reference=factory.func.reference, summary=summary)


def _accurate(name: str, factory: Any, what: str) -> Entry:
    """Return an entry at the default parameters, whose m is below 1,000,000: no larger alpha is needed."""
    made = factory()
    options = {"pairs": [_swap(made.size)], "budget": 200}
    summary = (
        f"{what}: accurate on the stated m = {made.size:,}, below 10^6 at α = β = {made.alpha:g}, "
        f"ε = {made.epsilon:g}, δ = {made.delta:g}"
    )
    return Entry(name, factory, options=options, utility={}, reference=made.reference, summary=summary)


def _swap(size: int) -> tuple[CountedNumbers, CountedNumbers]:
    """Return databases of the two ends of 64 bits, half each, and one record swapped."""
    ends = np.array([0, 2**64 - 1], dtype=np.uint64)
    left, right = (Tally(ends, np.array([head, size - head])) for head in (size // 2, size // 2 + 1))
    return CountedNumbers(left), CountedNumbers(right)


def _pure(kind: Any, summary: str) -> Entry:
    made = kind()
    claim = made.utility_claim
    told = f"{summary}; m = {made.sample_size:,} at α = {claim.alpha:g}, β = {claim.beta:g}"
    return Entry(kind.name, kind, utility={}, reference=kind.reference, summary=told)
