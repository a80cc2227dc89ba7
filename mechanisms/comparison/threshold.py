"""A noisy comparison with a threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from audit.errors import finite_number, probability

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["ThresholdTest"]

_LOG_2 = math.log(2.0)


@dataclass(frozen=True, slots=True)
class ThresholdTest:
    """A test that a value passes if value + Lap(scale) is at least the threshold.

    Parameters
    ----------
    scale
        Scale of the Laplace noise, a finite number > 0.
    threshold
        A finite number.

    Guarantee
    ---------
    If a value changes by t, the log-probabilities of passing and of failing each change by at most t/scale.
    The log of a Laplace tail has slope −1/scale beyond the centre, and is less steep before it.

    Examples
    --------
    >>> test = ThresholdTest(scale=2.0, threshold=10.0)
    >>> math.exp(test.log_pass(10.0)), round(math.exp(test.log_fail(10.0 + 2.0 * math.log(50.0))), 12)
    (0.5, 0.01)
    """

    scale: float
    threshold: float

    def __post_init__(self) -> None:
        finite_number(self.scale, what="The scale of a threshold test", above=0)
        finite_number(self.threshold, what="The threshold of a threshold test")

    def log_pass(self, value: float) -> float:
        """Return the log-probability that `value` passes."""
        return _log_tail((self.threshold - value) / self.scale)

    def log_fail(self, value: float) -> float:
        """Return the log-probability that `value` fails."""
        return _log_tail((value - self.threshold) / self.scale)

    def sample(self, value: float, size: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Return for each of `size` tests whether `value` passes.

        The noise does not depend on the value.
        """
        passed: NDArray[np.bool_] = value + rng.laplace(0.0, self.scale, size) >= self.threshold
        return passed

    def value_that_fails(self, beta: Any) -> float:
        """Return the value that fails with probability `beta`.

        Guarantee
        ---------
        The value is exact. Larger values fail less often.

        Examples
        --------
        >>> ThresholdTest(scale=1.0, threshold=3.0).value_that_fails(0.5)
        3.0
        """
        beta = probability(beta, what="The `beta` of a failure", zero=False, one=False)
        if beta <= 0.5:
            return self.threshold - self.scale * (_LOG_2 + math.log(beta))
        return self.threshold + self.scale * (_LOG_2 + math.log1p(-beta))


def _log_tail(z: float) -> float:
    """Return log Pr[Lap(1) ≥ z]."""
    return -z - _LOG_2 if z > 0.0 else math.log1p(-0.5 * math.exp(z))
