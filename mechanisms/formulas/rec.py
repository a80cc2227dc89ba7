"""The exact law of algorithm Rec on small ranges, by enumeration (BNS Fig. 1)."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any

from audit.catalogue import Formulas
from mechanisms.formulas.losses import climbs, loss
from mechanisms.formulas.rec_pairs import literal_lists, steepest_lists
from mechanisms.formulas.selection import softmax, tail

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["literal", "rec", "rec_law"]

_SMALL, _POINTS = 32, 16
Budget = tuple[float, tuple[float, float]]


def rec_law(
    quality: Sequence[float],
    *,
    promise: float,
    alpha: float,
    budgets: Sequence[Budget],
    literal: bool = False,
) -> dict[int, float]:
    """Return Rec's log-probabilities (BNS Fig. 1), with findings N8 and E6 applied.

    `budgets` has one item for each level, the outermost first. The last item serves all deeper levels. An
    item has the ε of the level's choices, of weights e^(ε·quality/2), and the noise scale and the threshold
    of its A_dist.
    """
    (epsilon, test), *others = budgets
    top = len(quality) - 1
    if top <= _SMALL:
        return softmax(dict(enumerate(quality)), epsilon / 2.0)
    powers = (top - 1).bit_length()
    padded = [*quality, *[0.0] * (2**powers - top)]
    longest = [_least_of_windows(padded, 2**j) for j in range(powers + 1)]
    after = [*longest[1:], min(0.0, longest[-1])]
    inner = [
        min(here - (1.0 - alpha) * promise, promise - more) for here, more in zip(longest, after, strict=True)
    ]
    told: dict[str, Any] = {"alpha": alpha, "budgets": others or budgets, "literal": literal}
    below = rec_law(inner, promise=alpha / 2.0 * promise, **told)
    found: dict[int, float] = {}
    for power, log_power in below.items():
        length = 2**power
        families = [_stable(padded, start=start, length=8 * length, test=test) for start in (0, 4 * length)]
        for (one, log_one), (other, log_other) in product(*families):
            second = other if not literal else None if one is None else one + 8 * length - 1
            ends = [left for left in (one, second) if left is not None]
            points = {min(left + i * length // 2, top) for left in ends for i in range(_POINTS)}
            points = points or {top * i // (2 * _POINTS - 1) for i in range(2 * _POINTS)}
            for point, log in softmax({p: quality[p] for p in points}, epsilon / 2.0).items():
                mass = math.exp(log_power + log_one + log_other + log)
                found[point] = found.get(point, 0.0) + mass
    return {point: math.log(mass) for point, mass in found.items() if mass > 0.0}


def _least_of_windows(values: Sequence[float], length: int) -> float:
    """Return the largest x that `length` successive values all reach."""
    return max(min(values[i : i + length]) for i in range(len(values) - length + 1))


def _stable(
    values: Sequence[float], *, start: int, length: int, test: tuple[float, float]
) -> list[tuple[int | None, float]]:
    """Return the outcomes of A_dist with their log-probabilities.

    An outcome is the left end of an interval, or None.
    """
    scores = {left: max(values[left : left + length]) for left in range(start, len(values), length)}
    if not scores:
        return [(None, 0.0)]
    best = max(scores, key=lambda left: scores[left])
    rivals = [score for left, score in scores.items() if left != best]
    if not rivals:
        return [(best, 0.0)]
    gap = scores[best] - max(rivals)
    if gap == 0.0:
        return [(None, 0.0)]
    scale, wanted = test
    far = (wanted - gap) / scale
    return [(best, tail(far)), (None, tail(-far))]


def rec(made: Any) -> Formulas:
    """Return the formulas of Rec with its laws on three quality functions.

    For (ε, δ)-private calls, Lemma 2 claims the epsilon √(6·log*·ln(1/(log*·δ)))·ε + 6·log*·ε² and the delta
    4·log*·δ. The calls add up to (N + 1)·ε + 2N·ε/2 and 2N·δ/2, with N = 1 for 32 < T ≤ 2^32.
    """
    depth, value = 0, float(made.top)
    while value > 1.0:
        depth, value = depth + 1, math.log2(value)
    lemma = math.sqrt(6 * depth * math.log(1 / (depth * made.delta))) * made.epsilon
    whole = lemma + 6 * depth * made.epsilon**2, 4 * depth * made.delta
    claimed = whole if made.accounting == "lemma 2" else (3 * made.epsilon, made.delta)
    lead = 4.0 / made.epsilon * math.log(1.0 / made.delta) + 2.0
    budgets = [(made.epsilon, (4.0 / made.epsilon, lead))]
    numbers = {
        "epsilon claimed": (made.claim.epsilon, claimed[0]),
        "delta claimed": (made.claim.delta, claimed[1]),
    }
    if made.beta is not None:
        nats = math.log(32.0 / (made.beta * made.delta))
        least = (2.0 / made.alpha) ** depth * 16.0 / (made.alpha * made.epsilon) * nats
        numbers["promise of Lemma 3"] = (made.target, least)

    def law(quality: Any) -> dict[int, float]:
        return rec_law(quality, promise=made.target, alpha=made.alpha, budgets=budgets)

    steepest = steepest_lists(made.top, made.target)
    return Formulas(
        epsilon=None if steepest is None else loss(*map(law, steepest), delta=claimed[1]),
        source=climbs(24),
        law=law,
        databases=[
            [lead if 8 <= j < 12 else 0.0 for j in range(made.top + 1)],
            [made.target * 0.7 if j < 9 else made.target * 0.4 for j in range(made.top + 1)],
            [float(j % 5) for j in range(made.top + 1)],
        ],
        calls=1_500,
        numbers=numbers,
    )


def literal(made: Any) -> Formulas:
    """Return the loss of Rec with step 10 as printed, on the worst known qualities.

    Points beyond 64 have too low a quality to matter, so the laws are on {0 … 64}.
    """
    lead = 4.0 / made.epsilon * math.log(1.0 / made.delta) + 2.0
    budgets = [(made.epsilon, (4.0 / made.epsilon, lead))]
    laws = [
        rec_law(side, promise=made.target, alpha=made.alpha, budgets=budgets, literal=True)
        for side in literal_lists(64)
    ]
    return Formulas(epsilon=loss(*laws, delta=made.claim.delta), source=climbs(3))
