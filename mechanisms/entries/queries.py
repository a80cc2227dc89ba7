"""The catalogue's entries for statistical queries: answers from disjoint chunks, and their flawed twins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from audit.catalogue import Entry
from mechanisms.entries import noisy_labels
from mechanisms.local.algorithms import poll_twice
from mechanisms.local.oracle import LROracle
from mechanisms.local.protocols import InteractiveProtocol, NonInteractiveProtocol
from mechanisms.queries.oracles.local_answers import SignEntries, TranscribedOracle
from mechanisms.queries.population import Population
from mechanisms.queries.runs.noisy_algorithms import direction_and_error
from mechanisms.queries.runs.private_answers import LiteralQueryAnswers, PrivateQueryAnswers
from mechanisms.queries.runs.sq_runs import CentralRun, LocalRun
from mechanisms.queries.simulations.protocol_simulation import ProtocolSimulation
from mechanisms.queries.simulations.simulated_protocol import CoarseSimulation, SimulatedProtocol
from mechanisms.queries.simulations.tables import clamped_geometric
from mechanisms.responses.binary import RandomizedResponse

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mechanisms.queries.statistical import StatisticalQuery
    from mechanisms.subjects.neighbours import Pair

__all__ = [
    "ReusedEntries",
    "SharedChunkAnswers",
    "coarse_response",
    "entries",
    "literal_answers",
    "many_answers",
    "private_answers",
    "simulated_poll",
]


def private_answers(*, epsilon: float = 1.0, chunk: int = 2) -> PrivateQueryAnswers:
    """Return two private answers from chunks small enough to list every database.

    Examples
    --------
    >>> private_answers().size
    4
    """
    return PrivateQueryAnswers(epsilon=epsilon, chunk=chunk)


def literal_answers(*, epsilon: float = 1.0, chunk: int = 2) -> LiteralQueryAnswers:
    """Return the same with the proofs' noise.

    Examples
    --------
    >>> print(literal_answers().claim)
    PureDP(epsilon=1)
    """
    return LiteralQueryAnswers(epsilon=epsilon, chunk=chunk)


@dataclass(frozen=True, kw_only=True)
class SharedChunkAnswers(PrivateQueryAnswers):
    """Wrong: all queries are answered from the whole database, with the noise of disjoint chunks.

    Parameters
    ----------
    epsilon, queries, beta, chunk, records
        As in `PrivateQueryAnswers`; every query sees the first chunk, which is the database.

    Guarantee
    ---------
    Only M·epsilon-private, where epsilon is claimed: a record has part in all M answers, each loses epsilon.

    Examples
    --------
    >>> SharedChunkAnswers(chunk=2).averages([0, 1])
    array([0.5, 0.5])
    """

    chunk: int | None = 2

    name: ClassVar[str] = "flawed-shared-chunk-answers"
    reference: ClassVar[str] = "B Theorem 7 with one chunk for all queries"

    @property
    def size(self) -> int:
        """Length of a database: one chunk."""
        return self.chunk_size

    def averages(self, database: Any) -> NDArray[np.float64]:
        """Return the average of each query over the whole database."""
        whole = list(database) * len(self.queries)
        return PrivateQueryAnswers(queries=self.queries, chunk=len(database)).averages(whole)

    def suggested_pairs(self) -> list[Pair]:
        """Return a constant database of one chunk and its neighbour."""
        low, high = self.records[0], self.records[-1]
        return [([low] * self.size, [high, *[low] * (self.size - 1)])]


class _SameEntries(TranscribedOracle):
    """Answers every query from the first entries, each query within epsilon."""

    def _answers(self, queries: Sequence[StatisticalQuery]) -> list[float]:
        answers = super()._answers(queries)
        self.used = 0
        return answers


@dataclass(frozen=True, kw_only=True)
class ReusedEntries(LocalRun):
    """Wrong: the entries that answered the first query answer the second as well, with all of epsilon again.

    Parameters
    ----------
    epsilon, tau, beta, size, records, make, estimator, view
        As in `LocalRun`; half as many entries for two queries.

    Guarantee
    ---------
    Only M·epsilon-private, where epsilon is claimed: an entry reports M times. The output, averages over all
    entries, shows little of that; the transcript shows it.

    Examples
    --------
    >>> 2 * ReusedEntries().size == LocalRun().size
    True
    """

    name: ClassVar[str] = "flawed-local-reused-entries"
    reference: ClassVar[str] = "K11 Theorem 5.7 with the same entries for every query"

    @property
    def least_size(self) -> int:
        """The number of entries that answer one query."""
        return super().least_size // self.algorithm.queries

    def _oracle(self, database: Any, rng: np.random.Generator) -> TranscribedOracle:
        asked = self.algorithm.queries
        return _SameEntries(
            LROracle(database, epsilon=asked * self.epsilon, rng=rng),
            estimator=self.estimator(self.epsilon),
            queries=asked,
            beta=self.beta,
        )

    def suggested_pairs(self) -> list[Pair]:
        """Return a constant database, and the same with its first entry replaced."""
        return super().suggested_pairs()[:1]


def entries() -> list[Entry]:
    """Return the entries, the right ones first.

    Examples
    --------
    >>> [entry.name for entry in entries() if entry.expected == "refuted"]
    ['flawed-simulated-response', 'flawed-bounded-noise-reused-examples', 'flawed-local-reused-entries',
    'flawed-shared-chunk-answers']
    """
    return [
        Entry(
            PrivateQueryAnswers.name,
            private_answers,
            expected="not refuted",
            reference=PrivateQueryAnswers.reference,
            summary="two statistical queries from disjoint chunks",
        ),
        Entry(
            LiteralQueryAnswers.name,
            literal_answers,
            expected="not refuted",
            reference=LiteralQueryAnswers.reference,
            summary="the same with the proofs' noise: found ε/2, and inaccurate",
        ),
        Entry(
            "local-clamped-geometric",
            partial(clamped_geometric, epsilon=1.0, top=5),
            expected="not refuted",
            reference=clamped_geometric(1.0, 5).reference,
            summary="a transparent randomizer by its table, that of Claims 5.9 and 5.10",
        ),
        *_simulated(),
        *_with_utility(),
        *noisy_labels.entries(),
        Entry(
            ReusedEntries.name,
            partial(
                ReusedEntries,
                view="transcript",
                epsilon=1.0,
                tau=0.9,
                records=((1, 1), (1, -1)),
                make=direction_and_error,
                estimator=SignEntries,
            ),
            options={"budget": 4_000, "confirm_budget": 500},
            expected="refuted",
            reference=ReusedEntries.reference,
            summary="every entry answers both queries of a local run: loss 2ε",
        ),
        Entry(
            SharedChunkAnswers.name,
            SharedChunkAnswers,
            expected="refuted",
            reference=SharedChunkAnswers.reference,
            summary="one chunk for both queries: loss 2ε",
        ),
    ]


def many_answers(kind: type[PrivateQueryAnswers], *, queries: int = 16) -> PrivateQueryAnswers:
    """Return answers within 1 to many queries, from chunks as large as their utility needs.

    Examples
    --------
    >>> print(many_answers(PrivateQueryAnswers).utility_claim)
    Accuracy(alpha=1, beta=0.05)
    """
    return kind(queries=(PrivateQueryAnswers().queries[0].with_tau(1.0),) * queries)


def simulated_poll(*, beta: float = 0.3) -> SimulatedProtocol:
    """Return two rounds on two entries, the second in view of the first, beside their simulation.

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
    """Return one randomized response beside a simulation with the tolerance of K08 Lemma 4.4.

    Examples
    --------
    >>> coarse_response().population.points
    [1]
    """
    protocol = NonInteractiveProtocol(queries=[(0, RandomizedResponse(epsilon=epsilon))], size=1)
    return SimulatedProtocol(
        simulation=CoarseSimulation(protocol=protocol, accesses=1, beta=beta),
        population=Population([1]),
        name="flawed-simulated-response",
        reference="K08 Lemma 4.4, with its tolerance",
    )


