"""A sum in an 8-bit integer that stops at the type's end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.catalogue import Entry
from audit.errors import InvalidValue, positive_int
from audit.relations import Relation
from mechanisms.formulas import noise
from mechanisms.noise.noises import GeometricNoise
from mechanisms.subjects.answers import floats
from mechanisms.subjects.claimed import ClaimsPure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mechanisms.subjects.neighbours import Pair

__all__ = ["SaturatingSum"]


@dataclass(frozen=True, kw_only=True)
class SaturatingSum(ClaimsPure):
    """The sum of values in {0 … upper}, at most 127, plus two-sided geometric noise.

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0.
    upper
        Values are clamped into {0 … upper}.
    size
        Least and greatest length of audited databases.

    Guarantee
    ---------
    epsilon-differential privacy when a record is added or removed. No value is negative, so the sum that
    stops at 127 is min(127, exact sum). The function s ↦ min(127, s) moves no two numbers further apart. So a
    record moves the result by at most `upper`, for which noise of rate epsilon/upper is right (C §2).

    Examples
    --------
    >>> SaturatingSum().total([100, 100]), SaturatingSum().total([-5, 3])
    (127, 3)
    """

    upper: int = 100
    size: int | tuple[int, int] = (0, 4)

    name: ClassVar[str] = "saturating-sum"
    reference: ClassVar[str] = "Casacuberta, Shoemate, Vadhan and Wagaman 2022, saturating addition"
    relation: ClassVar[Relation] = Relation.ADD_OR_REMOVE_ONE
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        positive_int(self.upper, what=f"The `upper` of `{type(self).__name__}`", maximum=127)

    @property
    def records(self) -> Any:
        """A Hypothesis strategy for whole numbers from 0 to `upper`."""
        from hypothesis import strategies  # loaded here only: a run does not need it

        return strategies.integers(0, self.upper)

    def total(self, database: Sequence[int]) -> int:
        """Return the sum before noise, at most 127."""
        owner = type(self).__name__
        values = floats(database, what=f"The records of `{owner}`")
        if not np.isfinite(values).all():
            raise InvalidValue(f"The records of `{owner}` must be finite; got {database!r:.60}.")
        return int(min(127.0, np.clip(values, 0, self.upper).sum()))

    def __call__(self, database: Sequence[int], rng: np.random.Generator) -> int:
        """Return one noisy sum."""
        return int(self.sample(database, 1, rng)[0])

    def sample(self, database: Sequence[int], size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return `size` noisy sums."""
        return self.total(database) + GeometricNoise(self.epsilon / self.upper).sample(size, rng)

    def suggested_pairs(self) -> list[Pair]:
        """Return two pairs of databases that differ by one large record."""
        return [([], [self.upper]), ([127 - self.upper], [127 - self.upper, self.upper])]


entry = Entry(
    SaturatingSum.name,
    SaturatingSum,
    reference=SaturatingSum.reference,
    summary="a sum in 8 bits that stops at 127 (no law)",
    formulas=noise.saturating_sum,
)
