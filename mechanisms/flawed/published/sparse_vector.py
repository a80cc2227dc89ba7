"""Published sparse vector techniques that are less private than claimed.

The mechanisms declare no law. By default they stop after one answer above the threshold.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.catalogue import Entry
from mechanisms.comparison.sparse_vector import NoisyThreshold

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "CheapNoiseSparseVector",
    "EndlessSparseVector",
    "NoiselessSparseVector",
    "ValueSparseVector",
]


@dataclass(frozen=True, kw_only=True)
class ValueSparseVector(NoisyThreshold):
    """Reports an answer above the threshold by its compared noisy value.

    The output is the place k of the answer and this value v. Let T be the threshold and a_i the answers. Let
    the threshold's noise have density g, and the queries' noise density f and distribution function F. The
    joint density of k and v is f(v − a_k)·∫_{r ≤ v − T} g(r)·Π_{i<k} F(r + T − a_i) dr. If v is below all
    answers, every factor is a pure exponential. If m answers rise by 1, the density then changes by
    e^(m·epsilon/2), and no factor can change by more. So the loss is d·epsilon/2 for d queries, 5 for ten at
    epsilon = 1. An answer with fresh noise would be right.

    Parameters
    ----------
    epsilon, size, records, threshold
        As in `NoisyThreshold`. If no answer is above the threshold, the output is the number of queries and
        the threshold.

    Examples
    --------
    >>> ValueSparseVector(size=2)([-99.0, -99.0], np.random.default_rng(0)).tolist()
    [2.0, 1.0]
    """

    size: int = 10
    limit: int = field(init=False, default=1)

    name: ClassVar[str] = "flawed-sparse-vector-values"
    reference: ClassVar[str] = "Lyu, Su and Li 2017, Algorithm 3"

    @property
    def query_scale(self) -> float:
        """Scale of the queries' noise: 2/epsilon."""
        return 2.0 / self.epsilon

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the place and the value of each run, of shape (size, 2)."""
        bar, noisy = self.noisy(database, size, rng)
        hits, queries = noisy >= bar, noisy.shape[1]
        place = np.where(hits.any(axis=1), hits.argmax(axis=1), queries)
        padded = np.concatenate([noisy, np.full((size, 1), self.threshold)], axis=1)
        return np.column_stack([place, padded[np.arange(size), place]])


@dataclass(frozen=True, kw_only=True)
class CheapNoiseSparseVector(NoisyThreshold):
    """The sparse vector technique with query noise that lacks the factor 2·limit.

    The scales are 4/epsilon for the threshold and 4/(3·epsilon) for queries. A shift of the threshold by 1
    costs epsilon/4. Then the noise of each answer above the threshold has to change by up to 2, which costs
    1.5·epsilon. So the loss is (1 + 6·limit)/4·epsilon, 1.75 at epsilon = 1 and limit 1. Outputs come close
    to this loss if many high answers are reported as below the threshold.

    Parameters
    ----------
    epsilon, size, records, threshold, limit
        As in `NoisyThreshold`.

    Examples
    --------
    >>> CheapNoiseSparseVector(epsilon=4.0).threshold_scale
    1.0
    """

    size: int = 10

    name: ClassVar[str] = "flawed-sparse-vector-cheap-noise"
    reference: ClassVar[str] = "Lyu, Su and Li 2017, Algorithm 4"

    @property
    def threshold_scale(self) -> float:
        """Scale of the threshold's noise: 4/epsilon."""
        return 4.0 / self.epsilon

    @property
    def query_scale(self) -> float:
        """Scale of the queries' noise: 4/(3·epsilon), whatever `limit` is."""
        return 4.0 / (3.0 * self.epsilon)


@dataclass(frozen=True, kw_only=True)
class EndlessSparseVector(NoisyThreshold):
    """The sparse vector technique without a stop.

    The threshold and every answer have noise of scale 2/epsilon. Suppose that d/2 answers far above the
    threshold are reported below it, and d/2 answers far below it are reported above. For thresholds between
    them, each factor of the probability is a pure exponential of rate epsilon/2. If every answer moves 1
    further away, each factor changes by e^(epsilon/2). So the loss is d·epsilon/2 for d queries, 5 for ten at
    epsilon = 1. No event exceeds it.

    Parameters
    ----------
    epsilon, size, records, threshold
        As in `NoisyThreshold`.

    Examples
    --------
    >>> EndlessSparseVector(size=3)([9e9, -9e9, 9e9], np.random.default_rng(0)).tolist()
    [1, 0, 1]
    """

    size: int = 10
    limit: int = field(init=False, default=1)

    name: ClassVar[str] = "flawed-sparse-vector-no-end"
    reference: ClassVar[str] = "Lyu, Su and Li 2017, Algorithm 6"

    @property
    def query_scale(self) -> float:
        """Scale of the queries' noise: 2/epsilon."""
        return 2.0 / self.epsilon

    def marks(self, hits: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return 1 for answers above the threshold, and 0 for others."""
        return hits.astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class NoiselessSparseVector(EndlessSparseVector):
    """Compares exact answers with one noisy threshold, without a stop.

    The lower of two answers is never the only one above. If two answers are in opposite order on two
    neighbours, some output is possible on one of these only. So the loss is unbounded.

    Parameters
    ----------
    epsilon, size, records, threshold
        As in `NoisyThreshold`.

    Examples
    --------
    >>> marks = NoiselessSparseVector(size=2).sample([0.0, 1.0], 99, np.random.default_rng(0))
    >>> bool((marks[:, 0] > marks[:, 1]).any())
    False
    """

    name: ClassVar[str] = "flawed-sparse-vector-noiseless-queries"
    reference: ClassVar[str] = "Lyu, Su and Li 2017, Algorithm 5"

    @property
    def query_scale(self) -> float:
        """Scale of the queries' noise, which is 0."""
        return 0.0


entries = (
    Entry(
        ValueSparseVector.name,
        ValueSparseVector,
        options={"pairs": [([1.0] * 10, [0.0] * 8 + [2.0] * 2)], "budget": 500_000},
        expected="refuted",
        reference=ValueSparseVector.reference,
        summary="sparse vector that reports the value above: loss 5, not 1",
    ),
    Entry(
        CheapNoiseSparseVector.name,
        CheapNoiseSparseVector,
        options={"pairs": [([1.0] * 4, [2.0, 2.0, 0.0, 0.0])]},
        expected="refuted",
        reference=CheapNoiseSparseVector.reference,
        summary="sparse vector with too little query noise: loss 1.75, not 1",
    ),
    Entry(
        NoiselessSparseVector.name,
        NoiselessSparseVector,
        expected="refuted",
        reference=NoiselessSparseVector.reference,
        summary="sparse vector without query noise: unbounded",
    ),
    Entry(
        EndlessSparseVector.name,
        EndlessSparseVector,
        expected="refuted",
        reference=EndlessSparseVector.reference,
        summary="sparse vector that never stops: loss 5, not 1",
    ),
)
