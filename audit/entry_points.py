"""Load what installed packages offer, and modules from their files."""

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib import import_module, metadata, util
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from audit.errors import AuditError

T = TypeVar("T")


def offered(group: str, *, what: str, make: Callable[[Any], Any]) -> Iterator[Any]:
    """Yield ``make(object)`` for each object that the entry points of `group` name.

    The entry points are loaded in the order of their names. `what` is the word for one object in a message.

    Raises
    ------
    AuditError
        An entry point does not import or is shadowed by a module of the same name.

    Examples
    --------
    >>> list(offered("dp_audit.no_such_group", what="catalogue", make=list))
    []
    """
    points = sorted(metadata.entry_points(group=group), key=lambda point: (point.name, point.value))
    for point in points:  # check all before loading any, because one may import another
        _refuse_shadow(point, what)
    for point in points:
        try:
            yield make(point.load())
        except Exception as error:
            said = str(error) if type(error) is AuditError else f"{type(error).__name__}: {error}"
            reason = said.splitlines()[0]
            raise AuditError(
                f"The {what} `{point.value}` of {_owner(point)} cannot be loaded: {reason}"
            ) from error


def optional(name: str, *, missing: str) -> Any:
    """Return an optional package.

    If it is not installed, raise an error with the text `missing`. A broken package raises its own error.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise AuditError(missing) from error


def by_name(named: Iterable[tuple[str, T]], *, what: str) -> dict[str, T]:
    """Return a dict from name to object. Names must be unique.

    Examples
    --------
    >>> by_name([("a", 1), ("a", 2)], what="of letters")
    Traceback (most recent call last):
    audit.errors.AuditError: Names of letters must be unique; got `a` more than once.
    """
    found: dict[str, T] = {}
    for name, thing in named:
        if name in found:
            raise AuditError(f"Names {what} must be unique; got `{name}` more than once.")
        found[name] = thing
    return found


def _refuse_shadow(point: metadata.EntryPoint, what: str) -> None:
    """Raise an error if ``import`` would find another module, of another project."""
    name = point.module.partition(".")[0]
    expected, found = _own_place(point, name), _found_place(name)
    if expected is None or found is None or expected == found:
        return
    raise AuditError(
        f"The {what} of {_owner(point)} cannot be loaded: {found} shadows its package `{name}`; "
        "run from another folder, or take that folder off PYTHONPATH."
    )


def _own_place(point: metadata.EntryPoint, name: str) -> Path | None:
    """Return the folder of the package `name` that a distribution installed.

    None if it is not known. This happens for a module in a single file, and for an editable install of
    another distribution.
    """
    if point.dist is None:
        return None
    if _owner(point) == "dp-audit":
        return Path(__file__).resolve().parent.parent / name
    place = Path(str(point.dist.locate_file(name))).resolve()
    return place if place.is_dir() else None


def _found_place(name: str) -> Path | None:
    """Return the folder or file that ``import name`` finds now."""
    spec = spec_of(name)
    if spec is None:
        return None
    if spec.origin is not None:
        origin = Path(spec.origin).resolve()
        return origin.parent if origin.name == "__init__.py" else origin
    locations = list(spec.submodule_search_locations or ())
    return Path(locations[0]).resolve() if locations else None


def spec_of(name: str) -> ModuleSpec | None:
    """Return the spec of a module without importing it. None if it is not found."""
    try:
        return util.find_spec(name)
    except (ImportError, ValueError, AttributeError):  # a module made by hand, or the running script
        return None


def _owner(point: metadata.EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.name


def new_module(
    name: str, place: Path | str, *, parts: list[str] | None = None
) -> tuple[ModuleType, Callable[[], None]]:
    """Return a new module for a file, and a function that runs the file in it.

    The module is in ``sys.modules``.

    Parameters
    ----------
    name
        The name of the module in ``sys.modules``.
    place
        The file.
    parts
        The folders with the modules of a package; None for a module.

    Raises
    ------
    ImportError
        The file cannot be loaded as a Python module.
    """
    spec = util.spec_from_file_location(name, place, submodule_search_locations=parts)
    if spec is None or spec.loader is None:
        raise ImportError(f"{place} cannot be loaded as a module")
    module = sys.modules[name] = util.module_from_spec(spec)
    return module, partial(spec.loader.exec_module, module)
