"""The privacy loss of two laws, and of a choice by scores."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any

from audit.catalogue import Formulas

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = [
    "ALL",
    "KEPT",
    "chosen",
    "climbs",
    "every",
    "least",
    "loss",
    "resampled",
    "simulated_poll",
    "whole",
]


ALL = "the text's laws of the worst of all databases"
"""The source of a loss by a formula for the worst pair of all databases."""

KEPT = "the code's own laws of all databases, kept as a number"
"""The source of a loss for which the code's own value is stored."""


def climbs(count: int) -> str:
    """Return a text which says that `count` hill climbs found a loss."""
    return f"the text's laws where the best of {count} climbs ended"


def whole(made: Any) -> Formulas:
    """Return the loss ε, which some neighbours attain or approach."""
    return Formulas(epsilon=made.epsilon)


def resampled(made: Any) -> Formulas:
    """Return the loss n·ε/4c of n ≤ 4c comparisons with c hits.

    The run stops after c hits. Thresholds do not depend on the answers, and each answer moves by 1 under
    noise of scale 4c/ε. So the loss is at most n·ε/4c. For n ≤ 2c, answers far above and far below the
    threshold in turn, with every mark wrong, approach it.
    """
    return Formulas(epsilon=made.size * made.epsilon / (4.0 * made.limit))


def simulated_poll(made: Any) -> Formulas:
    """Return the largest distance between the poll's transcript and its simulation."""
    del made
    return Formulas(delta=0.01242537263, source=KEPT)


def least(enough: Callable[[float], bool], *, high: float, low: float = 0.0) -> float:
    """Return the least number in [low, high] for which `enough` is true.

    Above this number `enough` must stay true.
    """
    for _ in range(100):
        middle = (low + high) / 2.0
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def loss(one: Mapping[Any, float], other: Mapping[Any, float], *, delta: float = 0.0) -> float:
    """Return the least ε with Σ max(0, p − e^ε·q) ≤ δ in both directions.

    `one` and `other` map outcomes to log-probabilities.
    """

    def lost(p: Mapping[Any, float], q: Mapping[Any, float], epsilon: float) -> float:
        logs = ((log, q.get(outcome, -math.inf) + epsilon) for outcome, log in p.items())
        return math.fsum(math.exp(log) * -math.expm1(far - log) for log, far in logs if log > far)

    return least(
        lambda epsilon: max(lost(one, other, epsilon), lost(other, one, epsilon)) <= delta + 1e-15, high=100.0
    )


def every(
    law: Callable[[list[Any]], Mapping[Any, float]], records: Sequence[Any], *, size: int, delta: float = 0.0
) -> float:
    """Return the largest loss at δ over all lists that differ in one record.

    All lists have `size` records.
    """
    laws = {rows: law(list(rows)) for rows in product(records, repeat=size)}
    pairs = (
        (rows, (*rows[:place], record, *rows[place + 1 :]))
        for rows in laws
        for place in range(size)
        for record in records[records.index(rows[place]) + 1 :]
    )
    return max(loss(laws[one], laws[other], delta=delta) for one, other in pairs)


def chosen(epsilon: float, *, delta: float) -> float:
    """Return the largest loss at δ of a choice with weights e^(ε·score/2).

    The maximum is over all databases. If the scores of some solutions rise by 1 and all others fall by 1, the
    odds of these solutions grow from o to o·e^ε. At a loss t the difference of the probabilities is o·e^ε/(1
    + o·e^ε) − e^t·o/(1 + o). It is largest where its derivative is 0: o = (e^(ε/2) − e^(t/2))/(e^(ε + t/2) −
    e^(ε/2)).
    """

    def lost(t: float) -> float:
        o = (math.exp(epsilon / 2) - math.exp(t / 2)) / (math.exp(epsilon + t / 2) - math.exp(epsilon / 2))
        grown = o * math.exp(epsilon)
        return grown / (1.0 + grown) - math.exp(t) * o / (1.0 + o)

    return least(lambda t: lost(t) <= delta, high=epsilon)
