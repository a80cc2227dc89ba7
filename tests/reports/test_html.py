"""The page of audits: what it shows, what it escapes, what it loads.

Long, for one made-up session is looked at from every side.
"""

import base64
import dataclasses
import hashlib
import itertools
import json
import math
import re
import subprocess
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest

from audit.claims import PAC, ApproximateDP, PureDP
from audit.codec.stored import ForeignClaim
from audit.errors import AuditError, CorruptFile
from audit.events.edges import point
from audit.events.event import AtomIn, Event, NumberIn
from audit.events.features.atoms import Whole
from audit.events.features.numbers import Value
from audit.results.fault import Fault, FaultKind
from audit.results.result import AuditResult, Evidence, Verdict, Witness
from audit.utility.result import ProblemFinding, UtilityResult, UtilityWitness
from audit.values.outcomes import Raised
from reports.html import check_writable, render, write_report

ABOVE = Event((NumberIn(Value(), ((1.5, math.inf),)),))
SCRIPT = "<script>alert(1)</script>"
VOID = {"meta", "input", "br", "link", "img", "hr"}


def witness(**changes):
    fields = {"left": [0], "right": [1], "event": ABOVE, "p": 0.48, "q": 0.05}
    sampled = {"p_interval": (0.45, 0.51), "q_interval": (0.04, 0.06), "runs": 2000}
    return Witness(**{**fields, **sampled, **changes})


def refuted(**changes):
    fields = {
        "subject": "laplace",
        "claim": PureDP(1.0),
        "relation": "replace one",
        "verdict": Verdict.REFUTED,
        "evidence": Evidence.STATISTICAL,
        "epsilon_lower": 1.5,
        "witness": witness(),
        "samples": 23_400,
    }
    return AuditResult(**{**fields, **changes})


def clean(**changes):
    found = {
        "verdict": Verdict.NOT_REFUTED,
        "witness": None,
        "epsilon_lower": 0.89,
        "detectable_epsilon": 1.2,
    }
    return refuted(**{**found, **changes})


def html(*results, **options):
    return render([result.to_json() for result in results], **options)


