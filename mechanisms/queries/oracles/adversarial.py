"""An oracle that answers as badly as the tolerance allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from audit.errors import InvalidKind, InvalidValue, finite_number
from mechanisms.queries.oracles.oracle import Oracle
from mechanisms.queries.population import check_population

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hypothesis.strategies import SearchStrategy
    from numpy.typing import NDArray

    from mechanisms.queries.population import Population
    from mechanisms.queries.statistical import StatisticalQuery

    Policy: TypeAlias = "Callable[[StatisticalQuery, float], float]"

__all__ = ["POLICIES", "AdversarialOracle", "Greedy", "offsets"]


class AdversarialOracle(Oracle):
    """Answers with the mean + offset·tau, where an adversary chooses the offset.

    Parameters
    ----------
    population
        The distribution.
    adversary
        A name of `POLICIES`: "up", "down", "towards-zero", "away-from-zero", "alternating". Or a sequence of
        offsets in [−1, 1], one for each query in turn; later offsets are 0. Or a function of the query and
        its mean that returns the offset, such as `Greedy`.

    Raises
    ------
    InvalidValue
        There is no policy of that name, or an offset lies outside [−1, 1].

    Guarantee
    ---------
    For every adversary this is a valid SQ oracle (K11 Definition 5.4). Every valid oracle is one of these.

    Examples
    --------
    >>> from mechanisms.queries import Population, StatisticalQuery
    >>> oracle = AdversarialOracle(Population([0, 1]), [1, -1])
    >>> [oracle.ask(StatisticalQuery.fraction(bool, tau=0.125)) for _ in range(3)]
    [0.625, 0.375, 0.5]
    """

    def __init__(
        self, population: Population, adversary: str | Sequence[float] | Policy = "towards-zero"
    ) -> None:
        super().__init__()
        self.population: Population = check_population(population, owner=type(self).__name__)
        self._policy = _policy(adversary)

    def ask_repeatedly(self, query: StatisticalQuery, times: int) -> NDArray[np.float64]:
        """Return `times` answers to one query, whose offsets may differ."""
        truth = self.population.expectation(query)
        answers = np.array([self._worst(query, truth) for _ in range(times)], dtype=np.float64)
        self._count([query], times=times)
        return answers

    def _answer(self, query: StatisticalQuery) -> float:
        return self._worst(query, self.population.expectation(query))

    def _worst(self, query: StatisticalQuery, truth: float) -> float:
        offset = finite_number(
            self._policy(query, truth), what="The offset of an adversary", minimum=-1, maximum=1
        )
        return truth + offset * query.tau


@dataclass(frozen=True)
class Greedy:
    """An adversary that gives the worst answer by an objective.

    Parameters
    ----------
    objective
        A function of the query, its mean and an answer. A larger value is worse for the learner.
    offsets
        The offsets to try. Of equally bad offsets the first is taken.

    Examples
    --------
    >>> from mechanisms.queries import AdversarialOracle, Population, StatisticalQuery
    >>> adversary = Greedy(lambda query, truth, answer: abs(answer - 0.7))
    >>> oracle = AdversarialOracle(Population([0, 1]), adversary)
    >>> round(oracle.ask(StatisticalQuery.fraction(bool, tau=0.1)), 12)
    0.4
    """

    objective: Callable[[StatisticalQuery, float, float], float]
    offsets: Sequence[float] = (0.0, 1.0, -1.0)

    def __call__(self, query: StatisticalQuery, truth: float) -> float:
        """Return the offset with the largest objective."""
        return max(self.offsets, key=lambda offset: self.objective(query, truth, truth + offset * query.tau))


def offsets(most: int, *, extreme: bool = True) -> SearchStrategy[list[float]]:
    """Return a Hypothesis strategy for adversaries that are lists of offsets.

    Parameters
    ----------
    most
        The largest number of offsets. After the last one, answers are exact.
    extreme
        If true, offsets are 0 and ±1, the worst for most learners. If false, they are any numbers in [−1, 1].

    Examples
    --------
    >>> from hypothesis import find
    >>> find(offsets(3), lambda drawn: -1.0 in drawn)
    [-1.0]
    """
    from hypothesis import strategies as st

    one = st.sampled_from([0.0, 1.0, -1.0]) if extreme else st.floats(-1.0, 1.0)
    return st.lists(one, max_size=most)


def _towards_zero(query: StatisticalQuery, truth: float) -> float:
    return max(-1.0, min(1.0, -truth / query.tau))


def _away_from_zero(query: StatisticalQuery, truth: float) -> float:
    del query
    return 1.0 if truth >= 0.0 else -1.0


POLICIES: Final[Mapping[str, Callable[[], Policy]]] = {
    "up": lambda: lambda _query, _truth: 1.0,
    "down": lambda: lambda _query, _truth: -1.0,
    "towards-zero": lambda: _towards_zero,
    "away-from-zero": lambda: _away_from_zero,
    "alternating": lambda: _InTurn((1.0, -1.0), again=True),
}
"""Functions that make a fresh adversary, by name."""


class _InTurn:
    """Takes the offsets in turn."""

    def __init__(self, drawn: Sequence[float], *, again: bool = False) -> None:
        self._drawn, self._again, self._next = tuple(drawn), again, 0

    def __call__(self, query: StatisticalQuery, truth: float) -> float:
        del query, truth
        place, self._next = self._next, self._next + 1
        if self._again:
            place %= len(self._drawn)
        return self._drawn[place] if place < len(self._drawn) else 0.0


def _policy(adversary: Any) -> Policy:
    if isinstance(adversary, str):
        if adversary not in POLICIES:
            raise InvalidValue(
                f"The `adversary` of `AdversarialOracle` must be one of {', '.join(POLICIES)}; "
                f"got {adversary!r:.40}."
            )
        return POLICIES[adversary]()
    if callable(adversary):
        return adversary  # type: ignore[no-any-return]
    if not hasattr(adversary, "__iter__"):
        raise InvalidKind(
            "The `adversary` of `AdversarialOracle` must be a policy's name, offsets or a function; "
            f"got {adversary!r:.60}."
        )
    what = "An offset of an adversary"
    return _InTurn([finite_number(one, what=what, minimum=-1, maximum=1) for one in adversary])
