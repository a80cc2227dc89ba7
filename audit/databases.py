"""Which pairs of databases an audit looks at.

`Databases` is the one value that answers this: the pairs given by hand come first, then the subject's own
suggestions, then the boundary of the domain, then random ones; and where the domain is small, all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, product
from typing import TYPE_CHECKING, Any

import numpy as np

from audit import canonical
from audit.brief import show
from audit.errors import InvalidKind, InvalidValue
from audit.relations import check_pair, name_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Pair = tuple[Any, Any]

#: An exhaustive comparison covers at most this many pairs.
MOST_PAIRS = 1_000_000
#: Pairs that a sampled audit looks at when the domain has more.
SOME_PAIRS = 48
_DRAWN_RECORDS = 24
_EXTREMES = 6


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
        Least and greatest number of records, or None when only given pairs or whole databases are known.
    whole
        Example databases drawn from a strategy for whole databases.
    """

    relation: Any
    given: tuple[Pair, ...] = ()
    records: tuple[Any, ...] | None = None
    finite: bool = False
    sizes: tuple[int, int] | None = None
    whole: tuple[Any, ...] = ()

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
        place: dict[Any, int] = {}
        databases: list[list[Any]] = []
        for size in range(self.sizes[0], self.sizes[1] + 1):
            for rows in product(self.records, repeat=size):
                place[canonical.key(list(rows))] = len(databases)
                databases.append(list(rows))
        pairs: list[Pair] = []
        for i, database in enumerate(databases):
            for other in self.relation.neighbours(database, list(self.records)):
                j = place.get(canonical.key(other))
                if j is not None and i < j:
                    pairs.append((database, databases[j]))
                    if len(pairs) > MOST_PAIRS:
                        return None
        return pairs

    def family(self, pairs: int) -> str:
        """Name the domain of an exhaustive comparison."""
        assert self.sizes is not None
        low, high = self.sizes
        size = f"size {low}" if low == high else f"sizes {low} to {high}"
        domain = show(list(self.records or ()))
        return f"all {pairs} neighbouring pairs ({name_of(self.relation)}) of {size} over {domain}"

    def boundary(self) -> Iterator[Any]:
        """Give databases at the edges of the domain: all equal, smallest, largest, one outlier."""
        yield from self.whole
        if self.sizes is None or self.records is None:
            return
        low, high = self.sizes
        extremes = _spread(self.records, _EXTREMES)
        for size in dict.fromkeys((low, high)):
            for record in extremes:
                yield [record] * size
            if size >= 2:
                for one, many in ((extremes[0], extremes[-1]), (extremes[-1], extremes[0])):
                    yield [one] + [many] * (size - 1)
                yield [extremes[i % len(extremes)] for i in range(size)]

    def random(self, rng: np.random.Generator) -> Iterator[Any]:
        """Give random databases without end."""
        if self.sizes is None or not self.records:
            return
        while True:
            size = int(rng.integers(self.sizes[0], self.sizes[1] + 1))
            yield [self.records[int(i)] for i in rng.integers(0, len(self.records), size)]

    def neighbours(self, database: Any, rng: np.random.Generator) -> Iterator[Any]:
        """Give some neighbours of a database, within the domain's sizes."""
        records = None if self.records is None else list(self.records)
        for other in islice(self.relation.neighbours(database, records, rng), 64):
            if self._fits(other):
                yield other

    def pairs(self, *, most: int, rng: np.random.Generator) -> list[Pair]:
        """Give up to `most` distinct pairs: those given, then boundary ones, then random ones."""
        found: dict[Any, Pair] = {}
        for pair in self.given:
            found.setdefault(canonical.key(list(pair)), pair)
        every = self.enumerate() if (self.count() or MOST_PAIRS) <= most else None
        if every is not None and len(every) <= most:
            candidates: Iterable[Pair] = every
        else:
            candidates = self._candidates(rng)
        for pair in islice(candidates, 20 * most):
            if len(found) >= most:
                break
            if canonical.key([pair[1], pair[0]]) not in found:
                found.setdefault(canonical.key(list(pair)), pair)
        return list(found.values())

    def _candidates(self, rng: np.random.Generator) -> Iterator[Pair]:
        for database in self.boundary():
            for other in islice(self.neighbours(database, rng), 3):
                yield database, other
        for database in self.random(rng):
            for other in islice(self.neighbours(database, rng), 1):
                yield database, other

    def _fits(self, database: Any) -> bool:
        return self.sizes is None or self.sizes[0] <= len(database) <= self.sizes[1]


def _spread(records: Sequence[Any], most: int) -> list[Any]:
    """Give the extremes of the records (by value where they are numbers) and some between."""
    try:
        ordered = sorted(records)
    except TypeError:
        ordered = list(records)
    places = np.unique(np.linspace(0, len(ordered) - 1, min(most, len(ordered))).astype(int))
    return [ordered[i] for i in places]


