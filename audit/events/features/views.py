"""A block of outputs, grouped by kind for features of whole arrays.

The group of an output depends on that output alone. The other outputs of a block affect only the speed.
"""

import marshal
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from itertools import chain
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit.distributions.law import Floats, Ints
from audit.events.features.stand_ins import HUGE, stand_in
from audit.values.outcomes import Raised, Unfinished

EVERY = slice(None)
#: From this size on, floats cannot represent some whole numbers.
EXACT = 2.0**53
#: Affects speed and memory only. Vectors of up to this many entries are stored as one column for each entry.
_NARROW = 64
_PLAIN_NUMBERS = frozenset({float, int, np.float64, np.int64, np.float32, np.int32})
PLAIN_ENTRIES = _PLAIN_NUMBERS | {bool, np.bool_}
_NO_NUMBERS = frozenset({str, bool, tuple, list, dict, type(None)})
_NEVER_NUMBERS = frozenset({str, bytes, dict, type(None), set, frozenset, Raised, Unfinished})


def as_number(value: object) -> float | None:
    """Return a real number as a float, and None for anything else.

    A number that is too large becomes ±inf. A bool is not a number.
    """
    kind = type(value)
    try:
        # common types are decided first, for speed
        if kind in _NO_NUMBERS or not (kind is float or kind is int or _is_real(value)):
            return None
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")  # type: ignore[operator]
    except Exception:  # noqa: BLE001 - a foreign class may do anything when asked; no number is a value too
        return None


def _is_real(value: object) -> bool:
    kind = type(value)  # `isinstance` reads `__class__`, which may lie or raise
    if issubclass(kind, np.ndarray):
        plain = np.asarray(value)
        return plain.ndim == 0 and plain.dtype.kind in "iuf" and not issubclass(kind, np.ma.MaskedArray)
    if issubclass(kind, (bool, np.bool_, np.complexfloating, np.timedelta64)):
        return False
    return issubclass(kind, (Real, Decimal, np.number))


def as_entry(value: object) -> float:
    """Return an entry of a vector as a float.

    A bool becomes 0 or 1. Anything that is neither a number nor a bool becomes NaN.
    """
    if type(value) in (bool, np.bool_):
        return float(value)  # type: ignore[arg-type]
    number = as_number(value)
    return float("nan") if number is None else number


def as_column(values: Sequence[object]) -> Floats:
    """Return `as_entry` of every value, in one call if all are plain."""
    if set(map(type, values)) <= PLAIN_ENTRIES:
        try:
            return np.array(values, dtype=np.float64)
        except OverflowError:
            pass  # a whole number too large for a float
    return np.array([as_entry(value) for value in values], dtype=np.float64)


def as_vector(output: Any) -> list[float] | Floats | None:
    """Return the entries of a flat sequence or an array as floats.

    Arrays are read row by row. For anything else, return None.
    """
    kind = type(output)
    try:
        if issubclass(kind, (tuple, list)):
            return None if is_pairs(output) else as_column(output)
        # a subclass of ndarray may report any shape
        plain = np.asarray(output) if issubclass(kind, np.ndarray) else None
        if plain is None or plain.ndim == 0:
            return None
        if plain.dtype.kind not in "iufb":
            return [as_entry(item) for item in plain.ravel().tolist()]
        numbers = np.asarray(plain, dtype=np.float64).ravel()
        masked = issubclass(kind, np.ma.MaskedArray)
        return np.where(np.ma.getmaskarray(output).ravel(), np.nan, numbers) if masked else numbers
    except Exception:  # noqa: BLE001 - an object of the user's may raise anything when it is looked at
        return None


def is_pairs(output: Sequence[Any]) -> bool:
    """Return whether a sequence is a non-empty list of (key, value) pairs.

    The keys must be texts or whole numbers.
    """
    return len(output) > 0 and all(
        issubclass(type(item), tuple) and len(item) == 2 and issubclass(type(item[0]), (str, int))
        for item in output  # `isinstance` would read `__class__` of an item that is not a tuple
    )


def as_mapping(output: object) -> Mapping[Any, Any] | None:
    """Return a dict, or a list of (key, value) pairs, as a mapping. For anything else, return None."""
    kind = type(output)
    if kind is dict:
        return output  # type: ignore[return-value]
    try:
        if issubclass(kind, (tuple, list)):
            return dict(output) if is_pairs(output) else None  # type: ignore[arg-type, call-overload]
        # a Mapping that raises when it is listed or read does not count as one
        return {key: output[key] for key in output} if issubclass(kind, Mapping) else None  # type: ignore[index, attr-defined]
    except Exception:  # noqa: BLE001 - an object of the user's may raise anything when it is looked at
        return None


