"""Records at the edges of a type.

There clipping, validation and conversion go wrong. The module is public. Each function returns a list,
simplest values first. Pass it as `records=`; join lists by ``+``. An audit tries the strange records first,
one at a time.
"""

import datetime as dt
import math
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from audit.errors import InvalidKind, InvalidValue, finite_number
from audit.values.brief import show

__all__ = ["categories", "dates", "floats", "integers", "missing", "text"]

#: Integers at and beyond the limits of 32 bits, of exact floats and of 64 bits. The last is too large for a
#: float.
_MACHINE = (2**31 - 1, 2**31, -(2**31) - 1, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1, 10**400)
_LARGEST, _SMALLEST = sys.float_info.max, 5e-324
_DAY = dt.timedelta(days=1)


def floats(low: float = 0.0, high: float = 1.0) -> list[float]:
    """Return at most 18 floats on which to test code that clips to [low, high].

    These are the bounds, their middle, and the floats next to the bounds, inside and outside. Then come
    values far outside; both zeros (an audit counts them as one record); subnormal, huge and infinite numbers;
    NaN.

    Parameters
    ----------
    low, high
        The bounds, finite, low < high.

    Raises
    ------
    InvalidKind, InvalidValue
        A bound is not a finite number, or low is not below high.

    Examples
    --------
    >>> floats(0, 1)[:5]
    [0.0, 1.0, 0.5, -0.0, 5e-324]
    """
    low, high = finite_number(low, what="The `low`"), finite_number(high, what="The `high`")
    _refuse_order(low, high)
    far = max(1.0, high - low)
    return _distinct(
        [
            *(low, high, low / 2 + high / 2, *([] if low == 0.0 else [0.0]), -0.0),
            *(_SMALLEST, -_SMALLEST, math.nextafter(low, high), math.nextafter(high, low)),
            *(math.nextafter(low, -math.inf), math.nextafter(high, math.inf), low - far, high + far),
            *(_LARGEST, -_LARGEST, math.inf, -math.inf, math.nan),
        ]
    )


def integers(low: int = 0, high: int = 1) -> list[int]:
    """Return whole numbers on which to test code that clips to [low, high].

    These are the bounds, their middle and the numbers just outside; 0 and −1. Then come numbers at and beyond
    the limits of 32 and 64 bits and of exact floats. The last is 10^400, which is too large for a float.

    Parameters
    ----------
    low, high
        The bounds, low < high.

    Raises
    ------
    InvalidKind, InvalidValue
        A bound is not a whole number, or low is not below high.

    Examples
    --------
    >>> integers(1, 5)[:7]
    [1, 5, 3, 0, 6, -1, 2147483647]
    """
    for name, bound in (("low", low), ("high", high)):
        if isinstance(bound, bool) or not isinstance(bound, int):
            raise InvalidKind(f"The `{name}` must be a whole number; got {show(bound)}.")
    _refuse_order(low, high)
    return _distinct([low, high, (low + high) // 2, low - 1, high + 1, 0, -1, *_MACHINE])


def text() -> list[str]:
    """Return texts that break parsing, comparison and grouping.

    These are a letter; its capital; the empty text and blanks; texts that look like numbers or missing
    values; a quote and separators. Then come a letter in two encodings; a letter whose capital has two
    letters; a character beyond 16 bits, a character of width zero, and a NUL; a long text.

    Examples
    --------
    >>> text()[:5]
    ['a', 'A', '', ' ', 'a ']
    """
    odd = ["0", "1e309", "nan", "NULL", "None", "'", "a,b", "a\nb", "\0"]
    return ["a", "A", "", " ", "a ", *odd, "é", "e\u0301", "ß", "\U0001f9ea", "\u200b", "a" * 10_000]


def categories(known: Iterable[Any]) -> list[Any]:
    """Return the known categories, then values that are not among them.

    These are similar, unseen and missing values.

    Parameters
    ----------
    known
        The categories: at least one text, number or other value.

    Raises
    ------
    InvalidKind, InvalidValue
        `known` is not a list of values, or is empty.

    Examples
    --------
    >>> categories(["red", "blue"])
    ['red', 'blue', 'RED', 'red ', 'another category', '', None, nan]
    """
    if isinstance(known, (str, bytes)) or not hasattr(known, "__iter__"):
        raise InvalidKind(f"The `known` must be a list of categories; got {show(known)}.")
    values = list(known)
    if not values:
        raise InvalidValue("The `known` categories are empty; give at least one.")
    near = [f"{values[0]}"]  # the text of a known number, as a similar value
    if isinstance(values[0], str):
        near = [values[0].swapcase(), f"{values[0]} "]
    return _distinct([*values, *near, "another category", "", None, math.nan])


def dates(low: dt.date, high: dt.date) -> list[dt.date]:
    """Return dates on which to test code that expects dates from low to high.

    These are the bounds, their middle and the days just outside; the epoch; a leap day. Then come Python's
    first and last date, which nanoseconds in 64 bits cannot represent. If the bounds have times, all dates
    have times.

    Parameters
    ----------
    low, high
        Two `datetime.date`, or two `datetime.datetime` in the same time zone or both without one; low < high.

    Raises
    ------
    InvalidKind, InvalidValue
        A bound is not a date. The bounds differ in kind. Or low is not below high.

    Examples
    --------
    >>> import datetime
    >>> [str(day) for day in dates(datetime.date(2024, 1, 1), datetime.date(2024, 12, 31))][:5]
    ['2024-01-01', '2024-12-31', '2024-07-01', '2023-12-31', '2025-01-01']
    """
    for name, bound in (("low", low), ("high", high)):
        if not isinstance(bound, dt.date):
            raise InvalidKind(f"The `{name}` must be a date; got {show(bound)}.")
    moments = isinstance(low, dt.datetime)
    zones = [getattr(bound, "tzinfo", None) is None for bound in (low, high)]
    if moments != isinstance(high, dt.datetime) or zones[0] != zones[1]:
        raise InvalidKind(
            "The `low` and the `high` must both be dates, or moments with a time zone or without."
        )
    _refuse_order(low, high)
    fixed = [dt.date(1970, 1, 1), dt.date(2000, 2, 29), dt.date.min, dt.date.max]
    if isinstance(low, dt.datetime):
        fixed = [dt.datetime.combine(day, dt.time(), tzinfo=low.tzinfo) for day in fixed]
    outside = []
    for bound, step in ((low, -_DAY), (high, _DAY)):
        with suppress(OverflowError):  # Python has no day beyond its first and last
            outside.append(bound + step)
    return _distinct([low, high, low + (high - low) / 2, *outside, *fixed])


def missing() -> list[Any]:
    """Return values that stand for a missing value.

    Examples
    --------
    >>> floats(0, 1)[:2] + missing()
    [0.0, 1.0, None, nan, '', []]
    """
    return [None, math.nan, "", []]


def _refuse_order(low: Any, high: Any) -> None:
    if not low < high:
        raise InvalidValue(f"The `low` must be below the `high`; got {show(low)} and {show(high)}.")


def _distinct(values: list[Any]) -> list[Any]:
    """Return the values without repeats. Both zeros stay, and so do 1, True and 1.0."""
    return list({(type(value), repr(value)): value for value in values}.values())
