"""Catalogue entries that compose mechanisms from several packages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from audit.catalogue import Entry
from audit.errors import finite_number
from audit.relations import Relation
from mechanisms.composition.parallel import Parallel
from mechanisms.composition.sequential import Sequential
from mechanisms.formulas import responses
from mechanisms.formulas.losses import whole
from mechanisms.noise.geometric import GeometricMechanism
from mechanisms.responses.binary import RandomizedResponse

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["CountAndSurvey", "CountsOfHalves"]


@dataclass(frozen=True, kw_only=True)
class CountAndSurvey(Sequential):
    """A noisy count and a randomized response, with epsilon/2 each.

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0.
    budget, relation, records, size
        As in `Sequential`.

    Guarantee
    ---------
    epsilon-differential privacy. No smaller epsilon holds, because both parts lose all that they claim on the
    same pair.

    Examples
    --------
    >>> print(CountAndSurvey(epsilon=1.5).claim)
    PureDP(epsilon=1.5)
    """

    parts: Sequence[Any] = field(init=False)
    epsilon: float = 1.0

    name: ClassVar[str] = "count-and-survey"

    def __post_init__(self) -> None:
        half = finite_number(self.epsilon, what="The `epsilon` of `CountAndSurvey`", above=0) / 2.0
        count = GeometricMechanism(epsilon=half, relation=Relation.LOCAL, size=1)
        parts = (count, RandomizedResponse(epsilon=half))
        object.__setattr__(self, "parts", parts)
        super().__post_init__()


@dataclass(frozen=True, kw_only=True)
class CountsOfHalves(Parallel):
    """A noisy count of each half of the records, with the whole epsilon.

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0.
    part_of, relation, records, size
        As in `Parallel`.

    Guarantee
    ---------
    epsilon-differential privacy, because neighbours differ in one half only. No smaller epsilon holds.

    Examples
    --------
    >>> print(CountsOfHalves(epsilon=0.5).claim)
    PureDP(epsilon=0.5)
    """

    parts: Sequence[Any] = field(init=False)
    epsilon: float = 1.0

    name: ClassVar[str] = "counts-of-halves"

    def __post_init__(self) -> None:
        count = GeometricMechanism(epsilon=self.epsilon, size=1)
        object.__setattr__(self, "parts", (count, count))
        super().__post_init__()


entries = (
    Entry(
        CountAndSurvey.name,
        CountAndSurvey,
        reference=CountAndSurvey.reference,
        summary="two mechanisms on the same record",
        formulas=responses.count_and_survey,
    ),
    Entry(
        CountsOfHalves.name,
        CountsOfHalves,
        reference=CountsOfHalves.reference,
        summary="a mechanism on each half",
        formulas=whole,
    ),
)
