"""Local randomizers whose probabilities can be computed, as tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidKind, InvalidValue
from mechanisms.answers import floats

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from numpy.typing import NDArray

    from audit.distributions import Finite
    from mechanisms.local.randomizers import Transparent

__all__ = ["TableRandomizer", "check_randomizer"]


@dataclass(frozen=True, eq=False)
class TableRandomizer:
    """A transparent local randomizer with finitely many inputs and outcomes: Pr[R(record) = outcome].

    Parameters
    ----------
    records
        The inputs, hashable and distinct.
    outcomes
        What it may return.
    table
        Pr[R(record) = outcome], of shape (records, outcomes); every row sums to 1.

    Raises
    ------
    InvalidValue
        The shape is wrong, a row is no distribution, records repeat, or an outcome is possible for one record
        and impossible for another: then no epsilon is private (K11 Definition 5.1).

    Examples
    --------
    >>> coin = TableRandomizer([0, 1], "ht", [[0.75, 0.25], [0.25, 0.75]])
    >>> round(float(np.exp(coin.epsilon)), 12)
    3.0
    """

    records: Sequence[Hashable]
    outcomes: Sequence[Any]
    table: Sequence[Sequence[float]] | NDArray[np.float64]

    def __post_init__(self) -> None:
        table = floats(self.table, what="The `table` of `TableRandomizer`").copy()
        shape = len(self.records), len(self.outcomes)
        if table.shape != shape or 0 in shape:
            raise InvalidValue(
                f"The `table` of `TableRandomizer` must have shape {shape}, a row a record and a column an "
                f"outcome; got shape {table.shape}."
            )
        if not (table >= 0.0).all() or not (np.abs(table.sum(axis=1) - 1.0) <= _ROUNDING).all():
            raise InvalidValue("Each row of the `table` of `TableRandomizer` must be ≥ 0 and sum to 1.")
        if len(self._rows) != len(self.records):
            raise InvalidValue("The `records` of `TableRandomizer` must be distinct.")
        if ((table == 0.0).any(axis=0) != (table == 0.0).all(axis=0)).any():
            raise InvalidValue(
                "An outcome of `TableRandomizer` must be possible for every record or for none; "
                "no epsilon is private otherwise."
            )
        table.setflags(write=False)
        object.__setattr__(self, "table", table)

    @classmethod
    def of(cls, law: Callable[[Any], Finite], records: Sequence[Hashable]) -> TableRandomizer:
        """Return the table of a randomizer by its law: a function from a record to a finite law.

        Examples
        --------
        >>> from mechanisms.kary_response import KaryRandomizedResponse
        >>> response = KaryRandomizedResponse(epsilon=1.0, categories=4)
        >>> round(TableRandomizer.of(lambda record: response.distribution([record]), range(4)).epsilon, 12)
        1.0
        """
        laws = [law(record) for record in records]
        outcomes = list(dict.fromkeys(outcome for one in laws for outcome in list(one.support())))
        table = np.array([[one.pmf(outcome) for outcome in outcomes] for one in laws])
        return cls(list(records), outcomes, table)

    @classmethod
    def from_subject(cls, randomizer: Transparent, records: Sequence[Hashable]) -> TableRandomizer:
        """Return the table of a transparent randomizer of `mechanisms.local`, or any subject of its kind.

        Examples
        --------
        >>> from mechanisms import RandomizedResponse
        >>> round(float(np.exp(TableRandomizer.from_subject(RandomizedResponse(), [0, 1]).epsilon)), 12)
        2.0
        """
        from mechanisms.local.randomizers import transition_matrix

        return cls(list(records), *transition_matrix(randomizer, records))

    @cached_property
    def epsilon(self) -> float:
        """The exact loss: the greatest |ln Pr[R(u) = w]/Pr[R(u′) = w]|; 0 where no input matters."""
        possible = self.probabilities[:, self.probabilities.min(axis=0) > 0.0]
        spread = float((np.log(possible.max(axis=0)) - np.log(possible.min(axis=0))).max())
        return spread if spread > _ROUNDING else 0.0

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """The table as an array."""
        return np.asarray(self.table, dtype=np.float64)

    def places(self, records: Any) -> NDArray[np.intp]:
        """Return the rows of the records, or refuse one that is no input.

        Examples
        --------
        >>> TableRandomizer("ab", [0], [[1.0], [1.0]]).places("ba")
        array([1, 0])
        """
        try:
            return np.array([self._rows[record] for record in records], dtype=np.intp)
        except (KeyError, TypeError) as error:
            raise InvalidValue(f"A record must be an input of the randomizer; {error} is none.") from None

    def row(self, record: Any) -> NDArray[np.float64]:
        """Return the law of the outcome for one record, of shape (outcomes,).

        Examples
        --------
        >>> TableRandomizer("ab", [0, 1], [[1.0, 0.0], [1.0, 0.0]]).row("b")
        array([1., 0.])
        """
        found: NDArray[np.float64] = self.probabilities[self.places([record])[0]]
        return found

    @cached_property
    def _rows(self) -> dict[Hashable, int]:
        return {record: place for place, record in enumerate(self.records)}


_ROUNDING = 1e-12


def check_randomizer(randomizer: Any, *, owner: str) -> None:
    """Refuse what is no transparent randomizer.

    Examples
    --------
    >>> check_randomizer("R", owner="RandomizerSimulation")
    Traceback (most recent call last):
    audit.errors.InvalidKind: A randomizer of `RandomizerSimulation` must be a `TableRandomizer`; got 'R'.
    """
    if not isinstance(randomizer, TableRandomizer):
        raise InvalidKind(f"A randomizer of `{owner}` must be a `TableRandomizer`; got {randomizer!r:.60}.")
