"""The work of ``dp-audit study``."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path as Folder
from typing import Any

import click

from audit.doors.cli.exits import INTERRUPTED, NOT_DONE
from audit.doors.cli.matching import matching
from audit.doors.cli.outputs import Outputs
from audit.doors.side_by_side import Call, processes_for, side_by_side, told_of
from audit.errors import AuditError, InvalidValue
from audit.options import Options
from audit.sampling.isolated.elsewhere import elsewhere, on_cluster
from audit.studies.cells import Cell, Step
from audit.studies.results import StudyResult
from audit.studies.run import Path, StudyInterrupted, StudyRun
from audit.studies.saved import CellStore, layout, to_json
from audit.studies.study import Study, load_studies, load_study
from audit.values.wording import number


def list_studies(pattern: str | None = None) -> int:
    """Print the names and summaries of the studies that match.

    Without a pattern, print those of all studies.
    """
    offered = _wanted(pattern)
    width = max(map(len, offered), default=0)
    for name, study in offered.items():
        click.echo(f"{name:<{width}}  {study.cells:>3} cells over {study.parameter:<10}  {study.summary}")
    return 0


def show_studies(
    pattern: str | None,
    *,
    html: Folder | None = None,
    saved: Folder | None = None,
    cells: Folder | None = None,
    values: str | None = None,
    jobs: int | None = None,
    **given: Any,
) -> int:
    """Carry out the matching studies, and return the exit code.

    If there is a folder for steps, every finished step is saved at once. Options in `given` that are not None
    are passed to `StudyRun`.
    """
    wanted = _wanted(pattern)
    if values is not None:
        chosen = numbers(values)
        if len(wanted) > 1:
            raise InvalidValue(f"`--values` needs exactly one study; got {len(wanted)} studies.")
        wanted = {name: study.over(chosen) for name, study in wanted.items()}
    terms = {name: value for name, value in given.items() if value is not None}
    Options(**terms)  # raise the error now, not after hours of work
    outputs = Outputs(html, saved)
    output = saved or html
    folder = cells or (None if output is None else output.parent / "study-cells")
    store = CellStore(folder, say=lambda line: click.echo(line, err=True))
    results, code = _all(wanted, store=store, terms=terms, jobs=processes_for(jobs))
    outputs.write(layout(results), studies=[to_json(each) for each in results])
    if code == INTERRUPTED:
        click.echo(_stopped(results, wanted, None if store.unsaved else folder), err=True)
    return NOT_DONE if store.unsaved and not code else code


def _wanted(pattern: str | None) -> dict[str, Study]:
    """Return the user's own study that a text names, or the presets that match."""
    if pattern is not None and ":" in pattern:
        study = load_study(pattern)
        return {study.name: study}
    if pattern is not None and pattern.endswith(".py"):
        raise AuditError(f"Name the study in the file: `{pattern}:object`.")
    shown = "`dp-audit study --list` shows them; write a study of your own as module:object or path.py:object"
    return matching(load_studies(), pattern, what="study", shown=shown)


def _stopped(results: list[StudyResult], wanted: dict[str, Study], folder: Folder | None) -> str:
    """Return a sentence on how far a study came, and how to resume."""
    done, planned = (sum(each.finished for each in results), sum(each.cells for each in wanted.values()))
    if folder is None:
        return f"interrupted; {done} of {planned} least sizes found, none saved; --cells FOLDER saves them"
    return f"interrupted; {done} of {planned} least sizes saved in {folder}; the same command resumes"


def numbers(text: str) -> tuple[float, ...]:
    """Return the numbers of a comma-separated list.

    Examples
    --------
    >>> numbers("0.5, 1,2")
    (0.5, 1.0, 2.0)
    """
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InvalidValue(f"`--values` must be numbers separated by commas; got {text!r:.60}.") from None


def _all(
    studies: dict[str, Study], *, store: CellStore, terms: dict[str, Any], jobs: int
) -> tuple[list[StudyResult], int]:
    """Carry out every study, and return the results and the exit code.

    A study that fails does not stop the others.
    """
    results, code = list[StudyResult](), 0
    for study in studies.values():
        try:
            results.append(_one(study, store=store, terms=terms, jobs=jobs))
        except KeyboardInterrupt as stop:
            result = stop.result if isinstance(stop, StudyInterrupted) else None
            if result is not None and result.finished:
                results.append(result)
            return results, INTERRUPTED
        except Exception as error:  # a failure must not lose the other studies
            if isinstance(error, AuditError) and len(studies) == 1:
                raise
            click.echo(f"{study.name}: could not be carried out: {told_of(error)}", err=True)
            code = NOT_DONE
    return results, code


