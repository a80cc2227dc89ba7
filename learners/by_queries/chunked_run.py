"""Private runs of SQ algorithms, each query on its own records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from audit.errors import InvalidValue
from audit.relations import Relation
from learners.by_queries.chunks import INSUFFICIENT, ChunkNoise, EvenChunks
from learners.by_queries.many_chunks import ManyChunks
from learners.finite.listed import kinds
from mechanisms.subjects.draws import ChecksDraws
from mechanisms.subjects.sizes import StatedSize

if TYPE_CHECKING:
    import numpy as np

    from learners.by_queries.chunks import Model

__all__ = ["ChunkedRun"]


class ChunkedRun(StatedSize, ChecksDraws):
    """A private run of an SQ algorithm, each query on its own records.

    Examples
    --------
    >>> from learners import KMeans
    >>> isinstance(KMeans(), ChunkedRun)
    True
    """

    model: Model
    epsilon: float
    records: tuple[Any, ...] | None
    size: int | tuple[int, int] | None

    reference: ClassVar[str] = "K11 §1.1.1; B Theorem 7; K11 §5.1"
    relation: ClassVar[Relation] = Relation.REPLACE_ONE
    aligned: ClassVar[bool] = True

    if TYPE_CHECKING:

        @property
        def algorithm(self) -> Any:
            """The SQ algorithm, with `most_queries`, `learn` and `learn_many`."""

        @property
        def _wanted(self) -> str:
            """What a valid record is, in words."""

        def _is_record(self, record: Any) -> bool: ...

    def _settle(self, records: tuple[Any, ...]) -> None:
        """Check `model`, and set the defaults of `records` and `size`."""
        ChunkNoise(self.model, self.epsilon)
        for name, value in (("size", self.algorithm.most_queries), ("records", records)):
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)

    def vary(self, problem: Any, rng: np.random.Generator) -> Any:
        """Return a problem near the given one."""
        return problem.varied(rng)

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return what the algorithm learns, or "insufficient samples"."""
        queries = self._queries(database)
        if queries is None:
            return INSUFFICIENT
        noise = ChunkNoise(self.model, self.epsilon)
        return self.algorithm.learn(EvenChunks(database, queries=queries, noise=noise, rng=rng))

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return the outputs of `size` runs."""
        queries = self._queries(database)
        if queries is None:
            return [INSUFFICIENT] * size
        noise = ChunkNoise(self.model, self.epsilon)
        oracle = ManyChunks(database, queries=queries, noise=noise, runs=size, rng=rng)
        return list(self.algorithm.learn_many(oracle))

    def _queries(self, database: Any) -> int | None:
        """Return the number of chunks; None if the database is too short."""
        for record in kinds(database):
            if not self._is_record(record):
                owner = type(self).__name__
                raise InvalidValue(f"A record of `{owner}` must be {self._wanted}; got {record!r:.60}.")
        queries: int = self.algorithm.most_queries
        return queries if len(database) >= queries else None
