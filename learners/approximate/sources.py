"""Laws on numbers with exact errors of points and thresholds."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.errors import InvalidValue, flag
from learners.approximate.samples import NumberSample, anywhere, numbers

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from audit.distributions import Finite

__all__ = ["IntervalProblem", "NumberProblem", "NumberSource", "PointProblem"]

_LISTED_BITS = 62
"""Up to this d numbers are compared as 64-bit integers."""

_FEW_DATABASES = 3000
"""With up to this many examples, all samples of a law on two numbers are listed, one for each count."""


@dataclass(frozen=True)
class NumberSource:
    """A law with masses at some numbers and the rest spread evenly.

    Parameters
    ----------
    dimension
        d. The numbers are {0 … 2^d − 1}.
    atoms
        (number, mass) pairs. The numbers are distinct; the masses are ≥ 0 and sum to at most 1 (within 1e-9).
    spread
        Whether the remaining mass is spread. If not, the atoms must sum to 1 within 1e-9.

    Raises
    ------
    InvalidValue
        The masses do not have the required sum, or a number is out of range or comes twice.

    Examples
    --------
    >>> source = NumberSource(2, ((0, 0.5), (3, 0.25)), spread=True)
    >>> source.mass(0, 1), source.mass(1, 4), source.at(3)
    (0.5625, 0.4375, 0.3125)
    """

    dimension: int
    atoms: tuple[tuple[int, float], ...] = ()
    spread: bool = False

    def __post_init__(self) -> None:
        flag(self.spread, what="The `spread` of `NumberSource`")
        numbers, total = {x for x, _ in self.atoms}, math.fsum(mass for _, mass in self.atoms)
        right = total <= 1.0 + 1e-9 if self.spread else abs(total - 1.0) <= 1e-9
        if not right or any(mass < 0.0 for _, mass in self.atoms):
            raise InvalidValue(f"The masses of `NumberSource` must be ≥ 0 and sum to 1; got {total!r}.")
        inside = all(0 <= x < 1 << self.dimension for x in numbers)
        if len(numbers) != len(self.atoms) or not inside:
            raise InvalidValue(
                f"The atoms of `NumberSource` must be distinct numbers below 2^{self.dimension}."
            )

    @property
    def rest(self) -> float:
        """The mass that is spread."""
        return max(0.0, 1.0 - math.fsum(mass for _, mass in self.atoms)) if self.spread else 0.0

    def at(self, number: int) -> float:
        """Return the mass of one number."""
        return self.mass(number, number + 1)

    def mass(self, low: int, high: int) -> float:
        """Return the mass of {low … high − 1}."""
        spread = self.rest * ((high - low) / (1 << self.dimension))
        return math.fsum([spread, *(mass for x, mass in self.atoms if low <= x < high)])

    def draw(self, size: int, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return `size` independent draws as numbers and their counts."""
        masses = np.array([mass for _, mass in self.atoms] + [self.rest])
        times = rng.multinomial(size, masses / masses.sum())
        evenly = anywhere(self.dimension, int(times[-1]), rng)
        found = np.concatenate([numbers([x for x, _ in self.atoms]), evenly])
        return found, np.concatenate([times[:-1], np.ones(len(evenly), np.int64)])


@dataclass(frozen=True)
class NumberProblem:
    """Samples from a source, labelled by a target concept.

    Parameters
    ----------
    name
        The problem in words.
    source
        The law of the numbers.
    target
        The number j of the concept that labels the samples.
    size
        The number of examples in a sample.
    """

    name: str
    source: NumberSource
    target: int
    size: int

    _last: ClassVar[int] = 0
    """The largest concept is 2^d minus this."""

    def draw(self, rng: np.random.Generator) -> NumberSample:
        """Return a fresh sample."""
        drawn, times = self.source.draw(self.size, rng)
        return NumberSample.counted(drawn, self._labels(drawn), times)

    @property
    def distribution(self) -> Callable[[], Finite] | None:
        """The law of `draw` if the source has only two numbers, else None."""
        two = len(self.source.atoms) == 2 and not self.source.rest
        return self._two_numbers if two and self.size <= _FEW_DATABASES else None

    def error(self, output: Any, database: Any) -> float:  # noqa: ARG002  every problem's error takes both
        """Return the exact error of an answer on the source.

        An answer is a whole number, or has `error_on(source, target)`. Any other answer has an infinite
        error.
        """
        told = getattr(output, "error_on", None)
        if callable(told):
            return float(told(self.source, self.target))
        whole = isinstance(output, (int, np.integer)) and not isinstance(output, bool)
        if not whole or not 0 <= output <= (1 << self.source.dimension) - self._last:
            return math.inf
        return self._distance(int(output))

    def varied(self, rng: np.random.Generator) -> NumberProblem:
        """Return a problem near this one."""
        stem = self.name.split(", varied")[0]
        atoms, change = list(self.source.atoms), rng.random()
        if change < 0.4 or not atoms:
            return replace(self, name=f"{stem}, varied target", target=self._another(rng))
        source = (
            _shifted(self.source, rng) if change < 0.7 or len(atoms) < 2 else _reweighed(self.source, rng)
        )
        return replace(self, name=f"{stem}, varied source", source=source)

    def _another(self, rng: np.random.Generator) -> int:
        """Return a random target, usually near an atom."""
        found = int(anywhere(self.source.dimension, 1, rng)[0])
        if not self.source.atoms or rng.random() < 0.2:
            return found
        atom = self.source.atoms[int(rng.integers(len(self.source.atoms)))][0]
        return min(atom + int(rng.integers(0, 2)), (1 << self.source.dimension) - self._last)

    def _two_numbers(self) -> Finite:
        from scipy.special import gammaln, xlog1py, xlogy

        from audit.distributions import Finite

        (x, mass), (y, _) = self.source.atoms
        n, k = self.size, np.arange(self.size + 1)
        logs = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) + xlogy(k, mass) + xlog1py(n - k, -mass)
        points = numbers([x, y])
        labels = self._labels(points)
        samples = [NumberSample.counted(points, labels, [times, n - times]) for times in k.tolist()]
        return Finite(samples, log_probabilities=logs)

    def _labels(self, points: NDArray[Any]) -> NDArray[np.bool_]:
        """Return the labels of numbers."""
        raise NotImplementedError

    def _distance(self, concept: int) -> float:
        """Return the error of a concept on the source."""
        raise NotImplementedError


