"""The plugin: failing audits, the report of a session, no effect elsewhere."""

import json
import math
import subprocess
import sys
import textwrap
import xml.etree.ElementTree as ET

import pytest

from audit.catalogue import Entry
from audit.doors.auditor import Audited, parametrize_with_audits

pytest_plugins = ["pytester"]

MECHANISMS = """
    import pytest
    from audit.claims import PureDP
    from audit.catalogue import Entry
    from audit.pytest_plugin import parametrize_with_audits

    def leak(database, rng):
        return database[0]

    def coin(database, rng):
        return int(rng.integers(0, 2))

    def failing(database, rng):
        raise RuntimeError("the backend is down")

    claim = PureDP(epsilon=0.1)
    options = dict(pairs=[([0], [1])], budget=2000, confirm_budget=500)
"""


@pytest.fixture
def session(pytester):
    """Return a function that runs pytest on the mechanisms and some tests.

    Warnings are errors.
    """

    def run(tests, *arguments):
        pytester.makepyfile(test_privacy=MECHANISMS + tests)
        return pytester.runpytest_subprocess("-p", "no:cacheprovider", "-W", "error", *arguments)

    return run


MANY = """
    import pathlib
    from hypothesis import HealthCheck, given, settings, strategies

    def test_refuted(auditor):
        auditor.check(leak, claim, **options)

    def test_not_refuted(auditor):
        assert auditor.check(coin, claim, **options).verdict.name == "NOT_REFUTED"

    def test_refute(auditor):
        assert auditor.refute(leak, claim, **options).refuted

    def test_refute_in_vain(auditor):
        auditor.refute(coin, claim, **options)

    def test_check_failing(auditor):
        auditor.check(failing, claim, **options)

    def test_refute_failing(auditor):
        auditor.refute(failing, claim, **options)

    def test_wrong_pair(auditor):
        auditor.check(coin, claim, pairs=[([0], [0])])

    @given(strategies.integers())
    @settings(suppress_health_check=list(HealthCheck), database=None)
    def test_inside_given(auditor, number):
        auditor.check(coin, claim, **options)

    entry = Entry("a-flawed-one", lambda: leak, options=dict(options, claim=claim), expected="refuted")

    @parametrize_with_audits([(coin, dict(options, claim=claim)), entry])
    def test_each(audited, auditor):
        auditor.check(audited)

    def test_on_disk(auditor):
        before = len(list(pathlib.Path("results").iterdir()))
        auditor.check(coin, claim, **options)
        assert len(list(pathlib.Path("results").iterdir())) == before + 1

    def test_misspelt(auditor):
        auditor.check(coin, claim, bugdet=2000, **options)

    @parametrize_with_audits([(coin, dict(options, claim=claim, sede=3))])
    def test_misspelt_beside_a_subject(audited, auditor):
        auditor.check(audited)

    @pytest.mark.audit(time_limt=1)
    def test_misspelt_in_a_mark(auditor):
        pass
"""


WRONG = ("failure", "error")


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """Return the failure of each test of one session, or None if it passed."""
    folder = tmp_path_factory.mktemp("many")
    (folder / "test_privacy.py").write_text(textwrap.dedent(MECHANISMS + MANY))
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-W", "error"]
    command += ["--junitxml=junit.xml", "--audit-json=results"]
    subprocess.run(command, cwd=folder, capture_output=True, check=False)
    cases = ET.parse(folder / "junit.xml").getroot().iter("testcase")
    texts = {case.get("name"): [part.text for part in case if part.tag in WRONG] for case in cases}
    return {name: found[0] if found else None for name, found in texts.items()}


def explanation(text):
    """Return the lines that say what failed, and check that none shows our code."""
    assert "/audit/" not in text
    assert "During handling" not in text
    return [line for line in text.splitlines() if line.startswith("E ")]


def rows(text):
    """Return the number of rows of a failed test on a screen of 80 columns."""
    return 1 + sum(max(1, math.ceil(len(line) / 80)) for line in text.splitlines())


def test_a_failure_fits_a_screen(outcomes):
    names = [name for name, text in outcomes.items() if text is not None and "inside_given" not in name]
    assert len(names) >= 8
    assert {name: rows(outcomes[name]) for name in names if rows(outcomes[name]) > 40} == {}


