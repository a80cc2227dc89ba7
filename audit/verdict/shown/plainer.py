"""Plain events to show instead of a fitted score.

They are about entries of large weight, and about sums and differences of such entries. They are learned from
stored outputs. Once fixed, they are tested on separate runs (`judge`).
"""

from collections.abc import Iterator
from itertools import chain, combinations, product
from typing import Any

import numpy as np

from audit.distributions.law import Floats
from audit.events.event import Event, NumberIn
from audit.events.features import numbers
from audit.events.features.base import NumberFeature
from audit.events.features.parts import Part, PartsDifference, PartsScore, PartsSum
from audit.events.features.scores import TableScore
from audit.events.tables import Candidates, Table, learn_bins
from audit.evidence.growth import growth_rate
from audit.evidence.memory import PairMemory, merged

#: Plain events are tried on this many entries of a score.
_ENTRIES = 3
#: For joint bounds, this many bounds are tried for each of two entries.
_BOUNDS = 24
#: The allowance for selection bias of plain events, in standard errors.
_FLATTERED = 0.5


def tables_of(score: TableScore, memory: PairMemory) -> list[Table]:
    """Return tables that count past runs by the entries of largest weight.

    Sums and differences of these entries have tables too. An entry that some outputs lack is left out.
    """
    sides = [merged(views) for views in memory.kept(0)]
    tables = []
    for feature in _features(score):
        if any(np.isnan(feature.values(view)).any() for view in sides):
            continue
        table = Table(learn_bins(feature, sides))
        table.counts += table.count(sides[0], sides[1])
        tables.append(table)
    return tables


def boxes(
    score: TableScore, memory: PairMemory, side: int, claimed: tuple[float, float]
) -> Iterator[tuple[Event, float, float]]:
    """Yield, for every two entries of large weight, the best event on both.

    The event bounds both entries. Its p and q are yielded too.

    Parameters
    ----------
    score
        The fitted score.
    memory
        The past runs on the pair.
    side
        The p side: 0 for left, 1 for right.
    claimed
        ε and δ of the claim at the distance of these databases.
    """
    p_side, q_side = (merged(views) for views in memory.kept(side))
    for first, second in combinations(_single(score), 2):
        columns = [[each.values(view) for each in (first, second)] for view in (p_side, q_side)]
        tried = (_best_box(columns, signs, claimed) for signs in product((1, -1), repeat=2))
        growth, bounds, p, q = max(tried, key=lambda box: box[0])
        if growth > 0:
            yield Event((NumberIn(first, (bounds[0],)), NumberIn(second, (bounds[1],)))), p, q


def _best_box(
    columns: list[list[Floats]], signs: tuple[int, ...], claimed: tuple[float, float]
) -> tuple[float, list[tuple[float, float]], float, float]:
    """Return the growth of the best event on two entries, its bounds, p and q.

    In the event, both entries pass their bounds. `columns` holds the values of both entries on the p side,
    then on the q side. Each of `signs` says how an entry passes its bound: upwards (1) or downwards (−1).
    """
    turned = [[sign * column for sign, column in zip(signs, side, strict=True)] for side in columns]
    edges = [_edges(np.concatenate([turned[0][k], turned[1][k]])) for k in (0, 1)]
    shares = []
    for side in turned:
        beyond = [column[:, None] >= cuts for column, cuts in zip(side, edges, strict=True)]
        hits = beyond[0].T.astype(np.float32) @ beyond[1].astype(np.float32)
        shares.append((hits.astype(np.float64) + 0.5) / (len(side[0]) + 1))
    growth = growth_rate(shares[0], shares[1], *claimed)
    if not growth.size:
        return -np.inf, [], 0.5, 0.5
    i, j = np.unravel_index(int(np.argmax(growth)), growth.shape)
    cuts = (float(edges[0][i]), float(edges[1][j]))
    bounds = [
        (cut, np.inf) if sign > 0 else (-np.inf, float(np.nextafter(-cut, np.inf)))
        for sign, cut in zip(signs, cuts, strict=True)
    ]
    return float(growth[i, j]), bounds, float(shares[0][i, j]), float(shares[1][i, j])


def _edges(values: Floats) -> Floats:
    finite = values[np.isfinite(values)]
    return np.unique(np.quantile(finite, np.linspace(0.02, 0.98, _BOUNDS))) if len(finite) else finite


def _heavy(score: TableScore) -> list[Any]:
    """Return the entries of largest weight in a score, by index or by path."""
    if isinstance(score, PartsScore):
        return [score.paths[k] for k, _ in score.heaviest()][:_ENTRIES]
    size = score.entries
    ends = ((k,) if k < size else (k - size, k - size + 1) for k, _ in score.heaviest())
    return list(dict.fromkeys(chain.from_iterable(ends)))[:_ENTRIES]


def _single(score: TableScore) -> list[NumberFeature]:
    kind = Part if isinstance(score, PartsScore) else numbers.Coordinate
    return [kind(each) for each in _heavy(score)]


def _features(score: TableScore) -> Iterator[NumberFeature]:
    yield from _single(score)
    for first, second in combinations(sorted(_heavy(score), key=repr), 2):
        if isinstance(score, PartsScore):
            yield from (PartsDifference(first, second), PartsSum((first, second)))
        else:
            yield from (numbers.Difference(first, second), numbers.PairSum(first, second))


def offers_of(tables: list[Table], *, against: bool) -> Iterator[tuple[Table, int, Candidates, float]]:
    """Yield events of tables as (table, p side, events, allowance).

    For each table and side, suggested events come first and plain events follow. The allowance for selection
    bias, in standard errors, is 0 for suggested events. Plain events need an allowance, because the same
    counts chose them and estimate their p and q.
    """
    for table in tables:
        for side in (0, 1):
            for suggest, errors in ((table.suggest, 0.0), (table.plain, _FLATTERED)):
                found = suggest(side, unfinished_counts_against=against)
                if found is not None:
                    yield table, side, found, errors
