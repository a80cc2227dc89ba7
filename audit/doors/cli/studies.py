"""The work of ``dp-audit study``."""

import math
import os
import time
from pathlib import Path
from typing import Any

import click

from audit.codec.files import check_apart, check_writable, write_text
from audit.doors.cli.cells import carry_out
from audit.doors.cli.exits import INTERRUPTED, NOT_DONE
from audit.doors.cli.matching import matching
from audit.doors.report_link import render_report
from audit.doors.side_by_side import processes_for, told_of
from audit.errors import AuditError, InvalidValue
from audit.options import Options
from audit.studies.results import StudyResult
from audit.studies.run import StudyInterrupted
from audit.studies.saved import CellStore, layout, to_json
from audit.studies.study import Study, load_studies, load_study
from audit.values.wording import number


def list_studies(pattern: str | None = None) -> int:
    """Print the names and summaries of the matching studies, of all studies without a pattern."""
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
    jobs: int | None = None,
    **given: Any,
) -> int:
    """Carry out the matching studies, keep every finished step, and return the exit code.

    Options in `given` that are not None are passed to `StudyRun`.
    """
    wanted = _wanted(pattern)
    if values is not None:
        chosen = numbers(values)
        if len(wanted) > 1:
            raise InvalidValue(f"`--values` needs exactly one study; got {len(wanted)} studies.")
        wanted = {name: study.over(chosen) for name, study in wanted.items()}
    terms = {name: value for name, value in given.items() if value is not None}
    Options(**terms)  # refuse now what would be refused after hours of work
    check_apart(html, saved)
    for path in filter(None, (html, saved)):
        check_writable(path)
    output = saved or html
    folder = cells or (None if output is None else output.parent / "study-cells")
    store = CellStore(folder, say=lambda line: click.echo(line, err=True))
    results, code = _all(wanted, store=store, terms=terms, jobs=processes_for(jobs))
    if saved is not None:
        write_text(saved, layout(results))
    if html is not None:
        render_report(None, html, studies=[to_json(each) for each in results])
    if code == INTERRUPTED:
        click.echo(_stopped(results, wanted, None if store.unsaved else folder), err=True)
    return NOT_DONE if store.unsaved and not code else code


def _wanted(pattern: str | None) -> dict[str, Study]:
    """Return the user's own study that the text names, or the presets that match it."""
    if pattern is not None and ":" in pattern:
        study = load_study(pattern)
        return {study.name: study}
    if pattern is not None and pattern.endswith(".py"):
        raise AuditError(f"Name the study in the file: `{pattern}:object`.")
    shown = "`dp-audit study --list` shows them; write a study of your own as module:object or path.py:object"
    return matching(load_studies(), pattern, what="study", shown=shown)


def _stopped(results: list[StudyResult], wanted: dict[str, Study], folder: Path | None) -> str:
    """Return the sentence on how many least sizes were found and how to resume."""
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
    """Carry out every study, also after one fails, and return the results and the exit code."""
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
            if os.environ.get("DP_AUDIT_TRACEBACK"):
                raise
            if isinstance(error, AuditError) and len(studies) == 1:
                raise
            click.echo(f"{study.name}: could not be carried out: {told_of(error)}", err=True)
            code = NOT_DONE
    return results, code


def _one(study: Study, *, store: CellStore, terms: dict[str, Any], jobs: int) -> StudyResult:
    began = time.monotonic()
    click.echo(f"{study.name}: {study.summary}")
    result = carry_out(study, store=store, terms=terms, jobs=jobs)
    for curve in result.curves:
        if not curve.shown:
            continue
        fitted = curve.shown[0]
        slope = f"{number(fitted.slope)} records per unit of {result.axis}"
        if fitted.form == "exponential":
            slope = f"a factor of {number(math.exp(fitted.slope))} in m per unit of {result.axis}"
        elif fitted.form == "power law":
            slope = f"m grows as {result.axis} to the power {number(fitted.slope)}"
        grows = _GROWTH[curve.found]
        grows += "; the last value was never met" if curve.cells[-1].met is None else ""
        wrong = f"; UNEXPECTED: the texts say it {curve.expected}" if curve.unexpected else ""
        click.echo(f"  {curve.name}: {slope}; {grows}{wrong}")
    runs = sum(cell.runs for curve in result.curves for cell in curve.cells)
    click.echo(f"{result.finished} least sizes found, {runs:,} runs, {time.monotonic() - began:.0f} s")
    return result


_GROWTH = {"grows": "it grows", "no growth shown": "no growth shown", "": "growth unknown"}
