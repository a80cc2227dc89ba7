"""The work of ``dp-audit study``."""

from __future__ import annotations

import math
import os
import sys
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Self

import click

from audit.codec.files import check_apart, check_writable, write_text
from audit.doors.cli.exits import INTERRUPTED, NOT_DONE
from audit.doors.cli.matching import matching
from audit.doors.report_link import render_report
from audit.errors import AuditError, InvalidValue
from audit.studies.run import CellAdvanced, StudyInterrupted, check_terms, run_study
from audit.studies.saved import CellStore, layout, to_json
from audit.studies.study import Study, load_studies, load_study
from audit.values.wording import number

if TYPE_CHECKING:
    from pathlib import Path

    from audit.studies.cells import Cell
    from audit.studies.fits import Form
    from audit.studies.results import StudyResult


def list_studies(pattern: str | None = None) -> int:
    """Print the names of the matching studies, of all without a pattern, and what they are."""
    offered = _wanted(pattern)
    width = max(map(len, offered), default=0)
    for name, study in offered.items():
        click.echo(f"{name:<{width}}  {study.cells:>3} cells over {study.parameter:<10}  {study.summary}")
    return 0


def show_studies(
    pattern: str | None,
    *,
    html: Path | None = None,
    saved: Path | None = None,
    cells: Path | None = None,
    values: str | None = None,
    significance: float | None = None,
    budget: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
) -> int:
    """Carry out the matching studies, losing no step that is done, and return the exit code."""
    wanted = _wanted(pattern)
    if values is not None:
        wanted = _over(wanted, numbers(values))
    terms = _Terms(1e-3 if significance is None else significance, budget, seed or 0, _or(jobs, 1))
    check_apart(html, saved)
    for path in (html, saved):
        if path is not None:
            check_writable(path)
    output = saved or html
    folder = cells or (None if output is None else output.parent / "study-cells")
    store = CellStore(folder, say=lambda line: click.echo(line, err=True))
    runner = _Runner(store, terms)
    code = runner.all(wanted)
    if saved is not None:
        write_text(saved, layout(runner.results))
    if html is not None:
        render_report(None, html, studies=[to_json(each) for each in runner.results])
    if code == INTERRUPTED:
        click.echo(_stopped(runner.results, wanted, None if store.unsaved else folder), err=True)
    return NOT_DONE if store.unsaved and not code else code


def _or(given: int | None, default: int) -> int:
    return default if given is None else given


def _wanted(pattern: str | None) -> dict[str, Study]:
    """Return the study of the user's own that the text names, or the presets that match it."""
    if pattern is not None and ":" in pattern:
        study = load_study(pattern)
        return {study.name: study}
    if pattern is not None and pattern.endswith(".py"):
        raise AuditError(f"Name the study in the file: `{pattern}:object`.")
    shown = "`dp-audit study --list` shows them; write a study of your own as module:object or path.py:object"
    return matching(load_studies(), pattern, what="study", shown=shown)


def _stopped(results: list[StudyResult], wanted: dict[str, Study], folder: Path | None) -> str:
    """Say how far it came and how it goes on."""
    done, planned = (
        sum(result.finished for result in results),
        sum(study.cells for study in wanted.values()),
    )
    if folder is None:
        return f"interrupted; {done} of {planned} least sizes found, none saved; --cells FOLDER saves them"
    return f"interrupted; {done} of {planned} least sizes saved in {folder}; the same command resumes"


def numbers(text: str) -> tuple[float, ...]:
    """Return the numbers of a list with commas.

    Examples
    --------
    >>> numbers("0.5, 1,2")
    (0.5, 1.0, 2.0)
    """
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InvalidValue(f"`--values` must be numbers separated by commas; got {text!r:.60}.") from None


def _over(studies: dict[str, Study], values: tuple[float, ...]) -> dict[str, Study]:
    """Return the only study of these over other values of its parameter."""
    if len(studies) > 1:
        raise InvalidValue(f"`--values` needs exactly one study; got {len(studies)} studies.")
    return {name: study.over(values) for name, study in studies.items()}


