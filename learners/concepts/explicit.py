"""Concept classes given by a table of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidValue
from audit.values import canonical
from audit.values.brief import show
from learners.concepts.base import ConceptClass, check_concepts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["ExplicitClass", "dichotomies"]


class ExplicitClass(ConceptClass):
    """A concept class given by a table of labels.

    Parameters
    ----------
    domain
        The distinct points.
    table
        Booleans, or 0s and 1s, of shape (concepts, points), True for the second label. An array of booleans
        is kept without a copy.
    concepts
        Distinct names for the rows; default 0, 1, 2, …
    labels
        The two labels.

    Raises
    ------
    InvalidValue
        The shape does not match, a table is empty, an entry is neither 0 nor 1, or a point comes twice. If a
        name comes twice, the first look-up raises.

    Examples
    --------
    >>> xor = ExplicitClass(["a", "b"], [[0, 1], [1, 0], [1, 1]])
    >>> xor.label(2, "a"), xor.vc_dimension()
    (1, 1)
    """

    def __init__(
        self,
        domain: Sequence[Any],
        table: ArrayLike,
        *,
        concepts: Sequence[Any] | None = None,
        labels: tuple[Any, Any] = (0, 1),
    ) -> None:
        self._table = _booleans(table)
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
        self._column = _places(domain, what="domain")
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
        """Return a concept's labels of points, as booleans."""
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
        if self._row is None:  # built on first use
            self._row = _places(self._concepts, what="concepts")
        return self._row[canonical.key(concept)]


def dichotomies(concepts: ConceptClass, points: Sequence[Any] | None = None) -> ExplicitClass:
    """Return the class with one concept for each labelling of points.

    The earliest such concept is kept (K11 Corollary 3.6).

    Examples
    --------
    >>> dichotomies(ExplicitClass(["a"], [[0], [1], [1]])).size
    2
    """
    check_concepts(concepts)
    points = concepts.listed_domain() if points is None else points
    table = concepts.table(points)
    _, first = np.unique(np.packbits(table, axis=1), axis=0, return_index=True)
    kept = np.sort(first)
    names = [concepts.concepts[index] for index in kept.tolist()]
    return ExplicitClass(points, table[kept], concepts=names, labels=concepts.labels)


def _booleans(table: ArrayLike) -> NDArray[np.bool_]:
    """Return a table of 0s and 1s as booleans, else raise."""
    wanted = "The `table` of `ExplicitClass` must be rows, all as long, of booleans or of 0 and 1"
    try:
        array = np.asarray(table)
    except ValueError:  # the rows differ in length
        raise InvalidValue(f"{wanted}; got {show(table)}.") from None
    if array.dtype == np.bool_:
        return array
    if array.size and array.dtype.kind not in "iuf":
        raise InvalidValue(f"{wanted}; got {show(table)}.")
    wrong = array[(array != 0) & (array != 1)]
    if wrong.size:
        raise InvalidValue(f"{wanted}; got {wrong[0]}.")
    return array.astype(np.bool_)


def _places(names: Sequence[Any], *, what: str) -> dict[Any, int]:
    """Return the index of each name, or raise for a repeated name."""
    places: dict[Any, int] = {}
    for place, name in enumerate(names):
        if places.setdefault(canonical.key(name), place) != place:
            raise InvalidValue(f"The `{what}` of `ExplicitClass` must be distinct; got {show(name)} twice.")
    return places
