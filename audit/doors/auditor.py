"""Audits inside a test: the fixture's object and the decorator that makes a test of each subject."""

from __future__ import annotations

import dataclasses
import functools
import json
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import pytest

from audit.catalogue import Entry, Expected
from audit.codec.files import Unwritable, file_name
from audit.doors.regressions import replay_file
from audit.doors.session import spelt
from audit.errors import AuditError, NothingVaries
from audit.options import Kind, taken

if TYPE_CHECKING:  # a session without audits stays light
    import os
    from pathlib import Path

    from audit.results.result import AuditResult
    from audit.utility.result import UtilityResult
    from audit.utility.saved import Saved
    from audit.values.progress import Listener

PROPERTY = "dp_audit"  # the key in a test's `user_properties`; its value is a result's JSON text
UNSAVED = "dp_audit_unsaved"  # the key of why a result could not be saved


@dataclass(frozen=True)
class Audited:
    """A subject or an `Entry`, with the options it is audited with: what `parametrize_with_audits` passes.

    Examples
    --------
    >>> str(Audited(len, {"size": 3})), str(Audited(len, utility=True))
    ('len-size=3', 'len-utility')
    """

    subject: Any
    options: Mapping[str, Any] = field(default_factory=dict)
    utility: bool = False

    def __str__(self) -> str:
        told = [_name(self.subject), *(f"{key}={_short(value)}" for key, value in self.options.items())]
        return "-".join([*told, "utility"] if self.utility else told)


