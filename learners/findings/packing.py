"""The least cost of pure privacy, by packing.

With ε-privacy, a set of answers is at least e^(−εm) times as likely on one database of m records as on
another. If N disjoint sets each have probability 1 − β on some database, N·e^(−εm)·(1 − β) ≤ 1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from audit.findings import Finding, Table
from learners.concepts import PointClass
from learners.pure import HashedPointLearner, PureIntervalLearner, PurePointLearner
from learners.sanitizers import GenericSanitizer, PointSanitizer
from mechanisms import RandomizedResponse

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "FINDINGS",
    "bns_improper",
    "bns_pure_interval",
    "bns_pure_sanitizers",
    "k11_certainty",
    "packing_size",
]


def packing_size(answers: float, *, beta: float, epsilon: float) -> float:
    """Return a lower bound on the number of records, by packing.

    It is (ln(answers) + ln(1 − beta))/epsilon.

    Examples
    --------
    >>> round(packing_size(2.0**64, beta=0.1, epsilon=1.0), 1)
    44.3
    """
    return (math.log(answers) + math.log1p(-beta)) / epsilon


def bns_pure_interval() -> Finding:
    """Return the finding on pure proper learners of thresholds (BNS §1).

    Examples
    --------
    >>> bns_pure_interval().judgement
    'holds'
    """
    rows = []
    for d in (4, 8, 16, 32, 64):
        learner = PureIntervalLearner(dimension=d)
        least = packing_size(2.0**d - 1.0, beta=learner.beta, epsilon=learner.epsilon)
        rows.append((d, least, learner.sample_size(), learner.sample_size() / d))
    slope = (rows[-1][2] - rows[-2][2]) / 32
    return Finding(
        "BNS §1, INTERVAL",
        "BNS §1 and §3.2",
        "A pure proper learner of INTERVAL_d needs O(d) examples, and at least Ω(d).",
        "holds",
        "The text gives orders only, and quotes the second. By packing, m ≥ (ln(2^d − 1) + ln(1 − β))/ε, "
        f"which is {rows[-1][1]:.1f} at d = 64. The exponential mechanism needs {rows[-1][2]} there, and "
        f"{slope:.1f} more with each bit.",
        row="L11",
        method="arithmetic",
        tables=(
            Table(
                ("d", "at least", "exponential mechanism", "per bit"),
                tuple(rows),
                "α = β = 0.1, ε = 1. At least: if half of the examples are at j − 1 (labelled 1) and half "
                "at j (labelled 0), only c_j errs on less than half, for each of 2^d − 1 thresholds j",
            ),
        ),
    )


def bns_improper() -> Finding:
    """Return the finding on improper pure learners (BNS §1).

    Examples
    --------
    >>> bns_improper().judgement
    'holds'
    """
    rows = []
    for d in (40, 48, 56, 64):
        learner = HashedPointLearner(dimension=d, alpha=0.45, beta=0.45)
        spent = learner.epsilon * learner.sample_size() / math.log(2.0)
        least = d - spent + math.log2(1.0 - learner.beta)
        rows.append((d, learner.sample_size(), least, float(d - learner.hash_bits)))
    return Finding(
        "BNS §1, improper learners",
        "BNS §1",
        "Improper pure learners of POINT_d whose m does not grow return hypotheses that are 1 on "
        "exponentially many points.",
        "holds",
        f"On average they are 1 on at least 2^d·e^(−εm)·(1 − β) points. With m = {rows[-1][1]}, which is "
        f"enough at α = β = 0.45, ε = 1, this is 2^{rows[-1][2]:.1f} at d = 64, and it doubles with each "
        f"bit. The hypotheses of our learner are 1 on 2^{rows[-1][3]:.0f} points there.",
        row="L11",
        method="arithmetic",
        tables=(
            Table(
                ("d", "m", "log2 of the least mean", "log2 of ours"),
                tuple(rows),
                "α = β = 0.45, ε = 1. If all examples are (j, 1), a hypothesis that does not err on all of "
                "them is 1 on j. This has probability 1 − β, and thus e^(−εm)·(1 − β) on any database, for "
                "each j. Ours: 2^(d − l) points for l independent bits of hash",
            ),
        ),
    )


def bns_pure_sanitizers() -> Finding:
    """Return the finding on pure sanitizers of points (BNS §4).

    Examples
    --------
    >>> bns_pure_sanitizers().judgement
    'holds'
    """
    approximate = PointSanitizer(dimension=64, alpha=0.4).sample_size()
    rows = []
    for d in (1, 2, 3):
        pure = GenericSanitizer(concepts=PointClass(d), alpha=0.4)
        least = packing_size(2.0**d, beta=pure.beta, epsilon=pure.epsilon)
        rows.append((d, max(0.0, least), float(pure.sample_size()), float(approximate)))
    far = packing_size(2.0**64, beta=0.1, epsilon=1.0)
    crossing = math.ceil((approximate - math.log(0.9)) / math.log(2.0))
    return Finding(
        "BNS §4, pure sanitizers",
        "BNS §4",
        "Every pure ε-private sanitizer for POINT_d needs Ω(d) records.",
        "holds",
        "The text gives only an order, which it quotes. By packing, m ≥ (d·ln 2 + ln(1 − β))/ε, which is "
        f"{far:.1f} at d = 64. The generic sanitizer needs {rows[0][2]:.0f}, {rows[1][2]:.0f} and "
        f"{rows[2][2]:.0f} at d = 1, 2, 3. With δ = 1e-6, {approximate} records are enough whatever d (α = "
        f"0.4). From d = {crossing} on this is fewer than any pure sanitizer needs.",
        row="L12, L14",
        method="arithmetic",
        tables=(
            Table(
                ("d", "pure: at least", "generic, pure", "repeated choosing, δ = 1e-6"),
                tuple(rows),
                "α = 0.4, β = 0.1, ε = 1. At least: on m copies of j, est(c_j) ≥ 1 − α > α ≥ est(c_i) for "
                "all other i, so good answers for different j exclude each other",
            ),
        ),
    )


def k11_certainty() -> Finding:
    """Return the finding that a private algorithm must sometimes fail.

    The source is K11 footnote 6.

    Examples
    --------
    >>> round(k11_certainty().ratio, 9)
    1.0
    """
    one = RandomizedResponse(epsilon=1.0).distribution([1]).pmf(0)
    rows = [("randomized response", 1, _certain(1), one)]
    for m in (1, 10, 40):
        law = PurePointLearner(dimension=1).distribution([(0, 1)] * m)
        assert law is not None  # two points are listed
        rows.append(("two points, exponential mechanism", m, _certain(m), float(law.pmf(1))))
    return Finding(
        "K11 footnote 6",
        "K11 §5.2, footnote 6",
        "Differentially private algorithms must have some non-zero probability of error.",
        "holds",
        "If two targets have no good answer in common, the probability of error on m records is at least "
        f"1/(1 + e^(εm)). Randomized response meets this with equality ({one:.4f} at ε = 1). The exponential "
        f"mechanism on 40 records fails with {rows[-1][3]:.2g}, where the least is {rows[-1][2]:.2g}.",
        row="L1, M7",
        claimed=rows[0][2],
        found=one,
        tables=(
            Table(
                ("algorithm", "m", "at least", "exact"),
                tuple(rows),
                "ε = 1. At least: (1 − β)·e^(−εm) ≤ β, from the records of one target to those of the other",
            ),
        ),
    )


def _certain(size: int) -> float:
    return 1.0 / (1.0 + math.exp(size))


FINDINGS: dict[str, Callable[[], Finding]] = {
    "BNS §1, INTERVAL": bns_pure_interval,
    "BNS §1, improper learners": bns_improper,
    "BNS §4, pure sanitizers": bns_pure_sanitizers,
    "K11 footnote 6": k11_certainty,
}