def test_a_refuted_claim_shows_claim_finding_witness_and_command_without_our_traceback(
    outcomes,
):
    lines = explanation(outcomes["test_refuted"])
    assert "leak does not satisfy its claim: PureDP(epsilon=0.1) under replace-one is refuted." in lines[0]
    labels = [
        word for line in lines for word in ("Found:", "Witness:", "Again:") if f"E       {word}" in line
    ]
    assert labels == ["Found:", "Witness:", "Again:"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("test_misspelt", "`audit_privacy` has no option `bugdet`; did you mean `budget`?"),
        (
            "test_misspelt_beside_a_subject[coin-claim=PureDP(epsilon=0.1)-sede=3]",
            "`audit_privacy` or `audit_utility` has no option `sede`; did you mean `seed`?",
        ),
        ("test_misspelt_in_a_mark", "The mark `audit` has no option `time_limt`; did you mean `time_limit`?"),
    ],
)
def test_a_misspelt_option_gets_the_nearest_as_a_suggestion(outcomes, name, words):
    found = [text for test, text in outcomes.items() if test.startswith(name.partition("[")[0])]
    assert any(words in (text or "") for text in found)


def test_a_claim_that_is_not_refuted_passes_and_gives_the_result(outcomes):
    assert outcomes["test_not_refuted"] is None


def test_refute_passes_when_the_claim_is_refuted(outcomes):
    assert outcomes["test_refute"] is None


def test_refute_fails_unless_the_claim_is_refuted(outcomes):
    lines = explanation(outcomes["test_refute_in_vain"])
    assert "coin: expected REFUTED, got NOT_REFUTED" in lines[0]


@pytest.mark.parametrize("name", ["test_check_failing", "test_refute_failing"])
def test_an_audit_that_cannot_be_carried_out_fails_with_the_mechanisms_own_message(outcomes, name):
    assert "the backend is down" in " ".join(explanation(outcomes[name]))


def test_a_wrong_argument_fails_with_one_line(outcomes):
    assert len(explanation(outcomes["test_wrong_pair"])) == 1


def test_an_audit_inside_given_is_refused(outcomes):
    lines = explanation(outcomes["test_inside_given"])
    assert any("@given" in line and "records=" in line for line in lines)


def test_each_subject_becomes_a_test_with_a_readable_name(outcomes):
    names = [name for name in outcomes if name.startswith("test_each")]
    assert len(names) == 2
    assert names[0].startswith("test_each[coin-pairs=")
    assert names[1] == "test_each[a-flawed-one]"
    assert [outcomes[name] for name in names] == [None, None]


def test_a_result_is_on_disk_before_the_next_test(outcomes):
    assert outcomes["test_on_disk"] is None


class Sized:
    """A subject whose repr contains a memory address."""


def test_names_are_the_same_in_every_process():
    audits = [Sized(), (len, {"size": 3}), Entry("mine", len), Audited(len, {"pairs": [Sized()]})]
    cases = parametrize_with_audits(audits).mark.args[1]
    assert [case.id for case in cases] == ["Sized", "len-size=3", "mine", "len-pairs=list"]


@pytest.mark.parametrize(("expression", "selected"), [("audit", "test_coin"), ("not audit", "test_other")])
def test_the_marker_selects_tests_that_use_the_fixture(session, expression, selected):
    tests = """
    def test_coin(auditor):
        pass

    def test_other():
        pass
    """
    result = session(tests, "--collect-only", "-q", "-m", expression, "--strict-markers")
    assert [line for line in result.outlines if "::" in line] == [f"test_privacy.py::{selected}"]


TWO = """
    def test_coin(auditor):
        auditor.check(coin, claim, pairs=[([0], [1])])

    def test_leak(auditor):
        auditor.refute(leak, claim, pairs=[([0], [1])], confirm_budget=500, seed=3)
"""


PLACES = """
    def test_ini(auditor):
        auditor.check(coin, claim, pairs=[([0], [1])], name="ini")

    @pytest.mark.audit(seed=8, significance=1e-4)
    class TestMarked:
        def test_mark(self, auditor):
            auditor.check(coin, claim, pairs=[([0], [1])], name="mark")

        @pytest.mark.audit(seed=9)
        def test_call(self, auditor):
            auditor.refute(leak, claim, pairs=[([0], [1])], budget=2000, name="call")
"""


