"""Clamped geometric noise, and a bound on sums of it."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["clamped_geometric", "class_masses", "straying"]


def clamped_geometric(answer: int, rate: float, low: int, high: int) -> NDArray[np.float64]:
    """Return the probabilities of low, …, high for an answer with clamped noise.

    Guarantee
    ---------
    With r = e^(−rate) the noise is k with probability (1 − r)/(1 + r)·r^|k|. It is at least k with
    probability r^k/(1 + r) for k ≥ 0, and at most −k with the same probability. Each end gets the whole tail.
    The caller ensures low ≤ answer ≤ high and low < high.

    Examples
    --------
    >>> clamped_geometric(1, math.log(2.0), 0, 2).round(6).tolist()
    [0.333333, 0.333333, 0.333333]
    """
    r = math.exp(-rate)
    distances = np.abs(np.arange(low, high + 1) - answer).astype(np.float64)
    masses = np.exp(-rate * distances) / (1.0 + r)
    masses[1:-1] *= -math.expm1(-rate)
    return np.asarray(masses)


def class_masses(answer: int, rate: float, edges: Sequence[int]) -> NDArray[np.float64]:
    """Return the probability of each class of a noisy answer.

    Parameters
    ----------
    answer
        The true count.
    rate
        The rate of the noise, which is not clamped.
    edges
        Increasing. k edges make k + 1 classes.

    Guarantee
    ---------
    Pr[noise ≥ t] = Pr[noise ≤ −t] = r^t/(1 + r) for t ≥ 1, r = e^(−rate). The mass between two edges on one
    side of the answer is a difference of two such tails. Tails are small numbers, so no digits are lost.

    Examples
    --------
    >>> class_masses(1, math.log(2.0), [1, 2]).round(6).tolist()
    [0.333333, 0.333333, 0.333333]
    """
    ends = np.array([-math.inf, *edges, math.inf])
    return np.array([_between(low - answer, high - answer, rate) for low, high in pairwise(ends)])


def _between(low: float, high: float, rate: float) -> float:
    """Return Pr[low ≤ noise < high]."""
    if low >= 1.0:
        return _tail(low, rate) - _tail(high, rate)
    if high <= 0.0:
        return _tail(1.0 - high, rate) - _tail(1.0 - low, rate)
    return 1.0 - _tail(high, rate) - _tail(1.0 - low, rate)


def _tail(t: float, rate: float) -> float:
    """Return Pr[noise ≥ t] for t ≥ 1."""
    return math.exp(-rate * t) / (1.0 + math.exp(-rate))


def straying(distance: float, *, terms: int, rate: float) -> float:
    """Return a bound on the probability of a large partial sum of noises.

    Parameters
    ----------
    distance
        The partial sums are compared with this number, ≥ 0.
    terms
        The number of independent two-sided geometric noises.
    rate
        The rate of each noise.

    Guarantee
    ---------
    The bound is 2·exp(−n·I(x)), with n = terms, x = distance·rate/n and I(x) = x·t + ln(1 − t²), t = (√(1 +
    x²) − 1)/x. The moment generating function of the noise at s is at most that of Laplace noise of the same
    rate, 1/(1 − (s/rate)²), because (cosh s − 1)/s² rises in s. e^(s·sum) is a submartingale, so Doob's
    inequality bounds all partial sums by the moment of the last one. The bound is least at s = t·rate.

    Examples
    --------
    >>> straying(0.0, terms=3, rate=1.0), straying(200.0, terms=10, rate=0.5) < 1e-25
    (1.0, True)
    """
    x = distance * rate / terms
    if x <= 0.0:
        return 1.0
    t = x / (1.0 + math.hypot(1.0, x))
    lost = math.log1p(-t * t) if t < 0.5 else math.log(2.0 * t / x)  # x·t² + 2t = x, also where t rounds to 1
    return min(1.0, 2.0 * math.exp(-terms * (x * t + lost)))
