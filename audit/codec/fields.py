"""Readers of the fields of a saved object.

Each reader returns the value, or raises an error that names the place.

Numbers are limited to sizes that later code can handle. A count fits 63 bits, and the runs of a replay are at
most `MOST_RUNS`. Any other number fits a float.
"""

import json
import math
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from audit.codec.decoding import decode
from audit.codec.typed import has_float
from audit.errors import CorruptFile

Reader = Callable[[Any, str], Any]
#: For each field of an object: its reader, and whether the field is required.
Known = Mapping[str, tuple[Reader, bool]]
MOST_RUNS = 10**9
_MOST = 2**63 - 1
_MOST_STEPS = 1_000_000
_MOST_CANDIDATES = 1_000  # each has half the significance of the one before; 2^-1000 is still a float


def kind(stored: Any) -> str:
    """Return the JSON kind of a value in words.

    Examples
    --------
    >>> kind([]), kind(None)
    ('a list', 'null')
    """
    names = {dict: "an object", list: "a list", str: "text", bool: "a boolean", type(None): "null"}
    return names.get(type(stored), "a number")


def got(stored: Any) -> str:
    """Return the JSON text of a value, cut to 40 characters.

    Examples
    --------
    >>> got("x" * 100)
    '"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'
    """
    whole = json.dumps(stored, default=str)
    return whole if len(whole) <= 40 else whole[:37] + "..."


def fields(stored: Any, where: str, known: Known) -> dict[str, Any]:
    """Return the fields of an object. Unknown fields and missing required fields are errors.

    Examples
    --------
    >>> fields({"name": 3}, "result", {"name": (text, True)})
    Traceback (most recent call last):
    audit.errors.CorruptFile: result.name must be text; got 3.
    """
    if not isinstance(stored, Mapping):
        raise _wrong(where, "an object", stored)
    unknown = sorted(set(stored) - set(known))
    if unknown:
        raise CorruptFile(f"{where} has the unknown field {got(unknown[0])}.")
    missing = [name for name, (_, required) in known.items() if required and name not in stored]
    if missing:
        raise CorruptFile(f"{where}.{missing[0]} is missing.")
    return {name: known[name][0](item, f"{where}.{name}") for name, item in stored.items()}


def number(stored: Any, where: str) -> Any:
    """Return a number that fits a float. NaN and infinite numbers must be tagged.

    Examples
    --------
    >>> number(10**400, "result.error")
    Traceback (most recent call last):
    audit.errors.CorruptFile: result.error must be a number; got 1000000000000000000000000000000000000...
    """
    held = decode(stored, where=where) if isinstance(stored, dict) else stored
    plain = isinstance(held, (int, float)) and has_float(held)
    if not plain or not (math.isfinite(held) or isinstance(stored, dict)):
        raise _wrong(where, "a number", stored)
    return held


def value(stored: Any, where: str) -> Any:
    """Return any value, from tagged JSON.

    Examples
    --------
    >>> value({"$": "tuple", "items": [1]}, "result.witness.left")
    (1,)
    """
    return decode(stored, where=where)


def _reader(wanted: str, holds: Callable[[Any], bool], read: Reader = lambda stored, _: stored) -> Reader:
    """Return a reader that checks what it has read.

    `read` reads a value, and `holds` says whether it is accepted. `wanted` is the text for an accepted value.

    Examples
    --------
    >>> text("m", "result.subject"), flag(True, "result.met"), plain_dict({"k": 2}, "result.parameters")
    ('m', True, {'k': 2})
    >>> probability(0.5, "result.witness.p"), significance(1e-6, "result.significance")
    (0.5, 1e-06)
    >>> seed(2**100, "result.seed") == 2**100, count(3, "result.samples"), steps(1, "result.distance")
    (True, 3, 1)
    >>> runs(10**12, "result.witness.runs")
    Traceback (most recent call last):
    audit.errors.CorruptFile: result.witness.runs must be a whole number from 0 to 1,000,000,000; got 10000...
    """

    def checked(stored: Any, where: str) -> Any:
        held = read(stored, where)
        if not holds(held):
            raise _wrong(where, wanted, stored)
        return held

    return checked


text = _reader("text", lambda held: isinstance(held, str))
flag = _reader("true or false", lambda held: isinstance(held, bool))
plain_dict = _reader("an object", lambda held: isinstance(held, dict), value)
probability = _reader("a number in [0, 1]", lambda held: 0 <= held <= 1, number)
significance = _reader("a number strictly between 0 and 1", lambda held: 0 < held < 1, number)
#: A whole number of any size that a file can hold.
seed = _reader("a whole number ≥ 0", lambda held: type(held) is int and held >= 0)
count = _reader(f"a whole number from 0 to {_MOST:,}", lambda held: held <= _MOST, seed)
#: A whole number, negative or not.
whole = _reader("a whole number", lambda held: type(held) is int and abs(held) <= _MOST, value)
#: Number of runs that a replay draws again.
runs = _reader(f"a whole number from 0 to {MOST_RUNS:,}", lambda held: held <= MOST_RUNS, seed)
#: Number of steps between two databases.
steps = _reader(f"a whole number from 1 to {_MOST_STEPS:,}", lambda held: 1 <= held <= _MOST_STEPS, seed)


def seed_path(stored: Any, where: str) -> list[int]:
    """Return a place in the seed tree.

    Its second-last number is the index of an attempt at confirmation.

    Examples
    --------
    >>> seed_path([3, 1, 0], "result.witness.seed")
    [3, 1, 0]
    """
    path: list[int] = listed(count, make=list)(stored, where)
    if len(path) > 1 and path[-2] > _MOST_CANDIDATES:
        raise _wrong(f"{where}[{len(path) - 2}]", f"a whole number from 0 to {_MOST_CANDIDATES:,}", path[-2])
    return path


def optional(read: Reader) -> Reader:
    """Return a reader that also accepts null.

    Examples
    --------
    >>> optional(number)(None, "result.epsilon_upper")
    """
    return lambda stored, where: None if stored is None else read(stored, where)


def listed(read: Reader, *, make: type = tuple, length: int | None = None) -> Reader:
    """Return a reader of a list whose items are read by `read`.

    Examples
    --------
    >>> listed(count)([1, 2], "result.notes")
    (1, 2)
    """

    def items(stored: Any, where: str) -> Any:
        if not isinstance(stored, list) or (length is not None and len(stored) != length):
            raise _wrong(where, "a list" if length is None else f"a list of length {length}", stored)
        return make(read(item, f"{where}[{i}]") for i, item in enumerate(stored))

    return items


def one_of(*values: str) -> Reader:
    """Return a reader that accepts one of the given texts.

    Examples
    --------
    >>> one_of("left", "right")("left", "result.witness.direction")
    'left'
    """
    return _reader("one of " + ", ".join(values), lambda held: isinstance(held, str) and held in values)


def member(kind: type[Enum]) -> Reader:
    """Return a reader that finds a member of an enumeration by its value.

    Examples
    --------
    >>> from audit.results.result import Verdict
    >>> member(Verdict)("proved", "result.verdict").name
    'PROVED'
    """
    choose = one_of(*(str(each.value) for each in kind))
    return lambda stored, where: kind(choose(stored, where))


def _wrong(where: str, wanted: str, stored: Any) -> CorruptFile:
    return CorruptFile(f"{where} must be {wanted}; got {got(stored)}.")
