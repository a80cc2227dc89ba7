"""Formulas of learners that decide bits (K11 §4, §5.3.1; B Theorem 5)."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

from audit.catalogue import Formulas
from mechanisms.formulas.losses import every
from mechanisms.formulas.noise import laplace_cdf

__all__ = [
    "conjunctions",
    "judged",
    "k_means",
    "masked",
    "multisets",
    "noisy_conjunction",
    "parity",
    "perceptron",
    "retry",
]

_CALLS = 3_000


def _rates(epsilon: float, *, tight: bool) -> tuple[float, float]:
    """Return p = Pr[take an example] and q = Pr[refuse].

    They are ε/4 and 1/2 or, if `tight`, tanh(ε/2) and (1 − p)/(3 − p).
    """
    if not tight:
        return epsilon / 4.0, 0.5
    p = (math.exp(epsilon) - 1.0) / (math.exp(epsilon) + 1.0)
    return p, (1.0 - p) / (3.0 - p)


def _alone(database: Any, d: int, p: float, q: float) -> dict[Any, float]:
    """Return the probabilities of A's answers."""
    words = list(product((0, 1), repeat=d))
    fits = {r: [sum(a * b for a, b in zip(r, x, strict=True)) % 2 == y for x, y in database] for r in words}
    found: dict[Any, float] = {**dict.fromkeys(words, 0.0), "⊥": q}
    for taken in product((0, 1), repeat=len(database)):
        mass = (1.0 - q) * math.prod(p if bit else 1.0 - p for bit in taken)
        left: list[Any] = [r for r in words if all(ok for ok, bit in zip(fits[r], taken, strict=True) if bit)]
        for r in left or ["⊥"]:
            found[r] += mass / max(1, len(left))
    return found


def _logs(masses: dict[Any, float]) -> dict[Any, float]:
    return {name: math.log(mass) for name, mass in masses.items() if mass > 0.0}


def parity(made: Any) -> Formulas:
    """Return the formulas of A.

    The largest loss, for any size, is ln((1 + p)/(1 − p)) (E9).
    """
    p, q = _rates(made.epsilon, tight=made.tight)
    d = made.dimension
    bad = (made.beta - q) / (1.0 - q)
    least = math.ceil((d * math.log(2.0) - math.log(bad)) / -math.log(1.0 - p * made.alpha))
    unit, zero, ones = (1, *[0] * (d - 1)), (0,) * d, (1,) * d
    return Formulas(
        epsilon=math.log((1.0 + p) / (1.0 - p)),
        law=lambda database: _logs(_alone(database, d, p, q)),
        databases=([(unit, 1), (ones, 0), (zero, 1)], [(unit, 1), (unit, 0), (ones, 1)]),
        calls=_CALLS,
        numbers={"sample size": (made.sample_size(), least)},
    )


def multisets(made: Any) -> Formulas:
    """Return the largest loss of A for any size.

    It is ln((1 + p)/(1 − p)) (E9).
    """
    p, _ = _rates(made.epsilon, tight=made.tight)
    return Formulas(epsilon=math.log((1.0 + p) / (1.0 - p)))


def retry(made: Any) -> Formulas:
    """Return the formulas of A* as in K08.

    A runs at ε/k until its answer is not "⊥", at most k times.
    """
    k, d = made.plan.candidates, made.dimension
    p, q = _rates(made.epsilon / k, tight=made.tight)

    def law(database: Any) -> dict[Any, float]:
        one = _alone(database, d, p, q)
        none = one.pop("⊥")
        tries = sum(none**i for i in range(k))
        return _logs({r: mass * tries for r, mass in one.items()} | {"⊥": none**k})

    unit, ones = (1, *[0] * (d - 1)), (1,) * d
    return Formulas(
        epsilon=made.epsilon if made.tight else None,
        law=law,
        databases=([(unit, 1), (ones, 0)], [(unit, 1), (unit, 0)]),
        calls=_CALLS,
    )


