"""Which of the named things a pattern on the command line means."""

from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING, TypeVar

from audit.errors import AuditError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["matching"]

_Thing = TypeVar("_Thing")


def matching(
    offered: Mapping[str, _Thing], pattern: str | None, *, what: str, shown: str
) -> dict[str, _Thing]:
    """Return what has this name or matches this pattern, in order; everything where no pattern is given.

    Raises
    ------
    AuditError
        Nothing does: one line, with the command that shows all names (`shown`).

    Examples
    --------
    >>> matching({"E1": 1, "E2": 2, "N1": 3}, "E*", what="finding", shown="`list` names them")
    {'E1': 1, 'E2': 2}
    """
    if pattern is None:
        return dict(offered)
    found = {
        name: thing
        for name, thing in offered.items()
        if pattern == name or fnmatch.fnmatchcase(name, pattern)
    }
    if not found:
        raise AuditError(f"No {what} is called `{pattern}`; {shown}.")
    return found
