"""A common form for outputs that differ only in type or rounding.

Laws, samples and calls are compared in this form. A law may list `0.3` where the code returns `0.1 + 0.1 +
0.1`. A tuple may come back as an array, an int as a Boolean, a double as a float32. Such outputs count as
equal here. Bets still distinguish types and last bits.
"""

import math
from collections.abc import Hashable
from typing import Any

import numpy as np

from audit.distributions.law import Floats, Outputs
from audit.values import canonical

DIGITS, COARSE = 12, 6
"""Larger: comparisons are stricter. Significant digits compared: of doubles, and of floats with fewer
bits."""
_OFF = 0.382
"""Fraction of the last digit that is added before rounding, so that numbers with few digits do not lie
halfway between two rounded values."""
_NIL = 1e-15
"""Numbers smaller than this count as 0: they are rounding errors of a sum."""


def plain(output: Any, digits: int | None = DIGITS) -> Any:
    """Return an output as plain numbers in tuples.

    Floats are rounded to this many digits. Arrays become tuples.

    Examples
    --------
    >>> plain(np.array([0.1 + 0.2, 1.0])) == plain([0.3, True])
    True
    >>> plain({"a": np.float32(0.1)}, 6)
    {'a': 0.1}
    """
    if type(output) in _SETTLED:
        return output
    if isinstance(output, np.ndarray | np.generic):
        output = output.tolist()
    if isinstance(output, list | tuple):
        return tuple(plain(part, digits) for part in output)
    if isinstance(output, dict):
        return {name: plain(part, digits) for name, part in output.items()}
    if isinstance(output, bool):
        return int(output)
    if isinstance(output, float) and digits is not None and math.isfinite(output):
        return _rounded(output, digits)
    return output


def form_key(output: Any, digits: int = DIGITS) -> Hashable:
    """Return a key that is equal for outputs that differ only in form.

    Examples
    --------
    >>> form_key((0.1 + 0.1 + 0.1, 1)) == form_key(np.array([0.3, 1.0]))
    True
    """
    return canonical.key(plain(output, digits))


def coarse(outputs: Outputs) -> bool:
    """Return whether the outputs contain floats with fewer bits than a double.

    Examples
    --------
    >>> coarse(np.zeros(2, dtype=np.float32)), coarse([0.5, (np.float32(1.0),)]), coarse([0.5])
    (True, True, False)
    """
    if isinstance(outputs, np.ndarray) and outputs.dtype != object:
        return outputs.dtype.kind == "f" and outputs.dtype.itemsize < 8
    kinds = set(map(type, outputs))
    if kinds & {np.float32, np.float16}:
        return True
    if not kinds & {tuple, list, dict, np.ndarray}:
        return False
    return any(coarse(_parts(output)) for output in outputs if isinstance(output, _CONTAINERS))


def _parts(output: Any) -> Outputs:
    if isinstance(output, np.ndarray):
        return output.ravel()
    return list(output.values() if isinstance(output, dict) else output)


def slack(outputs: Outputs, scale: Floats) -> Floats:
    """Return how far an output may lie from an equal outcome of size `scale`.

    Examples
    --------
    >>> slack([0.5], np.array([2.0])).tolist()
    [2e-12]
    """
    return np.asarray((10.0 ** -(COARSE if coarse(outputs) else DIGITS)) * scale)


def rows_like(outputs: Any, example: Any) -> list[Any]:
    """Return the rows of a batch in the type of the outcome `example`."""
    if isinstance(example, tuple):
        return [tuple(row) for row in outputs.tolist()]
    return outputs.tolist() if isinstance(example, list) else list(outputs)


def least_gap(values: Floats) -> Floats:
    """Return a distance for each number.

    Numbers that count as equal to it lie within this distance.

    Examples
    --------
    >>> bool(least_gap(np.array([1.0]))[0] >= 1e-11)
    True
    """
    return np.maximum(10.0 ** (1 - DIGITS) * np.abs(values), 2.0 * _NIL)


def truth_as_numbers(outputs: Outputs) -> Outputs:
    """Return outputs with truth values replaced by 0 and 1.

    Examples
    --------
    >>> truth_as_numbers([True, 2, "a"])
    [1, 2, 'a']
    """
    if isinstance(outputs, np.ndarray):
        return outputs.astype(np.int64) if outputs.dtype == bool else outputs
    if isinstance(outputs, range) or not {bool, np.bool_} & set(map(type, outputs)):
        return outputs
    return [int(o) if isinstance(o, bool | np.bool_) else o for o in outputs]


_CONTAINERS = (tuple, list, dict, np.ndarray)
_SETTLED = frozenset({int, str, bytes, type(None)})


def _rounded(value: float, digits: int) -> float:
    if abs(value) < _NIL:
        return 0.0
    if value.is_integer() and abs(value) < 10.0**digits:
        return value
    return float(f"{value * (1.0 + _OFF * 10.0**-digits):.{digits}g}")
