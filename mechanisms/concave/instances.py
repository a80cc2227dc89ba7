"""Neighbouring quality functions for audits of Rec."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.errors import InvalidKind
from mechanisms.concave.piecewise import StepFunction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["QualityFunctions", "random_pair", "random_quality", "telling_pairs", "telling_values"]

_ROUNDING = 1e-12
_PIECES = 8
_DENSE = 2**13
"""Largest length of a range on which random qualities change everywhere."""


class QualityFunctions:
    """The relation between quality functions that differ by at most 1.

    A quality of sensitivity 1 maps neighbouring databases to such functions. So privacy under this relation
    implies privacy for every quality of sensitivity 1. Relative rounding errors of 1e-12 are tolerated.

    Examples
    --------
    >>> relation = QualityFunctions()
    >>> left, right = StepFunction([0, 2**40], [3.0, 9.0], top=2**64), StepFunction([0], [4.0], top=2**64)
    >>> relation.are_neighbours(left, left.plus(-1.0)), relation.are_neighbours(left, right)
    (True, False)
    """

    name: ClassVar[str] = "quality-functions"

    def are_neighbours(self, left: Any, right: Any) -> bool:
        """Return whether two different qualities differ by at most 1 everywhere."""
        if not (isinstance(left, StepFunction) and isinstance(right, StepFunction)):
            raise InvalidKind(
                f"The databases of `QualityFunctions` must be step functions; got {left!r:.40} {right!r:.40}."
            )
        if left.top != right.top or left == right:
            return False
        places = sorted({*left.starts, *right.starts})
        a, b = left.values_at(places), right.values_at(places)
        return bool((np.abs(a - b) <= 1.0 + _ROUNDING * np.maximum(1.0, np.abs(a))).all())

    def neighbours(self, database: StepFunction, records: Any = None, rng: Any = None) -> Iterator[Any]:
        """Yield one neighbour for each of four patterns, or random ones.

        In the patterns, all values move up or down by 1, or the values above the median move opposite to the
        others. The random stream has no end.
        """
        del records
        if rng is not None:
            while True:
                yield _moved(database, rng)
        high = database.values > np.median(database.values)
        patterns: list[Any] = [1.0, -1.0, np.where(high, 1.0, -1.0), np.where(high, -1.0, 1.0)]
        for steps in patterns:
            yield StepFunction(database.starts, database.values + steps, top=database.top)


def random_pair(top: int, rng: np.random.Generator, *, lead: float) -> tuple[StepFunction, StepFunction]:
    """Return a random quality function and a random neighbour of it.

    Parameters
    ----------
    top
        The last point.
    rng
        A generator.
    lead
        The gap that A_dist requires. In most functions the heights of the pieces differ by about this gap.

    Examples
    --------
    >>> pair = random_pair(2**64, np.random.default_rng(0), lead=57.3)
    >>> QualityFunctions().are_neighbours(*pair)
    True
    """
    while True:
        quality = random_quality(top, rng, lead=lead)
        neighbour = _moved(quality, rng)
        if neighbour != quality:
            return quality, neighbour


def random_quality(top: int, rng: np.random.Generator, *, lead: float) -> StepFunction:
    """Return a random quality function.

    Examples
    --------
    >>> random_quality(100, np.random.default_rng(0), lead=57.3).top
    100
    """
    kinds = [_stairs, _peaks, _levels, _wild, _flat] + [_noise] * (top <= _DENSE)
    kind = kinds[int(rng.integers(len(kinds)))]
    return kind(top, rng, lead)


def telling_pairs(top: int, *, lead: float) -> list[tuple[StepFunction, StepFunction]]:
    """Return neighbouring qualities with a peak about `lead` above the rest.

    Examples
    --------
    >>> len(telling_pairs(64, lead=57.3))
    6
    """
    pairs = []
    for width in (1, max(1, top // 16), max(1, top // 4)):
        for height in (lead, lead + 2.0):
            low = top // 3
            left = _bump(top, low, low + width - 1, height)
            steps = np.where(left.values > 0.0, -1.0, 1.0)
            pairs.append((left, StepFunction(left.starts, left.values + steps, top=top)))
    return pairs


def telling_values(lead: float) -> tuple[float, ...]:
    """Return the values that the qualities of `telling_pairs` take.

    Examples
    --------
    >>> telling_values(10.0)
    (0.0, 1.0, 9.0, 10.0, 11.0, 12.0)
    """
    return (0.0, 1.0, *(lead + step for step in (-1.0, 0.0, 1.0, 2.0)))


def _bump(top: int, low: int, high: int, height: float) -> StepFunction:
    starts, values = [0, low, high + 1], [0.0, height, 0.0]
    kept = [i for i in range(3) if starts[i] <= top and (i == 2 or starts[i] < starts[i + 1])]
    return StepFunction([starts[i] for i in kept], np.array([values[i] for i in kept]), top=top)


def _height(rng: np.random.Generator, lead: float) -> float:
    """Return a random height from 0 to 4·`lead`, often near `lead`."""
    value = lead + rng.uniform(-4.0, 4.0) if rng.integers(2) else rng.uniform(0.0, 4.0 * lead)
    return float(np.round(value) if rng.integers(2) else value)


def _cuts(top: int, rng: np.random.Generator, most: int = _PIECES) -> list[int]:
    """Return random breakpoints, some far apart and some close together."""
    found = {0}
    for _ in range(int(rng.integers(1, most + 1))):
        anchor = sorted(found)[int(rng.integers(len(found)))]
        near = anchor + int(2.0 ** rng.uniform(0.0, float(top.bit_length())))
        found.add(near if rng.integers(2) else int(rng.random() * top))
    return sorted(point for point in found if point <= top)


def _stairs(top: int, rng: np.random.Generator, lead: float) -> StepFunction:
    starts = _cuts(top, rng)
    peak = int(rng.integers(len(starts)))
    drops = np.array([_height(rng, lead) for _ in starts]) / rng.integers(1, len(starts) + 1)
    sums = np.abs(np.cumsum(drops) - np.cumsum(drops)[peak])
    return StepFunction(starts, _height(rng, 3 * lead) - sums, top=top)


def _peaks(top: int, rng: np.random.Generator, lead: float) -> StepFunction:
    starts = _cuts(top, rng)
    base, tall = float(rng.uniform(-lead, lead)), rng.integers(0, 2, len(starts))
    heights = base + tall * np.array([_height(rng, lead) for _ in starts])
    return StepFunction(starts, heights, top=top)


def _levels(top: int, rng: np.random.Generator, lead: float) -> StepFunction:
    starts = _cuts(top, rng, 4 * _PIECES)
    return StepFunction(starts, np.round(lead) * rng.integers(0, 3, len(starts)), top=top)


def _wild(top: int, rng: np.random.Generator, lead: float) -> StepFunction:
    starts = _cuts(top, rng, 4 * _PIECES)
    return StepFunction(starts, rng.normal(0.0, lead * 10.0 ** rng.uniform(-2, 3), len(starts)), top=top)


def _noise(top: int, rng: np.random.Generator, lead: float) -> StepFunction:
    return StepFunction.of(np.round(rng.uniform(0.0, 3.0 * lead, top + 1), int(rng.integers(0, 3))))


def _flat(top: int, rng: np.random.Generator, lead: float) -> StepFunction:
    return StepFunction([0], np.array([_height(rng, lead)]), top=top)


def _moved(quality: StepFunction, rng: np.random.Generator) -> StepFunction:
    """Return a random neighbour of a quality function."""
    starts = sorted({*quality.starts, *_cuts(quality.top, rng)} if rng.integers(2) else quality.starts)
    values = quality.values_at(starts)
    kind = int(rng.integers(4))
    steps: NDArray[Any]
    if kind == 0:
        steps = rng.integers(-1, 2, len(starts)).astype(np.float64)
    elif kind == 1:
        steps = rng.uniform(-1.0, 1.0, len(starts))
    else:  # the highest pieces move opposite to the rest: the worst case for a gap
        highest = values >= np.quantile(values, rng.uniform(0.0, 1.0))
        steps = np.where(highest, -1.0, 1.0) * (1 if kind == 2 else -1)
    return StepFunction(starts, values + steps, top=quality.top)
