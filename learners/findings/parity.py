"""Findings about the learners of parities."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from audit.findings import Finding, Table
from audit.laws.exact import compare_pairs
from learners.findings.parity_samples import e14, n3, n25
from learners.parity.choices import choice_law
from learners.parity.flawed import OverspentParityRetry, UncheckedParityLearner
from learners.parity.learner import REFUSED
from learners.parity.multisets import ParityLearnerMultisets
from learners.parity.plans import derived_plan, failure_bound
from learners.parity.rates import Rates, printed_sample_size
from learners.parity.systems import BitSystem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["FINDINGS", "e2", "e9_parity", "n4", "n13", "n14", "n15"]

_D16: dict[str, Any] = {"dimension": 16, "epsilon": 1.0, "alpha": 0.1}
_EVEN: dict[str, Any] = {**_D16, "epsilon": 0.3}
"""At ε = 0.3 and with three candidates, noise and sampling error need test sets of the same size."""


def e2() -> Finding:
    """Return the finding that A* of K11 §4 spends more than its β.

    Examples
    --------
    >>> 0.1 < e2().found <= 0.15
    True
    """
    rows = []
    for beta in (0.01, 0.1, 0.2):
        text, ours = (
            derived_plan("held-out", beta=share * beta, tight=True, **_EVEN) for share in (1.5, 1.0)
        )
        bounds = [failure_bound(made, "held-out", tight=True, **_EVEN) for made in (text, ours)]
        rows.append((beta, 1.5 * beta, bounds[0], bounds[1]))
    table = Table(
        ("β", "3β′ of the text", "bound at β′ = β/2", "bound at β′ = β/3"),
        tuple(rows),
        "d = 16, ε = 0.3, α = 0.1, tight A, no sample larger than it must be: the three failures summed",
    )
    return Finding(
        "E2",
        "K11 §4, A* step 1 and the end of Lemma 4.6",
        "With β′ = β/2 the three failures of A* together have probability at most 3β′ = β.",
        "proof only",
        f"3β′ is 1.5β. At β = 0.1 the failure bound is {rows[1][2]:.4f} for a plan that spends β/2 on each "
        f"of the three, and {rows[1][3]:.4f} for one that spends β/3. The failures themselves are rarer.",
        row="L4",
        method="upper bound",
        errata=("E2",),
        corrected="β′ = β/3.",
        claimed=0.1,
        found=rows[1][2],
        tables=(table,),
    )


def e9_parity() -> Finding:
    """Return the finding on the exact loss of A (E9).

    Examples
    --------
    >>> round(e9_parity().found, 6)
    0.510826
    """
    rows = []
    for epsilon in (0.1, 0.5, 1.0, 2.0):
        found, tight = (_worst(epsilon, tight=tight) for tight in (False, True))
        gain = math.tanh(epsilon / 2.0) / (epsilon / 4.0)
        rows.append((epsilon, found, found / epsilon, tight, gain, Rates.tight(epsilon).refusal))
    table = Table(
        ("claimed ε", "found", "found ÷ claimed", "tight twin", "factor of samples saved", "its refusal"),
        tuple(rows),
        "largest exact loss over all samples and all their neighbours, d = 1 and 2, n = 1, 2 and 3",
    )
    return Finding(
        "E9 (PARITY)",
        "K08 Lemma 3.2; K11 Lemma 4.2",
        "A, with p = ε/4 and refusal 1/2, is ε-private.",
        "loose",
        f"Its loss is ln((4 + ε)/(4 − ε)) in every dimension and size: {rows[2][1]:.6f} at ε = 1. With p = "
        f"tanh(ε/2) and refusal (1 − p)/(3 − p) it is exactly ε. {rows[2][4]:.3f} times fewer examples are "
        "then enough at ε = 1, and half as many for ε → 0.",
        row="L3",
        errata=("E9 (PARITY)", "N4"),
        corrected="p = tanh(ε/2), refusal (1 − p)/(3 − p), for every ε > 0.",
        claimed=1.0,
        found=rows[2][1],
        tables=(table,),
    )


def n4() -> Finding:
    """Return the finding that K08 Lemma 3.2 prints no range for ε.

    Examples
    --------
    >>> round(n4().found, 4)
    4.3694
    """
    rows = []
    for epsilon in (0.5, 2.0, 3.0, 3.8, 3.9, 3.99):
        learner = UncheckedParityLearner(1, epsilon)
        p = learner.rates.inclusion
        rows.append((epsilon, _loss_of(learner), "yes" if 2 * p / (1 - p) <= epsilon * (1 + 1e-12) else "no"))
    table = Table(
        ("ε", "exact loss", "2p/(1 − p) ≤ ε"), tuple(rows), "p = ε/4; all samples of 1 and 2, d = 1"
    )
    return Finding(
        "N4",
        "K08 Lemma 3.2; K11 Lemma 4.2, Definition 3.1",
        "A is ε-private for every ε > 0.",
        "hidden condition",
        f"The loss is 2·artanh(ε/4). It exceeds ε from {_crossing():.3f} on, is {rows[4][1]:.4f} at ε = "
        "3.9, and infinite at ε = 4, where p = 1. Beyond 4, p is not a probability. The proof says ε ≤ 1/2 "
        "and needs ε ≤ 2.",
        row="L3",
        errata=("N4", "E9 (PARITY)"),
        corrected="The proof holds for ε ≤ 2, which `ParityLearner` requires. With tanh(ε/2) any ε works.",
        claimed=3.9,
        found=rows[4][1],
        tables=(table,),
    )


def n13() -> Finding:
    """Return the finding that K11 §4 prints a negative number of runs.

    Examples
    --------
    >>> n13().claimed, n13().found
    (-10, 11)
    """
    rows = tuple(
        (beta, math.ceil(-math.log(beta) / math.log(0.75)), math.ceil(-math.log(beta) / math.log(4 / 3)))
        for beta in (0.25, 0.05, 0.001)
    )
    return Finding(
        "N13",
        "K11 §4, A* step 1; Lemma 4.6",
        "k = ⌈log_{3/4}(1/β′)⌉.",
        "typo",
        f"That is {rows[1][1]} at β′ = 0.05. (3/4)^k ≤ β′ needs k = {rows[1][2]}.",
        row="L4",
        method="arithmetic",
        errata=("N13",),
        corrected="k = ⌈log_{4/3}(1/β′)⌉.",
        claimed=rows[1][1],
        found=rows[1][2],
        tables=(Table(("β′", "printed k", "⌈log_{4/3}(1/β′)⌉"), rows),),
    )


def n14() -> Finding:
    """Return the finding on three slips in A* of K11 §4.

    Examples
    --------
    >>> n14().claimed < 0.002, n14().found > 0.997
    (True, True)
    """
    made = derived_plan("held-out", beta=0.1, tight=False, **_D16)
    beyond = math.exp(-0.1 / 5.0 * made.test / made.candidates)
    test = BitSystem(4, (0b1111,), 0b1111)
    candidates: list[Any] = [(1,), REFUSED]
    ours = choice_law(candidates, test, form="held-out", epsilon=8.0)[1]
    rows = (
        ("an error that the noise keeps within α′", beyond / 2.0, 1.0 - beyond),
        ("⊥ and the target both have 0 mistakes: ⊥ is chosen", 0.5, ours),
        ("examples at which step 2 stops", made.sample_size("held-out"), made.sample_size("held-out") - 1),
    )
    table = Table(("what", "as printed", "ours"), rows, f"d = 16, ε = 1, α = β = 0.1: {made}")
    return Finding(
        "N14",
        "K11 §4, A* steps 2 and 5; Lemma 4.6, third claim",
        "Every h_j has a training error on the training set ẑ, n = k·n′ + s is too few, and Pr[|errT − êrrT| "
        "< α′] = Pr[Lap ≥ α′].",
        "typo",
        "h_j = ⊥, which has probability at least 1/2, has no training error. If it counted as 0 mistakes, "
        "⊥ would be chosen as often as the target. The noise stays within α′ with probability "
        f"{1 - beyond:.4f}, whereas Lap ≥ α′ has {beyond / 2:.4f}.",
        row="L4",
        method="arithmetic",
        errata=("N14",),
        corrected="ẑ is the test set. ⊥ counts as s mistakes, which does not affect privacy. A* stops for "
        "n < k·n′ + s. Pr[|·| ≥ α′] = Pr[|Lap| ≥ α′].",
        claimed=beyond / 2.0,
        found=1.0 - beyond,
        tables=(table,),
    )


def n15() -> Finding:
    """Return the finding on two slips in K08 Theorem 3.8.

    Examples
    --------
    >>> round(n15().found, 3)
    1.157
    """
    rows = []
    for beta in (0.3, 0.1, 0.05):
        rounds = -math.log2(beta / 2.0)
        spent = _loss_of(OverspentParityRetry(beta=beta), sizes=(1,))
        passed = 2.0 ** -math.floor(rounds)
        size = printed_sample_size(beta / 2.0, dimension=16, alpha=0.1, epsilon=1.0 / math.ceil(rounds))
        ours = Rates(0.25 / math.ceil(rounds), 0.5).bad(size, dimension=16, alpha=0.1)
        sums = 1.5 * beta, 2.0 ** -math.ceil(rounds) + ours
        rows.append((beta, rounds, spent, beta / 2.0, passed, *sums))
    heads = ("β", "log2(1/β′)", "loss of ⌈·⌉ rounds, ε = 1", "β′", "never past, ⌊·⌋ rounds")
    table = Table(
        (*heads, "failure by the text's lemma", "by N25"),
        tuple(rows),
        "each round loses all of its ε′ = ε/log2(1/β′); last: d = 16, α = 0.1, the printed n",
    )
    return Finding(
        "N15",
        "K08 Theorem 3.8 and A*",
        "log(1/β′) rounds with ε′ = ε/log(1/β′) are ε-private and fail with probability at most 2β′ = β.",
        "proof only",
        f"⌈log2(1/β′)⌉ rounds of this ε′ cost {rows[1][2]:.3f}·ε at β = 0.1. ⌊log2(1/β′)⌋ rounds all fail "
        f"step 1 with probability {rows[1][4]:.4f} > β′ = {rows[1][3]:.3f}. Given that a round passes, "
        "Lemma 3.1 bounds its failure by 2β′. Together this is 1.5β.",
        row="L4",
        errata=("N15",),
        corrected="Use ⌈log2(1/β′)⌉ rounds with ε/⌈log2(1/β′)⌉. One that passes fails with less than "
        "β′²·2^(−d).",
        claimed=1.0,
        found=rows[1][2],
        tables=(table,),
    )


def _loss_of(learner: Any, *, sizes: tuple[int, ...] = (1, 2)) -> float:
    """Return the largest exact loss over lists of these lengths."""
    pairs = [
        ([left, *rest], [right, *rest])
        for size in sizes
        for rest in ([[]] if size == 1 else [[record] for record in learner.records])
        for left in learner.records
        for right in learner.records
        if left != right
    ]
    return compare_pairs(pairs, learner.distribution, learner.claim).epsilon


def _worst(epsilon: float, *, tight: bool) -> float:
    """Return the largest exact loss over samples of one to three examples."""
    subjects: list[Any] = [
        ParityLearnerMultisets(d, epsilon, tight=tight, examples=n) for d in (1, 2) for n in (1, 2, 3)
    ]
    return max(compare_pairs(_pairs(s), s.distribution, s.claim).epsilon for s in subjects)


def _pairs(subject: Any) -> Iterator[tuple[Any, Any]]:
    for members in subject.records:
        for other in subject.relation.neighbours([members], None):
            if members < other[0]:
                yield [members], other


def _crossing() -> float:
    """Return the ε at which 2·artanh(ε/4) = ε, by bisection."""
    low, high = 3.0, 3.999
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if 2.0 * math.atanh(middle / 4.0) < middle else (low, middle)
    return low


FINDINGS: dict[str, Callable[[], Finding]] = {
    "E2": e2,
    "E9 (PARITY)": e9_parity,
    "E14": e14,
    "N3": n3,
    "N4": n4,
    "N13": n13,
    "N14": n14,
    "N15": n15,
    "N25": n25,
}
