"""Objects that cannot be pickled but can be found again: by module, file and name."""

import contextlib
import importlib
import importlib.util
import sys
from dataclasses import dataclass
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
    >>> Place("json", sys.modules["json"].__file__, "dumps").load() is importlib.import_module("json").dumps
    True
    """

    module: str
    file: str
    name: str

    def load(self) -> Any:
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
