"""A recorded run: its draws, what came out, and the draws shifted where one asks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.sampling.recorded.generator import Draw
from audit.sampling.recorded.leaves import Leaves


@dataclass(frozen=True, eq=False)
class Run:
    """One recorded run: its draws, its outcome, and the outcome's leaves."""

    draws: tuple[Draw, ...]
    output: Any
    leaves: Leaves

    @property
    def calls(self) -> list[tuple[str, tuple[int, ...]]]:
        """The methods drawn from and the shapes of what they gave."""
        return [(draw.method, draw.shape) for draw in self.draws]


Shift = Mapping[tuple[int, tuple[int, ...]], float]
"""By place on the tape and index in the draw: what is added."""


def shifted(values: Any, place: int, shift: Shift) -> Any:
    """Return the values of the draw at a place of the tape, shifted.

    Examples
    --------
    >>> shifted(1.0, 0, {(0, ()): 2.0}), shifted(np.array([1.0, 2.0]), 1, {(1, (0,)): 2.0}).tolist()
    (3.0, [3.0, 2.0])
    """
    for (at, index), by in shift.items():
        if at == place:
            values = _moved(values, index, by)
    return values


def _moved(values: Any, index: tuple[int, ...], by: float) -> Any:
    if not index and not np.shape(values):
        return values + by
    moved = np.array(values)
    moved[index] += by
    return moved
