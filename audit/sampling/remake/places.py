"""Objects that another process finds by name or makes by a call: no copy can be had, or none is wanted."""

import contextlib
import importlib
import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from types import ModuleType
from typing import Any, Final

from audit.errors import AuditError
from audit.sampling.remake.modules import users_modules

# What a script is called where it is loaded again: what stands under `__name__ == "__main__"` is not run.
_SCRIPT: Final = "__audited_main__"


@dataclass(frozen=True)
class Place:
    """Where an object is a global.

    Parameters
    ----------
    module
        Name of the module.
    file
        The file that it was loaded from.
    name
        The global's name.

    Examples
    --------
    >>> Place("json", sys.modules["json"].__file__, "dumps").make() is importlib.import_module("json").dumps
    True
    """

    module: str
    file: str
    name: str

    def make(self) -> Any:
        """Return the object, its module imported or its file run if need be."""
        return getattr(self._loaded(), self.name)

    def _loaded(self) -> ModuleType:
        known = self.module if self.module != "__main__" else _SCRIPT
        module: ModuleType | None = sys.modules.get(known)
        with contextlib.suppress(ImportError):
            module = module or importlib.import_module(known)
        if module is not None and module.__file__ == self.file:
            return module
        spec = importlib.util.spec_from_file_location(known, self.file)
        if spec is None or spec.loader is None:
            raise ImportError(f"{self.file} cannot be loaded as a module")
        module = importlib.util.module_from_spec(spec)
        sys.modules[known] = module
        try:
            spec.loader.exec_module(module)
        except AuditError:  # a script that audits as it runs is not to do so here; what stands above is there
            if not hasattr(module, self.name):
                raise
        return module


@dataclass(frozen=True)
class Made:
    """What a call gives: the process that wants it makes the function and the arguments first.

    Parameters
    ----------
    function, arguments, keywords
        The call; each as `made` takes it.
    """

    function: Any
    arguments: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)

    def make(self) -> Any:
        """Return the object."""
        keywords = {name: made(argument) for name, argument in self.keywords.items()}
        return made(self.function)(*map(made, self.arguments), **keywords)


def made(maker: Any) -> Any:
    """Return what an unpacked maker makes, in the process that wants it; anything else is there already.

    Examples
    --------
    >>> made(len) is len, made(Made(pow, (2,), {"exp": 3}))
    (True, 8)
    """
    return maker.make() if isinstance(maker, Place | Made) else maker


def find_place(value: Any) -> Place | None:
    """Return where `value` is a global of one of the user's modules, or None.

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
    """Return a module's class by its name; an empty class of that name if the module has none.

    Examples
    --------
    >>> class_named("fractions", "Fraction")
    <class 'fractions.Fraction'>
    >>> class_named("fractions", "Friction")
    <class 'fractions.Friction'>
    """
    with contextlib.suppress(Exception):  # a module may raise anything when it is imported
        found = attrgetter(qualname)(sys.modules.get(module) or importlib.import_module(module))
        if isinstance(found, type):
            return found
    name = qualname.rpartition(".")[-1]
    return type(name, (), {"__module__": module, "__qualname__": qualname})
