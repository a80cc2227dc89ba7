"""The work of ``dp-audit findings``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from audit import story
from audit.cli.exits import INTERRUPTED, NOT_DONE
from audit.cli.matching import matching
from audit.findings import Finding, load_findings
from audit.report_link import render_report
from audit.saved import check_writable, layout, write_text
from audit.saved_findings import to_json

if TYPE_CHECKING:
    from pathlib import Path

    from audit.findings import Compute


def show_findings(pattern: str | None, *, html: Path | None, saved: Path | None) -> int:
    """Compute the matching findings one by one, losing none that is done, and return the exit code."""
    shown = "`dp-audit findings` computes and names them all"
    wanted = matching(load_findings(), pattern, what="finding", shown=shown)
    for path in (html, saved):
        if path is not None:
            check_writable(path)
    found, code = _compute(wanted)
    if saved is not None:
        write_text(saved, "[\n" + ",\n".join(layout(to_json(each)) for each in found) + "\n]\n")
    if html is not None:
        render_report(None, html, findings=[to_json(each) for each in found])
    click.echo(f"{len(found)} of {len(wanted)} findings computed")
    if html is not None:
        click.echo(f"report: {html}")
    return code


def _compute(wanted: dict[str, Compute]) -> tuple[list[Finding], int]:
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
            click.echo(_line(found[-1]))
    return found, code


def _line(finding: Finding) -> str:
    ratio = "" if finding.ratio is None else f"{story.number(finding.ratio, digits=3)}×"
    numbers = ""
    if finding.claimed is not None and finding.found is not None:
        claimed, found = map(story.number, (finding.claimed, finding.found))
        numbers = f"claimed {claimed}, found {found} ({finding.method}). "
    shown = f"{finding.source}: {numbers}{finding.shown}"
    return f"{finding.name:<20}  {finding.judgement:<16}  {ratio:>10}  {shown}"
