"""Findings about algorithm Rec of BNS §3.3."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.findings import Finding, Table
from audit.laws.exact import compare_pairs
from mechanisms.composition.accounting import composed_epsilon, sequential_bound
from mechanisms.concave import (
    ConcavePromise,
    calls,
    least_promise,
    lemma_2,
    log_star,
    random_pair,
)
from mechanisms.concave.bounds import SMALL, ceiling
from mechanisms.concave.climb import climbed, steepest
from mechanisms.concave.hard import hard_qualities, plateau
from mechanisms.concave.instances import telling_pairs
from mechanisms.concave.piecewise import StepFunction
from mechanisms.flawed.concave import LiteralConcavePromise
from mechanisms.selection.exponential import ExponentialMechanism

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FINDINGS", "bns_lemma_2", "bns_lemma_3", "bns_remark_2", "e6", "n6", "n8", "n26"]


def e6() -> Finding:
    """BNS Fig. 1, step 10: the second half of H has to begin at the left end of B.

    Examples
    --------
    >>> round(e6().found, 6)
    1.0
    """
    rows = []
    for low in (59, 64, 66):
        literal, right = (
            _log10_failure(subject, plateau(4096, low, low + 10, height=subject.target))
            for subject in (kind(top=4096, beta=0.01) for kind in (LiteralConcavePromise, ConcavePromise))
        )
        rows.append((f"[{low}, {low + 10}]", 10.0**literal, right))
    allowed = 2 * 0.01 * log_star(4096)
    table = Table(
        ("good points", "failure as printed", "log10 of the failure corrected"),
        tuple(rows),
        "T = 4096, α = 1/2, ε = 1, δ = 1e-6, r for β = 0.01 (K = 8: 64 is a border of the A_i); exact",
    )
    return Finding(
        "E6",
        "BNS Fig. 1, step 10",
        "H = {a + iK/2} ∪ {b + iK/2}, where A = [a, b] and B = [c, d].",
        "typo",
        f"B is paid for and never used. If the good points lie across the border of two A_i, Rec as printed "
        f"fails with probability {rows[0][1]:.6f}. Corrected, it fails with 10^({rows[0][2]:.0f}). Lemma 3 "
        f"allows {allowed:g}.",
        row="M6",
        errata=("E6",),
        corrected="H = {a + iK/2} ∪ {c + iK/2}. Privacy does not change.",
        claimed=allowed,
        found=rows[0][1],
        tables=(table,),
    )


def n6() -> Finding:
    """BNS Lemmas 2 and 3 at T = 1: false, because log* is 0.

    Examples
    --------
    >>> n6().found
    0.5
    """
    laws = [_exponential(scores) for scores in ([0.0, 1.0], [1.0, 0.0])]
    loss = float(np.abs(laws[0] - laws[1]).max())
    promise = 16.0 / 0.5 * math.log(32.0 / (0.1 * 1e-6))  # (2/α)^0 times the rest
    failure = float(_exponential([0.0, promise])[0])
    return Finding(
        "N6",
        "BNS Lemmas 2 and 3",
        "Rec on [0, T] is (ε′, 4·log*(T)·δ)-private and fails with probability at most 2β·log*(T).",
        "hidden condition",
        f"log*(1) = {log_star(1)}, so at T = 1 the lemmas claim (0, 0) and failure 0. There Rec is a single "
        f"exponential mechanism, which loses {loss:g} at ε = 1 and fails with probability "
        f"e^({failure:.0f}) > 0.",
        row="M6",
        errata=("N6",),
        corrected="The lemmas hold for T ≥ 2.",
        claimed=0.0,
        found=round(loss, 12),
    )


def n8() -> Finding:
    """BNS Fig. 1 is incomplete: on four inputs a step is undefined.

    Examples
    --------
    >>> [row[1] for row in n8().tables[0].rows]
    [1, 0, 16, 13]
    """
    longest = StepFunction([0], np.array([1e5]), top=4096).window_minima()
    power = max(j for j, height in enumerate(longest) if height == 1e5)  # the one j with q(j) > 0
    width, top = 8 << power, 4096
    first, second = (len(range(start, top + 1, width)) for start in (0, width // 2))
    halves = sum((2 * start + i) % 2 for start in (0, 8) for i in range(16))
    beyond = sum(32 + i / 2 > 33 for i in range(16))  # T = 33, K = 1, A = [32, 39]
    rows = (
        ("members of {A_i} at K = T′ = 4096; A_dist needs two", first),
        ("members of {B_i} there", second),
        ("of the 32 points of H at K = 1: not whole", halves),
        ("of the 16 points from A = [32, 39] at T = 33, K = 1: beyond T", beyond),
    )
    return Finding(
        "N8",
        "BNS Fig. 1",
        "Algorithm Rec, as printed, returns an index of [0, T] on every input.",
        "hidden condition",
        f"On the easiest input, Q constant = r, it gets K = 2^{power} = T′. Then {{A_i}} has {first} member "
        f"and {{B_i}} has {second}, so A_dist is undefined. The text does not say what H is after a ⊥. At K "
        f"= 1, {halves} of 32 points are half-integers. Points may exceed T.",
        row="M6",
        method="arithmetic",
        errata=("N8",),
        corrected="A family of one gives its member; an empty one is skipped. After ⊥, take the other half "
        "of H, or points spread over the range. Round points down, and cut them at T. None of this uses "
        "the data.",
        tables=(Table(("what", "how many"), rows),),
    )


def n26() -> Finding:
    """BNS Lemma 2 pays for more calls than Rec makes.

    The lemma pays for 3·log*(T) calls. Rec makes 3·N + 1, where N is its number of levels.

    Examples
    --------
    >>> n26().claimed, n26().found
    (15.0, 7.0)
    """
    rows = []
    for power in (5, 16, 32, 64):
        top, told = 2**power, {"epsilon": 0.1, "delta": 1e-6}
        printed, made = lemma_2(top, **told), calls(top, **told, tight=True)
        best = composed_epsilon(made, delta=printed.delta)
        paid = 3 * log_star(top)
        rows.append((f"2^{power}", paid, len(made), printed.epsilon, sequential_bound(made).epsilon, best))
    table = Table(
        ("T", "calls paid for", "calls made", "ε of Lemma 2", "sum of the calls", "optimal composition"),
        tuple(rows),
        "ε = 0.1, δ = 1e-6 per call; the sum takes A_dist at (ε/2, δ/2), the last column the lemma's δ",
    )
    return Finding(
        "N26",
        "BNS Lemma 2",
        "Rec composes at most 3·log*(T) private calls.",
        "loose",
        f"It makes 3·N + 1, where N is 0 up to T = 32, 1 up to 2^32 and 2 up to 2^(2^32). At T = 2^64 these "
        f"are {rows[-1][2]} calls, and {rows[-1][1]} are paid for. At ε = 0.1 per call the lemma claims "
        f"ε = {rows[-1][3]:.3f}; the plain sum is {rows[-1][4]:.3f}.",
        row="M6",
        method="arithmetic",
        errata=("N26", "E9 (A_dist)"),
        corrected="Rec makes 3·N + 1 calls, those of A_dist at (ε/2, δ/2) (E9).",
        claimed=float(rows[-1][1]),
        found=float(rows[-1][2]),
        tables=(table,),
    )


@cache
def bns_lemma_2() -> Finding:
    """BNS Lemma 2: Rec's privacy holds on all neighbours tried.

    Examples
    --------
    >>> bns_lemma_2().judgement
    'holds'
    """
    rng = np.random.default_rng(20)
    rows: list[tuple[float, ...]] = []
    for top, epsilon, delta in ((64, 1.0, 0.01), (1000, 0.1, 1e-6), (4096, 1.0, 1e-6)):
        subject = ConcavePromise(epsilon=epsilon, delta=delta, top=top, promise=60.0 / epsilon, beta=None)
        lead = subject.test.threshold
        pairs = [random_pair(top, rng, lead=lead) for _ in range(60)] + telling_pairs(top, lead=lead)
        found = compare_pairs(pairs, subject.distribution, subject.claim)
        assert found.within
        rows.append(
            (top, epsilon, delta, subject.claim.epsilon, found.epsilon, subject.claim.delta, found.delta)
        )
    rows.append(_climbed_row(rng))
    table = Table(
        ("T", "ε per call", "δ per call", "ε claimed", "ε found", "δ claimed", "δ found"),
        tuple(rows),
        "exact laws; 66 pairs each of random, tied, noisy and revealing qualities, concave or not; last row: "
        "a climb from the worst known pair, promise 100",
    )
    return Finding(
        "BNS Lemma 2",
        "BNS Lemma 2",
        "Rec is (√(6·log*·ln(1/(log*·δ)))·ε + 6·log*·ε², 4·log*·δ)-private, for T ≥ 2 (N6).",
        "holds",
        f"It holds by the account of its calls (N26). At T = 4096 and ε = 1 per call it claims "
        f"{rows[-2][3]:.1f}, and the worst of these pairs loses {rows[-2][4]:.3f}. A climb at T = 64 reaches "
        f"{rows[-1][4]:.3f}; the calls there add up to 3.",
        row="M6",
        method="lower bound",
        errata=("N6", "N8", "N26", "E9 (A_dist)"),
        claimed=rows[-1][3],
        found=rows[-1][4],
        tables=(table,),
    )


def _climbed_row(rng: np.random.Generator) -> tuple[float, ...]:
    """Return the table row of a hill climb at T = 64."""
    subject = ConcavePromise(promise=100.0, beta=None, accounting="tight")

    def loss(pair: Any) -> float:
        return compare_pairs([pair], subject.distribution, subject.claim).epsilon

    _, pair = climbed(steepest(), loss, steps=40, lead=subject.test.threshold, rng=rng)
    found = compare_pairs([pair], subject.distribution, subject.claim)
    assert found.within
    claim = lemma_2(64, epsilon=1.0, delta=1e-6)
    return (64, 1.0, 1e-6, claim.epsilon, found.epsilon, claim.delta, found.delta)


@cache
def bns_lemma_3() -> Finding:
    """BNS Lemma 3: Rec's utility holds on the hardest known qualities.

    Examples
    --------
    >>> bns_lemma_3().found < 1e-6
    True
    """
    rows = []
    for top in (40, 4096, 2**64):
        least = least_promise(top, alpha=0.5, beta=0.05, epsilon=1.0, delta=1e-3)
        allowed = 2 * 0.05 * log_star(top)
        rows.append((f"{top:.3g}", least, allowed, _worst_log10(top, least)))
    halvings = next(k for k in range(1, 20) if _worst_log10(4096, rows[1][1] / 2**k) > math.log10(rows[1][2]))
    table = Table(
        ("T", "least r", "failure allowed", "log10 of the worst failure found"),
        tuple(rows),
        "α = 1/2, β = 0.05, ε = 1, δ = 1e-3; exact; peaks of every width at the ends, in the middle and "
        "across the borders of the A_i, alone or beside a shelf; all other points just below good",
    )
    return Finding(
        "BNS Lemma 3",
        "BNS Lemma 3",
        "With r ≥ (2/α)^log*·(16/(αε))·ln(32/βδ), Rec fails with probability at most 2β·log*(T), for T ≥ 2 "
        "(N6) and with step 10 corrected (E6).",
        "holds",
        f"It holds by its proof. At T = 4096 the worst failure probability found is 10^({rows[1][3]:.0f}); "
        f"{rows[1][2]:g} is allowed. On these qualities r/{2 ** (halvings - 1)} would still be enough.",
        row="M6",
        method="lower bound",
        errata=("E6", "E12", "N6", "N8", "N21"),
        claimed=rows[1][2],
        found=10.0 ** rows[1][3],
        tables=(table,),
    )


def bns_remark_2() -> Finding:
    """BNS Remark 2: below the first level Rec works on ranges of logarithmic size.

    Examples
    --------
    >>> bns_remark_2().tables[0].rows[-1]
    ('2^1024', '1024, 10', 1036)
    """
    rows = []
    for power in (16, 64, 1024):
        below = _ranges_below(2**power)
        rows.append((f"2^{power}", ", ".join(map(str, below)), sum(top + 1 for top in below)))
    return Finding(
        "BNS Remark 2",
        "BNS §3.3, Remark 2",
        "It is enough to run Rec's first level efficiently: an iteration on [0, T] takes poly(T), and the "
        "ranges below are logarithmic.",
        "holds",
        f"From T = 2^64 Rec goes to the ranges {rows[1][1]}, which have {rows[1][2]} values of a quality in "
        f"all; from 2^1024 they have {rows[2][2]}. The first level needs only the steps of the quality.",
        row="M6",
        method="arithmetic",
        tables=(
            Table(("T", "T of the ranges below", "values of the quality there"), tuple(rows), "until T ≤ 32"),
        ),
    )


def _ranges_below(top: int) -> list[int]:
    """Return the T of every recursive call, the outermost first."""
    below: list[int] = []
    while (below[-1] if below else top) > SMALL:
        below.append(ceiling(below[-1] if below else top).bit_length() - 1)
    return below


FINDINGS: dict[str, Callable[[], Finding]] = {
    "BNS Lemma 2": bns_lemma_2,
    "N26": n26,
    "BNS Lemma 3": bns_lemma_3,
    "BNS Remark 2": bns_remark_2,
    "N6": n6,
    "E6": e6,
    "N8": n8,
}


def _worst_log10(top: int, promise: float) -> float:
    """Return log10 of Rec's largest failure probability on hard qualities.

    The parameters are alpha = 1/2, ε = 1 and δ = 1e-3.
    """
    subject = ConcavePromise(top=top, promise=promise, delta=1e-3, beta=None)
    return max(_log10_failure(subject, quality) for quality in hard_qualities(top, height=promise))


def _log10_failure(subject: ConcavePromise, quality: StepFunction) -> float:
    """Return log10 of the probability that Rec's output is not good enough."""
    law = subject.distribution(quality)
    least = (1.0 - subject.alpha) * subject.target
    bad = law.log_probabilities[quality.values_at(law.outcomes) < least]
    return float(np.logaddexp.reduce(bad)) / math.log(10.0)


def _exponential(scores: Any) -> Any:
    mechanism = ExponentialMechanism(
        solutions=range(len(scores)), score=lambda *_: np.array(scores), vectorised=True
    )
    return mechanism.log_probabilities([])
