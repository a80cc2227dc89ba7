"""Whose a module is: the user's own, or installed."""

import contextlib
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Final

import cloudpickle  # type: ignore[import-untyped]

#: Set in the environment of a process that makes a subject anew: a script that is imported there is not to
#: audit in turn.
WITHIN: Final = "DP_AUDIT_WITHIN"
_OURS: Final = __name__.partition(".")[0]
_LIBRARY: Final = tuple(sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib"))


def is_users(module: ModuleType | None) -> bool:
    """Return whether a module is the user's: not of the standard library, an installed package or this one.

    The main module counts as neither: it is never shared with another process anyway.

    Examples
    --------
    >>> is_users(os), is_users(sys.modules["numpy"]), is_users(sys.modules[__name__])
    (False, False, False)
    """
    name, file = getattr(module, "__name__", None), getattr(module, "__file__", None)
    if not isinstance(name, str) or not isinstance(file, str) or name == "__main__":
        return False
    installed = "site-packages" in file or "dist-packages" in file or file.startswith(_LIBRARY)
    return not installed and name.partition(".")[0] != _OURS


def users_modules() -> list[ModuleType]:
    """Return the user's modules that have been imported, each once.

    Examples
    --------
    >>> sys.modules["audit"] in users_modules()
    False
    """
    found = {name: module for name, module in list(sys.modules.items()) if is_users(module)}
    return [module for name, module in found.items() if module.__name__ == name]


def is_importable(module: ModuleType) -> bool:
    """Return whether another process with the same `sys.path` would import the same file by this name.

    Examples
    --------
    >>> is_importable(os), is_importable(ModuleType("made_up"))
    (True, False)
    """
    name = module.__name__
    parent_name = name.rpartition(".")[0]
    parent = sys.modules.get(parent_name) if parent_name else None
    if parent_name and (parent is None or not is_importable(parent)):
        return False
    path = getattr(parent, "__path__", None)
    for finder in sys.meta_path:
        spec = finder.find_spec(name, path) if hasattr(finder, "find_spec") else None
        if spec is not None:
            return spec.origin in (getattr(module, "__file__", None), "frozen", "built-in")
    return False


@contextlib.contextmanager
def taken_by_value(names: Iterable[str]) -> Iterator[None]:
    """Have cloudpickle take by value the functions and classes of the modules of these names, while it lasts.

    Examples
    --------
    >>> with taken_by_value(["json"]):
    ...     "json" in cloudpickle.list_registry_pickle_by_value()
    True
    >>> "json" in cloudpickle.list_registry_pickle_by_value()
    False
    """
    before = cloudpickle.list_registry_pickle_by_value()
    modules = [sys.modules[name] for name in names if name in sys.modules and name not in before]
    for module in modules:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in modules:
            cloudpickle.unregister_pickle_by_value(module)
