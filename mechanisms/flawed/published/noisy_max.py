"""Noisy max that reports the largest noisy answer itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.catalogue import Entry
from mechanisms.comparison.noisy_max import NoisyAnswers

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ExponentialMaxValue", "LaplaceMaxValue"]


@dataclass(frozen=True, kw_only=True)
class _MaxValue(NoisyAnswers):
    """The common part of mechanisms that report the largest noisy answer itself."""

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the values of `size` runs."""
        return np.asarray(self.noisy(database, size, rng).max(axis=1))


@dataclass(frozen=True, kw_only=True)
class LaplaceMaxValue(_MaxValue):
    """Reports the largest of d answers with Laplace noise of scale 2/epsilon.

    This noise suits the index of the largest answer, not its value. For x below all answers a_i, Pr[largest ≤
    x] = Π e^((x − a_i)·epsilon/2)/2. If all answers move by 1, this changes by the factor e^(d·epsilon/2). No
    event has a larger loss, because the vector of all d noisy answers has none. So the loss is d·epsilon/2,
    2.5 for five queries at epsilon = 1.

    Parameters
    ----------
    epsilon, size, records
        As in `OnQueryAnswers`; d is the size.

    Examples
    --------
    >>> isinstance(LaplaceMaxValue()([0.0, 1.0], np.random.default_rng(0)), float)
    True
    """

    name: ClassVar[str] = "flawed-noisy-max-laplace-value"
    reference: ClassVar[str] = "Ding et al. 2018 (StatDP), noisy max that returns the maximum"


@dataclass(frozen=True, kw_only=True)
class ExponentialMaxValue(_MaxValue):
    """Reports the largest of d answers with exponential noise of mean 2/epsilon.

    Let the largest exact answer be m, and m + 1 on a neighbour. A value between m and m + 1 is impossible on
    the neighbour. With answers a_i it has probability Π(1 − e^(−(m + 1 − a_i)·epsilon/2)). So the loss is
    unbounded.

    Parameters
    ----------
    epsilon, size, records
        As in `OnQueryAnswers`; d is the size.

    Examples
    --------
    >>> ExponentialMaxValue()([0.0, 5.0], np.random.default_rng(0)) >= 5.0
    True
    """

    name: ClassVar[str] = "flawed-noisy-max-exponential-value"
    reference: ClassVar[str] = "Ding et al. 2018 (StatDP), noisy max that returns the maximum"
    noise = "exponential"


entries = (
    Entry(
        LaplaceMaxValue.name,
        LaplaceMaxValue,
        expected="refuted",
        reference=LaplaceMaxValue.reference,
        summary="reports the noisy maximum, not its place: loss 2.5, not 1",
    ),
    Entry(
        ExponentialMaxValue.name,
        ExponentialMaxValue,
        expected="refuted",
        reference=ExponentialMaxValue.reference,
        summary="reports the noisy maximum of positive noise: unbounded",
    ),
)
