"""Damaged and hostile files are refused at once, in one line.

Readable files give exactly what they hold. benchmarks/hostile_files.py makes 55 texts from each good
file. There is a good file of every kind of saved result.
"""

import json
import math
import sys
import time

import pytest

from audit import ApproximateDP, AuditResult, Evidence, PureDP, audit_privacy
from audit.claims import PAC
from audit.distributions import Finite
from audit.doors.regressions import replay_file
from audit.doors.report_link import render_report
from audit.doors.saved_parts import load_attached
from audit.doors.summary import line
from audit.errors import AuditError
from audit.findings import Finding, Table
from audit.findings.saved import to_json as finding_json
from audit.problems import FixedProblem
from audit.self_audit.row import Row, SelfAudit
from audit.self_audit.saved import to_json as self_audit_json
from audit.studies.cells import Cell, Step
from audit.studies.results import CurveResult, StudyResult
from audit.studies.saved import to_json as study_json
from audit.utility.front import audit_utility
from audit.utility.saved import parse_any

EACH = 55
SECONDS = 5.0
PROBLEM = FixedProblem("one", [0], lambda output, _: float(output))
OPTIONS = {"pairs": [([0], [1])], "budget": 2000, "confirm_budget": 200}
EVIL = "import pathlib\npathlib.Path(__file__).with_name('it was imported').touch()\nclass Evil: pass\n"


def leak(database, rng):
    """Return the record, or rarely the other bit."""
    return database[0] if rng.random() < 0.98 else 1 - database[0], 1.5


def coin(database, rng):
    return int(rng.integers(0, 2)), 1.5


class Declared:
    """A mechanism that is ln 9 = 2.20-private with equality."""

    def __call__(self, database, rng):
        return database[0] if rng.random() < 0.9 else 1 - database[0]

    def distribution(self, database):
        return Finite([database[0], 1 - database[0]], [0.9, 0.1])


def study():
    cells = (
        Cell(1.0, 1.0, 5.0, (Step(9, "refuted"), Step(10, "met", high=0.1, runs=5))),
        Cell(4.0, 4.0, None, (Step(36, "refuted"), Step(40, "met", how="exact", family="two problems"))),
    )
    curve = CurveResult("all", "a theorem", "grows", cells, "exponential")
    return study_json(StudyResult("demo", "All.", "PAC(0.1, 0.1)", curves=(curve,)))


def finding():
    table = Table(("n", "found"), ((1, 0.5), (2, "none")))
    numbers = {"claimed": 0.5, "found": 0.7, "tables": (table,)}
    return finding_json(Finding("E1", "a theorem", "It holds.", "false", "It does not.", **numbers))


def self_audit():
    alarms = Row(
        "a", "b", 50, 0.1, 0.0, 0.4, side="at most", limit=0.1, chance=1e-6, details=(("c", "5 of 50"),)
    )
    runs = Row("a", "runs", 3, 9.0, 7.0, math.inf, kind="runs", spread="range", note="none missed")
    return self_audit_json(SelfAudit((alarms, runs), "quick", 0, planned=2, level=1e-6))


GOOD = {
    "of runs": lambda: audit_privacy(leak, PureDP(1.0), **OPTIONS).to_json(),
    "of laws": lambda: audit_privacy(Declared(), PureDP(1.0), **OPTIONS).to_json(),
    "not refuted": lambda: audit_privacy(coin, ApproximateDP(1.0, 1e-3), **OPTIONS).to_json(),
    "of utility": lambda: audit_utility(lambda database: 1, PAC(0.1, 0.1), problems=[PROBLEM]).to_json(),
    "a study": study,
    "a finding": finding,
    "a self-audit": self_audit,
}


def _by_runs(result):
    return isinstance(result, AuditResult) and result.witness and result.evidence is Evidence.STATISTICAL


def read_all(path, page):
    """Read, print, write, show and replay what a file holds, as the commands do."""
    text = path.read_bytes()
    if any(kind in text for kind in (b'"study"', b'"finding"', b'"self_audit"')):
        render_report(None, page, **load_attached([path]))
        return
    results = parse_any(text)
    stated = json.loads(text)
    assert results[0].verdict.value == stated["result"]["verdict"]
    for result in results:
        assert line(result)
        assert str(result)
        written = json.dumps(result.to_json())
        assert [json.dumps(again.to_json()) for again in parse_any(written)] == [written]
    render_report([stated], page)
    if _by_runs(results[0]):
        assert not replay_file(path, subject=coin).refuted  # its runs are no evidence against any claim


@pytest.fixture
def evil(tmp_path, monkeypatch):
    """Return a folder for the files, with a module that must not be imported."""
    (tmp_path / "evil_module.py").write_text(EVIL)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.parametrize("good", GOOD.values(), ids=GOOD.keys())
def test_a_damaged_or_hostile_file_is_refused_at_once_or_read_exactly(evil, hostile_files, good):
    document, path, page = good(), evil / "file.json", evil / "page.html"
    path.write_text(json.dumps(document))
    read_all(path, page)
    loaded, lines = {*sys.modules}, []
    for text in hostile_files.corpus(document, seed=0, size=EACH):
        path.write_bytes(text)
        began = time.process_time()
        try:
            read_all(path, page)
        except AuditError as error:
            lines.append(str(error))
        assert time.process_time() - began < SECONDS, text
    assert {name for name in {*sys.modules} - loaded if not name.startswith("encodings.")} == set()
    assert not (evil / "it was imported").exists()
    assert not any("\n" in line for line in lines)
    assert len(lines) > EACH / 2  # a corpus that damages no file tests nothing
