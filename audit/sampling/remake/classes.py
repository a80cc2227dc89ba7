"""Classes that are found by name."""

import importlib
import sys
from typing import Any


def class_named(module: str, qualname: str) -> type:
    """Return a module's class by its name; an empty class of that name if the module has none.

    Examples
    --------
    >>> class_named("fractions", "Fraction")
    <class 'fractions.Fraction'>
    >>> class_named("fractions", "Friction")
    <class 'fractions.Friction'>
    """
    found: Any = sys.modules.get(module) or _imported(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    if isinstance(found, type):
        return found
    name = qualname.rpartition(".")[-1]
    return type(name, (), {"__module__": module, "__qualname__": qualname})


def _imported(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except Exception:  # noqa: BLE001  a module may raise anything when it is imported
        return None
