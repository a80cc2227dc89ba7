"""Findings about the sample sizes of A and A*."""

from __future__ import annotations

import math

import numpy as np

from audit.findings import Finding, Table
from learners.parity.rates import Rates, printed_sample_size

__all__ = ["e14", "n3", "n25"]

_LN2 = math.log(2.0)


def e14() -> Finding:
    """Return the finding that a constant in K08 Lemma 3.1 is wrong.

    Examples
    --------
    >>> 1e-32 < e14().found < 1e-31
    True
    """
    rows = []
    for epsilon, n in ((0.1, 16_000), (0.5, 3_200), (1.0, 1_600)):
        bounds = (math.exp(-epsilon * n / share) for share in (16, 32))
        rows.append(
            (epsilon, n, math.exp(_log_too_few(epsilon, n)), *bounds, _rate(epsilon), _first_false(epsilon))
        )
    table = Table(
        ("ε", "n", "exact", "printed", "Theorem A.1", "limit: e^(−εn/·)", "false from n ="),
        tuple(rows),
        "Pr[|S| < εn/8] for |S| binomial with p = ε/4",
    )
    chain = 0.5 * math.exp(-16.0 * (_LN2 + math.log(4.0)) / 32.0)
    return Finding(
        "E14",
        "K08 Lemma 3.1; K11 Lemma 4.1",
        "By the Chernoff bound Pr[|S| < εn/8] ≤ e^(−εn/16).",
        "proof only",
        f"At ε = 1/2, n = 3200 the probability is {rows[1][2]:.2g}, but the printed bound is "
        f"{rows[1][3]:.2g}. With the right e^(−εn/32) the proof fails at d = 1, α = 1/2: {chain:.3f} > 1/8. "
        "The lemmas are still true (N25).",
        row="L3",
        errata=("E14", "N25"),
        corrected="The bound is e^(−εn/32) by Theorem A.1, and near e^(−εn/26) for small ε. It is not "
        "needed.",
        claimed=rows[1][3],
        found=rows[1][2],
        tables=(table,),
    )


def n3() -> Finding:
    """Return the finding that the test set of K11 Theorem 4.4 is too large.

    Examples
    --------
    >>> n3().judgement
    'hidden condition'
    """
    rows = [(f"1e-{power}", *_samples_per_unit(power * math.log(10.0))) for power in (2, 10, 50, 200, 1000)]
    table = Table(
        ("β", "noisy errors", "exponential choice"),
        tuple(rows),
        "(k·n′ + s) ÷ (d·ln(1/β)/εα) for d = 1, ε = 1, c = 25, c′ = 10: bounded if the theorem holds",
    )
    return Finding(
        "N3",
        "K11 Theorem 4.4, Lemma 4.6",
        "A* needs O(d·log(1/β)/εα) examples.",
        "hidden condition",
        "The text gives only the order. The test set alone is of the order log²(1/β)/εα. In units of the "
        f"claim it is {rows[0][1]:.2g} at β = 0.01 and {rows[-1][1]:.2g} at 1e-1000. With footnote 4's "
        f"choice it stays below {_limit():.0f}.",
        row="L4",
        method="arithmetic",
        errata=("N3",),
        corrected="O((d + log(1/β))·log(1/β)/εα), or footnote 4's choice with s = O(log(k/β)/εα).",
        tables=(table,),
    )


