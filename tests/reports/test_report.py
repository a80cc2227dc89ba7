"""The table of contents links to the parts of a report, and ids are unique."""

import itertools
import re

import pytest

from audit.claims import PureDP
from audit.findings import Finding, Table
from audit.findings.saved import to_json as finding_json
from audit.results.result import AuditResult, Evidence, Verdict
from audit.self_audit.row import Row, SelfAudit
from audit.self_audit.saved import to_json as self_audit_json
from audit.studies.cells import Cell, Step
from audit.studies.results import CurveResult, StudyResult
from audit.studies.saved import to_json as study_json
from audit.utility.result import UtilityResult
from reports.html import render

HOSTILE = "<script>alert(1)</script>\u202e"
AUDITS = [
    AuditResult("laplace", PureDP(1.0), Verdict.NOT_REFUTED, Evidence.STATISTICAL).to_json(),
    UtilityResult("laplace", None, Verdict.ERROR, Evidence.STATISTICAL, "It raises.").to_json(),
]
FINDINGS = [
    finding_json(
        Finding("E1", "B Thm 7", "It holds.", "false", "It does not.", tables=(Table(("n",), ((1,),)),))
    ),
    finding_json(Finding("K11 Figure 2", "K11", "Each inclusion is strict.", "holds", "It is.")),
]


def study(name, *curves):
    return study_json(StudyResult(name, "All.", "PAC(0.1, 0.1)", axis="d", parameter="d", curves=curves))


def curve(name):
    steps = (Step(9, "refuted"), Step(10, "met"))
    return CurveResult(name, "", "grows", (Cell(1.0, 1.0, 40.0, steps), Cell(2.0, 2.0, 80.0, steps)))


STUDIES = [study("point", curve("pure"), curve("approximate")), study("parity", curve("private"))]
ROW = Row(
    "tightness", "bound ÷ true ε", 3, 0.94, 0.93, 0.95, kind="ratio", spread="range", details=(("a", "b"),)
)
SELF_AUDITS = [
    self_audit_json(SelfAudit((ROW,), extent, 0, planned=1, level=1e-6)) for extent in ("quick", "full")
]
PARTS = {"audits": AUDITS, "findings": FINDINGS, "studies": STUDIES, "self_audits": SELF_AUDITS}


def page(*parts):
    chosen = {name: PARTS[name] for name in parts}
    return render(chosen.pop("audits", None), **chosen)


def links(text):
    return re.findall(r'<a [^>]*href="#([^"]*)"', text)


@pytest.mark.parametrize(
    "parts",
    [*((part,) for part in PARTS), ("audits", "findings"), ("findings", "studies"), tuple(PARTS)],
)
def test_every_link_leads_to_one_place(parts):
    text = page(*parts)
    ids = re.findall(r' id="([^"]*)"', text)
    assert len(ids) == len({*ids})
    assert {*links(text)} <= {*ids}
    assert {*re.findall(r'data-table="([^"]*)"', text)} <= {*ids}
    for named in re.findall(r'aria-(?:labelledby|describedby)="([^"]*)"', text):
        assert {*named.split()} <= {*ids}
    levels = [int(level) for level in re.findall(r"<h([1-6])[ >]", text)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_the_contents_link_to_every_part_statement_and_study():
    text = page(*PARTS)
    contents = text.split("<nav")[1].split("</nav>")[0]
    told = dict(re.findall(r'href="#([^"]*)">(?:<bdi>)?([^<]*)', contents))
    assert {part.replace("_", "-") for part in PARTS} <= {*told}
    for name in ("E1", "K11 Figure 2", "point", "parity"):
        (anchor,) = [anchor for anchor, text in told.items() if text == name]
        assert f'id="{anchor}-heading"><bdi>{name}</bdi></h3>' in text
    assert "2 audits" in contents
    assert "2 statements" in contents
    assert "2 studies" in contents
    assert "2 self-audits" in contents


def test_the_contents_group_findings_by_judgement():
    judged = {"E10": "false", "E2": "false", "N1": "holds"}
    findings = [finding_json(Finding(name, "T", "s", word, "f")) for name, word in judged.items()]
    contents = render(AUDITS, findings=findings).split("<nav")[1].split("</nav>")[0]
    groups = re.findall(r"<details>(.*?)</details>", contents, re.DOTALL)
    told = [
        (
            re.search(r'<summary>(\w+) <span class="quiet-text">(\d+)', each).groups(),
            re.findall(r"<bdi>(.*?)</bdi></a>", each),
        )
        for each in groups
    ]
    assert told == [(("holds", "1"), ["N1"]), (("false", "2"), ["E2", "E10"])]
    assert not {*judged} & {
        *re.findall(r"<bdi>(.*?)</bdi></a>", re.sub("(?s)<details>.*</details>", "", contents))
    }


def test_the_contents_call_the_tables_of_audits_what_their_headings_do():
    text = page(*PARTS)
    contents = text.split("<nav")[1].split("</nav>")[0]
    for anchor, said in re.findall(r'href="#([\w-]*-heading)"><bdi>(.*?)</bdi>', contents):
        assert re.search(f'<h[23] id="{anchor}">{said}</h[23]>', text), said
    assert "Each audit" in contents


def test_short_names_are_explained_once_at_the_end_of_the_findings():
    names = (("B", "A. Blum: Notes."), ("E", "Errata."))
    findings = [
        finding_json(Finding(name, "B", "s", "holds", "f", glossary=names[:count]))
        for name, count in (("E1", 2), ("B Thm 7", 1))
    ]
    text = render(None, findings=findings)
    assert re.findall("<dt><bdi>(.*?)</bdi></dt><dd><bdi>(.*?)</bdi></dd>", text) == list(names)
    assert text.index("<bdi>A. Blum: Notes.") > text.rindex("</article>")
    assert 'href="#names"' in text
    assert "names-heading" not in page("findings")


def test_a_single_part_has_no_contents_and_gives_the_page_its_title():
    assert all("<nav" not in page(part) for part in PARTS)
    titles = [re.search("<h1>(.*?)</h1>", page(part))[1] for part in PARTS]
    assert titles == [
        "Audit of laplace: privacy and utility",
        "Statements checked",
        "Least sample sizes",
        "The auditor audited",
    ]


def test_a_requested_part_that_is_empty_says_so():
    text = render([], findings=[], studies=[])
    for said in ("This report has no audits", "This report has no findings", "This report has no studies"):
        assert said in text
    assert "No audit" not in render(None, findings=[])


def test_foreign_text_is_escaped_in_the_contents():
    finding = Finding(HOSTILE, HOSTILE, HOSTILE, "holds", HOSTILE, row=HOSTILE)
    text = render([], findings=[finding_json(finding)], studies=[study(HOSTILE, curve(HOSTILE))])
    assert "<script>alert" not in text
    assert "\u202e" not in text
    assert text.count("<script>") == 1