def _simulated() -> list[Entry]:
    right, coarse = simulated_poll(), coarse_response()
    return [
        Entry(
            right.name,
            simulated_poll,
            options={"budget": 2_000},
            expected="not refuted",
            reference=right.reference,
            summary="two rounds on two entries, by statistical queries: distance 0.012 for 0.3",
        ),
        Entry(
            coarse.name,
            coarse_response,
            options={"budget": 2_000},
            expected="refuted",
            reference=coarse.reference,
            summary="a response simulated within β/t for β/(3t·e^2ε): distance 0.67 for 0.1",
        ),
    ]


def _with_utility() -> list[Entry]:
    return [
        Entry(
            "private-query-answers-many",
            partial(many_answers, PrivateQueryAnswers),
            options={"pairs": many_answers(PrivateQueryAnswers).suggested_pairs()[:1]},
            utility={},
            reference=PrivateQueryAnswers.reference,
            summary="16 queries within 1 but for 5 %",
        ),
        Entry(
            "literal-query-answers-many",
            partial(many_answers, LiteralQueryAnswers),
            options={
                "pairs": many_answers(LiteralQueryAnswers).suggested_pairs()[:1],
                "budget": 20_000,
            },
            utility={},
            utility_expected="refuted",
            reference=LiteralQueryAnswers.reference,
            summary="the same with the proofs' noise: found ε/16, and off by more than 1 in 47 %",
        ),
        Entry(
            LocalRun.name,
            LocalRun,
            options={"budget": 7_000},  # the claim is ε = 4: fewer runs catch no ε at all
            utility={},
            reference=LocalRun.reference,
            summary="two statistical queries, the second in view of the first, by local reports (no law)",
        ),
        Entry(
            f"{LocalRun.name}-transcript",
            partial(LocalRun, view="transcript"),
            options={"budget": 10_000},
            reference=LocalRun.reference,
            summary="what the same run makes public: every report (no law)",
        ),
        Entry(
            CentralRun.name,
            CentralRun,
            options={"budget": 10_000},
            utility={},
            reference=CentralRun.reference,
            summary="the same two on private answers (no law)",
        ),
    ]
