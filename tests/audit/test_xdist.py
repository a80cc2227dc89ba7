"""`pytest -m audit -n 2` gives the verdicts and texts of one process."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

TESTS = """
from audit.claims import PureDP
from audit.pytest_plugin import parametrize_with_audits

def leak(database, rng):
    return sum(database)

def coin(database, rng):
    return int(rng.integers(0, 2))

def loud(database, rng):
    return sum(database) + rng.laplace(scale=0.4)

def failing(database, rng):
    raise RuntimeError("the backend is down")

options = dict(claim=PureDP(epsilon=1.0), pairs=[([0], [1])], budget=2000, confirm_budget=1000)
unrecorded = dict(options, recorded=False)
subjects = (leak, coin, loud, failing)

@parametrize_with_audits([(subject, options) for subject in subjects])
def test_each(audited, auditor):
    auditor.check(audited)

def test_refute(auditor):
    auditor.refute(loud, seed=5, **options)

def test_refute_in_vain(auditor):
    auditor.refute(coin, significance=1e-4, **unrecorded)

def test_two(auditor):
    auditor.check(coin, **unrecorded)
    auditor.check(coin, seed=2, **unrecorded)

def test_no_audit():
    pass
"""
NAMES = ("leak", "coin", "loud", "failing")


class Session:
    """One session of the tests, with its output and files."""

    def __init__(self, folder, *arguments):
        folder.mkdir()
        (folder / "test_privacy.py").write_text(TESTS)
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-W", "error", "-m", "audit"]
        command += ["--junitxml=junit.xml", "--audit-report=page/index.html", "--audit-json=results"]
        ran = subprocess.run([*command, *arguments], cwd=folder, capture_output=True, text=True, check=False)
        self.folder, self.code, self.out = folder, ran.returncode, ran.stdout
        self.cases = list(ET.parse(folder / "junit.xml").getroot().iter("testcase"))

    def results(self):
        """Return the results in the properties of each test."""
        return {
            case.get("name"): [json.loads(each.get("value"))["result"] for each in case.iter("property")]
            for case in self.cases
        }

    def failures(self):
        """Return the lines that each failed test shows."""
        texts = {case.get("name"): case.findtext("failure") for case in self.cases}
        return {
            name: [line for line in text.splitlines() if line.startswith("E ")]
            for name, text in texts.items()
            if text is not None
        }

    def table(self):
        """Return the lines about the audits, sorted."""
        section = self.out.split("= privacy audits =")[1].split("= short test summary")[0]
        return sorted(line for line in section.splitlines() if line.strip("= "))


@pytest.fixture(scope="module")
def sessions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sessions")
    return Session(folder / "alone"), Session(folder / "together", "-n", "2")


def test_workers_give_the_same_results_to_the_last_byte(sessions):
    alone, together = (session.results() for session in sessions)
    assert len(alone) == 7
    assert together == alone
    assert sessions[0].code == sessions[1].code == 1


def test_the_verdicts_are_those_expected(sessions):
    results = sessions[1].results()
    by_name = {name.split("[")[1].split("-")[0]: r for name, r in results.items() if "[" in name}
    assert [by_name[name][0]["verdict"] for name in NAMES] == ["refuted", "not refuted", "refuted", "error"]
    assert results["test_refute"][0]["expected"] == "refuted"
    assert [result["seed"] for result in results["test_two"]] == [0, 2]


def test_both_sessions_print_one_table_and_one_sum(sessions):
    """There are seven audits at significance 1e-6 and one at 1e-4.

    Two refutations were expected and one occurred.
    """
    alone, together = (session.table() for session in sessions)
    assert [line for line in together if "report:" not in line] == [
        line for line in alone if "report:" not in line
    ]
    assert "8 audits, 1 of 2 as expected; total significance spent: 0.000107" in alone
    assert "  0.0001  93.5 %  test_privacy.py::test_refute_in_vain" in alone
    assert "   2e-06  1.87 %  test_privacy.py::test_two, 2 audits" in alone
    assert sum("   1e-06  0.935 %  test_privacy.py::" in line for line in alone) == 5
    assert sum("report:" in line for line in together) == 1


def test_both_sessions_write_one_report_of_every_audit(sessions):
    for session in sessions:
        assert [path.name for path in session.folder.rglob("*.html")] == ["index.html"]
        page = (session.folder / "page" / "index.html").read_text()
        assert all(name in page for name in NAMES)
    assert len(list((sessions[1].folder / "results").iterdir())) == 8


def test_a_failure_shows_no_code_of_ours(sessions):
    for session in sessions:
        failures = session.failures()
        assert len(failures) == 4
        assert not any("/audit/" in line for lines in failures.values() for line in lines)


def test_a_refutation_gives_sentence_evidence_numbers_reproduction_and_fault(sessions):
    [lines] = [lines for name, lines in sessions[1].failures().items() if "[loud" in name]
    text = " ".join(line.removeprefix("E").strip() for line in lines)
    assert "loud does not satisfy its claim: PureDP(epsilon=1) under replace-one is refuted" in lines[0]
    for words in (
        "happens with probability",
        "runs on each side",
        "The true ε is at least",
        "Again:",
        "Fault: noise too small",
    ):
        assert words in text
    assert "test_privacy.py::test_each[loud" in text
