"""Which of the named things a pattern on the command line means."""

import difflib
import fnmatch
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from audit.errors import AuditError

_Thing = TypeVar("_Thing")


def matching(
    offered: Mapping[str, _Thing], pattern: str | None, *, what: str, shown: str
) -> dict[str, _Thing]:
    """Return what a pattern means, in order; everything where no pattern is given.

    It means what has this name; else what matches it; else the same whatever the case of its letters; else
    what begins with it, a number being whole: ``E1`` does not begin ``E10``.

    Raises
    ------
    AuditError
        Nothing does; the message has the nearest names and the command that shows all (`shown`).

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
    """Return at most three names: those that hold the pattern, then those spelt alike."""
    low = {name.casefold(): name for name in names}
    wanted = pattern.casefold()
    holding = [name for name in low if wanted and wanted in name]
    alike = difflib.get_close_matches(wanted, low, n=3, cutoff=0.6)
    return [low[name] for name in dict.fromkeys([*holding, *alike])][:3]
