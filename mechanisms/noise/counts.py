"""Noisy counts of categories, without a declared law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from audit.catalogue import Entry
from audit.errors import positive_int
from audit.relations import Relation
from mechanisms.formulas import noise
from mechanisms.subjects.claimed import ClaimsPure

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mechanisms.subjects.neighbours import Pair

__all__ = ["NoisyCounts"]


@dataclass(frozen=True, kw_only=True)
class NoisyCounts(ClaimsPure):
    """The number of records in each category, with Laplace noise of scale 1/epsilon.

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0.
    categories
        Records are 0 … categories − 1.
    size
        Least and greatest length of audited databases.

    Guarantee
    ---------
    epsilon-differential privacy when a record is added or removed, because this moves one count by 1. When a
    record is replaced, the loss is 2·epsilon.

    Examples
    --------
    >>> import numpy as np
    >>> NoisyCounts(categories=2)([0, 1], np.random.default_rng(0)).shape
    (2,)
    """

    categories: int = 3
    size: int | tuple[int, int] = (0, 4)

    name: ClassVar[str] = "counts"
    reference: ClassVar[str] = "B, generalisation of Definition 2: Δf under add-or-remove-one"
    relation: ClassVar[Relation] = Relation.ADD_OR_REMOVE_ONE

    def __post_init__(self) -> None:
        super().__post_init__()
        positive_int(self.categories, what=f"The `categories` of `{type(self).__name__}`")

    @property
    def records(self) -> list[int]:
        """The categories."""
        return list(range(self.categories))

    def __call__(self, database: Sequence[int], rng: np.random.Generator) -> NDArray[np.float64]:
        """Return one noisy count per category."""
        rows = list(database)
        noise = rng.laplace(0.0, 1.0 / self.epsilon, self.categories)
        return noise + [rows.count(category) for category in self.records]

    def suggested_pairs(self) -> list[Pair]:
        """Return, for each category, no record and one record."""
        return [([], [category]) for category in self.records]


entry = Entry(
    NoisyCounts.name,
    NoisyCounts,
    options={"budget": 30_000},
    reference=NoisyCounts.reference,
    summary="noisy counts, a record added or removed (no law)",
    formulas=noise.laplace_counts,
)