def _one(study: Study, *, store: CellStore, terms: dict[str, Any], jobs: int) -> StudyResult:
    began = time.monotonic()
    click.echo(f"{study.name}: {study.summary}")
    result = cells_of(study, store=store, terms=terms, jobs=jobs)
    for curve in result.curves:
        if not curve.shown:
            continue
        fitted = curve.shown[0]
        slope = f"{number(fitted.slope)} records per unit of {result.axis}"
        if fitted.form == "exponential":
            slope = f"a factor of {number(math.exp(fitted.slope))} in m per unit of {result.axis}"
        elif fitted.form == "power law":
            slope = f"m grows as {result.axis} to the power {number(fitted.slope)}"
        grows = {"grows": "it grows", "": "growth unknown"}.get(curve.found, curve.found)
        grows += "; the last value was never met" if curve.cells[-1].met is None else ""
        wrong = f"; UNEXPECTED: the texts say it {curve.expected}" if curve.unexpected else ""
        click.echo(f"  {curve.name}: {slope}; {grows}{wrong}")
    runs = sum(cell.runs for curve in result.curves for cell in curve.cells)
    click.echo(f"{result.finished} least sizes found, {runs:,} runs, {time.monotonic() - began:.0f} s")
    return result


def cells_of(study: Study, *, store: CellStore, terms: Mapping[str, Any], jobs: int) -> StudyResult:
    """Return the result of a study, whose cells are computed in parallel.

    The cells with the largest values take longest and start first.

    Raises
    ------
    StudyInterrupted
        The user stopped the study. Every step that was taken is saved.
    """
    alone = jobs if study.cells == 1 else 1  # each of many cells gets one core
    run = StudyRun(study, store=store, jobs=alone, listener=_print, **terms)
    paths = run.paths if elsewhere(jobs) is None else sorted(run.paths, key=lambda path: -path[1])
    folder = None if on_cluster() else store.folder  # machines of a cluster have their own disks

    def call(path: Path) -> Call:
        saved = run.saved(path)
        return Call(
            here=lambda _: (run.seek(path, saved), ()),
            there=(seek_by_name, _named(study), path, saved, folder, dict(terms)),
        )

    def take(index: int, answer: Callable[[], Any]) -> None:
        cell, unsaved = answer()
        for why in unsaved:
            store.give_up(why)
        run.take(paths[index], cell, save=on_cluster())

    if not side_by_side([call(path) for path in paths], jobs=jobs, what="least sizes", take=take):
        raise StudyInterrupted(run.told())
    return run.told()


def _print(curve: str, cell: Cell) -> None:
    click.echo(f"  {curve:<28} {cell.value:>10g}  {bracket(cell)}")


def _named(study: Study) -> tuple[str, tuple[float, ...]]:
    """Return the name and the values by which another process finds a study."""
    return study.target or study.name, study.values if study.chosen else ()


def seek_by_name(
    named: tuple[str, tuple[float, ...]],
    path: Path,
    saved: Sequence[Step],
    folder: Folder | None,
    terms: Mapping[str, Any],
) -> tuple[Cell, list[str]]:
    """Return the cell at `path` of the study with this name.

    Also return the reasons why steps could not be saved.
    """
    why: list[str] = []
    run = _run(named, folder, tuple(terms.items()))
    run.store = CellStore(folder, say=why.append)
    return run.seek(path, saved), why


@lru_cache(maxsize=1)
def _run(
    named: tuple[str, tuple[float, ...]], folder: Folder | None, terms: tuple[tuple[str, Any], ...]
) -> StudyRun:
    name, values = named
    study = load_study(name) if ":" in name else load_studies()[name]
    return StudyRun(study.over(values) if values else study, store=CellStore(folder), **dict(terms))


def bracket(cell: Cell) -> str:
    """Return a text with the bracket of a cell, and the theorem's bound.

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
