"""Features that are numbers, such as the output, its entries and their sum."""

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from audit.distributions.law import Floats
from audit.events.features.base import NumberFeature, scored
from audit.events.features.views import View, as_column, as_entry


class Value(NumberFeature):
    """The output itself if it is a number."""

    cheap = True
    said = "the output"

    def column(self, view: View) -> Floats:
        """Return the value of the feature for every output of a block."""
        return view.numbers[1] if view.all_numbers else scored(view, [view.numbers])


class Length(NumberFeature):
    """Number of entries, keys or characters of the output."""

    cheap = True
    said = "the length of the output"

    def _special_interval(self, low: float, high: float) -> str | None:
        if low <= 0 < high <= 1:
            return "the output is empty"
        return "the output is not empty" if 0 < low <= 1 and high == np.inf else None

    def column(self, view: View) -> Floats:
        """Return the value of the feature for every output of a block."""
        column = scored(view, ((where, size) for size, (where, _) in view.vectors.items()))
        for i, output in view.rest:
            try:
                column[i] = len(output)
            except Exception:  # noqa: BLE001 - a foreign __len__ may do anything
                column[i] = np.nan
        return column


class _OfVector(NumberFeature):
    """A number computed from the entries of a flat output."""

    def column(self, view: View) -> Floats:
        vectors = [found for size, found in view.vectors.items() if size]
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a row of NaN has the value NaN
            return scored(view, ((where, self._of_rows(matrix)) for where, matrix in vectors))

    @abstractmethod
    def _of_rows(self, matrix: Floats) -> Any:
        """Return one number for each row. `matrix` has shape (runs, entries) with at least one entry."""


@dataclass(frozen=True)
class Coordinate(_OfVector):
    """One entry of the output."""

    index: int
    cheap = True
    said = "output[{0.index}]"

    def _of_rows(self, matrix: Floats) -> Any:
        return matrix[:, self.index] if self.index < matrix.shape[1] else np.full(len(matrix), np.nan)


@dataclass(frozen=True)
class _OfTwo(_OfVector):
    """Two entries combined by the function `join`. `sign` is the symbol of the function."""

    first: int
    second: int
    join: ClassVar[np.ufunc]
    sign: ClassVar[str]
    said = "output[{0.first}] {0.sign} output[{0.second}]"
    present = "output[{0.first}] and output[{0.second}] are both present"
    absent = "output[{0.first}] or output[{0.second}] is missing"

    def _of_rows(self, matrix: Floats) -> Any:
        if max(self.first, self.second) >= matrix.shape[1]:
            return np.full(len(matrix), np.nan)
        return self.join(matrix[:, self.first], matrix[:, self.second])


class Difference(_OfTwo):
    """The difference of two entries."""

    join, sign = np.subtract, "−"


class PairSum(_OfTwo):
    """The sum of two entries."""

    join, sign = np.add, "+"


#: Affects speed only. Rows with more entries than this are added by `accumulate`, also entry by entry.
_WIDE = 256


def added(matrix: Floats) -> Floats:
    """Return the sum of each row, leaving out NaN.

    Entries are added one by one, because numpy's pairwise sum depends on the memory layout.
    """
    if matrix.shape[1] > _WIDE:
        return np.asarray(np.add.accumulate(np.where(np.isnan(matrix), 0.0, matrix), axis=1)[:, -1])
    total = np.zeros(len(matrix))
    for column in matrix.T:
        total = total + np.where(np.isnan(column), 0.0, column)
    return total


class Sum(_OfVector):
    """The sum of the entries."""

    said = "the sum of the output"

    def _of_rows(self, matrix: Floats) -> Any:
        return added(matrix)


class Largest(_OfVector):
    """The largest entry."""

    said = "the largest entry of the output"

    def _of_rows(self, matrix: Floats) -> Any:
        return np.nanmax(matrix, axis=1)


class Smallest(_OfVector):
    """The smallest entry."""

    said = "the smallest entry of the output"

    def _of_rows(self, matrix: Floats) -> Any:
        return np.nanmin(matrix, axis=1)


class Spread(_OfVector):
    """The largest entry minus the smallest."""

    said = "the spread (largest − smallest entry) of the output"

    def _of_rows(self, matrix: Floats) -> Any:
        return np.nanmax(matrix, axis=1) - np.nanmin(matrix, axis=1)


class Norm(_OfVector):
    """The Euclidean norm of the entries."""

    said = "the norm of the output"

    def _of_rows(self, matrix: Floats) -> Any:
        return np.sqrt(added(matrix**2))


class ArgMax(_OfVector):
    """The position of the largest entry. If several entries are largest, the first one counts."""

    said = "the position of the largest entry of the output"

    def _special_interval(self, low: float, high: float) -> str | None:
        place = np.ceil(low)
        alone = high - low <= 1 and 0 <= place < high
        return f"output[{place:.0f}] is the largest entry" if alone else None

    def _of_rows(self, matrix: Floats) -> Any:
        matrix = np.where(np.isnan(matrix), -np.inf, matrix) if np.isnan(matrix).any() else matrix
        return matrix.argmax(axis=1)


#: Features of all entries together, for outputs with two or more entries.
OF_ALL_ENTRIES: tuple[type[_OfVector], ...] = (Sum, Largest, Smallest, Spread, Norm, ArgMax)


@dataclass(frozen=True)
class _OfSpecial(_OfVector):
    """A number that depends on which entries equal one special value.

    A special value is, for example, a refusal, a flag or a mark.
    """

    value: float


class Count(_OfSpecial):
    """Number of entries that equal a special value."""

    said = "the number of entries equal to {0.value:g}"

    def _of_rows(self, matrix: Floats) -> Any:
        return (matrix == self.value).sum(axis=1)


class Missing(_OfVector):
    """Number of entries that are NaN, masked or not numeric."""

    said = "the number of entries that are NaN or no number"

    def _of_rows(self, matrix: Floats) -> Any:
        return np.isnan(matrix).sum(axis=1)


class First(_OfSpecial):
    """The position of the first entry that equals a special value.

    If no entry equals it, the position is the number of entries.
    """

    said = "the position of the first entry equal to {0.value:g}"

    def _of_rows(self, matrix: Floats) -> Any:
        hits = matrix == self.value
        return np.where(hits.any(axis=1), hits.argmax(axis=1), matrix.shape[1])


class Last(_OfSpecial):
    """The position of the last entry that equals a special value.

    If no entry equals it, the position is −1.
    """

    said = "the position of the last entry equal to {0.value:g}"

    def _of_rows(self, matrix: Floats) -> Any:
        hits = matrix[:, ::-1] == self.value
        return np.where(hits.any(axis=1), matrix.shape[1] - 1 - hits.argmax(axis=1), -1)


#: Features of the entries that equal one special value.
OF_SPECIAL_ENTRIES: tuple[type[_OfSpecial], ...] = (Count, First, Last)


@dataclass(frozen=True)
class Entry(NumberFeature):
    """The number that a mapping holds under a key.

    A list of (key, value) pairs counts as a mapping. If the key is absent, the value is NaN.
    """

    key: Any
    cheap = True
    said = "output[{0.key!r}]"
    present = "a number is released under the key {0.key!r}"
    absent = "no number is released under the key {0.key!r}"

    def column(self, view: View) -> Floats:
        """Return the value of the feature for every output of a block."""
        if view.all_dicts:
            return as_column([output.get(self.key) for output in view.outputs])
        having = ((i, mapping) for i, mapping in view.mappings if self.key in mapping)
        return scored(view, ((i, as_entry(mapping[self.key])) for i, mapping in having))
