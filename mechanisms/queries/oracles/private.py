"""Private answers to statistical queries in the central model."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from audit.errors import finite_number, positive_int, probability
from mechanisms.noise.noises import LaplaceNoise
from mechanisms.queries.oracles.chunks import ChunkOracle, sampling_size, whole
from mechanisms.queries.oracles.oracle import check_generator

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mechanisms.queries.statistical import StatisticalQuery

__all__ = [
    "STATED_CONSTANT",
    "LiteralPrivateOracle",
    "PrivateOracle",
    "private_chunk_size",
    "private_sample_size",
    "stated_chunk_size",
]

STATED_CONSTANT = 4.0
"""The c of B Theorem 7's chunk c·(1/ετ + 1/τ²)·ln(2M/β), for the corrected noise."""


def private_chunk_size(queries: int, *, tau: float, beta: float, epsilon: float, width: float = 1.0) -> int:
    """Return how many records `PrivateOracle` needs to answer one of `queries` queries.

    Parameters
    ----------
    queries
        Number M of queries that share `beta`.
    tau, beta, width
        As in `sampling_size`.
    epsilon
        Privacy, > 0.

    Guarantee
    ---------
    n = ⌈max{2·width²·ln(4M/beta)/tau², 2·width·ln(2M/beta)/(epsilon·tau)}⌉. The part with tau² lets the
    average miss the mean by more than tau/2 with probability at most beta/2M (Hoeffding). The part with
    epsilon lets noise of scale width/(epsilon·n) exceed tau/2 with probability e^(−epsilon·n·tau/(2·width)) ≤
    beta/2M. Since 2M/beta ≥ 2, ln(4M/beta) ≤ 2·ln(2M/beta). So for width 1, n is at most B Theorem 7's
    c·(1/(epsilon·tau) + 1/tau²)·ln(2M/beta), rounded up, with c = `STATED_CONSTANT`.

    Examples
    --------
    >>> private_chunk_size(10, tau=0.1, beta=0.05, epsilon=1.0)
    1337
    """
    queries = positive_int(queries, what="The `queries` of `private_chunk_size`")
    epsilon = finite_number(epsilon, what="The `epsilon` of `private_chunk_size`", above=0)
    tau = finite_number(tau, what="The `tau` of `private_chunk_size`", above=0)
    beta = probability(beta, what="The `beta` of `private_chunk_size`", zero=False, one=False)
    sampling = sampling_size(tau=tau / 2.0, beta=beta / (2.0 * queries), width=width)
    noise = whole(2.0 * (width / tau) * math.log(2.0 * queries / beta) / epsilon)
    return max(sampling, noise)


def private_sample_size(queries: int, *, tau: float, beta: float, epsilon: float, width: float = 1.0) -> int:
    """Return how many records `PrivateOracle` needs to answer all `queries` queries.

    Guarantee
    ---------
    M chunks of `private_chunk_size`, which is O((M/(epsilon·tau) + M/tau²)·log(M/beta)). This is the size of
    B Theorem 7 and C Theorem 1.

    Examples
    --------
    >>> private_sample_size(10, tau=0.1, beta=0.05, epsilon=1.0)
    13370
    """
    return queries * private_chunk_size(queries, tau=tau, beta=beta, epsilon=epsilon, width=width)


def stated_chunk_size(
    queries: int, *, tau: float, beta: float, epsilon: float, constant: float = STATED_CONSTANT
) -> int:
    """Return the chunk size in the proofs of B Theorem 7 and C Theorem 1.

    Guarantee
    ---------
    ⌈c·(1/(epsilon·tau) + 1/tau²)·ln(2M/beta)⌉, for queries with values in [0, 1]. With the noise of the
    proofs, no c makes the answers accurate for every M. With the corrected noise, c = `STATED_CONSTANT` is
    enough.

    Examples
    --------
    >>> stated_chunk_size(10, tau=0.1, beta=0.05, epsilon=1.0)
    2637
    """
    queries = positive_int(queries, what="The `queries` of `stated_chunk_size`")
    tau = finite_number(tau, what="The `tau` of `stated_chunk_size`", above=0)
    epsilon = finite_number(epsilon, what="The `epsilon` of `stated_chunk_size`", above=0)
    beta = probability(beta, what="The `beta` of `stated_chunk_size`", zero=False, one=False)
    constant = finite_number(constant, what="The `constant` of `stated_chunk_size`", above=0)
    per_nat = (1.0 / epsilon + 1.0 / tau) * (1.0 / tau if tau > 1e-300 else math.inf)
    return whole(constant * per_nat * math.log(2.0 * queries / beta))


