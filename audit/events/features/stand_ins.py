"""What a block keeps instead of a data frame or a huge output.

A data frame is kept as plain arrays, because reading a frame is slow. Of a huge output only both ends are
kept. Each stand-in is a function of one output alone.
"""

import copy
import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from audit.values import canonical
from audit.values.brief import show
from audit.values.outcomes import without_addresses

#: Of an output with more than `HUGE` entries or characters, only the first `END` and the last `END` are kept.
HUGE = 2**17
END = 128


@dataclass(frozen=True, repr=False)
class Frame:
    """A data frame, series or index, held as plain arrays.

    Parameters
    ----------
    kind
        The name of the object's class.
    values
        One array for each column.
    dtypes
        The dtype of every column.
    columns
        The names of the columns; for a series or an index, its name.
    index
        The labels of the rows; None for an index.
    attributes
        What the user attached (`attrs`), and the types, dtypes and names of both axes.

    Examples
    --------
    >>> Frame("Series", (np.array([1.5]),), ("float64",), ("age",), np.array(["mean"]), {})
    Series({'mean': 1.5})
    """

    kind: str
    values: tuple[Any, ...]
    dtypes: tuple[str, ...]
    columns: Any
    index: Any
    attributes: Any

    def __repr__(self) -> str:
        return f"{self.kind}({show([*map(list, self.values)] if self.labelled is None else self.labelled)})"

    @cached_property
    def key(self) -> Hashable:
        """The canonical key, cached because features read a frame many times."""
        return canonical.key(self)

    @cached_property
    def labelled(self) -> dict[Any, Any] | None:
        """The values by label, or None.

        A series has its rows as keys. A data frame has its columns as keys, and under each the rows. The
        labels must be different strings or integers. Otherwise the result is None.
        """
        rows = _labels(self.index)
        if rows is None:
            return None
        columns = [dict(zip(rows, values, strict=True)) for values in self.values]
        if type(self.columns) is tuple:  # a series
            return columns[0]
        names = _labels(self.columns)
        return None if names is None else dict(zip(names, columns, strict=True))


@dataclass(frozen=True)
class Ends:
    """The two ends of a huge output, and a few numbers about the whole.

    Parameters
    ----------
    kind
        The name of the output's class; for an array also its shape.
    size
        Number of entries or characters.
    digest
        A hash of the whole output; equal outputs have equal hashes.
    total, least, largest
        If the entries are numbers: sum and extremes of all that are not NaN; else None.
    first, last
        The ends.

    Examples
    --------
    >>> ends = stand_in(bytes(10**6))
    >>> ends.kind, ends.size, len(ends.first)
    ('bytes', 1000000, 128)
    """

    kind: str
    size: int
    digest: str
    total: float | None
    least: float | None
    largest: float | None
    first: Any
    last: Any


def stand_in(output: Any) -> Any:
    """Return what a block keeps instead of an output.

    A data frame, series or index becomes a `Frame`. A huge output becomes `Ends`. Any other output is kept.
    Parts of tuples, lists and dicts are replaced in the same way.

    Examples
    --------
    >>> stand_in((1.5, "text"))
    (1.5, 'text')
    >>> type(stand_in((np.zeros(10**6), 1))[0]).__name__
    'Ends'
    """
    try:
        return _replaced(output, 0)
    except Exception:  # noqa: BLE001 - an object of the user's may raise anything when it is looked at
        return output


def is_table(value: object) -> bool:
    """Return whether a value is a data frame, a series or an index.

    The value may come from pandas or a similar library.

    Examples
    --------
    >>> is_table(np.zeros(3))
    False
    """
    kind = type(value)
    return hasattr(kind, "to_numpy") and hasattr(kind, "array" if hasattr(kind, "dtype") else "iloc")


def frame_of(table: Any) -> Frame:
    """Return the `Frame` that holds a data frame, series or index as plain arrays."""
    kind = type(table).__name__
    attributes = dict(getattr(table, "attrs", {}))
    if hasattr(type(table), "dtypes") and hasattr(type(table), "columns"):
        columns = [column for _, column in table.items()]
        names, index = table.columns, table.index
        attributes |= {"columns": _described(names), "index": _described(index)}
        names, rows = names.to_numpy(), index.to_numpy()
    else:
        columns, names, rows = [table], tuple(_names(table)), None
        if hasattr(type(table), "index"):
            rows = table.index.to_numpy()
            attributes["index"] = _described(table.index)
    arrays = tuple(column.to_numpy() for column in columns)
    return Frame(kind, arrays, tuple(_said(column.dtype) for column in columns), names, rows, attributes)


