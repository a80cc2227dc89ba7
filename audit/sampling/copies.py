"""Copies of databases for code that may change them.

Such code is a learner, or the problem that measures its error.
"""

import contextlib
import operator
import pickle
from copy import deepcopy
from typing import Any, Final

import numpy as np

from audit.sampling.snapshots import cannot_change
from audit.values.canonical import same

#: The message about a problem that changes a database.
CHANGES: Final = "changes the database that is passed to its `error`; let it work on a copy"


class Watch:
    """Detects whether a problem changes its database.

    The problem measures the error of an output on the database. If the database is cheap to copy, the problem
    always gets a copy.

    If a copy costs more and `look` is set, two copies are made. The problem gets one copy, and a comparison
    with the other copy shows a change. This does not work for a database that does not equal its own copy.

    Parameters
    ----------
    database
        The database.
    look
        Whether to watch for changes.

    Attributes
    ----------
    given
        The database to give to the problem.

    Examples
    --------
    >>> database = [[2, 1]]
    >>> watch = Watch(database)
    >>> watch.trouble()
    ''
    >>> watch.given[0].sort()
    >>> database, watch.trouble()
    ([[2, 1]], 'changes the database that is passed to its `error`; let it work on a copy')
    """

    def __init__(self, database: Any, *, look: bool = True) -> None:
        container = isinstance(database, (list, dict, set, bytearray, np.ndarray))
        self.given = spare(database)
        self.kept: Any = None
        if look and container and self.given is database:
            one, other = copied(database), copied(database)
            if one is not database and _equal(one, other):
                self.given, self.kept = one, other

    def trouble(self) -> str:
        """Return a message if the problem has changed the database `given`.

        If it has not, return an empty text.
        """
        return "" if self.kept is None or _equal(self.given, self.kept) else CHANGES


def copied(database: Any) -> Any:
    """Return a copy of a database for the learner.

    Records that cannot change are shared, not copied.

    Examples
    --------
    >>> database = [[0], (1, "a")]
    >>> copy = copied(database)
    >>> copy == database, copy[0] is database[0]
    (True, False)
    """
    cheap = spare(database)
    if cheap is not database or cannot_change((database,)):
        return cheap
    for copy in (_pickled, deepcopy):  # pickle first: a record's own `__deepcopy__` may return the record
        with contextlib.suppress(Exception):  # a user's object may raise anything
            return copy(database)
    return database


def _pickled(database: Any) -> Any:
    return pickle.loads(pickle.dumps(database, pickle.HIGHEST_PROTOCOL))  # noqa: S301  our own, just now


def spare(database: Any) -> Any:
    """Return a copy that the problem's `error` may change.

    If a copy is costly, return the database itself. Arrays of plain values are cheap to copy, and so are
    lists whose records cannot change.

    Examples
    --------
    >>> database = [1, 2]
    >>> spare(database) == database, spare(database) is database
    (True, False)
    """
    if isinstance(database, np.ndarray):
        return database if database.dtype.hasobject else database.copy()
    return list(database) if type(database) is list and cannot_change(database) else database


def _equal(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except Exception:  # noqa: BLE001  arrays have no truth, and an object of the user's may raise anything
        return same(one, other)


def changed(given: Any, database: Any) -> bool:
    """Return whether the learner changed its copy. Only cheap comparisons are made."""
    if type(given) is list and type(database) is list:
        if len(given) == len(database) and not any(map(operator.is_not, given, database)):
            return False
        if len(given) != len(database) or not cannot_change(database):
            return not _equal(given, database) and _equal(copied(database), database)
        return True
    if isinstance(given, np.ndarray) and isinstance(database, np.ndarray) and not database.dtype.hasobject:
        return given.shape != database.shape or given.tobytes() != database.tobytes()
    return False