class Tree(HTMLParser):
    """Parse a page, insisting that every element is closed in order, and keep what was seen."""

    def __init__(self, page):
        super().__init__()
        self.open, self.elements, self.pieces = [], [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.pieces.append(data)

    @property
    def text(self):
        return " ".join("".join(self.pieces).split())

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def ids(self):
        return [attributes["id"] for _, attributes in self.elements if "id" in attributes]


EVERYTHING = [
    refuted(witness=witness(simplest=witness(left=[2])), expected="refuted"),
    clean(expected="not refuted", target="laplace"),
    clean(
        subject="rr",
        verdict=Verdict.PROVED,
        evidence=Evidence.EXACT,
        family="all 12 pairs",
        expected="not refuted",
    ),
    refuted(
        subject="exact", evidence=Evidence.EXACT, witness=witness(p_interval=None, q_interval=None, runs=0)
    ),
    AuditResult(
        "broken", PureDP(1.0), Verdict.ERROR, Evidence.STATISTICAL, "It raises.", expected="not refuted"
    ),
    AuditResult("slow", None, Verdict.INCONCLUSIVE, Evidence.STATISTICAL, "Too slow."),
    refuted(
        claim=ApproximateDP(800.0, 0.1), witness=witness(p=0.0, q=0.0, p_interval=(0, 0), q_interval=(0, 0))
    ),
]


def test_a_distant_pair_is_shown_with_its_distance_and_what_the_claim_allows_there():
    """At ε = 0.1, e^(20·0.1)·0.05 = 0.3694528; p is 0.48 − 0.3694528 = 0.1105 above it."""
    page = html(refuted(claim=PureDP(0.1), relation="replace-one", witness=witness(distance=20)))
    tree = Tree(page)
    assert "They are 20 records apart. At that distance the claim allows at most e20ε·q = 0.369." in tree.text
    assert "e<sup>20ε</sup>·q = <b>0.369</b>" in page
    assert "allowed, e^(20ε)·q: 0.369" in tree.text
    assert "p is 0.111 above what the claim allows" in tree.text


def test_the_page_is_well_formed_and_has_unique_ids():
    tree = Tree(html(*EVERYTHING))
    assert len(tree.ids) == len(set(tree.ids))
    links = [attributes["href"] for attributes in tree.all("a")]
    assert all(link.startswith("#") and link[1:] in tree.ids for link in links)


def test_the_page_needs_no_network():
    page = html(*EVERYTHING)
    tree = Tree(page)
    loading = {"src", "srcset", "action", "data", "poster", "background", "ping", "style"}
    assert not any(loading & set(attributes) for _, attributes in tree.elements)
    assert not any(name.startswith("on") for _, attributes in tree.elements for name in attributes)
    assert not re.search(r"https?://|url\(|@import", page)
    assert not tree.all("link") + tree.all("img") + tree.all("iframe")
    policy = next(a["content"] for a in tree.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


def test_the_policy_lets_exactly_the_own_style_and_script_work():
    page = html()
    for tag in ("style", "script"):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src &#39;sha256-{digest}&#39;" in page.replace("'", "&#39;")


def test_the_page_can_be_read_by_everybody():
    tree = Tree(html(*EVERYTHING))
    tags = [tag for tag, _ in tree.elements]
    assert {"header", "main", "footer", "caption", "title"} <= set(tags)
    assert all(attributes.get("scope") in {"col", "row"} for attributes in tree.all("th"))
    assert tree.all("html")[0]["lang"] == "en"
    for picture in tree.all("svg"):
        assert picture["role"] == "img"
        assert all(name in tree.ids for name in picture["aria-labelledby"].split())
    for tag in ("section", "article"):
        assert all(attributes["aria-labelledby"] in tree.ids for attributes in tree.all(tag))
    scrolling = [
        attributes for tag, attributes in tree.elements if attributes.get("class") == "scroll" or tag == "pre"
    ]
    assert scrolling
    assert all(attributes["tabindex"] == "0" for attributes in scrolling)
    levels = [int(tag[1]) for tag in tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    assert [a["for"] for a in tree.all("label")] == ["subjects-filter"]


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_colours_keep_the_contrast_of_wcag_aa_in_light_and_dark():
    style = html().split("<style>")[1].split("</style>")[0]
    light, dark = (dict(re.findall(r"--([\w-]+): (#\w{6})", block)) for block in style.split("@media")[:2])
    assert len(dark) == len(light) > 10
    for colours in (light, dark):
        for ink in ("ink", "soft", "link", "refuted"):
            for ground in ("page", "card", "code"):
                assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
        for kind in ("refuted", "proved", "open", "unsure"):
            for ink in (kind, "ink", "link"):
                assert contrast(colours[ink], colours[f"{kind}-soft"]) >= 4.5, (ink, kind)
        assert contrast(colours["soft"], colours["unsure-soft"]) >= 4.5
        assert contrast(colours["open"], colours["card"]) >= 3


def test_the_summary_counts_verdicts_and_adds_the_significance_up():
    text = Tree(html(*EVERYTHING)).text
    for said in ("3 refuted", "1 not refuted", "1 proved", "1 error", "1 inconclusive"):
        assert said in text
    assert "Total significance spent: 7e-06 over 7 audits." in text


def test_unexpected_outcomes_stand_out_and_are_linked():
    page = html(*EVERYTHING)
    text = Tree(page).text
    assert "1 of 4 outcomes is unexpected: broken: error" in text
    assert page.count("unexpected-row") == 1 + 1  # the row and the style
    assert "as expected" in text
    fine = Tree(html(*EVERYTHING[:3])).text
    assert "All 3 predicted outcomes are as expected" in fine
    assert "unexpected" not in fine


@pytest.mark.parametrize(
    ("verdict", "expected", "said"),
    [
        (Verdict.REFUTED, "refuted", "as expected"),
        (Verdict.REFUTED, "not refuted", "unexpected"),
        (Verdict.NOT_REFUTED, "refuted", "unexpected"),
        (Verdict.PROVED, "refuted", "unexpected"),
        (Verdict.PROVED, "not refuted", "as expected"),
        (Verdict.INCONCLUSIVE, "refuted", "unexpected"),
        (Verdict.ERROR, "not refuted", "unexpected"),
    ],
)
def test_an_outcome_is_compared_with_what_the_catalogue_expects(verdict, expected, said):
    text = Tree(html(clean(verdict=verdict, expected=expected))).text
    other = "unexpected" if said == "as expected" else "as expected"
    assert said in text
    assert f"{verdict.value} {other}" not in text


def row(page):
    body = page.split("<tbody>")[1].split("</tbody>")[0]
    cells = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", body, flags=re.DOTALL)
    return [" ".join(re.sub(r"<[^>]*>", " ", cell).split()) for cell in cells]


def test_the_table_has_claim_verdict_bounds_and_runs():
    expected = [
        "laplace",
        "refuted",
        "1-DP replace one",
        "statistical ideal",
        "1",
        "≥ 1.5 1.5× claimed",
    ]
    assert row(html(refuted(delta_lower=0.2))) == [*expected, "0", "≥ 0.2", "23,400", ""]
    exact = row(
        html(clean(evidence=Evidence.EXACT, epsilon_lower=0.5, numerics="float", detectable_epsilon=None))
    )
    assert exact[3:6] == ["exact float", "1", "= 0.5 0.5× claimed"]
    assert exact[-1] == ""
    approximate = row(html(clean(claim=ApproximateDP(1.0, 1e-6), delta_lower=2e-6)))
    assert approximate[2] == "(1, 1e-06)-DP replace one"
    assert approximate[6:8] == ["1e-06", "≥ 2e-06 2× claimed"]
    assert row(html(clean()))[-1] == "1.2"


def test_a_tiny_exact_excess_shows_in_the_table():
    close = refuted(claim=PureDP(math.log(2)), evidence=Evidence.EXACT, epsilon_lower=math.log(2) + 8e-7)
    assert row(html(close))[5] == "= 0.693148 1.000001× claimed"


def test_a_fault_has_its_own_heading_and_is_shown_as_text():
    fault = Fault(FaultKind.NOISE_TOO_SMALL, 2.0, "The answer moves by <b>2</b>.")
    page = html(refuted(fault=fault))
    assert "Fault noise too small, by a factor of 2: The answer moves by <b>2</b>." in Tree(page).text
    assert "<b>2" not in page
    assert "Fault" not in Tree(html(refuted())).text


def test_the_section_tells_the_witness_and_how_to_see_it_again():
    text = Tree(
        html(refuted(target="m.py:mechanism", seed=7, witness=witness(simplest=witness(left=[9]))))
    ).text
    assert "On left = [0] the event “" not in text  # quotation marks are the browser's
    assert (
        "From left to right, record 0: 0 → 1. On left = [0] the event the output is at least 1.5 happens "
        "with probability 0.48 (0.45–0.51); "
        "on right = [1] with 0.05 (0.04–0.06). The claim allows at most eε·q + δ = 0.136."
    ) in text
    assert "Simplest witness From left to right, record 0: 9 → 1. On left = [9]" in text
    assert "dp-audit run m.py:mechanism --seed 7" in text
    assert "result.replay(fresh=True)" in text


def test_to_see_it_again_repeats_this_audit_and_not_another():
    """A command says everything; a Python line alone must not look as if it did; laws draw no runs."""
    bare = {"verdict": Verdict.NOT_REFUTED, "budget": 40_000, "significance": 1e-5, "numerics": "float"}
    commanded = Tree(html(clean(target="laplace", **bare))).text
    assert "dp-audit run laplace --seed 0 --significance 1e-05 --budget 40000 --numerics float" in commanded
    assert "audit_privacy(" not in commanded
    assert (
        "audit_privacy(subject, PureDP(epsilon=1), seed=0, significance=1e-05, budget=40000, "
        'numerics="float") # add the same databases and other options'
    ) in Tree(html(clean(**bare))).text
    law = Tree(html(refuted(evidence=Evidence.EXACT, witness=witness(runs=0)))).text
    assert "print(result.replay(subject)) # from the declared laws, checked against runs" in law
    assert "fresh" not in law
    assert "fresh=True)) # new runs" in Tree(html(refuted())).text


def test_the_picture_is_to_scale():
    """On an axis to 1 that is 400 wide: p = 0.48, the limit e·0.05 = 0.1359, q = 0.05."""
    (svg,) = re.findall(r"<svg.*?</svg>", html(refuted()), flags=re.DOTALL)
    tree = ET.fromstring(svg)
    bars = {bar.get("class"): float(bar.get("width")) for bar in tree.iter("rect")}
    assert bars == pytest.approx({"bar p": 192.0, "bar limit": 400 * math.e * 0.05, "bar q": 20.0}, abs=0.01)
    threshold = next(line for line in tree.iter("line") if line.get("class") == "threshold")
    assert float(threshold.get("x1")) == pytest.approx(10 + 400 * math.e * 0.05, abs=0.01)
    whisker = next(tree.iter("path")).get("d")
    assert whisker.startswith("M190.0 ")
    assert "H214.0" in whisker
    assert "p on left: 0.48 (0.45–0.51)" in tree.find("desc").text


@pytest.mark.parametrize(
    ("p", "q"), [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (1e-9, 0.0), (5e-324, 0.0), (0.3, 1.0)]
)
@pytest.mark.parametrize("claim", [PureDP(0.0), PureDP(5.0), PureDP(1e4), ApproximateDP(0.0, 0.5)])
def test_the_picture_stays_inside_its_frame(p, q, claim):
    page = html(refuted(claim=claim, witness=witness(p=p, q=q, p_interval=(0.0, 1.0), q_interval=(0.0, 1.0))))
    for svg in re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL):
        for element in ET.fromstring(svg).iter():
            positions = [float(element.get(name)) for name in ("x", "x1", "x2") if element.get(name)]
            assert all(0 <= x <= 420 for x in positions)
            assert float(element.get("width", 0)) <= 400


def test_the_page_shows_outputs_and_why_no_simpler_pair():
    shown = witness(examples=(("[0]", "[1]"), ("9",)))
    text = Tree(html(refuted(witness=dataclasses.replace(shown, simplest=shown)))).text
    assert "Outputs on left: [0], [1], …; on right: 9, …." in text
    assert "No simpler pair was shown to fail." in text
    assert "No simpler pair" not in Tree(html(refuted(witness=witness(simplest=shown)))).text


def test_the_page_says_what_one_entry_shows_and_that_a_side_never_varies():
    always = Event((NumberIn(Value(), (point(0.0),)),))
    shown = witness(event=always, p=1.0, beside=witness())
    text = Tree(html(refuted(witness=shown))).text
    assert "Every run on left gave the same output." in text
    assert "One entry alone shows it too: " in text


def hostile():
    """Put markup, quotes and unseen characters wherever foreign text can come from."""
    evil = f"{SCRIPT}\"'><img src=x onerror=alert(1)>{{{{ 7 * 7 }}}}\u202e\x1b[31m\x00\u2066\ud800"
    event = Event((AtomIn(Whole(), (Raised(evil, evil), evil)),))
    pair = witness(left=[evil, {evil: evil}], right=[evil, {evil: 1}], event=event)
    return refuted(
        subject=evil,
        relation=evil,
        claim=ForeignClaim(evil, epsilon=1.0, delta=0.1),
        reason=evil,
        witness=witness(event=event, left=(evil,), simplest=pair, examples=((evil,), (evil,))),
        detectable_event=evil,
        family=evil,
        numerics=evil,
        parameters={evil: evil},
        reference=evil,
        assumptions=(evil,),
        notes=(evil,),
        not_tested=(evil,),
        target=evil,
        environment={evil: evil, "command": evil},
        expected="not refuted",
    )


@pytest.mark.parametrize("verdict", list(Verdict))
@pytest.mark.parametrize("evidence", list(Evidence))
def test_what_a_mechanism_says_is_text_and_never_markup(verdict, evidence):
    bad = dataclasses.replace(hostile(), verdict=verdict, evidence=evidence)
    page = html(bad, title=SCRIPT)
    tree, calm = Tree(page), Tree(html(refuted(witness=witness(simplest=witness()))))
    assert {tag for tag, _ in tree.elements} <= {tag for tag, _ in calm.elements} | {"ul", "li", "div", "dl"}
    assert len(tree.all("script")) == 1
    assert tree.all("img") == []
    assert not any(name.startswith("on") for _, attributes in tree.elements for name in attributes)
    assert SCRIPT in tree.text
    assert "49" not in re.sub(r"\{\{ 7 \* 7 \}\}", "", tree.text)
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", page
    )
    page.encode("utf-8")
    for svg in re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL):
        ET.fromstring(svg)


