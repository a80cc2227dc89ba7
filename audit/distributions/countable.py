"""Laws on the integers, made of geometric pieces."""

import math
from typing import Any

import numpy as np

from audit.distributions.forms import slack, truth_as_numbers
from audit.distributions.law import OUTSIDE, Floats, Ints, Outputs, Partition, as_numbers, scalar_or_array
from audit.distributions.line import LineLaw
from audit.distributions.pieces import Piece
from audit.errors import InvalidKind, InvalidValue


class Countable(LineLaw):
    """A law on the integers whose log-probabilities are piecewise linear.

    Infinite tails are allowed.

    Parameters
    ----------
    pieces
        One piece for each interval of integers, from left to right. The ends are included, and the curvature
        is 0.
    whole
        Whether the masses of the pieces must sum to 1 (within 1e-9).

    Examples
    --------
    >>> noise = Countable.geometric(loc=5, scale=1.0)
    >>> round(noise.logpmf(7) - noise.logpmf(5), 12), round(noise.cdf(4) - noise.sf(5), 12)
    (-2.0, 0.0)
    """

    lattice = True

    def __init__(self, pieces: tuple[Piece, ...], *, whole: bool = True) -> None:
        if any(not isinstance(piece, Piece) or piece.curvature for piece in pieces):
            raise InvalidKind("The `pieces` of `Countable` must be pieces without curvature.")
        super().__init__(pieces, whole=whole)

    @classmethod
    def geometric(cls, loc: int = 0, scale: float = 1.0) -> "Countable":
        """Return the two-sided geometric law around `loc`. Pr[k] is proportional to exp(−|k − loc|/scale)."""
        if not (float(loc).is_integer() and math.isfinite(scale) and scale > 0):
            raise InvalidValue(
                f"`Countable.geometric` needs an integer `loc` and a positive `scale`; got {loc} and {scale}."
            )
        rate = 1.0 / scale
        peak = math.log(math.tanh(rate / 2.0))
        left = Piece(-math.inf, loc - 1, loc, peak, slope=rate)
        return cls((left, Piece(loc, math.inf, loc, peak, slope=-rate)))

    def pmf(self, k: Any) -> Any:
        """Return the probability of the integer k, and 0 for other numbers."""
        return scalar_or_array(np.exp(self._log_at_integers(k)), k)

    def logpmf(self, k: Any) -> Any:
        """Return the log-probability of the integer k, and −∞ for other numbers."""
        return scalar_or_array(self._log_at_integers(k), k)

    def sample(self, size: int, rng: np.random.Generator) -> Any:
        """Return an array of `size` independent integers."""
        return super().sample(size, rng).astype(np.int64)

    def bins(self, k: int) -> Partition:
        """Return at most k intervals of integers, cut at the quantiles 1/k, 2/k, ….

        If one integer has a large probability, the intervals are uneven, or an interval is empty.
        """
        edges = np.unique(self.ppf(np.arange(1, k) / k))
        logs = self.log_mass(np.append(-np.inf, edges + 1), np.append(edges, np.inf))

        def locate(outputs: Outputs) -> Ints:
            values, real = as_numbers(truth_as_numbers(outputs))
            near = np.abs(values - np.rint(values)) <= slack(outputs, np.maximum(np.abs(values), 1.0))
            values = np.where(near, np.rint(values), values)
            possible = real & np.isfinite(self._log_at_integers(np.where(real, values, 0.5)))
            return np.where(possible, np.searchsorted(edges, values), OUTSIDE)

        return Partition(np.asarray(logs), locate)

    def _log_at_integers(self, k: Any) -> Floats:
        values = np.asarray(k, dtype=np.float64)
        return np.where(values == np.floor(values), self.log_at(values), -np.inf)

    def _tails(self, x: Any) -> tuple[Any, Any]:
        whole = np.floor(np.asarray(x, dtype=np.float64))
        return self.log_mass(-np.inf, whole), self.log_mass(whole + 1.0, np.inf)
