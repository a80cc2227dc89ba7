"""Copies of databases: for a learner, and for the problem that measures its output, which may change them."""

from __future__ import annotations

import operator
from copy import deepcopy
from itertools import islice
from typing import Any, Final

import numpy as np

from audit.canonical import same

__all__ = ["CHANGES", "Watch", "changed", "copied", "spare"]

#: What is said of a problem that changes a database.
CHANGES: Final = "changes the database that its `error` is given; let it work on a copy"
_LOOKED_AT = 64


class Watch:
    """Sees whether a problem changes the database that it measures an output against.

    Only containers that are dear to copy are watched, by two copies, one of which the problem gets: what does
    not equal its own copy cannot be. Of what is cheap to copy the problem always gets a copy.

    Parameters
    ----------
    database
        The database.
    look
        Whether to look at all.

    Attributes
    ----------
    given
        What the problem is to be given.

    Examples
    --------
    >>> database = [[2, 1]]
    >>> watch = Watch(database)
    >>> watch.trouble()
    ''
    >>> watch.given[0].sort()
    >>> database, watch.trouble()
    ([[2, 1]], 'changes the database that its `error` is given; let it work on a copy')
    """

    def __init__(self, database: Any, *, look: bool = True) -> None:
        dear = isinstance(database, (list, dict, set, bytearray, np.ndarray)) and not _is_cheap(database)
        self.given = spare(database)
        self.kept: Any = None
        if look and dear:
            one, other = copied(database), copied(database)
            if one is not database and _equal(one, other):
                self.given, self.kept = one, other

    def trouble(self) -> str:
        """Say in words that what was given is no longer what it was."""
        return "" if self.kept is None or _equal(self.given, self.kept) else CHANGES


def copied(database: Any) -> Any:
    """Return a copy for the learner, deep only where records can change."""
    if isinstance(database, np.ndarray):
        return deepcopy(database) if database.dtype.hasobject else database.copy()
    if type(database) is list and all(_hashable(record) for record in islice(database, _LOOKED_AT)):
        return list(database)
    if type(database) in (int, float, str, bytes, tuple, frozenset) and _hashable(database):
        return database
    try:
        return deepcopy(database)
    except Exception:  # noqa: BLE001  an object of the user's may refuse in any way
        return database


def _is_cheap(database: Any) -> bool:
    """Tell whether a copy costs no more than the places of its records do, or none is needed."""
    if isinstance(database, np.ndarray):
        return not database.dtype.hasobject
    if type(database) is list:
        return all(_hashable(record) for record in islice(database, _LOOKED_AT))
    return _hashable(database)


def spare(database: Any) -> Any:
    """Return a copy for the problem's error where that is cheap, for it may change what it is given.

    Examples
    --------
    >>> database = [1, 2]
    >>> spare(database) == database, spare(database) is database
    (True, False)
    """
    return copied(database) if isinstance(database, (list, np.ndarray)) and _is_cheap(database) else database


def _equal(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except Exception:  # noqa: BLE001  arrays have no truth, and an object of the user's may raise anything
        return same(one, other)


def _hashable(record: Any) -> bool:
    try:
        hash(record)
    except TypeError:
        return False
    return True


def changed(given: Any, database: Any) -> bool:
    """Tell whether the learner changed its copy, as far as that is cheap to see."""
    if type(given) is list and type(database) is list:
        return len(given) != len(database) or (
            all(_hashable(record) for record in islice(database, _LOOKED_AT))
            and any(map(operator.is_not, given, database))
        )
    if isinstance(given, np.ndarray) and isinstance(database, np.ndarray) and not database.dtype.hasobject:
        return given.shape != database.shape or given.tobytes() != database.tobytes()
    return False
