"""Local protocols and their simulations as mechanisms, whose laws must be close."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.catalogue import Entry
from audit.claims import ApproximateDP
from audit.errors import InvalidKind, InvalidValue
from audit.relations import Relation
from mechanisms.formulas import losses
from mechanisms.local.algorithms import poll_twice
from mechanisms.local.laplace import only_record
from mechanisms.local.protocols import InteractiveProtocol, NonInteractiveProtocol
from mechanisms.queries.oracles.adversarial import AdversarialOracle
from mechanisms.queries.oracles.ideal import ExactOracle, RandomOracle
from mechanisms.queries.population import Population, check_population
from mechanisms.queries.simulations.protocol_simulation import ProtocolSimulation
from mechanisms.queries.simulations.rejection import Access
from mechanisms.queries.simulations.simulated_entries import SimulationTerms
from mechanisms.responses.binary import RandomizedResponse
from mechanisms.subjects.draws import ChecksDraws

if TYPE_CHECKING:
    from collections.abc import Sequence

    from audit.distributions import Finite
    from mechanisms.queries.oracles.oracle import Oracle
    from mechanisms.queries.simulations.simulated_entries import Past, Question
    from mechanisms.subjects.neighbours import Pair

__all__ = ["CoarseSimulation", "SimulatedProtocol"]

_STEADY = ("up", "down", "towards-zero", "away-from-zero")
"""Adversaries whose answer depends on the query alone."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SimulatedProtocol(ChecksDraws):
    """A local protocol, run on entries or simulated.

    The only record of a database says which. With ``"entries"``, entries are drawn and answer through
    randomizers. Other records name the oracle of the simulation: ``"exact"``, ``"random"``, ``"up"``,
    ``"down"``, ``"towards-zero"`` or ``"away-from-zero"``.

    Parameters
    ----------
    simulation
        The simulation, and the protocol that it simulates.
    population
        The distribution of the entries.
    name, reference
        The name in reports, and the statement that it implements.

    Raises
    ------
    InvalidKind, InvalidValue
        `simulation` is no simulation, `population` is no population, or a database is another record.

    Guarantee
    ---------
    The laws of any two records are at statistical distance at most beta, which is (0, beta)-privacy under
    Relation.LOCAL. Each law is within beta/3 of the law of the entries (`ProtocolSimulation`; K11 Claims 5.9
    and 5.10 state beta). *Laws*: with a random oracle the law is the same as with entries. Its estimates have
    independent errors, so their means are proportional to the true probabilities.

    Examples
    --------
    >>> from mechanisms import RandomizedResponse
    >>> from mechanisms.local import NonInteractiveProtocol
    >>> from mechanisms.queries import Population
    >>> protocol = NonInteractiveProtocol(queries=[(0, RandomizedResponse(epsilon=1.0))], size=1)
    >>> simulation = ProtocolSimulation(protocol=protocol, accesses=1, beta=0.3)
    >>> subject = SimulatedProtocol(simulation=simulation, population=Population([0, 1]))
    >>> print(subject.claim, round(subject.distribution(["exact"]).pmf((1,)), 12))
    ApproximateDP(epsilon=0, delta=0.3) 0.5
    """

    simulation: ProtocolSimulation
    population: Population
    name: str = "simulated-local-protocol"
    reference: str = "K11 Claims 5.9 and 5.10"

    relation: ClassVar[Relation] = Relation.LOCAL
    size: ClassVar[int] = 1
    records: ClassVar[Sequence[str]] = ("entries", "exact", "random", *_STEADY)

    def __post_init__(self) -> None:
        if not isinstance(self.simulation, ProtocolSimulation):
            raise InvalidKind(
                "The `simulation` of `SimulatedProtocol` must be a `ProtocolSimulation`; "
                f"got {self.simulation!r:.60}."
            )
        check_population(self.population, owner="SimulatedProtocol", has="places")

    @property
    def claim(self) -> ApproximateDP:
        """The claim that the statistical distance is at most beta."""
        return ApproximateDP(0.0, self.simulation.beta)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the simulation."""
        return {"accesses": self.simulation.accesses, "beta": self.simulation.beta}

    def __call__(self, database: Sequence[str], rng: np.random.Generator) -> Any:
        """Return the output of one run."""
        if (answering := self._record(database)) != "entries":
            return self.simulation.run(self._oracle(answering, rng), rng)
        size = self.simulation.protocol.size
        return self.simulation.protocol(self.population.sample(size, rng), rng)

    def sample(self, database: Sequence[str], size: int, rng: np.random.Generator) -> list[Any]:
        """Return the outputs of `size` runs."""
        if (answering := self._record(database)) != "entries":
            return self.simulation.sample(self._oracle(answering, rng), size, rng)
        protocol = self.simulation.protocol
        drawn = self.population.places(size * protocol.size, rng).reshape(size, protocol.size)
        kinds, which = np.unique(drawn, axis=0, return_inverse=True)
        outputs: list[Any] = [None] * size
        for kind, places in enumerate(kinds.tolist()):
            runs = np.flatnonzero(which.ravel() == kind).tolist()
            found = protocol.sample([self.population.points[place] for place in places], len(runs), rng)
            for run, output in zip(runs, found, strict=True):
                outputs[run] = tuple(output.tolist()) if isinstance(output, np.ndarray) else output
        return outputs

    def distribution(self, database: Sequence[str]) -> Finite:
        """Return the exact law of the output."""
        answering = self._record(database)
        if answering in ("entries", "random"):
            return self.simulation.law(self.population)
        return self.simulation.simulated_law(self._oracle(answering, np.random.default_rng(0)))

    def suggested_pairs(self) -> list[Pair]:
        """Return, for each oracle, the pair of its database and of ["entries"]."""
        return [(["entries"], [record]) for record in self.records[1:]]

    def _record(self, database: Sequence[str]) -> str:
        record = only_record(database, owner="SimulatedProtocol")
        if record not in self.records:
            known = ", ".join(self.records)
            raise InvalidValue(f"A record of `SimulatedProtocol` must be one of {known}; got {record!r:.40}.")
        return str(record)

    def _oracle(self, record: str, rng: np.random.Generator) -> Oracle:
        if record == "exact":
            return ExactOracle(self.population)
        if record == "random":
            return RandomOracle(self.population, rng=rng)
        return AdversarialOracle(self.population, record)


class _SimulatedCoarsely(SimulatedProtocol):
    """A protocol and its simulation with K08's tolerance, without the random oracle."""

    records = ("entries", "exact", *_STEADY)


