"""Damaged and hostile files made from good ones.

`tests/audit/test_hostile_files.py` reads them.
"""

from __future__ import annotations

import copy
import json
import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["corpus"]

_VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2**31,
    10**12,
    10**400,
    1e308,
    -1e-320,
    "",
    "text",
    "\ud800\x00\n\x1b[2J",
    "x" * 100_000,
    [],
    [[]] * 40,
    {},
    {"$": []},
    {"$": "nothing"},
    {"$": "float", "value": "nan"},
    {"$": "float", "value": "-inf"},
    {"$": "int", "hex": "0x" + "f" * 5_000},
    {"$": "int", "hex": "evil"},
    {"$": "fraction", "value": "1e999999999"},
    {"$": "fraction", "value": "1/0"},
    {"$": "decimal", "value": "1e999999999"},
    {"$": "complex", "real": 10**400, "imag": 0},
    {"$": "range", "items": [0, 10**18, 1]},
    {"$": "set", "items": [[1]]},
    {"$": "dict", "items": [[1, 2], [{}, 3]]},
    {"$": "bytes", "hex": "0"},
    {"$": "timedelta", "items": [10**400, 0, 0]},
    {"$": "datetime", "value": "9" * 5_000},
    {"$": "ndarray", "dtype": "U1000000000", "shape": [1], "items": ["a"]},
    {"$": "ndarray", "dtype": "<f8", "shape": [10**9, 10**9], "items": [1.0]},
    {"$": "ndarray", "dtype": "O", "shape": [-1], "items": [{"$": "opaque", "text": "t"}]},
    {"$": "numpy", "dtype": "V1000000000", "value": 1},
    {"$": "numpy", "dtype": "int8", "value": 10**400},
    {"$": "dataclass", "type": "evil_module:Evil", "text": "Evil()", "fields": {}},
    {"$": "dataclass", "type": "scipy:integrate.Evil", "text": "Evil()", "fields": {}},
    {"$": "namedtuple", "type": "evil_module:Evil", "items": [1]},
    {"$": "enum", "type": "evil_module:Evil", "name": "EVIL"},
    {"$": "opaque", "text": "<evil>"},
    {"$": "Raised", "kind": 3, "message": []},
    {"$": "claim", "claim": "PureDP", "epsilon": 10**400},
    {"$": "claim", "claim": "PAC", "alpha": 0.1, "beta": 0.1},
    {"$": "foreign claim", "text": "evil", "epsilon": -1, "delta": 7, "value": 3},
    {"$": "event", "words": "", "event": {"all": [{"number": {"feature": "Value"}, "intervals": [[1]]}]}},
    {"$": "event", "words": 3, "event": {"all": [{"atom": {"feature": "evil_module"}, "examples": []}]}},
)
_RAW = ("9" * 5_000, "1e999999999", "NaN", "-Infinity", "1" + "0" * 400, "00", '"\\ud800"', "[" * 9_000)


def corpus(document: Any, *, seed: int, size: int) -> Iterator[bytes]:
    """Yield damaged copies of a good document.

    Its values, its text and its bytes are changed in turn.
    """
    rng = random.Random(seed)
    places = [*_places(document, ())]
    for number in range(size):
        if number % 3 == 0:
            yield json.dumps(_changed(document, rng.choice(places), rng)).encode()
        elif number % 3 == 1:
            yield _rewritten(document, rng.choice(places), rng)
        else:
            yield _broken(json.dumps(document).encode(), rng)


def _places(held: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    yield path
    items = held.items() if isinstance(held, dict) else enumerate(held) if isinstance(held, list) else ()
    for key, item in items:
        yield from _places(item, (*path, key))


def _changed(document: Any, path: tuple[Any, ...], rng: random.Random) -> Any:
    """Return the document with one value replaced, removed or doubled."""
    if not path:
        return rng.choice(_VALUES)
    whole = copy.deepcopy(document)
    inner = whole
    for step in path[:-1]:
        inner = inner[step]
    how = rng.random()
    if how < 0.1:
        del inner[path[-1]]
    elif how < 0.2 and isinstance(inner, dict):
        inner["evil"] = rng.choice(_VALUES)
    else:
        inner[path[-1]] = rng.choice(_VALUES)
    return whole


def _rewritten(document: Any, path: tuple[Any, ...], rng: random.Random) -> bytes:
    """Return the document as JSON text with one value that no Python value produces."""
    mark = "the place of the evil"
    if not path:
        return rng.choice(_RAW).encode()
    whole = copy.deepcopy(document)
    inner = whole
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = mark
    twice = isinstance(inner, dict) and rng.random() < 0.2
    raw = f"1, {json.dumps(path[-1])}: 2" if twice else rng.choice(_RAW)
    return json.dumps(whole).replace(json.dumps(mark), raw, 1).encode()


def _broken(text: bytes, rng: random.Random) -> bytes:
    at, to = sorted(rng.randrange(len(text)) for _ in range(2))
    junk = bytes(rng.choice(b'{}[]",:0$nx\xff\x00e-') for _ in range(rng.randrange(1, 4)))
    return rng.choice(
        [
            lambda: text[:at],
            lambda: text[:at] + junk + text[at + len(junk) :],
            lambda: text[:at] + text[to:],
            lambda: text[:at] + junk + text[at:],
            lambda: text + text,
            lambda: b"\xef\xbb\xbf" + text,
            lambda: text.decode().encode("utf-16"),
            lambda: text[at:to],
        ]
    )()
