"""Exact laws of the sanitizers on the numbers of 64 bits: noisy counts are told by a few classes."""

from __future__ import annotations

import math
from bisect import bisect
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.relations import Relation
from learners.sanitizers.dyadic import tree_of
from learners.sanitizers.noise import class_masses
from learners.sanitizers.tallies import cell_counts
from mechanisms.parameters import PlainParameters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from audit.claims import ApproximateDP
    from audit.distributions import Finite
    from learners.sanitizers.dyadic import Node
    from learners.sanitizers.tallies import Tally

__all__ = ["LumpedIntervals", "LumpedPoints"]


@dataclass(frozen=True, kw_only=True)
class _Lumped(PlainParameters):
    """What both have in common: the sanitizer's own claim, and classes of counts."""

    of: Any
    told: Sequence[int]
    edges: Sequence[Sequence[int]]

    relation: ClassVar[Relation] = Relation.REPLACE_ONE
    aligned: ClassVar[bool] = True

    @property
    def claim(self) -> ApproximateDP:
        """The sanitizer's own."""
        claim: ApproximateDP = self.of.claim
        return claim

    @property
    def records(self) -> Sequence[int]:
        """The numbers that are told."""
        return self.told

    @property
    def size(self) -> int:
        """The sanitizer's own."""
        size: int = self.of.size
        return size

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return what was found, and the class of every count told."""
        return self.sample(database, 1, rng)[0]

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return `size` outputs."""
        raise NotImplementedError

    def _classes(self, counts: Mapping[int, int]) -> tuple[int, ...]:
        """Return the classes of counts, each by the edges of the place of its point in `told`."""
        return tuple(
            int(np.searchsorted(np.array(self.edges[place]), count, side="right"))
            for place, count in counts.items()
        )

    def _law(self, found: Mapping[Any, float], counts: Callable[[Any], Mapping[int, int]]) -> Finite:
        """Return the law of what is found, whose probabilities are given, with the classes of its counts."""
        from audit.distributions import Finite

        rate, masses = self.of.noise.rate, {}
        classes = lru_cache(lambda place, count: class_masses(count, rate, self.edges[place]).tolist())
        for what, mass in found.items():
            laws = [classes(place, count) for place, count in counts(what).items()]
            for drawn in product(*(range(len(law)) for law in laws)):
                share = math.prod(law[k] for law, k in zip(laws, drawn, strict=True))
                masses[what, drawn] = mass * share
        return Finite(list(masses), list(masses.values()))


@dataclass(frozen=True, kw_only=True)
class LumpedPoints(_Lumped):
    """A sanitizer of POINT_d that tells which points it found, and of their noisy counts a class.

    Parameters
    ----------
    of
        A `PointSanitizer` whose output is no database. The proper one's output is computed from this one's.
    told
        The points whose counts are told, if they are found.
    edges
        For each of them, increasing in 1 … size: where a new class of counts begins.

    Guarantee
    ---------
    Private as the sanitizer is, whose output is only joined. On neighbouring databases in which a count rises
    from c − 1 to c, c an edge of its point, and one falls likewise, nothing is lost by joining: each noisy
    count k ≥ c becomes likelier by the factor e^rate, and every other one less likely by it, so that the
    class decides the ratio. Counts of points that are not told must not differ between the databases.

    Examples
    --------
    >>> from learners.sanitizers.points import PointSanitizer
    >>> sanitizer = PointSanitizer(dimension=64, alpha=0.25)
    >>> lumped = LumpedPoints(of=sanitizer, told=(0, 2**64 - 1), edges=((sanitizer.size // 2,),) * 2)
    >>> round(lumped.distribution([0] * sanitizer.size).pmf(((0,), (1,))), 6)
    1.0
    """

    name: ClassVar[str] = "lumped-point-sanitizer"

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return `size` outputs; run i draws the same numbers on every database."""
        return [
            (tuple(point for point, _ in output), self._classes(self._told(dict(output))))
            for output in self.of.sample(database, size, rng)
        ]

    def distribution(self, database: Any) -> Finite:
        """Return the exact law; for databases of few points."""
        choosing = self.of.choosing(database)
        names, held = choosing.tally.points.tolist(), choosing.tally.counts.tolist()
        found = {tuple(names[i] for i in sorted(places)): mass for places, mass in choosing.law().items()}
        count = dict(zip(names, held, strict=True))
        return self._law(found, lambda points: self._told({point: count[point] for point in points}))

    def _told(self, counts: Mapping[int, int]) -> dict[int, int]:
        return {place: counts[point] for place, point in enumerate(self.told) if point in counts}


@dataclass(frozen=True, kw_only=True)
class LumpedIntervals(_Lumped):
    """A sanitizer of INTERVAL_d that tells the intervals taken out, and of noisy counts between cuts a class.

    Parameters
    ----------
    of
        An `IntervalSanitizer`. Its output is computed from the intervals and the noisy counts.
    told
        The points of whose cells the counts are told.
    edges
        For each of them, increasing in 1 … size: where a new class of counts begins.

    Guarantee
    ---------
    Private as what the sanitizer computes its output from, and nothing is lost by joining: see
    `LumpedPoints`. The count of a cell without a point told must not differ between the databases.

    Examples
    --------
    >>> from learners.sanitizers.intervals import IntervalSanitizer
    >>> sanitizer = IntervalSanitizer(dimension=64, alpha=0.5)
    >>> lumped = LumpedIntervals(of=sanitizer, told=(0, 2**64 - 1), edges=((sanitizer.size // 2,),) * 2)
    >>> law = lumped.distribution([0] * sanitizer.size)
    >>> round(law.pmf((((0, 0),), (1, 0))), 3)
    1.0
    """

    name: ClassVar[str] = "lumped-interval-sanitizer"

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return `size` outputs; run i draws the same numbers on every database."""
        return [
            (_shown(nodes), self._classes(self._told(self.of.cuts(nodes), noisy)))
            for nodes, noisy in self.of.counted(database, size, rng)
        ]

    def distribution(self, database: Any) -> Finite | None:
        """Return the exact law, None where there are too many sequences of intervals."""
        seen: Tally = self.of.tally(database)
        found = self.of.law(tree_of(seen, self.of.dimension))
        if found is None:
            return None

        def counts(shown: tuple[tuple[int, int], ...]) -> dict[int, int]:
            cuts = self.of.cuts(nodes[shown])
            return self._told(cuts, cell_counts(seen, cuts))

        nodes = {_shown(taken): taken for taken in found}
        return self._law({_shown(taken): mass for taken, mass in found.items()}, counts)

    def _told(self, cuts: list[int], counts: NDArray[np.int64]) -> dict[int, int]:
        """Return the counts of the cells that hold a point told; of two in one cell, for the first."""
        cells: dict[int, int] = {}
        for place, point in enumerate(self.told):
            cells.setdefault(bisect(cuts, point) - 1, place)
        return {place: int(counts[cell]) for cell, place in cells.items()}


def _shown(nodes: tuple[Node, ...]) -> tuple[tuple[int, int], ...]:
    return tuple((node.low, node.high) for node in nodes)
