"""Equality of any two values."""

import decimal
import enum
import hashlib
import math
import numbers
import types
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from operator import itemgetter
from typing import Any, Final

import numpy as np

from audit.values.brief import show
from audit.values.outcomes import Raised, Unfinished, without_addresses

__all__ = ["key", "same", "show"]

# Every key is None, a number, a text, or a tuple whose first entry names the kind of value, so keys of
# different kinds are never equal. The repr of a key is the same in every process; keys that cannot be
# compared are sorted by it.
_EXACT: Final = 2**53  # whole numbers below this, of any type, become ints in a key
_DEPTH: Final = 100
_NODES: Final = 1_000_000
_HASHED: Final = 2**20  # arrays of more bytes are replaced by a hash

# The state of a traversal: minus the number of containers still allowed, then the ids of the open containers.
_Walk = list[int]


class _TooLargeError(Exception):
    """The value has more containers than a comparison may open."""


def key(value: Any) -> Hashable:
    """Return a hashable key of a value; equal keys mean the same value.

    1 is the same as 1.0 but not as True. NaN is the same as NaN, and −0.0 as 0.0. A numpy scalar is the same
    as the equal Python value.

    Arrays are compared by shape, kind of dtype and values. A list is never the same as a tuple. The order of
    sets and dicts does not matter. Objects are compared by class and state. If an object hides its state, its
    text without addresses is compared.

    Parameters
    ----------
    value
        Any value, even one that contains itself. No value raises an error. Parts nested deeper than 100
        levels are compared by class alone. So is a value with more than a million containers.

    Examples
    --------
    >>> key(1) == key(1.0), key(1) == key(True), key(float("nan")) == key(np.float32("nan"))
    (True, False, True)
    >>> key({"b": 1, "a": (2,)}) == key({"a": (2.0,), "b": 1})
    True
    """
    try:
        return _key(value, [-_NODES])
    except (_TooLargeError, RecursionError):
        return ("large", _class_name(value))


def same(left: Any, right: Any) -> bool:
    """Return whether two values have equal keys.

    Examples
    --------
    >>> same([1, 2], [1.0, np.int8(2)]), same([1, 2], (1, 2))
    (True, False)
    """
    return left is right or key(left) == key(right)


def _key(value: Any, walk: _Walk) -> Hashable:
    kind = type(value)
    if kind is float:
        return _float(value)
    handler = _HANDLERS.get(kind)
    if handler is not None:
        return handler(value, walk)
    try:
        return _other(value, walk)
    except (_TooLargeError, RecursionError):
        raise
    except Exception:  # noqa: BLE001  an object of the user's may raise anything when it is looked at
        return ("unreadable", _class_name(value))


def _float(value: float) -> Hashable:
    if value != value:  # noqa: PLR0124  only NaN differs from itself
        return ("number", "nan")
    if value % 1.0 or not -_EXACT < value < _EXACT:
        return value
    return int(value)


def _int(value: int, _walk: _Walk) -> Hashable:
    if -_EXACT < value < _EXACT:
        return int(value)
    try:
        twin = float(value)
    except OverflowError:
        twin = math.inf
    # hexadecimal, because Python refuses to write long ints in decimal
    return twin if twin == value else ("int", hex(value))


def _real(value: Any, walk: _Walk) -> Hashable:
    """Return the key of a number of a rare type."""
    try:
        exact = Fraction(*value.as_integer_ratio())
    except (ValueError, OverflowError):  # NaN and infinities
        return _float(float(value))
    if exact.denominator == 1:
        return _int(exact.numerator, walk)
    nearest = float(exact)
    return (
        nearest if Fraction(nearest) == exact else ("fraction", hex(exact.numerator), hex(exact.denominator))
    )


