"""Audits inside a test: the fixture's object and the decorator that makes a test of each subject."""

from __future__ import annotations

import dataclasses
import functools
import json
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from audit.catalogue import Entry
from audit.errors import AuditError

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from audit.results import AuditResult

__all__ = ["PROPERTY", "Audited", "Auditor", "parametrize_with_audits"]

PROPERTY = "dp_audit"  # the key in a test's `user_properties`; its value is a result's JSON text


@dataclass(frozen=True)
class Audited:
    """A subject or an `Entry`, with the options it is audited with: what `parametrize_with_audits` passes.

    Examples
    --------
    >>> str(Audited(len, {"size": 3}))
    'len-size=3'
    """

    subject: Any
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return "-".join(
            [_name(self.subject), *(f"{key}={_short(value)}" for key, value in self.options.items())]
        )


def parametrize_with_audits(audits: Iterable[Any]) -> Callable[[Any], Any]:
    """Return a decorator that runs a test once for each audit, as its argument ``audited``.

    The tests carry the marker ``audit``.

    Parameters
    ----------
    audits
        Subjects, catalogue entries, or tuples (subject or entry, options of `audit_privacy`).

    Examples
    --------
    >>> @parametrize_with_audits([len, (sum, {"size": 3})])
    ... def test_privacy(audited, auditor):
    ...     auditor.check(audited)
    >>> [case.id for case in test_privacy.pytestmark[0].args[1]]
    ['len', 'sum-size=3']
    """
    cases = [_audited(each) for each in audits]
    return pytest.mark.parametrize(
        "audited", [pytest.param(case, id=str(case), marks=pytest.mark.audit) for case in cases]
    )


