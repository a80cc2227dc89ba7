"""Steps from one pair of databases to others.

The search takes random steps, and a witness is shrunk by simplifying steps.

A pair is two lists of records that share a beginning and an end and differ in the middle. A step makes the
same change to the shared records of both sides, or changes the middle on one side. The caller must ask the
relation whether the result is a pair of neighbours.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import chain, islice, zip_longest
from typing import Any

import numpy as np

from audit.databases.plain_records import DIGITS, PlainRecords
from audit.events.features.views import as_number, as_vector
from audit.values import canonical
from audit.values.brief import show

#: Larger: more records are tried as the common value of all shared records.
_ALIKE = 4

Rows = list[Any]
RowPair = tuple[Rows, Rows]


def middle(left: Rows, right: Rows) -> tuple[int, int]:
    """Return how many records are shared at the beginning and at the end.

    Examples
    --------
    >>> middle([0, 1, 2], [0, 5, 2]), middle([0, 0], [0]), middle([1], [])
    ((1, 1), (1, 0), (0, 0))
    """
    shortest = min(len(left), len(right))
    start = 0
    while start < shortest and canonical.same(left[start], right[start]):
        start += 1
    end = 0
    while end < shortest - start and canonical.same(left[-1 - end], right[-1 - end]):
        end += 1
    return start, end


def varied(left: Rows, right: Rows, pool: Sequence[Any], rng: np.random.Generator) -> Iterator[RowPair]:
    """Yield random variations of a pair without end. `pool` holds the records to use."""
    if not pool:
        return
    while True:
        yield _any(_STEPS, rng)(list(left), list(right), pool, rng)


def _any(pool: Sequence[Any], rng: np.random.Generator) -> Any:
    return pool[int(rng.integers(len(pool)))]


def _shared(left: Rows, right: Rows) -> list[tuple[int, int]]:
    start, end = middle(left, right)
    return [(i, i) for i in range(start)] + [(len(left) - k, len(right) - k) for k in range(1, end + 1)]


def _change_shared(left: Rows, right: Rows, pool: Sequence[Any], rng: np.random.Generator) -> RowPair:
    places = _shared(left, right)
    return _with_shared(left, right, {_any(places, rng): _any(pool, rng)} if places else {})


def _change_differing(left: Rows, right: Rows, pool: Sequence[Any], rng: np.random.Generator) -> RowPair:
    start, end = middle(left, right)
    for side in (left, right) if rng.random() < 0.5 else (right, left):
        for i in range(start, len(side) - end):
            side[i] = _any(pool, rng)
        if rng.random() < 0.5:
            break
    return left, right


def _add_shared(left: Rows, right: Rows, pool: Sequence[Any], rng: np.random.Generator) -> RowPair:
    record = _any(pool, rng)
    return [record, *left], [record, *right]


def _drop_shared(left: Rows, right: Rows, _pool: Sequence[Any], rng: np.random.Generator) -> RowPair:
    places = _shared(left, right)
    if places:
        i, j = _any(places, rng)
        del left[i], right[j]
    return left, right


def _make_shared_equal(left: Rows, right: Rows, pool: Sequence[Any], rng: np.random.Generator) -> RowPair:
    return _with_shared(left, right, dict.fromkeys(_shared(left, right), _any(pool, rng)))


def _move_differing(left: Rows, right: Rows, _pool: Sequence[Any], rng: np.random.Generator) -> RowPair:
    """Return the pair with its differing records moved to another place."""
    start, end = middle(left, right)
    shared = left[:start] + left[len(left) - end :]
    a, b = left[start : len(left) - end], right[start : len(right) - end]
    place = int(rng.integers(len(shared) + 1))
    return shared[:place] + a + shared[place:], shared[:place] + b + shared[place:]


_STEPS = (_change_shared, _change_differing, _add_shared, _drop_shared, _make_shared_equal, _move_differing)


def simplicity(record: Any) -> tuple[Any, ...]:
    """Return a key that sorts simpler records first.

    Examples
    --------
    >>> sorted([2.5, 0, -1, 100, 1], key=simplicity)
    [0, 1, -1, 100, 2.5]
    """
    number = as_number(record)
    if number is None:
        vector = as_vector(record)
        size = math.inf if vector is None else float(sum(abs(float(x)) for x in vector if not math.isnan(x)))
        text = show(record, 200)
        return (1, len(text) if vector is None else 0, size, text)
    if not math.isfinite(number):
        return (2, 0, math.inf, str(number))
    digits = len(f"{abs(number):.15g}".replace(".", "").strip("0"))
    whole = number == int(number)
    return (0, 0 if whole else digits, abs(number), str(number < 0))


def simplified(
    left: Rows, right: Rows, pool: Sequence[Any], *, plain: PlainRecords | None = None
) -> Iterator[RowPair]:
    """Yield simpler versions of a pair, largest simplification first.

    Parameters
    ----------
    left, right
        The pair.
    pool
        The records to use, simplest first.
    plain
        Additional records that may be used, with rounded numbers, or None.
    """
    start, end = middle(left, right)
    fewer = [*_fewer(left, right, start, end), *_alike(left, right, pool)]
    yield from sorted(fewer, key=lambda rows: len(rows[0]) + len(rows[1]))
    yield from _rounded(left, right, plain)
    yield from _all_at_once(left, right, pool[:3], plain)
    for place in _shared(left, right):
        for record in _simpler(left[place[0]], pool[:3], plain):
            yield _with_shared(left, right, {place: record})
    for side in (0, 1):
        rows = (left, right)[side]
        for i in range(start, len(rows) - end):
            for record in _simpler(rows[i], pool, plain):
                changed = [*rows[:i], record, *rows[i + 1 :]]
                yield (changed, list(right)) if side == 0 else (list(left), changed)


def _rounded(left: Rows, right: Rows, plain: PlainRecords | None) -> Iterator[RowPair]:
    """Yield versions of the pair with every number rounded."""
    if plain is not None:
        for digits in DIGITS:
            rounded = [[plain.rounded(each, digits) for each in rows] for rows in (left, right)]
            yield rounded[0], rounded[1]


def _all_at_once(
    left: Rows, right: Rows, simplest: Sequence[Any], plain: PlainRecords | None
) -> Iterator[RowPair]:
    """Yield versions in which one record replaces many records at once."""
    shared = _shared(left, right)
    for record in simplest:
        yield [record] * len(left), [record] * len(right)
        yield _with_shared(left, right, dict.fromkeys(shared, record))
    for old in _distinct(left, right):
        for record in _simpler(old, simplest, plain):
            yield _everywhere(left, old, record), _everywhere(right, old, record)


def _simpler(record: Any, pool: Sequence[Any], plain: PlainRecords | None) -> Iterator[Any]:
    """Yield simpler records to replace a record, rounded ones first."""
    rounder = iter(()) if plain is None else plain.simpler(record)
    return (each for each in chain(rounder, pool) if simplicity(each) < simplicity(record))


def _distinct(left: Rows, right: Rows) -> Rows:
    """Return the distinct records of a pair, least simple first."""
    found = {canonical.key(record): record for record in (*left, *right)}
    return sorted(found.values(), key=simplicity, reverse=True)


def _everywhere(rows: Rows, old: Any, record: Any) -> Rows:
    return [record if canonical.same(each, old) else each for each in rows]


def _fewer(left: Rows, right: Rows, start: int, end: int) -> Iterator[RowPair]:
    """Yield versions of the pair with fewer shared records, the fewest first."""
    total = start + end
    if total:
        yield _without(left, start, end, set(range(total))), _without(right, start, end, set(range(total)))
    size = total
    while size > 1:
        size = -(-size // 2)
        for first in range(0, total, size):
            block = set(range(first, min(first + size, total)))
            for gone in (set(range(total)) - block, block):
                yield _without(left, start, end, gone), _without(right, start, end, gone)


def _alike(left: Rows, right: Rows, pool: Sequence[Any]) -> Iterator[RowPair]:
    """Yield versions with fewer shared records that are all equal.

    A fault that shows only at large sums disappears when records are dropped, unless the remaining records
    grow.
    """
    start, end = middle(left, right)
    differing = (*left[start : len(left) - end], *right[start : len(right) - end])
    distinct = {canonical.key(record): record for record in (*differing, *pool[-1:], *left)}
    count = (start + end) // 2
    while count:
        for record in islice(distinct.values(), _ALIKE):
            shared = [record] * count
            yield shared + left[start : len(left) - end], shared + right[start : len(right) - end]
        count //= 2


def _without(rows: Rows, start: int, end: int, gone: set[int]) -> Rows:
    """Return the rows without some of the shared records.

    `gone` has the numbers of these records. The records shared at the start are numbered first.
    """
    tail = len(rows) - end
    kept = [row for i, row in enumerate(rows[:start]) if i not in gone]
    return kept + rows[start:tail] + [row for i, row in enumerate(rows[tail:], start) if i not in gone]


def _with_shared(left: Rows, right: Rows, changes: dict[tuple[int, int], Any]) -> RowPair:
    new_left, new_right = list(left), list(right)
    for (i, j), record in changes.items():
        new_left[i] = new_right[j] = record
    return new_left, new_right


def fruitful(found: Iterator[tuple[Any, Any] | None], most: int) -> Iterator[tuple[Any, Any]]:
    """Yield the pairs in `found`.

    Stop after `most` values in a row that are None.

    Examples
    --------
    >>> list(fruitful(iter([None, (1, 2), None, None, (3, 4)]), 2))
    [(1, 2)]
    """
    fruitless = 0
    for pair in found:
        fruitless = fruitless + 1 if pair is None else 0
        if pair is not None:
            yield pair
        elif fruitless >= most:
            return


def by_turns(
    first: Iterator[tuple[Any, Any]], second: Iterator[tuple[Any, Any]]
) -> Iterator[tuple[Any, Any]]:
    """Yield the items of two iterators in turn, then the rest.

    Examples
    --------
    >>> list(by_turns(iter([(1, 1), (2, 2)]), iter([(5, 5)])))
    [(1, 1), (5, 5), (2, 2)]
    """
    return (pair for pair in chain.from_iterable(zip_longest(first, second)) if pair is not None)