@dataclass(eq=False)
class View:
    """A block of outputs with the groups that features read.

    Parameters
    ----------
    outputs
        A list of outputs, or one array whose first axis runs over the outputs. Frames and huge outputs are
        replaced by stand-ins.
    typed
        Whether the type of every output is independent of the other outputs. In one numpy array it may not
        be: one NaN turns all integers into floats.
    replaced
        Whether the outputs come from a block that has already replaced them by stand-ins.

    Examples
    --------
    >>> view = View([1.5, "no", 2.5])
    >>> view.numbers[1].tolist(), [index for index, _ in view.rest]
    ([1.5, 2.5], [1])
    """

    outputs: Sequence[Any] | NDArray[Any]
    typed: bool = True
    replaced: bool = False
    #: The different outputs as a view of their own, and the place of every output in it; None if the outputs
    #: are not grouped.
    grouped: "tuple[View, Ints] | None" = field(init=False, repr=False)
    #: Cache of the parts of the outputs, and of columns of their numbers.
    inside: dict[Any, Any] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        once, self.grouped = _once(self.outputs), None
        if once is None:
            if not self.replaced:
                self.outputs = _stand_ins(self.outputs)
            self.numbers, self.vectors, self.rest = _sort(self.outputs)
        else:
            distinct, places = View(once[0], self.typed, self.replaced), once[1]
            self.grouped = distinct, places
            self.outputs = [distinct.outputs[place] for place in places.tolist()]
            self.numbers, self.vectors, self.rest = _repeated(distinct, places)

    def forget(self) -> None:
        """Empty the cache `inside`."""
        self.inside.clear()
        if self.grouped is not None:
            self.grouped[0].forget()

    def __len__(self) -> int:
        return len(self.outputs)

    @cached_property
    def unfinished(self) -> Ints:
        """Positions of unfinished runs."""
        return np.array([i for i, output in self.rest if type(output) is Unfinished], dtype=np.intp)

    @cached_property
    def mappings(self) -> list[tuple[int, Mapping[Any, Any]]]:
        """The outputs that are mappings, with their positions."""
        found = ((i, as_mapping(output)) for i, output in self.rest)
        return [(i, mapping) for i, mapping in found if mapping is not None]

    @cached_property
    def all_dicts(self) -> bool:
        """Whether every output is a plain dict."""
        return not isinstance(self.outputs, np.ndarray) and set(map(type, self.outputs)) == {dict}

    @property
    def all_numbers(self) -> bool:
        """Whether every output is a number."""
        return isinstance(self.numbers[0], slice)


_Groups = tuple[tuple[Any, Floats], dict[int, tuple[Any, Floats]], list[tuple[int, Any]]]
_NONE = (np.empty(0, dtype=np.intp), np.empty(0))


#: Types of outputs that a block keeps as they are; outputs of other types may get a stand-in (`stand_in`).
_AS_IT_IS = PLAIN_ENTRIES | {type(None), complex, Raised, Unfinished}


def _stand_ins(outputs: Sequence[Any] | NDArray[Any]) -> Sequence[Any] | NDArray[Any]:
    if type(outputs) is np.ndarray and outputs.dtype.kind != "O" and outputs[:1].size <= HUGE:
        return outputs
    if type(outputs) is list and _AS_IT_IS.issuperset(map(type, outputs)):
        return outputs
    return [stand_in(output) for output in outputs]


#: Affects speed only. In blocks of at least this size, equal outputs are read once if most outputs are equal.
_MANY = 64
#: Outputs with more parts, or with a longer text, are not grouped.
_MOST_PARTS, _LONGEST = 200, 1_000
_PLAIN = frozenset({int, float, bool, str, type(None)})


def _once(outputs: Sequence[Any] | NDArray[Any]) -> tuple[list[Any], Ints] | None:
    """Return the different outputs, and the place of every output among them.

    Two outputs are equal if they consist of the same plain values, of the same types, in tuples and lists. If
    equal outputs are too few to save time, or if an output is not plain, return None.
    """
    if type(outputs) is not list or len(outputs) < _MANY:
        return None
    first = outputs[:_MANY]
    if _PLAIN_NUMBERS.issuperset(map(type, first)) or not all(map(_is_plain, first)):
        return None
    if 2 * len({marshal.dumps(output, 2) for output in first}) > _MANY:
        return None
    place_of: dict[bytes, int] = {}
    distinct: list[Any] = []
    places: list[int] = []
    for output in outputs:
        if not _is_plain(output):
            return None
        places.append(place_of.setdefault(marshal.dumps(output, 2), len(distinct)))
        if len(place_of) > len(distinct):
            distinct.append(output)
            if 4 * len(distinct) > len(outputs):
                return None
    return distinct, np.array(places, dtype=np.intp)


