"""A class given by its table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from audit import canonical
from audit.errors import InvalidValue
from learners.concepts.base import ConceptClass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["ExplicitClass"]


class ExplicitClass(ConceptClass):
    """Concepts given by what each says of each point.

    Parameters
    ----------
    domain
        The distinct points.
    table
        Booleans of shape (concepts, points), True for the second label. Kept as it is, without a copy, if it
        is an array of booleans already.
    concepts
        Names for the rows; default 0, 1, 2, …
    labels
        The two labels.

    Raises
    ------
    InvalidValue
        The shapes do not fit, or there are no concepts or no points.

    Examples
    --------
    >>> xor = ExplicitClass(["a", "b"], [[0, 1], [1, 0], [1, 1]])
    >>> xor.label(2, "a"), xor.vc_dimension(), ExplicitClass(["a"], [[0], [1], [1]]).dichotomies().size
    (1, 1, 2)
    """

    def __init__(
        self,
        domain: Sequence[Any],
        table: ArrayLike,
        *,
        concepts: Sequence[Any] | None = None,
        labels: tuple[Any, Any] = (0, 1),
    ) -> None:
        self._table = np.asarray(table, dtype=np.bool_)
        self._domain = domain
        if self._table.ndim != 2 or 0 in self._table.shape or self._table.shape[1] != len(domain):
            raise InvalidValue(
                f"The `table` of `ExplicitClass` must have shape (concepts, {len(domain)}), neither of them "
                f"0; got {self._table.shape}."
            )
        self._concepts: Sequence[Any] = range(len(self._table)) if concepts is None else concepts
        if len(self._concepts) != len(self._table):
            raise InvalidValue(
                f"The `concepts` of `ExplicitClass` must be {len(self._table)} names; "
                f"got {len(self._concepts)}."
            )
        self.labels = labels  # type: ignore[misc]  # per object here, per class elsewhere
        self._column = {canonical.key(point): column for column, point in enumerate(domain)}
        self._row: dict[Any, int] | None = None

    @property
    def concepts(self) -> Sequence[Any]:
        """The names of the rows."""
        return self._concepts

    @property
    def domain(self) -> Sequence[Any]:
        """The points."""
        return self._domain

    def says(self, concept: Any, points: Sequence[Any]) -> NDArray[np.bool_]:
        """Return the row of a concept at some points."""
        return np.asarray(self._table[self._place(concept), self._columns(points)])

    def table(self, points: Sequence[Any] | None = None) -> NDArray[np.bool_]:
        """Return the table, or its columns at some points."""
        return self._table if points is None else np.asarray(self._table[:, self._columns(points)])

    def _columns(self, points: Sequence[Any]) -> list[int]:
        try:
            return [self._column[canonical.key(point)] for point in points]
        except KeyError:
            raise InvalidValue("A point of `ExplicitClass` must be one of its `domain`.") from None

    def _place(self, concept: Any) -> int:
        if isinstance(self._concepts, range):
            return self._concepts.index(concept)
        if self._row is None:
            self._row = {canonical.key(name): row for row, name in enumerate(self._concepts)}
        return self._row[canonical.key(concept)]
