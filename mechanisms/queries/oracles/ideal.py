"""Oracles that know the distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mechanisms.queries.oracles.oracle import Oracle, check_generator
from mechanisms.queries.population import check_population

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mechanisms.queries.population import Population
    from mechanisms.queries.statistical import StatisticalQuery

__all__ = ["ExactOracle", "RandomOracle"]


class ExactOracle(Oracle):
    """Answers every query with its mean.

    Parameters
    ----------
    population
        The distribution.

    Guarantee
    ---------
    Every answer is the mean up to rounding, so the oracle is a valid SQ oracle (K11 Definition 5.4).

    Examples
    --------
    >>> from mechanisms.queries import Population, StatisticalQuery
    >>> ExactOracle(Population([1, 2, 4, 8])).ask(StatisticalQuery(float, tau=1, low=0, high=8))
    3.75
    """

    def __init__(self, population: Population) -> None:
        super().__init__()
        self.population: Population = check_population(population, owner=type(self).__name__)

    def ask_repeatedly(self, query: StatisticalQuery, times: int) -> NDArray[np.float64]:
        """Return the answer `times` times."""
        answer = self._answer(query)
        self._count([query], times=times)
        return np.full(times, answer)

    def _answer(self, query: StatisticalQuery) -> float:
        return self.population.expectation(query)


class RandomOracle(Oracle):
    """Answers with a new uniform draw from mean ± tolerance for every query.

    Parameters
    ----------
    population
        The distribution.
    rng
        The generator of the draws.

    Guarantee
    ---------
    A valid SQ oracle (K11 Definition 5.4). Its answers are unbiased, which SQ oracles need not be.

    Examples
    --------
    >>> from mechanisms.queries import Population, StatisticalQuery
    >>> oracle = RandomOracle(Population([0, 1]), rng=np.random.default_rng(0))
    >>> abs(oracle.ask(StatisticalQuery.fraction(bool, tau=0.1)) - 0.5) <= 0.1
    True
    """

    def __init__(self, population: Population, *, rng: np.random.Generator) -> None:
        super().__init__()
        self.population: Population = check_population(population, owner=type(self).__name__)
        self._rng = check_generator(rng, owner=type(self).__name__)

    def ask_repeatedly(self, query: StatisticalQuery, times: int) -> NDArray[np.float64]:
        """Return `times` independent answers."""
        truth = self.population.expectation(query)
        self._count([query], times=times)
        return truth + self._rng.uniform(-query.tau, query.tau, times)

    def _answer(self, query: StatisticalQuery) -> float:
        return self.population.expectation(query) + float(self._rng.uniform(-query.tau, query.tau))
