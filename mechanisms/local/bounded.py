"""Values of a bounded query on many entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidValue
from mechanisms.subjects.answers import floats

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["BoundedQuery"]

_SLACK = 1e-12
"""Relative excess of rounded coordinates over the norm that is allowed."""


class BoundedQuery:
    """A query with numbers or vectors in [−b, b] as values.

    Parameters
    ----------
    query
        The query g. Default: an entry is itself the value.
    bound
        The bound b > 0.
    dimension
        None for a number, else the length of the vector.
    norm
        The most that |g₁| + … + |g_d| can be. Default: d·b.
    vectorised
        Whether `query` takes all entries at once, and returns all values with the entries along the first
        axis.
    owner
        The owner of the query, for error messages.

    Examples
    --------
    >>> BoundedQuery(abs, bound=2.0, owner="R_g").values([-1.0, 2.0])
    array([1., 2.])
    >>> BoundedQuery(None, bound=1.0, owner="R_g").values([0.5, 1.5])
    Traceback (most recent call last):
    audit.errors.InvalidValue: The query of `R_g` must stay within [-1, 1]; on entry 1.5 it is 1.5.
    """

    def __init__(
        self,
        query: Callable[[Any], Any] | None,
        *,
        bound: float,
        dimension: int | None = None,
        norm: float | None = None,
        vectorised: bool = False,
        owner: str = "BoundedQuery",
    ) -> None:
        self.query, self.bound, self.dimension = query, bound, dimension
        self.norm, self.vectorised, self.owner = norm, vectorised, owner

    @property
    def sensitivity(self) -> float:
        """The largest L1 distance between two values."""
        widest = self.bound * (self.dimension or 1)
        return 2.0 * (widest if self.norm is None else min(widest, self.norm))

    def values(self, entries: Any) -> NDArray[np.float64]:
        """Return the value g of every entry, of shape (entries,) or (entries, dimension).

        Raises
        ------
        InvalidValue
            A value lies outside [−b, b], is NaN, exceeds the norm or has another shape.
        InvalidKind
            A value is no number.
        """
        values = floats(self._asked(entries), what=f"The values of the query of `{self.owner}`")
        shape = (len(entries),) if self.dimension is None else (len(entries), self.dimension)
        if values.shape != shape:
            raise InvalidValue(
                f"The query of `{self.owner}` must give values of shape {shape[1:]}; got {values.shape[1:]}."
            )
        self._refuse_outside(values, entries)
        return values

    def _asked(self, entries: Any) -> Any:
        if self.query is None:
            return entries
        return self.query(entries) if self.vectorised else [self.query(entry) for entry in entries]

    def _refuse_outside(self, values: NDArray[np.float64], entries: Any) -> None:
        if not values.size:
            return
        if not (values.max() <= self.bound and values.min() >= -self.bound):  # also true if a value is NaN
            inside = np.abs(values) <= self.bound
            self._refuse(
                values,
                entries,
                inside.reshape(len(values), -1).all(axis=1),
                f"[{-self.bound:g}, {self.bound:g}]",
            )
        if self.norm is not None and self.dimension is not None:
            inside = np.abs(values).sum(axis=1) <= self.norm * (1.0 + _SLACK)
            if not inside.all():
                self._refuse(values, entries, inside, f"the L1 norm {self.norm:g}")

    def _refuse(self, values: Any, entries: Any, inside: Any, limit: str) -> None:
        place = int(np.flatnonzero(~inside)[0])
        entry, value = entries[place], values[place].tolist()
        shown = entry.tolist() if isinstance(entry, (np.generic, np.ndarray)) else entry
        raise InvalidValue(
            f"The query of `{self.owner}` must stay within {limit}; "
            f"on entry {shown!r:.40} it is {value!r:.40}."
        )
