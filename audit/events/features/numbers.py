"""Features that are numbers: the output, its entries, and what is simply computed from them."""

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit.events.features.base import NumberFeature, empty_column
from audit.events.features.views import View, as_column, as_entry


@dataclass(frozen=True)
class Value(NumberFeature):
    """The output itself, where it is a number."""

    cheap = True

    @property
    def words(self) -> str:
        """The subject of a sentence."""
        return "the output"

    def column(self, view: View) -> NDArray[np.float64]:
        """Give the feature of every output of a block."""
        where, numbers = view.numbers
        if view.all_numbers:
            return numbers
        column = empty_column(view)
        column[where] = numbers
        return column


@dataclass(frozen=True)
class Length(NumberFeature):
    """How many entries, keys or characters the output has."""

    cheap = True

    @property
    def words(self) -> str:
        """The subject of a sentence."""
        return "the length of the output"

    def column(self, view: View) -> NDArray[np.float64]:
        """Give the feature of every output of a block."""
        column = empty_column(view)
        for size, (where, _) in view.vectors.items():
            column[where] = size
        for i, output in view.rest:
            try:
                column[i] = len(output)
            except Exception:  # noqa: BLE001 - a foreign __len__ may do anything
                column[i] = np.nan
        return column


class _OfVector(NumberFeature):
    """A number computed from the entries of a flat output."""

    def column(self, view: View) -> NDArray[np.float64]:
        """Give the feature of every output of a block."""
        column = empty_column(view)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # rows of NaN only: their value is NaN
            for size, (where, matrix) in view.vectors.items():
                if size:
                    column[where] = self._of_rows(matrix)
        return column

    @abstractmethod
    def _of_rows(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give one number a row; `matrix` has shape (runs, entries) with at least one entry."""


@dataclass(frozen=True)
class Coordinate(_OfVector):
    """One entry of the output."""

    index: int
    cheap = True

    @property
    def words(self) -> str:
        """The subject of a sentence."""
        return f"output[{self.index}]"

    def _of_rows(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        return matrix[:, self.index] if self.index < matrix.shape[1] else np.full(len(matrix), np.nan)


@dataclass(frozen=True)
class Difference(_OfVector):
    """The difference of two entries."""

    first: int
    second: int

    @property
    def words(self) -> str:
        """The subject of a sentence."""
        return f"output[{self.first}] − output[{self.second}]"

    def _of_rows(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        if max(self.first, self.second) >= matrix.shape[1]:
            return np.full(len(matrix), np.nan)
        return matrix[:, self.first] - matrix[:, self.second]


@dataclass(frozen=True)
class PairSum(_OfVector):
    """The sum of two entries."""

    first: int
    second: int

    @property
    def words(self) -> str:
        """The subject of a sentence."""
        return f"output[{self.first}] + output[{self.second}]"

    def _of_rows(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        if max(self.first, self.second) >= matrix.shape[1]:
            return np.full(len(matrix), np.nan)
        return matrix[:, self.first] + matrix[:, self.second]


#: From this many entries on, sums are accumulated along rows: one entry after the other, as for few.
_WIDE = 256


def _added(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add each row entry by entry, NaN left out: numpy's pairwise sum depends on memory layout."""
    if matrix.shape[1] > _WIDE:
        return np.asarray(np.add.accumulate(np.where(np.isnan(matrix), 0.0, matrix), axis=1)[:, -1])
    total = np.zeros(len(matrix))
    for column in matrix.T:
        total = total + np.where(np.isnan(column), 0.0, column)
    return total


@dataclass(frozen=True)
class Sum(_OfVector):
    """The sum of the entries."""

    @property
    def words(self) -> str:
        """The subject of a sentence."""
        return "the sum of the output"

    def _of_rows(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        return _added(matrix)


@dataclass(frozen=True)
class Largest(_OfVector):
    """The largest entry."""

    @property
    def words(self) -> str:
        """The subject of a sentence."""
        return "the largest entry of the output"

    def _of_rows(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.nanmax(matrix, axis=1))


@dataclass(frozen=True)
class Smallest(_OfVector):
    """The smallest entry."""

    @property
    def words(self) -> str:
        """The subject of a sentence."""
        return "the smallest entry of the output"

    def _of_rows(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.nanmin(matrix, axis=1))


@dataclass(frozen=True)
class Spread(_OfVector):
    """The largest entry minus the smallest."""

    @property
    def words(self) -> str:
        """The subject of a sentence."""
        return "the spread (largest − smallest entry) of the output"

    def _of_rows(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.nanmax(matrix, axis=1) - np.nanmin(matrix, axis=1))


@dataclass(frozen=True)
class Norm(_OfVector):
    """The Euclidean norm of the entries."""

    @property
    def words(self) -> str:
        """The subject of a sentence."""
        return "the norm of the output"

    def _of_rows(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.sqrt(_added(matrix**2))


@dataclass(frozen=True)
class ArgMax(_OfVector):
    """The position of the (first) largest entry."""

    @property
    def words(self) -> str:
        """The subject of a sentence."""
        return "the position of the largest entry of the output"

    def _of_rows(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        filled = np.where(np.isnan(matrix), -np.inf, matrix)
        return np.asarray(np.argmax(filled, axis=1), dtype=np.float64)


@dataclass(frozen=True)
class _OfSpecial(_OfVector):
    """Something about the entries that equal one special value (a refusal, a flag, a mark)."""

    value: float

    def _hits(self, matrix: NDArray[np.float64]) -> NDArray[np.bool_]:
        return np.asarray(matrix == self.value)


@dataclass(frozen=True)
class Count(_OfSpecial):
    """How many entries equal a special value."""

    @property
    def words(self) -> str:
        """The subject of a sentence."""
        return f"the number of entries equal to {self.value:g}"

    def _of_rows(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self._hits(matrix).sum(axis=1), dtype=np.float64)


@dataclass(frozen=True)
class Missing(_OfVector):
    """How many entries are NaN, masked, or no number."""

    @property
    def words(self) -> str:
        """The subject of a sentence."""
        return "the number of entries that are NaN or no number"

    def _of_rows(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.isnan(matrix).sum(axis=1), dtype=np.float64)


@dataclass(frozen=True)
class First(_OfSpecial):
    """The position of the first entry that equals a special value; the length if there is none."""

    @property
    def words(self) -> str:
        """The subject of a sentence."""
        return f"the position of the first entry equal to {self.value:g}"

    def _of_rows(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        hits = self._hits(matrix)
        found = np.where(hits.any(axis=1), hits.argmax(axis=1), matrix.shape[1])
        return np.asarray(found, dtype=np.float64)


@dataclass(frozen=True)
class Last(_OfSpecial):
    """The position of the last entry that equals a special value; −1 if there is none."""

    @property
    def words(self) -> str:
        """The subject of a sentence."""
        return f"the position of the last entry equal to {self.value:g}"

    def _of_rows(self, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
        hits = self._hits(matrix)[:, ::-1]
        found = np.where(hits.any(axis=1), matrix.shape[1] - 1 - hits.argmax(axis=1), -1)
        return np.asarray(found, dtype=np.float64)


@dataclass(frozen=True)
class Entry(NumberFeature):
    """The number that a mapping (or a list of pairs) holds under a key; NaN where the key is absent."""

    key: Any
    cheap = True

    @property
    def words(self) -> str:
        """The subject of a sentence."""
        return f"output[{self.key!r}]"

    def column(self, view: View) -> NDArray[np.float64]:
        """Give the feature of every output of a block."""
        if view.all_dicts:
            return as_column([output.get(self.key) for output in view.outputs])
        column = empty_column(view)
        for i, mapping in view.mappings:
            if self.key in mapping:
                column[i] = as_entry(mapping[self.key])
        return column
