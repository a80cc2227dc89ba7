"""Which databases an audit looks at.

`Databases` is the one value that answers this. The pairs given by hand come first, then the subject's own
suggestions, then the boundary of the domain, then all pairs where they are few, or random ones. Around a pair
it gives variations, for the search to climb, and simpler ones, for a witness to shrink.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice, pairwise, product
from typing import TYPE_CHECKING, Any

from audit import canonical
from audit.brief import show
from audit.errors import AuditError, SubjectError
from audit.paths import moved_on, stretched, with_label
from audit.records import rebuilt, records_of
from audit.relations import Relation, check_pair, name_of
from audit.variations import simplicity, simplified, varied
from audit.wording import short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np

Pair = tuple[Any, Any]
Path = tuple[Any, ...]

#: An exhaustive comparison covers at most this many pairs.
MOST_PAIRS = 1_000_000
#: Databases among which a relation of the user's is asked about every pair, to see what it does not list.
MOST_CHECKED = 300
#: A domain of at most so many databases is gone through in full by a search.
FEW_DATABASES = 4_096
#: Examples kept of a strategy for whole databases.
SOME_PAIRS = 48
_EXTREMES = 6
_NEIGHBOURS = 64
#: Variations of a pair that are made before it is given up to find a valid one.
_VARIATIONS = 400
#: So many random databases in a row without a neighbour: there are none.
_FRUITLESS = 200


@dataclass(frozen=True)
class Databases:
    """The databases of an audit.

    Parameters
    ----------
    relation
        Which databases are neighbours.
    given
        Pairs tried first.
    records
        The finite list of records, or examples drawn from a strategy; None for a relation that needs none.
    finite
        Whether `records` is the whole domain.
    sizes
        Least and greatest number of records, or None when only pairs are given.
    whole
        Example databases drawn from a strategy for whole databases.
    """

    relation: Any
    given: tuple[Pair, ...] = ()
    records: tuple[Any, ...] | None = None
    finite: bool = False
    sizes: tuple[int, int] | None = None
    whole: tuple[Any, ...] = ()

    @property
    def only_given(self) -> bool:
        """Whether nothing but the given pairs may be tried."""
        return self.records is None and not self.whole

    def count(self) -> int | None:
        """Give the number of databases of the whole domain, or None where it is not finite."""
        if not self.finite or self.records is None or self.sizes is None:
            return None
        return int(sum(len(self.records) ** size for size in range(self.sizes[0], self.sizes[1] + 1)))

    def enumerate(self) -> list[Pair] | None:
        """Give every neighbouring pair of the domain once; None where it is not finite or too large."""
        count = self.count()
        if count is None or self.records is None or self.sizes is None or count > MOST_PAIRS:
            return None
        low, high = self.sizes
        databases = [
            list(rows) for size in range(low, high + 1) for rows in product(self.records, repeat=size)
        ]
        pairs = self._listed(databases)
        if pairs is not None and not isinstance(self.relation, Relation):
            self._check_listed(databases, pairs)
        return None if pairs is None else [(databases[i], databases[j]) for i, j in pairs]

    def _listed(self, databases: list[list[Any]]) -> list[tuple[int, int]] | None:
        """Give the pairs that the relation lists, as places i < j; None where they are too many.

        Our own relations list each pair from both of its databases; one of the user's need not.
        """
        place = _Places(databases, self.records or ())
        ours = isinstance(self.relation, Relation)
        pairs: dict[tuple[int, int], None] = {}
        for i, database in enumerate(databases):
            for other in self._related(database, list(self.records or ())):
                j = place.of(other)
                if j is not None and (i < j or (i > j and not ours)):
                    pairs[min(i, j), max(i, j)] = None
                    if len(pairs) > MOST_PAIRS:
                        return None
        return list(pairs)

    def _check_listed(self, databases: list[list[Any]], pairs: list[tuple[int, int]]) -> None:
        """Refuse a relation of the user's that lists fewer neighbours than it has, as far as that is few."""
        if len(databases) > MOST_CHECKED:
            return
        listed = set(pairs)
        for i, j in combinations(range(len(databases)), 2):
            left, right = databases[i], databases[j]
            if (i, j) not in listed and self.relation.are_neighbours(left, right):
                pair = f"{show(left)} beside {show(right)}"
                raise SubjectError(
                    f"`neighbours` of {name_of(self.relation)} lists {pair} from neither of them, and its "
                    "`are_neighbours` says that they are."
                )

    def beyond(self, every: list[Pair]) -> list[Pair]:
        """Give the given pairs that are not among these, which are all of the domain."""
        if isinstance(self.relation, Relation):
            known = {canonical.key(record) for record in self.records or ()}
            return [pair for pair in self.given if not all(self._is_of(known, side) for side in pair)]
        listed = {canonical.key(list(ends)) for pair in every for ends in (pair, pair[::-1])}
        return [pair for pair in self.given if canonical.key(list(pair)) not in listed]

    def _is_of(self, known: set[Any], database: Any) -> bool:
        """Tell whether a database is one that `enumerate` makes of the known records."""
        return (
            isinstance(database, list)
            and self.fits(database)
            and all(canonical.key(record) in known for record in database)
        )

    def family(self, pairs: int) -> str:
        """Name the domain of an exhaustive comparison."""
        assert self.sizes is not None
        low, high = self.sizes
        size = f"size {low}" if low == high else f"sizes {low} to {high}"
        domain = show(list(self.records or ()))
        every = "the one neighbouring pair" if pairs == 1 else f"all {pairs} neighbouring pairs"
        return f"{every} ({name_of(self.relation)}) of {size} over {domain}"

    def left_out(self) -> list[str]:
        """Name the records that were listed: a fault in how others are clipped was not looked for."""
        if not self.finite or not self.records:
            return []
        many = "the one" if len(self.records) == 1 else f"the {len(self.records):,}"
        told = short(", ".join(show(record, 20) for record in self.records[:20]), 60)
        return [f"records other than {many} given ({told})"]

    def boundary(self) -> Iterator[Any]:
        """Give databases at the edges of the domain: smallest, largest, all equal, one outlier, ties."""
        if self.sizes is not None and self.records and not self.whole:
            low, high = self.sizes
            sizes = list(dict.fromkeys((low, high, min(low + 1, high), (low + high) // 2)))
            extremes = _spread(self.records, _EXTREMES)
            for size in sizes:
                yield from _edges(size, extremes[0], extremes[-1])
            for size in sizes:
                yield [extremes[i % len(extremes)] for i in range(size)]
                yield from ([record] * size for record in extremes[1:-1])
        yield from self.whole

    def random(self, rng: np.random.Generator) -> Iterator[Any]:
        """Give random databases without end; few distinct records as often as many."""
        if self.whole:
            while True:
                yield self.whole[int(rng.integers(len(self.whole)))]
        if self.sizes is None or not self.records:
            return
        while True:
            size = int(rng.integers(self.sizes[0], self.sizes[1] + 1))
            pool = self.records
            if rng.random() < 0.5:
                pool = tuple(self.records[int(i)] for i in rng.integers(0, len(self.records), 2))
            yield [pool[int(i)] for i in rng.integers(0, len(pool), size)]

    def neighbours(self, database: Any, rng: np.random.Generator) -> Iterator[Any]:
        """Give some random neighbours of a database, within the domain's sizes."""
        records = None if self.records is None else list(self.records)
        for other in islice(self._related(database, records, rng), _NEIGHBOURS):
            if self.fits(other):
                yield other

    def proposals(self, rng: np.random.Generator) -> Iterator[Pair]:
        """Give pairs to try: those given, boundary ones, then all of a small domain, or random ones."""
        yield from self.given
        if self.only_given:
            return
        ordinary = self._ordinary(rng)
        for database in self.boundary():
            yield from ((database, other) for other in self._neighbours_at_the_edge(database, rng))
            yield from islice(ordinary, 1)  # a mechanism may fail on all databases at the edge
        if (self.count() or MOST_PAIRS) <= FEW_DATABASES:
            every = self.enumerate() or []
            yield from (every[int(i)] for i in rng.permutation(len(every)))
            return
        yield from ordinary

    def _ordinary(self, rng: np.random.Generator) -> Iterator[Pair]:
        """Give random databases with a random neighbour, until too many in a row have none."""
        fruitless = 0
        for database in self.random(rng):
            other = next(self.neighbours(database, rng), None)
            fruitless = fruitless + 1 if other is None else 0
            if other is not None:
                yield database, other
            elif fruitless >= _FRUITLESS:
                return

    def _neighbours_at_the_edge(self, database: Any, rng: np.random.Generator) -> Iterator[Any]:
        """Give neighbours that differ by an extreme record in the first place, and a random one."""
        if self.records is None:
            yield from _far_and_near(database, islice(self._related(database, None), _NEIGHBOURS))
        else:
            extremes = _spread(self.records, _EXTREMES)
            ends_first = [extremes[-1], *extremes[:-1]]  # the last, the first, NaN, what lies between
            near = (other for other in self._related(database, ends_first) if self.fits(other))
            yield from islice(near, min(3, len(extremes)))
        yield from islice(self.neighbours(database, rng), 1)

    def pairs(self, *, most: int, rng: np.random.Generator) -> list[Pair]:
        """Give up to `most` distinct pairs in the order of `proposals`."""
        found: dict[Any, Pair] = {}
        for pair in islice(self.proposals(rng), 20 * most):
            if len(found) >= most:
                break
            if canonical.key([pair[1], pair[0]]) not in found:
                found.setdefault(canonical.key(list(pair)), pair)
        return list(found.values())

    def vary(self, pair: Pair, rng: np.random.Generator) -> Iterator[Pair]:
        """Give random pairs around a pair, neighbours again and within the domain."""
        around = varied(*_as_records(pair), self._pool(pair), rng)
        return self._valid(islice(around, _VARIATIONS), pair)

    def simpler(self, pair: Pair) -> Iterator[Pair]:
        """Give simpler pairs, the boldest step first: fewer records, then simpler ones."""
        pool = sorted(self._pool(pair), key=simplicity)
        return self._valid(simplified(*_as_records(pair), pool), pair)

    def further(self, pair: Pair, lengths: Sequence[int]) -> Iterator[Path]:
        """Give paths of neighbours that repeat the step of a pair, of about these lengths each in turn.

        Their ends are no neighbours. None for a custom relation, which does not say how a step is repeated.
        """
        if not isinstance(self.relation, Relation):
            return
        for steps in lengths:
            for rows in self._stretched(pair, steps):
                path = tuple(rebuilt(pair[0], each) for each in rows)
                if (
                    len(path) > 2
                    and self._is_path(path)
                    and not self.relation.are_neighbours(path[0], path[-1])
                ):
                    yield path

    def _stretched(self, pair: Pair, steps: int) -> Iterator[list[list[Any]]]:
        left, right = _as_records(pair)
        if self.relation is Relation.QUERY_ANSWERS:
            yield moved_on(left, right, steps)
            return
        most = max(len(left), len(right)) if self.sizes is None else self.sizes[1]
        replace = with_label if self.relation is Relation.REPLACE_LABEL else lambda _, new: new
        yield from stretched(left, right, steps, most=most, replace=replace)

    def _is_path(self, path: Path) -> bool:
        """Tell whether every step lies within the domain and leads to a neighbour."""
        return all(map(self.fits, path)) and all(
            self.relation.are_neighbours(*step) for step in pairwise(path)
        )

    def _related(self, database: Any, records: list[Any] | None, rng: Any = None) -> Iterator[Any]:
        """Give the relation's neighbours; of a custom relation only those that it calls neighbours."""
        if isinstance(self.relation, Relation):
            yield from self.relation.neighbours(database, records, rng)
            return
        name = name_of(self.relation)
        try:
            for other in islice(self.relation.neighbours(database, records, rng), MOST_PAIRS):
                check_pair(self.relation, database, other)
                yield other
        except AuditError:
            raise
        except Exception as error:
            kind = type(error).__name__
            raise SubjectError(
                f"`neighbours` of {name} failed on {show(database)}: {kind}: {error}"
            ) from error

    def fits(self, database: Any) -> bool:
        """Tell whether a database has a size of the domain."""
        return self.sizes is None or self.sizes[0] <= len(database) <= self.sizes[1]

    def _pool(self, pair: Pair) -> list[Any]:
        """Give the records that a variation may use: the domain's or, none being known, the pair's."""
        if self.records is not None:
            return list(self.records)
        found = {canonical.key(record): record for side in pair for record in records_of(side)}
        return list(found.values())

    def _valid(self, rows: Iterator[tuple[list[Any], list[Any]]], like: Pair) -> Iterator[Pair]:
        for left, right in rows:
            if self.fits(left) and self.fits(right):
                pair = rebuilt(like[0], left), rebuilt(like[1], right)
                if self.relation.are_neighbours(*pair):
                    yield pair


class _Places:
    """Where a database is in a list of all, told by its records or, where these are copies, by its key."""

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
        """Give the place of a database, None if it is none of them."""
        if type(database) is list:
            with contextlib.suppress(KeyError):
                return self._by_numbers.get(self._numbers(database))
        return self._by_key.get(canonical.key(database))


def _far_and_near(database: Any, neighbours: Iterator[Any]) -> list[Any]:
    """Give the neighbours of a vector of answers that move most coordinates, and a few that move one."""
    rows = records_of(database)
    moved = sorted(
        neighbours, key=lambda other: sum(a == b for a, b in zip(rows, records_of(other), strict=True))
    )
    return [*moved[:12], *moved[12:][-4:]]


def _edges(size: int, first: Any, last: Any) -> Iterator[list[Any]]:
    """Give the databases of one size that two extreme records make: all equal, one outlier, half and half."""
    yield [first] * size
    yield [last] * size
    if size >= 2:
        yield [first] + [last] * (size - 1)
        yield [last] + [first] * (size - 1)
    if size >= 4:
        yield [first] * (size // 2) + [last] * (size - size // 2)


def _as_records(pair: Pair) -> tuple[list[Any], list[Any]]:
    return records_of(pair[0]), records_of(pair[1])


def _spread(records: Sequence[Any], most: int) -> list[Any]:
    """Give the extremes of the records and some between, in order where they have one, NaN second."""
    missing = [record for record in records if isinstance(record, float) and math.isnan(record)]
    ordered = [record for record in records if not (isinstance(record, float) and math.isnan(record))]
    with contextlib.suppress(TypeError, ValueError):
        ordered = sorted(ordered)
    last = len(ordered) - 1
    places = dict.fromkeys(last * k // (most - 1) for k in range(most)) if ordered else ()
    chosen = [ordered[i] for i in places]
    return [*chosen[:1], *missing[:1], *chosen[1:]]
