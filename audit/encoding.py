"""Python values as tagged JSON: exact both ways, the same bytes every time, and never a pickle.

JSON's own kinds stand for themselves; everything else is an object whose key ``$`` names the kind. What has
no such form is written as text and comes back as `Opaque`: it can be read, not replayed. Reading runs no code
of the file's choosing: a user's dataclass, named tuple or enum is rebuilt only if its class is already
loaded, without calling it, and stays `Opaque` otherwise.
"""

import dataclasses
import enum
import json
import math
import sys
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np

from audit.claims import PAC, ApproximateDP, PrivacyClaim, PureDP, claim_from_json
from audit.errors import AuditError
from audit.outcomes import without_addresses

MAX_DEPTH = 60  # deeper values are kept as text: neither JSON readers nor people follow them
MAX_TEXT = 2_000
# Our own values keep their tag when their module moves, and may be imported to be read.
_OURS = {
    "Raised": "audit.outcomes",
    "Unfinished": "audit.outcomes",
}
_ARRAY_KINDS = frozenset({*"?bhilqBHILQefdFD"})


class CorruptFile(AuditError):  # noqa: N818 - named by what is wrong, as in a sentence
    """A saved value cannot be read; the text says what is wrong and where.

    Examples
    --------
    >>> decode({"$": "bytes", "hex": "zz"}, where="result.witness.left")
    Traceback (most recent call last):
    audit.encoding.CorruptFile: result.witness.left is no valid "bytes": non-hexadecimal number found in ...
    """


@dataclasses.dataclass(frozen=True)
class Opaque:
    """A value that was saved as text only, and the JSON it came from.

    Examples
    --------
    >>> decode(encode(object()))
    Opaque(text='<object object>')
    """

    text: str
    stored: Any = dataclasses.field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return self.text


@dataclasses.dataclass(frozen=True)
class ForeignClaim(Opaque):
    """A claim of somebody else's kind, as far as it can be known without its code.

    Examples
    --------
    >>> str(ForeignClaim("zCDP(rho=0.5)", epsilon=1.0, delta=1e-6))
    'zCDP(rho=0.5)'
    """

    epsilon: float = math.inf
    delta: float = 0.0


def encode(value: Any) -> Any:
    """Return `value` as tagged JSON; sets are sorted by their written form, floats keep every bit.

    Examples
    --------
    >>> encode((1, float("nan"), {2}))
    {'$': 'tuple', 'items': [1, {'$': 'float', 'value': 'nan'}, {'$': 'set', 'items': [2]}]}
    """
    return _Encoder().encode(value)


def decode(stored: Any, *, where: str = "value") -> Any:
    """Return the value that `encode` wrote; `where` names the place in messages.

    Raises
    ------
    CorruptFile
        If `stored` is no valid tagged JSON.

    Examples
    --------
    >>> decode({"$": "tuple", "items": [1, {"$": "float", "value": "inf"}]})
    (1, inf)
    """
    if isinstance(stored, list):
        return [decode(item, where=f"{where}[{i}]") for i, item in enumerate(stored)]
    if not isinstance(stored, dict):
        return stored
    tag = stored.get("$")
    if tag is None:
        return {key: decode(item, where=f"{where}.{key}") for key, item in stored.items()}
    read = _READERS.get(tag) if isinstance(tag, str) else None
    if read is None:
        raise CorruptFile(f"{where} has the unknown tag {json.dumps(tag)[:60]}.")
    try:
        return read(stored, where)
    except CorruptFile:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a damaged file provokes gets one line
        said = " ".join(f"{error}".split())
        missing = f"the key {said} is missing" if isinstance(error, KeyError) else said
        raise CorruptFile(f'{where} is no valid "{tag}": {missing[:120]}.') from None


def dumps(stored: Any) -> str:
    """Return JSON text of what `encode` returned: ASCII, no NaN, the same bytes for the same value.

    Examples
    --------
    >>> dumps(encode([0.1, None]))
    '[0.1, null]'
    """
    return json.dumps(stored, allow_nan=False)


def is_replayable(stored: Any) -> bool:
    """Tell whether nothing inside the encoded value is mere text.

    Examples
    --------
    >>> is_replayable(encode([1, 2])), is_replayable(encode([object()]))
    (True, False)
    """
    if isinstance(stored, dict):
        return stored.get("$") != "opaque" and all(is_replayable(item) for item in stored.values())
    return not isinstance(stored, list) or all(is_replayable(item) for item in stored)


def opaque(value: Any, *, words: Callable[[Any], str] = repr) -> dict[str, Any]:
    """Return the tagged text of a value that has no exact form, addresses removed."""
    if isinstance(value, Opaque):
        return value.stored if isinstance(value.stored, dict) else {"$": "opaque", "text": value.text}
    try:
        text = words(value)
    except Exception as error:  # noqa: BLE001 - a broken repr of the user's class must not end the audit
        text = f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
    return {"$": "opaque", "text": without_addresses(text)[:MAX_TEXT]}


