"""Find records that a strategy can give but has not drawn.

They are read from the strategy's `repr`. With these records a witness can be rounded: −4.0 replaces
−3.9999999999999996.

A mapped, filtered or composed strategy may exclude a round number without showing it in its `repr`. So the
records of such a strategy stay as drawn.
"""

import ast
import math
from collections.abc import Iterator
from functools import partial
from typing import Any

from audit.databases.recombination import parsed
from audit.values import canonical

#: Digits after the point to which numbers are rounded, coarsest first.
DIGITS = (0, 1, 2, 3)
_BOUNDS = ("min_value", "max_value")
_OF_FLOATS = frozenset({*_BOUNDS, "allow_nan", "allow_infinity", "allow_subnormal"})


class PlainRecords:
    """The records of a strategy, as far as its `repr` shows them.

    **Guarantee.** The strategy can give every record that is `in` this object, and also what `rounded`
    returns for such a record.

    Parameters
    ----------
    strategy
        A Hypothesis strategy for one record.
    whole
        Whether the strategy is for whole databases: lists of records.

    Examples
    --------
    >>> from hypothesis import strategies as st
    >>> plain = PlainRecords(st.floats(-5, 4.5))
    >>> -4.0 in plain, 4.75 in plain, plain.rounded(4.499, 1), plain.rounded(4.4999, 3)
    (True, False, 4.5, 4.5)
    >>> list(plain.simpler(-3.9999999999999996))
    [0.0, 1.0, -4.0]
    >>> 2.0 in PlainRecords(st.floats(0, 4).filter(lambda x: x % 1))
    False
    """

    def __init__(self, strategy: Any, *, whole: bool = False) -> None:
        self._node = parsed(strategy)
        if whole:
            match self._node:
                case ast.Call(func=ast.Name(id="lists"), args=[records, *_]):
                    self._node = records
                case _:
                    self._node = None

    def __contains__(self, record: Any) -> bool:
        try:
            return _has(self._node, record)
        except (ValueError, TypeError):  # a bound is not a literal
            return False

    def rounded(self, record: Any, digits: int) -> Any:
        """Return a record rounded to these digits.

        If the strategy may not give the rounded record, return the record unchanged.
        """
        found = _changed(record, partial(round, ndigits=digits))
        return found if found in self else record

    def simpler(self, record: Any) -> Iterator[Any]:
        """Yield simpler records to replace a record, roundest first."""
        changes = [partial(_always, 0), partial(_always, 1)]
        changes += [partial(round, ndigits=digits) for digits in DIGITS]
        entries = [x for x in record if _is_number(x)] if type(record) is tuple else []
        if entries:
            largest = max(entries, key=abs)
            changes += [partial(_always, round(largest, digits)) for digits in DIGITS]
        seen = {canonical.key(record)}
        for each in (_changed(record, change) for change in changes):
            if (key := canonical.key(each)) not in seen and each in self:
                seen.add(key)
                yield each


def _always(value: float, _: float) -> float:
    return value


def _is_number(value: Any) -> bool:
    return type(value) is int or (type(value) is float and math.isfinite(value))


def _changed(record: Any, change: Any) -> Any:
    """Return a record with its numbers changed, each keeping its type."""
    if type(record) is tuple:
        return tuple(_changed(entry, change) for entry in record)
    # adding 0 turns −0.0 into 0.0
    return type(record)(change(record)) + type(record)(0) if _is_number(record) else record


def _has(node: ast.AST | None, record: Any) -> bool:
    """Return whether the strategy of a parsed call can give a record."""
    match node:
        case ast.Call(func=ast.Name(id="one_of"), args=parts):
            return any(_has(part, record) for part in parts)
        case ast.Call(func=ast.Name(id="tuples"), args=parts, keywords=[]):
            return type(record) is tuple and len(record) == len(parts) and all(map(_has, parts, record))
        case ast.Call(func=ast.Name(id="just"), args=[value], keywords=[]):
            return _is(ast.literal_eval(value), record)
        case ast.Call(func=ast.Name(id="sampled_from"), args=[values], keywords=[]):
            return any(_is(each, record) for each in ast.literal_eval(values))
        case ast.Call(func=ast.Name(id="floats" | "integers" as name), args=[], keywords=words):
            holds = _is_float if name == "floats" else _is_integer
            return holds({word.arg: word.value for word in words}, record)
    return False


Words = dict[str | None, ast.expr]


def _is(value: Any, record: Any) -> bool:
    return type(value) is type(record) and canonical.same(value, record)


def _is_float(words: Words, record: Any) -> bool:
    if type(record) is not float or not math.isfinite(record) or not words.keys() <= _OF_FLOATS:
        return False
    low, high = _bounds(words)
    subnormal = record != 0 and abs(record) < 2.0**-1000
    return bool(low <= record <= high and not subnormal and (record or math.copysign(1.0, high) > 0))


def _is_integer(words: Words, record: Any) -> bool:
    if type(record) is not int or not words.keys() <= {*_BOUNDS}:
        return False
    low, high = _bounds(words)
    return bool(low <= record <= high)


def _bounds(words: Words) -> tuple[Any, Any]:
    low, high = (ast.literal_eval(words[word]) if word in words else None for word in _BOUNDS)
    return -math.inf if low is None else low, math.inf if high is None else high
