"""Hard problems for learners of points and thresholds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from learners.approximate.samples import MOST_BITS
from learners.approximate.sources import IntervalProblem, NumberSource, PointProblem

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["crowded_source", "interval_problems", "point_problems"]

_ABOVE = 1.01
_BELOW = 0.99
_MOST_RIVALS = 1000
_SPREAD = 128
"""The number of points, a power of two, over which a law on numbers of more than 64 bits is spread."""


def crowded_source(dimension: int, *, target: int, mass: float, rivals: int) -> NumberSource:
    """Return a law with a mass at the target and the rest on `rivals` numbers.

    BNS Lemma 1 fails on this law if the mass is just above α² and there are 1/α + 1 rivals.

    Examples
    --------
    >>> source = crowded_source(4, target=0, mass=0.1, rivals=3)
    >>> [x for x, _ in source.atoms], round(source.at(1), 12)
    ([0, 1, 2, 3], 0.3)
    """
    others = [x for x in range(rivals + 1) if x != target][:rivals]
    shares = [(x, (1.0 - mass) / len(others)) for x in others]
    return NumberSource(dimension, ((target, mass), *shares))


def point_problems(dimension: int, *, alpha: float, size: int) -> list[PointProblem]:
    """Return hard problems about POINT_d with samples of `size` examples.

    Examples
    --------
    >>> [problem.name for problem in point_problems(64, alpha=0.1, size=50)][:2]
    ['1.01·α at 0, the rest on one number', '1.01·α at 2^64 − 1, the rest on one number']
    """
    last = (1 << dimension) - 1
    found = []
    for share in (_ABOVE, _BELOW, 0.75):
        for target, words in ((0, "0"), (last, f"2^{dimension} − 1")):
            other = last - target if last else target
            mass = min(share * alpha, 1.0)
            source = NumberSource(dimension, ((target, mass), (other, 1.0 - mass)))
            found.append(PointProblem(f"{share}·α at {words}, the rest on one number", source, target, size))
    rivals = min(math.floor(1.0 / alpha) + 1, last, _MOST_RIVALS)
    crowded = crowded_source(dimension, target=last // 2, mass=min(_ABOVE * alpha**2, 1.0), rivals=rivals)
    found.append(PointProblem(f"α² at the target, {rivals} rivals", crowded, last // 2, size))
    evenly = NumberSource(dimension, spread=True)
    half = NumberSource(dimension, ((last, min(_ABOVE * alpha, 1.0)),), spread=True)
    return [
        *found,
        PointProblem("spread over all numbers", evenly, last // 3, size),
        PointProblem("1.01·α at the last, the rest spread", half, last, size),
    ]


def interval_problems(dimension: int, *, alpha: float, size: int) -> list[IntervalProblem]:
    """Return hard problems about INTERVAL_d with samples of `size` examples.

    Examples
    --------
    >>> [problem.name for problem in interval_problems(64, alpha=0.1, size=50)][-1]
    'spread over all numbers'
    """
    return [
        IntervalProblem(name, source, target, size)
        for name, source, target in _interval_cases(dimension, alpha=alpha)
    ]


def _interval_cases(dimension: int, *, alpha: float) -> Iterator[tuple[str, NumberSource, int]]:
    top = 1 << dimension
    middle = top // 3
    light = min(_ABOVE * alpha, 1.0)
    yield "one number below threshold 2^d", NumberSource(dimension, ((top - 1, 1.0),)), top
    yield "one number from threshold 0 on", NumberSource(dimension, ((0, 1.0),)), 0
    pair = NumberSource(dimension, ((middle, light), (middle + 1, 1.0 - light)))
    yield "1.01·α and the rest on adjacent numbers, threshold between", pair, middle + 1
    yield "the same, threshold 0", pair, 0
    yield "the same, threshold 2^d", pair, top
    if dimension > 2:
        edge = ((top - 2, light), (top - 1, 1.0 - light))
        yield "adjacent at the end, threshold between", NumberSource(dimension, edge), top - 1
    if dimension > 2 and light <= 0.5:
        both = ((0, 0.5 - light), (middle, light), (middle + 1, light), (top - 1, 0.5 - light))
        yield "1.01·α on either side of the threshold", NumberSource(dimension, both), middle + 1
    if dimension <= MOST_BITS:
        yield "spread over all numbers", NumberSource(dimension, spread=True), middle
    else:  # long numbers are slow to draw one by one
        atoms = tuple((top // _SPREAD * place, 1.0 / _SPREAD) for place in range(_SPREAD))
        yield f"spread over {_SPREAD} numbers", NumberSource(dimension, atoms), middle
