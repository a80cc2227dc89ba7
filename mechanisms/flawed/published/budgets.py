"""Mechanisms that split, add up or spend their privacy budgets wrongly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.catalogue import Entry
from audit.errors import positive_int
from audit.relations import Relation
from mechanisms.subjects.claimed import ClaimsApproximate, ClaimsPure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from audit.distributions import Density, Product

__all__ = ["ClassicalGaussian", "ShuffledBatches", "SwappedShares"]


@dataclass(frozen=True, kw_only=True)
class SwappedShares(ClaimsPure):
    """Sums and a count of a cluster, with swapped shares of epsilon.

    Let d be the number of coordinates and t = (4·d·0.225²)^(1/3). Each sum should get 1/(d + t) of epsilon
    and the count t/(d + t). Swapped, the shares add up to (1 + d·t)/(d + t), which is above 1 if t > 1. The
    loss is epsilon times this, 1.4117 for d = 16 at epsilon = 1. It is spread over many coordinates, so only
    the exact law shows it.

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0.
    dimension
        Number of coordinates, d.
    size
        Least and greatest length of audited databases.

    Examples
    --------
    >>> round(SwappedShares().loss, 7)
    1.4116717
    """

    dimension: int = 16
    size: int | tuple[int, int] = (0, 1)

    name: ClassVar[str] = "flawed-swapped-shares"
    reference: ClassVar[str] = "IBM/differential-privacy-library issue 104 (k-means)"
    relation: ClassVar[Relation] = Relation.ADD_OR_REMOVE_ONE

    def __post_init__(self) -> None:
        super().__post_init__()
        positive_int(self.dimension, what="The `dimension` of `SwappedShares`")

    @property
    def records(self) -> Any:
        """A Hypothesis strategy for a record of `dimension` numbers in [−1, 1]."""
        from hypothesis import strategies  # loaded here only: a run does not need it

        number = strategies.floats(-1.0, 1.0)
        constant = strategies.one_of(strategies.sampled_from([-1.0, 1.0]), number).map(self._constant)
        return strategies.one_of(constant, strategies.tuples(*[number] * self.dimension))

    def _constant(self, value: float) -> tuple[float, ...]:
        return (value,) * self.dimension

    @property
    def scales(self) -> NDArray[np.float64]:
        """Scales of the noise on the count and on every sum, in this order."""
        one_sum, count = 1.0, math.cbrt(4.0 * self.dimension * 0.225**2)
        per_unit = self.epsilon / (self.dimension * one_sum + count)
        shares = [one_sum * per_unit, *[count * per_unit] * self.dimension]
        return np.asarray(1.0 / np.array(shares))

    @property
    def loss(self) -> float:
        """The true loss, between no record and one with every coordinate at 1 or −1."""
        return float((1.0 / self.scales).sum())

    def answer(self, database: Sequence[Sequence[float]]) -> NDArray[np.float64]:
        """Return the count and the sums of the clipped coordinates."""
        rows = np.clip(np.array(database, dtype=float).reshape(-1, self.dimension), -1.0, 1.0)
        return np.concatenate([[len(rows)], rows.sum(axis=0)])

    def __call__(self, database: Sequence[Sequence[float]], rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the noisy count and sums."""
        return self.answer(database) + rng.laplace(0.0, self.scales)

    def distribution(self, database: Sequence[Sequence[float]]) -> Product:
        """Return the exact law of an output."""
        from audit.distributions import Density, Product  # loaded here only: a run does not need it

        places = zip(self.answer(database).tolist(), self.scales.tolist(), strict=True)
        return Product([Density.laplace(value, scale) for value, scale in places])


