"""Entries grouped by value."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidKind
from audit.values import canonical

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

__all__ = ["Grouped"]

_LONG = 64
"""Least number of entries for which an array is used."""


class Grouped:
    """A database of entries, and the indices of every distinct entry.

    Parameters
    ----------
    entries
        A sequence, or an array whose rows are the entries.

    Raises
    ------
    InvalidKind
        `entries` has no length or cannot be indexed.

    Examples
    --------
    >>> [(record, places.tolist()) for record, places in Grouped(["b", "a", "b"]).groups]
    [('b', [0, 2]), ('a', [1])]
    """

    def __init__(self, entries: Sequence[Any] | NDArray[Any]) -> None:
        if not (hasattr(entries, "__len__") and hasattr(entries, "__getitem__")):
            raise InvalidKind(f"A database must be a sequence or an array of entries; got {entries!r:.40}.")
        self.entries = _packed(entries)

    def __len__(self) -> int:
        return len(self.entries)

    def at(self, places: Any) -> Grouped:
        """Return the entries at these indices, in this order.

        Examples
        --------
        >>> Grouped([5, 6, 7]).at(np.array([2, 0])).entries
        [7, 5]
        """
        if isinstance(self.entries, np.ndarray):
            return Grouped(self.entries[places])
        if isinstance(places, slice):
            return Grouped(self.entries[places])
        return Grouped([self.entries[place] for place in places.tolist()])

    @cached_property
    def groups(self) -> list[tuple[Any, NDArray[np.intp]]]:
        """Each distinct entry with its indices, ascending."""
        array = self.entries
        if isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype.kind in "biuf":
            values, codes = np.unique(array, return_inverse=True)
            return list(zip(values.tolist(), _places(codes, len(values)), strict=True))
        kinds: dict[Hashable, int] = {}
        codes = np.array([kinds.setdefault(canonical.key(e), len(kinds)) for e in array], dtype=np.intp)
        places = _places(codes, len(kinds))
        return [(self._record(int(group[0])), group) for group in places]

    def scattered(self, parts: Sequence[Any]) -> Any:
        """Return answers in the order of the entries.

        `parts` holds them group by group.

        Examples
        --------
        >>> Grouped(["b", "a", "b"]).scattered([["x", "z"], ["y"]])
        ['x', 'y', 'z']
        """
        arrays = [part for part in parts if isinstance(part, np.ndarray) and part.dtype.kind in "biuf"]
        if len(arrays) == len(parts) and len({part.shape[1:] for part in arrays}) == 1:
            answers = np.empty((len(self), *arrays[0].shape[1:]), dtype=np.result_type(*arrays))
            for (_, places), part in zip(self.groups, arrays, strict=True):
                answers[places] = part
            return answers
        listed: list[Any] = [None] * len(self)
        for (_, places), part in zip(self.groups, parts, strict=True):
            for place, answer in zip(places.tolist(), part, strict=True):
                listed[place] = answer
        return listed

    def _record(self, place: int) -> Any:
        return self.entries[place]


def _packed(entries: Any) -> Any:
    """Return a long list of plain numbers as an array."""
    if len(entries) < _LONG or not isinstance(entries, (list, tuple, range)):
        return entries
    kinds = {int} if isinstance(entries, range) else set(map(type, entries))
    array = np.array(entries) if kinds in ({int}, {float}, {bool}) else None
    return entries if array is None or array.dtype.kind == "O" else array


def _places(codes: NDArray[np.intp], count: int) -> list[NDArray[np.intp]]:
    if not count:
        return []
    order = np.argsort(codes.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(codes.ravel(), minlength=count))
    return np.split(order, ends[:-1])
