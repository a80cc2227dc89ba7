"""Findings and studies appear beside the audits of a suite, or are refused early."""

import json
import math
from importlib import import_module

import pytest

from audit.catalogue import Entry
from audit.claims import PureDP
from audit.doors.cli import main
from audit.doors.saved_parts import load_attached
from audit.errors import AuditError
from audit.findings import Finding, Table
from audit.findings.saved import from_json
from audit.findings.saved import to_json as finding_json
from audit.results.result import AuditResult, Evidence, Verdict
from audit.self_audit.row import SelfAudit
from audit.self_audit.saved import to_json as self_audit_json
from audit.studies.cells import Cell, Step
from audit.studies.results import CurveResult, StudyResult
from audit.studies.saved import to_json as study_json

# This module must import the true `load_catalogue` before the fixture `suite` replaces it.
import_module("audit.subject.targets")

FINDING = finding_json(Finding("E1", "B Thm 7", "It holds.", "false", "It does not."))
CURVE = CurveResult(
    "pure",
    "Thm 1",
    "grows",
    (
        Cell(1.0, 1.0, 40.0, (Step(9, "refuted"), Step(10, "met"))),
        Cell(10.0, 10.0, 400.0, (Step(95, "refuted"), Step(100, "met"))),
    ),
)
STUDY = study_json(StudyResult("point", "All.", "PAC(0.1, 0.1)", axis="d", parameter="d", curves=(CURVE,)))
SELF_AUDIT = self_audit_json(SelfAudit((), "quick", 0, planned=3, level=1e-6))
AUDIT = AuditResult("m", None, Verdict.ERROR, Evidence.EXACT).to_json()

BAD = {
    "missing": (None, "cannot be read: No such file"),
    "not json": ("[{", "not JSON at line 1 column 3: Expecting property name"),
    "not text": (b"\xff\xfe\x00", "not UTF-8 text: byte 2 is invalid"),
    "deep": ("[" * 100_000, "nested too deeply"),
    "empty": ("", "not JSON at line 1 column 1: Expecting value"),
    "a saved audit": (json.dumps([FINDING, AUDIT]), "document 2 is not a finding, study or self-audit"),
    "a number": ("3", "document 1 is not a finding, study or self-audit"),
    "other schema": (
        json.dumps({**FINDING, "schema": 9}),
        "document 1: This is not a saved finding of schema 1",
    ),
    "damaged finding": (json.dumps({"schema": 1, "finding": {"name": "E1"}}), "finding is damaged"),
    "damaged study": (json.dumps([{"schema": 1, "study": {"curves": 3}}]), "study is damaged"),
    "study of nothing": (json.dumps([{"schema": 1, "study": []}]), "not a saved study"),
    "finding of no sense": (
        json.dumps({**FINDING, "finding": {**FINDING["finding"], "judgement": "odd"}}),
        "document 1: The saved finding is damaged: The `judgement` of a `Finding` must be",
    ),
}


def changed(document, *path, to):
    """Return the JSON text of one document in a list, changed at a path."""
    whole = json.loads(json.dumps(document))
    inner = whole
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = to
    return json.dumps([whole])


NUMBERS = finding_json(
    Finding(
        "E1",
        "B Thm 7",
        "It holds.",
        "false",
        "It does not.",
        claimed=0.5,
        found=math.inf,
        tables=(Table(("n", "found"), ((1, 0.5), (2, "none"))),),
    )
)
CELL = ("study", "curves", 0, "cells", 1)
BAD |= {
    "text for a claimed number": (
        changed(NUMBERS, "finding", "claimed", to="0.5"),
        "damaged: The claimed of a `Finding` must be a number or null; got '0.5'",
    ),
    "a list for a found number": (changed(NUMBERS, "finding", "found", to=[1]), "found of a `Finding`"),
    "a truth value for a number": (changed(NUMBERS, "finding", "found", to=True), "found of a `Finding`"),
    "a number for a text": (
        changed(NUMBERS, "finding", "shown", to=3),
        "shown of a `Finding` must be text",
    ),
    "null in a table": (
        changed(NUMBERS, "finding", "tables", 0, "rows", to=[[1, None]]),
        "rows of a `Table` must be a list of rows of numbers and strings",
    ),
    "no rows": (changed(NUMBERS, "finding", "tables", 0, "rows", to=3), "rows of a `Table`"),
    "text for a parameter": (
        changed(STUDY, *CELL, "value", to="4"),
        "value of a `Cell` must be a finite number",
    ),
    "text for a bound": (
        changed(STUDY, *CELL, "bound", to="4"),
        "bound of a `Cell` must be a number or null",
    ),
    "a bound below 0": (changed(STUDY, *CELL, "bound", to=-1), "bound of a `Cell` must be a finite number"),
    "text for a size": (changed(STUDY, *CELL, "steps", 0, "size", to="4"), "size of a `Step`"),
    "null for a seed": (changed(STUDY, "study", "seed", to=None), "seed of a `StudyResult`"),
    "a list for a name": (changed(STUDY, "study", "curves", 0, "name", to=[]), "name of a `CurveResult`"),
}


