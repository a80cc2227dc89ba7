"""Databases of numbers that are hardest for sanitizers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from learners.sanitizers.tallies import CountedNumbers, Tally, tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["NumbersProblem", "hard_numbers", "moved", "random_numbers"]

ALMOST = 1.05
"""A mass of this many times alpha is just above alpha."""

_MOST_HEAVY = 60
"""Up to this many points get masses near alpha, or geometric masses."""


@dataclass(frozen=True, eq=False)
class NumbersProblem:
    """A database of numbers, with exact errors of outputs.

    Parameters
    ----------
    name
        The name in reports.
    database
        An array of 64-bit numbers.
    measure
        A function that returns the error of an output on a counted database.
    dimension
        d.

    Examples
    --------
    >>> problem = NumbersProblem("two", np.array([0, 3], dtype=np.uint64), lambda out, seen: seen.size, 2)
    >>> problem.error(0, problem.draw(None))
    2.0
    """

    name: str
    database: NDArray[np.uint64] = field(repr=False)
    measure: Callable[[Any, Tally], float] = field(repr=False)
    dimension: int

    def draw(self, rng: Any) -> CountedNumbers:
        """Return the database as counts."""
        del rng
        return CountedNumbers(self.counted)

    def error(self, output: Any, database: Any) -> float:
        """Return the error of an output."""
        del database
        return float(self.measure(output, self.counted))

    def errors(self, outputs: Sequence[Any], database: Any) -> NDArray[np.float64]:
        """Return the errors of many outputs."""
        return np.array([self.error(output, database) for output in outputs], dtype=np.float64)

    @cached_property
    def counted(self) -> Tally:
        """The database as counts."""
        return tally(self.database, dimension=self.dimension, owner="NumbersProblem")


def hard_numbers(dimension: int, *, size: int, alpha: float) -> Iterator[tuple[str, NDArray[np.uint64]]]:
    """Yield named databases of `size` records.

    Guarantee
    ---------
    Evenly spread records have no heavy point. Points with mass just above alpha must be found; those just
    below may be missed. Geometric masses have one point at every scale. Clusters at the two ends leave the
    middle empty.

    Examples
    --------
    >>> [name for name, _ in hard_numbers(64, size=100, alpha=0.25)][:3]
    ['spread evenly', 'all equal', 'two heavy points']
    """
    top = 2**dimension - 1
    heavy = min(top + 1, _MOST_HEAVY, max(1, math.floor(1.0 / (ALMOST * alpha))))
    told: list[tuple[str, list[tuple[int, float]]]] = [
        ("spread evenly", []),
        ("all equal", [(top // 3, 1.0)]),
        ("two heavy points", [(top // 3, 0.5), (top // 3 + 1, 0.5)]),
        (f"{heavy} points of {ALMOST}·alpha", [(p, ALMOST * alpha) for p in _even(heavy, top)]),
        (f"{heavy} points of alpha/{ALMOST}", [(p, alpha / ALMOST) for p in _even(heavy, top)]),
        ("geometric masses", [(p, 0.5 ** (i + 1)) for i, p in enumerate(_scales(top))]),
    ]
    for name, masses in told:
        yield name, _database(masses, size=size, top=top)
    ends = [*range(min(size // 2, top // 2 + 1))], [top - i for i in range(min(size // 2, top // 2 + 1))]
    chosen = np.array([*ends[0], *ends[1]] or [0], dtype=np.uint64)
    yield "clusters at both ends", np.resize(chosen, size)


def moved(
    problem: NumbersProblem, *, dimension: int, alpha: float, rng: np.random.Generator
) -> tuple[str, NDArray[np.uint64]]:
    """Return a problem's name and records after a share was moved.

    Examples
    --------
    >>> made = NumbersProblem("all 1", np.ones(9, dtype=np.uint64), lambda out, seen: 0.0, 2)
    >>> moved(made, dimension=2, alpha=0.1, rng=np.random.default_rng(0))[0][:14]
    'all 1, a share'
    """
    records = np.sort(problem.database)
    size = len(records)
    many = int(rng.integers(1, max(2, math.ceil(min(1.0, 2.0 * alpha) * size))))
    first = int(rng.integers(0, size - many + 1))
    top = 2**dimension - 1
    place = (
        int(rng.choice(records))
        if rng.random() < 0.5
        else int(rng.integers(0, top, endpoint=True, dtype=np.uint64))
    )
    changed = records.copy()
    changed[first : first + many] = place
    origin = problem.name.split(", a share of")[0]
    return f"{origin}, a share of {many / size:.3g} from the {first}th on moved to {place}", changed


def random_numbers(dimension: int, *, size: int, rng: np.random.Generator) -> tuple[str, NDArray[np.uint64]]:
    """Return the name and records of a random database.

    Examples
    --------
    >>> name, records = random_numbers(64, size=100, rng=np.random.default_rng(0))
    >>> len(records), name[:6]
    (100, 'random')
    """
    top = 2**dimension - 1
    count = int(rng.integers(1, min(top + 1, _MOST_HEAVY) + 1))
    width = top if rng.integers(2) else min(top, int(2.0 ** rng.uniform(0.0, dimension)))
    first = int(rng.integers(0, top - width, endpoint=True, dtype=np.uint64))
    points = rng.integers(0, width, count, endpoint=True, dtype=np.uint64) + np.uint64(first)
    times = rng.multinomial(size, rng.dirichlet(np.full(count, 0.5)))
    return f"random: {count} points from {first} on", np.repeat(points, times)


def _even(count: int, top: int) -> list[int]:
    return [(2 * i + 1) * top // (2 * count) for i in range(count)]


def _scales(top: int) -> list[int]:
    return [top >> i for i in range(min(_MOST_HEAVY, top.bit_length()))]


def _database(masses: list[tuple[int, float]], *, size: int, top: int) -> NDArray[np.uint64]:
    """Return `size` records with about these masses."""
    held: dict[int, int] = {}
    for point, mass in masses:
        room = size - sum(held.values())
        held[point] = held.get(point, 0) + min(room, math.ceil(mass * size))
    rest = size - sum(held.values())
    spread = [top * (2 * i + 1) // (2 * rest) for i in range(rest)]
    repeated = np.repeat(np.array([*held], dtype=np.uint64), [*held.values()])
    return np.concatenate([repeated, np.array(spread, dtype=np.uint64)])
