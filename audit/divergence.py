"""Exact functionals of a pair of laws: δ at an ε, ε at a δ, the event that shows it.

For laws p, q and ε ≥ 0 the hockey-stick δ(ε) = sup over events E of p(E) − exp(ε)·q(E) is attained
by the event {o: p(o)/q(o) > exp(ε)}. For finite laws it is a sum; where log p/q is monotone between
knots, the event's ends are roots and its masses are closed forms; products are treated in
`audit.losses.vector`.

Guarantee: values are accurate to `TOLERANCE` plus the rounding of the laws' own logarithms; where
several continuous coordinates of a product differ, `hockey_stick_bounds` and `epsilon_bounds`
bracket the value instead.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from audit.errors import finite_number
from audit.losses import SLACK, Loss, VectorLoss, loss_of
from audit.region import Region, log_probability, probability

if TYPE_CHECKING:
    from collections.abc import Callable

    from audit.distributions import Law

TOLERANCE = 1e-9
"""Accuracy of δ and ε; half of it, relatively, is what an event may give away to be an open set."""

STEEPEST = 1e6
"""The largest finite ε that is looked for."""


def hockey_stick(p: Law, q: Law, epsilon: float) -> float:
    """Return δ(ε), the most by which p(E) can exceed exp(ε)·q(E); the middle of its bounds.

    Examples
    --------
    >>> from audit.distributions import Density
    >>> hockey_stick(Density.laplace(0.0), Density.laplace(1.0), 1.0)
    0.0
    """
    low, high = hockey_stick_bounds(p, q, epsilon)
    return low if low == high else (low + high) / 2.0


def hockey_stick_bounds(p: Law, q: Law, epsilon: float) -> tuple[float, float]:
    """Return a lower and an upper bound of δ(ε), equal wherever there is a closed form.

    Examples
    --------
    >>> from audit.distributions import Finite
    >>> low, high = hockey_stick_bounds(Finite("ab", [0.75, 0.25]), Finite("ab", [0.25, 0.75]), 0.0)
    >>> low == high == 0.5
    True
    """
    finite_number(epsilon, what="The `epsilon` of `hockey_stick`", minimum=0.0)
    return loss_of(p, q).bounds(epsilon)


def epsilon_at(p: Law, q: Law, delta: float = 0.0) -> float:
    """Return the smallest ε ≥ 0 with δ(ε) ≤ delta, ∞ if there is none; the middle of its bounds.

    Examples
    --------
    >>> from audit.distributions import Countable
    >>> epsilon_at(Countable.geometric(0, 1.0), Countable.geometric(2, 1.0))
    2.0
    """
    low, high = epsilon_bounds(p, q, delta)
    return low if low == high or math.isinf(high) else (low + high) / 2.0


def epsilon_bounds(p: Law, q: Law, delta: float = 0.0) -> tuple[float, float]:
    """Return a lower and an upper bound of the smallest ε ≥ 0 with δ(ε) ≤ delta.

    Examples
    --------
    >>> from audit.distributions import Density
    >>> epsilon_bounds(Density.normal(0.0), Density.normal(1.0))
    (inf, inf)
    """
    finite_number(delta, what="The `delta` of `epsilon_at`", minimum=0.0, maximum=1.0)
    return loss_epsilon_bounds(loss_of(p, q), delta)


def worst_event(p: Law, q: Law, epsilon: float) -> Region:
    """Return the event {o: p(o)/q(o) > exp(ε)}, or, where it is empty, the event of the largest ratio.

    Where several coordinates of a product differ the event is no box; the best of some boxes inside it is
    returned.

    Examples
    --------
    >>> from audit.distributions import Density
    >>> worst_event(Density.laplace(0.0), Density.laplace(1.0), 0.5).words()
    'the output is below 0.25'
    """
    loss = loss_of(p, q)
    level = min(epsilon, _just_below(loss.supremum()))
    if not isinstance(loss, VectorLoss):
        return Region(*loss.part_above(level))
    boxes = [_box(loss, levels) for levels in loss.boxes_above(level)]
    return max(boxes, key=lambda box: _gain(p, q, box, epsilon), default=Region())


def loss_epsilon_bounds(loss: Loss, delta: float) -> tuple[float, float]:
    """Return `epsilon_bounds` of a loss.

    Examples
    --------
    >>> from audit.distributions import Density
    >>> loss_epsilon_bounds(loss_of(Density.laplace(0.0), Density.laplace(1.0)), 0.0)
    (1.0, 1.0)
    """
    top = max(loss.supremum(), 0.0)
    if delta == 0.0 or top == 0.0:
        return top, top
    low = _solve(lambda epsilon: loss.bounds(epsilon)[0], loss, delta=delta, top=top)
    bounds = (0.0, 0.0) if math.isinf(low) else loss.bounds(low)
    if bounds[0] == bounds[1]:
        return low, low
    return low, _solve(lambda epsilon: loss.bounds(epsilon)[1], loss, delta=delta, top=top)


def _solve(excess: Callable[[float], float], loss: Loss, *, delta: float, top: float) -> float:
    """Return where a falling δ(ε) meets delta."""
    from scipy.optimize import brentq

    allowed = delta * (1.0 + SLACK)
    if excess(0.0) <= allowed:
        return 0.0
    if loss.log_lost() > math.log(allowed):
        return math.inf
    high = 1.0
    while excess(min(high, top)) > allowed:
        if high >= min(top, STEEPEST):
            return math.inf
        high *= 2.0
    return float(brentq(lambda epsilon: excess(epsilon) / allowed - 1.0, 0.0, min(high, top), xtol=1e-13))


def _just_below(supremum: float) -> float:
    return supremum - 0.5 * TOLERANCE * max(1.0, abs(supremum))


def _box(loss: VectorLoss, levels: dict[int, float]) -> Region:
    parts = [(index, Region(*loss.losses[index].part_above(level))) for index, level in levels.items()]
    return Region(coordinates=tuple(parts))


def _gain(p: Law, q: Law, region: Region, epsilon: float) -> float:
    """Return p(E) − exp(ε)·q(E), or below zero how much p(E)/q(E) falls short."""
    log_p, log_q = log_probability(p, region), log_probability(q, region)
    if math.isinf(log_p):
        return -math.inf
    ratio = epsilon + log_q - log_p
    return math.exp(log_p) * -math.expm1(ratio) if ratio < 0 else -ratio


__all__ = [
    "TOLERANCE",
    "Region",
    "epsilon_at",
    "epsilon_bounds",
    "hockey_stick",
    "hockey_stick_bounds",
    "loss_epsilon_bounds",
    "probability",
    "worst_event",
]
