"""Findings about local and SQ learning, agnostic learning and sanitization."""

from __future__ import annotations

import math
from functools import cache
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

import numpy as np

from audit.findings import Finding, Table
from learners.concepts import ConjunctionClass, ExplicitClass, IntervalClass, ParityClass, PointClass
from learners.masked import MaskedParityLearner
from learners.masked.algorithms import bit_tau
from learners.sanitizers import GenericSanitizer
from mechanisms.findings.local import k11_lemma_5_6
from mechanisms.findings.simulations import claim_5_9, claim_5_10

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from learners.concepts import ConceptClass

__all__ = ["FINDINGS", "bns_agnostic", "by_learning", "by_sanitizing", "k11_theorem_5_14"]

_BETA = 0.1
_ALPHA, _SLACK, _ROUNDING = 0.1, 0.02, 1e-12
"""α of the sanitizers, the excess error γ of an agnostic learner, and an allowance for rounding in sums."""


@cache
def k11_theorem_5_14() -> Finding:
    """Return the finding that local and SQ learners simulate each other.

    The source is K11 Theorem 5.14.

    Examples
    --------
    >>> k11_theorem_5_14().judgement
    'proof only'
    """
    rows = tuple(_there_and_back(dimension) for dimension in (2, 4, 8, 16))
    answers, apart, together = k11_lemma_5_6(), claim_5_9(), claim_5_10()
    grows = [math.log2(rows[-1][place] / rows[-2][place]) for place in (3, 4)]
    return Finding(
        "K11 Theorem 5.14",
        "K08 Theorem 4.8; K11 Theorem 5.14",
        "A class is learned by local algorithms exactly if by statistical queries: interactive for adaptive, "
        "non-interactive for non-adaptive, and efficiently so through transparent randomizers.",
        "proof only",
        "The text says only that the cost is polynomial. If a local algorithm answers queries (Lemma 5.6), "
        f"each answer misses with probability at most {answers.found:.4f}, for β = 0.05. If queries "
        f"simulate a local algorithm, the distance is at most {apart.found:.4f} without and "
        f"{together.found:.4f} with interaction, for β = 0.3. For MASKED-PARITY the local form takes about "
        f"d^{grows[0]:.1f} records, and its simulation as many queries, of tolerance about "
        f"d^(−{-grows[1]:.1f}). Lemma 5.6 needs ε = O(1) (E10; an algorithm may spend less than its ε). A "
        "non-adaptive simulation needs the fixed rounds of N10.",
        row="L6, M14, M15",
        method="lower bound",
        errata=("E10", "E15", "N10", "N11"),
        corrected="Take n ∝ max{1, 1/ε²} in one direction, and a fixed number of rounds in the other if "
        "nothing may adapt. The cost is still polynomial.",
        tables=(
            Table(
                ("d", "SQ queries", "their tolerance", "local: records", "back: tolerance", "back: queries"),
                rows,
                "A_MP, ε = 1, β = 0.1; simulation: one access per record, tolerance β/(3t·e^(2ε)), at most "
                "2t·e^ε queries in expectation, for t = the number of records",
            ),
        ),
    )


def _there_and_back(dimension: int) -> tuple[float, ...]:
    """Return six numbers about A_MP and its simulation.

    - d
    - the number of queries of A_MP
    - their tolerance
    - the number of records in the local model
    - the tolerance of the queries that simulate the local randomizers on these records
    - their number
    """
    records = MaskedParityLearner(dimension=dimension, model="local", beta=_BETA).sample_size()
    tolerance = _BETA / (3.0 * math.exp(2.0) * records)
    return dimension, dimension + 1, bit_tau(dimension), records, tolerance, 2.0 * records * math.e


def by_sanitizing(parts: int = 8) -> tuple[int, float, float]:
    """Return m, the excess error of a learner that sanitizes, and Pr[excess error > 4α].

    From the m examples (x, y) the learner makes two databases of m points. S_1 has x for each example with
    label 1, and 0 for the others. S_0 has x for each example with label 0, and 0 for the others. No concept
    holds at 0. The learner sanitizes each database with half of ε.

    Guarantee
    ---------
    The error of a concept is Pr[y = 1] − Q(S_1) + Q(S_0), where Q is the share of records at which the
    concept holds. Suppose that the output for S_1 and the output for S_0 are within α of their databases.
    Then the concept that is best on the outputs exceeds the least error by at most 4α. The returned excess
    error is the largest over such outputs. The returned probability is exact, over all outputs. These numbers
    are the largest over samples of size m in which the shares of the four kinds of examples are multiples of
    1/`parts`.

    Examples
    --------
    >>> m, excess, beyond = by_sanitizing(4)
    >>> m, excess <= 0.4, beyond <= 0.2
    (580, True, True)
    """
    holds = np.array([[0, 0, 0], [0, 1, 0], [0, 1, 1]])  # the intervals of {1, 2}
    made = GenericSanitizer(concepts=ExplicitClass(range(3), holds), alpha=_ALPHA, beta=_BETA, epsilon=0.5)
    unit = math.ceil(made.sample_size() / parts)
    excess = beyond = 0.0
    best = np.argmin(made.answers[None] - made.answers[:, None], axis=2)  # by output of S_1, then of S_0
    for cut in combinations_with_replacement(range(parts + 1), 3):
        counts = np.diff([0, *cut, parts]).reshape(2, 2)  # by label, 1 first, then by point
        truth = [holds[:, 1:] @ row / parts for row in counts]
        errors = counts[0].sum() / parts - truth[0] + truth[1]
        over = errors[best] - errors.min()
        near = [np.abs(made.answers - each).max(axis=1) <= _ALPHA + _ROUNDING for each in truth]
        excess = max(excess, float(over[np.ix_(*near)].max(initial=0.0)))
        wrong = over > 4.0 * _ALPHA + _ROUNDING
        if wrong.any():
            logs = [made.log_probabilities(_hidden(row * unit, parts * unit)) for row in counts]
            beyond = max(beyond, float(np.exp(logs[0]) @ wrong @ np.exp(logs[1])))
    return unit * parts, excess, beyond