def judged(made: Any) -> Formulas:
    """Return the formulas of A* in K11, for two candidates.

    In the form "held-out" each count of mistakes gets noise Lap(2/ε). In the form "selection" the weights are
    e^(−ε·mistakes/2). The loss is the largest over all samples of this size.
    """
    d, plan = made.dimension, made.plan
    p, q = _rates(made.epsilon, tight=made.tight)

    def first(ahead: float) -> float:
        """Return Pr[X < Y + ahead] for Laplace X, Y of scale 2/ε.

        It is 1 − (2 + z)e^−z/4 with z = ahead·ε/2.
        """
        return _sum_cdf(ahead, 2, 2.0 / made.epsilon)

    def law(database: Any) -> dict[Any, float]:
        n = plan.training
        one, other = (_alone(database[place * n : (place + 1) * n], d, p, q) for place in (0, 1))
        test = database[2 * n : 2 * n + plan.test]

        def mistakes(answer: Any) -> int:
            if answer == "⊥":
                return len(test)
            return sum(sum(a * b for a, b in zip(answer, x, strict=True)) % 2 != y for x, y in test)

        found: dict[Any, float] = {}
        for (a, mass_a), (b, mass_b) in product(one.items(), other.items()):
            ahead = float(mistakes(b) - mistakes(a))
            share = (
                first(ahead) if made.form == "held-out" else 1.0 / (1.0 + math.exp(-made.epsilon * ahead / 2))
            )
            for answer, part in ((a, share), (b, 1.0 - share)):
                found[answer] = found.get(answer, 0.0) + mass_a * mass_b * part
        return _logs(found)

    unit = (1, *[0] * (d - 1))
    examples = list(product(product((0, 1), repeat=d), (0, 1)))
    return Formulas(
        epsilon=every(law, examples, size=2 * plan.training + plan.test),
        source="the text's laws of all samples",
        law=law,
        databases=([(unit, 1), (unit, 0), (unit, 1)], [(unit, 0), (unit, 0), (unit, 0)]),
        calls=_CALLS,
    )


def _sum_cdf(x: float, terms: int, scale: float) -> float:
    """Return the distribution function of a sum of one or two Laplace variables."""
    if terms == 1:
        return laplace_cdf(0.0, scale)(x)
    z = abs(x) / scale
    tail = (2.0 + z) / 4.0 * math.exp(-z)
    return tail if x < 0.0 else 1.0 - tail


def _above(mean: float, threshold: float, *, made: Any, chunk: int) -> float:
    """Return the probability that a noisy average is above a threshold.

    The central noise Lap(1/(ε·chunk)) is on the average. The local noise Lap(1/ε) is on each value.
    """
    terms = 1 if made.model == "central" else chunk
    return 1.0 - _sum_cdf(threshold - mean, terms, 1.0 / (made.epsilon * chunk))


def conjunctions(made: Any) -> Formulas:
    """Return the formulas of B Theorem 5.

    Variable i is kept if the noisy share of records with x_i = 0 and y = 1 is at most α/2d.
    """
    d, tau = made.dimension, made.alpha / (2.0 * made.dimension)

    def law(database: Any) -> dict[Any, float]:
        chunk = len(database) // d
        dropped = []
        for place in range(d):
            part = database[place * chunk : (place + 1) * chunk]
            share = sum(x[place] == 0 and y == 1 for x, y in part) / chunk
            dropped.append(_above(share, tau, made=made, chunk=chunk))
        return {
            word: sum(math.log(1.0 - off if kept else off) for kept, off in zip(word, dropped, strict=True))
            for word in product((0, 1), repeat=d)
        }

    n = made.size
    return Formulas(
        epsilon=made.epsilon,
        law=law,
        databases=([((0,) * d, 1)] * n, [((1,) * d, 1)] * (n - 1) + [((0,) * d, 1)]),
        calls=_CALLS,
    )


