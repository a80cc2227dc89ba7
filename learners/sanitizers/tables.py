"""The outputs for all vectors of noisy counts."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["CountTable"]


@dataclass(frozen=True, eq=False)
class CountTable:
    """The outputs of all vectors of counts.

    Parameters
    ----------
    outputs
        The distinct outputs that occur.
    places
        The index of the output of each vector, shape (vectors,); the last count changes fastest.

    Examples
    --------
    >>> table = CountTable.of(sum, range(2), length=2)
    >>> table.outputs, table.places.tolist()
    ((0, 1, 2), [0, 1, 1, 2])
    >>> table.law([np.array([0.5, 0.5]), np.array([0.25, 0.75])])
    {0: 0.125, 1: 0.5, 2: 0.375}
    """

    outputs: tuple[Any, ...]
    places: NDArray[np.intp]

    @classmethod
    def of(cls, released: Callable[[tuple[int, ...]], Any], values: range, *, length: int) -> CountTable:
        """Return the table of all vectors of `length` counts."""
        index: dict[Any, int] = {}
        places = [index.setdefault(released(drawn), len(index)) for drawn in product(values, repeat=length)]
        return cls(tuple(index), np.array(places, dtype=np.intp))

    def law(self, laws: Sequence[NDArray[np.float64]]) -> dict[Any, float]:
        """Return the law of the output for independent counts."""
        masses = np.ones(1)
        for law in laws:
            masses = np.outer(masses, law).ravel()
        found = np.bincount(self.places, weights=masses, minlength=len(self.outputs))
        return dict(zip(self.outputs, found.tolist(), strict=True))
