"""MASKED-PARITY learned privately in two rounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.claims import PAC
from audit.errors import InvalidValue, finite_number, probability
from audit.relations import Relation
from learners.by_queries.both_models import in_both_models
from learners.by_queries.chunks import INSUFFICIENT, ChunkNoise, EvenChunks, Model
from learners.concepts import MaskedParityClass
from learners.concepts.bits import bit_matrix, bits_of
from learners.finite.listed import spread
from learners.formulas import parities
from learners.masked.algorithms import AdaptiveMasked
from learners.masked.fourier import walsh
from learners.masked.populations import MaskedPopulation
from learners.masked.problems import MaskedProblem, random_masked
from learners.masked.words import bit, check_dimension, numbers
from mechanisms.subjects.claimed import ClaimsItsEpsilon
from mechanisms.subjects.sizes import StatedSize

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from audit.distributions import Finite

__all__ = ["MaskedParityLearner"]

_LARGEST_LAW = 12


@dataclass(frozen=True)
class _Read:
    """A database as arrays of words, places, bits and labels."""

    x: NDArray[np.int64]
    i: NDArray[np.int64]
    b: NDArray[np.int64]
    y: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class MaskedParityLearner(StatedSize, ClaimsItsEpsilon):
    """Learn MASKED-PARITY exactly and privately from uniform examples.

    A database is a list of ((x, i, b), y), where (x, i, b) is a word of d + log2(d) + 1 bits and y is 1 or
    −1. The output is a concept ((r_1, …, r_d), a), or "insufficient samples".

    Parameters
    ----------
    dimension
        d, a power of two.
    epsilon
        The privacy claimed, > 0.
    beta
        Failure probability, in (0, 1/2).
    model
        ``"central"``: noise on the averages. ``"local"``: every record reports for itself, in two rounds.
    size
        The number of records in audited databases; default d + 1.

    Raises
    ------
    InvalidValue
        d is not a power of two, another parameter is out of range, a point has the wrong number of bits, or a
        label is neither 1 nor −1.

    Guarantee
    ---------
    epsilon-differential privacy when one record is replaced, and epsilon-local privacy in the local model
    (K11 Theorem 5.7 and §5.3.1). Each record affects one of d + 1 averages (`ChunkNoise`). The answers of the
    round for r fix the query of the round for a, which reads records not used before.

    On `sample_size` or more uniform examples of a concept the output is that concept with probability 1 −
    beta. All answers are then within the tolerances of `AdaptiveMasked`. On fewer than d + 1 records the
    output is "insufficient samples". In between the output is a concept, but no accuracy is claimed.

    Examples
    --------
    >>> learner = MaskedParityLearner(dimension=2)
    >>> learner.size, learner.sample_size()
    (3, 2328)
    """

    dimension: int = 1
    epsilon: float = 1.0
    beta: float = 0.1
    model: Model = "central"
    size: int | tuple[int, int] | None = None

    name: ClassVar[str] = "masked-parity-learner"
    reference: ClassVar[str] = "K08 §5.1; K11 §5.3.1, Proposition 5.18, Theorem 5.7"
    relation: ClassVar[Relation] = Relation.REPLACE_ONE
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        owner = type(self).__name__
        check_dimension(self.dimension, owner=owner)
        finite_number(self.epsilon, what=f"The `epsilon` of `{owner}`", above=0)
        finite_number(self.beta, what=f"The `beta` of `{owner}`", above=0, below=0.5)
        ChunkNoise(self.model, self.epsilon)
        if self.size is None:
            object.__setattr__(self, "size", self.dimension + 1)

    @property
    def utility_claim(self) -> PAC:
        """The accuracy claimed on `sample_size` uniform examples, without any error."""
        return PAC(0.0, self.beta)

    @property
    def concepts(self) -> MaskedParityClass:
        """The class MASKED-PARITY."""
        return MaskedParityClass(self.dimension)

    @property
    def records(self) -> tuple[Any, ...]:
        """Every ((x, i, b), y)."""
        return tuple((point, label) for point in self.concepts.listed_domain() for label in (1, -1))

    @property
    def algorithm(self) -> AdaptiveMasked:
        """The SQ learner that is run."""
        return AdaptiveMasked(self.dimension)

    def _at(self, alpha: float | None, beta: float | None) -> StatedSize:
        """Return the learner with another beta."""
        if alpha is not None:
            probability(alpha, what=f"The `alpha` of `{type(self).__name__}`")
        return super()._at(None, beta)

    @property
    def _needed(self) -> int:
        queries = [*self.algorithm.first_round(), self.algorithm.second_round(0)]
        return len(queries) * self._noise.chunk_size(queries, beta=self.beta)

    def problems(self) -> list[MaskedProblem]:
        """Return problems of `sample_size` examples."""
        most = 2**self.dimension - 1
        return [
            MaskedProblem(MaskedPopulation(self.dimension, r=r, a=a), examples=self.sample_size())
            for r in sorted({0, 1, most})
            for a in (0, 1)
        ]

    def vary(self, problem: MaskedProblem, rng: np.random.Generator) -> MaskedProblem:
        """Return a problem near another one."""
        return problem.varied(rng)

    def random(self, rng: np.random.Generator) -> MaskedProblem:
        """Return a random problem, with `sample_size` examples."""
        return random_masked(self.dimension, examples=self.sample_size(), rng=rng)

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return the learned concept."""
        self._read(database)
        if not self._chunk(database):
            return INSUFFICIENT
        oracle = EvenChunks(database, queries=self.dimension + 1, noise=self._noise, rng=rng)
        return self.algorithm.learn(oracle)

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return the concepts of `size` runs."""
        read, chunk = self._read(database), self._chunk(database)
        if not chunk:
            return [INSUFFICIENT] * size
        noise = self._noise.law(chunk, width=1.0)
        draws = np.stack([noise.sample(size, rng) for _ in range(self.dimension + 1)], axis=1)
        above = self._bit_means(read, chunk) + draws[:, :-1] > 0.25 / self.dimension
        words = numbers(above)
        masks = self._mask_means(read, chunk)[words] + draws[:, -1] > 0.25
        return [
            (bits_of(word, self.dimension), mask)
            for word, mask in zip(words.tolist(), masks.astype(int).tolist(), strict=True)
        ]

    def distribution(self, database: Any) -> Finite:
        """Return the exact law of the concept.

        Raises
        ------
        InvalidValue
            d is above 12.
        """
        from audit.distributions import Finite

        if self.dimension > _LARGEST_LAW:
            raise InvalidValue(f"The law of `{type(self).__name__}` is listed up to d = {_LARGEST_LAW}.")
        read, chunk = self._read(database), self._chunk(database)
        if not chunk:
            return Finite([INSUFFICIENT], [1.0])
        tails = self._noise.tails
        zero, one = tails(
            self._bit_means(read, chunk), threshold=0.25 / self.dimension, chunk=chunk, width=1.0
        )
        words = np.arange(2**self.dimension)
        bits = bit(words[:, None], np.arange(self.dimension), dimension=self.dimension)
        of_word = np.where(bits == 1, one, zero).sum(axis=1)
        of_mask = tails(self._mask_means(read, chunk), threshold=0.25, chunk=chunk, width=1.0)
        return Finite(list(self.concepts.listed_concepts()), log_probabilities=(of_word + of_mask).T.ravel())

    def suggested_pairs(self) -> list[tuple[list[Any], list[Any]]]:
        """Return neighbours with two records per chunk."""
        point = (*[0] * (self.concepts.length - 1), 1)
        left = [(point, -1)] * (2 * (self.dimension + 1))
        return [(left, [(point, 1), *left[1:]])]

    def _bit_means(self, read: _Read, chunk: int) -> NDArray[np.float64]:
        """Return the share of records with i = j, b = 1 and y = −1 in chunk j."""
        hits = (read.b == 1) & (read.y == -1)
        chunks = [slice(place * chunk, (place + 1) * chunk) for place in range(self.dimension)]
        return np.array([(hits[it] & (read.i[it] == place)).mean() for place, it in enumerate(chunks)])

    def _mask_means(self, read: _Read, chunk: int) -> NDArray[np.float64]:
        """Return the share of records that contradict a = 0, for every r.

        These records have b = 0 and y ≠ (−1)^⟨r, x⟩.
        """
        last = slice(self.dimension * chunk, (self.dimension + 1) * chunk)
        masked = read.b[last] == 0
        sums = np.bincount(read.x[last][masked], weights=read.y[last][masked], minlength=2**self.dimension)
        return np.asarray((masked.sum() - walsh(sums) * len(sums)) / 2.0 / chunk)

    def _chunk(self, database: Any) -> int:
        return len(database) // (self.dimension + 1)

    def _read(self, database: Any) -> _Read:
        columns = spread(self._columns, database).T
        return _Read(*columns)

    def _columns(self, records: Any) -> NDArray[np.int64]:
        """Return word, place, bit and label of every record."""
        points, negative = self.concepts.split(records)
        matrix = bit_matrix(points, length=self.concepts.length, owner=type(self).__name__)
        d = self.dimension
        parts = numbers(matrix[:, :d]), numbers(matrix[:, d:-1]), matrix[:, -1], np.where(negative, -1, 1)
        return np.column_stack(parts).astype(np.int64)

    @property
    def _noise(self) -> ChunkNoise:
        return ChunkNoise(self.model, self.epsilon)


_AT_SIZE: dict[str, Any] = {
    "dimension": 4,
    "beta": 0.1,
    "calm": ((0, 0, 0, 0, 0, 0, 0), 1),
    "odd": ((0, 0, 0, 0, 0, 0, 1), -1),
    "placed": {"share": 0.0625, "labels": (1, -1)},
}
"""`share` equals 1/4d, the threshold for the first bit of r."""

entries = in_both_models(
    MaskedParityLearner,
    summaries=(
        "MASKED-PARITY in two rounds of queries, noise on the averages",
        "MASKED-PARITY in two rounds, local and interactive",
        "d = 4",
    ),
    stated=_AT_SIZE,
    formulas=parities.masked,
    local={"size": 2},
    utility_runs=2_400,
)
