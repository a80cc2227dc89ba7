"""Run audits in tests.

The module has the object of a fixture. It also has a decorator that runs a test once for each subject.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, cast

import pytest

from audit.catalogue import Entry, Expected
from audit.codec.files import Unwritable, file_name
from audit.doors.regressions import replay_file
from audit.doors.session import spelt
from audit.errors import AuditError, NothingVaries
from audit.options import Kind, taken

if TYPE_CHECKING:  # not imported without audits
    import os
    from pathlib import Path

    from audit.results.result import AuditResult
    from audit.utility.result import UtilityResult
    from audit.utility.saved import Saved
    from audit.values.progress import Listener

PROPERTY = "dp_audit"  # the key in a test's `user_properties`; its value is a result's JSON text
UNSAVED = "dp_audit_unsaved"  # the key of the reason why a result could not be saved


@dataclass(frozen=True)
class Audited:
    """A subject or an `Entry`, with the options of its audit.

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
    """Return a decorator that runs a test once for each audit.

    The audit is passed as the argument ``audited``. A subject that claims both privacy and utility (with its
    problems) is audited twice. The tests carry the marker ``audit``.

    Parameters
    ----------
    audits
        Subjects, catalogue entries, or tuples (subject or entry, options of `audit_privacy`). A utility audit
        takes those options that mean the same in it, and ignores the others.

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


@dataclass(eq=False, repr=False)
class Auditor:
    """The object of the fixture ``auditor``.

    It runs audits, and fails the test on an unexpected verdict.

    Parameters
    ----------
    node
        The test, which gets each result as a user property.
    defaults
        Options of the session and of the test's mark. Options of a call override them.
    folder
        The folder where each result is saved as soon as it exists; None to save none.
    again
        Options of the pytest command line that a command must contain to repeat the test.
    progress
        Receives the progress events of each audit; None if they are not needed.

    Examples
    --------
    >>> Auditor.check.__name__
    'check'
    """

    node: pytest.Item
    _: KW_ONLY
    defaults: Mapping[str, Any]
    folder: Path | None = None
    again: Mapping[str, Any] = field(default_factory=dict)
    progress: Listener | None = None
    count: int = field(default=0, init=False)

    def check(self, subject: Any, claim: Any = None, **options: Any) -> Any:
        """Return the result of an audit, or fail the test on an unexpected verdict.

        REFUTED, ERROR and INCONCLUSIVE are unexpected. An `Entry` must have its expected verdict: a flawed
        entry has to be refuted.

        Parameters
        ----------
        subject, claim, **options
            As for `audit_privacy`. The subject may also be an `Entry`, or what `parametrize_with_audits`
            passes. This may stand for a utility audit.
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
        """Return the result of a utility audit, or fail the test if the claim is not met.

        An `Entry` must have the expected verdict on its utility.

        Parameters
        ----------
        subject, claim, **options
            As for `audit_utility`. The subject may also be an `Entry`, or what `parametrize_with_audits`
            passes.
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
        """Return the result of a replay, or fail the test if the refutation stands.

        The test also fails if the replay decides nothing. This happens if no run gives an answer, or if the
        runs are too few.

        Parameters
        ----------
        path
            A result saved as JSON, or what `parametrize_with_witnesses` passes.
        subject
            What to run. By default, with `trust`, the target that the saved result names.
        convert
            Turns a list of records into the input of the mechanism, as in the audit. By default, with
            `trust`, the function of the audit.
        fresh
            Draw new runs instead of repeating the saved ones.
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
        """Return the result of an audit, or fail the test on an unexpected verdict.

        If nothing is expected, a refutation fails the test.
        """
        __tracebackhide__ = True
        # loads numpy and more: only for an audit
        from audit.doors.carry_out import carry_out, carry_out_entry, check_keywords

        audited = _audited(subject)
        entry = audited.subject if isinstance(audited.subject, Entry) else None
        if expected is None and entry is not None:
            expected = entry.expects(kind)
        try:
            check_keywords({**audited.options, **(given if audited.utility else {})})
            options = {**taken(kind, self.defaults), **({} if entry is None else entry.options_for(kind))}
            options |= taken(kind, audited.options)
            options |= taken(kind, given) if audited.utility else given
            told: dict[str, Any] = {"options": options, "progress": self.progress}
            if entry is None:
                result = carry_out(kind, audited.subject, claim, **told)
            else:
                result = carry_out_entry(entry, kind, claim, **told)
        except AuditError as error:
            raise pytest.fail.Exception(str(error)) from None  # no traceback of ours is shown
        return self._judge(result, expected=expected)

    def _judge(self, result: Saved, *, expected: Expected | None) -> Any:
        """Keep the result, and fail the test on an unexpected verdict."""
        __tracebackhide__ = True
        from audit.doors.summary import carried_out, met, warning  # not imported without audits

        again = dict(self.again)
        if not getattr(result, "remembered", ()):  # omit the folder: by then it may hold pairs
            again.pop("remember", None)
        command = shlex.join(["python", "-m", "pytest", self.node.nodeid, *spelt(again)])
        self.count += 1
        environment = {**result.environment, "command": command, "number": self.count}
        result = dataclasses.replace(result, expected=expected, environment=environment)
        self._keep(result)
        if not met(result):
            from audit.words import text  # imported only for a failure

            missed = expected == "refuted" and carried_out(result) and not result.refuted
            pytest.fail(text.not_refuted(result) if missed else text.failure(result))
        if said := warning(result):
            try:
                self.node.warn(NothingVaries(said))
            except NothingVaries:  # if warnings are errors
                raise pytest.fail.Exception(said) from None
        return result

    def _keep(self, result: Saved) -> None:
        """Give the result to the session, and save it."""
        from audit.results.saved import save  # not imported without audits

        self.node.user_properties.append((PROPERTY, json.dumps(result.to_json())))
        if self.folder is None:
            return
        name = file_name(self.node.nodeid, ending=f"-{self.count}.json")
        try:
            save(result, self.folder / name)
        except Unwritable as error:  # the test goes on; the session reports this
            self.node.user_properties.append((UNSAVED, str(error)))


def _audited(given: Any) -> Audited:
    if isinstance(given, Audited):
        return given
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], Mapping):
        return Audited(given[0], given[1])
    return Audited(given)


def _claimed(audited: Audited) -> list[Audited]:
    """Return the audits of a subject, one for each of its claims.

    A subject without claims gets a privacy audit.
    """
    from audit.subject.claimed import claims  # light: it looks at attributes only

    if audited.utility:
        return [audited]
    kinds = claims(audited.subject, audited.options)
    return [dataclasses.replace(audited, utility=kind == "utility") for kind in kinds]


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
    """Return a text without memory addresses. pytest-xdist needs the same text in every process."""
    text = " ".join(repr(value).split())
    return text if len(text) <= limit and " at 0x" not in text else type(value).__name__
