"""Findings: fields, packages that offer them, and the command."""

import dataclasses
import json
import math
import re

import pytest
from click import UsageError
from click.testing import CliRunner

from audit.doors.cli.commands import group
from audit.doors.cli.matching import matching
from audit.errors import AuditError, InvalidValue
from audit.findings import GROUP, Finding, Table, load_findings
from audit.findings.saved import from_json, to_json
from audit.findings.text import detail, row
from reports.html import render

OFFER = """
from audit.findings import Finding, Table

def right():
    rows = ((1, 0.5, "<b>one</b>"), (2, float("inf"), "two"))
    table = Table(("n", "bound", "word"), rows, "half by <i>half</i>")
    return Finding(
        "X1", "Text Thm 1", "Two is <b>one</b>.", "false", "Two is 2.", corrected="Two is two.",
        claimed=1.0, found=2.0, tables=(table,), method="lower bound", errata=("X1", "X9"),
    )

def broken():
    raise ValueError("no numbers here")

def findings():
    return {"X1": right, "X2": broken}
"""


@pytest.fixture
def offer(thirdparty):
    """Install a distribution that offers findings."""
    thirdparty(GROUP, entry="stranger_findings:findings", text=OFFER)


def run(*arguments):
    return CliRunner().invoke(group, ["findings", *map(str, arguments)], standalone_mode=False)


def test_the_ratio_is_found_over_claimed_and_none_if_it_has_no_meaning():
    def ratio(claimed, found):
        return Finding("X", "T", "s", "holds", "f", claimed=claimed, found=found).ratio

    assert ratio(0.5, 0.25) == 0.5
    assert ratio(None, 1.0) is None
    assert ratio(1.0, None) is None
    assert ratio(0.0, 1.0) is None
    assert ratio(-10.0, 11.0) is None
    assert ratio(-10.0, -5.0) == 0.5
    assert ratio(10.0, 0.0) == 0.0


def test_a_value_just_below_the_claim_is_not_rounded_up_to_it():
    near = Finding("X", "T", "s", "holds", "f", claimed=1.0, found=0.999999996, row="M3")
    said = " ".join(detail(near).split())
    assert "Claimed 1; found 0.999999996 (exact), 0.999999996 times that" in said
    assert "System M3" in said
    assert " 0.999999996 " in row(near)
    page = render(None, findings=[to_json(near)])
    assert page.count('<td class="number">0.999999996</td>') == 1
    assert '<td class="number">0.999999996×</td>' in page
    table = Table(("loss",), ((0.999999996,), (0.12345,), (1.0,), (1.0 + 1e-12,)))
    numbers = render(None, findings=[to_json(dataclasses.replace(near, tables=(table,)))])
    assert re.findall(r'<td class="number"><bdi>(.*?)</bdi>', numbers) == ["0.999999996", "0.123", "1", "1"]
    same = " ".join(detail(dataclasses.replace(near, found=1.0)).split())
    assert "Claimed 1; found 1 (exact), 1 times that" in same


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (
            lambda: Finding("X", "T", "s", "wrong", "f"),
            "`judgement` of a `Finding` must be one of holds, .*'wrong'",
        ),
        (
            lambda: Finding("X", "T", "s", "holds", "f", method="guessed"),
            "`method` of a `Finding` must be one of exact, upper bound, .*'guessed'",
        ),
        (lambda: Table(("a", "b"), ((1,),)), "must have 2 cells"),
    ],
)
def test_an_invalid_finding_is_refused_in_one_line(make, match):
    with pytest.raises(InvalidValue, match=match) as refused:
        make()
    assert "\n" not in str(refused.value)


def test_the_row_of_a_finding_is_kept_and_old_files_without_rows_still_open():
    one = Finding("X", "T", "s", "holds", "f", row="L7, L8")
    assert one.rows == ("L7", "L8")
    document = to_json(one)
    assert from_json(document) == one
    del document["finding"]["row"]
    assert from_json(document).rows == ()


