"""Warner's randomized response to a yes-no question."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from audit.catalogue import Entry
from mechanisms.formulas import responses as formulas
from mechanisms.responses.kary import KaryRandomizedResponse

__all__ = ["RandomizedResponse"]


@dataclass(frozen=True, kw_only=True)
class RandomizedResponse(KaryRandomizedResponse):
    """Answers a yes-no question truthfully with probability e^ε/(e^ε + 1).

    Each of `size` respondents answers independently.

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0. The default, ln 2, is Warner's truth probability 2/3.
    size
        Number of respondents. For one, which is a local randomizer, the output is a bare 0 or 1. For more it
        is an array.

    Raises
    ------
    InvalidValue
        A parameter is out of range, a database is empty, or a record is neither 0 nor 1.

    Guarantee
    ---------
    epsilon-local differential privacy of every respondent, and no smaller epsilon holds (K11 §1.1 and
    Definition 5.1). The probabilities of a report under the two truths are t and 1 − t with t/(1 − t) =
    e^epsilon.

    Examples
    --------
    >>> response = RandomizedResponse()
    >>> round(response.truth, 12), round(response.distribution([1]).pmf(0), 12)
    (0.666666666667, 0.333333333333)
    """

    epsilon: float = math.log(2.0)
    categories: int = field(init=False, default=2)
    size: int = 1

    name: ClassVar[str] = "randomized-response"
    reference: ClassVar[str] = "K11 §1.1 (Warner) and Definition 5.1"

    def proportion(self, reports: Any) -> float:
        """Return the unbiased estimate of the proportion of ones.

        Guarantee
        ---------
        Let the truth be reported with probability t. The expected share of reports of 1 is (1 − t) + (2t −
        1)·(true share). So subtract 1 − t and divide by 2t − 1. The estimate is not clipped, and may fall
        outside [0, 1].

        Examples
        --------
        >>> round(RandomizedResponse().proportion([1, 1, 0, 0]), 12)
        0.5
        """
        return float(self.estimate(reports)[1])

    def standard_error(self) -> float:
        """Return the standard deviation of `proportion`.

        Guarantee
        ---------
        The value is √(t(1 − t)/size)/(2t − 1), with t the probability of a true report. A report has variance
        t(1 − t) under either truth.

        Examples
        --------
        >>> round(RandomizedResponse(size=200).standard_error(), 12)
        0.1
        """
        return float(np.sqrt(self.truth * (1.0 - self.truth) / self.size) / (2.0 * self.truth - 1.0))


entry = Entry(
    RandomizedResponse.name,
    RandomizedResponse,
    reference=RandomizedResponse.reference,
    summary="Warner's survey: the truth with probability 2/3",
    formulas=formulas.responses,
)
