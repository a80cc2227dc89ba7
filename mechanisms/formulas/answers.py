"""Noisy averages as answers to statistical queries.

Sources: B Theorem 7, C Theorem 1; K11 §5.1.1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from audit.catalogue import Formulas
from mechanisms.formulas.noise import laplace_cdf

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["central_run", "laplace_answers", "laplace_average", "literal_answers", "sign_average"]


def laplace_answers(made: Any, *, times: float = 1.0) -> Formulas:
    """Return the formulas of M noisy averages of bits over disjoint chunks.

    Each average has noise `times`·Lap(1/(ε·chunk)). times = 1 is what one answer needs; the proofs of B
    Theorem 7 and C Theorem 1 have times = M. A chunk needs max{2·ln(4M/β)/τ², 2·ln(2M/β)/(ετ)} records.
    Sampling (Hoeffding) and noise may each take half of τ.
    """
    m, n, tau = len(made.queries), made.chunk_size, min(query.tau for query in made.queries)
    scale = times / (made.epsilon * n)

    def law(database: Any) -> list[Callable[[float], float]]:
        chunks = [database[place : place + n] for place in range(0, m * n, n)]
        return [laplace_cdf(sum(chunk) / n, scale) for chunk in chunks]

    noise = 2.0 * math.log(2 * m / made.beta) / (made.epsilon * tau)
    least = max(2.0 * math.log(4 * m / made.beta) / tau**2, noise)
    sizes = {"sample size": (made.sample_size(), m * math.ceil(least))} if times == 1.0 else {}
    return Formulas(
        epsilon=made.epsilon / times,
        law=law,
        databases=([0] * (m * n), [1, *[0] * (m * n - 1)]),
        calls=6_000,
        numbers=sizes,
    )


def literal_answers(made: Any) -> Formulas:
    """Return the formulas of M noisy averages with M times the noise that is needed.

    This is the noise of the proofs. The loss is ε/M.
    """
    return laplace_answers(made, times=len(made.queries))


def central_run(made: Any) -> Formulas:
    """Return the formulas of the first of two noisy means.

    The noise is Lap(2/(ε·chunk)). With a range of width 2 and two queries, a chunk needs max{8·ln(8/β)/τ²,
    4·ln(4/β)/(ετ)} records.
    """
    tau, epsilon, beta = made.algorithm.alpha, made.epsilon, made.beta
    sampling, noise = 8.0 * math.log(8.0 / beta) / tau**2, 4.0 * math.log(4.0 / beta) / (epsilon * tau)
    chunk = max(math.ceil(sampling), math.ceil(noise))

    def law(database: Any) -> list[Callable[[float], float]]:
        return [laplace_cdf(sum(database[:chunk]) / chunk, 2.0 / (epsilon * chunk))]

    return Formulas(
        law=law,
        databases=([1, -1] * chunk,),
        calls=12_000,
        numbers={"least size": (made.sample_size(), 2 * chunk)},
    )


def laplace_average(made: Any) -> Formulas:
    """Return the number ln(2/β)/r of entries that K11 Lemma 5.6 asks for.

    r is the maximum over t of t·τ − t²/2 + ln(1 − λ²t²), where λ = 2/ε. It follows from the moment generating
    functions of values in [−1, 1] and of the noise.
    """
    scale = 2.0 / made.epsilon

    def exponent(t: float) -> float:
        return float(t * made.tolerance - t * t / 2.0 + math.log(1.0 - (scale * t) ** 2))

    low, high = 0.0, (1.0 - 1e-12) / scale
    for _ in range(200):
        third = (high - low) / 3.0
        low, high = (
            (low + third, high) if exponent(low + third) < exponent(high - third) else (low, high - third)
        )
    return _entries(made, math.log(2.0 / made.beta) / exponent(low))


def sign_average(made: Any) -> Formulas:
    """Return the number of entries for ±1 reports, by Hoeffding's inequality.

    The number is 2·ln(2/β)/(τ·tanh(ε/2))².
    """
    kept = made.tolerance * math.tanh(made.epsilon / 2.0)
    return _entries(made, 2.0 * math.log(2.0 / made.beta) / kept**2, made.epsilon)


def _entries(made: Any, needed: float, epsilon: float | None = None) -> Formulas:
    least = math.ceil(needed - 1e-6)
    return Formulas(epsilon=epsilon, numbers={"least number of entries": (made.sample_size(), least)})
