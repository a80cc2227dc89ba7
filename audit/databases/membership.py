"""Decide whether a database belongs to a domain."""

import copy
from collections.abc import Callable, Container, Iterable
from typing import Any

import numpy as np

from audit.errors import InvalidKind, Parameter
from audit.relations.records import is_labelled, kind_of, records_of
from audit.values import canonical
from audit.values.brief import show


def says(valid: Callable[[Any], Any], database: Any) -> bool:
    """Return whether the user's `valid` allows a database.

    `valid` gets a copy, so it may sort or pop.

    Raises
    ------
    InvalidValue, InvalidKind
        `valid` fails, or returns something other than True or False.

    Examples
    --------
    >>> says(lambda database: database == sorted(database), [2, 1])
    False
    >>> says(len, [2, 1])
    Traceback (most recent call last):
    audit.errors.InvalidKind: The `valid` must return True or False; got 2 for [2, 1].
    """
    try:
        answer = valid(copy.copy(database))
    except Exception as error:  # noqa: BLE001 - the user's own code
        raise Parameter("valid").wrong(
            "must return True or False for every sequence of records; "
            f"on {show(database)} it raised {type(error).__name__}: {error}."
        ) from None
    if not isinstance(answer, bool | np.bool_):
        said = f"must return True or False; got {show(answer)} for {show(database)}."
        raise Parameter("valid").wrong(said, kind=InvalidKind)
    return bool(answer)


class KnownRecords:
    """The records that a domain is known to have, compared by type and value.

    Parameters
    ----------
    records
        The records.
    crossed
        Whether every x may be combined with every y, for records (x, y).
    plain
        Records that a strategy can give according to its `repr`. If None, there is no strategy.

    Examples
    --------
    >>> KnownRecords([1, 2]).make([2, 2, 1]), KnownRecords([1, 2]).make([2.0])
    (True, False)
    >>> KnownRecords([(0, "a"), (1, "b")], crossed=True).make([(0, "b")])
    True
    """

    def __init__(
        self, records: Iterable[Any], *, crossed: bool = False, plain: Container[Any] | None = None
    ) -> None:
        known, self._plain = list(records), plain
        self._values = {canonical.key(record) for record in known}
        self._forms = {(type(record), canonical.key(record)) for record in known}
        labelled = [record for record in known if crossed and is_labelled(record)]
        self._x = {(type(record), canonical.key(record[0])) for record in labelled}
        self._y = {(type(record), canonical.key(record[1])) for record in labelled}

    def make(self, database: Any) -> bool:
        """Return whether every record of a database is known. In an array only the values have to match."""
        if kind_of(database) == "array":
            return all(canonical.key(record) in self._values for record in records_of(database))
        return all(self._has(record) for record in records_of(database))

    def _has(self, record: Any) -> bool:
        kind = type(record)
        if (kind, canonical.key(record)) in self._forms or record in (self._plain or ()):
            return True
        if not is_labelled(record):
            return False
        return (kind, canonical.key(record[0])) in self._x and (kind, canonical.key(record[1])) in self._y
