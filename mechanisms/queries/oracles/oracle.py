"""The interface and the base class of oracles for statistical queries."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from audit.errors import InvalidKind, InvalidValue, finite_number
from mechanisms.queries.statistical import StatisticalQuery

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = [
    "NonAdaptive",
    "Oracle",
    "SQOracle",
    "check_generator",
    "check_oracle",
    "check_query",
    "finite_answers",
]


@runtime_checkable
class SQOracle(Protocol):
    """The part of an oracle that an SQ algorithm may use.

    An adaptive algorithm calls `ask`. A non-adaptive algorithm (K11 Definition 5.5) calls `ask_all` once,
    with all its queries.

    Examples
    --------
    >>> from mechanisms.queries import ExactOracle, Population
    >>> isinstance(ExactOracle(Population([0, 1])), SQOracle)
    True
    """

    def ask(self, query: StatisticalQuery) -> float:
        """Return an answer, which for a valid oracle is within tau of the query's mean."""

    def ask_all(self, queries: Iterable[StatisticalQuery]) -> list[float]:
        """Return the answers to queries that are fixed in advance."""


class Oracle(ABC):
    """An oracle that counts queries.

    A subclass defines `_answer`. If it can refuse a round, it also defines `_prepare`.

    Attributes
    ----------
    asked
        Number of queries answered.
    rounds
        Number of calls that answered at least one query.
    least_tau
        The smallest tolerance asked for, infinite before any query.

    Examples
    --------
    >>> from mechanisms.queries import ExactOracle, Population, StatisticalQuery
    >>> oracle = ExactOracle(Population([0, 1]))
    >>> oracle.ask(StatisticalQuery.fraction(bool, tau=0.1))
    0.5
    >>> oracle.asked, oracle.rounds, oracle.least_tau
    (1, 1, 0.1)
    """

    def __init__(self) -> None:
        self.asked = 0
        self.rounds = 0
        self.least_tau = math.inf

    def ask(self, query: StatisticalQuery) -> float:
        """Return the answer to one query."""
        return self.ask_all([query])[0]

    def ask_all(self, queries: Iterable[StatisticalQuery]) -> list[float]:
        """Return the answers to one round of queries.

        A round is refused as a whole, before any answer is drawn. (Exception: a `LocalOracle` finds a value
        outside the range only while its entries report.)
        """
        asked = _round_of(queries)
        self._prepare(asked)
        answers = self._answers(asked)
        self._count(asked)
        return answers

    def ask_repeatedly(self, query: StatisticalQuery, times: int) -> NDArray[np.float64]:
        """Return `times` answers to the same query, each of which counts as a query."""
        return np.array(self.ask_all([query] * times), dtype=np.float64)

    def nonadaptive(self) -> NonAdaptive:
        """Return an object that asks this oracle one round only."""
        return NonAdaptive(self)

    def _prepare(self, queries: Sequence[StatisticalQuery]) -> None:
        """Refuse a round that cannot be answered."""
        del queries

    def _answers(self, queries: Sequence[StatisticalQuery]) -> list[float]:
        return [self._answer(query) for query in queries]

    @abstractmethod
    def _answer(self, query: StatisticalQuery) -> float:
        """Return the answer to one query of a round that was not refused."""

    def _count(self, queries: Sequence[StatisticalQuery], *, times: int = 1) -> None:
        if queries and times:
            self.asked += len(queries) * times
            self.rounds += 1
            self.least_tau = min(self.least_tau, *(query.tau for query in queries))


