"""Databases that a strategy has given, and neighbours among them.

A strategy builds its values from bytes. From slightly changed bytes it builds another value, often a
neighbour of the first. The strategy's own rules still hold, such as a header row, an order or a check digit.
Hypothesis offers this to fuzzers as `fuzz_one_input`.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations, islice
from typing import Any, NamedTuple

import numpy as np

from audit.values import canonical

Pair = tuple[Any, Any]
Related = Callable[[Any, Any], bool]

#: Larger: larger databases can be built. Maximum number of bytes that a strategy reads for one database.
_BYTES = 8_192
#: Larger: wider changes. Maximum number of bytes changed at once: enough for a number and the byte that
#: continues a list.
_WIDEST = 12
#: Larger: each database is changed more often before the search goes on to the next.
_CHANGES = 8
#: Larger: rarer neighbours are found, but it takes longer. The search ends after `_FRUITLESS` changes in a
#: row without new neighbours, or `_ENOUGH` changes in all.
_FRUITLESS, _ENOUGH = 300, 1_000
#: Larger: more changes of a pair are tried: `_MOST_AROUND` changes to find another pair, `_MOST_SIMPLER`
#: changes to simplify the pair.
_MOST_AROUND, _MOST_SIMPLER = 30, 400


class _Built(NamedTuple):
    """A database and the bytes that it was built from, if any."""

    database: Any
    source: bytes


class _Change(NamedTuple):
    """A replacement of some bytes."""

    start: int
    stop: int
    new: bytes

    @property
    def width(self) -> int:
        return max(self.stop - self.start, len(self.new))

    def of(self, source: bytes) -> bytes:
        return source[: self.start] + self.new + source[self.stop :]


class Support:
    """The databases that a strategy has given.

    **Guarantee.** The strategy itself built every database for which `gave` is true, and both ends of every
    pair returned here. So its filters and assumptions hold for them.

    Parameters
    ----------
    strategy
        A Hypothesis strategy for a whole database.
    drawn
        Examples drawn from the strategy.

    Examples
    --------
    >>> import numpy as np
    >>> from hypothesis import strategies as st
    >>> support = Support(st.lists(st.integers(0, 99), min_size=3, max_size=3).map(sorted))
    >>> left, right = next(support.pairs(lambda a, b: a[1:] == b[1:] and a != b, np.random.default_rng(0)))
    >>> left == sorted(left), right == sorted(right), support.gave(left), support.gave([3, 2, 1])
    (True, True, True, False)
    """

    def __init__(self, strategy: Any, drawn: Iterable[Any] = ()) -> None:
        self._build = _builder(strategy)
        self._drawn = tuple(drawn)
        self._widths: list[int] = []
        self._sources: dict[Any, bytes] = {canonical.key(each): b"" for each in self._drawn}

    def gave(self, database: Any) -> bool:
        """Return whether the strategy has given a database."""
        return canonical.key(database) in self._sources

    def pairs(self, related: Related, rng: np.random.Generator) -> Iterator[Pair]:
        """Yield pairs of neighbours.

        Those among the examples come first, then those found by changing bytes. Stop after `_FRUITLESS`
        changes in a row that give no new pair, or after `_ENOUGH` changes.
        """
        yield from (pair for pair in combinations(self._drawn, 2) if related(*pair))
        tries, last, seen = 0, 0, set()
        while tries - last < _FRUITLESS and tries < _ENOUGH:
            # from random bytes, or from one repeated byte
            built = self._give(rng.bytes(_BYTES) if rng.random() < 0.75 else rng.bytes(1) * _BYTES)
            for tries in range(tries + 1, tries + 1 + _CHANGES):  # noqa: B020
                change = self._change(built.source, rng)
                for pair in self._related(built, self._give(change.of(built.source)), related):
                    self._widths.append(change.width)
                    if (ends := frozenset(map(canonical.key, pair))) not in seen:
                        last = tries
                        seen.add(ends)
                        yield pair

    def around(self, pair: Pair, related: Related, rng: np.random.Generator) -> Iterator[Pair]:
        """Yield pairs of neighbours close to a pair.

        No pair is yielded if the bytes of one of the databases are unknown.
        """
        left, right = self._known(pair[0]), self._known(pair[1])
        for _ in range(_MOST_AROUND if left.source and right.source else 0):
            change = self._change((left, right)[int(rng.integers(2))].source, rng)
            both, only = rng.random(2) < 0.5
            yield from self._changed(left, right, change, related, (both or only, both or not only))

    def simpler(self, pair: Pair, related: Related) -> Iterator[Pair]:
        """Yield simpler pairs of neighbours. Bytes are deleted or set to 0, long blocks before short ones."""
        left, right = self._known(pair[0]), self._known(pair[1])
        size = max(len(left.source), len(right.source)) if left.source and right.source else 0
        for change in islice(_simplifications(size), _MOST_SIMPLER):
            for sides in ((True, True), (True, False), (False, True)):
                yield from self._changed(left, right, change, related, sides)

    def _known(self, database: Any) -> _Built:
        return _Built(database, self._sources.get(canonical.key(database), b""))

    def _give(self, source: bytes) -> _Built:
        """Return the value built from these bytes, with the bytes used for it."""
        built = self._build(source.ljust(_BYTES, b"\0"))
        if built.source:
            self._sources.setdefault(canonical.key(built.database), built.source)
        return built

    def _changed(
        self, left: _Built, right: _Built, change: _Change, related: Related, sides: tuple[bool, bool]
    ) -> Iterator[Pair]:
        new_left, new_right = (
            self._give(change.of(each.source)) if side else each
            for each, side in zip((left, right), sides, strict=True)
        )
        return self._related(new_left, new_right, related)

    @staticmethod
    def _related(left: _Built, right: _Built, related: Related) -> Iterator[Pair]:
        if left.source and right.source and related(left.database, right.database):
            yield left.database, right.database

    def _change(self, source: bytes, rng: np.random.Generator) -> _Change:
        """Return a random change, often of a width that has led to neighbours."""
        width = int(rng.integers(1, _WIDEST + 1))
        if self._widths and rng.random() < 0.5:
            width = self._widths[int(rng.integers(len(self._widths)))]
        start, other = (int(place) for place in rng.integers(0, len(source) + 1, size=2))
        fills = (rng.bytes(width), bytes(width), b"\xff" * width, source[other : other + width], b"")
        new = fills[int(rng.integers(len(fills)))]
        put_between = new and rng.random() < 0.25
        return _Change(start, start if put_between else start + width, new)


def _simplifications(size: int) -> Iterator[_Change]:
    width = size
    while width:
        for start in range(0, size, width):
            yield _Change(start, start + width, b"")
            yield _Change(start, start + width, bytes(width))
        width //= 2


def _builder(strategy: Any) -> Callable[[bytes], _Built]:
    """Return a function that builds a strategy's value from bytes."""
    from hypothesis import HealthCheck, given, settings

    built: list[Any] = []

    @settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def hold(value: Any) -> None:
        built.append(value)

    def build(source: bytes) -> _Built:
        built.clear()
        with warnings.catch_warnings(action="ignore"):  # a strategy's warnings do not concern the audit
            try:
                used = hold.hypothesis.fuzz_one_input(source)
            except Exception:  # noqa: BLE001 - a strategy is the user's code, and its examples were drawn
                return _Built(None, b"")
        return _Built(built[0], used) if used and built else _Built(None, b"")

    return build
