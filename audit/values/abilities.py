"""What a value does with the help of layers above it: the package says where, a value asks by name.

So a result can replay itself and say itself without importing what replays and says it.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

_HOMES: dict[str, str] = {}


def offer(**homes: str) -> None:
    """Name the functions of layers above, as ``module:function``; they are imported when first asked for.

    Examples
    --------
    >>> offer(root="math:sqrt")
    >>> ability("root")(4.0)
    2.0
    """
    _HOMES.update(homes)


def ability(name: str) -> Callable[..., Any]:
    """Return the function that was offered under a name."""
    module, _, function = _HOMES[name].partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found
