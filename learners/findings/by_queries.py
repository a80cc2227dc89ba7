"""Findings about learners by statistical queries."""

from __future__ import annotations

import math
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.findings import Finding, Table
from learners.by_queries.centres import KMeansQueries
from learners.by_queries.clusters import lloyd
from learners.by_queries.conjunctions import ConjunctionLearner, ConjunctionQueries
from learners.by_queries.perceptron import PerceptronQueries
from learners.by_queries.separable import separable_problems
from learners.findings.exact import worst
from learners.masked import AdaptiveMasked, MaskedParityLearner
from learners.masked.algorithms import bit_tau
from learners.masked.experiments import over_concepts
from mechanisms.queries import AdversarialOracle, Population

if TYPE_CHECKING:
    from collections.abc import Callable

    from learners.by_queries.chunks import Model

__all__ = ["FINDINGS", "b_theorem_5", "k11_adaptive", "k11_proposition_5_18", "k11_theorem_5_7"]

_ADVERSARIES = ("up", "down", "towards-zero", "away-from-zero", "alternating")


def b_theorem_5() -> Finding:
    """Return the finding that B Theorem 5 learns conjunctions by queries.

    Examples
    --------
    >>> finding = b_theorem_5()
    >>> 0.9 < finding.ratio <= 1
    True
    """
    alpha = 0.2
    rows = []
    for dimension in (1, 2, 3, 4):
        learner = ConjunctionQueries(dimension, alpha=alpha)
        errors = [_error(learner, target, dimension) for target in product((0, 1), repeat=dimension)]
        rows.append((dimension, dimension, learner.tau, max(errors), max(errors) / alpha))
    loss, _ = worst(ConjunctionLearner(dimension=1), 3)
    found = max(row[3] for row in rows)
    return Finding(
        "B Theorem 5",
        "B Theorem 5",
        "Monotone conjunctions of d variables are learned to error α by d queries of tolerance α/2d.",
        "holds",
        f"The worst error is {found:.4f} for α = {alpha:g}, so no constant can be saved. It is over all "
        "targets, laws on which each variable is 0 on almost α/d of the examples, and five oracles that "
        f"answer at the end of their tolerance. With noisy averages the exact loss is {loss:.6f} of ε = 1.",
        row="L5",
        method="lower bound",
        claimed=alpha,
        found=found,
        tables=(Table(("d", "queries", "tolerance", "worst error", "÷ α"), tuple(rows), "exact"),),
        command="dp-audit run conjunction-learner",
    )


def _error(learner: ConjunctionQueries, target: tuple[int, ...], dimension: int) -> float:
    """Return the largest error for a target, over all adversaries."""
    found = 0.0
    for share in (0.999 * learner.alpha / dimension, 0.51 * learner.alpha / dimension, 0.3 / dimension):
        points = [tuple(int(i != j) for i in range(dimension)) for j in range(dimension)]
        weights = [share] * dimension + [1.0 - dimension * share]
        records = [
            (x, int(all(x[i] for i in range(dimension) if target[i]))) for x in (*points, (1,) * dimension)
        ]
        population = Population(records, weights)
        for adversary in _ADVERSARIES:
            word = learner.learn(AdversarialOracle(population, adversary))
            wrong = [
                weight
                for (x, y), weight in zip(records, weights, strict=True)
                if all(x[i] for i in range(dimension) if word[i]) != (y == 1)
            ]
            found = max(found, math.fsum(wrong))
    return found


def _answering(adversary: str, population: Any) -> Any:
    return AdversarialOracle(population, adversary)


def k11_proposition_5_18() -> Finding:
    """Return the finding that A_MP is exact (K11 Proposition 5.18).

    Examples
    --------
    >>> k11_proposition_5_18().ratio
    1.0
    """
    rows = []
    for dimension in (1, 2, 4):
        for adversary in _ADVERSARIES:
            done = over_concepts(
                AdaptiveMasked(dimension).learn, dimension=dimension, oracle=partial(_answering, adversary)
            )
            rows.append((dimension, adversary, done.queries, bit_tau(dimension), done.exact, done.concepts))
    exact, concepts = float(sum(row[4] for row in rows)), float(sum(row[5] for row in rows))
    return Finding(
        "K11 Proposition 5.18",
        "K11 Proposition 5.18; K08 §5.1",
        "A_MP learns MASKED-PARITY exactly with d + 1 queries of tolerance 1/(4d + 1), in two rounds.",
        "holds",
        f"{exact:.0f} of {concepts:.0f} runs end in the target: every concept at d = 1, 2, 4, with five "
        "oracles that answer at the end of their tolerance.",
        row="L6",
        errata=("N23",),
        claimed=1.0,
        found=exact / concepts,
        tables=(
            Table(("d", "oracle", "queries", "tolerance", "exact", "concepts"), tuple(rows), "all r and a"),
        ),
        command="dp-audit run masked-parity-learner-at-size",
    )


