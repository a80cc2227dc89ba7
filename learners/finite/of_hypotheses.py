"""What learners of a listed class have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from audit.claims import PAC
from audit.errors import InvalidKind, finite_number, positive_int
from audit.values.brief import show
from learners.finite.problems import check_accuracy
from mechanisms.subjects.sizes import StatedSize

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from learners.finite.hypotheses import Hypotheses
    from learners.finite.problems import LearningProblem

__all__ = ["OfHypotheses", "lengths_of"]


class OfHypotheses(StatedSize):
    """A learner of a listed class.

    Examples
    --------
    >>> import numpy as np
    >>> from learners import GenericLearner
    >>> learner = GenericLearner()
    >>> isinstance(learner, OfHypotheses), learner.random(np.random.default_rng(0)).examples
    (True, 2873)
    """

    epsilon: float
    alpha: float
    beta: float

    agnostic: ClassVar[bool] = False
    """Whether the problems may have wrong labels (agnostic learning)."""

    if TYPE_CHECKING:

        @property
        def hypotheses(self) -> Hypotheses:
            """The class with its truth table."""

    def _check_budget(self, *, below: float = 0.5) -> None:
        owner = type(self).__name__
        finite_number(self.epsilon, what=f"The `epsilon` of `{owner}`", above=0)
        check_accuracy(self.alpha, self.beta, owner=owner, below=below)

    @property
    def utility_claim(self) -> PAC | None:
        """The accuracy claimed on `sample_size` examples."""
        return PAC(self.alpha, self.beta)

    @property
    def records(self) -> tuple[Any, ...]:
        """Every (x, y)."""
        return self.hypotheses.records

    def vary(self, problem: LearningProblem, rng: np.random.Generator) -> LearningProblem:
        """Return a problem near the given one."""
        from learners.finite.proposals import varied_problem

        return varied_problem(problem, rng, noisy=self.agnostic)

    def random(self, rng: np.random.Generator) -> LearningProblem:
        """Return a random problem, with `sample_size` examples."""
        from learners.finite.proposals import random_problem

        size = self.sample_size()
        return random_problem(self.hypotheses, rng, alpha=self.alpha, examples=size, noisy=self.agnostic)


def lengths_of(bits: Callable[[Any], int], names: Sequence[Any], *, owner: str) -> NDArray[np.int64]:
    """Return the number of bits that describe each hypothesis.

    Raises
    ------
    InvalidKind, InvalidValue
        `bits` is not a function, or a length is not a whole number ≥ 0.

    Examples
    --------
    >>> lengths_of(lambda name: -1, [7], owner="CompressionLearner")
    Traceback (most recent call last):
    audit.errors.InvalidValue: The `bits` of `CompressionLearner`, for 7, must be a whole number ≥ 0; got -1.
    """
    import numpy as np

    if not callable(bits):
        raise InvalidKind(f"The `bits` of `{owner}` must be a function of a concept; got {show(bits)}.")
    told = [
        positive_int(bits(name), what=f"The `bits` of `{owner}`, for {show(name)},", minimum=0)
        for name in names
    ]
    return np.array(told, dtype=np.int64)
