"""The exact law of a sum of Laplace variables, and tail bounds."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.distributions.law import log_add, log_complement, scalar_or_array
from audit.distributions.pieces import Function, SmoothPiece
from audit.errors import finite_number, positive_int
from mechanisms.local.averaging.large_sums import log_density, log_tail

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from audit.distributions import Density

__all__ = ["LaplaceSum", "laplace_rate", "mean_tail_bound"]

_CELLS = 2**21
"""Terms of the mixture held at once, 16 MB."""

_MIXED = 256
"""Most variables whose law is computed as a mixture."""


@dataclass(frozen=True)
class LaplaceSum:
    """The sum of independent Laplace variables, by its exact law.

    Parameters
    ----------
    size
        Number n ≥ 1 of variables. The time to evaluate the law grows with n up to 256.
    scale
        A finite number > 0.

    Raises
    ------
    InvalidValue
        A parameter is out of range.

    Guarantee
    ---------
    |sum|/scale is a mixture of Gamma variables. The shape is n − k with probability C(n−1+k, k)·2^(1−n−k), k
    = 0 … n − 1. Derivation: a Laplace variable is a difference of two exponential ones. So the sum is G − G′
    with independent G, G′ ~ Gamma(n), the n-th arrival times of two Poisson processes. Each arrival belongs
    to either process with probability 1/2. When one process has its n-th arrival, the other process has had k
    with probability 2·C(n−1+k, k)·2^(−n−k). By lack of memory, its n − k missing arrivals take a time Gamma(n
    − k). Since Pr[Gamma(m) > x] = Pr[Poisson(x) < m], the tail is Σ_j Pr[Poisson(x) = j]·Pr[shape > j]. All
    terms are positive, so no digit of the tail is lost in log space. Beyond 256 variables another formula is
    used, within 1e-12 (`large_sums`).

    Examples
    --------
    >>> LaplaceSum(1, 2.0).logsf(6.0) == math.log(0.5) - 3.0
    True
    >>> f"{LaplaceSum(20, 1.0).two_sided(60.0):.3e}"
    '2.552e-14'
    """

    size: int
    scale: float = 1.0

    def __post_init__(self) -> None:
        positive_int(self.size, what="The `size` of `LaplaceSum`")
        finite_number(self.scale, what="The `scale` of `LaplaceSum`", above=0)

    @cached_property
    def log_weights(self) -> NDArray[np.float64]:
        """Log-weights of shapes 1 … n in the Gamma mixture of |sum|/scale."""
        from scipy.special import gammaln

        k = np.arange(self.size - 1, -1, -1, dtype=np.float64)
        choose = gammaln(self.size + k) - gammaln(k + 1.0) - gammaln(self.size)
        logs = choose + (1.0 - self.size - k) * math.log(2.0)
        return np.asarray(logs - log_add(logs))

    def logpdf(self, x: Any) -> Any:
        """Return the log-density at x.

        Examples
        --------
        >>> LaplaceSum(1, 2.0).logpdf(0.0) == math.log(0.25)
        True
        """
        if self.size > _MIXED:
            logs = self._by(log_density, x)
        else:
            logs = self._mixed(x, self.log_weights) - math.log(2.0)
        return scalar_or_array(logs - math.log(self.scale), x)

    def logsf(self, x: Any) -> Any:
        """Return log Pr[sum > x].

        Examples
        --------
        >>> LaplaceSum(7).logsf(0.0) == math.log(0.5)
        True
        """
        outer = self._log_outer(x) - math.log(2.0)
        return scalar_or_array(np.where(np.asarray(x) >= 0.0, outer, log_complement(outer)), x)

    def logcdf(self, x: Any) -> Any:
        """Return log Pr[sum ≤ x].

        Examples
        --------
        >>> LaplaceSum(7).logcdf(-3.0) == LaplaceSum(7).logsf(3.0)
        True
        """
        return self.logsf(-np.asarray(x, dtype=np.float64)) if np.ndim(x) else self.logsf(-float(x))

    def two_sided(self, x: float) -> float:
        """Return Pr[|sum| > x] for x ≥ 0.

        Examples
        --------
        >>> f"{LaplaceSum(200, 3.0).two_sided(600.0):.3e}"
        '1.711e-21'
        """
        return float(np.exp(self._log_outer(x)))

    def sample(self, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return `size` independent sums.

        Examples
        --------
        >>> LaplaceSum(3).sample(2, np.random.default_rng(0)).shape
        (2,)
        """
        return self.scale * (rng.standard_gamma(self.size, size) - rng.standard_gamma(self.size, size))

    def law_of_mean(self, answer: float) -> Density:
        """Return the law of `answer` plus the mean of the variables.

        Examples
        --------
        >>> LaplaceSum(3, 2.0).law_of_mean(1.0).cdf(1.0)
        0.5
        """
        from audit.distributions import Density

        if self.size == 1:
            return Density.laplace(float(answer), self.scale)
        return Density(
            (_MeanPiece(-math.inf, math.inf, *_functions(self, float(answer)), answer=answer, total=self),)
        )

    def isf(self, log_probability: Any) -> NDArray[np.float64]:
        """Return the x ≥ 0 with log Pr[sum > x] = `log_probability`, at most log ½.

        Newton's method from 0 works because the tail is log-concave. Step 1 reaches or passes the solution,
        and further steps do not pass it.

        Examples
        --------
        >>> LaplaceSum(1).isf([math.log(0.5) - 3.0]).round(12).tolist()
        [3.0]
        """
        wanted = np.asarray(log_probability, dtype=np.float64)
        return _quantiles(self, wanted.tobytes()).reshape(wanted.shape).copy()

    @cached_property
    def _log_shape_tails(self) -> NDArray[np.float64]:
        """Log-probabilities of shapes above j in the Gamma mixture, for j = 0 … n − 1."""
        return np.asarray(np.logaddexp.accumulate(self.log_weights[::-1])[::-1])

    def _log_outer(self, x: Any) -> Any:
        if self.size > _MIXED:
            return np.minimum(self._by(log_tail, x) + math.log(2.0), 0.0)
        return np.minimum(self._mixed(x, self._log_shape_tails), 0.0)

    def _by(self, function: Callable[[NDArray[np.float64], int], NDArray[np.float64]], x: Any) -> Any:
        """Return the value of a function of |x|/scale."""
        points = np.abs(np.ravel(np.asarray(x, dtype=np.float64))) / self.scale
        return np.reshape(function(points, self.size), np.shape(x))

    def _mixed(self, x: Any, logs: NDArray[np.float64]) -> Any:
        """Return log Σ_j Pr[Poisson(|x|/scale) = j]·exp(logs[j])."""
        points = np.abs(np.ravel(np.asarray(x, dtype=np.float64))) / self.scale
        block = max(1, _CELLS // self.size)
        parts = [_poisson_mixture(points[i : i + block], logs) for i in range(0, len(points), block)]
        return np.reshape(np.concatenate(parts) if parts else points, np.shape(x))


@dataclass(frozen=True)
class _MeanPiece(SmoothPiece):
    """The density of a fixed answer plus the mean of Laplace variables."""

    _: KW_ONLY
    answer: float
    total: LaplaceSum

    def invert(self, fraction: Any) -> NDArray[np.float64]:
        """Return the point with this fraction of the mass on its left."""
        u = np.asarray(fraction, dtype=np.float64)
        if math.isfinite(self.left) or math.isfinite(self.right):
            return super().invert(u)
        above = self.total.isf(np.log(np.minimum(u, 1.0 - u))) / self.total.size
        return np.asarray(self.answer + np.where(u < 0.5, -above, above))


@lru_cache(maxsize=16)
def _quantiles(total: LaplaceSum, wanted: bytes) -> NDArray[np.float64]:
    """Return `isf` at these log-probabilities."""
    logs = np.frombuffer(wanted)
    x = np.zeros_like(logs)
    for _ in range(100):
        tails = total.logsf(x)
        step = (tails - logs) * np.exp(tails - total.logpdf(x))
        x = np.maximum(x + step, 0.0)
        if np.all(np.abs(step) <= 1e-14 * (x + total.scale)):
            break
    return x


def _functions(total: LaplaceSum, answer: float) -> tuple[Function, Function, Function]:
    """Return log-density, log-cdf and log-sf of `answer` plus a mean."""
    size = total.size

    def scaled(x: Any) -> Any:
        return (np.asarray(x, dtype=np.float64) - answer) * size

    return (
        lambda x: total.logpdf(scaled(x)) + math.log(size),
        lambda x: total.logcdf(scaled(x)),
        lambda x: total.logsf(scaled(x)),
    )


def _poisson_mixture(points: NDArray[np.float64], logs: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.special import gammaln, xlogy

    j = np.arange(len(logs), dtype=np.float64)[:, None]
    finite = np.where(np.isfinite(points), points, 1.0)
    terms = xlogy(j, finite) - finite - gammaln(j + 1.0) + logs[:, None]
    return np.asarray(np.where(np.isfinite(points), log_add(terms), -np.inf))


def laplace_rate(x: float) -> float:
    """Return the best exponent of a tail bound for Laplace means.

    The bound is Pr[mean of n Lap(λ) variables > x·λ] ≤ e^(−n·I(x)), with exponent I(x).

    Guarantee
    ---------
    The bound holds for every n (Markov on e^(t·sum), whose expectation is (1 − λ²t²)^(−n)). No larger
    exponent holds for all n (Cramér). I(x) = sup_t {x·t + ln(1 − t²)} = x·t + ln(1 − t²) at t = (√(1 + x²) −
    1)/x. K11 Lemma A.3 has x²/4 in place of I(x). This is larger than I(x) for *every* x > 0, because the
    lemma replaces 1/(1 − t²) by e^(t²), which is smaller.

    Examples
    --------
    >>> round(laplace_rate(10.0), 2), round(laplace_rate(1e-3) / 1e-6, 6)
    (7.34, 0.25)
    """
    x = finite_number(x, what="The `x` of `laplace_rate`", minimum=0)
    if x == 0.0:
        return 0.0
    t = x / (1.0 + math.hypot(1.0, x))
    # 1 − t² = 2t/x, which keeps its digits for large x; for small x log1p keeps them
    return x * t + (math.log1p(-t * t) if t < 0.5 else math.log(2.0 * t / x))


def mean_tail_bound(size: int, *, scale: float, delta: float) -> float:
    """Return the repaired bound of K11 Lemma A.3 on Pr[|mean of Lap(scale)| ≥ delta].

    Guarantee
    ---------
    Let n = `size` and λ = `scale`. The bound is 2·exp(−n·delta²/8λ²) for delta ≤ 2√2·λ, and
    2·exp(−n·delta/(2√2·λ)) for larger delta. Derivation: 1/(1 − y) ≤ e^(2y) for 0 ≤ y ≤ 1/2. So with y = λ²t²
    the exponent of Markov's bound is at least t·delta − 2λ²t² for t ≤ 1/(√2·λ). For delta ≤ 2√2·λ take t =
    delta/4λ². For larger delta take t = 1/(√2·λ), which leaves delta/(√2·λ) − 1 ≥ delta/(2√2·λ). The factor 2
    is for the two sides.

    Examples
    --------
    >>> round(mean_tail_bound(200, scale=1.0, delta=1.0) / (2 * math.exp(-25.0)), 12)
    1.0
    """
    positive_int(size, what="The `size` of `mean_tail_bound`")
    scale = finite_number(scale, what="The `scale` of `mean_tail_bound`", above=0)
    x = finite_number(delta, what="The `delta` of `mean_tail_bound`", minimum=0) / scale
    exponent = x * x / 8.0 if x <= 2.0 * math.sqrt(2.0) else x / (2.0 * math.sqrt(2.0))
    return 2.0 * math.exp(-size * exponent)
