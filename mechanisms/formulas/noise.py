"""Formulas for Laplace and geometric noise (B Definition 2, K11 §5.1.1, C §2)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from audit.catalogue import Formulas

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = [
    "geometric",
    "laplace",
    "laplace_cdf",
    "laplace_counts",
    "laplace_histogram",
    "laplace_mean",
    "local_laplace",
    "saturating_sum",
    "truncated_geometric",
    "two_sided",
]

_CALLS = 12_000
_FAR = 60
"""Distance, in noise scales, at which geometric noise is cut off.

A share of about e^−60 is lost.
"""


def laplace_cdf(centre: float, scale: float) -> Callable[[float], float]:
    """Return the distribution function of Laplace noise around a centre."""

    def cdf(x: float) -> float:
        z = (x - centre) / scale
        return 0.5 * math.exp(z) if z < 0 else 1.0 - 0.5 * math.exp(-z)

    return cdf


def two_sided(centre: int, alpha: float, points: Iterable[int]) -> dict[int, float]:
    """Return the log-probabilities (α − 1)/(α + 1)·α^−|k − centre| of whole numbers k."""
    first = math.log((alpha - 1.0) / (alpha + 1.0))
    return {k: first - abs(k - centre) * math.log(alpha) for k in points}


def laplace(made: Any) -> Formulas:
    """Return the formulas of a sum plus Lap(1/ε) (B Definition 2; BNS Theorem 1)."""
    scale = 1.0 / made.epsilon
    return Formulas(
        epsilon=made.epsilon,
        law=lambda database: laplace_cdf(sum(database), scale),
        databases=([0, 0, 0], [1, 0, 1]),
        calls=_CALLS,
        numbers={"error exceeded with probability 0.05": (made.error_bound(0.05), scale * math.log(20.0))},
    )


def laplace_mean(made: Any) -> Formulas:
    """Return the formulas of a mean of values in [0, b] plus Lap(b/εn).

    Sources: B Definition 2, Theorem 3.
    """
    n, top = made.size, made.upper
    scale = top / (made.epsilon * n)
    outside = [-3.0 * top, math.nan, 2.0 * top] if made.clamp else []

    def mean(database: Any) -> float:
        inside = [0.0 if math.isnan(value) else min(max(value, 0.0), top) for value in database]
        return float(sum(inside) / n)

    return Formulas(
        epsilon=made.epsilon,
        law=lambda database: laplace_cdf(mean(database), scale),
        databases=[[0.0] * n, [top, *[0.0] * (n - 1)], *([value] * n for value in outside)],
        calls=_CALLS,
        numbers={"error exceeded with probability 0.05": (made.error_bound(0.05), scale * math.log(20.0))},
    )


def laplace_counts(made: Any) -> Formulas:
    """Return the formulas of counts plus Lap(1/ε) each."""
    k = len(made.records)
    return Formulas(
        epsilon=made.epsilon,
        law=lambda database: [laplace_cdf(database.count(bin_), 1.0 / made.epsilon) for bin_ in range(k)],
        databases=([], [0, 1]),
        calls=_CALLS,
    )


laplace_histogram = laplace_counts


def local_laplace(made: Any) -> Formulas:
    """Return the formulas of R_g, with Lap(Δ/ε) on every coordinate (K11 §5.1.1).

    Two entries differ by at most Δ = 2·min(d·b, norm) in L1.
    """
    d, b = made.dimension, made.bound
    widest = 2.0 * min((d or 1) * b, math.inf if made.norm is None else made.norm)
    scale = widest / made.epsilon

    def law(database: Any) -> Any:
        [entry] = database
        return laplace_cdf(entry, scale) if d is None else [laplace_cdf(each, scale) for each in entry]

    return Formulas(
        epsilon=made.epsilon, law=law, databases=[[record] for record in made.records[:2]], calls=_CALLS
    )


def geometric(made: Any) -> Formulas:
    """Return the formulas of a sum plus geometric noise with α = e^ε (C §2)."""
    alpha = math.exp(made.epsilon)

    def law(database: Any) -> dict[int, float]:
        count = sum(database)
        return two_sided(count, alpha, range(count - _FAR, count + _FAR))

    beyond = next(t for t in range(1000) if 2.0 * alpha**-t / (alpha + 1.0) <= 0.05)
    return Formulas(
        epsilon=made.epsilon,
        law=law,
        databases=([0, 0, 0], [1, 1, 0]),
        calls=_CALLS,
        numbers={"least error exceeded with probability ≤ 0.05": (made.error_bound(0.05), beyond)},
    )


def truncated_geometric(made: Any) -> Formulas:
    """Return the formulas of a noisy sum clamped into {0 … b}.

    An end at distance t ≥ 0 from the exact sum has probability α^−t/(1 + 1/α).
    """
    alpha, top = math.exp(made.epsilon), made.upper

    def law(database: Any) -> dict[int, float]:
        count = sum(database)
        tail = -math.log1p(1.0 / alpha)
        ends = {0: tail - count * made.epsilon, top: tail - (top - count) * made.epsilon}
        return ends | two_sided(count, alpha, range(1, top))

    return Formulas(epsilon=made.epsilon, law=law, databases=([0, 0, 0], [1, 1, 0]), calls=_CALLS)


def saturating_sum(made: Any) -> Formulas:
    """Return the formulas of min(127, sum) plus geometric noise with α = e^(ε/upper)."""
    alpha = math.exp(made.epsilon / made.upper)

    def law(database: Any) -> dict[int, float]:
        total = min(127, sum(database))
        return two_sided(total, alpha, range(total - 40 * made.upper, total + 40 * made.upper))

    return Formulas(law=law, databases=([], [100, 100]), calls=_CALLS)
