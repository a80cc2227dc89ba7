"""Labelled examples over bits, stored as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from audit.errors import InvalidKind, InvalidValue
from audit.values.brief import show
from learners.finite.listed import ListedExamples

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["BitExamples", "examples_of"]

Example = tuple[tuple[int, ...], int]


@dataclass(frozen=True, eq=False)
class BitExamples(Sequence[Example]):
    """Examples (x, y) over bits.

    Parameters
    ----------
    points
        Booleans of shape (examples, dimension).
    labels
        Booleans of shape (examples,).

    Examples
    --------
    >>> some = BitExamples(np.array([[True, False], [True, True]]), np.array([True, False]))
    >>> some[0], len(some), list(some[1:])
    (((1, 0), 1), 2, [((1, 1), 0)])
    """

    points: NDArray[np.bool_]
    labels: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.labels)

    @overload
    def __getitem__(self, index: int) -> Example: ...
    @overload
    def __getitem__(self, index: slice) -> BitExamples: ...
    def __getitem__(self, index: int | slice) -> Example | BitExamples:
        if isinstance(index, slice):
            return BitExamples(self.points[index], self.labels[index])
        return tuple(self.points[index].astype(int).tolist()), int(self.labels[index])

    def __deepcopy__(self, memo: dict[int, Any]) -> BitExamples:
        return BitExamples(self.points.copy(), self.labels.copy())

    def __repr__(self) -> str:
        return f"BitExamples({len(self)} examples of {self.points.shape[1]} bits)"


def examples_of(database: Any, *, dimension: int, owner: str) -> BitExamples:
    """Return a database of (x, y) as arrays.

    Raises
    ------
    InvalidKind
        The database is not a sequence of pairs.
    InvalidValue
        An x is not `dimension` bits, or a y is not a bit.

    Examples
    --------
    >>> examples_of([((0, 1), 1)], dimension=2, owner="ParityLearner").labels
    array([ True])
    >>> examples_of([((0, 1), 2)], dimension=2, owner="A")
    Traceback (most recent call last):
    audit.errors.InvalidValue: An example of `A` must be (x, y), x 2 bits and y a bit; got ((0, 1), 2).
    """
    if isinstance(database, BitExamples) and database.points.shape[1] == dimension:
        return database
    if isinstance(database, ListedExamples) and len(database) > len(database.records):
        kinds = examples_of(database.records, dimension=dimension, owner=owner)
        return BitExamples(kinds.points[database.chosen], kinds.labels[database.chosen])
    try:
        inputs = [x for x, _ in database]
        outputs = [y for _, y in database]
    except (TypeError, ValueError):
        raise InvalidKind(
            f"A database of `{owner}` must be a list of (x, y), x {dimension} bits and y a bit; "
            f"got {show(database)}."
        ) from None
    points, labels = _bits(inputs, (len(inputs), dimension)), _bits(outputs, (len(outputs),))
    if points is None or labels is None:
        wrong = next(pair for pair in zip(inputs, outputs, strict=True) if not _is_example(pair, dimension))
        raise InvalidValue(
            f"An example of `{owner}` must be (x, y), x {dimension} bits and y a bit; got {show(wrong)}."
        )
    return BitExamples(points, labels)


def _bits(values: list[Any], shape: tuple[int, ...]) -> NDArray[np.bool_] | None:
    """Return bits of the given shape as booleans, else None."""
    if not values:
        return np.zeros(shape, dtype=np.bool_)
    try:
        array = np.asarray(values)
    except ValueError:  # the rows have different lengths
        return None
    if array.shape != shape or array.dtype.kind not in "biuf" or not ((array == 0) | (array == 1)).all():
        return None
    return array.astype(np.bool_)


def _is_example(pair: tuple[Any, Any], dimension: int) -> bool:
    return _bits([pair[0]], (1, dimension)) is not None and _bits([pair[1]], (1,)) is not None