def test_an_option_comes_from_the_call_then_the_mark_then_the_command_line_then_the_ini(session, pytester):
    pytester.makeini(
        "[pytest]\naudit_budget=1000\naudit_significance=1e-3\naudit_seed=7\naudit_json=results\naudit_remember=kept"
    )
    session(PLACES, "--audit-budget=1500")
    saved = [json.loads(path.read_text()) for path in (pytester.path / "results").iterdir()]
    found = {
        each["result"]["subject"]: [each["result"][name] for name in ("budget", "significance", "seed")]
        for each in saved
    }
    assert found == {"ini": [1500, 1e-3, 7], "mark": [1500, 1e-4, 8], "call": [2000, 1e-4, 9]}
    assert all("--audit-budget=1500" in each["environment"]["command"] for each in saved)
    assert [each["environment"]["number"] for each in saved] == [1, 1, 1]  # the first audit of its test
    assert [path.name.partition("-")[0] for path in (pytester.path / "kept").iterdir()] == ["call"]


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "with xdist"])
def test_the_session_ends_with_a_table_a_sum_and_one_report(session, pytester, workers):
    """The session runs with -v and reports progress at every opportunity."""
    pytester.makeconftest("import audit.doors.live\naudit.doors.live.EVERY = 0.0")
    arguments = ("-v", "--audit-budget=2000", "--audit-report=page.html", "--junitxml=junit.xml", *workers)
    result = session(TWO, *arguments)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines_random(
        [
            "*= privacy audits =*",
            "NOT REFUTED   coin *",
            "REFUTED  *leak *as expected*",
            "2 audits, 1 of 1 as expected; total significance spent: 2e-06",
            "report: *page.html",
        ]
    )
    result.stdout.no_fnmatch_line("NOT REFUTED*as expected*")
    told = result.stderr if workers else result.stdout
    told.re_match_lines_random([r"  coin: [\d,]+ of at most 2,000 runs$"])
    page = (pytester.path / "page.html").read_text()
    assert "coin" in page
    assert "leak" in page
    properties = ET.parse(pytester.path / "junit.xml").getroot().iter("property")
    subjects = {json.loads(each.get("value"))["result"]["subject"] for each in properties}
    assert subjects == {"coin", "leak"}


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--audit-report=/dev/null/page.html", "/dev/null/page.html cannot be written"),
        ("--audit-json=/dev/null/results", "/dev/null/results/_.json cannot be written"),
        ("--audit-remember=/dev/null/kept", "/dev/null/kept/_.json cannot be written"),
        ("--audit-budget=0", "The `--audit-budget` must be a whole number ≥ 1; got 0."),
        ("--audit-significance=1.5", "The `--audit-significance` must be a number in (0, 1); got 1.5."),
        ("--audit-time-limit=soon", "`--audit-time-limit` must be a positive number of seconds; got 'soon'."),
        ("audit_seed = 1e-3", "The `audit_seed` of tox.ini must be a whole number ≥ 0; got 0.001."),
    ],
)
def test_an_option_that_cannot_work_is_refused_before_any_test_runs(pytester, option, words):
    given = option.startswith("-")
    if not given:
        pytester.makeini(f"[pytest]\n{option}")
    with pytest.raises(pytest.UsageError) as refused:
        pytester.parseconfigure(*([option] if given else []))
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_folder_of_the_ini_file_is_made_beside_it_wherever_pytest_starts(pytester, monkeypatch):
    pytester.makeini("[pytest]\naudit_json=results")
    monkeypatch.chdir(pytester.mkdir("tests"))
    pytester.parseconfigure("--rootdir", str(pytester.path), "-c", str(pytester.path / "tox.ini"))
    assert (pytester.path / "results").is_dir()


def test_an_option_that_cannot_work_stops_the_session_at_once(session):
    result = session(TWO, "--audit-seed=-1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: The `--audit-seed` must be a whole number ≥ 0; got -1."])
    assert "test_coin" not in result.stdout.str()


def test_a_session_without_audits_is_left_alone(session):
    result = session("\n    def test_other():\n        pass\n", "--audit-report=page.html")
    result.assert_outcomes(passed=1)
    assert "privacy audits" not in result.stdout.str()


def test_a_project_with_packages_of_our_names_keeps_them(pytester):
    for name in ("mechanisms", "learners", "reports", "audits"):
        pytester.mkpydir(name)
        (pytester.path / name / "__init__.py").write_text(f"owner = 'the user: {name}'\n")
    pytester.makepyfile(
        MECHANISMS
        + """
    import audits, learners, mechanisms, reports

    def test_theirs(auditor):
        for module in (audits, learners, mechanisms, reports):
            assert module.owner == f"the user: {module.__name__}"
        auditor.check(coin, claim, **options)
    """
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--audit-report=page.html"]
    ran = subprocess.run(command, cwd=pytester.path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "coin" in (pytester.path / "page.html").read_text()


def test_an_unrelated_session_imports_nothing_heavy(pytester):
    """`benchmarks/startup.py` measures the time that the plugin takes."""
    pytester.makepyfile(
        """
        import sys

        def test_light():
            assert "audit.pytest_plugin" in sys.modules
            heavy = {"numpy", "scipy", "hypothesis", "click", "rich", "jinja2", "joblib"}
            assert not heavy & set(sys.modules)
        """
    )
    result = pytester.runpytest_subprocess(
        "-p", "no:hypothesispytest", "-p", "no:xdist", "-p", "no:cacheprovider"
    )
    result.assert_outcomes(passed=1)
