"""One line on a terminal's stderr for the work under way."""

import shutil
import sys
from typing import Self

import click


class StatusLine:
    """A line that each `show` overwrites. It stays empty if stderr is not a terminal.

    Examples
    --------
    >>> with StatusLine() as status:
    ...     status.show("step 1 of 2")
    """

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.show("")

    def show(self, text: str) -> None:
        """Replace the line with `text`."""
        if self._shown:
            click.echo(f"\r\x1b[K{text[: shutil.get_terminal_size().columns - 1]}", err=True, nl=False)