def _is_plain(output: Any) -> bool:
    """Return whether an output consists of a few plain values, in tuples and lists."""
    waiting = [output]
    for _ in range(_MOST_PARTS):
        if not waiting:
            return True
        each = waiting.pop()
        kind = type(each)
        if kind is tuple or kind is list:
            if len(each) > _MOST_PARTS:
                return False
            waiting += each
        elif kind not in _PLAIN or (kind is str and len(each) > _LONGEST):
            return False
    return False


def _repeated(distinct: View, places: Ints) -> _Groups:
    """Return the groups of all outputs, given the groups of the distinct outputs."""

    def of(group: tuple[Any, Floats]) -> tuple[Any, Floats]:
        where, found = group
        if isinstance(where, slice):
            return EVERY, found[places]
        row = np.full(len(distinct), -1)
        row[where] = np.arange(len(where))
        rows = row[places]
        return np.flatnonzero(rows >= 0), found[rows[rows >= 0]]

    rest = dict(distinct.rest)
    others = [(i, rest[place]) for i, place in enumerate(places.tolist()) if place in rest] if rest else []
    return of(distinct.numbers), {size: of(group) for size, group in distinct.vectors.items()}, others


def _sort(outputs: Sequence[Any] | NDArray[Any]) -> _Groups:
    if isinstance(outputs, np.ndarray):
        return _sort_array(outputs)
    kinds = set(map(type, outputs))
    if kinds and kinds <= _PLAIN_NUMBERS:
        return (EVERY, as_column(outputs)), {}, []
    if kinds in ({tuple}, {list}) and len(lengths := set(map(len, outputs))) == 1 and lengths != {0}:
        entries = list(chain.from_iterable(outputs))
        if PLAIN_ENTRIES.issuperset(map(type, entries)):
            return _NONE, {len(outputs[0]): (EVERY, as_column(entries).reshape(len(outputs), -1))}, []
    if kinds and kinds <= _NEVER_NUMBERS:
        return _NONE, {}, list(enumerate(outputs))
    if kinds == {np.ndarray}:
        shapes = {(output.shape, output.dtype.kind) for output in outputs}
        if len(shapes) == 1 and (one := next(iter(shapes)))[1] in "iufb" and len(one[0]) == 1:
            return _NONE, {one[0][0]: (EVERY, np.array(outputs, dtype=np.float64))}, []
    return _sort_each(outputs)


def _sort_array(outputs: NDArray[Any]) -> _Groups:
    kind = outputs.dtype.kind
    if outputs.ndim == 1 and kind in "iuf":
        return (EVERY, outputs.astype(np.float64, copy=False)), {}, []
    if outputs.ndim > 1 and kind in "iufb":
        size = math.prod(outputs.shape[1:])
        matrix = outputs.reshape(len(outputs), size)
        # features read one entry of all outputs at a time; reordering wide outputs would take much memory
        order: Any = "F" if size <= _NARROW else "K"
        return _NONE, {size: (EVERY, np.asarray(matrix, dtype=np.float64, order=order))}, []
    return _sort_each(outputs)


def _sort_each(outputs: Iterable[Any]) -> _Groups:
    number_at: list[int] = []
    numbers: list[float] = []
    vector_at: dict[int, list[int]] = {}
    vectors: dict[int, list[Any]] = {}
    rest: list[tuple[int, Any]] = []
    for i, output in enumerate(outputs):
        if issubclass(type(output), (Raised, Unfinished, str, bytes)):
            rest.append((i, output))
        elif (number := as_number(output)) is not None:
            number_at.append(i)
            numbers.append(number)
        elif (vector := as_vector(output)) is not None:
            vector_at.setdefault(len(vector), []).append(i)
            vectors.setdefault(len(vector), []).append(vector)
        else:
            rest.append((i, output))
    sized = {
        size: (np.array(at, dtype=np.intp), np.array(vectors[size], dtype=np.float64).reshape(len(at), size))
        for size, at in vector_at.items()
    }
    return (np.array(number_at, dtype=np.intp), np.array(numbers, dtype=np.float64)), sized, rest
