"""Whether what was read from a file is of the kinds that the fields of a value are declared with."""

import numbers
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from audit.errors import InvalidKind
from audit.values.brief import show


def has_float(value: Any) -> bool:
    """Tell whether a value is a number that has a float, which 10**400 has not.

    Examples
    --------
    >>> has_float(3), has_float(10**400), has_float(True)
    (True, False, False)
    """
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def _all(kind: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, tuple) and all(map(kind, value))


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _pair(value: Any) -> bool:
    return _all(_text)(value) and len(value) == 2


def _printed(value: Any) -> bool:
    return isinstance(value, (str, bool)) or has_float(value)


_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "str": ("text", _text),
    "int": ("a whole number", lambda value: isinstance(value, numbers.Integral) and has_float(value)),
    "float": ("a number", has_float),
    "float | None": ("a number or null", lambda value: value is None or has_float(value)),
    "tuple[str, ...]": ("a list of strings", _all(_text)),
    "tuple[float, ...]": ("a list of numbers", _all(has_float)),
    "tuple[tuple[str, str], ...]": ("a list of pairs of strings", _all(_pair)),
    "tuple[tuple[float | str, ...], ...]": ("a list of rows of numbers and strings", _all(_all(_printed))),
}
"""By a field's annotation; those of other kinds check themselves."""


def check_kinds(value: Any) -> None:
    """Refuse a dataclass a field of which is of another kind than it is declared with.

    Parameters
    ----------
    value
        An instance whose module has ``from __future__ import annotations``: its fields' types are texts.

    Raises
    ------
    InvalidKind
        The first such field; one line.

    Examples
    --------
    >>> from audit.findings import Finding
    >>> check_kinds(Finding("E8", "K08", "√2/s.", "typo", "√2·s.", claimed="0.7"))
    Traceback (most recent call last):
    audit.errors.InvalidKind: The claimed of a `Finding` must be a number or null; got '0.7'.
    """
    for field in fields(value):
        held = getattr(value, field.name)
        kind = _KINDS.get(str(field.type))
        if kind is not None and not kind[1](held):
            raise InvalidKind(
                f"The {field.name} of a `{type(value).__name__}` must be {kind[0]}; got {show(held)}."
            )
