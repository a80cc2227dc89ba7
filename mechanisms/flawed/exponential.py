"""Exponential mechanisms that misjudge the sensitivity of their score."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from audit.catalogue import Entry
from audit.errors import finite_number
from audit.relations import Relation
from mechanisms.selection.exponential import ExponentialMechanism
from mechanisms.subjects.claimed import ClaimsItsEpsilon

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mechanisms.subjects.neighbours import Pair

__all__ = ["HalfSensitivityExponential", "UncheckedScore"]


@dataclass(frozen=True, kw_only=True)
class HalfSensitivityExponential(ExponentialMechanism):
    """The exponential mechanism without the 2 in the exponent.

    A solution has weight exp(epsilon·score/sensitivity). With k solutions the loss is epsilon + ln((1 + (k −
    1)·e^epsilon)/(e^epsilon + k − 1)), which tends to 2·epsilon. For 16 solutions and epsilon = 1 it is 1.86.
    For two solutions it is epsilon, as claimed.

    Parameters
    ----------
    epsilon, score, solutions, sensitivity, vectorised, relation, records, size
        As in `ExponentialMechanism`.

    Examples
    --------
    >>> HalfSensitivityExponential(epsilon=1.0).weight
    1.0
    """

    name: ClassVar[str] = "flawed-exponential-half-sensitivity"
    reference: ClassVar[str] = "K08 Definition 3.5 with Δq/2 for Δq"

    @property
    def weight(self) -> float:
        """The factor of a score in the exponent, twice what the claim allows."""
        return self.epsilon / self.sensitivity


@dataclass(frozen=True, kw_only=True)
class UncheckedScore(ClaimsItsEpsilon):
    """The exponential mechanism on a score that is too sensitive.

    BNS Proposition 1(i), as printed, does not bound the sensitivity. Here there are two solutions and one
    record, which names the good solution. The good solution scores `points`, the other solution 0. If the
    record is replaced, the solutions exchange their scores. Each weight exp(epsilon·q/2) of a score q changes
    by the factor e^(epsilon·points/2), and their sum stays the same. So the loss is epsilon·points/2, 5 for
    the defaults. The mechanism declares no law.

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0.
    points
        Score of the good solution, and so the sensitivity of the score.

    Examples
    --------
    >>> print(UncheckedScore(epsilon=0.5).claim)
    PureDP(epsilon=0.5)
    """

    epsilon: float = 1.0
    points: float = 10.0

    name: ClassVar[str] = "flawed-exponential-unchecked-score"
    reference: ClassVar[str] = "BNS Proposition 1(i), which does not ask for sensitivity 1"
    relation: ClassVar[Relation] = Relation.REPLACE_ONE
    records: ClassVar[Sequence[int]] = (0, 1)
    size: ClassVar[int] = 1
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        finite_number(self.epsilon, what="The `epsilon` of `UncheckedScore`", above=0)
        finite_number(self.points, what="The `points` of `UncheckedScore`", above=0)

    def __call__(self, database: Sequence[int], rng: np.random.Generator) -> int:
        """Return one solution, 0 or 1."""
        return int(self.sample(database, 1, rng)[0])

    def sample(self, database: Sequence[int], size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return `size` solutions."""
        exponent = self.epsilon * self.points / 2.0
        zero = 1.0 / (1.0 + math.exp(exponent if database[0] == 1 else -exponent))
        return (rng.random(size) >= zero).astype("int64")

    def suggested_pairs(self) -> list[Pair]:
        """Return the only pair of databases."""
        return [([0], [1])]


entries = (
    Entry(
        HalfSensitivityExponential.name,
        HalfSensitivityExponential,
        expected="refuted",
        reference=HalfSensitivityExponential.reference,
        summary="forgets the 2 in ε·q/2Δq: loss 1.86, not 1",
    ),
    Entry(
        UncheckedScore.name,
        UncheckedScore,
        expected="refuted",
        reference=UncheckedScore.reference,
        summary="a score of sensitivity 10 taken for 1: loss 5, not 1 (no law)",
    ),
)
