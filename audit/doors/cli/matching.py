"""Select names by a pattern of the command line."""

import difflib
import fnmatch
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from audit.errors import AuditError

_Thing = TypeVar("_Thing")


def matching(
    offered: Mapping[str, _Thing], pattern: str | None, *, what: str, shown: str
) -> dict[str, _Thing]:
    """Return the things whose names a pattern selects, in order.

    Without a pattern, all things are selected. The first of these rules that selects anything applies. The
    name equals the pattern. The name matches the pattern. The name matches the pattern if case is ignored.
    The name begins with the pattern if case is ignored. A number at the end of the pattern must be complete:
    ``E1`` does not select ``E10``.

    Raises
    ------
    AuditError
        Nothing is selected. The message gives the nearest names and the command that shows all (`shown`).

    Examples
    --------
    >>> matching({"E1": 1, "E2": 2, "N1": 3}, "E*", what="finding", shown="`list` shows them")
    {'E1': 1, 'E2': 2}
    >>> matching({"E9 (tight)": 1, "E90": 2}, "e9", what="finding", shown="`list` shows them")
    {'E9 (tight)': 1}
    """
    if pattern is None:
        return dict(offered)
    for means in _readings(pattern):
        found = {name: thing for name, thing in offered.items() if means(name)}
        if found:
            return found
    near = _near(pattern, offered)
    meant = f" (did you mean {' or '.join(f'`{name}`' for name in near)}?)" if near else ""
    raise AuditError(f"No {what} is called `{pattern}`{meant}; {shown}.")


def _readings(pattern: str) -> tuple[Callable[[str], bool], ...]:
    low = pattern.casefold()
    return (
        lambda name: name == pattern,
        lambda name: fnmatch.fnmatchcase(name, pattern),
        lambda name: fnmatch.fnmatchcase(name.casefold(), low),
        lambda name: _begins(name.casefold(), low),
    )


def _begins(name: str, start: str) -> bool:
    cut = start[-1:].isdigit() and name[len(start) :][:1].isdigit()
    return bool(start) and name.startswith(start) and not cut


def _near(pattern: str, names: Iterable[str]) -> list[str]:
    """Return at most three names similar to a pattern. Names that contain the pattern come first."""
    low = {name.casefold(): name for name in names}
    wanted = pattern.casefold()
    holding = [name for name in low if wanted and wanted in name]
    alike = difflib.get_close_matches(wanted, low, n=3, cutoff=0.6)
    return [low[name] for name in dict.fromkeys([*holding, *alike])][:3]
