"""Tests of counts and means against a limit, in closed form.

**Counts.** Audits are independent. Suppose each gives a false alarm with probability at most `limit`. Then
the number of alarms is stochastically at most binomial, for any mix of mechanisms. The interval is Clopper
and Pearson's. The row fails if the whole interval lies beyond the limit. A correct auditor fails with
probability at most `level`.

**Means.** Suppose the mean of V ≥ 0 is at most m. Then each product ∏(1 + λ·(V/m − 1)) has expectation at
most 1. So has the average of these products over a fixed grid of λ. This average is an e-value. It exceeds
1/level with probability at most `level` (Markov). The least m at which it does not exceed 1/level is a lower
bound on the mean.
"""

import math
from collections.abc import Sequence
from statistics import median
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from audit.self_audit.row import Row
from audit.values.wording import number

RATES = np.array([0.02, 0.05, 0.1, 0.2, 0.4])
#: The note of a row states an error rate at which the row would fail with this probability.
POWER = 0.9


def log_e_value(values: NDArray[np.float64], mean: float = 1.0) -> float:
    """Return the log of an e-value for a mean of at most `mean`. All values are ≥ 0.

    Examples
    --------
    >>> log_e_value(np.ones(100))
    0.0
    """
    grown = np.log1p(RATES[:, None] * (np.asarray(values) / mean - 1)).sum(axis=1)
    return float(np.logaddexp.reduce(grown) - math.log(len(RATES)))


def mean_at_least(values: NDArray[np.float64], level: float) -> float:
    """Return a lower bound on the mean of values ≥ 0.

    The bound is wrong with probability at most `level`.

    Examples
    --------
    >>> 1.5 < mean_at_least(np.full(1000, 2.0), 1e-6) < 2
    True
    """
    from scipy.optimize import brentq

    least, threshold = 1e-6, -math.log(level)
    if log_e_value(values, least) < threshold:
        return 0.0
    return float(brentq(lambda mean: log_e_value(values, mean) - threshold, least, float(np.mean(values))))


def share_interval(count: int, n: int, level: float) -> tuple[float, float]:
    """Return the Clopper–Pearson interval of a share.

    Each end is wrong with probability at most `level`.

    Examples
    --------
    >>> share_interval(0, 10, 0.025)[0], round(share_interval(0, 10, 0.025)[1], 3)
    (0.0, 0.308)
    """
    from scipy.stats import binomtest

    found = binomtest(count, n).proportion_ci(confidence_level=1 - 2 * level, method="exact")
    return float(found.low), float(found.high)


def first_failing(n: int, limit: float, level: float) -> int | None:
    """Return the least count out of n that makes a row fail at `limit`.

    None if even a count of n does not.

    Examples
    --------
    >>> first_failing(100, 0.05, 1e-6), first_failing(3, 0.1, 1e-6)
    (19, None)
    """
    from scipy.stats import binom

    fewest = int(binom.isf(level, n, limit)) + 1
    return fewest if fewest <= n else None


def caught_rate(n: int, count: int) -> float:
    """Return the success rate that gives `count` successes nine times in ten.

    At this rate, at least `count` of n trials succeed with probability 0.9.

    Examples
    --------
    >>> round(caught_rate(100, 19), 3)
    0.239
    """
    from scipy.stats import beta

    return float(beta.ppf(POWER, count, n - count + 1))


def ranged(
    part: str,
    what: str,
    values: Sequence[float],
    *,
    kind: Literal["runs", "ratio"],
    note: str,
    details: tuple[tuple[str, str], ...] = (),
) -> Row:
    """Return an unjudged row with the median and the range of the values."""
    ends = (median(values), min(values), max(values)) if values else (None, None, None)
    return Row(part, what, len(values), *ends, kind=kind, spread="range", note=note, details=details)


def judged_share(
    part: str,
    what: str,
    *,
    count: int,
    n: int,
    side: Literal["at most", "at least"],
    limit: float,
    level: float,
    note: str = "",
    details: Sequence[tuple[str, str]] = (),
) -> Row:
    """Return the judged row of the share count/n.

    The note of the row names the count that would fail, and the power.

    Examples
    --------
    >>> judged_share("a", "b", count=9, n=10, side="at most", limit=0.1, level=1e-6).verdict
    'NOT KEPT'
    >>> judged_share("a", "b", count=1, n=10, side="at least", limit=0.9, level=1e-6).verdict
    'NOT KEPT'
    """
    low, high = share_interval(count, n, level)
    rate = limit if side == "at most" else 1 - limit
    return Row(
        part,
        what,
        n,
        count / n,
        low,
        high,
        side=side,
        limit=limit,
        chance=level,
        note=f"{note}; {_power(n, rate, level, side)}".removeprefix("; "),
        details=tuple(details),
    )


def judged_mean(part: str, what: str, *, values: NDArray[np.float64], cap: float, level: float) -> Row:
    """Return the judged row of a mean that must be at most 1.

    The values lie between 0 and `cap`. The stated power assumes values that equal `cap` in some audits and ½
    in all others.

    Examples
    --------
    >>> judged_mean("a", "b", values=np.full(60, 10.0), cap=10.0, level=1e-6).verdict
    'NOT KEPT'
    """
    n = len(values)

    def fails(hits: int) -> bool:
        return log_e_value(np.repeat([cap, 0.5], [hits, n - hits])) > -math.log(level)

    fewest = next((hits for hits in range(n + 1) if fails(hits)), None)
    power = "no audits of this number can fail it"
    if fewest is not None:
        rate = number(caught_rate(n, fewest))
        power = f"an auditor that ends at {number(cap)} in {rate} of audits, else at ½, fails 9 times in 10"
    return Row(
        part,
        what,
        n,
        float(np.mean(values)),
        mean_at_least(values, level),
        kind="ratio",
        side="at most",
        limit=1.0,
        chance=level,
        note=power,
    )


def _power(n: int, rate: float, level: float, side: str) -> str:
    """Return a text on which results make a row fail.

    It names the count at which the row fails. It also names a true rate at which the row fails with
    probability 0.9.
    """
    fewest = first_failing(n, rate, level)
    if fewest is None:
        return "too few to fail whatever they show"
    caught = caught_rate(n, fewest)
    if side == "at most":
        return f"fails from {fewest} on, as a true rate of {number(caught)} does 9 times in 10"
    return f"fails at {n - fewest} or fewer, as a true rate of {number(1 - caught)} does 9 times in 10"
