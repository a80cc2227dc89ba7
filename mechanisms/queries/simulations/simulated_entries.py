"""Simulated entries, whose answers come from statistical queries."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidValue, finite_number, positive_int
from mechanisms.composition.budget import OverspentError
from mechanisms.local.questions import checked_queries, places_of
from mechanisms.local.randomizers import cost_of
from mechanisms.queries.oracles.oracle import check_generator, check_oracle
from mechanisms.queries.simulations.densities import Simulated, as_simulated
from mechanisms.queries.simulations.rejection import Access
from mechanisms.queries.simulations.simulation import LARGEST_EPSILON, check_budget

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mechanisms.local.questions import Query
    from mechanisms.queries.oracles.oracle import SQOracle

__all__ = ["Past", "Question", "SimulatedEntries", "SimulationTerms"]

Past = tuple[tuple[Simulated, Any], ...]
"""The randomizers that an entry has answered, each with the answer."""

_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Question:
    """A question to entries, in the form that a simulation uses.

    Parameters
    ----------
    entries
        The indices of the entries that are asked, in the order of the answers.
    table
        The randomizer.
    alone
        Whether the question has a single index, and so a single answer.

    Examples
    --------
    >>> from mechanisms.queries import binary_response
    >>> Question((1, 0), binary_response(1.0), alone=False).answer([0, 1])
    array([0, 1])
    """

    entries: tuple[int, ...]
    table: Simulated
    alone: bool = field(kw_only=True)

    def answer(self, positions: Sequence[Any]) -> Any:
        """Return the answers at these positions, in the form of `LROracle`."""
        return self.form([self.table.answer(position) for position in positions])

    def form(self, outcomes: list[Any]) -> Any:
        """Return a single outcome as it is, several as an array or a list."""
        if self.alone:
            return outcomes[0]
        return np.array(outcomes) if all(type(w) in (int, float, bool) for w in outcomes) else outcomes


@dataclass(frozen=True, eq=False, kw_only=True)
class SimulationTerms:
    """The parameters of a simulated database.

    Parameters
    ----------
    size
        Number of entries.
    records
        The possible entries. Each is a valid input of every randomizer. The first of them is K11's "0".
    accesses
        The largest number t of answers in total.
    beta
        Statistical distance allowed for all answers jointly, in (0, 1].
    epsilon
        The budget of every entry, > 0.

    Raises
    ------
    InvalidValue
        A parameter is out of range.

    Examples
    --------
    >>> from mechanisms import RandomizedResponse
    >>> terms = SimulationTerms(size=2, records=(0, 1), accesses=2, beta=0.3, epsilon=1.0)
    >>> terms.question((range(2), RandomizedResponse(epsilon=0.5))).entries
    (0, 1)
    """

    size: int
    records: Sequence[Any]
    accesses: int
    beta: float
    epsilon: float

    def __post_init__(self) -> None:
        owner = "a simulation"
        positive_int(self.size, what=f"The `size` of {owner}")
        check_budget(self.accesses, self.beta, owner=owner)
        finite_number(self.epsilon, what=f"The `epsilon` of {owner}", above=0, maximum=LARGEST_EPSILON)
        if not hasattr(self.records, "__len__") or not len(self.records):
            raise InvalidValue(
                f"The `records` of {owner} must be a list of records; got {self.records!r:.40}."
            )

    def question(self, query: Query) -> Question:
        """Return a question in the form that a simulation uses."""
        entries, randomizer = query
        cost_of(randomizer)  # refuses anything that is not a local randomizer
        places = places_of(entries, self.size)
        if isinstance(places, slice):
            listed = tuple(range(self.size)[places])
        else:
            listed = tuple(np.ravel(places).tolist())
        table = as_simulated(randomizer, list(self.records))
        return Question(listed, table, alone=isinstance(places, int))

    def access(self, question: Question, past: Past) -> Access:
        """Return the rejection sampling of one answer, given the entry's past answers."""
        return Access(
            randomizer=question.table,
            past=past,
            base=self.records[0],
            epsilon=self.epsilon,
            phi=self.beta / (3.0 * self.accesses),
        )

    @property
    def distance_bound(self) -> float:
        """A bound beta/3 on the distance of all answers from the true law."""
        return self.beta / 3.0

    def refuse(self, pasts: Mapping[int, Past], *questions: Question) -> None:
        """Raise an error if questions exceed the limits of the database.

        Raises
        ------
        OverspentError
            An entry would spend more than its budget.
        InvalidValue
            There would be more than t answers.
        """
        answers = sum(map(len, pasts.values())) + sum(len(question.entries) for question in questions)
        if answers > self.accesses:
            raise InvalidValue(
                f"A simulation must give at most {self.accesses} answers, its `accesses`; "
                f"asked for {answers}."
            )
        spent: dict[int, float] = {}
        for question in questions:
            for entry in question.entries:
                before = spent[entry] if entry in spent else _spent(pasts.get(entry, ()))
                spent[entry] = before + _cost(question.table)
                if spent[entry] > self.epsilon * (1.0 + _ROUNDING):
                    raise OverspentError(
                        f"Entry {entry} has spent {before:.12g} of its epsilon of {self.epsilon:.12g}; "
                        f"`{question.table.name}` would bring it to {spent[entry]:.12g}."
                    )


def _cost(table: Simulated) -> float:
    """Return the larger of the randomizer's claim and its exact loss."""
    return max(table.claimed or 0.0, table.epsilon)


