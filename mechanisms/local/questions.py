"""Checks of questions to the LR oracle."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np

from audit.errors import InvalidKind, InvalidValue

__all__ = ["Query", "checked_queries", "checked_query", "places_of"]

Query: TypeAlias = tuple[Any, Any]
"""A question, which is entries and the randomizer that they use."""


def checked_query(query: Any) -> Query:
    """Return a question as it is, if it is a pair.

    Examples
    --------
    >>> checked_query(3)
    Traceback (most recent call last):
    audit.errors.InvalidKind: A question to local entries must be a pair (entries, randomizer); got 3.
    """
    if not isinstance(query, (tuple, list)) or len(query) != 2:
        raise InvalidKind(
            f"A question to local entries must be a pair (entries, randomizer); got {query!r:.60}."
        )
    return query[0], query[1]


def checked_queries(queries: Any) -> tuple[Query, ...]:
    """Return several questions as they are, if they are pairs.

    Examples
    --------
    >>> checked_queries(None)
    Traceback (most recent call last):
    audit.errors.InvalidKind: Questions to local entries must be a list of (entries, randomizer); got None.
    """
    if not isinstance(queries, Iterable):
        raise InvalidKind(
            f"Questions to local entries must be a list of (entries, randomizer); got {queries!r:.60}."
        )
    return tuple(map(checked_query, queries))


def places_of(entries: Any, size: int) -> Any:
    """Return indices as an int, a slice or an array.

    Examples
    --------
    >>> places_of([2, 0], 3), places_of(range(3), 3), places_of(1, 3)
    (array([2, 0]), slice(0, 3, None), 1)
    >>> places_of(3, 3)
    Traceback (most recent call last):
    audit.errors.InvalidValue: An index of the oracle must be one of 0 … 2; got 3.
    """
    if isinstance(entries, range) and entries.step == 1 and 0 <= entries.start < entries.stop <= size:
        return slice(entries.start, entries.stop)
    places = np.asarray(entries)
    if places.dtype.kind not in "iu" and places.size:
        raise InvalidKind(f"The entries of a question must be indices; got {entries!r:.40}.")
    if places.ndim > 1:
        raise InvalidValue(f"The entries of a question must be a list of indices; got shape {places.shape}.")
    outside = (places < 0) | (places >= size)
    if outside.any():
        wrong = places[outside].ravel()[0]
        raise InvalidValue(
            f"An index of the oracle must be one of 0 … {size - 1}; got {wrong}."
            if size
            else f"An oracle without entries must be asked none; got index {wrong}."
        )
    return int(places) if places.ndim == 0 else places.astype(np.intp)
