"""Replacements of one record that need the largest delta."""

from __future__ import annotations

import math
from heapq import nlargest
from itertools import permutations
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from audit.distributions import Finite
    from mechanisms.subjects.neighbours import Pair

__all__ = ["excess", "revealing_swaps"]

_RECORDS = 6
"""The number of records that are tried."""


def excess(p: Finite, q: Finite, *, epsilon: float) -> float:
    """Return the delta that two finite laws need at `epsilon`.

    The value is the larger of Σ max(0, p − e^epsilon·q) and Σ max(0, q − e^epsilon·p).

    Examples
    --------
    >>> from audit.distributions import Finite
    >>> excess(Finite("ab", [0.75, 0.25]), Finite("a", [1.0]), epsilon=1.0)
    0.25
    """
    return max(_one_way(p, q, epsilon), _one_way(q, p, epsilon))


def revealing_swaps(
    law: Callable[[Any], Finite],
    *,
    epsilon: float,
    records: Sequence[Any],
    size: int,
    heads: Sequence[int] = (0,),
    limit: int = 3,
) -> list[Pair]:
    """Return the pairs of neighbours that need the largest deltas.

    The neighbours have few distinct records.

    Parameters
    ----------
    law
        The exact law on a database.
    epsilon
        The epsilon at which delta is measured.
    records
        The finite domain. Only the first few records are used.
    size
        Length of a database, at least 1.
    heads
        Numbers of copies to try. A database is the replaced record, then this many copies of one record, then
        copies of another record.
    limit
        How many pairs to return.

    Examples
    --------
    >>> from audit.distributions import Finite
    >>> def law(database):
    ...     return Finite([min(database), "?"], [0.5, 0.5])
    >>> revealing_swaps(law, epsilon=1.0, records=[0, 1], size=3, limit=1)
    [([0, 1, 1], [1, 1, 1])]
    """

    def delta(pair: Pair) -> float:
        return excess(law(pair[0]), law(pair[1]), epsilon=epsilon)

    # nlargest keeps the first of equal values, so the order above is the order of preference
    return nlargest(limit, _pairs(list(records)[:_RECORDS], size, heads), key=delta)


def _pairs(records: list[Any], size: int, heads: Sequence[int]) -> Iterator[Pair]:
    for rest in _rests(records, size - 1, heads):
        for i, one in enumerate(records):
            for other in records[i + 1 :]:
                yield [one, *rest], [other, *rest]


def _rests(records: list[Any], size: int, heads: Sequence[int]) -> Iterator[list[Any]]:
    for record in records:
        yield [record] * size
    for head in dict.fromkeys(heads):
        if 0 < head < size:
            for one, other in permutations(records, 2):
                yield [one] * head + [other] * (size - head)


def _one_way(p: Finite, q: Finite, epsilon: float) -> float:
    logs = [(p.logpmf(outcome), q.logpmf(outcome) + epsilon) for outcome in p.support()]
    return math.fsum(max(0.0, math.exp(a) - math.exp(min(b, 0.0))) for a, b in logs if a > b)
