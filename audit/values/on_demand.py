"""The names of a package, each looked up when it is asked for, so that importing the package costs little."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def names_on_demand(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and the ``__dir__`` of a package.

    Parameters
    ----------
    package
        Its ``__name__``.
    homes
        By name, the module that has it.

    Examples
    --------
    >>> get, names = names_on_demand(__name__, {"sqrt": "math"})
    >>> get("sqrt")(4.0), "sqrt" in names()
    (2.0, True)
    >>> get("missing")
    Traceback (most recent call last):
    AttributeError: module 'audit.values.on_demand' has no attribute 'missing'
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return get, names
