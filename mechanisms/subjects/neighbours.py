"""The worst neighbours of a query, for the audit to try first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import nlargest
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from audit.relations import Relation

__all__ = ["Pair", "widest_pairs"]

Pair: TypeAlias = tuple[Sequence[Any], Sequence[Any]]

_EXAMINED = 256
"""The most neighbours that are examined."""


def widest_pairs(
    change: Callable[[Any, Any], float],
    *,
    relation: Relation,
    records: Sequence[Any],
    size: int | tuple[int, int],
    limit: int = 3,
) -> list[Pair]:
    """Return pairs of neighbours between which a query moves furthest.

    The left databases have equal records. The pair with the largest move comes first.

    Parameters
    ----------
    change
        A function of two databases that returns how far the query moves, for example |f(left) − f(right)|.
    relation
        What makes two databases neighbours.
    records
        A finite domain.
    size
        The length of the databases, or the least and the greatest length. The greatest is used.
    limit
        How many pairs to return.

    Examples
    --------
    >>> from audit.relations import Relation
    >>> widest_pairs(lambda left, right: abs(sum(left) - sum(right)),
    ...              relation=Relation.REPLACE_ONE, records=[0, 2, 5], size=2, limit=1)
    [([0, 0], [5, 0])]
    """
    pairs = islice(_pairs(relation, list(records), size if isinstance(size, int) else size[1]), _EXAMINED)
    return nlargest(limit, pairs, key=lambda pair: change(*pair))


def _pairs(relation: Relation, records: list[Any], length: int) -> Iterator[Pair]:
    for record in records:
        database = [record] * length
        for neighbour in relation.neighbours(database, records):
            yield database, neighbour
