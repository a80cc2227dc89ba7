"""Studies of learners of points and thresholds (BNS §1, §3)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from audit.claims import PAC
from audit.studies import Curve, Study
from learners.approximate import (
    IntervalLearner,
    IntervalProblem,
    NumberSource,
    PointLearner,
    PointProblem,
    SearchingIntervalLearner,
)
from learners.approximate.point import missed
from learners.pure import HashedPointLearner, PureIntervalLearner, PurePointLearner, pure_size
from learners.studies.families import SearchedProblems, interval_family, point_family

__all__ = [
    "approximate_point_failure",
    "intervals",
    "intervals_delta",
    "intervals_epsilon",
    "points",
    "points_delta",
    "pure_failure",
]

_ALPHA, _BETA, _EPSILON, _DELTA = 0.1, 0.1, 1.0, 1e-6
_CLAIM = PAC(_ALPHA, _BETA)
_MASS = 1.01 * _ALPHA
_TOLD: dict[str, Any] = {"epsilon": _EPSILON, "alpha": _ALPHA, "beta": _BETA}


def pure_failure(others: float, size: int, *, last: str, epsilon: float = _EPSILON) -> float:
    """Return the failure probability of the exponential mechanism.

    Parameters
    ----------
    others
        The number of concepts that err only at a number of mass 1.01·alpha. K ~ Bin(size, 1.01·alpha)
        examples are there.
    last
        "all": one more concept errs on all examples. "rest": it errs on all but those K.
    epsilon
        The epsilon of the mechanism.

    Guarantee
    ---------
    Exact. Given K, the target has weight 1, all `others` together have weight others·e^(−εK/2), and the last
    concept has weight e^(−ε·errors/2).

    Examples
    --------
    >>> round(pure_failure(1.0, 0, last="all"), 12)
    0.666666666667
    """
    from scipy.special import expit
    from scipy.stats import binom

    k = np.arange(size + 1)
    errors = size if last == "all" else size - k
    log_others = math.log(others) if others > 0 else -math.inf  # `others` may exceed the range of floats
    log_odds = np.logaddexp(log_others - epsilon * k / 2.0, -epsilon * errors / 2.0)
    return float(binom.pmf(k, size, _MASS) @ expit(log_odds))


def approximate_point_failure(learner: PointLearner, size: int) -> float:
    """Return the failure probability on `light_point`.

    Guarantee
    ---------
    Exact: only the target has examples with the label 1, so either the target or nothing is selected. If
    nothing is selected, the answer is uniform among 2^d numbers, of which only the target is right.

    Examples
    --------
    >>> round(approximate_point_failure(PointLearner(dimension=1), 1), 3)
    0.5
    """
    return missed(learner.selection, size=size, mass=_MASS) * (1.0 - 2.0**-learner.dimension)


def hashed(d: float) -> HashedPointLearner:
    """Return the pure improper learner of points."""
    return HashedPointLearner(dimension=int(d), **_TOLD)


def light_point(d: float, size: int) -> list[PointProblem]:
    """Return the problem whose target has mass 1.01·alpha."""
    source = NumberSource(int(d), ((0, _MASS), (2 ** int(d) - 1, 1.0 - _MASS)))
    return [PointProblem("1.01·α at 0, the rest on one number", source, 0, size)]


def last_threshold(d: float, size: int) -> list[IntervalProblem]:
    """Return the problem with mass 1.01·alpha just below the threshold."""
    top = 2 ** int(d)
    source = NumberSource(int(d), ((top - 2, _MASS), (top - 1, 1.0 - _MASS)))
    return [IntervalProblem("1.01·α just below the threshold, the rest on it", source, top - 1, size)]


def _points(d: float, size: int) -> SearchedProblems:
    return point_family(int(d), alpha=_ALPHA, size=size)


def points() -> Study:
    """Return the study of POINT by three learners (BNS §1, §3.1)."""
    return Study(
        "point",
        "POINT: pure and proper grows with d; improper or approximate does not.",
        _CLAIM,
        "d",
        (16, 24, 32, 48, 64),
        _point_curves(),
        whole=True,
        fixed=f"ε = {_EPSILON:g}, δ = {_DELTA:g}; searched from target 0 with mass 1.01·α, the rest on "
        "one other number, by random atoms and targets and a climb",
        source="BNS §1, §3.1, Lemma 1",
        budget=1_500,
        resolution=1.1,
        steps=12,
    )


def _point_curves() -> tuple[Curve, ...]:
    """Return the curves of three learners of POINT against d."""
    return (
        Curve(
            "pure, proper",
            lambda d, _: PurePointLearner(dimension=int(d), **_TOLD),
            light_point,
            bound=lambda d: pure_size(2 ** int(d), **_TOLD),
            source="BNS §1; K11 Theorem 3.4, constants derived",
            failure=lambda d, size: pure_failure(2.0**d - 2.0, size, last="all"),
            family=_points,
            expected="grows",
        ),
        _measured(
            *("pure, improper (hashed)", hashed, _points, "BNS §1, constants derived"),
            expected="does not grow",
        ),
        _measured(
            *("approximate, proper", approximate_point, _points, "BNS Lemma 1, constants derived"),
            expected="does not grow",
        ),
    )


def approximate_point(d: float, *, delta: float = _DELTA) -> PointLearner:
    """Return the approximate learner of points."""
    return PointLearner(dimension=int(d), delta=delta, **_TOLD)


def points_delta(*, dimension: int = 64) -> Study:
    """Return the study of approximate POINT against log10(1/delta) (BNS Lemma 1)."""

    def learner(power: float) -> PointLearner:
        return approximate_point(dimension, delta=10.0**-power)

    return Study(
        "point-delta",
        "POINT, approximate: the least m grows with log(1/δ).",
        _CLAIM,
        "log10(1/δ)",
        (2, 4, 8, 12, 16),
        (
            Curve(
                "approximate, proper",
                lambda power, _: learner(power),
                lambda _, size: light_point(dimension, size),
                bound=lambda power: learner(power).sample_size(),
                source="BNS Lemma 1, constants derived",
                failure=lambda power, size: approximate_point_failure(learner(power), size),
                family=lambda _, size: _points(dimension, size),
                expected="grows",
            ),
        ),
        fixed=f"d = {dimension}, ε = {_EPSILON:g}; searched from target 0 with mass 1.01·α, the rest on "
        "one other number, by random atoms and targets and a climb",
        source="BNS Lemma 1",
        resolution=1.03,
        steps=20,
    )


def _interval_curves(bits: Any, epsilon: Any, delta: Any) -> tuple[Curve, Curve]:
    """Return the curves of a pure and an approximate learner of INTERVAL."""

    def told(value: float) -> dict[str, Any]:
        return {"epsilon": epsilon(value), "alpha": _ALPHA, "beta": _BETA}

    def approximate(value: float) -> IntervalLearner:
        return IntervalLearner(dimension=int(bits(value)), delta=delta(value), **told(value))

    def family(value: float, size: int) -> SearchedProblems:
        return interval_family(int(bits(value)), alpha=_ALPHA, size=size)

    return (
        Curve(
            "pure, proper",
            lambda value, _: PureIntervalLearner(dimension=int(bits(value)), **told(value)),
            lambda value, size: last_threshold(bits(value), size),
            bound=lambda value: pure_size(2 ** int(bits(value)) + 1, **told(value)),
            source="BNS §1; K11 Theorem 3.4, constants derived",
            failure=lambda value, size: pure_failure(
                2 ** int(bits(value)) - 1, size, last="rest", epsilon=epsilon(value)
            ),
            family=family,
            expected="grows",
        ),
        _measured(
            "approximate, proper (Rec)", approximate, family, "BNS Theorem 2, shifted score, true depth"
        ),
    )


def _measured(name: str, learner: Any, family: Any, source: str, **told: Any) -> Curve:
    """Return a curve whose least m is found by runs."""
    return Curve(
        name,
        lambda value, _: learner(value),
        family,
        bound=lambda value: learner(value).sample_size(),
        source=source,
        start=lambda value: learner(value).sample_size() // 2,
        law=False,
        **told,
    )


def _stated_curves() -> tuple[Curve, Curve]:
    """Return the curves of Rec with an even budget, and of the search."""
    told = {"delta": _DELTA, **_TOLD}

    def family(d: float, size: int) -> SearchedProblems:
        return interval_family(int(d), alpha=_ALPHA, size=size)

    return (
        _measured(
            "approximate, proper (Rec, its constants as stated)",
            lambda d: IntervalLearner(dimension=int(d), split="even", **told),
            family,
            "BNS Fig. 1, an equal budget for every call and A_dist as printed",
        ),
        _measured(
            "approximate, proper (search by power)",
            lambda d: SearchingIntervalLearner(dimension=int(d), **told),
            family,
            "BNS §3.2, constants derived",
        ),
    )


_LAST = (
    "searched from mass 1.01·α just below the last threshold, the rest on it, by random atoms and thresholds "
    "and a climb"
)


def intervals() -> Study:
    """Return the study of INTERVAL (BNS §3.2-3.3, Theorem 2)."""
    return Study(
        "interval",
        "INTERVAL: pure grows with d and is overtaken; approximate with its comparisons or its recursion.",
        _CLAIM,
        "d",
        (4, 16, 64, 256, 1024, 2048),
        (*_interval_curves(int, lambda _: _EPSILON, lambda _: _DELTA), *_stated_curves()),
        whole=True,
        fixed=f"ε = {_EPSILON:g}, δ = {_DELTA:g}; {_LAST}",
        source="BNS §3.2-3.3, Theorem 2",
        budget=6_000,
        resolution=1.1,
        steps=20,
    )


def intervals_epsilon(*, dimension: int = 32) -> Study:
    """Return the study of INTERVAL against 1/epsilon (BNS §3.2-3.3, Theorem 2)."""
    curves = _interval_curves(lambda _: dimension, lambda inverse: 1.0 / inverse, lambda _: _DELTA)
    return Study(
        "interval-epsilon",
        "INTERVAL: the least m grows with 1/ε, pure and approximate.",
        _CLAIM,
        "1/ε",
        (0.5, 1, 2, 4, 8),
        tuple(replace(curve, expected="grows") for curve in curves),
        fixed=f"d = {dimension}, δ = {_DELTA:g}; {_LAST}",
        source="BNS §3.2-3.3, Theorem 2",
        budget=6_000,
        resolution=1.1,
        steps=20,
    )


def intervals_delta(*, dimension: int = 32) -> Study:
    """Return the study of approximate INTERVAL against log10(1/delta) (BNS Theorem 2)."""
    _, approximate = _interval_curves(lambda _: dimension, lambda _: _EPSILON, lambda power: 10.0**-power)
    return Study(
        "interval-delta",
        "INTERVAL, approximate: the least m grows with log(1/δ).",
        _CLAIM,
        "log10(1/δ)",
        (2, 4, 8, 12, 16),
        (replace(approximate, expected="grows"),),
        fixed=f"d = {dimension}, ε = {_EPSILON:g}; {_LAST}",
        source="BNS §3.2-3.3, Theorem 2",
        budget=6_000,
        resolution=1.1,
        steps=20,
    )