def n25() -> Finding:
    """Return the finding that half the examples of K11 Lemma 4.1 are enough.

    Examples
    --------
    >>> round(n25().found, 4)
    0.4969
    """
    rows = []
    epsilon, alpha = 0.5, 0.49
    rates = Rates.printed(epsilon, owner="A")
    for d in (1, 2, 5, 16):
        printed = printed_sample_size(0.25, dimension=d, alpha=alpha, epsilon=epsilon)
        ours = rates.needed(0.5, dimension=d, alpha=alpha)
        bound = 0.5 * (1.0 - rates.bad(printed, dimension=d, alpha=alpha))
        exact = [_uniform_success(d, n, p=rates.inclusion) for n in (printed, ours)]
        rows.append((d, printed, bound, exact[0], ours, exact[1]))
    table = Table(
        ("d", "printed n", "success proved", "success, uniform x", "our n for 1/4", "success there"),
        tuple(rows),
        "ε = 1/2, α = 0.49, p = ε/4, refusal 1/2, so no run succeeds with more than 1/2",
    )
    few = math.log(20.0) / -math.log(1.0 - (0.5 - 2.0**-6))
    return Finding(
        "N25",
        "K08 Lemma 3.1; K11 Lemma 4.1",
        "(8/εα)(d·ln 2 + ln 4) examples let A succeed with probability 1/4.",
        "loose",
        f"A succeeds with {rows[0][3]:.4f} to {rows[-1][3]:.4f} on uniform examples, and never with less "
        "than 1/2 − 2^(−d−5), because a bad r survives with probability at most (1 − εα/4)^n. For success "
        f"1/4, (4/εα)(d·ln 2 + ln 2) examples suffice. A* needs {math.ceil(few)} runs at β′ = 0.05 instead "
        "of 11.",
        row="L3",
        errata=("N25", "E14"),
        corrected="Success ≥ (1 − q)·(1 − 2^d·(1 − pα)^n).",
        claimed=0.25,
        found=rows[0][3],
        tables=(table,),
    )


def _log_too_few(epsilon: float, n: int) -> float:
    """Return ln Pr[|S| < εn/8], where |S| is binomial with p = ε/4."""
    from scipy.stats import binom

    return float(binom.logcdf(math.ceil(epsilon * n / 8.0) - 1, n, epsilon / 4.0))


def _rate(epsilon: float) -> float:
    """Return c such that Pr[|S| < εn/8] falls like e^(−εn/c) for large n.

    |S| is binomial with p = ε/4, and c = ε ÷ KL(Bernoulli(p/2)‖Bernoulli(p)).
    """
    p = epsilon / 4.0
    return epsilon / (p / 2.0 * -_LN2 + (1.0 - p / 2.0) * math.log((1.0 - p / 2.0) / (1.0 - p)))


def _first_false(epsilon: float) -> int:
    """Return the least n at which the printed bound is false."""
    return next(n for n in range(1, 2_000) if _log_too_few(epsilon, n) > -epsilon * n / 16.0)


def _samples_per_unit(log: float) -> tuple[float, float]:
    """Return how many examples the printed plan and footnote 4's plan need.

    The unit is ln(1/β)/(εα). A plan needs k·n′ + s examples, and `log` is ln(1/β).
    """
    result = []
    for part, share in ((log + _LN2, True), (log + math.log(3.0), False)):
        k = math.ceil(part / math.log(4.0 / 3.0))
        factor = 10.0 * k if share else 10.0  # s = factor/(α′ε)·ln(k/β′), with c₁ = 10
        result.append(5.0 * (25.0 * k + factor * (math.log(k) + part)) / log)
    return result[0], result[1]


def _limit() -> float:
    """Return the largest `_samples_per_unit` of footnote 4's plan, rounded up."""
    return math.ceil(max(_samples_per_unit(power * math.log(10.0))[1] for power in range(2, 40)))


def _uniform_success(d: int, n: int, *, p: float) -> float:
    """Return the probability that A finds the target.

    The n examples are uniform, and A refuses with probability 1/2. Each example raises the rank r of the
    examples taken with probability p·(1 − 2^(r − d)). A picks one of 2^(d − r) solutions, of which one is the
    target.
    """
    ranks = np.arange(d + 1)
    grows = p * (1.0 - 2.0 ** (ranks - d))
    law = np.eye(1, d + 1)[0]
    for _ in range(n):
        law = law * (1.0 - grows) + np.concatenate([[0.0], (law * grows)[:-1]])
    return float(0.5 * (law @ 2.0 ** (ranks - d)))
