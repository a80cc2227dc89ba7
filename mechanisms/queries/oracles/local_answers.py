"""Statistical queries answered in the local model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from audit.errors import InvalidKind, InvalidValue, finite_number, positive_int, probability
from mechanisms.composition.budget import OverspentError
from mechanisms.local.oracle import LROracle
from mechanisms.local.transcripts import flattened
from mechanisms.queries.oracles.chunks import ChunkOracle
from mechanisms.queries.oracles.oracle import check_generator, check_query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mechanisms.local.laplace import LocalLaplace
    from mechanisms.local.sign import SignResponse
    from mechanisms.queries.statistical import StatisticalQuery

__all__ = [
    "Estimator",
    "LaplaceEntries",
    "LocalOracle",
    "SignEntries",
    "TranscribedOracle",
    "local_sample_size",
]


@runtime_checkable
class Estimator(Protocol):
    """A local algorithm that answers one statistical query.

    Examples
    --------
    >>> isinstance(LaplaceEntries(epsilon=1.0), Estimator)
    True
    """

    @property
    def epsilon(self) -> float:
        """The privacy of every entry."""

    def entries(self, query: StatisticalQuery, *, beta: float) -> int:
        """Return how many entries an answer within tolerance needs."""

    def randomizer(self, query: StatisticalQuery) -> Any:
        """Return the local randomizer that every entry answers through."""

    def estimate(self, query: StatisticalQuery, reports: Any) -> float:
        """Return the answer from the entries' reports."""


class LocalOracle(ChunkOracle):
    """Answers each query in the local model, from fresh entries.

    Parameters
    ----------
    sample
        The entries, which are drawn independently from the distribution asked about. Or an `LROracle` over
        them, whose entries may also answer other questions.
    queries, beta
        As in `ChunkOracle`.
    estimator
        The local algorithm for one query.
    rng
        The generator of the entries' randomness. With an `LROracle`, which has its own, it is None.

    Raises
    ------
    OverspentError
        An entry would spend more than the epsilon of the `LROracle`, or else of the estimator. The whole
        round is refused before any draw.
    InvalidKind, InvalidValue
        `estimator` is invalid, `rng` is missing, or as in `ChunkOracle`. A value outside the query's range is
        found only when its entry reports. The round is then not answered, but its entries count as used and
        their budgets as spent.

    Guarantee
    ---------
    The answers are epsilon-local, because each goes through `mechanisms.local.LROracle` (K11 Theorem 5.7).
    With probability 1 − beta over entries and randomizers all answers are within their tolerance. Each chunk
    has the size that the estimator states for beta/queries. So t queries need t·O((b²/tau²)·max{1,
    1/epsilon²}·log(t/beta)) entries. (The theorem prints 1/epsilon² alone, which is too few for large
    epsilon.) If the algorithm is non-adaptive, its run is a non-interactive local algorithm.

    Examples
    --------
    >>> import numpy as np
    >>> from mechanisms.queries import StatisticalQuery
    >>> oracle = LocalOracle(
    ...     [1, -1] * 2000, estimator=LaplaceEntries(epsilon=4.0), queries=1, beta=1e-6,
    ...     rng=np.random.default_rng(0),
    ... )
    >>> abs(oracle.ask(StatisticalQuery(float, tau=0.2))) < 0.2
    True
    """

    def __init__(
        self,
        sample: Sequence[Any] | NDArray[Any] | LROracle,
        *,
        estimator: Estimator,
        queries: int,
        beta: float,
        rng: np.random.Generator | None = None,
    ) -> None:
        _check_estimator(estimator, owner="LocalOracle")
        if not isinstance(sample, LROracle):
            source = check_generator(rng, owner="LocalOracle")
            sample = LROracle(sample, epsilon=estimator.epsilon, rng=source)
        entries: Any = sample  # only the length of the sample of a ChunkOracle is used here
        super().__init__(entries, queries=queries, beta=beta)
        self.estimator = estimator
        self._entries = sample

    @property
    def epsilon(self) -> float:
        """The privacy of every entry."""
        return self.estimator.epsilon

    def chunk_size(self, query: StatisticalQuery) -> int:
        """Return how many entries a query needs to fail with probability beta/queries."""
        return self.estimator.entries(query, beta=self.beta_each)

    def estimate(self, query: StatisticalQuery, seen: range) -> float:
        """Return the estimator's answer from the entries with these indices."""
        return self._reported([(query, seen)])[0]

    def _answers(self, queries: Sequence[StatisticalQuery]) -> list[float]:
        chunks = self._chunks(queries)
        before, self.used = self.used, self.used + sum(len(part) for _, part in chunks)
        try:
            return self._reported(chunks)
        except OverspentError:
            self.used = before
            raise

    def _reported(self, chunks: Sequence[tuple[StatisticalQuery, range]]) -> list[float]:
        reports = self._entries.ask_all(
            [(chunk, self.estimator.randomizer(query)) for query, chunk in chunks]
        )
        answers = [
            self.estimator.estimate(query, said) for (query, _), said in zip(chunks, reports, strict=True)
        ]
        self._heard([*reports, *answers])
        return answers

    def _heard(self, said: list[Any]) -> None:
        """Receive the reports and answers of a round, and keep none."""


