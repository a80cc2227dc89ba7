"""How past outputs of two databases differ.

Outputs are compared in single columns of numbers and in pairs of columns.
"""

import numpy as np

from audit.distributions.law import Floats

#: Larger: slower. Maximum count of numbers compared on a side. If outputs are wide, fewer runs are compared.
MOST_COMPARED = 2_000_000
_LEAST_ROWS = 64
#: Larger: more memory. Number of columns that are sorted at once.
_MANY = 64
#: In outputs with more than `_MOST_BOUND` entries, pairs of entries are only checked for equal absolute
#: values, in at most `_BOUND_ROWS` runs.
_MOST_BOUND = 512
_BOUND_ROWS = 400
_MOST_PAIRS = 2
#: Larger: fewer pairs are proposed. Least difference between the sides in how often two entries are related:
#: `_LEAST_BOUND` as a fraction of runs, `_ERRORS` in standard errors.
_LEAST_BOUND = 0.05
_ERRORS = 5.0
#: If whole numbers have more distinct values than this, they do not get one bin for each value.
_SPREAD = 32


def gap(a: Floats, b: Floats) -> float:
    """Return the largest difference between two empirical distribution functions.

    Examples
    --------
    >>> gap(np.array([0.0, 1.0]), np.array([1.0, 2.0]))
    0.5
    """
    return float(_gaps(a[:, None], b[:, None])[0])


def gaps(a: Floats, b: Floats) -> Floats:
    """Return the `gap` of every column of two matrices.

    The matrices have shapes (runs, entries). NaN counts as the largest number.

    Examples
    --------
    >>> gaps(np.array([[0.0, 5.0], [1.0, 5.0]]), np.array([[1.0, 5.0], [2.0, 5.0]])).tolist()
    [0.5, 0.0]
    """
    a, b = few(a), few(b)
    if not (a.size and b.size):
        return np.zeros(a.shape[1])
    starts = range(0, a.shape[1], _MANY)
    return np.concatenate([_gaps(a[:, k : k + _MANY], b[:, k : k + _MANY]) for k in starts])


def few(rows: Floats) -> Floats:
    """Return the first rows, few enough for a quick comparison."""
    return rows[: max(_LEAST_ROWS, MOST_COMPARED // max(1, rows.shape[1]))]


def _gaps(a: Floats, b: Floats) -> Floats:
    both = np.concatenate([a, b])
    order = np.argsort(both, axis=0, kind="stable")
    steps = np.concatenate([np.full(len(a), 1 / len(a)), np.full(len(b), -1 / len(b))])[order]
    ordered = np.take_along_axis(both, order, axis=0)
    last = np.ones((1, both.shape[1]), dtype=bool)
    # a difference of infinities would be NaN
    same = (ordered[1:] == ordered[:-1]) | (np.isnan(ordered[1:]) & np.isnan(ordered[:-1]))
    ends = np.concatenate([~same, last])
    return np.asarray(np.where(ends, np.abs(np.cumsum(steps, axis=0)), 0.0).max(axis=0))


def bound_pairs(a: Floats, b: Floats) -> list[tuple[int, int]]:
    """Return a few pairs of columns that are related more closely on one side.

    In a run, two columns count as related if their values are equal up to sign. They also count as related if
    both values are above the medians of their columns, or both below. The clearest pair comes first.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 100, 40))
    >>> a[:, 31] = -a[:, 17]
    >>> bound_pairs(a, b)
    [(17, 31)]
    """
    a, b = few(a)[:_BOUND_ROWS], few(b)[:_BOUND_ROWS]
    if min(len(a), len(b)) < 2 or a.shape[1] < 2:
        return []
    on_a, on_b = _equal(a), _equal(b)
    shares = ((abs(on_a.get(pair, 0) / len(a) - on_b.get(pair, 0) / len(b)), pair) for pair in on_a | on_b)
    found = [(share, pair) for share, pair in shares if share >= _LEAST_BOUND]
    if a.shape[1] <= _MOST_BOUND:
        both = np.concatenate([a, b])
        middle = np.nan_to_num(np.nanmedian(np.where(np.isnan(both).all(axis=0), 0.0, both), axis=0))
        found += _apart(_together(a, middle) / len(a), _together(b, middle) / len(b), len(a), len(b))
    best = dict.fromkeys(pair for _, pair in sorted(found, key=lambda item: (-item[0], item[1])))
    return list(best)[:_MOST_PAIRS]


def _equal(rows: Floats) -> dict[tuple[int, int], int]:
    """Return in how many rows exactly two entries have the same absolute value.

    The keys are the pairs of entries. Zeros, infinities and NaN do not count.
    """
    sizes = np.abs(rows)
    order = np.argsort(sizes, axis=1, kind="stable")
    ordered = np.take_along_axis(sizes, order, axis=1)
    same = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] > 0) & np.isfinite(ordered[:, 1:])
    alone = same.copy()
    alone[:, 1:] &= ~same[:, :-1]
    alone[:, :-1] &= ~same[:, 1:]
    at, k = np.nonzero(alone)
    pairs = np.sort(np.stack([order[at, k], order[at, k + 1]], axis=1), axis=1)
    known, counts = np.unique(pairs, axis=0, return_counts=True)
    return {(int(i), int(j)): int(count) for (i, j), count in zip(known, counts, strict=True)}


def _together(rows: Floats, middle: Floats) -> Floats:
    signs = np.nan_to_num(np.sign(rows - middle))
    return np.asarray(signs.T @ signs)


def _apart(a: Floats, b: Floats, m: int, n: int) -> list[tuple[float, tuple[int, int]]]:
    """Return the pairs of columns whose correlation of signs differs between sides.

    `a` and `b` hold these correlations on the two sides. Each result is half the difference, then the pair.
    """
    apart = np.triu(np.abs(a - b), 1) / 2
    least = _ERRORS * np.sqrt(1 / m + 1 / n) / 2
    chosen = np.argwhere(apart >= least)
    order = np.argsort(-apart[tuple(chosen.T)], kind="stable")[:_MOST_PAIRS]
    return [(float(apart[i, j]), (int(i), int(j))) for i, j in chosen[order]]


def is_spread(values: Floats) -> bool:
    """Return whether most numbers are whole, with too many distinct values to give each its own bin.

    Examples
    --------
    >>> is_spread(np.arange(100.0)), is_spread(np.arange(100) % 5.0), is_spread(np.arange(100) / 3)
    (True, False, False)
    """
    values = values[:_BOUND_ROWS]
    values = values[np.isfinite(values)]
    whole = values[values == np.floor(values)]
    return len(whole) > len(values) / 2 and len(np.unique(whole)) > _SPREAD
