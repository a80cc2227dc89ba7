"""Classes that are pickled by value, and classes that are found by name."""

import importlib
import sys
from typing import Any, Final

__all__ = ["class_by_value", "class_named"]

# What cloudpickle rebuilds a class with; their last argument but one names the class to be overwritten.
_CLASS_MAKERS: Final = ("_make_skeleton_class", "_make_skeleton_enum")


def class_by_value(value: Any, reduced: Any, *, tracked: bool = False) -> Any:
    """Return how cloudpickle reduces a class, but with its full name; anything else is left alone.

    Parameters
    ----------
    value, reduced
        An object, and how cloudpickle reduces it.
    tracked
        Whether two pickles of one class are to be loaded as one. Where the class itself lives that would
        overwrite its attributes.

    Examples
    --------
    >>> class_by_value("a text", NotImplemented)
    NotImplemented
    """
    if not isinstance(reduced, tuple) or getattr(reduced[0], "__name__", None) not in _CLASS_MAKERS:
        return reduced
    maker, arguments, (attributes, slots), *rest = reduced
    *first, tracker, extra = arguments
    attributes = {**attributes, "__qualname__": value.__qualname__}
    return (maker, (*first, tracker if tracked else None, extra), (attributes, slots), *rest)


def class_named(module: str, qualname: str) -> type:
    """Return the class of that name in a module, imported if need be; a bare one where there is none.

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