@dataclass(frozen=True, kw_only=True)
class ShuffledBatches(ClaimsApproximate):
    """Shuffled noisy records, with a claim that needs Poisson sampling.

    Each step outputs one record, clipped into [−1, 1], plus Gaussian noise of standard deviation ½. A missing
    record counts as 0. With sampling at rate 1/steps a record would be absent in many runs, but here it is
    always present.

    Compare a record at 1 among 99 at −1 with these 99 alone. For the normal distribution function Φ,
    Pr[largest output ≤ x] is Φ(2x + 2)^99·Φ(2x − 2) with the record and Φ(2x + 2)^99·Φ(2x) without it. At x =
    1.043 this gives delta ≥ 0.3145 at epsilon = 2, where 0.0085 is claimed. Other x show that the claimed
    delta does not hold for any epsilon below 6.12.

    Parameters
    ----------
    epsilon, delta
        The privacy claimed.
    steps
        Number of steps. Further records are left out.
    size
        Least and greatest length of audited databases.

    Examples
    --------
    >>> ShuffledBatches(steps=3)([1.0], np.random.default_rng(0)).shape
    (3,)
    """

    epsilon: float = 2.0
    delta: float = 0.0085
    steps: int = 100
    size: int | tuple[int, int] = (0, 100)

    name: ClassVar[str] = "flawed-shuffled-batches"
    reference: ClassVar[str] = "Chua et al. 2024 on shuffled batches; opacus pull request 128"
    relation: ClassVar[Relation] = Relation.ADD_OR_REMOVE_ONE

    def __post_init__(self) -> None:
        super().__post_init__()
        positive_int(self.steps, what="The `steps` of `ShuffledBatches`")

    @property
    def records(self) -> Any:
        """A Hypothesis strategy for a number in [−1, 1]."""
        from hypothesis import strategies  # loaded here only: a run does not need it

        return strategies.floats(-1.0, 1.0)

    def __call__(self, database: Sequence[float], rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the noisy output of every step."""
        shown = rng.normal(0.0, 0.5, self.steps)
        present = np.clip(np.array(database[: self.steps], dtype=float), -1.0, 1.0)
        shown[rng.permutation(self.steps)[: present.size]] += present
        return shown


@dataclass(frozen=True, kw_only=True)
class ClassicalGaussian(ClaimsApproximate):
    """A count with Gaussian noise by a formula for epsilon < 1.

    The standard deviation is s = √(2·ln(1.25/delta))/epsilon, here at epsilon = 15. For the normal
    distribution function Φ the true delta is Φ(1/(2s) − epsilon·s) − e^epsilon·Φ(−1/(2s) − epsilon·s) (Balle
    and Wang 2018). This is 0.0231, and 0.001 is claimed. The least epsilon at delta = 0.001 is 19.43.

    Parameters
    ----------
    epsilon, delta
        The privacy claimed.
    size
        Least and greatest length of audited databases.

    Examples
    --------
    >>> round(ClassicalGaussian().scale, 4)
    0.2518
    """

    epsilon: float = 15.0
    delta: float = 1e-3
    size: int | tuple[int, int] = (0, 2)

    name: ClassVar[str] = "flawed-classical-gaussian"
    reference: ClassVar[str] = "opendp/smartnoise-sdk issue 462"
    relation: ClassVar[Relation] = Relation.ADD_OR_REMOVE_ONE
    records: ClassVar[Sequence[Any]] = (0, 1)

    @property
    def scale(self) -> float:
        """Standard deviation of the noise."""
        return math.sqrt(2.0 * math.log(1.25 / self.delta)) / self.epsilon

    def __call__(self, database: Sequence[Any], rng: np.random.Generator) -> float:
        """Return one noisy count of all records."""
        return rng.normal(len(database), self.scale)

    def distribution(self, database: Sequence[Any]) -> Density:
        """Return the exact law of a noisy count."""
        from audit.distributions import Density  # loaded here only: a run does not need it

        return Density.normal(float(len(database)), self.scale)


entries = (
    Entry(
        SwappedShares.name,
        SwappedShares,
        expected="refuted",
        reference=SwappedShares.reference,
        summary="two shares of ε swapped: loss 1.41, not 1, by its law",
    ),
    Entry(
        ShuffledBatches.name,
        ShuffledBatches,
        options={"records": [-1.0, 1.0], "size": (99, 100)},
        expected="refuted",
        reference=ShuffledBatches.reference,
        summary="shuffled batches accounted as Poisson: δ 0.31, not 0.0085, at ε = 2",
    ),
    Entry(
        ClassicalGaussian.name,
        ClassicalGaussian,
        expected="refuted",
        reference=ClassicalGaussian.reference,
        summary="the formula for ε < 1 at ε = 15: by its law δ is 0.023, not 0.001",
    ),
)
