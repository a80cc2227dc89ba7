"""Quasi-concave qualities on which Rec has the hardest work: plateaus where the intervals meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mechanisms.piecewise import StepFunction

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["hard_plateaus", "plateau", "plateaus"]


def plateau(top: int, low: int, high: int, *, height: float, floor: float = 0.0) -> StepFunction:
    """Return the function on {0 … top} that is `height` on [low, high] and `floor` elsewhere.

    Examples
    --------
    >>> plateau(2**64, 5, 9, height=7.0).starts
    (0, 5, 10)
    """
    parts = {0: floor, low: height}
    if high < top:
        parts[high + 1] = floor
    return StepFunction([*parts], np.array([*parts.values()]), top=top)


def plateaus(top: int, *, height: float, good: float | None = None) -> Iterator[StepFunction]:
    """Yield plateaus of many widths: at both ends, in the middle and across the borders of the intervals.

    Parameters
    ----------
    top
        The last point.
    height
        Of the plateau: the promise.
    good
        What is good enough, by default half of the promise. Elsewhere the function is 0, or just below that.

    Guarantee
    ---------
    Every one is quasi-concave and reaches `height`. A plateau of K … 2K − 1 points has L(log K) = height and
    L(log K + 1) = its floor, so that K is what the inner call should find; across a multiple of 8K no A_i
    holds it alone, across one of 8K plus 4K no B_i does.

    Examples
    --------
    >>> all(max(quality.values) == 9.0 for quality in plateaus(100, height=9.0))
    True
    """
    half = height / 2.0 if good is None else good
    for floor in (0.0, half * (1.0 - 1e-9)):
        for low, high in _places(top):
            yield plateau(top, low, high, height=height, floor=floor)


def hard_plateaus(top: int, *, height: float, good: float) -> Iterator[tuple[str, StepFunction]]:
    """Yield a few of `plateaus` with names: of 3K/2 points, at the ends and across the first borders.

    For three values of K the rest is 0 or just below what is good enough.

    Examples
    --------
    >>> [name for name, _ in hard_plateaus(4096, height=2.0, good=1.0)][10]
    'promise on [58, 69], else 0'
    """
    seen = set()
    for power in (0, 3, max(0, (top + 1).bit_length() - 5)):
        width = (3 << power) // 2
        for low in (0, (8 << power) - width // 2, (12 << power) - width // 2, top + 1 - width):
            high = low + width - 1
            if low < 0 or high > top or (low, high) in seen:
                continue
            seen.add((low, high))
            for words, floor in (("0", 0.0), ("just below good", good * (1.0 - 1e-9))):
                name = f"promise on [{low}, {high}], else {words}"
                yield name, plateau(top, low, high, height=height, floor=floor)


def _places(top: int) -> Iterator[tuple[int, int]]:
    """Yield the ends of plateaus, each once."""
    found: dict[tuple[int, int], None] = {}
    for power in _powers(top):
        size = 1 << power
        borders = [8 * size, 12 * size, 8 * size * max(1, (top // (8 * size)) // 2)]
        for width in dict.fromkeys((size, size + size // 2, 2 * size - 1)):
            lows = [0, top + 1 - width, (top - width) // 2, *(border - width // 2 for border in borders)]
            found.update(
                ((low, low + width - 1), None) for low in lows if low >= 0 and low + width - 1 <= top
            )
    yield from found


def _powers(top: int) -> list[int]:
    """Return a few powers of two that fit into the range: the smallest ones, the middle, the largest."""
    most = (top + 1).bit_length() - 1
    return sorted({power for power in (0, 1, 3, most // 2, most - 4, most - 1, most) if 0 <= power <= most})
