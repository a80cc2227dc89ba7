"""The dyadic intervals that hold records."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.sanitizers.tallies import Tally

__all__ = ["DyadicTree", "Node", "Remaining", "tree_of"]


@dataclass(frozen=True, order=True)
class Node:
    """The interval [index·2^level, (index + 1)·2^level − 1].

    Examples
    --------
    >>> Node(3, 1).low, Node(3, 1).high, Node(3, 1).cuts, Node(0, 5).cuts
    (8, 15, (8, 12, 16), (5, 6))
    """

    level: int
    index: int

    @property
    def low(self) -> int:
        """The first point."""
        return self.index << self.level

    @property
    def high(self) -> int:
        """The last point."""
        return ((self.index + 1) << self.level) - 1

    @property
    def cuts(self) -> tuple[int, ...]:
        """Where the interval's halves begin, and the point after it."""
        middle = (self.low + (1 << self.level >> 1),) if self.level else ()
        return (self.low, *middle, self.high + 1)


@dataclass(frozen=True, eq=False)
class DyadicTree:
    """The dyadic intervals that hold a record.

    Levels that divide the records in the same way are stored as one kind.

    Parameters
    ----------
    tally
        The database.
    dimension
        d; the levels are 0 … d.

    Examples
    --------
    >>> from learners.sanitizers.tallies import tally
    >>> tree = DyadicTree(tally([0, 1, 1, 6], dimension=3, owner="It"), 3)
    >>> tree.kinds, [firsts.tolist() for firsts in tree.firsts]
    ([0, 1, 1, 2], [[0, 1, 2], [0, 2], [0]])
    """

    tally: Tally
    dimension: int

    @property
    def firsts(self) -> list[NDArray[np.intp]]:
        """The first point of every interval, for each kind of level."""
        return self._built[0]

    @property
    def full(self) -> list[NDArray[np.int64]]:
        """How many records are in each interval, for each kind of level."""
        return self._built[1]

    @property
    def kinds(self) -> list[int]:
        """The kind of each level."""
        return self._built[2]

    @cached_property
    def _built(self) -> tuple[list[NDArray[np.intp]], list[NDArray[np.int64]], list[int]]:
        points, merges = self.tally.points, np.zeros(self.dimension + 1, dtype=np.intp)
        firsts, full = [np.arange(len(points))], [self.tally.counts]
        apart = points[1:] ^ points[:-1]  # adjacent points merge on the level of the highest bit
        while len(apart) and (level := int(apart.min()).bit_length()) <= self.dimension:
            merges[level] = 1
            stay = apart >> np.uint64(level - 1) > 1
            first = np.flatnonzero(np.concatenate([[True], stay]))
            firsts.append(firsts[-1][first])
            full.append(np.add.reduceat(full[-1], first))
            apart = apart[stay]
        return firsts, full, np.cumsum(merges).tolist()

    def node(self, level: int, place: int) -> Node:
        """Return the interval with index `place` on a level."""
        first = self.firsts[self.kinds[level]][place]
        return Node(level, int(self.tally.points[first]) >> level)


def tree_of(tally: Tally, dimension: int) -> DyadicTree:
    """Return the dyadic intervals of a counted database.

    Examples
    --------
    >>> from learners.sanitizers.tallies import tally
    >>> seen = tally([0, 1, 1, 6], dimension=3, owner="It")
    >>> tree_of(seen, 3) is tree_of(seen, 3)
    True
    """
    tree: DyadicTree = tally.trees.setdefault(dimension, DyadicTree(tally, dimension))
    return tree


class Remaining:
    """The records left in every dyadic interval.

    Parameters
    ----------
    tree
        The tree of all records.

    Examples
    --------
    >>> from learners.sanitizers.tallies import tally
    >>> left = Remaining(DyadicTree(tally([0, 1, 1, 6], dimension=3, owner="It"), 3))
    >>> left.highest().tolist(), left.take(1, 0), left.highest().tolist()
    ([2.0, 3.0, 3.0, 4.0], Node(level=1, index=0), [1.0, 1.0, 1.0, 1.0])
    """

    def __init__(self, tree: DyadicTree, counts: list[NDArray[np.int64]] | None = None) -> None:
        self.tree = tree
        self._counts = [held.copy() for held in (counts or tree.full)]

    def copy(self) -> Remaining:
        """Return an independent copy."""
        return Remaining(self.tree, self._counts)

    def counts(self, level: int) -> NDArray[np.int64]:
        """Return how many records are left in each interval of a level."""
        return self._counts[self.tree.kinds[level]]

    def highest(self) -> NDArray[np.float64]:
        """Return the largest number of records left in an interval, for each level."""
        most = np.array([held.max() for held in self._counts], dtype=np.float64)
        return np.asarray(most[self.tree.kinds])

    def take(self, level: int, place: int) -> Node:
        """Remove the records of an interval, and return the interval."""
        kind = self.tree.kinds[level]
        own = self.tree.firsts[kind]
        begin, end = own[place], own[place + 1] if place + 1 < len(own) else len(self._counts[0])
        gone = self._counts[kind][place]
        for other, firsts in enumerate(self.tree.firsts):
            if other <= kind:
                low, high = np.searchsorted(firsts, (begin, end))
                self._counts[other][low:high] = 0
            else:
                self._counts[other][np.searchsorted(firsts, begin, side="right") - 1] -= gone
        return self.tree.node(level, place)