def _labels(index: Any) -> list[Any] | None:
    """Return the labels of an axis, each a string or an integer.

    None if there are no labels, if a label is repeated, or if one is of another type.
    """
    labels = [] if index is None else index.tolist()
    plain = index is not None and {str, int}.issuperset(map(type, labels))
    return labels if plain and len({*labels}) == len(labels) else None


def _names(index: Any) -> Sequence[Any]:
    return tuple(index.names) if hasattr(type(index), "names") else (index.name,)


def _described(index: Any) -> tuple[Any, ...]:
    return (type(index).__name__, _said(index.dtype), *_names(index))


@lru_cache(maxsize=256)
def _said(dtype: Any) -> str:
    return str(dtype) if isinstance(dtype, np.dtype) else repr(dtype)


_ENTRIES = (tuple, list, dict)
_SMALL = frozenset({int, float, bool, type(None), np.float64, np.int64, np.bool_, complex})
_TEXTS = frozenset({str, bytes})
_FLAT = _SMALL | _TEXTS
_DEEP = 6


def _replaced(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind in _SMALL:
        return value
    if _size(value) > HUGE:
        return _ends(value)
    if kind in _ENTRIES:
        return _inside(value, depth) if depth < _DEEP else value
    return frame_of(value) if is_table(value) else value


def _inside(value: Any, depth: int) -> Any:
    entries = value.values() if type(value) is dict else value
    kinds = set(map(type, entries))
    if kinds <= _SMALL or (kinds <= _FLAT and max(len(e) for e in entries if type(e) in _TEXTS) <= HUGE):
        return value
    parts = [_replaced(part, depth + 1) for part in entries]
    if all(new is old for new, old in zip(parts, entries, strict=True)):
        return value
    return dict(zip(value, parts, strict=True)) if type(value) is dict else type(value)(parts)


def _size(value: Any) -> int:
    kind = type(value)
    if kind in (str, bytes, bytearray, list, tuple):
        return len(value)
    return int(np.asarray(value).size) if issubclass(kind, np.ndarray) else 0


def _ends(value: Any) -> Ends:
    kind, flat, numbers = type(value).__name__, value, None
    if issubclass(type(value), np.ndarray):
        array = np.asarray(value)
        kind, flat = f"{kind} of shape {array.shape}", array.ravel()
        numbers = flat if array.dtype.kind in "iufb" else None
    elif type(value) in (bytes, bytearray):
        numbers = np.frombuffer(value, dtype=np.uint8)
    digest = hashlib.blake2b(_raw(flat), digest_size=16).hexdigest()
    # copied, because a slice of an array keeps the whole array alive
    first, last = (copy.copy(part) for part in (flat[:END], flat[-END:]))
    return Ends(kind, len(flat), digest, *_summary(numbers), first, last)


_WIDE = {"i": "<f8", "u": "<f8", "f": "<f8", "b": "<f8", "c": "<c16", "m": "<i8", "M": "<i8"}


def _raw(flat: Any) -> Any:
    # count bytes of the values, because dtype and text width in a sampler's array depend on the other outputs
    wide = _WIDE.get(flat.dtype.kind) if type(flat) is np.ndarray else None
    if wide is not None:
        return np.ascontiguousarray(flat, dtype=wide).view(np.uint8)
    if type(flat) in (bytes, bytearray):
        return flat
    text = flat if type(flat) is str else without_addresses(repr(list(flat)))
    return text.encode(errors="replace")


def _summary(numbers: Any) -> tuple[float | None, float | None, float | None]:
    if numbers is None:
        return None, None, None
    total = numbers.sum(dtype=np.float64)
    if np.isnan(total):
        numbers = numbers[~np.isnan(numbers)]
        total = numbers.sum(dtype=np.float64)
    return float(total), *((float(numbers.min()), float(numbers.max())) if len(numbers) else (None, None))
