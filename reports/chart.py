"""The picture of a study: least m on logarithmic axes, as geometry that a template draws without a script."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from audit.values import wording

if TYPE_CHECKING:
    from collections.abc import Sequence

    from audit.studies.cells import Cell
    from audit.studies.results import CurveResult, StudyResult

__all__ = ["Chart", "Mark", "Series", "Tick", "chart"]

LEFT, RIGHT, TOP, BOTTOM = 72.0, 476.0, 26.0, 302.0  # of the frame, in the picture's own units
_LEGEND, _LINE = BOTTOM + 50, 20.0  # where the legend begins, and how far apart its lines are
KINDS = ("refuted", "not-refuted", "proved", "inconclusive")  # the page's colours
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
SHAPES = (
    "M-4 -4h8v8h-8z",
    "M0 -5L5 4H-5z",
    "M0 -5.5L5.5 0L0 5.5L-5.5 0z",
    "M-5 -1.5h3.5v-3.5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5z",
)


@dataclass(frozen=True)
class Tick:
    """A mark on an axis."""

    at: float
    label: str


@dataclass(frozen=True)
class Mark:
    """A bracket: where its middle lies, and the ends of its whisker."""

    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True)
class Series:
    """One learner: its brackets, the line through them, and the bound's line; empty paths draw nothing."""

    name: str
    kind: str
    shape: str
    marks: tuple[Mark, ...]
    line: str
    bound: str
    legend: float


@dataclass(frozen=True)
class Chart:
    """All that is drawn; `text` says it in words."""

    series: tuple[Series, ...]
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    axis: str
    text: str
    height: float
    key: float | None  # where the legend says what dashed lines are; None where there are none
    left: float = LEFT
    right: float = RIGHT
    top: float = TOP
    bottom: float = BOTTOM


def chart(result: StudyResult) -> Chart | None:
    """Return the picture, None where nothing was met or refuted, or a place on the axis is not positive."""
    cells = [cell for curve in result.curves for cell in curve.cells]
    sizes = [float(size) for cell in cells for size in (cell.refuted, cell.met, cell.bound) if size]
    places = [cell.place for cell in cells]
    if not sizes or min(places) <= 0:
        return None
    across, up = _Axis.over(places, LEFT, RIGHT), _Axis.over(sizes, BOTTOM, TOP)
    series = tuple(_series(curve, i, across, up) for i, curve in enumerate(result.curves))
    words = "; ".join(_in_words(curve) for curve in result.curves)
    end = _LEGEND + _LINE * len(series)
    dashed = any(each.bound for each in series)
    return Chart(
        series,
        tuple(Tick(across.at(place), wording.number(place)) for place in _apart(places, across)),
        up.powers(),
        result.axis,
        words,
        end + (_LINE if dashed else 0) - 4,
        end if dashed else None,
    )


@dataclass(frozen=True)
class _Axis:
    """A logarithmic axis between two ends of the picture."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def over(cls, values: Sequence[float], start: float, end: float) -> _Axis:
        low, high = math.log10(min(values)), math.log10(max(values))
        pad = max(0.05 * (high - low), 0.05)
        return cls(low - pad, high + pad, start, end)

    def at(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return round(self.start + (self.end - self.start) * share, 2)

    def powers(self) -> tuple[Tick, ...]:
        """Return marks at powers of ten; within fewer than two of them at 1, 2 and 5 times those."""
        whole = range(math.floor(self.low), math.ceil(self.high) + 1)
        wide = self.high - self.low
        every = max(1, math.ceil(wide / 7))
        steps = (1,) if wide > 2.5 else (1, 2, 5)
        values = [step * 10.0**power for power in whole if power % every == 0 for step in steps]
        return tuple(
            Tick(self.at(value), _power(value))
            for value in values
            if self.low <= math.log10(value) <= self.high
        )


def _power(value: float) -> str:
    """Return the label of 1, 2 or 5 times a power of ten; what would be long is written as such.

    Examples
    --------
    >>> _power(500_000.0), _power(1e6), _power(2e10), _power(1e-7)
    ('500,000', '10⁶', '2·10¹⁰', '10⁻⁷')
    """
    if 1e-4 <= value < 1e6:
        return wording.number(value)
    power = math.floor(math.log10(value) + 1e-9)
    times = round(value / 10.0**power)
    return ("" if times == 1 else f"{times}·") + "10" + f"{power}".translate(_RAISED)


def _apart(places: Sequence[float], axis: _Axis) -> list[float]:
    """Return the places whose labels have room beside each other."""
    kept: list[float] = []
    for place in sorted({*places}):
        if not kept or axis.at(place) - axis.at(kept[-1]) >= 34:
            kept.append(place)
    return kept


def _series(curve: CurveResult, index: int, across: _Axis, up: _Axis) -> Series:
    marks = tuple(_mark(cell, across, up) for cell in curve.cells if cell.middle is not None)
    bound = [(across.at(cell.place), up.at(cell.bound)) for cell in curve.cells if cell.bound]
    return Series(
        curve.name,
        KINDS[index % len(KINDS)],
        SHAPES[index % len(SHAPES)],
        marks,
        _path([(mark.x, mark.y) for mark in marks]),
        _path(bound),
        _LEGEND + _LINE * index,
    )


def _mark(cell: Cell, across: _Axis, up: _Axis) -> Mark:
    met, middle = float(cell.met or 1), cell.middle or 1.0
    low = up.at(cell.refuted) if cell.refuted else max(up.start, up.end)
    return Mark(across.at(cell.place), up.at(middle), low, up.at(met))


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "" if len(points) < 2 else "M" + "L".join(f"{x} {y}" for x, y in points)


def _in_words(curve: CurveResult) -> str:
    met = [cell for cell in curve.cells if cell.met is not None]
    if not met:
        return f"{curve.name}: never met"
    ends = [f"{wording.number(cell.place)}: m ≤ {cell.met:,}" for cell in (met[0], met[-1])]
    return f"{curve.name}: at {' and at '.join(ends)}"
