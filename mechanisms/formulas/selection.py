"""Formulas for the exponential mechanism, A_dist and the choosing mechanism.

Sources: K08 Definition 3.5; BNS §2.4 and §4.1.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from audit.catalogue import Formulas
from mechanisms.formulas.losses import ALL, climbs, loss

__all__ = [
    "choosing",
    "choosing_huge",
    "choosing_scores",
    "exponential",
    "softmax",
    "stable",
    "stable_gaps",
    "tail",
    "tight_gaps",
    "tight_stable",
]

_CALLS = 12_000


def tail(z: float) -> float:
    """Return ln Pr[Lap(1) ≥ z]."""
    return -z - math.log(2.0) if z > 0.0 else math.log1p(-0.5 * math.exp(z))


def softmax(scores: dict[Any, float], weight: float) -> dict[Any, float]:
    """Return the log-probabilities of a choice with weights e^(weight·score)."""
    top = max(scores.values())
    whole = math.log(sum(math.exp(weight * (score - top)) for score in scores.values()))
    return {name: weight * (score - top) - whole for name, score in scores.items()}


def approvals(database: Any, solutions: Any) -> dict[Any, float]:
    """Return how many records name each solution."""
    return {name: float(sum(name in record for record in database)) for name in solutions}


def exponential(made: Any) -> Formulas:
    """Return the formulas of a choice with weights e^(ε·approvals/2).

    Let one of k solutions be t votes behind all others. On the neighbour it gains a vote and each of the
    others loses one. The loss is ln((1 + (k−1)·g^t)/(1 + (k−1)·g^(t−2))) with g = e^(ε/2). It tends to ε as
    databases grow.
    """
    k = len(made.solutions)
    far = 2.0 / made.epsilon * math.log(k / 0.1)
    return Formulas(
        epsilon=made.epsilon,
        law=lambda database: softmax(approvals(database, made.solutions), made.epsilon / 2.0),
        databases=[[record] for record in made.records],
        calls=_CALLS,
        numbers={"shortfall of probability 0.1": (made.error_bound(0.1), far)},
    )


def _gap_law(gap: float, best: Any, *, epsilon: float, delta: float, tight: bool) -> dict[Any, float]:
    """Return the law of A_dist at a gap.

    The test is gap + Lap(4/ε) ≥ (4/ε)·ln(1/δ) + 2. If `tight`, it is gap + Lap(2/ε) ≥ (2/ε)·ln(1/2δ) + 2. If
    the test fails, the answer is "⊥1".
    """
    scale = (2.0 if tight else 4.0) / epsilon
    threshold = scale * math.log(1.0 / (2.0 * delta if tight else delta)) + 2.0
    answer = best if gap > 0.0 else "⊥2"
    return {"⊥1": tail((gap - threshold) / scale), answer: tail((threshold - gap) / scale)}


def _leading(gap: float, *, tight: bool, epsilon: float, delta: float, beta: float) -> float:
    """Return the least gap at which A_dist fails with probability at most β ≤ 1/2.

    The gap is threshold + scale·ln(1/2β).
    """
    scale = (2.0 if tight else 4.0) / epsilon
    return gap + scale * (math.log(1.0 / (2.0 * delta if tight else delta)) + math.log(0.5 / beta))


def stable(made: Any) -> Formulas:
    """Return the formulas of A_dist over words.

    A_dist is (ε/2, δ/2)-private (E9), and a gap that falls from 2 to 0 needs δ/2.
    """
    return _stable(made, tight=False)


def tight_stable(made: Any) -> Formulas:
    """Return the formulas of the tight A_dist over words."""
    return _stable(made, tight=True)


def _stable(made: Any, *, tight: bool) -> Formulas:
    told: dict[str, Any] = {"epsilon": made.epsilon, "delta": made.delta, "tight": tight}

    def law(database: Any) -> dict[Any, float]:
        scores = approvals(database, made.solutions)
        (best, high), (_, second), *_ = sorted(scores.items(), key=lambda item: -item[1])
        return _gap_law(high - second, best, **told)

    needed = _leading(2.0, beta=made.beta, **told)
    return Formulas(
        delta=made.delta if tight else made.delta / 2.0,
        law=law,
        databases=(["a", "a", "a"], ["a", "a", "b"], ["a", "b", "c"]),
        numbers={"least gap that fails with beta": (made.needed_gap(made.beta), needed)},
    )


def stable_gaps(made: Any) -> Formulas:
    """Return the formulas of A_dist on every pair of gaps.

    At the claimed ε, half of the claimed δ holds.
    """
    return _gaps(made, tight=False)


def tight_gaps(made: Any) -> Formulas:
    """Return the formulas of the tight A_dist on every pair of gaps."""
    return _gaps(made, tight=True)


def _gaps(made: Any, *, tight: bool) -> Formulas:
    told: dict[str, Any] = {"epsilon": made.epsilon, "delta": made.delta, "tight": tight}
    edge = round(4.0 / made.epsilon * math.log(1.0 / made.delta))
    return Formulas(
        epsilon=made.epsilon if tight else None,
        delta=made.delta if tight else made.delta / 2.0,
        law=lambda database: _gap_law(abs(database[0]), "f" if database[0] > 0 else "f′", **told),
        databases=([edge], [2], [1], [0]),
        calls=_CALLS,
    )


def _choice(scores: dict[Any, float], *, epsilon: float, alpha: float, m: int) -> dict[Any, float]:
    """Return the law of the choosing mechanism.

    If max + Lap(4/ε) ≥ αm/2, a score q ≥ 1 has weight e^(ε·q/4).
    """
    good = {name: score for name, score in scores.items() if score >= 1.0}
    if not good:
        return {"⊥": 0.0}
    far = (alpha * m / 2.0 - max(good.values())) * epsilon / 4.0
    passed = tail(far)
    return {"⊥": tail(-far)} | {name: passed + log for name, log in softmax(good, epsilon / 4.0).items()}


def _least(made: Any) -> int:
    """Return ⌈16/(αε)·max(ε/4 + ln(1/δ), ln(16k/(αβε)))⌉, the size in BNS §4.1."""
    logs = math.log(16.0 * made.growth / (made.alpha * made.beta * made.epsilon))
    size = 16.0 / (made.alpha * made.epsilon) * max(made.epsilon / 4.0 - math.log(made.delta), logs)
    return math.ceil(float(size))


def choosing(made: Any) -> Formulas:
    """Return the formulas of the choosing mechanism on words."""
    m = _least(made)
    told: dict[str, Any] = {"epsilon": made.epsilon, "alpha": made.alpha, "m": m}
    a, b = [record for record in made.records if record][:2]
    half = round(made.alpha * m / 2.0)

    def law(database: Any) -> dict[Any, float]:
        return _choice(approvals(database, made.solutions), **told)

    laws = [law([a] * head + [b] * (m - head)) for head in range(m + 1)]
    return Formulas(
        epsilon=max(loss(*pair, delta=made.delta) for pair in pairwise(laws)),
        source=climbs(12),
        law=law,
        databases=[[a] * head + [b] * (m - head) for head in (0, half, m // 2 + 1)],
        calls=2_000,
        numbers={"least size": (made.size, m)},
    )


def choosing_huge(made: Any) -> Formulas:
    """Return the formulas of the choosing mechanism among 2^64 numbers.

    The record −1 supports no number.
    """
    told: dict[str, Any] = {"epsilon": made.epsilon, "alpha": made.alpha, "m": made.size}
    _, one, other = made.records

    def law(database: Any) -> dict[Any, float]:
        return _choice({x: float(database.count(x)) for x in (one, other)}, **told)

    laws = [law([one] * head + [other] * (490 - head)) for head in (245, 246)]
    return Formulas(
        epsilon=loss(*laws, delta=made.delta),
        source=climbs(12),
        law=law,
        databases=([one] * 250 + [other] * 240 + [-1] * (made.size - 490),),
        calls=2_000,
    )


def choosing_scores(made: Any) -> Formulas:
    """Return the formulas of the choosing mechanism on vectors of scores."""
    m = _least(made)
    told: dict[str, Any] = {"epsilon": made.epsilon, "alpha": made.alpha, "m": m}
    rest = [0] * (made.solutions - 2)

    def law(database: Any) -> dict[Any, float]:
        return _choice({k: float(score) for k, score in enumerate(database)}, **told)

    worst = law([m - 1, m - 1, *[m - 1] * len(rest)]), law([m, m - 2, *[m] * len(rest)])
    return Formulas(
        epsilon=loss(*worst, delta=made.delta),
        source=ALL,
        law=law,
        databases=([m // 2, 1, *rest], [1, 0, *rest], [m, m // 2, *rest]),
        calls=3_000,
        numbers={"least size": (made.records[-1], m)},
    )
