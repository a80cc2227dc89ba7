"""Exact laws on up to 2^64 answers, most of them unnamed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from mechanisms.subjects.parameters import PlainParameters

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from audit.claims import PrivacyClaim
    from audit.distributions import Finite

__all__ = ["ANOTHER", "LumpedLearner", "Masses"]

ANOTHER = "another"
"""Stands for every answer that is not named."""


@dataclass(frozen=True)
class Masses:
    """Exact log-probabilities of some numbers, and of all others.

    Parameters
    ----------
    points
        The named numbers, distinct.
    logs
        The log-probability of each named number.
    log_each
        The log-probability of each other number, without the mass of `log_extra`.
    log_extra
        The log of an extra mass on one of the other numbers.
    dimension
        d.

    Examples
    --------
    >>> masses = Masses([3], [math.log(0.25)], math.log(0.75 / 255), -math.inf, dimension=8)
    >>> round(masses.lumped().pmf("another"), 12)
    0.75
    """

    points: Sequence[int]
    logs: Sequence[float] | NDArray[np.float64]
    log_each: float
    log_extra: float
    dimension: int

    @property
    def others(self) -> int:
        """How many numbers are not named."""
        return (1 << self.dimension) - len(self.points)

    def listed(self) -> Finite:
        """Return the law of the answer if all numbers are named."""
        from audit.distributions import Finite

        return Finite(self.points, log_probabilities=self.logs)

    def lumped(self) -> Finite:
        """Return the law of the answer, with `ANOTHER` for every number without a name."""
        import numpy as np

        from audit.distributions import Finite

        rest = self.log_each + math.log(self.others) if self.others else -math.inf
        together = float(np.logaddexp(rest, self.log_extra))
        return Finite([*self.points, ANOTHER], log_probabilities=[*self.logs, together])


@dataclass(frozen=True, kw_only=True)
class LumpedLearner(PlainParameters):
    """A learner that names only a few of its answers.

    The others are returned as `ANOTHER`.

    Parameters
    ----------
    of
        A learner of numbers that has a method `masses`.

    Guarantee
    ---------
    Lumping answers is post-processing, so privacy is kept. The privacy loss stays the same if both databases
    contain only named numbers. Then all other numbers have the same probability, and the ratio of this
    probability between the two databases is the same for all of them.

    Examples
    --------
    >>> from learners.approximate import PointLearner
    >>> lumped = LumpedLearner(of=PointLearner(dimension=64))
    >>> round(lumped.distribution([(0, 1)] * 3).pmf("another"), 6)
    0.999999
    """

    of: Any

    name: ClassVar[str] = "lumped-learner"

    @property
    def claim(self) -> PrivacyClaim:
        """The claim of the learner."""
        claim: PrivacyClaim = self.of.claim
        return claim

    @property
    def relation(self) -> Any:
        """The neighbouring relation of the learner."""
        return self.of.relation

    @property
    def records(self) -> Any:
        """The records of the learner."""
        return self.of.records

    @property
    def size(self) -> Any:
        """The size of the learner."""
        return self.of.size

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return one number, or `ANOTHER`."""
        return self.sample(database, 1, rng)[0]

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return `size` answers."""
        named = set(self.of.audited_points)
        return [answer if answer in named else ANOTHER for answer in self.of.sample(database, size, rng)]

    def distribution(self, database: Any) -> Finite:
        """Return the exact law."""
        law: Finite = self.of.masses(database, self.of.audited_points).lumped()
        return law
