"""Exact functionals of a pair of laws.

They are δ at an ε, ε at a δ, and the worst event. For laws p, q and ε ≥ 0, the hockey-stick divergence δ(ε)
is the supremum of p(E) − exp(ε)·q(E) over events E. The event {o: p(o)/q(o) > exp(ε)} attains it. For finite
laws δ(ε) is a sum. If log p/q is monotone between knots, the ends of the event are roots. The masses of the
event then have closed forms. `audit.laws.losses.vector` treats products.

Guarantee: values are accurate to `TOLERANCE` plus the rounding of the laws' own logarithms. If several
continuous coordinates of a product differ, the value is only known to lie between two bounds
(`hockey_stick_bounds`, `epsilon_bounds`).
"""

import math
from collections.abc import Callable

import numpy as np

from audit.distributions.law import Floats, Law
from audit.errors import finite_number
from audit.laws.losses import SLACK, Loss, ScalarLoss, VectorLoss, loss_of
from audit.laws.region import Region, log_probability

TOLERANCE = 1e-9
"""Accuracy of δ and ε. The level of a worst event may lie below the largest loss by half of this, times
max(1, largest loss)."""

_SHARES = (0.0, -0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 0.95)
"""Levels tried for a coordinate, as shares of its largest loss (of max(1, ε) if that is infinite)."""

_LARGEST, _FAR = 700.0, 1e9
"""Exponents are capped at `_LARGEST` to stay finite; −`_FAR` stands for log 0 in sums."""

STEEPEST = 1e6
"""An ε beyond this is reported as ∞."""


def hockey_stick(p: Law, q: Law, epsilon: float) -> float:
    """Return δ(ε), the most by which p(E) can exceed exp(ε)·q(E).

    If only bounds on δ(ε) are known, return their midpoint.

    Examples
    --------
    >>> from audit.distributions import Density
    >>> hockey_stick(Density.laplace(0.0), Density.laplace(1.0), 1.0)
    0.0
    """
    low, high = hockey_stick_bounds(p, q, epsilon)
    return low if low == high else (low + high) / 2.0


def hockey_stick_bounds(p: Law, q: Law, epsilon: float) -> tuple[float, float]:
    """Return a lower and an upper bound on δ(ε).

    The bounds are equal if there is a closed form.

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
    """Return the smallest ε ≥ 0 with δ(ε) ≤ delta, or ∞.

    If only bounds on this ε are known, return their midpoint.

    Examples
    --------
    >>> from audit.distributions import Countable
    >>> epsilon_at(Countable.geometric(0, 1.0), Countable.geometric(2, 1.0))
    2.0
    """
    low, high = epsilon_bounds(p, q, delta)
    return low if low == high or math.isinf(high) else (low + high) / 2.0


def epsilon_bounds(p: Law, q: Law, delta: float = 0.0) -> tuple[float, float]:
    """Return a lower and an upper bound on the smallest ε ≥ 0 with δ(ε) ≤ delta.

    Examples
    --------
    >>> from audit.distributions import Density
    >>> epsilon_bounds(Density.normal(0.0), Density.normal(1.0))
    (inf, inf)
    """
    finite_number(delta, what="The `delta` of `epsilon_at`", minimum=0.0, maximum=1.0)
    return loss_epsilon_bounds(loss_of(p, q), delta)


def worst_event(p: Law, q: Law, epsilon: float) -> Region:
    """Return the event that exceeds the level ε most.

    It is {o: p(o)/q(o) > exp(ε)}. If this is empty, return the event of the largest ratio. If several
    coordinates of a product differ, return the best of a few boxes. Hill climbing finds one of these boxes.

    Examples
    --------
    >>> from audit.distributions import Density
    >>> worst_event(Density.laplace(0.0), Density.laplace(1.0), 0.5).words()
    'the output is below 0.25'
    """
    loss = loss_of(p, q)
    top = loss.supremum()
    level = min(epsilon, top - 0.5 * TOLERANCE * max(1.0, abs(top)))  # just below the largest ratio
    if not isinstance(loss, VectorLoss):
        return loss.part_above(level)
    boxes = [_box(loss, levels) for levels in loss.boxes_above(level)]
    boxes.append(_climbed(p, q, loss, epsilon))
    return max(boxes, key=lambda box: _gain(p, q, box, epsilon))


def loss_epsilon_bounds(loss: Loss, delta: float) -> tuple[float, float]:
    """Return `epsilon_bounds` for a given loss.

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
    """Return the ε ≥ 0 at which a decreasing δ(ε) reaches `delta`, or ∞."""
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


def _box(loss: VectorLoss, levels: dict[int, float]) -> Region:
    parts = [(index, loss.losses[index].part_above(level)) for index, level in levels.items()]
    return Region(coordinates=tuple(parts))


def _climbed(p: Law, q: Law, loss: VectorLoss, epsilon: float) -> Region:
    """Return the best box found by hill climbing.

    All coordinates start at level 0. Each step sets one coordinate's level to the best choice.
    """
    places = {part: index for index, part in loss.losses.items()}  # equal coordinates share one loss
    known = {part: _choices(p, q, index, part, epsilon) for part, index in places.items()}
    choices = {index: known[part] for index, part in loss.losses.items()}
    chosen = dict.fromkeys(choices, 0)
    total = sum(logs[0] for _, logs in choices.values())
    best, idle = -math.inf, False
    while not idle:
        idle = True
        for index, (_, logs) in choices.items():
            offers = total - logs[chosen[index]] + logs
            gains = np.exp(offers[:, 0]) - np.exp(np.minimum(epsilon + offers[:, 1], _LARGEST))
            top = int(np.argmax(gains))
            if gains[top] > best + TOLERANCE * max(abs(best), TOLERANCE):
                best, chosen[index], total, idle = float(gains[top]), top, offers[top], False
    parts = ((index, choices[index][0][k]) for index, k in chosen.items())
    return Region(coordinates=tuple((index, part) for index, part in parts if part is not None))


def _choices(
    p: Law, q: Law, index: int, loss: ScalarLoss, epsilon: float
) -> tuple[list[Region | None], Floats]:
    """Return regions {L > level} of one coordinate, and their log masses.

    The last region is None, which stands for the whole line.
    """
    top = loss.supremum()
    scale = top if math.isfinite(top) else max(1.0, epsilon)
    regions: list[Region | None] = []
    logs = []
    for share in _SHARES:
        region = loss.part_above(share * scale)
        part = Region(coordinates=((index, region),))
        log_p, log_q = log_probability(p, part), log_probability(q, part)
        if math.isfinite(log_p):
            regions.append(region)
            logs.append((log_p, max(log_q, -_FAR)))
    return [*regions, None], np.array([*logs, (0.0, 0.0)])


def _gain(p: Law, q: Law, region: Region, epsilon: float) -> float:
    """Return by how much a region exceeds the level ε.

    It is p(E) − exp(ε)·q(E) of the region E if that is positive, else log(p(E)/q(E)) − ε.
    """
    log_p, log_q = log_probability(p, region), log_probability(q, region)
    if math.isinf(log_p):
        return -math.inf
    ratio = epsilon + log_q - log_p
    return math.exp(log_p) * -math.expm1(ratio) if ratio < 0 else -ratio
