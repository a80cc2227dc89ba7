"""What the learners of parities have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from audit.claims import PAC
from learners.concepts import ParityClass
from mechanisms.subjects.sizes import StatedSize

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from learners.parity.sources import ParityProblem

__all__ = ["OfParities"]


class OfParities(StatedSize):
    """A learner of parities.

    Examples
    --------
    >>> from learners import ParityLearner
    >>> learner = ParityLearner(dimension=2, epsilon=1.0)
    >>> isinstance(learner, OfParities), learner.concepts
    (True, ParityClass(dimension=2))
    """

    dimension: int
    alpha: float
    beta: float

    @property
    def concepts(self) -> ParityClass:
        """The class that is learned."""
        return ParityClass(self.dimension)

    @property
    def utility_claim(self) -> PAC | None:
        """The accuracy claimed, or None."""
        return PAC(self.alpha, self.beta)

    def problems(self) -> Sequence[ParityProblem]:
        """Return hard problems of `sample_size` examples."""
        from learners.parity.sources import hard_problems

        return hard_problems(self.dimension, alpha=self.alpha, size=self.sample_size())

    def vary(self, problem: ParityProblem, rng: np.random.Generator) -> ParityProblem:
        """Return a problem near another one."""
        return problem.varied(rng)

    def random(self, rng: np.random.Generator) -> ParityProblem:
        """Return a random problem with `sample_size` examples."""
        from learners.parity.sources import random_problem

        return random_problem(self.dimension, alpha=self.alpha, size=self.sample_size(), rng=rng)
