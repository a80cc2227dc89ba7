"""Paths of neighbouring databases: pairs further apart than one step.

A claim about neighbours implies a weaker claim about the ends of a path (`audit.claims.at_distance`). Some
faults show with fewer runs at such pairs: a loss that is slightly too large at every step adds up. If only
one of many steps fails, halving the path finds it.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from audit.claims import at_distance
from audit.databases.variations import Rows, middle
from audit.relations import Relation
from audit.relations.records import labelled, relabelled
from audit.values import canonical

Path = tuple[Any, ...]

#: Larger: longer paths are tried. Maximum number of steps of a path.
MOST_STEPS = 64
#: Larger `_FURTHEST`: longer paths are tried. The claim about the ends of a path allows at most the factor
#: e^`_FURTHEST`. If it allows the factor e^`_BEST`, each run gives most evidence (computed to second order,
#: for a loss 20 % above the claim at every step).
_FURTHEST = 4.0
_BEST = 2.0
#: Larger: longer paths are tried, whose tests are weaker. Largest δ of the claim about the ends of a path.
_MOST_DELTA = 0.5


def lengths(epsilon: float, delta: float) -> tuple[int, ...]:
    """Return the numbers of steps of the paths to try against a claim, in the order of use.

    The result is empty if ε > 2, or if the claim about a path of two steps has a δ above `_MOST_DELTA`.

    Examples
    --------
    >>> lengths(1.0, 0.0), lengths(0.1, 0.0), lengths(3.0, 0.0)
    ((2, 4), (20, 40, 10, 2), ())
    >>> lengths(0.01, 0.0)
    (64, 32, 2)
    """
    longest = float(MOST_STEPS)
    best, most = (min(longest, factor / epsilon) if epsilon else longest for factor in (_BEST, _FURTHEST))
    wanted = dict.fromkeys((round(best), math.floor(most), round(best / 2), 2))
    allowed = (steps for steps in wanted if steps >= 2 and steps * epsilon <= _FURTHEST)
    return tuple(steps for steps in allowed if at_distance(epsilon, delta, steps)[1] <= _MOST_DELTA)


def halves(path: Sequence[Any]) -> tuple[Path, Path]:
    """Return the two halves of a path. If the ends of the path break the claim, the ends of one half do too.

    Proof: let R = e^ε, and let the first half have m of the k steps. If the ends of both halves keep the
    claim, then for every event p_0 ≤ R^m·p_m + δ·(1 + … + R^(m−1)) and
    p_m ≤ R^(k−m)·p_k + δ·(1 + … + R^(k−m−1)). Together these are the claim about the ends of the path.

    Examples
    --------
    >>> halves("abcd")
    (('a', 'b'), ('b', 'c', 'd'))
    """
    cut = (len(path) - 1) // 2
    return tuple(path[: cut + 1]), tuple(path[cut:])


def stretched(
    left: Rows, right: Rows, steps: int, *, most: int, replace: Callable[[Any, Any], Any]
) -> Iterator[list[Rows]]:
    """Yield paths that repeat the step from `left` to `right` on other records.

    If the step replaces a record, the first path begins with a database of equal records, and replaces them
    one after another. The second path does the same with the records of `left`. If the step adds a record,
    both paths add it repeatedly: the first to the empty database, the second to the shorter of `left` and
    `right`. The caller must ask the relation whether these are paths of neighbours.

    Parameters
    ----------
    left, right
        The records of two neighbours.
    steps, most
        Maximum number of steps in a path, and maximum number of records in a database.
    replace
        A function (old record, new record of `right`) -> the record that replaces the old one.

    Examples
    --------
    >>> [path[-1] for path in stretched([0, 5], [1, 5], 2, most=3, replace=lambda old, new: new)]
    [[1, 1], [1, 1]]
    """
    start, end = middle(left, right)
    if len(left) == len(right):
        old, new = left[start], right[start]
        alike = [old] * max(len(left), min(most, steps))
        yield _replacing(alike, lambda record: replace(record, new), steps, first=0)
        yield _replacing(left, lambda record: replace(record, new), steps, first=start)
    else:
        shorter, longer = sorted((left, right), key=len)
        extra = longer[start : len(longer) - end]
        for rows in ([], shorter):
            yield [rows + extra * count for count in range(min(steps, most - len(rows)) + 1)]


def repeated(relation: Any, left: Rows, right: Rows, steps: int, *, most: int) -> Iterator[list[Rows]]:
    """Yield paths that repeat the step from `left` to `right` under one of the toolkit's own relations.

    Examples
    --------
    >>> next(repeated(Relation.QUERY_ANSWERS, [0.0, 1.0], [1.0, 1.0], 2, most=2))
    [[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]]
    """
    if relation is Relation.QUERY_ANSWERS:
        moves = [(answer, other - answer) for answer, other in zip(left, right, strict=True)]
        yield [[answer + count * move for answer, move in moves] for count in range(steps + 1)]
        return

    def replace(old: Any, new: Any) -> Any:
        if relation is Relation.REPLACE_LABEL:
            return relabelled(labelled(old), labelled(new)[1])
        return new

    yield from stretched(left, right, steps, most=most, replace=replace)


def _replacing(rows: Rows, change: Callable[[Any], Any], steps: int, *, first: int) -> list[Rows]:
    path = [list(rows)]
    for place in [*range(first, len(rows)), *range(first)]:
        new = change(rows[place])
        if len(path) <= steps and not canonical.same(rows[place], new):
            path.append([*path[-1][:place], new, *path[-1][place + 1 :]])
    return path
