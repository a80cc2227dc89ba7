"""Exact laws of sanitizers on 64-bit numbers."""

from __future__ import annotations

import math
from bisect import bisect
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

from audit.relations import Relation
from learners.sanitizers.cuts.dyadic import tree_of
from learners.sanitizers.noise import class_masses
from learners.sanitizers.tallies import cell_counts
from mechanisms.subjects.parameters import PlainParameters

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from audit.claims import ApproximateDP
    from audit.distributions import Finite
    from learners.sanitizers.cuts.dyadic import Node
    from learners.sanitizers.tallies import Tally

__all__ = ["LumpedIntervals", "LumpedPoints"]


@dataclass(frozen=True, kw_only=True)
class _Lumped(PlainParameters):
    """What the lumped sanitizers have in common."""

    of: Any
    told: Sequence[int]
    edges: Sequence[Sequence[int]]

    relation: ClassVar[Relation] = Relation.REPLACE_ONE
    aligned: ClassVar[bool] = True

    @property
    def claim(self) -> ApproximateDP:
        """The claim of the sanitizer."""
        claim: ApproximateDP = self.of.claim
        return claim

    @property
    def records(self) -> Sequence[int]:
        """The points whose counts are shown."""
        return self.told

    @property
    def size(self) -> int:
        """The size of the sanitizer."""
        size: int = self.of.size
        return size

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return the points or intervals found, and the class of every count that is shown."""
        return self.sample(database, 1, rng)[0]

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return `size` outputs."""
        raise NotImplementedError

    def _output(self, what: str, counts: Mapping[int, int]) -> str:
        """Return an output in which every noisy count is replaced by its class."""
        return _worded(what, [bisect(self.edges[place], count) for place, count in counts.items()])

    def _law(self, found: Iterable[tuple[str, float, Mapping[int, int]]]) -> Finite:
        """Return the law of the outputs."""
        from audit.distributions import Finite

        rate, masses = self.of.noise.rate, {}
        classes = lru_cache(lambda place, count: class_masses(count, rate, self.edges[place]).tolist())
        for what, mass, counts in found:
            laws = [classes(place, count) for place, count in counts.items()]
            for drawn in product(*(range(len(law)) for law in laws)):
                share = math.prod(law[k] for law, k in zip(laws, drawn, strict=True))
                masses[_worded(what, drawn)] = mass * share
        return Finite(list(masses), list(masses.values()))


@dataclass(frozen=True, kw_only=True)
class LumpedPoints(_Lumped):
    """A sanitizer of points that shows classes of noisy counts.

    Parameters
    ----------
    of
        A `PointSanitizer` that does not output a database. (A proper sanitizer computes its database from
        this output.)
    told
        The points whose counts are shown, if they are found.
    edges
        For each point in `told`, the counts in 1 … size at which a new class begins, increasing.

    Guarantee
    ---------
    It is at least as private as the sanitizer, because it post-processes the sanitizer's output. Take
    neighbouring databases in which one count rises from c − 1 to c, where c is an edge of its point, and
    another falls in the same way. Counts that are not shown must be equal on these databases. Then the
    classes keep the whole loss. Where the count rises, each noisy count k ≥ c becomes more likely by a factor
    e^rate, and each k < c less likely by this factor. So the class alone determines the ratio.

    Examples
    --------
    >>> from learners.sanitizers.points import PointSanitizer
    >>> sanitizer = PointSanitizer(dimension=64, alpha=0.25)
    >>> lumped = LumpedPoints(of=sanitizer, told=(0, 2**64 - 1), edges=((sanitizer.size // 2,),) * 2)
    >>> round(lumped.distribution([0] * sanitizer.size).pmf("0; 1"), 6)
    1.0
    """

    name: ClassVar[str] = "lumped-point-sanitizer"

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return `size` outputs."""
        outputs = [dict(output) for output in self.of.sample(database, size, rng)]
        return [self._output(_points(output), self._told(output)) for output in outputs]

    def distribution(self, database: Any) -> Finite:
        """Return the exact law, for databases with few distinct points."""
        choosing = self.of.choosing(database)
        counted = list(zip(choosing.tally.points.tolist(), choosing.tally.counts.tolist(), strict=True))
        chosen = (
            (dict(counted[place] for place in sorted(places)), mass)
            for places, mass in choosing.law().items()
        )
        return self._law((_points(counts), mass, self._told(counts)) for counts, mass in chosen)

    def _told(self, counts: Mapping[int, int]) -> dict[int, int]:
        return {place: counts[point] for place, point in enumerate(self.told) if point in counts}


@dataclass(frozen=True, kw_only=True)
class LumpedIntervals(_Lumped):
    """A sanitizer of thresholds that shows classes of counts.

    Parameters
    ----------
    of
        An `IntervalSanitizer`.
    told
        Points whose cells have their counts shown.
    edges
        For each point in `told`, the counts in 1 … size at which a new class begins, increasing.

    Guarantee
    ---------
    It is at least as private as the intervals and noisy counts of the sanitizer, and keeps their whole
    privacy loss (`LumpedPoints`). Counts of cells that are not shown must be equal on neighbouring databases.

    Examples
    --------
    >>> from learners.sanitizers.intervals import IntervalSanitizer
    >>> sanitizer = IntervalSanitizer(dimension=64, alpha=0.5)
    >>> lumped = LumpedIntervals(of=sanitizer, told=(0, 2**64 - 1), edges=((sanitizer.size // 2,),) * 2)
    >>> law = lumped.distribution([0] * sanitizer.size)
    >>> round(law.pmf("0-0; 1 0"), 3)
    1.0
    """

    name: ClassVar[str] = "lumped-interval-sanitizer"

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return `size` outputs."""
        return [
            self._output(_intervals(nodes), self._told(self.of.cuts(nodes), noisy))
            for nodes, noisy in self.of.counted(database, size, rng)
        ]

    def distribution(self, database: Any) -> Finite | None:
        """Return the exact law, or None if it is too large."""
        seen: Tally = self.of.tally(database)
        key = (seen.points.tobytes(), seen.counts.tobytes())
        if key not in self._laws:
            self._laws[key] = self._law_of(seen)
        return self._laws[key]

    @cached_property
    def _laws(self) -> dict[tuple[bytes, bytes], Finite | None]:
        return {}

    def _law_of(self, seen: Tally) -> Finite | None:
        found = self.of.law(tree_of(seen, self.of.dimension))
        if found is None:
            return None
        cut = ((nodes, mass, self.of.cuts(nodes)) for nodes, mass in found.items())
        return self._law(
            (_intervals(nodes), mass, self._told(cuts, cell_counts(seen, cuts))) for nodes, mass, cuts in cut
        )

    def _told(self, cuts: list[int], counts: NDArray[np.int64]) -> dict[int, int]:
        """Return the counts of the cells around points of `told`.

        The key of a count is the index of the cell's first such point.
        """
        cells: dict[int, int] = {}
        for place, point in enumerate(self.told):
            cells.setdefault(bisect(cuts, point) - 1, place)
        return {place: int(counts[cell]) for cell, place in cells.items()}


def _points(found: Iterable[int]) -> str:
    return ", ".join(map(str, found))


def _intervals(nodes: tuple[Node, ...]) -> str:
    return ", ".join(f"{node.low}-{node.high}" for node in nodes)


def _worded(what: str, classes: Iterable[int]) -> str:
    """Return an output as text."""
    return f"{what}; {' '.join(map(str, classes))}"