class NonAdaptive:
    """An oracle for one round of queries and no more (K11 Definition 5.5).

    All queries are collected before any is answered, so none can depend on an answer.

    Parameters
    ----------
    oracle
        The oracle that answers the round.

    Raises
    ------
    InvalidValue
        A query is asked alone, or after the round.

    Examples
    --------
    >>> from mechanisms.queries import ExactOracle, Population, StatisticalQuery
    >>> session = ExactOracle(Population([0, 1])).nonadaptive()
    >>> session.ask_all([StatisticalQuery.fraction(bool, tau=0.1)])
    [0.5]
    >>> session.ask_all([])
    Traceback (most recent call last):
    audit.errors.InvalidValue: A non-adaptive algorithm must ask everything in one `ask_all`; it asks again.
    """

    def __init__(self, oracle: SQOracle) -> None:
        self._oracle = check_oracle(oracle, owner="NonAdaptive")
        self._used = False

    def ask(self, query: StatisticalQuery) -> float:
        """Refuse, because single queries may depend on earlier answers."""
        del query
        raise InvalidValue(
            "A non-adaptive algorithm must ask everything in one `ask_all`; it asks one query by itself."
        )

    def ask_all(self, queries: Iterable[StatisticalQuery]) -> list[float]:
        """Return the answers to the only round."""
        if self._used:
            raise InvalidValue(
                "A non-adaptive algorithm must ask everything in one `ask_all`; it asks again."
            )
        self._used = True  # before the queries are made: the code that makes them could ask this oracle
        try:
            asked = _round_of(queries)
        except BaseException:
            self._used = False  # nothing was answered
            raise
        answers: list[float] = self._oracle.ask_all(asked)
        return answers


def finite_answers(answers: Sequence[Any]) -> list[float]:
    """Return the answers of another oracle, if they are finite numbers.

    Examples
    --------
    >>> finite_answers([0.5, math.nan])
    Traceback (most recent call last):
    audit.errors.InvalidValue: An oracle's answer must be a finite number; got nan.
    """
    if not isinstance(answers, Iterable):
        raise InvalidKind(f"An oracle must answer a round with a list of numbers; got {answers!r:.60}.")
    return [finite_number(answer, what="An oracle's answer") for answer in answers]


def check_generator(rng: Any, *, owner: str) -> np.random.Generator:
    """Return an oracle's generator, if it is one.

    Examples
    --------
    >>> check_generator(None, owner="RandomOracle")
    Traceback (most recent call last):
    audit.errors.InvalidKind: The `rng` of `RandomOracle` must be a numpy generator; got None.
    """
    if not isinstance(rng, np.random.Generator):
        raise InvalidKind(f"The `rng` of `{owner}` must be a numpy generator; got {rng!r:.60}.")
    return rng


def check_oracle(oracle: Any, *, owner: str, method: str = "ask_all") -> Any:
    """Return the oracle, if it has the method.

    Examples
    --------
    >>> check_oracle(None, owner="NonAdaptive")
    Traceback (most recent call last):
    audit.errors.InvalidKind: The oracle of `NonAdaptive` must have the method `ask_all`; got None.
    """
    if isinstance(oracle, type) or not callable(getattr(oracle, method, None)):
        raise InvalidKind(f"The oracle of `{owner}` must have the method `{method}`; got {oracle!r:.60}.")
    return oracle


def check_query(query: Any, *, owner: str) -> None:
    """Raise an error unless the object is a statistical query.

    Examples
    --------
    >>> check_query(1, owner="local_sample_size")
    Traceback (most recent call last):
    audit.errors.InvalidKind: `local_sample_size` must be asked about a `StatisticalQuery`; got 1.
    """
    if not isinstance(query, StatisticalQuery):
        raise InvalidKind(f"`{owner}` must be asked about a `StatisticalQuery`; got {query!r:.60}.")


def _round_of(queries: Any) -> tuple[StatisticalQuery, ...]:
    if not isinstance(queries, Iterable):
        raise InvalidKind(f"A round must be a list of `StatisticalQuery`; got {queries!r:.60}.")
    asked = tuple(queries)
    for query in asked:
        if not isinstance(query, StatisticalQuery):
            raise InvalidKind(f"An oracle must be asked a `StatisticalQuery`; got {query!r:.60}.")
    return asked
