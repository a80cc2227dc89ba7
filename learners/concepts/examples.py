"""Distributions of labelled examples, with exact errors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidValue

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from learners.concepts.base import ConceptClass

__all__ = ["ExampleDistribution"]


@dataclass(frozen=True)
class ExampleDistribution:
    """A distribution on finitely many examples (x, y).

    Parameters
    ----------
    examples
        The examples (x, y), each once.
    probabilities
        One for each example, ≥ 0, with sum 1 within 1e-9. They are divided by their sum.

    Raises
    ------
    InvalidValue
        Examples and probabilities differ in number, or the probabilities do not sum to 1.

    Examples
    --------
    >>> from learners.concepts import PointClass
    >>> points = PointClass(1)
    >>> noisy = ExampleDistribution.realizable(points, 0, [0.75, 0.25]).noisy(0.25, labels=points.labels)
    >>> noisy.error(lambda x: points.label(0, x)), noisy.errors(points).tolist()
    (0.25, [0.25, 0.75])
    """

    examples: Sequence[tuple[Any, Any]]
    probabilities: Sequence[float] | NDArray[np.float64]

    def __post_init__(self) -> None:
        masses = np.array(self.probabilities, dtype=np.float64)
        if masses.shape != (len(self.examples),) or not (masses >= 0).all():
            raise InvalidValue(
                f"The `probabilities` of `ExampleDistribution` must be {len(self.examples)} numbers ≥ 0."
            )
        total = math.fsum(masses.tolist())
        if not abs(total - 1.0) <= 1e-9:
            raise InvalidValue(
                f"The `probabilities` of `ExampleDistribution` must sum to 1 within 1e-9; got {total!r}."
            )
        object.__setattr__(self, "probabilities", masses / total)

    @classmethod
    def realizable(
        cls,
        concepts: ConceptClass,
        target: Any,
        probabilities: Sequence[float] | NDArray[np.float64],
        *,
        points: Sequence[Any] | None = None,
    ) -> ExampleDistribution:
        """Return the distribution on points with a target's labels."""
        points = concepts.listed_domain() if points is None else points
        labels = [concepts.labels[sign] for sign in concepts.says(target, points).astype(int).tolist()]
        return cls(list(zip(points, labels, strict=True)), probabilities)

    def noisy(self, rate: float, *, labels: tuple[Any, Any]) -> ExampleDistribution:
        """Return the distribution with each label flipped with probability `rate`."""
        other = {labels[0]: labels[1], labels[1]: labels[0]}
        masses: dict[tuple[Any, Any], float] = {}
        for (x, y), mass in zip(self.examples, self._masses.tolist(), strict=True):
            masses[x, y] = masses.get((x, y), 0.0) + (1.0 - rate) * mass
            masses[x, other[y]] = masses.get((x, other[y]), 0.0) + rate * mass
        return ExampleDistribution(list(masses), list(masses.values()))

    def draw(self, size: int, rng: np.random.Generator) -> list[tuple[Any, Any]]:
        """Return `size` independent examples."""
        chosen = np.searchsorted(self._cumulative, rng.random(size), side="right")
        return [self.examples[index] for index in chosen.tolist()]

    def error(self, predictor: Callable[[Any], Any]) -> float:
        """Return a predictor's exact error, correctly rounded."""
        masses = self._masses.tolist()
        return math.fsum(
            mass for (x, y), mass in zip(self.examples, masses, strict=True) if predictor(x) != y
        )

    def errors(self, concepts: ConceptClass) -> NDArray[np.float64]:
        """Return the errors of all concepts of a class."""
        points, signs = concepts.split(self.examples)
        wrong = concepts.table(points) ^ signs
        return np.array([math.fsum(self._masses[row].tolist()) for row in wrong])

    def concept_error(self, concepts: ConceptClass, concept: Any) -> float:
        """Return the error of one concept of a class."""
        points, signs = concepts.split(self.examples)
        return math.fsum(self._masses[concepts.says(concept, points) ^ signs].tolist())

    @property
    def _masses(self) -> NDArray[np.float64]:
        return np.asarray(self.probabilities)

    @cached_property
    def _cumulative(self) -> NDArray[np.float64]:
        cumulative = np.cumsum(self._masses)
        return np.asarray(cumulative / cumulative[-1])
