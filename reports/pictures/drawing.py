"""A picture as SVG, with the numbers as a table.

Matplotlib does not fit: its SVG has style attributes, which the page's Content-Security-Policy forbids.
For the 1,000 pictures of a suite it takes a minute, this module 0.2 s.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from markupsafe import Markup, escape

from audit.values import wording

__all__ = ["FRAME", "WIDTH", "Drawing", "Picture", "Scale", "round_up"]

#: The width of a picture in its own units; letters are 13 high.
WIDTH = 420.0
#: The left and right ends of the area for shapes in a picture with a vertical axis.
FRAME = 52.0, 400.0


@dataclass(frozen=True)
class Picture:
    """Numbers shown on a page as a drawing, in words and as a table.

    Attributes
    ----------
    title : str
        What the drawing shows.
    text : str
        The alternative text: what can be seen on the drawing.
    caption : str
        The text under the drawing.
    drawn : Markup
        The elements inside ``<svg>``.
    height : float
        The height of the drawing, in the units of `WIDTH`.
    columns, rows : tuple
        The numbers, with every cell a text. There are no rows if the page shows the numbers elsewhere.
    term : str
        The key, in `reports.glossary`, of the term that explains the picture.
    """

    title: str
    text: str
    caption: str
    drawn: Markup
    height: float
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    width: float = WIDTH
    term: str = ""


@dataclass(frozen=True)
class Scale:
    """An axis between two ends of a picture.

    A value beyond an end is drawn at that end.

    Examples
    --------
    >>> Scale(0.0, 2.0, 10.0, 410.0).at(1.0), Scale(0.1, 10.0, 0.0, 100.0, log=True).at(1.0)
    (210.0, 50.0)
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """Return the coordinate of a value."""
        low, high, value = (
            map(_log, (self.low, self.high, value)) if self.log else (self.low, self.high, value)
        )
        share = (value - low) / (high - low)
        return round(self.start + (self.end - self.start) * min(max(share, 0.0), 1.0), 1)

    def ticks(self) -> list[float]:
        """Return round values on the axis.

        They are multiples of 1, 2 or 5, or powers of ten on a logarithmic axis.
        """
        if self.log:
            return _powers(self.low, self.high)
        step = _step((self.high - self.low) / 5.0)
        first = math.ceil(self.low / step - 1e-9)
        count = math.floor(self.high / step + 1e-9) - first + 1
        return [(first + i) * step for i in range(count)]


def _log(value: float) -> float:
    return math.log10(value) if value > 0 else -math.inf


