"""Neighbours by any relation, of one database or among several.

An error of a custom relation is reported as the relation's error. The answers of a custom relation are
checked.
"""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import combinations, islice
from typing import Any

from audit.errors import AuditError, SubjectError, blamed
from audit.relations import Relation, check_pair, name_of
from audit.relations.kinds import objection
from audit.values import canonical
from audit.values.brief import show


def are_neighbours(relation: Any, left: Any, right: Any) -> bool:
    """Return whether two databases are neighbours. It is False if a custom relation fails.

    Examples
    --------
    >>> are_neighbours(Relation.REPLACE_ONE, [0, 1], [1, 1])
    True
    """
    return objection(relation, left, right) is None


def neighbours_of(relation: Any, database: Any, records: list[Any] | None, rng: Any = None) -> Iterator[Any]:
    """Yield the neighbours that a relation lists. Those of a custom relation are checked.

    Raises
    ------
    InvalidValue
        The relation lists a database that is not a neighbour.
    SubjectError
        The relation fails.

    Examples
    --------
    >>> list(neighbours_of(Relation.REPLACE_ONE, [0], [0, 1, 2]))
    [[1], [2]]
    """
    if isinstance(relation, Relation):
        yield from relation.neighbours(database, records, rng)
        return
    with blamed(f"`neighbours` of {name_of(relation)} failed on {show(database)}", passing=(AuditError,)):
        for other in relation.neighbours(database, records, rng):
            check_pair(relation, database, other)
            yield other


def listed(
    relation: Any, databases: list[list[Any]], records: list[Any], *, most: int
) -> list[tuple[int, int]] | None:
    """Return the pairs of neighbours that a relation lists, as indices i < j.

    Return None if there are more than `most`.

    Parameters
    ----------
    relation
        The relation. A custom relation may list a pair from one of its databases only.
    databases, records
        The databases, and the records they consist of.
    most
        The largest number of pairs.

    Examples
    --------
    >>> listed(Relation.REPLACE_ONE, [[0], [1]], [0, 1], most=9)
    [(0, 1)]
    """
    place, both_ways = _Places(databases, records), isinstance(relation, Relation)
    pairs: dict[tuple[int, int], None] = {}
    for i, database in enumerate(databases):
        for other in islice(neighbours_of(relation, database, records), most):
            j = place.of(other)
            if j is not None and (i < j or (i > j and not both_ways)):
                pairs[min(i, j), max(i, j)] = None
                if len(pairs) > most:
                    return None
    return list(pairs)


def refuse_unlisted(databases: Sequence[Any], pairs: Iterable[tuple[int, int]], relation: Any) -> None:
    """Raise an error if a custom relation does not list all its neighbours.

    Raises
    ------
    SubjectError
        The relation calls two databases neighbours in at least one order, but `pairs` lacks their pair.

    Examples
    --------
    >>> from audit.relations import Relation
    >>> refuse_unlisted([[0], [1]], [(0, 1)], Relation.REPLACE_ONE)
    """
    known = set(pairs)
    for i, j in combinations(range(len(databases)), 2):
        left, right = databases[i], databases[j]
        if (i, j) not in known and (_calls(relation, left, right) or _calls(relation, right, left)):
            raise SubjectError(
                f"`are_neighbours` of {name_of(relation)} calls {show(left)} and {show(right)} neighbours, "
                "but its `neighbours` lists neither from the other."
            )


def _calls(relation: Any, left: Any, right: Any) -> bool:
    """Return whether a relation calls two databases neighbours."""
    try:
        return bool(relation.are_neighbours(left, right)) and are_neighbours(relation, left, right)
    except Exception:  # noqa: BLE001 - the user's own code; if it fails, they are not neighbours
        return False


class _Places:
    """Finds databases in a list, by identity of the records or by key."""

    def __init__(self, databases: list[list[Any]], records: Sequence[Any]) -> None:
        self._databases = databases
        self._number = {id(record): number for number, record in enumerate(records)}
        self._by_numbers = {self._numbers(database): i for i, database in enumerate(databases)}

    def _numbers(self, database: list[Any]) -> tuple[int, ...]:
        return tuple([self._number[id(record)] for record in database])

    @cached_property
    def _by_key(self) -> dict[Any, int]:
        return {canonical.key(database): i for i, database in enumerate(self._databases)}

    def of(self, database: Any) -> int | None:
        """Return the index of a database in the list, or None if it is not there."""
        if type(database) is list:
            with contextlib.suppress(KeyError):
                return self._by_numbers.get(self._numbers(database))
        return self._by_key.get(canonical.key(database))
