"""Databases of numbers as counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from audit.errors import InvalidKind, InvalidValue
from audit.values.brief import show

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

__all__ = ["MOST_BITS", "CountedNumbers", "Tally", "cell_counts", "length", "tally"]

MOST_BITS = 64
"""The largest d: points are stored as 64-bit numbers."""


@dataclass(frozen=True, eq=False)
class Tally:
    """The distinct points of a database and their counts.

    Parameters
    ----------
    points
        Increasing, of shape (distinct,).
    counts
        Of the same shape, each at least 1.
    trees
        The trees built from these counts, by d (`learners.sanitizers.cuts.dyadic.tree_of`).

    Examples
    --------
    >>> tally([5, 2, 5], dimension=3, owner="It")
    Tally(points=array([2, 5], dtype=uint64), counts=array([1, 2]))
    """

    points: NDArray[np.uint64]
    counts: NDArray[np.int64]
    trees: dict[int, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def size(self) -> int:
        """The number of records."""
        return int(self.upto[-1])

    def point_error(self, shares: Mapping[int, float]) -> float:
        """Return the largest error of `shares` over POINT_d.

        A point that is missing in `shares` has the answer 0.

        Examples
        --------
        >>> tally([5, 2, 5, 5], dimension=3, owner="It").point_error({5: 0.5, 7: 0.125})
        0.25
        """
        names = np.array(sorted(shares), dtype=np.uint64)
        told = np.array([shares[name] for name in sorted(shares)], dtype=np.float64)
        truth = self.counts / self.size
        places = np.minimum(np.searchsorted(self.points, names), len(self.points) - 1)
        known = self.points[places] == names
        unnamed = np.ones(len(truth), dtype=np.bool_)
        unnamed[places[known]] = False
        errors = np.abs(told - np.where(known, truth[places], 0.0))
        return float(max(errors.max(initial=0.0), truth[unnamed].max(initial=0.0)))

    def interval_error(self, database: Sequence[int]) -> float:
        """Return the largest error of a database over INTERVAL_d.

        It is the largest |Q_c(S) − Q_c(database)|, where S is this tally.

        Guarantee
        ---------
        For j between two adjacent points of `database`, the share of `database` below j is constant and the
        share of S rises with j. So the largest difference is just above one of these points or at the next
        point.

        Examples
        --------
        >>> tally([0, 1, 2, 3], dimension=2, owner="It").interval_error([1, 2])
        0.25
        """
        given, times = np.unique(np.asarray(database, dtype=np.uint64), return_counts=True)
        told = np.concatenate([[0.0], np.cumsum(times) / times.sum()])
        upto = self._sums[np.searchsorted(self.points, given, side="right")]
        below = self._sums[np.searchsorted(self.points, given, side="left")]
        return float(max(np.abs(upto - told[1:]).max(), np.abs(below - told[:-1]).max()))

    @cached_property
    def upto(self) -> NDArray[np.int64]:
        """The number of records at the first i points, for every i."""
        sums: NDArray[np.int64] = np.concatenate([[0], np.cumsum(self.counts)])
        return sums

    @cached_property
    def _sums(self) -> NDArray[np.float64]:
        """The share of records at the first i points, for every i."""
        return np.asarray(self.upto / self.size)


@dataclass(frozen=True, eq=False)
class CountedNumbers(Sequence[int]):
    """An immutable database of sorted numbers.

    Parameters
    ----------
    tally
        How often each number occurs.

    Examples
    --------
    >>> some = CountedNumbers(tally([5, 2, 5], dimension=3, owner="It"))
    >>> list(some), len(some), some[-1], some
    ([2, 5, 5], 3, 5, CountedNumbers(3 records of 2 numbers))
    """

    tally: Tally

    def __len__(self) -> int:
        return int(self._ends[-1])

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> list[int]: ...
    def __getitem__(self, index: int | slice) -> int | list[int]:
        places = range(len(self))[index]
        found = self.tally.points[np.searchsorted(self._ends, places, side="right")]
        return int(found) if isinstance(places, int) else found.tolist()

    def __iter__(self) -> Iterator[int]:
        return iter(np.repeat(self.tally.points, self.tally.counts).tolist())

    def __deepcopy__(self, memo: dict[int, Any]) -> CountedNumbers:
        """Return itself."""
        return self

    def __repr__(self) -> str:
        return f"CountedNumbers({len(self)} records of {len(self.tally.points)} numbers)"

    @property
    def _ends(self) -> NDArray[np.int64]:
        return self.tally.upto[1:]


def cell_counts(seen: Tally, cuts: Sequence[int]) -> NDArray[np.int64]:
    """Return the number of records in each cell.

    A cell goes from one cut up to the next.

    Examples
    --------
    >>> cell_counts(tally([5, 2, 5], dimension=3, owner="It"), [0, 3, 6]).tolist()
    [1, 2, 0]
    """
    places = np.searchsorted(seen.points, np.array(cuts, dtype=np.uint64))
    return np.diff(seen.upto[places], append=seen.size)


def length(database: Any, *, owner: str) -> int:
    """Return how many records a database holds.

    Raises
    ------
    InvalidKind
        The database is not a sequence.

    Examples
    --------
    >>> length([3, 4], owner="PointSanitizer")
    2
    """
    try:
        return len(database)
    except TypeError:
        raise InvalidKind(
            f"A database of `{owner}` must be a list or an array of records; got {show(database)}."
        ) from None


def tally(database: Any, *, dimension: int, owner: str) -> Tally:
    """Return the counts of a database of numbers.

    Raises
    ------
    InvalidKind
        A record is not a whole number.
    InvalidValue
        A record is not in {0 … 2^dimension − 1}, or there are no records.

    Examples
    --------
    >>> tally([3, 4], dimension=2, owner="PointSanitizer")
    Traceback (most recent call last):
    audit.errors.InvalidValue: A record of `PointSanitizer` must be a whole number from 0 to 2^2 − 1; got 4.
    """
    if isinstance(database, CountedNumbers):
        counted = database.tally
    else:
        numbers = _numbers(database, dimension, owner)
        if numbers.size == 0:
            raise InvalidValue(f"A database of `{owner}` must hold at least one record; got none.")
        points, counts = np.unique(numbers, return_counts=True)
        counted = Tally(points, counts.astype(np.int64))
    if int(counted.points[-1]) >> dimension:
        raise _outside(counted.points[-1], dimension, owner)
    return counted


def _numbers(database: Any, dimension: int, owner: str) -> NDArray[np.uint64]:
    if isinstance(database, np.ndarray) and database.dtype.kind in "iu" and database.ndim == 1:
        if database.dtype.kind == "i" and (database < 0).any():
            raise _outside(database.min(), dimension, owner)
        return database.astype(np.uint64)
    records = list(database)
    for record in records if set(map(type, records)) - {int} else ():
        if not isinstance(record, (int, np.integer)) or isinstance(record, bool):
            raise InvalidKind(f"A record of `{owner}` must be a whole number; got {show(record)}.")
    low, high = min(records, default=0), max(records, default=0)
    if low < 0 or high >= 1 << MOST_BITS:
        raise _outside(low if low < 0 else high, dimension, owner)
    return np.array(records, dtype=np.uint64)


def _outside(record: Any, dimension: int, owner: str) -> InvalidValue:
    return InvalidValue(
        f"A record of `{owner}` must be a whole number from 0 to 2^{dimension} − 1; got {int(record)}."
    )
