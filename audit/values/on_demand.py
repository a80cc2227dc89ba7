"""Names that are imported only when they are first used.

A package with such names can be imported quickly.

Methods of a value call code of higher layers in the same way. The package registers that code under a name,
and the value looks the name up. So the module of a result does not import the code that prints and replays
the result.
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

_HOMES: dict[str, str] = {}


def names_on_demand(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return functions for the ``__getattr__`` and the ``__dir__`` of a package.

    Parameters
    ----------
    package
        Its ``__name__``.
    homes
        Maps each name to the full name of the module that defines it. The name of a module in the package is
        mapped to the full name of that module.

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
        home = import_module(homes[name])
        return home if homes[name] == f"{package}.{name}" else getattr(home, name)

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return get, names


def offer(**homes: str) -> None:
    """Register functions of higher layers by name.

    A function is given as ``module:function`` and imported when first used.

    Examples
    --------
    >>> offer(root="math:sqrt")
    >>> ability("root")(4.0)
    2.0
    """
    _HOMES.update(homes)


def ability(name: str) -> Callable[..., Any]:
    """Return the function that `offer` registered under this name."""
    module, _, function = _HOMES[name].partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found
