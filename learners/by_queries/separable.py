"""Problems of the perceptron with a margin."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidValue
from learners.finite.listed import LateExamples, spread
from learners.finite.problems import ALMOST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["SeparableProblem", "is_point", "mistakes", "random_separable", "separable_problems"]

Record = tuple[tuple[float, ...], int]
Weights = tuple[float, ...]


def mistakes(records: Sequence[Any], weights: Weights) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return y·x for every record (x, y), and whether it is a mistake.

    The shapes are (n, d) and (n,). A mistake has y·⟨weights, x⟩ ≤ 0.

    Examples
    --------
    >>> signed, wrong = mistakes([((1.0, 0.0), -1), ((0.0, 1.0), 1)], (1.0, 1.0))
    >>> signed.tolist(), wrong.tolist()
    ([[-1.0, -0.0], [0.0, 1.0]], [True, False])
    """

    def of(some: Sequence[Any]) -> NDArray[np.float64]:
        points = np.array([x for x, _ in some], dtype=np.float64).reshape(len(some), len(weights))
        return points * np.array([y for _, y in some], dtype=np.float64)[:, None]

    signed = spread(of, records)
    return signed, signed @ np.array(weights) <= 0.0


@dataclass(frozen=True, eq=False)
class SeparableProblem:
    """A law on a few examples that a hyperplane separates.

    Parameters
    ----------
    name
        A name that describes the problem.
    records
        The examples, with y·⟨normal, x⟩ ≥ margin and ‖x‖ ≤ 1.
    weights
        Their probabilities.
    normal
        A unit vector.
    margin
        In (0, 1].
    examples
        How many independent examples `draw` gives.

    Raises
    ------
    InvalidValue
        An example is nearer the hyperplane than the margin, or outside the unit ball.

    Examples
    --------
    >>> problem = SeparableProblem("a pair", (((0.5,), 1), ((-1.0,), -1)), (0.75, 0.25), (1.0,), 0.5, 3)
    >>> problem.error((1.0,), None), problem.error((-1.0,), None), problem.error("?", None)
    (0.0, 1.0, 1.0)
    """

    name: str
    records: tuple[Record, ...]
    weights: tuple[float, ...]
    normal: tuple[float, ...]
    margin: float
    examples: int

    def __post_init__(self) -> None:
        for x, y in self.records:
            if y * np.dot(x, self.normal) < self.margin - 1e-9 or math.hypot(*x) > 1.0 + 1e-9:
                raise InvalidValue(
                    f"An example of `SeparableProblem` must keep the margin; got {(x, y)!r:.60}."
                )

    def draw(self, rng: np.random.Generator) -> LateExamples:
        """Return a fresh sample, drawn when it is read."""
        cumulative = np.cumsum(self.weights)
        cumulative[-1] = 1.0
        return LateExamples(self.records, cumulative, self.examples, seed=int(rng.integers(2**63)))

    def error(self, output: Any, database: Any) -> float:
        """Return the probability of a mistake; 1 for an invalid output."""
        del database
        if not is_point(output, dimension=len(self.normal)):
            return 1.0
        wrong = mistakes(self.records, output)[1]
        return math.fsum(np.array(self.weights)[wrong].tolist())

    def varied(self, rng: np.random.Generator) -> SeparableProblem:
        """Return a problem near this one."""
        place = int(rng.integers(len(self.records)))
        if len(self.records) == 1 or rng.random() < 0.4:
            fresh = _example(np.array(self.normal), self.margin, rng)
            records = (*self.records[:place], fresh, *self.records[place + 1 :])
            return replace(self, name=f"{_stem(self.name)}, an example moved", records=records)
        masses = np.array(self.weights)
        moved = masses[place] * float(rng.uniform(0.0, 0.5))
        masses[place] -= moved
        masses[int(rng.integers(len(masses)))] += moved
        return replace(self, name=f"{_stem(self.name)}, weights moved", weights=tuple(masses.tolist()))


