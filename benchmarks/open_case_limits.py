"""Exact limits for the open cases, from the probabilities of their best events.

The probabilities (p, q) on the example pair follow from the code of each case. Each (p, q) is also tried
as (1 − p, 1 − q) and with the sides exchanged. If the log-ratio is monotone in the output or has few
values, the best event is among those tried. For the other cases a docstring says which events are
missing.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.special import ndtr

from audit.self_audit.subjects.limits import best_log_growth

Events = list[tuple[float, float]]
_LEAK: Events = [(1.0, 0.0)]


def limit(case: str, claim: Any, *, significance: float) -> float | None:
    """Return the fewest runs that can refute a case, or None for an unknown case.

    The runs of the two sides are added up.
    """
    events = EVENTS.get(case)
    if events is None:
        return None
    turned = [pair for p, q in events for pair in ((p, q), (q, p), (1 - p, 1 - q), (1 - q, 1 - p))]
    epsilon, delta = claim.epsilon, getattr(claim, "delta", 0.0)
    growth = max(best_log_growth(p, q, epsilon, delta) for p, q in turned)
    return 2 * -math.log(significance) / growth


def laplace(shift: float) -> Events:
    """Return (p, q) of the events "output below t", for Laplace noise.

    The noise has scale 1, and the answers are `shift` apart.
    """
    return [(1 - 0.5 * math.exp(-x), 0.5 * math.exp(x - shift)) for x in np.linspace(0, shift, 401)]


def two_laplaces(shift: float) -> Events:
    """Return (p, q) of the events "log-ratio above t" of two Laplace coordinates.

    The two coordinates move by `shift`. L is the log-ratio of one of them. Under the first database, L is
    `shift` with probability ½ and −shift with probability ½·e^−shift. Between them it has density
    ¼·exp(−(shift − l)/2). Under the second database, −L has this law. The law of the sum takes one
    quadrature.
    """

    def above(t: float) -> float:  # Pr[L > t]
        return 1.0 if t < -shift else 0.0 if t >= shift else 1 - 0.5 * math.exp(-(shift - t) / 2)

    def sum_above(t: float) -> float:
        knots = sorted({-shift, shift, *(k for k in (t - shift, t + shift) if -shift < k < shift)})
        between = sum(
            quad(lambda x: 0.25 * math.exp(-(shift - x) / 2) * above(t - x), a, b)[0]
            for a, b in itertools.pairwise(knots)
        )
        return 0.5 * above(t - shift) + between + 0.5 * math.exp(-shift) * above(t + shift)

    # If S is the sum under the first database, the sum under the second has the law of −S.
    levels = np.linspace(-2 * shift, 2 * shift, 402)[1:-1]  # none of them an atom
    return [(sum_above(t), 1 - sum_above(-t)) for t in levels.tolist()]


def two_sided_geometric(shift: int, rate: float) -> Events:
    """Return (p, q) of the events "output below t", for integer noise.

    The answers are `shift` apart. The noise k has weight e^(−rate·|k|).
    """
    ratio = math.exp(-rate)

    def below(k: int) -> float:  # Pr[noise < k]
        return ratio ** (1 - k) / (1 + ratio) if k <= 0 else 1 - ratio**k / (1 + ratio)

    return [(below(k), below(k - shift)) for k in range(shift + 2)]


def finite(p: Any, q: Any) -> Events:
    """Return the events "p/q is above t" of two laws on the same outcomes.

    The largest t comes first.
    """
    p, q = np.array(p) / sum(p), np.array(q) / sum(q)
    order = np.argsort(-p / q, kind="stable")
    return list(zip(np.cumsum(p[order]).tolist(), np.cumsum(q[order]).tolist(), strict=True))


def rank_weights(database: list[int]) -> list[float]:
    """Return the weights exp(u/2) of eleven candidates.

    The score u is −|number of records below − number above|.
    """
    return [
        math.exp(-abs(sum(x < c for x in database) - sum(x > c for x in database)) / 2) for c in range(11)
    ]


def low_bits() -> Events:
    """Return (p, q) of the event that |y| < ½ and y·2⁵³ is not an integer.

    If 1 was added to y, the event is impossible: q = 0. On an empty list y = ±ln u with u uniform. If |ln
    u| is in [2^−(k+1), 2^−k), doubles are 2^−(53+k) apart. A share 1 − 2^−k of these doubles is off the
    grid 2^−53. The low bits of a logarithm are taken as uniform.
    """
    cells = [(k, math.exp(-(2.0 ** -(k + 1))) - math.exp(-(2.0**-k))) for k in range(1, 40)]
    return [(sum(mass * (1 - 2.0**-k) for k, mass in cells), 0.0)]


def largest_of_shuffled() -> Events:
    """Return (p, q) of the events "the largest of the 100 outputs is above t".

    The outputs have noise N(0, ½²) and are shuffled. 99 outputs have mean −1. One output has mean 1 on
    the left and 0 on the right. A shuffle does not change the largest output, so p and q are exact. With
    these events a refutation takes at least 1,275 runs. The likelihood ratio of the shuffled vectors
    takes 1,250, by a simulation of 200,000 runs a side.
    """

    def below(t: float, first: float) -> float:
        return float(ndtr((t - first) / 0.5) * ndtr((t + 1) / 0.5) ** 99)

    return [(1 - below(t, 1.0), 1 - below(t, 0.0)) for t in np.linspace(-1, 3, 801).tolist()]


_TAIL = math.exp(-4.0) / (1 + math.exp(-1.0))  # Pr[noise ≥ 4], the noise of `two_sided_geometric(…, 1)`
_CUT = (1 - math.exp(-1.0)) / 2  # Pr[0 < threshold ≤ 1], the threshold 1 + Laplace(1)

EVENTS: dict[str, Events] = {
    "o01": two_laplaces(5.0),  # both counts move by 1, the scale is 0.2
    "o02": laplace(9.0),  # sums 2 and 11, scale 1
    "o03": two_laplaces(1.0),  # two cells move by 1, scale 1
    "o04": _LEAK,  # scale 0 on the left: 15.0 exactly
    "o05": low_bits(),
    "o06": two_sided_geometric(255, 0.01),  # 127 wraps to −128
    "o07": _LEAK,  # the difference of the cells is 1 or −1
    "o08": [(_CUT, 0.0)],  # (True, False, False, False): only the threshold is noisy
    "o09": finite(rank_weights([10, 10]), rank_weights([0, 10])),
    "o11": laplace(50.0),  # sums 0.6 and 50.6, scale 1
    "o12": _LEAK,  # the key "b" is there or not
    "o13": laplace(20.0),  # sums 20 and 0, scale 1
    "o14": largest_of_shuffled(),
    "o16": [(_TAIL, 0.0)],  # the key is released if 1 + noise ≥ 5
}
