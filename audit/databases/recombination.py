"""Check whether a strategy can draw every recombination of its records.

The check reads the strategy's `repr`. `lists(integers(min_value=0, max_value=9))` can draw every
recombination, because each record is drawn independently and may stand anywhere.

A mapped, filtered, unique or composed strategy may bind its records to a rule, such as a header row or an
order. Its `repr` does not show the rule.
"""

import ast
from typing import Any

#: Names of strategies that draw a sequence of records one by one.
_SEQUENCES = frozenset({"lists", "tuples", "text", "binary", "arrays"})
_NUMBERS = frozenset({"booleans", "complex_numbers", "decimals", "floats", "fractions", "integers"})
_TIMES = frozenset({"dates", "datetimes", "timedeltas", "times"})
_COLLECTIONS = frozenset({"dictionaries", "fixed_dictionaries", "frozensets", "sets"})
_OTHERS = frozenset({"characters", "ip_addresses", "none", "one_of", "uuids"})
#: Names of strategies that draw one record independently of the records before it.
_RECORDS = _SEQUENCES | _NUMBERS | _TIMES | _COLLECTIONS | _OTHERS
#: Names of strategies for one record whose arguments are values, not strategies.
_VALUES = frozenset({"just", "sampled_from"})


def is_recombined(strategy: Any) -> bool:
    """Return whether a strategy can draw every recombination of its records.

    Return False if the `repr` of the strategy does not show it.

    Parameters
    ----------
    strategy
        A Hypothesis strategy for a whole database.

    Examples
    --------
    >>> from hypothesis import strategies as st
    >>> numbers = st.lists(st.integers(0, 9), max_size=5)
    >>> is_recombined(numbers), is_recombined(numbers.map(sorted))
    (True, False)
    >>> is_recombined(st.tuples(st.just("header"), st.integers()))  # each place has its own records
    False
    """
    node = parsed(strategy)
    if not (isinstance(node, ast.Call) and name_of_call(node) in _SEQUENCES and _is_plain(node)):
        return False
    if name_of_call(node) == "arrays":
        shape = next((word.value for word in node.keywords if word.arg == "shape"), None)
        return isinstance(shape, ast.Constant | ast.Tuple)
    return name_of_call(node) != "tuples" or len({ast.dump(each) for each in node.args}) == 1


def labels_cross(strategy: Any) -> bool:
    """Return whether a strategy for examples (x, y) can draw each x together with each y.

    Return False if the `repr` of the strategy does not show it.

    Examples
    --------
    >>> from hypothesis import strategies as st
    >>> pairs = st.tuples(st.floats(0, 1), st.booleans())
    >>> labels_cross(pairs), labels_cross(pairs.filter(all)), labels_cross(st.lists(pairs))
    (True, False, True)
    """
    node = parsed(strategy)
    if isinstance(node, ast.Call) and name_of_call(node) == "lists" and _is_plain(node):
        node = node.args[0]
    if not isinstance(node, ast.Call):
        return False
    return name_of_call(node) == "tuples" and len(node.args) == 2 and _is_plain(node)


def parsed(strategy: Any) -> ast.expr | None:
    """Return the `repr` of a strategy as an expression. If it cannot be parsed, return None."""
    try:
        return ast.parse(repr(strategy), mode="eval").body
    except Exception:  # noqa: BLE001 - a user's `repr` may raise anything
        return None


def name_of_call(call: ast.Call) -> str:
    """Return the name of the called function, or an empty text."""
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _is_plain(node: ast.expr) -> bool:
    """Return whether a strategy draws from basic strategies alone."""
    if not isinstance(node, ast.Call):
        return False
    name = name_of_call(node)
    if name not in _RECORDS:
        return name in _VALUES
    return all(map(_is_part, node.args)) and all(map(_is_harmless, node.keywords))


def _is_part(node: ast.expr) -> bool:
    """Return whether an argument holds only plain strategies and constants."""
    if isinstance(node, ast.Dict):
        return all(_is_part(value) for value in node.values)
    if isinstance(node, ast.List | ast.Tuple):
        return all(_is_part(each) for each in node.elts)
    return isinstance(node, ast.Constant) or _is_plain(node)


def _is_harmless(word: ast.keyword) -> bool:
    """Return whether the records stay independent of each other under a keyword."""
    if word.arg in {"unique", "unique_by"}:
        return False
    setting = (word.arg or "").startswith(("min_", "max_", "allow_")) or word.arg in {"dtype", "shape"}
    return setting or _is_part(word.value)