class TranscribedOracle(LocalOracle):
    """A `LocalOracle` that keeps the public transcript of all reports and answers.

    Parameters
    ----------
    sample, queries, beta, estimator, rng
        As in `LocalOracle`.

    Guarantee
    ---------
    The transcript is epsilon-private for every entry. The answers, and what is computed from them, are
    functions of the transcript.

    Examples
    --------
    >>> import numpy as np
    >>> from mechanisms.queries import StatisticalQuery
    >>> oracle = TranscribedOracle(
    ...     [1] * 60, estimator=LaplaceEntries(epsilon=4.0), queries=1, beta=0.05,
    ...     rng=np.random.default_rng(0),
    ... )
    >>> answer = oracle.ask(StatisticalQuery(float, tau=0.5))
    >>> len(oracle.transcript) == oracle.used + 1, oracle.transcript[-1] == answer
    (True, True)
    """

    def __init__(self, sample: Any, **keywords: Any) -> None:
        super().__init__(sample, **keywords)
        self._said: list[Any] = []

    def _heard(self, said: list[Any]) -> None:
        self._said += said

    @property
    def transcript(self) -> tuple[Any, ...]:
        """For each round, the reports query by query, then the answers."""
        return flattened(self._said)


def local_sample_size(query: StatisticalQuery, *, estimator: Estimator, queries: int, beta: float) -> int:
    """Return how many entries `LocalOracle` needs for this many queries like `query`.

    Examples
    --------
    >>> from mechanisms.queries import StatisticalQuery
    >>> query = StatisticalQuery(float, tau=0.1)
    >>> one = local_sample_size(query, estimator=LaplaceEntries(epsilon=1.0), queries=1, beta=0.005)
    >>> ten = local_sample_size(query, estimator=LaplaceEntries(epsilon=1.0), queries=10, beta=0.05)
    >>> ten == 10 * one
    True
    """
    owner = "local_sample_size"
    check_query(query, owner=owner)
    _check_estimator(estimator, owner=owner)
    queries = positive_int(queries, what=f"The `queries` of `{owner}`")
    beta = probability(beta, what=f"The `beta` of `{owner}`", zero=False, one=False)
    return queries * estimator.entries(query, beta=beta / queries)


def _check_estimator(estimator: Any, *, owner: str) -> None:
    if isinstance(estimator, type) or not isinstance(estimator, Estimator):
        raise InvalidKind(
            f"The `estimator` of `{owner}` must have `epsilon`, `entries`, `randomizer` and `estimate`; "
            f"got {estimator!r:.60}."
        )


