"""The choosing mechanism for given scores, and its least database size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from audit.errors import finite_number, positive_int, probability

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mechanisms.comparison.threshold import ThresholdTest

__all__ = ["ChoosingRound", "check_terms", "least_size"]

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class ChoosingRound:
    """The choosing mechanism for given scores.

    Parameters
    ----------
    test
        The noisy comparison of the best score (or 0) with a threshold.
    weight
        The factor of a score in the exponent, a quarter of epsilon.

    Guarantee
    ---------
    The law of the choosing mechanism (BNS §4.1). Only solutions that score at least 1 have to be listed.

    Examples
    --------
    >>> from mechanisms.comparison.threshold import ThresholdTest
    >>> refused, chosen = ChoosingRound(ThresholdTest(1.0, 2.0), weight=1.0).log_law(np.array([2.0, 2.0]))
    >>> round(math.exp(refused), 12), np.exp(chosen).round(12).tolist()
    (0.5, [0.25, 0.25])
    """

    test: ThresholdTest
    weight: float

    def log_law(self, scores: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the log-probability of a refusal, and that of each solution."""
        if not scores.size:
            return 0.0, scores
        best, relative = float(scores.max()), self._relative(scores)
        logs = self.test.log_pass(best) + relative - math.log(np.exp(relative).sum())
        return self.test.log_fail(best), logs

    def sample(self, scores: NDArray[np.float64], size: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """Return `size` indices into the scores, or −1 for a refusal.

        The random numbers of draw i do not depend on the scores.
        """
        passed = self.test.sample(float(scores.max(initial=0.0)), size, rng)
        uniforms = rng.random(size)
        if not scores.size:
            return np.full(size, -1, dtype=np.intp)
        ends = np.cumsum(np.exp(self._relative(scores)))
        return np.where(passed, np.searchsorted(ends, uniforms * ends[-1], side="right"), -1)

    def _relative(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(over="ignore"):  # a weight of e^−∞ is 0
            relative: NDArray[np.float64] = self.weight * (scores - scores.max())
        return relative


def least_size(*, alpha: float, beta: float, epsilon: float, delta: float, growth: int = 1) -> int:
    """Return the least database size that BNS §4.1 allows the choosing mechanism.

    Guarantee
    ---------
    m ≥ 16/(alpha·epsilon)·max(epsilon/4 + ln(1/delta), ln(16·growth/(alpha·beta·epsilon))). Privacy needs
    this size (`ChoosingMechanism`).

    Examples
    --------
    >>> least_size(alpha=0.5, beta=0.1, epsilon=1.0, delta=1e-3)
    230
    """
    check_terms(alpha=alpha, beta=beta, epsilon=epsilon, delta=delta, growth=growth, owner="least_size")
    solutions = math.log(16.0 * growth) - math.log(alpha) - math.log(beta) - math.log(epsilon)
    bound = 16.0 / alpha / epsilon * max(epsilon / 4.0 - math.log(delta), solutions)
    return max(1, math.ceil(bound * (1.0 - _ROUNDING)))


def check_terms(*, alpha: float, beta: float, epsilon: float, delta: float, growth: int, owner: str) -> None:
    """Raise an error if parameters of a choosing mechanism are out of bounds.

    Examples
    --------
    >>> check_terms(alpha=0.5, beta=0.1, epsilon=1.0, delta=1e-3, growth=0, owner="It")
    Traceback (most recent call last):
    audit.errors.InvalidValue: The `growth` of `It` must be a whole number ≥ 1; got 0.
    """
    finite_number(epsilon, what=f"The `epsilon` of `{owner}`", above=0)
    probability(delta, what=f"The `delta` of `{owner}`", zero=False, one=False)
    probability(alpha, what=f"The `alpha` of `{owner}`", zero=False)
    probability(beta, what=f"The `beta` of `{owner}`", zero=False, one=False)
    what = f"The `growth` of `{owner}`"
    finite_number(positive_int(growth, what=what, maximum=None), what=what)
