"""Studies of the sample size of the generic learner."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.claims import PAC
from audit.studies import Curve, Study
from learners.finite.hypotheses import Hypotheses
from learners.finite.problems import LearningProblem
from learners.generic.agnostic import GenericLearner, generic_size
from learners.studies.families import agnostic_family

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["generic", "generic_epsilon", "generic_failure"]

_ALPHA, _BETA = 0.1, 0.1
_CLAIM = PAC(_ALPHA, _BETA)
_WEIGHT = 1.01
"""The bad hypotheses have an error of this many times alpha."""

DOMAIN = 8
"""The laws of examples for the generic learner lie on this many points."""


def generic_failure(hypotheses: int, size: int, *, epsilon: float, weight: float) -> float:
    """Return the failure probability on `crowd_problem`.

    Guarantee
    ---------
    Exact. Let K ~ Bin(size, weight) be the number of examples at the target's point. Then |H| − 2 hypotheses
    have K errors, one has `size` errors, and the target has none. Given K, the probability of missing the
    target is 1 − 1/(1 + (|H| − 2)·e^(−εK/2) + e^(−ε·size/2)).

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
    """Return the problem with rivals of error just above alpha."""
    law: NDArray[np.float64] = np.zeros((len(hypotheses.domain), 2))
    law[0, 1] = _WEIGHT * _ALPHA
    law[1, 0] = 1.0 - _WEIGHT * _ALPHA
    return LearningProblem("all rivals 1.01·alpha away", hypotheses, law, size)


@cache
def few_points(bits: int) -> Hypotheses:
    """Return POINT_d on the first `DOMAIN` points of its domain.

    If all examples lie on these points, the generic learner has the same law as with POINT_d.

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
    """Return the generic learner's curve."""

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
    """Return the study of the generic learner's size against log2|H| (K11 Theorem 3.4)."""
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
    """Return the study of the generic learner's size against 1/epsilon (K11 Theorem 3.4)."""
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