def coin(database, rng):
    return int(rng.integers(0, 2))


def entries(ran):
    def factory():
        ran.append(1)
        return coin

    options = {"claim": PureDP(1.0), "pairs": [([0], [1])], "budget": 400}
    return [Entry("fair", factory, options=options, expected="not refuted", summary="for a test")]


@pytest.fixture
def suite(tmp_path, monkeypatch, capsys, in_process):
    """Return a function that runs a suite of one entry.

    It returns exit code, stdout, stderr and how often the entry was built.
    """
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        ran = []
        monkeypatch.setattr("audit.catalogue.load_catalogue", lambda: entries(ran))
        with pytest.raises(SystemExit) as left:
            main(["suite", "--jobs", "1", *arguments])
        return left.value.code, *capsys.readouterr(), len(ran)

    return run


def test_one_report_holds_audits_findings_and_studies(suite, tmp_path):
    (tmp_path / "findings.json").write_text(json.dumps([FINDING]))
    (tmp_path / "study.json").write_text(json.dumps([STUDY]))
    code, _, err, ran = suite("--html", "page.html", "--with", "findings.json", "--with", "study.json")
    assert (code, err, ran) == (0, "", 1)
    page = (tmp_path / "page.html").read_text()
    for said in ("fair", "It does not.", "of 9.56 to 10 records per unit of d", "Least m against"):
        assert said in page
    assert page.count("<!DOCTYPE html>") == 1


@pytest.mark.parametrize(("text", "said"), BAD.values(), ids=BAD.keys())
def test_a_bad_file_is_refused_in_one_line_before_any_audit(suite, tmp_path, text, said):
    if text is not None:
        (tmp_path / "bad.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    code, out, err, ran = suite("--html", "page.html", "--with", "bad.json")
    assert (code, out, ran) == (2, "", 0)
    assert len(err.splitlines()) == 1
    assert err.startswith("dp-audit: bad.json")
    assert said in err
    assert not (tmp_path / "page.html").exists()


def test_files_without_a_report_to_show_them_in_are_a_mistake(suite, tmp_path):
    (tmp_path / "findings.json").write_text(json.dumps([FINDING]))
    code, _, err, ran = suite("--with", "findings.json")
    assert (code, ran) == (2, 0)
    assert "add --html FILE" in err


def test_documents_are_grouped_by_kind_in_the_order_of_their_files(tmp_path):
    (tmp_path / "both.json").write_text(json.dumps([STUDY, FINDING]))
    (tmp_path / "one.json").write_text(json.dumps(STUDY))
    (tmp_path / "self.json").write_text(json.dumps(SELF_AUDIT))
    held = load_attached([tmp_path / name for name in ("both.json", "self.json", "one.json")])
    assert held["findings"] == [FINDING]
    assert held["self_audits"] == [SELF_AUDIT]
    assert held["studies"] == [STUDY, STUDY]
    assert load_attached([])["findings"] is None


def test_a_part_with_nothing_finished_is_left_out(suite, tmp_path):
    (tmp_path / "studies.json").write_text("[\n\n]\n")
    code, _, err, _ = suite("--html", "page.html", "--with", "studies.json")
    assert (code, err) == (0, "")
    assert "No study" not in (tmp_path / "page.html").read_text()


def test_a_folder_in_place_of_a_file_is_refused(tmp_path):
    with pytest.raises(AuditError, match="cannot be read: Is a directory"):
        load_attached([tmp_path])


@pytest.mark.parametrize(
    "arguments",
    [
        ("--html", "held.json", "--with", "held.json"),
        ("--html", "page.html", "--json", "./held.json", "--with", "held.json"),
        ("--html", "page.json", "--json", "page.json"),
    ],
)
def test_a_file_that_is_read_is_not_overwritten(suite, tmp_path, arguments):
    (tmp_path / "held.json").write_text(json.dumps([FINDING]))
    code, out, err, ran = suite(*arguments)
    assert (code, out, ran) == (2, "", 0)
    assert "is named twice" in err
    assert len(err.splitlines()) == 1
    assert json.loads((tmp_path / "held.json").read_text()) == [FINDING]


def test_zero_processes_are_refused_before_the_first_audit(suite):
    code, out, err, ran = suite("--jobs", "0")
    assert (code, out, ran) == (2, "", 0)
    assert err == "dp-audit: The `--jobs` must be a whole number ≥ 1; got 0.\n"


def test_rows_saved_as_lists_are_read_as_tuples():
    plain = json.loads(changed(NUMBERS, "finding", "tables", 0, "rows", to=[[1, 0.5], [2, "none"]]))
    assert from_json(plain[0]) == from_json(NUMBERS)


def test_a_file_that_is_given_twice_is_shown_twice(suite, tmp_path):
    (tmp_path / "held.json").write_text(json.dumps([FINDING]))
    code, _, err, _ = suite("--html", "page.html", "--with", "held.json", "--with", "held.json")
    assert (code, err) == (0, "")
