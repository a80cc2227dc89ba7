"""Studies of the sample sizes of learners of PARITY."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.claims import PAC
from audit.studies import Curve, Study
from learners.parity import AmplifiedParityLearner, ParityProblem, Plan, hard_problems
from learners.parity.examples import examples_of
from learners.parity.plans import derived_plan
from learners.parity.systems import BitSystem, as_numbers, as_tuple
from learners.studies.families import SearchedProblems, parity_family

__all__ = ["Elimination", "parity", "parity_epsilon", "parity_failure"]

_ALPHA, _BETA = 0.1, 0.1
_CLAIM = PAC(_ALPHA, _BETA)
_WEIGHT = 1.01
"""All parities except the target have an error of this many times alpha."""


@dataclass(frozen=True)
class Elimination:
    """Learn a parity without privacy.

    The answer is a uniform solution of all examples.

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
        """Return a parity as bits, or None if there is no solution."""
        examples = examples_of(database, dimension=self.dimension, owner="Elimination")
        space = BitSystem.of(examples).solve((1 << len(examples)) - 1)
        coins = as_numbers((rng.random(self.dimension) < 0.5)[None, :])[0]
        return None if space is None else as_tuple(space.member(coins), self.dimension)


def parity_failure(dimension: int, size: int, *, rate: float) -> float:
    """Return the probability that a uniform solution is not the target.

    Guarantee
    ---------
    Exact if each example is uniform with some probability and zero otherwise, and each example is taken or
    left at random. `rate` is the probability that an example is uniform and taken. Each example raises the
    rank r of the examples taken with probability rate·(1 − 2^(r − d)). The target is one of 2^(d − r)
    solutions.

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
    """Return the curve of A*."""

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
    """Return the study of PARITY (K08 Theorem 3.8, K11 Theorem 4.4)."""
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
