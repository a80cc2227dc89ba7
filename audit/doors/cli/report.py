"""The work of ``dp-audit report`` and ``dp-audit diff``."""

from collections.abc import Sequence
from pathlib import Path

import click

from audit.codec.files import check_apart, check_writable
from audit.doors.cli.changes import changes, compared, lines
from audit.doors.report_link import render_report
from audit.doors.saved_parts import load_parts


def rebuild(paths: Sequence[Path], *, html: Path | None, split: bool) -> int:
    """Write a page of all that is saved in `paths`, and return the exit code.

    Without `html`, `paths` must be one page. The new page replaces it.
    """
    if html is None:
        if len(paths) != 1 or paths[0].suffix == ".json" or paths[0].is_dir():
            raise click.UsageError("Say where to write the report: add --html FILE.")
        html = paths[0]
    else:
        check_apart(html, *paths)
    parts = load_parts(paths, said=click.echo)
    check_writable(html)
    documents = parts.pop("documents")
    render_report(documents, html, **parts, split=split)
    click.echo(f"report: {html}")
    return 0


def show_changes(before: Path, after: Path) -> int:
    """Print what changed, and return the exit code. The exit code is 1 if anything changed."""
    old, new = load_parts([before]), load_parts([after])
    found = changes(old, new)
    for told in lines(found, of=compared(old, new)):
        click.echo(told)
    return 1 if found else 0