def noisy_conjunction(made: Any) -> Formulas:
    """Return the formulas of B Theorem 8 at d = 1.

    The variable is kept if its noisy answer is at most α/2. The answer is the noisy mean of y·[x_1 = 0]/2,
    divided by 1 − 2η, plus the noisy mean of [x_1 = 0]/2. A mean of m records gets Lap(1/(ε·m)). Far from the
    threshold the loss is ε.
    """
    kept_at = made.alpha / 2.0

    def law(database: Any) -> dict[Any, float]:
        m = len(database) // 2
        narrow = 1.0 / (made.epsilon * m)
        wide = narrow / (1.0 - 2.0 * made.eta)
        signed = sum((x[0] == 0) * y for x, y in database[:m]) / m / 2.0 / (1.0 - 2.0 * made.eta)
        plain = sum(x[0] == 0 for x, _ in database[m : 2 * m]) / m / 2.0
        v = kept_at - signed - plain
        powers = wide**2 * math.exp(-abs(v) / wide) - narrow**2 * math.exp(-abs(v) / narrow)
        tail = powers / (2.0 * (wide**2 - narrow**2))
        dropped = tail if v >= 0.0 else 1.0 - tail
        return {(0,): math.log(dropped), (1,): math.log(1.0 - dropped)}

    return Formulas(
        epsilon=made.epsilon,
        law=law,
        databases=([((0,), 1)] * 4, [((0,), 1), ((1,), 1), ((1,), 1), ((1,), -1)]),
        calls=_CALLS,
    )


def perceptron(made: Any) -> Formulas:
    """Return the formulas of the event that the weights stay 0.

    It happens if the noisy error of the weights 0 is at most 3α/4. Their true error is 1. With one record for
    each query the noise is Lap(1/ε) in either model.
    """
    stays = math.log(laplace_cdf(1.0, 1.0 / made.epsilon)(0.75 * made.alpha))
    place = ((1.0,) * made.dimension, 1)
    return Formulas(
        law=lambda _: {(0.0,) * made.dimension: stays}, databases=([place] * made.size,), calls=8_000
    )


def k_means(made: Any) -> Formulas:
    """Return the formulas of the event that no centre moves.

    It happens if all noisy masses, 1 + Lap(1/ε), are below least_mass.
    """
    stays = math.log(laplace_cdf(1.0, 1.0 / made.epsilon)(made.least_mass))
    (a,), (b,) = made.start

    return Formulas(
        law=lambda _: {((a,), (b,)): 2.0 * stays}, databases=([(a,), (a,), (b,), (b,)],), calls=8_000
    )


def masked(made: Any) -> Formulas:
    """Return the formulas of K11 §5.3.1.

    A bit of r is 1 if its noisy average is above 1/4d. The bit a is decided after r. It is 1 if its own noisy
    average is above 1/4.
    """
    d = made.dimension

    def law(database: Any) -> dict[Any, float]:
        chunk = len(database) // (d + 1)
        bits = []
        for place in range(d):
            part = database[place * chunk : (place + 1) * chunk]
            hits = sum(_place(x, d) == place and x[-1] == 1 and y == -1 for x, y in part) / chunk
            bits.append(_above(hits, 0.25 / d, made=made, chunk=chunk))
        last = database[d * chunk : (d + 1) * chunk]
        found: dict[Any, float] = {}
        for r in product((0, 1), repeat=d):
            log = sum(math.log(one if bit else 1.0 - one) for bit, one in zip(r, bits, strict=True))
            odd = sum(x[-1] == 0 and y != (-1) ** _inner(r, x) for x, y in last) / chunk
            mask = _above(odd, 0.25, made=made, chunk=chunk)
            found |= {(r, 1): log + math.log(mask), (r, 0): log + math.log(1.0 - mask)}
        return found

    n = made.size
    one, zero = (*[1] * (d + d.bit_length() - 1), 1), (*[1] * (d + d.bit_length() - 1), 0)
    return Formulas(
        epsilon=made.epsilon,
        reach=0.05 if made.model == "central" else 0.06,
        law=law,
        databases=([(one, -1)] * (n - 1) + [(zero, 1)], [(zero, -1)] * n),
        calls=_CALLS,
    )


def _place(x: Any, d: int) -> int:
    return int("0" + "".join(map(str, x[d:-1])), 2)


def _inner(r: Any, x: Any) -> int:
    return sum(a * b for a, b in zip(r, x[: len(r)], strict=True))
