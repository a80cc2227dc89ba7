"""The page of audits: what it shows, what it escapes, what it loads.

The file is long because all tests look at one made-up session.
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
from audit.events.features.bits import FinestBit
from audit.events.features.numbers import Value
from audit.results.course import Course
from audit.results.fault import Fault, FaultKind
from audit.results.outputs import Outputs
from audit.results.result import AuditResult, Evidence, Verdict, Witness
from audit.utility.result import ProblemFinding, UtilityResult, UtilityWitness
from audit.values.outcomes import Raised
from reports.html import check_writable, extracted, render, write_report

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
    """A parser that fails unless every element is closed in order."""

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


def test_a_distant_pair_is_shown_with_its_distance_and_the_limit_of_the_claim():
    """At ε = 0.1 and distance 20 the limit on p is e^(20·0.1)·0.05 = 0.3694528.

    The probability p exceeds it by 0.48 − 0.3694528 = 0.1105.
    """
    page = html(refuted(claim=PureDP(0.1), relation="replace-one", witness=witness(distance=20)))
    tree = Tree(page)
    assert "They are 20 records apart. At that distance the claim allows at most e20ε·q = 0.369." in tree.text
    assert "e<sup>20ε</sup>·q = <b>0.369</b>" in page
    assert "allowed, e^(20ε)·q: 0.369" in tree.text
    assert "Trade-off:" not in tree.text
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


def test_the_content_policy_allows_exactly_the_own_style_and_script():
    page = html()
    for tag in ("style", "script"):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src &#39;sha256-{digest}&#39;" in page.replace("'", "&#39;")


def test_the_page_is_accessible():
    tree = Tree(html(*EVERYTHING))
    tags = [tag for tag, _ in tree.elements]
    assert {"header", "main", "footer", "caption", "title"} <= set(tags)
    assert all(attributes.get("scope") in {"col", "row"} for attributes in tree.all("th"))
    assert tree.all("html")[0]["lang"] == "en"
    for picture in tree.all("svg"):
        assert picture["role"] == "img"
        assert all(name in tree.ids for name in picture["aria-labelledby"].split())
    for tag in ("section", "article"):
        names = [attributes["aria-labelledby"] for attributes in tree.all(tag)]
        assert {*names} <= {*tree.ids}
        assert len(names) == len({*names})
    assert all(attributes["role"] == "group" for attributes in tree.all("pre"))
    scrolling = [
        attributes for tag, attributes in tree.elements if attributes.get("class") == "scroll" or tag == "pre"
    ]
    assert scrolling
    assert all(attributes["tabindex"] == "0" for attributes in scrolling)
    levels = [int(tag[1]) for tag in tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    assert [a["for"] for a in tree.all("label")] == ["index-filter"]


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
    assert "Significance spent: 7e-06 over 7 audits." in text


def test_the_first_screen_says_what_is_wrong_first():
    """Of seven audits one is unexpected, one undecided and three refuted.

    One of the refutations is expected.
    """
    page = html(*EVERYTHING)
    text = Tree(page).text
    first = text[: text.index("Index")]
    assert "4 of 7 audits need a look: 2 refuted, 1 error (unexpected), 1 inconclusive." in first
    assert "broken error unexpected The audit failed: It raises." in first
    order = re.findall(r'<tr[^>]* data-verdict="([^"]*)" data-outcome="([^"]*)"', page)
    assert [verdict for verdict, _ in order] == [
        *("refuted", "refuted", "error", "inconclusive"),
        *("refuted", "not-refuted", "proved"),
    ]
    fine = Tree(html(*EVERYTHING[:3])).text
    said = "All 3 outcomes are as expected: 1 claim known to be flawed was refuted, and none of the other 2"
    assert said in fine
    assert "unexpected" not in fine[: fine.index("Index")]


def test_an_interrupted_suite_says_first_what_it_left_out():
    page = html(refuted(expected="refuted"), clean(), not_audited=[SCRIPT, "geometric"])
    text = Tree(page).text
    assert text.index("The suite was interrupted: 2 of 4 audits are missing.") < text.index(
        "Of those carried out, every refutation was expected: 1 refuted, 1 not refuted."
    )
    assert SCRIPT in text
    assert SCRIPT not in page
    assert extracted(page)["not_audited"] == [SCRIPT, "geometric"]
    assert "interrupted" not in html(refuted(), clean())


def test_audits_of_the_same_name_are_distinguished_by_their_replay_command():
    first, second = (clean(environment={"command": f"pytest test_{name}"}) for name in ("one", "two"))
    index = Tree(html(first, second)).text
    index = index[: index.index("Each audit")]
    assert "pytest test_one" in index
    assert "pytest test_two" in index
    assert "pytest test_one" not in Tree(html(first, clean(subject="other"))).text.split("Each audit")[0]


def test_the_page_says_what_was_audited_when_and_by_which_version():
    ran = {"date": "2026-11-29T16:20+00:00", "python": "3.11.7", "versions": {"dp-audit": "0.1.0"}}
    text = Tree(html(refuted(environment=ran))).text
    assert (
        "Audit of laplace: privacy Audits 1 audit with dp-audit 0.1.0 and Python 3.11.7 on 2026-11-29" in text
    )


def test_the_picture_of_all_audits_has_a_mark_for_each_numeric_claim():
    """The ratio 1.5 is at the height 128 − 49·log10 1.5, and 0.89 is below 1.

    The heights from 226 to 30 show four decades of found/claimed.
    """
    page = html(refuted(), clean(), refuted(), clean())
    (svg,) = [each for each in re.findall(r"<svg.*?</svg>", page, re.DOTALL) if "All audits" in each]
    places = dict(re.findall(r'class="dots ([\w-]+)" d="M[\d.]+ ([\d.]+)h\.1M', svg))
    assert float(places["refuted"]) == pytest.approx(128 - 49 * math.log10(1.5), abs=0.05)
    assert float(places["not-refuted"]) == pytest.approx(128 - 49 * math.log10(0.89), abs=0.05)
    assert "2 above the claim, 2 within it" in svg
    assert "All audits" not in html(refuted(), clean())  # the index shows this too


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


def rows(*results):
    body = html(*results).split('<table class="index')[1].split("</table>")[0]
    found = re.findall(r"<tr[^>]*data-verdict.*?</tr>", body, flags=re.DOTALL)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, flags=re.DOTALL) for row in found]
    return [[" ".join(re.sub(r"<[^>]*>", " ", cell).split()) for cell in row] for row in cells]


def test_the_index_has_claim_verdict_bounds_and_runs():
    exact = clean(evidence=Evidence.EXACT, epsilon_lower=0.5, detectable_epsilon=None)
    close = refuted(claim=PureDP(math.log(2)), evidence=Evidence.EXACT, epsilon_lower=math.log(2) + 8e-7)
    approximate = clean(claim=ApproximateDP(1.0, 1e-6), delta_lower=2e-6)
    laplace = "laplace 1-DP , replace one"
    assert rows(refuted(delta_lower=0.2), close, clean(), exact, approximate, useful()) == [
        [laplace, "refuted", "ε = 1", "ε ≥ 1.5 δ ≥ 0.2", "", "23,400", "statistical"],
        [
            "laplace 0.693-DP , replace one",
            "refuted",
            "ε = 0.693147",
            "ε = 0.693148 δ = 0",
            "",
            "23,400",
            "exact",
        ],
        ["laplace (0.1, 0.05)-PAC", "refuted", "β = 0.05", "β ≥ 0.07", "", "320", "statistical"],
        [laplace, "not refuted", "ε = 1", "ε ≥ 0.89", "1.2", "23,400", "statistical"],
        [laplace, "not refuted", "ε = 1", "ε = 0.5", "", "23,400", "exact"],
        [
            *("laplace (1, 1e-06)-DP , replace one", "not refuted", "ε = 1, δ = 1e-06"),
            *("ε ≥ 0.89 δ ≥ 2e-06", "1.2", "23,400", "statistical"),
        ],
    ]


def test_values_that_a_filter_matches_exactly_are_in_data_fields():
    page = html(refuted(fault=Fault(FaultKind.NOISE_TOO_SMALL)), clean(expected="not refuted"))
    assert 'data-verdict="refuted" data-outcome="" data-evidence="statistical" data-what="privacy"' in page
    assert 'data-fault="noise too small"' in page
    assert 'data-verdict="not-refuted" data-outcome="as-expected"' in page
    assert '<a href="#index" data-filter="verdict:not-refuted">' in page


def test_sections_are_closed_unless_there_is_only_one_and_contain_their_anchors():
    """A browser opens a closed section if a link leads into it."""
    many, one = html(refuted(), clean()), html(refuted())
    assert many.count("<article") == 2
    assert len(re.findall(r"<article[^>]*>\s*<details>", many)) == 2
    assert len(re.findall(r"<article[^>]*>\s*<details open>", one)) == 1
    for anchor in ("audit-0", "audit-1"):
        assert re.search(rf'</summary>\s*<div id="{anchor}"', many)
        assert f'href="#{anchor}"' in many


def test_a_split_report_is_an_index_of_pages(tmp_path):
    path = tmp_path / "index.html"
    results = [refuted(), clean(subject="a/b"), useful()]
    write_report(path, [each.to_json() for each in results], split=True)
    index = path.read_text(encoding="utf-8")
    assert "<article" not in index
    links = re.findall(r'<th scope="row"><a href="([^"#]*)"', index)
    assert len({*links}) == 3
    for link in links:
        page = (tmp_path / link).read_text(encoding="utf-8")
        assert page.count("<article") == 1
        assert '<a href="../index.html">All audits</a>' in page
    assert extracted(index)["documents"] == [each.to_json() for each in results]


def test_a_page_contains_its_results_in_full_and_can_be_rebuilt_from_them():
    parts = {"documents": [each.to_json() for each in (*EVERYTHING, hostile())], "title": SCRIPT}
    page = render(**parts)
    assert extracted(page) == parts
    assert render(**extracted(page)) == page
    with pytest.raises(CorruptFile, match="no saved results are inside"):
        extracted("<html></html>")


def test_a_fault_has_its_own_heading_and_is_shown_as_text():
    fault = Fault(FaultKind.NOISE_TOO_SMALL, 2.0, "The answer moves by <b>2</b>.")
    page = html(refuted(fault=fault))
    assert "Fault Noise too small: The answer moves by <b>2</b>." in Tree(page).text
    assert "<b>2</b>" not in page
    assert "Fault" not in Tree(html(refuted())).text


def test_the_section_shows_the_witness_and_how_to_repeat_it():
    text = Tree(
        html(refuted(target="m.py:mechanism", seed=7, witness=witness(simplest=witness(left=[9]))))
    ).text
    assert "On left = [0] the event “" not in text  # the browser adds the quotation marks
    assert (
        "From left to right, record 0: 0 → 1. Both databases, record by record; differences are marked "
        "Recordleftright 0 differs 0 1 On left the event the output is at least 1.5 happens "
        "with probability 0.48 (0.45–0.51); "
        "on right with 0.05 (0.04–0.06). The claim allows at most eε·q = 0.136."
    ) in text
    assert "Simplest witness From left to right, record 0: 9 → 1." in text
    story = [text.index(word) for word in ("Claim: PureDP", "Witness", "Probability of", "What is known")]
    assert story == sorted(story)
    assert text.index("What is known") < text.index("Repeat this audit")
    assert "dp-audit run m.py:mechanism --seed 7" in text
    assert "result.replay(fresh=True)" in text


def test_the_replay_instructions_repeat_this_audit():
    """The page has a command that repeats the audit, and a line of Python.

    The line says that it lacks the databases. An audit by laws draws no runs, so no new runs are offered.
    """
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


def pictures(*results):
    found = re.findall(r"<svg.*?</svg>", html(*results), flags=re.DOTALL)
    return {
        ET.fromstring(svg).find("title").text.split(":")[0].split(" on ")[0]: ET.fromstring(svg)
        for svg in found
    }


def test_the_picture_of_the_event_is_to_scale():
    """The axis ends at 0.7 and is 400 units wide.

    p = 0.48, the limit is e·0.05 = 0.1359, and q = 0.05.
    """
    tree = pictures(refuted())["Probability of the event"]
    bars = {bar.get("class"): float(bar.get("width")) for bar in tree.iter("rect")}
    wide = 400 / 0.7
    expected = {"bar p": wide * 0.48, "bar limit": wide * math.e * 0.05, "bar q": wide * 0.05}
    assert bars == pytest.approx(expected, abs=0.1)
    whiskers = [path.get("d") for path in tree.iter("path") if path.get("class") == "whisker"]
    assert whiskers[0].startswith(f"M{10 + wide * 0.45:.1f} ")
    assert "p on left: 0.48 (0.45–0.51)" in tree.find("desc").text
    lines = [path.get("d") for path in tree.iter("path") if path.get("class") == "threshold"]
    labels = [float(text.get("y")) for text in tree.iter("text") if text.get("class") == "label"]
    for line in lines:  # a threshold line is next to a bar and does not cross a label
        x, top, height = map(float, re.fullmatch(r"M([\d.]+) ([\d.]+)v([\d.]+)", line).groups())
        assert x == pytest.approx(10 + wide * math.e * 0.05, abs=0.1)
        assert not any(top < y < top + height for y in labels)


def curve(tree, kind):
    (d,) = [path.get("d") for path in tree.iter("path") if path.get("class") == kind and "L" in path.get("d")]
    return [tuple(map(float, point.split())) for point in d[1:].split("L")]


def test_the_privacy_profile_shows_the_claim_and_the_event():
    """1-DP allows a total variation of (e − 1)/(e + 1), the event shows 0.45 − 0.06.

    The event's value is the lower end of the interval of p minus the upper end of that of q.
    """
    tree = pictures(refuted())["Privacy profile"]
    claimed, found = curve(tree, "curve claimed"), curve(tree, "curve found")
    scale = (200 - claimed[0][1]) / ((math.e - 1) / (math.e + 1))
    assert 200 - found[0][1] == pytest.approx(0.39 * scale, abs=0.2)
    assert claimed[-1][1] == 200


def test_the_points_of_a_profile_are_exact_unless_they_were_sampled_or_lie_between_two_bounds():
    def told(**changes):
        tree = pictures(clean(delta_lower=0.0, **changes))["Privacy profile"]
        return [each.text for each in tree.iter("text")]

    law = {"verdict": Verdict.PROVED, "evidence": Evidence.EXACT, "epsilon_upper": 0.89}
    assert "exact, over these pairs" in told(**law)
    assert "bounds of this audit" in told()
    assert "bounds of this audit" in told(**{**law, "epsilon_upper": 0.9})


def test_the_trade_off_curve_of_the_event_lies_below_what_the_claim_allows():
    """At a false alarm rate of 0.05 the claim allows no miss rate below 1 − 0.05·e.

    The event has a miss rate of 0.52.
    """
    tree = pictures(refuted())["Trade-off"]
    assert "allows no fewer misses than 0.864" in tree.find("desc").text
    assert curve(tree, "curve found")[1] == pytest.approx((52 + 348 * 0.05, 26 + 174 * 0.48), abs=0.1)


def test_an_audit_that_is_not_refuted_shows_its_bound_and_the_detectable_epsilon():
    told = pictures(clean(detectable_epsilon=1.25, ceiling_epsilon=6.184))["How close"].find("desc").text
    assert told == (
        "ε claimed: 1; found, at least: 0.89; caught nine times in ten, from: 1.25; "
        "most that these runs can certify: 6.19."
    )


def test_evidence_is_drawn_with_the_limit_that_refutes():
    tree = pictures(refuted(log_wealth=14.0, log_limit=13.8, samples_to_refutation=750))["Evidence"]
    assert tree.find("desc").text == "After 750 runs the ln of the wealth is 14; 13.8 refutes the claim."
    course = Course((40, 250, 750), (-0.5, 3.25, 14.0))
    tree = pictures(refuted(log_wealth=14.0, log_limit=13.8, wealth_course=course))["Evidence"]
    assert "It was at most 14 and at least −0.5." in tree.find("desc").text
    (limit,) = [path.get("d") for path in tree.iter("path") if path.get("class") == "threshold"]
    line = curve(tree, "series refuted")
    assert [x for x, _ in line] == pytest.approx([52 + 348 * x / 750 for x in course.places], abs=0.1)
    scale = (line[0][1] - line[-1][1]) / 14.5  # the axis runs from −0.5 to 14
    assert float(re.match(r"M52 ([\d.]+)H", limit)[1]) == pytest.approx(line[-1][1] + 0.2 * scale, abs=0.2)
    assert "Evidence" not in pictures(refuted(evidence=Evidence.EXACT, log_limit=13.8))
    far = Course((0, 9), (-1.7e308, 1.7e308))
    assert "Evidence" in pictures(refuted(log_wealth=1e308, log_limit=1.7e308, wealth_course=far))


def test_the_search_is_drawn_next_to_the_claim_if_it_had_a_choice():
    course = Course((1, 3, 20), (0.5, 2.0, math.inf))
    told = pictures(clean(search_course=course, evidence=Evidence.EXACT))["Search"]
    assert told.find("desc").text == "After 20 pairs the largest ε of a pair is ∞; 1 is claimed."
    (steps,) = [path.get("d") for path in told.iter("path") if path.get("class") == "series not-refuted"]
    assert steps.count("H") == steps.count("V") == 2
    assert "an estimate" in pictures(clean(search_course=course))["Search"].find("desc").text
    assert "Search" not in pictures(clean(search_course=Course((1, 1), (0.5, 0.6))), clean())


def test_outputs_are_drawn_on_both_sides_with_the_event_shaded():
    """The event holds 5 of 8 outputs on the left and 1 of 4 on the right."""
    bins = (0.0, 1.0, 2.0), ("no number",)
    kept = Outputs("the output", *bins, (3, 4, 1), (2, 2, 0), (0, 4, 1), (0, 1, 0))
    page = html(refuted(witness=witness(outputs=kept)))
    tree = pictures(refuted(witness=witness(outputs=kept)))["Outputs"]
    assert "The event has 0.625 of the outputs on left and 0.25 of those on right." in tree.find("desc").text
    drawn = {path.get("class"): path.get("d") for path in tree.iter("path")}
    bars = {kind: drawn[f"shape {kind}"].count("z") for kind in ("out p", "in p", "out q", "in q")}
    assert bars == {"out p": 3, "in p": 2, "out q": 2, "in q": 1}
    low, high = (float(y) for y in re.match(r"M[\d.]+ ([\d.]+)V([\d.]+)", drawn["shape in p"]).groups())
    assert low - high == pytest.approx(74 * 0.5 / 0.5, abs=0.1)  # the axis ends at 1/2
    told = re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", page))
    for row in ("0 to 1 0.375 0.5", "1 to 2 0.5 0.5 in part", "no number 0.125 0 yes"):
        assert row in told
    named = Outputs("the output", (), ("'yes'", SCRIPT), (3, 1), (1, 3), (3, 0), (1, 0))
    page = html(refuted(witness=witness(direction="right", outputs=named)))
    assert "&#39;yes&#39; (event)" in page
    assert SCRIPT not in page
    assert "Outputs" not in pictures(refuted())  # a result of an older version
    huge = Outputs("the output", (-1e300, 0.0, 1e300), (), (3, 1), (0, 0), (3, 0), (0, 0))
    assert "10³⁰⁰" in html(refuted(witness=witness(outputs=huge)))


def test_a_section_with_all_its_pictures_stays_small():
    """A picture may have at most 12 kB, the text and tables of a section 15 kB."""
    bins, places = tuple(-12.3456 + i / 8 for i in range(22)), tuple(range(1, 4000, 67))
    column = tuple(123.0 + i for i in range(24))
    kept = Outputs("a score fitted to 12 entries", bins, ("a", "b", "c"), *(column,) * 4)
    shown = witness(outputs=kept, left=[0.123456789] * 12, right=[0.123456789] * 11 + [7.123456789])
    ran = Course(places, tuple(1234.5678 / i for i in places))
    told = dataclasses.replace(shown, simplest=dataclasses.replace(shown, left=[9] * 12))
    page = html(refuted(witness=told, log_limit=13.8, wealth_course=ran, search_course=ran))
    (section,) = re.findall(r"<article.*?</article>", page, flags=re.DOTALL)
    drawn = re.findall(r"<svg.*?</svg>", section, flags=re.DOTALL)
    assert len(drawn) == 7
    assert max(len(each.encode()) for each in drawn) <= 12_000
    assert len(re.sub(r"<svg.*?</svg>", "", section, flags=re.DOTALL).encode()) <= 15_000


@pytest.mark.parametrize(
    ("p", "q"), [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (1e-9, 0.0), (5e-324, 0.0), (0.3, 1.0)]
)
@pytest.mark.parametrize("claim", [PureDP(0.0), PureDP(5.0), PureDP(1e4), ApproximateDP(0.0, 0.5)])
def test_pictures_stay_inside_their_frames(p, q, claim):
    shown = witness(p=p, q=q, p_interval=(0.0, 1.0), q_interval=(0.0, 1.0))
    for found in (math.inf, 0.0):
        for tree in pictures(refuted(claim=claim, epsilon_lower=found, witness=shown)).values():
            for element in tree.iter():
                positions = [float(element.get(name)) for name in ("x", "y") if element.get(name)]
                positions += map(float, re.findall(r"[ML]([\d.]+) [\d.]+", element.get("d", "")))
                assert all(0 <= x <= 420 for x in positions)
                assert float(element.get("width", 0)) <= 400


def test_the_page_shows_outputs_and_why_no_simpler_pair():
    shown = witness(examples=(("[0]", "[1.23]"), ("9",)))
    text = Tree(html(refuted(witness=dataclasses.replace(shown, simplest=shown)))).text
    assert "Outputs on left: [0], [1.23], …; on right: 9, …" in text
    assert "No simpler pair was shown to fail." in text
    assert "No simpler pair" not in Tree(html(refuted(witness=witness(simplest=shown)))).text


def test_an_output_has_three_digits_unless_the_event_reads_its_bits():
    examples = (("1.655",), ("0.30000000000000004",))
    bits = Event((NumberIn(FinestBit(Value()), (point(-54.0),)),))
    assert "left: 1.66, …; on right: 0.3, …" in Tree(html(refuted(witness=witness(examples=examples)))).text
    shown = Tree(html(refuted(witness=witness(examples=examples, event=bits)))).text
    assert "left: 1.655, …; on right: 0.30000000000000004, …" in shown


def test_exponents_of_an_event_are_raised_and_those_of_an_output_are_not():
    low = Event((NumberIn(FinestBit(Value()), ((-math.inf, -52.0),)),))
    assert "bits below 2<sup>−52</sup>" in html(refuted(witness=witness(event=low)))
    text = Event((AtomIn(Whole(), ("x^2",)),))
    page = html(refuted(witness=witness(event=text)), clean())
    assert "x^2" in page.split("<q>")[1].split("</q>")[0]
    assert "x<sup>" not in page


def test_a_note_has_three_digits():
    page = html(refuted(notes=("The worst pair: [0] and [1], with ε 0.6931.",)))
    assert "with ε 0.693." in Tree(page).text


def test_a_fault_seen_on_the_simplest_witness_says_so():
    """The runs that name a fault are those of the simplest witness."""
    told = "Seen on the simplest witness, below."
    fault = Fault(FaultKind.NOISE_TOO_SMALL, 2.0, "On the right.")
    simple = witness(left=[], right=[0])
    assert told in Tree(html(refuted(fault=fault, witness=witness(simplest=simple)))).text
    assert told not in Tree(html(refuted(fault=fault, witness=witness()))).text


def test_a_long_reason_is_cut_after_a_word():
    """The reason is not cut at "0…", which reads as zero."""
    fault = Fault(FaultKind.UNNOISED_PART, None, f"{'word ' * 44}is 0.25 here and there")
    page = Tree(html(refuted(fault=fault), refuted())).text
    assert "word is …" in page
    assert "0…" not in page


def test_the_axis_of_low_bits_has_its_whole_name():
    name = FinestBit(Value()).words
    outputs = Outputs(name, (-55.0, -54.0, -53.0), (), (5, 5), (0, 9), (5, 0), (0, 0))
    told = pictures(refuted(witness=witness(outputs=outputs)))["Outputs"]
    assert name in [each.text for each in told.iter("text")]


def test_rare_outputs_beside_the_event_are_counted_together_and_a_rare_event_is_drawn_large():
    names, ours = ("no", "a", "b", "c", "yes", "any other"), (9, 1, 1, 1, 0, 988)
    many = Outputs("the output", (), names, ours, ours, (0,) * 6, (0,) * 6)
    told = pictures(refuted(witness=witness(outputs=many)))["Outputs"]
    assert [each.text for each in told.iter("text") if each.get("class") == "label"][:1] == ["any other"]
    rare = Outputs("the output", (), ("yes", "no"), (0, 1000), (10, 990), (0, 0), (10, 0))
    tree = pictures(refuted(witness=witness(outputs=rare)))["Outputs"]
    (bar,) = [path.get("d") for path in tree.iter("path") if path.get("class", "").startswith("shape in")][:1]
    assert "H410v8" in bar  # the whole width


def test_a_claim_with_delta_has_a_logarithmic_profile():
    """The claimed δ is 1e-6, and 1-DP implies δ = 0.462 at ε = 0.

    The two values are more than five powers of ten apart.
    """
    tree = pictures(refuted(claim=ApproximateDP(1.0, 1e-6)))["Privacy profile"]
    assert "10⁻⁶" in [each.text for each in tree.iter("text")]


def test_audits_with_the_same_reason_share_a_line():
    reason = "The budget was too small."
    several = [
        clean(subject=name, verdict=Verdict.INCONCLUSIVE, reason=reason) for name in ("first", "second")
    ]
    start = Tree(html(*several)).text.partition(" Index ")[0]
    assert "first, second inconclusive" in start
    assert start.count("reached no verdict") == 1


def test_the_page_says_what_one_entry_shows_and_if_a_side_is_constant():
    always = Event((NumberIn(Value(), (point(0.0),)),))
    shown = witness(event=always, p=1.0, beside=witness())
    text = Tree(html(refuted(witness=shown))).text
    assert "Every run on left gave the same output." in text
    assert "One entry alone shows it too: " in text


def hostile():
    """Return a result with hostile text in every field that holds foreign text.

    It has markup, quotes and invisible characters.
    """
    evil = f"{SCRIPT}\"'><img src=x onerror=alert(1)>{{{{ 7 * 7 }}}}\u202e\x1b[31m\x00\u2066\ud800"
    event = Event((AtomIn(Whole(), (Raised(evil, evil), evil)),))
    pair = witness(left=[evil, {evil: evil}], right=[evil, {evil: 1}], event=event)
    return refuted(
        subject=evil,
        relation=evil,
        claim=ForeignClaim(evil, epsilon=1.0, delta=0.1),
        reason=evil,
        witness=witness(
            event=event,
            left=(evil,),
            simplest=pair,
            examples=((evil,), (evil,)),
            outputs=Outputs(evil, (), (evil, evil), (1, 2), (2, 1), (1, 0), (0, 1)),
        ),
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
def test_text_from_a_mechanism_is_never_markup(verdict, evidence):
    bad = dataclasses.replace(hostile(), verdict=verdict, evidence=evidence)
    page = html(bad, title=SCRIPT)
    tree, calm = Tree(page), Tree(html(refuted(witness=witness(simplest=witness()))))
    assert {tag for tag, _ in tree.elements} <= {tag for tag, _ in calm.elements} | {
        "ul",
        "li",
        "div",
        "dl",
        "code",
    }
    assert len(tree.all("script")) == 2
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


def test_writing_is_checked_in_advance_and_is_complete(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # folders are created only inside the working directory
    path = tmp_path / "audit-report" / "index.html"
    check_writable(path)
    write_report(path, [refuted().to_json()], title="Ours")
    assert "<h1>Ours</h1>" in path.read_text(encoding="utf-8")
    assert [file.name for file in path.parent.iterdir()] == ["index.html"]
    (tmp_path / "file").touch()
    with pytest.raises(AuditError, match="cannot be written"):
        check_writable(tmp_path / "file" / "index.html")


def test_a_page_is_made_without_the_engine():
    """Drawing a page loads no sampler, no auditor and no heavy library."""
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


def test_the_two_audits_of_a_subject_link_to_each_other():
    text = html(clean(), useful(), useful(subject="alone"))
    assert re.findall(r'<a href="#(audit-\d)">Its ([\w ]+): ([\w ]+)</a>', text) == [
        ("audit-0", "privacy", "not refuted"),
        ("audit-1", "utility", "refuted"),
    ]


def test_errors_and_failure_rates_are_drawn_beside_alpha_and_beta():
    """The bar of 40 failures in 300 runs is 400·0.133/0.22 units wide.

    The upper bound is 0.2. The axis ends at 0.22 and is 400 units wide.
    """
    drawn = pictures(useful())
    assert (
        "error of this output: 0.3; claimed α: 0.1."
        in drawn["Error of the failure beside α"].find("desc").text
    )
    tree = drawn["Failure rate by problem beside β"]
    assert float(next(tree.iter("rect")).get("width")) == pytest.approx(400 * (40 / 300) / 0.22, abs=0.1)
    assert "uniform: 40 of 300, at most 0.2; point: 0.01, exact; claimed β: 0.05." in tree.find("desc").text


def problems_told(result):
    """Return the rows of the table of problems as texts."""
    page = html(result)
    body = page[page.index('aria-label="Problems"') :]
    rows = re.findall(r"<tr>(.*?)</tr>", body[: body.index("</table>")], flags=re.DOTALL)[1:]
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, flags=re.DOTALL) for row in rows]
    return [tuple(" ".join(re.sub(r"<[^>]*>", " ", cell).split()) for cell in row) for row in cells]


def test_every_problem_of_a_refuted_audit_has_its_own_verdict():
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


def test_by_laws_every_problem_above_the_claim_is_refuted_unless_the_law_is_in_doubt():
    found = (ProblemFinding("over", exact=0.0500001), ProblemFinding("under", exact=0.01, met=True))
    sure = useful(problems=found, worst="over", evidence=Evidence.EXACT, beta_lower=0.0500001)
    assert [told[1:] for told in problems_told(sure)] == [("= 0.0500001", "refuted"), ("= 0.01", "met")]
    for verdict in (Verdict.INCONCLUSIVE, Verdict.ERROR):
        doubted = dataclasses.replace(sure, verdict=verdict, reason="The law was not compared.")
        assert [told[-1] for told in problems_told(doubted)] == ["undecided", "undecided"]
