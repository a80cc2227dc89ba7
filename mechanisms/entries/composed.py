"""Rec and compositions as entries of the catalogue."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from audit.catalogue import Entry
from audit.relations import Relation
from mechanisms.composition.parallel import Parallel
from mechanisms.composition.processing import Undeclared
from mechanisms.composition.sequential import Sequential
from mechanisms.concave import ConcavePromise, IntervalVotes
from mechanisms.noise.geometric import GeometricMechanism
from mechanisms.responses.binary import RandomizedResponse

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["CountAndSurvey", "CountsOfHalves", "composed", "votes_on_64_bits"]

_MIDDLE = 2**63
_VOTES = (
    (0, 2**64),
    (_MIDDLE, _MIDDLE + 2**20),
    (_MIDDLE + 2**19, _MIDDLE + 2**21),
    (2**40, 2**50),
    (0, 0),
    (2**64, 2**64),
)


@dataclass(frozen=True, kw_only=True)
class CountAndSurvey(Sequential):
    """A noisy count and a randomized response on one record, at half of epsilon each.

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0.
    budget, relation, records, size
        As in `Sequential`.

    Guarantee
    ---------
    epsilon-differential privacy, met with equality: both parts meet theirs on the same pair.

    Examples
    --------
    >>> print(CountAndSurvey(epsilon=1.5).claim)
    PureDP(epsilon=1.5)
    """

    parts: Sequence[Any] = field(init=False)
    epsilon: float = 1.0

    name: ClassVar[str] = "count-and-survey"

    def __post_init__(self) -> None:
        half = self.epsilon / 2.0
        count = GeometricMechanism(epsilon=half, relation=Relation.LOCAL, size=1)
        parts = (count, RandomizedResponse(epsilon=half))
        object.__setattr__(self, "parts", parts)
        super().__post_init__()


@dataclass(frozen=True, kw_only=True)
class CountsOfHalves(Parallel):
    """A noisy count of each half of the records, at the whole of epsilon each.

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0.
    part_of, relation, records, size
        As in `Parallel`.

    Guarantee
    ---------
    epsilon-differential privacy, met with equality: neighbours differ in one half.

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


def votes_on_64_bits(**parameters: Any) -> Undeclared:
    """Return Rec on [0, 2^64], a record votes for an interval; without its law, and with live thresholds.

    At epsilon = 1 and delta = 0.01 A_dist asks for a lead of 20.4 of the 24 records.

    Parameters
    ----------
    parameters
        As in `ConcavePromise`.

    Examples
    --------
    >>> print(votes_on_64_bits().claim)
    ApproximateDP(epsilon=5, delta=0.02)
    """
    told: dict[str, Any] = {
        "delta": 0.01,
        "top": 2**64,
        "promise": 20.0,
        "beta": None,
        "accounting": "tight",
        "quality": IntervalVotes(2**64),
        "relation": Relation.REPLACE_ONE,
        "records": _VOTES,
        "size": 24,
        **parameters,
    }
    return Undeclared(part=ConcavePromise(**told))


def composed() -> list[Entry]:
    """Return the entries.

    Examples
    --------
    >>> composed()[0].name
    'concave-promise'
    """
    rec = ConcavePromise
    tight = partial(ConcavePromise, top=40, promise=60.0, beta=None, accounting="tight")
    told: list[tuple[Any, str, str, str]] = [
        (rec, rec.name, rec.reference, "Rec on [0, 64], claiming what Lemma 2 does"),
        (tight, "concave-promise-tight", rec.reference, "Rec claiming the sum of the calls it makes"),
        (votes_on_64_bits, "concave-promise-64-bits", rec.reference, "Rec on [0, 2^64], by runs (no law)"),
        (CountAndSurvey, CountAndSurvey.name, CountAndSurvey.reference, "two mechanisms on the same record"),
        (CountsOfHalves, CountsOfHalves.name, CountsOfHalves.reference, "a mechanism on each half"),
    ]
    return [
        Entry(
            name,
            make,
            options={"budget": 100_000} if make is votes_on_64_bits else {},
            utility={} if make is rec else None,
            reference=text,
            summary=summary,
        )
        for make, name, text, summary in told
    ]
