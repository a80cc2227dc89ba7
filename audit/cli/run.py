"""The work of ``dp-audit run``."""

from __future__ import annotations

import dataclasses
import json
import shlex
from typing import TYPE_CHECKING, Any

import click

from audit.cli.exits import exit_code
from audit.options import read_claim, read_options, read_parameters
from audit.privacy import audit_privacy
from audit.progress import terminal_progress
from audit.report_link import render_report
from audit.saved import check_writable, save
from audit.targets import resolve_target

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from audit.results import AuditResult


def run(
    target: str,
    *,
    settings: Iterable[str],
    html: Path | None,
    saved: str | None,
    given: Mapping[str, Any],
) -> int:
    """Audit one target, print and save what was found, and return the exit code."""
    if html is not None:
        check_writable(html)
    if saved is not None and saved != "-":
        check_writable(saved)
    result = audit_target(target, read_parameters(settings), given)
    try:
        if saved is not None and saved != "-":
            save(result, saved)
        if html is not None:
            render_report([result.to_json()], html)
    finally:  # a full disk must not take the result along
        click.echo(json.dumps(result.to_json()) if saved == "-" else str(result))
    return exit_code(result)


def audit_target(target: str, parameters: Mapping[str, Any], given: Mapping[str, Any]) -> AuditResult:
    """Return the result of auditing a target in a child process, with the options that were given."""
    texts = dict(given)
    claim = read_claim(texts.pop("epsilon", None), texts.pop("delta", None))
    chosen = read_options(texts)
    found = resolve_target(target, parameters)
    options = {**found.options, **chosen, "isolate": True}
    own_claim = options.pop("claim", None)
    with terminal_progress() as progress:
        result = audit_privacy(
            found.subject, own_claim if claim is None else claim, **options, progress=progress
        )
    return dataclasses.replace(
        result,
        subject=found.name or result.subject,
        target=target,
        expected=found.expected,
        reference=found.reference or result.reference,
        parameters={**result.parameters, **parameters},
        environment={**result.environment, "command": command_line(target, parameters, given)},
    )


def command_line(target: str, parameters: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """Return the command that repeats an audit.

    Examples
    --------
    >>> command_line("m.py:f", {"k": 2}, {"epsilon": 1.0, "pair": (("[0]", "[1]"),), "time_limit": None})
    "dp-audit run m.py:f --set k=2 --epsilon 1.0 --pair '[0]' '[1]'"
    """
    words = ["dp-audit", "run", target]
    for name, value in parameters.items():
        words += ["--set", f"{name}={value}"]
    for name, value in given.items():
        option = f"--{name.replace('_', '-')}"
        sides = value if isinstance(value, tuple) else () if value is None else ((value,),)
        for each in sides:
            words += [option, *map(str, each)]
    return shlex.join(words)
