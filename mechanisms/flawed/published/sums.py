"""Noisy sums that one record can move too far, without declared laws."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from audit.catalogue import Entry
from audit.errors import finite_number, positive_int
from audit.relations import Relation
from mechanisms.flawed.published.on_records import OnRecords
from mechanisms.noise.noises import GeometricNoise

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

__all__ = ["DiscardedClip", "NanAsZero", "OneEndSquares", "RangeFromData", "WrappingSum"]


@dataclass(frozen=True, kw_only=True)
class _LaplaceSum(OnRecords):
    """A sum of records with Laplace noise for changes by at most 1."""

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return 1.0 / self.epsilon

    @abstractmethod
    def total(self, database: Sequence[float]) -> float:
        """Return the sum before noise."""

    def __call__(self, database: Sequence[float], rng: np.random.Generator) -> float:
        """Return one noisy sum."""
        return self.total(database) + rng.laplace(scale=self.scale)


@dataclass(frozen=True, kw_only=True)
class OneEndSquares(_LaplaceSum):
    """A sum of squares with noise for one end of the range.

    The range is [lower, upper], and the noise has scale lower²/epsilon. Replacing 0 by `upper` moves the sum
    by upper². So the loss is epsilon·upper²/lower², 9 for [−1, 3] at epsilon = 1. Scale max(lower²,
    upper²)/epsilon would be right.

    Parameters
    ----------
    epsilon, size
        As in `OnRecords`.
    lower, upper
        The range, lower < 0 < upper.

    Examples
    --------
    >>> OneEndSquares(lower=-2.0, upper=3.0).scale
    4.0
    """

    lower: float = -1.0
    upper: float = 3.0
    name: ClassVar[str] = "flawed-squares-of-one-end"
    reference: ClassVar[str] = "IBM/differential-privacy-library issues 104, 105 and pull request 110"

    def __post_init__(self) -> None:
        super().__post_init__()
        finite_number(self.lower, what="The `lower` of `OneEndSquares`", below=0)
        finite_number(self.upper, what="The `upper` of `OneEndSquares`", above=0)

    @property
    def records(self) -> Any:
        """A Hypothesis strategy for a value in the range."""
        from hypothesis import strategies  # loaded here only: a run does not need it

        return strategies.floats(self.lower, self.upper)

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return max(self.lower**2, self.lower**2) / self.epsilon

    def total(self, database: Sequence[float]) -> float:
        """Return the sum of squares before noise."""
        return math.fsum(min(self.upper, max(self.lower, value)) ** 2 for value in database)


@dataclass(frozen=True, kw_only=True)
class RangeFromData(OnRecords):
    """A sum with noise in proportion to the range of the data.

    On constant data the range is 0, so the exact sum is returned. A neighbour returns it with probability 0,
    so the loss is unbounded. A range fixed in advance would be right.

    Parameters
    ----------
    epsilon, size
        As in `OnRecords`.

    Examples
    --------
    >>> import numpy as np
    >>> RangeFromData()([5.0, 5.0], np.random.default_rng(0))
    10.0
    """

    name: ClassVar[str] = "flawed-range-from-data"
    reference: ClassVar[str] = "IBM/differential-privacy-library issues 20, 58 and pull request 90"

    @property
    def records(self) -> Any:
        """A Hypothesis strategy for any finite number."""
        from hypothesis import strategies  # loaded here only: a run does not need it

        return strategies.floats(allow_nan=False, allow_infinity=False)

    def __call__(self, database: Sequence[float], rng: np.random.Generator) -> float:
        """Return one noisy sum."""
        spread = max(database) - min(database)
        return sum(database) + spread / self.epsilon * rng.laplace()


@dataclass(frozen=True, kw_only=True)
class WrappingSum(OnRecords):
    """A sum of values in an 8-bit integer that overflows.

    The noise suits changes by `upper`. But in 8 bits 127 + 1 is −128, so one record can move the sum by 255.
    The loss is then 255·epsilon/upper, 2.55 for upper = 100 at epsilon = 1. A larger type would be right, or
    `SaturatingSum`.

    Parameters
    ----------
    epsilon, size
        As in `OnRecords`.
    upper
        Values are clamped into {0 … upper}, upper at most 127.

    Examples
    --------
    >>> WrappingSum().total([100, 27]), WrappingSum().total([100, 27, 1])
    (127, -128)
    """

    upper: int = 100
    size: int | tuple[int, int] = (0, 4)

    name: ClassVar[str] = "flawed-wrapping-sum"
    reference: ClassVar[str] = "Casacuberta, Shoemate, Vadhan and Wagaman 2022; opendp 0.5.0 changelog"
    relation: ClassVar[Relation] = Relation.ADD_OR_REMOVE_ONE

    def __post_init__(self) -> None:
        super().__post_init__()
        positive_int(self.upper, what="The `upper` of `WrappingSum`", maximum=127)

    @property
    def records(self) -> Any:
        """A Hypothesis strategy for whole numbers from 0 to `upper`."""
        from hypothesis import strategies  # loaded here only: a run does not need it

        return strategies.integers(0, self.upper)

    def total(self, database: Sequence[int]) -> int:
        """Return the sum in 8 bits."""
        exact = sum(min(self.upper, max(0, value)) for value in database)
        return int.from_bytes(bytes([exact % 256]), "little", signed=True)

    def __call__(self, database: Sequence[int], rng: np.random.Generator) -> int:
        """Return one noisy sum."""
        return self.total(database) + int(GeometricNoise(self.epsilon / self.upper).sample(1, rng)[0])


@dataclass(frozen=True, kw_only=True)
class DiscardedClip(_LaplaceSum):
    """A sum that clips the values but adds up the unclipped ones.

    Adding a record x moves the sum by |x|, so the loss is epsilon·|x|, which is unbounded.

    Parameters
    ----------
    epsilon, size
        As in `OnRecords`.

    Examples
    --------
    >>> import numpy as np
    >>> DiscardedClip()([1e6], np.random.default_rng(0)) > 9e5
    True
    """

    size: int | tuple[int, int] = (0, 3)

    name: ClassVar[str] = "flawed-discarded-clip"
    reference: ClassVar[str] = "opendp/smartnoise-sdk issue 622 and pull request 624"
    relation: ClassVar[Relation] = Relation.ADD_OR_REMOVE_ONE

    @property
    def records(self) -> Any:
        """A Hypothesis strategy for any finite number."""
        from hypothesis import strategies  # loaded here only: a run does not need it

        return strategies.floats(allow_nan=False, allow_infinity=False)

    def total(self, database: Sequence[float]) -> float:
        """Return the sum of the unclipped values."""
        for value in database:
            min(1.0, max(0.0, value))  # the result is thrown away: this is the flaw
        return sum(database)


@dataclass(frozen=True, kw_only=True)
class NanAsZero(_LaplaceSum):
    """A sum of clipped values that becomes 0 if one of them is NaN.

    NaN survives the clipping. Replacing one of n ones by NaN moves the sum from n to 0. So the loss is
    n·epsilon, 20 for twenty records at epsilon = 1.

    Parameters
    ----------
    epsilon, size
        As in `OnRecords`. At least two records are needed to show the flaw.

    Examples
    --------
    >>> NanAsZero().total([1.0, 1.0]), NanAsZero().total([1.0, math.nan])
    (2.0, 0.0)
    """

    size: int | tuple[int, int] = (1, 20)

    name: ClassVar[str] = "flawed-nan-as-zero"
    reference: ClassVar[str] = "opendp/opendp issues 2935 and 2936"

    @property
    def records(self) -> Any:
        """A Hypothesis strategy for any float, with NaN and the infinities."""
        from hypothesis import strategies  # loaded here only: a run does not need it

        return strategies.floats()

    def total(self, database: Sequence[float]) -> float:
        """Return the sum before noise."""
        exact = sum(1.0 if value > 1.0 else max(value, 0.0) for value in database)
        return 0.0 if math.isnan(exact) else exact


entries = (
    Entry(
        OneEndSquares.name,
        OneEndSquares,
        expected="refuted",
        reference=OneEndSquares.reference,
        summary="a sum of squares in [−1, 3] with noise for 1: loss 9, not 1",
    ),
    Entry(
        RangeFromData.name,
        RangeFromData,
        expected="refuted",
        reference=RangeFromData.reference,
        summary="noise scaled by the range of the data: unbounded",
    ),
    Entry(
        WrappingSum.name,
        WrappingSum,
        expected="refuted",
        reference=WrappingSum.reference,
        summary="a sum in 8 bits that wraps round: loss 2.55, not 1",
    ),
    Entry(
        DiscardedClip.name,
        DiscardedClip,
        expected="refuted",
        reference=DiscardedClip.reference,
        summary="adds up the values before clipping: unbounded",
    ),
    Entry(
        NanAsZero.name,
        NanAsZero,
        expected="refuted",
        reference=NanAsZero.reference,
        summary="a sum that NaN turns into 0: loss 20, not 1",
    ),
)
