"""Sample sizes of learners of thresholds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from audit.errors import InvalidValue
from learners.approximate.budgets import accounts
from mechanisms.concave import least_promise, levels, log_star

if TYPE_CHECKING:
    from learners.approximate.budgets import Split

__all__ = ["even_size", "interval_size", "lemma_3_size", "promise_at", "promised_size", "theorem_2_size"]

_MOST = 1e12
"""Larger than any size that a binomial law is computed for; such a database fits into no memory."""


def promise_at(size: int, *, alpha: float, failure: float) -> float:
    """Return the largest promise that a sample size allows.

    It is the largest r = 2k + 1 with 2·Pr[Bin(size, alpha) ≤ r/2] ≤ failure, or 1 if there is none.

    Examples
    --------
    >>> promise_at(1000, alpha=0.1, failure=0.05), promise_at(3, alpha=0.1, failure=0.05)
    (163.0, 1.0)
    """
    low, high = -1, max(0, math.ceil(alpha * size))
    while high - low > 1:
        middle = (low + high) // 2
        fits = 2.0 * _binomial_cdf(middle, size, alpha) <= failure
        low, high = (middle, high) if fits else (low, middle)
    return 2.0 * max(0, low) + 1.0


def interval_size(split: Split, *, alpha: float, beta: float) -> int:
    """Return the least number of examples for Rec with these budgets.

    Guarantee
    ---------
    Rec is then an (alpha, beta)-learner of INTERVAL_d. Half of beta goes to Rec and half to the sample
    (`IntervalLearner`). The promise grows with the size m, so all larger samples are enough too. m always
    satisfies 2·(1 − alpha)^m ≤ beta/2, which even the promise r = 1 needs (`promise_at`).

    Examples
    --------
    >>> from learners.approximate.budgets import fitted_split
    >>> split = fitted_split(2**64, epsilon=1.0, delta=1e-6, failure=0.05)
    >>> interval_size(split, alpha=0.1, beta=0.1), interval_size(split, alpha=0.25, beta=0.1)
    (21055, 8393)
    """
    return promised_size(split.least_promise(beta / 2.0), alpha=alpha, beta=beta)


def promised_size(needed: float, *, alpha: float, beta: float) -> int:
    """Return the least sample size whose promise is at least `needed`.

    The promise is `promise_at` with failure beta/2.

    Examples
    --------
    >>> promised_size(163.0, alpha=0.1, beta=0.1) <= 1000
    True
    """
    if needed / alpha > _MOST:
        raise InvalidValue(
            f"The `epsilon` and `alpha` of an interval learner must allow at most {_MOST:.0e} examples; "
            f"they ask for about {needed / 2.0 / alpha:.1e}."
        )

    def enough(size: int) -> bool:
        promise = promise_at(size, alpha=alpha, failure=beta / 2.0)
        missed = 2.0 * _binomial_cdf(int(promise // 2.0), size, alpha)
        return promise >= needed and missed <= beta / 2.0

    high = max(1, math.ceil(needed / 2.0 / alpha))
    while not enough(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def lemma_3_size(
    top: int, *, alpha: float, beta: float, epsilon: float, delta: float, shifted: bool = False
) -> float:
    """Return the size of BNS Lemma 3.

    It is r/alpha, where r is the promise of Lemma 3. Each call of Rec has the budget of BNS Lemma 2.

    Parameters
    ----------
    top
        T, the last threshold.
    alpha, beta, epsilon, delta
        Parameters of the learner. Rec fails with probability at most 2·log*(T) times the beta of Lemma 3.
        That beta is chosen so that Rec fails with at most half of the learner's beta.
    shifted
        False: as printed, Rec's α is the learner's. True: with the shifted score and Rec's own α = 1/2 (N9).

    Examples
    --------
    >>> told = {"alpha": 0.1, "beta": 0.1, "epsilon": 1.0, "delta": 1e-6}
    >>> print(f"{lemma_3_size(2**64, **told):.1e} {lemma_3_size(2**64, shifted=True, **told):.1e}")
    3.0e+12 1.9e+08
    """
    each, part = accounts(top, epsilon=epsilon, delta=delta)["lemma 2"]
    own = beta / 2.0 / (2 * log_star(top))
    rate = 0.5 if shifted else alpha
    return least_promise(top, alpha=rate, beta=own, epsilon=each, delta=part) / alpha


def even_size(top: int, *, alpha: float, beta: float, epsilon: float, delta: float) -> float:
    """Return the size of BNS Lemma 3 for an evenly split budget.

    Rec's own α is 1/2. The depth N + 1 of the recursion replaces log*(T).

    Examples
    --------
    >>> told = {"beta": 0.1, "epsilon": 1.0, "delta": 1e-6}
    >>> print(f"{even_size(2**64, alpha=0.25, **told):.1e}")
    9.3e+05
    """
    each, part = accounts(top, epsilon=epsilon, delta=delta)["tight"]
    depth = levels(top) + 1
    own = beta / 2.0 / (2 * depth)
    nats = math.log(32.0) - math.log(own) - math.log(part)
    return 4.0**depth * 32.0 / each * nats / alpha


def theorem_2_size(dimension: int, *, delta: float) -> float:
    """Return the expression inside the O of BNS Theorem 2.

    It is 16^log*(d)·√(log*(d)·ln(1/δ))·ln(log*(d)/δ). The text prints the last logarithm under the root too,
    which may be a misprint.

    Examples
    --------
    >>> print(f"{theorem_2_size(64, delta=1e-6):.1e}")
    7.4e+06
    """
    depth = log_star(dimension)
    return float(16**depth * math.sqrt(-depth * math.log(delta)) * math.log(depth / delta))


def _binomial_cdf(k: int, n: int, p: float) -> float:
    from scipy.special import betaincc

    return float(betaincc(k + 1, n - k, p))  # bdtr takes n as a C int
