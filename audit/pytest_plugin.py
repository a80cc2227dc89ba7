"""The pytest plugin: marker, fixture, options, a session's table and report; light until the first audit."""

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from audit.codec.files import check_writable
from audit.doors.auditor import PROPERTY, UNSAVED, Auditor, parametrize_with_audits
from audit.doors.regressions import parametrize_with_witnesses
from audit.errors import AuditError
from audit.options import Options

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
    is_worker = hasattr(config, "workerinput")
    report, folder = _path(config, "audit_report"), _path(config, "audit_json")
    try:
        Options(**_given(config))
        for path in () if is_worker else filter(None, (report, folder and folder / "_.json")):
            check_writable(path)
    except AuditError as error:
        said = error.spelt(lambda parameter: f"`--audit-{parameter.name}`")
        raise pytest.UsageError(said) from error
    if not is_worker:
        config.pluginmanager.register(_Session(report), "dp-audit-session")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark tests that use the fixture, so that ``-m audit`` selects them."""
    if "auditor" in getattr(item, "fixturenames", ()):
        item.add_marker("audit")


@pytest.fixture
def auditor(request: pytest.FixtureRequest) -> Auditor:
    """Audit claims in a test: ``auditor.check(subject, claim)``, ``auditor.refute(subject, claim)``."""
    return Auditor(request.node, defaults=_given(request.config), folder=_path(request.config, "audit_json"))


def _given(config: pytest.Config) -> dict[str, Any]:
    options = {name: config.getoption(f"audit_{name}") for name in _NUMBERS}
    return {name: value for name, value in options.items() if value is not None}


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
        for name, known in ((PROPERTY, self.texts), (UNSAVED, self.unsaved)):
            found = [str(value) for key, value in report.user_properties if key == name]
            if found:
                known[report.nodeid] = found

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.unsaved:
            session.exitstatus = session.exitstatus or pytest.ExitCode.INTERNAL_ERROR
        if self.report is None or not self.texts:
            return
        from audit.doors.report_link import render_report  # only for a report

        try:
            render_report([json.loads(text) for text in _all(self.texts)], self.report)
        except AuditError as error:
            self.trouble = str(error)
            session.exitstatus = session.exitstatus or pytest.ExitCode.INTERNAL_ERROR

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if not self.texts:
            return
        from audit.doors.summary import line, together, total  # a session without audits stays light
        from audit.utility.saved import parse_any

        results = [result for text in _all(self.texts) for result in parse_any(text)]
        terminalreporter.section("privacy audits")
        for result in results:
            terminalreporter.line(line(result))
        for said in filter(None, (total(results), together(results))):
            terminalreporter.line(said)
        for why in _all(self.unsaved):
            terminalreporter.line(f"not saved: {why}")
        if self.report is not None:
            terminalreporter.line(self.trouble or f"report: {self.report}")


def _all(by_test: dict[str, list[str]]) -> Iterator[str]:
    return chain.from_iterable(by_test.values())
