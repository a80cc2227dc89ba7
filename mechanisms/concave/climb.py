"""A search for neighbouring qualities on which Rec loses the most privacy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mechanisms.concave.piecewise import StepFunction
from mechanisms.formulas.rec_pairs import steepest_lists

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["climbed", "steepest"]

Pair = tuple[StepFunction, StepFunction]


def steepest(top: int = 64, promise: float = 100.0) -> Pair:
    """Return the neighbouring qualities with the largest known privacy loss of Rec.

    Examples
    --------
    >>> left, right = steepest()
    >>> left.top, right(0) - left(0)
    (64, 1.0)
    """
    found = steepest_lists(top, promise)
    assert found is not None
    left, right = (StepFunction.of(np.array(side)) for side in found)
    return left, right


def climbed(
    start: Pair, loss: Callable[[Pair], float], *, steps: int, lead: float, rng: np.random.Generator
) -> tuple[float, Pair]:
    """Return the largest loss that a climb finds, and its pair.

    Parameters
    ----------
    start
        A pair of neighbouring qualities, on a range short enough to list.
    loss
        A function that returns the exact loss of a pair.
    steps
        How many pairs are tried.
    lead
        The gap that A_dist requires. One step changes values of a quality by up to about this much.
    rng
        A generator.

    Guarantee
    ---------
    The two qualities of every pair tried differ by at most 1 at every point, so they are neighbours.

    Examples
    --------
    >>> from mechanisms.concave.instances import QualityFunctions, random_pair
    >>> rng = np.random.default_rng(0)
    >>> pair = random_pair(40, rng, lead=9.0)
    >>> _, found = climbed(pair, lambda pair: abs(pair[0](3) - pair[1](3)), steps=20, lead=9.0, rng=rng)
    >>> QualityFunctions().are_neighbours(*found)
    True
    """
    left, right = (np.array(side.values_everywhere()) for side in start)
    best, moves = loss(start), right - left
    for _ in range(steps):
        values, changed = left.copy(), np.clip(moves, -1.0, 1.0)
        _moved(values, changed, lead=lead, rng=rng)
        pair = StepFunction.of(values), StepFunction.of(values + changed)
        if pair[0] != pair[1] and (found := loss(pair)) >= best:
            best, left, moves = found, values, changed
    return best, (StepFunction.of(left), StepFunction.of(left + moves))


def _moved(
    values: NDArray[np.float64], moves: NDArray[np.float64], *, lead: float, rng: np.random.Generator
) -> None:
    """Change a pair of neighbouring qualities in place.

    `values` is the left quality, and `moves` is the right quality minus the left one.
    """
    size = len(values)
    first = int(rng.integers(size))
    stretch = slice(first, min(size, first + int(2.0 ** rng.uniform(0.0, np.log2(size + 1.0)))))
    kind = int(rng.integers(6))
    if kind == 0:
        values[stretch] += rng.uniform(-lead, lead)
    elif kind == 1:
        values[stretch] = values[int(rng.integers(size))] + rng.choice([-2.0, -1.0, 0.0, 1.0, 2.0])
    elif kind == 2:
        values[values == values[first]] += rng.normal(0.0, lead / 8.0)
    elif kind == 3:
        moves[stretch] = rng.choice([-1.0, 0.0, 1.0])
    elif kind == 4:
        moves[values == values[first]] = rng.choice([-1.0, 1.0])
    else:
        values[values == values[first]] += rng.choice([-2.0, -1.0, 1.0, 2.0])