def k11_theorem_5_7() -> Finding:
    """Return the finding on local SQ learning (K11 Theorem 5.7).

    Examples
    --------
    >>> 0.9 < k11_theorem_5_7().ratio <= 1
    True
    """
    models: tuple[Model, ...] = ("central", "local")
    losses = [worst(MaskedParityLearner(model=model, epsilon=1.0), 2)[0] for model in models]
    sizes = [
        [MaskedParityLearner(dimension=d, model=model).sample_size() for d in (2, 4, 8)] for model in models
    ]
    rows = [(model, loss, *needed) for model, loss, needed in zip(models, losses, sizes, strict=True)]
    heads = ("noise", "exact loss, d = 1", "n at d = 2", "n at d = 4", "n at d = 8")
    return Finding(
        "K11 Theorem 5.7",
        "K11 Theorem 5.7, §5.3.1",
        "What t queries of tolerance τ learn can be learned ε-locally from O(t·log(t/β)·b²/(ε²τ²)) records.",
        "hidden condition",
        "It holds for ε = O(1) (see E10). The text gives only the order of the number of records. The exact "
        f"loss of MASKED-PARITY's learner with local noise is {losses[1]:.6f} of ε = 1. At d = 8 it needs "
        f"{sizes[1][2]} records; with central noise it needs {sizes[0][2]}.",
        row="L6",
        method="lower bound",
        errata=("E10", "E5"),
        claimed=1.0,
        found=max(losses),
        tables=(Table(heads, tuple(rows), "β = 0.1, ε = 1; losses on all databases of two"),),
        command="dp-audit run masked-parity-learner-local",
    )


def k11_adaptive() -> Finding:
    """Return the finding on the perceptron and k-means (K11 §1.1.1).

    Examples
    --------
    >>> all(row[3] <= row[2] for row in k11_adaptive().tables[0].rows)
    True
    """
    perceptron = PerceptronQueries(2, alpha=0.1, margin=0.5)
    rows = []
    for problem in separable_problems(2, alpha=0.1, margin=0.5, examples=1):
        population = Population(list(problem.records), list(problem.weights))
        errors = [
            problem.error(perceptron.learn(AdversarialOracle(population, it)), None) for it in _ADVERSARIES
        ]
        rows.append(("perceptron", problem.name, 0.1, max(errors)))
    means = KMeansQueries(((0.1,), (0.9,)), rounds=3, tau=0.01, least_mass=0.2)
    points, weights = [(0.0,), (0.3,), (0.8,), (1.0,)], [0.3, 0.2, 0.25, 0.25]
    truth = np.array(lloyd(points, weights, means)[-1][0])
    oracles = [AdversarialOracle(Population(points, weights), it) for it in _ADVERSARIES]
    off = max(float(np.abs(np.array(means.learn(oracle)) - truth).max()) for oracle in oracles)
    rows.append(("k-means", "two clusters, three rounds", means.accuracy, off))
    return Finding(
        "K11 §1.1.1, adaptivity",
        "K11 §1.1.1",
        "Perceptron and k-means are statistical query algorithms that adapt their queries.",
        "holds",
        "Both run on an oracle alone, and later queries depend on earlier answers. With answers at the end "
        f"of their tolerance the perceptron errs on at most {max(row[3] for row in rows[:-1]):.3f} for α = "
        f"0.1. The centres of k-means differ from Lloyd's by {off:.4f}, where {means.accuracy:g} is allowed.",
        row="L20",
        method="lower bound",
        tables=(Table(("algorithm", "on", "allowed", "worst error"), tuple(rows), "five oracles"),),
        command="dp-audit run perceptron-at-size",
    )


FINDINGS: dict[str, Callable[[], Finding]] = {
    "B Theorem 5": b_theorem_5,
    "K11 Proposition 5.18": k11_proposition_5_18,
    "K11 Theorem 5.7": k11_theorem_5_7,
    "K11 §1.1.1, adaptivity": k11_adaptive,
}