class _Encoder:
    """One pass over a value, aware of the containers it is inside of (a cycle becomes text)."""

    def __init__(self) -> None:
        self.inside: set[int] = set()

    def encode(self, value: Any) -> Any:
        if value is None or type(value) in (bool, int, str):
            return value
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
        if type(value) is list:
            return self.all(value)
        if type(value) is dict:
            return self.mapping(value)
        write = _WRITERS.get(type(value))
        if write is not None:
            return write(self, value)
        if isinstance(value, np.generic):
            return self.numpy_scalar(value)
        return self.instance(value)

    def all(self, values: Any) -> list[Any]:
        return [self.encode(item) for item in values]

    def mapping(self, value: dict[Any, Any]) -> dict[str, Any]:
        if "$" not in value and all(type(key) is str for key in value):
            return {key: self.encode(item) for key, item in value.items()}
        return {"$": "dict", "items": [[self.encode(k), self.encode(v)] for k, v in value.items()]}

    def unordered(self, value: Any) -> dict[str, Any]:
        return {"$": type(value).__name__, "items": sorted(self.all(value), key=dumps)}

    def numpy_scalar(self, value: Any) -> dict[str, Any]:
        if value.dtype.char not in _ARRAY_KINDS:
            return opaque(value)
        return {"$": "numpy", "dtype": value.dtype.name, "value": self.encode(value.item())}

    def array(self, value: Any) -> dict[str, Any]:
        kind, items = value.dtype.char, value.ravel().tolist()
        if kind not in _ARRAY_KINDS and kind not in "UO":
            return opaque(value)
        return {
            "$": "ndarray",
            "dtype": value.dtype.str,
            "shape": list(value.shape),
            "items": self.all(items),
        }

    def instance(self, value: Any) -> dict[str, Any]:
        if _is_event(value):
            return {"$": "event", "words": value.words(), "event": value.to_json()}
        if isinstance(value, Opaque):
            return opaque(value)
        if isinstance(value, (PureDP, ApproximateDP, PAC)):
            return {"$": "claim", **value.to_json()}
        if isinstance(value, PrivacyClaim):
            return self.foreign_claim(value)
        return self.user_instance(value)

    def foreign_claim(self, value: PrivacyClaim) -> dict[str, Any]:
        numbers = {"epsilon": self.encode(value.epsilon), "delta": self.encode(value.delta)}
        text = opaque(value, words=str)["text"]
        return {"$": "foreign claim", "text": text, **numbers, "value": self.user_instance(value)}

    def user_instance(self, value: Any) -> dict[str, Any]:
        kind = type(value)
        if isinstance(value, enum.Enum):
            return {"$": "enum", "type": _path(kind), "name": value.name}
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            return {"$": "namedtuple", "type": _path(kind), "items": self.all(value)}
        if dataclasses.is_dataclass(value):
            return self.fields(value)
        return opaque(value)

    def fields(self, value: Any) -> dict[str, Any]:
        kind = type(value)
        stored = {f.name: self.encode(getattr(value, f.name)) for f in dataclasses.fields(value)}
        if _OURS.get(kind.__name__) == kind.__module__:
            return {"$": kind.__name__, **stored}
        return {"$": "dataclass", "type": _path(kind), "text": opaque(value)["text"], "fields": stored}


def _is_event(value: Any) -> bool:
    return type(value).__module__ == "audit.events" and hasattr(value, "to_json")


