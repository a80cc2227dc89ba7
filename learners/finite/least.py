"""Learners on samples smaller than in their theorem."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from mechanisms.subjects.parameters import PlainParameters

if TYPE_CHECKING:
    import numpy as np

    from audit.relations import Relation

__all__ = ["OnSample"]


@dataclass(frozen=True, kw_only=True)
class OnSample(PlainParameters):
    """A learner that claims its accuracy on fewer examples than proved.

    Only audits support this claim.

    Parameters
    ----------
    part
        The learner. Its problems have an attribute `size` or `examples`.
    examples
        The number of examples.

    Examples
    --------
    >>> from learners import PointLearner
    >>> fewer = OnSample(part=PointLearner(dimension=64), examples=900)
    >>> fewer.problems()[0].size, fewer.utility_claim.alpha
    (900, 0.1)
    """

    part: Any
    examples: int

    name: ClassVar[str] = "on-fewer-examples"

    @property
    def relation(self) -> Relation:
        """The learner's neighbouring relation."""
        relation: Relation = self.part.relation
        return relation

    @property
    def utility_claim(self) -> Any:
        """The learner's utility claim."""
        return self.part.utility_claim

    def problems(self) -> list[Any]:
        """Return the learner's problems with this many examples."""
        return [
            replace(problem, **{"size" if hasattr(problem, "size") else "examples": self.examples})
            for problem in self.part.problems()
        ]

    def vary(self, problem: Any, rng: np.random.Generator) -> Any:
        """Return a problem near the given one."""
        return self.part.vary(problem, rng)

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return one output of the learner."""
        return self.part(database, rng)

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> Any:
        """Return the outputs of `size` runs of the learner."""
        return self.part.sample(database, size, rng)
