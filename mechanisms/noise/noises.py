"""Laplace and geometric noise, and the law of an answer plus noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from audit.errors import finite_number, probability

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from audit.distributions import Countable, Density, Product

__all__ = ["GeometricNoise", "LaplaceNoise"]

_SMALLEST_RATE = 1e-12
"""Smallest rate of geometric noise, at which draws fit 64-bit integers."""


@dataclass(frozen=True, slots=True)
class LaplaceNoise:
    """Laplace noise with density exp(−|x|/scale)/(2·scale), as in K11 §2.1.

    The standard deviation is √2·scale. B Definition 2 calls the *rate* 1/scale "scale", and K08 footnote 5
    prints the deviation as √2/scale.

    Parameters
    ----------
    scale
        A finite number > 0.

    Examples
    --------
    >>> LaplaceNoise(2.0).law(1.0).cdf(1.0)
    0.5
    """

    scale: float

    def __post_init__(self) -> None:
        finite_number(self.scale, what="The scale of Laplace noise", above=0)

    def sample(self, shape: int | tuple[int, ...], rng: np.random.Generator) -> NDArray[np.float64]:
        """Return an array of independent draws."""
        return rng.laplace(0.0, self.scale, shape)

    def law(self, answer: float | NDArray[np.float64]) -> Density | Product:
        """Return the law of the answer plus noise, as a density or a product of densities."""
        from audit.distributions import Density, Product

        if isinstance(answer, float):
            return Density.laplace(answer, self.scale)
        return Product([Density.laplace(value, self.scale) for value in answer.tolist()])

    def bound(self, beta: float, *, coordinates: int = 1) -> float:
        """Return the t that the largest of several draws exceeds with probability `beta`.

        Guarantee
        ---------
        Pr[|x| > t] = e^(−t/scale) for one draw (B, proof of Theorem 3; BNS Theorem 1). So the largest of d
        draws exceeds t with probability 1 − (1 − e^(−t/scale))^d. This is `beta` at t = −scale·ln(1 − (1 −
        beta)^(1/d)).

        Examples
        --------
        >>> LaplaceNoise(1.0).bound(math.exp(-3.0))
        3.0
        """
        beta = _failure_probability(beta)
        if coordinates == 1:
            return -self.scale * math.log(beta)
        return -self.scale * math.log(-math.expm1(math.log1p(-beta) / coordinates))


@dataclass(frozen=True, slots=True)
class GeometricNoise:
    """Two-sided geometric noise on the integers (C §2).

    Pr[k] = (α − 1)/(α + 1)·α^(−|k|) with α = e^rate.

    Parameters
    ----------
    rate
        ln α, at least 1e-12.

    Examples
    --------
    >>> round(GeometricNoise(math.log(2.0)).law(7).pmf(7), 12) == round(1 / 3, 12)
    True
    """

    rate: float

    def __post_init__(self) -> None:
        finite_number(self.rate, what="The rate ln α of geometric noise", minimum=_SMALLEST_RATE)

    def sample(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return an array of independent draws.

        Each is the difference of two independent geometric variables. With r = 1/α, its probability of k is
        (1 − r)²·Σ_j r^j·r^(j+|k|) = (1 − r)/(1 + r)·r^|k|.
        """
        stop = -math.expm1(-self.rate)
        noise: NDArray[np.int64] = rng.geometric(stop, size) - rng.geometric(stop, size)
        return noise

    def law(self, answer: int) -> Countable:
        """Return the law of the answer plus noise."""
        from audit.distributions import Countable

        return Countable.geometric(answer, 1.0 / self.rate)

    def bound(self, beta: float) -> int:
        """Return the least whole t that |draw| exceeds with probability at most `beta`.

        Guarantee
        ---------
        Pr[|k| > t] = 2·α^(−t)/(α + 1) for whole t ≥ 0. This is at most `beta` from t = log_α(2/(beta·(α +
        1))) on.

        Examples
        --------
        >>> GeometricNoise(math.log(2.0)).bound(0.25)
        2
        """
        beta = _failure_probability(beta)
        log_tail_at_zero = math.log(2.0) - self.rate - math.log1p(math.exp(-self.rate))
        return max(0, math.ceil((log_tail_at_zero - math.log(beta)) / self.rate))


def _failure_probability(beta: Any) -> float:
    return probability(beta, what="The `beta` of `error_bound`", zero=False, one=False)
