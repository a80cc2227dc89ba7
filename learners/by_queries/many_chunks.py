"""Many runs of an adaptive SQ algorithm at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidValue, positive_int
from learners.finite.listed import kinds, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from learners.by_queries.chunks import ChunkNoise

    Floats = NDArray[np.float64]

__all__ = ["ManyChunks"]

_CELLS = 2**21
"""The most values of a query in memory at once: 16 MB."""


class ManyChunks:
    """Answers the queries of many runs, as `EvenChunks` does for one.

    Parameters
    ----------
    database
        The n records.
    queries
        M, the largest number of queries in a run. Each chunk has ⌊n/M⌋ records.
    noise
        The model and epsilon.
    runs
        How many runs.
    rng
        Where the noise comes from.

    Raises
    ------
    InvalidValue
        There are fewer than M records, more than M queries are asked, or a run asks again after it skipped a
        query.

    Guarantee
    ---------
    The answers to a run have the same law as those of `EvenChunks`. The average over a chunk is computed from
    the kinds of records and their numbers in the chunk. Given the earlier answers, the noise has the law
    `ChunkNoise.law`. In the local model this is the law of the average of the records' own noise. A run that
    skips a query asks no more queries, so query k is always answered from chunk k. With equal generators, run
    i uses the same noise on all databases of one length.

    Examples
    --------
    >>> from learners.by_queries.chunks import ChunkNoise
    >>> oracle = ManyChunks(
    ...     [0] * 500 + [1] * 500,
    ...     queries=2,
    ...     noise=ChunkNoise("local", 100.0),
    ...     runs=3,
    ...     rng=np.random.default_rng(0),
    ... )
    >>> records = np.array(oracle.records)
    >>> for _ in range(2):
    ...     answers = oracle.ask(lambda places: np.tile(records[places], (3, 1)), width=1.0)
    ...     print((answers.round(1) + 0.0).tolist())
    [0.0, 0.0, 0.0]
    [1.0, 1.0, 1.0]
    """

    def __init__(
        self,
        database: Sequence[Any],
        *,
        queries: int,
        noise: ChunkNoise,
        runs: int,
        rng: np.random.Generator,
    ) -> None:
        self._most = positive_int(queries, what="The `queries` of `ManyChunks`")
        self.chunk = len(database) // self._most
        if not self.chunk:
            raise InvalidValue(f"`ManyChunks` must have a record for each of {queries} queries.")
        self._sample = listed(database)
        self.records: Sequence[Any] = kinds(self._sample)
        self.runs, self._noise, self._rng, self._used = runs, noise, rng, 0
        self._asking = np.arange(runs)

    def ask(
        self,
        values: Callable[[NDArray[np.intp]], NDArray[Any]],
        *,
        width: float,
        active: NDArray[np.intp] | None = None,
    ) -> Floats:
        """Return the answer to each active run.

        Parameters
        ----------
        values
            Takes indices into `records` and returns the values of the active runs' queries, shape (active
            runs, indices).
        width
            High minus low of the queries.
        active
            The runs that ask, by default all. Each must have asked the previous query too.
        """
        if self._used == self._most:
            raise InvalidValue(f"`ManyChunks` must be asked at most {self._most} queries.")
        asking = self._next_to_ask(active)
        start = self._used * self.chunk
        self._used += 1
        counts = self._sample.counts(start, start + self.chunk)
        noise = self._noise.law(self.chunk, width=width).sample(self.runs, self._rng)
        return np.asarray(self._means(values, counts) + noise[asking])

    def _next_to_ask(self, active: NDArray[np.intp] | None) -> NDArray[np.intp]:
        asking = np.arange(self.runs) if active is None else np.asarray(active)
        if not np.isin(asking, self._asking).all():
            raise InvalidValue("A run of `ManyChunks` must ask no more once it left a query out; one did.")
        self._asking = asking
        return asking

    def _means(self, values: Callable[[NDArray[np.intp]], NDArray[Any]], counts: NDArray[np.intp]) -> Any:
        present, block = np.flatnonzero(counts), max(1, _CELLS // self.runs)
        parts = (present[first : first + block] for first in range(0, len(present), block))
        return sum(values(part) @ counts[part].astype(np.float64) for part in parts) / self.chunk