def test_errata_are_kept_and_old_files_without_errata_still_open():
    one = Finding("X", "T", "s", "holds", "f", errata=("E1", "N2"), method="sampled")
    document = json.loads(json.dumps(to_json(one)))
    assert from_json(document) == one
    del document["finding"]["errata"]
    document["finding"]["method"] = "statistical"
    assert (from_json(document).errata, from_json(document).method) == ((), "sampled")


def test_the_glossary_is_kept_and_old_files_without_a_glossary_still_open():
    one = Finding("X", "T", "s", "holds", "f", glossary=(("T", "A text."), ("X", "Errata.")))
    document = json.loads(json.dumps(to_json(one)))
    assert from_json(document) == one
    document["finding"]["glossary"] = [["T"]]
    with pytest.raises(AuditError, match="pairs of strings"):
        from_json(document)
    del document["finding"]["glossary"]
    assert from_json(document).glossary == ()


def test_a_saved_finding_is_read_back_as_it_was():
    table = Table(("n", "p", "word"), ((1, math.inf, "one"), (2, 1e-300, "ε")), "caption")
    one = Finding("X", "T", "s", "loose", "f", claimed=0.1, found=math.nan, tables=(table,), command="c")
    back = from_json(json.loads(json.dumps(to_json(one))))
    assert math.isnan(back.found)
    assert back.tables == one.tables
    assert (back.claimed, back.command, back.method) == (0.1, "c", "exact")


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"schema": 2, "finding": {}},
        {"schema": 1, "finding": []},
        {"schema": 1, "finding": {}},
        [],
        None,
        "text",
    ],
)
def test_a_document_that_is_no_finding_is_refused(document):
    with pytest.raises(AuditError, match="finding"):
        from_json(document)


@pytest.mark.usefixtures("offer")
def test_an_installed_distribution_adds_its_findings():
    assert load_findings()["X1"]().found == 2.0


@pytest.mark.usefixtures("offer")
def test_a_finding_asked_for_by_name_is_printed_in_full():
    done = run("X1")
    assert done.return_value == 0
    assert done.stdout.splitlines() == [
        "X1: false",
        "  Source     Text Thm 1",
        "  Statement  Two is <b>one</b>.",
        "  Claimed    1; found 2 (lower bound), 2 times that",
        "  Found      Two is 2.",
        "  Corrected  Two is two.",
        "  Errata     X1, X9",
        "",
        "1 of 1 findings computed",
    ]


@pytest.mark.usefixtures("offer")
def test_without_a_pattern_each_finding_is_one_line_under_column_heads(monkeypatch):
    monkeypatch.setattr("audit.doors.cli.findings.load_findings", lambda: {"X1": long_one, "X2": long_one})
    for columns, width in (("80", 80), ("100", 100), ("1000", 120)):
        monkeypatch.setenv("COLUMNS", columns)
        head, *rows, last = run("--jobs", "1").stdout.splitlines()
        assert head.split() == ["finding", "judgement", "found/claimed", "statement"]
        assert [len(line) for line in rows] == [width, width]
        assert all(line.startswith("X1") and "…" in line for line in rows)
        assert all(line[46:59] == f"{'2':>13}" for line in rows)
        assert last.startswith("2 of 2 findings computed; give a PATTERN or --full")
    assert run("--full", "--jobs", "1").stdout.count("X1: false") == 2


def long_one():
    return Finding("X1", "T", "word " * 60, "false", "Two is 2.", claimed=1.0, found=2.0)


def test_lines_of_the_detail_are_wrapped_and_the_titles_come_last(monkeypatch):
    def one():
        return Finding("X1", "T", "s", "holds", "word " * 120, glossary=(("T", "A. Uthor: The Text. 2001."),))

    monkeypatch.setattr("audit.doors.cli.findings.load_findings", lambda: {"X1": one})
    monkeypatch.setenv("COLUMNS", "90")
    lines = run("X1").stdout.splitlines()
    assert max(map(len, lines)) <= 90
    assert "T          A. Uthor: The Text. 2001." in lines


