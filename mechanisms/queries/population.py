"""A finite distribution of records, under which means of queries are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidKind, InvalidValue
from mechanisms.subjects.answers import floats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mechanisms.queries.statistical import StatisticalQuery

__all__ = ["Population", "check_population"]


@dataclass(frozen=True, eq=False)
class Population:
    """A distribution over finitely many records.

    Parameters
    ----------
    points
        The records, at least one, as a sequence or as the rows of an array.
    probabilities
        One number ≥ 0 for each point, with sum 1. Default: all equal.

    Raises
    ------
    InvalidValue
        There is no point, a probability is invalid, or the numbers of points and probabilities differ.

    Examples
    --------
    >>> from mechanisms.queries import StatisticalQuery
    >>> coin = Population([0, 1], [0.25, 0.75])
    >>> coin.expectation(StatisticalQuery.fraction(bool, tau=0.1))
    0.75
    """

    points: Sequence[Any] | NDArray[Any]
    probabilities: Sequence[float] | NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        count = len(self.points)
        if not count:
            raise InvalidValue("The `points` of `Population` must hold at least one record; got none.")
        if self.probabilities is None:
            weights = np.full(count, 1.0 / count)
        else:
            weights = floats(self.probabilities, what="The `probabilities` of `Population`").copy()
        if weights.shape != (count,):
            raise InvalidValue(
                f"The `probabilities` of `Population` must be {count}, one a point; "
                f"got shape {weights.shape}."
            )
        total = float(weights.sum())
        if not (weights >= 0.0).all() or not abs(total - 1.0) <= _ROUNDING:
            raise InvalidValue(
                f"The `probabilities` of `Population` must be ≥ 0 and sum to 1; got sum {total:.12g}."
            )
        weights.setflags(write=False)
        object.__setattr__(self, "probabilities", weights)

    @property
    def weights(self) -> NDArray[np.float64]:
        """The probabilities as an array, of shape (points,)."""
        return np.asarray(self.probabilities, dtype=np.float64)

    def expectation(self, query: StatisticalQuery) -> float:
        """Return the mean of the query, exact up to rounding."""
        mean = float((self.weights * query.values(self.points)).sum())
        return min(max(mean, query.low), query.high)

    def places(self, size: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """Return `size` independent draws, as positions among the points.

        Examples
        --------
        >>> Population("ab", [0.0, 1.0]).places(3, np.random.default_rng(0))
        array([1, 1, 1])
        """
        cumulative = np.cumsum(self.weights)
        found = np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")
        return np.asarray(found, dtype=np.intp)

    def sample(self, size: int, rng: np.random.Generator) -> list[Any]:
        """Return `size` records drawn independently.

        Examples
        --------
        >>> Population("ab", [0.0, 1.0]).sample(2, np.random.default_rng(0))
        ['b', 'b']
        """
        return [self.points[place] for place in self.places(size, rng).tolist()]


def check_population(population: Any, *, owner: str, has: str = "expectation") -> Any:
    """Return `population`, if it has the method named by `has`.

    Examples
    --------
    >>> check_population([0, 1], owner="ExactOracle")
    Traceback (most recent call last):
    audit.errors.InvalidKind: The distribution of `ExactOracle` must be a `Population`; got [0, 1].
    """
    if isinstance(population, type) or not hasattr(population, has):
        raise InvalidKind(f"The distribution of `{owner}` must be a `Population`; got {population!r:.60}.")
    return population


_ROUNDING = 1e-9
"""How far a sum of probabilities may be from 1."""
