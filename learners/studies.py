"""The studies of sample size that this package offers: what privacy, properness and one round cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.claims import PAC
from audit.studies import Curve, Study
from learners.generic import GenericLearner, generic_size
from learners.hypotheses import Hypotheses
from learners.parity import AmplifiedParityLearner, ParityProblem, Plan, hard_problems
from learners.parity.examples import examples_of
from learners.parity.plans import derived_plan
from learners.parity.systems import BitSystem, as_numbers, as_tuple
from learners.problems import LearningProblem
from learners.study_families import SearchedProblems, agnostic_family, parity_family

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Elimination", "generic_failure", "parity_failure", "studies"]

_ALPHA, _BETA = 0.1, 0.1
_CLAIM = PAC(_ALPHA, _BETA)
_WEIGHT = 1.01
"""A hypothesis that errs on so many times alpha is bad."""

DOMAIN = 8
"""The laws of examples for the generic learner lie on so many points."""


def studies() -> list[Study]:
    """Return all studies, in page order.

    Examples
    --------
    >>> [study.name for study in studies()][:3]
    ['parity', 'parity-epsilon', 'generic']
    """
    from learners.study_queries import conjunctions, masked
    from learners.study_thresholds import (
        intervals,
        intervals_delta,
        intervals_epsilon,
        points,
        points_delta,
    )

    return [
        *(parity(), parity_epsilon(), generic(), generic_epsilon()),
        *(points(), points_delta(), intervals(), intervals_epsilon(), intervals_delta()),
        *(conjunctions(), masked()),
    ]


# --- PARITY


@dataclass(frozen=True)
class Elimination:
    """Learn a parity without privacy: a uniform solution of the equations of all examples.

    Parameters
    ----------
    dimension
        d, the length of x.

    Examples
    --------
    >>> Elimination(2)([((1, 0), 1), ((1, 1), 1)], np.random.default_rng(0))
    (1, 0)
    """

    dimension: int

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return a parity as a tuple of bits, None where no parity agrees with the examples."""
        examples = examples_of(database, dimension=self.dimension, owner="Elimination")
        space = BitSystem.of(examples).solve((1 << len(examples)) - 1)
        coins = as_numbers((rng.random(self.dimension) < 0.5)[None, :])[0]
        return None if space is None else as_tuple(space.member(coins), self.dimension)


def parity_failure(dimension: int, size: int, *, rate: float) -> float:
    """Return the probability that a uniform solution misses the target, an example informing with `rate`.

    Guarantee
    ---------
    Exact for examples that are uniform with some probability and zero otherwise, each of which is taken or
    not: `rate` is the probability of both. The rank of what is taken grows from r with probability
    rate·(1 − 2^(r − d)) an example, and the target is one of 2^(d − r) solutions.

    Examples
    --------
    >>> parity_failure(1, 1, rate=1.0)
    0.25
    """
    ranks = np.arange(dimension + 1)
    grows = rate * (1.0 - 2.0 ** (ranks - dimension))
    step = np.diag(1.0 - grows) + np.diag(grows[:-1], 1)
    law = np.linalg.matrix_power(step, size)[0]
    return float(law @ (1.0 - 2.0 ** (ranks - dimension)))


def _amplified(bits: Any, epsilon: Any) -> Curve:
    """Return the curve of A*, `bits` and `epsilon` being functions of the parameter."""

    def plan(value: float) -> Plan:
        return derived_plan(
            "retry",
            dimension=int(bits(value)),
            epsilon=epsilon(value),
            alpha=_ALPHA,
            beta=_BETA,
            tight=True,
        )

    def private(value: float, size: int) -> AmplifiedParityLearner:
        made = Plan(plan(value).candidates, training=size)
        told: dict[str, Any] = {"alpha": _ALPHA, "beta": _BETA, "form": "retry", "tight": True}
        return AmplifiedParityLearner(int(bits(value)), epsilon(value), made=made, **told)

    def failure(value: float, size: int) -> float:
        rates = private(value, 1).run.rates
        none = rates.refusal ** plan(value).candidates
        taken = rates.inclusion * 2.0 * _WEIGHT * _ALPHA
        return none + (1.0 - none) * parity_failure(int(bits(value)), size, rate=taken)

    return Curve(
        "private: A*, retry form, tight",
        private,
        lambda value, size: _rarely_uniform(bits(value), size),
        bound=lambda value: plan(value).training,
        source="K08 Theorem 3.8, constants derived",
        failure=failure,
        family=lambda value, size: _parities(bits(value), size),
        expected="grows",
    )


_RARELY = (
    "examples uniform on {0,1}^d with probability 2.02·α and zero otherwise, so that every parity but the "
    "target has error 1.01·α"
)


def parity(*, epsilon: float = 1.0) -> Study:
    """Return the study of PARITY: A*, tight, beside elimination (K08 Theorem 3.8, K11 Theorem 4.4)."""
    return Study(
        "parity",
        "PARITY: what privacy costs.",
        _CLAIM,
        "d",
        (4, 8, 16, 32, 64),
        (
            _amplified(int, lambda _: epsilon),
            Curve(
                "not private: elimination",
                lambda d, _: Elimination(int(d)),
                _rarely_uniform,
                bound=lambda d: (d * math.log(2.0) + math.log(1.0 / _BETA)) / _ALPHA,
                source="Occam: (d·ln 2 + ln(1/β))/α",
                failure=lambda d, size: parity_failure(int(d), size, rate=2.0 * _WEIGHT * _ALPHA),
                family=_parities,
                expected="grows",
            ),
        ),
        whole=True,
        fixed=f"ε = {epsilon:g}; {_RARELY}",
        source="K08 Theorem 3.8; K11 Theorem 4.4",
        resolution=1.02,
        steps=40,
    )


