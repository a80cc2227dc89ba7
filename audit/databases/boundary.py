"""Databases and records at the edges of a domain, where faults show most often."""

import contextlib
import math
from collections.abc import Iterator, Sequence
from typing import Any

from audit.databases.variations import simplicity
from audit.relations.records import records_of

#: Larger: more neighbours of a vector of answers are tried. `_FAR` of them change the most coordinates,
#: `_NEAR` the fewest.
_FAR, _NEAR = 12, 4
#: Larger `_STRANGE`: more strange records are tried, one at a time. Larger `_FEW`: the databases that get
#: them have more records, if the domain allows that.
_STRANGE, _FEW = 20, 3


def far_and_near(database: Any, neighbours: Iterator[Any]) -> list[Any]:
    """Return neighbours of a vector of answers.

    Most of them change the most answers. A few change the fewest.

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
    """Return the simplest record, then the others, strangest first.

    Infinite, missing and huge records are strange. If there are more than `most`, half are the strangest and
    half are spread over the rest.

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
    """Yield databases, each with a strange record to add to it.

    Each database repeats the simplest record. At last, a database has several strange records, and the record
    to add is one of them.

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
    """Yield databases of one size, made of two extreme records.

    Their records are all equal, have one outlier, or are half and half.

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
    """Return the extreme records and some between them.

    They are sorted if possible, and NaN comes second.

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
