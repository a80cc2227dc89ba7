"""Randomized response that tells the truth too often."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from audit.catalogue import Entry
from audit.errors import finite_number, probability
from audit.relations import Relation
from mechanisms.responses.kary import KaryRandomizedResponse
from mechanisms.subjects.claimed import ClaimsItsEpsilon

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mechanisms.subjects.neighbours import Pair

__all__ = ["BinaryCalibratedResponse", "ThreeQuartersResponse"]


@dataclass(frozen=True, kw_only=True)
class ThreeQuartersResponse(ClaimsItsEpsilon):
    """Tells the truth if a coin shows heads, else reports another coin flip.

    The claim is ln 2. The truth has probability 3/4, so the loss is ln 3. The mechanism declares no law.

    Parameters
    ----------
    epsilon
        The privacy claimed.
    truth
        Probability that the truth is reported. The loss is ln(truth/(1 − truth)).

    Examples
    --------
    >>> print(ThreeQuartersResponse(epsilon=0.5).claim)
    PureDP(epsilon=0.5)
    """

    epsilon: float = math.log(2.0)
    truth: float = 0.75

    name: ClassVar[str] = "flawed-randomized-response-three-quarters"
    reference: ClassVar[str] = "K11 §1.1 (Warner): ln 2 needs the truth with probability 2/3"
    relation: ClassVar[Relation] = Relation.LOCAL
    records: ClassVar[Sequence[int]] = (0, 1)
    size: ClassVar[int] = 1
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        finite_number(self.epsilon, what="The `epsilon` of `ThreeQuartersResponse`", above=0)
        probability(self.truth, what="The `truth` of `ThreeQuartersResponse`", one=False)

    def __call__(self, database: Sequence[int], rng: np.random.Generator) -> int:
        """Return one report."""
        return int(database[0]) ^ int(rng.random() >= self.truth)

    def sample(self, database: Sequence[int], size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return `size` reports."""
        lies: NDArray[np.int64] = (rng.random(size) >= self.truth).astype("int64")
        return lies ^ int(database[0])

    def suggested_pairs(self) -> list[Pair]:
        """Return the only pair of databases."""
        return [([0], [1])]


@dataclass(frozen=True, kw_only=True)
class BinaryCalibratedResponse(KaryRandomizedResponse):
    """Randomized response among k answers with the truth probability for two answers.

    The truth has probability e^epsilon/(e^epsilon + 1), so the loss is epsilon + ln(k − 1).

    Parameters
    ----------
    epsilon, categories, size
        As in `KaryRandomizedResponse`.

    Examples
    --------
    >>> round(BinaryCalibratedResponse(epsilon=math.log(3), categories=4).truth, 12)
    0.75
    """

    categories: int = 4

    name: ClassVar[str] = "flawed-kary-randomized-response-binary"
    reference: ClassVar[str] = "K11 Definition 5.1: every pair of answers counts"

    @property
    def log_odds(self) -> float:
        """Logarithm of Pr[the truth is reported]/Pr[it is not], which is epsilon."""
        return self.epsilon


entries = (
    Entry(
        ThreeQuartersResponse.name,
        ThreeQuartersResponse,
        expected="refuted",
        reference=ThreeQuartersResponse.reference,
        summary="the truth with probability 3/4 called ln 2: loss ln 3 (no law)",
    ),
    Entry(
        BinaryCalibratedResponse.name,
        BinaryCalibratedResponse,
        expected="refuted",
        reference=BinaryCalibratedResponse.reference,
        summary="k answers calibrated as two: loss ε + ln(k − 1)",
    ),
)
