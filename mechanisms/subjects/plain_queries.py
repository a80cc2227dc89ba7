"""Queries and scores of plain records, with known sensitivities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidKind, InvalidValue, positive_int

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Histogram", "approvals", "total"]


def total(database: Sequence[Any]) -> Any:
    """Return the sum of the records.

    Guarantee
    ---------
    On records in {0, 1}, replacing, adding or removing one moves the sum by at most 1.

    Examples
    --------
    >>> total([1, 0, 1])
    2
    """
    try:
        return sum(database)
    except TypeError:
        raise InvalidKind(f"The records of a sum must be numbers; got {database!r:.60}.") from None


@dataclass(frozen=True)
class Histogram:
    """Counts the records in each of the bins 0 … bins − 1.

    Guarantee
    ---------
    Adding or removing a record moves one count by 1 (L1 sensitivity 1). Replacing one can move two (L1
    sensitivity 2).

    Examples
    --------
    >>> Histogram(3)([0, 2, 2])
    array([1., 0., 2.])
    """

    bins: int

    def __post_init__(self) -> None:
        positive_int(self.bins, what="The `bins` of `Histogram`", maximum=2**31)

    def __call__(self, database: Sequence[int]) -> NDArray[np.float64]:
        """Return the counts.

        Raises
        ------
        InvalidValue
            A record is not a bin.
        """
        outside = [record for record in database if record not in range(self.bins)]
        if outside:
            raise InvalidValue(
                f"A record of `Histogram` must be one of 0 … {self.bins - 1}; got {outside[0]!r}."
            )
        return np.bincount(np.asarray(database, dtype=np.intp), minlength=self.bins).astype(np.float64)


def approvals(database: Sequence[str], solution: str) -> int:
    """Return how many records name the solution.

    A record is a text of the letters of approved solutions.

    Guarantee
    ---------
    Replacing, adding or removing a record moves the score of every solution by at most 1.

    Examples
    --------
    >>> approvals(["ab", "b", ""], "b")
    2
    """
    try:
        return sum([solution in record for record in database])
    except TypeError:
        raise InvalidKind(
            f"A record must be the text of the letters it approves of; got {database!r:.60}."
        ) from None