def is_point(value: Any, *, dimension: int) -> bool:
    """Return whether a value is a tuple of `dimension` finite numbers.

    Examples
    --------
    >>> is_point((0.5, 1), dimension=2), is_point((0.5,), dimension=2), is_point((0.5, math.nan), dimension=2)
    (True, False, False)
    """
    if not isinstance(value, tuple) or len(value) != dimension:
        return False
    return all(isinstance(number, Real) and math.isfinite(number) for number in value)


def separable_problems(
    dimension: int, *, alpha: float, margin: float, examples: int
) -> list[SeparableProblem]:
    """Return hard problems for the perceptron.

    Notes
    -----
    In the problem "the far side just above alpha" all labels are 1, and the points are margin·normal ± v with
    v orthogonal to `normal`. The point with −v has a probability slightly above alpha. The first round makes
    the weights a multiple of the mean point. For margins below about 0.7 these misclassify the point with −v.

    Examples
    --------
    >>> [problem.name for problem in separable_problems(2, alpha=0.1, margin=0.5, examples=9)][-1]
    'the far side just below alpha'
    """
    normal = np.full(dimension, 1.0 / math.sqrt(dimension))
    aside = np.zeros(dimension)
    if dimension > 1:
        aside[:2] = 1.0 / math.sqrt(2.0), -1.0 / math.sqrt(2.0)
    out = aside * math.sqrt(1.0 - margin**2)
    near, far = margin * normal + out, margin * normal - out
    made: list[tuple[str, list[tuple[NDArray[np.float64], int]], list[float]]] = [
        ("two far points", [(normal, 1), (-normal, -1)], [0.5, 0.5]),
        ("two points at the margin", [(margin * normal, 1), (-margin * normal, -1)], [0.5, 0.5]),
        ("one label", [(near, 1), (far, 1)], [0.5, 0.5]),
        ("both sides of both labels", [(near, 1), (far, 1), (-near, -1), (-far, -1)], [0.25] * 4),
        *(
            (f"the far side just {word} alpha", [(near, 1), (far, 1)], [1.0 - share, share])
            for word, share in (("above", ALMOST * alpha), ("below", alpha / ALMOST))
        ),
    ]
    return [
        SeparableProblem(
            name,
            tuple((tuple(x.tolist()), y) for x, y in records),
            tuple(weights),
            tuple(normal.tolist()),
            margin,
            examples,
        )
        for name, records, weights in made
    ]


def random_separable(
    dimension: int, *, margin: float, examples: int, rng: np.random.Generator
) -> SeparableProblem:
    """Return a problem with a random plane and random points.

    Examples
    --------
    >>> random_separable(3, margin=0.5, examples=9, rng=np.random.default_rng(0)).examples
    9
    """
    normal = rng.normal(size=dimension)
    normal /= np.linalg.norm(normal)
    count = int(rng.integers(2, 9))
    records = tuple(_example(normal, margin, rng) for _ in range(count))
    weights = tuple(rng.dirichlet(np.full(count, float(rng.choice([0.2, 1.0])))).tolist())
    name = f"{count} random examples"
    return SeparableProblem(name, records, weights, tuple(normal.tolist()), margin, examples)


def _example(normal: NDArray[np.float64], margin: float, rng: np.random.Generator) -> Record:
    """Return a random example of norm 1, often at the margin."""
    side = margin if rng.random() < 0.5 else float(rng.uniform(margin, 1.0))
    aside = rng.normal(size=len(normal))
    aside -= (aside @ normal) * normal
    length = float(np.linalg.norm(aside))
    if length > 1e-9:
        aside *= math.sqrt(max(0.0, 1.0 - side**2)) * (1.0 - 1e-12) / length
    label = 1 if rng.random() < 0.5 else -1
    return tuple((label * (side * normal + aside)).tolist()), label


def _stem(name: str) -> str:
    return name.removesuffix(", an example moved").removesuffix(", weights moved")
