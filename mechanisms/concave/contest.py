"""The best interval of a family, found without listing the family.

This is the search of BNS Fig. 1, steps 7 and 8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mechanisms.comparison.threshold import ThresholdTest
    from mechanisms.concave.piecewise import StepFunction

__all__ = ["Contest", "contest"]


@dataclass(frozen=True, slots=True)
class Contest:
    """The interval with the largest quality in a family, and its lead.

    Parameters
    ----------
    low, high
        The first and the last point of the interval.
    gap
        The interval's quality minus that of the second best interval. It is 0 for a tie or an empty family,
        and infinite if there is no second interval.
    """

    low: int
    high: int
    gap: float

    def log_outcome(self, test: ThresholdTest, *, passed: bool) -> float:
        """Return the log-probability that A_dist releases the interval, or refuses."""
        if self.gap == 0.0:
            return -math.inf if passed else 0.0
        return test.log_pass(self.gap) if passed else test.log_fail(self.gap)

    def released(self, noise: NDArray[np.float64], test: ThresholdTest) -> NDArray[np.bool_]:
        """Return, for each noise value, whether A_dist releases the interval.

        An interval with gap 0 is never released.
        """
        passed: NDArray[np.bool_] = (self.gap > 0.0) & (self.gap + noise >= test.threshold)
        return passed


def contest(quality: StepFunction, *, offset: int, width: int) -> Contest:
    """Return the best of the intervals of one width from `offset` on.

    Interval i is [offset + i·width, offset + (i + 1)·width − 1], cut to the range. The time depends only on
    the number of pieces of the quality.

    Examples
    --------
    >>> from mechanisms.concave.piecewise import StepFunction
    >>> peak = StepFunction([0, 20, 22], [1.0, 9.0, 2.0], top=2**64)
    >>> contest(peak, offset=0, width=8)
    Contest(low=16, high=23, gap=7.0)
    >>> contest(peak, offset=4, width=8).gap
    7.0
    >>> contest(peak, offset=2**64, width=2**65).gap, contest(peak, offset=2**65, width=2**66).gap
    (inf, 0.0)
    """
    if offset > quality.top:
        return Contest(0, 0, 0.0)
    first = quality.piece(offset)
    values = quality.values[first:]
    best = values.max()
    places = np.flatnonzero(values == best) + first
    leftmost = max(offset, quality.starts[places[0]])
    low = offset + (leftmost - offset) // width * width
    high = min(low + width - 1, quality.top)
    if quality.end(int(places[-1])) > high:
        return Contest(low, high, 0.0)
    rivals = [part.max() for part in _outside(quality, offset=offset, low=low, high=high)]
    return Contest(low, high, float(best - max(rivals)) if rivals else math.inf)


def _outside(quality: StepFunction, *, offset: int, low: int, high: int) -> list[np.ndarray]:
    """Return the values of the pieces outside [low, high], left and right."""
    parts = []
    if low > offset:
        parts.append(quality.values[quality.piece(offset) : quality.piece(low - 1) + 1])
    if high < quality.top:
        parts.append(quality.values[quality.piece(high + 1) :])
    return parts
