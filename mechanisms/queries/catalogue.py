"""The catalogue's entries for statistical queries: answers from disjoint chunks, and their flawed twins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from audit.catalogue import Entry
from mechanisms.queries.private_answers import LiteralQueryAnswers, PrivateQueryAnswers

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mechanisms.neighbours import Pair

__all__ = ["SharedChunkAnswers", "entries", "literal_answers", "private_answers"]


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


def entries() -> list[Entry]:
    """Return the entries, the right ones first.

    Examples
    --------
    >>> [entry.expected for entry in entries()]
    ['not refuted', 'not refuted', 'refuted']
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
            SharedChunkAnswers.name,
            SharedChunkAnswers,
            expected="refuted",
            reference=SharedChunkAnswers.reference,
            summary="one chunk for both queries: loss 2ε",
        ),
    ]