def _step(least: float) -> float:
    """Return the smallest number ≥ `least` that is 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(least))
    return next((times * power for times in (1, 2, 5) if times * power >= least * (1 - 1e-9)), 10.0 * power)


def _powers(low: float, high: float) -> list[float]:
    whole = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    wide = math.log10(high / low)
    every, steps = max(1, math.ceil(wide / 7)), (1,) if wide > 2.0 else (1, 2, 5)
    values = (step * 10.0**power for power in whole if power % every == 0 for step in steps)
    return [value for value in values if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]


@dataclass
class Drawing:
    """The elements of a picture, in the order they were added.

    Each has a class of the page's style sheet.
    """

    parts: list[Markup] = field(default_factory=list)

    def path(self, kind: str, d: str) -> None:
        """Add a path."""
        self.parts.append(Markup('<path class="{}" d="{}"/>').format(kind, d))

    def line(self, kind: str, points: Iterable[tuple[float, float]]) -> None:
        """Add a line through points."""
        self.path(kind, "M" + "L".join(f"{x:g} {y:g}" for x, y in points))

    def bar(self, kind: str, ends: tuple[float, float], y: float, *, height: float = 14.0) -> None:
        """Add a horizontal bar between two x coordinates, at least one unit wide."""
        x, width = min(ends), max(abs(ends[1] - ends[0]), 1.0)
        told = f"{x:g}", f"{y:g}", f"{width:g}", f"{height:g}"
        self.parts.append(
            Markup('<rect class="bar {}" x="{}" y="{}" width="{}" height="{}"/>').format(kind, *told)
        )

    def whisker(self, low: float, high: float, y: float) -> None:
        """Add an interval: a line between two places, with its ends marked."""
        self.path("whisker", f"M{low:g} {y:g}H{high:g}M{low:g} {y - 5:g}v10M{high:g} {y - 5:g}v10")

    def words(self, text: str, x: float, y: float, kind: str = "label", anchor: str = "start") -> None:
        """Add a text, with invisible characters as escapes."""
        told = Markup(_RAISED.sub(_raised, str(escape(wording.visible(text)))))  # noqa: S704 - escaped
        added = "" if anchor == "start" else Markup(' text-anchor="{}"').format(anchor)
        self.parts.append(
            Markup('<text class="{}" x="{}" y="{}"{}>{}</text>').format(kind, f"{x:g}", f"{y:g}", added, told)
        )

    def across(self, scale: Scale, top: float, bottom: float, name: str) -> None:
        """Add a horizontal axis with grid, numbers and name."""
        for tick in scale.ticks():
            x = scale.at(tick)
            self.path("grid", f"M{x:g} {top:g}V{bottom:g}")
            room = "start" if x < 20 else "end" if x > WIDTH - 20 else "middle"
            self.words(_tick(tick), x, bottom + 16, "tick", room)
        self.words(name, scale.end, bottom + 33, "tick", "end")

    def up(self, scale: Scale, left: float, right: float, name: str) -> None:
        """Add a vertical axis with grid, numbers and name."""
        for tick in scale.ticks():
            y = scale.at(tick)
            self.path("grid", f"M{left:g} {y:g}H{right:g}")
            self.words(_tick(tick), left - 6, y + 4, "tick", "end")
        self.words(name, 2, scale.end - 14, "tick")

    def legend(self, keys: Iterable[tuple[str, str]], top: float) -> None:
        """Add a legend, one line for each class of shapes."""
        for i, (kind, words) in enumerate(keys):
            y, left = top + 20 * i, FRAME[0]
            shapes = {"point": f"M{left + 11:g} {y:g}h0", "shape": f"M{left:g} {y - 6:g}h22v12h-22z"}
            self.path(kind, shapes.get(kind.partition(" ")[0], f"M{left:g} {y:g}h22"))
            self.words(words, left + 30, y + 4)

    def done(self) -> Markup:
        """Return the elements."""
        return Markup("\n").join(self.parts)


def round_up(value: float) -> float:
    """Return the least round number ≥ `value`, or 1 for 0.

    A round number is 1, 1.5, 2, 3, 5 or 7 times a power of ten. Values above 1e300 count as 1e300,
    because twice the result must stay finite.
    """
    if value < 1e-300:
        return 1.0
    value = min(value, 1e300)
    power = 10.0 ** math.floor(math.log10(value))
    return next((t * power for t in (1, 1.5, 2, 3, 5, 7) if t * power >= value * (1 - 1e-12)), 10 * power)


#: The exponents of a claim's formula: in e^ε, e^(20ε).
_RAISED = re.compile(r"(?<=\be)\^(?:\((\d+ε)\)|(ε))((?:&[^;]+;|.)?)")
_DIGITS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _raised(found: re.Match[str]) -> str:
    """Return the markup of a raised exponent and of the character after it."""
    return f'<tspan class="raised" dy="-5">{found[1] or found[2]}</tspan><tspan dy="5">{found[3]}</tspan>'


def _tick(value: float) -> str:
    """Return the text of a tick. Large and small numbers are written as powers of ten.

    Examples
    --------
    >>> _tick(500_000.0), _tick(1e6), _tick(2e10), _tick(1e-4), _tick(0.30000000000000004)
    ('500,000', '10⁶', '2·10¹⁰', '10⁻⁴', '0.3')
    """
    if value == 0 or 9e-4 <= abs(value) < 1e6:
        return wording.number(float(f"{value:.12g}"))
    power = math.floor(math.log10(abs(value)) + 1e-9)
    times = f"{value / 10.0**power:.3g}".replace("-", "−")
    return ("" if times == "1" else f"{times}·") + "10" + f"{power}".translate(_DIGITS)