@dataclass(frozen=True)
class PointProblem(NumberProblem):
    """A problem about points.

    y is 1 if x is the target.

    Parameters
    ----------
    name, source, target, size
        As in `NumberProblem`.

    Examples
    --------
    >>> source = NumberSource(64, ((7, 0.25), (2**64 - 1, 0.75)))
    >>> problem = PointProblem("two numbers", source, target=7, size=5)
    >>> problem.error(7, []), problem.error(8, []), problem.error(2**64 - 1, []), problem.error("⊥", [])
    (0.0, 0.25, 1.0, inf)
    """

    _last: ClassVar[int] = 1

    def errors(self, outputs: Any, database: Any) -> NDArray[np.float64]:
        """Return the errors of many answers."""
        told = np.asarray(outputs)
        if told.dtype.kind not in "iu" or self.source.dimension > _LISTED_BITS:
            return np.array([self.error(output, database) for output in outputs])
        found = np.full(len(told), self.source.rest / (1 << self.source.dimension))
        for x, _ in self.source.atoms:
            found[told == x] = self.source.at(x)
        found = np.where(told == self.target, 0.0, found + self.source.at(self.target))
        return np.where((told >= 0) & (told < 1 << self.source.dimension), found, np.inf)

    def _labels(self, points: NDArray[Any]) -> NDArray[np.bool_]:
        return np.asarray(points == self.target, dtype=np.bool_)

    def _distance(self, concept: int) -> float:
        if concept == self.target:
            return 0.0
        return self.source.at(concept) + self.source.at(self.target)


@dataclass(frozen=True)
class IntervalProblem(NumberProblem):
    """A problem about thresholds.

    y is 1 if x is below the target.

    Parameters
    ----------
    name, source, target, size
        As in `NumberProblem`; the target may be 2^d.

    Examples
    --------
    >>> source = NumberSource(64, ((7, 0.25), (2**64 - 1, 0.75)))
    >>> problem = IntervalProblem("two numbers", source, target=8, size=5)
    >>> problem.error(2**63, []), problem.error(0, []), problem.error(2**64, [])
    (0.0, 0.25, 0.75)
    """

    def _labels(self, points: NDArray[Any]) -> NDArray[np.bool_]:
        if not self.target:
            return np.zeros(len(points), dtype=np.bool_)
        return np.asarray(points <= self.target - 1, dtype=np.bool_)

    def _distance(self, concept: int) -> float:
        return self.source.mass(*sorted((concept, self.target)))


def _shifted(source: NumberSource, rng: np.random.Generator) -> NumberSource:
    """Return the source with one atom moved."""
    atoms, top = list(source.atoms), 1 << source.dimension
    place = int(rng.integers(len(atoms)))
    near = atoms[place][0] + int(rng.choice([-1, 1]))
    moved = near if rng.random() < 0.5 else int(anywhere(source.dimension, 1, rng)[0])
    if not 0 <= moved < top or moved in {x for x, _ in atoms}:
        return source
    atoms[place] = (moved, atoms[place][1])
    return replace(source, atoms=tuple(atoms))


def _reweighed(source: NumberSource, rng: np.random.Generator) -> NumberSource:
    atoms = list(source.atoms)
    i, j = rng.choice(len(atoms), 2, replace=False).tolist()
    moved = atoms[i][1] * float(rng.uniform(0.0, 0.5))
    atoms[i] = (atoms[i][0], atoms[i][1] - moved)
    atoms[j] = (atoms[j][0], atoms[j][1] + moved)
    return replace(source, atoms=tuple(atoms))
