"""Rec on 64-bit numbers, with records that vote for intervals."""

from __future__ import annotations

from typing import Any

from audit.catalogue import Entry
from audit.relations import Relation
from mechanisms.composition.processing import Undeclared
from mechanisms.concave.promise import ConcavePromise
from mechanisms.concave.qualities import IntervalVotes

__all__ = ["votes_on_64_bits"]

_MIDDLE = 2**63
_VOTES = (
    (0, 2**64),
    (_MIDDLE, _MIDDLE + 2**20),
    (_MIDDLE + 2**19, _MIDDLE + 2**21),
    (2**40, 2**50),
    (0, 0),
    (2**64, 2**64),
)


def votes_on_64_bits(**parameters: Any) -> Undeclared:
    """Return Rec on {0 … 2^64}, without a declared law.

    Each record votes for an interval. At epsilon = 1 and delta = 0.01 A_dist requires a lead of 20.4, which
    24 records can give.

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


entry = Entry(
    "concave-promise-64-bits",
    votes_on_64_bits,
    options={"budget": 100_000},
    reference=ConcavePromise.reference,
    summary="Rec on [0, 2^64], by runs (no law)",
)
