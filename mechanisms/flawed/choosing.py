"""The choosing mechanism without its size check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from audit.catalogue import Entry
from mechanisms.selection.choosing import ChoosingMechanism

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["UncheckedChoosing"]


@dataclass(frozen=True, kw_only=True)
class UncheckedChoosing(ChoosingMechanism):
    """The choosing mechanism without the least database size of BNS §4.1.

    A solution that only one record supports can be returned, but never on a neighbour without this record.
    Take one record y and m − 1 records x, and the neighbour of m records x. Only the database with y returns
    y. It does so with probability Pr[m − 1 + Lap(4/epsilon) ≥ alpha·m/2]·e^(epsilon/4)/(e^(epsilon/4) +
    e^(epsilon·(m−1)/4)) for m > 1, and with Pr[1 + Lap(4/epsilon) ≥ alpha/2] for m = 1. For epsilon = 1 and
    alpha = 1/2 this is 0.585, 0.240, 0.107 and 0.0108 at m = 1, 5, 10 and 20. For delta = 1e-3, BNS ask for m
    ≥ 230.

    Parameters
    ----------
    epsilon, delta, alpha, beta, growth, score, solutions, vectorised, size, records
        As in `ChoosingMechanism`, but without bounds on `size` and `epsilon`.

    Examples
    --------
    >>> twin = UncheckedChoosing(size=1)
    >>> round(twin.distribution(["a"]).pmf("a"), 3), twin.distribution(["b"]).pmf("a")
    (0.585, 0.0)
    """

    size: int | None = 5
    records: Sequence[Any] = ("a", "b")

    name: ClassVar[str] = "flawed-choosing-unchecked-size"
    reference: ClassVar[str] = "BNS §4.1 without its lower bound on m"

    def _refuse_what_is_not_private(self) -> None:
        """Refuse nothing: this is the flaw."""


entry = Entry(
    UncheckedChoosing.name,
    UncheckedChoosing,
    expected="refuted",
    reference=UncheckedChoosing.reference,
    summary="the choosing mechanism on 5 records instead of 230: δ 0.24, not 1e-3",
)
