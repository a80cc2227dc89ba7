"""Features of the digits of a number: the last bits of whole ones, and the bit patterns of floats.

Bit patterns are for `numerics="float"` only: they tell which floats a sampler can reach.

A double is m·2^e with m odd. The sum o = f(z) + noise is rounded to its own grid, so the set of exponents
e that can occur depends on f(z); two neighbouring databases then differ by outputs that only one of them can
produce (Mironov, 2012).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit.events.features.base import NumberFeature, empty_column
from audit.events.features.openings import Path, words_of
from audit.events.features.parts import numbers_at, part_at
from audit.events.features.views import EXACT, View


def finest_bit(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give e with value = m·2^e, m odd; +inf for 0, NaN for what is not finite."""
    mantissa, exponent = np.frexp(values)
    whole = np.abs(np.ldexp(np.where(np.isfinite(mantissa), mantissa, 0.0), 53)).astype(np.int64)
    lowest = whole & -whole
    zeros = np.log2(np.where(lowest > 0, lowest, 1)).astype(np.float64)
    found = np.where(whole > 0, exponent - 53 + zeros, np.inf)
    return np.where(np.isfinite(values), found, np.nan)


def highest_bit(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the binary exponent of each value; −inf for 0, NaN for what is not finite."""
    _, exponent = np.frexp(values)
    found = np.where(values == 0, -np.inf, exponent.astype(np.float64))
    return np.where(np.isfinite(values), found, np.nan)


def zero_sign(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give 1 for 0.0, −1 for −0.0, 0 for all other numbers; NaN for NaN.

    Examples
    --------
    >>> zero_sign(np.array([0.0, -0.0, -2.0])).tolist()
    [1.0, -1.0, 0.0]
    """
    return np.where(np.isnan(values), np.nan, np.where(values == 0, np.copysign(1.0, values), 0.0))


def pattern_end(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the last four bits of each float as a number from 0 to 15; NaN for what is not finite.

    Examples
    --------
    >>> pattern_end(np.array([1.0, np.nextafter(1.0, 2.0)])).tolist()
    [0.0, 1.0]
    """
    ends = np.ascontiguousarray(values).view(np.int64) & 15
    return np.where(np.isfinite(values), ends, np.nan)


@dataclass(frozen=True)
class _OfBits(NumberFeature):
    """A number read off the output, off one of its entries (`index`), or off what lies inside (`path`)."""

    index: int | None = None
    path: Path = ()

    def _values(self, view: View) -> NDArray[np.float64]:
        if self.path:
            return numbers_at(view, self.path)
        column = empty_column(view)
        if self.index is None:
            where, numbers = view.numbers
            column[where] = numbers
            return column
        for size, (where, matrix) in view.vectors.items():
            if self.index < size:
                column[where] = matrix[:, self.index]
        return column

    @property
    def _of_what(self) -> str:
        if self.path:
            return words_of(self.path)
        return "the output" if self.index is None else f"output[{self.index}]"


@dataclass(frozen=True)
class LastBits(_OfBits):
    """The last four bits of a whole number however large, from 0 to 15; NaN for other numbers."""

    @property
    def words(self) -> str:
        """The subject of a sentence."""
        return f"{self._of_what} modulo 16"

    def column(self, view: View) -> NDArray[np.float64]:
        """Give the feature of every output of a block."""
        values = self._values(view)
        found = last_bits(values)
        for i in np.flatnonzero(np.abs(values) >= EXACT).tolist():
            found[i] = _exact_last_bits(self._exact(view, i))
        return found

    def _exact(self, view: View, i: int) -> object:
        """Give the number itself, which no float may hold."""
        if self.path:
            return part_at(view.outputs[i], self.path)
        output = view.outputs[i]
        if self.index is None:
            return output
        flat = np.asarray(output).ravel() if issubclass(type(output), np.ndarray) else output
        return flat[self.index]


def last_bits(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give each whole number modulo 16, NaN for other numbers.

    Examples
    --------
    >>> last_bits(np.array([17.0, -1.0, 0.5])).tolist()
    [1.0, 15.0, nan]
    """
    with np.errstate(invalid="ignore"):
        return np.where(np.floor(values) == values, np.mod(values, 16.0), np.nan)


def _exact_last_bits(number: Any) -> float:
    try:
        whole = int(number)
        return float(whole % 16) if whole == number else float("nan")
    except Exception:  # noqa: BLE001 - infinite, or a number of the user's own class
        return float("nan")


@dataclass(frozen=True)
class FinestBit(_OfBits):
    """The exponent of the lowest set bit."""

    @property
    def words(self) -> str:
        """The subject of a sentence."""
        return f"the exponent of the lowest set bit of {self._of_what}"

    def column(self, view: View) -> NDArray[np.float64]:
        """Give the feature of every output of a block."""
        return finest_bit(self._values(view))


@dataclass(frozen=True)
class HighestBit(_OfBits):
    """The exponent of the highest set bit."""

    @property
    def words(self) -> str:
        """The subject of a sentence."""
        return f"the exponent of the highest set bit of {self._of_what}"

    def column(self, view: View) -> NDArray[np.float64]:
        """Give the feature of every output of a block."""
        return highest_bit(self._values(view))


@dataclass(frozen=True)
class ZeroSign(_OfBits):
    """The sign of zero."""

    @property
    def words(self) -> str:
        """The subject of a sentence."""
        return f"the sign of zero in {self._of_what} (0 for other numbers)"

    def column(self, view: View) -> NDArray[np.float64]:
        """Give the feature of every output of a block."""
        return zero_sign(self._values(view))


@dataclass(frozen=True)
class PatternEnd(_OfBits):
    """The last four bits of the float."""

    @property
    def words(self) -> str:
        """The subject of a sentence."""
        return f"the number in the last four bits of {self._of_what}"

    def column(self, view: View) -> NDArray[np.float64]:
        """Give the feature of every output of a block."""
        return pattern_end(self._values(view))


#: The bit patterns of a float, and how each is read off many.
PATTERNS = (
    (FinestBit, finest_bit),
    (HighestBit, highest_bit),
    (ZeroSign, zero_sign),
    (PatternEnd, pattern_end),
)
