"""Read dataclasses from a file and check that each field has its declared type."""

import numbers
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, is_dataclass
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from audit.codec.decoding import decode
from audit.codec.encoding import encode
from audit.errors import AuditError, InvalidKind
from audit.values.brief import show

T = TypeVar("T")

#: Schema number of the documents that hold a finding or a study.
SCHEMA = 1


def has_float(value: Any) -> bool:
    """Return whether a value is a number that fits into a float.

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
"""Maps each annotation to the words for it in messages, and to its check. A field with another annotation is
checked by its own class."""


def built(made: type[T], stored: Mapping[str, Any]) -> T:
    """Return a dataclass made of stored fields.

    Lists become tuples, and objects become dataclasses.

    Parameters
    ----------
    made
        The dataclass. Its module must have ``from __future__ import annotations``, so that types are texts.

    Raises
    ------
    InvalidKind
        A field does not have its declared type.

    Examples
    --------
    >>> from audit.findings import Table
    >>> built(Table, {"caption": 3, "columns": ["n"], "rows": []})
    Traceback (most recent call last):
    audit.errors.InvalidKind: The caption of a `Table` must be text; got 3.
    """
    kinds = get_type_hints(made)
    read = {name: _read(kinds.get(name), held) for name, held in {**stored}.items()}
    for name, held in read.items():
        if get_origin(kinds.get(name)) is tuple and not isinstance(held, tuple):
            raise InvalidKind(f"The {name} of a `{made.__name__}` must be a list; got {show(held)}.")
    value = made(**read)
    for field in fields(value):  # type: ignore[arg-type]  # a dataclass
        held = getattr(value, field.name)
        kind = _KINDS.get(str(field.type))
        if kind is not None and not kind[1](held):
            raise InvalidKind(f"The {field.name} of a `{made.__name__}` must be {kind[0]}; got {show(held)}.")
    return value


def _read(kind: Any, stored: Any) -> Any:
    if is_dataclass(kind):
        return built(kind, stored)  # type: ignore[arg-type]  # a class
    if get_origin(kind) is tuple and isinstance(stored, list):
        return tuple(_read(get_args(kind)[0], each) for each in stored)
    return stored


def as_document(what: str, value: Any) -> dict[str, Any]:
    """Return a dataclass as a document of kind `what`.

    Tuples become lists, and numbers that are not finite are tagged.
    """
    return {"schema": SCHEMA, what: encode(_as_lists(asdict(value)))}


def _as_lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_lists(item) for key, item in value.items()}
    return [_as_lists(item) for item in value] if isinstance(value, (list, tuple)) else value


def read_document(document: Any, what: str, make: Callable[[dict[str, Any]], T]) -> T:
    """Return the result of `make` on the fields in a document.

    Raises
    ------
    AuditError
        The document is not a saved `what` of this schema, or `make` fails.

    Examples
    --------
    >>> read_document({"schema": 2}, "finding", dict)
    Traceback (most recent call last):
    audit.errors.AuditError: This is not a saved finding of schema 1, the newest this dp-audit reads.
    """
    ours = isinstance(document, Mapping) and document.get("schema") == SCHEMA
    if not ours or not isinstance(document.get(what), dict):
        raise AuditError(f"This is not a saved {what} of schema {SCHEMA}, the newest this dp-audit reads.")
    try:
        return make(decode(document[what], where=what))
    except (TypeError, KeyError, AttributeError, ValueError, AuditError, RecursionError) as error:
        said = " ".join(str(error).split()).removesuffix(".")
        raise AuditError(f"The saved {what} is damaged: {said}.") from None
