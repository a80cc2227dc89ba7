"""The work of ``dp-audit replay``."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import click

from audit.catalogue import Entry
from audit.cli.exits import exit_code
from audit.errors import AuditError
from audit.options import read_options, read_parameters
from audit.saved import load
from audit.subjects import adapt
from audit.targets import find_object, resolve_target

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from audit.results import AuditResult


def replay(
    witness: str, target: str | None, *, settings: Iterable[str], convert: str | None, fresh: bool
) -> int:
    """Draw a saved witness again, print what came out, and return the exit code."""
    result = load(witness)
    if result.witness is None:
        raise AuditError(f"{witness} holds no refutation, so there is nothing to replay.")
    named = target or result.target
    if named is None:
        raise AuditError(f"{witness} does not say what was audited; give the TARGET too.")
    subject = _subject(named, result, read_parameters(settings))
    again = result.replay(adapt(subject, **read_options({"convert": convert})), fresh=fresh)
    click.echo(str(again))
    return exit_code(again)


def _subject(target: str, result: AuditResult, settings: Mapping[str, Any]) -> Any:
    """Build the subject as it was: its saved parameters, as far as the target knows them."""
    found = find_object(target)
    factory = found.factory if isinstance(found, Entry) else found
    try:
        known = set(inspect.signature(factory).parameters)
    except (TypeError, ValueError):
        known = set()
    saved = {name: value for name, value in result.parameters.items() if name in known}
    return resolve_target(target, {**saved, **settings}).subject
