"""Paths of neighbouring databases.

A claim about neighbours implies a weaker claim about the ends of a path (`audit.claims.at_distance`). Some
faults show with fewer runs at such pairs, because a small excess at every step adds up. If only one of many
steps fails, halving the path finds it.
"""

import math
from collections.abc import Iterator, Sequence
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
    """Return the numbers of steps of the paths to try against a claim.

    They are in the order of use. No path is tried if ε > 2, or if the claim about a path of two steps has a δ
    above `_MOST_DELTA`.

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
    """Return the two halves of a path.

    If the ends of the path break the claim, the ends of one half break it too.

    Proof: let R = e^ε, and let the first half have m of the k steps. Suppose the ends of both halves keep the
    claim. Then for every event p_0 ≤ R^m·p_m + δ·(1 + … + R^(m−1)) and p_m ≤ R^(k−m)·p_k + δ·(1 + … +
    R^(k−m−1)). Together these are the claim about the ends of the path.

    Examples
    --------
    >>> halves("abcd")
    (('a', 'b'), ('b', 'c', 'd'))
    """
    cut = (len(path) - 1) // 2
    return tuple(path[: cut + 1]), tuple(path[cut:])


def repeated(relation: Any, left: Rows, right: Rows, steps: int, *, most: int) -> Iterator[list[Rows]]:
    """Yield paths that repeat the step from `left` to `right`.

    If the step replaces a record, the first path begins with a database of equal records. It replaces them
    one after another. The second path does the same with the records of `left`.

    If the step adds a record, two paths add it repeatedly. The first path starts from the empty database, the
    second from the shorter of `left` and `right`.

    If the databases are query answers, the only path moves all answers repeatedly.

    The caller must ask the relation whether these are paths of neighbours.

    Parameters
    ----------
    relation
        One of the toolkit's own relations.
    left, right
        The records of two neighbours.
    steps, most
        Maximum number of steps in a path, and maximum number of records in a database.

    Examples
    --------
    >>> [path[-1] for path in repeated(Relation.REPLACE_ONE, [0, 5], [1, 5], 2, most=3)]
    [[1, 1], [1, 1]]
    >>> next(repeated(Relation.QUERY_ANSWERS, [0.0, 1.0], [1.0, 1.0], 2, most=2))
    [[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]]
    """
    if relation is Relation.QUERY_ANSWERS:
        moves = [(answer, other - answer) for answer, other in zip(left, right, strict=True)]
        yield [[answer + count * move for answer, move in moves] for count in range(steps + 1)]
        return
    start, end = middle(left, right)
    if len(left) == len(right):
        alike = [left[start]] * max(len(left), min(most, steps))
        yield _replacing(relation, alike, right[start], steps, first=0)
        yield _replacing(relation, left, right[start], steps, first=start)
    else:
        shorter, longer = sorted((left, right), key=len)
        extra = longer[start : len(longer) - end]
        for rows in ([], shorter):
            yield [rows + extra * count for count in range(min(steps, most - len(rows)) + 1)]


def _replacing(relation: Any, rows: Rows, record: Any, steps: int, *, first: int) -> list[Rows]:
    """Return a path that replaces the rows one after another.

    Under replace-label, only the labels are replaced.
    """
    path = [list(rows)]
    for place in [*range(first, len(rows)), *range(first)]:
        old, new = rows[place], record
        if relation is Relation.REPLACE_LABEL:
            new = relabelled(labelled(old), labelled(record)[1])
        if len(path) <= steps and not canonical.same(old, new):
            path.append([*path[-1][:place], new, *path[-1][place + 1 :]])
    return path
