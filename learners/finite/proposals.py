"""Random learning problems and variations of known ones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from learners.finite.problems import LearningProblem, labelled_law, light_law

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.finite.hypotheses import Hypotheses

__all__ = ["random_problem", "varied_problem"]

_MOST_NOISE = 0.45


def random_problem(
    hypotheses: Hypotheses, rng: np.random.Generator, *, alpha: float, examples: int, noisy: bool = False
) -> LearningProblem:
    """Return a random problem.

    Parameters
    ----------
    hypotheses
        The class.
    rng
        The generator of the problem.
    alpha
        The error claimed. In about half of the problems a rival of the target has an error of 0.8 to 1.5
        times `alpha`.
    examples
        The number of examples in a sample.
    noisy
        Whether labels may be wrong, with a probability of up to 0.45; for agnostic learners only.

    Examples
    --------
    >>> from learners.finite.hypotheses import Hypotheses
    >>> rows = Hypotheses.of_rows([[0, 0], [0, 1], [1, 1]], domain="ab")
    >>> problem = random_problem(rows, np.random.default_rng(0), alpha=0.1, examples=5)
    >>> problem.optimum, round(float(problem.law.sum()), 9)
    (0.0, 1.0)
    """
    target = int(rng.integers(len(hypotheses.names)))
    rival = int(rng.integers(len(hypotheses.names)))
    differing = hypotheses.table.row(target) != hypotheses.table.row(rival)
    if rng.random() < 0.5 and differing.any():
        share = min(1.0, alpha * float(rng.uniform(0.8, 1.5)))
        marginal, kind = light_law(differing.astype(np.float64), share), "a random rival near alpha"
    else:
        points = len(hypotheses.domain)
        marginal, kind = rng.dirichlet(np.full(points, float(rng.choice([0.05, 1.0])))), "random weights"
    flip = float(rng.uniform(0.0, _MOST_NOISE)) if noisy and rng.random() < 0.5 else 0.0
    return _named(hypotheses, target, marginal, flip, kind=kind, examples=examples)


def varied_problem(
    problem: LearningProblem, rng: np.random.Generator, *, noisy: bool = False
) -> LearningProblem:
    """Return a problem near the given one.

    Guarantee
    ---------
    If `noisy` is false and some hypothesis labels all examples correctly, this also holds in the new problem.

    Examples
    --------
    >>> from learners.finite.hypotheses import Hypotheses
    >>> rows = Hypotheses.of_rows([[0, 0], [0, 1], [1, 1]], domain="ab")
    >>> first = random_problem(rows, np.random.default_rng(0), alpha=0.1, examples=5)
    >>> near = varied_problem(first, np.random.default_rng(1))
    >>> near.optimum, near.examples
    (0.0, 5)
    """
    way = rng.random()
    marginal = problem.law.sum(axis=1)
    if way < 0.25:
        target = int(rng.integers(len(problem.hypotheses.names)))
        kind, law = "another target", _relabelled(problem, target, marginal)
    elif noisy and way < 0.5:
        share = float(rng.uniform(0.0, 0.5))
        law = (1.0 - share) * problem.law + share * problem.law[:, ::-1]
        kind = "more noise"
    else:
        law, kind = _moved(problem, marginal, rng), "weights moved"
    return replace(problem, name=f"{_stem(problem.name)}, {kind}", law=law)


def _moved(
    problem: LearningProblem, marginal: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the law with weight moved to a point."""
    source = int(rng.choice(np.flatnonzero(marginal > 0)))
    sink = int(rng.integers(len(marginal)))
    moved = marginal[source] * float(rng.uniform(0.0, 0.5))
    best = int(np.argmin(problem.risks))
    labels = problem.hypotheses.table.row(best)
    ones = np.where(marginal > 0, problem.law[:, 1] / np.where(marginal > 0, marginal, 1.0), labels)
    marginal = marginal.copy()
    marginal[source] -= moved
    marginal[sink] += moved
    return np.stack([marginal * (1.0 - ones), marginal * ones], axis=1)


def _relabelled(problem: LearningProblem, target: int, marginal: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the law with another target and the same noise."""
    best = problem.hypotheses.table.row(int(np.argmin(problem.risks)))
    wrong = np.where(best, problem.law[:, 0], problem.law[:, 1])
    right = marginal - wrong
    row = problem.hypotheses.table.row(target)
    return np.stack([np.where(row, wrong, right), np.where(row, right, wrong)], axis=1)


def _named(
    hypotheses: Hypotheses,
    target: int,
    marginal: NDArray[np.float64],
    flip: float,
    *,
    kind: str,
    examples: int,
) -> LearningProblem:
    name = f"hypothesis {target}, {kind}" + (f", labels flipped with {flip:.2f}" if flip else "")
    law = labelled_law(hypotheses, target, marginal, flip=flip)
    return LearningProblem(name, hypotheses, law, examples)


def _stem(name: str) -> str:
    for kind in ("another target", "more noise", "weights moved"):
        name = name.removesuffix(f", {kind}")
    return name
