"""Read Python values from tagged JSON, without running code that the file chooses."""

import dataclasses
import datetime as dt
import enum
import math
import re
import sys
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np

from audit.claims import PrivacyClaim, claim_from_json
from audit.codec.stored import ARRAY_KINDS, MOST_BYTES, MOST_DIGITS, ForeignClaim, Opaque, dumps, is_short
from audit.errors import CorruptFile
from audit.values.outcomes import Raised, Unfinished


def decode(stored: Any, *, where: str = "value") -> Any:
    """Return the value that `encode` wrote. `where` names the place in messages.

    Raises
    ------
    CorruptFile
        If `stored` is not valid tagged JSON.

    Examples
    --------
    >>> decode({"$": "tuple", "items": [1, {"$": "float", "value": "inf"}]})
    (1, inf)
    """
    if isinstance(stored, list):
        return [decode(item, where=f"{where}[{i}]") for i, item in enumerate(stored)]
    if not isinstance(stored, dict):
        if isinstance(stored, float) and not math.isfinite(stored):  # some JSON parsers accept NaN
            raise CorruptFile(f"{where} must be a finite number; got {stored}.")
        return stored
    tag = stored.get("$")
    if tag is None:
        return _fields(stored, where)
    read = READERS.get(tag) if isinstance(tag, str) else None
    if read is None:
        raise CorruptFile(f"{where} has the unknown tag {dumps(tag)[:60]}.")
    try:
        return read(stored, where)
    except CorruptFile:
        raise
    except Exception as error:  # noqa: BLE001 - any error of a damaged file becomes one line
        said = " ".join(f"{error}".split())
        missing = f"the key {said} is missing" if isinstance(error, KeyError) else said
        raise CorruptFile(f'{where} is not a valid "{tag}": {missing[:120]}.') from None


def _loaded(path: str) -> Any:
    """Return the class named by a path, or None if its module is not loaded."""
    module, _, name = path.partition(":")
    found: Any = sys.modules.get(module)
    for part in name.split("."):  # `vars`, because `getattr` could import a module
        found = vars(found).get(part) if isinstance(found, (type, ModuleType)) else None
    return found if isinstance(found, type) else None


def _fields(stored: dict[str, Any], where: str) -> dict[str, Any]:
    return {key: decode(item, where=f"{where}.{key}") for key, item in stored.items() if key != "$"}


def _items(stored: dict[str, Any], where: str) -> list[Any]:
    items = stored["items"]
    if not isinstance(items, list):
        raise CorruptFile(f"{where}.items must be a list; got {type(items).__name__}.")
    return [decode(item, where=f"{where}[{i}]") for i, item in enumerate(items)]


def _read_float(stored: dict[str, Any], where: str) -> float:
    if stored["value"] not in ("nan", "inf", "-inf"):
        raise CorruptFile(f"{where} must be nan, inf or -inf; got {dumps(stored['value'])[:60]}.")
    return float(stored["value"])


def _read_array(stored: dict[str, Any], where: str) -> Any:
    items, dtype = _items(stored, where), _dtype(stored, where, more="UO")
    longest = max((len(item) for item in items if isinstance(item, str)), default=0)
    if dtype.char == "U" and dtype.itemsize > 4 * longest and dtype.itemsize * len(items) > MOST_BYTES:
        raise CorruptFile(f"{where} has the dtype {dtype.str!r}, but no text of that length.")
    flat = np.empty(len(items), dtype=dtype)
    for i, item in enumerate(items):
        flat[i] = item
    return flat.reshape(stored["shape"])


def _read_numpy(stored: dict[str, Any], where: str) -> Any:
    value, dtype = decode(stored["value"], where=where), _dtype(stored, where, more="US")
    if dtype.char in "US" and not isinstance(value, (str, bytes)):
        raise CorruptFile(f"{where}.value must be text; got {type(value).__name__}.")
    return dtype.type(value)


