"""Copies of inputs and outputs. So later changes by the mechanism are detected or have no effect."""

import contextlib
import copy
import decimal
import enum
import fractions
import pickle
from itertools import chain
from typing import Any, Final

import numpy as np

from audit.errors import AuditError
from audit.sampling.watch import TimeLimit, in_words
from audit.values.canonical import same
from audit.values.outcomes import Raised, Unfinished

_SCALARS: Final = {
    *(bool, int, float, complex, str, bytes, type(None), type(...), range),
    *(decimal.Decimal, fractions.Fraction, Raised, Unfinished),
}
IMMUTABLE: Final = frozenset(_SCALARS | {kind for kind in np.sctypeDict.values() if kind is not np.void})
#: If all its values are immutable, a container of one of these types is copied by calling its type. Keys of a
#: dict are hashable, so they count as immutable.
_FLAT: Final = frozenset({tuple, frozenset, list, set, dict})
#: Tuples nested deeper than this are copied without a check whether they are immutable.
_DEEPEST: Final = 8


def snapshot(output: Any) -> Any:
    """Return a copy of an output.

    If the output is immutable or cannot be copied, return the output itself.

    Examples
    --------
    >>> buffer = [1, 2]
    >>> kept = snapshot(buffer)
    >>> buffer.append(3)
    >>> kept
    [1, 2]
    """
    kind = type(output)
    if kind in IMMUTABLE:
        return output
    if kind is np.ndarray and not output.dtype.hasobject:
        return output.copy()
    if kind in _FLAT and IMMUTABLE.issuperset(map(type, output.values() if kind is dict else output)):
        return kind(output)
    if issubclass(kind, enum.Enum | type):  # `isinstance` asks the output, whose answer may be false
        return output
    try:
        return _copied(output)
    except Exception:  # noqa: BLE001  an object of the user's may refuse in any way
        return output


def _copied(output: Any) -> Any:
    kind = type(output)
    if kind is memoryview:
        return memory(output.tobytes(), output.format, output.shape)
    if kind is tuple:
        return tuple(map(snapshot, output))
    return list(output) if kind is list and cannot_change(output) else copy.deepcopy(output)


def cannot_change(records: Any) -> bool:
    """Return whether no record can change.

    Such a record is a plain value, or a tuple or frozenset of such records. A record that is only hashable
    can still change.
    """
    for _ in range(_DEEPEST):
        kinds = set(map(type, records))
        if kinds <= IMMUTABLE:
            return True
        if not kinds - {tuple, frozenset} <= IMMUTABLE:
            return False
        once = dict(zip(map(id, records), records, strict=True)).values()
        records = list(chain.from_iterable(held for held in once if type(held) in (tuple, frozenset)))
    return False


def memory(content: bytes, kind: Any, shape: Any) -> Any:
    """Return a memory view of a copy of the content.

    Examples
    --------
    >>> memory(bytes(4), "B", (2, 2)).tolist()
    [[0, 0], [0, 0]]
    """
    flat: Any = memoryview(content).cast(kind)
    return flat.cast("B").cast(kind, shape) if len(shape) > 1 and content else flat


def outcome_of(error: BaseException, *, limit: float) -> Raised | Unfinished:
    """Return the outcome of a run that ended with an error.

    `limit` is the time limit of a run in seconds.

    Examples
    --------
    >>> outcome_of(SystemExit(3), limit=10)
    Raised(kind='SystemExit', message='3')
    >>> outcome_of(TimeLimit(), limit=10)
    Unfinished(reason='time limit of 10 s')
    """
    if isinstance(error, TimeLimit):
        return Unfinished(in_words(limit))
    return Unfinished("out of memory") if isinstance(error, MemoryError) else Raised.of(error)


class MutatedInput(AuditError):  # noqa: N818  a fact about the mechanism, not an error of ours
    """The mechanism changed its database, so each run needs its own copy."""


class Input:
    """A database with the copy of it that the runs get.

    Parameters
    ----------
    database
        The database. If it cannot be copied, the runs get the original.
    every_run
        Whether every run gets its own copy.

    Examples
    --------
    >>> given = Input([1, 2])
    >>> given().append(3)
    >>> given.check()
    Traceback (most recent call last):
    audit.sampling.snapshots.MutatedInput: The mechanism changes the database that it is given.
    """

    def __init__(self, database: Any, *, every_run: bool = False) -> None:
        self._pristine = database
        self._every_run = every_run
        self._given = snapshot(database)
        self._immutable = self._given is database
        # If every run gets a copy, no comparison is needed. This avoids pickling, which may import modules.
        self._text = None if self._immutable or every_run else _pickled(database)
        if self._text is not None:
            self._given = pickle.loads(self._text)  # noqa: S301  written a moment ago by ourselves

    def __call__(self) -> Any:
        """Return the database for the next run."""
        return snapshot(self._pristine) if self._every_run else self._given

    @property
    def constant(self) -> bool:
        """Whether all runs get the same object as their database."""
        return not self._every_run or self._immutable

    def check(self) -> None:
        """Compare the copy that the runs got with the database.

        Raises
        ------
        MutatedInput
            A run changed its database.
        """
        if self.constant and not self._immutable and self._changed():
            raise MutatedInput("The mechanism changes the database that it is given.")

    def _changed(self) -> bool:
        if self._text is not None and _pickled(self._given) == self._text:
            return False
        equals = getattr(self._pristine, "equals", None)  # frames fill some internals in later
        if callable(equals):
            with contextlib.suppress(Exception):  # the method of this name may belong to another library
                return not equals(self._given)
        return not same(self._given, self._pristine)


def _pickled(database: Any) -> bytes | None:
    try:
        return pickle.dumps(database, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception:  # noqa: BLE001  an object of the user's may refuse in any way
        return None
