"""Findings about the exponential mechanism and A_dist (BNS Prop. 1 and 2)."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.claims import ApproximateDP
from audit.findings import Finding, Table
from audit.laws.exact import compare_pairs
from mechanisms.selection.exponential import ExponentialMechanism
from mechanisms.selection.gaps import StableSelectionGaps, TightStableSelectionGaps
from mechanisms.selection.stability import StableSelection

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "FINDINGS",
    "bns_proposition_1_i",
    "bns_proposition_1_ii",
    "bns_proposition_2_i",
    "e9_stable_selection",
    "e12",
    "n7",
]


def bns_proposition_1_i() -> Finding:
    """BNS Proposition 1(i) holds for 1-sensitive scores, with a loss below ε.

    Examples
    --------
    >>> bns_proposition_1_i().judgement
    'holds'
    """
    rows = []
    for count, behind in ((2, 1.0), (2, 10.0), (2, 40.0), (3, 1.0), (16, 1.0), (1000, 1.0), (1_000_000, 1.0)):
        one = np.where(np.arange(count) == 0, 1.0, 0.0)
        rows.append((count, behind, _exponential_loss(-behind * one, (2.0 - behind) * one)))
    table = Table(
        ("solutions", "one is behind all others by", "exact loss"),
        tuple(rows),
        "ε = 1; this one rises by 1 while all others fall by 1, the most that sensitivity 1 allows",
    )
    return Finding(
        "BNS Proposition 1(i)",
        "BNS Proposition 1(i); K08 Theorem 3.6; K11 Lemma 3.3",
        "The exponential mechanism is ε-private for scores of sensitivity 1 (a condition that BNS omits, "
        "N7).",
        "holds",
        "The loss is largest if one solution, 1 behind all others, overtakes them. At ε = 1 it is "
        f"{rows[0][2]:.3f} with two solutions, {rows[4][2]:.3f} with sixteen and {rows[-1][2]:.6f} with a "
        f"million. With two solutions, one {rows[1][1]:.0f} behind, it is {rows[1][2]:.3f}; {rows[2][1]:.0f} "
        f"behind, {rows[2][2]:.9f}. It never reaches ε.",
        row="M3",
        method="lower bound",
        errata=("N7",),
        claimed=1.0,
        found=max(row[2] for row in rows),
        tables=(table,),
    )


def n7() -> Finding:
    """BNS Proposition 1(i) does not say that the score has sensitivity 1.

    Examples
    --------
    >>> n7().found
    5.0
    """
    rows = tuple(
        (points, _exponential_loss(np.array([0.0, points]), np.array([points, 0.0])))
        for points in (1.0, 2.0, 10.0)
    )
    return Finding(
        "N7",
        "BNS Proposition 1(i)",
        "The exponential mechanism is ε-private (for any quality function q).",
        "hidden condition",
        f"The scores (0, 10) on one database and (10, 0) on its neighbour lose {rows[-1][1]:.3f} at ε = 1.",
        row="M3",
        errata=("N7",),
        corrected="It holds for q of sensitivity 1, also with real values, as algorithm Rec uses it.",
        claimed=1.0,
        found=rows[-1][1],
        tables=(Table(("sensitivity", "exact loss"), rows, "two solutions, ε = 1"),),
    )


def bns_proposition_1_ii() -> Finding:
    """BNS Proposition 1(ii): the tail bound of the exponential mechanism is tight.

    Examples
    --------
    >>> 0.99 < bns_proposition_1_ii().ratio < 1
    True
    """
    rows = []
    for count, far in ((2, 4.0), (16, 12.0), (1001, 24.0)):
        scores = np.where(np.arange(count) == 0, far, 0.0)
        logs = _exponential(scores).log_probabilities([])
        bound = count * math.exp(-far / 2.0)
        rows.append((count, far, bound, float(np.exp(logs[1:]).sum())))
    table = Table(
        ("solutions", "t", "|H|·e^(−εt/2)", "Pr[score ≤ best − t]"),
        tuple(rows),
        "ε = 1; all solutions but one are exactly t below the best, which is the hardest instance",
    )
    return Finding(
        "BNS Proposition 1(ii)",
        "BNS Proposition 1(ii)",
        "The exponential mechanism returns a solution t or more below the best with probability at most "
        "|H|·e^(−εt/2).",
        "holds",
        f"With 1001 solutions at ε = 1 and t = 24 the probability is {rows[-1][3]:.6f} and the bound is "
        f"{rows[-1][2]:.6f}, so no constant can be saved.",
        row="M3",
        errata=("N7",),
        claimed=rows[-1][2],
        found=rows[-1][3],
        tables=(table,),
    )


def bns_proposition_2_i() -> Finding:
    """BNS Proposition 2(i): the privacy of A_dist holds with a wide margin.

    Examples
    --------
    >>> bns_proposition_2_i().found < 1e-6
    True
    """
    rows = tuple(
        (epsilon, delta, _worst_delta(StableSelectionGaps(epsilon=epsilon, delta=delta), at=epsilon))
        for epsilon, delta in ((0.3, 1e-6), (1.0, 1e-6), (1.0, 0.3), (8.0, 0.01))
    )
    return Finding(
        "BNS Proposition 2(i)",
        "BNS Proposition 2(i)",
        "A_dist is (ε, δ)-private.",
        "holds",
        f"Over all gaps, and thus over all databases, δ at ε is {rows[1][2]:.3g}, where 1e-6 is claimed. E9 "
        "says more.",
        row="M4",
        errata=("E9 (A_dist)",),
        claimed=1e-6,
        found=rows[1][2],
        tables=(Table(("ε", "δ", "worst δ at ε"), rows, "exact, every pair of neighbouring gaps"),),
    )


def e9_stable_selection() -> Finding:
    """A_dist as printed is (ε/2, δ/2)-private, and its tight form (ε, δ)-private.

    Examples
    --------
    >>> round(e9_stable_selection().ratio, 9)
    0.5
    """
    rows = []
    for epsilon in (0.3, 1.0, 8.0):
        printed, tight = (kind(epsilon=epsilon) for kind in (StableSelectionGaps, TightStableSelectionGaps))
        worst = [_worst_delta(printed, at=share * epsilon) for share in (1.0, 0.5, 0.49)]
        rows.append((epsilon, *worst, _worst_delta(tight, at=epsilon)))
    table = Table(
        ("ε", "δ at ε", "δ at ε/2", "δ at 0.49·ε", "tight twin: δ at ε"),
        tuple(rows),
        "claimed δ = 1e-6; exact, every pair of neighbouring gaps",
    )
    _, at_epsilon, at_half, below, tight_delta = rows[1]
    return Finding(
        "E9 (A_dist)",
        "BNS §2.4, Proposition 2(i)",
        "With noise Lap(4/ε) and threshold (4/ε)·ln(1/δ) + 2, A_dist is (ε, δ)-private.",
        "loose",
        f"It is even (ε/2, δ/2)-private. For ε = 1 and δ = 1e-6 the worst δ is {at_epsilon:.3g} at ε and "
        f"{at_half:.3g} at ε/2 (and {below:.3g} at 0.49·ε). The tight twin has {tight_delta:.3g} at ε.",
        row="M4",
        errata=("E9 (A_dist)",),
        corrected="Lap(2/ε) and the threshold (2/ε)·ln(1/2δ) + 2 are enough for δ ≤ 1/2, with equality.",
        claimed=1e-6,
        found=at_half,
        tables=(table,),
    )


def e12() -> Finding:
    """BNS Proposition 2(ii): for ε > 4·ln 2, A_dist fails too often at the stated gap.

    Examples
    --------
    >>> round(e12().found, 4)
    0.3046
    """
    rows = []
    for epsilon, beta in ((1.0, 0.1), (2.7, 0.1), (2.8, 0.1), (5.0, 0.1), (4.0, 0.2)):
        mechanism = StableSelection(epsilon=epsilon)
        gap = mechanism.printed_gap(beta)
        needed = mechanism.needed_gap(beta)
        rows.append((epsilon, beta, gap, mechanism.failure(gap), needed, mechanism.failure(needed)))
    table = Table(
        ("ε", "β", "printed gap", "failure there", "gap needed", "failure there "),
        tuple(rows),
        "δ = 1e-6; exact Laplace tails",
    )
    return Finding(
        "E12",
        "BNS Proposition 2(ii)",
        "If the gap is at least (4/ε)·ln(2/βδ), A_dist returns the best with probability at least 1 − β.",
        "hidden condition",
        f"The failure at that gap is (β/4)·e^(ε/2) for ε ≤ 2·ln(2/β): {rows[2][3]:.4f} at ε = 2.8 and "
        f"{rows[3][3]:.4f} at ε = 5, for β = 0.1. The proof forgets the 2 of the threshold.",
        row="M4",
        errata=("E12",),
        corrected="It holds for ε ≤ 4·ln 2, and for every ε with the gap (4/ε)·ln(1/2βδ) + 2 (β ≤ 1/2).",
        claimed=0.1,
        found=rows[3][3],
        tables=(table,),
    )


FINDINGS: dict[str, Callable[[], Finding]] = {
    "BNS Proposition 1(i)": bns_proposition_1_i,
    "N7": n7,
    "BNS Proposition 1(ii)": bns_proposition_1_ii,
    "BNS Proposition 2(i)": bns_proposition_2_i,
    "E9 (A_dist)": e9_stable_selection,
    "E12": e12,
}


def _exponential(scores: Any) -> ExponentialMechanism:
    return ExponentialMechanism(solutions=range(len(scores)), score=lambda *_: scores, vectorised=True)


def _exponential_loss(left: Any, right: Any) -> float:
    p, q = (_exponential(scores).log_probabilities([]) for scores in (left, right))
    return float(np.abs(p - q).max())


def _worst_delta(subject: StableSelectionGaps, *, at: float) -> float:
    """Return the largest δ at ε = `at` over all neighbouring gaps."""
    gaps = [[gap] for gap in subject.records]
    pairs: Sequence[tuple[Any, Any]] = [*pairwise(gaps), *zip(gaps, gaps[2:], strict=False)]
    return compare_pairs(pairs, subject.distribution, ApproximateDP(at, subject.delta)).delta
