"""The JSON text of saved values, and classes for values saved as text."""

import dataclasses
import json
import math
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

from audit.codec.files import why
from audit.errors import CorruptFile

ARRAY_KINDS = frozenset({*"?bhilqBHILQefdFD"})
MOST_BYTES = 2**28
"""Larger files are refused: no result is that large, and reading a device may never end."""
MOST_DIGITS = 4_300
"""Numbers with more decimal digits are refused; Python refuses them too."""


@dataclasses.dataclass(frozen=True)
class Opaque:
    """A value that was saved as text only, or whose class is not loaded. It keeps its JSON.

    Examples
    --------
    >>> from audit.codec.decoding import decode
    >>> from audit.codec.encoding import encode
    >>> decode(encode(object()))
    <object object>
    """

    text: str
    stored: Any = dataclasses.field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__  # shown as at the time of saving


@dataclasses.dataclass(frozen=True, repr=False)
class ForeignClaim(Opaque):
    """A saved claim whose class is not of this toolkit.

    Its text, ε and δ can be read without the class.

    Examples
    --------
    >>> str(ForeignClaim("zCDP(rho=0.5)", epsilon=1.0, delta=1e-6))
    'zCDP(rho=0.5)'
    """

    epsilon: float = math.inf
    delta: float = 0.0


def read(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a file.

    Raises
    ------
    CorruptFile
        The file cannot be read, or is longer than `MOST_BYTES`.

    Examples
    --------
    >>> read("/dev/zero")
    Traceback (most recent call last):
    audit.errors.CorruptFile: /dev/zero cannot be read: it is longer than 268,435,456 bytes.
    """
    try:
        with Path(path).open("rb") as file:
            held = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise CorruptFile(f"{os.fspath(path)} cannot be read: {why(error)}.") from None
    if len(held) > MOST_BYTES:
        raise CorruptFile(f"{os.fspath(path)} cannot be read: it is longer than {MOST_BYTES:,} bytes.")
    return held


def loads(text: str | bytes) -> Any:
    """Return the value of JSON text.

    Duplicate keys and numbers larger than any float are refused.

    Raises
    ------
    CorruptFile
        The text is not JSON, or is refused.

    Examples
    --------
    >>> loads("1e999")
    Traceback (most recent call last):
    audit.errors.CorruptFile: the number 1e999 is larger than any float.
    """
    try:
        return json.loads(
            text, parse_constant=_constant, parse_float=_float, parse_int=_whole, object_pairs_hook=_object
        )
    except json.JSONDecodeError as error:
        raise CorruptFile(f"not JSON at line {error.lineno} column {error.colno}: {error.msg}.") from None
    except UnicodeDecodeError as error:
        raise CorruptFile(f"not UTF-8 text: byte {error.start} is invalid.") from None
    except RecursionError:
        raise CorruptFile("nested too deeply.") from None


def _constant(name: str) -> None:
    raise CorruptFile(f"{name} is not JSON; a number that is not finite must be tagged.")


def _float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise CorruptFile(f"the number {text[:20]} is larger than any float.")
    return number


def _whole(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise CorruptFile(
            f"the number {text[:20]}... has {len(text):,} digits; at most {MOST_DIGITS:,} can be read."
        )
    return int(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    held = dict(pairs)
    if len(held) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise CorruptFile(f"the key {json.dumps(twice)[:60]} occurs twice in one object.")
    return held


def dumps(stored: Any) -> str:
    """Return the JSON text of what `encode` returned.

    The text is ASCII and has no NaN. The same value gives the same bytes.

    Examples
    --------
    >>> dumps([0.1, None])
    '[0.1, null]'
    """
    return json.dumps(stored, allow_nan=False)


def is_short(number: Decimal) -> bool:
    """Return whether a decimal number has few enough digits to work with.

    Examples
    --------
    >>> is_short(Decimal("1e-6")), is_short(Decimal("1e999999999")), is_short(Decimal("NaN"))
    (True, False, True)
    """
    _, digits, exponent = number.as_tuple()
    return isinstance(exponent, str) or len(digits) + abs(exponent) <= MOST_DIGITS


def is_replayable(stored: Any) -> bool:
    """Return whether all parts of an encoded value were saved exactly.

    Examples
    --------
    >>> is_replayable([1, 2]), is_replayable([{"$": "opaque", "text": "len"}])
    (True, False)
    """
    if isinstance(stored, dict):
        return stored.get("$") != "opaque" and all(is_replayable(item) for item in stored.values())
    return not isinstance(stored, list) or all(is_replayable(item) for item in stored)
