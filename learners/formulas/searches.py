"""Formulas of the noisy binary searches of BNS §3.2."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any

from audit.catalogue import Formulas
from mechanisms.formulas.losses import climbs, loss
from mechanisms.formulas.selection import softmax, tail

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SEARCHED", "length_search", "searching"]

_CALLS = 3_000
_DATABASES = ([(0, 1), (0, 0), (3, 0)], [(1, 1), (2, 0), (2, 0)])


_COUNTS = {(0, 0): 25, (0, 1): 26, (1, 0): 5, (1, 1): 7, (2, 0): 3, (2, 1): 12, (3, 0): 14, (3, 1): 4}
_SAMPLE = [example for example, count in _COUNTS.items() for _ in range(count)]
SEARCHED = _SAMPLE, [*_SAMPLE[:65], (3, 1), *_SAMPLE[66:]]
"""The neighbours with the largest loss that 25 hill climbs on 24, 48, 64 and 96 examples found.

The largest losses found at these sizes were 1.02, 1.01, 0.98 and 1.15; on up to 16 examples, 0.49.
"""


def _mixed(database: Any, low: int, high: int) -> int:
    """Return the smaller count of the labels with low ≤ x < high."""
    inside = [y for x, y in database if low <= x < high]
    return min(inside.count(0), inside.count(1))


def _most(database: Any, length: int, top: int) -> int:
    return max(_mixed(database, low, low + length) for low in range(top - length + 1))


def _lengths(made: Any) -> list[int]:
    top = 2**made.dimension
    return [2**j for j in range(made.dimension + 1)] if made.by == "power" else list(range(1, top + 1))


def _paths(
    database: Any, made: Any, *, epsilon: float, level: float, low: int = 0, high: int | None = None
) -> Iterator[tuple[int, float]]:
    """Yield every answer of the search and its log-probability."""
    lengths = _lengths(made)
    high = len(lengths) if high is None else high
    if low == high:
        yield (lengths[low] if low < len(lengths) else 0), 0.0
        return
    middle = (low + high) // 2
    scale = math.ceil(math.log2(len(lengths) + 1)) / epsilon
    off = (level - _most(database, lengths[middle], 2**made.dimension)) / scale
    for log, first, last in ((tail(off), low, middle), (tail(-off), middle + 1, high)):
        for answer, more in _paths(database, made, epsilon=epsilon, level=level, low=first, high=last):
            yield answer, log + more


def length_search(made: Any) -> Formulas:
    """Return the formulas of the search for a length.

    Q of a length is the largest `_mixed` of an interval of this length. The loss is ε if replacing one record
    lowers Q from `level` to `level` − 1 for every length.
    """

    def law(database: Any) -> dict[Any, float]:
        return dict(_paths(database, made, epsilon=made.epsilon, level=made.level))

    return Formulas(epsilon=made.epsilon, law=law, databases=_DATABASES, calls=_CALLS)


def searching(made: Any) -> Formulas:
    """Return the formulas of the searching learner.

    Every search is followed by two calls of A_dist, and a choice by weights e^(−ε·errors/2).
    """
    search, stable, choice = made.shares

    def released(database: Any, length: int, offset: int) -> list[tuple[float, tuple[int, int] | None]]:
        """Return the outcomes of A_dist with their log-probabilities."""
        top = 2**made.dimension
        family = [(low, min(low + 2 * length, top)) for low in range(offset, top, 2 * length)]
        scores = sorted(((_mixed(database, *ends), ends) for ends in family), reverse=True)
        if len(scores) == 1:
            return [(0.0, scores[0][1])]
        if not scores or scores[0][0] == scores[1][0]:
            return [(0.0, None)]
        off = stable / 2.0 * (2.0 - (scores[0][0] - scores[1][0])) - math.log(made.delta)
        return [(tail(off), scores[0][1]), (tail(-off), None)]

    def law(database: Any) -> dict[Any, float]:
        top, found = 2**made.dimension, dict[int, list[float]]()
        for length, path in _paths(database, made, epsilon=search, level=made.search.level):
            offsets = (0, length) if length else ()
            for outcome in product(*(released(database, length, offset) for offset in offsets)):
                points = {0, top}
                for _, ends in outcome:
                    step = math.ceil(length / 2)
                    points |= {min(ends[0] + i * step, ends[1]) for i in range(5)} if ends else set()
                scores = {t: -float(sum(y != (x < t) for x, y in database)) for t in points}
                for t, log in softmax(scores, choice / 2.0).items():
                    found.setdefault(t, []).append(path + sum(log for log, _ in outcome) + log)
        return {
            t: max(logs) + math.log(sum(math.exp(log - max(logs)) for log in logs))
            for t, logs in found.items()
        }

    return Formulas(
        epsilon=loss(law(SEARCHED[0]), law(SEARCHED[1]), delta=made.delta),
        source=climbs(25),
        law=law,
        databases=_DATABASES,
        calls=_CALLS,
        numbers={"ε of all parts": (search + 2.0 * stable + choice, made.epsilon)},
    )