def test_the_same_documents_give_the_same_page():
    assert html(*EVERYTHING) == html(*EVERYTHING)


def test_a_damaged_document_is_refused_in_one_line():
    with pytest.raises(CorruptFile, match="schema must be at most 2"):
        render([{"schema": 9, "result": {}}])


def test_an_empty_report_says_so():
    assert "This report has no audits." in Tree(render([])).text


def test_writing_is_checked_beforehand_and_whole(tmp_path):
    path = tmp_path / "audit-report" / "index.html"
    check_writable(path)
    write_report(path, [refuted().to_json()], title="Ours")
    assert "<h1>Ours</h1>" in path.read_text(encoding="utf-8")
    assert [file.name for file in path.parent.iterdir()] == ["index.html"]
    (tmp_path / "file").touch()
    with pytest.raises(AuditError, match="cannot be written"):
        check_writable(tmp_path / "file" / "index.html")


def test_a_page_is_made_without_the_engine():
    """Neither the sampler nor the auditor, nor any heavy library, is loaded to draw a page."""
    code = (
        "import sys, json; from reports.html import render; render([json.loads(sys.stdin.read())]);"
        "engine = {'privacy', 'decide', 'sampling', 'replay', 'cli', 'pytest_plugin', 'subjects', 'exact'};"
        "assert not engine & {m.split('.')[1] for m in sys.modules if m.startswith('audit.')};"
        "assert not {'scipy.stats', 'sklearn', 'matplotlib', 'hypothesis', 'mechanisms'} & set(sys.modules)"
    )
    document = json.dumps(refuted().to_json())
    subprocess.run([sys.executable, "-c", code], input=document, text=True, check=True)


