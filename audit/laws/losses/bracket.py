"""Bounds of δ(ε) for a sum of independent losses without a closed form.

Guarantee: `Bracket.bounds` returns a lower and an upper bound on E[(1 − exp(ε − L))₊], L = ΣLᵢ under p. The
bounds are widened by 1e-13 for each coordinate, to allow for the rounding of the Fourier transforms.

Each of the d losses Lᵢ is known in cells. A cell has masses p, q and an interval of the loss. On the grid
{h·j}:

- *Floor.* Every loss is rounded down. The expectation grows with L, so this gives a lower bound.
- *Spread.* A cell inside [a·h, b·h] is replaced by two atoms at its ends with the same total p-mass
  and q-mass. (1 − exp(ε − l))₊ is a convex function of the masses, so this gives an upper bound. It is
  the dominating pair of "connect the dots" (Doroshenko et al. 2022).
- *Window.* (1 − exp(ε − l))₊ is a linear function of the masses on either side of its kink. So
  spreading a cell changes the expectation only if the kink is inside the cell. The change is at most
  the cell's width, which is at most m·h. The losses may be replaced one after the other. So the upper
  bound exceeds the truth by at most d·m·h·Pr[|L − ε| ≤ d·m·h]. This probability is at most the
  probability that the floored sum is in [ε − 2·d·m·h, ε + d·m·h]. If L has a density, the bracket is
  therefore O(h²) wide.
"""

import math
from collections import Counter
from collections.abc import Mapping

import numpy as np

from audit.distributions.law import Floats
from audit.laws.losses.loss import Cells, ScalarLoss

GRID = 2**18
ROUNDING = 1e-13
COARSE = 2.0**-6


class Bracket:
    """Bounds on δ(ε) for a sum of independent losses.

    A loss that occurs several times is computed once.

    Examples
    --------
    >>> from audit.distributions import Density
    >>> from audit.laws.losses import loss_of
    >>> one = loss_of(Density.normal(0.0), Density.normal(1.0))
    >>> low, high = Bracket([one, one]).bounds(1.0)
    >>> high - low < 1e-6
    True
    """

    def __init__(self, losses: list[ScalarLoss]) -> None:
        times = Counter(losses)
        step = _step(times)
        rounded = [(_Rounded(loss.cells(step), step), n) for loss, n in times.items()]
        self._noise = ROUNDING * times.total()
        self._width = times.total() * max(one.stretch for one, _ in rounded) * step
        self._floor = _convolved([(one.floor, n) for one, n in rounded])
        self._spread = _convolved([(one.spread, n) for one, n in rounded])
        self._floor_lost = 1.0 - math.prod((1.0 - one.floor_lost) ** n for one, n in rounded)
        self._spread_lost = 1.0 - math.prod((1.0 - one.spread_lost) ** n for one, n in rounded)
        start = sum(one.start * n for one, n in rounded)
        self._support = step * (start + np.arange(len(self._floor), dtype=np.float64))

    def bounds(self, level: float) -> tuple[float, float]:
        """Return a lower and an upper bound on E[(1 − exp(level − L))₊]."""
        floor = _expectation(self._floor, self._support, level) + self._floor_lost
        upper = _expectation(self._spread, self._support, level) + self._spread_lost
        near = (self._support >= level - 2.0 * self._width) & (self._support <= level + self._width)
        windowed = upper - self._width * float(self._floor[near].sum() + self._noise)
        return max(floor, windowed, self._noise) - self._noise, min(upper + self._noise, 1.0)


class _Rounded:
    """One loss on the grid.

    Its arrays of p-mass begin at index `start`. It also holds the masses at infinite loss.
    """

    def __init__(self, cells: Cells, step: float) -> None:
        p, q = np.exp(cells.log_p), np.exp(cells.log_q)
        low, high = np.floor(cells.low / step), np.ceil(cells.high / step)
        lost, has_floor, closed = np.isposinf(low), np.isfinite(low), np.isfinite(high)
        lowest = np.where(has_floor, low, np.floor(cells.high / step))[~lost]
        bounded = has_floor & closed
        self.start = int(lowest.min(initial=0.0))
        self.length = int(high[bounded].max(initial=lowest.max(initial=0.0))) - self.start + 2
        self.floor_lost = float(p[lost].sum())
        self.spread_lost = float(p[~closed].sum())
        self.floor = self._array(low[has_floor], p[has_floor])
        low = np.where(has_floor, low, high)
        self.spread = self._spread(low[closed], high[closed], p[closed], q[closed], step=step)
        self.stretch = int((high - low)[bounded].max(initial=1.0))

    def _array(self, places: Floats, masses: Floats) -> Floats:
        counts = np.bincount((places - self.start).astype(int), weights=masses, minlength=self.length)
        return np.asarray(counts, dtype=np.float64)

    def _spread(self, low: Floats, high: Floats, p: Floats, q: Floats, *, step: float) -> Floats:
        width = np.maximum(high - low, 1.0) * step
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            share = (1.0 - np.exp(low * step + np.log(q / p))) / -np.expm1(-width)
        upper = np.where((high > low) & (p > 0), p * np.clip(np.nan_to_num(share, nan=1.0), 0.0, 1.0), p)
        return self._array(high, upper) + self._array(np.minimum(low, high), p - upper)


def _step(losses: Mapping[ScalarLoss, int]) -> float:
    """Return the step of the grid.

    It is the range of the sum of losses, without far tails, over the grid size.
    """
    total = 0.0
    for loss, times in losses.items():
        cells = loss.cells(COARSE)
        values = np.concatenate([cells.low, cells.high])
        values = values[np.isfinite(values)]
        total += times * float(np.ptp(values)) if len(values) else 0.0
    return max(total, 1e-9) / GRID


def _convolved(arrays: list[tuple[Floats, int]]) -> Floats:
    """Return the convolution of arrays, each with its multiplicity."""
    length = sum((len(array) - 1) * times for array, times in arrays) + 1
    padded = 1 << (length - 1).bit_length()
    product = np.ones(padded // 2 + 1, dtype=np.complex128)
    for array, times in arrays:
        product *= np.fft.rfft(array, padded) ** times
    return np.maximum(np.fft.irfft(product, padded)[:length], 0.0)


def _expectation(masses: Floats, support: Floats, level: float) -> float:
    above = support > level
    return float(np.sum(masses[above] * -np.expm1(level - support[above])))
