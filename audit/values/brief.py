"""The short text of a value in errors and reports. Imports little, so that errors need not load numpy."""

import re
from collections.abc import Callable, Iterable
from itertools import islice
from numbers import Real
from typing import Any

from audit.values.outcomes import without_addresses

_DEPTH = 5


def show(value: Any, limit: int = 60) -> str:
    """Return a short text of `value`: one line, printable, at most `limit` characters.

    Parameters
    ----------
    value
        Anything. Numpy scalars are shown like Python's, and an object whose `repr` fails by its class.
    limit
        Largest number of characters; "…" stands for the rest.

    Examples
    --------
    >>> show({10, 9}), show("a"), show(list(range(1000)), limit=12)
    ('{9, 10}', "'a'", '[0, 1, 2, 3…')
    """
    text = re.sub(r"\s*\n\s*", " ", _text(value, limit, 0))
    text = "".join(letter if letter.isprintable() else "�" for letter in text[: limit + 1])
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _text(value: Any, limit: int, depth: int) -> str:
    if depth > _DEPTH:
        return "…"
    try:
        if type(value).__module__.partition(".")[0] == "numpy" and hasattr(value, "tolist"):
            return _numpy(value, limit, depth)
        if isinstance(value, str | bytes):
            return repr(value[: limit + 1])
        writer = _WRITERS.get(type(value))
        return writer(value, limit, depth) if writer else without_addresses(repr(value))
    except Exception:  # noqa: BLE001  a user's `__repr__` may fail in any way
        return f"<{type(value).__qualname__}>"


def _numpy(value: Any, limit: int, depth: int) -> str:
    if not value.ndim:
        return repr(value.tolist())
    body = f"[{_joined(value, limit, depth)}]"
    return body if depth else f"array({body})"


def _tuple(value: tuple[Any, ...], limit: int, depth: int) -> str:
    return f"({_joined(value, limit, depth)}{',' if len(value) == 1 else ''})"


def _dict(value: dict[Any, Any], limit: int, depth: int) -> str:
    items = islice(value.items(), limit)
    texts = (": ".join(_text(part, limit, depth + 1) for part in item) for item in items)
    return "{" + ", ".join(texts) + "}"


def _set(value: set[Any] | frozenset[Any], limit: int, depth: int) -> str:
    if not value:
        return repr(value)
    if all(isinstance(entry, Real) for entry in value):
        body = "{" + _joined(sorted(value), limit, depth) + "}"
    else:
        body = "{" + ", ".join(sorted(_text(entry, limit, depth + 1) for entry in value)) + "}"
    return body if isinstance(value, set) else f"frozenset({body})"


def _joined(values: Iterable[Any], limit: int, depth: int) -> str:
    return ", ".join(_text(entry, limit, depth + 1) for entry in islice(values, limit))


_WRITERS: dict[type, Callable[[Any, int, int], str]] = {
    list: lambda value, limit, depth: f"[{_joined(value, limit, depth)}]",
    tuple: _tuple,
    dict: _dict,
    set: _set,
    frozenset: _set,
}
