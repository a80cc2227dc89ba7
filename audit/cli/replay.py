"""The work of ``dp-audit replay``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from audit.cli.exits import exit_code
from audit.errors import AuditError
from audit.options import read_options, read_parameters
from audit.replay import replay_witness
from audit.saved import load
from audit.subjects import adapt
from audit.targets import rebuild_subject

if TYPE_CHECKING:
    from collections.abc import Iterable


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
    subject = rebuild_subject(named, result.parameters, read_parameters(settings))
    adapted = adapt(subject, **read_options({"convert": convert}))
    again = replay_witness(result, adapted, fresh=fresh, isolate=True)
    click.echo(str(again))
    return exit_code(again)
