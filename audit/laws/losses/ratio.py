"""The logarithm of the ratio of two densities on one segment."""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from audit.distributions.law import Floats
from audit.distributions.pieces import Parabola, Piece, SmoothPiece

Interval: TypeAlias = tuple[float, float]

CANCELLED = 8 * np.finfo(np.float64).eps
"""Larger: more coefficients count as equal. Relative differences up to this are taken for rounding errors."""


@dataclass(frozen=True)
class QuadraticRatio(Parabola):
    """A log-ratio that is quadratic in x, from `left` to `right`.

    Examples
    --------
    >>> QuadraticRatio(-math.inf, math.inf, 0.0, -0.5, 1.0, 0.0).above(0.0)
    [(0.5, inf)]
    """

    def value(self, x: Any) -> Floats:
        """Return the ratio's logarithm at finite x, and its limit at infinite x."""
        u = np.asarray(x, dtype=np.float64) - self.centre
        with np.errstate(invalid="ignore"):
            value = self.constant + u * (self.slope + self.curvature * u)
        return np.where(np.isfinite(u), value, self._limits(u))

    @cached_property
    def turns(self) -> Floats:
        """The ends of the segment, and the vertex if it is inside. The log-ratio is monotone in between."""
        if self.curvature:
            vertex = self.centre - self.slope / (2.0 * self.curvature)
            if self.left < vertex < self.right:
                return np.array([self.left, vertex, self.right])
        return np.array([self.left, self.right])

    def above(self, level: float) -> list[Interval]:
        """Return the intervals where the logarithm exceeds the level."""
        ends = [self.left, *(x for x in self._roots(level) if self.left < x < self.right), self.right]
        return [(low, high) for low, high in pairwise(ends) if low < high and self._at(low, high) > level]

    def _limits(self, u: Floats) -> Floats:
        if self.curvature:
            return np.full_like(u, math.copysign(math.inf, self.curvature))
        if not self.slope:
            return np.full_like(u, self.constant)
        return np.where((u > 0) == (self.slope > 0), np.inf, -np.inf)

    def _at(self, low: float, high: float) -> float:
        """Return the log-ratio at a point between `low` and `high`."""
        if math.isfinite(low) and math.isfinite(high):
            return float(self.value(low + (high - low) / 2.0))
        inner = low if math.isfinite(low) else high if math.isfinite(high) else self.centre
        step = math.ldexp(max(1.0, abs(inner)), -8)
        return float(self.value(inner + step if math.isinf(high) else inner - step))

    def _roots(self, level: float) -> list[float]:
        a, b, c = self.curvature, self.slope, self.constant - level
        if not a:
            return [self.centre - c / b] if b else []
        inside = b * b - 4.0 * a * c
        if inside <= 0:
            return []
        q = -0.5 * (b + math.copysign(math.sqrt(inside), b))
        return sorted(self.centre + root for root in ((q / a, c / q) if q else (0.0, 0.0)))


