"""Private answers to statistical queries, each from its own chunk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from audit.errors import InvalidValue, check_word, finite_number, positive_int
from mechanisms.local.averaging.sizes import laplace_size
from mechanisms.local.averaging.sums import LaplaceSum
from mechanisms.local.laplace import LocalLaplace
from mechanisms.local.oracle import LROracle
from mechanisms.queries import Oracle, private_chunk_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mechanisms.queries import StatisticalQuery

__all__ = ["INSUFFICIENT", "ChunkNoise", "EvenChunks", "Model"]

INSUFFICIENT: Final = "insufficient samples"
"""The answer if the database has fewer records than queries; only the number of records, which is public,
decides it."""

Model = Literal["central", "local"]
"""Who adds the noise: the curator to each average (central), or each record to its own value (local)."""


@dataclass(frozen=True)
class ChunkNoise:
    """The noise on the average over a chunk.

    Parameters
    ----------
    model
        ``"central"`` or ``"local"``.
    epsilon
        The privacy of all answers together, > 0.

    Guarantee
    ---------
    Each record lies in one chunk and affects one answer. Given the earlier answers, the other answers have
    the same law on neighbouring databases. Let the values of a query lie in a range of some width.

    *Central.* If a record is replaced, the average over m records moves by at most width/m. So noise of scale
    width/(m·epsilon) makes the answer epsilon-private.

    *Local.* Each record adds Laplace noise of scale width/epsilon to its value. This makes its report
    epsilon-private for every later use (K11 Definition 5.3). The average of the m reports is the chunk's mean
    plus a sum of m such variables, divided by m.

    So, given the earlier answers, an answer is the chunk's mean plus a `LaplaceSum`. It has one term in the
    central model and m terms in the local model.

    Examples
    --------
    >>> ChunkNoise("central", 2.0).law(10, width=1.0), ChunkNoise("local", 2.0).law(10, width=1.0)
    (LaplaceSum(size=1, scale=0.05), LaplaceSum(size=10, scale=0.05))
    """

    model: Model
    epsilon: float

    def __post_init__(self) -> None:
        check_word(self.model, Model, what="The `model`")
        finite_number(self.epsilon, what="The `epsilon` of `ChunkNoise`", above=0)

    def law(self, chunk: int, *, width: float) -> LaplaceSum:
        """Return the law of the noise on an average."""
        return LaplaceSum(1 if self.model == "central" else chunk, width / (self.epsilon * chunk))

    def chunk_size(self, queries: Sequence[StatisticalQuery], *, beta: float) -> int:
        """Return the size of a chunk for answers within tolerance.

        Guarantee
        ---------
        All answers are within tolerance with probability 1 − beta, over sample and noise. Each query gets an
        equal part of beta. The size is the largest that `private_chunk_size` (central) or `laplace_size`
        (local) returns for any of the queries.
        """
        return max(self._size(query, queries=len(queries), beta=beta) for query in queries)

    def _size(self, query: StatisticalQuery, *, queries: int, beta: float) -> int:
        if self.model == "central":
            return private_chunk_size(
                queries, tau=query.tau, beta=beta, epsilon=self.epsilon, width=query.width
            )
        half = query.width / 2.0
        return laplace_size(tau=query.tau, beta=beta / queries, epsilon=self.epsilon, bound=half)

    def tails(self, means: Any, *, threshold: float, chunk: int, width: float) -> NDArray[np.float64]:
        """Return log Pr[answer ≤ threshold] and log Pr[answer > threshold], shape (2, …).

        Examples
        --------
        >>> logs = ChunkNoise("central", 1.0).tails(np.array([0.5]), threshold=0.5, chunk=3, width=1.0)
        >>> np.exp(logs).round(12).tolist()
        [[0.5], [0.5]]
        """
        noise, gaps = self.law(chunk, width=width), threshold - np.asarray(means, dtype=np.float64)
        return np.array([noise.logcdf(gaps), noise.logsf(gaps)])


class EvenChunks(Oracle):
    """Private answers to M queries, each from its own chunk of ⌊n/M⌋ records.

    Parameters
    ----------
    sample
        The n records.
    queries
        M, the largest number of queries.
    noise
        The model and epsilon. In the local model each record's budget is enforced (`LROracle`).
    rng
        The generator of the noise.

    Raises
    ------
    InvalidValue
        There are fewer than M records, or more than M queries are asked.

    Guarantee
    ---------
    All answers together are epsilon-differentially private when one record is replaced. In the local model
    each record's report is epsilon-private too (`ChunkNoise`). If chunks have the size from
    `ChunkNoise.chunk_size`, all answers are within tolerance with the probability 1 − beta given there.

    Examples
    --------
    >>> from mechanisms.queries import StatisticalQuery
    >>> noise = ChunkNoise("local", 100.0)
    >>> oracle = EvenChunks([0] * 500 + [1] * 500, queries=2, noise=noise, rng=np.random.default_rng(0))
    >>> ones = StatisticalQuery.fraction(bool, tau=0.1)
    >>> [round(answer, 1) + 0.0 for answer in oracle.ask_all([ones, ones])]
    [0.0, 1.0]
    """

    def __init__(
        self, sample: Sequence[Any], *, queries: int, noise: ChunkNoise, rng: np.random.Generator
    ) -> None:
        super().__init__()
        self._most = positive_int(queries, what="The `queries` of `EvenChunks`")
        self.chunk = len(sample) // self._most
        if not self.chunk:
            raise InvalidValue(f"`EvenChunks` must have a record for each of {queries} queries.")
        self._sample, self._noise, self._rng, self._used = sample, noise, rng, 0
        self._reports = None if noise.model == "central" else LROracle(sample, epsilon=noise.epsilon, rng=rng)

    def _prepare(self, queries: Sequence[StatisticalQuery]) -> None:
        if self._used + len(queries) > self._most:
            raise InvalidValue(f"`EvenChunks` must be asked at most {self._most} queries.")

    def _answer(self, query: StatisticalQuery) -> float:
        start = self._used * self.chunk
        self._used += 1
        places = range(start, start + self.chunk)
        if self._reports is not None:
            return self._reported(query, places)
        mean = float(query.values(self._sample[places.start : places.stop]).mean())
        return mean + float(self._noise.law(self.chunk, width=query.width).sample(1, self._rng)[0])

    def _reported(self, query: StatisticalQuery, places: range) -> float:
        assert self._reports is not None
        middle, half = (query.low + query.high) / 2.0, query.width / 2.0
        randomizer = LocalLaplace(
            epsilon=self._noise.epsilon,
            query=lambda entries: query.values(entries) - middle,
            bound=half,
            vectorised=True,
        )
        return middle + float(np.mean(self._reports.ask(places, randomizer)))
