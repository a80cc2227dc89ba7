"""An e-value against the hypothesis that outputs come from a declared law.

For a partition of the outputs into k cells with declared probabilities π and counts n, the Bayes factor

    ∏ Γ(nᵢ + ½)/Γ(½) · Γ(k/2)/Γ(N + k/2)  ÷  ∏ πᵢ^nᵢ

compares the Dirichlet(½) mixture of all laws on the cells with the declared law. Mixture and law give the
probability of the same sequence of cells. So the factor has expectation 1 under the declared law. An average
of factors over several partitions has expectation 1 too, if the partitions depend on the law alone.

Guarantee: for independent outputs of the declared law, Pr[e-value ≥ 1/s] ≤ s for every s in (0, 1].
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit.distributions.law import OUTSIDE, Floats, Ints, Law, Outputs, log_add
from audit.values.outcomes import Unfinished

SINGLED = 32
"""Larger: single outcomes are tested more closely. This many likely cells are each compared with the rest."""


def law_log_e_value(law: Law, outputs: Outputs) -> float:
    """Return the log e-value against independent draws from a law.

    Parameters
    ----------
    law
        The declared law.
    outputs
        A list or an array of outputs, which may include `Raised`. `Unfinished` runs never speak against the
        law: the e-value is the least over all their possible answers.

    Returns
    -------
    float
        +∞ if an output is outside the law's support, 0 if there are no outputs.

    Examples
    --------
    >>> from audit.distributions import Finite
    >>> coin = Finite(["tails", "heads"], [0.5, 0.5])
    >>> law_log_e_value(coin, ["heads"] * 100) > math.log(1e6)
    True
    >>> law_log_e_value(coin, ["heads", "tails"] * 50) < 0
    True
    >>> law_log_e_value(coin, ["edge"])
    inf
    """
    finished, missing = _finished(outputs)
    if not len(finished):
        return 0.0
    groups = []
    for partition in law.partitions():
        cells = partition.locate(finished)
        if (cells == OUTSIDE).any():
            return math.inf
        counts = np.bincount(cells, minlength=len(partition.log_probabilities))
        groups.append(_log_factors(counts, partition.log_probabilities, missing=missing))
    return float(log_add(np.array(groups))) - math.log(len(groups))


def stray(law: Law, outputs: Outputs) -> tuple[Any, ...]:
    """Return one output that is impossible under the law, in a tuple.

    The tuple is empty if all outputs are possible.

    Examples
    --------
    >>> from audit.distributions import Finite
    >>> stray(Finite(["tails", "heads"], [0.5, 0.5]), ["heads", "edge"])
    ('edge',)
    """
    finished, _ = _finished(outputs)
    for partition in law.partitions():
        outside = np.flatnonzero(partition.locate(finished) == OUTSIDE)
        if len(outside):
            return (finished[int(outside[0])],)
    return ()


def detectable_distance(law: Law, runs: int, log_limit: float) -> float:
    """Return a distance from a law that 9 in 10 comparisons with runs detect.

    The distance is in total variation.

    Parameters
    ----------
    law
        The declared law.
    runs
        Number of outputs that are compared with it.
    log_limit
        The law counts as wrong if the log e-value reaches this.

    Returns
    -------
    float
        At most 1. The distance is on the cells of the finest partition. If the law has few outcomes, these
        are all outcomes. Otherwise they are about 32 cells.

    Notes
    -----
    **Guarantee.** Let the N outputs be independent. Let their true probability of some union of cells exceed
    the declared probability by d. Let h² = ln(10)/(2N). With probability at least 0.9, the observed share of
    the union exceeds the declared probability by at least d − h (Hoeffding). The observed shares then differ
    from the declared law by at least d − h in total variation. So N times their divergence from this law is
    at least 2N·(d − h)² (Pinsker). The logarithm of the Bayes factor is at least this product less the regret
    of the Dirichlet(½) mixture on k cells. The regret is largest if all outputs are equal: ln Γ(N + k/2)/Γ(N
    + ½) + ln Γ(½)/Γ(k/2). The e-value is at least the factor divided by twice the number of partitions. So d
    = h + √((log_limit + ln(2·partitions) + regret)/(2N)) is enough.

    Examples
    --------
    >>> from audit.distributions import Finite
    >>> round(detectable_distance(Finite(["tails", "heads"], [0.5, 0.5]), 2_000, math.log(1e6)), 2)
    0.09
    """
    from scipy.special import gammaln

    if not runs:
        return 1.0
    partitions = law.partitions()
    k = max(len(partition.log_probabilities) for partition in partitions)
    regret = gammaln(runs + k / 2) - gammaln(runs + 0.5) + gammaln(0.5) - gammaln(k / 2)
    needed = log_limit + math.log(2 * len(partitions)) + float(regret)
    return min(1.0, math.sqrt(math.log(10.0) / (2 * runs)) + math.sqrt(needed / (2 * runs)))


def log_bayes_factor(counts: Ints, log_probabilities: Floats, *, missing: int = 0) -> float:
    """Return the log of the Bayes factor of counts.

    The values of `missing` further outputs are unknown. The result is the minimum over all possible values.

    Examples
    --------
    >>> round(math.exp(log_bayes_factor(np.array([1, 0]), np.log([0.25, 0.75]))), 12)
    2.0
    """
    from scipy.special import gammaln

    possible = np.isfinite(log_probabilities)
    if counts[~possible].any():
        return math.inf
    counts, logs = counts[possible], log_probabilities[possible]
    if missing:
        counts = _completed(counts, logs, missing)
    k, total = len(counts), int(counts.sum())
    mixture = gammaln(counts + 0.5).sum() - k * gammaln(0.5) + gammaln(k / 2) - gammaln(total + k / 2)
    return float(mixture - counts @ logs)


def _log_factors(counts: Ints, log_probabilities: Floats, *, missing: int) -> float:
    """Return the log of the mean of two numbers.

    The first number is the Bayes factor on all cells. The second is the mean of the Bayes factors on unions
    of cells.

    If the law is right, the log of a Bayes factor of N outputs on k cells falls to about −(k − 1)/2·log N.
    The factor on a union compares the union with all other cells. Its k is 2, so it falls less. It detects a
    law that is wrong in one outcome, in location or in scale.
    """
    whole = log_bayes_factor(counts, log_probabilities, missing=missing)
    if len(counts) < 3 or math.isinf(whole):
        return whole
    unions = _unions(log_probabilities)
    inside, outside = unions @ counts, ~unions @ counts
    probabilities = np.exp(log_probabilities)
    with np.errstate(divide="ignore"):
        logs = np.log([unions @ probabilities, ~unions @ probabilities])
    rows = zip(np.transpose([inside, outside]), logs.T, strict=True)
    factors = [log_bayes_factor(pair, log_pair, missing=missing) for pair, log_pair in rows]
    averaged = float(log_add(np.array(factors))) - math.log(len(factors))
    return float(np.logaddexp(whole, averaged)) - math.log(2.0)


def _unions(log_probabilities: Floats) -> NDArray[np.bool_]:
    """Return likely cells, first cells, and first and last cells, as rows."""
    k = len(log_probabilities)
    place = np.arange(k)
    alone = np.argsort(-log_probabilities, kind="stable")[:SINGLED]
    steps = np.unique(np.linspace(2, k - 2, min(k, SINGLED)).astype(int)) if k > 3 else place[:0]
    first = [place < step for step in steps]
    ends = [(place < step) | (place >= k - step) for step in np.unique(np.minimum(steps, k // 2 - 1)) if step]
    return np.array([*(place == cell for cell in alone), *first, *ends])


def _completed(counts: Ints, logs: Floats, missing: int) -> Ints:
    """Return counts with the missing outputs added.

    Each output is added where it lowers the Bayes factor most. The factor's logarithm is a sum of convex
    functions of the counts. So adding one output at a time is optimal.
    """
    counts = counts.copy()
    for _ in range(missing):
        counts[np.argmin(np.log(counts + 0.5) - logs)] += 1
    return counts


def _finished(outputs: Outputs) -> tuple[Any, int]:
    """Return the outputs of finished runs, and the number of unfinished runs."""
    if isinstance(outputs, np.ndarray) and outputs.dtype != object:
        return outputs, 0
    finished = [output for output in outputs if not isinstance(output, Unfinished)]
    return finished, len(outputs) - len(finished)
