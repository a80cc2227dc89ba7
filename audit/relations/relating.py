"""Asking a relation for neighbours: one of the toolkit's or, with care, one of the user's own."""

from collections.abc import Iterator
from typing import Any

from audit.errors import AuditError, InvalidValue, SubjectError
from audit.relations import Relation, check_pair, name_of
from audit.values.brief import show


def are_neighbours(relation: Any, left: Any, right: Any) -> bool:
    """Return whether two databases are neighbours; where a relation of the user's fails, they are not.

    Examples
    --------
    >>> are_neighbours(Relation.REPLACE_ONE, [0, 1], [1, 1])
    True
    """
    if isinstance(relation, Relation):
        return relation.are_neighbours(left, right)
    try:
        check_pair(relation, left, right)
    except InvalidValue:
        return False
    return True


def neighbours_of(relation: Any, database: Any, records: list[Any] | None, rng: Any = None) -> Iterator[Any]:
    """Return the neighbours that a relation lists; one of the user's must also call them neighbours.

    Raises
    ------
    InvalidValue
        It lists one that is none.
    SubjectError
        It fails.

    Examples
    --------
    >>> list(neighbours_of(Relation.REPLACE_ONE, [0], [0, 1, 2]))
    [[1], [2]]
    """
    if isinstance(relation, Relation):
        yield from relation.neighbours(database, records, rng)
        return
    try:
        for other in relation.neighbours(database, records, rng):
            check_pair(relation, database, other)
            yield other
    except AuditError:
        raise
    except Exception as error:
        raise SubjectError(
            f"`neighbours` of {name_of(relation)} failed on {show(database)}: {type(error).__name__}: {error}"
        ) from error
