"""Algorithms that ask statistical queries, with their promises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import flag
from mechanisms.queries.oracles.oracle import NonAdaptive
from mechanisms.queries.population import Population
from mechanisms.queries.statistical import StatisticalQuery

if TYPE_CHECKING:
    from collections.abc import Callable

    from mechanisms.queries.oracles.oracle import SQOracle

__all__ = ["SQAlgorithm", "mean_and_spread"]


@dataclass(frozen=True, eq=False, kw_only=True)
class SQAlgorithm:
    """An algorithm that asks statistical queries, with its promise for valid oracles.

    Parameters
    ----------
    run
        A function of an SQ oracle that returns the output.
    queries
        The largest number of its queries.
    hardest
        The query that needs the most records, which has the least tolerance ÷ width.
    alpha
        The largest error that its output can have if all answers are within their tolerances.
    error
        A function of an output and the `Population` that returns the error.
    populations
        Hard distributions by name.
    adaptive
        If false, all queries are asked in one round (K11 Definition 5.5), and `answered` allows no more.

    Examples
    --------
    >>> from mechanisms.queries import ExactOracle
    >>> mean_and_spread(tau=0.5).answered(ExactOracle(Population([-1, 1])))
    (0.0, 1.0)
    """

    run: Callable[[SQOracle], Any]
    queries: int
    hardest: StatisticalQuery
    alpha: float
    error: Callable[[Any, Population], float]
    populations: dict[str, Population]
    adaptive: bool = True

    def __post_init__(self) -> None:
        flag(self.adaptive, what=f"The `adaptive` of `{type(self).__name__}`")

    def answered(self, oracle: SQOracle) -> Any:
        """Return the output of the algorithm on the answers of this oracle.

        Raises
        ------
        InvalidValue
            An algorithm that is not `adaptive` calls `ask`, or asks a second round.
        """
        return self.run(oracle if self.adaptive else NonAdaptive(oracle))


def mean_and_spread(*, tau: float = 0.5) -> SQAlgorithm:
    """Return the algorithm that asks for a mean and the distance from it.

    Query 2 asks for the average distance of values from the *answer* to query 1.

    Guarantee
    ---------
    Two queries of tolerance `tau` and width 2. With a valid oracle, output 1 is within tau of E[z]. Output 2
    is within tau of E|z − answer|, with the answer clipped to [−1, 1].

    Examples
    --------
    >>> from mechanisms.queries import AdversarialOracle
    >>> coin = Population([-1, 1])
    >>> output = mean_and_spread(tau=0.25).run(AdversarialOracle(coin, "up"))
    >>> output, mean_and_spread(tau=0.25).error(output, coin)
    ((0.25, 1.25), 0.25)
    """
    first = StatisticalQuery(_itself, tau, vectorised=_itself)

    def run(oracle: SQOracle) -> tuple[float, float]:
        mean = oracle.ask(first)
        return mean, oracle.ask(_distance_from(mean, tau=tau))

    def error(output: Any, population: Population) -> float:
        mean, spread = output
        off = abs(spread - population.expectation(_distance_from(mean, tau=tau)))
        return float(max(abs(mean - population.expectation(first)), off))

    return SQAlgorithm(
        run=run,
        queries=2,
        hardest=first,
        alpha=tau,
        error=error,
        populations={
            "half lowest, half highest": Population([-1, 1]),
            "all highest": Population([1]),
            "one in ten highest": Population([-1, 1], [0.9, 0.1]),
        },
    )


def _itself(record: Any) -> Any:
    return record


def _distance_from(answer: float, *, tau: float) -> StatisticalQuery:
    centre = min(max(answer, -1.0), 1.0)

    def distances(records: Any) -> Any:
        return np.abs(np.asarray(records, dtype=np.float64) - centre)

    return StatisticalQuery(
        lambda record: float(distances(record)), tau, low=0.0, high=2.0, vectorised=distances
    )
