"""The database that a mechanism gets: a copy, so that nothing it does to it goes unseen."""

import contextlib
import pickle
from typing import Any

from audit.errors import AuditError
from audit.sampling.snapshots import snapshot
from audit.values.canonical import same


class MutatedInput(AuditError):  # noqa: N818  it is a fact about the mechanism, not a failure of ours
    """The mechanism changed the database that it was given; each run needs a copy of its own."""


class Input:
    """A database and the copy of it that runs are given.

    Parameters
    ----------
    database
        The database; it is never given away unless it cannot be copied.
    every_run
        Whether every run gets a copy of its own.

    Examples
    --------
    >>> given = Input([1, 2])
    >>> given().append(3)
    >>> given.check()
    Traceback (most recent call last):
    audit.sampling.inputs.MutatedInput: The mechanism changes the database that it is given.
    """

    def __init__(self, database: Any, *, every_run: bool = False) -> None:
        self._pristine = database
        self._every_run = every_run
        self._immutable = snapshot(database) is database
        # A run that has a copy of its own needs no comparison: nothing is pickled, which may import a module.
        self._text = None if self._immutable or every_run else _pickled(database)
        self._given = database
        if self._text is not None:
            self._given = pickle.loads(self._text)  # noqa: S301  written a moment ago by ourselves
        elif not every_run:
            self._given = snapshot(database)

    def __call__(self) -> Any:
        """Return what the next run is given."""
        return snapshot(self._pristine) if self._every_run else self._given

    @property
    def constant(self) -> bool:
        """Whether every run is given the same object."""
        return not self._every_run or self._immutable

    def check(self) -> None:
        """Compare what was given with the database.

        Raises
        ------
        MutatedInput
            A run changed it.
        """
        if self.constant and not self._immutable and self._changed():
            raise MutatedInput("The mechanism changes the database that it is given.")

    def _changed(self) -> bool:
        if self._text is not None and _pickled(self._given) == self._text:
            return False
        equals = getattr(self._pristine, "equals", None)  # frames have lazy internals
        if callable(equals):
            with contextlib.suppress(Exception):  # somebody else's method of that name
                return not equals(self._given)
        return not same(self._given, self._pristine)


def _pickled(database: Any) -> bytes | None:
    try:
        return pickle.dumps(database, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception:  # noqa: BLE001  an object of the user's may refuse in any way
        return None