def parametrize_with_audits(audits: Iterable[Any]) -> Callable[[Any], Any]:
    """Return a decorator that runs a test once for each audit, as its argument ``audited``.

    A subject that claims both privacy and utility (with its problems) is audited twice. The tests carry the
    marker ``audit``.

    Parameters
    ----------
    audits
        Subjects, catalogue entries, or tuples (subject or entry, options of `audit_privacy`, of which the
        utility audit takes those that it has too).

    Examples
    --------
    >>> @parametrize_with_audits([len, (sum, {"size": 3})])
    ... def test_privacy(audited, auditor):
    ...     auditor.check(audited)
    >>> [case.id for case in test_privacy.pytestmark[0].args[1]]
    ['len', 'sum-size=3']
    """
    cases = [case for each in audits for case in _claimed(_audited(each))]
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
        Options of the session and of the test's mark, used where a call gives none of its own.
    folder
        Where each result is saved as soon as it exists; None for nowhere.
    again
        Options of the command line, which a command that repeats the test needs too.
    progress
        Hears of each audit as it runs; None for nobody.

    Examples
    --------
    >>> Auditor.check.__name__
    'check'
    """

    def __init__(
        self,
        node: pytest.Item,
        *,
        defaults: Mapping[str, Any],
        folder: Path | None = None,
        again: Mapping[str, Any] = MappingProxyType({}),
        progress: Listener | None = None,
    ) -> None:
        self._node, self._defaults, self._folder = node, dict(defaults), folder
        self._again, self._progress = again, progress
        self._count = 0

    def check(self, subject: Any, claim: Any = None, **options: Any) -> Any:
        """Return the result of an audit, or fail the test: on REFUTED, and where nothing could be said.

        An `Entry` is held to what it expects: one of the flawed gallery has to be refuted.

        Parameters
        ----------
        subject, claim, **options
            As for `audit_privacy`; also an `Entry` or what `parametrize_with_audits` passes, which may be the
            utility audit of a subject.
        """
        __tracebackhide__ = True
        audited = _audited(subject)
        only_utility = isinstance(audited.subject, Entry) and audited.subject.options is None
        kind: Kind = "utility" if audited.utility or only_utility else "privacy"
        return self._hold(kind, audited, claim, options)

    def refute(self, subject: Any, claim: Any = None, **options: Any) -> AuditResult:
        """Return the result of an audit, or fail the test unless it is REFUTED."""
        __tracebackhide__ = True
        return cast("AuditResult", self._hold("privacy", subject, claim, options, expected="refuted"))

    def check_utility(self, subject: Any, claim: Any = None, **options: Any) -> UtilityResult:
        """Return the result of a utility audit, or fail the test unless the claim was met.

        An `Entry` is held to what it expects of its utility.

        Parameters
        ----------
        subject, claim, **options
            As for `audit_utility`; also an `Entry` or what `parametrize_with_audits` passes.
        """
        __tracebackhide__ = True
        return cast("UtilityResult", self._hold("utility", subject, claim, options))

    def refute_utility(self, subject: Any, claim: Any = None, **options: Any) -> UtilityResult:
        """Return the result of a utility audit, or fail the test unless it is REFUTED."""
        __tracebackhide__ = True
        return cast("UtilityResult", self._hold("utility", subject, claim, options, expected="refuted"))

    def check_witness(
        self,
        path: str | os.PathLike[str],
        subject: Any = None,
        *,
        convert: Any = None,
        fresh: bool = False,
        trust: bool = False,
    ) -> AuditResult:
        """Return the result of replaying a saved refutation, or fail the test if it stands.

        It fails too where the runs decide nothing: none of them gives an answer, or they are too few.

        Parameters
        ----------
        path
            A result saved as JSON, or what `parametrize_with_witnesses` passes.
        subject
            What to draw from; by default, with `trust`, what the saved result names as its target.
        convert
            As in the audit: turns the list of records into what the mechanism takes; by default, with
            `trust`, the audit's own.
        fresh
            Draw new runs instead of the same ones.
        trust
            Import and call what the file names.
        """
        __tracebackhide__ = True
        try:
            result = replay_file(path, subject=subject, convert=convert, fresh=fresh, trust=trust)
        except AuditError as error:
            raise pytest.fail.Exception(str(error)) from None  # no traceback of ours is shown
        return cast("AuditResult", self._judge(result, expected=None))

    def _hold(
        self,
        kind: Kind,
        subject: Any,
        claim: Any,
        given: Mapping[str, Any],
        *,
        expected: Expected | None = None,
    ) -> Any:
        """Return the result of an audit, or fail the test unless it is what was expected (of an entry).

        Where nothing is expected, a refutation fails the test.
        """
        __tracebackhide__ = True
        from audit.doors.carry_out import carry_out, check_keywords  # numpy and more, only for an audit
        from audit.doors.formulas import with_formulas

        audited = _audited(subject)
        entry = audited.subject if isinstance(audited.subject, Entry) else None
        if expected is None and entry is not None:
            expected = entry.expects(kind)
        try:
            check_keywords({**audited.options, **(given if audited.utility else {})})
            options = {**taken(kind, self._defaults), **({} if entry is None else entry.options_for(kind))}
            options |= taken(kind, audited.options)
            options |= taken(kind, given) if audited.utility else given
            made = audited.subject if entry is None else entry.factory()
            result = carry_out(kind, made, claim, options=options, progress=self._progress)
            if entry is not None:
                result = with_formulas(result, entry, kind, made)
        except AuditError as error:
            raise pytest.fail.Exception(str(error)) from None  # no traceback of ours is shown
        if entry is not None:
            reference = entry.reference or result.reference
            result = dataclasses.replace(result, subject=entry.name, reference=reference)
        return self._judge(result, expected=expected)

    def _judge(self, result: Saved, *, expected: Expected | None) -> Any:
        """Keep the result, and fail the test unless it is what was expected."""
        __tracebackhide__ = True
        from audit.doors.summary import carried_out, met, warning  # a session without audits stays light

        again = dict(self._again)
        if not getattr(result, "remembered", ()):  # nothing was remembered, and now something may be
            again.pop("remember", None)
        command = shlex.join(["python", "-m", "pytest", self._node.nodeid, *spelt(again)])
        environment = {**result.environment, "command": command}
        result = dataclasses.replace(result, expected=expected, environment=environment)
        self._keep(result)
        if not met(result):
            from audit.words import text  # words only where they are read

            missed = expected == "refuted" and carried_out(result) and not result.refuted
            pytest.fail(text.not_refuted(result) if missed else text.failure(result))
        if said := warning(result):
            try:
                self._node.warn(NothingVaries(said))
            except NothingVaries:  # where warnings are errors
                raise pytest.fail.Exception(said) from None
        return result

    def _keep(self, result: Saved) -> None:
        """Hand the result to the session, and to the disk before anything else can go wrong."""
        from audit.results.saved import save  # a session without audits stays light

        self._node.user_properties.append((PROPERTY, json.dumps(result.to_json())))
        self._count += 1
        if self._folder is None:
            return
        name = file_name(self._node.nodeid, ending=f"-{self._count}.json")
        try:
            save(result, self._folder / name)
        except Unwritable as error:  # the result is told all the same, and the session says this at its end
            self._node.user_properties.append((UNSAVED, str(error)))


def _audited(given: Any) -> Audited:
    if isinstance(given, Audited):
        return given
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], Mapping):
        return Audited(given[0], given[1])
    return Audited(given)


def _claimed(audited: Audited) -> list[Audited]:
    """Return the audits of one subject: of what it claims, of its privacy if it claims nothing."""
    from audit.subject.claimed import claims  # light: it looks at attributes only

    subject, options = audited.subject, audited.options
    if audited.utility:
        return [audited]
    kinds = claims(subject, options)
    return [Audited(subject, options, utility=kind == "utility") for kind in kinds]


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
