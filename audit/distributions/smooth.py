"""Pieces of a density that is given by functions instead of a polynomial."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from audit.distributions.law import Floats, log_complement

Function: TypeAlias = Callable[[Any], Any]


@dataclass(frozen=True)
class SmoothPiece:
    """A log-density, smooth from `left` to `right`, raised by `shift`, with its law's log-cdf and log-sf.

    Examples
    --------
    >>> from scipy import stats
    >>> half = SmoothPiece(0.0, float("inf"), stats.cauchy.logpdf, stats.cauchy.logcdf, stats.cauchy.logsf)
    >>> round(float(np.exp(half.log_mass(0.0, np.inf))), 12)
    0.5
    """

    left: float
    right: float
    logpdf: Function
    logcdf: Function
    logsf: Function
    shift: float = 0.0

    def log_value(self, x: Any) -> Floats:
        """Return the logarithm of the density at x (not looking whether x is inside)."""
        return np.asarray(self.logpdf(x), dtype=np.float64) + self.shift

    def clipped(self, low: float, high: float, *, shift: float = 0.0) -> "SmoothPiece":
        """Return the part between low and high, its logarithm raised by shift."""
        left, right = max(self.left, low), min(self.right, high)
        return replace(self, left=left, right=right, shift=self.shift + shift)

    def log_mass(self, low: Any, high: Any) -> Floats:
        """Return the logarithm of the integral from low to high, from whichever tail is the lighter."""
        low = np.maximum(np.asarray(low, dtype=np.float64), self.left)
        high = np.minimum(np.asarray(high, dtype=np.float64), self.right)
        empty = ~(low < high)
        low, high = np.where(empty, self.left, low), np.where(empty, self.right, high)
        left, right = np.asarray(self.logcdf(high)), np.asarray(self.logsf(low))
        with np.errstate(invalid="ignore"):
            from_left = left + log_complement(np.asarray(self.logcdf(low)) - left)
            from_right = right + log_complement(np.asarray(self.logsf(high)) - right)
        return np.where(empty, -np.inf, np.where(left < right, from_left, from_right) + self.shift)

    def invert(self, fraction: Any) -> Floats:
        """Return the point with this fraction of the mass on its left, by bisection of the whole line."""
        u = np.asarray(fraction, dtype=np.float64)
        low = np.full_like(u, np.arctan(self.left))
        high = np.full_like(u, np.arctan(self.right))
        wanted = np.log(u) + float(self.log_mass(self.left, self.right))
        for _ in range(64):
            middle = (low + high) / 2.0
            below = self.log_mass(self.left, np.tan(middle)) < wanted
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return np.clip(np.tan((low + high) / 2.0), self.left, self.right)
