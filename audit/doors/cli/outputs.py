"""The files that a command writes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from audit.codec.files import check_apart, check_writable, write_text
from audit.doors.report_link import render_report


@dataclass(frozen=True)
class Outputs:
    """The report and saved results of a command. Making this object checks that both can be written."""

    html: Path | None
    saved: Path | None

    def __post_init__(self) -> None:
        check_apart(self.html, self.saved)
        for path in filter(None, (self.html, self.saved)):
            check_writable(path)

    def write(self, text: str, **parts: Any) -> None:
        """Save the text, and make the report from the given parts."""
        if self.saved is not None:
            write_text(self.saved, text)
        if self.html is not None:
            render_report(None, self.html, **parts)
            click.echo(f"report: {self.html}")
