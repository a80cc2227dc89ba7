"""Laplace mechanisms with too little noise."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from audit.catalogue import Entry
from audit.errors import finite_number, positive_int
from audit.relations import Relation
from mechanisms.noise.histogram import LaplaceHistogram
from mechanisms.noise.laplace import LaplaceMechanism
from mechanisms.subjects.claimed import ClaimsItsEpsilon

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mechanisms.subjects.neighbours import Pair

__all__ = ["HalfScaleLaplace", "RateAsScaleLaplace", "ReplaceOneHistogram"]


@dataclass(frozen=True, kw_only=True)
class RateAsScaleLaplace(LaplaceMechanism):
    """The Laplace mechanism with the rate epsilon/sensitivity used as the scale.

    B Definition 2 and Theorem 7 call the rate "scale". The loss is sensitivity²/epsilon. If epsilon <
    sensitivity, it is too large. If epsilon > sensitivity, the noise is too large for Theorem 3.

    Parameters
    ----------
    epsilon, query, sensitivity, dimension, relation, records, size
        As in `LaplaceMechanism`.

    Examples
    --------
    >>> RateAsScaleLaplace(epsilon=0.5).scale
    0.5
    """

    epsilon: float = 0.5

    name: ClassVar[str] = "flawed-laplace-rate-as-scale"
    reference: ClassVar[str] = 'B Definition 2: the "scale" is the rate'

    @property
    def scale(self) -> float:
        """Scale of the noise, the reciprocal of the right scale."""
        return self.epsilon / self.sensitivity


@dataclass(frozen=True, kw_only=True)
class ReplaceOneHistogram(LaplaceHistogram):
    """A histogram whose noise is too small if records are replaced.

    Replacing a record moves two counts, so the L1 sensitivity is 2 and the loss 2·epsilon.

    Parameters
    ----------
    epsilon, bins, size
        As in `LaplaceHistogram`.

    Examples
    --------
    >>> ReplaceOneHistogram(epsilon=1.0).relation
    Relation.REPLACE_ONE
    """

    relation: Relation = field(init=False, default=Relation.REPLACE_ONE)
    size: int | tuple[int, int] = 2

    name: ClassVar[str] = "flawed-laplace-histogram"
    reference: ClassVar[str] = "B, generalisation of Definition 2: Δf under replace-one"


@dataclass(frozen=True, kw_only=True)
class HalfScaleLaplace(ClaimsItsEpsilon):
    """Counts ones with Laplace noise of half the right scale.

    The loss is 2·epsilon. The mechanism declares no law.

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0.
    size
        Number of records, each 0 or 1.

    Examples
    --------
    >>> print(HalfScaleLaplace(epsilon=0.5).claim)
    PureDP(epsilon=0.5)
    """

    epsilon: float = 1.0
    size: int = 3

    name: ClassVar[str] = "flawed-laplace-half-scale"
    reference: ClassVar[str] = "K11 Theorem 2.3, noise GS/2ε for GS/ε"
    relation: ClassVar[Relation] = Relation.REPLACE_ONE
    records: ClassVar[Sequence[int]] = (0, 1)
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        finite_number(self.epsilon, what="The `epsilon` of `HalfScaleLaplace`", above=0)
        positive_int(self.size, what="The `size` of `HalfScaleLaplace`")

    def __call__(self, database: Sequence[int], rng: np.random.Generator) -> float:
        """Return one noisy count."""
        return sum(database) + rng.laplace(0.0, 0.5 / self.epsilon)

    def sample(self, database: Sequence[int], size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return `size` noisy counts. The noise of run i does not depend on the database."""
        return sum(database) + rng.laplace(0.0, 0.5 / self.epsilon, size)

    def suggested_pairs(self) -> list[Pair]:
        """Return two databases whose counts differ by 1."""
        rest = [0] * (self.size - 1)
        return [([0, *rest], [1, *rest])]


entries = (
    Entry(
        RateAsScaleLaplace.name,
        RateAsScaleLaplace,
        expected="refuted",
        reference=RateAsScaleLaplace.reference,
        summary="passes the rate as the scale: loss 1/ε",
    ),
    Entry(
        HalfScaleLaplace.name,
        HalfScaleLaplace,
        expected="refuted",
        reference=HalfScaleLaplace.reference,
        summary="half the noise: loss 2ε (no law)",
    ),
    Entry(
        ReplaceOneHistogram.name,
        ReplaceOneHistogram,
        expected="refuted",
        reference=ReplaceOneHistogram.reference,
        summary="histogram noise for adding, under replacing: loss 2ε",
    ),
)
