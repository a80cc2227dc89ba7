"""The work of ``dp-audit self-audit``."""

import shutil
import sys
import time
from pathlib import Path

import click

from audit.doors.cli.exits import INTERRUPTED, NOT_DONE, NOTHING_REFUTED, REFUTED
from audit.doors.cli.matching import matching
from audit.doors.cli.outputs import Outputs
from audit.errors import Parameter, positive_int
from audit.results.saved import layout
from audit.self_audit.audits import Step
from audit.self_audit.row import Row
from audit.self_audit.run import FULL, PARTS, QUICK, SelfAuditInterrupted, self_audit
from audit.self_audit.saved import to_json
from audit.self_audit.text import heading, line, paragraph, small_print, verdict

_NAMES = {part.replace(" ", "-"): part for part in PARTS}


def show_self_audit(
    part: str | None,
    *,
    quick: bool,
    seed: int | None,
    cases: Path | None,
    html: Path | None,
    saved: Path | None,
) -> int:
    """Audit the auditor, keep every finished row, and return the exit code.

    The exit code is 1 if a limit is exceeded.
    """
    wanted = matching(_NAMES, part, what="part", shown=f"the parts are {', '.join(_NAMES)}")
    seed = positive_int(0 if seed is None else seed, what=Parameter("seed"), minimum=0, maximum=None)
    outputs = Outputs(html, saved)
    began, stopped = time.monotonic(), False
    sizes = QUICK if quick else FULL
    try:
        result = self_audit(sizes=sizes, seed=seed, cases=cases, parts=wanted.values(), listener=_Status())
    except SelfAuditInterrupted as stop:
        result, stopped = stop.result, True
    finally:
        _show("")
    click.echo(f"\n{paragraph(f'{verdict(result)} {small_print(result)}')}")
    for error in result.errors:
        click.echo(error, err=True)
    click.echo(f"{len(result.rows)} rows, {time.monotonic() - began:.0f} s")
    document = to_json(result)
    outputs.write(layout(document) + "\n", self_audits=[document])
    if stopped:
        return INTERRUPTED
    if not result.kept:
        return REFUTED
    return NOT_DONE if result.errors else NOTHING_REFUTED


class _Status:
    """Shows the audit under way on stderr, and finished rows on stdout."""

    _part = ""

    def __call__(self, event: Step | Row) -> None:
        if isinstance(event, Step):
            _show(f"{event.part}: {event.what}: audit {event.number} of {event.of}")
            return
        _show("")
        if event.part != self._part:
            self._part = event.part
            click.echo(f"\n{heading(event.part)}\n")
        click.echo(line(event))


def _show(text: str) -> None:
    """Overwrite the line on stderr. Nothing is written if stderr is not a terminal."""
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[K{text[: shutil.get_terminal_size().columns - 1]}", err=True, nl=False)
