"""The short text of a value in errors and reports.

The module imports little, because errors must not load numpy.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from numbers import Real
from typing import Any

from audit.values.outcomes import without_addresses

_DEPTH = 5


def show(value: Any, limit: int = 60, digits: int | None = None) -> str:
    """Return a short text of a value. The text is one printable line.

    Parameters
    ----------
    value
        Any value. Numpy scalars are shown like Python numbers. An object without its own `__repr__` is shown
        by its class and attributes. An object whose `repr` fails is shown by its class.
    limit
        Largest number of characters; "…" stands for the rest.
    digits
        Number of significant digits of floats. If None, all digits are shown.

    Examples
    --------
    >>> show({10, 9}), show("a"), show(list(range(1000)), limit=12)
    ('{9, 10}', "'a'", '[0, 1, 2, 3…')
    >>> class Model:
    ...     def __init__(self):
    ...         self.mean_ = 2 / 3
    >>> show(Model(), digits=4)
    'Model(mean_=0.6667)'
    """
    text = re.sub(r"\s*\n\s*", " ", _Writer(limit, digits).text(value, 0))
    text = "".join(letter if letter.isprintable() else "�" for letter in text[: limit + 1])
    return text if len(text) <= limit else text[: limit - 1] + "…"


def slots_of(kind: type) -> tuple[str, ...]:
    """Return the names of the slots that a class itself declares."""
    slots = vars(kind).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def attributes_of(value: Any) -> dict[str, Any]:
    """Return the attributes that an object holds by name, first those in slots."""
    names = (name for kind in type(value).__mro__ for name in slots_of(kind))
    held = {name: getattr(value, name) for name in names if name[:2] != "__" and hasattr(value, name)}
    return {**held, **getattr(value, "__dict__", {})}


@dataclass(frozen=True, slots=True)
class _Writer:
    limit: int
    digits: int | None

    def text(self, value: Any, depth: int) -> str:
        try:
            return self._text(value, depth) if depth <= _DEPTH else "…"
        except Exception:  # noqa: BLE001  a user's `__repr__` may fail in any way
            return f"<{type(value).__qualname__}>"

    def _text(self, value: Any, depth: int) -> str:
        kind = type(value)
        if kind.__module__.partition(".")[0] == "numpy" and hasattr(value, "tolist"):
            return self._numpy(value, depth)
        if kind is float and self.digits is not None:
            return repr(float(f"{value:.{self.digits}g}"))
        if isinstance(value, str | bytes):
            return repr(value[: self.limit + 1])
        if kind in (list, tuple, dict, set, frozenset):
            return self._container(value, depth)
        own = kind.__repr__ is not object.__repr__  # type: ignore[comparison-overlap]
        return without_addresses(repr(value)) if own else self._object(value, depth)

    def _numpy(self, value: Any, depth: int) -> str:
        if not value.ndim:
            plain = value.tolist()
            return self.text(plain, depth) if type(plain) is float else repr(plain)
        body = f"[{self._joined(value, depth)}]"
        return body if depth else f"array({body})"

    def _container(self, value: Any, depth: int) -> str:
        if isinstance(value, list):
            return f"[{self._joined(value, depth)}]"
        if isinstance(value, tuple):
            return f"({self._joined(value, depth)}{',' if len(value) == 1 else ''})"
        if isinstance(value, dict):
            items = (": ".join(self.text(part, depth + 1) for part in item) for item in value.items())
            return f"{{{', '.join(islice(items, self.limit))}}}"
        if not value:
            return repr(value)
        if all(isinstance(entry, Real) for entry in value):
            body = self._joined(sorted(value), depth)
        else:
            body = ", ".join(sorted(self.text(entry, depth + 1) for entry in value))
        return f"{{{body}}}" if isinstance(value, set) else f"frozenset({{{body}}})"

    def _object(self, value: Any, depth: int) -> str:
        """Return the text of an object by its class and attributes."""
        held = attributes_of(value)
        if not held or depth > 1:
            return f"<{type(value).__qualname__}>"
        texts = (f"{name}={self.text(part, depth + 1)}" for name, part in islice(held.items(), self.limit))
        return f"{type(value).__qualname__}({', '.join(texts)})"

    def _joined(self, values: Iterable[Any], depth: int) -> str:
        return ", ".join(self.text(entry, depth + 1) for entry in islice(values, self.limit))
