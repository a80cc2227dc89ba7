"""A non-interactive local algorithm simulated by one round of queries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from audit.errors import InvalidKind, InvalidValue
from mechanisms.local.protocols import NonInteractiveProtocol
from mechanisms.queries.simulations.densities import JointDensities
from mechanisms.queries.simulations.simulated_entries import SimulationTerms
from mechanisms.queries.simulations.simulation import FixedRoundsSimulation
from mechanisms.queries.simulations.transparent import TableRandomizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from mechanisms.queries.oracles.oracle import NonAdaptive, SQOracle
    from mechanisms.queries.population import Population
    from mechanisms.queries.simulations.densities import Simulated
    from mechanisms.queries.simulations.simulated_entries import Question

__all__ = ["NonInteractiveSimulation"]

_MOST = 4096
"""Largest number of joint outcomes of all answers of one entry."""


@dataclass(frozen=True, eq=False, kw_only=True)
class NonInteractiveSimulation:
    """Simulates a non-interactive protocol by one round of statistical queries.

    The simulated entries are independent draws from a distribution.

    Parameters
    ----------
    protocol
        The local algorithm, with a list of questions. Its `records` are the possible entries. The first of
        them is K11's "0".
    beta
        Statistical distance allowed for the whole run, in (0, 1].
    leftover
        As in `FixedRoundsSimulation`.

    Raises
    ------
    InvalidKind, InvalidValue
        `protocol` is not a non-interactive protocol, its questions are not a list, or a randomizer has no
        law. The answers of one entry have more than 4,096 joint values, but finitely many.

    Guarantee
    ---------
    This is K11 Claim 5.9. Against any valid oracle, the law of the output is within beta of the law of the
    protocol's output, by `FixedRoundsSimulation`. All answers of one entry are one outcome of a joint
    randomizer, so each entry is accessed once.

    Examples
    --------
    >>> import numpy as np
    >>> from mechanisms import RandomizedResponse
    >>> from mechanisms.queries import ExactOracle, Population
    >>> questions = [(range(2), RandomizedResponse(epsilon=0.5)), (0, RandomizedResponse(epsilon=0.25))]
    >>> protocol = NonInteractiveProtocol(queries=questions)
    >>> simulation = NonInteractiveSimulation(protocol=protocol, beta=0.2)
    >>> oracle = ExactOracle(Population([0, 1]))
    >>> len(simulation.run(oracle.nonadaptive(), np.random.default_rng(0)))
    3
    >>> oracle.rounds, oracle.asked == simulation.asked
    (1, True)
    """

    protocol: NonInteractiveProtocol
    beta: float
    leftover: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.protocol, NonInteractiveProtocol):
            raise InvalidKind(
                "The `protocol` of `NonInteractiveSimulation` must be a `NonInteractiveProtocol`; "
                f"got {self.protocol!r:.60}."
            )
        if callable(self.protocol.queries):
            raise InvalidValue("The `queries` of a `NonInteractiveSimulation`'s protocol must be listed.")
        _ = self.fixed

    @cached_property
    def questions(self) -> list[Question]:
        """The protocol's questions, in the form that a simulation uses."""
        protocol = self.protocol
        assert not callable(protocol.queries)
        terms = SimulationTerms(
            size=protocol.size,
            records=protocol.records,
            accesses=1,
            beta=self.beta,
            epsilon=protocol.claim.epsilon,
        )
        return [terms.question(query) for query in protocol.queries]

    @cached_property
    def asked_of(self) -> dict[int, list[tuple[int, int]]]:
        """For every entry, its questions and its place in each."""
        found: dict[int, list[tuple[int, int]]] = {}
        for number, question in enumerate(self.questions):
            for place, entry in enumerate(question.entries):
                found.setdefault(entry, []).append((number, place))
        return found

    @cached_property
    def fixed(self) -> FixedRoundsSimulation:
        """The simulation of each entry's answers."""
        tables: list[Simulated] = []
        for answers in self.asked_of.values():
            these = [self.questions[number].table for number, _ in answers]
            finite = [table for table in these if isinstance(table, TableRandomizer)]
            tables.append(_jointly(finite) if len(finite) == len(these) else JointDensities(these))
        return FixedRoundsSimulation(
            randomizers=tables, base=self.protocol.records[0], beta=self.beta, leftover=self.leftover
        )

    @property
    def asked(self) -> int:
        """Number of queries in the round."""
        return sum(self.fixed.rounds(index) for index in range(len(self.asked_of)))

    def run(self, oracle: SQOracle | NonAdaptive, rng: np.random.Generator) -> Any:
        """Return the output of one simulated run, after one round of queries."""
        outcomes = self.fixed.run(oracle, rng)
        said: dict[tuple[int, int], Any] = {}
        for answers, joint in zip(self.asked_of.values(), outcomes, strict=True):
            said.update(zip(answers, joint, strict=True))
        return self.protocol.answered_by(_Said(self.questions, said), rng)

    @property
    def distance_bound(self) -> float:
        """A bound beta on the distance to the true law, for every valid oracle."""
        return self.beta

    def most_distance(self, population: Population) -> float:
        """Return a bound on the distance to the true law.

        The bound holds for every valid oracle. Distances for each entry add up. The answers of one entry may
        have at most 16 joint values.
        """
        fixed = self.fixed
        return math.fsum(fixed.worst_distance(index, population) for index in range(len(self.asked_of)))


def _jointly(tables: Sequence[TableRandomizer]) -> TableRandomizer:
    if (count := math.prod(len(table.outcomes) for table in tables)) > _MOST:
        raise InvalidValue(
            f"The answers of one entry of `NonInteractiveSimulation` must have at most {_MOST} "
            f"values together; they have {count}."
        )
    return TableRandomizer.jointly(tables)


@dataclass(frozen=True, eq=False)
class _Said:
    """Stands in for an `LROracle`, with known answers."""

    questions: list[Question]
    said: dict[tuple[int, int], Any]

    def ask_all(self, queries: Any) -> list[Any]:
        del queries  # the protocol's own questions, which these answers belong to
        return [
            question.form([self.said[number, place] for place in range(len(question.entries))])
            for number, question in enumerate(self.questions)
        ]
