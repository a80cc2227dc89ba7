"""Databases and records at the edges of a domain, where faults show most often."""

import contextlib
import math
from collections.abc import Iterator, Sequence
from typing import Any

from audit.databases.variations import simplicity
from audit.relations.records import records_of

#: Vectors of answers that move most coordinates, and that move fewest.
_FAR, _NEAR = 12, 4
#: Records that are tried one at a time, and the least size of the databases that get them, if they may be so
#: large.
_STRANGE, _FEW = 20, 3


def far_and_near(database: Any, neighbours: Iterator[Any]) -> list[Any]:
    """Return the neighbours of a vector of answers that move most coordinates, and a few that move one.

    Examples
    --------
    >>> far_and_near([0, 0], iter([[0, 1], [1, 1]]))
    [[1, 1], [0, 1]]
    """
    rows = records_of(database)
    moved = sorted(
        neighbours, key=lambda other: sum(a == b for a, b in zip(rows, records_of(other), strict=True))
    )
    return [*moved[:_FAR], *moved[_FAR:][-_NEAR:]]


def strangest(records: Sequence[Any], most: int) -> list[Any]:
    """Return the simplest of the records, then the others, the strangest first: infinite, missing, huge.

    Of more than `most` only half are the strangest, the others are spread over the rest.

    Examples
    --------
    >>> strangest([0.5, 0.0, math.inf, None, 1.0], 9)
    [0.0, inf, None, 0.5, 1.0]
    >>> strangest(range(100), 5)
    [0, 99, 98, 49, 1]
    """
    plain, *others = sorted(records, key=simplicity)
    others.reverse()
    if len(others) >= most:
        rest, places = others[most // 2 :], most - 1 - most // 2
        spread_out = [rest[(len(rest) - 1) * (k + 1) // places] for k in range(places)]
        others = [*others[: most // 2], *spread_out]
    return [plain, *others]


def strange(records: Sequence[Any], low: int, high: int) -> Iterator[tuple[list[Any], Any]]:
    """Yield a plain database with each other record in turn that it may get; last one without ties.

    Examples
    --------
    >>> list(strange([0, 5, None], 1, 2))
    [([0, 0], None), ([0, 0], 5), ([None, 5], None)]
    """
    plain, *others = strangest(records, _STRANGE)
    size = min(max(low, _FEW), high)
    yield from (([plain] * size, record) for record in others)
    if len(others) >= size > 0:
        yield others[:size], others[0]


def edges(size: int, first: Any, last: Any) -> Iterator[list[Any]]:
    """Yield databases of one size made of two extreme records: all equal, one outlier, half and half.

    Examples
    --------
    >>> list(edges(2, 0, 9))
    [[0, 0], [9, 9], [0, 9], [9, 0]]
    """
    yield [first] * size
    yield [last] * size
    if size >= 2:
        yield [first] + [last] * (size - 1)
        yield [last] + [first] * (size - 1)
    if size >= 4:
        yield [first] * (size // 2) + [last] * (size - size // 2)


def spread(records: Sequence[Any], most: int) -> list[Any]:
    """Return the extremes of the records and some between, in order where they have one, NaN second.

    Examples
    --------
    >>> spread(range(11), 3)
    [0, 5, 10]
    """
    missing = [record for record in records if isinstance(record, float) and math.isnan(record)]
    ordered = [record for record in records if not (isinstance(record, float) and math.isnan(record))]
    with contextlib.suppress(TypeError, ValueError):
        ordered = sorted(ordered)
    last = len(ordered) - 1
    places = dict.fromkeys(last * k // (most - 1) for k in range(most)) if ordered else ()
    chosen = [ordered[i] for i in places]
    return [*chosen[:1], *missing[:1], *chosen[1:]]
