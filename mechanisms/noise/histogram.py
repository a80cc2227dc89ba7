"""The Laplace mechanism for a histogram."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from audit.catalogue import Entry
from audit.relations import Relation
from mechanisms.formulas import noise
from mechanisms.noise.laplace import LaplaceMechanism
from mechanisms.subjects.plain_queries import Histogram

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LaplaceHistogram"]


@dataclass(frozen=True, kw_only=True)
class LaplaceHistogram(LaplaceMechanism):
    """Counts the records per bin, with Laplace noise of scale 1/epsilon on each count.

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0.
    bins
        Number of bins. A record is the number of a bin.
    size
        Least and greatest length of audited databases.

    Guarantee
    ---------
    epsilon-differential privacy when a record is added or removed. This moves one count by 1, so
    `LaplaceMechanism` applies with L1 sensitivity 1. When a record is *replaced*, two counts move, and the
    loss is 2·epsilon.

    Examples
    --------
    >>> LaplaceHistogram(bins=2).answer([0, 1, 1])
    array([1., 2.])
    """

    bins: int = 3
    query: Callable[[Any], Any] = field(init=False, repr=False, compare=False)
    sensitivity: float = field(init=False, default=1.0)
    dimension: int | None = field(init=False, repr=False, compare=False)
    relation: Relation = field(init=False, default=Relation.ADD_OR_REMOVE_ONE)
    records: Any = field(init=False, repr=False, compare=False)
    size: int | tuple[int, int] = (0, 2)

    name: ClassVar[str] = "laplace-histogram"

    def __post_init__(self) -> None:
        object.__setattr__(self, "query", Histogram(self.bins))
        object.__setattr__(self, "dimension", self.bins)
        object.__setattr__(self, "records", tuple(range(self.bins)))
        super().__post_init__()


entry = Entry(
    LaplaceHistogram.name,
    LaplaceHistogram,
    reference=LaplaceHistogram.reference,
    summary="a histogram with Laplace noise, a record added or removed",
    formulas=noise.laplace_counts,
)
