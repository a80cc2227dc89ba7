"""Samples from a law on few records, stored as indices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from audit.errors import InvalidKind
from audit.values.brief import show
from learners.finite.tables import LabelCounts

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from learners.finite.hypotheses import Hypotheses

__all__ = [
    "LateExamples",
    "ListedExamples",
    "check_database",
    "draw_listed",
    "draw_sample",
    "kinds",
    "label_counts",
    "listed",
    "spread",
]

_BLOCK = 1 << 12
_LONG = 4 * _BLOCK
"""A sample of at least this many records is drawn only as it is read: learners read most of it as counts."""


@dataclass(frozen=True, eq=False)
class ListedExamples(Sequence[Any]):
    """A database whose record i is ``records[chosen[i]]``.

    Parameters
    ----------
    records
        The possible records.
    chosen
        Whole numbers, shape (size,); read-only.

    Examples
    --------
    >>> some = ListedExamples("ab", np.array([1, 0, 1]))
    >>> list(some), some[-1], list(some[1:]), some.count("b"), some
    (['b', 'a', 'b'], 'b', ['a', 'b'], 2, ListedExamples(3 records of 2 kinds))
    """

    records: Sequence[Any]
    chosen: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.chosen)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> ListedExamples: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return ListedExamples(self.records, self.chosen[index])
        return self.records[int(self.chosen[index])]

    def __iter__(self) -> Iterator[Any]:
        records = self.records
        return iter([records[place] for place in self.chosen.tolist()])

    def __deepcopy__(self, memo: dict[int, Any]) -> ListedExamples:
        """Return a copy of the indices, with the same records."""
        return ListedExamples(self.records, self.chosen.copy())

    def __repr__(self) -> str:
        return f"ListedExamples({len(self)} records of {len(self.records)} kinds)"

    @property
    def present(self) -> list[Any]:
        """The records that occur, each once."""
        return [self.records[place] for place in np.flatnonzero(self.counts(0, len(self))).tolist()]

    def counts(self, start: int, stop: int) -> NDArray[np.intp]:
        """Return how often each record occurs at places `start` to `stop` − 1.

        Examples
        --------
        >>> ListedExamples("ab", np.array([1, 0, 1])).counts(0, 2).tolist()
        [1, 1]
        """
        return np.bincount(self.chosen[start:stop], minlength=len(self.records))


@dataclass(frozen=True, eq=False)
class LateExamples(Sequence[Any]):
    """Independent records of a finite law, drawn when read.

    The seed determines every record. It does not matter which record is read first.

    Parameters
    ----------
    records
        The possible records.
    cumulative
        Their cumulative probabilities, the last of them 1 or more.
    size
        The number of records drawn.
    seed
        A whole number ≥ 0.

    Examples
    --------
    >>> late = LateExamples("ab", np.array([0.5, 1.0]), 20_000, seed=1)
    >>> few = late[10_000:10_003]
    >>> len(late), few, late[10_001] == few[1]
    (20000, ListedExamples(3 records of 2 kinds), True)
    """

    records: Sequence[Any]
    cumulative: NDArray[np.float64]
    size: int
    seed: int
    _blocks: dict[int, NDArray[np.intp]] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> ListedExamples: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return ListedExamples(self.records, self._numbers(range(self.size)[index]))
        return self.records[int(self._numbers(range(self.size)[index : index + 1 or None])[0])]

    def __iter__(self) -> Iterator[Any]:
        return iter(self[:])

    def __deepcopy__(self, memo: dict[int, Any]) -> LateExamples:
        """Return itself."""
        return self

    def __repr__(self) -> str:
        return f"LateExamples({self.size} records of {len(self.records)} kinds, seed={self.seed})"

    def _numbers(self, places: range) -> NDArray[np.intp]:
        if not places:
            return np.zeros(0, dtype=np.intp)
        first, last = sorted((places[0] // _BLOCK, places[-1] // _BLOCK))
        together: NDArray[np.intp] = np.concatenate([self._block(k) for k in range(first, last + 1)])
        if places.step == 1:
            return together[places.start - first * _BLOCK : places.stop - first * _BLOCK]
        return np.asarray(together[np.array(places) - first * _BLOCK])

    def counts(self, start: int, stop: int) -> NDArray[np.intp]:
        """Return how often each record occurs at places `start` to `stop` − 1.

        Examples
        --------
        >>> late = LateExamples("ab", np.array([0.5, 1.0]), 20_000, seed=1)
        >>> late.counts(100, 19_000).tolist() == late[100:19_000].counts(0, 18_900).tolist()
        True
        """
        first, last = -(-start // _BLOCK), stop // _BLOCK
        if first >= last:
            return self[start:stop].counts(0, stop - start)
        ends = self[start : first * _BLOCK], self[last * _BLOCK : stop]
        whole = self._occurring[first:last].sum(axis=0)
        return np.asarray(whole + sum(end.counts(0, len(end)) for end in ends))

    @cached_property
    def _occurring(self) -> NDArray[np.intp]:
        """The counts of records in each block, shape (blocks, records)."""
        rng = np.random.default_rng((self.seed, 0))
        return rng.multinomial(_BLOCK, _shares(self.cumulative), size=-(-self.size // _BLOCK)).astype(np.intp)

    def _block(self, index: int) -> NDArray[np.intp]:
        if index not in self._blocks:
            inside = np.repeat(np.arange(len(self.records)), self._occurring[index])
            self._blocks[index] = np.random.default_rng((self.seed, 1, index)).permutation(inside)
        return self._blocks[index]


def listed(database: Sequence[Any]) -> ListedExamples | LateExamples:
    """Return a database stored as indices.

    A database in this form is returned unchanged. The database must pass `check_database`.

    Examples
    --------
    >>> listed("aba"), listed("aba").counts(0, 3).tolist()
    (ListedExamples(3 records of 2 kinds), [2, 1])
    """
    if isinstance(database, ListedExamples | LateExamples):
        return database
    check_database(database)
    places: dict[Any, int] = {}
    try:
        chosen = [places.setdefault(record, len(places)) for record in database]
    except TypeError:
        return ListedExamples(tuple(database), np.arange(len(database)))
    return ListedExamples(tuple(places), np.array(chosen, dtype=np.intp))


def kinds(database: Sequence[Any]) -> Sequence[Any]:
    """Return the possible records of a database if they are known.

    Otherwise return the database.

    Examples
    --------
    >>> kinds("aba"), kinds(ListedExamples("ab", np.array([0, 0])))
    ('aba', 'ab')
    """
    if isinstance(database, ListedExamples | LateExamples):
        return database.records
    check_database(database)
    return database


def check_database(database: Any) -> None:
    """Raise unless `database` is a sequence of records.

    Raises
    ------
    InvalidKind
        The database has no length, or cannot be iterated over.

    Examples
    --------
    >>> check_database(3)
    Traceback (most recent call last):
    audit.errors.InvalidKind: A database must be a list of records; got 3.
    """
    if not (hasattr(database, "__len__") and hasattr(database, "__iter__")):
        raise InvalidKind(f"A database must be a list of records; got {show(database)}.")


def draw_listed(
    records: Sequence[Any], cumulative: NDArray[np.float64], *, size: int, rng: np.random.Generator
) -> ListedExamples:
    """Return independent records with these cumulative probabilities.

    Examples
    --------
    >>> list(draw_listed("ab", np.array([0.0, 1.0]), size=3, rng=np.random.default_rng(0)))
    ['b', 'b', 'b']
    """
    times = rng.multinomial(size, _shares(cumulative))
    return ListedExamples(records, rng.permutation(np.repeat(np.arange(len(times)), times)))


def draw_sample(
    records: Sequence[Any], cumulative: NDArray[np.float64], *, size: int, rng: np.random.Generator
) -> ListedExamples | LateExamples:
    """Return independent records, drawn late if there are many.

    Examples
    --------
    >>> [draw_sample("ab", np.array([0.5, 1.0]), size=n, rng=np.random.default_rng(0)) for n in (9, 20_000)]
    ... # doctest: +ELLIPSIS
    [ListedExamples(9 records of 2 kinds), LateExamples(20000 records of 2 kinds, seed=...)]
    """
    if size < _LONG:
        return draw_listed(records, cumulative, size=size, rng=rng)
    return LateExamples(records, cumulative, size, seed=int(rng.integers(2**63)))


def _shares(cumulative: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each record's probability, at least 0 after rounding."""
    return np.diff(np.minimum(cumulative, 1.0), prepend=0.0)


