"""Output laws of mechanisms that compare Laplace noise, computed as integrals.

Guarantee: for up to 20 factors a sum over `quadrature` has a relative error of at most 1e-12. Between the
knots each factor is a sum of two terms. So the integrand is a sum of terms c·e^(κx), where |κ| is at most the
sum R of all rates 1/scale. On a piece of length h, a Gauss rule with 16 nodes has a relative error of
2.7e-45·(κh/2)^32 for such a term. This is below 1e-25 at h = 8/R. The absolute values of the terms add up to
at most 3^factors times the integrand, 4e9 for 20 factors. Beyond the outermost knots the density decreases
exponentially, and each factor at most doubles. So the omitted part, beyond 60 scales, is below 2^20·e^(−60)
of the whole. All terms of the sum are positive, so its relative rounding error is that of one product.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from audit.errors import InvalidValue

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["above", "below", "density", "quadrature"]

_NODES = 16
_TAIL = 60.0
_MOST_PIECES = 100_000


def quadrature(
    knots: Iterable[float], *, scale: float, rate: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return points and weights for integrals of a Laplace density times factors.

    Parameters
    ----------
    knots
        The points at which the density or a factor is not smooth.
    scale
        Scale of the density.
    rate
        The sum of 1/scale over the density and all factors.

    Raises
    ------
    InvalidValue
        The knots lie so far apart that more than 100,000 pieces would be needed.

    Examples
    --------
    >>> points, weights = quadrature([0.0, 1.0], scale=2.0, rate=1.0)
    >>> round(float(weights @ (density(points, 2.0) * above(1.0 - points, 2.0))), 12)
    0.37908166232
    """
    places = sorted(set(knots))
    ends = [places[0] - _TAIL * scale, *places, places[-1] + _TAIL * scale]
    if not (ends[-1] - ends[0]) * rate / 8.0 <= _MOST_PIECES:
        raise InvalidValue(
            f"The answers lie too far apart for an exact law; got {places[0]} to {places[-1]}."
        )
    cuts = [
        np.linspace(low, high, 1 + int(np.ceil((high - low) * rate / 8.0)))[:-1]
        for low, high in pairwise(ends)
    ]
    edges = np.array([*np.concatenate(cuts), ends[-1]])
    half, middle = np.diff(edges) / 2.0, (edges[1:] + edges[:-1]) / 2.0
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return (middle[:, None] + half[:, None] * nodes).ravel(), (half[:, None] * weights).ravel()


def density(x: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Return the density of Laplace noise at x.

    Examples
    --------
    >>> density(np.zeros(1), 0.5)
    array([1.])
    """
    return np.asarray(np.exp(-np.abs(x) / scale) / (2.0 * scale))


def below(x: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Return the probability that Laplace noise is below x.

    Examples
    --------
    >>> below(np.array([0.0, 50.0]), 1.0)
    array([0.5, 1. ])
    """
    tail = 0.5 * np.exp(-np.abs(x) / scale)
    return np.where(x < 0, tail, 1.0 - tail)


def above(x: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Return the probability that Laplace noise is above x.

    Examples
    --------
    >>> above(np.array([0.0, -50.0]), 1.0)
    array([0.5, 1. ])
    """
    return below(-x, scale)
