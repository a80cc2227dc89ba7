"""Exact failure probabilities and guaranteed errors of local averages."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from audit.errors import probability
from mechanisms.local.averaging.sizes import laplace_exponent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mechanisms.local.averaging.sums import LaplaceSum

__all__ = ["laplace_error", "laplace_failure", "log_reports", "sign_failure"]

_NEGLIGIBLE = 1e-22
"""Binomial probabilities below this are left out.

Together they are below 1e-15 for n up to 10 million.
"""

_TIE = 1e-9
"""Deviations from tau that count as rounding."""


def laplace_failure(noise: LaplaceSum, *, tau: float, high: float, bound: float = 1.0) -> float:
    """Return the exact probability that a Laplace average misses its tolerance.

    Entries are b with probability `high`, else −b.

    Guarantee
    ---------
    Exact up to rounding: Σ_k Binomial(n, high)(k)·Pr[|d_k + noise/n| > tau]. Here d_k is the deviation of the
    entries' average if k of them are b. The noise has the law of `LaplaceSum`. Terms of probability below
    1e-22 are left out.

    Examples
    --------
    >>> from mechanisms.local.averaging.sums import LaplaceSum
    >>> f"{laplace_failure(LaplaceSum(20, 1.0), tau=3.0, high=1.0):.3e}"
    '2.552e-14'
    """
    weights, deviation = _deviations(noise.size, high, bound=bound)
    above = np.exp(noise.logsf(noise.size * (tau - deviation)))
    below = np.exp(noise.logcdf(noise.size * (-tau - deviation)))
    return float(weights @ (above + below))


def sign_failure(size: int, *, tau: float, high: float, epsilon: float) -> float:
    """Return the exact probability that a sign average misses its tolerance.

    Entries are 1 with probability `high`, else −1.

    Guarantee
    ---------
    Exact up to rounding. The reports are independent, each 1 with probability ½ + (2·high − 1)·tanh(ε/2)/2.

    Examples
    --------
    >>> round(sign_failure(1, tau=0.5, high=1.0, epsilon=1.0), 12) == 1.0
    True
    """
    shrinkage = math.tanh(epsilon / 2.0)
    reported = 0.5 + (2.0 * high - 1.0) * shrinkage / 2.0
    weights, deviation = _deviations(size, reported, bound=1.0)
    return float(weights[np.abs(deviation) > tau * shrinkage * (1.0 + _TIE)].sum())


def log_reports(ones: int, size: int, *, truth: float) -> NDArray[np.float64]:
    """Return log Pr[k reports are 1], for k = 0 … size, if `ones` entries are 1.

    k is Binomial(ones, truth) + Binomial(size − ones, 1 − truth).

    Examples
    --------
    >>> np.exp(log_reports(1, 2, truth=0.75)).round(9).tolist()
    [0.1875, 0.625, 0.1875]
    """
    first, second = _log_binomial(ones, truth), _log_binomial(size - ones, 1.0 - truth)
    few, many = sorted((first, second), key=len)
    logs = np.full(size + 1, -np.inf)
    for k, log in enumerate(few.tolist()):
        part = logs[k : k + len(many)]
        np.logaddexp(part, log + many, out=part)
    return logs


def _log_binomial(size: int, probability: float) -> NDArray[np.float64]:
    """Return the log-probabilities of 0 … size under a binomial law."""
    from scipy.special import gammaln, xlog1py, xlogy

    k = np.arange(size + 1)
    choose = gammaln(size + 1.0) - gammaln(k + 1.0) - gammaln(size - k + 1.0)
    return np.asarray(choose + xlogy(k, probability) + xlog1py(size - k, -probability))


def laplace_error(size: int, beta: float, *, scale: float, bound: float, dimension: int = 1) -> float:
    """Return the error that a Laplace average of this size guarantees.

    The error tau solves 2·d·exp(−size·r(tau)) = beta for the dimension d, with r as in `laplace_exponent`.

    Examples
    --------
    >>> round(laplace_error(6642, 0.05, scale=2.0, bound=1.0), 4)
    0.1
    """
    from scipy.optimize import brentq

    beta = probability(beta, what="The `beta` of `error_bound`", zero=False, one=False)
    wanted = math.log(2.0 * dimension / beta) / size
    high = scale
    while laplace_exponent(high, scale=scale, bound=bound) < wanted:
        high *= 2.0
    low = high
    while laplace_exponent(low, scale=scale, bound=bound) > wanted:
        low /= 2.0
    if low == high:
        return high
    missing = lambda tau: laplace_exponent(tau, scale=scale, bound=bound) - wanted  # noqa: E731
    return float(brentq(missing, low, high, rtol=1e-13))


def _deviations(size: int, high: float, *, bound: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the probabilities of high entries and their deviations."""
    from scipy import stats

    high = probability(high, what="The probability `high`")
    ones = np.arange(size + 1)
    weights = stats.binom(size, high).pmf(ones)
    kept = weights > _NEGLIGIBLE
    return weights[kept], 2.0 * bound * (ones[kept] / size - high)
