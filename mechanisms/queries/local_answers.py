"""Statistical queries answered locally: every entry of a fresh chunk answers through a randomizer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from audit.errors import InvalidKind, InvalidValue, finite_number
from mechanisms.queries.chunks import ChunkOracle

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mechanisms.queries.statistical import StatisticalQuery

__all__ = ["Estimator", "LaplaceEntries", "LocalOracle", "SignEntries", "local_sample_size"]


@runtime_checkable
class Estimator(Protocol):
    """A local algorithm that answers one query; `LaplaceEntries` (A_g) and `SignEntries` are such.

    Examples
    --------
    >>> isinstance(LaplaceEntries(epsilon=1.0), Estimator)
    True
    """

    @property
    def epsilon(self) -> float:
        """The privacy of every entry."""

    def entries(self, query: StatisticalQuery, *, beta: float) -> int:
        """Return how many entries answer the query within its tolerance but for probability beta."""

    def answer(self, query: StatisticalQuery, chunk: Any, rng: np.random.Generator) -> float:
        """Return the answer from a chunk of entries."""


class LocalOracle(ChunkOracle):
    """The simulation of K11 Theorem 5.7: each query is answered by A_g on entries that no other query uses.

    Parameters
    ----------
    sample, queries, beta
        As in `ChunkOracle`; the sample's records are the entries.
    estimator
        The local algorithm for one query.
    rng
        Where the entries' randomness comes from.

    Guarantee
    ---------
    epsilon-local: every entry answers one epsilon-local randomizer, chosen before its answer. With
    probability 1 − beta over entries and randomizers all answers are within their tolerance: each chunk has
    the size that the estimator states for beta/queries, so t queries need t·O((b²/tau²)·max{1,
    1/epsilon²}·log(t/beta)) entries. (The theorem prints 1/epsilon² alone, which is too few for large
    epsilon.) An algorithm that does not adapt gives a non-interactive local one: the chunks and the
    randomizers are fixed before any answer.

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
        sample: Sequence[Any] | NDArray[Any],
        *,
        estimator: Estimator,
        queries: int,
        beta: float,
        rng: np.random.Generator,
    ) -> None:
        super().__init__(sample, queries=queries, beta=beta)
        if not isinstance(estimator, Estimator):
            raise InvalidKind(
                f"The `estimator` of `LocalOracle` must have `epsilon`, `entries` and `answer`; "
                f"got {estimator!r:.60}."
            )
        self.estimator = estimator
        self._rng = rng

    @property
    def epsilon(self) -> float:
        """The privacy of every entry."""
        return self.estimator.epsilon

    def chunk_size(self, query: StatisticalQuery) -> int:
        """Return the estimator's number of entries, at failure probability beta/queries."""
        return self.estimator.entries(query, beta=self.beta_each)

    def estimate(self, query: StatisticalQuery, chunk: Any) -> float:
        """Return the estimator's answer."""
        return self.estimator.answer(query, chunk, self._rng)


def local_sample_size(query: StatisticalQuery, *, estimator: Estimator, queries: int, beta: float) -> int:
    """Return how many entries `LocalOracle` needs for so many queries like this one.

    Examples
    --------
    >>> from mechanisms.queries import StatisticalQuery
    >>> query = StatisticalQuery(float, tau=0.1)
    >>> one = local_sample_size(query, estimator=LaplaceEntries(epsilon=1.0), queries=1, beta=0.005)
    >>> ten = local_sample_size(query, estimator=LaplaceEntries(epsilon=1.0), queries=10, beta=0.05)
    >>> ten == 10 * one
    True
    """
    return queries * estimator.entries(query, beta=beta / queries)


@dataclass(frozen=True)
class LaplaceEntries:
    """A_g (K11 §5.1.1): every entry reports its value plus Laplace noise, the reports are averaged.

    Parameters
    ----------
    epsilon
        Privacy of every entry, > 0.

    Guarantee
    ---------
    That of `mechanisms.local.LaplaceAverage` (K11 Lemma 5.6 with explicit constants) for the query less the
    middle of its range, whose bound b is half the width.

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
        from mechanisms.local.sizes import laplace_size

        bound = query.width / 2.0
        return laplace_size(tau=min(query.tau, bound), beta=beta, epsilon=self.epsilon, bound=bound)

    def answer(self, query: StatisticalQuery, chunk: Any, rng: np.random.Generator) -> float:
        """Return the average report."""
        from mechanisms.local.averages import LaplaceAverage

        middle = (query.low + query.high) / 2.0
        average = LaplaceAverage(
            epsilon=self.epsilon,
            query=_shifted(query, middle),
            bound=query.width / 2.0,
            vectorised=True,
            size=len(chunk),
        )
        return middle + float(average(chunk, rng))


@dataclass(frozen=True)
class SignEntries:
    """Randomized response of every entry to a Boolean query, averaged and freed of bias.

    Parameters
    ----------
    epsilon
        Privacy of every entry, > 0.

    Guarantee
    ---------
    That of `mechanisms.local.SignAverage` for the query carried to −1 and 1: fewer entries than
    `LaplaceEntries` for every epsilon. Other than Boolean queries are refused.

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
        from mechanisms.local.sizes import sign_size

        if not query.boolean:
            raise InvalidValue(
                "A query of `SignEntries` must be Boolean; "
                f"got one with values in [{query.low:g}, {query.high:g}]."
            )
        return sign_size(tau=min(2.0 * query.tau / query.width, 1.0), beta=beta, epsilon=self.epsilon)

    def answer(self, query: StatisticalQuery, chunk: Any, rng: np.random.Generator) -> float:
        """Return the de-biased average report, carried back to the query's values."""
        from mechanisms.local.averages import SignAverage

        average = SignAverage(epsilon=self.epsilon, query=_signs(query), vectorised=True, size=len(chunk))
        return (query.low + query.high) / 2.0 + query.width / 2.0 * float(average(chunk, rng))


def _shifted(query: StatisticalQuery, middle: float) -> Callable[[Any], Any]:
    return lambda records: query.values(records) - middle


def _signs(query: StatisticalQuery) -> Callable[[Any], Any]:
    return lambda records: 2.0 * (query.values(records) == query.high) - 1.0
