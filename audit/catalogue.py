"""The catalogue: named subjects of every installed distribution that offers some."""

from __future__ import annotations

from collections import Counter
from dataclasses import KW_ONLY, dataclass, field
from importlib import metadata, util
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from audit.errors import AuditError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["GROUP", "Entry", "load_catalogue"]

GROUP = "dp_audit.catalogue"


@dataclass(frozen=True)
class Entry:
    """A subject with a name, what is known of it, and how it is audited.

    Parameters
    ----------
    name
        Unique in the catalogue, as written on the command line: ``laplace``, ``laplace-half-noise``.
    factory
        Builds the subject. A class whose keywords are the subject's parameters lets the command line set
        them (``--set epsilon=0.5``).
    options
        Keywords of `audit_privacy` that this entry needs (``records``, ``size``, ``pairs``, …; ``claim``
        for a factory whose subject carries none).
    expected
        ``"not refuted"``, or ``"refuted"`` for an entry of the flawed gallery.
    reference
        The document and statement that the subject implements, or that the flaw breaks.
    summary
        One line for ``dp-audit list``.

    Examples
    --------
    >>> entry = Entry("always-zero", lambda: (lambda database: 0), summary="answers 0")
    >>> entry.expected, entry.factory()([1, 2])
    ('not refuted', 0)
    """

    name: str
    factory: Callable[..., Any]
    _: KW_ONLY
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    expected: Literal["refuted", "not refuted"] = "not refuted"
    reference: str = ""
    summary: str = ""


def load_catalogue() -> list[Entry]:
    """Return every entry offered by the installed distributions, in the order of their names and their own.

    Each entry point of the group ``dp_audit.catalogue`` resolves to a callable without arguments that returns
    a list of `Entry`.

    Raises
    ------
    AuditError
        An entry point does not import or is shadowed by a module of the same name, or two entries share
        a name.

    Examples
    --------
    >>> isinstance(load_catalogue(), list)
    True
    """
    points = sorted(metadata.entry_points(group=GROUP), key=lambda point: (point.name, point.value))
    entries = [entry for point in points for entry in _entries(point)]
    twice = [name for name, times in Counter(entry.name for entry in entries).items() if times > 1]
    if twice:
        raise AuditError(f"Names in the catalogue must be unique; got `{twice[0]}` more than once.")
    return entries


def _entries(point: metadata.EntryPoint) -> list[Entry]:
    _refuse_shadow(point)
    try:
        return list(point.load()())
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise AuditError(
            f"The catalogue `{point.value}` of {_owner(point)} does not load: {reason}"
        ) from error


def _refuse_shadow(point: metadata.EntryPoint) -> None:
    """Refuse to run a stranger's module that only has the same name as the one meant.

    Loading ours in its place would hand the wrong module to the project that has its own.
    """
    name = point.module.partition(".")[0]
    expected, found = _own_place(point, name), _found_place(name)
    if expected is None or found is None or expected == found:
        return
    raise AuditError(
        f"The catalogue of {_owner(point)} is not available here: {found} shadows its package `{name}` "
        "(run from another folder, or take that folder off PYTHONPATH).",
    )


def _own_place(point: metadata.EntryPoint, name: str) -> Path | None:
    """Return the distribution's own folder; None where it cannot be told (others' editable installs)."""
    if point.dist is None:
        return None
    if _owner(point) == "dp-audit":
        return Path(__file__).resolve().parent.parent / name
    place = Path(str(point.dist.locate_file(name))).resolve()
    return place if place.is_dir() else None


def _found_place(name: str) -> Path | None:
    """Return the folder that ``import name`` gives now, or the file if it is no package."""
    try:
        spec = util.find_spec(name)
    except ValueError:  # a module without a spec: put there by hand, so nobody's distribution
        return None
    if spec is None:
        return None
    if spec.origin is not None:
        origin = Path(spec.origin).resolve()
        return origin.parent if origin.name == "__init__.py" else origin
    locations = list(spec.submodule_search_locations or ())
    return Path(locations[0]).resolve() if locations else None


def _owner(point: metadata.EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.name
