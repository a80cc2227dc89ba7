"""The VC dimension of a table, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["vc_dimension"]


def vc_dimension(table: NDArray[np.bool_]) -> int:
    """Return the size of the largest set of columns in which all patterns occur.

    Parameters
    ----------
    table
        Booleans of shape (concepts, points).

    Notes
    -----
    Subsets of shattered sets are shattered, so sets are grown column by column, and only by columns that
    extend the set's parent too. A set of k columns splits the rows into 2^k cells; a column extends it if it
    is not constant on any cell, and at most log2 of the smallest cell's size more columns can follow.

    Examples
    --------
    >>> vc_dimension(np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=bool))
    2
    """
    rows = np.unique(table, axis=0)
    columns = np.unique(rows.T, axis=0)
    return _grow(columns, np.zeros(columns.shape[1], dtype=np.intp), depth=0, best=0)


def _grow(columns: NDArray[np.bool_], cells: NDArray[np.intp], *, depth: int, best: int) -> int:
    """Return the larger of `best` and what a shattered set of `depth` columns can be grown to."""
    best = max(best, depth)
    count = 2**depth
    sizes = np.bincount(cells, minlength=count)
    ones = np.array([np.bincount(cells, weights=column, minlength=count) for column in columns])
    splits = ((ones > 0) & (ones < sizes)).all(axis=1) if len(columns) else np.zeros(0, dtype=np.bool_)
    columns = columns[splits]
    for first, column in enumerate(columns):
        room = min(len(columns) - first, int(sizes.min()).bit_length() - 1)
        if depth + room <= best:
            break
        best = _grow(columns[first + 1 :], 2 * cells + column, depth=depth + 1, best=best)
    return best