def _container(tag: str, owner: Any, values: Iterable[Any], walk: _Walk) -> tuple[Hashable, ...]:
    """Return a tag and the keys of values, or a placeholder if nested too deep."""
    closed = _closed(owner, walk)
    if closed is not None:
        return closed
    walk.append(id(owner))
    found: list[Hashable] = [tag]
    add = found.append
    try:
        for v in values:
            # `_int` and `_float` are inlined here, because a call takes longer than their work
            kind = type(v)
            if (kind is int and -_EXACT < v < _EXACT) or (kind is float and v == v and v % 1.0):  # noqa: PLR0124
                add(v)
            else:
                add(_key(v, walk))
    finally:
        walk.pop()
    return tuple(found)


def _closed(owner: Any, walk: _Walk) -> tuple[Hashable, ...] | None:
    walk[0] += 1
    if walk[0] > 0:
        raise _TooLargeError
    if id(owner) in walk:
        return ("cycle", len(walk) - walk.index(id(owner)))
    return ("deep", _class_name(owner)) if len(walk) > _DEPTH else None


def _unordered(value: Any, walk: _Walk) -> Hashable:
    entries: tuple[Any, ...] = _container("set", value, value, walk)
    if entries[0] != "set":
        return entries
    return ("set", *(sorted(entries[1:], key=None if _are_comparable(entries[1:]) else repr)))


def _mapping(value: Mapping[Any, Any], walk: _Walk) -> Hashable:
    if set(map(type, value)) == {str}:
        names = tuple(sorted(value))
        entries = _container("dict", value, [value[name] for name in names], walk)
    else:
        names = ()
        entries = _container("dict", value, [part for item in value.items() for part in item], walk)
    if entries[0] != "dict" or names:
        return (entries[0], names, *entries[1:])
    by = itemgetter(0) if _are_comparable(entries[1::2]) else repr
    pairs = sorted(zip(entries[1::2], entries[2::2], strict=True), key=by)
    return ("dict", tuple(name for name, _ in pairs), *[content for _, content in pairs])


def _are_comparable(keys: Iterable[Hashable]) -> bool:
    """Return whether all keys are numbers other than NaN, or all are texts."""
    kinds = set(map(type, keys))
    return kinds <= {int, float} or kinds == {str}


def _array(value: Any, walk: _Walk) -> Hashable:
    value = np.asarray(value)  # a subclass may report any shape
    kind = value.dtype.kind
    if kind in "iub":
        wide = value.astype({"i": "<i8", "u": "<u8", "b": "?"}[kind])
        return ("array", kind, value.shape, _content_of(wide))
    if kind in "fc":
        with np.errstate(all="ignore"):  # a long double may overflow
            wide = value.astype("<f8" if kind == "f" else "<c16") + 0.0  # −0.0 becomes 0.0
        if value.dtype.itemsize <= wide.dtype.itemsize or np.array_equal(wide, value, equal_nan=True):
            plain = np.where(np.isnan(wide), np.nan, wide)  # not in place: for a 0-d array `wide` is a scalar
            return ("array", kind, value.shape, _content_of(plain))
    if kind in "mM":
        return ("array", value.dtype.str.lstrip("<>="), value.shape, value.astype("<i8").tobytes())
    entries = _container("entries", value, value.ravel().tolist(), walk)
    return ("array", kind, value.shape, value.dtype.names, *entries)


def _content_of(values: Any) -> bytes:
    """Return the bytes of an array, or the hash of many bytes."""
    content: bytes = values.tobytes()
    return content if len(content) <= _HASHED else hashlib.blake2b(content, digest_size=32).digest()


def _masked(value: Any, walk: _Walk) -> Hashable:
    hidden = np.ma.getmaskarray(value)
    return ("masked", _array(hidden, walk), *_container("entries", value, value.data[~hidden].tolist(), walk))


def _scalar(value: Any, walk: _Walk) -> Hashable:
    twin = value.item()
    if value.dtype.kind in "mM" and (twin is None or isinstance(twin, int)):  # NaT, or finer than Python's
        return ("time", value.dtype.str.lstrip("<>="), int(value.astype("<i8")))
    if isinstance(twin, np.complexfloating):  # `item` of a complex long double returns itself
        return ("complex", _key(twin.real, walk), _key(twin.imag, walk))
    return _real(twin, walk) if isinstance(twin, np.floating) else _key(twin, walk)