class Auditor:
    """What the fixture ``auditor`` gives: audits that fail the test they are in.

    Parameters
    ----------
    node
        The test, which gets each result as a user property.
    defaults
        Options of the session, used where the test gives none of its own.
    folder
        Where each result is saved as soon as it exists; None for nowhere.

    Examples
    --------
    >>> Auditor.check.__name__
    'check'
    """

    def __init__(self, node: pytest.Item, *, defaults: Mapping[str, Any], folder: Path | None = None) -> None:
        self._node, self._defaults, self._folder = node, dict(defaults), folder
        self._count = 0

    def check(self, subject: Any, claim: Any = None, **options: Any) -> AuditResult:
        """Return the result of an audit, or fail the test: on REFUTED, and where nothing could be said.

        An `Entry` is held to what it expects: one of the flawed gallery has to be refuted.

        Parameters
        ----------
        subject, claim, **options
            As for `audit_privacy`; also an `Entry` or what `parametrize_with_audits` passes.
        """
        __tracebackhide__ = True
        audited = _audited(subject)
        flawed = isinstance(audited.subject, Entry) and audited.subject.expected == "refuted"
        return self._hold(audited, claim, options, expected="refuted" if flawed else "not refuted")

    def refute(self, subject: Any, claim: Any = None, **options: Any) -> AuditResult:
        """Return the result of an audit, or fail the test unless it is REFUTED."""
        __tracebackhide__ = True
        return self._hold(_audited(subject), claim, options, expected="refuted")

    def check_witness(
        self, path: str | os.PathLike[str], subject: Any = None, *, convert: Any = None, fresh: bool = False
    ) -> AuditResult:
        """Return the result of replaying a saved refutation, or fail the test if it stands.

        Parameters
        ----------
        path
            A result saved as JSON, or what `parametrize_with_witnesses` passes.
        subject
            What to draw from; by default what the saved result names as its target.
        convert
            As in the audit: turns the list of records into what the mechanism takes.
        fresh
            Draw new runs instead of the same ones.
        """
        __tracebackhide__ = True
        from audit.regressions import replay_file  # a session without audits stays light

        result, refused = None, ""
        try:
            result = replay_file(path, subject=subject, convert=convert, fresh=fresh)
        except AuditError as error:
            refused = str(error)
        if result is None:  # said here, outside `except`, so that no traceback of ours is shown
            pytest.fail(refused)
        return self._judge(result, expected="not refuted")

    def _hold(
        self, audited: Audited, claim: Any, options: Mapping[str, Any], *, expected: str
    ) -> AuditResult:
        __tracebackhide__ = True
        result, refused = self._audit(audited, claim, options)
        if result is None:  # said here, outside `except`, so that no traceback of ours is shown
            pytest.fail(refused)
        return self._judge(result, expected=expected)

    def _judge(self, result: AuditResult, *, expected: str) -> AuditResult:
        """Keep the result, and fail the test unless it is what was expected."""
        __tracebackhide__ = True
        from audit.summary import carried_out, met  # a session without audits stays light

        session = [f"--audit-{name}={value}" for name, value in self._defaults.items()]
        command = shlex.join(["python", "-m", "pytest", self._node.nodeid, *session])
        environment = {**result.environment, "command": command}
        result = dataclasses.replace(result, expected=expected, environment=environment)
        self._keep(result)
        if not met(result):
            pytest.fail(
                _not_refuted(result) if carried_out(result) and not result.refuted else _failure(result)
            )
        return result

    def _audit(
        self, audited: Audited, claim: Any, given: Mapping[str, Any]
    ) -> tuple[AuditResult | None, str]:
        """Return the result, or None and why there is none."""
        from audit.privacy import audit_privacy  # numpy and more, only for an audit

        subject, options = audited.subject, {**audited.options, **given}
        told: dict[str, Any] = {}
        try:
            if isinstance(subject, Entry):
                options, told = {**subject.options, **options}, {"subject": subject.name}
                told |= {"reference": subject.reference} if subject.reference else {}
                subject = subject.factory()
            own_claim = options.pop("claim", None)
            merged = {**self._defaults, **options}
            result = audit_privacy(subject, own_claim if claim is None else claim, **merged)
        except AuditError as error:
            return None, str(error)
        return dataclasses.replace(result, **told), ""

    def _keep(self, result: AuditResult) -> None:
        """Hand the result to the session, and to the disk before anything else can go wrong."""
        from audit.saved import save  # a session without audits stays light

        self._node.user_properties.append((PROPERTY, json.dumps(result.to_json())))
        self._count += 1
        if self._folder is not None:
            name = re.sub(r"[^\w.=-]+", "_", self._node.nodeid)[-150:]
            save(result, self._folder / f"{name}-{self._count}.json")


def _failure(result: AuditResult) -> str:
    from audit import story, text  # words only where they are read

    if result.refuted:
        return text.short(result)
    lines = (
        f"{story.short(result.subject, 60)}: {result.verdict.name} on {story.title(result)}.",
        story.short(result.reason, 400),
        story.runs(result),
        f"Again: {story.reproduction(result)}",
    )
    return "\n".join(filter(None, lines))


def _not_refuted(result: AuditResult) -> str:
    from audit import story  # words only where they are read

    lines = (
        f"{story.short(result.subject, 60)} was expected to be refuted and is {result.verdict.name}.",
        story.bounds(result),
        story.runs(result),
        f"Again: {story.reproduction(result)}",
    )
    return "\n".join(filter(None, lines))


def _audited(given: Any) -> Audited:
    if isinstance(given, Audited):
        return given
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], Mapping):
        return Audited(given[0], given[1])
    return Audited(given)


def _name(subject: Any) -> str:
    if isinstance(subject, Entry):
        return subject.name
    if isinstance(subject, functools.partial):
        return "-".join(
            [_name(subject.func), *(f"{key}={_short(value)}" for key, value in subject.keywords.items())]
        )
    name = getattr(subject, "__qualname__", None) or getattr(subject, "__name__", None)
    return name if isinstance(name, str) else _short(subject, limit=60)


def _short(value: Any, *, limit: int = 30) -> str:
    """Return a text that is the same in every process, as xdist needs: no memory addresses."""
    text = " ".join(repr(value).split())
    return text if len(text) <= limit and " at 0x" not in text else type(value).__name__
