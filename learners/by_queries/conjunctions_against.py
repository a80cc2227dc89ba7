"""The SQ learner of conjunctions, audited against every valid oracle."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.claims import PAC
from learners.by_queries.conjunctions import ConjunctionQueries
from learners.concepts import ConjunctionClass
from learners.finite.hypotheses import Hypotheses
from learners.finite.problems import light_variable_problems
from mechanisms.queries import Population, SQAlgorithm
from mechanisms.queries.runs.against import OracleRun, oracle_entry

if TYPE_CHECKING:
    from mechanisms.queries import SQOracle, StatisticalQuery

__all__ = ["TrustingConjunctions", "conjunctions_against", "trusting_against"]


@dataclass(frozen=True)
class TrustingConjunctions(ConjunctionQueries):
    """Wrong SQ learner that treats answers as exact means.

    It keeps each variable whose answer is at most alpha/d.

    Parameters
    ----------
    dimension, alpha
        As in `ConjunctionQueries`, whose threshold alpha/2d leaves room for the tolerance.

    Guarantee
    ---------
    With the exact oracle the error is at most alpha, because a kept variable is 0 on at most alpha/d of the
    positive examples. With other valid oracles the error can reach 3·alpha/2.

    Examples
    --------
    >>> from mechanisms.queries import AdversarialOracle, ExactOracle
    >>> light = Population([((0,), 1), ((1,), 1)], [0.25, 0.75])
    >>> learner = TrustingConjunctions(1, alpha=0.2)
    >>> learner.learn(ExactOracle(light)), learner.learn(AdversarialOracle(light, "down"))
    ((0,), (1,))
    """

    def learn(self, oracle: SQOracle) -> tuple[int, ...]:
        """Return the conjunction as a word of bits."""
        most = self.alpha / self.dimension
        return tuple(int(answer <= most) for answer in oracle.ask_all(self.queries()))


def _conjunctions(learner: type[ConjunctionQueries], *, dimension: int, alpha: float) -> SQAlgorithm:
    made = learner(dimension, alpha)
    every = Hypotheses.of(ConjunctionClass(dimension))
    populations = {}
    for problem in light_variable_problems(every, alpha=alpha, examples=1):
        labels = every.table.row(int(problem.risks.argmin())).astype(int).tolist()
        points = list(zip(every.domain, labels, strict=True))
        populations[problem.name] = Population(points, problem.law.sum(axis=1))
    return SQAlgorithm(
        run=made.learn,
        queries=dimension,
        hardest=made.queries()[0],
        alpha=alpha,
        error=_conjunction_error,
        populations=populations,
        adaptive=False,
    )


def _conjunction_error(output: Any, population: Population) -> float:
    kept = [place for place, bit in enumerate(output) if bit]
    wrong = [all(x[place] for place in kept) != bool(y) for x, y in population.points]
    return math.fsum(population.weights[np.array(wrong)].tolist())


def _wrongly_kept(query: StatisticalQuery, truth: float, answer: float) -> float:
    """Return the score of an answer that leads to wrong decisions.

    An answer on the wrong side of the threshold scores best.
    """
    del query
    return answer if truth == 0.0 else -answer


def conjunctions_against(*, dimension: int = 3, alpha: float = 0.2) -> OracleRun:
    """Return `ConjunctionQueries` with all valid oracles, as the subject of an audit.

    Examples
    --------
    >>> print(conjunctions_against().utility_claim)
    PAC(alpha=0.2, beta=0)
    """
    return OracleRun(
        make=partial(_conjunctions, ConjunctionQueries, dimension=dimension, alpha=alpha),
        objectives=(_wrongly_kept,),
        accuracy=PAC,
        name="sq-conjunctions",
        reference="B Theorem 5",
    )


def trusting_against(*, dimension: int = 3, alpha: float = 0.2) -> OracleRun:
    """Return `TrustingConjunctions` with all valid oracles, as the subject of an audit.

    Examples
    --------
    >>> worst = trusting_against().problems()[0]
    >>> worst.name
    'always true, each variable 0 on 1.05·alpha/3, answers down'
    """
    return OracleRun(
        make=partial(_conjunctions, TrustingConjunctions, dimension=dimension, alpha=alpha),
        objectives=(_wrongly_kept,),
        accuracy=PAC,
        name="flawed-sq-conjunctions",
        reference="B Theorem 5 with the threshold alpha/d for alpha/2d",
    )


entries = (
    oracle_entry(conjunctions_against, "conjunctions of 3 variables, against every valid SQ oracle"),
    oracle_entry(trusting_against, "the threshold alpha/d, which needs exact answers", "refuted"),
)