class PrivateOracle(ChunkOracle):
    """Answers with the average over a fresh chunk plus Laplace noise.

    The noise has scale width/(epsilon·chunk), where width is the length of the query's range.

    Parameters
    ----------
    sample, queries, beta
        As in `ChunkOracle`.
    epsilon
        Privacy of all answers together, > 0.
    rng
        The generator of the noise.

    Guarantee
    ---------
    All answers together are epsilon-differentially private when one record is replaced, even if queries
    depend on earlier answers. Given the earlier answers, the chunks are fixed, and the replaced record lies
    in one of them. The average of this chunk moves by at most width/chunk. The other answers keep their laws.
    (A value outside the query's range is refused. This refusal is not private.)

    With probability 1 − beta over the sample and the noise, all answers are within their tolerance. Each
    chunk has `private_chunk_size` records. This is B Theorem 7 and C Theorem 1 with corrected noise. The
    noise of the proofs is M times as wide (`LiteralPrivateOracle`).

    Examples
    --------
    >>> import numpy as np
    >>> from mechanisms.queries import StatisticalQuery
    >>> oracle = PrivateOracle(
    ...     [0, 1] * 700, epsilon=1.0, queries=10, beta=0.05, rng=np.random.default_rng(0)
    ... )
    >>> abs(oracle.ask(StatisticalQuery.fraction(bool, tau=0.1)) - 0.5) < 0.1
    True
    """

    def __init__(
        self,
        sample: Sequence[Any] | NDArray[Any],
        *,
        epsilon: float,
        queries: int,
        beta: float,
        rng: np.random.Generator,
    ) -> None:
        super().__init__(sample, queries=queries, beta=beta)
        self.epsilon = finite_number(epsilon, what=f"The `epsilon` of `{type(self).__name__}`", above=0)
        self._rng = check_generator(rng, owner=type(self).__name__)
        self._said: list[float] = []

    def chunk_size(self, query: StatisticalQuery) -> int:
        """Return the query's `private_chunk_size`."""
        return private_chunk_size(
            self.most_queries, tau=query.tau, beta=self.beta, epsilon=self.epsilon, width=query.width
        )

    def scale(self, query: StatisticalQuery) -> float:
        """Return the scale of the noise on the query's answer."""
        return query.width / (self.epsilon * self.chunk_size(query))

    def estimate(self, query: StatisticalQuery, seen: Any) -> float:
        """Return the noisy average."""
        return float(seen.mean()) + float(LaplaceNoise(self.scale(query)).sample(1, self._rng)[0])

    @property
    def transcript(self) -> tuple[float, ...]:
        """All answers so far, to which the privacy claim refers."""
        return tuple(self._said)

    def _answers(self, queries: Sequence[StatisticalQuery]) -> list[float]:
        answers = super()._answers(queries)
        self._said += answers
        return answers


class LiteralPrivateOracle(PrivateOracle):
    """Answers with the noise of the proofs of B Theorem 7 and C Theorem 1.

    The noise has scale M·width/(epsilon·chunk) for M queries.

    Parameters
    ----------
    sample, epsilon, queries, beta, rng
        As in `PrivateOracle`.

    Guarantee
    ---------
    (epsilon/M)-differential privacy, M times as strong as claimed. The proofs add up the losses of M answers,
    although a record affects only one of them. The accuracy claimed does *not* hold. The chunk has the size
    of the proofs (`stated_chunk_size`, scaled for widths other than 1). The noise exceeds tau in some answer
    with probability 1 − (1 − e^(−epsilon·tau·chunk/(M·width)))^M, which tends to 1 as M grows.

    Examples
    --------
    >>> import numpy as np
    >>> from mechanisms.queries import StatisticalQuery
    >>> oracle = LiteralPrivateOracle(
    ...     [0, 1] * 2000, epsilon=1.0, queries=10, beta=0.05, rng=np.random.default_rng(0)
    ... )
    >>> query = StatisticalQuery.fraction(bool, tau=0.1)
    >>> oracle.chunk_size(query), round(oracle.scale(query) * oracle.chunk_size(query), 9)
    (2637, 10.0)
    """

    def chunk_size(self, query: StatisticalQuery) -> int:
        """Return the chunk size that the proofs state."""
        return stated_chunk_size(
            self.most_queries, tau=query.tau / query.width, beta=self.beta, epsilon=self.epsilon
        )

    def scale(self, query: StatisticalQuery) -> float:
        """Return the scale of the noise on the query's answer."""
        return self.most_queries * super().scale(query)