def spread(function: Callable[[Sequence[Any]], NDArray[Any]], database: Sequence[Any]) -> NDArray[Any]:
    """Return a function's value at every record of a database.

    Parameters
    ----------
    function
        Takes a list of records and returns an array. Entry i depends on record i alone.
    database
        Any list of records.

    Examples
    --------
    >>> some = ListedExamples(["a", "bb"], np.array([1, 1, 0]))
    >>> spread(lambda words: np.array([len(word) for word in words]), some)
    array([2, 2, 1])
    """
    if not isinstance(database, ListedExamples) or len(database) <= len(database.records):
        return function(list(database) if isinstance(database, ListedExamples) else database)
    return np.asarray(function(list(database.records))[database.chosen])


def label_counts(
    hypotheses: Hypotheses, database: Sequence[Any], *, owner: str, start: int = 0, stop: int | None = None
) -> LabelCounts:
    """Return `Hypotheses.counts`, faster if the records are stored as indices.

    Parameters
    ----------
    hypotheses
        The class whose points and labels are counted.
    database
        (x, y) pairs.
    owner
        The name in error messages.
    start, stop
        The range of positions that is counted; by default all.

    Examples
    --------
    >>> from learners.finite.hypotheses import Hypotheses
    >>> both = Hypotheses.of_rows([[0, 1], [1, 1]], domain="ab")
    >>> label_counts(both, ListedExamples(both.records, np.array([3, 3, 0])), owner="It").ones.tolist()
    [0.0, 2.0]
    """
    if isinstance(database, ListedExamples | LateExamples) and _same(database.records, hypotheses.records):
        counts = database.counts(start, len(database) if stop is None else stop).reshape(-1, 2)
        return LabelCounts(counts[:, 0].astype(np.float64), counts[:, 1].astype(np.float64))
    part = database if (start, stop) == (0, None) else database[start:stop]
    return hypotheses.counts(part, owner=owner)


def _same(left: Any, right: Any) -> bool:
    """Return whether two tuples are equal."""
    return left is right or left == right