def _dtype(stored: dict[str, Any], where: str, *, more: str) -> np.dtype[Any]:
    dtype = np.dtype(str(stored["dtype"]))
    if dtype.char not in ARRAY_KINDS and dtype.char not in more:
        raise CorruptFile(f"{where} has the unsupported dtype {dtype.str!r}.")
    return dtype


def _read_fraction(stored: dict[str, Any], where: str) -> Fraction:
    if not re.fullmatch(r"-?[0-9]{1,4300}(/[0-9]{1,4300})?", stored["value"]):  # 1e999999999 is too large
        raise CorruptFile(f"{where} is not a fraction: {dumps(stored['value'])[:60]}.")
    return Fraction(stored["value"])


def _read_decimal(stored: dict[str, Any], where: str) -> Decimal:
    try:
        number = Decimal(stored["value"])
    except InvalidOperation:
        number = None
    if number is None or not is_short(number):
        raise CorruptFile(
            f"{where} is not a decimal number of at most {MOST_DIGITS:,} digits: "
            f"{dumps(stored['value'])[:60]}."
        )
    return number


def _read_foreign_claim(stored: dict[str, Any], where: str) -> Any:
    value = decode(stored["value"], where=where)
    if isinstance(value, PrivacyClaim):
        return value
    numbers = {key: float(decode(stored[key], where=where)) for key in ("epsilon", "delta")}
    if not (numbers["epsilon"] >= 0 and 0 <= numbers["delta"] <= 1):
        got = f"ε = {numbers['epsilon']:g}, δ = {numbers['delta']:g}"
        raise CorruptFile(f"{where} must have ε ≥ 0 and δ in [0, 1]; got {got}.")
    return ForeignClaim(str(stored["text"]), stored, **numbers)


def _read_dataclass(stored: dict[str, Any], where: str) -> Any:
    kind = _loaded(stored["type"])
    names = {f.name for f in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else None
    if names != set(stored["fields"]):
        return Opaque(stored["text"], stored)
    value = object.__new__(kind)  # runs no code of the class
    for name, item in _fields(stored["fields"], where).items():
        object.__setattr__(value, name, item)
    return value


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


#: For each tag, the function that reads the objects with this tag. `audit.codec.encoding.register` adds more.
READERS: dict[str, Callable[[dict[str, Any], str], Any]] = {
    "float": _read_float,
    "str": lambda s, _: "".join(map(chr, s["points"])),
    "tuple": lambda s, w: tuple(_items(s, w)),
    "set": lambda s, w: set(_items(s, w)),
    "frozenset": lambda s, w: frozenset(_items(s, w)),
    "bytes": lambda s, _: bytes.fromhex(s["hex"]),
    "bytearray": lambda s, _: bytearray.fromhex(s["hex"]),
    "complex": lambda s, w: complex(decode(s["real"], where=w), decode(s["imag"], where=w)),
    "range": lambda s, w: range(*_items(s, w)),
    "fraction": _read_fraction,
    "decimal": _read_decimal,
    "int": lambda s, _: int(s["hex"], 16),
    "date": lambda s, _: dt.date.fromisoformat(s["value"]),
    "datetime": lambda s, _: dt.datetime.fromisoformat(s["value"]),
    "timedelta": lambda s, w: dt.timedelta(*_items(s, w)),
    "dict": lambda s, w: {key: item for key, item in _items(s, w)},  # noqa: C416 - checks that each is a pair
    "ndarray": _read_array,
    "numpy": _read_numpy,
    "dataclass": _read_dataclass,
    "namedtuple": _read_namedtuple,
    "enum": _read_enum,
    "claim": lambda s, _: claim_from_json({key: item for key, item in s.items() if key != "$"}),
    "foreign claim": _read_foreign_claim,
    "opaque": lambda s, _: Opaque(str(s["text"]), s),
    "Raised": lambda s, w: Raised(**_fields(s, w)),
    "Unfinished": lambda s, w: Unfinished(**_fields(s, w)),
}
