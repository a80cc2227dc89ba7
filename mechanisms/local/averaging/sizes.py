"""How many entries the local answer to a statistical query needs.

This is K11 Lemma 5.6 with explicit constants. An answer must be within tau of the mean of g over the
*distribution* of the entries. So bounds cover sampling error and noise together.

Derivation: an entry's report g(z_i) + η_i has the mean v = E[g]. The values of g are in [−b, b], so E[e^(t(g
− v))] ≤ e^(t²b²/2) by Hoeffding's lemma. Laplace noise of scale λ has E[e^(tη)] = 1/(1 − λ²t²). The n reports
are independent. Markov's inequality, applied to errors above and below v, gives

    Pr[|answer − v| ≥ tau] ≤ 2·exp(−n·r),   r = sup over 0 < t < 1/λ of  t·tau − t²b²/2 + ln(1 − λ²t²).

`laplace_size` uses r itself. For the closed form, take t = tau/(b² + 4λ²) and y = λ²t². Since b² + 4λ² ≥ 4bλ,
y ≤ (tau/4b)² ≤ 1/4 for tau ≤ 2b. For such y, ln(1 − y) ≥ −2y. This gives r ≥ tau²/(2(b² + 4λ²)). So 2·(b² +
4λ²)/tau²·ln(2/beta) entries are enough. With λ = 2b/ε, n entries are enough if

    n ≥ 2·(1 + 16/ε²)·(b²/tau²)·ln(2/beta),   and so if   n ≥ 34·(b²/tau²)·max{1, 1/ε²}·ln(2/beta).

The printed lemma has 1/ε² in place of max{1, 1/ε²}. That is false for large ε, where the sampling error alone
needs 2b²/tau².
"""

from __future__ import annotations

import math
from typing import Final

from audit.errors import InvalidValue, finite_number, positive_int, probability

__all__ = ["LEMMA_CONSTANT", "laplace_exponent", "laplace_size", "lemma_size", "noise_size", "sign_size"]

LEMMA_CONSTANT: Final = 34.0
"""The c of K11 Lemma 5.6 in n ≥ c·(b²/tau²)·max{1, 1/ε²}·ln(2/beta)."""

_ROUNDING = 1e-12


def lemma_size(*, tau: float, beta: float, epsilon: float, bound: float = 1.0) -> int:
    """Return the number of entries in the repaired K11 Lemma 5.6.

    Parameters
    ----------
    tau
        Tolerance, 0 < tau ≤ 2·bound.
    beta
        Failure probability, in (0, 1).
    epsilon
        Privacy of every entry, > 0.
    bound
        The query's values lie in [−b, b] for this b.

    Guarantee
    ---------
    On n = ⌈34·(b²/tau²)·max{1, 1/ε²}·ln(2/beta)⌉ entries the answer of `LaplaceAverage` misses the mean by
    more than tau with probability at most beta. The derivation is at the top of this module.

    Examples
    --------
    >>> lemma_size(tau=0.1, beta=0.05, epsilon=1.0)
    12543
    """
    tau, beta, epsilon, bound = _checked("lemma_size", tau, beta, epsilon=epsilon, bound=bound)
    needed, noise = bound / tau, max(1.0, 1.0 / epsilon)
    return _least(LEMMA_CONSTANT * needed * needed * noise * noise, math.log(2.0 / beta))


def laplace_exponent(tau: float, *, scale: float, bound: float) -> float:
    """Return an exponent r for which Pr[|answer − mean| ≥ tau] ≤ 2·e^(−n·r).

    Guarantee
    ---------
    r is below the supremum at the top of this module by a relative 1e-9 at most. The bound is valid, because
    every t of the supremum gives a bound.

    Examples
    --------
    >>> laplace_exponent(0.1, scale=2.0, bound=1.0) > 0.1**2 / (2.0 * (1.0 + 4.0 * 2.0**2))
    True
    """
    from scipy.optimize import brentq

    # in u = λt, r = u·x − u²·y/2 + ln(1 − u²): concave, with derivative x − u·y − 2u/(1 − u²)
    if bound / scale > _VAST:  # no noise to speak of: t = τ/b², where ln(1 − t²λ²) rounds to 0
        return 0.5 * (tau / bound) ** 2 * (1.0 - 1e-9)
    x, y = tau / scale, (bound / scale) ** 2
    if x < 1.0 / _VAST:  # the exponent is below x², which rounds to nothing
        return 0.0
    alone = x / (1.0 + math.hypot(1.0, x))  # the zero of the derivative without the sampling error
    high = min(alone * (1.0 + 1e-9), math.nextafter(1.0, 0.0))
    u = float(brentq(lambda u: x - u * y - 2.0 * u / ((1.0 - u) * (1.0 + u)), 0.0, high, xtol=1e-300))
    return u * x - u * u * y / 2.0 + math.log1p(-u * u)


