"""Hard problems for parities.

A law is a mixture of uniform laws on affine subspaces.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidValue
from learners.parity.examples import BitExamples

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["BitSource", "ParityProblem", "Part", "hard_problems", "random_problem"]

_ABOVE = 1.01
_BELOW = 0.99


@dataclass(frozen=True)
class Part:
    """The uniform law on an affine subspace, with a weight.

    Parameters
    ----------
    weight
        The weight, ≥ 0.
    origin
        A word of bits.
    directions
        Linearly independent words of bits. The subspace is origin ⊕ span(directions).
    """

    weight: float
    origin: tuple[int, ...]
    directions: tuple[tuple[int, ...], ...] = ()

    def odd(self, word: NDArray[np.int64]) -> float:
        """Return the probability that ⟨word, x⟩ is odd."""
        if any(int(np.dot(direction, word)) % 2 for direction in self.directions):
            return 0.5
        return float(np.dot(self.origin, word) % 2)

    def draw(self, count: int, rng: np.random.Generator) -> NDArray[np.uint8]:
        """Return `count` points as packed bits, first bit heaviest."""
        points = np.tile(_packed([self.origin]), (count, 1))
        for sums in self._sums:
            points ^= sums[np.frombuffer(rng.bytes(count), np.uint8)]
        return points

    @cached_property
    def _sums(self) -> list[NDArray[np.uint8]]:
        """Sums of each eight directions, one for every byte of coins."""
        return [_sums(self.directions[start : start + 8]) for start in range(0, len(self.directions), 8)]


@dataclass(frozen=True)
class BitSource:
    """A mixture of uniform laws on affine subspaces of {0, 1}^d.

    Parameters
    ----------
    parts
        The parts of the mixture; the weights sum to 1 within 1e-9.

    Raises
    ------
    InvalidValue
        The weights do not sum to 1.

    Examples
    --------
    >>> source = BitSource((Part(0.9, (0, 0)), Part(0.1, (0, 0), ((1, 0), (0, 1)))))
    >>> source.odd((1, 0)), source.odd((0, 0))
    (0.05, 0.0)
    """

    parts: tuple[Part, ...]

    def __post_init__(self) -> None:
        total = math.fsum(part.weight for part in self.parts)
        if not (abs(total - 1.0) <= 1e-9 and all(part.weight >= 0.0 for part in self.parts)):
            raise InvalidValue(
                f"The weights of `BitSource` must be ≥ 0 and sum to 1; got a sum of {total!r}."
            )

    @property
    def dimension(self) -> int:
        """The length of a point."""
        return len(self.parts[0].origin)

    def odd(self, word: Iterable[int]) -> float:
        """Return the probability that ⟨word, x⟩ is odd.

        This is the error of the parity r if the target is r ⊕ word.
        """
        bits = np.array(list(word), dtype=np.int64)
        return math.fsum(part.weight * part.odd(bits) for part in self.parts)

    def draw(self, size: int, rng: np.random.Generator, *, target: Iterable[int]) -> BitExamples:
        """Return `size` independent points, and their parity ⟨target, x⟩."""
        points = self._points(size, rng)
        odd = _ODD[np.bitwise_xor.reduce(points & _packed([tuple(target)]), axis=1)]
        return BitExamples(np.unpackbits(points, axis=1, count=self.dimension).view(np.bool_), odd)

    def _points(self, size: int, rng: np.random.Generator) -> NDArray[np.uint8]:
        if len(self.parts) == 1:
            return self.parts[0].draw(size, rng)
        bounds = np.cumsum([part.weight for part in self.parts])[:-1]
        place = np.searchsorted(bounds, rng.random(size), side="right")
        points = np.empty((size, (self.dimension + 7) // 8), dtype=np.uint8)
        for index, part in enumerate(self.parts):
            rows = np.flatnonzero(place == index)
            points[rows] = part.draw(len(rows), rng)
        return points


@dataclass(frozen=True)
class ParityProblem:
    """The problem of learning a parity from a source.

    Parameters
    ----------
    name
        The problem in words.
    source
        The law of the points.
    target
        The r of the parity that labels the points.
    size
        The number of examples in a sample.

    Examples
    --------
    >>> problem = ParityProblem("a point", BitSource((Part(1.0, (1, 1)),)), target=(1, 0), size=2)
    >>> database = problem.draw(np.random.default_rng(0))
    >>> list(database), problem.error((0, 1), database), problem.error("⊥", database)
    ([((1, 1), 1), ((1, 1), 1)], 0.0, inf)
    """

    name: str
    source: BitSource
    target: tuple[int, ...]
    size: int

    def draw(self, rng: np.random.Generator) -> BitExamples:
        """Return a fresh sample."""
        return self.source.draw(self.size, rng, target=self.target)

    def error(self, output: Any, database: Any) -> float:  # noqa: ARG002  every problem's error takes both
        """Return the exact error; infinite for an answer that is no parity."""
        if not self._is_parity(output):
            return math.inf
        return self.source.odd(a ^ b for a, b in zip(output, self.target, strict=True))

    def _is_parity(self, output: Any) -> bool:
        if not isinstance(output, tuple) or len(output) != len(self.target):
            return False
        return all(isinstance(bit, int | np.integer) and bit in (0, 1) for bit in output)

    def varied(self, rng: np.random.Generator) -> ParityProblem:
        """Return a problem near this one."""
        if len(self.source.parts) == 1 or rng.random() < 0.3:
            target = tuple(rng.integers(0, 2, self.source.dimension).tolist())
            return replace(self, name=f"{_stem(self.name)}, another target", target=target)
        parts = list(self.source.parts)
        i, j = rng.choice(len(parts), 2, replace=False).tolist()
        moved = parts[i].weight * float(rng.uniform(0.0, 0.3))
        parts[i] = replace(parts[i], weight=parts[i].weight - moved)
        parts[j] = replace(parts[j], weight=parts[j].weight + moved)
        return replace(self, name=f"{_stem(self.name)}, weights moved", source=BitSource(tuple(parts)))


def hard_problems(dimension: int, *, alpha: float, size: int) -> list[ParityProblem]:
    """Return problems that are hard for learners of parities.

    Parameters
    ----------
    dimension
        Length of a point.
    alpha
        The accuracy for which the problems are hard, below 1/2.
    size
        The number of examples in a sample.

    Notes
    -----
    In "rarely uniform" all parities but the target have an error just above alpha. In "unit vectors" each
    parity errs on its own set of unit vectors. If this set has one vector, the error is just above or below
    alpha.

    Examples
    --------
    >>> [problem.name for problem in hard_problems(2, alpha=0.1, size=50)][:3]
    ['uniform', 'uniform, target 0', 'rarely uniform']
    """
    zero, ones = (0,) * dimension, (1,) * dimension
    sources = [
        ("uniform", _mixture(1.0, _units(dimension)), ones),
        ("uniform, target 0", _mixture(1.0, _units(dimension)), zero),
        ("rarely uniform", _mixture(min(1.0, 2.0 * _ABOVE * alpha), _units(dimension)), ones),
        ("rarely uniform, target 0", _mixture(min(1.0, 2.0 * _ABOVE * alpha), _units(dimension)), zero),
        ("a point just above alpha", _light(dimension, _ABOVE * alpha), ones),
        ("a point just below alpha", _light(dimension, _BELOW * alpha), ones),
        ("unit vectors just above alpha", _points(dimension, _ABOVE * alpha), ones),
        ("unit vectors just below alpha", _points(dimension, _BELOW * alpha), ones),
        ("half the space, rarely the rest", _halves(dimension, min(1.0, 2.0 * _ABOVE * alpha)), ones),
        ("a subspace", _mixture(1.0, _units(dimension)[: max(1, dimension // 2)]), ones),
        ("one direction, unevenly", _uneven(dimension, _ABOVE * alpha), ones),
    ]
    return [ParityProblem(name, source, target, size) for name, source, target in sources]


def random_problem(dimension: int, *, alpha: float, size: int, rng: np.random.Generator) -> ParityProblem:
    """Return a random problem on up to three affine subspaces.

    Examples
    --------
    >>> random_problem(4, alpha=0.1, size=50, rng=np.random.default_rng(0)).size
    50
    """
    count = int(rng.integers(1, 4))
    weights = rng.dirichlet(np.ones(count))
    if count > 1 and rng.random() < 0.5:
        rare = min(1.0, alpha * float(rng.uniform(1.6, 3.0)))
        weights = np.array([1.0 - rare, *(rare * rng.dirichlet(np.ones(count - 1)))])
    parts = tuple(_random_part(dimension, weight, rng) for weight in weights.tolist())
    target = tuple(rng.integers(0, 2, dimension).tolist())
    return ParityProblem(f"{count} random subspaces", BitSource(parts), target, size)


def _random_part(dimension: int, weight: float, rng: np.random.Generator) -> Part:
    """Return the uniform law on a random affine subspace."""
    pivots = np.sort(rng.permutation(dimension)[: int(rng.integers(0, dimension + 1))])
    directions = []
    for pivot in pivots.tolist():
        word = np.where(np.arange(dimension) > pivot, rng.integers(0, 2, dimension), 0)
        word[pivot] = 1
        directions.append(tuple(word.tolist()))
    return Part(weight, tuple(rng.integers(0, 2, dimension).tolist()), tuple(directions))


def _packed(words: Sequence[tuple[int, ...]]) -> NDArray[np.uint8]:
    return np.packbits(np.array(words, dtype=np.bool_), axis=1)


def _sums(directions: Sequence[tuple[int, ...]]) -> NDArray[np.uint8]:
    """Return the sum of directions for each byte of coins."""
    sums = np.zeros((256, (len(directions[0]) + 7) // 8), dtype=np.uint8)
    for place, direction in enumerate(_packed(directions)):
        sums[np.arange(256) >> place & 1 == 1] ^= direction
    return sums


_ODD = np.array([byte.bit_count() % 2 == 1 for byte in range(256)])


def _units(dimension: int) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(i == j) for i in range(dimension)) for j in range(dimension))


def _mixture(weight: float, directions: tuple[tuple[int, ...], ...]) -> BitSource:
    """Return a mixture of the zero vector and a span."""
    zero = (0,) * len(directions[0])
    parts = (Part(1.0 - weight, zero), Part(weight, zero, directions))
    return BitSource(parts if weight < 1.0 else parts[1:])


def _light(dimension: int, weight: float) -> BitSource:
    """Return a law in which the first variable is rarely 1."""
    zero, units = (0,) * dimension, _units(dimension)
    return BitSource((Part(1.0 - weight, zero, units[1:]), Part(weight, units[0])))


def _points(dimension: int, weight: float) -> BitSource:
    """Return a mixture of unit vectors of this weight."""
    count = min(dimension, int(1.0 / weight))
    parts = [Part(weight, unit) for unit in _units(dimension)[:count]]
    return BitSource((Part(1.0 - count * weight, (0,) * dimension), *parts))


def _halves(dimension: int, weight: float) -> BitSource:
    """Return a law on one half of the variables, rarely on the other."""
    zero, units = (0,) * dimension, _units(dimension)
    half = dimension // 2
    return BitSource((Part(1.0 - weight, zero, units[:half]), Part(weight, zero, units[half:])))


def _uneven(dimension: int, weight: float) -> BitSource:
    """Return a mixture of two points, of which one has little weight."""
    units = _units(dimension)
    both = tuple(a | b for a, b in zip(units[0], units[-1], strict=True))
    return BitSource((Part(1.0 - weight, units[0]), Part(weight, both)))


def _stem(name: str) -> str:
    return name.removesuffix(", another target").removesuffix(", weights moved")
