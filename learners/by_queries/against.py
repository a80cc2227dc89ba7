"""Audits of the perceptron and k-means with every valid oracle."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.claims import PAC, Accuracy
from audit.errors import InvalidValue
from learners.by_queries.centres import KMeansQueries
from learners.by_queries.clusters import cluster_problems, is_steady, off_lloyd, random_clusters
from learners.by_queries.perceptron import PerceptronQueries
from learners.by_queries.separable import mistakes, random_separable, separable_problems
from mechanisms.queries import Population, SQAlgorithm
from mechanisms.queries.oracles.cases import Reweighted
from mechanisms.queries.runs.against import OracleRun, oracle_entry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from learners.by_queries.centres import Centres
    from mechanisms.queries import StatisticalQuery

__all__ = ["kmeans_against", "perceptron_against"]


@dataclass(frozen=True)
class _Separable(Reweighted):
    """Proposes populations that have the margin of the perceptron."""

    dimension: int
    margin: float

    def fresh(self, populations: Mapping[str, Any], rng: np.random.Generator) -> tuple[str, Any]:
        """Return the name and population of a new proposal."""
        if rng.random() < 0.5:
            return super().fresh(populations, rng)
        seed = int(rng.integers(2**31))
        problem = random_separable(
            self.dimension, margin=self.margin, examples=1, rng=np.random.default_rng(seed)
        )
        return f"{problem.name} of seed {seed}", Population(problem.records, problem.weights)


def _perceptron(*, dimension: int, alpha: float, margin: float) -> SQAlgorithm:
    made = PerceptronQueries(dimension, alpha, margin)
    problems = separable_problems(dimension, alpha=alpha, margin=margin, examples=1)
    return SQAlgorithm(
        run=made.learn,
        queries=made.most_queries,
        hardest=made.push_queries((0.0,) * dimension)[0],
        alpha=alpha,
        error=_separable_error,
        populations={each.name: Population(each.records, each.weights) for each in problems},
    )


def _separable_error(output: Any, population: Population) -> float:
    return math.fsum(population.weights[mistakes(list(population.points), output)[1]].tolist())


def _less(query: StatisticalQuery, truth: float, answer: float) -> float:
    """Return a score that prefers small answers, which hide mistakes."""
    del query, truth
    return -abs(answer)


def perceptron_against(*, dimension: int = 2, alpha: float = 0.2, margin: float = 0.5) -> OracleRun:
    """Return `PerceptronQueries` with all valid oracles, as the subject of an audit.

    Examples
    --------
    >>> perceptron_against().algorithm.queries
    219
    """
    return OracleRun(
        make=partial(_perceptron, dimension=dimension, alpha=alpha, margin=margin),
        objectives=(_less,),
        laws=_Separable(dimension, margin),
        accuracy=PAC,
        name="sq-perceptron",
        reference="K11 §1.1.1",
    )


@dataclass(frozen=True)
class _Steady(Reweighted):
    """Proposes only populations on which Lloyd's iteration tolerates small errors."""

    algorithm: KMeansQueries

    def keeps(self, population: Any) -> bool:
        """Return whether `is_steady` holds on this population."""
        return is_steady(population.points, population.weights, self.algorithm)

    def fresh(self, populations: Mapping[str, Any], rng: np.random.Generator) -> tuple[str, Any]:
        """Return a name and a population that `keeps` accepts."""
        seed = int(rng.integers(2**31))
        found = random_clusters(self.algorithm, examples=1, rng=np.random.default_rng(seed))
        if found is None or rng.random() < 0.5:
            return super().fresh(populations, rng)
        return f"{found.name} of seed {seed}", Population(found.points, found.weights)


def _kmeans(*, start: Centres, rounds: int, tau: float, least_mass: float) -> SQAlgorithm:
    algorithm = KMeansQueries(start, rounds, tau, least_mass)
    problems = cluster_problems(algorithm, examples=1)
    if not problems:
        raise InvalidValue(
            f"The error 2·tau/least_mass must leave some law steady; got {algorithm.accuracy:g}: "
            "take a smaller `tau` or more distant centres."
        )
    return SQAlgorithm(
        run=algorithm.learn,
        queries=algorithm.most_queries,
        hardest=algorithm.queries(algorithm.start)[0],
        alpha=algorithm.accuracy,
        error=partial(_off_lloyd, algorithm),
        populations={each.name: Population(each.points, each.weights) for each in problems},
    )


def _off_lloyd(algorithm: KMeansQueries, output: Any, population: Population) -> float:
    return off_lloyd(output, population.points, population.weights, algorithm=algorithm)


def _outwards(query: StatisticalQuery, truth: float, answer: float) -> float:
    """Return a score for answers that move a centre away from 0."""
    del truth
    return -answer if getattr(query.function, "place", None) is None else answer


def _inwards(query: StatisticalQuery, truth: float, answer: float) -> float:
    """Return a score for answers that move a centre towards 0."""
    return -_outwards(query, truth, answer)


def kmeans_against(
    *,
    start: Centres = ((0.25,), (0.75,)),
    rounds: int = 2,
    tau: float = 0.01,
    least_mass: float = 0.2,
) -> OracleRun:
    """Return `KMeansQueries` with all valid oracles, as the subject of an audit.

    The audit tries only laws on which `is_steady` holds.

    Raises
    ------
    InvalidValue
        `is_steady` holds on no law of the library. The audit raises this.

    Examples
    --------
    >>> round(kmeans_against().utility_claim.alpha, 12)
    0.1
    """
    return OracleRun(
        make=partial(_kmeans, start=start, rounds=rounds, tau=tau, least_mass=least_mass),
        objectives=(_outwards, _inwards),
        laws=_Steady(KMeansQueries(start, rounds, tau, least_mass)),
        accuracy=Accuracy,
        name="sq-k-means",
        reference="K11 §1.1.1",
    )


entries = (
    oracle_entry(perceptron_against, "the perceptron in the plane, against every valid SQ oracle"),
    oracle_entry(kmeans_against, "k-means, two rounds, against every valid SQ oracle"),
)
