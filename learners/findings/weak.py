"""Findings about weak and distribution-free SQ learners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from audit.findings import Finding, Table
from learners.by_queries.weak import (
    GenericWeakLearner,
    labelled,
    masked_parity_sq_dimension,
    sq_dimension,
)
from learners.concepts import (
    ConjunctionClass,
    IntervalClass,
    MaskedParityClass,
    ParityClass,
    PointClass,
)
from learners.masked import AdaptiveMasked
from mechanisms.queries import AdversarialOracle

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from learners.concepts import ConceptClass
    from mechanisms.queries import Population

__all__ = ["FINDINGS", "k11_distribution_free", "k11_weak_learning"]

_POLICIES = ("up", "down", "towards-zero", "away-from-zero", "alternating")


def _unshown(concepts: MaskedParityClass) -> NDArray[np.float64]:
    """Return the uniform distribution on the examples with b = 0."""
    hidden = np.array([point[-1] == 0 for point in concepts.listed_domain()], dtype=np.float64)
    return np.asarray(hidden / hidden.sum())


def k11_weak_learning() -> Finding:
    """Return the finding that weak learning needs no adaptivity (K11 §5.3).

    Examples
    --------
    >>> k11_weak_learning().judgement
    'holds'
    """
    masked = MaskedParityClass(4)
    cases: list[tuple[str, ConceptClass, Any]] = [
        ("PARITY, d = 4", ParityClass(4), None),
        ("POINT, d = 4", PointClass(4), None),
        ("INTERVAL, d = 4", IntervalClass(4), None),
        ("monotone conjunctions, d = 4", ConjunctionClass(4), None),
        ("MASKED-PARITY, d = 4", masked, None),
        ("the same where b = 0", masked, _unshown(masked)),
    ]
    rows = []
    for name, concepts, probabilities in cases:
        learner = GenericWeakLearner(concepts, probabilities)
        populations = [labelled(concepts, target, probabilities) for target in concepts.concepts]
        worst, rounds = _worst(learner, populations)
        rows.append(
            (
                *(name, concepts.size, sq_dimension(concepts, probabilities), len(learner.alternatives)),
                *(rounds, learner.apart / 3.0, worst, learner.alpha),
            )
        )
    table = Table(
        ("class", "concepts", "SQ dimension", "queries", "rounds", "tolerance", "worst error", "bound"),
        tuple(rows),
        "uniform examples unless stated; SQ dimension by a search of all sets in which any two concepts have "
        "correlation at most 1/n³; worst error over all targets and five adversaries at the ends of the "
        "tolerance",
    )
    return Finding(
        "K11 §5.3, weak learning",
        "K11 §5.3, weak and strong learning, after Corollary 5.17",
        "For weak learning adaptive and non-adaptive statistical queries are equivalent: the weak learner of "
        "a class of low SQ dimension checks a few alternatives, in one round.",
        "holds",
        "The learner is built from the class and the distribution alone. It asks no more queries than the "
        f"SQ dimension, in {max(row[4] for row in rows):.0f} round. On every target it errs by at most 1/2 "
        f"− γ/6, with γ = 1/(n + 1)³: by {rows[2][6]:.3f} at worst for INTERVAL, and by {rows[4][6]:.3f} "
        "for MASKED-PARITY, which no single round learns strongly. The other direction is quoted from Blum "
        "et al.: an adaptive weak learner needs a number of queries that grows as a power of the SQ "
        "dimension.",
        row="L7",
        tables=(table,),
    )


def _worst(learner: GenericWeakLearner, populations: list[Population]) -> tuple[float, int]:
    """Return the largest error over all targets and adversaries, and the most rounds."""
    worst, rounds = 0.0, 0
    for population in populations:
        for policy in _POLICIES:
            oracle = AdversarialOracle(population, policy)
            worst = max(worst, learner.error(learner.learn(oracle), population))
            rounds = max(rounds, oracle.rounds)
    return worst, rounds


def k11_distribution_free() -> Finding:
    """Return the finding that MASKED-PARITY has no distribution-free SQ learner.

    Examples
    --------
    >>> k11_distribution_free().found
    16.0
    """
    masked = MaskedParityClass(4)
    cases = (("uniform", None), ("uniform where b = 0", _unshown(masked)))
    dimensions = [sq_dimension(masked, probabilities) for _, probabilities in cases]
    learned = [_exact(masked, probabilities) for _, probabilities in cases]
    table = Table(
        ("examples", "SQ dimension, d = 4", "learned exactly by A_MP", "of concepts"),
        tuple(
            (name, n, exact, masked.size)
            for (name, _), n, exact in zip(cases, dimensions, learned, strict=True)
        ),
        "the SQ dimension by a search of all sets; A_MP, the adaptive learner, with answers at alternating "
        "ends of the tolerance",
    )
    growth = Table(
        ("d", "uniform: 2d", "b = 0: 2^d"),
        tuple(
            (d, masked_parity_sq_dimension(d), masked_parity_sq_dimension(d, shown=False))
            for d in (4, 8, 16, 32)
        ),
        "closed forms",
    )
    return Finding(
        "K11 §5.3, distribution-free",
        "K11 §5.3, distribution-free and distribution-specific learning, after Corollary 5.17",
        "MASKED-PARITY separates adaptive from non-adaptive learners under the uniform distribution only: "
        "where b = 0 no SQ learner learns it.",
        "holds",
        "If b = 0, no example shows a bit of r, and the concepts are the parities and their negations. The "
        f"SQ dimension is then 2^d, {dimensions[1]} at d = 4; under the uniform distribution it is 2d = "
        f"{dimensions[0]}. A_MP is exact on {learned[1]} of {masked.size} concepts instead of {learned[0]}. "
        "Not even weak learning is possible, adaptive or not (K11 Corollary 5.15).",
        row="L7, L8",
        claimed=16.0,
        found=float(dimensions[1]),
        tables=(table, growth),
    )


def _exact(concepts: MaskedParityClass, probabilities: Any) -> int:
    """Return how many concepts the adaptive learner learns exactly."""
    right = 0
    for target in concepts.concepts:
        oracle = AdversarialOracle(labelled(concepts, target, probabilities), "alternating")
        right += AdaptiveMasked(concepts.dimension).learn(oracle) == target
    return right


FINDINGS: dict[str, Callable[[], Finding]] = {
    "K11 §5.3, weak learning": k11_weak_learning,
    "K11 §5.3, distribution-free": k11_distribution_free,
}
