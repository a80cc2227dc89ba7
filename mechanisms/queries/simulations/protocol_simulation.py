"""A whole run of a local algorithm on simulated entries (K11 Lemma 5.8)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from audit.errors import InvalidKind, InvalidValue
from audit.values import canonical
from mechanisms.local.protocols import InteractiveProtocol, NonInteractiveProtocol
from mechanisms.local.questions import checked_query
from mechanisms.local.transcripts import follow
from mechanisms.queries.simulations.distances import events, tilted, worst_values
from mechanisms.queries.simulations.simulated_entries import Past, Question, SimulatedEntries, SimulationTerms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from audit.distributions import Finite
    from mechanisms.queries.oracles.oracle import Oracle, SQOracle
    from mechanisms.queries.population import Population
    from mechanisms.queries.simulations.rejection import Access

__all__ = ["ProtocolSimulation"]

_MOST = 20_000
"""Largest number of sequences of answers that are enumerated."""


@dataclass(frozen=True, eq=False)
class _End:
    """The output of a run that has ended, and the answers of each entry."""

    output: Any
    pasts: Mapping[int, Past]

    def probability(self, population: Population) -> float:
        return math.prod(_likelihood(past, population) for past in self.pasts.values())


@dataclass(frozen=True, eq=False)
class _Step:
    """How the next answer of a run is simulated, and what follows."""

    access: Access
    after: Callable[[Any], _Node]

    @property
    def possible(self) -> list[int]:
        """Positions of the outcomes that can be proposed."""
        places: list[int] = np.flatnonzero(self.access.proposal > 0.0).tolist()
        return places


_Node: TypeAlias = _End | _Step


@dataclass(frozen=True, eq=False, kw_only=True)
class ProtocolSimulation:
    """Simulates a local protocol by statistical queries (K11 Lemma 5.8).

    The simulated entries are independent draws from a distribution.

    Parameters
    ----------
    protocol
        The local algorithm. Its `records` are the possible entries. The first of them is K11's "0".
    accesses
        The largest number of answers that a run gets, over all entries.
    beta
        Statistical distance allowed for the whole run, in (0, 1].

    Raises
    ------
    InvalidKind, InvalidValue
        `protocol` is not a local protocol, a parameter is out of range, or a run does what `SimulatedEntries`
        refuses. A law is refused if the protocol has coins of its own, or more than 20,000 sequences of
        answers.

    Guarantee
    ---------
    Against any valid oracle, the law of the output is within beta/3 of the protocol's own law on independent
    entries. This follows from the guarantee of `SimulatedEntries`, because the output is a function of its
    answers.

    Examples
    --------
    >>> from mechanisms import RandomizedResponse
    >>> from mechanisms.queries import ExactOracle, Population
    >>> def who_denies(size):
    ...     first = yield range(size), RandomizedResponse(epsilon=0.5)
    ...     return (yield int(first.argmin()), RandomizedResponse(epsilon=0.5))
    >>> protocol = InteractiveProtocol(algorithm=who_denies, epsilon=1.0)
    >>> simulation = ProtocolSimulation(protocol=protocol, accesses=3, beta=0.3)
    >>> coin = Population([0, 1], [0.25, 0.75])
    >>> simulation.run(ExactOracle(coin), np.random.default_rng(0)) in (0, 1)
    True
    >>> simulation.worst_distance(coin) <= 0.1
    True
    """

    protocol: InteractiveProtocol | NonInteractiveProtocol
    accesses: int
    beta: float

    def __post_init__(self) -> None:
        if not isinstance(self.protocol, (InteractiveProtocol, NonInteractiveProtocol)):
            raise InvalidKind(
                "The `protocol` of `ProtocolSimulation` must be an `InteractiveProtocol` or a "
                f"`NonInteractiveProtocol`; got {self.protocol!r:.60}."
            )
        _ = self.terms

    @property
    def terms(self) -> SimulationTerms:
        """The terms of the simulated database."""
        protocol = self.protocol
        return SimulationTerms(
            size=protocol.size,
            records=protocol.records,
            accesses=self.accesses,
            beta=self.beta,
            epsilon=protocol.claim.epsilon,
        )

    def entries(self, oracle: SQOracle, rng: np.random.Generator) -> SimulatedEntries:
        """Return fresh simulated entries for one run."""
        return SimulatedEntries.on(self.terms, oracle=oracle, rng=rng)

    def run(self, oracle: SQOracle, rng: np.random.Generator) -> Any:
        """Return the output of one simulated run."""
        return self.protocol.answered_by(self.entries(oracle, rng), rng)

    def sample(self, oracle: Oracle, size: int, rng: np.random.Generator) -> list[Any]:
        """Return the outputs of `size` simulated runs."""
        outputs: list[Any] = [None] * size
        pending: list[tuple[_Node, NDArray[np.intp]]] = [(self._begun(), np.arange(size))]
        while pending:
            node, who = pending.pop()
            if isinstance(node, _End):
                for run in who.tolist():
                    outputs[run] = node.output
                continue
            places, _ = node.access.sample(oracle, len(who), rng)
            together: dict[Any, list[int]] = {}
            for run, place in zip(who.tolist(), places.tolist(), strict=True):
                together.setdefault(place, []).append(run)
            pending += [(node.after(place), np.array(runs)) for place, runs in together.items()]
        return outputs

    def law(self, population: Population) -> Finite:
        """Return the law of the protocol's own output on independent entries."""
        return _law([(end, end.probability(population)) for end in self._ends(self._begun())])

    def simulated_law(self, oracle: SQOracle) -> Finite:
        """Return the law of a simulated run's output.

        Within one access, a proposal that is made again must get the same answer.
        """
        return _law(list(_weighed(self._begun(), oracle, 1.0)))

    @property
    def distance_bound(self) -> float:
        """A bound beta/3 on the distance to the true law, for every valid oracle."""
        return self.terms.distance_bound

    def worst_distance(self, population: Population) -> float:
        """Return the greatest distance between the laws of simulated and true outputs.

        The value is exact for the worst valid oracle, whose answers may depend on everything before. There
        may be at most 16 possible outputs.
        """
        start = self._begun()
        ends = list(self._ends(start))
        places: dict[Any, int] = {}
        for end in ends:
            places.setdefault(canonical.key(end.output), len(places))
        chosen = events(len(places))
        truth = np.zeros(len(places))
        for end in ends:
            truth[places[canonical.key(end.output)]] += end.probability(population)
        values = {key: chosen[:, place] for key, place in places.items()}
        return float((_value(start, values, population) - chosen @ truth).max())

    def _begun(self) -> _Node:
        return self._grown((), {})

    def _grown(self, answers: tuple[Any, ...], pasts: Mapping[int, Past]) -> _Node:
        """Return the state of a run after these answers to its questions."""
        done, told = follow(self.protocol.rounds, answers)
        if done:
            return _End(told, pasts)
        question = self.terms.question(checked_query(told))
        self.terms.refuse(pasts, question)
        return self._within(answers, pasts, question, ())

    def _within(
        self, answers: tuple[Any, ...], pasts: Mapping[int, Past], question: Question, said: tuple[Any, ...]
    ) -> _Node:
        """Return the state of a run within a question."""
        if len(said) == len(question.entries):
            return self._grown((*answers, question.answer(said)), pasts)
        entry = question.entries[len(said)]
        past = pasts.get(entry, ())

        def after(place: Any) -> _Node:
            known = {**pasts, entry: (*past, (question.table, place))}
            return self._within(answers, known, question, (*said, place))

        return _Step(self.terms.access(question, past), after)

    def _ends(self, start: _Node) -> Iterator[_End]:
        pending, found = [start], 0
        while pending:
            node = pending.pop()
            if isinstance(node, _End):
                yield node
                found += 1
            else:
                pending += [node.after(place) for place in reversed(node.possible)]
            if found + len(pending) > _MOST:
                raise InvalidValue(
                    f"A law of `ProtocolSimulation` must be of at most {_MOST:,} sequences of answers."
                )


