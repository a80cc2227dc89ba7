"""MASKED-PARITY as a problem for a utility audit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from learners.concepts import MaskedParityClass
from learners.finite.listed import ListedExamples
from learners.masked.hypothesis import masked_error
from learners.masked.populations import MaskedPopulation

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MaskedProblem", "random_masked"]

_LISTED = 8
"""Up to this d the records are listed, and a sample is drawn as their numbers."""


@dataclass(frozen=True)
class MaskedProblem:
    """The problem of learning one concept from uniform examples.

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

    def draw(self, rng: np.random.Generator) -> Any:
        """Return a fresh sample."""
        if self.population.dimension > _LISTED:
            return self.population.sample(self.examples, rng)
        points = rng.integers(0, len(self._labels), size=self.examples)
        return ListedExamples(self._records, 2 * points + self._labels[points])

    def varied(self, rng: np.random.Generator) -> MaskedProblem:
        """Return a problem whose concept differs in one bit of r, or in `a`."""
        place = int(rng.integers(self.population.dimension + 1))
        old = self.population
        near = replace(old, a=1 - old.a) if not place else replace(old, r=old.r ^ 1 << place - 1)
        return MaskedProblem(near, self.examples)

    def error(self, output: Any, database: Any) -> float:
        """Return the exact error, or 1 for an invalid output."""
        del database
        return masked_error(output, self.population.concept)

    @cached_property
    def _records(self) -> tuple[Any, ...]:
        """Every record, point by point."""
        domain = MaskedParityClass(self.population.dimension).listed_domain()
        return tuple((point, label) for point in domain for label in (1, -1))

    @cached_property
    def _labels(self) -> NDArray[np.intp]:
        """The labels of the points as bits, 1 for label −1."""
        concepts = MaskedParityClass(self.population.dimension)
        return concepts.says(self.population.concept, concepts.listed_domain()).astype(np.intp)


def random_masked(dimension: int, *, examples: int, rng: np.random.Generator) -> MaskedProblem:
    """Return the problem of a random concept.

    Examples
    --------
    >>> random_masked(2, examples=5, rng=np.random.default_rng(0)).name
    'r = 11, a = 1, uniform'
    """
    r, a = int(rng.integers(2**dimension)), int(rng.integers(2))
    return MaskedProblem(MaskedPopulation(dimension, r=r, a=a), examples)
