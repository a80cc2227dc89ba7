"""The options of a test session.

A call's option takes precedence over the mark ``audit``, then the command line, then the ini file. Options of
a catalogue entry or of `parametrize_with_audits` belong to the call.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from audit.codec.files import check_writable
from audit.errors import AuditError, InvalidValue, Parameter
from audit.options import Options

#: Options of an audit that a session may set.
_OF_AUDITS = ("budget", "time_limit", "significance", "seed")
#: The options of a session that name files and folders. For each: the placeholder of its value, and the help
#: text.
_PLACES = {
    "report": ("FILE", "Write an HTML report of all audits."),
    "json": ("FOLDER", "Save each result as soon as it exists."),
    "remember": ("FOLDER", "First try pairs on which a claim was refuted before; save new ones here."),
}


def add_options(parser: pytest.Parser) -> None:
    """Add each option to the command line and to the ini file.

    Its names are ``--audit-NAME`` and ``audit_NAME``.
    """
    group = parser.getgroup("dp-audit", "privacy audits")
    declared = {name: Options.__dataclass_fields__[name].metadata for name in _OF_AUDITS}
    told = {name: (each["metavar"], each["help"]) for name, each in declared.items()} | _PLACES
    for name, (metavar, words) in told.items():
        group.addoption(_flag(name), metavar=metavar, help=words)
        parser.addini(
            f"audit_{name}", f"{words} `{_flag(name)}` on the command line takes precedence.", default=""
        )


def options_of(config: pytest.Config, *, ini: bool = True) -> dict[str, Any]:
    """Return the options that a session gives to its audits.

    If `ini` is true, those of the ini file are included.
    """
    texts = {name: _text(config, name, ini=ini)[0] for name in _OF_AUDITS}
    options = {name: _number(text) for name, text in texts.items() if text}
    if (folder := place_of(config, "remember")) is not None and (ini or config.getoption("audit_remember")):
        options["remember"] = folder
    return options


def place_of(config: pytest.Config, name: str) -> Path | None:
    """Return a file or folder of the session. A path in an ini file is relative to that file's folder."""
    text, in_ini = _text(config, name)
    if not text:
        return None
    return (_project(config) if in_ini else config.invocation_params.dir) / text


def _project(config: pytest.Config) -> Path:
    return config.rootpath if config.inipath is None else config.inipath.parent


def check_options(config: pytest.Config, *, writes: bool) -> None:
    """Refuse options that cannot work, before any test runs.

    Raises
    ------
    pytest.UsageError
        An option cannot work; the message names it as it was given.
    """
    report, *folders = (place_of(config, name) for name in _PLACES)
    try:
        Options(**{name: value for name, value in options_of(config).items() if name in _OF_AUDITS})
        for path in (report, *(folder and folder / "_.json" for folder in folders)) if writes else ():
            if path is not None:
                if _project(config) in path.parents:  # pytest may start in another folder
                    with suppress(OSError):
                        path.parent.mkdir(parents=True, exist_ok=True)
                check_writable(path)
    except AuditError as error:
        raise pytest.UsageError(error.spelt(lambda each: _spelt(config, each))) from error


def marked(item: pytest.Item) -> dict[str, Any]:
    """Return the options in the marks of a test. The mark nearest to the test takes precedence.

    Raises
    ------
    InvalidValue
        A mark has an unknown option, or one that is not given by name.
    """
    told: dict[str, Any] = {}
    for mark in reversed(list(item.iter_markers("audit"))):
        if mark.args:
            raise InvalidValue("The mark `audit` takes options by name: `@pytest.mark.audit(budget=20_000)`.")
        told |= mark.kwargs
    if told:
        from audit.doors.carry_out import check_keywords  # loads numpy and more: only for an audit

        check_keywords(told, whose="The mark `audit`")
    return told


def spelt(options: Mapping[str, Any]) -> list[str]:
    """Return options as they are written on the command line.

    Examples
    --------
    >>> spelt({"time_limit": 30, "seed": 7})
    ['--audit-time-limit=30', '--audit-seed=7']
    """
    return [f"{_flag(name)}={value}" for name, value in options.items()]


def _flag(name: str) -> str:
    return f"--audit-{name.replace('_', '-')}"


def _text(config: pytest.Config, name: str, *, ini: bool = True) -> tuple[str, bool]:
    """Return an option's text, and whether the ini file holds it.

    The text is empty if the option was not given.
    """
    given = config.getoption(f"audit_{name}")
    return (given, False) if given is not None or not ini else (str(config.getini(f"audit_{name}")), True)


def _spelt(config: pytest.Config, parameter: Parameter) -> str:
    """Return the name of an option as it is spelt where it was given."""
    _, in_ini = _text(config, parameter.name)
    where = "" if config.inipath is None else f" of {config.inipath.name}"
    return f"`audit_{parameter.name}`{where}" if in_ini else f"`{_flag(parameter.name)}`"


def _number(text: str) -> Any:
    """Return the number that a text holds, an int if it is whole.

    If the text holds no number, return the text.

    Examples
    --------
    >>> _number("20_000"), _number("2e5"), _number("1e-6"), _number("many")
    (20000, 200000, 1e-06, 'many')
    """
    with suppress(ValueError):
        return int(text)
    with suppress(ValueError):
        number = float(text)
        return int(number) if number.is_integer() else number
    return text
