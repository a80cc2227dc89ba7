"""The work of ``dp-audit findings``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from audit.codec.files import check_apart, check_writable, write_text
from audit.doors.cli.exits import INTERRUPTED, NOT_DONE
from audit.doors.cli.matching import matching
from audit.doors.report_link import render_report
from audit.findings.finding import Finding, glossary, load_findings
from audit.findings.saved import to_json
from audit.findings.text import detail, header, row, titles
from audit.results.saved import layout

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from audit.findings.finding import Compute


_LISTED = "`dp-audit findings --list` shows them"


def list_findings(pattern: str | None) -> int:
    """Print the names of the findings that are offered, or of those that match; nothing is computed."""
    for name in matching(load_findings(), pattern, what="finding", shown=_LISTED):
        click.echo(name)
    return 0


def show_findings(pattern: str | None, *, full: bool, html: Path | None, saved: Path | None) -> int:
    """Compute the matching findings one by one, losing none that is done, and return the exit code.

    Each is told in a line; with a pattern, or `full`, all that is said of it is.
    """
    wanted = matching(load_findings(), pattern, what="finding", shown=_LISTED)
    check_apart(html, saved)
    for path in (html, saved):
        if path is not None:
            check_writable(path)
    full = full or pattern is not None
    if not full:
        click.echo(header())
    found, code = _compute(wanted, _in_full if full else row)
    if full and found:
        click.echo(_blank_after(titles(glossary(found))), nl=False)
    more = "" if full else "; give a PATTERN or --full for the details"
    click.echo(f"{len(found)} of {len(wanted)} findings computed{more}")
    if saved is not None:
        write_text(saved, "[\n" + ",\n".join(layout(to_json(each)) for each in found) + "\n]\n")
    if html is not None:
        render_report(None, html, findings=[to_json(each) for each in found])
        click.echo(f"report: {html}")
    return code


def _compute(wanted: dict[str, Compute], told: Callable[[Finding], str]) -> tuple[list[Finding], int]:
    found: list[Finding] = []
    code = 0
    for name, compute in wanted.items():
        try:
            found.append(compute())
        except KeyboardInterrupt:
            return found, INTERRUPTED
        except Exception as error:  # one that fails must not lose the others
            if os.environ.get("DP_AUDIT_TRACEBACK"):
                raise
            click.echo(f"{name}: could not be computed: {type(error).__name__}: {error}", err=True)
            code = NOT_DONE
        else:
            click.echo(told(found[-1]))
    return found, code


def _in_full(finding: Finding) -> str:
    return _blank_after(detail(finding)).removesuffix("\n")


def _blank_after(text: str) -> str:
    return f"{text}\n\n" if text else ""
