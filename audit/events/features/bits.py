"""Features of the digits and bits of a number.

Bit patterns are for `numerics="float"` only. They show which floats a sampler can reach.

A double is m·2^e with m odd. The sum o = f(z) + noise is rounded to its own grid. So the exponents e that can
occur depend on f(z). Of two neighbouring databases, each may have outputs that the other cannot produce
(Mironov, 2012).
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.distributions.law import Floats
from audit.events.features.base import NumberFeature
from audit.events.features.numbers import Coordinate, Value
from audit.events.features.openings import Path
from audit.events.features.parts import Part, part_at
from audit.events.features.views import EXACT, View


@dataclass(frozen=True)
class _OfBits(NumberFeature):
    """A number computed from the digits of another number.

    The other number is the output, one of its entries (`index`) or a part in it (`path`).
    """

    index: int | None = None
    path: Path = ()

    def column(self, view: View) -> Floats:
        return self.read(self.number.column(view))

    @property
    def number(self) -> NumberFeature:
        """The number feature whose digits are read."""
        if self.path:
            return Part(self.path)
        return Value() if self.index is None else Coordinate(self.index)

    @staticmethod
    @abstractmethod
    def read(values: Floats) -> Floats:
        """Return the value of the feature for each number of an array of any shape."""


class LastBits(_OfBits):
    """The last four bits of a whole number of any size.

    The value is from 0 to 15, and NaN for numbers that are not whole.

    Examples
    --------
    >>> LastBits.read(np.array([17.0, -1.0, 0.5])).tolist()
    [1.0, 15.0, nan]
    """

    said = "{0.number.words} modulo 16"

    def column(self, view: View) -> Floats:
        """Return the value of the feature for every output of a block."""
        values = self.number.column(view)
        found = self.read(values)
        for i in np.flatnonzero(np.abs(values) >= EXACT).tolist():
            found[i] = _exact_last_bits(self._exact(view.outputs[i]))
        return found

    def _exact(self, output: Any) -> Any:
        """Return the number itself, which may be too large for a float to hold exactly."""
        if self.path or self.index is None:
            return part_at(output, self.path)
        flat = np.asarray(output).ravel() if issubclass(type(output), np.ndarray) else output
        return flat[self.index]

    @staticmethod
    def read(values: Floats) -> Floats:
        """Return each whole number modulo 16, NaN for other numbers."""
        with np.errstate(invalid="ignore"):
            return np.where(np.floor(values) == values, np.mod(values, 16.0), np.nan)


def _exact_last_bits(number: Any) -> float:
    try:
        whole = int(number)
        return float(whole % 16) if whole == number else float("nan")
    except Exception:  # noqa: BLE001 - infinite, or a number of the user's own class
        return float("nan")


class FinestBit(_OfBits):
    """The exponent of the lowest set bit."""

    said = "the exponent of the lowest set bit of {0.number.words}"

    def _special_interval(self, low: float, high: float) -> str | None:
        if low == -np.inf and np.isfinite(high):
            return f"{self.number.words} has bits below {_power(np.ceil(high))}"
        if np.isfinite(low) and high == np.inf:
            return f"{self.number.words} has no bits below {_power(np.ceil(low))}"
        return None

    @staticmethod
    def read(values: Floats) -> Floats:
        """Return the exponent e of each value m·2^e with m odd.

        The result is +inf for 0, and NaN for values that are not finite.
        """
        mantissa, exponent = np.frexp(values)
        whole = np.abs(np.ldexp(np.where(np.isfinite(mantissa), mantissa, 0.0), 53)).astype(np.int64)
        lowest = whole & -whole
        zeros = np.log2(np.where(lowest > 0, lowest, 1)).astype(np.float64)
        found = np.where(whole > 0, exponent - 53 + zeros, np.inf)
        return np.where(np.isfinite(values), found, np.nan)


def _power(exponent: float) -> str:
    return f"2^{exponent:.0f}".replace("-", "−")


class HighestBit(_OfBits):
    """The exponent of the highest set bit."""

    said = "the exponent of the highest set bit of {0.number.words}"

    @staticmethod
    def read(values: Floats) -> Floats:
        """Return the binary exponent of each value.

        The result is −inf for 0, and NaN for values that are not finite.
        """
        found = np.where(values == 0, -np.inf, np.frexp(values)[1].astype(np.float64))
        return np.where(np.isfinite(values), found, np.nan)


class ZeroSign(_OfBits):
    """The sign of zero.

    Examples
    --------
    >>> ZeroSign.read(np.array([0.0, -0.0, -2.0])).tolist()
    [1.0, -1.0, 0.0]
    """

    said = "the sign of zero in {0.number.words} (0 for other numbers)"

    @staticmethod
    def read(values: Floats) -> Floats:
        """Return the sign of each zero.

        The result is 1 for 0.0, −1 for −0.0, NaN for NaN, and 0 for all other numbers.
        """
        return np.where(np.isnan(values), np.nan, np.where(values == 0, np.copysign(1.0, values), 0.0))


class PatternEnd(_OfBits):
    """The last four bits of the float.

    Examples
    --------
    >>> PatternEnd.read(np.array([1.0, np.nextafter(1.0, 2.0)])).tolist()
    [0.0, 1.0]
    """

    said = "the number in the last four bits of {0.number.words}"

    @staticmethod
    def read(values: Floats) -> Floats:
        """Return the last four bits of each float as a number from 0 to 15.

        The result is NaN for infinities and NaN.
        """
        ends = np.ascontiguousarray(values).view(np.int64) & 15
        return np.where(np.isfinite(values), ends, np.nan)


#: The features that read the bit pattern of a float.
PATTERNS: tuple[type[_OfBits], ...] = (FinestBit, HighestBit, ZeroSign, PatternEnd)


def reads_bits_of_floats(event: Any) -> bool:
    """Return whether an event reads bit patterns of floats.

    Examples
    --------
    >>> reads_bits_of_floats(None)
    False
    """
    features = (getattr(condition, "feature", None) for condition in getattr(event, "conditions", ()))
    return any(isinstance(each, _OfBits) and not isinstance(each, LastBits) for each in features)