def useful(**changes):
    fields = {
        "subject": "laplace",
        "claim": PAC(0.1, 0.05),
        "verdict": Verdict.REFUTED,
        "evidence": Evidence.STATISTICAL,
        "beta_lower": 0.07,
        "beta_upper": 0.2,
        "worst": "uniform",
        "witness": UtilityWitness("uniform", [0, 1], 1, 0.3, seed=7),
        "problems": (
            ProblemFinding("uniform", 300, 40.0, 0.2),
            ProblemFinding("point", exact=0.01, met=True),
        ),
        "samples": 320,
    }
    return UtilityResult(**{**fields, **changes})


OF_USE = [
    useful(expected="not refuted"),
    useful(subject="alone", verdict=Verdict.NOT_REFUTED, met=True, witness=None, beta_upper=0.049),
    useful(subject="exact", verdict=Verdict.PROVED, evidence=Evidence.EXACT, witness=None),
    useful(subject="open", verdict=Verdict.INCONCLUSIVE, reason="The budget was spent."),
    useful(subject="broken", verdict=Verdict.ERROR, reason="It raises.", claim=None, problems=()),
]


def test_a_page_with_utility_audits_is_well_formed_and_links_within():
    for results in ((*EVERYTHING, *OF_USE), OF_USE):
        tree = Tree(html(*results))
        assert len(tree.ids) == len(set(tree.ids))
        links = [attributes["href"] for attributes in tree.all("a")]
        assert all(link.startswith("#") and link[1:] in tree.ids for link in links)
        assert all("scope" in attributes for attributes in tree.all("th"))


