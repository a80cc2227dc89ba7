"""Write Python values as tagged JSON.

Both directions are exact, and a value always gives the same bytes. Nothing is pickled.

JSON's own kinds are written as they are. Any other value is an object whose key ``$`` names the kind. A value
that has no exact form in JSON is written as text and read back as `Opaque`. People can read it, but it cannot
be replayed.

Reading runs no code that the file chooses. A user's dataclass, named tuple or enum is rebuilt only if its
class is loaded. The class is not called. Otherwise the value stays `Opaque`.

An instance may have more state than its fields, such as the contents of a dict subclass. Such an instance is
written as text.
"""

import dataclasses
import datetime as dt
import enum
import math
import re
from collections import deque
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from audit.claims import PAC, Accuracy, ApproximateDP, PrivacyClaim, PureDP
from audit.codec.decoding import READERS, decode
from audit.codec.stored import ARRAY_KINDS, MOST_DIGITS, Opaque, dumps, is_replayable, is_short, loads
from audit.errors import InvalidValue
from audit.values.brief import attributes_of
from audit.values.canonical import same
from audit.values.outcomes import Raised, Unfinished, without_addresses

MAX_DEPTH = 60  # values nested deeper are written as text, because JSON readers have limits
MAX_TEXT = 2_000
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")  # two characters that JSON readers turn into one
MAX_BITS = 2_048  # longer whole numbers are written in hexadecimal: Python refuses over 4,300 decimal digits


def encode(value: Any) -> Any:
    """Return a value as tagged JSON.

    Sets are sorted by their encoded items, and floats keep every bit.

    Examples
    --------
    >>> encode((1, float("nan"), {2}))
    {'$': 'tuple', 'items': [1, {'$': 'float', 'value': 'nan'}, {'$': 'set', 'items': [2]}]}
    """
    return _Encoder().encode(value)


def revived(value: Any, *, what: str) -> Any:
    """Return a value from a file with its `Opaque` parts decoded again.

    A part can be decoded once its class is loaded.

    Raises
    ------
    InvalidValue
        Only the text of a part was saved, or its class is not loaded.

    Examples
    --------
    >>> revived(decode(encode([Fraction(1, 3)])), what="database")
    [Fraction(1, 3)]
    """
    if _text_in(value) is None:
        return value
    stored = encode(value)
    if not is_replayable(stored):
        raise InvalidValue(f"This witness cannot be replayed: only the text of its {what} was saved.")
    found = decode(stored)
    missing = _text_in(found)
    if missing is not None:
        raise InvalidValue(
            f"This witness cannot be replayed: the class of {missing.text[:60]} in its {what} is not "
            "loaded; import the module that defines it."
        )
    return found


def comes_back(value: Any) -> bool:
    """Return whether writing and reading a value gives the same value.

    If the value was read from a file and holds `Opaque` parts, return whether it can be replayed
    (`is_replayable`).

    Examples
    --------
    >>> comes_back([1, (2,)]), comes_back([object()])
    (True, False)
    """
    stored = encode(value)
    if not is_replayable(stored) or _text_in(value) is not None:
        return is_replayable(stored)
    written = dumps(stored)
    found = decode(loads(written))
    return _text_in(found) is None and dumps(encode(found)) == written and same(found, value)


def opaque(value: Any, *, words: Callable[[Any], str] = repr) -> dict[str, Any]:
    """Return the tagged text of a value that has no exact form. The text leaves out memory addresses."""
    if isinstance(value, Opaque):
        return value.stored if isinstance(value.stored, dict) else {"$": "opaque", "text": value.text}
    try:
        text = words(value)
    except Exception as error:  # noqa: BLE001 - a broken repr of the user's class must not end the audit
        text = f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
    return {"$": "opaque", "text": without_addresses(text)[:MAX_TEXT]}


