"""Texts of numbers and values for people."""

import math
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context
from typing import Any

from audit.values.brief import show

_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

LEAST_COLUMNS = 40


def visible(text: str) -> str:
    r"""Return a text with invisible characters written as escapes.

    Control and bidirectional characters are among them.

    Examples
    --------
    >>> visible("a\x1b[31m\u202eb")
    'a\\x1b[31m\\u202eb'
    """
    return "".join(c if unicodedata.category(c) not in _INVISIBLE else ascii(c)[1:-1] for c in text)


def short(value: str, limit: int) -> str:
    """Return a text as one visible line of at most `limit` characters.

    Examples
    --------
    >>> short("a" * 20, 10)
    'aaaaaaaaa…'
    """
    line = visible(" ".join(value.split()))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def short_prose(text: str, limit: int) -> str:
    """Return one visible line, cut after a whole word or number.

    The line has about `limit` characters. A cut inside a number could turn 0.25 into "0…", which reads as
    zero.

    Examples
    --------
    >>> short_prose("below 0.25", 9), short_prose("below 0.25", 10)
    ('below …', 'below 0.25')
    """
    cut = short(text, limit)
    return f"{cut[:-1].rsplit(' ', 1)[0]} …" if cut.endswith("…") and " " in cut else cut


def sentence(text: str) -> str:
    """Return a text with a full stop added if it has no end mark.

    The end marks are ".", "!", "?" and "…".

    Examples
    --------
    >>> sentence("too few runs"), sentence("It raises.")
    ('too few runs.', 'It raises.')
    """
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def shown(value: Any, limit: int = 60, digits: int | None = None) -> str:
    """Return a database or an output as one short visible line.

    If the line was cut, the length of the value follows. Floats have `digits` significant digits, or all
    digits if `digits` is None.

    Examples
    --------
    >>> shown([0, 1]), shown([0] * 99, 12)
    ('[0, 1]', '[0, 0, 0, 0… (length 99)')
    """
    line = short(show(value, limit, digits), limit + 20)
    return f"{line} (length {len(value):,})" if line.endswith("…") and _has_length(value) else line


def _has_length(value: Any) -> bool:
    """Return whether a value is a container or an array with axes."""
    is_array = type(value).__module__.partition(".")[0] == "numpy" and getattr(value, "ndim", 0) > 0
    return is_array or isinstance(value, list | tuple | dict | set | frozenset)


def columns(most: int) -> int:
    """Return the number of columns for text, at most `most`.

    It is the width of the terminal. If stdout is not a terminal, return `most`.

    Examples
    --------
    >>> columns(100)
    100
    """
    if sys.stdout is None or not sys.stdout.isatty():
        return most
    return max(LEAST_COLUMNS, min(most, shutil.get_terminal_size().columns))


def hanging(start: str, text: str, *, width: int, most: int | None = None) -> list[str]:
    """Return the lines of a paragraph, all but the first indented.

    `start` begins the first line. There are at most `most` lines.

    Examples
    --------
    >>> hanging("Runs  ", "two words", width=12)
    ['Runs  two', '      words']
    """
    return textwrap.wrap(
        text,
        width,
        initial_indent=start,
        subsequent_indent=" " * len(start),
        max_lines=most,
        placeholder=" …",
        break_on_hyphens=False,
    )


def number(value: float | None, *, digits: int = 3, rounding: str = ROUND_HALF_EVEN) -> str:
    """Return a number as a text with this many significant digits.

    Whole numbers below 1e15 keep all digits.

    Examples
    --------
    >>> number(0.123456), number(1234567), number(float("inf")), number(0.89, rounding="ROUND_FLOOR")
    ('0.123', '1,234,567', '∞', '0.89')
    """
    if value is None or math.isnan(value):
        return "unknown"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    rounded = _rounded(value, digits, rounding)
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}".replace("-", "−")
    return f"{rounded:.{digits}g}".replace("-", "−") if abs(rounded) >= 1e-4 else f"{rounded:.{digits}g}"


def _rounded(value: float, digits: int, rounding: str) -> float:
    if not math.isfinite(value) or (float(value).is_integer() and abs(value) < 1e15):
        return value
    context = Context(prec=digits, rounding=rounding, traps=[])  # independent of the session's context
    return float(context.create_decimal(repr(float(value))))


def at_least(value: float) -> str:
    """Return a lower bound as a text, rounded down.

    Examples
    --------
    >>> at_least(0.123999)
    '0.123'
    """
    return number(value, rounding=ROUND_FLOOR)


def at_most(value: float) -> str:
    """Return an upper bound as a text, rounded up.

    Examples
    --------
    >>> at_most(0.123001)
    '0.124'
    """
    return number(value, rounding=ROUND_CEILING)


def apart(found: float, other: float, *, rounding: str = ROUND_HALF_EVEN) -> tuple[str, str]:
    """Return two numbers as texts that show which number is larger.

    The texts have three digits, or more if needed. `rounding` applies to the first number, for example to
    round a lower bound down.

    Examples
    --------
    >>> apart(0.5000001, 0.5), apart(1.0991, 1.0986, rounding="ROUND_FLOOR")
    (('0.5000001', '0.5'), ('1.0991', '1.0986'))
    """
    if found == other:
        return number(other), number(other)
    for digits in range(3, 13):  # further digits would be rounding errors
        near, far = _rounded(found, digits, rounding), _rounded(other, digits, ROUND_HALF_EVEN)
        if near != far and (near > far) == (found > other):
            return number(found, digits=digits, rounding=rounding), number(other, digits=digits)
    return number(found, rounding=rounding), number(other)


def ends(low: float, high: float, digits: int = 6) -> tuple[str, str]:
    """Return the ends of an interval as texts of at least `digits` digits.

    Rounding moves each end by at most a hundredth of the width. If one end is infinite, it moves each end by
    at most 0.01.

    Examples
    --------
    >>> ends(0.123456789, 0.123456799), ends(100000003.7, math.inf), ends(1 / 3, 1.0)
    (('0.123456789', '0.123456799'), ('100000003.7', 'inf'), ('0.333333', '1'))
    """
    width = high / 2.0 - low / 2.0  # halve first, because the width may overflow
    allowed = width / 50.0 if math.isfinite(width) else 0.01
    return _told(low, allowed, digits), _told(high, allowed, digits)


def inside(low: float, high: float) -> str:
    """Return the text of a number inside the interval low ≤ x < high.

    Examples
    --------
    >>> inside(0.3 - 3e-12, 0.3 + 3e-12), inside(123456789011.75, 123456789012.25)
    ('0.3', '123456789012')
    """
    middle = low / 2.0 + high / 2.0
    texts = (f"{middle:.{digits}g}" for digits in range(10, 17))
    return next((text for text in texts if low <= float(text) < high), repr(middle))


def _told(value: float, allowed: float, digits: int) -> str:
    """Return the text of a number that is rounded by at most `allowed`."""
    texts = (f"{value:.{more}g}" for more in range(digits, 17))
    near = (text for text in texts if not abs(float(text) - value) > allowed)
    return next(near, repr(float(value)))


def interval(bounds: Sequence[float] | None) -> str:
    """Return an interval as a text, rounded outwards. If the value is exact, return an empty text."""
    if bounds is None:
        return ""
    low, high = bounds
    return f" ({at_least(low)}–{at_most(high)})"


def confidence(error: float) -> str:
    """Return the confidence for an error probability as a text."""
    return f"1 − {error:.3g}"
