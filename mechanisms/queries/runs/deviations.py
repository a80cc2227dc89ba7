"""SQ algorithms for the standard deviation, one of them flawed."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mechanisms.queries.population import Population
from mechanisms.queries.runs.against import OracleRun, oracle_entry
from mechanisms.queries.runs.algorithms import SQAlgorithm, mean_and_spread
from mechanisms.queries.statistical import StatisticalQuery

if TYPE_CHECKING:
    from mechanisms.queries.oracles.oracle import SQOracle

__all__ = [
    "deviation_run",
    "spread_run",
    "standard_deviation",
    "trusting_deviation",
    "trusting_run",
]


def _itself(records: Any) -> Any:
    return records


def _squares(records: Any) -> Any:
    return np.square(np.asarray(records, dtype=np.float64))


class _Deviation:
    """Estimates a standard deviation from the mean and the mean square."""

    def __init__(self, tau: float) -> None:
        self.queries = (
            StatisticalQuery(_itself, tau, vectorised=_itself),
            StatisticalQuery(_squares, tau, low=0.0, high=1.0, vectorised=_squares),
        )

    def __call__(self, oracle: SQOracle) -> float:
        mean, square = oracle.ask_all(self.queries)
        return math.sqrt(max(0.0, square - min(max(mean, -1.0), 1.0) ** 2))


def _deviation_error(output: float, population: Population) -> float:
    points = np.asarray(population.points, dtype=np.float64)
    mean = float(population.weights @ points)
    variance = float(population.weights @ np.square(points - mean))
    return abs(output - math.sqrt(variance))


def _more_spread(query: StatisticalQuery, truth: float, answer: float) -> float:
    """Return what an adversary maximises to make the estimated deviation too large."""
    del truth
    return answer if query.function is _squares else -abs(answer)


def standard_deviation(*, tau: float = 0.25) -> SQAlgorithm:
    """Return the algorithm that estimates a standard deviation of values in [−1, 1].

    Mean and mean square are asked for, each within tau²/3.

    Guarantee
    ---------
    The output is within `tau` of the standard deviation, with every valid oracle. Let t = tau²/3, and clip
    the answer m̂ to [−1, 1]. Then |m̂² − m²| ≤ 2t, so the variance is off by at most 3t = tau². The deviation
    is off by at most tau, because |√a − √b| ≤ √|a − b|. On a constant ±1 the error is √(3t − t²), so the
    bound is tight up to a factor 1 − t/3.

    Examples
    --------
    >>> from mechanisms.queries import AdversarialOracle
    >>> ones = standard_deviation(tau=0.3).populations["all highest"]
    >>> round(standard_deviation(tau=0.3).run(AdversarialOracle(ones, [-1, 1])), 6)
    0.298496
    """
    return _deviation(tau, asked=tau**2 / 3.0)


def trusting_deviation(*, tau: float = 0.25) -> SQAlgorithm:
    """Return a flawed `standard_deviation`, whose queries have tolerance tau.

    On a constant ±1 the error is up to √(3·tau − tau²). With the exact oracle it is 0.

    Examples
    --------
    >>> from mechanisms.queries import AdversarialOracle
    >>> ones = trusting_deviation(tau=0.3).populations["all highest"]
    >>> round(trusting_deviation(tau=0.3).run(AdversarialOracle(ones, [-1, 1])), 6)
    0.9
    """
    return _deviation(tau, asked=tau)


def _deviation(tau: float, *, asked: float) -> SQAlgorithm:
    run = _Deviation(asked)
    return SQAlgorithm(
        run=run,
        queries=2,
        hardest=run.queries[0],
        alpha=tau,
        error=_deviation_error,
        populations={
            "all highest": Population([-1, 1], [0.0, 1.0]),
            "half lowest, half highest": Population([-1, 1]),
            "one in ten highest": Population([-1, 0, 1], [0.0, 0.9, 0.1]),
        },
        adaptive=False,
    )


def spread_run(*, tau: float = 0.25) -> OracleRun:
    """Return `mean_and_spread` as a mechanism that runs against all valid oracles.

    Examples
    --------
    >>> print(spread_run().utility_claim)
    Accuracy(alpha=0.25, beta=0)
    """
    return OracleRun(make=partial(mean_and_spread, tau=tau), name="sq-mean-and-spread")


def deviation_run(*, tau: float = 0.25) -> OracleRun:
    """Return `standard_deviation` as a mechanism that runs against all valid oracles.

    Examples
    --------
    >>> deviation_run().problems()[0].name
    'all highest, answers off by tau times -1 1 and 0 thereafter'
    """
    make = partial(standard_deviation, tau=tau)
    return OracleRun(make=make, objectives=(_more_spread,), name="sq-standard-deviation")


def trusting_run(*, tau: float = 0.25) -> OracleRun:
    """Return `trusting_deviation` as a mechanism that runs against all valid oracles.

    Examples
    --------
    >>> ones = {problem.name: problem for problem in trusting_run().problems()}["all highest, answers exact"]
    >>> trusting_run()(ones.database, np.random.default_rng(0))
    0.0
    """
    make = partial(trusting_deviation, tau=tau)
    return OracleRun(make=make, objectives=(_more_spread,), name="flawed-sq-standard-deviation")


entries = (
    oracle_entry(spread_run, "mean, and spread about its answer, against every valid SQ oracle"),
    oracle_entry(
        deviation_run, "the standard deviation by tolerances of tau²/3, against every valid SQ oracle"
    ),
    oracle_entry(trusting_run, "the same by tolerances of tau: right with exact answers only", "refuted"),
)
