"""Why few statistical queries cannot learn PARITY from uniform examples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidKind, InvalidValue, positive_int
from learners.concepts.bits import number_of
from learners.masked.fourier import walsh
from learners.masked.queries import bent
from learners.masked.words import parity, signs
from mechanisms.queries import Oracle, StatisticalQuery

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mechanisms.queries import SQOracle

__all__ = ["ParityByQueries", "SilentOracle", "WordQuery", "coset_queries"]


@dataclass(frozen=True, eq=False)
class WordQuery:
    """The query (−1)^y·f(x) about PARITY.

    Its mean on the concept r is the Walsh coefficient of f at r.

    Parameters
    ----------
    values
        f on the words 0 … 2^d − 1, the first bit heaviest, within [−1, 1].

    Guarantee
    ---------
    Every bounded query is a constant plus a query of this form, because its value at y is linear in (−1)^y.
    So queries of this form are enough.

    Examples
    --------
    >>> query = WordQuery(np.array([1.0, 1.0, -1.0, -1.0]))
    >>> query.coefficients.tolist(), query(((1, 0), 1))
    ([0.0, 0.0, 1.0, 0.0], 1.0)
    """

    values: NDArray[np.float64]

    def __post_init__(self) -> None:
        if len(self.values) & (len(self.values) - 1) or not (np.abs(self.values) <= 1.0).all():
            raise InvalidValue("The `values` of `WordQuery` must be 2^d numbers in [−1, 1].")

    def __call__(self, record: Any) -> float:
        """Return the value at one record (x, y), y in {0, 1}."""
        x, y = record
        return float(signs(y) * self.values[number_of(x)])

    @cached_property
    def coefficients(self) -> NDArray[np.float64]:
        """The mean of the query on every concept r, shape (2^d,)."""
        return walsh(self.values)

    def asked(self, tau: float) -> StatisticalQuery:
        """Return the query with its tolerance."""
        return StatisticalQuery(self, tau)


class SilentOracle(Oracle):
    """Answers queries about PARITY by 0 if the tolerance allows it.

    Otherwise the answer is the exact mean.

    Parameters
    ----------
    r
        The target, a word as a number.

    Guarantee
    ---------
    This is a valid SQ oracle. The mean of (−1)^y·f(x) is the Walsh coefficient f̂(r). By Parseval's identity
    Σ_r f̂(r)² ≤ 1, so fewer than 1/tau² words r have |f̂(r)| > tau. For all other targets the answer is 0.
    After t queries, adaptive or not, more than 2^d − t/tau² targets have had only the answer 0. The learner
    cannot distinguish these. If d is a multiple of 3, t ≤ 2^(d/3) and tau ≥ 2^(−d/3), at least 2^(d/3) such
    targets remain (Blum et al., as in K08 §4 and K11 Corollary 5.15).

    Examples
    --------
    >>> oracle = SilentOracle(2)
    >>> first, second = (WordQuery(np.array([1.0, 1.0, s, s])) for s in (1.0, -1.0))
    >>> oracle.ask_all([first.asked(0.1), second.asked(0.1)]), oracle.told
    ([0.0, 1.0], 1)
    """

    def __init__(self, r: int) -> None:
        super().__init__()
        self.r = positive_int(r, what="The `r` of `SilentOracle`", minimum=0, maximum=None)
        self.told = 0
        """How many answers were not 0."""

    def _answer(self, query: StatisticalQuery) -> float:
        if not isinstance(query.function, WordQuery):
            raise InvalidKind(f"A query about PARITY must be a `WordQuery`; got {query.function!r:.60}.")
        mean = float(query.function.coefficients[self.r])
        if abs(mean) <= query.tau:
            return 0.0
        self.told += 1
        return mean


def coset_queries(dimension: int) -> list[WordQuery]:
    """Return 2^(d/3) queries that together are correlated with every word.

    Each word has correlation ±2^(−d/3) with one query, and 0 with the others. A query is (−1)^y·f(x), where f
    is a bent function of the last 2d/3 bits of x times a character of the first d/3 bits.

    Parameters
    ----------
    dimension
        d, a multiple of 3.

    Examples
    --------
    >>> np.abs([query.coefficients for query in coset_queries(3)]).sum(axis=0).tolist()
    [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]
    """
    if positive_int(dimension, what="The `dimension` of `coset_queries`") % 3:
        raise InvalidValue(f"The `dimension` of `coset_queries` must be a multiple of 3; got {dimension}.")
    low = 2 * dimension // 3
    words = np.arange(2**dimension)
    inner = bent(words & (1 << low) - 1, dimension=low)
    return [
        WordQuery(np.asarray(inner * signs(parity(words >> low, head)), dtype=np.float64))
        for head in range(2 ** (dimension // 3))
    ]


@dataclass(frozen=True)
class ParityByQueries:
    """A learner of PARITY by exclusion.

    It returns the least word that no answer excludes. No algorithm can use the answers better, because any
    consistent word may be the target.

    Parameters
    ----------
    queries
        The queries, in the order in which they are asked.
    tau
        The tolerance.

    Examples
    --------
    >>> learner = ParityByQueries(tuple(coset_queries(3)), tau=0.5)
    >>> learner.learn(SilentOracle(5)), learner.consistent(SilentOracle(5))
    (0, 8)
    """

    queries: Sequence[WordQuery]
    tau: float

    def learn(self, oracle: SQOracle) -> int:
        """Return a word as a number."""
        return int(np.argmax(self._left(oracle)))

    def consistent(self, oracle: SQOracle) -> int:
        """Return how many words no answer excludes."""
        return int(self._left(oracle).sum())

    def _left(self, oracle: SQOracle) -> NDArray[np.bool_]:
        left = np.ones(len(self.queries[0].values), dtype=np.bool_)
        for query in self.queries:
            answer = oracle.ask(query.asked(self.tau))
            left &= np.abs(query.coefficients - answer) <= self.tau * (1.0 + 1e-12)
        return left
