"""The base class of all concept classes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.errors import InvalidKind, InvalidValue
from audit.values.brief import show

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["MOST_LISTED", "ConceptClass", "check_concepts"]

MOST_LISTED = 2**22
"""Domains and classes with more members are not listed; all methods that need no list still work."""


class ConceptClass(ABC):
    """A finite class of concepts with two labels.

    A concept is a plain value, such as a tuple of bits for a parity. Arrays of labels are booleans, where
    True stands for the second of the two `labels`.

    Examples
    --------
    >>> from learners.concepts import PointClass
    >>> points = PointClass(2)
    >>> points.label(3, 3), points.label(3, 0), points.size, points.vc_dimension()
    (1, 0, 4, 1)
    >>> points.table([0, 1]).astype(int).tolist()
    [[1, 0], [0, 1], [0, 0], [0, 0]]
    """

    labels: ClassVar[tuple[Any, Any]] = (0, 1)

    @property
    @abstractmethod
    def concepts(self) -> Sequence[Any]:
        """Every concept, in a fixed order."""

    @property
    @abstractmethod
    def domain(self) -> Sequence[Any]:
        """Every point, in a fixed order."""

    @abstractmethod
    def says(self, concept: Any, points: Sequence[Any]) -> NDArray[np.bool_]:
        """Return a concept's labels of points as booleans, shape (points,)."""

    @property
    def size(self) -> int:
        """How many concepts there are."""
        return _count(self.concepts)

    def label(self, concept: Any, point: Any) -> Any:
        """Return the label that a concept gives a point."""
        return self.labels[int(self.says(concept, [point])[0])]

    def table(self, points: Sequence[Any] | None = None) -> NDArray[np.bool_]:
        """Return every concept's labels, shape (concepts, points).

        By default all points are labelled.

        Raises
        ------
        InvalidValue
            There are more than `MOST_LISTED` concepts, or more points in the domain if `points` is None.
        """
        points = self.listed_domain() if points is None else points
        rows = [self.says(concept, points) for concept in self.listed_concepts()]
        return np.array(rows, dtype=np.bool_).reshape(len(rows), len(points))

    def signs(self, labels: Sequence[Any]) -> NDArray[np.bool_]:
        """Return labels as booleans, True for the second label.

        Raises
        ------
        InvalidValue
            Some label is not one of `labels`.
        """
        known = dict(zip(self.labels, (False, True), strict=True))
        try:
            return np.array([known[label] for label in labels], dtype=np.bool_)
        except (KeyError, TypeError):
            wrong = next(label for label in labels if not _is_one_of(label, self.labels))
            raise InvalidValue(
                f"A label of `{type(self).__name__}` must be {self.labels[0]} or {self.labels[1]}; "
                f"got {show(wrong)}."
            ) from None

    def split(self, database: Sequence[Any]) -> tuple[list[Any], NDArray[np.bool_]]:
        """Return the points and boolean labels of a list of (x, y).

        Raises
        ------
        InvalidKind
            A record is not a pair.
        InvalidValue
            A label is not one of the class's two. Points are not checked.
        """
        try:
            pairs = [(x, y) for x, y in database]
        except (TypeError, ValueError):
            raise InvalidKind(
                f"A database of `{type(self).__name__}` must be a list of (x, y); got {show(database)}."
            ) from None
        return [x for x, _ in pairs], self.signs([y for _, y in pairs])

    def vc_dimension(self) -> int:
        """Return the Vapnik-Chervonenkis dimension, exactly."""
        from learners.concepts.shattering import vc_dimension

        return vc_dimension(self.table())

    def listed_domain(self) -> Sequence[Any]:
        """Return the domain; raise if it has more than `MOST_LISTED` points."""
        return _listed(self.domain, f"The domain of `{type(self).__name__}`")

    def listed_concepts(self) -> Sequence[Any]:
        """Return the concepts; raise if there are more than `MOST_LISTED`."""
        return _listed(self.concepts, f"The class `{type(self).__name__}`")


def check_concepts(concepts: Any) -> None:
    """Raise `InvalidKind` unless `concepts` is a concept class.

    Examples
    --------
    >>> check_concepts([0, 1])
    Traceback (most recent call last):
    audit.errors.InvalidKind: The `concepts` must be a `ConceptClass`, such as `PointClass(2)`; got [0, 1].
    """
    if not isinstance(concepts, ConceptClass):
        raise InvalidKind(
            f"The `concepts` must be a `ConceptClass`, such as `PointClass(2)`; got {show(concepts, 40)}."
        )


def _count(members: Sequence[Any]) -> int:
    if isinstance(members, range):  # len(range(2**64)) fails
        return max(0, (members.stop - members.start + members.step - 1) // members.step)
    counted: Any = members
    return int(getattr(counted, "count_all", None) or len(members))


def _listed(members: Sequence[Any], what: str) -> Sequence[Any]:
    count = _count(members)
    if count > MOST_LISTED:
        raise InvalidValue(f"{what} must have at most {MOST_LISTED} members to be gone through; got {count}.")
    return members


def _is_one_of(label: Any, labels: Iterable[Any]) -> bool:
    try:
        return any(bool(label == known) for known in labels)
    except ValueError:  # an array
        return False