@dataclass(frozen=True)
class LaplaceEntries:
    """Answers a query with the average of noisy reports of all entries.

    Every entry reports its value plus Laplace noise (A_g of K11 §5.1.1).

    Parameters
    ----------
    epsilon
        Privacy of every entry, > 0.

    Guarantee
    ---------
    As for `mechanisms.local.LaplaceAverage` (K11 Lemma 5.6 with explicit constants). It is applied to the
    query minus the middle of its range, with half the width as the bound b.

    Examples
    --------
    >>> from mechanisms.queries import StatisticalQuery
    >>> query = StatisticalQuery.fraction(bool, tau=0.1)
    >>> LaplaceEntries(epsilon=1.0).entries(query, beta=0.05) > query.width**2 / (2 * 0.1**2)
    True
    """

    epsilon: float

    def __post_init__(self) -> None:
        finite_number(self.epsilon, what="The `epsilon` of `LaplaceEntries`", above=0)

    def entries(self, query: StatisticalQuery, *, beta: float) -> int:
        """Return how many entries `LaplaceAverage` needs."""
        from mechanisms.local.averaging.sizes import laplace_size

        bound = query.width / 2.0
        return laplace_size(tau=min(query.tau, bound), beta=beta, epsilon=self.epsilon, bound=bound)

    def randomizer(self, query: StatisticalQuery) -> LocalLaplace:
        """Return R_g for the query minus the middle of its range."""
        from mechanisms.local.laplace import LocalLaplace

        return LocalLaplace(
            epsilon=self.epsilon, query=_Centred(query), bound=query.width / 2.0, vectorised=True
        )

    def estimate(self, query: StatisticalQuery, reports: Any) -> float:
        """Return the average report plus the middle of the range."""
        return _middle(query) + float(np.mean(reports))


@dataclass(frozen=True)
class SignEntries:
    """Answers a Boolean query with the corrected average of randomized responses.

    Parameters
    ----------
    epsilon
        Privacy of every entry, > 0.

    Guarantee
    ---------
    As for `mechanisms.local.SignAverage`, applied to the query mapped to −1 and 1. `SignEntries` needs fewer
    entries than `LaplaceEntries`. Queries that are not Boolean are refused.

    Examples
    --------
    >>> from mechanisms.queries import StatisticalQuery
    >>> query = StatisticalQuery.sign(float, tau=0.1)
    >>> fewer = SignEntries(epsilon=1.0).entries(query, beta=0.05)
    >>> fewer < LaplaceEntries(epsilon=1.0).entries(query, beta=0.05)
    True
    """

    epsilon: float

    def __post_init__(self) -> None:
        finite_number(self.epsilon, what="The `epsilon` of `SignEntries`", above=0)

    def entries(self, query: StatisticalQuery, *, beta: float) -> int:
        """Return how many entries `SignAverage` needs."""
        from mechanisms.local.averaging.sizes import sign_size

        if not query.boolean:
            raise InvalidValue(
                "A query of `SignEntries` must be Boolean; "
                f"got one with values in [{query.low:g}, {query.high:g}]."
            )
        return sign_size(tau=min(2.0 * query.tau / query.width, 1.0), beta=beta, epsilon=self.epsilon)

    def randomizer(self, query: StatisticalQuery) -> SignResponse:
        """Return randomized response for the query mapped to −1 and 1."""
        from mechanisms.local.sign import SignResponse

        return SignResponse(epsilon=self.epsilon, query=_Signs(query), vectorised=True)

    def estimate(self, query: StatisticalQuery, reports: Any) -> float:
        """Return the unbiased average report, mapped back to the query's values."""
        mean = float(np.mean(reports)) / math.tanh(self.epsilon / 2.0)
        return _middle(query) + query.width / 2.0 * mean


@dataclass(frozen=True)
class _Centred:
    """Maps records to the query's values minus the middle of its range."""

    query: StatisticalQuery

    def __call__(self, records: Any) -> Any:
        half = self.query.width / 2.0
        return np.clip(self.query.values(records) - _middle(self.query), -half, half)


@dataclass(frozen=True)
class _Signs:
    """Maps records to 1 or −1 by the value of a Boolean query."""

    query: StatisticalQuery

    def __call__(self, records: Any) -> Any:
        return 2.0 * (self.query.values(records) == self.query.high) - 1.0


def _middle(query: StatisticalQuery) -> float:
    return query.low + query.width / 2.0
