"""Learners of monotone conjunctions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.errors import positive_int
from audit.relations import Relation
from learners.by_queries.both_models import in_both_models
from learners.by_queries.chunks import INSUFFICIENT, ChunkNoise, EvenChunks, Model
from learners.concepts import ConjunctionClass
from learners.concepts.bits import BitWords, bit_matrix
from learners.finite.hypotheses import Hypotheses
from learners.finite.listed import kinds, listed, spread
from learners.finite.of_hypotheses import OfHypotheses
from learners.finite.problems import LearningProblem, check_accuracy, light_variable_problems
from learners.formulas import parities
from mechanisms.queries import StatisticalQuery
from mechanisms.subjects.claimed import ClaimsItsEpsilon

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from audit.distributions import Finite, Product
    from mechanisms.queries import SQOracle

__all__ = ["ConjunctionLearner", "ConjunctionQueries", "KeepsVariables", "ZeroThoughPositive"]


@dataclass(frozen=True)
class ZeroThoughPositive:
    """The predicate x_i = 0 ∧ y = 1 of a record (x, y).

    Examples
    --------
    >>> ZeroThoughPositive(1)(((1, 0), 1)), ZeroThoughPositive(1).many([((1, 0), -1)]).tolist()
    (True, [False])
    """

    place: int

    def __call__(self, record: Any) -> bool:
        """Return the value at one record."""
        x, y = record
        return bool(x[self.place] == 0 and y == 1)

    def many(self, records: Sequence[Any]) -> NDArray[np.bool_]:
        """Return the values at many records."""
        return spread(self._each, records)

    def _each(self, records: Sequence[Any]) -> NDArray[np.bool_]:
        return np.array([x[self.place] == 0 and y == 1 for x, y in records], dtype=np.bool_)


@dataclass(frozen=True)
class ConjunctionQueries:
    """The SQ learner of monotone conjunctions (B Theorem 5).

    Parameters
    ----------
    dimension
        d, the number of variables.
    alpha
        The error allowed, in (0, 1/2).

    Guarantee
    ---------
    On every distribution and with every valid oracle, the output is a conjunction of error at most alpha. The
    d queries are non-adaptive, of tolerance alpha/2d. A variable of the target has mean 0. So its answer is
    at most alpha/2d, and the variable is kept. Every kept variable has mean at most alpha/d. The conjunction
    errs only on positive examples in which a kept variable is 0. So the error is at most d·alpha/d.

    Examples
    --------
    >>> from mechanisms.queries import AdversarialOracle, Population
    >>> uniform = [((a, b), a) for a in (0, 1) for b in (0, 1)]
    >>> learner = ConjunctionQueries(2, alpha=0.2)
    >>> learner.learn(AdversarialOracle(Population(uniform), "up"))
    (1, 0)
    """

    dimension: int
    alpha: float = 0.2

    def __post_init__(self) -> None:
        positive_int(self.dimension, what="The `dimension` of `ConjunctionQueries`")
        check_accuracy(self.alpha, 0.1, owner="ConjunctionQueries")

    @property
    def tau(self) -> float:
        """The tolerance, and the largest answer of a kept variable."""
        return self.alpha / (2 * self.dimension)

    def queries(self) -> list[StatisticalQuery]:
        """Return the queries of the only round."""
        predicates = map(ZeroThoughPositive, range(self.dimension))
        return [StatisticalQuery.fraction(it, tau=self.tau, vectorised=it.many) for it in predicates]

    def learn(self, oracle: SQOracle) -> tuple[int, ...]:
        """Return the conjunction as bits, 1 for each kept variable."""
        return tuple(int(answer <= self.tau) for answer in oracle.ask_all(self.queries()))


_MOST_LISTED = 12
"""Conjunctions of up to this many variables are listed one by one."""


class KeepsVariables(OfHypotheses, ClaimsItsEpsilon):
    """A private learner that keeps the variables with small noisy answers.

    Examples
    --------
    >>> learner = ConjunctionLearner(dimension=1, epsilon=2.0, alpha=0.4)
    >>> isinstance(learner, KeepsVariables), learner.distribution([((1,), 1)] * 10).pmf((1,)) > 0.99
    (True, True)
    """

    dimension: int
    epsilon: float

    if TYPE_CHECKING:

        @property
        def concepts(self) -> ConjunctionClass:
            """The class of conjunctions."""

        @property
        def _noise(self) -> ChunkNoise: ...

        def means(self, database: Any) -> NDArray[np.float64] | None:
            """Return each variable's answer without noise; None for too few records."""

        def _chunk(self, database: Any) -> int: ...

        def _added(self, chunk: int, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
            """Return the noise on the answers, shape (size, d)."""

        def _tails(self, means: NDArray[np.float64], chunk: int) -> NDArray[np.float64]:
            """Return the log-probabilities of keeping and dropping, shape (2, d)."""

    def __post_init__(self) -> None:
        positive_int(self.dimension, what=f"The `dimension` of `{type(self).__name__}`")
        self._check_budget()

    @property
    def algorithm(self) -> ConjunctionQueries:
        """The SQ learner that is run."""
        return ConjunctionQueries(self.dimension, self.alpha)

    @cached_property
    def hypotheses(self) -> Hypotheses:
        """The class with its truth table."""
        return Hypotheses.of(self.concepts)

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return the outputs of `size` runs."""
        means = self.means(database)
        if means is None:
            return [INSUFFICIENT] * size
        kept = means + self._added(self._chunk(database), size, rng) <= self.algorithm.tau
        return list(map(tuple, kept.astype(int).tolist()))

    def distribution(self, database: Any) -> Finite | Product:
        """Return the exact law.

        For more than 12 variables it is a product over the bits.
        """
        from audit.distributions import Finite, Product

        means = self.means(database)
        if means is None:
            return Finite([INSUFFICIENT], [1.0])
        kept, dropped = self._tails(means, self._chunk(database))
        if self.dimension > _MOST_LISTED:
            return Product([Finite([0, 1], log_probabilities=bit) for bit in zip(dropped, kept, strict=True)])
        words = bit_matrix(BitWords(self.dimension), length=self.dimension, owner=type(self).__name__)
        logs = np.where(words, kept, dropped).sum(axis=1)
        return Finite(list(BitWords(self.dimension)), log_probabilities=logs)

    def _checked(self, database: Any) -> NDArray[np.bool_]:
        """Return the bits of x and whether y is 1, for each kind of record."""
        return self._rows(kinds(database))

    def _by_chunk(self, database: Any, *, chunks: int) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
        """Return the rows of `_checked`, and the counts of each kind of record by chunk."""
        sample, chunk = listed(database), self._chunk(database)
        counts = [sample.counts(place * chunk, (place + 1) * chunk) for place in range(chunks)]
        return self._checked(sample), np.array(counts)

    def _rows(self, records: Any) -> NDArray[np.bool_]:
        points, positive = self.concepts.split(records)
        matrix = bit_matrix(points, length=self.dimension, owner=type(self).__name__)
        return np.column_stack([matrix, positive])


@dataclass(frozen=True, kw_only=True)
class ConjunctionLearner(KeepsVariables):
    """Learn a monotone conjunction privately (B Theorem 5).

    A database is a list of (x, y), x a tuple of bits, y in {0, 1}. The output is a word of bits, 1 for each
    variable of the conjunction, or "insufficient samples".

    Parameters
    ----------
    dimension
        d, the number of variables.
    epsilon
        The privacy claimed, > 0.
    alpha, beta
        Error and failure probability, each in (0, 1/2).
    model
        ``"central"``: noise on the averages. ``"local"``: every record adds noise to its own report.
    size
        The number of records in audited databases.

    Raises
    ------
    InvalidValue
        A parameter is out of range, an x is not d bits, or a y is neither 0 nor 1.

    Guarantee
    ---------
    epsilon-differential privacy when one record is replaced (B Theorem 7 with parallel composition; K11
    §5.1). In the local model each record's report is epsilon-private too (`ChunkNoise`). If a chunk holds m ≥
    2 records, the exact loss is epsilon, because two means that differ by 1/m may lie on the same side of the
    threshold. With one record in each chunk the loss is a little below epsilon, because the means 0 and 1 lie
    on opposite sides.

    On `sample_size` or more examples, from any distribution, labelled by a monotone conjunction, the error is
    at most alpha with probability 1 − beta. All answers are then within alpha/2d of the means. On fewer than
    d records the output is "insufficient samples". In between the output is a conjunction, but nothing is
    claimed of its error.

    Examples
    --------
    >>> learner = ConjunctionLearner(dimension=2, epsilon=1.0)
    >>> learner.sample_size(), learner([((1, 1), 1)], np.random.default_rng(0))
    (7012, 'insufficient samples')
    """

    dimension: int = 2
    epsilon: float = 1.0
    alpha: float = 0.2
    beta: float = 0.1
    model: Model = "central"
    size: int | tuple[int, int] = 2

    name: ClassVar[str] = "conjunction-learner"
    reference: ClassVar[str] = "B Theorems 5 and 7; K11 §5.1"
    relation: ClassVar[Relation] = Relation.REPLACE_ONE
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        ChunkNoise(self.model, self.epsilon)

    @property
    def concepts(self) -> ConjunctionClass:
        """The class of conjunctions."""
        return ConjunctionClass(self.dimension)

    @property
    def records(self) -> tuple[Any, ...]:
        """Every (x, y)."""
        return tuple((x, y) for x in BitWords(self.dimension) for y in (0, 1))

    @property
    def _needed(self) -> int:
        chunk = self._noise.chunk_size(self.algorithm.queries(), beta=self.beta)
        return self.dimension * chunk

    def problems(self) -> list[LearningProblem]:
        """Return hard problems of `sample_size` examples."""
        return light_variable_problems(self.hypotheses, alpha=self.alpha, examples=self.sample_size())

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return the learned conjunction."""
        self._checked(database)
        if len(database) < self.dimension:
            return INSUFFICIENT
        oracle = EvenChunks(database, queries=self.dimension, noise=self._noise, rng=rng)
        return self.algorithm.learn(oracle)

    def suggested_pairs(self) -> list[tuple[list[Any], list[Any]]]:
        """Return neighbours with one record per chunk."""
        zero, one = (0,) * self.dimension, (1,) * self.dimension
        left = [(zero, 1)] * self.dimension
        return [(left, [(one, 1), *left[1:]])]

    def _added(self, chunk: int, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        noise = self._noise.law(chunk, width=1.0)
        return np.stack([noise.sample(size, rng) for _ in range(self.dimension)], axis=1)

    def _tails(self, means: NDArray[np.float64], chunk: int) -> NDArray[np.float64]:
        return self._noise.tails(means, threshold=self.algorithm.tau, chunk=chunk, width=1.0)

    def means(self, database: Any) -> NDArray[np.float64] | None:
        """Return each variable's answer without noise; None for too few records.

        Examples
        --------
        >>> ConjunctionLearner(dimension=2).means([((0, 0), 1), ((0, 1), 1)])
        array([1., 0.])
        """
        rows, counts = self._by_chunk(database, chunks=self.dimension)
        chunk = self._chunk(database)
        if not chunk:
            return None
        hits = ~rows[:, :-1] & rows[:, -1:]
        return np.asarray((counts * hits.T).sum(axis=1) / chunk)

    def _chunk(self, database: Any) -> int:
        return len(database) // self.dimension

    @property
    def _noise(self) -> ChunkNoise:
        return ChunkNoise(self.model, self.epsilon)


_AT_SIZE: dict[str, Any] = {
    "dimension": 4,
    "beta": 0.1,
    "calm": ((1, 1, 1, 1), 1),
    "odd": ((0, 0, 0, 0), 1),
    "placed": {"share": 0.025},
}
"""The `share` equals alpha/2d, the threshold up to which a variable is kept."""

entries = in_both_models(
    ConjunctionLearner,
    summaries=(
        "monotone conjunctions by d queries, noise on the averages",
        "monotone conjunctions by d queries, everybody adds noise",
        "conjunctions of 4 variables",
    ),
    stated=_AT_SIZE,
    formulas=parities.conjunctions,
    local={"size": 4},
)
