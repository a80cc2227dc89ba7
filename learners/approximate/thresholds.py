"""What the (ε, δ)-private learners of thresholds have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from audit.claims import PAC, ApproximateDP
from audit.errors import finite_number
from audit.relations import Relation
from learners.approximate.hard import interval_problems
from learners.approximate.of_numbers import OfNumbers
from learners.approximate.point import refuse_pure
from learners.approximate.samples import LONG_BITS, NumberSample, check_dimension, sample_of
from learners.finite.problems import check_accuracy
from mechanisms.subjects.parameters import PlainParameters

if TYPE_CHECKING:
    import numpy as np

    from learners.approximate.sources import IntervalProblem

__all__ = ["ThresholdLearner"]


@dataclass(frozen=True, kw_only=True)
class ThresholdLearner(OfNumbers, PlainParameters):
    """A learner that returns a threshold.

    The threshold j ∈ {0 … 2^dimension} labels x with 1 if x < j.

    Examples
    --------
    >>> from learners import IntervalLearner, SearchingIntervalLearner
    >>> issubclass(IntervalLearner, ThresholdLearner), SearchingIntervalLearner(dimension=3).top
    (True, 8)
    """

    dimension: int = 2
    epsilon: float = 1.0
    delta: float = 1e-6
    alpha: float = 0.1
    beta: float = 0.1

    relation: ClassVar[Relation] = Relation.REPLACE_ONE
    aligned: ClassVar[bool] = True

    if TYPE_CHECKING:

        def sample(self, database: Any, size: int, rng: np.random.Generator) -> Any:
            """Return the outputs of `size` runs."""

    def __post_init__(self) -> None:
        owner = type(self).__name__
        check_dimension(self.dimension, owner=owner, most=LONG_BITS)
        finite_number(self.epsilon, what=f"The `epsilon` of `{owner}`", above=0)
        refuse_pure(self.delta, owner=owner, pure="PureIntervalLearner")
        finite_number(self.delta, what=f"The `delta` of `{owner}`", maximum=0.5)
        check_accuracy(self.alpha, self.beta, owner=owner, below=1.0)

    @property
    def top(self) -> int:
        """The largest threshold, 2^d."""
        return 1 << self.dimension

    @property
    def claim(self) -> ApproximateDP:
        """The privacy claimed."""
        return ApproximateDP(self.epsilon, self.delta)

    @property
    def utility_claim(self) -> PAC:
        """The accuracy claimed on `sample_size` examples."""
        return PAC(self.alpha, self.beta)

    def problems(self) -> list[IntervalProblem]:
        """Return hard problems of `sample_size` examples."""
        return interval_problems(self.dimension, alpha=self.alpha, size=self.sample_size())

    def counted(self, database: Any) -> NumberSample:
        """Return the counts of a valid database."""
        return sample_of(database, dimension=self.dimension, owner=type(self).__name__)

    def __call__(self, database: Any, rng: np.random.Generator) -> int:
        """Return one threshold."""
        return int(self.sample(database, 1, rng)[0])
