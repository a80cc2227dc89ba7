"""What laws on the line share."""

from functools import cached_property
from typing import Any

import numpy as np

from audit.distributions.law import Floats, Ordered, log_add, refuse_unless_whole, scalar_or_array
from audit.distributions.pieces import Piece, SmoothPiece
from audit.distributions.rounding import moved_logs
from audit.errors import InvalidValue


class LineLaw(Ordered):
    """A law on the real line or on the integers, made of pieces. See `Density` and `Countable`.

    Parameters
    ----------
    pieces
        The pieces, from left to right, without overlap.
    whole
        Whether the masses of the pieces must sum to 1 (within 1e-9).

    Attributes
    ----------
    rounding : float
        The largest rounding error of the mass of a piece. It is 0 unless masses were given as floats.
    lattice : bool
        Whether outputs are integers. The mass of a piece is then a sum, not an integral.
    """

    rounding = 0.0
    lattice = False

    def __init__(self, pieces: tuple[Piece | SmoothPiece, ...], *, whole: bool = True) -> None:
        self.pieces = tuple(pieces)
        if not whole:
            return
        if not self.pieces:
            raise InvalidValue(f"`{type(self).__name__}` needs at least one piece; got none.")
        total = float(np.exp(self.log_mass(-np.inf, np.inf)))
        refuse_unless_whole(total, what=f"The masses of the pieces of `{type(self).__name__}`")

    def support(self) -> tuple[float, float]:
        """Return the ends of the smallest closed interval that holds all the mass."""
        return self.pieces[0].left, self.pieces[-1].right

    def log_mass(self, low: Any, high: Any) -> Any:
        """Return the log-probability of the interval from `low` to `high`."""
        return log_add(self._masses(np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)))

    def ppf(self, probability: Any) -> Any:
        """Return the point with this probability on its left. The probability is strictly between 0 and 1."""
        wanted = np.asarray(probability, dtype=np.float64)
        upper = self._cumulative
        index = np.minimum(np.searchsorted(upper, wanted, side="right"), len(upper) - 1)
        lower = np.concatenate([[0.0], upper[:-1]])
        fraction = (wanted - lower[index]) / (upper - lower)[index]
        points = np.empty_like(wanted)
        for number, piece in enumerate(self.pieces):
            inside = index == number
            if np.any(inside):
                points[inside] = self._point_of(piece, np.clip(fraction[inside], 2.0**-54, 1.0 - 2.0**-53))
        return scalar_or_array(points, probability)

    def sample(self, size: int, rng: np.random.Generator) -> Floats:
        """Return an array of `size` independent outputs."""
        return np.asarray(self.ppf(np.maximum(rng.random(size), 2.0**-54)))

    def log_at(self, x: Any) -> Any:
        """Return the log-density at x, or the log-probability on the integers.

        It is −∞ outside the support.
        """
        x = np.asarray(x, dtype=np.float64)
        inside = [np.where((p.left <= x) & (x <= p.right), p.log_value(x), -np.inf) for p in self.pieces]
        return np.max(np.array(inside), axis=0)

    def extreme(self, sign: int) -> "LineLaw":
        """Return the law with the mass of each piece changed by its rounding error.

        For −1 the mass is lowered, for +1 raised.
        """
        if not self.rounding:
            return self
        masses = self._masses(np.array(-np.inf), np.array(np.inf))
        shifts = (moved_logs(masses, sign * self.rounding) - masses).tolist()
        pieces = [
            piece.clipped(piece.left, piece.right, shift=shift)
            for piece, shift in zip(self.pieces, shifts, strict=True)
            if np.isfinite(shift)
        ]
        return type(self)(tuple(pieces), whole=False)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.pieces == getattr(other, "pieces", None)

    def __hash__(self) -> int:
        return hash(self.pieces)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.pieces)} pieces on {self.support()})"

    def _tails(self, x: Any) -> tuple[Any, Any]:
        return self.log_mass(-np.inf, x), self.log_mass(x, np.inf)

    @cached_property
    def _cumulative(self) -> Floats:
        cumulative = np.cumsum(np.exp(self._masses(np.array(-np.inf), np.array(np.inf))))
        return np.asarray(cumulative / cumulative[-1])

    def _masses(self, low: Floats, high: Floats) -> Floats:
        return np.array([self.mass_of(piece, low, high) for piece in self.pieces])

    def mass_of(self, piece: Any, low: Any, high: Any) -> Any:
        """Return the log-mass of the part of a piece between two outputs."""
        return piece.log_sum(low, high) if self.lattice else piece.log_mass(low, high)

    def _point_of(self, piece: Any, fraction: Floats) -> Any:
        return piece.invert_sum(fraction) if self.lattice else piece.invert(fraction)