def _spent(past: Past) -> float:
    return math.fsum(_cost(table) for table, _ in past)


class SimulatedEntries:
    """Answers like an `LROracle` on random entries, by statistical queries only.

    No entry is drawn. Each new answer is drawn from its law given the entry's past answers.

    Parameters
    ----------
    oracle
        A statistical oracle for the distribution of the entries.
    size, records, accesses, beta, epsilon
        As in `SimulationTerms`.
    rng
        The generator for proposals and acceptances.

    Raises
    ------
    OverspentError
        An entry would spend more than its budget. Nothing was asked or drawn.
    InvalidValue, InvalidKind
        A parameter or an index is out of range, there would be more than `accesses` answers, or a randomizer
        is not transparent.

    Guarantee
    ---------
    Let any local algorithm ask for at most t = `accesses` answers, with any valid oracle. The law of all that
    it sees is within beta/3 of the law with an `LROracle` on independent entries. (K11 Claims 5.9 and 5.10
    state beta.) Entries are independent, so the law of the next answer depends only on earlier answers of its
    own entry. Given these, the next answer is simulated within phi = beta/3t (`Access`), and t such distances
    add up. The expected number of queries is at most 2t·((1 + phi)/(1 − phi))²·e^epsilon.

    Examples
    --------
    >>> from mechanisms import RandomizedResponse
    >>> from mechanisms.queries import ExactOracle, Population
    >>> entries = SimulatedEntries(
    ...     ExactOracle(Population([1])), size=1000, records=(0, 1), accesses=1001, beta=0.3, epsilon=2.0,
    ...     rng=np.random.default_rng(0),
    ... )
    >>> bool(abs(entries.ask(entries.everyone, RandomizedResponse(epsilon=1.5)).mean() - 0.82) < 0.06)
    True
    >>> entries.ask(7, RandomizedResponse(epsilon=1.0))
    Traceback (most recent call last):
    mechanisms.composition.budget.OverspentError: Entry 7 has spent 1.5 of its epsilon of 2;
    `table-randomizer` would bring it to 2.5.
    """

    def __init__(
        self,
        oracle: SQOracle,
        *,
        size: int,
        records: Sequence[Any],
        accesses: int,
        beta: float,
        epsilon: float,
        rng: np.random.Generator,
    ) -> None:
        self._oracle: SQOracle = check_oracle(oracle, owner="SimulatedEntries", method="ask")
        self._rng = check_generator(rng, owner="SimulatedEntries")
        self.terms = SimulationTerms(
            size=size, records=records, accesses=accesses, beta=beta, epsilon=epsilon
        )
        self._pasts: dict[int, Past] = {}

    @classmethod
    def on(cls, terms: SimulationTerms, *, oracle: SQOracle, rng: np.random.Generator) -> SimulatedEntries:
        """Return fresh simulated entries with these parameters.

        Examples
        --------
        >>> from mechanisms.queries import ExactOracle, Population
        >>> terms = SimulationTerms(size=2, records=(0, 1), accesses=2, beta=0.3, epsilon=1.0)
        >>> oracle = ExactOracle(Population([0, 1]))
        >>> len(SimulatedEntries.on(terms, oracle=oracle, rng=np.random.default_rng(0)))
        2
        """
        entries = cls(
            oracle,
            size=terms.size,
            records=terms.records,
            accesses=terms.accesses,
            beta=terms.beta,
            epsilon=terms.epsilon,
            rng=rng,
        )
        entries.terms = terms
        return entries

    def __len__(self) -> int:
        return self.terms.size

    @property
    def everyone(self) -> range:
        """The indices of all entries."""
        return range(self.terms.size)

    @property
    def spent(self) -> NDArray[np.float64]:
        """The epsilon that each entry has spent, as a copy."""
        return np.array([_spent(self._pasts.get(entry, ())) for entry in self.everyone])

    def ask(self, entries: int | Sequence[int] | NDArray[np.integer[Any]], randomizer: Any) -> Any:
        """Return one simulated answer for each of the given entries."""
        return self.ask_all([(entries, randomizer)])[0]

    def ask_all(self, queries: Sequence[Query]) -> list[Any]:
        """Return the answers to several questions, all checked before any draw."""
        questions = [self.terms.question(query) for query in checked_queries(queries)]
        self.terms.refuse(self._pasts, *questions)
        return [question.answer(self._drawn(question)) for question in questions]

    def _drawn(self, question: Question) -> list[Any]:
        """Return the answers to a question as positions."""
        if len(set(question.entries)) < len(question.entries) or not hasattr(self._oracle, "ask_repeatedly"):
            return [self._drawn_alike(question, [entry])[0] for entry in question.entries]
        groups: dict[Past, list[int]] = {}
        for entry in question.entries:
            groups.setdefault(self._pasts.get(entry, ()), []).append(entry)
        found: dict[int, Any] = {}
        for entries in groups.values():
            found.update(zip(entries, self._drawn_alike(question, entries), strict=True))
        return [found[entry] for entry in question.entries]

    def _drawn_alike(self, question: Question, entries: list[int]) -> list[Any]:
        past = self._pasts.get(entries[0], ())
        access = self.terms.access(question, past)
        if len(entries) == 1:
            positions = [access.run(self._oracle, self._rng)[0]]
        else:
            together: Any = self._oracle  # has `ask_repeatedly`
            positions = access.sample(together, len(entries), self._rng)[0].tolist()
        for entry, position in zip(entries, positions, strict=True):
            self._pasts[entry] = (*past, (question.table, position))
        return positions
