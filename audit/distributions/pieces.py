"""Pieces of a density.

On each piece, the log-density is a polynomial of degree at most two or given by functions. Masses and
quantiles of a polynomial piece need no numerical integration or search. Laplace, normal, uniform, exponential
and staircase densities, truncated or not, consist of such pieces. The log-ratio of two such pieces is again a
polynomial of degree at most two. Each polynomial has its own centre. So a `Piece` loses no digits if its
location is much larger than its scale.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from audit.distributions.law import Floats, log_complement
from audit.errors import InvalidValue

Function: TypeAlias = Callable[[Any], Any]
Ranks: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class Parabola:
    """A polynomial of degree at most two on an interval.

    For left ≤ x ≤ right, it is constant + slope·(x − centre) + curvature·(x − centre)².
    """

    left: float
    right: float
    centre: float
    constant: float
    slope: float = 0.0
    curvature: float = 0.0


@dataclass(frozen=True)
class Piece(Parabola):
    """A piece of a density, whose logarithm is a `Parabola` with curvature ≤ 0.

    Examples
    --------
    >>> import math
    >>> tail = Piece(left=0.0, right=math.inf, centre=0.0, constant=0.0, slope=-1.0)
    >>> float(tail.log_mass(3.0, math.inf))
    -3.0
    """

    def log_value(self, x: Any) -> Floats:
        """Return the log-density at x, which must lie in the piece."""
        u = np.asarray(x, dtype=np.float64) - self.centre
        value = np.full_like(u, self.constant)
        if self.slope:
            value = value + self.slope * u
        return value + self.curvature * u * u if self.curvature else value

    def clipped(self, low: float, high: float, *, shift: float = 0.0) -> "Piece":
        """Return the part between low and high, with the log-density raised by shift."""
        left, right = max(self.left, low), min(self.right, high)
        return replace(self, left=left, right=right, constant=self.constant + shift)

    def log_mass(self, low: Any, high: Any) -> Floats:
        """Return the log-mass of the part of the piece between low and high.

        The result is accurate deep in the tails. It is less accurate if the interval is much narrower than
        its distance from the mean.
        """
        low, high = _cut(self, low, high)
        empty = ~(low < high)
        low, high = np.where(empty, 0.0, low), np.where(empty, 1.0, high)
        mass = self._log_normal(low, high) if self.curvature else self._log_exponential(low, high)
        return np.where(empty, -np.inf, mass)

    def log_sum(self, low: Any, high: Any) -> Floats:
        """Return the log of the density's sum over the integers from low to high.

        Both ends are included. The curvature must be 0.
        """
        low, high = _cut(self, low, high)
        low, high = np.ceil(low), np.floor(high)
        empty = ~(low <= high)
        low, high = np.where(empty, 0.0, low), np.where(empty, 0.0, high)
        if not self.slope:
            return np.where(empty, -np.inf, self.constant + np.log(high - low + 1.0))
        rate = abs(self.slope)
        top = self.log_value(low if self.slope < 0 else high)
        total = top + log_complement(-rate * (high - low + 1.0)) - log_complement(-rate)
        return np.where(empty, -np.inf, total)

    def invert(self, fraction: Any) -> Floats:
        """Return the point with this fraction of the piece's mass on its left.

        The fraction is between 0 and 1.
        """
        u = np.asarray(fraction, dtype=np.float64)
        if self.curvature:
            x = self._invert_normal(u)
        elif self.slope:
            distance = self._from_top(u, self.right - self.left)
            x = self.left + distance if self.slope < 0 else self.right - distance
        else:
            x = self.left + u * (self.right - self.left)
        return np.clip(x, self.left, self.right)

    def invert_sum(self, fraction: Any) -> Floats:
        """Return the integer at which the sum from the left reaches this fraction.

        The ends of the piece must be integers, and its curvature 0.
        """
        u = np.asarray(fraction, dtype=np.float64)
        left, right = np.ceil(self.left), np.floor(self.right)  # rounded as in `log_sum`
        count = right - left + 1.0
        if self.slope > 0:
            place = right - np.floor(self._from_top(u, count))
        else:
            place = left + np.floor(self._from_top(u, count) if self.slope else u * count)
        return np.asarray(np.clip(place, left, right))

    def _log_exponential(self, low: Floats, high: Floats) -> Floats:
        if not self.slope:
            return np.asarray(self.constant + np.log(high - low))
        rate = abs(self.slope)
        top = self.log_value(low if self.slope < 0 else high)
        return np.asarray(top - np.log(rate) + log_complement(-rate * (high - low)))

    def _normal_form(self) -> tuple[float, float, float]:
        """Return mean − centre, standard deviation and log of the whole mass."""
        mean = -self.slope / (2.0 * self.curvature)
        deviation = float(np.sqrt(-0.5 / self.curvature))
        top = self.constant - self.slope**2 / (4.0 * self.curvature)
        return mean, deviation, top + float(np.log(deviation * np.sqrt(2.0 * np.pi)))

    def _log_normal(self, low: Floats, high: Floats) -> Floats:
        from scipy.special import log_ndtr

        mean, deviation, log_total = self._normal_form()
        a, b = (low - self.centre - mean) / deviation, (high - self.centre - mean) / deviation
        a, b = np.where(a > 0, -b, a), np.where(a > 0, -a, b)
        upper, lower = log_ndtr(b), log_ndtr(a)
        return np.asarray(log_total + upper + log_complement(lower - upper))

    def _from_top(self, u: Floats, width: float) -> Floats:
        """Return the distance of a point from the denser end of the piece.

        A share u of the mass is on the left of the point.
        """
        rate = abs(self.slope)
        near, far = (1.0 - u, u) if self.slope < 0 else (u, 1.0 - u)
        lost = -far * np.expm1(-rate * width)
        with np.errstate(divide="ignore"):
            left = np.where(lost < 0.5, np.log1p(-lost), np.log(near + far * np.exp(-rate * width)))
        return np.asarray(-left / rate)

    def _invert_normal(self, u: Floats) -> Floats:
        from scipy.special import log_ndtr, ndtri_exp

        mean, deviation, _ = self._normal_form()
        a, b = ((end - self.centre - mean) / deviation for end in (self.left, self.right))
        flip = a > 0
        a, b, v = (-b, -a, 1.0 - u) if flip else (a, b, u)
        log_a, log_b = log_ndtr(a), log_ndtr(b)
        point = ndtri_exp(np.logaddexp(log_a, np.log(v) + log_b + log_complement(log_a - log_b)))
        return np.asarray(self.centre + (mean + deviation * np.where(flip, -point, point)))


@dataclass(frozen=True)
class SmoothPiece:
    """A smooth piece of a law, from `left` to `right`.

    The law's log-density, log-cdf and log-sf are given. `shift` raises the log-density.

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
        """Return the log-density at x, which should lie in the piece."""
        return np.asarray(self.logpdf(x), dtype=np.float64) + self.shift

    def clipped(self, low: float, high: float, *, shift: float = 0.0) -> "SmoothPiece":
        """Return the part between low and high, with the log-density raised by shift."""
        left, right = max(self.left, low), min(self.right, high)
        return replace(self, left=left, right=right, shift=self.shift + shift)

    def log_mass(self, low: Any, high: Any) -> Floats:
        """Return the log-mass between low and high, from the lighter tail."""
        low, high = _cut(self, low, high)
        empty = ~(low < high)
        low, high = np.where(empty, self.left, low), np.where(empty, self.right, high)
        left, right = self._tail("logcdf", high), self._tail("logsf", low)
        from_left = _without(left, self._tail("logcdf", low))
        from_right = _without(right, self._tail("logsf", high))
        return np.where(empty, -np.inf, np.where(left < right, from_left, from_right) + self.shift)

    def invert(self, fraction: Any) -> Floats:
        """Return the point with this fraction of the mass on its left."""
        u = np.asarray(fraction, dtype=np.float64)
        ends = np.clip([self.left, self.right], -_LARGEST, _LARGEST)
        low, high = (np.full(u.shape, rank, dtype=np.int64) for rank in _ranks(ends))
        wanted = np.log(u) + float(self.log_mass(self.left, self.right))
        for _ in range(64):
            middle = low // 2 + high // 2 + (low & high & 1)
            below = self.log_mass(self.left, _of_ranks(middle)) < wanted
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return _of_ranks(high)

    def _tail(self, name: str, x: Floats) -> Floats:
        with np.errstate(all="ignore"):  # x may be the largest float
            tail = np.asarray(getattr(self, name)(x), dtype=np.float64)
        if np.isnan(tail).any():
            where = np.broadcast_to(x, tail.shape)[np.isnan(tail)].flat[0]
            raise InvalidValue(
                f"The `{name}` of `Density.general` must be a number everywhere; got nan at {where}."
            )
        return tail


def _cut(piece: Piece | SmoothPiece, low: Any, high: Any) -> tuple[Floats, Floats]:
    """Return the ends of the part of a piece between low and high."""
    low = np.maximum(np.asarray(low, dtype=np.float64), piece.left)
    return low, np.minimum(np.asarray(high, dtype=np.float64), piece.right)


_LARGEST = float(np.finfo(np.float64).max)


def _without(whole: Floats, part: Floats) -> Floats:
    """Return log(exp(whole) − exp(part)), or −∞ if `whole` is −∞."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(whole), -np.inf, whole + log_complement(part - whole))


def _ranks(x: Floats) -> Ranks:
    """Return the ranks of floats in the order of all floats."""
    bits = np.abs(x).view(np.int64)
    return np.where(x < 0, -bits, bits)


def _of_ranks(ranks: Ranks) -> Floats:
    return np.copysign(np.abs(ranks).view(np.float64), ranks)
