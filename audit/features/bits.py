"""Bit-pattern features, for `numerics="float"` only: they tell which floats a sampler can reach.

A double is m·2^e with m odd. The sum o = f(z) + noise is rounded to its own grid, so the set of exponents
e that can occur depends on f(z); two neighbouring databases then differ by outputs that only one of them can
produce (Mironov, 2012).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from audit.features.base import NumberFeature, empty_column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from audit.features.views import View


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


@dataclass(frozen=True)
class _OfBits(NumberFeature):
    """A number read off the bits of the output (index None) or of one of its entries."""

    index: int | None = None

    def _values(self, view: View) -> NDArray[np.float64]:
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
        return "the output" if self.index is None else f"output[{self.index}]"


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
