"""The picture of a study: least m on logarithmic axes.

A point is hollow if closed forms alone gave its bracket, and filled if runs took part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from audit.values import wording

from .drawing import Drawing, Picture, Scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from audit.studies.cells import Cell
    from audit.studies.results import CurveResult, StudyResult

__all__ = ["chart", "is_closed"]

LEFT, RIGHT, TOP, BOTTOM = 78.0, 410.0, 30.0, 290.0
_LEGEND, _LINE = BOTTOM + 54, 20.0  # the top of the legend, and the distance of its lines
_APART = 6.0  # between curves at one place, so that no bracket hides another
KINDS = ("refuted", "not-refuted", "proved", "inconclusive")  # the page's colours
SHAPES = (
    "m-4 -4h8v8h-8z",
    "m0 -5l5 9h-10z",
    "m0 -5.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z",
    "m-5 -1.5h3.5v-3.5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5z",
)


def chart(result: StudyResult) -> Picture | None:
    """Return the picture of a study, or None if it cannot be drawn.

    It cannot be drawn without a number of records (refuted, met or a bound), or if a value on a logarithmic
    axis is not positive.
    """
    cells = [cell for curve in result.curves for cell in curve.cells]
    sizes = [float(size) for cell in cells for size in (cell.refuted, cell.met, cell.bound) if size]
    places = [cell.place for cell in cells]
    if not sizes or min(places) <= 0:
        return None
    across, up, drawing = _scale(places, LEFT + 12, RIGHT - 12), _scale(sizes, BOTTOM, TOP), Drawing()
    drawing.up(up, LEFT, RIGHT, "least m, records")
    for place in _apart(places, across):
        x = across.at(place)
        drawing.path("grid", f"M{x:g} {TOP:g}V{BOTTOM:g}")
        drawing.words(wording.number(place), x, BOTTOM + 16, "tick", "middle")
    drawing.words(result.axis, RIGHT, BOTTOM + 34, "tick", "end")
    for i, curve in enumerate(result.curves):
        aside = _APART * (i - (len(result.curves) - 1) / 2)
        _curve(drawing, curve, i, [across.at(cell.place) + aside for cell in curve.cells], up)
    bounded = any(cell.bound for cell in cells)
    keys = ["bound, in the colour of its curve"] if bounded else []
    keys += ["hollow: from a closed form"] if any(map(is_closed, cells)) else []
    for i, words in enumerate(keys):
        y = _LEGEND + _LINE * (len(result.curves) + i)
        _key(drawing, words, y)
    said = "Both axes are logarithmic. Whiskers: from the largest m refuted to the least m met."
    dashed = " Dashed: the sample size that the theorem requires."
    return Picture(
        f"Least m against {result.axis}",
        "; ".join(map(_in_words, result.curves)) + "." + (" Dashed: the bounds." if bounded else ""),
        said + (dashed if bounded else ""),
        drawing.done(),
        _LEGEND + _LINE * (len(result.curves) + len(keys)) - 8,
    )


def is_closed(cell: Cell) -> bool:
    """Return whether a closed form alone gave the bracket, without runs."""
    return bool(cell.steps) and all(step.how != "runs" for step in cell.steps)


def _scale(values: Sequence[float], start: float, end: float) -> Scale:
    low, high = min(values), max(values)
    pad = max((high / low) ** 0.05, 1.12)
    return Scale(low / pad, high * pad, start, end, log=True)


def _apart(places: Sequence[float], across: Scale) -> list[float]:
    """Return the places on the axis whose labels do not overlap."""
    kept: list[float] = []
    for place in sorted({*places}):
        if not kept or across.at(place) - across.at(kept[-1]) >= 38:
            kept.append(place)
    return kept


def _curve(drawing: Drawing, curve: CurveResult, index: int, xs: Sequence[float], up: Scale) -> None:
    kind, shape = f"series {KINDS[index % len(KINDS)]}", SHAPES[index % len(SHAPES)]
    bound = [(x, up.at(cell.bound)) for x, cell in zip(xs, curve.cells, strict=True) if cell.bound]
    known = [
        (x, cell, cell.middle) for x, cell in zip(xs, curve.cells, strict=True) if cell.middle is not None
    ]
    if len(bound) > 1:
        drawing.line(f"{kind} bound", bound)
    if len(known) > 1:
        drawing.line(kind, [(x, up.at(middle)) for x, _, middle in known])
    for x, cell, middle in known:
        high = up.at(float(cell.met or 1))
        low = up.at(float(cell.refuted)) if cell.refuted else up.start
        drawing.path(kind, f"M{x:g} {low:g}V{high:g}M{x - 4:g} {low:g}h8M{x - 4:g} {high:g}h8")
        hollow = " closed" if is_closed(cell) else ""
        drawing.path(f"{kind} point{hollow}", f"M{x:g} {up.at(middle):g}{shape}")
    y = _LEGEND + _LINE * index
    drawing.path(kind, f"M{LEFT:g} {y:g}h24")
    hollow = " closed" if all(is_closed(cell) for _, cell, _ in known) else ""
    drawing.path(f"{kind} point{hollow}", f"M{LEFT + 12:g} {y:g}{shape}")
    drawing.words(wording.short(curve.name, 44), LEFT + 32, y + 4)


def _key(drawing: Drawing, words: str, y: float) -> None:
    if words.startswith("bound"):
        drawing.path("threshold key", f"M{LEFT:g} {y:g}h24")
    else:
        drawing.path("series key point closed", f"M{LEFT + 12:g} {y:g}{SHAPES[0]}")
    drawing.words(words, LEFT + 32, y + 4)


def _in_words(curve: CurveResult) -> str:
    met = [cell for cell in curve.cells if cell.met is not None]
    if not met:
        return f"{curve.name}: never met"
    ends = [f"{wording.number(cell.place)}: m ≤ {cell.met:,}" for cell in (met[0], met[-1])]
    return f"{curve.name}: at {' and at '.join(ends)}"
