"""Audits of the learners of MASKED-PARITY with every valid oracle."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from audit.claims import PAC
from learners.masked.algorithms import AdaptiveMasked, BentLearner, WeakLearner
from learners.masked.hypothesis import masked_error
from learners.masked.populations import MaskedPopulation
from learners.masked.problems import MaskedProblem, random_masked
from learners.masked.queries import BentQuery, BitQuery
from mechanisms.queries import SQAlgorithm
from mechanisms.queries.oracles.cases import Reweighted
from mechanisms.queries.runs.against import OracleRun, oracle_entry

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from mechanisms.queries import StatisticalQuery

    MaskedLearner: TypeAlias = AdaptiveMasked | BentLearner | WeakLearner

__all__ = ["bent_against", "coarse_against", "masked_against", "weak_against"]


@dataclass(frozen=True)
class _Concepts(Reweighted):
    """Proposes concepts, always with uniform examples."""

    def near(self, label: str, population: Any, rng: np.random.Generator) -> tuple[str, Any]:
        """Return a concept that differs in one bit of r, or in `a`."""
        del label
        return _named(MaskedProblem(population, examples=1).varied(rng))

    def fresh(self, populations: Mapping[str, Any], rng: np.random.Generator) -> tuple[str, Any]:
        """Return a random concept."""
        first: MaskedPopulation = next(iter(populations.values()))
        return _named(random_masked(first.dimension, examples=1, rng=rng))


def _named(problem: MaskedProblem) -> tuple[str, MaskedPopulation]:
    return problem.name, problem.population


def _algorithm(
    learner: MaskedLearner, *, hardest: StatisticalQuery, queries: int, alpha: float
) -> SQAlgorithm:
    """Return an algorithm with hard targets."""
    dimension = learner.dimension
    words = sorted({0, 1, (2**dimension - 1) // 3, 2**dimension - 1})
    concepts = [MaskedPopulation(dimension, r=r, a=a) for r in words for a in (0, 1)]
    populations: dict[str, Any] = dict(_named(MaskedProblem(concept, examples=1)) for concept in concepts)
    return SQAlgorithm(
        run=learner.learn,
        queries=queries,
        hardest=hardest,
        alpha=alpha,
        error=_concept_error,
        populations=populations,
    )


def _concept_error(output: Any, population: Any) -> float:
    return masked_error(output, population.concept)


def _wrong_side(query: StatisticalQuery, truth: float, answer: float) -> float:
    """Return how far an answer lies on the wrong side of the threshold."""
    threshold = 0.25
    if isinstance(query.function, BitQuery):
        threshold = 0.25 / query.function.dimension
    elif isinstance(query.function, BentQuery):
        threshold = 0.5
    return threshold - answer if truth > threshold else answer - threshold


_run = partial(OracleRun, objectives=(_wrong_side,), laws=_Concepts(), accuracy=PAC)


def _adaptive(*, dimension: int) -> SQAlgorithm:
    learner = AdaptiveMasked(dimension)
    return _algorithm(learner, hardest=learner.first_round()[0], queries=dimension + 1, alpha=0.0)


def _bent(*, dimension: int, tau: float | None = None) -> SQAlgorithm:
    learner = BentLearner(dimension, tau)
    return _algorithm(learner, hardest=learner.queries()[-1], queries=dimension + 1, alpha=0.0)


def _weak(*, dimension: int) -> SQAlgorithm:
    hardest = AdaptiveMasked(dimension).first_round()[0]
    return _algorithm(WeakLearner(dimension), hardest=hardest, queries=dimension, alpha=0.25)


def masked_against(*, dimension: int = 8) -> OracleRun:
    """Return `AdaptiveMasked` with all valid oracles, as the subject of an audit.

    Examples
    --------
    >>> print(masked_against().utility_claim)
    PAC(alpha=0, beta=0)
    """
    make = partial(_adaptive, dimension=dimension)
    return _run(make=make, name="sq-masked-parity", reference="K11 §5.3.1, Proposition 5.18")


def bent_against(*, dimension: int = 8) -> OracleRun:
    """Return `BentLearner` at the tolerance of K08 Theorem 5.1, as the subject of an audit.

    Examples
    --------
    >>> bent_against().algorithm.hardest.tau == 2 ** (-16 / 3)
    True
    """
    make = partial(_bent, dimension=dimension)
    return _run(make=make, name="sq-bent-learner", reference="K08 Theorem 5.1, which it refutes")


def weak_against(*, dimension: int = 8) -> OracleRun:
    """Return `WeakLearner` with all valid oracles, as the subject of an audit.

    Examples
    --------
    >>> print(weak_against().utility_claim)
    PAC(alpha=0.25, beta=0)
    """
    make = partial(_weak, dimension=dimension)
    return _run(make=make, name="sq-weak-masked-parity", reference="K11 §5.3")


def coarse_against(*, dimension: int = 8) -> OracleRun:
    """Return `BentLearner` at the tolerance of K11 Theorem 5.16, as the subject of an audit.

    Examples
    --------
    >>> round(coarse_against().algorithm.hardest.tau, 4)
    0.1575
    """
    make = partial(_bent, dimension=dimension, tau=2.0 ** (-dimension / 3))
    return _run(make=make, name="flawed-sq-bent-learner", reference="K11 Theorem 5.16")


entries = (
    oracle_entry(masked_against, "MASKED-PARITY in two rounds, d = 8, against every valid SQ oracle"),
    oracle_entry(
        bent_against, "MASKED-PARITY in one round with a bent function, against every valid SQ oracle"
    ),
    oracle_entry(weak_against, "MASKED-PARITY weakly in one round, against every valid SQ oracle"),
    oracle_entry(coarse_against, "the bent function's learner with K11's tolerance 2^(−d/3)", "refuted"),
)
