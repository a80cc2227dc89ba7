"""The problems that studies search, on samples of m records."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from learners.approximate.hard import interval_problems, point_problems
from learners.finite.problems import hard_problems
from learners.finite.proposals import random_problem, varied_problem
from learners.parity.sources import ParityProblem
from learners.parity.sources import hard_problems as parity_problems
from learners.parity.sources import random_problem as random_parity

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from learners.approximate.sources import NumberProblem
    from learners.finite.hypotheses import Hypotheses

__all__ = [
    "SearchedProblems",
    "agnostic_family",
    "interval_family",
    "parity_family",
    "point_family",
]


@dataclass(frozen=True)
class SearchedProblems:
    """A library of problems, and functions that make further problems.

    Parameters
    ----------
    library
        Problems to begin with.
    vary
        Takes a problem and rng, returns a variation of the problem.
    random
        Takes rng, returns a random problem; None if there is no such function.

    Examples
    --------
    >>> family = point_family(64, alpha=0.1, size=50)
    >>> len(family.problems()), family.random is None
    (9, True)
    """

    library: Sequence[Any]
    vary: Callable[[Any, np.random.Generator], Any]
    random: Callable[[np.random.Generator], Any] | None = None

    def problems(self) -> Sequence[Any]:
        """Return the library."""
        return self.library


def point_family(dimension: int, *, alpha: float, size: int) -> SearchedProblems:
    """Return the problems of learners of points with `size` examples."""
    return SearchedProblems(point_problems(dimension, alpha=alpha, size=size), _varied_numbers)


def interval_family(dimension: int, *, alpha: float, size: int) -> SearchedProblems:
    """Return the problems of learners of thresholds with `size` examples."""
    return SearchedProblems(interval_problems(dimension, alpha=alpha, size=size), _varied_numbers)


def parity_family(dimension: int, *, alpha: float, size: int) -> SearchedProblems:
    """Return the problems of learners of parities with `size` examples."""
    any_one = partial(_random_parity, dimension=dimension, alpha=alpha, size=size)
    return SearchedProblems(parity_problems(dimension, alpha=alpha, size=size), ParityProblem.varied, any_one)


def agnostic_family(hypotheses: Hypotheses, *, alpha: float, size: int) -> SearchedProblems:
    """Return the problems of agnostic learners with `size` examples."""
    any_one = partial(_random_listed, hypotheses=hypotheses, alpha=alpha, size=size)
    return SearchedProblems(
        hard_problems(hypotheses, alpha=alpha, examples=size), partial(varied_problem, noisy=True), any_one
    )


def _varied_numbers(problem: NumberProblem, rng: np.random.Generator) -> NumberProblem:
    return problem.varied(rng)


def _random_parity(rng: np.random.Generator, *, dimension: int, alpha: float, size: int) -> Any:
    return random_parity(dimension, alpha=alpha, size=size, rng=rng)


def _random_listed(rng: np.random.Generator, *, hypotheses: Any, alpha: float, size: int) -> Any:
    return random_problem(hypotheses, rng, alpha=alpha, examples=size, noisy=True)
