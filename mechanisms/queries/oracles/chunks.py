"""Oracles that answer every query from records that no other query has seen."""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from audit.errors import InvalidKind, InvalidValue, finite_number, positive_int, probability
from mechanisms.queries.oracles.oracle import Oracle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mechanisms.queries.statistical import StatisticalQuery

__all__ = ["ChunkOracle", "SampleOracle", "sample_size", "sampling_size"]


def sampling_size(*, tau: float, beta: float, width: float = 1.0) -> int:
    """Return how many records keep an average within `tau` of the mean.

    `beta` is the allowed probability of a larger error.

    Parameters
    ----------
    tau
        Tolerance, > 0.
    beta
        Probability of failure allowed, in (0, 1).
    width
        Length of the query's range.

    Guarantee
    ---------
    n = ⌈width²·ln(2/beta)/(2·tau²)⌉, at least 1. By Hoeffding, Pr[|average − mean| ≥ tau] ≤
    2·exp(−2·n·tau²/width²) ≤ beta.

    Examples
    --------
    >>> sampling_size(tau=0.1, beta=0.05)
    185
    """
    tau = finite_number(tau, what="The `tau` of `sampling_size`", above=0)
    beta = probability(beta, what="The `beta` of `sampling_size`", zero=False, one=False)
    width = finite_number(width, what="The `width` of `sampling_size`", above=0)
    ratio = width / tau
    return whole(ratio * ratio * math.log(2.0 / beta) / 2.0)


def sample_size(queries: int, *, tau: float, beta: float, width: float = 1.0) -> int:
    """Return how many records `SampleOracle` needs for this many queries.

    Guarantee
    ---------
    The number is M·⌈width²·ln(2M/beta)/(2·tau²)⌉ for M queries. This is B Theorem 6's O((M/tau²)·log(M/beta))
    with its constant. Each of the M chunks fails with probability at most beta/M, so the probability that
    some chunk fails is at most beta. Chunks are disjoint, so a query is independent of its own chunk.

    Examples
    --------
    >>> sample_size(10, tau=0.1, beta=0.05)
    3000
    """
    queries = positive_int(queries, what="The `queries` of `sample_size`")
    beta = probability(beta, what="The `beta` of `sample_size`", zero=False, one=False)
    return queries * sampling_size(tau=tau, beta=beta / queries, width=width)


class ChunkOracle(Oracle):
    """Answers each query from its own chunk of a sample.

    Subclasses define `chunk_size` and `estimate`.

    Parameters
    ----------
    sample
        The records, drawn independently from the distribution asked about.
    queries
        The number M of queries that may be asked.
    beta
        The allowed probability that at least one answer misses its tolerance.

    Raises
    ------
    InvalidValue
        A round needs more records than are left, or brings the number of queries above M. None of its queries
        is answered. Or a value lies outside the range of its query. No records are used up.

    Examples
    --------
    >>> issubclass(SampleOracle, ChunkOracle)
    True
    """

    def __init__(self, sample: Sequence[Any] | NDArray[Any], *, queries: int, beta: float) -> None:
        super().__init__()
        owner = type(self).__name__
        if not (
            hasattr(sample, "__len__") and (hasattr(sample, "__getitem__") or hasattr(sample, "ask_all"))
        ):
            raise InvalidKind(
                f"The `sample` of `{owner}` must be a sequence or an array; got {sample!r:.60}."
            )
        self.sample = sample
        self.most_queries = positive_int(queries, what=f"The `queries` of `{owner}`")
        self.beta = probability(beta, what=f"The `beta` of `{owner}`", zero=False, one=False)
        self.used = 0

    @property
    def left(self) -> int:
        """Number of records that no query has seen."""
        return len(self.sample) - self.used

    @property
    def beta_each(self) -> float:
        """The probability of failure that each query is allowed."""
        return self.beta / self.most_queries

    @abstractmethod
    def chunk_size(self, query: StatisticalQuery) -> int:
        """Return how many fresh records the query takes, from public values only."""

    @abstractmethod
    def estimate(self, query: StatisticalQuery, seen: Any) -> float:
        """Return the answer from the values of the query on its chunk."""

    def _prepare(self, queries: Sequence[StatisticalQuery]) -> None:
        owner = type(self).__name__
        if self.asked + len(queries) > self.most_queries:
            raise InvalidValue(
                f"`{owner}` must be asked at most {self.most_queries} queries, its `queries`; "
                f"got query {self.most_queries + 1}."
            )
        needed = sum(self.chunk_size(query) for query in queries)
        if needed > self.left:
            raise InvalidValue(
                f"`{owner}` must have {needed} fresh records for this round; "
                f"{self.left} of {len(self.sample)} are left."
            )

    def _answers(self, queries: Sequence[StatisticalQuery]) -> list[float]:
        chunks = self._chunks(queries)
        before, after = self.used, self.used + sum(len(part) for _, part in chunks)
        self.used = after  # before any function of a query is called: it could ask this oracle
        try:
            seen = [query.values(self.sample[part.start : part.stop]) for query, part in chunks]
        except BaseException:
            if self.used == after:  # nothing was answered since
                self.used = before
            raise
        return [self.estimate(query, values) for (query, _), values in zip(chunks, seen, strict=True)]

    def _answer(self, query: StatisticalQuery) -> float:
        return self._answers([query])[0]

    def _chunks(self, queries: Sequence[StatisticalQuery]) -> list[tuple[StatisticalQuery, range]]:
        """Return each query of a round with the indices of the records in its chunk."""
        ends = itertools.accumulate(map(self.chunk_size, queries), initial=self.used)
        return [
            (query, range(start, stop))
            for query, (start, stop) in zip(queries, itertools.pairwise(ends), strict=True)
        ]


class SampleOracle(ChunkOracle):
    """Answers with the average over a fresh chunk (B Theorem 6).

    Parameters
    ----------
    sample, queries, beta
        As in `ChunkOracle`.

    Guarantee
    ---------
    With probability 1 − beta over the sample, all answers are within their tolerance. Each chunk has
    `sampling_size` records at failure probability beta/queries. The answers are not private.

    Examples
    --------
    >>> from mechanisms.queries import StatisticalQuery
    >>> ones = StatisticalQuery.fraction(bool, tau=0.1)
    >>> SampleOracle([0, 1] * 150, queries=10, beta=0.05).ask(ones)
    0.5
    >>> SampleOracle([0, 1] * 100, queries=10, beta=0.05).ask(ones)
    Traceback (most recent call last):
    audit.errors.InvalidValue: `SampleOracle` must have 300 fresh records for this round; 200 of 200 are left.
    """

    def chunk_size(self, query: StatisticalQuery) -> int:
        """Return the query's `sampling_size`."""
        return sampling_size(tau=query.tau, beta=self.beta_each, width=query.width)

    def estimate(self, query: StatisticalQuery, seen: Any) -> float:
        """Return the average."""
        del query
        return float(seen.mean())


def whole(size: float) -> int:
    """Return a size rounded up, at least 1.

    Raises
    ------
    InvalidValue
        The size is NaN, or 2^62 or more.

    Examples
    --------
    >>> whole(2.5), whole(0.0)
    (3, 1)
    """
    if not size < _COUNTABLE:
        raise InvalidValue(
            f"The tolerance must be one that {_COUNTABLE:g} records can reach; got {size:.3g}."
        )
    return max(1, math.ceil(size))


_COUNTABLE = 2.0**62
