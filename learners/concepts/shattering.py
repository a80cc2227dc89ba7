"""The exact VC dimension of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["vc_dimension"]


def vc_dimension(table: NDArray[np.bool_]) -> int:
    """Return the VC dimension of a table.

    It is the size of the largest set of columns in which all patterns of labels occur.

    Parameters
    ----------
    table
        Booleans of shape (concepts, points).

    Notes
    -----
    Sets are grown column by column. A set of k columns splits the rows into 2^k cells. A column extends the
    set if it is not constant on any cell. At most log2(size of the smallest cell) more columns can be added.

    Examples
    --------
    >>> vc_dimension(np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=bool))
    2
    """
    rows = np.unique(table, axis=0)
    columns = [_bits(column) for column in np.unique(rows.T, axis=0)]
    return _grow(columns, [(1 << len(rows)) - 1], depth=0, best=0)


def _bits(column: NDArray[np.bool_]) -> int:
    return int.from_bytes(np.packbits(column, bitorder="little").tobytes(), "little")


def _grow(columns: list[int], cells: list[int], *, depth: int, best: int) -> int:
    """Return the size of the largest shattered set that extends a set, at least `best`.

    The set has `depth` columns and splits the rows into `cells`. In a column or a cell, bit i stands for row
    i.
    """
    best = max(best, depth)
    columns = [column for column in columns if all(0 != column & cell != cell for cell in cells)]
    smallest = min(cell.bit_count() for cell in cells)
    for first, column in enumerate(columns):
        room = min(len(columns) - first, smallest.bit_length() - 1)
        if depth + room <= best:
            break
        split = [part for cell in cells for part in (cell & column, cell & ~column)]
        best = _grow(columns[first + 1 :], split, depth=depth + 1, best=best)
    return best