def _weighed(node: _Node, oracle: SQOracle, chance: float) -> Iterator[tuple[_End, float]]:
    """Yield every possible end of a run with its probability."""
    if isinstance(node, _End):
        yield node, chance
        return
    access = node.access
    accepted = np.zeros(len(access.proposal))
    for place in node.possible:
        asked = [] if access.blunt else [oracle.ask(query) for query in access.queries(place)]
        accepted[place] = access.proposal[place] * (access.acceptance(asked) if asked else 1.0)
    for place, share in enumerate(tilted(accepted).tolist()):
        if share > 0.0:
            yield from _weighed(node.after(place), oracle, chance * share)


def _value(
    node: _Node, values: Mapping[Any, NDArray[np.float64]], population: Population
) -> NDArray[np.float64]:
    """Return the greatest probability of each event after `node`, over valid oracles."""
    if isinstance(node, _End):
        return values[canonical.key(node.output)]
    possible = node.possible
    after = np.column_stack([_value(node.after(place), values, population) for place in possible])
    low, high = node.access.estimates(population)
    return worst_values(after, low=low[possible], high=high[possible])


def _likelihood(past: Past, population: Population) -> float:
    """Return the probability that a random entry gives the answers in `past`."""
    likelihood = population.weights
    for table, place in past:
        likelihood = likelihood * table.likelihood(population.points, place)
    return float(likelihood.sum())


def _law(ends: Sequence[tuple[_End, float]]) -> Finite:
    from audit.distributions import Finite

    found: dict[Any, tuple[Any, list[float]]] = {}
    for end, chance in ends:
        found.setdefault(canonical.key(end.output), (end.output, []))[1].append(chance)
    return Finite(
        [output for output, _ in found.values()], [math.fsum(chances) for _, chances in found.values()]
    )
