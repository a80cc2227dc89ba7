"""The pytest plugin.

It has the marker, fixture, options, table and report. It imports little until the first audit.
"""

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from audit.doors.auditor import PROPERTY, UNSAVED, Auditor, parametrize_with_audits
from audit.doors.live import live
from audit.doors.regressions import parametrize_with_witnesses
from audit.doors.session import add_options, check_options, marked, options_of, place_of
from audit.errors import AuditError

__all__ = ["auditor", "parametrize_with_audits", "parametrize_with_witnesses"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of a session's audits."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and refuse options that cannot work."""
    config.addinivalue_line(
        "markers",
        "audit(**options): audits a privacy or utility claim (the fixture `auditor` sets it too); "
        "the options are those of `audit_privacy`",
    )
    is_worker = hasattr(config, "workerinput")
    check_options(config, writes=not is_worker)
    if not is_worker:
        config.pluginmanager.register(_Session(place_of(config, "report")), "dp-audit-session")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark tests that use the fixture, so that ``-m audit`` selects them."""
    if "auditor" in getattr(item, "fixturenames", ()):
        item.add_marker("audit")


@pytest.fixture
def auditor(request: pytest.FixtureRequest) -> Auditor:
    """Audit claims in a test: ``auditor.check(subject, claim)``, ``auditor.refute(subject, claim)``."""
    config = request.config
    try:
        mark = marked(request.node)
    except AuditError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None
    return Auditor(
        request.node,
        defaults={**options_of(config), **mark},
        folder=place_of(config, "json"),
        again=options_of(config, ini=False),
        progress=live(config),
    )


class _Session:
    """A pytest plugin that reports the audits of all test processes. It is registered in the main process."""

    def __init__(self, report: Path | None) -> None:
        self.report = report
        self.texts: dict[str, list[str]] = {}  # by test, as the reports of later phases repeat earlier texts
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
        from audit.doors.report_link import render_report  # imported only for a report

        try:
            render_report([json.loads(text) for text in _all(self.texts)], self.report)
        except AuditError as error:
            self.trouble = str(error)
            session.exitstatus = session.exitstatus or pytest.ExitCode.INTERNAL_ERROR

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if not self.texts:
            return
        from audit.doors.summary import ledger, line, together, total  # not imported without audits
        from audit.utility.saved import parse_any

        by_test = {test: [r for text in texts for r in parse_any(text)] for test, texts in self.texts.items()}
        results = list(chain.from_iterable(by_test.values()))
        terminalreporter.section("privacy audits")
        for result in results:
            terminalreporter.line(line(result))
        for said in filter(None, (total(results), *ledger(by_test), together(results))):
            terminalreporter.line(said)
        for why in _all(self.unsaved):
            terminalreporter.line(f"not saved: {why}")
        if self.report is not None:
            terminalreporter.line(self.trouble or f"report: {self.report}")


def _all(by_test: dict[str, list[str]]) -> Iterator[str]:
    return chain.from_iterable(by_test.values())
