"""Small databases whose shares are close to given numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["completed", "rounded"]


def rounded(points: Sequence[int], cumulative: NDArray[np.float64], *, size: int) -> tuple[int, ...]:
    """Return a database of `size` records with about these shares.

    Parameters
    ----------
    points
        The points, in any order; a point may occur several times.
    cumulative
        Entry i is the share of the first i + 1 points. The entries never fall; the last is 1.

    Guarantee
    ---------
    Every cumulative share is rounded to the nearest multiple of 1/size. So it changes by at most 1/(2·size),
    and the share of each item of `points` by at most 1/size.

    Examples
    --------
    >>> rounded([3, 5, 9], np.array([0.3, 0.55, 1.0]), size=4)
    (3, 5, 9, 9)
    """
    ends = np.floor(np.asarray(cumulative) * size + 0.5).astype(np.int64)
    repeats = np.diff(ends, prepend=0).tolist()
    return tuple(point for point, times in zip(points, repeats, strict=True) for _ in range(times))


def completed(
    shares: Mapping[int, float], *, cap: float, unnamed: int, others: Iterable[int]
) -> dict[int, float]:
    """Return shares that sum to 1, from noisy shares.

    Parameters
    ----------
    shares
        The noisy shares of the named points, each in [0, 1].
    cap
        The largest share that any other point may get.
    unnamed
        The number of other points.
    others
        Other points, in any order, at least the smaller of `unnamed` and 1/cap + 1 of them.

    Guarantee
    ---------
    Let the true shares sum to 1, those of unnamed points be at most `cap`, and every given share be off by at
    most e. Then in the result a named point is off by at most 2·e, and an unnamed point has at most `cap`.

    (i) *The given shares sum to more than 1.* All are lowered by the same λ, but not below 0, until they sum
    to 1. λ ≤ e, because shares lowered by e are below the true ones.

    (ii) *The missing mass fits on the unnamed points at `cap` each.* It goes there.

    (iii) *It does not fit.* All unnamed points get `cap`, and the mass left over is divided equally among the
    named points. The true shares of the unnamed points fit, so the mass left over is at most e for each named
    point. If no point is named, all get 1/unnamed ≤ `cap`.

    Examples
    --------
    >>> completed({7: 0.75, 8: 0.5}, cap=0.25, unnamed=2, others=[0, 1])
    {7: 0.625, 8: 0.375}
    >>> completed({7: 0.5}, cap=0.3, unnamed=5, others=[0, 1, 2, 3, 4])
    {7: 0.5, 0: 0.3, 1: 0.2}
    """
    total = math.fsum(shares.values())
    if total > 1.0 or not unnamed:
        return _levelled(shares, total)
    lacking, room = 1.0 - total, cap * unnamed
    if lacking > room:
        if not shares:
            return dict.fromkeys(_first(others, unnamed), 1.0 / unnamed)
        raised = {point: share + (lacking - room) / len(shares) for point, share in shares.items()}
        return raised | dict.fromkeys(_first(others, unnamed), cap)
    whole = min(unnamed, math.ceil(lacking / cap))
    filled = dict.fromkeys(_first(others, whole), cap)
    if filled:
        filled[list(filled)[-1]] = lacking - cap * (whole - 1)
    return {**shares, **filled}


def _levelled(shares: Mapping[int, float], total: float) -> dict[int, float]:
    """Return shares of sum 1, all moved by one amount but not below 0."""
    if total <= 1.0:
        return {point: share + (1.0 - total) / len(shares) for point, share in shares.items()}
    falling = np.sort(np.array(list(shares.values())))[::-1]
    levels = (np.cumsum(falling) - 1.0) / np.arange(1, len(falling) + 1)
    level = float(levels[np.flatnonzero(falling > levels)[-1]])
    return {point: max(0.0, share - level) for point, share in shares.items()}


def _first(others: Iterable[int], count: int) -> list[int]:
    found: list[int] = []
    for point in others:
        if len(found) == count:
            break
        found.append(point)
    return found