@dataclass(frozen=True)
class _Terms:
    """What every study is carried out with, checked before the first."""

    significance: float
    budget: int | None
    seed: int
    jobs: int

    def __post_init__(self) -> None:
        check_terms(**asdict(self))


class _Runner:
    """Studies one after another, and what is told of them."""

    def __init__(self, store: CellStore, terms: _Terms) -> None:
        self.results: list[StudyResult] = []
        self._store, self._terms = store, terms

    def all(self, studies: dict[str, Study]) -> int:
        """Carry out every study; one that fails loses no other."""
        code = 0
        for study in studies.values():
            try:
                self._one(study)
            except KeyboardInterrupt as stop:
                result = stop.result if isinstance(stop, StudyInterrupted) else None
                if result is not None and result.finished:
                    self.results.append(result)
                return INTERRUPTED
            except Exception as error:  # one that fails must not lose the others
                if os.environ.get("DP_AUDIT_TRACEBACK"):
                    raise
                if isinstance(error, AuditError) and len(studies) == 1:
                    raise
                said = error if isinstance(error, AuditError) else f"{type(error).__name__}: {error}"
                click.echo(f"{study.name}: could not be carried out: {said}", err=True)
                code = NOT_DONE
        return code

    def _one(self, study: Study) -> None:
        began = time.monotonic()
        click.echo(f"{study.name}: {study.summary}")
        with _Status() as status:
            result = run_study(
                study,
                store=self._store,
                listener=status,
                **asdict(self._terms),
            )
        self.results.append(result)
        for curve in result.curves:
            found = curve.fit
            form: Form = "exponential" if curve.shape == "exponential" else "line"
            fitted = None if found is None else found.of(form)
            if found is not None and fitted is not None:
                slope = f"{number(fitted.slope)} records per unit of {result.axis}"
                if form == "exponential":
                    factor = number(math.exp(fitted.slope))
                    slope = f"a factor of {factor} in m per unit of {result.axis}"
                wrong = f"; UNEXPECTED: the texts say it {curve.expected}" if curve.unexpected else ""
                click.echo(f"  {curve.name}: {slope}; {growth(found.grows)}{wrong}")
        runs = sum(cell.runs for curve in result.curves for cell in curve.cells)
        click.echo(f"{result.finished} least sizes found, {runs:,} runs, {time.monotonic() - began:.0f} s")


def growth(grows: bool) -> str:  # noqa: FBT001 - a word for a truth value
    """Say what the brackets show of growth."""
    return "it grows" if grows else "no growth shown"


class _Status:
    """One line on a terminal's stderr for the cell under way; a line on stdout for each that is finished."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._draw("")

    def __call__(self, event: CellAdvanced) -> None:
        if event.done:
            self._draw("")
            click.echo(f"  {event.curve:<28} {event.value:>10g}  {bracket(event.cell)}")
            return
        last = event.cell.steps[-1]
        self._draw(
            f"{event.study}: cell {event.number} of {event.cells}, {event.curve} at {event.value:g}: step "
            f"{len(event.cell.steps)}, m = {last.size:,} {last.verdict}"
        )

    def _draw(self, text: str) -> None:
        if self._shown:
            click.echo(f"\r\x1b[K{text[:150]}", err=True, nl=False)


def bracket(cell: Cell) -> str:
    """Return the bracket of a cell in words.

    Examples
    --------
    >>> from audit.studies.cells import Cell, Step
    >>> bracket(Cell(4.0, 4.0, 50.0, (Step(9, "refuted"), Step(10, "met"))))
    'refuted at 9, met at 10; bound 50'
    >>> bracket(Cell(4.0, 4.0, 50.0, (Step(128, "refuted"), Step(197, "met", how="exact"))))
    'refuted at 128, met at 197 (closed form); bound 50, REFUTED'
    """
    low = "never refuted" if cell.refuted is None else f"refuted at {cell.refuted:,}"
    high = "never met" if cell.met is None else f"met at {cell.met:,} {cell.how_met}".rstrip()
    bound = "" if cell.bound is None else f"; bound {cell.bound:,.0f}"
    return f"{low}, {high}{bound}{', REFUTED' if cell.refutes_bound else ''}"
