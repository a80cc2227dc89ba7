"""Saved results read again: reports, and changes between two sessions."""

import dataclasses
import json
import math
from pathlib import Path

import pytest

from audit.claims import PAC, PureDP
from audit.doors.cli import main
from audit.doors.cli.changes import changes
from audit.doors.report_link import render_report
from audit.doors.saved_parts import load_parts
from audit.errors import CorruptFile
from audit.findings import Finding
from audit.findings.saved import to_json as finding_json
from audit.results.result import AuditResult, Evidence, Verdict, Witness
from audit.utility.result import UtilityResult

OLD_SCHEMA = json.loads((Path(__file__).parent / "data" / "result-schema-1.json").read_text(encoding="utf-8"))


def audit(subject="laplace", **changed):
    told = {"claim": PureDP(1.0), "verdict": Verdict.NOT_REFUTED, "evidence": Evidence.STATISTICAL}
    bounds = {"epsilon_lower": 0.9, "detectable_epsilon": 1.2}
    return AuditResult(subject, **{**told, **bounds, **changed})


def seen(low, high):
    """Return a refutation whose loss is between these two values, with q = 0.1."""
    q, p = (0.1, 0.1), (0.1 * math.exp(low), 0.1 * math.exp(high))
    witness = Witness([0], [1], None, p[0], 0.1, p_interval=p, q_interval=q, runs=1000)
    return audit(verdict=Verdict.REFUTED, epsilon_lower=low, witness=witness, detectable_epsilon=None)


def run(*arguments):
    with pytest.raises(SystemExit) as left:
        main([str(each) for each in arguments])
    return left.value.code


def written(path, *results, **parts):
    render_report([each.to_json() for each in results], path, **parts)
    return path


def test_a_report_is_made_again_from_a_page_a_file_and_a_folder(tmp_path):
    """The same results give the same bytes whichever files hold them.

    Results of the first schema work too.
    """
    documents = [OLD_SCHEMA, audit().to_json()]
    page, again = tmp_path / "page.html", tmp_path / "again.html"
    render_report(documents, page, findings=[finding_json(Finding("E1", "B", "s", "holds", "f"))])
    before = page.read_bytes()
    assert load_parts([page])["documents"] == documents
    page.write_bytes(before.replace(b"<h1>", b"<h1>Old style: "))
    assert run("report", page) == 0
    assert page.read_bytes() == before
    folder = tmp_path / "results"
    folder.mkdir()
    for name, document in zip("ab", documents, strict=True):
        (folder / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    finding = tmp_path / "findings.json"
    finding.write_text(json.dumps([finding_json(Finding("E1", "B", "s", "holds", "f"))]), encoding="utf-8")
    assert run("report", folder, finding, "--html", again) == 0
    assert again.read_bytes() == before
    assert run("diff", page, again) == 0


def test_the_last_result_of_an_audit_in_two_files_counts(tmp_path, capsys):
    """Two audits in one test stay separate, and so do audits without a name."""
    first = [audit(target="laplace"), audit("lambda"), audit("lambda", epsilon_lower=0.5)]
    then = [audit(target="laplace", epsilon_lower=0.95), audit("lambda"), audit(target="laplace", seed=1)]
    for number, results in ((1, first), (2, then)):  # two audits of one test
        told = {"command": "python -m pytest test_it.py::test_it", "number": number}
        results.append(audit("lambda", environment=told))
    found = {"findings": [finding_json(Finding("E1", "B", "s", "holds", "f"))]}
    one, two = written(tmp_path / "one.html", *first, **found), written(tmp_path / "two.html", *then, **found)
    assert run("report", one, two, "--html", tmp_path / "both.html") == 0
    assert "3 results are in several files: the last one counts." in capsys.readouterr().out
    both = load_parts([tmp_path / "both.html"])
    assert both["documents"] == [each.to_json() for each in (*first[2:], *then)]
    assert both["findings"] == found["findings"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<html></html>", "no saved results are inside"),
        ('{"other": 1}', "it holds something that is not a result"),
        ('{"schema": 9, "result": {}}', "schema must be at most 2"),
        ('<script type="application/json" id="dp-audit-data">[]</script>', "not results as a page"),
        ('<script type="application/json" id="dp-audit-data">{"documents": 3}</script>', "are damaged"),
        ('<script type="application/json" id="dp-audit-data">{"documents": [3]}</script>', "not a result"),
    ],
)
def test_a_file_without_results_is_refused_in_one_line_that_names_it(tmp_path, text, said):
    path = tmp_path / "bad.html"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CorruptFile, match=said) as refused:
        load_parts([path])
    assert "bad.html" in str(refused.value)


