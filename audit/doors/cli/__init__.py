"""The command ``dp-audit``. Results go to stdout, progress to stderr. An error is one line."""

import io
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from audit.codec.files import Unwritable
from audit.doors.cli.commands import COMPLETING, group
from audit.doors.cli.exits import INTERRUPTED, NOT_DONE, USAGE
from audit.errors import AuditError, Parameter

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its exit code.

    Examples
    --------
    >>> main(["replay", "no-such-file.json"])
    Traceback (most recent call last):
    SystemExit: 2
    """
    _open_streams()
    _tolerate_any_text()
    try:
        answer: Any = group.main(args=arguments, prog_name="dp-audit", standalone_mode=False)
    except SystemExit as left:  # click exits with 1 if a pipe was closed, which would mean "refuted"
        sys.exit(left.code if COMPLETING in os.environ else NOT_DONE)
    except (Exception, KeyboardInterrupt) as error:
        if os.environ.get("DP_AUDIT_TRACEBACK"):
            raise
        message, code = _message(error)
        click.echo("dp-audit: " + " ".join(message.split()), err=True)
        sys.exit(code)
    sys.exit(answer if isinstance(answer, int) else 0)


def _message(error: BaseException) -> tuple[str, int]:
    """Return the message of an error, and its exit code."""
    if isinstance(error, click.MissingParameter) or type(error) is click.UsageError:
        where = "dp-audit" if error.ctx is None else error.ctx.command_path
        return f"{error.format_message().rstrip('.')}. `{where} --help` shows how.", USAGE
    if isinstance(error, click.ClickException):
        return error.format_message(), USAGE
    if isinstance(error, AuditError):
        return error.spelt(_spelt), NOT_DONE if isinstance(error, Unwritable) else USAGE
    if isinstance(error, (click.Abort, KeyboardInterrupt)):
        return "interrupted", INTERRUPTED
    kind = type(error).__name__
    return f"unexpected error: {kind}: {error} (DP_AUDIT_TRACEBACK=1 shows where)", NOT_DONE


def _spelt(parameter: Parameter) -> str:
    """Return an argument of the Python API as the command line spells it.

    Examples
    --------
    >>> _spelt(Parameter("time_limit")), _spelt(Parameter("pairs", example="pairs=[(left, right)]"))
    ('`--time-limit`', '`--pair LEFT RIGHT`')
    """
    if parameter.name == "isolate":
        return f"the Python API with {parameter}"
    if parameter.example:
        return f"`{_EXAMPLES[parameter.example]}`"
    name = "pair" if parameter.name == "pairs" else parameter.name
    return f"`--{name.replace('_', '-')}`"


_EXAMPLES = {
    "pairs=[(left, right)]": "--pair LEFT RIGHT",
    "PureDP(epsilon=1.0)": "--epsilon 1.0",
    "PAC(alpha=0.1, beta=0.05)": "--alpha 0.1 --beta 0.05",
    "convert=numpy.array": "--convert numpy:array",
    "convert=pandas.DataFrame": "--convert pandas:DataFrame",
}


class _Heedless(io.FileIO):
    """A stream that ignores write errors, so that they change no exit code."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(data)


def _open_streams() -> None:
    """Open closed standard streams on the null device.

    If a stream stayed closed, the next file that is opened would get its descriptor. Our messages would then
    go into that file. Write errors of stderr are ignored.
    """
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != descriptor:
                os.dup2(opened, descriptor)
                os.close(opened)
            setattr(sys, name, os.fdopen(descriptor, "r" if name == "stdin" else "w", closefd=False))
    told: Any = sys.stderr
    ours = isinstance(getattr(getattr(told, "buffer", None), "raw", None), _Heedless)
    if sys.stderr is sys.__stderr__ and not ours:  # a stream that a test put there stays
        raw = io.BufferedWriter(_Heedless(told.fileno(), "w", closefd=False))
        sys.stderr = io.TextIOWrapper(raw, encoding=told.encoding, line_buffering=True)


def _tolerate_any_text() -> None:
    """Print characters outside the terminal's encoding as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
