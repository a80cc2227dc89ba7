"""The approximate size of outputs in bytes."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

#: Bytes counted for an object without its content.
_OBJECT = 56
_PLAIN = frozenset({int, float, bool, type(None)})  # the most frequent types, checked first
_LOOKED_AT = 64
_DEEP = 6


def weigh(value: Any, *, depth: int = 0) -> int:
    """Return about how many bytes a value takes.

    A long container is estimated from its first entries.

    Examples
    --------
    >>> weigh(np.zeros(1000)) >= 8000, weigh([bytes(1000)] * 1000) >= 10**6, weigh(0.5)
    (True, True, 56)
    """
    kind = type(value)
    if kind in _PLAIN:
        return _OBJECT
    try:
        if issubclass(kind, np.ndarray):
            return _OBJECT + int(np.asarray(value).nbytes)
        if kind in (str, bytes, bytearray):
            return _OBJECT + len(value)
        if depth == _DEEP:
            return _OBJECT
        held = value if kind in (list, tuple, dict, set, frozenset) else getattr(value, "__dict__", ())
        entries = held.values() if type(held) is dict else held
        some = [weigh(entry, depth=depth + 1) for entry in islice(entries, _LOOKED_AT)]
        return _OBJECT + len(held) * (8 + sum(some) // max(1, len(some)))
    except Exception:  # noqa: BLE001 - an object of the user's may raise anything when it is looked at
        return _OBJECT


def weigh_all(outputs: Sequence[Any] | np.ndarray[Any, Any]) -> int:
    """Return about how many bytes all outputs take. The estimate looks at a few outputs.

    Examples
    --------
    >>> weigh_all([np.zeros(1000)] * 10) >= 80_000
    True
    """
    if isinstance(outputs, np.ndarray) and outputs.dtype.kind != "O":
        return int(outputs.nbytes)
    some = [weigh(output) for output in outputs[:: max(1, len(outputs) // 8)]]
    return len(outputs) * (sum(some) // max(1, len(some)))
