"""The pytest plugin: marker, fixture, options, a session's table and report; light until the first audit."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from audit.doors.auditor import PROPERTY, UNSAVED, Auditor, parametrize_with_audits
from audit.doors.regressions import parametrize_with_witnesses
from audit.errors import AuditError
from audit.options import Options

if TYPE_CHECKING:
    from pathlib import Path

    from audit.utility.saved import Saved

__all__ = ["auditor", "parametrize_with_audits", "parametrize_with_witnesses"]


_NUMBERS = {"budget": int, "significance": float, "seed": int}
"""The options of an audit that a session may set, and their types."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of a session's audits."""
    group = parser.getgroup("dp-audit", "privacy audits")
    for name, kind in _NUMBERS.items():
        declared = Options.__dataclass_fields__[name].metadata
        group.addoption(f"--audit-{name}", type=kind, metavar=declared["metavar"], help=declared["help"])
    group.addoption("--audit-report", metavar="FILE", help="write an HTML report of all audits")
    group.addoption("--audit-json", metavar="FOLDER", help="save each result as soon as it exists")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker and refuse options that cannot work before any test runs."""
    config.addinivalue_line(
        "markers", "audit: audits a privacy or utility claim (the fixture `auditor` sets it too)"
    )
    _check_numbers(config)
    if hasattr(config, "workerinput"):
        return
    report, folder = _path(config, "audit_report"), _path(config, "audit_json")
    for path in (report, folder and folder / "_.json"):
        if path is not None:
            _check_writable(path)
    config.pluginmanager.register(_Session(report), "dp-audit-session")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark tests that use the fixture, so that ``-m audit`` selects them."""
    if "auditor" in getattr(item, "fixturenames", ()):
        item.add_marker("audit")


@pytest.fixture
def auditor(request: pytest.FixtureRequest) -> Auditor:
    """Audit claims in a test: ``auditor.check(subject, claim)``, ``auditor.refute(subject, claim)``."""
    return Auditor(request.node, defaults=_given(request.config), folder=_path(request.config, "audit_json"))


def _check_numbers(config: pytest.Config) -> None:
    try:
        Options(**_given(config))
    except AuditError as error:
        said = error.spelt(lambda parameter: f"`--audit-{parameter.name}`")
        raise pytest.UsageError(said) from error


def _given(config: pytest.Config) -> dict[str, Any]:
    options = {name: config.getoption(f"audit_{name}") for name in _NUMBERS}
    return {name: value for name, value in options.items() if value is not None}


def _check_writable(path: Path) -> None:
    from audit.codec.files import check_writable  # only when something is to be written

    try:
        check_writable(path)
    except AuditError as error:
        raise pytest.UsageError(str(error)) from error


def _path(config: pytest.Config, option: str) -> Path | None:
    text = config.getoption(option)
    return config.invocation_params.dir / text if text else None


class _Session:
    """What the process that reports knows of the session's audits, wherever they ran."""

    def __init__(self, report: Path | None) -> None:
        self.report = report
        self.texts: dict[str, list[str]] = {}  # by test: a report of a later phase has those before too
        self.trouble = ""
        self.unsaved: dict[str, list[str]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        found = [str(value) for name, value in report.user_properties if name == PROPERTY]
        if found:
            self.texts[report.nodeid] = found
        unsaved = [str(value) for name, value in report.user_properties if name == UNSAVED]
        if unsaved:
            self.unsaved[report.nodeid] = unsaved

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.unsaved:
            session.exitstatus = session.exitstatus or pytest.ExitCode.INTERNAL_ERROR
        if self.report is None or not self.texts:
            return
        from audit.doors.report_link import render_report  # only for a report

        try:
            render_report([json.loads(text) for text in self._all()], self.report)
        except AuditError as error:
            self.trouble = str(error)
            session.exitstatus = session.exitstatus or pytest.ExitCode.INTERNAL_ERROR

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if not self.texts:
            return
        from audit.doors.summary import line, together, total  # a session without audits stays light

        results = self._results()
        terminalreporter.section("privacy audits")
        for result in results:
            terminalreporter.line(line(result))
        for said in filter(None, (total(results), together(results))):
            terminalreporter.line(said)
        for why in (why for found in self.unsaved.values() for why in found):
            terminalreporter.line(f"not saved: {why}")
        if self.report is not None:
            terminalreporter.line(self.trouble or f"report: {self.report}")

    def _all(self) -> list[str]:
        return [text for texts in self.texts.values() for text in texts]

    def _results(self) -> list[Saved]:
        from audit.utility.saved import parse_any  # a session without audits stays light

        return [result for text in self._all() for result in parse_any(text)]
