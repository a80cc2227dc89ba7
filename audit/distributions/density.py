"""Piecewise smooth densities on the line."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from audit.distributions.forms import slack
from audit.distributions.law import OUTSIDE, Ints, Outputs, Partition, as_numbers, scalar_or_array
from audit.distributions.line import LineLaw
from audit.distributions.pieces import Function, Piece, SmoothPiece
from audit.distributions.rounding import read
from audit.errors import InvalidValue


class Density(LineLaw):
    """A law on the line whose density is smooth between finitely many knots.

    Examples
    --------
    >>> noise = Density.laplace(0.0, 2.0)
    >>> noise.pdf(0.0), noise.sf(0.0), noise.logsf(2000.0)
    (0.25, 0.5, -1000.69314718056)
    """

    @classmethod
    def laplace(cls, loc: float = 0.0, scale: float = 1.0) -> "Density":
        """Return the Laplace density around `loc`. The density is exp(−|x − loc|/scale) / (2·scale)."""
        _check(loc, scale, owner="Density.laplace")
        peak, rate = -math.log(2.0 * scale), 1.0 / scale
        left = Piece(-math.inf, loc, loc, peak, slope=rate)
        return cls((left, Piece(loc, math.inf, loc, peak, slope=-rate)))

    @classmethod
    def normal(cls, loc: float = 0.0, scale: float = 1.0) -> "Density":
        """Return the normal density with mean `loc` and standard deviation `scale`."""
        _check(loc, scale, owner="Density.normal")
        peak = -math.log(scale * math.sqrt(2.0 * math.pi))
        return cls((Piece(-math.inf, math.inf, loc, peak, curvature=-0.5 / scale**2),))

    @classmethod
    def uniform(cls, low: float = 0.0, high: float = 1.0) -> "Density":
        """Return the constant density between `low` and `high`."""
        _check(low, high - low, owner="Density.uniform")
        return cls((Piece(low, high, low, -math.log(high - low)),))

    @classmethod
    def exponential(cls, loc: float = 0.0, scale: float = 1.0) -> "Density":
        """Return the exponential density to the right of `loc`.

        The density is exp(−(x − loc)/scale) / scale.
        """
        _check(loc, scale, owner="Density.exponential")
        return cls((Piece(loc, math.inf, loc, -math.log(scale), slope=-1.0 / scale),))

    @classmethod
    def steps(cls, knots: Sequence[float], probabilities: Sequence[float]) -> "Density":
        """Return the density that is constant between successive knots.

        `probabilities[i]` is the mass between `knots[i]` and `knots[i + 1]`.

        Examples
        --------
        >>> Density.steps([0.0, 1.0, 3.0], [0.5, 0.5]).pdf(2.0)
        0.25
        """
        given = read(probabilities, None, owner="Density.steps", whole=False)
        parts = zip(pairwise(knots), given.logs.tolist(), strict=True)
        pieces = [
            Piece(low, high, low, log - math.log(high - low)) for (low, high), log in parts if log > -math.inf
        ]
        law = cls(tuple(pieces))
        law.rounding = given.rounding
        return law

    @classmethod
    def general(
        cls, logpdf: Function, *, knots: Sequence[float], logcdf: Function, logsf: Function
    ) -> "Density":
        """Return a density given by functions. scipy.stats' frozen laws have all three functions.

        Parameters
        ----------
        logpdf, logcdf, logsf
            Functions of arrays. The divergence in the tails is as accurate as these logarithms are.
        knots
            The ends of the support and every point where the density is not smooth, ascending.

        Examples
        --------
        >>> from scipy import stats
        >>> law = stats.logistic(1.0, 2.0)
        >>> knots = [-math.inf, math.inf]
        >>> round(Density.general(law.logpdf, knots=knots, logcdf=law.logcdf, logsf=law.logsf).cdf(1.0), 12)
        0.5
        """
        return cls(tuple(SmoothPiece(low, high, logpdf, logcdf, logsf) for low, high in pairwise(knots)))

    def restricted(self, low: float, high: float) -> "Density":
        """Return the law conditioned on the interval from `low` to `high`.

        Examples
        --------
        >>> Density.exponential().restricted(3.0, math.inf) .sf(4.0) == Density.exponential().sf(1.0)
        True
        """
        shift = -float(self.log_mass(low, high))
        if math.isinf(shift):
            raise InvalidValue(f"A density cannot be restricted to [{low}, {high}], where it has no mass.")
        kept = [p for p in self.pieces if max(p.left, low) < min(p.right, high)]
        return Density(tuple(p.clipped(low, high, shift=shift) for p in kept))

    def pdf(self, x: Any) -> Any:
        """Return the density at x."""
        return scalar_or_array(np.exp(self.log_at(x)), x)

    def logpdf(self, x: Any) -> Any:
        """Return the log-density at x, which is −∞ outside the support."""
        return scalar_or_array(self.log_at(x), x)

    def bins(self, k: int) -> Partition:
        """Return k cells of equal probability."""
        low, high = self.support()

        def locate(outputs: Outputs) -> Ints:
            values, real = as_numbers(outputs)
            edge = slack(outputs, np.maximum(np.abs(values), 1.0))
            inside = real & (values >= low - edge) & (values <= high + edge)
            quantile = self.cdf(np.where(inside, values, max(low, min(high, 0.0))))
            return np.where(inside, np.minimum(np.floor(k * quantile), k - 1).astype(np.intp), OUTSIDE)

        return Partition(np.full(k, -math.log(k)), locate)


def _check(loc: float, scale: float, *, owner: str) -> None:
    if not (math.isfinite(loc) and math.isfinite(scale) and scale > 0):
        raise InvalidValue(
            f"`{owner}` needs a finite location and a positive finite width; got {loc} and {scale}."
        )
