"""Cut numbers into bins, and decide which numbers count as equal."""

import math
from functools import lru_cache

import numpy as np

from audit.distributions.law import Flags, Floats, Ints

INF = float("inf")
LARGEST = float(np.finfo(np.float64).max)
#: Larger: more numbers count as equal in ideal numerics (`point`). This is half the width of the interval
#: around a number, relative to its size. `_round`, which finds frequent values, keeps only 11 digits.
ATOM_WIDTH = 1e-11
#: Larger: bins show finer differences, with fewer runs in each. A number feature has at most this many bins
#: of equal count, about one for every 8 runs. Bins for tails and frequent values are added.
MOST_BINS = 64
#: These affect speed only. From `_MANY` values on, bins are found by a grid of `_CELLS` equal cells with at
#: most `_CROWDED` edges each. The grid is applied to `_CHUNK` values at a time, because these fit into the
#: processor's cache.
_MANY, _CELLS, _CROWDED, _CHUNK = 1_000, 4_096, 3, 8_192


def point(value: float, scale: float = 0.0) -> tuple[float, float]:
    """Return the half-open interval of numbers that count as equal to `value`.

    The interval is wide enough for rounding errors. These errors are relative to |value| or to `scale`,
    whichever is larger.

    Examples
    --------
    >>> low, high = point(3.0)
    >>> low < 3.0 < high, point(INF)
    (True, (inf, inf))
    """
    if not np.isfinite(value):
        return (value, INF) if value > 0 else (value, float(np.nextafter(value, 0)))
    value, scale = float(value), float(scale)  # numpy's numbers warn on overflow
    width = ATOM_WIDTH * max(abs(value), scale)
    if value == math.floor(value):
        width = min(width, 0.25)  # distinct whole numbers never count as equal
    low, high = math.nextafter(value, -INF), math.nextafter(value, INF)
    return min(value - width, low), max(value + width, high)


def learn_edges(column: Floats) -> Floats:
    """Return edges of bins at quantiles of past values.

    Bins are finer at both ends. Frequent values get bins of their own.
    """
    values = np.sort(column[~np.isnan(column)])
    if values.size == 0:
        return np.empty(0)
    most = int(np.clip(values.size // 8, 4, MOST_BINS))
    sizes = np.abs(values)
    scale = float(np.partition(sizes, sizes.size // 2)[sizes.size // 2])
    rounded = np.sort(_round(values, scale))
    first = np.flatnonzero(is_new(rounded))
    atoms, counts = rounded[first], np.diff(first, append=values.size)
    if len(atoms) <= most:
        return _between(atoms)
    edges = values[_ranks(values.size, most)]
    heavy = atoms[(counts >= 3) & (counts > values.size / (2 * most))]
    for low, high in (point(float(atom), scale) for atom in heavy):
        edges = np.concatenate([edges[(edges <= low) | (edges >= high)], [low, high]])
    edges = np.sort(edges)
    return edges[is_new(edges)]


@lru_cache(maxsize=256)
def _ranks(size: int, most: int) -> Ints:
    """Return the ranks of the values that become edges: quantiles, and n/16, n/32, … from both ends."""
    ranks = np.linspace(0, size - 1, most + 1)[1:-1].astype(np.intp)
    tails = size >> np.arange(4, 30)
    tails = tails[(tails >= 4) & (tails < size // most)]
    return np.unique(np.concatenate([ranks, tails, size - tails]))


def is_new(values: Floats) -> Flags:
    """Return whether each of these sorted values differs from the one before it."""
    new = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=new[1:])
    return new


def bins_of(values: Floats, edges: Floats) -> Ints:
    """Return the bin of each value. NaN has the last bin.

    Examples
    --------
    >>> bins_of(np.array([-1.0, 0.0, 0.5, 1.0, np.nan]), np.array([0.0, 1.0])).tolist()
    [0, 1, 1, 2, 3]
    """
    found = _by_grid(values, edges) if len(values) >= _MANY and len(edges) > 1 else None
    if found is None:
        found = np.searchsorted(edges, values, side="right")
    missing = np.isnan(values)
    if missing.any():
        found[missing] = len(edges) + 1
    return found


def _by_grid(values: Floats, edges: Floats) -> Ints | None:
    """Return the bin of each value by a fast method for many values.

    The bins are those of `np.searchsorted(edges, values, side="right")`. Equal cells lie between the first
    edge and the last. Only the edges in a value's own cell are compared with the value. A larger value never
    has a lower cell, so the answer is exact. If the edges are too uneven for a grid, return None.
    """
    with np.errstate(all="ignore"):
        low, scale = edges[0], _CELLS / (edges[-1] - edges[0])
        if not 0 < scale < INF:
            return None
        of_edges = _cells(edges, low, scale)
    most = int(np.bincount(of_edges).max())
    if most > _CROWDED:
        return None
    lower = np.searchsorted(of_edges, np.arange(_CELLS + 1))
    ends, found = np.append(edges, np.nan), np.empty(len(values), dtype=np.intp)
    for start in range(0, len(values), _CHUNK):
        some = values[start : start + _CHUNK]
        with np.errstate(all="ignore"):
            bins = lower.take(_cells(some, low, scale), out=found[start : start + _CHUNK], mode="clip")
        for _ in range(most):
            bins += some >= ends.take(bins, mode="clip")
    return found


def _cells(values: Floats, low: float, scale: float) -> Ints:
    """Return the grid cell of each value, which is arbitrary for NaN."""
    place = (values - low) * scale
    return np.fmin(np.fmax(place, 0.0, out=place), _CELLS, out=place).astype(np.intp)


def _between(atoms: Floats) -> Floats:
    """Return edges that give each value a bin of its own.

    `atoms` are sorted. An edge lies between each two adjacent values. A number between two adjacent values is
    in the bin of one of the two.
    """
    low, high = atoms[:-1], atoms[1:]
    with np.errstate(invalid="ignore"):
        middle = low / 2 + high / 2  # halved first: the sum may overflow
    middle = np.where((low < middle) & (middle <= high), middle, high)
    middle = np.where(np.isneginf(low), -LARGEST, middle)
    return np.asarray(np.where(np.isposinf(high), np.inf, middle))


def _round(values: Floats, scale: float) -> Floats:
    """Return values rounded to 11 digits, which removes rounding errors. Whole numbers are left unchanged."""
    with np.errstate(all="ignore"):
        size = np.floor(np.log10(np.maximum(np.abs(values), scale)))
        unit = 10.0 ** np.clip(10 - size, -300, 300)
        rounded = np.round(values * unit) / unit
        kept = ~np.isfinite(rounded) | (values == np.floor(values))
    return np.where(kept, values, rounded)
