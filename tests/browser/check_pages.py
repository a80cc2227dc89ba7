"""Check the reports in a browser (`make browser-test`).

The checks cover two widths, two themes, print, pages without scripts, and axe-core. They need Playwright
and Chromium (Debian's, or the path in CHROMIUM). `PICTURES=FOLDER make browser-test` saves a screenshot
of every page.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from audit.claims import PAC
from audit.doors.report_link import render_report
from audit.results.result import Evidence, Verdict
from audit.self_audit.row import Row, SelfAudit
from audit.self_audit.saved import to_json as self_audit_json
from audit.studies.cells import Cell, Step
from audit.studies.results import CurveResult, StudyResult
from audit.studies.saved import to_json
from audit.utility.result import ProblemFinding, UtilityResult, UtilityWitness

DP_AUDIT = str(Path(sys.executable).with_name("dp-audit"))
SESSION = """
import pytest
from audit.claims import PureDP

@pytest.mark.parametrize("scale", [1.0, 0.4])
def test_release(auditor, scale):
    auditor.check(lambda data, rng: data[0] + rng.laplace(scale=scale), PureDP(1.0), records=[0, 1], size=2)
"""
#: The name of each page and the command that makes it; {} stands for the path of the page.
PAGES = {
    "suite": "suite *laplace-h* --budget 20000 --html {}",
    "refuted": "run flawed-laplace-half-scale --html {}",
    "proved": "run randomized-response --html {}",
    "findings": "findings E1 --html {}",
}
#: The pages that are made without a command.
MADE = ("session", "studies", "utility", "interrupted", "split", "self-audit")
SIZES = [(1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")]


def study():
    """Return a study with a measured and a closed-form curve over the same d."""

    def cells(size, how):
        sizes = [(d, round(size(d))) for d in (4, 8, 16, 32)]
        steps = [(Step(round(0.9 * m), "refuted", how=how), Step(m, "met", how=how)) for _, m in sizes]
        return tuple(Cell(d, d, 9.0 * m, each) for (d, m), each in zip(sizes, steps, strict=True))

    curves = (
        CurveResult("two rounds", "K11 Thm 5.9", "grows", cells(lambda d: 10 * d**3.2, "runs")),
        CurveResult("one round", "", "grows", cells(lambda d: 600 * 2 ** (d / 4), "exact"), "exponential"),
    )
    return StudyResult("parity", "All.", "PAC(0.1, 0.1)", parameter="d", axis="d", planned=8, curves=curves)


def utility():
    """Return a refuted utility claim with long names and tiny probabilities."""
    tried = [
        (f"two rivals of alpha apart on noisy labels, weights moved ({i})", 9.81e-296) for i in range(14)
    ]
    problems = [ProblemFinding(name, 2_000_000, failures, 0.0989) for name, failures in tried]
    worst = ProblemFinding("uniform", 300, 60.0, 0.3)
    return UtilityResult(
        "learner", PAC(0.1, 0.1), Verdict.REFUTED, Evidence.STATISTICAL, worst="uniform", beta_lower=0.13,
        witness=UtilityWitness("uniform", [0] * 90, 1, 0.3, seed=7), problems=(worst, *problems),
    )  # fmt: skip


def self_audit():
    """Return a self-audit of three rows.

    A row keeps its limit, a row breaks it, and a row has none.
    """
    said = {"side": "at most", "limit": 0.1, "chance": 1e-6}
    rows = (
        Row("false alarms", "laplace at 0.1", 50, 0.3, 0.2, 0.45, **said),
        Row("false alarms", "geometric at 0.1", 50, 0.04, 0.01, 0.2, **said),
        Row("runs to refutation", "peers", 3, 9.0, 7.0, 20.0, kind="runs", details=(("svt", "7"),)),
    )
    return SelfAudit(rows, "quick", 3, planned=2, level=1e-6)


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    made = {name: folder / f"{name}.html" for name in (*PAGES, *MADE, "large")}
    for name, command in PAGES.items():
        subprocess.run([DP_AUDIT, *command.format(made[name]).split()], cwd=folder, check=False)
    (folder / "test_session.py").write_text(SESSION)
    session = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_session.py"]
    subprocess.run([*session, f"--audit-report={made['session']}"], cwd=folder, check=False)
    render_report([utility().to_json()], made["utility"])
    render_report(None, made["studies"], studies=[to_json(study())])
    render_report(None, made["self-audit"], self_audits=[self_audit_json(self_audit())])
    saved = [json.loads(path.read_text()) for path in sorted((folder / "results").glob("*.json"))]
    render_report(saved, made["interrupted"], not_audited=["noisy-count", "k-means (utility)"])
    render_report(saved, made["split"], split=True)
    (folder / "large.json").write_text(json.dumps((saved * 250)[:250]))
    subprocess.run([DP_AUDIT, "report", "large.json", "--html", made["large"]], cwd=folder, check=True)
    return made


@pytest.fixture(scope="session")
def browser():
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])


@pytest.fixture
def opened(browser, pages):
    """Return a function that opens a page and fails the test on any browser error."""
    contexts, errors = [], []

    def opened(name, *, width=1280, scheme="light", script=True, fragment=""):
        size = {"width": width, "height": 900}
        context = browser.new_context(viewport=size, color_scheme=scheme, java_script_enabled=script)
        context.set_default_timeout(300_000)  # the machine may be busy
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{pages[name].as_uri()}{fragment}")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert errors == []


OVERLAPS = """() => [...document.querySelectorAll("svg")].flatMap(svg => {
  const texts = [...svg.querySelectorAll("text")].map(t => [t.textContent, t.getBoundingClientRect()]);
  const frame = svg.getBoundingClientRect();
  const over = texts.flatMap(([a, p], i) => texts.slice(i + 1).filter(([b, q]) =>
    p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 2 && q.top < p.bottom - 2
  ).map(([b]) => `${a} over ${b}`));
  const out = texts.filter(([a, p]) => p.width && (p.right > frame.right + 1 || p.left < frame.left - 1));
  return over.concat(out.map(([a]) => `${a} is cut`));
})"""


@pytest.mark.parametrize(("width", "scheme"), SIZES)
@pytest.mark.parametrize("name", [*PAGES, *MADE])
def test_a_page_has_no_violation_no_overflow_and_nothing_overlapping(opened, name, width, scheme):
    page = opened(name, width=width, scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    if folder := os.environ.get("PICTURES"):
        Path(folder).mkdir(exist_ok=True)
        page.screenshot(path=f"{folder}/{name}-{width}-{scheme}.png", full_page=True)
    found = Axe().run(page).response
    doubtful = [
        each for each in found["incomplete"] if each["id"] != "color-contrast"
    ]  # axe cannot judge the contrast of text over the bars of a picture
    told = [
        f"{each['id']}: {node['html'][:200]}"
        for each in found["violations"] + doubtful
        for node in each["nodes"]
    ]
    assert told == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(OVERLAPS) == []


def shown(page):
    return page.locator("#index tbody tr:visible").evaluate_all(
        "rows => rows.map(row => row.dataset.verdict)"
    )


def test_a_filter_by_verdict_shows_only_that_verdict(opened):
    page = opened("large")
    box = page.locator("#index-filter")
    for words, wanted in (
        ("verdict:refuted", "refuted"),
        ("refuted", "refuted"),
        ("not refuted", "not-refuted"),
    ):
        box.fill(words)
        assert {*shown(page)} <= {wanted}
    box.fill("half-scale")
    assert shown(page)
    names = page.locator("#index tbody tr:visible").evaluate_all("rows => rows.map(row => row.dataset.name)")
    assert all("half-scale" in name for name in names)
    box.press("Escape")
    page.locator(".counts a").first.click()
    assert {*shown(page)} == {"refuted"}
    assert "of 250 shown" in page.locator("output").first.inner_text()


def test_a_column_sorts_by_its_numbers_up_and_down(opened):
    page = opened("large")
    runs = page.locator("#index th button").nth(5)
    for up in (True, False):
        runs.click()
        told = page.locator("#index tbody tr td:nth-child(6)").evaluate_all(
            "all => all.map(x => +x.dataset.v)"
        )
        assert told == sorted(told, reverse=not up)
    assert page.locator("#index th").nth(5).get_attribute("aria-sort") == "descending"


@pytest.mark.parametrize("script", [True, False])
def test_a_link_opens_the_section_that_it_leads_to(opened, script):
    page = opened("large", script=script)
    assert page.locator("article details[open]").count() == 0
    link = page.locator("#index tbody a").nth(3)
    link.click()
    page.wait_for_timeout(300)
    body = page.locator(link.get_attribute("href"))
    assert body.is_visible()
    assert body.locator("svg").first.is_visible()


@pytest.mark.parametrize("script", [True, False])
def test_a_printed_page_has_every_section(opened, script):
    page = opened("suite", script=script)
    page.emulate_media(media="print")
    paper = page.pdf()
    if folder := os.environ.get("PICTURES"):
        Path(folder, f"paper-{script}.pdf").write_bytes(paper)
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) > page.locator("article").count()


def test_print_the_time_of_a_large_page(opened, pages):
    """Print how long filtering a page of 250 audits takes."""
    page = opened("large")
    timing = page.evaluate("performance.getEntriesByType('navigation')[0].domInteractive")
    took = page.evaluate(
        "() => { const box = document.querySelector('#index-filter'), start = performance.now();"
        "box.value = 'verdict:refuted'; box.dispatchEvent(new Event('input'));"
        "return performance.now() - start }"
    )
    size = pages["large"].stat().st_size / 1e6
    print(f"250 audits: {size:.1f} MB, interactive after {timing:.0f} ms, a filter takes {took:.0f} ms")  # noqa: T201 - for people
    assert len(shown(page)) < 250
