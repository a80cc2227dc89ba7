"""Truth tables of hypotheses as packed bits."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidValue
from audit.values.brief import show

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["LabelCounts", "TruthTable"]

_ROWS = 1 << 16


@dataclass(frozen=True, eq=False)
class LabelCounts:
    """A database as the counts of each label at each point.

    Parameters
    ----------
    zeros, ones
        How often each point has the first label, and the second label, shape (points,).

    Examples
    --------
    >>> counts = LabelCounts.of([("a", 1), ("a", 0), ("b", 1)], places={"a": 0, "b": 1}, labels=(0, 1))
    >>> counts.zeros.tolist(), counts.ones.tolist()
    ([1.0, 0.0], [1.0, 1.0])
    """

    zeros: NDArray[np.float64]
    ones: NDArray[np.float64]

    @classmethod
    def of(
        cls, database: Sequence[Any], *, places: Mapping[Any, int], labels: tuple[Any, Any], owner: str = "It"
    ) -> LabelCounts:
        """Return the counts of a database of (point, label) pairs.

        Parameters
        ----------
        database
            (x, y) pairs.
        places
            The index of each point in the domain.
        labels
            The labels that count as 0 and as 1.
        owner
            The name in error messages.

        Raises
        ------
        InvalidValue
            A record is not a pair, its x is not a point of the domain, or its y is not one of the labels.
        """
        counts = np.zeros((2, len(places)))
        for record, times in _counted(database).items():
            place, label = _located(record, places=places, labels=labels, owner=owner)
            counts[label, place] += times
        return cls(counts[0], counts[1])

    @property
    def total(self) -> float:
        """The number of records."""
        return float(self.zeros.sum() + self.ones.sum())


def _counted(database: Sequence[Any]) -> Counter[Any]:
    try:
        return Counter(map(tuple, database))
    except TypeError as error:
        raise InvalidValue(f"A database must be a list of (x, y) pairs; got {show(database)}.") from error


def _located(
    record: tuple[Any, ...], *, places: Mapping[Any, int], labels: tuple[Any, Any], owner: str
) -> tuple[int, int]:
    if len(record) != 2 or record[0] not in places:
        raise InvalidValue(
            f"A record of `{owner}` must be a pair of a point of the domain and a label; got {show(record)}."
        )
    if record[1] not in labels:
        first, second = labels
        raise InvalidValue(f"A label of `{owner}` must be {first!r} or {second!r}; got {show(record[1])}.")
    return places[record[0]], labels.index(record[1])


@dataclass(frozen=True, eq=False)
class TruthTable:
    """The labels that hypotheses give to points, eight to a byte.

    Parameters
    ----------
    packed
        Shape (⌈points/8⌉, hypotheses), uint8: row k holds byte k of every hypothesis.
    points
        The number of points.

    Examples
    --------
    >>> table = TruthTable.of(np.array([[0, 0, 1], [1, 1, 1]], dtype=bool))
    >>> table.hypotheses, table.weights(np.array([1.0, 10.0, 100.0])).tolist()
    (2, [100.0, 111.0])
    """

    packed: NDArray[np.uint8]
    points: int

    @classmethod
    def of(cls, labels: Any) -> TruthTable:
        """Return the packed table of a matrix of labels.

        Each hypothesis has one row.

        Examples
        --------
        >>> TruthTable.of(np.eye(9, dtype=bool)).packed.shape
        (2, 9)
        """
        matrix = np.asarray(labels)
        blocks = [
            np.packbits(matrix[k : k + _ROWS].astype(bool), axis=1) for k in range(0, len(matrix), _ROWS)
        ]
        packed = np.concatenate(blocks) if blocks else np.zeros((0, 0), np.uint8)
        return cls(np.ascontiguousarray(packed.T), matrix.shape[1])

    @property
    def hypotheses(self) -> int:
        """The number of hypotheses."""
        return int(self.packed.shape[1])

    def row(self, index: int) -> NDArray[np.bool_]:
        """Return the labels of one hypothesis, shape (points,)."""
        return np.unpackbits(self.packed[:, index], count=self.points).astype(bool)

    def rows(self) -> NDArray[np.bool_]:
        """Return all labels, shape (hypotheses, points)."""
        return np.unpackbits(self.packed.T, axis=1, count=self.points).astype(bool)

    def weights(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the total weight of the points that each hypothesis labels 1."""
        padded = np.zeros(8 * len(self.packed))
        padded[: self.points] = weights
        eights = padded.reshape(-1, 8)
        weighty = np.flatnonzero(eights.any(axis=1))
        sums = np.zeros(self.hypotheses)
        for byte, of_eight in zip(weighty.tolist(), eights[weighty] @ _BITS.T, strict=True):
            sums += of_eight[self.packed[byte]]
        return sums

    def errors(self, counts: LabelCounts) -> NDArray[np.float64]:
        """Return how many records each hypothesis misclassifies.

        Examples
        --------
        >>> counts = LabelCounts(np.array([0.0, 2.0]), np.array([3.0, 0.0]))
        >>> TruthTable.of([[1, 0], [1, 1], [0, 1]]).errors(counts).tolist()
        [0.0, 2.0, 5.0]
        """
        return np.asarray(self.weights(counts.zeros - counts.ones) + counts.ones.sum())

    def dichotomies(self) -> NDArray[np.intp]:
        """Return the index of one hypothesis for each labelling of the domain.

        Examples
        --------
        >>> TruthTable.of([[0, 1], [0, 1], [1, 1]]).dichotomies().tolist()
        [0, 2]
        """
        words = self._words()
        order = np.lexsort(words)  # stable: the first of its kind stays the first
        ordered, new = words[:, order], np.ones(self.hypotheses, dtype=np.bool_)
        new[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
        return np.sort(order[new])

    def _words(self) -> NDArray[np.uint64]:
        """Return the labels as 8-byte words, shape (words, hypotheses)."""
        count = max(1, -(-len(self.packed) // 8))
        padded = np.zeros((self.hypotheses, 8 * count), dtype=np.uint8)
        padded[:, : len(self.packed)] = self.packed.T
        return np.ascontiguousarray(padded.view(np.uint64).T)


_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float64)
