"""The work of ``dp-audit findings``."""

from collections.abc import Callable
from pathlib import Path

import click

from audit.doors.cli.exits import INTERRUPTED, NOT_DONE
from audit.doors.cli.matching import matching
from audit.doors.cli.outputs import Outputs
from audit.doors.side_by_side import Call, processes_for, side_by_side, told_of
from audit.findings.finding import Compute, Finding, glossary, load_findings
from audit.findings.saved import to_json
from audit.findings.text import detail, header, row, titles
from audit.results.saved import layout
from audit.values.progress import Listener

_LISTED = "`dp-audit findings --list` shows them"


def list_findings(pattern: str | None) -> int:
    """Print the names of the findings that match. Without a pattern, print all names. Nothing is computed."""
    for name in matching(load_findings(), pattern, what="finding", shown=_LISTED):
        click.echo(name)
    return 0


def show_findings(
    pattern: str | None, *, full: bool, html: Path | None, saved: Path | None, jobs: int | None = None
) -> int:
    """Compute the matching findings, save and print them, and return the exit code.

    Each finding is printed in full if `pattern` or `full` is given, else in one line.
    """
    wanted = matching(load_findings(), pattern, what="finding", shown=_LISTED)
    outputs = Outputs(html, saved)
    full = full or pattern is not None
    if not full:
        click.echo(header())
    told = (lambda finding: detail(finding) + "\n") if full else row
    found, code = _compute(wanted, told, jobs=processes_for(jobs))
    if full and (short_names := titles(glossary(found))):
        click.echo(short_names + "\n")
    more = "" if full else "; give a PATTERN or --full for the details"
    click.echo(f"{len(found)} of {len(wanted)} findings computed{more}")
    documents = [to_json(each) for each in found]
    outputs.write("[\n" + ",\n".join(map(layout, documents)) + "\n]\n", findings=documents)
    return code


def _compute(
    wanted: dict[str, Compute], told: Callable[[Finding], str], *, jobs: int
) -> tuple[list[Finding], int]:
    """Return the findings in order and the exit code. Each finding is printed as soon as it is done."""
    names, found = list(wanted), dict[int, Finding]()

    def take(index: int, answer: Callable[[], Finding]) -> None:
        try:
            found[index] = answer()
        except Exception as error:  # noqa: BLE001  a failure must not lose the other findings
            click.echo(f"{names[index]}: could not be computed: {told_of(error)}", err=True)
        else:
            click.echo(told(found[index]))

    calls = [Call(here=_alone(compute), there=(compute_by_name, name)) for name, compute in wanted.items()]
    finished = side_by_side(calls, jobs=jobs, what="findings", take=take)
    code = INTERRUPTED if not finished else NOT_DONE if len(found) < len(names) else 0
    return [finding for _, finding in sorted(found.items())], code


def _alone(compute: Compute) -> Callable[[Listener | None], Finding]:
    return lambda _: compute()


def compute_by_name(name: str) -> Finding:
    """Return the finding with this name."""
    return load_findings()[name]()
