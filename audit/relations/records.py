"""Read the records of a database, and rebuild it from changed records."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from audit.errors import InvalidKind, InvalidValue
from audit.values.brief import show
from audit.values.canonical import key, same


def kind_of(database: Any) -> str | None:
    """Return the kind of sequence that `database` is, or None if it is not a sequence.

    Examples
    --------
    >>> kind_of([1]), kind_of((1,)), kind_of("a"), kind_of(np.ones(1)), kind_of(range(1)), kind_of({1})
    ('list', 'tuple', 'text', 'array', 'list', None)
    """
    if isinstance(database, np.ndarray):
        return "array" if database.ndim else None
    for kind, name in ((str, "text"), (bytes, "bytes"), (tuple, "tuple"), (Sequence, "list")):
        if isinstance(database, kind):
            return name
    return None


def is_frame(value: Any) -> bool:
    """Return whether a value is a table with named columns, as in pandas.

    Examples
    --------
    >>> is_frame([("Rome", 30)])
    False
    """
    return all(hasattr(value, name) for name in ("iloc", "columns", "to_dict"))


def records_of(database: Any) -> list[Any]:
    """Return the records of a database as a list.

    The rows of an array become lists of Python values.

    Raises
    ------
    InvalidKind
        `database` is not a sequence.

    Examples
    --------
    >>> records_of(np.array([[1, 2], [3, 4]]))
    [[1, 2], [3, 4]]
    """
    kind = kind_of(database)
    if kind is None:
        raise InvalidKind(f"A database must be a sequence of records; got {show(database)}.")
    # a float32 keeps its type, which shows how it was rounded
    rows = kind == "array" and (database.ndim > 1 or database.dtype.kind != "f")
    return database.tolist() if rows else list(database)


def distinct(records: Iterable[Any], *, like: Any) -> list[tuple[Any, Any]]:
    """Return (key, record) of each distinct record, in order.

    If `like` is an array with rows, a record has the key that it has as such a row.

    Examples
    --------
    >>> distinct([1, 1.0, True], like=[])
    [(1, 1), (('bool', 1), True)]
    """
    found: dict[Any, Any] = {}
    rows = isinstance(like, np.ndarray) and like.ndim > 1
    for record in records:
        # an array returns its rows as lists
        plain = np.asarray(record, dtype=object).tolist() if rows else record
        found.setdefault(key(plain), record)
    return list(found.items())


def replaced(database: Any, index: int, record: Any) -> Any:
    """Return a copy of `database` with another record at `index`.

    Examples
    --------
    >>> replaced(np.array([1, 2]), 0, 0.5)
    array([0.5, 2. ])
    """
    return _spliced(database, index, index + 1, (record,))


def removed(database: Any, index: int) -> Any:
    """Return a copy of `database` without the record at `index`.

    Examples
    --------
    >>> removed((1, 2, 3), 1)
    (1, 3)
    """
    return _spliced(database, index, index + 1, ())


def inserted(database: Any, index: int, record: Any) -> Any:
    """Return a copy of `database` with one more record, inserted before `index`.

    Examples
    --------
    >>> inserted("ac", 1, "b")
    'abc'
    """
    return _spliced(database, index, index, (record,))


def rebuilt(database: Any, records: Sequence[Any]) -> Any:
    """Return a database of the same kind as `database` that holds `records`.

    Raises
    ------
    InvalidValue
        The kind cannot hold these records. For example, a text holds only characters.

    Examples
    --------
    >>> rebuilt(np.zeros(2, dtype=np.float32), [1.0, 2.0])
    array([1., 2.], dtype=float32)
    """
    return _spliced(database, 0, len(database), records)


def is_labelled(record: Any) -> bool:
    """Return whether `record` is an (x, y) pair.

    Examples
    --------
    >>> is_labelled((0, 1)), is_labelled("ab")
    (True, False)
    """
    return isinstance(record, tuple | list) and len(record) == 2


def labelled(record: Any) -> Any:
    """Return `record` as an (x, y) pair.

    Raises
    ------
    InvalidValue
        `record` is not a pair.

    Examples
    --------
    >>> labelled(np.array([3, 1]))
    [3, 1]
    """
    plain = record.tolist() if isinstance(record, np.ndarray | np.void) else record
    if not is_labelled(plain):
        raise InvalidValue(f"A record under replace-label must be an (x, y) pair; got {show(record)}.")
    return plain


def relabelled(pair: Any, label: Any) -> Any:
    """Return an (x, y) pair of the same kind as `pair`, with another y.

    Examples
    --------
    >>> relabelled([3, 1], 0)
    [3, 0]
    """
    if isinstance(pair, list):
        return [pair[0], label]
    return pair._make((pair[0], label)) if hasattr(pair, "_make") else (pair[0], label)


def _spliced(database: Any, start: int, stop: int, records: Sequence[Any]) -> Any:
    """Return `database` with the records from `start` to `stop` replaced by others."""
    kind = kind_of(database)
    if kind == "array":
        return _array(database, start, stop, records)
    whole = list(database)
    whole[start:stop] = records
    if kind == "text":
        if not all(isinstance(letter, str) and len(letter) == 1 for letter in records):
            raise InvalidValue(f"The records of a string must be single characters; got {show(records)}.")
        return "".join(whole)
    if kind == "bytes":
        try:
            return bytes(whole)
        except (TypeError, ValueError):
            wrong = f"The records of bytes must be ints from 0 to 255; got {show(whole)}."
            raise InvalidValue(wrong) from None
    return tuple(whole) if kind == "tuple" else whole


def _array(database: Any, start: int, stop: int, records: Sequence[Any]) -> Any:
    size = len(database) - (stop - start) + len(records)
    result = np.empty((size, *database.shape[1:]), dtype=_dtype(database, records))
    result[:start] = database[:start]
    result[start + len(records) :] = database[stop:]
    for offset, record in enumerate(records):
        result[start + offset] = record
    return result


def _dtype(database: Any, records: Sequence[Any]) -> Any:
    """Return the smallest dtype that holds old and new records unchanged."""
    if database.dtype.kind in "OV" or not records:
        return database.dtype
    try:
        new = np.array(records)
        promoted = np.result_type(database.dtype, new.dtype)
    except (TypeError, ValueError):  # ragged, or no common dtype
        return np.dtype(object)
    if new.shape[1:] != database.shape[1:]:
        if database.ndim == 1:
            return np.dtype(object)
        shape = database.shape[1:]
        raise InvalidValue(f"The records of this array must have shape {shape}; got {show(records[0])}.")
    for dtype in (database.dtype, promoted):
        if _holds(dtype, new) and _holds(dtype, database):
            return dtype
    return np.dtype(object)


def _holds(dtype: Any, values: Any) -> bool:
    if dtype == values.dtype:
        return True
    try:
        with np.errstate(all="ignore"):
            return same(values.astype(dtype).tolist(), values.tolist())
    except (TypeError, ValueError, OverflowError):
        return False