def _hidden(counts: NDArray[np.int_], size: int) -> list[int]:
    """Return a database with these counts of 1s and 2s, else 0s."""
    ones, twos = counts.tolist()
    return [0] * (size - ones - twos) + [1] * ones + [2] * twos


def by_learning(concepts: ConceptClass, shares: NDArray[np.float64]) -> tuple[int, NDArray[np.float64]]:
    """Return the rounds and the final distribution of a learner that sanitizes.

    It approximates a database S by a distribution D, with multiplicative weights. In each round an agnostic
    learner gets points of S with label 1 and as many points of D with label 0. A hypothesis is a concept or
    its complement. If it labels a share Q of the points 1, its error is 1/2 − (Q(S) − Q(D))/2. D then gets
    more weight where the returned hypothesis is 1. The agnostic learner is the worst with an excess error of
    at most γ.

    Guarantee
    ---------
    The gap Q(S) − Q(D) of the returned hypothesis is within 2γ of the largest gap. If the returned gap is
    below α − 2γ, every gap is below α, and the learner stops. Otherwise the divergence of D from S falls by
    at least 2·gap² (Hoeffding's lemma). It is at most ln|X| at the start, so there are at most ln|X|/(2·(α −
    2γ)²) rounds.

    Examples
    --------
    >>> rounds, built = by_learning(PointClass(4), np.eye(16)[0])
    >>> rounds <= 385, bool(built[0] >= 0.9)
    (True, True)
    """
    table = concepts.table().astype(np.float64)
    signed = np.concatenate([table, 1.0 - table])
    truth, built = signed @ shares, np.full(len(shares), 1.0 / len(shares))
    rounds = 0
    while True:
        gaps = truth - signed @ built
        chosen = int(np.argmin(np.where(gaps >= gaps.max() - 2.0 * _SLACK, gaps, np.inf)))
        if gaps[chosen] < _ALPHA - 2.0 * _SLACK:
            return rounds, built
        built = built * np.exp(4.0 * gaps[chosen] * signed[chosen])
        built /= built.sum()
        rounds += 1


def bns_agnostic() -> Finding:
    """Return the finding about agnostic learning and sanitization (BNS §1.1).

    Examples
    --------
    >>> bns_agnostic().judgement
    'holds'
    """
    size, excess, beyond = by_sanitizing()
    classes = {
        "POINT": PointClass(4),
        "INTERVAL": IntervalClass(4),
        "monotone conjunctions": ConjunctionClass(4),
        "PARITY": ParityClass(4),
    }
    rows = tuple((name, concepts.size, *_learned(concepts)) for name, concepts in classes.items())
    return Finding(
        "BNS §1.1, agnostic",
        "BNS §1.1, sanitization and private learning, quoting Gupta et al.",
        "Agnostic learning of a class and sanitization for the same class reduce to each other, in both "
        "directions.",
        "holds",
        "The text quotes it without sizes; both constructions are ours. A learner that sanitizes the points "
        f"of each label exceeds the least error by {excess:.3g} at most if both outputs are within α = "
        f"{_ALPHA:g}, where 4α is shown. It exceeds 4α with probability {beyond:.2g} at most, at m = {size}. "
        f"With the worst agnostic learner of excess error {_SLACK:g}, a sanitizer within {_ALPHA:g} takes "
        f"{max(row[2] for row in rows)} rounds at most, where {_most_rounds(2**4)} are shown.",
        row="L1, L14, L15",
        method="lower bound",
        claimed=4.0 * _ALPHA,
        found=excess,
        tables=(
            Table(
                ("class, d = 4", "concepts", "rounds", "largest error", "records"),
                rows,
                "the learner answers with the worst concept that it is allowed; databases: one point, two "
                "points, an even half, odd points, odd parity, geometric masses. Records: for the "
                "exponential mechanism with ε divided by the rounds that are shown, ε = 1, β = 0.1",
            ),
        ),
    )


def _learned(concepts: ConceptClass) -> tuple[int, float, int]:
    """Return the most rounds, the largest error, and m for ε = 1."""
    taken, error, rounds = 0, 0.0, _most_rounds(2**4)
    for shares in _databases(2**4):
        took, built = by_learning(concepts, shares)
        taken, error = max(taken, took), max(error, float(np.abs(concepts.table() @ (shares - built)).max()))
    nats = math.log(2.0 * concepts.size * rounds / _BETA)
    return taken, error, math.ceil(rounds * nats / _SLACK)


def _most_rounds(points: int) -> int:
    return math.floor(math.log(points) / (2.0 * (_ALPHA - 2.0 * _SLACK) ** 2))


def _databases(points: int) -> list[NDArray[np.float64]]:
    """Return databases far from uniform, as the shares of points."""
    place = np.arange(points)
    kinds = (
        place == 0,
        place == points - 1,
        (place == 0) | (place == points - 1),
        place < points // 2,
        place % 2,
        np.array([int(each).bit_count() % 2 for each in place]),
        0.5**place,
    )
    return [np.asarray(kind / np.sum(kind), dtype=np.float64) for kind in kinds]


FINDINGS: dict[str, Callable[[], Finding]] = {
    "K11 Theorem 5.14": k11_theorem_5_14,
    "BNS §1.1, agnostic": bns_agnostic,
}
