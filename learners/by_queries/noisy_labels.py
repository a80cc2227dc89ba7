"""Private learners of monotone conjunctions from noisy labels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.catalogue import Entry
from audit.relations import Relation
from learners.by_queries.chunks import INSUFFICIENT, ChunkNoise, EvenChunks
from learners.by_queries.conjunctions import KeepsVariables
from learners.concepts import ConjunctionClass
from learners.finite.at_size import at_size
from learners.finite.problems import LearningProblem, light_variable_problems
from learners.formulas import parities
from mechanisms.queries import NoisyLabelOracle
from mechanisms.queries.oracles.classification_noise import rate, split_query

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.finite.listed import LateExamples, ListedExamples

__all__ = [
    "NoiseIgnored",
    "NoisyConjunctionLearner",
    "NoisyLabelProblem",
    "SignedConjunctions",
    "log_tail_of_two",
]


class SignedConjunctions(ConjunctionClass):
    """The monotone conjunctions with labels −1 and 1.

    Examples
    --------
    >>> SignedConjunctions(2).label((1, 0), (0, 1))
    -1
    """

    labels: ClassVar[tuple[int, int]] = (-1, 1)


@dataclass(frozen=True, eq=False)
class NoisyLabelProblem(LearningProblem):
    """A problem with noisy labels in samples and clean labels in errors.

    Parameters
    ----------
    name, hypotheses, law, examples
        As in `LearningProblem`.
    eta
        The probability with which each label is flipped.

    Examples
    --------
    >>> from learners.finite.hypotheses import Hypotheses
    >>> pair = Hypotheses.of_rows([[0], [1]], domain="a", labels=(-1, 1))
    >>> problem = NoisyLabelProblem("a is −1", pair, np.array([[1.0, 0.0]]), examples=1000, eta=0.25)
    >>> 200 < problem.draw(np.random.default_rng(0)).count(("a", 1)) < 300, problem.error(0, [])
    (True, 0.0)
    """

    eta: float = 0.0

    def __post_init__(self) -> None:
        rate(self.eta, what="The `eta` of `NoisyLabelProblem`")
        super().__post_init__()

    def draw(self, rng: np.random.Generator) -> ListedExamples | LateExamples:
        """Return a fresh sample with flipped labels."""
        return self._noisy.draw(rng)

    @cached_property
    def _noisy(self) -> LearningProblem:
        law = (1.0 - self.eta) * self.law + self.eta * self.law[:, ::-1]
        return LearningProblem(self.name, self.hypotheses, law, self.examples)


@dataclass(frozen=True, kw_only=True)
class NoisyConjunctionLearner(KeepsVariables):
    """Learn a monotone conjunction privately from noisy labels (B Theorem 8).

    A database is a list of (x, y), x a tuple of bits, y in {−1, 1}. The output is a word of bits, 1 for each
    variable of the conjunction, or "insufficient samples".

    Parameters
    ----------
    dimension
        d, the number of variables.
    epsilon
        The privacy claimed, > 0.
    alpha, beta
        Error on *clean* labels and failure probability, each in (0, 1/2).
    eta
        The known rate of flipped labels, in [0, 1/2).
    size
        The number of records in audited databases.

    Raises
    ------
    InvalidValue
        A parameter is out of range, an x is not d bits, or a y is neither −1 nor 1.

    Guarantee
    ---------
    epsilon-differential privacy when one record is replaced. Each query for Pr[x_i = 0 ∧ y = 1] is split into
    the mean of y·[x_i = 0]/2 and the mean of [x_i = 0]/2. Each of the 2d queries has a chunk of m = ⌊n/2d⌋
    records and Laplace noise of scale 1/(m·epsilon). One record moves the mean with y by at most 1/m, and the
    mean without y by at most 1/2m. So the answer without y is even (epsilon/2)-private.

    *Utility.* The answer with y is divided by 1 − 2·eta. On `sample_size` examples, with probability 1 −
    beta, all answers with y are within (1 − 2·eta)·alpha/4d and all answers without y within alpha/4d. Then
    the d answers about clean labels are within alpha/2d, and the error is at most alpha.

    Examples
    --------
    >>> learner = NoisyConjunctionLearner(eta=0.1)
    >>> learner.sample_size(), learner([((1, 1), 1)], np.random.default_rng(0))
    (17312, 'insufficient samples')
    """

    dimension: int = 2
    epsilon: float = 1.0
    alpha: float = 0.45
    beta: float = 0.2
    eta: float = 0.1
    size: int | tuple[int, int] = 4

    name: ClassVar[str] = "noisy-conjunction-learner"
    reference: ClassVar[str] = "B Theorems 5, 7 and 8"
    relation: ClassVar[Relation] = Relation.REPLACE_ONE
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        rate(self.eta, what=f"The `eta` of `{type(self).__name__}`")

    @property
    def concepts(self) -> SignedConjunctions:
        """The class of conjunctions."""
        return SignedConjunctions(self.dimension)

    @property
    def _needed(self) -> int:
        parts = [part for query in self.algorithm.queries() for part in split_query(query, eta=self.eta)]
        return len(parts) * self._noise.chunk_size(parts, beta=self.beta)

    def problems(self) -> list[LearningProblem]:
        """Return hard problems with flipped labels."""
        clean = light_variable_problems(self.hypotheses, alpha=self.alpha, examples=self.sample_size())
        return list(map(self._with_noise, clean))

    def random(self, rng: np.random.Generator) -> LearningProblem:
        """Return a random problem with flipped labels."""
        return self._with_noise(super().random(rng))

    def _with_noise(self, problem: LearningProblem) -> NoisyLabelProblem:
        hypotheses, law = problem.hypotheses, problem.law
        return NoisyLabelProblem(problem.name, hypotheses, law, problem.examples, eta=self._flipped)

    @property
    def _flipped(self) -> float:
        """The rate at which the problems flip labels."""
        return self.eta

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return the conjunction that the SQ learner finds."""
        self._checked(database)
        if not self._chunk(database):
            return INSUFFICIENT
        chunks = EvenChunks(database, queries=2 * self.dimension, noise=self._noise, rng=rng)
        return self.algorithm.learn(NoisyLabelOracle(chunks, eta=self.eta))

    def _added(self, chunk: int, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        noise = self._noise.law(chunk, width=1.0)
        draws = np.stack([noise.sample(size, rng) for _ in range(2 * self.dimension)])
        return np.asarray(draws[::2].T / (1.0 - 2.0 * self.eta) + draws[1::2].T)

    def _tails(self, means: NDArray[np.float64], chunk: int) -> NDArray[np.float64]:
        scale, gaps = 1.0 / (self.epsilon * chunk), self.algorithm.tau - means
        dropped, kept = (
            log_tail_of_two(sign * gaps, scale / (1.0 - 2.0 * self.eta), scale) for sign in (1.0, -1.0)
        )
        return np.array([kept, dropped])

    def means(self, database: Any) -> NDArray[np.float64] | None:
        """Return each variable's answer without noise; None for too few records.

        Examples
        --------
        >>> some = [((0, 0), 1), ((1, 1), 1), ((0, 1), 1), ((0, 0), -1)]
        >>> NoisyConjunctionLearner(eta=0.25).means(some)
        array([1. , 0.5])
        """
        rows, counts = self._by_chunk(database, chunks=2 * self.dimension)
        chunk = self._chunk(database)
        if not chunk:
            return None
        zeros, signs = ~rows[:, :-1].T, np.where(rows[:, -1], 1.0, -1.0)
        labels = (counts[::2] * zeros * signs).sum(axis=1) / chunk / 2.0
        plain = (counts[1::2] * zeros).sum(axis=1) / chunk / 2.0
        return np.asarray(labels / (1.0 - 2.0 * self.eta) + plain)

    def _chunk(self, database: Any) -> int:
        return len(database) // (2 * self.dimension)

    @property
    def _noise(self) -> ChunkNoise:
        return ChunkNoise("central", self.epsilon)


@dataclass(frozen=True, kw_only=True)
class NoiseIgnored(NoisyConjunctionLearner):
    """Wrong learner that trusts labels although they are flipped.

    Parameters
    ----------
    dimension, epsilon, alpha, beta, eta, size
        As in `NoisyConjunctionLearner`. The learner corrects for a rate of eta = 0.
    actual
        The rate at which the problems flip labels.

    Guarantee
    ---------
    It is private as `NoisyConjunctionLearner` is, but not accurate. If the target holds all variables and
    points are uniform, the estimate of Pr[x_i = 0 ∧ y = 1] is about actual/2. That is more than alpha/2d, so
    no variable is kept.

    Examples
    --------
    >>> NoiseIgnored(actual=0.3).problems()[0].eta
    0.3
    """

    eta: float = 0.0
    actual: float = 0.3

    reference: ClassVar[str] = "B Theorem 5 on noisy labels, without Theorem 8 (N12)"

    def __post_init__(self) -> None:
        rate(self.actual, what="The `actual` of `NoiseIgnored`")
        super().__post_init__()

    @property
    def _flipped(self) -> float:
        return self.actual


def log_tail_of_two(value: Any, wide: float, narrow: float) -> NDArray[np.float64]:
    """Return the log-probability that a sum of Laplace variables exceeds `value`.

    The two variables are independent, of scales `wide` ≥ `narrow`.

    Guarantee
    ---------
    Let a = `wide`, b = `narrow`, v = `value`. For v ≥ 0 the tail is (a²·e^(−v/a) − b²·e^(−v/b))/(2(a² − b²)),
    by integrating the density. The code uses the equal form e^(−v/a)/2·(1 + b·v·g/(a·(a + b))) with g = (1 −
    e^(−w))/w, w = v·(a − b)/(a·b). This form loses no digits by cancellation. It also holds for a = b, where
    g = 1. For v < 0 the tail is 1 minus the tail of −v.

    Examples
    --------
    >>> np.exp(log_tail_of_two([0.0, 1.0], 1.0, 1.0)).round(9).tolist() == [0.5, round(0.75 / math.e, 9)]
    True
    """
    values = np.asarray(value, dtype=np.float64)
    size = np.abs(values)
    spread_out = size * (wide - narrow) / (wide * narrow)
    with np.errstate(invalid="ignore"):
        ratio = np.where(spread_out > 0.0, -np.expm1(-spread_out) / spread_out, 1.0)
    upper = -size / wide - math.log(2.0) + np.log1p(narrow * size * ratio / (wide * (wide + narrow)))
    return np.asarray(np.where(values >= 0.0, upper, np.log1p(-np.exp(upper))))


_AT_SIZE: dict[str, Any] = {
    "beta": 0.1,
    "calm": ((1, 1), 1),
    "odd": ((0, 0), 1),
    "placed": {"share": 0.1, "labels": (-1, 1)},
}
"""With this `share` the answer without noise, 1.125·share, equals the threshold alpha/2d."""

_FAR = [((0,), 1)] * 32

entries = (
    Entry(
        NoisyConjunctionLearner.name,
        partial(NoisyConjunctionLearner, dimension=1, size=4),
        options={"pairs": [(_FAR, [((0,), -1), *_FAR[1:]])], "size": 4},
        reference=NoisyConjunctionLearner.reference,
        summary="a conjunction from labels flipped with 0.1",
        formulas=parities.noisy_conjunction,
    ),
    Entry(
        f"{NoisyConjunctionLearner.name}-at-size",
        partial(at_size, NoisyConjunctionLearner, **_AT_SIZE),
        options={"budget": 5_000},
        utility={"budget": 2_600},
        reference=NoisyConjunctionLearner.reference,
        summary="by runs, with the stated n: two variables, labels flipped with 0.1",
    ),
    Entry(
        "noisy-conjunctions-ignored-at-size",
        partial(at_size, NoiseIgnored, **_AT_SIZE),
        options={"budget": 1_000},
        utility={"budget": 600},
        utility_expected="refuted",
        reference=NoiseIgnored.reference,
        summary="by runs, with the stated n: labels flipped with rate 0.3 but used as clean",
    ),
)