def describe(
    relation: Any,
    *,
    pairs: Iterable[Pair] | None,
    records: Any,
    size: Any,
    databases: Any,
    suggested: Iterable[Pair] = (),
) -> Databases:
    """Read what an audit was told about its databases.

    Parameters
    ----------
    relation
        Which databases are neighbours.
    pairs
        Explicit neighbouring pairs; alone if nothing else is given.
    records
        A finite list of records, or a Hypothesis strategy for one.
    size
        The number of records, or (least, greatest).
    databases
        A Hypothesis strategy for a whole database.
    suggested
        Pairs that the subject suggests.

    Raises
    ------
    InvalidValue, InvalidKind
        One line: what, which value, what would be right.
    """
    given = _checked(relation, () if pairs is None else pairs)
    nothing = records is None and databases is None and size is None
    if pairs is not None and nothing:
        if not given:
            raise InvalidValue(
                "The `pairs` are empty; give at least one pair (left, right) of neighbouring databases."
            )
        return Databases(relation, given)
    given = (*given, *_checked(relation, suggested))
    whole = () if databases is None else tuple(_examples(databases, "databases", SOME_PAIRS))
    if databases is not None:
        return Databases(relation, given, records=_pool(whole), whole=whole)
    sizes = _sizes(relation, size)
    needs_records = getattr(relation, "name", "") != "query-answers"
    if records is None:
        if sizes is None or needs_records:
            if given:
                return Databases(relation, given)
            raise InvalidValue(
                "There is nothing to audit on: give `pairs=[(left, right)]`, or `records=` and `size=`, "
                "or `databases=`."
            )
        return Databases(relation, given, sizes=sizes, whole=tuple(_answers(sizes)))
    values, finite = _records(records)
    if sizes is None:
        raise InvalidValue("The `records` need a `size`: the number of records, or (least, greatest).")
    return Databases(relation, given, records=values, finite=finite, sizes=sizes)


def _checked(relation: Any, pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    if not hasattr(pairs, "__iter__"):
        raise InvalidKind(f"The `pairs` must be a list of pairs (left, right); got {show(pairs)}.")
    checked = []
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise InvalidValue(f"A pair must be (left, right), two neighbouring databases; got {show(pair)}.")
        check_pair(relation, pair[0], pair[1])
        checked.append((pair[0], pair[1]))
    return tuple(checked)


def _sizes(relation: Any, size: Any) -> tuple[int, int] | None:
    if size is None:
        return None
    bounds = (size, size) if isinstance(size, (int, np.integer)) and not isinstance(size, bool) else size
    if not (
        isinstance(bounds, (tuple, list))
        and len(bounds) == 2
        and all(isinstance(bound, (int, np.integer)) and not isinstance(bound, bool) for bound in bounds)
    ):
        raise InvalidKind(f"The `size` must be a whole number or (least, greatest); got {show(size)}.")
    low, high = int(bounds[0]), int(bounds[1])
    if low < 0 or high < low:
        raise InvalidValue(f"The `size` must be at least 0, the least before the greatest; got {show(size)}.")
    least = getattr(relation, "smallest_size", 0)
    if high < least:
        raise InvalidValue(
            f"The `size` must be at least {least} for {name_of(relation)} neighbours to exist; got {high}."
        )
    most = getattr(relation, "largest_size", None)
    if most is not None and low > most:
        raise InvalidValue(f"The `size` must be at most {most} for {name_of(relation)} databases; got {low}.")
    if low == high and getattr(relation, "name", "") == "add-or-remove-one":
        if high == 0:
            raise InvalidValue(
                "The `size` must be at least 1 for add-or-remove-one neighbours to exist; got 0."
            )
        low = high - 1  # one size alone has no add-or-remove neighbours
    return low, high if most is None else min(high, most)


def _records(records: Any) -> tuple[tuple[Any, ...], bool]:
    if _is_strategy(records):
        return tuple(_examples(records, "records", _DRAWN_RECORDS)), False
    if isinstance(records, (str, bytes)) or not hasattr(records, "__iter__"):
        raise InvalidKind(
            f"The `records` must be a list of records or a Hypothesis strategy; got {show(records)}."
        )
    distinct = {canonical.key(record): record for record in records}
    if not distinct:
        raise InvalidValue("The `records` are empty; give the list of values that one record can take.")
    return tuple(distinct.values()), True


def _is_strategy(value: Any) -> bool:
    return hasattr(value, "example") and hasattr(value, "validate")


def _examples(strategy: Any, what: str, most: int) -> list[Any]:
    """Draw distinct examples: derandomised, without example database or deadline."""
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis.errors import HypothesisException

    if not _is_strategy(strategy):
        raise InvalidKind(f"The `{what}` must be a Hypothesis strategy; got {show(strategy)}.")
    found: dict[Any, Any] = {}

    @settings(
        max_examples=4 * most,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(value: Any) -> None:
        found.setdefault(canonical.key(value), value)

    try:
        collect()
    except HypothesisException as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise InvalidValue(f"The strategy `{what}` gives no usable values: {reason}") from None
    return list(found.values())[:most]


def _pool(whole: Sequence[Any]) -> tuple[Any, ...]:
    """Give the distinct records that occur in whole databases, for building neighbours."""
    found: dict[Any, Any] = {}
    for database in whole:
        for record in database:
            found.setdefault(canonical.key(record), record)
    return tuple(found.values())[:64]


def _answers(sizes: tuple[int, int]) -> Iterator[list[float]]:
    for size in dict.fromkeys(sizes):
        yield [1.0] * size
        yield [0.0] * size
        yield [1.0] * (size // 2) + [0.0] * (size - size // 2)
