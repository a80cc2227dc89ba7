"""The law of a sum of hundreds of Laplace variables or more."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial import Polynomial

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["log_density", "log_tail"]

_NODES = 48
"""Points of the Gauss rule, for 13 digits of the integral."""

_BEYOND = 45.0
"""A tail's integral ends where the density has fallen by e^−45."""

_CELLS = 2**19
"""Nodes that are held at once, 4 MB for each array."""


def log_density(x: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Return the log-density, at x ≥ 0, of a sum of more than 256 Lap(1) variables.

    Guarantee
    ---------
    Correct within 1e-13 + 1e-15·|log-density|. The sum of n = `size` variables is a difference of two
    Gamma(n) variables. Its density is x^ν·K_ν(x)/(√π·2^ν·Γ(n)), ν = n − 1/2. Olver's expansion of K_ν(νz) for
    large ν holds uniformly for z > 0 (DLMF 10.41.4). Γ(ν + 1/2) has Stirling's expansion for large ν. The
    large terms cancel, which leaves

        −ν·(s − 1 − ln((1 + s)/2)) − ln(4π·ν·s)/2 + ln Σ_k (−1)^k·U_k(1/s)/ν^k − (Stirling's series),

    with z = x/ν and s = √(1 + z²). Five terms are used. The sixth, at most 2/ν⁶, bounds what is left out.

    Examples
    --------
    >>> round(float(log_density(np.array([0.0]), 1000)[0]) + math.log(4 * math.pi * 1000) / 2, 6)
    0.000375
    """
    nu = size - 0.5
    s = np.hypot(1.0, x / nu)
    more = np.square(x / nu) / (1.0 + s)  # s − 1, without cancellation
    exponent = nu * (more - np.log1p(more / 2.0))
    return np.asarray(np.log(_olver(size)(1.0 / s)) - 0.5 * np.log(4.0 * math.pi * nu * s) - exponent)


def log_tail(x: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Return log Pr[sum > x], at x ≥ 0, for a sum of more than 256 Lap(1) variables.

    Guarantee
    ---------
    Correct within 1e-12 + 1e-15·|log-probability|. The tail is the density at x times the integral of
    density(t)/density(x) over t > x. A Gauss rule computes it from x to where this ratio is about e^−45. The
    rule is accurate because the density is log-concave and smooth.

    Examples
    --------
    >>> float(log_tail(np.array([0.0]), 1000)[0].round(12)) == round(math.log(0.5), 12)
    True
    """
    found = np.full(len(x), -np.inf)
    block = _CELLS // _NODES
    finite = np.flatnonzero(np.isfinite(x))
    for some in (finite[i : i + block] for i in range(0, len(finite), block)):
        found[some] = _integrated(x[some], size)
    return found


def _integrated(x: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    nu = size - 0.5
    s = np.hypot(1.0, x / nu)
    slope, bend = x / nu / (1.0 + s), 1.0 / nu / s / (1.0 + s)  # derivatives of minus the log-density
    length = 2.0 * _BEYOND / (slope + np.sqrt(np.square(slope) + 2.0 * _BEYOND * bend))
    nodes, weights = _gauss()
    start = log_density(x, size)
    ratios = np.exp(log_density(x[:, None] + length[:, None] * nodes, size) - start[:, None])
    return np.asarray(start + np.log(length * (ratios @ weights)))


@lru_cache(maxsize=1)
def _gauss() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return nodes and weights of the Gauss rule on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return (nodes + 1.0) / 2.0, weights / 2.0


@lru_cache(maxsize=64)
def _olver(size: int) -> Polynomial:
    """Return Σ_k (−1)^k·U_k(p)/ν^k divided by Stirling's series, as a polynomial.

    U_{k+1} = p²(1 − p²)·U_k′/2 + ∫_0^p (1 − 5t²)·U_k dt/8 (DLMF 10.41.9).
    """
    nu = size - 0.5
    half, eighth = Polynomial([0.0, 0.0, 0.5, 0.0, -0.5]), Polynomial([0.125, 0.0, -0.625])
    term = total = Polynomial([1.0])
    for k in range(1, 6):
        term = half * term.deriv() + (eighth * term).integ()
        total = total + term * (-1.0 / nu) ** k
    return total * math.exp(1.0 / (24.0 * nu) - 7.0 / (2880.0 * nu**3) + 31.0 / (40320.0 * nu**5))