@pytest.mark.usefixtures("offer")
def test_the_list_names_findings_without_computing_them(monkeypatch):
    asked = []
    offered = dict.fromkeys(("E1", "E9 (A_dist)"), lambda: asked.append(1))
    monkeypatch.setattr("audit.doors.cli.findings.load_findings", lambda: offered)
    assert run("--list").stdout.splitlines() == ["E1", "E9 (A_dist)"]
    assert run("--list", "e9").stdout.splitlines() == ["E9 (A_dist)"]
    assert asked == []
    assert isinstance(run("--list", "--full").exception, UsageError)


@pytest.mark.usefixtures("offer")
def test_a_finding_that_fails_is_named_and_loses_no_other(tmp_path):
    saved, page = tmp_path / "found.json", tmp_path / "page.html"
    done = run("X*", "--json", saved, "--html", page)
    assert done.return_value == 3
    assert "X2: could not be computed: ValueError: no numbers here" in done.stderr
    assert [each["finding"]["name"] for each in json.loads(saved.read_text())] == ["X1"]
    assert "Two is 2." in page.read_text()
    assert f"report: {page}" in done.stdout.splitlines()


@pytest.mark.usefixtures("offer")
def test_the_page_escapes_foreign_text(tmp_path):
    page = tmp_path / "page.html"
    run("X1", "--html", page)
    text = page.read_text()
    assert "<b>one</b>" not in text
    assert "<i>half</i>" not in text
    assert "&lt;b&gt;one&lt;/b&gt;" in text
    assert "2×" in text
    assert "<td>lower bound</td>" in text
    assert '<td><a href="#finding-1"><bdi>X1</bdi></a>, <bdi>X9</bdi></td>' in " ".join(text.split())
    assert "∞" in text
    assert "http" not in text.replace("http-equiv", "")


@pytest.mark.usefixtures("offer")
def test_an_unknown_name_is_refused():
    done = run("Z9")
    assert isinstance(done.exception, AuditError)
    assert str(done.exception).startswith("No finding is called `Z9`")


NAMES = ["E1", "E9 (A_dist)", "E9 (PARITY)", "E12", "N1", "K11 Theorem 5.1", "K11 Theorem 5.14", "Notes"]


@pytest.mark.parametrize(
    ("pattern", "meant"),
    [
        ("E9", ["E9 (A_dist)", "E9 (PARITY)"]),
        ("e9 (p", ["E9 (PARITY)"]),
        ("e12", ["E12"]),
        ("E1", ["E1"]),
        ("e1", ["E1"]),
        ("E*", ["E1", "E9 (A_dist)", "E9 (PARITY)", "E12"]),
        ("n*", ["N1", "Notes"]),
        ("K11 Theorem 5.1", ["K11 Theorem 5.1"]),
        ("k11", ["K11 Theorem 5.1", "K11 Theorem 5.14"]),
    ],
)
def test_a_name_is_found_by_its_beginning_and_in_any_case(pattern, meant):
    assert [*matching(dict.fromkeys(NAMES), pattern, what="finding", shown="")] == meant


@pytest.mark.parametrize(
    ("pattern", "near"),
    [("parity", "`E9 (PARITY)`"), ("Theorem 5.14", "`K11 Theorem 5.14`"), ("Nots", "`Notes`")],
)
def test_an_unknown_name_is_refused_with_the_nearest_known_one(pattern, near):
    with pytest.raises(AuditError, match=r"did you mean ") as refused:
        matching(dict.fromkeys(NAMES), pattern, what="finding", shown="see there")
    assert near in str(refused.value)
    assert str(refused.value).endswith("; see there.")


@pytest.mark.parametrize("pattern", ["", "E", "5"])
def test_a_pattern_that_matches_no_name_never_selects_all(pattern):
    offered = dict.fromkeys(["N1", "N2"])
    with pytest.raises(AuditError, match="No finding is called"):
        matching(offered, pattern, what="finding", shown="see there")