def _other(value: Any, walk: _Walk) -> Hashable:
    for kind, handler in _BASES:
        if issubclass(type(value), kind):  # `isinstance` reads `__class__`, which may lie or raise
            return handler(value, walk)
    if is_dataclass(value):
        state: Any = {field.name: getattr(value, field.name, None) for field in fields(value)}
    else:
        state = _state(value)
    return ("object", _class_name(value), *_container("state", value, (state,), walk))


def _state(value: Any) -> Any:
    """Return the state of an object.

    It is the state that pickle would store, else the object's variables, else its text.
    """
    try:
        reduced = value.__reduce_ex__(4)
    except Exception:  # noqa: BLE001  many objects refuse, each in its own way
        variables = getattr(value, "__dict__", None)
        return dict(variables) if variables else without_addresses(repr(value))
    if isinstance(reduced, str):
        return reduced
    parts = [list(part) if index >= 3 and part is not None else part for index, part in enumerate(reduced)]
    if len(parts) == 3 and type(parts[2]) is dict and not parts[2]:
        del parts[2]  # an exception gets an empty `__dict__` when it is first read
    return parts


def _function(value: types.FunctionType, walk: _Walk) -> Hashable:
    cells = [content_of(cell) for cell in value.__closure__ or ()]
    parts = (value.__code__, value.__defaults__, value.__kwdefaults__, cells)
    return ("function", value.__module__, value.__qualname__, *_container("parts", value, parts, walk))


def content_of(cell: types.CellType) -> Any:
    """Return the content of a cell of a closure, or None if it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _code(value: types.CodeType, walk: _Walk) -> Hashable:
    return _container("code", value, (value.co_code, value.co_names, value.co_consts), walk)


def _method(value: types.MethodType, walk: _Walk) -> Hashable:
    return _container("method", value, (value.__func__, value.__self__), walk)


def _class_name(value: Any) -> str:
    kind = value if issubclass(type(value), type) else type(value)  # `isinstance` reads `__class__`
    return f"{kind.__module__}.{kind.__qualname__}"


_HANDLERS: Final[dict[type, Callable[[Any, _Walk], Hashable]]] = {
    str: lambda value, _: str(value),
    int: _int,
    bool: lambda value, _: ("bool", int(value)),
    type(None): lambda _value, _: None,
    tuple: lambda value, walk: _container("tuple", value, value, walk),
    list: lambda value, walk: _container("list", value, value, walk),
    dict: _mapping,
    set: _unordered,
    frozenset: _unordered,
    bytes: lambda value, _: ("bytes", bytes(value)),
    complex: lambda value, _: ("complex", _float(value.real), _float(value.imag)),
    np.ndarray: _array,
    Raised: lambda value, _: ("raised", value.kind, value.message),
    Unfinished: lambda value, _: ("unfinished", value.reason),
}
# as in Python, a value of a subclass is the same as the equal value of the base
_BASES: Final[tuple[tuple[Any, Callable[[Any, _Walk], Hashable]], ...]] = (
    (np.generic, _scalar),
    (np.ma.MaskedArray, _masked),
    (np.ndarray, _array),
    (float, lambda value, _: _float(float(value))),
    *((kind, _HANDLERS[kind]) for kind in (int, str, tuple, list, dict, set, frozenset, bytes)),
    (memoryview, lambda value, _: ("memoryview", value.format, value.shape, value.tobytes())),
    (bytearray, lambda value, _: ("bytearray", bytes(value))),
    (enum.Enum, lambda value, _: ("enum", _class_name(value), value.name)),
    (type, lambda value, _: ("class", _class_name(value))),
    (types.ModuleType, lambda value, _: ("module", value.__name__)),
    (types.FunctionType, _function),
    (types.CodeType, _code),
    (types.MethodType, _method),
    ((numbers.Real, decimal.Decimal), _real),
)
