"""Noisy means that one record can move too far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.catalogue import Entry
from audit.errors import finite_number, positive_int
from audit.relations import Relation
from mechanisms.noise.noises import LaplaceNoise
from mechanisms.subjects.claimed import ClaimsItsEpsilon

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from audit.distributions import Density, Product
    from mechanisms.subjects.neighbours import Pair

__all__ = ["HalfSensitivityMean", "TrustingMean"]


@dataclass(frozen=True, kw_only=True)
class _NoisyMean(ClaimsItsEpsilon):
    """A mean with Laplace noise of scale upper/(epsilon·size) and unchecked inputs."""

    epsilon: float = 1.0
    upper: float = 1.0
    size: int = 5

    relation: ClassVar[Relation] = Relation.REPLACE_ONE
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        owner = type(self).__name__
        finite_number(self.epsilon, what=f"The `epsilon` of `{owner}`", above=0)
        finite_number(self.upper, what=f"The `upper` of `{owner}`", above=0)
        positive_int(self.size, what=f"The `size` of `{owner}`")

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return self.upper / self.size / self.epsilon

    def __call__(self, database: Sequence[float], rng: np.random.Generator) -> float:
        """Return one noisy mean."""
        return float(np.mean(database) + rng.laplace(0.0, self.scale))

    def sample(self, database: Sequence[float], size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return `size` noisy means."""
        noisy: NDArray[np.float64] = np.mean(database) + rng.laplace(0.0, self.scale, size)
        return noisy


@dataclass(frozen=True, kw_only=True)
class TrustingMean(_NoisyMean):
    """A mean of values in [0, upper] that does not check them.

    A record as large as `outlier` moves the mean by up to outlier/size, so the loss is epsilon·outlier/upper.
    The mechanism declares no law.

    Parameters
    ----------
    epsilon, upper, size
        As in `LaplaceMean`.
    outlier
        A value above `upper` that users send although it is out of range.

    Examples
    --------
    >>> TrustingMean(outlier=7.0).records
    [0.0, 1.0, 7.0]
    """

    outlier: float = 5.0

    name: ClassVar[str] = "flawed-laplace-mean-trusting"
    reference: ClassVar[str] = "B Definition 2: inputs must lie in [0, b]"

    def __post_init__(self) -> None:
        super().__post_init__()
        finite_number(self.outlier, what="The `outlier` of `TrustingMean`", above=self.upper)

    @property
    def records(self) -> list[float]:
        """Values in the range and one beyond it."""
        return [0.0, self.upper, self.outlier]

    def suggested_pairs(self) -> list[Pair]:
        """Return two databases, of which only one contains the outlier."""
        rest = [0.0] * (self.size - 1)
        return [([0.0, *rest], [self.outlier, *rest])]


@dataclass(frozen=True, kw_only=True)
class HalfSensitivityMean(_NoisyMean):
    """A mean of values in [−upper, upper] with half the right noise.

    The noise suits adding a record. Replacing −upper by upper moves the mean by twice as much.

    Parameters
    ----------
    epsilon, size
        As in `LaplaceMean`.
    upper
        Values lie in [−upper, upper].

    Examples
    --------
    >>> HalfSensitivityMean(size=2).distribution([-1.0, 1.0]).cdf(0.0)
    0.5
    """

    name: ClassVar[str] = "flawed-laplace-mean-half-sensitivity"
    reference: ClassVar[str] = "B, generalisation of Definition 2: Δf under replace-one"

    @property
    def records(self) -> list[float]:
        """The ends of the range."""
        return [-self.upper, self.upper]

    def distribution(self, database: Any) -> Density | Product:
        """Return the exact law of a noisy mean."""
        return LaplaceNoise(self.scale).law(float(np.mean(database)))

    def suggested_pairs(self) -> list[Pair]:
        """Return two databases that differ in one record."""
        rest = [-self.upper] * (self.size - 1)
        return [([-self.upper, *rest], [self.upper, *rest])]


entries = (
    Entry(
        TrustingMean.name,
        TrustingMean,
        expected="refuted",
        reference=TrustingMean.reference,
        summary="trusts values beyond [0, b]: loss 5ε (no law)",
    ),
    Entry(
        HalfSensitivityMean.name,
        HalfSensitivityMean,
        expected="refuted",
        reference=HalfSensitivityMean.reference,
        summary="values in [−b, b], noise for [0, b]: loss 2ε",
    ),
)