class _Encoder:
    """One pass over a value. It tracks the enclosing containers, so that a cycle becomes text."""

    def __init__(self) -> None:
        self.inside: set[int] = set()

    def encode(self, value: Any) -> Any:
        if value is None or type(value) is bool:
            return value
        if type(value) is str:
            return {"$": "str", "points": [*map(ord, value)]} if _PAIR.search(value) else value
        if type(value) is int:
            return value if value.bit_length() <= MAX_BITS else {"$": "int", "hex": hex(value)}
        if type(value) is float:
            return value if math.isfinite(value) else {"$": "float", "value": repr(value)}
        if id(value) in self.inside or len(self.inside) >= MAX_DEPTH:
            return {"$": "opaque", "text": f"<nested {type(value).__name__}>"}
        self.inside.add(id(value))
        try:
            return self.compound(value)
        finally:
            self.inside.discard(id(value))

    def compound(self, value: Any) -> Any:
        write = _WRITERS.get(type(value))
        if write is not None:
            return write(self, value)
        if isinstance(value, np.generic):
            return self.numpy_scalar(value)
        if isinstance(value, Opaque):
            return opaque(value)
        if isinstance(value, (PureDP, ApproximateDP, PAC, Accuracy)):
            return {"$": "claim", **value.to_json()}
        if isinstance(value, PrivacyClaim):
            return self.foreign_claim(value)
        return self.user_instance(value)

    def all(self, values: Any) -> list[Any]:
        return [self.encode(item) for item in values]

    def mapping(self, value: dict[Any, Any]) -> dict[str, Any]:
        if "$" not in value and all(type(key) is str and not _PAIR.search(key) for key in value):
            return {key: self.encode(item) for key, item in value.items()}
        return {"$": "dict", "items": [[self.encode(k), self.encode(v)] for k, v in value.items()]}

    def unordered(self, value: Any) -> dict[str, Any]:
        return {"$": type(value).__name__, "items": sorted(self.all(value), key=dumps)}

    def numpy_scalar(self, value: Any) -> dict[str, Any]:
        if isinstance(value, (np.str_, np.bytes_)):  # its width is its length: save the kind only
            return {"$": "numpy", "dtype": value.dtype.char, "value": self.encode(value.item())}
        if value.dtype.char not in ARRAY_KINDS:
            return opaque(value)
        return {"$": "numpy", "dtype": value.dtype.name, "value": self.encode(value.item())}

    def array(self, value: Any) -> dict[str, Any]:
        kind, items = value.dtype.char, value.ravel().tolist()
        if kind not in ARRAY_KINDS and kind not in "UO":
            return opaque(value)
        stored = {"dtype": value.dtype.str, "shape": list(value.shape), "items": self.all(items)}
        return {"$": "ndarray", **stored}

    def foreign_claim(self, value: PrivacyClaim) -> dict[str, Any]:
        numbers = {"epsilon": self.encode(value.epsilon), "delta": self.encode(value.delta)}
        text = opaque(value, words=str)["text"]
        return {"$": "foreign claim", "text": text, **numbers, "value": self.user_instance(value)}

    def user_instance(self, value: Any) -> dict[str, Any]:
        kind = type(value)
        if isinstance(value, enum.Enum) and kind.__members__.get(value.name) is value:
            return {"$": "enum", "type": _path(kind), "name": value.name}
        if isinstance(value, tuple) and hasattr(kind, "_fields") and not getattr(value, "__dict__", None):
            return {"$": "namedtuple", "type": _path(kind), "items": self.all(value)}
        if dataclasses.is_dataclass(value) and _is_its_fields(value):
            stored = {f.name: self.encode(getattr(value, f.name)) for f in dataclasses.fields(value)}
            return {"$": "dataclass", "type": _path(kind), "text": opaque(value)["text"], "fields": stored}
        return opaque(value)


def _text_in(value: Any) -> Opaque | None:
    """Return the first `Opaque` part of a value, or None."""
    waiting, seen = deque([value]), set()
    while waiting:
        held = waiting.popleft()
        if isinstance(held, Opaque):
            return held
        if id(held) not in seen:
            seen.add(id(held))
            waiting.extend(_parts(held))
    return None


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, (list, tuple, set, frozenset)):
        return value
    if isinstance(value, dict):
        return [*value, *value.values()]
    if isinstance(value, np.ndarray):
        return value.ravel().tolist() if value.dtype.hasobject else ()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, each.name, None) for each in dataclasses.fields(value)]
    return ()


def _is_its_fields(value: Any) -> bool:
    """Return whether a dataclass holds nothing but constructor arguments."""
    kind, known = type(value), dataclasses.fields(value)
    try:
        object.__new__(kind)  # fails for subclasses of dict, list or exceptions
    except TypeError:
        return False
    return all(each.init for each in known) and attributes_of(value).keys() == {e.name for e in known}


def _datetime(value: dt.datetime) -> dict[str, Any]:
    zone = type(value.tzinfo)  # the rules of a named time zone cannot be saved
    if zone not in (type(None), dt.timezone) or value.fold:
        return opaque(value)
    return {"$": "datetime", "value": value.isoformat()}


def _fraction(value: Fraction) -> dict[str, Any]:
    if max(abs(value.numerator), value.denominator).bit_length() > 3 * MOST_DIGITS:  # too long to be read
        return opaque(value)
    return {"$": "fraction", "value": str(value)}


def register(
    tag: str, kind: type, *, write: Callable[[Any], dict[str, Any]], read: Callable[[dict[str, Any]], Any]
) -> None:
    """Register a class of the toolkit, so that its values can be saved.

    Parameters
    ----------
    tag
        The value of the key ``$``.
    kind
        The class, without its subclasses.
    write, read
        `write` turns a value into the other keys of the object. `read` turns these keys into the value.
        Errors of `read` are reported with the place in the file.
    """
    _WRITERS[kind] = lambda _, value: {"$": tag, **write(value)}
    READERS[tag] = lambda stored, _: read(stored)


def _path(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


_WRITERS: dict[type, Callable[[_Encoder, Any], Any]] = {
    list: _Encoder.all,
    dict: _Encoder.mapping,
    tuple: lambda e, v: {"$": "tuple", "items": e.all(v)},
    set: _Encoder.unordered,
    frozenset: _Encoder.unordered,
    bytes: lambda _, v: {"$": "bytes", "hex": v.hex()},
    bytearray: lambda _, v: {"$": "bytearray", "hex": v.hex()},
    complex: lambda e, v: {"$": "complex", "real": e.encode(v.real), "imag": e.encode(v.imag)},
    range: lambda _, v: {"$": "range", "items": [v.start, v.stop, v.step]},
    Fraction: lambda _, v: _fraction(v),
    Decimal: lambda _, v: {"$": "decimal", "value": str(v)} if is_short(v) else opaque(v),
    dt.datetime: lambda _, v: _datetime(v),
    dt.date: lambda _, v: {"$": "date", "value": v.isoformat()},
    dt.timedelta: lambda _, v: {"$": "timedelta", "items": [v.days, v.seconds, v.microseconds]},
    np.ndarray: _Encoder.array,
    Raised: lambda e, v: {"$": "Raised", "kind": e.encode(v.kind), "message": e.encode(v.message)},
    Unfinished: lambda e, v: {"$": "Unfinished", "reason": e.encode(v.reason)},
}
