"""The proper learner of a point that stands out (BNS §3.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.catalogue import Entry
from audit.claims import PAC, ApproximateDP
from audit.errors import InvalidValue, finite_number, flag, positive_int, probability
from audit.relations import Relation
from learners.approximate.hard import point_problems
from learners.approximate.lumped import LumpedLearner, Masses
from learners.approximate.of_numbers import OfNumbers, at_64_bits
from learners.approximate.samples import check_dimension, sample_of
from learners.finite.problems import check_accuracy
from learners.formulas import numbers
from mechanisms.selection.scoring import TwoBest
from mechanisms.selection.stability import StableSelection, TightStableSelection
from mechanisms.subjects.parameters import PlainParameters

if TYPE_CHECKING:
    from collections.abc import Iterable

    from audit.distributions import Finite
    from learners.approximate.samples import NumberSample
    from learners.approximate.sources import PointProblem

__all__ = ["MostPositive", "PointLearner", "lemma_1_size", "point_size"]

MOST_LISTED = 12
"""Up to this d the law of the answer is listed."""


@dataclass(frozen=True)
class MostPositive:
    """The numbers below 2^dimension, scored by how often they have the label 1.

    Guarantee
    ---------
    Replacing an example moves every score by at most 1. Numbers that are in no example score 0 and are not
    enumerated. There are at least two numbers.

    Examples
    --------
    >>> MostPositive(64).two_best([(7, 1), (7, 1), (9, 1), (9, 0)])
    TwoBest(solution=7, score=2.0, runner_up=1.0)
    """

    dimension: int
    owner: str = "PointLearner"

    def two_best(self, database: Any) -> TwoBest:
        """Return the number most often labelled 1, its count, and the next count."""
        sample = sample_of(database, dimension=self.dimension, owner=self.owner)
        if not len(sample.points):
            return TwoBest(0, 0.0, 0.0)
        first = int(np.argmax(sample.ones))
        others = np.delete(sample.ones, first)
        runner_up = float(others.max()) if len(others) else 0.0
        return TwoBest(int(sample.points[first]), float(sample.ones[first]), runner_up)


def point_size(selection: StableSelection, *, alpha: float, beta: float) -> int:
    """Return the least number of examples that finds a heavy point.

    A point of mass 3·alpha/4 or more is then selected with probability 1 − beta.

    Guarantee
    ---------
    The size is exact. Let failure(n) be the probability that the selection fails at a lead of n. The size is
    the least m with Σ_n Bin(m, 3α/4)(n)·failure(n) ≤ β. failure(n) falls as n grows, so the sum falls as m or
    the mass grows. m does not depend on d.

    Examples
    --------
    >>> [point_size(kind(), alpha=0.1, beta=0.1) for kind in (StableSelection, TightStableSelection)]
    [928, 486]
    """
    mass = 0.75 * alpha

    def enough(m: int) -> bool:
        return missed(selection, size=m, mass=mass) <= beta

    high = 1
    while not enough(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def missed(selection: StableSelection, *, size: int, mass: float) -> float:
    """Return the exact probability that the only point labelled 1 is not selected.

    Guarantee
    ---------
    The probability is a binomial sum of Laplace tails. Let σ be the standard deviation of the count. Counts
    more than 40·(σ + 1) from the mean are left out. Their probability is below 1e-25 (Bernstein).

    Examples
    --------
    >>> missed(StableSelection(), size=100, mass=0.0)
    1.0
    """
    from scipy.special import gammaln, xlog1py, xlogy

    middle, width = size * mass, 40.0 * (math.sqrt(size * mass * (1.0 - mass)) + 1.0)
    n = np.arange(max(0, math.floor(middle - width)), min(size, math.ceil(middle + width)) + 1)
    logs = gammaln(size + 1) - gammaln(n + 1) - gammaln(size - n + 1) + xlogy(n, mass)
    z = (n - selection.threshold) / selection.scale
    tails = np.where(z > 0.0, 0.5 * np.exp(-np.abs(z)), 1.0 - 0.5 * np.exp(-np.abs(z)))
    tails[n == 0] = 1.0  # a tie
    return float(np.exp(logs + xlog1py(size - n, -mass)) @ tails)


def lemma_1_size(*, alpha: float, beta: float, epsilon: float, delta: float, constant: float = 1.0) -> int:
    """Return the sample size of BNS Lemma 1.

    It is (constant/(alpha·epsilon))·ln(1/(beta·delta)), rounded up.

    Examples
    --------
    >>> lemma_1_size(alpha=0.1, beta=0.1, epsilon=1.0, delta=1e-6, constant=4.0)
    645
    """
    nats = -math.log(beta) - math.log(delta)
    return math.ceil(constant / alpha / epsilon * nats)


@dataclass(frozen=True, kw_only=True)
class PointLearner(OfNumbers, PlainParameters):
    """Learn a point as the number most often labelled 1.

    If no number is far ahead, the output is a random number. A database is a list of (x, y) or a
    `NumberSample`. x is a whole number below 2^dimension; y is 0 or 1. The output j is the concept that
    labels only j with 1.

    Parameters
    ----------
    dimension
        d, from 1 to 64.
    epsilon, delta
        The privacy claimed, epsilon > 0 and 0 < delta < 1 (≤ 1/2 if `tight`).
    alpha, beta
        Error in (0, 1) and failure probability in (0, 1/2).
    tight
        False: A_dist as printed, which is (epsilon/2, delta/2)-private. True: A_dist with no more noise than
        its claim needs, which takes about half of the examples.
    points
        The numbers in audited databases. Default: all numbers if d ≤ 2, else 0, 1 and 2^d − 1.
    size
        The number of records in audited databases.

    Raises
    ------
    InvalidValue
        A parameter is out of range, or an example is invalid. For delta = 0 see `PurePointLearner`.

    Guarantee
    ---------
    (epsilon, delta)-differential privacy when one record is replaced (BNS Lemma 1). The learner is
    `StableSelection` over the numbers, scored by `MostPositive`. If the selection refuses, a random number is
    drawn without the data. This is post-processing.

    *Utility*, on `sample_size` examples of a law D, labelled by any point j. If 2^d ≥ 4/(alpha·beta), the
    error is above alpha with probability at most beta. *If D(j) ≥ 3α/4*: only j has examples with the label
    1. So A_dist selects j except with probability beta (`point_size`), and the error is 0. *Otherwise*: a
    number i ≠ j is a bad answer only if D(i) > α/4. Fewer than 4/α numbers are bad. So a random number is bad
    with probability below 4/(α·2^d) ≤ beta.

    BNS ask only for 2^d ≥ 1/(αβ), where no m of Lemma 1's form is always enough (finding N2).

    Examples
    --------
    >>> import numpy as np
    >>> learner = PointLearner(dimension=64)
    >>> learner([(5, 0), (2**64 - 1, 1)] * 200, np.random.default_rng(0)) == 2**64 - 1
    True
    >>> learner.sample_size()
    928
    """

    dimension: int = 2
    epsilon: float = 1.0
    delta: float = 1e-6
    alpha: float = 0.1
    beta: float = 0.1
    tight: bool = False
    points: tuple[int, ...] | None = None
    size: int | tuple[int, int] = 3

    name: ClassVar[str] = "point-learner"
    reference: ClassVar[str] = "BNS §3.1 and Lemma 1 (with 2^d ≥ 4/(αβ))"
    relation: ClassVar[Relation] = Relation.REPLACE_ONE
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        owner = type(self).__name__
        flag(self.tight, what=f"The `tight` of `{owner}`")
        check_dimension(self.dimension, owner=owner)
        finite_number(self.epsilon, what=f"The `epsilon` of `{owner}`", above=0)
        refuse_pure(self.delta, owner=owner, pure="PurePointLearner")
        check_accuracy(self.alpha, self.beta, owner=owner, below=1.0)
        _ = self.selection

    @cached_property
    def selection(self) -> StableSelection:
        """The mechanism A_dist over the numbers."""
        kind = TightStableSelection if self.tight else StableSelection
        leaders = MostPositive(self.dimension, owner=type(self).__name__)
        return kind(epsilon=self.epsilon, delta=self.delta, leaders=leaders, beta=self.beta)

    @property
    def claim(self) -> ApproximateDP:
        """The privacy claimed."""
        return ApproximateDP(self.epsilon, self.delta)

    @property
    def enough_points(self) -> bool:
        """Whether there are enough numbers for the accuracy claim."""
        return self.alpha * self.beta * 2.0**self.dimension >= 4.0 * (1.0 - _ROUNDING)

    @property
    def utility_claim(self) -> PAC | None:
        """The accuracy claimed; None for too few numbers."""
        return PAC(self.alpha, self.beta) if self.enough_points else None

    @property
    def _needed(self) -> int:
        """The number of examples that the utility claim needs.

        Raises
        ------
        InvalidValue
            2^d is below 4/(alpha·beta).
        """
        if not self.enough_points:
            raise InvalidValue(
                f"The `dimension` of `{type(self).__name__}` must be at least "
                f"{math.ceil(math.log2(4.0 / self.alpha / self.beta))} for an error of {self.alpha:g} with "
                f"failure {self.beta:g}; got {self.dimension}."
            )
        return point_size(self.selection, alpha=self.alpha, beta=self.beta)

    def problems(self) -> list[PointProblem]:
        """Return hard problems; none if nothing is claimed."""
        if not self.enough_points:
            return []
        return point_problems(self.dimension, alpha=self.alpha, size=self.sample_size())

    def __call__(self, database: Any, rng: np.random.Generator) -> int:
        """Return one number."""
        return self.sample(database, 1, rng)[0]

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[int]:
        """Return `size` numbers."""
        best = self.selection.two_best(database)
        stable = self.selection.test.sample(best.gap, size, rng) & (best.gap > 0.0)
        evenly = rng.integers(0, 1 << self.dimension, size, dtype=np.uint64).tolist()
        return [
            best.solution if ahead else other for ahead, other in zip(stable.tolist(), evenly, strict=True)
        ]

    def distribution(self, database: Any) -> Finite | None:
        """Return the exact law of the answer; None above d = 12."""
        if self.dimension > MOST_LISTED:
            return None
        return self.masses(database, range(1 << self.dimension)).listed()

    def masses(self, database: Any, points: Iterable[int]) -> Masses:
        """Return the exact probabilities of some numbers, and of all others."""
        best = self.selection.two_best(database)
        tied = best.gap == 0.0
        passed = -math.inf if tied else self.selection.test.log_pass(best.gap)
        failed = 0.0 if tied else self.selection.test.log_fail(best.gap)
        evenly = failed - self.dimension * math.log(2.0)
        listed = points if isinstance(points, range) else list(points)
        logs = np.full(len(listed), evenly)
        inside = best.solution in listed
        if inside:
            logs[listed.index(best.solution)] = np.logaddexp(evenly, passed)
        return Masses(listed, logs, evenly, -math.inf if inside else passed, dimension=self.dimension)

    def counted(self, database: Any) -> NumberSample:
        """Return the counts of a valid database."""
        return sample_of(database, dimension=self.dimension, owner=type(self).__name__)

    def suggested_pairs(self) -> list[tuple[list[tuple[int, int]], list[tuple[int, int]]]]:
        """Return neighbours on which a number leads by different gaps."""
        most = positive_int(self.size if isinstance(self.size, int) else self.size[1], what="A `size`")
        a, b = self.audited_points[:2]
        head = min(most, math.ceil(self.selection.threshold))
        left = [(a, 1)] * head + [(b, 0)] * (most - head)
        return [(left, [(b, label), *left[1:]]) for label in (0, 1)]


_ROUNDING = 1e-12


def refuse_pure(delta: Any, *, owner: str, pure: str) -> float:
    """Return delta if it is in (0, 1), else raise.

    Examples
    --------
    >>> refuse_pure(0, owner="PointLearner", pure="PurePointLearner")
    Traceback (most recent call last):
    audit.errors.InvalidValue: The `delta` of `PointLearner` must be > 0; got 0. `PurePointLearner` is
    private with delta = 0.
    """
    told = probability(delta, what=f"The `delta` of `{owner}`", one=False)
    if told == 0.0:
        raise InvalidValue(
            f"The `delta` of `{owner}` must be > 0; got 0. `{pure}` is private with delta = 0."
        )
    return told


_AHEAD = [(0, 1)] * 58 + [(2**64 - 1, 0)] * 5
"""A database on which one number leads by about the gap that A_dist asks for."""

entries = (
    at_64_bits(
        PointLearner,
        options={"pairs": [(_AHEAD, [(1, 1), *_AHEAD[1:]])], "budget": 40_000},
        formulas=numbers.point_size,
    ),
    Entry(
        "point-learner",
        partial(PointLearner, epsilon=2.0, delta=0.05),
        options={"pairs": [([(0, 1)] * 10, [(0, 1)] * 9 + [(3, 1)])], "size": 3},
        reference=PointLearner.reference,
        summary="POINT_2, all samples of 3, and two of 10 where δ is spent",
        formulas=numbers.point,
    ),
    Entry(
        "point-learner-64-lumped",
        partial(LumpedLearner, of=PointLearner(dimension=64, size=4, epsilon=2.0, delta=0.05)),
        reference=PointLearner.reference,
        summary="d = 64, all samples of 4 over three numbers, the others joined in one: δ/2 is reached",
        formulas=numbers.point_lumped,
    ),
    Entry(
        "point-learner-64-tight",
        partial(LumpedLearner, of=PointLearner(dimension=64, size=4, epsilon=2.0, delta=0.05, tight=True)),
        reference=PointLearner.reference,
        summary="d = 64, all samples of 4 over three numbers, the others joined in one: δ is reached",
        formulas=numbers.point_lumped,
    ),
)
