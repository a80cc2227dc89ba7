"""Piecewise-constant functions on ranges {0 … top} of any length.

The time grows with the number of pieces, not with the length of the range.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidValue, positive_int
from audit.values.brief import show
from mechanisms.subjects.answers import floats

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["StepFunction"]

_MOST_WORD = 2**63 - 1
"""The largest point that fits into a signed 64-bit integer."""


@dataclass(frozen=True, eq=False)
class StepFunction:
    """A function on {0 … top} that is constant between breakpoints.

    Parameters
    ----------
    starts
        The first point of each piece. These are increasing Python ints, beginning with 0.
    values
        The value of each piece, finite.
    top
        The last point of the range.

    Raises
    ------
    InvalidValue
        A value is not finite, the pieces are not in order, or the numbers of pieces and values differ.

    Examples
    --------
    >>> ramp = StepFunction([0, 5, 2**63], [1.0, 3.0, 2.0], top=2**64)
    >>> ramp(4), ramp(5), ramp(2**64)
    (1.0, 3.0, 2.0)
    """

    starts: Sequence[int]
    values: NDArray[np.float64]
    top: int

    def __post_init__(self) -> None:
        starts = tuple(self.starts)
        values = floats(self.values, what="The values of a quality function").copy()
        if values.shape != (len(starts),) or not np.isfinite(values).all():
            raise InvalidValue(
                f"The values of a quality function must be finite, one for each of its {len(starts)} pieces; "
                f"got {show(values.tolist())}."
            )
        last = positive_int(self.top, what="The `top` of a quality function", minimum=0, maximum=None)
        if not starts or starts[0] != 0 or starts[-1] > last or any(b <= a for a, b in pairwise(starts)):
            raise InvalidValue(
                f"The pieces of a quality function must begin at 0 and increase up to {last}; "
                f"got {show(starts)}."
            )
        values.flags.writeable = False
        for name, value in (("starts", starts), ("values", values), ("top", last)):
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, values: Any) -> StepFunction:
        """Return the function with the given values at 0, 1, 2, ….

        Examples
        --------
        >>> StepFunction.of([7, 7, 8]).starts
        (0, 2)
        """
        array = floats(values, what="The values of a quality function")
        if array.ndim != 1 or not len(array):
            raise InvalidValue(f"A quality function must be a vector of numbers; got {show(array.tolist())}.")
        kept = np.concatenate([[0], np.flatnonzero(array[1:] != array[:-1]) + 1])
        return cls(kept.tolist(), array[kept], top=len(array) - 1)

    @classmethod
    def tally(cls, intervals: Iterable[tuple[int, int]], *, top: int) -> StepFunction:
        """Return the function that counts how many closed intervals contain a point.

        Examples
        --------
        >>> StepFunction.tally([(0, 3), (2, 2**64)], top=2**64)
        StepFunction(starts=(0, 2, 4), values=array([1., 2., 1.]), top=18446744073709551616)
        """
        steps: Counter[int] = Counter({0: 0})
        for low, high in intervals:
            if not 0 <= low <= high <= top:
                raise InvalidValue(f"An interval must lie in [0, {top}]; got {show((low, high))}.")
            steps[low] += 1
            steps[high + 1] -= 1
        steps.pop(top + 1, None)
        places = [place for place in sorted(steps) if steps[place] or place == 0]
        return cls(places, np.cumsum([steps[place] for place in places], dtype=np.float64), top=top)

    def __call__(self, point: int) -> float:
        """Return the value at one point of {0 … top}."""
        return float(self.values[self.piece(point)])

    def values_at(self, points: Iterable[int]) -> NDArray[np.float64]:
        """Return the values at several points."""
        if self.top <= _MOST_WORD:
            return self.values[self._words.searchsorted(np.fromiter(points, np.int64), side="right") - 1]
        return np.array([self.values[self.piece(point)] for point in points], dtype=np.float64)

    @cached_property
    def _words(self) -> NDArray[np.int64]:
        return np.array(self.starts, dtype=np.int64)

    def values_everywhere(self) -> list[float]:
        """Return the values at 0, 1, …, top.

        Examples
        --------
        >>> StepFunction([0, 2], [1.0, 3.0], top=3).values_everywhere()
        [1.0, 1.0, 3.0, 3.0]
        """
        lengths = np.diff([*self.starts, self.top + 1])
        listed: list[float] = np.repeat(self.values, lengths).tolist()
        return listed

    def piece(self, point: int) -> int:
        """Return the index of the piece that contains a point."""
        return bisect_right(self.starts, point) - 1

    def end(self, piece: int) -> int:
        """Return the last point of a piece."""
        return self.starts[piece + 1] - 1 if piece + 1 < len(self.starts) else self.top

    def plus(self, constant: float) -> StepFunction:
        """Return the function with a constant added everywhere.

        Examples
        --------
        >>> StepFunction.of([1, 2]).plus(0.5)(1)
        2.5
        """
        return StepFunction(self.starts, self.values + constant, top=self.top)

    def extended(self, top: int) -> StepFunction:
        """Return the function extended to a larger top, with value 0 there.

        Examples
        --------
        >>> StepFunction.of([1, 2]).extended(5)(4)
        0.0
        """
        if top == self.top:
            return self
        return StepFunction([*self.starts, self.top + 1], np.append(self.values, 0.0), top=top)

    def window_minima(self) -> list[float]:
        """Return, for j = 0, 1, …, the largest x that the function keeps on 2^j points.

        The function is at least x on 2^j successive points. j ends where 2^j exceeds top + 1.

        Examples
        --------
        >>> StepFunction.of([1, 3, 3, 2]).window_minima()
        [3.0, 3.0, 1.0]
        """
        best = [-math.inf] * (self.top + 1).bit_length()
        growing: list[tuple[int, float]] = []
        for start, value in zip(
            (*self.starts, self.top + 1), (*self.values.tolist(), -math.inf), strict=True
        ):
            left = start
            while growing and growing[-1][1] >= value:
                left, height = growing.pop()
                power = (start - left).bit_length() - 1
                best[power] = max(best[power], height)
            growing.append((left, value))
        for power in range(len(best) - 2, -1, -1):
            best[power] = max(best[power], best[power + 1])
        return best

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StepFunction):
            return NotImplemented
        same = self.top == other.top and self.starts == other.starts
        return same and np.array_equal(self.values, other.values)

    def __hash__(self) -> int:
        return hash((self.top, self.starts, self.values.tobytes()))
