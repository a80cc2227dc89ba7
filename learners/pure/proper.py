"""The proper pure learners of points and thresholds."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.catalogue import Entry
from audit.claims import PAC
from learners.approximate.hard import interval_problems, point_problems
from learners.approximate.lumped import LumpedLearner, Masses
from learners.approximate.of_numbers import at_64_bits
from learners.approximate.point import MOST_LISTED
from learners.approximate.samples import LONG_BITS, NumberSample, threshold_errors
from learners.formulas import numbers
from learners.pure.base import PureLearner, one_behind
from learners.pure.groups import GroupedChoice
from mechanisms.concave.piecewise import StepFunction

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from audit.distributions import Finite

__all__ = ["PureIntervalLearner", "PurePointLearner", "point_errors", "pure_size"]


def pure_size(concepts: int, *, alpha: float, beta: float, epsilon: float) -> int:
    """Return how many examples a private choice from a class needs.

    Guarantee
    ---------
    m = ⌈ln(|H|/β)/(−ln(1 − α(1 − e^(−ε/2))))⌉. The target makes no errors on the sample. So a hypothesis with
    n errors is chosen with probability at most e^(−εn/2). A hypothesis that is wrong with probability p > α
    has n ~ Bin(m, p). Then the mean of e^(−εn/2) is (1 − p(1 − e^(−ε/2)))^m, which falls in p and is at most
    β/|H| at p = α. A union bound over the class gives β.

    Examples
    --------
    >>> [pure_size(2**d, alpha=0.1, beta=0.1, epsilon=1.0) for d in (8, 16, 32, 64)]
    [196, 334, 610, 1163]
    """
    rate = -math.log1p(alpha * math.expm1(-epsilon / 2.0))
    return math.ceil((math.log(concepts) - math.log(beta)) / rate * (1.0 - 1e-12))


def point_errors(sample: NumberSample, *, top: int) -> StepFunction:
    """Return each point function's number of errors.

    Examples
    --------
    >>> point_errors(NumberSample.counted([1, 1, 1, 3], [1, 1, 0, 0]), top=4).values_everywhere()
    [2.0, 1.0, 2.0, 3.0, 2.0]
    """
    ones = float(sample.ones.sum())
    parts = {0: ones}
    told = zip(sample.points.tolist(), (sample.zeros - sample.ones).tolist(), strict=True)
    for x, more in told:
        parts[x] = ones + more
        if x < top:
            parts[x + 1] = ones
    return StepFunction(list(parts), np.array(list(parts.values())), top=top)


@dataclass(frozen=True, kw_only=True)
class _ProperLearner(PureLearner):
    """The exponential mechanism over all concepts, scored by their errors."""

    points: tuple[int, ...] | None = None
    size: int | tuple[int, int] = 3

    @property
    @abstractmethod
    def top(self) -> int:
        """The last concept."""

    @abstractmethod
    def _errors(self, sample: NumberSample) -> StepFunction:
        """Return how many examples each concept gets wrong."""

    @property
    def utility_claim(self) -> PAC:
        """The accuracy claimed on `sample_size` examples."""
        return PAC(self.alpha, self.beta)

    @property
    def _needed(self) -> int:
        """The number of examples that the utility claim needs."""
        return pure_size(self.top + 1, alpha=self.alpha, beta=self.beta, epsilon=self.epsilon)

    def choice(self, database: Any) -> GroupedChoice:
        """Return the mechanism that chooses a concept on a database."""
        errors = self._errors(self._sample(database))
        return GroupedChoice(StepFunction(errors.starts, -errors.values, top=self.top), self.epsilon)

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[int]:
        """Return the concepts of `size` runs."""
        return self.choice(database).sample(size, rng)

    def distribution(self, database: Any) -> Finite | None:
        """Return the exact law; None above d = 12."""
        from audit.distributions import Finite

        if self.dimension > MOST_LISTED:
            return None
        concepts = range(self.top + 1)
        return Finite(concepts, log_probabilities=self.choice(database).log_probabilities(concepts))


@dataclass(frozen=True, kw_only=True)
class PurePointLearner(_ProperLearner):
    """Learn a point by the exponential mechanism.

    Parameters
    ----------
    dimension
        d, from 1 to 64.
    epsilon
        The privacy claimed, > 0.
    alpha, beta
        Error in (0, 1) and failure probability in (0, 1/2).
    points, size
        The numbers, and the number of examples, in audited databases.

    Raises
    ------
    InvalidValue
        A parameter is out of range, or an example is invalid.

    Guarantee
    ---------
    epsilon-differential privacy when one record is replaced. The errors of every concept move by at most 1,
    and the weights are exp(−epsilon·errors/2) (K11 Lemma 3.3). On `sample_size` examples labelled by a point
    the error is above alpha with probability at most beta (`pure_size`). The size grows with d, as it must
    for a proper and pure learner (BNS §3.1).

    Examples
    --------
    >>> import numpy as np
    >>> learner = PurePointLearner(dimension=64)
    >>> learner([(5, 0), (2**64 - 1, 1)] * 200, np.random.default_rng(0)) == 2**64 - 1
    True
    >>> learner.sample_size()
    1163
    """

    name: ClassVar[str] = "pure-point-learner"
    reference: ClassVar[str] = "BNS §1 and §3.1; K11 Theorem 3.4"

    @property
    def top(self) -> int:
        """The last point."""
        return (1 << self.dimension) - 1

    def _errors(self, sample: NumberSample) -> StepFunction:
        return point_errors(sample, top=self.top)

    def masses(self, database: Any, points: Iterable[int]) -> Masses:
        """Return the exact probabilities of some numbers, and of all others."""
        listed: Sequence[int] = sorted(set(points))
        choice = self.choice(database)
        gaps = zip([-1, *listed], [*listed, self.top + 1], strict=True)
        rest = [choice.log_mass(a + 1, b - 1) for a, b in gaps if b - a > 1]
        together = float(np.logaddexp.reduce(rest)) if rest else -math.inf
        return Masses(listed, choice.log_probabilities(listed), -math.inf, together, dimension=self.dimension)

    def problems(self) -> list[Any]:
        """Return hard problems of `sample_size` examples."""
        return point_problems(self.dimension, alpha=self.alpha, size=self.sample_size())


@dataclass(frozen=True, kw_only=True)
class PureIntervalLearner(_ProperLearner):
    """Learn a threshold by the exponential mechanism.

    Parameters
    ----------
    dimension
        d, from 1 to 4,096.
    epsilon, alpha, beta, points, size
        As in `PurePointLearner`.

    Raises
    ------
    InvalidValue
        A parameter is out of range, or an example is invalid.

    Guarantee
    ---------
    As `PurePointLearner`, over INTERVAL_d.

    Examples
    --------
    >>> import numpy as np
    >>> learner = PureIntervalLearner(dimension=64)
    >>> 2**63 - 5 < learner([(2**63 - 5, 1), (2**63, 0)] * 600, np.random.default_rng(0)) <= 2**63
    True
    """

    name: ClassVar[str] = "pure-interval-learner"
    reference: ClassVar[str] = "BNS §1 and §3.2; K11 Theorem 3.4"
    _most_bits: ClassVar[int] = LONG_BITS

    @property
    def top(self) -> int:
        """The last threshold."""
        return 1 << self.dimension

    def _errors(self, sample: NumberSample) -> StepFunction:
        return threshold_errors(sample, top=self.top)

    def problems(self) -> list[Any]:
        """Return hard problems of `sample_size` examples."""
        return interval_problems(self.dimension, alpha=self.alpha, size=self.sample_size())


entries = (
    Entry(
        "pure-point-learner",
        PurePointLearner,
        options={"pairs": one_behind(0), "size": 3},
        reference=PurePointLearner.reference,
        summary="POINT_2, all samples of 3",
        formulas=numbers.pure,
    ),
    Entry(
        "pure-interval-learner",
        PureIntervalLearner,
        options={"pairs": one_behind(3), "size": 3},
        reference=PureIntervalLearner.reference,
        summary="INTERVAL_2, all samples of 3",
        formulas=numbers.pure,
    ),
    Entry(
        "pure-point-learner-64-lumped",
        partial(LumpedLearner, of=PurePointLearner(dimension=64, size=4)),
        reference=PurePointLearner.reference,
        summary="d = 64, all samples of 4 over three numbers, the others joined in one: ε is reached",
        formulas=numbers.pure_lumped,
    ),
    at_64_bits(PurePointLearner, options={"budget": 20_000}, formulas=numbers.pure_size),
    at_64_bits(PureIntervalLearner, options={"budget": 20_000}, formulas=numbers.pure_size),
)
