"""What the pure learners of numbers have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from audit.errors import finite_number
from audit.relations import Relation
from learners.approximate.of_numbers import OfNumbers
from learners.approximate.samples import MOST_BITS, NumberSample, check_dimension, sample_of
from learners.finite.problems import check_accuracy
from mechanisms.subjects.claimed import ClaimsItsEpsilon

if TYPE_CHECKING:
    import numpy as np

__all__ = ["PureLearner", "one_behind"]


@dataclass(frozen=True, kw_only=True)
class PureLearner(OfNumbers, ClaimsItsEpsilon):
    """A learner of numbers that is private with δ = 0.

    Examples
    --------
    >>> from learners import HashedPointLearner, PurePointLearner
    >>> issubclass(HashedPointLearner, PureLearner), PurePointLearner().relation
    (True, Relation.REPLACE_ONE)
    """

    dimension: int = 2
    epsilon: float = 1.0
    alpha: float = 0.1
    beta: float = 0.1

    relation: ClassVar[Relation] = Relation.REPLACE_ONE
    aligned: ClassVar[bool] = True

    _most_bits: ClassVar[int] = MOST_BITS

    def __post_init__(self) -> None:
        owner = type(self).__name__
        check_dimension(self.dimension, owner=owner, most=self._most_bits)
        finite_number(self.epsilon, what=f"The `epsilon` of `{owner}`", above=0)
        check_accuracy(self.alpha, self.beta, owner=owner, below=1.0)

    if TYPE_CHECKING:

        def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[Any]:
            """Return the outputs of `size` runs."""

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return the hypothesis of one run."""
        return self.sample(database, 1, rng)[0]

    def _sample(self, database: Any) -> NumberSample:
        return sample_of(database, dimension=self.dimension, owner=type(self).__name__)


def one_behind(x: int, *, records: int = 6) -> list[tuple[list[tuple[int, int]], list[tuple[int, int]]]]:
    """Return neighbours with a loss of nearly epsilon.

    Only one concept labels `x` with 1. It errs on every example of the left database, where no other concept
    errs.

    Examples
    --------
    >>> one_behind(3, records=2)
    [([(3, 0), (3, 0)], [(3, 1), (3, 0)])]
    """
    against = [(x, 0)] * records
    return [(against, [(x, 1), *against[1:]])]
