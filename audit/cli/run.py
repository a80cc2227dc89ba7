"""The work of ``dp-audit run``."""

from __future__ import annotations

import dataclasses
import json
import shlex
from typing import TYPE_CHECKING, Any

import click

from audit.cli.exits import NOTHING_REFUTED, exit_code
from audit.explain import explain, task_of
from audit.mutation import check_scalable, mutation_check
from audit.options import read_claim, read_options, read_parameters
from audit.privacy import audit_privacy
from audit.progress import terminal_progress
from audit.report_link import render_report
from audit.saved import check_writable, layout, write_text
from audit.subjects import adapt
from audit.summary import carried_out
from audit.targets import resolve_target

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from audit.results import AuditResult
    from audit.targets import Target


def run(
    target: str,
    *,
    settings: Iterable[str],
    html: Path | None,
    saved: str | None,
    mutate: bool,
    given: Mapping[str, Any],
) -> int:
    """Audit one target, print and save what was found, and return the exit code."""
    if html is not None:
        check_writable(html)
    if saved is not None and saved != "-":
        check_writable(saved)
    parameters = read_parameters(settings)
    if mutate:  # what will be refused then is refused before hours of work
        found, claim, _ = _read(target, parameters, given)
        check_scalable(adapt(found.subject).claim if claim is None else claim)
    result = audit_target(target, parameters, given)
    document = result.to_json()
    try:
        try:
            _save(document, saved)
            if html is not None:
                render_report([document], html)
            _say_written(saved, html)
        finally:
            if saved != "-":
                click.echo(str(result))
        if mutate:
            document["mutation"] = _mutate(result, target, parameters, given, quiet=saved == "-")
            _save(document, saved)
    finally:  # neither a full disk nor Ctrl-C must take the result along
        if saved == "-":
            click.echo(json.dumps(document))
    return exit_code(result)


def _save(document: Mapping[str, Any], saved: str | None) -> None:
    if saved is not None and saved != "-":
        write_text(saved, layout(document) + "\n")


def _say_written(*places: Path | str | None) -> None:
    """Say on stderr where the result went; stdout holds the result itself."""
    for place in places:
        if place is not None and place != "-":
            click.echo(f"wrote {place}", err=True)


def explain_target(target: str, *, settings: Iterable[str], given: Mapping[str, Any]) -> int:
    """Print the plan of an audit, which is not carried out."""
    found, claim, options = _read(target, read_parameters(settings), given)
    click.echo(explain(task_of(found.subject, claim, **options)))
    return NOTHING_REFUTED


def _mutate(
    result: AuditResult,
    target: str,
    parameters: Mapping[str, Any],
    given: Mapping[str, Any],
    *,
    quiet: bool,
) -> dict[str, Any] | None:
    """Print whether a false claim would have been noticed, and return that as JSON."""
    if result.refuted or not carried_out(result):
        click.echo("\nNo mutation check: it asks whether an audit that refuted nothing is alive.", err=quiet)
        return None
    found, _, options = _read(target, parameters, given)
    with terminal_progress() as progress:
        check = mutation_check(found.subject, result.claim, **options, progress=progress)
    click.echo(f"\n{check}", err=quiet)
    return check.to_json()


def _read(
    target: str, parameters: Mapping[str, Any], given: Mapping[str, Any]
) -> tuple[Target, Any, dict[str, Any]]:
    """Return the subject, the claim (None for its own) and the options of `audit_privacy`."""
    texts = dict(given)
    claim = read_claim(texts.pop("epsilon", None), texts.pop("delta", None))
    chosen = read_options(texts)
    found = resolve_target(target, parameters)
    options = {**found.options, **chosen, "isolate": True}
    own_claim = options.pop("claim", None)
    return found, own_claim if claim is None else claim, options


def audit_target(target: str, parameters: Mapping[str, Any], given: Mapping[str, Any]) -> AuditResult:
    """Return the result of auditing a target in a child process, with the options that were given."""
    found, claim, options = _read(target, parameters, given)
    with terminal_progress() as progress:
        result = audit_privacy(found.subject, claim, **options, progress=progress)
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
