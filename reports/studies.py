"""Studies on a page, the least m of each learner beside its theorem's bound."""

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from audit.studies.cells import Cell
from audit.studies.fits import CONFIDENCE, Growth
from audit.studies.results import CurveResult, StudyResult
from audit.studies.saved import from_json
from audit.values import wording

from .pictures.drawing import Picture
from .pictures.study import chart, is_closed

__all__ = ["StudiesPart", "studies_part"]


@dataclass(frozen=True)
class CurveView:
    """The texts on one learner."""

    name: str
    source: str
    expected: str
    found: str
    kind: str
    unexpected: bool
    bound_refuted: bool
    line: str
    slope: str
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class StudyView:
    """One study: a section."""

    anchor: str
    study: StudyResult
    chart: Picture | None
    curves: tuple[CurveView, ...]
    rows: tuple[tuple[str, ...], ...]
    missing: int
    command: str


@dataclass(frozen=True)
class StudiesPart:
    """All studies."""

    studies: tuple[StudyView, ...]
    bounded: bool  # whether any curve has a theorem's sample size


def studies_part(documents: Sequence[Mapping[str, Any]]) -> StudiesPart:
    """Return the part of the page on studies, in the order of the documents.

    Examples
    --------
    >>> studies_part([]).studies
    ()
    """
    results = [from_json(document) for document in documents]
    return StudiesPart(
        tuple(_view(result, f"study-{i}") for i, result in enumerate(results, start=1)),
        any(cell.bound is not None for each in results for curve in each.curves for cell in curve.cells),
    )


def _view(result: StudyResult, anchor: str) -> StudyView:
    return StudyView(
        anchor,
        result,
        chart(result),
        tuple(_curve(curve, result) for curve in result.curves),
        tuple(_row(curve, cell) for curve in result.curves for cell in curve.cells),
        result.planned - result.finished,
        f"dp-audit study {shlex.quote(result.target or result.name)} --seed {result.seed} "
        f"--significance {result.significance:g}"
        + (f" --values {','.join(f'{value:g}' for value in result.values)}" if result.values else ""),
    )


def _curve(curve: CurveResult, result: StudyResult) -> CurveView:
    found = curve.found
    return CurveView(
        curve.name,
        curve.source,
        curve.expected,
        found,
        "inconclusive" if not found else "refuted" if curve.unexpected else "not-refuted",
        curve.unexpected,
        any(cell.refutes_bound for cell in curve.cells),
        _line(curve, result),
        _slope(curve),
        (*_refuted_bounds(curve, result), *_sentences(curve, result)),
    )


def _refuted_bounds(curve: CurveResult, result: StudyResult) -> tuple[str, ...]:
    """Return a sentence for each refuted size that the theorem calls enough."""
    return tuple(
        f"At {result.parameter} = {cell.value:g} the bound of {round(cell.bound or 0):,} is too small: with "
        f"{cell.low:,} records, at least as many as the bound, {_how_refuted(cell)}."
        for cell in curve.cells
        if cell.refutes_bound
    )


def _how_refuted(cell: Cell) -> str:
    how = {step.how for step in cell.steps if step.verdict == "refuted" and step.size == cell.low}
    return "the learner refuses to run" if how == {"refused"} else "the claim was refuted"


def _sentences(curve: CurveResult, result: StudyResult) -> tuple[str, ...]:
    found = curve.fit
    if found is None:
        return ("No slope: fewer than two least sizes were bracketed.",)
    n, axis = _number, result.axis
    ends = (
        f"Between the ends the brackets allow a mean slope of {n(found.least)} to {n(found.most)} records "
        f"per unit of {axis}, and a change of m by a factor of {n(found.ratio_least)} to "
        f"{n(found.ratio_most)}."
    )
    curves = "; ".join(_fitted(growth, curve, axis) for growth in curve.shown)
    fitted = f"Least squares, the better fit first: {curves}."
    return (fitted, ends, *_exponential(curve, result), *_beside(curve))


