"""Answers to statistical queries that spend more privacy than they claim."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from audit.catalogue import Entry
from mechanisms.local.oracle import LROracle
from mechanisms.queries.oracles.local_answers import SignEntries, TranscribedOracle
from mechanisms.queries.runs.noisy_algorithms import direction_and_error
from mechanisms.queries.runs.private_answers import PrivateQueryAnswers
from mechanisms.queries.runs.sq_runs import LocalRun

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mechanisms.queries.statistical import StatisticalQuery
    from mechanisms.subjects.neighbours import Pair

__all__ = ["ReusedEntries", "SharedChunkAnswers"]


@dataclass(frozen=True, kw_only=True)
class SharedChunkAnswers(PrivateQueryAnswers):
    """Answers from the whole database with the noise that suits disjoint chunks.

    Parameters
    ----------
    epsilon, queries, beta, chunk, records
        As in `PrivateQueryAnswers`. A database is one chunk, and every query is answered from it.

    Guarantee
    ---------
    Only M·epsilon-private for M queries, although epsilon is claimed. A record affects all M answers, and
    each answer spends epsilon.

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
        """Length of a database, which is one chunk."""
        return self.chunk_size

    def averages(self, database: Any) -> NDArray[np.float64]:
        """Return the average of each query over the whole database."""
        whole = list(database) * len(self.queries)
        return PrivateQueryAnswers(queries=self.queries, chunk=len(database)).averages(whole)

    def suggested_pairs(self) -> list[Pair]:
        """Return a constant database and the same with its first record replaced."""
        low, high = self.records[0], self.records[-1]
        return [([low] * self.size, [high, *[low] * (self.size - 1)])]


class _SameEntries(TranscribedOracle):
    """Answers every query from the same entries."""

    def _answers(self, queries: Sequence[StatisticalQuery]) -> list[float]:
        answers = super()._answers(queries)
        self.used = 0
        return answers


@dataclass(frozen=True, kw_only=True)
class ReusedEntries(LocalRun):
    """A local run that spends the whole epsilon of an entry twice.

    Parameters
    ----------
    epsilon, tau, beta, size, records, make, estimator, view
        As in `LocalRun`, but the default `size` is what one query needs.

    Guarantee
    ---------
    Only M·epsilon-private for M queries, because an entry reports M times. The claim is epsilon. The loss
    beyond epsilon shows in the transcript, and hardly in the output.

    Examples
    --------
    >>> 2 * ReusedEntries().size == LocalRun().size
    True
    """

    name: ClassVar[str] = "flawed-local-reused-entries"
    reference: ClassVar[str] = "K11 Theorem 5.7 with the same entries for every query"

    @property
    def _needed(self) -> int:
        """The number of entries that answer one query."""
        return super()._needed // self.algorithm.queries

    def _oracle(self, database: Any, rng: np.random.Generator) -> TranscribedOracle:
        asked = self.algorithm.queries
        return _SameEntries(
            LROracle(database, epsilon=asked * self.epsilon, rng=rng),
            estimator=self.estimator(self.epsilon),
            queries=asked,
            beta=self.beta,
        )

    def suggested_pairs(self) -> list[Pair]:
        """Return a constant database and the same with its first entry replaced."""
        return super().suggested_pairs()[:1]


entries = (
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
)
