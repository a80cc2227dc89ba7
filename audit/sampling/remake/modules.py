"""Which modules are the user's, and how other processes get an object."""

import contextlib
import functools
import importlib
import os
import sys
import sysconfig
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import cloudpickle  # type: ignore[import-untyped]

from audit.entry_points import new_module
from audit.errors import AuditError

#: An environment variable, set in a process that makes a subject anew. If it is set, a script that the
#: process imports starts no other audit.
WITHIN: Final = "DP_AUDIT_WITHIN"
_OURS: Final = __name__.partition(".")[0]
_LIBRARY: Final = tuple(sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib"))
# A script is reloaded under this module name, so that its code under `__name__ == "__main__"` does not run.
_SCRIPT: Final = "__audited_main__"
# Names of modules known not to be the user's. Without this cache, checking thousands of modules takes
# milliseconds each time.
_OTHERS: Final[dict[str, ModuleType]] = {}


def is_users(module: ModuleType | None) -> bool:
    """Return whether a module is the user's.

    Modules of the standard library, of installed packages and of dp-audit are not. The main module does not
    count, because no other process shares it.

    Examples
    --------
    >>> is_users(os), is_users(sys.modules["numpy"]), is_users(sys.modules[__name__])
    (False, False, False)
    """
    name, file = getattr(module, "__name__", None), getattr(module, "__file__", None)
    return isinstance(name, str) and isinstance(file, str) and _is_users(name, file)


@functools.cache
def _is_users(name: str, file: str) -> bool:
    installed = "site-packages" in file or "dist-packages" in file or file.startswith((*_LIBRARY, *_ours()))
    return not installed and name != "__main__" and name.partition(".")[0] != _OURS


@functools.cache
def _ours() -> tuple[str, ...]:
    """Return the folders of the packages that this project installs. A checkout counts as installed."""
    try:
        names = metadata.distribution("dp-audit").read_text("top_level.txt") or _OURS
    except metadata.PackageNotFoundError:
        names = _OURS
    root = Path(__file__).parents[len(__name__.split(".")) - 1]
    return tuple(f"{root / name}{os.sep}" for name in names.split())


def users_modules() -> list[ModuleType]:
    """Return the imported modules of the user, each once.

    Examples
    --------
    >>> sys.modules["audit"] in users_modules()
    False
    """
    found = []
    for name, module in list(sys.modules.items()):
        if _OTHERS.get(name) is not module:
            if is_users(module):
                found += [module] if module.__name__ == name else []
            elif getattr(module, "__file__", None) is not None:  # a module without a file may get one later
                _OTHERS[name] = module
    return found


def is_importable(module: ModuleType) -> bool:
    """Return whether another process would import the same file by this name.

    The other process has the same `sys.path`.

    Examples
    --------
    >>> is_importable(os), is_importable(ModuleType("made_up"))
    (True, False)
    """
    name, file = module.__name__, getattr(module, "__file__", None)
    parent_name = name.rpartition(".")[0]
    parent = sys.modules.get(parent_name) if parent_name else None
    if parent_name and (parent is None or not is_importable(parent)):
        return False
    places = tuple(place or str(Path.cwd()) for place in getattr(parent, "__path__", sys.path))
    origin = _origin(name, places, is_there=file is not None and os.access(file, os.F_OK))
    return origin is not None and origin in (file, "frozen", "built-in")


@functools.lru_cache(4_096)
def _origin(name: str, places: tuple[str, ...], *, is_there: bool) -> str | None:  # noqa: ARG001  part of the key
    """Return the file that importing a module loads."""
    place = list(places) if "." in name else None
    for finder in sys.meta_path:
        spec = finder.find_spec(name, place) if hasattr(finder, "find_spec") else None
        if spec is not None:
            return spec.origin
    return None


#: Locked while modules are taken by value, because cloudpickle has one list of such modules for all threads.
_TAKING = threading.RLock()


def _take_anew() -> None:
    global _TAKING  # noqa: PLW0603  a thread that held it was not forked with this process
    _TAKING = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_take_anew)


@contextlib.contextmanager
def taken_by_value(names: Iterable[str]) -> Iterator[None]:
    """Make cloudpickle pickle these modules by value in this context.

    This applies to their functions and classes. Only one thread can be in the context. Another thread waits
    until the context ends.

    Examples
    --------
    >>> with taken_by_value(["json"]):
    ...     "json" in cloudpickle.list_registry_pickle_by_value()
    True
    >>> "json" in cloudpickle.list_registry_pickle_by_value()
    False
    """
    with _TAKING:
        before = cloudpickle.list_registry_pickle_by_value()
        modules = [sys.modules[name] for name in names if name in sys.modules and name not in before]
        for module in modules:
            cloudpickle.register_pickle_by_value(module)
        try:
            yield
        finally:
            for module in modules:
                cloudpickle.unregister_pickle_by_value(module)


@dataclass(frozen=True)
class Place:
    """The module and name of a global object.

    Parameters
    ----------
    module
        The name of the module.
    file
        The file that the module was loaded from.
    name
        The name of the global. Dots lead to its attributes.

    Examples
    --------
    >>> Place("json", sys.modules["json"].__file__, "dumps").make() is importlib.import_module("json").dumps
    True
    """

    module: str
    file: str
    name: str

    def make(self) -> Any:
        """Return the object. If necessary, its module is imported or its file is run."""
        return attrgetter(self.name)(self._loaded())

    def _loaded(self) -> ModuleType:
        known = self.module if self.module != "__main__" else _SCRIPT
        with contextlib.suppress(ImportError):
            module = importlib.import_module(known)
            if module.__file__ == self.file:
                return module
        module, run = new_module(known, self.file)
        try:
            run()
        except AuditError:  # the script reached its audit, which must not run; everything above it is defined
            if not hasattr(module, self.name.partition(".")[0]):
                raise
        return module


@dataclass(frozen=True)
class Made:
    """An object, described by the call that makes it in another process.

    Parameters
    ----------
    function, arguments, keywords
        The call. Each may itself be a `Place` or a `Made`; `made` then makes its object first.
    """

    function: Any
    arguments: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)

    def make(self) -> Any:
        """Return the object."""
        keywords = {name: made(argument) for name, argument in self.keywords.items()}
        return made(self.function)(*map(made, self.arguments), **keywords)


def made(maker: Any) -> Any:
    """Return the object that a maker makes in this process.

    A maker is a `Place` or a `Made`. Any other value is returned unchanged.

    Examples
    --------
    >>> made(len) is len, made(Made(pow, (2,), {"exp": 3}))
    (True, 8)
    """
    return maker.make() if isinstance(maker, Place | Made) else maker


def find_place(value: Any) -> Place | None:
    """Return the place of a global of a user's module, or None.

    Examples
    --------
    >>> find_place(object()) is None
    True
    """
    for module in users_modules():
        for name, found in list(vars(module).items()):
            if found is value and module.__file__:
                return Place(module.__name__, module.__file__, name)
    return None


def class_named(module: str, qualname: str) -> type:
    """Return the class of this name in a module.

    If the module has no such class, return a new empty class of this name.

    Examples
    --------
    >>> class_named("fractions", "Fraction")
    <class 'fractions.Fraction'>
    >>> class_named("fractions", "Friction")
    <class 'fractions.Friction'>
    """
    with contextlib.suppress(Exception):  # importing a module may raise anything
        found = attrgetter(qualname)(sys.modules.get(module) or importlib.import_module(module))
        if isinstance(found, type):
            return found
    name = qualname.rpartition(".")[-1]
    return type(name, (), {"__module__": module, "__qualname__": qualname})
