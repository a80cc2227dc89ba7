"""Records that a strategy plainly contains though it was not seen to draw them, read off its `repr`.

A witness is rounded to them: −4.0 for −3.9999999999999996. What is mapped, filtered or composed may exclude a
round number without a word of that in its `repr`; its records stay as they were drawn.
"""

import ast
import math
from collections.abc import Iterator
from typing import Any

from audit.databases.recombination import name_of_call, parsed
from audit.values import canonical

#: Digits after the point to which numbers are rounded, the boldest first.
DIGITS = (0, 1, 2, 3)
_OF_FLOATS = frozenset({"min_value", "max_value", "allow_nan", "allow_infinity", "allow_subnormal"})
_OF_INTEGERS = frozenset({"min_value", "max_value"})


class PlainRecords:
    """The records of a strategy, as far as its `repr` plainly tells.

    **Guarantee.** The strategy can give every record that is `in` it, and every rounding.

    Parameters
    ----------
    strategy
        A Hypothesis strategy for one record, or for a list of them.

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

    def __init__(self, strategy: Any) -> None:
        node = parsed(strategy)
        if isinstance(node, ast.Call) and name_of_call(node) == "lists" and node.args:
            node = node.args[0]
        self._node = node

    def __contains__(self, record: Any) -> bool:
        try:
            return _has(self._node, record)
        except (ValueError, TypeError):  # a bound that is no literal
            return False

    def rounded(self, record: Any, digits: int) -> Any:
        """Return a record with its numbers rounded to this many digits after the point; itself if it may not."""
        found = _changed(record, lambda number: round(number, digits))
        return found if found in self else record

    def simpler(self, record: Any) -> Iterator[Any]:
        """Yield records for its place, rounder ones first: 0, 1, roundings, all entries equal."""
        found = [_changed(record, lambda _, value=value: value) for value in (0, 1)]
        found += [_changed(record, lambda x, digits=digits: round(x, digits)) for digits in DIGITS]
        found += self._equal(record)
        seen = {canonical.key(record)}
        for each in found:
            if (key := canonical.key(each)) not in seen and each in self:
                seen.add(key)
                yield each

    @staticmethod
    def _equal(record: Any) -> list[Any]:
        """Return a tuple with every entry as the largest one, rounded."""
        entries = [x for x in record if _is_number(x)] if type(record) is tuple else []
        if not entries:
            return []
        largest = max(entries, key=abs)
        return [_changed(record, lambda _, value=round(largest, digits): value) for digits in DIGITS]


def _is_number(value: Any) -> bool:
    return type(value) is int or (type(value) is float and math.isfinite(value))


def _changed(record: Any, change: Any) -> Any:
    """Return a record whose numbers are changed, each of its type; what is no number stays."""
    if type(record) is tuple:
        return tuple(_changed(entry, change) for entry in record)
    # + 0.0, for −0.0 is no rounder than 0.0
    return type(record)(change(record)) + type(record)(0) if _is_number(record) else record


def _has(node: ast.AST | None, record: Any) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name, words = name_of_call(node), {each.arg: each.value for each in node.keywords}
    if name == "one_of":
        return any(_has(each, record) for each in node.args)
    if name == "tuples":
        known = type(record) is tuple and len(record) == len(node.args) and not words
        return known and all(map(_has, node.args, record))
    if name in {"just", "sampled_from"} and len(node.args) == 1 and not words:
        values = [ast.literal_eval(node.args[0])] if name == "just" else list(ast.literal_eval(node.args[0]))
        return any(type(each) is type(record) and canonical.same(each, record) for each in values)
    if node.args or name not in {"floats", "integers"} or not _is_number(record):
        return False
    kind, known_words = (float, _OF_FLOATS) if name == "floats" else (int, _OF_INTEGERS)
    if type(record) is not kind or not known_words.issuperset(words):
        return False
    low, high = (_bound(words.get(word), default) for word, default in _ENDS)
    subnormal = record != 0 and abs(record) < 2.0**-1000
    return bool(low <= record <= high and not subnormal and (record or math.copysign(1.0, high) > 0))


_ENDS = (("min_value", -math.inf), ("max_value", math.inf))


def _bound(node: ast.expr | None, default: float) -> Any:
    value = default if node is None else ast.literal_eval(node)
    return default if value is None else value
