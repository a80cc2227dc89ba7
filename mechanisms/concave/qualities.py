"""Quality functions of sensitivity 1 on large ranges (BNS Remark 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from audit.errors import InvalidValue, finite_number, positive_int
from audit.values.brief import show
from mechanisms.concave.piecewise import StepFunction

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["IntervalVotes", "ThresholdAgreement", "as_quality"]


def as_quality(database: Any) -> StepFunction:
    """Return a database as a quality function.

    A database that is not a `StepFunction` must be a list of values.

    Guarantee
    ---------
    If neighbours differ by at most 1 in every value, this quality has sensitivity 1 by definition.

    Examples
    --------
    >>> as_quality([4, 4, 1]).starts
    (0, 2)
    """
    return database if isinstance(database, StepFunction) else StepFunction.of(database)


@dataclass(frozen=True)
class IntervalVotes:
    """The quality that counts the records (low, high) that contain a point.

    Parameters
    ----------
    top
        The last point.

    Guarantee
    ---------
    If a record is replaced, added or removed, the count at every point changes by at most 1.

    Examples
    --------
    >>> votes = IntervalVotes(2**64)([(0, 2**63), (5, 5)])
    >>> votes(5), votes(2**63), votes(2**64)
    (2.0, 1.0, 0.0)
    """

    top: int

    def __call__(self, database: Sequence[tuple[int, int]]) -> StepFunction:
        """Return, as a function of a point, how many records contain it."""
        return StepFunction.tally(database, top=self.top)


@dataclass(frozen=True)
class ThresholdAgreement:
    """The quality `margin` minus the number of errors of a threshold.

    This quality turns learning a threshold into a quasi-concave promise problem (INTERVAL_d of BNS). The
    threshold j ∈ {0 … 2^bits} labels x with 1 if x < j, and otherwise with 0. A record is (x, y) with x ∈ {0
    … 2^bits − 1} and a label y, 0 or 1. Let `margin` = α·m for m records. If some threshold makes no errors,
    the promise r = α·m holds. Rec runs with alpha = 1/2. With α it would need r ≥ (2/α)^log*, which BNS
    Theorem 2 does not state.

    Parameters
    ----------
    bits
        The number d of bits of a point.
    margin
        The quality of a threshold that makes no errors. It is public.

    Guarantee
    ---------
    If a record is replaced, added or removed, the quality at every point changes by at most 1. If a threshold
    labels all points correctly, the quality is quasi-concave on {0 … 2^bits}.

    Examples
    --------
    >>> quality = ThresholdAgreement(3, margin=2.0)([(1, 1), (2, 1), (6, 0)])
    >>> [quality(j) for j in range(9)]
    [0.0, 0.0, 1.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0]
    """

    bits: int
    margin: float = 0.0

    def __post_init__(self) -> None:
        positive_int(self.bits, what="The `bits` of `ThresholdAgreement`")
        finite_number(self.margin, what="The `margin` of `ThresholdAgreement`")

    def __call__(self, database: Sequence[tuple[int, int]]) -> StepFunction:
        """Return the quality of every threshold."""
        top = 1 << self.bits
        right = [_agreeing(record, top) for record in database]
        return StepFunction.tally(right, top=top).plus(self.margin - len(right))


def _agreeing(record: tuple[int, int], top: int) -> tuple[int, int]:
    """Return the first and the last threshold that label a record correctly."""
    x, label = record
    if label not in (0, 1) or not 0 <= x < top:
        raise InvalidValue(
            f"A record must be (x, y) with x in [0, {top - 1}] and y 0 or 1; got {show(record)}."
        )
    return (int(x) + 1, top) if label else (0, int(x))
