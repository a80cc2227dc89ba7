"""Formulas of learners and sanitizers of points and thresholds."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

from audit.catalogue import Formulas
from mechanisms.formulas.losses import chosen, loss
from mechanisms.formulas.selection import softmax, tail

__all__ = [
    "hashed",
    "hashed_size",
    "intervals",
    "point",
    "point_lumped",
    "point_size",
    "pure",
    "pure_lumped",
    "pure_size",
]

_CALLS = 3_000
_ANOTHER = "another"


def _passing(database: Any, *, epsilon: float, delta: float, tight: bool) -> tuple[Any, float]:
    """Return the number with the most labels 1, and its release probability."""
    scale = (2.0 if tight else 4.0) / epsilon
    threshold = scale * math.log(1.0 / (2.0 * delta if tight else delta)) + 2.0
    counts = {x: sum(z == x and y == 1 for z, y in database) for x, _ in database}
    best = max(counts, key=lambda x: counts[x])
    gap = counts[best] - max((count for x, count in counts.items() if x != best), default=0)
    return best, 0.0 if gap == 0 else math.exp(tail((threshold - gap) / scale))


def _point_law(made: Any, database: Any, named: Any) -> dict[Any, float]:
    best, passed = _passing(database, epsilon=made.epsilon, delta=made.delta, tight=made.tight)
    evenly = (1.0 - passed) / 2.0**made.dimension
    return {x: evenly + passed * (x == best) for x in named}


def point(made: Any) -> Formulas:
    """Return the formulas of A_dist over the numbers.

    Between neighbours the lead of the best number falls by at most 2.
    """
    named = range(2**made.dimension)
    far = round(8.0 / made.epsilon * math.log(1.0 / made.delta)) + 4

    def law(database: Any) -> dict[Any, float]:
        return {x: math.log(mass) for x, mass in _point_law(made, database, named).items()}

    return Formulas(
        epsilon=max(
            loss(law([(0, 1)] * g), law([(0, 1)] * (g - 1) + [(1, 1)]), delta=made.delta)
            for g in range(3, far)
        ),
        source="the text's laws of all gaps",
        law=law,
        databases=([(0, 1)] * 3, [(1, 1), (1, 1), (0, 1)]),
        calls=_CALLS,
    )


def point_lumped(lumped: Any) -> Formulas:
    """Return the formulas of A_dist at d = 64, with all numbers but three as one."""
    made = lumped.of
    named = (0, 1, 2**made.dimension - 1)

    def law(database: Any) -> dict[Any, float]:
        masses = _point_law(made, database, named)
        told = {x: math.log(mass) for x, mass in masses.items() if mass > 0.0}
        return told | {_ANOTHER: math.log(1.0 - math.fsum(masses.values()))}

    return Formulas(
        delta=made.delta if made.tight else made.delta / 2.0,
        law=law,
        databases=([(0, 1)] * 4, [(0, 1), (0, 1), (1, 1), (1, 0)]),
        calls=_CALLS,
    )


def _errors(database: Any, concept: int, *, thresholds: bool) -> int:
    return sum((x < concept if thresholds else x == concept) != (y == 1) for x, y in database)


def pure(made: Any) -> Formulas:
    """Return the formulas of a choice of a point or a threshold.

    The weights are e^(−ε·errors/2).
    """
    thresholds = "interval" in made.name
    concepts = range(2**made.dimension + thresholds)
    rate = -math.log(1.0 - made.alpha * (1.0 - math.exp(-made.epsilon / 2.0)))
    size = math.ceil(math.log(len(concepts) / made.beta) / rate)

    def law(database: Any) -> dict[Any, float]:
        scores = {c: -float(_errors(database, c, thresholds=thresholds)) for c in concepts}
        return softmax(scores, made.epsilon / 2.0)

    return Formulas(
        epsilon=made.epsilon,
        law=law,
        databases=([(0, 1)] * 3, [(3, 0), (0, 1), (3, 1)]),
        calls=_CALLS,
        numbers={"sample size": (made.sample_size(), size)},
    )


def pure_lumped(lumped: Any) -> Formulas:
    """Return the formulas of the choice among 2^d points, with all but three as one."""
    made = lumped.of
    named = (0, 1, 2**made.dimension - 1)

    def law(database: Any) -> dict[Any, float]:
        ones = sum(y == 1 for _, y in database)
        scores = {c: -float(_errors(database, c, thresholds=False)) for c in named}
        top = max(*scores.values(), -float(ones))
        weights = {c: math.exp(made.epsilon / 2.0 * (score - top)) for c, score in scores.items()}
        others = (2.0**made.dimension - 3.0) * math.exp(made.epsilon / 2.0 * (-ones - top))
        whole = math.log(sum(weights.values()) + others)
        return {c: math.log(w) - whole for c, w in weights.items()} | {_ANOTHER: math.log(others) - whole}

    return Formulas(
        epsilon=made.epsilon, law=law, databases=([(0, 1)] * 4, [(0, 1), (1, 0), (1, 1), (0, 0)]), calls=2_000
    )


def point_size(made: Any) -> Formulas:
    """Return the sample size as the only formula.

    It is the least m at which a number of mass 3α/4 is released with probability at least 1 − β.
    """
    scale = (2.0 if made.tight else 4.0) / made.epsilon
    threshold = scale * math.log(1.0 / (2.0 * made.delta if made.tight else made.delta)) + 2.0
    mass = 0.75 * made.alpha

    def missed(m: int) -> float:
        total = (1.0 - mass) ** m
        for n in range(1, m + 1):
            ways = math.lgamma(m + 1) - math.lgamma(n + 1) - math.lgamma(m - n + 1)
            log = ways + n * math.log(mass) + (m - n) * math.log(1.0 - mass)
            if log > -60.0:
                total += math.exp(log + tail((n - threshold) / scale))
        return float(total)

    low, high = 1, 2
    while missed(high) > made.beta:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if missed(middle) <= made.beta else (middle, high)
    return Formulas(numbers={"sample size": (made.sample_size(), high)})


def pure_size(made: Any) -> Formulas:
    """Return the sample size as the only formula.

    It is the least size at which a union bound over 2^d points or 2^d + 1 thresholds gives β.
    """
    concepts = 2**made.dimension + ("interval" in made.name)
    rate = -math.log(1.0 - made.alpha * (1.0 - math.exp(-made.epsilon / 2.0)))
    size = math.ceil(math.log(concepts / made.beta) / rate)
    return Formulas(numbers={"sample size": (made.sample_size(), size)})


def hashed_size(made: Any) -> Formulas:
    """Return the sample size as the only formula.

    It is the least over all hash lengths, as in the learner's guarantee for ε ≤ 6.
    """
    gain, cost = 1.0 - math.exp(-made.epsilon / 2.0), math.exp(made.epsilon / 2.0) - 1.0
    sizes = []
    for bits in range(1, made.dimension):
        theta = 2.0 / (made.alpha * made.beta * 2.0**bits)
        drop = made.alpha * (gain - theta * cost)
        if theta <= 1.0 and drop > 0.0:
            sizes.append(math.ceil(math.log(2.0 ** (bits + 1) / made.beta) / -math.log(1.0 - drop)))
    return Formulas(numbers={"sample size": (made.sample_size(), min(sizes))})


def hashed(made: Any) -> Formulas:
    """Return the formulas of the hashed learner for small d."""
    d, bits = made.dimension, made.hash_bits

    def law(database: Any) -> dict[Any, float]:
        import numpy as np

        kind = type(made(database, np.random.default_rng(0)))
        found = {}
        for rows in product(range(2**d), repeat=bits):
            buckets = {}
            for bucket in range(2**bits):
                said = [_bucket(x, rows) == bucket for x, _ in database]
                buckets[bucket] = -float(sum(s != (y == 1) for s, (_, y) in zip(said, database, strict=True)))
            for bucket, log in softmax(buckets, made.epsilon / 2.0).items():
                found[kind(rows, bucket, d)] = log - bits * d * math.log(2.0)
        return found

    return Formulas(
        epsilon=made.epsilon, law=law, databases=([(1, 1)] * 3, [(3, 0), (1, 1), (2, 1)]), calls=4_000
    )


def _bucket(x: int, rows: Any) -> int:
    return int("".join(str((row & x).bit_count() % 2) for row in rows), 2)


def intervals(made: Any) -> Formulas:
    """Return the formulas of the choice of a threshold."""

    def law(database: Any) -> dict[Any, float]:
        scores = {c: -float(_errors(database, c, thresholds=True)) for c in range(2**made.dimension + 1)}
        return softmax(scores, made.epsilon / 2.0)

    return Formulas(
        epsilon=chosen(made.epsilon, delta=made.delta),
        law=law,
        databases=([(0, 1)] * 3, [(3, 0), (0, 1), (3, 1)]),
        calls=_CALLS,
    )