def _path(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


_WRITERS: dict[type, Callable[[_Encoder, Any], dict[str, Any]]] = {
    tuple: lambda e, v: {"$": "tuple", "items": e.all(v)},
    set: _Encoder.unordered,
    frozenset: _Encoder.unordered,
    bytes: lambda _, v: {"$": "bytes", "hex": v.hex()},
    bytearray: lambda _, v: {"$": "bytearray", "hex": v.hex()},
    complex: lambda e, v: {"$": "complex", "real": e.encode(v.real), "imag": e.encode(v.imag)},
    range: lambda _, v: {"$": "range", "items": [v.start, v.stop, v.step]},
    Fraction: lambda _, v: {"$": "fraction", "value": str(v)},
    Decimal: lambda _, v: {"$": "decimal", "value": str(v)},
    np.ndarray: _Encoder.array,
}


def _loaded(path: str) -> Any:
    """Return the class `path` names if its module is already loaded, else None."""
    module, _, name = path.partition(":")
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found if isinstance(found, type) else None


def _filled(kind: Any, fields: dict[str, Any]) -> Any:
    """Build a dataclass from its fields without running its code."""
    value = object.__new__(kind)
    for name, item in fields.items():
        object.__setattr__(value, name, item)
    return value


def _items(stored: dict[str, Any], where: str) -> list[Any]:
    items = stored["items"]
    if not isinstance(items, list):
        raise CorruptFile(f"{where}.items must be a list; got {type(items).__name__}.")
    decoded: list[Any] = decode(items, where=where)
    return decoded


def _read_float(stored: dict[str, Any], where: str) -> float:
    if stored["value"] not in ("nan", "inf", "-inf"):
        raise CorruptFile(f"{where} must be nan, inf or -inf; got {dumps(stored['value'])[:60]}.")
    return float(stored["value"])


def _read_dict(stored: dict[str, Any], where: str) -> dict[Any, Any]:
    return {key: item for key, item in _items(stored, where)}  # noqa: C416 - checks that each is a pair


def _read_array(stored: dict[str, Any], where: str) -> Any:
    items, dtype = _items(stored, where), np.dtype(stored["dtype"])
    if dtype.char not in _ARRAY_KINDS and dtype.char not in "UO":
        raise CorruptFile(f"{where} has the unsupported dtype {dtype.str!r}.")
    flat = np.empty(len(items), dtype=dtype)
    for i, item in enumerate(items):
        flat[i] = item
    return flat.reshape(stored["shape"])


def _read_numpy(stored: dict[str, Any], where: str) -> Any:
    return np.dtype(stored["dtype"]).type(decode(stored["value"], where=where))


def _read_decimal(stored: dict[str, Any], where: str) -> Decimal:
    try:
        return Decimal(stored["value"])
    except InvalidOperation:
        raise CorruptFile(f"{where} is no decimal number: {dumps(stored['value'])[:60]}.") from None


def _read_ours(stored: dict[str, Any], where: str) -> Any:
    name = stored["$"]
    kind = getattr(import_module(_OURS[name]), name)
    fields = {key: decode(item, where=f"{where}.{key}") for key, item in stored.items() if key != "$"}
    return kind(**fields)  # our own constructors check their values


def _read_claim(stored: dict[str, Any], _: str) -> Any:
    return claim_from_json({key: item for key, item in stored.items() if key != "$"})


def _read_foreign_claim(stored: dict[str, Any], where: str) -> Any:
    value = decode(stored["value"], where=where)
    if not isinstance(value, Opaque):
        return value
    numbers = {key: float(decode(stored[key], where=where)) for key in ("epsilon", "delta")}
    return ForeignClaim(str(stored["text"]), stored, **numbers)


def _read_dataclass(stored: dict[str, Any], where: str) -> Any:
    kind = _loaded(stored["type"])
    names = {f.name for f in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else None
    if names != set(stored["fields"]):
        return Opaque(stored["text"], stored)
    return _filled(kind, {k: decode(v, where=f"{where}.{k}") for k, v in stored["fields"].items()})


def _read_namedtuple(stored: dict[str, Any], where: str) -> Any:
    kind, items = _loaded(stored["type"]), _items(stored, where)
    if kind is None or not issubclass(kind, tuple) or len(getattr(kind, "_fields", ())) != len(items):
        return Opaque(f"{stored['type'].rpartition(':')[2]}{tuple(items)!r}", stored)
    return tuple.__new__(kind, items)


def _read_enum(stored: dict[str, Any], _: str) -> Any:
    kind = _loaded(stored["type"])
    if kind is None or not issubclass(kind, enum.Enum) or stored["name"] not in kind.__members__:
        return Opaque(f"{stored['type'].rpartition(':')[2]}.{stored['name']}", stored)
    return kind.__members__[stored["name"]]


def _read_event(stored: dict[str, Any], _: str) -> Any:
    from audit.events import Event  # noqa: PLC0415 - events need features; most files are read without

    return Event.from_json(stored["event"])


_READERS: dict[str, Callable[[dict[str, Any], str], Any]] = {
    "float": _read_float,
    "tuple": lambda s, w: tuple(_items(s, w)),
    "set": lambda s, w: set(_items(s, w)),
    "frozenset": lambda s, w: frozenset(_items(s, w)),
    "bytes": lambda s, _: bytes.fromhex(s["hex"]),
    "bytearray": lambda s, _: bytearray.fromhex(s["hex"]),
    "complex": lambda s, w: complex(decode(s["real"], where=w), decode(s["imag"], where=w)),
    "range": lambda s, w: range(*_items(s, w)),
    "fraction": lambda s, _: Fraction(s["value"]),
    "decimal": _read_decimal,
    "dict": _read_dict,
    "ndarray": _read_array,
    "numpy": _read_numpy,
    "dataclass": _read_dataclass,
    "namedtuple": _read_namedtuple,
    "enum": _read_enum,
    "event": _read_event,
    "claim": _read_claim,
    "foreign claim": _read_foreign_claim,
    "opaque": lambda s, _: Opaque(str(s["text"]), s),
    **dict.fromkeys(_OURS, _read_ours),
}
