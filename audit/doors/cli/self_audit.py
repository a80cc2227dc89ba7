"""The work of ``dp-audit self-audit``."""

import time
from pathlib import Path

import click

from audit.codec.files import check_apart, check_writable, write_text
from audit.doors.cli.exits import INTERRUPTED, NOT_DONE, NOTHING_REFUTED, REFUTED
from audit.doors.cli.matching import matching
from audit.doors.cli.status import StatusLine
from audit.doors.report_link import render_report
from audit.errors import Parameter, positive_int
from audit.results.saved import layout
from audit.self_audit.audits import Step
from audit.self_audit.row import Row, SelfAudit
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
    """Audit the auditor, keep every finished row, and return the exit code: 1 if a limit is exceeded."""
    wanted = matching(_NAMES, part, what="part", shown=f"the parts are {', '.join(_NAMES)}")
    seed = positive_int(0 if seed is None else seed, what=Parameter("seed"), minimum=0)
    check_apart(html, saved)
    for path in filter(None, (html, saved)):
        check_writable(path)
    began, stopped = time.monotonic(), False
    with _Status() as status:
        try:
            result = self_audit(
                sizes=QUICK if quick else FULL,
                seed=seed,
                cases=cases,
                parts=wanted.values(),
                listener=status,
            )
        except SelfAuditInterrupted as stop:
            result, stopped = stop.result, True
    click.echo(f"\n{paragraph(f'{verdict(result)} {small_print(result)}')}")
    for error in result.errors:
        click.echo(error, err=True)
    click.echo(f"{len(result.rows)} rows, {time.monotonic() - began:.0f} s")
    _save(result, html=html, saved=saved)
    if stopped:
        return INTERRUPTED
    if not result.kept:
        return REFUTED
    return NOT_DONE if result.errors else NOTHING_REFUTED


def _save(result: SelfAudit, *, html: Path | None, saved: Path | None) -> None:
    if saved is not None:
        write_text(saved, layout(to_json(result)) + "\n")
    if html is not None:
        render_report(None, html, self_audits=[to_json(result)])
        click.echo(f"report: {html}")


class _Status(StatusLine):
    """Shows the audit under way, and prints a line or two on stdout for each finished row."""

    _part = ""

    def __call__(self, event: Step | Row) -> None:
        if isinstance(event, Step):
            self.show(f"{event.part}: {event.what}: audit {event.number} of {event.of}")
            return
        self.show("")
        if event.part != self._part:
            self._part = event.part
            click.echo(f"\n{heading(event.part)}\n")
        click.echo(line(event))