class NumericRatio:
    """The log-ratio log p/q + shift of two pieces without a closed form.

    Its extrema and level crossings are searched on a grid and then refined. The grid points are quantiles of
    both laws, down to 1e-12 in each tail. Features narrower than 1/256 of the mass of both laws are missed.
    `turns` covers all but 1e-12 of the mass in each tail.

    Examples
    --------
    >>> from scipy import stats
    >>> from audit.distributions.pieces import SmoothPiece
    >>> laws = [stats.logistic(loc) for loc in (0.0, 1.0)]
    >>> p, q = (SmoothPiece(-math.inf, math.inf, law.logpdf, law.logcdf, law.logsf) for law in laws)
    >>> ratio = NumericRatio(p, q, left=-math.inf, right=math.inf, shift=0.0)
    >>> round(float(max(ratio.value(ratio.turns))), 9)
    1.0
    """

    def __init__(
        self, p: Piece | SmoothPiece, q: Piece | SmoothPiece, *, left: float, right: float, shift: float
    ) -> None:
        self.p, self.q = p.clipped(left, right), q.clipped(left, right)
        self.left, self.right, self.shift = left, right, shift

    def value(self, x: Any) -> Floats:
        """Return the ratio's logarithm at x. For infinite x it is that at the outermost grid point."""
        x = np.asarray(x, dtype=np.float64)
        if np.isinf(x).any():
            x = np.clip(x, self._grid[0], self._grid[-1])
        return self.p.log_value(x) - self.q.log_value(x) + self.shift

    @cached_property
    def turns(self) -> Floats:
        """The ends of the segment and the extrema found.

        The log-ratio is assumed to be monotone in between.
        """
        values = self.value(self._grid)
        rising = np.sign(np.diff(values))
        places = np.flatnonzero(rising[1:] * rising[:-1] < 0) + 1
        found = [self._extremum(self._grid[i - 1], self._grid[i + 1], sign=-rising[i]) for i in places]
        return np.array([self.left, *found, self.right])

    def above(self, level: float) -> list[Interval]:
        """Return the intervals where the logarithm exceeds the level."""
        points = np.unique(np.concatenate([self._grid, self.turns[np.isfinite(self.turns)]]))
        inside = self.value(points) > level
        changes = np.flatnonzero(inside[1:] != inside[:-1])
        cuts = [self.left, *(self._root(points[i], points[i + 1], level) for i in changes), self.right]
        first = 0 if inside[0] else 1
        return [(cuts[i], cuts[i + 1]) for i in range(first, len(cuts) - 1, 2)]

    @cached_property
    def _grid(self) -> Floats:
        tails = 10.0 ** -np.arange(12.0, 2.0, -0.5)
        fractions = np.concatenate([tails, np.arange(1, 256) / 256, 1.0 - tails[::-1]])
        ends = [end for end in (self.left, self.right) if math.isfinite(end)]
        points = np.concatenate([self.p.invert(fractions), self.q.invert(fractions), ends])
        possible = np.isfinite(self.p.log_value(points)) & np.isfinite(self.q.log_value(points))
        return np.unique(points[possible])

    def _extremum(self, low: float, high: float, *, sign: float) -> float:
        from scipy.optimize import minimize_scalar

        def turned(share: float) -> float:
            return -sign * float(self.value(_between(low, high, share)))

        found = minimize_scalar(turned, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-10})
        return _between(low, high, float(found.x))

    def _root(self, low: float, high: float, level: float) -> float:
        from scipy.optimize import brentq

        def over(share: float) -> float:
            return float(self.value(_between(low, high, share))) - level

        return _between(low, high, float(brentq(over, 0.0, 1.0, xtol=1e-14, rtol=1e-14)))


def _between(low: float, high: float, share: float) -> float:
    """Return the point at a fraction of the way from low to high."""
    return high if share == 1.0 else low + share * (high - low)


Ratio: TypeAlias = QuadraticRatio | NumericRatio


def ratio_of(
    p: Piece | SmoothPiece, q: Piece | SmoothPiece | None, *, left: float, right: float, shift: float
) -> Ratio:
    """Return log p/q + shift between `left` and `right`.

    If q is None, its density is 0 and the ratio is infinite.
    """
    if q is None:
        return QuadraticRatio(left, right, centre=0.0, constant=math.inf)
    if not (isinstance(p, Piece) and isinstance(q, Piece)):
        return NumericRatio(p, q, left=left, right=right, shift=shift)
    d = p.centre - q.centre
    constant = q.constant + q.slope * d + q.curvature * d * d
    slope = q.slope + 2.0 * q.curvature * d
    return QuadraticRatio(
        left=left,
        right=right,
        centre=p.centre,
        constant=p.constant - constant + shift,
        slope=_difference(p.slope, slope),
        curvature=_difference(p.curvature, q.curvature),
    )


def _difference(a: float, b: float) -> float:
    return 0.0 if abs(a - b) <= CANCELLED * max(abs(a), abs(b)) else a - b