def laplace_size(
    *,
    tau: float,
    beta: float,
    epsilon: float,
    bound: float = 1.0,
    sensitivity: float | None = None,
    dimension: int = 1,
) -> int:
    """Return how many entries `LaplaceAverage` needs for an error of at most `tau`.

    Parameters
    ----------
    tau, beta, epsilon, bound
        As in `lemma_size`.
    sensitivity
        The largest L1 distance between two values of g; default 2·bound·dimension.
    dimension
        Number d of coordinates of g. With probability 1 − beta all of them are within tau.

    Guarantee
    ---------
    ⌈ln(2d/beta)/r⌉ with r of `laplace_exponent` at noise of scale sensitivity/epsilon, by a union bound over
    coordinates. For one coordinate and tau ≤ 2·bound it is at most `lemma_size`.

    Examples
    --------
    >>> laplace_size(tau=0.1, beta=0.05, epsilon=1.0)
    6642
    >>> laplace_size(tau=0.1, beta=0.05, epsilon=100.0)
    739
    """
    tau, beta, epsilon, bound = _checked("laplace_size", tau, beta, epsilon=epsilon, bound=bound)
    positive_int(dimension, what="The `dimension` of `laplace_size`")
    distance = 2.0 * bound * dimension if sensitivity is None else sensitivity
    finite_number(distance, what="The `sensitivity` of `laplace_size`", above=0)
    rate = laplace_exponent(tau, scale=distance / epsilon, bound=bound)
    return _least(1.0 / rate if rate > _TINY else math.inf, math.log(2.0 * dimension / beta))


def noise_size(*, tau: float, beta: float, epsilon: float, bound: float = 1.0) -> int:
    """Return how many entries keep a mean *noise* within ± `tau`.

    Guarantee
    ---------
    ⌈ln(2/beta)/I(tau·ε/2b)⌉ with I of `laplace_rate`. This is the corrected K11 Lemma A.3.

    Examples
    --------
    >>> noise_size(tau=0.1, beta=0.05, epsilon=1.0)
    5905
    """
    from mechanisms.local.averaging.sums import laplace_rate

    tau, beta, epsilon, bound = _checked("noise_size", tau, beta, epsilon=epsilon, bound=bound)
    rate = laplace_rate(tau * epsilon / (2.0 * bound))
    return _least(1.0 / rate if rate > _TINY else math.inf, math.log(2.0 / beta))


def sign_size(*, tau: float, beta: float, epsilon: float) -> int:
    """Return how many entries `SignAverage` needs for an error of at most `tau`.

    Guarantee
    ---------
    ⌈2·ln(2/beta)/(tau²·tanh²(ε/2))⌉. A report is the entry's value, ±1, with probability t = e^ε/(e^ε + 1),
    else its negative. So the mean of a report is (2t − 1)·v = tanh(ε/2)·v, where v is the mean of the values.
    By Hoeffding's inequality, the mean report is off by s = tau·tanh(ε/2) or more with probability at most
    2·exp(−n·s²/2). For small ε the size is (8/ε²)·ln(2/beta)/tau², a quarter of that for Laplace noise.

    Examples
    --------
    >>> sign_size(tau=0.1, beta=0.05, epsilon=1.0)
    3455
    """
    tau, beta, epsilon, _ = _checked("sign_size", tau, beta, epsilon=epsilon, bound=1.0)
    kept = (tau * math.tanh(epsilon / 2.0)) ** 2
    return _least(2.0 / kept if kept > _TINY else math.inf, math.log(2.0 / beta))


_TINY = 1e-300
"""Exponents below this would need more entries than can be counted."""

_VAST = 1e100


def _least(per_nat: float, nats: float) -> int:
    size = per_nat * nats * (1.0 - _ROUNDING)
    if not size < 2**63:
        raise InvalidValue(f"The tolerance would need {size:.3g} entries, more than can be counted.")
    return max(1, math.ceil(size))


def _checked(
    owner: str, tau: float, beta: float, *, epsilon: float, bound: float
) -> tuple[float, float, float, float]:
    bound = finite_number(bound, what=f"The `bound` of `{owner}`", above=0)
    return (
        finite_number(tau, what=f"The `tau` of `{owner}`", above=0, maximum=2.0 * bound),
        probability(beta, what=f"The `beta` of `{owner}`", zero=False, one=False),
        finite_number(epsilon, what=f"The `epsilon` of `{owner}`", above=0),
        bound,
    )
