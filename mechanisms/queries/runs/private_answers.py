"""Private answers to a list of statistical queries, with their exact law."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from audit.catalogue import Entry
from audit.claims import Accuracy
from audit.errors import InvalidKind, InvalidValue, positive_int, probability
from audit.relations import Relation
from mechanisms.formulas import answers
from mechanisms.noise.noises import LaplaceNoise
from mechanisms.queries.oracles.private import private_chunk_size, stated_chunk_size
from mechanisms.queries.population import Population
from mechanisms.queries.statistical import StatisticalQuery
from mechanisms.subjects.claimed import ClaimsPure
from mechanisms.subjects.sizes import StatedSize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from audit.distributions import Product
    from mechanisms.subjects.neighbours import Pair

__all__ = ["LiteralQueryAnswers", "PrivateQueryAnswers", "QueryProblem"]


def _itself(record: Any) -> Any:
    return record


_ONES: Final = StatisticalQuery.fraction(_itself, tau=0.1, vectorised=_itself)


@dataclass(frozen=True, eq=False)
class QueryProblem:
    """A distribution with queries to be answered about it.

    Parameters
    ----------
    name
        The name in reports.
    population
        The distribution.
    queries
        The queries to be answered.
    size
        Number of records drawn for one run.

    Examples
    --------
    >>> problem = QueryProblem("a fair coin", Population([0, 1]), (_ONES,), 4)
    >>> problem.error([0.75], problem.draw(np.random.default_rng(0)))
    0.25
    """

    name: str
    population: Population
    queries: tuple[StatisticalQuery, ...]
    size: int

    def draw(self, rng: np.random.Generator) -> list[Any]:
        """Return a fresh sample."""
        return self.population.sample(self.size, rng)

    def error(self, output: Any, database: Any) -> float:
        """Return how far the worst answer is from its query's mean over the distribution."""
        del database
        truths = [self.population.expectation(query) for query in self.queries]
        worst = float(np.abs(np.asarray(output, dtype=np.float64) - truths).max())
        return math.inf if math.isnan(worst) else worst


