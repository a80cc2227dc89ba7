"""Statistical queries, each a bounded function of one record and a tolerance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidKind, InvalidValue, finite_number, flag
from mechanisms.subjects.answers import floats

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["StatisticalQuery"]


@dataclass(frozen=True)
class StatisticalQuery:
    """A query for the mean of a function over a distribution.

    Parameters
    ----------
    function
        A function of one record that returns a number in [low, high]. True and False count as 1 and 0.
    tau
        The tolerance, > 0, in the units of the function.
    low, high
        Ends of the range, low < high. A value outside raises an error when it occurs.
    boolean
        Whether the function takes only the values `low` and `high`.
    vectorised
        Optional: a function of an array or a sequence of records that returns all values as an array. It must
        agree with `function`.

    Raises
    ------
    InvalidKind
        `function` or `vectorised` cannot be called.
    InvalidValue
        `tau` is not > 0, or the range is empty or too long for floats.

    See Also
    --------
    StatisticalQuery.bounded : range [−b, b] (K11 Definition 5.4 and the remark after it).
    StatisticalQuery.fraction : a predicate, asked for its probability (B §1.2.1).
    StatisticalQuery.sign : a function into {−1, 1} (K11 Definition 5.4).

    Examples
    --------
    >>> query = StatisticalQuery(lambda x: x * x, tau=0.1, low=0, high=9)
    >>> query.values([1, 2, 3]), query.width
    (array([1., 4., 9.]), 9.0)
    >>> query.values([4])
    Traceback (most recent call last):
    audit.errors.InvalidValue: A value of a statistical query must lie in [0, 9]; got 16 for the record 4.
    """

    function: Callable[[Any], Any]
    tau: float
    low: float = -1.0
    high: float = 1.0
    boolean: bool = False
    vectorised: Callable[[Any], Any] | None = None

    def __post_init__(self) -> None:
        for called in (self.function, *([] if self.vectorised is None else [self.vectorised])):
            if not callable(called):
                raise InvalidKind(
                    f"The function of a `StatisticalQuery` must be callable; got {called!r:.60}."
                )
        flag(self.boolean, what="The `boolean` of a `StatisticalQuery`")
        tau = finite_number(self.tau, what="The tolerance `tau` of a `StatisticalQuery`", above=0)
        low = finite_number(self.low, what="The `low` of a `StatisticalQuery`")
        high = finite_number(self.high, what="The `high` of a `StatisticalQuery`", above=low)
        finite_number(high - low, what="The width `high` − `low` of a `StatisticalQuery`")
        for name, value in (("tau", tau), ("low", low), ("high", high)):
            object.__setattr__(self, name, value)

    @classmethod
    def bounded(
        cls,
        function: Callable[[Any], Any],
        *,
        bound: float,
        tau: float,
        vectorised: Callable[[Any], Any] | None = None,
    ) -> StatisticalQuery:
        """Return a query with values in [−bound, bound].

        Examples
        --------
        >>> StatisticalQuery.bounded(float, bound=2.0, tau=0.1).low
        -2.0
        """
        bound = finite_number(bound, what="The `bound` of a `StatisticalQuery`", above=0)
        return cls(function, tau, low=-bound, high=bound, vectorised=vectorised)

    @classmethod
    def fraction(
        cls,
        predicate: Callable[[Any], Any],
        *,
        tau: float,
        vectorised: Callable[[Any], Any] | None = None,
    ) -> StatisticalQuery:
        """Return the query for the probability of a predicate.

        Examples
        --------
        >>> StatisticalQuery.fraction(lambda x: x > 1, tau=0.1).values([0, 2])
        array([0., 1.])
        """
        return cls(predicate, tau, low=0.0, high=1.0, boolean=True, vectorised=vectorised)

    @classmethod
    def sign(
        cls,
        function: Callable[[Any], Any],
        *,
        tau: float,
        vectorised: Callable[[Any], Any] | None = None,
    ) -> StatisticalQuery:
        """Return a query with the values −1 and 1.

        Examples
        --------
        >>> StatisticalQuery.sign(lambda x: 1 if x else -1, tau=0.1).values([0, 2])
        array([-1.,  1.])
        """
        return cls(function, tau, boolean=True, vectorised=vectorised)

    @property
    def width(self) -> float:
        """Length of the range."""
        return self.high - self.low

    def with_tau(self, tau: float) -> StatisticalQuery:
        """Return the same query with another tolerance.

        Examples
        --------
        >>> StatisticalQuery(float, tau=0.1).with_tau(0.2).tau
        0.2
        """
        return replace(self, tau=tau)

    def values(self, records: Sequence[Any] | NDArray[Any]) -> NDArray[np.float64]:
        """Return the value at every record, shape (n,).

        Raises
        ------
        InvalidValue
            A value is NaN or outside [low, high], or strictly between `low` and `high` in a Boolean query. Or
            `vectorised` returned an array of another shape.
        """
        if self.vectorised is None:
            found: Any = [self.function(record) for record in records]
        else:
            found = self.vectorised(records)
        values = floats(found, what="The values of a statistical query")
        if values.shape != (len(records),):
            raise InvalidValue(
                f"The values of a statistical query must be one a record, of shape ({len(records)},); "
                f"got shape {values.shape}."
            )
        self._refuse_outside(values, records)
        return values

    def _refuse_outside(self, values: NDArray[np.float64], records: Any) -> None:
        """Raise an error if a value is outside the query's range."""
        if self.boolean:
            inside = (values == self.low) | (values == self.high)
        else:
            inside = (values >= self.low) & (values <= self.high)
        if not inside.all():
            first = int(np.argmin(inside))
            ends = f"{self.low:g}, {self.high:g}"
            wanted = f"be one of {ends}" if self.boolean else f"lie in [{ends}]"
            record = records[first]
            shown = record.tolist() if isinstance(record, (np.generic, np.ndarray)) else record
            raise InvalidValue(
                f"A value of a statistical query must {wanted}; "
                f"got {values[first]:g} for the record {shown!r:.40}."
            )