@dataclass(frozen=True, eq=False, kw_only=True)
class CoarseSimulation(ProtocolSimulation):
    """A flawed simulation with the tolerance of K08 Lemmas 4.4 and 4.5 (finding N11).

    The tolerance is beta/t for t answers, and the acceptance is p̃/(q·e^epsilon).

    Parameters
    ----------
    protocol, accesses, beta
        As in `ProtocolSimulation`, which asks with tolerance beta/(3t·e^(2·epsilon)).

    Guarantee
    ---------
    None: the relative error of an estimate can be e^(2·epsilon) times the tolerance.

    Examples
    --------
    >>> from mechanisms import RandomizedResponse
    >>> from mechanisms.local import NonInteractiveProtocol
    >>> from mechanisms.queries import Population
    >>> protocol = NonInteractiveProtocol(queries=[(0, RandomizedResponse(epsilon=3.0))], size=1)
    >>> coarse = CoarseSimulation(protocol=protocol, accesses=1, beta=0.1)
    >>> subject = SimulatedProtocol(simulation=coarse, population=Population([1]))
    >>> [round(subject.distribution([record]).pmf((0,)), 2) for record in ("entries", "up")]
    [0.05, 0.67]
    """

    @property
    def terms(self) -> SimulationTerms:
        """The terms of the simulated database."""
        right = super().terms
        return _CoarseTerms(
            size=right.size,
            records=right.records,
            accesses=right.accesses,
            beta=right.beta,
            epsilon=right.epsilon,
        )


class _CoarseTerms(SimulationTerms):
    """The parameters of a simulated database with K08's tolerance."""

    def access(self, question: Question, past: Past) -> Access:
        right = super().access(question, past)
        return _CoarseAccess(
            randomizer=right.randomizer,
            past=past,
            base=right.base,
            epsilon=right.epsilon,
            phi=right.phi,
        )


class _CoarseAccess(Access):
    """Rejection sampling with the tolerance beta/t and the divisor e^epsilon of K08."""

    @property
    def tau(self) -> float:
        return 3.0 * self.phi

    @property
    def ceiling(self) -> float:
        return float(np.exp(self.epsilon))


def simulated_poll(*, beta: float = 0.3) -> SimulatedProtocol:
    """Return a mechanism that runs or simulates `poll_twice` on two entries.

    Examples
    --------
    >>> print(simulated_poll().claim)
    ApproximateDP(epsilon=0, delta=0.3)
    """
    protocol = InteractiveProtocol(algorithm=partial(poll_twice, epsilon=1.0), epsilon=1.0)
    return SimulatedProtocol(
        simulation=ProtocolSimulation(protocol=protocol, accesses=4, beta=beta),
        population=Population([0, 1], [0.35, 0.65]),
    )


def coarse_response(*, epsilon: float = 3.0, beta: float = 0.1) -> SimulatedProtocol:
    """Return a mechanism that runs or simulates randomized response.

    The simulation has the tolerance of K08 Lemma 4.4.

    Examples
    --------
    >>> coarse_response().population.points
    [1]
    """
    protocol = NonInteractiveProtocol(queries=[(0, RandomizedResponse(epsilon=epsilon))], size=1)
    return _SimulatedCoarsely(
        simulation=CoarseSimulation(protocol=protocol, accesses=1, beta=beta),
        population=Population([1]),
        name="flawed-simulated-response",
        reference="K08 Lemma 4.4, with its tolerance",
    )


_POLL, _COARSE = simulated_poll(), coarse_response()

entries = (
    Entry(
        _POLL.name,
        simulated_poll,
        options={"budget": 2_000},
        formulas=losses.simulated_poll,
        reference=_POLL.reference,
        summary="two rounds on two entries, by statistical queries: distance 0.012, allowed 0.3",
    ),
    Entry(
        _COARSE.name,
        coarse_response,
        options={"budget": 2_000},
        expected="refuted",
        reference=_COARSE.reference,
        summary="a response simulated within β/t for β/(3t·e^2ε): distance 0.67, allowed 0.1",
    ),
)
