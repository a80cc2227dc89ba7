"""The domain of an audit with its databases, pairs and paths.

`Databases` proposes the given pairs first, then the subject's own suggestions. Next come pairs that differ by
one strange record or lie at the boundary. All other pairs follow, or random pairs if there are many.

It also makes variations of a pair for the search, and simpler pairs for shrinking a witness.

**Guarantee.** Unless `unchecked`, the user's domain contains both databases of every pair returned here, and
all databases of every path (`allowed`). A refutation on a database outside the domain would be a false alarm.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice, pairwise, product
from typing import Any

import numpy as np

from audit.databases.boundary import edges, far_and_near, spread, strange
from audit.databases.membership import KnownRecords, says
from audit.databases.paths import Path, repeated
from audit.databases.plain_records import PlainRecords
from audit.databases.support import Support
from audit.databases.variations import by_turns, fruitful, simplicity, simplified, varied
from audit.relations import Relation, name_of
from audit.relations.records import rebuilt, records_of
from audit.relations.relating import are_neighbours, listed, neighbours_of, refuse_unlisted
from audit.values import canonical
from audit.values.brief import show
from audit.values.said import Said, Says
from audit.values.wording import short

Pair = tuple[Any, Any]

#: All pairs of a domain are compared by law up to `MOST_PAIRS` databases, searched up to `FEW_DATABASES`.
MOST_PAIRS, FEW_DATABASES = 1_000_000, 4_096
#: Larger: larger domains are checked for neighbours that a custom relation does not list, by asking the
#: relation about each pair.
MOST_CHECKED = 1_500
#: Larger `SOME_PAIRS`: a strategy gives more example databases. Larger `_VARIATIONS`: more variations of a
#: pair are made to find valid ones.
SOME_PAIRS, _VARIATIONS = 48, 400
_EXTREMES, _NEIGHBOURS = 6, 64
#: Larger: rarer neighbours are found. This many failures in a row end a search (with `valid`: `_INVALID`).
_FRUITLESS, _INVALID = 200, 1_000


@dataclass(frozen=True)
class Databases:
    """The databases of an audit.

    Parameters
    ----------
    relation
        The relation that says which databases are neighbours.
    given
        Pairs of databases to try first.
    records
        The finite list of records, or examples of a strategy. If None, the relation needs no records.
    finite
        Whether `records` is the whole domain.
    sizes
        The least and the greatest number of records. If None, only pairs are given.
    whole
        Examples of a strategy for whole databases.
    valid
        The user's function that returns whether a database belongs to the domain.
    recombined
        Whether every list of these records, of an allowed size, is in the domain.
    crossed
        Whether the domain contains every combination of an x and a y, for records (x, y).
    plain
        Records that the strategy can give but has not been seen to draw.
    support
        The databases that the strategy generated, or None. They are given if recombining their records may
        fail.
    """

    relation: Any
    given: tuple[Pair, ...] = ()
    records: tuple[Any, ...] | None = None
    finite: bool = False
    sizes: tuple[int, int] | None = None
    whole: tuple[Any, ...] = ()
    valid: Callable[[Any], Any] | None = None
    recombined: bool = True
    crossed: bool = False
    plain: PlainRecords | None = field(default=None, compare=False)
    support: Support | None = None

    @property
    def only_given(self) -> bool:
        """Whether only the given pairs of databases may be tried."""
        return self.records is None and not self.whole

    def allowed(self, database: Any) -> bool | None:
        """Return whether the domain contains a database, or None if unknown."""
        if self.valid is not None:
            return says(self.valid, database)
        if self.recombined and self.fits(database) and self._are_known(database):
            return True
        if self.support is not None and self.support.gave(database):
            return True
        return True if canonical.key(database) in self._given else None

    def _are_known(self, database: Any) -> bool:
        return not self.only_given and (self._known is None or self._known.make(database))

    @cached_property
    def _known(self) -> KnownRecords | None:
        """The records that may be recombined, or None for query answers."""
        if self.records is None:
            return None
        records = list(self.records)
        if not self.finite:
            records += (record for pair in self.given for end in pair for record in records_of(end))
        return KnownRecords(records, crossed=self.crossed, plain=self.plain)

    @cached_property
    def _given(self) -> set[Any]:
        return {canonical.key(database) for pair in self.given for database in pair}

    @cached_property
    def unchecked(self) -> bool:
        """Whether the audit knows no pair of neighbours in the domain."""
        if self.valid is not None or self.given or self.only_given:
            return False
        return next(self._within(np.random.default_rng(0)), None) is None

    def doubt(self, left: Any, right: Any) -> str:
        """Return why a refutation on two databases does not count, or an empty text."""
        if not self.unchecked:
            return ""
        return (
            f"the claim fails on {show(left, 60)} and {show(right, 60)}, but these databases may lie "
            "outside your domain: the audit knows no two neighbours inside it; give `valid=`, a function "
            "that returns whether a database is allowed (`lambda database: True` if all are)"
        )

    def _may(self, *databases: Any) -> bool:
        """Return whether databases may be tried."""
        return all(self.allowed(each) for each in databases) or self.unchecked

    def count(self) -> int | None:
        """Return the number of record lists of allowed sizes, or None if infinite."""
        known = self.records if self.finite and self.sizes is not None else None
        low, high = self.sizes or (0, 0)
        return None if known is None else sum(len(known) ** size for size in range(low, high + 1))

    def at_most(self, many: int) -> bool:
        """Return whether the domain surely has at most this many databases."""
        count = self.count()
        return count is not None and count <= many

    def every_pair(self) -> list[Pair] | None:
        """Return all neighbouring pairs of a small domain, or None for a larger one."""
        return self.enumerate() if self.at_most(FEW_DATABASES) else None

    def enumerate(self) -> list[Pair] | None:
        """Return every neighbouring pair once, or None if there are too many."""
        if self.records is None or self.sizes is None or not self.at_most(MOST_PAIRS):
            return None
        low, high = self.sizes
        databases = [
            list(rows)
            for size in range(low, high + 1)
            for rows in product(self.records, repeat=size)
            if self.valid is None or says(self.valid, list(rows))
        ]
        pairs = listed(self.relation, databases, list(self.records), most=MOST_PAIRS)
        if pairs is not None and not isinstance(self.relation, Relation) and self.lists_all:
            refuse_unlisted(databases, pairs, self.relation)
        return None if pairs is None else [(databases[i], databases[j]) for i, j in pairs]

    @property
    def lists_all(self) -> bool:
        """Whether `enumerate` is sure to list all pairs."""
        return isinstance(self.relation, Relation) or self.at_most(MOST_CHECKED)

    def beyond(self, every: list[Pair]) -> list[Pair]:
        """Return the given pairs that are missing from all pairs of the domain."""
        if isinstance(self.relation, Relation):
            return [pair for pair in self.given if not all(map(self._is_of, pair))]
        listed = {frozenset(map(canonical.key, pair)) for pair in every}
        return [pair for pair in self.given if frozenset(map(canonical.key, pair)) not in listed]

    def _is_of(self, database: Any) -> bool:
        """Return whether `enumerate` includes a database."""
        return isinstance(database, list) and self.fits(database) and self._are_known(database)

    def family(self, pairs: int) -> str:
        """Return the words for a comparison of all pairs."""
        assert self.sizes is not None
        low, high = self.sizes
        size = f"size {low}" if low == high else f"sizes {low} to {high}"
        domain = show(list(self.records or ())) + ("" if self.valid is None else " that `valid` allows")
        every = "the one neighbouring pair" if pairs == 1 else f"all {pairs} neighbouring pairs"
        return f"{every} ({name_of(self.relation)}) of {size} over {domain}"

    def left_out(self) -> list[Said]:
        """Return statements that say what was not tested."""
        left = []
        if self.finite and self.records:
            many = "the one" if len(self.records) == 1 else f"the {len(self.records):,}"
            told = short(", ".join(show(record, 20) for record in self.records[:20]), 60)
            left.append(Says.OTHER_RECORDS(many=many, records=told))
        if self.unchecked:
            left.append(Says.UNKNOWN_NEIGHBOURS())
        elif not self.recombined and self.valid is None:
            left.append(Says.NOT_GENERATED())
        return left

    def boundary(self) -> Iterator[Any]:
        """Yield databases at the edges of the domain."""
        if self.sizes is not None and self.records and not self.whole:
            low, high = self.sizes
            sizes = list(dict.fromkeys((low, high, min(low + 1, high), (low + high) // 2)))
            extremes = spread(self.records, _EXTREMES)
            for size in sizes:
                yield from edges(size, extremes[0], extremes[-1])
            for size in sizes:
                yield [extremes[i % len(extremes)] for i in range(size)]
                yield from ([record] * size for record in extremes[1:-1])
        yield from self.whole

    def random(self, rng: np.random.Generator) -> Iterator[Any]:
        """Yield random databases, every second one of at most two distinct records."""
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
        """Return some random neighbours of allowed sizes."""
        records = None if self.records is None else list(self.records)
        return filter(self.fits, islice(self._related(database, records, rng), _NEIGHBOURS))

    def proposals(self, rng: np.random.Generator) -> Iterator[Pair]:
        """Yield pairs to try, the given pairs first.

        If no two neighbours are known to be in the domain (`unchecked`), the pairs may lie outside it.
        """
        yield from self.given
        if not self.only_given:
            yield from self._made(rng) if self.unchecked else self._within(rng)

    def _within(self, rng: np.random.Generator) -> Iterator[Pair]:
        """Yield pairs known to be in the domain."""
        drawn = iter(()) if self.support is None else self.support.pairs(self.relates, rng)
        yield from by_turns(self._made_within(rng), self._allowed_of(drawn))

    def _made_within(self, rng: np.random.Generator) -> Iterator[Pair]:
        """Yield allowed pairs made of the records."""
        if not self._makes:
            return
        yield from self._allowed_of(self._made(rng))
        if self.valid is not None and not self.at_most(FEW_DATABASES):  # of few, `_made` gave all pairs
            yield from _shuffled(self.enumerate() or [], rng)

    @property
    def _makes(self) -> bool:
        """Whether databases made of the records may be in the domain."""
        return self.recombined or self.valid is not None

    def _allowed_of(self, pairs: Iterator[Pair]) -> Iterator[Pair]:
        """Yield the allowed pairs until too many in a row are not allowed."""
        return fruitful((pair if all(map(self.allowed, pair)) else None for pair in pairs), _FRUITLESS)

    def _made(self, rng: np.random.Generator) -> Iterator[Pair]:
        """Yield strange pairs, boundary pairs, then all or random pairs."""
        yield from self.strange_pairs
        ordinary = self._ordinary(rng)
        for database in self.boundary():
            yield from ((database, other) for other in self._neighbours_at_the_edge(database, rng))
            yield from islice(ordinary, 1)  # a mechanism may fail on all databases at the edge
        every = self.every_pair()
        yield from ordinary if every is None else _shuffled(every, rng)

    def _ordinary(self, rng: np.random.Generator) -> Iterator[Pair]:
        """Yield random databases, each with a random neighbour."""
        found = ((database, self._any_neighbour(database, rng)) for database in self.random(rng))
        most = _FRUITLESS if self.valid is None else _INVALID
        return fruitful((None if pair[1] is None else pair for pair in found), most)

    def _any_neighbour(self, database: Any, rng: np.random.Generator) -> Any:
        """Return a random neighbour or None."""
        others = self.neighbours(database, rng)
        if self.valid is not None:  # if `valid` allows few databases, it allows few random pairs
            others = filter(self.allowed, others) if self.allowed(database) else iter(())
        return next(others, None)

    @cached_property
    def strange_pairs(self) -> tuple[Pair, ...]:
        """Pairs that differ by one strange record."""
        if self.sizes is None or not self.records or self.whole:
            return ()
        return tuple(self._strange(strange(self.records, *self.sizes)))

    def _strange(self, found: Iterator[tuple[list[Any], Any]]) -> Iterator[Pair]:
        for database, record in found:
            wanted = canonical.key(record)
            many = [*map(canonical.key, database)].count(wanted)
            others = filter(self.fits, islice(self._related(database, [record]), _NEIGHBOURS))
            more = (other for other in others if [*map(canonical.key, other)].count(wanted) > many)
            yield from ((database, other) for other in islice(more, 1))

    def _neighbours_at_the_edge(self, database: Any, rng: np.random.Generator) -> Iterator[Any]:
        """Yield neighbours with extreme records, then a random one."""
        if self.records is None:
            yield from far_and_near(database, islice(self._related(database, None), _NEIGHBOURS))
        else:
            extremes = spread(self.records, _EXTREMES)
            ends_first = [extremes[-1], *extremes[:-1]]  # order: last, first, NaN, others
            near = filter(self.fits, self._related(database, ends_first))
            yield from islice(near, min(3, len(extremes)))
        yield from islice(self.neighbours(database, rng), 1)

    def pairs(self, *, most: int, rng: np.random.Generator) -> list[Pair]:
        """Return up to `most` distinct pairs in the order of `proposals`."""
        found: dict[Any, Pair] = {}
        for pair in islice(self.proposals(rng), 20 * most):
            if len(found) >= most:
                break
            found.setdefault(frozenset(map(canonical.key, pair)), pair)
        return list(found.values())

    def vary(self, pair: Pair, rng: np.random.Generator) -> Iterator[Pair]:
        """Return random variations of a pair that are neighbours in the domain."""
        made = islice(varied(*_as_records(pair), self._pool(pair), rng), _VARIATIONS)
        drawn = iter(()) if self.support is None else self.support.around(pair, self.relates, rng)
        return by_turns(self._valid(made, pair), self._allowed_of(drawn))

    def simpler(self, pair: Pair) -> Iterator[Pair]:
        """Return simpler pairs, first those with fewer records."""
        made = simplified(*_as_records(pair), sorted(self._pool(pair), key=simplicity), plain=self.plain)
        drawn = iter(()) if self.support is None else self.support.simpler(pair, self.relates)
        return chain(self._valid(made, pair), self._allowed_of(drawn))

    def further(self, pair: Pair, lengths: Sequence[int]) -> Iterator[Path]:
        """Yield paths of neighbours that repeat the step of a pair.

        The paths have about these `lengths`. The ends of a path are not neighbours. A custom relation has no
        paths, because it does not say how to repeat a step.
        """
        if not isinstance(self.relation, Relation):
            return
        left, right = _as_records(pair)
        most = max(len(left), len(right)) if self.sizes is None else self.sizes[1]
        for steps in lengths:
            for rows in repeated(self.relation, left, right, steps, most=most):
                path = tuple(rebuilt(pair[0], each) for each in rows)
                if len(path) > 2 and self.has_path(path) and not self.relates(path[0], path[-1]):
                    yield path

    def has_path(self, path: Path) -> bool:
        """Return whether every step leads to a neighbour in the domain."""
        steps = all(self.relates(*step) for step in pairwise(path))
        return steps and all(map(self.fits, path)) and self._may(*path)

    def relates(self, left: Any, right: Any) -> bool:
        """Return whether two databases are neighbours."""
        return are_neighbours(self.relation, left, right)

    def _related(self, database: Any, records: list[Any] | None, rng: Any = None) -> Iterator[Any]:
        return islice(neighbours_of(self.relation, database, records, rng), MOST_PAIRS)

    def fits(self, database: Any) -> bool:
        """Return whether a database has an allowed size."""
        return self.sizes is None or self.sizes[0] <= len(database) <= self.sizes[1]

    def _pool(self, pair: Pair) -> list[Any]:
        """Return the records for variations, of the domain or else of the pair."""
        if self.records is not None:
            return list(self.records)
        found = {canonical.key(record): record for side in pair for record in records_of(side)}
        return list(found.values())

    def _valid(self, rows: Iterator[tuple[list[Any], list[Any]]], like: Pair) -> Iterator[Pair]:
        """Yield the pairs of `rows` that are neighbours in the domain."""
        for left, right in rows if self._makes or self.unchecked else ():
            if self.fits(left) and self.fits(right):
                pair = rebuilt(like[0], left), rebuilt(like[1], right)
                if self.relates(*pair) and self._may(*pair):
                    yield pair


def _shuffled(pairs: list[Pair], rng: np.random.Generator) -> Iterator[Pair]:
    return (pairs[int(i)] for i in rng.permutation(len(pairs)))


def _as_records(pair: Pair) -> tuple[list[Any], list[Any]]:
    return records_of(pair[0]), records_of(pair[1])
