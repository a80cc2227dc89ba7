"""Find records that a strategy can give but has not drawn, from its `repr`.

With these records a witness can be rounded: −4.0 replaces −3.9999999999999996. A mapped, filtered or composed
strategy may exclude a round number without showing it in its `repr`, so its records stay as drawn.
"""

import ast
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from audit.databases.recombination import name_of_call, parsed
from audit.values import canonical

#: Digits after the point to which numbers are rounded, coarsest first.
DIGITS = (0, 1, 2, 3)
_OF_FLOATS = frozenset({"min_value", "max_value", "allow_nan", "allow_infinity", "allow_subnormal"})
_OF_INTEGERS = frozenset({"min_value", "max_value"})


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
        node = parsed(strategy)
        if whole:
            is_list = isinstance(node, ast.Call) and name_of_call(node) == "lists" and node.args
            node = node.args[0] if isinstance(node, ast.Call) and is_list else None
        self._node = node

    def __contains__(self, record: Any) -> bool:
        try:
            return _has(self._node, record)
        except (ValueError, TypeError):  # a bound is not a literal
            return False

    def rounded(self, record: Any, digits: int) -> Any:
        """Return a record rounded to these digits; unchanged if the strategy may not give the rounded one."""
        found = _changed(record, partial(round, ndigits=digits))
        return found if found in self else record

    def simpler(self, record: Any) -> Iterator[Any]:
        """Yield simpler records to replace a record, roundest first: 0, 1, roundings, all entries equal."""
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
    """Return a record with its numbers changed, each keeping its type; other values stay."""
    if type(record) is tuple:
        return tuple(_changed(entry, change) for entry in record)
    # adding 0 turns −0.0 into 0.0
    return type(record)(change(record)) + type(record)(0) if _is_number(record) else record


def _has(node: ast.AST | None, record: Any) -> bool:
    if not isinstance(node, ast.Call):
        return False
    words = {each.arg: each.value for each in node.keywords}
    holds = _HOLDS.get(name_of_call(node))
    return holds is not None and holds(node.args, words, record)


Words = dict[str | None, ast.expr]


def _tuples(parts: list[ast.expr], words: Words, record: Any) -> bool:
    return type(record) is tuple and len(record) == len(parts) and not words and all(map(_has, parts, record))


def _just(parts: list[ast.expr], words: Words, record: Any) -> bool:
    return len(parts) == 1 and not words and _is(ast.literal_eval(parts[0]), record)


def _sampled_from(parts: list[ast.expr], words: Words, record: Any) -> bool:
    return len(parts) == 1 and not words and any(_is(each, record) for each in ast.literal_eval(parts[0]))


def _is(value: Any, record: Any) -> bool:
    return type(value) is type(record) and canonical.same(value, record)


def _floats(parts: list[ast.expr], words: Words, record: Any) -> bool:
    if parts or type(record) is not float or not math.isfinite(record) or not _OF_FLOATS.issuperset(words):
        return False
    low, high = _bounds(words)
    subnormal = record != 0 and abs(record) < 2.0**-1000
    return bool(low <= record <= high and not subnormal and (record or math.copysign(1.0, high) > 0))


def _integers(parts: list[ast.expr], words: Words, record: Any) -> bool:
    if parts or type(record) is not int or not _OF_INTEGERS.issuperset(words):
        return False
    low, high = _bounds(words)
    return bool(low <= record <= high)


def _bounds(words: Words) -> tuple[Any, Any]:
    low, high = (None if word not in words else ast.literal_eval(words[word]) for word in _ENDS)
    return -math.inf if low is None else low, math.inf if high is None else high


_ENDS = ("min_value", "max_value")
_HOLDS: dict[str, Callable[[list[ast.expr], Words, Any], bool]] = {
    "one_of": lambda parts, _words, record: any(_has(part, record) for part in parts),
    "tuples": _tuples,
    "just": _just,
    "sampled_from": _sampled_from,
    "floats": _floats,
    "integers": _integers,
}
