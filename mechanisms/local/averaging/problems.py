"""Distributions of entries under which a mean is hard to estimate."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MeanProblem", "library", "varied"]


@dataclass(frozen=True, eq=False)
class MeanProblem:
    """Independent entries from a finite distribution, with their mean to be estimated.

    Parameters
    ----------
    name
        The name in reports.
    records
        The possible entries.
    probabilities
        The probability of each possible entry.
    values
        The query's value on each possible entry, of shape (records,) or (records, dimension).
    size
        Number of entries in a database.

    Examples
    --------
    >>> problem = MeanProblem("coin", (-1, 1), (0.25, 0.75), np.array([-1.0, 1.0]), size=3)
    >>> problem.draw(np.random.default_rng(0)).shape, problem.error(0.25, None)
    ((3,), 0.25)
    """

    name: str
    records: tuple[Any, ...]
    probabilities: tuple[float, ...]
    values: NDArray[np.float64]
    size: int

    @property
    def mean(self) -> Any:
        """E[g], a float or an array."""
        mean = np.tensordot(np.asarray(self.probabilities), self.values, axes=1)
        return float(mean) if mean.ndim == 0 else mean

    def draw(self, rng: np.random.Generator) -> Any:
        """Return a fresh database."""
        chosen = rng.choice(len(self.records), self.size, p=self.probabilities)
        if all(type(record) in (int, float) for record in self.records):
            return np.asarray(self.records)[chosen]
        return [self.records[k] for k in chosen.tolist()]

    def error(self, output: Any, database: Any) -> float:  # noqa: ARG002  the mean is the distribution's
        """Return the largest distance from the answer to E[g] in any coordinate."""
        try:
            distance = float(np.abs(np.asarray(output, dtype=np.float64) - self.mean).max())
        except (TypeError, ValueError):
            return math.inf
        return math.inf if math.isnan(distance) else distance


def library(randomizer: Any, *, size: int) -> list[MeanProblem]:
    """Return the hard distributions over a randomizer's records.

    Four put all weight on the lowest value, all on the highest, half on each, or nine tenths on the lowest.
    If another value is nearest 0, one puts all weight on it. With more than two records, the last is uniform.

    Examples
    --------
    >>> from mechanisms.local.laplace import LocalLaplace
    >>> len(library(LocalLaplace(), size=5))
    6
    """
    records = tuple(randomizer.records)
    values = randomizer.values(list(records))
    first = values.reshape(len(records), -1)[:, 0]
    low, high = int(first.argmin()), int(first.argmax())
    middle = int(np.abs(first).argmin())
    weights = {
        "all lowest": {low: 1.0},
        "all highest": {high: 1.0},
        "half lowest, half highest": {low: 0.5, high: 0.5},
        "one in ten highest": {low: 0.9, high: 0.1},
    }
    if middle not in {low, high}:
        weights["all nearest 0"] = {middle: 1.0}
    if len(records) > 2:
        weights["every record alike"] = dict.fromkeys(range(len(records)), 1.0 / len(records))
    return [
        MeanProblem(name, records, tuple(parts.get(k, 0.0) for k in range(len(records))), values, size)
        for name, parts in weights.items()
    ]


def varied(problem: MeanProblem, rng: np.random.Generator) -> MeanProblem:
    """Return the problem with its probabilities moved towards random ones.

    Examples
    --------
    >>> problem = MeanProblem("coin", (-1, 1), (0.25, 0.75), np.array([-1.0, 1.0]), size=3)
    >>> sum(varied(problem, np.random.default_rng(0)).probabilities) == 1.0
    True
    """
    share = rng.random()
    fresh = rng.dirichlet(np.ones(len(problem.records)))
    mixed = (1.0 - share) * np.asarray(problem.probabilities) + share * fresh
    return replace(
        problem, name=f"{problem.name}, moved", probabilities=tuple((mixed / mixed.sum()).tolist())
    )
