"""The exact loss of a subject over all databases of one size."""

from __future__ import annotations

from itertools import combinations_with_replacement, product
from typing import TYPE_CHECKING, Any

from audit.laws.exact import compare_pairs

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["worst"]


def worst(subject: Any, size: int, *, sorted_only: bool = False) -> tuple[float, float]:
    """Return the largest ε, and the largest δ at the claimed ε.

    Parameters
    ----------
    subject
        Has `records`, `relation`, `distribution` and `claim`.
    size
        The number of records in a database.
    sorted_only
        True if the order of records does not matter to the subject. Only sorted databases are then tried.

    Examples
    --------
    >>> from mechanisms import RandomizedResponse
    >>> worst(RandomizedResponse(epsilon=0.5), 1)
    (0.5, 0.0)
    """
    found = compare_pairs(_pairs(subject, size, sorted_only=sorted_only), subject.distribution, subject.claim)
    return float(found.epsilon), float(found.delta)


def _pairs(subject: Any, size: int, *, sorted_only: bool) -> Iterator[tuple[list[Any], list[Any]]]:
    records = list(subject.records)
    many = combinations_with_replacement(records, size) if sorted_only else product(records, repeat=size)
    for rows in map(list, many):
        for neighbour in subject.relation.neighbours(rows, records):
            yield rows, list(neighbour)
