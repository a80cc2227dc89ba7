"""Findings about the local model, in K11 §5, K11 Lemma A.3 and K08 §4."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from audit.findings import Finding, Table
from audit.laws.divergence import epsilon_at, hockey_stick
from audit.laws.exact import compare_pairs
from mechanisms.flawed.local import PerRoundProtocol, ShiftedUniform
from mechanisms.local.algorithms import poll_twice
from mechanisms.local.averaging.failures import laplace_failure
from mechanisms.local.averaging.sizes import LEMMA_CONSTANT, laplace_size, lemma_size
from mechanisms.local.averaging.sums import LaplaceSum, laplace_rate, mean_tail_bound
from mechanisms.local.protocols import InteractiveProtocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from audit.distributions import Law

__all__ = ["FINDINGS", "e5", "e10", "e11", "k11_lemma_5_6", "n16", "n17"]

_BETA = 0.05


def e5() -> Finding:
    """K11 Lemma A.3: the claimed tail of a mean of Laplace variables is too small.

    Examples
    --------
    >>> finding = e5()
    >>> f"{finding.claimed:.3e}", f"{finding.found:.3e}"
    ('1.929e-22', '1.711e-21')
    """
    rows = []
    for x, n in ((1.0, 200), (3.0, 20), (0.9, 200), (0.5, 2000), (0.25, 40_000)):
        claimed, true = math.exp(-n * x * x / 4.0), LaplaceSum(n).two_sided(x * n)
        sharp = 2.0 * math.exp(-n * laplace_rate(x))
        rows.append((n, x, claimed, true, true / claimed, sharp, mean_tail_bound(n, scale=1.0, delta=x)))
    table = Table(
        ("n", "δ/λ", "exp(−nδ²/4λ²)", "true tail", "true ÷ claimed", "2·exp(−nI)", "repaired bound"),
        tuple(rows),
        "Pr[|mean of n Lap(λ)| ≥ δ], exact: a mixture of Gamma laws in log space",
    )
    n, _, claimed, true, ratio, *_ = rows[0]
    return Finding(
        "E5",
        "K11 Lemma A.3",
        "The mean of n Laplace(λ) variables is δ or more away from 0 with probability exp(−δ²n/4λ²).",
        "false",
        f"At n = {n}, δ = λ the tail is {true:.3e}, {ratio:.3g} times the claimed {claimed:.3e}. The proof "
        "uses 1/(1 − y) < e^y, which is the wrong direction. The claim fails for every δ > 0 once n is "
        "large enough. “=” is printed where “≤” is meant, and a factor 2 is missing, because only one side "
        "is proved.",
        row="M9",
        errata=("E5",),
        corrected="At most 2·exp(−n·I(δ/λ)), I(x) = x·t + ln(1 − t²) at t = (√(1 + x²) − 1)/x; so at most "
        "2·exp(−nδ²/8λ²) for δ ≤ 2√2·λ and 2·exp(−nδ/(2√2·λ)) beyond.",
        claimed=claimed,
        found=true,
        tables=(table,),
    )


def e10() -> Finding:
    """K11 Lemma 5.6 with n ∝ 1/(ετ)²: false for large ε.

    Examples
    --------
    >>> round(e10().found, 3)
    0.925
    """
    rows = []
    for constant, epsilon, tau in ((10, 10.0, 0.1), (50, 10.0, 0.1), (50, 100.0, 0.01), (500, 1000.0, 1e-3)):
        n = math.ceil(constant * math.log(1.0 / _BETA) / (epsilon * tau) ** 2)
        both = _failure(n, tau=tau, epsilon=epsilon)
        alone = _failure(n, tau=tau, epsilon=1e12)
        repaired = lemma_size(tau=tau, beta=_BETA, epsilon=epsilon)
        rows.append((constant, epsilon, tau, n, both, alone, repaired))
    table = Table(
        ("c", "ε", "τ", "n as printed", "Pr[error > τ]", "by sampling alone", "n repaired"),
        tuple(rows),
        "g = ±1 with mean 0, b = 1, β = 0.05, ετ = 1; exact: binomial times the law of Laplace sums",
    )
    constant, epsilon, tau, n, found, *_ = rows[2]
    return Finding(
        "E10",
        "K11 Lemma 5.6 and Theorem 5.7; K08 Lemma 4.3; K11 §4, A*, its test set",
        "n ≥ c·ln(1/β)·b²/(ετ)² entries are enough to answer a query within τ with probability 1 − β.",
        "hidden condition",
        f"If ετ = b, the printed n does not grow as τ falls. At c = {constant}, ε = {epsilon:g}, τ = "
        f"{tau:g} it is {n}, and the answer misses with probability {found:.3f}, for β = {_BETA:g}. The "
        "missing condition is ε = O(1). The test set of A*, s = (10k/α′ε)·ln(k/β′), has the same problem: "
        "for ε > k it is below the (10/α′)·ln(k/β′) that sampling needs. It is "
        f"{_share_of_test_set(11, 110.0):.0%} of this at k = 11, ε = 110.",
        row="M9",
        errata=("E10",),
        corrected=f"n ≥ {LEMMA_CONSTANT:g}·(b²/τ²)·max{{1, 1/ε²}}·ln(2/β). In A*, s has the factor max{{1, "
        "k/ε}.",
        claimed=_BETA,
        found=found,
        tables=(table,),
    )


def e11() -> Finding:
    """K08 Lemma 4.2: the bound at t = τ′ in the proof says nothing.

    Examples
    --------
    >>> finding = e11()
    >>> finding.found > 1.0, finding.judgement
    (True, 'hidden condition')
    """
    rows = []
    for x, n in ((0.1, 1000), (0.5, 100), (0.9, 100)):
        literal = math.exp(-n * (x * x + math.log1p(-x * x)))
        repaired = math.exp(-n * (x * x / 2.0 + math.log1p(-x * x / 4.0)))
        rows.append((n, x, literal, repaired, LaplaceSum(n).two_sided(x * n) / 2.0))
    bounds = Table(
        ("n", "τ′", "bound at t = τ′", "bound at t = τ′/2", "true one-sided tail"),
        tuple(rows),
        "the mean of n Lap(1) is at least τ′",
    )
    rates = Table(
        ("τ′", "exponent per variable", "τ′²/4"),
        tuple((x, laplace_rate(x), x * x / 4.0) for x in (0.1, 1.0, 10.0, 100.0)),
        "the exact exponent I(τ′) grows like τ′ and not like τ′²",
    )
    return Finding(
        "E11",
        "K08 Lemma 4.2",
        "The mean of n Laplace variables is τ′ or more away from 0 with probability exp(−Ω(τ′²n)).",
        "hidden condition",
        f"The proof sets t = τ′. Its bound is then {rows[1][2]:.3g} at τ′ = 0.5, n = 100, above 1. At "
        f"t = τ′/2 it is {rows[1][3]:.3g}. The statement itself needs τ′ = O(1): the exponent I(10) is "
        f"{laplace_rate(10.0):.2f}, not 25.",
        row="M9",
        method="arithmetic",
        errata=("E11", "E5"),
        corrected="At most 2·exp(−n·τ′²/8) for τ′ ≤ 2√2, and 2·exp(−n·τ′/(2√2)) beyond.",
        claimed=1.0,
        found=rows[1][2],
        tables=(bounds, rates),
    )


def k11_lemma_5_6() -> Finding:
    """K11 Lemma 5.6 lacks a constant and a condition; with both it holds.

    Examples
    --------
    >>> k11_lemma_5_6().found <= 0.05
    True
    """
    rows = []
    for epsilon, tau in ((0.5, 0.5), (1.0, 0.5), (1.0, 0.25), (4.0, 0.1), (16.0, 0.1)):
        sharp = laplace_size(tau=tau, beta=_BETA, epsilon=epsilon)
        printed = lemma_size(tau=tau, beta=_BETA, epsilon=epsilon)
        quarter = _failure(sharp // 4, tau=tau, epsilon=epsilon)
        at_sharp = _failure(sharp, tau=tau, epsilon=epsilon)
        rows.append((epsilon, tau, printed, sharp, at_sharp, quarter))
    table = Table(
        ("ε", "τ", "n of the closed form", "n without loss", "Pr[error > τ] there", "at a quarter of it"),
        tuple(rows),
        "g = ±1 with mean 0, b = 1, β = 0.05; exact",
    )
    worst = max(row[4] for row in rows)
    return Finding(
        "K11 Lemma 5.6",
        "K11 §5.1.1, Lemma 5.6",
        "For a large enough constant, the average of n answers with Laplace noise is within τ of the mean.",
        "hidden condition",
        f"It needs the constant {LEMMA_CONSTANT:g}, and max{{1, 1/ε²}} instead of 1/ε². The answer then "
        f"misses with probability at most {worst:.4f}, for β = {_BETA:g} (exact, at the largest variance). "
        f"At a quarter of the sharp n it misses with probability up to {max(row[5] for row in rows):.2f}.",
        row="M9",
        method="lower bound",
        errata=("E10", "E5"),
        corrected=f"n ≥ {LEMMA_CONSTANT:g}·(b²/τ²)·max{{1, 1/ε²}}·ln(2/β) for τ ≤ 2b; sharper, n ≥ ln(2/β)/r "
        "with r = sup over t of t·τ − t²b²/2 + ln(1 − (2bt/ε)²).",
        claimed=_BETA,
        found=worst,
        tables=(table,),
    )


def n16() -> Finding:
    """K11 Definition 5.1 says nothing about continuous answers.

    Examples
    --------
    >>> n16().found
    1.0
    """
    randomizer = ShiftedUniform(epsilon=1.0)
    left, right = randomizer.distribution([0]), randomizer.distribution([1])
    delta, loss = hockey_stick(left, right, 1.0), epsilon_at(left, right)
    return Finding(
        "N16",
        "K11 Definition 5.1, K08 Definition 4.3",
        "R is ε-local if Pr[R(u) = w] ≤ e^ε·Pr[R(u′) = w] for all u, u′ and every single w.",
        "hidden condition",
        "R(u) = u + Uniform[0, 1] meets this for every ε, because 0 ≤ 0. But its answers distinguish 0 from "
        f"1: the exact loss is {loss:g}, δ(1) = {delta:g}. Claim 5.9 divides by Pr[R(0) = w], which is 0 for "
        "R_g.",
        row="M8",
        errata=("N16",),
        corrected="Require a discrete W, or use densities instead of probabilities, or bound all sets of "
        "answers.",
        claimed=0.0,
        found=delta,
    )


def n17() -> Finding:
    """K11 Claim 2.2 is for fixed algorithms, but interactive algorithms adapt.

    Examples
    --------
    >>> finding = n17()
    >>> round(finding.found, 9), finding.claimed
    (1.0, 1.25)
    """
    algorithm = partial(poll_twice, epsilon=1.0)
    protocol = InteractiveProtocol(algorithm=algorithm, epsilon=1.0)
    found = _worst_loss(protocol)
    careless = PerRoundProtocol(algorithm=partial(poll_twice, epsilon=2.0), epsilon=1.0)
    rows = (
        ("budget over all rounds", 1.0, found),
        ("the same budget in every round", 1.0, _worst_loss(careless)),
    )
    table = Table(
        ("protocol", "ε claimed", "exact loss"),
        rows,
        "two rounds on two entries; who is asked again, and at which ε, depends on the first answers",
    )
    return Finding(
        "N17",
        "K11 Claim 2.2 and Definition 5.3; K08 Claim 2.1",
        "ε-local algorithms, also interactive ones, are ε-differentially private by composition.",
        "proof only",
        "The cited claim composes algorithms that are fixed in advance. For the three randomizers that "
        "this protocol may use on one entry it gives 0.5 + 0.5 + 0.25 = 1.25. Every path spends at most 1, "
        f"and the exact loss is {found:.6f}.",
        row="M10",
        errata=("N17",),
        corrected="Use adaptive composition with a budget, which holds for pure privacy: the ratio of a path "
        "is a product of conditional ratios, and Σ ε_j ≤ ε on every path.",
        claimed=1.25,
        found=found,
        tables=(table,),
    )


FINDINGS: dict[str, Callable[[], Finding]] = {
    "E5": e5,
    "E10": e10,
    "E11": e11,
    "K11 Lemma 5.6": k11_lemma_5_6,
    "N16": n16,
    "N17": n17,
}


def _share_of_test_set(
    candidates: int, epsilon: float, *, accuracy: float = 0.1, beta: float = 0.05
) -> float:
    """Return the size of K11's test set divided by the size that sampling needs.

    K11 leaves the constants c₁ and c′ open. Here both are 10.
    """
    log = math.log(candidates / beta)
    return (10.0 * candidates / (accuracy * epsilon) * log) / (10.0 / accuracy * log)


def _failure(n: int, *, tau: float, epsilon: float) -> float:
    """Return Pr[error > tau] of A_g on n entries, each 1 or −1 with probability 1/2."""
    return laplace_failure(LaplaceSum(n, 2.0 / epsilon), tau=tau, high=0.5)


def _worst_loss(protocol: InteractiveProtocol) -> float:
    """Return the largest exact loss over all neighbouring databases of two bits."""
    databases = [[a, b] for a in (0, 1) for b in (0, 1)]
    pairs = [(x, y) for x in databases for y in databases if protocol.relation.are_neighbours(x, y)]

    def law(database: list[int]) -> Law:
        found = protocol.distribution(database)
        assert found is not None  # bits through randomized response: finitely many paths
        return found

    return compare_pairs(pairs, law, protocol.claim).epsilon
