"""Learning problems over a finite domain, with exact excess errors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidValue, finite_number, positive_int
from learners.finite.listed import draw_sample

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from learners.finite.hypotheses import Hypotheses
    from learners.finite.listed import LateExamples, ListedExamples

__all__ = [
    "ALMOST",
    "LearningProblem",
    "check_accuracy",
    "hard_problems",
    "labelled_law",
    "light_law",
    "light_variable_problems",
    "realizable_problems",
]

ALMOST = 1.05
"""A hypothesis that errs only on a point of this many times the weight alpha is a bad one."""


def check_accuracy(alpha: Any, beta: Any, *, owner: str, below: float = 0.5) -> tuple[float, float]:
    """Return alpha and beta if 0 < alpha < `below` and 0 < beta < 1/2, else raise.

    K08 Definition 3.1, K11 Definition 2.4 and B Definition 4 require an error in (0, 1/2). BNS Definition 3
    allows every alpha below 1.

    Raises
    ------
    InvalidValue
        Alpha or beta is out of range.

    Examples
    --------
    >>> check_accuracy(0.5, 0.1, owner="GenericLearner")
    Traceback (most recent call last):
    audit.errors.InvalidValue: The `alpha` of `GenericLearner` must be a finite number > 0 and < 0.5; got 0.5.
    """
    return (
        finite_number(alpha, what=f"The `alpha` of `{owner}`", above=0, below=below),
        finite_number(beta, what=f"The `beta` of `{owner}`", above=0, below=0.5),
    )


@dataclass(frozen=True, eq=False)
class LearningProblem:
    """A law of labelled examples, with excess errors.

    Parameters
    ----------
    name
        A name that describes the problem.
    hypotheses
        The class over which OPT is the least error. The learner outputs the name of one of its hypotheses.
    law
        Pr[x, y], shape (points, 2), with points and labels in the order of the class.
    examples
        The number of independent examples that `draw` returns.

    Guarantee
    ---------
    `error` is err(h) − OPT, computed exactly. An agnostic learner promises that this is at most alpha. If the
    target is in the class, OPT is 0. An output that is not a hypothesis has error 1.

    Examples
    --------
    >>> from learners.finite.hypotheses import Hypotheses
    >>> pair = Hypotheses.of_rows([[0, 0], [0, 1]], domain="ab")
    >>> problem = LearningProblem("b is 1", pair, np.array([[0.75, 0.0], [0.0, 0.25]]), examples=3)
    >>> problem.error(0, []), problem.error(1, []), problem.optimum
    (0.25, 0.0, 0.0)
    """

    name: str
    hypotheses: Hypotheses
    law: NDArray[np.float64]
    examples: int

    def __post_init__(self) -> None:
        positive_int(self.examples, what="The `examples` of `LearningProblem`")
        law = np.asarray(self.law, dtype=np.float64)
        fits = law.shape == (len(self.hypotheses.domain), 2) and bool((law >= 0).all())
        if not fits or abs(law.sum() - 1.0) > 1e-9:
            raise InvalidValue("The `law` of `LearningProblem` must be probabilities of (x, y).")

    def draw(self, rng: np.random.Generator) -> ListedExamples | LateExamples:
        """Return a fresh sample."""
        return draw_sample(self.hypotheses.records, self._cumulative, size=self.examples, rng=rng)

    def error(self, output: Any, database: Any) -> float:
        """Return err(output) − OPT, or 1 for an invalid output."""
        del database
        index = self.hypotheses.index(output)
        return 1.0 if index is None else float(self.risks[index]) - self.optimum

    def errors(self, outputs: Sequence[Any], database: Any) -> NDArray[np.float64]:
        """Return `error` of many outputs."""
        del database
        excess = np.append(self.risks - self.optimum, 1.0)
        if outputs is self.hypotheses.names:
            return excess[:-1]
        return np.asarray(excess[[_or_last(self.hypotheses.index(output)) for output in outputs]])

    @cached_property
    def _cumulative(self) -> NDArray[np.float64]:
        cumulative = np.cumsum(np.asarray(self.law).ravel())
        last = int(np.flatnonzero(np.asarray(self.law).ravel())[-1])
        cumulative[last:] = (
            np.inf
        )  # the last record that can occur takes the rest, so that rounding of the sum does no harm
        return cumulative

    @cached_property
    def risks(self) -> NDArray[np.float64]:
        """Return Pr[h(x) ≠ y] for every hypothesis."""
        weights = self.hypotheses.table.weights(self.law[:, 0] - self.law[:, 1])
        return np.asarray(weights + self.law[:, 1].sum())

    @cached_property
    def optimum(self) -> float:
        """The smallest error in the class, called OPT."""
        return float(self.risks.min())


def _or_last(index: int | None) -> int:
    return -1 if index is None else index


def hard_problems(hypotheses: Hypotheses, *, alpha: float, examples: int) -> list[LearningProblem]:
    """Return problems for agnostic learners, some with noisy labels.

    Examples
    --------
    >>> from learners.finite.hypotheses import Hypotheses
    >>> rows = Hypotheses.of_rows([[0, 0], [0, 1], [1, 1]], domain="ab")
    >>> [problem.name for problem in hard_problems(rows, alpha=0.1, examples=5)][-1]
    'two rivals 1.05·alpha apart on noisy labels'
    """
    noisy = labelled_law(hypotheses, 0, _uniform(hypotheses), flip=0.4)
    extra = [("labels of hypothesis 0 flipped two times in five, uniform", noisy)]
    rivals = _rivals(hypotheses)
    if rivals is not None:
        first, differing = rivals
        on_differing = differing / differing.sum()
        flip = 0.5 - ALMOST * alpha / 2.0
        law = labelled_law(hypotheses, first, on_differing, flip=flip)
        extra.append((f"two rivals {ALMOST}·alpha apart on noisy labels", law))
    return [
        *realizable_problems(hypotheses, alpha=alpha, examples=examples),
        *(LearningProblem(name, hypotheses, law, examples) for name, law in extra),
    ]


def realizable_problems(hypotheses: Hypotheses, *, alpha: float, examples: int) -> list[LearningProblem]:
    """Return problems whose target is in the class.

    Examples
    --------
    >>> from learners.finite.hypotheses import Hypotheses
    >>> rows = Hypotheses.of_rows([[0, 0], [0, 1], [1, 1]], domain="ab")
    >>> len(realizable_problems(rows, alpha=0.1, examples=5))
    5
    """
    count = len(hypotheses.names)
    laws = [
        (f"hypothesis {target}, uniform", labelled_law(hypotheses, target, _uniform(hypotheses)))
        for target in sorted({0, count // 2, count - 1})
    ]
    rivals = _rivals(hypotheses)
    if rivals is not None:
        target, differing = rivals
        for share in (min(1.0, ALMOST * alpha), min(1.0, alpha / ALMOST)):
            marginal = light_law(differing, share)
            name = f"hypothesis {target}, {share / alpha:.2f}·alpha where it differs from its nearest rival"
            laws.append((name, labelled_law(hypotheses, target, marginal)))
    return [LearningProblem(name, hypotheses, law, examples) for name, law in laws]


def _uniform(hypotheses: Hypotheses) -> NDArray[np.float64]:
    points = len(hypotheses.domain)
    return np.full(points, 1.0 / points)


def labelled_law(
    hypotheses: Hypotheses, target: int, marginal: NDArray[np.float64], *, flip: float = 0.0
) -> NDArray[np.float64]:
    """Return Pr[x, y] for labels of a target, shape (points, 2).

    Each label is flipped with probability `flip`.

    Examples
    --------
    >>> from learners.finite.hypotheses import Hypotheses
    >>> rows = Hypotheses.of_rows([[0, 0], [0, 1]], domain="ab")
    >>> labelled_law(rows, 1, np.array([0.25, 0.75]), flip=0.0).tolist()
    [[0.25, 0.0], [0.0, 0.75]]
    """
    ones = np.where(hypotheses.table.row(target), 1.0 - flip, flip)
    return np.stack([marginal * (1.0 - ones), marginal * ones], axis=1)


def _rivals(hypotheses: Hypotheses) -> tuple[int, NDArray[np.float64]] | None:
    """Return 0, and where hypothesis 0 and its nearest rival differ.

    If all hypotheses agree everywhere, the result is None.
    """
    row = hypotheses.table.row(0)
    distances = hypotheses.table.weights(np.where(row, -1.0, 1.0)) + row.sum()
    others = np.flatnonzero(distances > 0)
    if not len(others):
        return None
    rival = int(others[np.argmin(distances[others])])
    return 0, (hypotheses.table.row(rival) != row).astype(np.float64)


def light_law(differing: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """Return a marginal with mass `share` where `differing` is 1.

    Examples
    --------
    >>> light_law(np.array([1.0, 0.0, 0.0]), 0.5).tolist()
    [0.5, 0.25, 0.25]
    """
    same = 1.0 - differing
    if not same.any():
        share, same = 1.0, differing
    return np.asarray(share * differing / differing.sum() + (1.0 - share) * same / same.sum())


def light_variable_problems(hypotheses: Hypotheses, *, alpha: float, examples: int) -> list[LearningProblem]:
    """Return problems about conjunctions whose variables are rarely 0.

    Guarantee
    ---------
    In the last two problems every example has the label 1. For each of the d variables, a share of the
    examples is 0 in this variable alone. The share is slightly more than alpha/d in the first of these
    problems, and slightly less in the second. The threshold and the tolerance of B Theorem 5 are alpha/(2d).
    Suppose that an oracle's answers are too low by the whole tolerance. Then the learner drops every variable
    in the first problem. In the second problem it keeps all variables, with an error just below alpha.

    Examples
    --------
    >>> from learners.concepts import ConjunctionClass
    >>> from learners.finite.hypotheses import Hypotheses
    >>> every = Hypotheses.of(ConjunctionClass(2))
    >>> [problem.name for problem in light_variable_problems(every, alpha=0.1, examples=5)][-1]
    'always true, each variable 0 on 0.95·alpha/2'
    """
    dimension = len(hypotheses.domain[0])
    target = hypotheses.index((0,) * dimension)
    assert target is not None  # the class holds the empty conjunction
    problems = realizable_problems(hypotheses, alpha=alpha, examples=examples)
    for share in (ALMOST, 1.0 / ALMOST):
        zeros = np.array([dimension - sum(point) for point in hypotheses.domain])
        marginal = np.where(zeros == 1, share * alpha / dimension, 0.0)
        marginal[zeros == 0] = 1.0 - marginal.sum()
        name = f"always true, each variable 0 on {share:.2f}·alpha/{dimension}"
        law = labelled_law(hypotheses, target, marginal)
        problems.append(LearningProblem(name, hypotheses, law, examples))
    return problems
