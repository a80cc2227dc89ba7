"""The improper pure learner of points by random hashing.

Its sample size does not grow with d (Beimel, Kasiviswanathan and Nissim, TCC 2010).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.catalogue import Entry
from audit.claims import PAC
from audit.errors import positive_int
from learners.approximate.hard import point_problems
from learners.approximate.of_numbers import at_64_bits
from learners.approximate.samples import MOST_BITS, NumberSample
from learners.formulas import numbers
from learners.pure.base import PureLearner, one_behind
from learners.pure.groups import GroupedChoice
from learners.pure.proper import point_errors
from mechanisms.concave.piecewise import StepFunction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from audit.distributions import Finite
    from learners.approximate.sources import NumberSource

__all__ = ["HashedPoint", "HashedPointLearner", "hashed_bits", "hashed_size", "parities"]

_MOST_SPENT = 6.0
"""The most epsilon spent if numbers are hashed: a larger ε needs more bits than it saves examples."""

_MOST_MAPS = 4096
"""Up to this many maps the law of the answer is listed."""


def parities(points: NDArray[np.uint64], rows: tuple[int, ...]) -> NDArray[np.uint64]:
    """Return the bucket of each number.

    Bit i of the bucket is the parity of (number AND row i).

    Examples
    --------
    >>> parities(np.array([0, 1, 2, 3], dtype=np.uint64), (0b10, 0b11)).tolist()
    [0, 1, 3, 2]
    """
    buckets = np.zeros(len(points), dtype=np.uint64)
    for row in rows:
        odd = points & np.uint64(row)
        for shift in (32, 16, 8, 4, 2, 1):
            odd = odd ^ (odd >> np.uint64(shift))
        buckets = (buckets << np.uint64(1)) | (odd & np.uint64(1))
    return buckets


@dataclass(frozen=True)
class HashedPoint:
    """The predictor that is 1 on one bucket of a hash.

    Parameters
    ----------
    rows
        The map, one mask of bits for each row.
    bucket
        The bucket of all numbers x for which bit i is the parity of (x AND row i).
    dimension
        d.

    Examples
    --------
    >>> predictor = HashedPoint((0b1, 0b10), 0b11, dimension=64)
    >>> predictor(3), predictor(2), predictor.count == 2**62
    (1, 0, True)
    >>> predictor(np.arange(8))
    array([0, 0, 0, 1, 0, 0, 0, 1])
    """

    rows: tuple[int, ...]
    bucket: int
    dimension: int

    def __call__(self, number: Any) -> Any:
        """Return the label of a number, or an array of labels."""
        if isinstance(number, np.ndarray):
            told = parities(number.astype(np.uint64), self.rows) == np.uint64(self.bucket)
            return told.astype(np.int64)
        return int(self(np.array([number], dtype=np.uint64))[0])

    def __deepcopy__(self, memo: dict[int, object]) -> HashedPoint:
        """Return itself."""
        return self

    @property
    def count(self) -> int:
        """The number of inputs with the label 1."""
        basis: list[tuple[int, int]] = []
        bits = [self.bucket >> place & 1 for place in reversed(range(len(self.rows)))]
        for mask, bit in zip(self.rows, bits, strict=True):
            left, right = mask, bit
            for other, value in basis:
                if left ^ other < left:
                    left, right = left ^ other, right ^ value
            if left:
                basis.append((left, right))
            elif right:
                return 0
        return 1 << (self.dimension - len(basis))

    def error_on(self, source: NumberSource, target: int) -> float:
        """Return the exact error on a point function."""
        numbers = np.array([x for x, _ in source.atoms] + [target], dtype=np.uint64)
        said = parities(numbers, self.rows) == np.uint64(self.bucket)
        wrong = [
            mass for (x, mass), one in zip(source.atoms, said.tolist(), strict=False) if one != (x == target)
        ]
        spread = self.count + (-1 if said[-1] else 1)
        return math.fsum([*wrong, source.rest * (spread / (1 << self.dimension))])


@lru_cache(maxsize=256)
def hashed_bits(dimension: int, *, alpha: float, beta: float, epsilon: float) -> tuple[int, int]:
    """Return the best number of bits of a bucket, and the number of examples.

    Guarantee
    ---------
    With l bits, m examples are enough for error alpha with failure beta. None of this depends on d.

    *Hash.* Let j be the target. For a random l × d matrix A and x ≠ j, Pr[Ax = Aj] = 2^(−l). Let c be the
    total mass of the other numbers in j's bucket h. Its mean is at most 2^(−l). By Markov's inequality c
    exceeds θα with probability at most beta/2, where θ = 2/(αβ·2^l).

    *Choice.* The error of h is c ≤ θα ≤ α. Another bucket is wrong on x if x is j or lies in that bucket. Let
    a > α be the error of such a bucket. It is wrong on X examples, and h is wrong on Y other examples. So it
    is chosen with probability at most E e^(−ε(X − Y)/2) = (1 − a(1 − e^(−ε/2)) + c(e^(ε/2) − 1))^m. The sum
    over 2^l buckets is at most beta/2 for m = ⌈ln(2^(l+1)/β)/(−ln(1 − α(1 − e^(−ε/2)) + θα(e^(ε/2) − 1)))⌉.
    If epsilon is above 6, ε = 6 is used, because for a larger ε the factor e^(ε/2) needs more bits l than ε
    saves.

    *If l = d*, nothing is hashed and there are no collisions. So beta and the whole of epsilon are spent on
    the choice, as in `pure_size`.

    Examples
    --------
    >>> [hashed_bits(d, alpha=0.1, beta=0.1, epsilon=1.0) for d in (8, 16, 64)]
    [(8, 196), (12, 308), (12, 308)]
    """
    whole, spent = -math.expm1(-epsilon / 2.0), min(epsilon, _MOST_SPENT)
    gain, cost = -math.expm1(-spent / 2.0), math.expm1(spent / 2.0)
    found = {dimension: math.ceil(math.log(2.0**dimension / beta) / -math.log1p(-alpha * whole))}
    for bits in range(1, dimension):
        theta = 2.0 / (alpha * beta * 2.0**bits)
        drop = alpha * (gain - theta * cost)
        if theta <= 1.0 and drop > 0.0:
            found[bits] = math.ceil(math.log(2.0 ** (bits + 1) / beta) / -math.log1p(-drop))
    best = min(found, key=lambda bits: (found[bits], bits))
    return best, found[best]


def hashed_size(dimension: int = MOST_BITS, *, alpha: float, beta: float, epsilon: float) -> int:
    """Return the number of examples that `HashedPointLearner` needs.

    Examples
    --------
    >>> hashed_size(alpha=0.1, beta=0.1, epsilon=1.0)
    308
    """
    return hashed_bits(dimension, alpha=alpha, beta=beta, epsilon=epsilon)[1]


@dataclass(frozen=True, kw_only=True)
class HashedPointLearner(PureLearner):
    """Learn a point by hashing the numbers into few buckets.

    Parameters
    ----------
    dimension
        d, from 1 to 64.
    epsilon
        The privacy claimed, > 0.
    alpha, beta
        Error in (0, 1) and failure probability in (0, 1/2).
    bits
        l, the number of bits of a bucket, at most d. If it is d, nothing is hashed. Default: the l that needs
        the fewest examples.
    points, size
        The numbers, and the number of examples, in audited databases.

    Raises
    ------
    InvalidValue
        A parameter is out of range, or an example is invalid.

    Guarantee
    ---------
    epsilon-differential privacy when one record is replaced. The map A is drawn without the data. Given A,
    the exponential mechanism chooses the bucket b. The score of a bucket is minus the errors of its
    predictor, and moves by at most 1. The pair (A, b) has probability Pr[A]·Pr[b | A, S]. Only the factor
    Pr[b | A, S] depends on the sample S, and it changes by a factor of at most e^epsilon.

    On `sample_size` examples labelled by a point the error is above alpha with probability at most beta
    (`hashed_bits`, default bits). m = O((1/α)·max{1, 1/ε}·ln(1/αβ)) for every d.

    Examples
    --------
    >>> learner = HashedPointLearner(dimension=64)
    >>> learner.sample_size(), learner.hash_bits
    (308, 12)
    >>> learner([(5, 0), (2**64 - 1, 1)] * 200, np.random.default_rng(0))(2**64 - 1)
    1
    """

    bits: int | None = None
    points: tuple[int, ...] | None = None
    size: int | tuple[int, int] = 3

    name: ClassVar[str] = "hashed-point-learner"
    reference: ClassVar[str] = "BNS §1, after Beimel, Kasiviswanathan, Nissim (TCC 2010)"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bits is not None:
            positive_int(self.bits, what=f"The `bits` of `{type(self).__name__}`", maximum=self.dimension)

    @cached_property
    def hash_bits(self) -> int:
        """The number of bits of a bucket."""
        return self._best[0] if self.bits is None else self.bits

    @property
    def spent(self) -> float:
        """The epsilon that the choice of a bucket spends."""
        hashed = self.hash_bits == self._best[0] < self.dimension
        return min(self.epsilon, _MOST_SPENT) if hashed else self.epsilon

    @property
    def _needed(self) -> int:
        return self._best[1]

    @property
    def _best(self) -> tuple[int, int]:
        return hashed_bits(self.dimension, alpha=self.alpha, beta=self.beta, epsilon=self.epsilon)

    @property
    def utility_claim(self) -> PAC | None:
        """The accuracy claimed; None if `bits` is not the default."""
        return PAC(self.alpha, self.beta) if self.hash_bits == self._best[0] else None

    def problems(self) -> list[Any]:
        """Return hard problems, or none if `bits` is not the default."""
        if self.utility_claim is None:
            return []
        return point_problems(self.dimension, alpha=self.alpha, size=self.sample_size())

    def choice(self, database: Any, rows: tuple[int, ...]) -> GroupedChoice:
        """Return the mechanism that chooses a bucket."""
        sample = self._sample(database)
        buckets = parities(sample.points, rows)
        both = np.concatenate([buckets, buckets])
        labels = np.repeat([False, True], len(buckets))
        hashed = NumberSample.counted(both, labels, np.concatenate([sample.zeros, sample.ones]))
        errors = point_errors(hashed, top=(1 << self.hash_bits) - 1)
        return GroupedChoice(StepFunction(errors.starts, -errors.values, top=errors.top), self.spent)

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[HashedPoint]:
        """Return the predictors of `size` runs."""
        sample = self._sample(database)
        choices: dict[
            tuple[int, ...], GroupedChoice
        ] = {}  # if there are few maps, runs draw the same ones repeatedly
        return [self._one(sample, choices, rng) for _ in range(size)]

    def distribution(self, database: Any) -> Finite | None:
        """Return the exact law of (map, bucket); None for more than 4096 maps."""
        from audit.distributions import Finite

        maps = self._maps()
        if maps is None:
            return None
        buckets = range(1 << self.hash_bits)
        outcomes = [HashedPoint(rows, bucket, self.dimension) for rows in maps for bucket in buckets]
        logs = [self.choice(database, rows).log_probabilities(buckets) for rows in maps]
        return Finite(outcomes, log_probabilities=np.ravel(logs) - math.log(len(maps)))

    def _one(
        self, sample: NumberSample, choices: dict[tuple[int, ...], GroupedChoice], rng: np.random.Generator
    ) -> HashedPoint:
        drawn = rng.integers(0, 1 << self.dimension, self.hash_bits, dtype=np.uint64).tolist()
        rows = self._identity if self._identity is not None else tuple(drawn)
        if rows not in choices:
            choices[rows] = self.choice(sample, rows)
        return HashedPoint(rows, choices[rows].sample(1, rng)[0], self.dimension)

    @property
    def _identity(self) -> tuple[int, ...] | None:
        """The identity map if nothing is hashed, else None."""
        if self.hash_bits < self.dimension:
            return None
        return tuple(1 << place for place in reversed(range(self.dimension)))

    def _maps(self) -> list[tuple[int, ...]] | None:
        if self._identity is not None:
            return [self._identity] if self.dimension <= _MOST_LISTED_BITS else None
        if self.dimension * self.hash_bits > math.log2(_MOST_MAPS):
            return None
        return list(product(range(1 << self.dimension), repeat=self.hash_bits))


_MOST_LISTED_BITS = 12


entries = (
    Entry(
        "hashed-point-learner",
        partial(HashedPointLearner, bits=1),
        options={"pairs": one_behind(1, records=8), "size": 3},
        reference=HashedPointLearner.reference,
        summary="POINT_2 by one bit of hash",
        formulas=numbers.hashed,
    ),
    at_64_bits(HashedPointLearner, options={"budget": 5_000}, formulas=numbers.hashed_size),
)