def parity_epsilon(*, dimension: int = 16) -> Study:
    """Return the study of A* against 1/epsilon (K08 Theorem 3.8, K11 Theorem 4.4)."""
    return Study(
        "parity-epsilon",
        "PARITY: the least m grows with 1/ε.",
        _CLAIM,
        "1/ε",
        (0.5, 1, 2, 4, 8),
        (_amplified(lambda _: dimension, lambda inverse: 1.0 / inverse),),
        fixed=f"d = {dimension}; {_RARELY}",
        source="K08 Theorem 3.8; K11 Theorem 4.4",
        resolution=1.02,
        steps=40,
    )


def _parities(d: float, size: int) -> SearchedProblems:
    return parity_family(int(d), alpha=_ALPHA, size=size)


def _rarely_uniform(d: float, size: int) -> list[ParityProblem]:
    problems = hard_problems(int(d), alpha=_ALPHA, size=size)
    return [problem for problem in problems if problem.name == "rarely uniform"]


# --- any finite class


def generic_failure(hypotheses: int, size: int, *, epsilon: float, weight: float) -> float:
    """Return the probability that the generic learner misses the target on `crowd_problem`.

    Guarantee
    ---------
    Exact: with K ~ Bin(size, weight) examples at the target's point, |H| − 2 hypotheses have K errors, one
    has `size`, and the target none. The chance of missing given K is 1 − 1/(1 + (|H| − 2)·e^(−εK/2) +
    e^(−ε·size/2)).

    Examples
    --------
    >>> round(generic_failure(4, 1, epsilon=2 * math.log(3), weight=1.0), 12)
    0.5
    """
    from scipy.stats import binom

    k = np.arange(size + 1)
    odds = (hypotheses - 2) * np.exp(-epsilon * k / 2.0) + math.exp(-epsilon * size / 2.0)
    return float(binom.pmf(k, size, weight) @ (odds / (1.0 + odds)))


def crowd_problem(hypotheses: Hypotheses, size: int) -> LearningProblem:
    """Return POINT with target c_0, weight 1.01·alpha on 0 and the rest on 1.

    All rivals have error 1.01·alpha, but for c_1, which is always wrong.
    """
    law: NDArray[np.float64] = np.zeros((len(hypotheses.domain), 2))
    law[0, 1] = _WEIGHT * _ALPHA
    law[1, 0] = 1.0 - _WEIGHT * _ALPHA
    return LearningProblem("all rivals 1.01·alpha away", hypotheses, law, size)


@cache
def few_points(bits: int) -> Hypotheses:
    """Return POINT_d, all of its 2^d concepts, on the first `DOMAIN` points of its domain.

    The generic learner counts the errors of concepts: on laws of these points it is the learner of the whole
    class, whose table would fill the memory.

    Examples
    --------
    >>> few_points(10).table.hypotheses, few_points(10).table.points
    (1024, 8)
    """
    points = min(DOMAIN, 2**bits)
    rows = np.zeros((2**bits, points), dtype=np.bool_)
    rows[np.arange(points), np.arange(points)] = True
    return Hypotheses.of_rows(rows, domain=range(points))


def _generic_curve(bits: Any, epsilon: Any) -> Curve:
    """Return the curve of the generic learner, `bits` and `epsilon` being functions of the parameter."""

    def learner(value: float, size: int) -> GenericLearner:
        return GenericLearner(
            epsilon=epsilon(value), concepts=few_points(bits(value)), alpha=_ALPHA, beta=_BETA, size=size
        )

    return Curve(
        "generic learner",
        learner,
        lambda value, size: [crowd_problem(few_points(bits(value)), size)],
        bound=lambda value: generic_size(2 ** bits(value), alpha=_ALPHA, beta=_BETA, epsilon=epsilon(value)),
        source="K11 Theorem 3.4 with ln(3/β)",
        failure=lambda value, size: generic_failure(
            2 ** bits(value), size, epsilon=epsilon(value), weight=_WEIGHT * _ALPHA
        ),
        family=lambda value, size: agnostic_family(few_points(bits(value)), alpha=_ALPHA, size=size),
        expected="grows",
        compared=200_000,
    )


def generic() -> Study:
    """Return the study of the generic learner against log2|H| (K11 Theorem 3.4)."""
    return Study(
        "generic",
        "The generic learner: the least m grows with log|H|.",
        _CLAIM,
        "log2|H|",
        (2, 4, 8, 12, 16),
        (_generic_curve(int, lambda _: 1.0),),
        fixed="ε = 1; POINT_d, d = log2|H|, on its first points; searched from target 0, every rival 1.01·α "
        "away, by random laws, noisy labels and a climb",
        source="K08 Theorem 3.7; K11 Theorem 3.4",
        search=12_000,
        resolution=1.02,
        steps=30,
    )


def generic_epsilon() -> Study:
    """Return the study of the generic learner against 1/epsilon (K11 Theorem 3.4)."""
    return Study(
        "generic-epsilon",
        "The generic learner: the least m grows with 1/ε.",
        _CLAIM,
        "1/ε",
        (0.5, 1, 2, 4, 8),
        (_generic_curve(lambda _: 6, lambda inverse: 1.0 / inverse),),
        fixed="|H| = 64; POINT_6 on its first points; searched from target 0, every rival 1.01·α away, by "
        "random laws, noisy labels and a climb",
        source="K08 Theorem 3.7; K11 Theorem 3.4",
        search=12_000,
        resolution=1.02,
        steps=30,
    )
