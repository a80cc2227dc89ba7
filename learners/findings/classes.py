"""Findings about learning and sanitizing any finite class."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.claims import PureDP
from audit.findings import Finding, Table
from audit.laws.exact import compare_pairs
from learners.concepts import (
    ConjunctionClass,
    ExplicitClass,
    IntervalClass,
    LabelClass,
    MaskedParityClass,
    ParityClass,
    PointClass,
)
from learners.concepts.shattering import vc_dimension
from learners.findings.exact import worst
from learners.finite.hypotheses import Hypotheses, sauer_bound
from learners.generic.agnostic import GenericLearner, VCLearner, generic_size
from learners.generic.compression import CompressionLearner
from learners.generic.labels import LabelPrivateLearner, ReplacedRecords, net_size
from learners.parity import AmplifiedParityLearner
from learners.parity.plans import Plan
from learners.sanitizers.generic import GenericSanitizer

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "FINDINGS",
    "blum_ligett_roth",
    "bns_theorem_6",
    "bns_theorem_7",
    "concept_classes",
    "k08_theorem_3_8",
    "k11_compression",
    "k11_corollary_3_6",
    "k11_theorem_3_4",
]


@cache
def k11_theorem_3_4() -> Finding:
    """Return the finding on the generic learner (K11 Theorem 3.4).

    Examples
    --------
    >>> finding = k11_theorem_3_4()
    >>> finding.found <= finding.claimed
    True
    """
    rows = tuple(_rivals(alpha, epsilon) for alpha, epsilon in ((0.2, 1.0), (0.2, 0.1), (0.1, 1.0)))
    losses = tuple(
        (f"points of {{0, …, {2**d - 1}}}", e, worst(_points(d, e), size, sorted_only=True)[0])
        for d, e, size in ((1, 1.0, 4), (2, 1.0, 3), (2, 0.5, 2))
    )
    found = max(row[4] for row in rows)
    return Finding(
        "K11 Theorem 3.4",
        "K08 Theorem 3.7; K11 Theorem 3.4",
        "Every finite class is learned ε-privately and agnostically from "
        "O((ln|H| + ln(1/β))·max{1/εα, 1/α²}) examples.",
        "holds",
        "It holds by its proof, with 6 and ln(3/β) (E3, E4). Two hypotheses 1.05·α apart on noisy labels are "
        f"confused with probability at most {found:.3g} (β = 0.1). The exact loss on small databases is at "
        f"most {max(row[2] for row in losses[:2]):.4f} of ε = 1.",
        row="L1",
        method="lower bound",
        errata=("E3", "E4"),
        claimed=0.1,
        found=found,
        tables=(
            Table(
                ("α", "ε", "β", "n", "Pr[error > OPT + α]"),
                rows,
                "two constant hypotheses, labels 1 with probability 1/2 − 0.525·α; exact, over sample and "
                "coins",
            ),
            Table(("class", "ε", "exact loss"), losses, "all databases of two to four examples"),
        ),
        command="dp-audit run generic-learner",
    )


def _points(dimension: int, epsilon: float) -> GenericLearner:
    return GenericLearner(epsilon=epsilon, concepts=PointClass(dimension))


def _rivals(alpha: float, epsilon: float) -> tuple[float, ...]:
    """Return α, ε, β, n and the failure probability on two rivals."""
    from scipy.stats import binom

    n = generic_size(2, alpha=alpha, beta=0.1, epsilon=epsilon)
    learner = GenericLearner(epsilon=epsilon, concepts=Hypotheses.of_rows([[0], [1]], domain="x"))
    ones = np.arange(n + 1)
    chance = np.asarray(binom.pmf(ones, n, 0.5 - 0.525 * alpha))
    likely = [k for k in ones.tolist() if chance[k] > 1e-15]
    wrong = [learner.distribution([("x", 1)] * k + [("x", 0)] * (n - k)).pmf(1) for k in likely]
    return alpha, epsilon, 0.1, n, float(chance[likely] @ np.array(wrong))


def k11_corollary_3_6() -> Finding:
    """Return the finding on one hypothesis per labelling (K11 Corollary 3.6).

    Examples
    --------
    >>> k11_corollary_3_6().ratio <= 1
    True
    """
    rows = []
    doubled = ExplicitClass(range(4), np.repeat(IntervalClass(2).table(), 3, axis=0).astype(int).tolist())
    for name, concepts in (
        ("intervals of {0, …, 7}", IntervalClass(3)),
        ("points of {0, …, 15}", PointClass(4)),
        ("conjunctions of 4", ConjunctionClass(4)),
        ("intervals of {0, …, 3}, each thrice", doubled),
    ):
        learner = VCLearner(concepts=concepts, alpha=0.1, beta=0.1)
        kept, bound = len(learner.hypotheses.names), learner.sauer_bound
        rows.append((name, concepts.vc_dimension(), concepts.size, kept, bound, learner.sample_size()))
    loss, _ = worst(VCLearner(concepts=doubled), 3, sorted_only=True)
    heads = ("class", "VC dimension", "concepts", "hypotheses kept", "Sauer's bound", "n")
    return Finding(
        "K11 Corollary 3.6",
        "K11 Corollary 3.6",
        "With one hypothesis for each labelling of X_d the generic learner needs "
        "O((VC·ln|X_d| + ln(1/β))·max{1/εα, 1/α²}) examples.",
        "holds",
        "The text gives only the order of n. The number of labellings determines n, and is at most Σ "
        f"C(|X|, i): {rows[2][3]} of {rows[2][4]} for conjunctions, {rows[0][3]} of {rows[0][4]} for "
        f"intervals, {rows[3][3]} of the {rows[3][2]} concepts of the class that has each thrice. Exact "
        f"loss {loss:.4f} of ε = 1 on all databases of three.",
        row="L2",
        errata=("E3",),
        claimed=float(rows[2][4]),
        found=float(rows[2][3]),
        tables=(Table(heads, tuple(rows), "α = β = 0.1, ε = 1"),),
        command="dp-audit run vc-learner",
    )


def k08_theorem_3_8() -> Finding:
    """Return the finding on the exact loss of A* in its three forms.

    Examples
    --------
    >>> k08_theorem_3_8().judgement
    'holds'
    """
    few = Plan(candidates=2, training=1, test=1)
    forms: list[tuple[Any, int, Plan, int]] = [
        ("retry", 2, Plan(candidates=2, training=2), 2),
        ("held-out", 1, few, few.sample_size("held-out")),
        ("selection", 1, few, few.sample_size("selection")),
    ]
    rows = []
    for form, dimension, made, size in forms:
        loss, _ = worst(AmplifiedParityLearner(dimension, 1.0, form=form, made=made), size)
        stated = AmplifiedParityLearner(16, 1.0, form=form)
        rows.append((form, dimension, size, loss, stated.sample_size(), stated.failure_bound))
    heads = ("form", "d", "examples", "exact loss", "n at d = 16", "failure proved there")
    return Finding(
        "K08 Theorem 3.8",
        "K08 Theorem 3.8; K11 Theorem 4.4, Lemmas 4.5 and 4.6",
        "PARITY is PAC-learned ε-privately from O((d + log(1/β))·log(1/β)/εα) examples, efficiently; K11 "
        "prints O(d·log(1/β)/εα).",
        "holds",
        "It holds as stated in K08, and as stated in K11 if log(1/β) = O(d) (see N3, N15 and E2). The "
        f"exact losses of the three forms are {', '.join(f'{row[3]:.4f}' for row in rows)} of ε = 1. At d = "
        f"16, α = β = 0.1 they need {', '.join(str(row[4]) for row in rows)} examples, and fail with "
        f"probability at most {max(row[5] for row in rows):.3f}.",
        row="L4",
        method="lower bound",
        errata=("E2", "N3", "N13", "N14", "N15"),
        claimed=1.0,
        found=max(row[3] for row in rows),
        tables=(Table(heads, tuple(rows), "ε = 1; losses over all samples, with two candidates"),),
        command="dp-audit run parity-amplified-retry",
    )


def blum_ligett_roth() -> Finding:
    """Return the finding on the generic sanitizer (BNS §1).

    Examples
    --------
    >>> finding = blum_ligett_roth()
    >>> finding.found <= finding.claimed
    True
    """
    rows = []
    for alpha in (0.5, 0.34, 0.25):
        made = GenericSanitizer(alpha=alpha)
        loss, _ = worst(GenericSanitizer(alpha=alpha), 2, sorted_only=True)
        failure = max(_inaccurate(made, weights) for weights in ((1, 1, 1, 1), (1, 0, 0, 0), (5, 3, 1, 0)))
        rows.append((alpha, made.output_size, made.count, made.sample_size(), loss, failure))
    heads = ("α", "records returned", "candidates", "m", "exact loss", "Pr[some |Q(S) − Q(Ŝ)| > α]")
    return Finding(
        "BNS §1, generic sanitizer",
        "BNS §1 (Blum, Ligett and Roth 2008)",
        "The exponential mechanism over small databases is an ε-private sanitizer for every finite class, "
        "m = O(VC·log|X|·log(1/α)/(α³ε) + …).",
        "holds",
        f"For intervals of {{0, …, 3}} the loss is at most {max(row[4] for row in rows):.4f} of ε = 1. At "
        "our m an answer misses by more than α, on the worst of three databases, with probability at most "
        f"{max(row[5] for row in rows):.2g}, for β = 0.1.",
        row="L14",
        method="lower bound",
        claimed=0.1,
        found=max(row[5] for row in rows),
        tables=(Table(heads, tuple(rows), "exact; loss over all databases of two"),),
        command="dp-audit run generic-sanitizer",
    )


def _inaccurate(made: GenericSanitizer, weights: tuple[int, ...]) -> float:
    """Return the probability of an error above alpha on a database of the stated size."""
    counts = [made.sample_size() * weight // sum(weights) for weight in weights]
    counts[0] += made.sample_size() - sum(counts)
    database = [x for x, count in zip(made.records, counts, strict=True) for _ in range(count)]
    off = made.worst_errors(database) > made.alpha * (1.0 + 1e-12)
    return float(np.exp(made.log_probabilities(database))[off].sum())


def bns_theorem_6() -> Finding:
    """Return the finding on the cost of pure sanitizers (BNS Theorem 6).

    Examples
    --------
    >>> bns_theorem_6().judgement
    'not verified'
    """
    made = [GenericSanitizer(concepts=IntervalClass(dimension), alpha=0.34) for dimension in (1, 2, 3)]
    rows = tuple(
        (d, each.concepts.vc_dimension(), each.sample_size()) for d, each in enumerate(made, start=1)
    )
    return Finding(
        "BNS Theorem 6",
        "BNS §5.1, Theorem 6",
        "Some class has no pure (α, β, ε, m)-sanitizer with m = o(VC(C)·log|X_d|/αε).",
        "not verified",
        "The text omits the proof and gives only an order. The theorem rests on Theorem 5 (see there) and "
        "on a quoted lower bound, which is not computed here. The m of the pure generic sanitizer grows "
        f"with d ({', '.join(str(row[2]) for row in rows)} at d = 1, 2, 3). This agrees with the theorem "
        "but proves nothing.",
        row="L14",
        method="arithmetic",
        tables=(
            Table(("d", "VC dimension", "m enough for the generic sanitizer"), rows, "intervals, α = 0.34"),
        ),
    )


@cache
def bns_theorem_7() -> Finding:
    """Return the finding on label privacy (BNS Theorem 7).

    Examples
    --------
    >>> finding = bns_theorem_7()
    >>> finding.found <= finding.claimed
    True
    """
    loss, _ = worst(LabelPrivateLearner(share=0.5), 3)
    replaced, delta = worst(ReplacedRecords(), 2)
    told: dict[str, Any] = {"alpha": 0.2, "beta": 0.1}
    sizes = tuple(
        (2**d, LabelPrivateLearner(concepts=PointClass(d), **told).sample_size(), _any_domain(**told))
        for d in (2, 6, 10)
    )
    return Finding(
        "BNS Theorem 7",
        "BNS §6, Definition 13 and Theorem 7",
        "Every class is learned with ε-private labels from O_{α,β,ε}(VC(C)) examples.",
        "holds",
        f"The text omits its learner; this one is ours. If a label is replaced, the loss is {loss:.4f} of ε "
        f"= 1 (all databases of three). If an example is replaced, it is {replaced:g}, with δ(1) = "
        f"{delta:.3f}, so the learner is not private in the examples. For points, {sizes[0][2]} examples "
        "are enough on every domain, and fewer on small ones.",
        row="L16",
        method="lower bound",
        claimed=1.0,
        found=loss,
        tables=(
            Table(("|X|", "m", "m for any domain"), sizes, "points, α = 0.2, β = 0.1, ε = 1"),
            Table(
                ("relation", "exact loss", "δ at ε = 1"),
                (("a label replaced", loss, 0.0), ("an example replaced", replaced, delta)),
                "exact, all neighbouring databases",
            ),
        ),
        command="dp-audit run label-private-learner",
    )


def _any_domain(*, alpha: float, beta: float) -> int:
    """Return how many examples are enough for VC dimension 1 on any domain."""
    net = net_size(1, alpha=alpha / 2.0, beta=beta / 2.0)
    kept = sauer_bound(points=net, vc_dimension=1)
    return net + generic_size(kept, alpha=alpha / 2.0, beta=beta / 2.0, epsilon=1.0)


def concept_classes() -> Finding:
    """Return the finding on sizes and VC dimensions.

    Examples
    --------
    >>> concept_classes().ratio
    1.0
    """
    rows = []
    for name, concepts, size, dimension in (
        ("PARITY_4", ParityClass(4), 16, 4),
        ("MASKED-PARITY_2", MaskedParityClass(2), 8, 3),
        ("POINT_4", PointClass(4), 16, 1),
        ("INTERVAL_4", IntervalClass(4), 17, 1),
        ("monotone conjunctions of 4", ConjunctionClass(4), 16, 4),
        ("POINT_2^label", LabelClass(PointClass(2)), 4, 1),
    ):
        rows.append(
            (name, size, concepts.size, dimension, concepts.vc_dimension(), vc_dimension(concepts.table()))
        )
    ways = sauer_bound(points=16, vc_dimension=1)
    right = sum(row[1] == row[2] and row[3] == row[4] == row[5] for row in rows)
    heads = ("class", "concepts", "counted", "VC dimension", "the class says", "shattered")
    return Finding(
        "Concept classes",
        "K11 §2.2, §4, §5.3; BNS §2.2, §3.1, §3.2, §5.1",
        "PARITY_d has VC dimension d and 2^d concepts. POINT_d and INTERVAL_d have VC dimension 1, and 2^d "
        "and 2^d + 1 concepts. C^label has the VC dimension of C.",
        "holds",
        f"This was checked for {len(rows)} classes by growing shattered sets, and is right for {right}. "
        f"INTERVAL_4 meets Sauer's bound, {ways}.",
        row="L17",
        claimed=1.0,
        found=right / len(rows),
        tables=(Table(heads, tuple(rows), "all sets of points of a small domain"),),
    )


def k11_compression() -> Finding:
    """Return the finding on the compression learner (K11 §3.1).

    Examples
    --------
    >>> finding = k11_compression()
    >>> finding.judgement, finding.found <= finding.claimed + 1e-12
    ('not verified', True)
    """
    small = CompressionLearner(
        concepts=ExplicitClass("uv", [[0, 0], [0, 1], [1, 1]]), bits=int, first_round=2, caps=(0, 1, 2)
    )
    databases = [small.records[i : i + 1] * 6 for i in range(len(small.records))]
    law: Any = small.distribution
    pairs = [
        (list(rows), [*rows[:place], other, *rows[place + 1 :]])
        for rows in databases
        for place in range(6)
        for other in small.records
        if other != rows[place]
    ]
    loss = compare_pairs(pairs, law, PureDP(1.0)).epsilon
    learner = CompressionLearner()
    sizes = tuple((bits, learner.size_for(bits)) for bits in range(4))
    rounds = len(learner.rounds(learner.sample_size()))
    return Finding(
        "K11 §3.1, compression",
        "K11 §3.1, the end",
        "A class with a compressor is learned ε-privately from about as many examples, in expectation, as "
        "the compressor asks for.",
        "not verified",
        "The text omits the details. The construction is ours, and its expected number of examples is not "
        f"compared with that of a compressor. The loss over two rounds of two parts each is {loss:.6f} of "
        "ε = 1, where a sum over the parts would give 4. The empty conjunction of three variables needs "
        f"{sizes[0][1]} examples, and the longest one {sizes[3][1]}, in {rounds} rounds.",
        row="L19",
        method="lower bound",
        claimed=1.0,
        found=float(loss),
        tables=(Table(("bits of the target", "examples"), sizes, "α = 0.2, β = 0.1, ε = 1"),),
        command="dp-audit run compression-learner",
    )


FINDINGS: dict[str, Callable[[], Finding]] = {
    "Concept classes": concept_classes,
    "K11 Theorem 3.4": k11_theorem_3_4,
    "K11 Corollary 3.6": k11_corollary_3_6,
    "K11 §3.1, compression": k11_compression,
    "K08 Theorem 3.8": k08_theorem_3_8,
    "BNS §1, generic sanitizer": blum_ligett_roth,
    "BNS Theorem 6": bns_theorem_6,
    "BNS Theorem 7": bns_theorem_7,
}
