"""MASKED-PARITY as a problem for a utility audit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from learners.masked.hypothesis import masked_error

if TYPE_CHECKING:
    import numpy as np

    from learners.masked.populations import MaskedPopulation

__all__ = ["MaskedProblem"]


@dataclass(frozen=True)
class MaskedProblem:
    """Uniform examples of one concept.

    Parameters
    ----------
    population
        The concept.
    examples
        How many independent examples `draw` gives.

    Examples
    --------
    >>> from learners.masked import MaskedPopulation
    >>> problem = MaskedProblem(MaskedPopulation(2, r=3, a=0), examples=5)
    >>> problem.name, problem.error(((1, 1), 1), None)
    ('r = 11, a = 0, uniform', 0.5)
    """

    population: MaskedPopulation
    examples: int

    @property
    def name(self) -> str:
        """The concept in words."""
        word, mask = self.population.concept
        return f"r = {''.join(map(str, word))}, a = {mask}, uniform"

    def draw(self, rng: np.random.Generator) -> list[Any]:
        """Return a fresh sample."""
        return self.population.sample(self.examples, rng)

    def error(self, output: Any, database: Any) -> float:
        """Return the exact error, 1 for an output that is no concept."""
        del database
        return masked_error(output, self.population.concept)