def _exponential(curve: CurveResult, result: StudyResult) -> tuple[str, ...]:
    """Return the sentence on the fit to an exponential bound, else an empty text."""
    found = curve.fit
    if found is None or curve.shape != "exponential":
        return ()
    low, high = (_number(math.exp(rate)) for rate in (found.rate_least, found.rate_most))
    said = (
        f"The bound is exponential in {result.axis}, so a line is fitted to ln m. The brackets allow each "
        f"unit of {result.axis} to multiply m by {low} to {high}, as a geometric mean between the ends."
    )
    return (said,)


def _line(curve: CurveResult, result: StudyResult) -> str:
    """Return the equation of the better of two fits, or an empty text without a fit."""
    return next((_equation(growth, result.axis) for growth in curve.shown), "")


def _equation(growth: Growth, axis: str) -> str:
    n = _number
    match growth.form:
        case "exponential":
            return f"ln m ≈ {n(growth.intercept)} {_signed(growth.slope)}·{axis}"
        case "power law":
            base = axis if axis.isalnum() else f"({axis})"
            return f"m ≈ {n(math.exp(growth.intercept))}·{base}^{n(growth.slope)}"
        case _:
            rise = f" {_signed(growth.slope)}·{axis}" if growth.slope else ""
            return f"m ≈ {n(growth.intercept)}{rise}"


def _fitted(growth: Growth, curve: CurveResult, axis: str) -> str:
    """Return the equation, and how well it fits."""
    slope = "exponent" if growth.form == "power law" else "slope"
    cells = sum(cell.middle is not None for cell in curve.cells)
    said = [f"passes through {cells - growth.missed} of {cells} brackets"]
    if growth.low is not None and growth.high is not None:
        said.insert(
            0, f"{slope} {_number(growth.low)} to {_number(growth.high)} at {CONFIDENCE:.0%} confidence"
        )
    if growth.curvature is not None:
        said.append(f"RESET test that this form fits: p = {growth.curvature:.2g}")
    return f"{_equation(growth, axis)} ({', '.join(said)})"


def _signed(value: float) -> str:
    return f"{'−' if value < 0 else '+'} {_number(abs(value))}"


def _slope(curve: CurveResult) -> str:
    found = curve.fit
    if found is None:
        return ""
    if curve.shape == "exponential":
        return f"{_number(found.rate_least)} to {_number(found.rate_most)} of ln m"
    return f"{_number(found.least)} to {_number(found.most)}"


def _beside(curve: CurveResult) -> tuple[str, ...]:
    """Return the sentence that compares the bound with the least m that met the claim."""
    ratios = [cell.bound / cell.met for cell in curve.cells if cell.bound and cell.met]
    if not ratios:
        return ()
    low, high = (_number(ratio) for ratio in (min(ratios), max(ratios)))
    return (f"The bound is {low if low == high else f'{low} to {high}'} times the least m that was met.",)


def _row(curve: CurveResult, cell: Cell) -> tuple[str, ...]:
    ratio = _number(cell.bound / cell.met) if cell.bound and cell.met else ""
    return (
        curve.name,
        f"{cell.value:g}",
        "" if cell.refuted is None else f"{cell.refuted:,}",
        "" if cell.met is None else f"{cell.met:,}",
        "" if cell.bound is None else f"{round(cell.bound):,}{', refuted' if cell.refutes_bound else ''}",
        ratio,
        f"{len(cell.steps)}",
        "closed form" if is_closed(cell) and not cell.runs else f"{cell.runs:,}",
        cell.family,
    )


def _number(value: float) -> str:
    """Return a number with three significant digits, without an exponent.

    Examples
    --------
    >>> _number(1023.4), _number(-4.57e6), _number(0.12345)
    ('1,020', '−4,570,000', '0.123')
    """
    if 1000 <= abs(value) < 1e15:
        value = round(value, 2 - math.floor(math.log10(abs(value))))
    return wording.number(value)
