"""Quasi-concave qualities that are hardest for Rec.

Peaks lie at the border of two intervals, and some have a shelf beside them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mechanisms.concave.piecewise import StepFunction

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["hard_qualities", "named_qualities", "plateau", "shelf"]

_BELOW = 1.0 - 1e-9
"""Factor that takes a quality just below what is good enough."""


def plateau(top: int, low: int, high: int, *, height: float, floor: float = 0.0) -> StepFunction:
    """Return the function that is `height` on [low, high] and `floor` elsewhere.

    Examples
    --------
    >>> plateau(2**64, 5, 9, height=7.0).starts
    (0, 5, 10)
    """
    return _steps(top, {0: floor, low: height, high + 1: floor})


def shelf(top: int, low: int, power: int, *, height: float, good: float) -> StepFunction:
    """Return a peak of K = 2^power points, followed by a shelf of 16·K points.

    The peak begins at `low` and has quality `height`. The quality of the shelf is halfway between `height`
    and `good`; elsewhere it is just below `good`. Rec rates the widths K and 16·K equally. If it chooses K,
    the best interval leads by only half of `height` − `good`. At promises too low for Lemma 3, Rec fails more
    often on this shape than on any other tried.

    Examples
    --------
    >>> [shelf(99, 20, 1, height=8.0, good=4.0)(point) for point in (20, 21, 22, 53)]
    [8.0, 8.0, 6.0, 6.0]
    """
    size, floor = 1 << power, good * _BELOW
    after = low + size
    return _steps(top, {0: floor, low: height, after: (height + good) / 2.0, after + 16 * size: floor})


def hard_qualities(top: int, *, height: float, good: float | None = None) -> Iterator[StepFunction]:
    """Yield plateaus and shelves of many widths at hard places.

    The places are the ends of the range, its middle, and the borders of intervals.

    Parameters
    ----------
    top
        The last point.
    height
        The quality of the best points, which is the promise.
    good
        The quality that is good enough; by default half of the promise.

    Guarantee
    ---------
    Every quality is quasi-concave with maximum `height`. Outside its plateau and shelf it is 0 or just below
    `good`. Let K be a power of two. On a plateau of K … 2K − 1 points the inner call of Rec should return K.
    Rec then covers the range by two families of intervals of 8K points, {A_i} and {B_i}. No A_i contains a
    plateau that extends across a multiple of 8K. No B_i contains a plateau that extends across a multiple of
    8K plus 4K.

    Examples
    --------
    >>> all(max(quality.values) == 9.0 for quality in hard_qualities(100, height=9.0))
    True
    """
    half = height / 2.0 if good is None else good
    for power in _powers(top):
        for low, width in _places(top, power):
            for floor in (0.0, half * _BELOW):
                yield plateau(top, low, low + width - 1, height=height, floor=floor)
            if width == 1 << power:
                yield shelf(top, low, power, height=height, good=half)


def named_qualities(top: int, *, height: float, good: float) -> Iterator[tuple[str, StepFunction]]:
    """Yield a few plateaus and shelves, each with a name.

    Examples
    --------
    >>> [name for name, _ in named_qualities(4096, height=2.0, good=1.0)][15:18]
    ['promise on [58, 69], else 0', 'promise on [58, 69], else just below good',
    'promise on [60, 67] beside a shelf']
    """
    seen = set()
    for power in dict.fromkeys((0, 3, max(0, (top + 1).bit_length() - 5))):
        size, width = 1 << power, (3 << power) // 2
        for low in (0, 8 * size - width // 2, 12 * size - width // 2, top + 1 - width):
            high = low + width - 1
            if low < 0 or high > top or (low, high) in seen:
                continue
            seen.add((low, high))
            for words, floor in (("0", 0.0), ("just below good", good * _BELOW)):
                name = f"promise on [{low}, {high}], else {words}"
                yield name, plateau(top, low, high, height=height, floor=floor)
            start = low + (width - size) // 2
            name = f"promise on [{start}, {start + size - 1}] beside a shelf"
            yield name, shelf(top, start, power, height=height, good=good)


def _steps(top: int, parts: dict[int, float]) -> StepFunction:
    """Return the step function with these starts and values."""
    kept = {start: value for start, value in sorted(parts.items()) if start <= top}
    return StepFunction([*kept], np.array([*kept.values()]), top=top)


def _places(top: int, power: int) -> Iterator[tuple[int, int]]:
    """Yield the first points and widths of peaks of about 2^power points."""
    size = 1 << power
    borders = [8 * size, 12 * size, 8 * size * max(1, (top // (8 * size)) // 2)]
    for width in dict.fromkeys((size, size + size // 2, 2 * size - 1)):
        lows = [0, top + 1 - width, (top - width) // 2, *(border - width // 2 for border in borders)]
        yield from ((low, width) for low in dict.fromkeys(lows) if 0 <= low <= top + 1 - width)


def _powers(top: int) -> list[int]:
    """Return a small, a middle and a large power of two inside the range."""
    most = (top + 1).bit_length() - 1
    return sorted(
        {power for power in (0, 1, 2, 3, most // 2, most - 4, most - 1, most) if 0 <= power <= most}
    )