def test_a_report_needs_a_place_that_is_not_one_of_its_sources(tmp_path, capsys):
    saved = tmp_path / "one.json"
    saved.write_text(json.dumps(audit().to_json()), encoding="utf-8")
    assert run("report", saved) == 2
    assert "add --html FILE" in capsys.readouterr().err
    assert run("report", saved, "--html", saved) == 2
    assert json.loads(saved.read_text(encoding="utf-8")) == audit().to_json()


def test_a_split_report_has_a_page_for_each_audit(tmp_path):
    page = written(tmp_path / "page.html", audit(), audit("geometric"))
    assert run("report", page, "--split") == 0
    assert len(list((tmp_path / "page-audits").iterdir())) == 2


def test_changes_are_named_by_kind_with_the_most_serious_first(tmp_path, capsys):
    useful = UtilityResult("learner", PAC(0.1, 0.1), Verdict.NOT_REFUTED, Evidence.EXACT, beta_upper=0.05)
    old = written(tmp_path / "old.html", audit(), audit("gone"), useful, audit("same"))
    worse = dataclasses.replace(useful, beta_lower=0.07, beta_upper=0.07)
    new = written(tmp_path / "new.html", seen(1.5, 1.9), worse, audit("same"), audit("fresh"))
    assert run("diff", old, new) == 1
    assert capsys.readouterr().out.splitlines() == [
        "VERDICT    laplace: not refuted → refuted",
        "BOUND      laplace: ε: 0.9 to 1.2 → 1.5 to 1.9",
        "BOUND      learner (utility): β: 0 to 0.05 → 0.07",
        "ADDED      fresh: not refuted",
        "REMOVED    gone: not refuted",
        "5 changes; audits and findings compared: 3",
    ]


@pytest.mark.parametrize(
    ("old", "new", "kinds"),
    [
        (seen(1.5, 1.9), seen(1.8, 2.3), []),  # the intervals overlap, so this is noise
        (seen(1.5, 1.9), seen(2.0, 2.3), ["bound"]),
        (audit(epsilon_lower=0.7), audit(epsilon_lower=1.1), []),
        (audit(evidence=Evidence.EXACT), audit(evidence=Evidence.EXACT, epsilon_lower=0.9 + 1e-6), ["bound"]),
        (audit(evidence=Evidence.EXACT), audit(evidence=Evidence.EXACT, epsilon_lower=0.9 + 1e-12), []),
        (*[audit(evidence=Evidence.EXACT, epsilon_lower=math.inf)] * 2, []),
        (audit(), audit(claim=PureDP(2.0)), ["claim"]),
        (audit(), audit(verdict=Verdict.ERROR, epsilon_lower=9.0), ["verdict"]),
    ],
)
def test_a_bound_counts_as_changed_if_noise_does_not_explain_it(old, new, kinds):
    found = changes({"documents": [old.to_json()]}, {"documents": [new.to_json()]})
    assert [each.kind for each in found] == kinds


def test_a_finding_with_another_judgement_is_a_change():
    old, new = ([finding_json(Finding("E1", "B", "s", word, "f"))] for word in ("holds", "false"))
    (found,) = changes({"findings": old}, {"findings": new})
    assert (found.kind, found.name, found.words) == ("judgement", "finding E1", "holds → false")