@dataclass(frozen=True, kw_only=True)
class PrivateQueryAnswers(StatedSize, ClaimsPure):
    """Answers statistical queries from disjoint chunks, with Laplace noise.

    The noise has scale width/(epsilon·chunk), where width is the length of the query's range.

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0.
    queries
        The M queries, at least one. Query i is answered from the i-th chunk.
    beta
        Probability that some answer may miss its tolerance, in (0, 1).
    chunk
        Records in a chunk. Default: as many as accuracy needs. With fewer, no utility is claimed.
    records
        The records to build databases of.

    Raises
    ------
    InvalidValue
        A parameter is out of range, a database's length is not M·chunk, or a value lies outside its query's
        range.

    Guarantee
    ---------
    epsilon-differential privacy when one record is replaced. The record lies in one chunk, so only this
    chunk's average moves. It moves by at most width/chunk. The density of this chunk's answer changes by a
    factor of at most e^epsilon. The other answers keep their laws (parallel composition). The law is the
    product of the answers' Laplace laws.

    Let chunk be at least `private_chunk_size` for every query, and the records a sample of a distribution.
    Then, with probability 1 − beta, all answers are within tolerance of the queries' means over the
    distribution (B Theorem 7 and C Theorem 1).

    Examples
    --------
    >>> answers = PrivateQueryAnswers(chunk=2)
    >>> answers.size, print(answers.claim), answers.distribution([0, 1, 1, 1]).factors[1].cdf(1.0)
    PureDP(epsilon=1)
    (4, None, 0.5)
    """

    queries: tuple[StatisticalQuery, ...] = (_ONES, _ONES)
    beta: float = 0.05
    chunk: int | None = None
    records: Sequence[Any] = (0, 1)

    name: ClassVar[str] = "private-query-answers"
    reference: ClassVar[str] = "B Theorem 7, C Theorem 1, with noise of scale 1/(ε|S_i|)"
    relation: ClassVar[Relation] = Relation.REPLACE_ONE
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        owner = type(self).__name__
        if (
            not isinstance(self.queries, list | tuple)
            or not self.queries
            or not all(isinstance(query, StatisticalQuery) for query in self.queries)
        ):
            raise InvalidKind(f"The `queries` of `{owner}` must be statistical queries, at least one.")
        probability(self.beta, what=f"The `beta` of `{owner}`", zero=False, one=False)
        if self.chunk is not None:
            positive_int(self.chunk, what=f"The `chunk` of `{owner}`")
        _ = self._least_chunk  # computed now, or runs would seem to change the subject

    @property
    def _needed(self) -> int:
        return len(self.queries) * self._least_chunk

    def _at(self, alpha: float | None, beta: float | None) -> PrivateQueryAnswers:
        """Return the mechanism with another tolerance `alpha` and another `beta`."""
        asked = [each if alpha is None else replace(each, tau=alpha) for each in self.queries]
        return replace(self, queries=tuple(asked), beta=self.beta if beta is None else beta, chunk=None)

    @cached_property
    def _least_chunk(self) -> int:
        """The smallest chunk size for which utility is claimed."""
        return max(
            private_chunk_size(
                len(self.queries), tau=query.tau, beta=self.beta, epsilon=self.epsilon, width=query.width
            )
            for query in self.queries
        )

    @property
    def chunk_size(self) -> int:
        """Records in a chunk."""
        return self._least_chunk if self.chunk is None else self.chunk

    @property
    def size(self) -> int:
        """Length of a database."""
        return len(self.queries) * self.chunk_size

    @property
    def utility_claim(self) -> Accuracy | None:
        """The claim that no error exceeds the largest tolerance.

        For small chunks there is no claim.
        """
        if self.chunk_size < self._least_chunk:
            return None
        return Accuracy(alpha=max(query.tau for query in self.queries), beta=self.beta)

    @property
    def scales(self) -> NDArray[np.float64]:
        """Scale of the noise on each answer, of shape (queries,)."""
        widths = np.array([query.width for query in self.queries])
        return np.asarray(widths / (self.epsilon * self.chunk_size))

    def averages(self, database: Any) -> NDArray[np.float64]:
        """Return the average of each query over its chunk."""
        if len(database) != self.size:
            raise InvalidValue(
                f"The database of `{type(self).__name__}` must have {self.size} records, "
                f"{len(self.queries)} chunks of {self.chunk_size}; got {len(database)}."
            )
        size = self.chunk_size
        chunks = [database[start : start + size] for start in range(0, self.size, size)]
        return np.array(
            [query.values(chunk).mean() for query, chunk in zip(self.queries, chunks, strict=True)]
        )

    def __call__(self, database: Any, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the noisy answers, of shape (queries,)."""
        return np.asarray(self.sample(database, 1, rng)[0])

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the answers of `size` runs, of shape (size, queries).

        The noise of run i does not depend on the database.
        """
        averages = self.averages(database)
        return averages + self.scales * LaplaceNoise(1.0).sample((size, len(averages)), rng)

    def distribution(self, database: Any) -> Product:
        """Return the exact law, which is a product of Laplace laws."""
        from audit.distributions import Density, Product

        answers = zip(self.averages(database).tolist(), self.scales.tolist(), strict=True)
        return Product([Density.laplace(average, scale) for average, scale in answers])

    def failure_of_noise(self) -> float:
        """Return the probability that the noise alone exceeds a tolerance.

        Guarantee
        ---------
        The value is 1 − Π(1 − e^(−tau/scale)), because the noises are independent Laplace variables.

        Examples
        --------
        >>> PrivateQueryAnswers(epsilon=1.0).failure_of_noise() < 0.05
        True
        """
        taus = np.array([query.tau for query in self.queries])
        return float(0.0 - np.expm1(np.log1p(-np.exp(-taus / self.scales)).sum()))

    def problems(self) -> list[QueryProblem]:
        """Return distributions on two records that are extreme for the last query."""
        low, high = self._ends(self.queries[-1])
        shares = {"fair between the ends": 0.5, "one end only": 1.0, "one in ten at an end": 0.9}
        return [
            QueryProblem(name, Population([low, high], [share, 1.0 - share]), self.queries, self.size)
            for name, share in shares.items()
        ]

    def suggested_pairs(self) -> list[Pair]:
        """Return one pair of neighbours for each query."""
        pairs: list[Pair] = []
        for place, query in enumerate(self.queries):
            low, high = self._ends(query)
            left = [low] * self.size
            right = list(left)
            right[place * self.chunk_size] = high
            pairs.append((left, right))
        return pairs

    def _ends(self, query: StatisticalQuery) -> tuple[Any, Any]:
        """Return the records at which a query is least and greatest."""
        values = query.values(list(self.records))
        return self.records[int(values.argmin())], self.records[int(values.argmax())]


@dataclass(frozen=True, kw_only=True)
class LiteralQueryAnswers(PrivateQueryAnswers):
    """Answers with the noise of the proofs of B Theorem 7 and C Theorem 1.

    The noise has scale M·width/(epsilon·chunk) for M queries.

    Parameters
    ----------
    epsilon, queries, beta, records
        As in `PrivateQueryAnswers`.
    chunk
        Records in a chunk. Default: the size that the proofs state, by `stated_chunk_size`.

    Guarantee
    ---------
    (epsilon/M)-differential privacy, exactly, although epsilon is claimed. The noise is M times what
    `PrivateQueryAnswers` needs. The utility that is claimed does *not* hold. The noise alone exceeds tau with
    probability 1 − (1 − e^(−epsilon·tau·chunk/(M·width)))^M. Here tau·chunk = O((1/epsilon +
    1/tau)·ln(M/beta)) grows more slowly than M.

    Examples
    --------
    >>> many = LiteralQueryAnswers(queries=(_ONES,) * 200)
    >>> print(many.utility_claim), many.failure_of_noise() > 0.99
    Accuracy(alpha=0.1, beta=0.05)
    (None, True)
    """

    name: ClassVar[str] = "literal-query-answers"
    reference: ClassVar[str] = "B Theorem 7, C Theorem 1, the algorithm of the proofs"

    @cached_property
    def _least_chunk(self) -> int:
        """The chunk size that the proofs state."""
        return max(
            stated_chunk_size(
                len(self.queries), tau=query.tau / query.width, beta=self.beta, epsilon=self.epsilon
            )
            for query in self.queries
        )

    @property
    def scales(self) -> NDArray[np.float64]:
        """Scale of the noise on each answer, of shape (queries,)."""
        return len(self.queries) * super().scales


def private_answers(*, epsilon: float = 1.0, chunk: int = 2) -> PrivateQueryAnswers:
    """Return the mechanism that answers two queries from small chunks.

    Examples
    --------
    >>> private_answers().size
    4
    """
    return PrivateQueryAnswers(epsilon=epsilon, chunk=chunk)


def literal_answers(*, epsilon: float = 1.0, chunk: int = 2) -> LiteralQueryAnswers:
    """Return the mechanism of `private_answers` with the noise of the proofs.

    Examples
    --------
    >>> print(literal_answers().claim)
    PureDP(epsilon=1)
    """
    return LiteralQueryAnswers(epsilon=epsilon, chunk=chunk)


def many_answers(kind: type[PrivateQueryAnswers], *, queries: int = 16) -> PrivateQueryAnswers:
    """Return the mechanism that answers many queries with tolerance 1.

    Examples
    --------
    >>> print(many_answers(PrivateQueryAnswers).utility_claim)
    Accuracy(alpha=1, beta=0.05)
    """
    return kind(queries=(PrivateQueryAnswers().queries[0].with_tau(1.0),) * queries)


entries = (
    Entry(
        PrivateQueryAnswers.name,
        private_answers,
        reference=PrivateQueryAnswers.reference,
        summary="two statistical queries from disjoint chunks",
        formulas=answers.laplace_answers,
    ),
    Entry(
        LiteralQueryAnswers.name,
        literal_answers,
        reference=LiteralQueryAnswers.reference,
        summary="the same with the proofs' noise: found ε/2, and inaccurate",
        formulas=answers.literal_answers,
    ),
    Entry(
        "private-query-answers-many",
        partial(many_answers, PrivateQueryAnswers),
        options={"pairs": many_answers(PrivateQueryAnswers).suggested_pairs()[:1]},
        utility={},
        reference=PrivateQueryAnswers.reference,
        summary="16 queries within 1 except for 5 % of the runs",
        formulas=answers.laplace_answers,
    ),
    Entry(
        "literal-query-answers-many",
        partial(many_answers, LiteralQueryAnswers),
        options={"pairs": many_answers(LiteralQueryAnswers).suggested_pairs()[:1], "budget": 20_000},
        utility={},
        utility_expected="refuted",
        formulas=answers.literal_answers,
        reference=LiteralQueryAnswers.reference,
        summary="the same with the proofs' noise: found ε/16, and off by more than 1 in 47 % of runs",
    ),
)