def test_the_utility_table_has_claim_verdict_bounds_and_the_privacy_beside():
    text = Tree(html(clean(), *OF_USE)).text
    table = text[text.index("Its privacy") : text.index("β is the probability")]
    rows = ["laplace refuted unexpected (0.1, 0.05)-PAC statistical 0.05 ≥ 0.07 uniform", "≤ 0.049"]
    assert all(row in table for row in rows)
    assert table.count("not audited") == len(OF_USE) - 1
    assert "1 of 1 outcomes is unexpected" in text


def problems_told(result):
    """Return the rows of the problems of an audit: name, runs, failures, β, standing."""
    page = html(result)
    body = page[page.index('aria-label="Problems"') :]
    rows = re.findall(r"<tr>(.*?)</tr>", body[: body.index("</table>")], flags=re.DOTALL)[1:]
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, flags=re.DOTALL) for row in rows]
    return [tuple(" ".join(re.sub(r"<[^>]*>", " ", cell).split()) for cell in row) for row in cells]


def test_every_problem_of_a_refuted_audit_says_what_was_decided_on_it():
    found = (
        ProblemFinding("heavy", 300, 120.0, 1.0),
        ProblemFinding("light", 90, 0.0, 0.17441),
        ProblemFinding("easy", 200, 0.0, 0.05, met=True),
        ProblemFinding("rare"),
    )
    assert problems_told(useful(problems=found, worst="heavy", beta_lower=0.24026)) == [
        ("heavy", "300", "120", "≥ 0.24", "refuted"),
        ("light", "90", "0", "≤ 0.175", "undecided"),
        ("easy", "200", "0", "≤ 0.05", "met"),
        ("rare", "0", "0", "– not known", "not bet on"),
    ]


def test_by_laws_every_problem_above_the_claim_is_refuted_and_none_where_the_law_is_in_doubt():
    found = (ProblemFinding("over", exact=0.0500001), ProblemFinding("under", exact=0.01, met=True))
    sure = useful(problems=found, worst="over", evidence=Evidence.EXACT, beta_lower=0.0500001)
    assert [told[3:] for told in problems_told(sure)] == [("= 0.0500001", "refuted"), ("= 0.01", "met")]
    for verdict in (Verdict.INCONCLUSIVE, Verdict.ERROR):
        doubted = dataclasses.replace(sure, verdict=verdict, reason="The law was not compared.")
        assert [told[4] for told in problems_told(doubted)] == ["undecided", "undecided"]
