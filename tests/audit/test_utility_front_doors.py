"""A utility claim in pytest, on the command line, in JSON and on the page.

The file is long because the same learners go through every front door.
"""

import dataclasses
import json
import sys

import pytest

from audit import PAC, AuditResult, Evidence, UtilityResult, Verdict, audit_privacy, audit_utility
from audit.catalogue import Entry
from audit.doors.auditor import parametrize_with_audits
from audit.doors.carry_out import audit_entry
from audit.doors.cli import main
from audit.doors.cli.run import audit_target, read
from audit.doors.summary import line, total
from audit.errors import CorruptFile, InvalidValue
from audit.problems import SampledProblem
from audit.utility.saved import parse_any
from reports.html import render

pytest_plugins = ["pytester"]

MODULE = """
from dataclasses import dataclass
from audit.claims import PAC, PureDP
from audit.problems import SampledProblem


@dataclass(frozen=True)
class Both:
    p: float = 0.02
    claim = PureDP(1.0)
    records = (0, 1)
    size = 3
    utility_claim = PAC(0.25, 0.1)

    def __call__(self, database, rng):
        return int(rng.random() < self.p)

    def problems(self):
        return PROBLEMS


class Useful:
    utility_claim = PAC(0.25, 0.1)

    def __call__(self, database, rng):
        return 0

    def problems(self):
        return PROBLEMS


class UsefulOn(Useful):
    records = (0, 1)
    size = 2


def bare(database, rng):
    return int(rng.random() < 0.4)


PROBLEMS = [SampledProblem("coins", lambda rng: rng.integers(0, 2, 5).tolist(), lambda output, _: output)]
"""
BRIEF = ("--budget", "3000")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("dp_audit_target_")]:
        del sys.modules[name]


@pytest.fixture
def call(capsys, folder, in_process):
    def run(*arguments):
        with pytest.raises(SystemExit) as left:
            main(arguments)
        return left.value.code, *capsys.readouterr()

    return run


# The command line


def test_run_audits_both_claims_of_a_subject_and_saves_them_in_one_document(call, folder):
    code, out, _ = call("run", "mine.py:Both", *BRIEF, "--json", "both.json")
    assert code == 0
    assert out.index("PureDP(epsilon=1)") < out.index("PAC(alpha=0.25, beta=0.1)")
    private, useful = parse_any((folder / "both.json").read_text())
    assert isinstance(private, AuditResult)
    assert isinstance(useful, UtilityResult)
    assert useful.met
    assert private.target == useful.target == "mine.py:Both"
    assert AuditResult.from_json((folder / "both.json").read_text()) == private


def test_run_exits_1_when_either_claim_is_refuted_and_can_be_told_to_audit_one(call):
    assert call("run", "mine.py:Both", "--set", "p=0.5", *BRIEF)[0] == 1
    assert call("run", "mine.py:Both", "--set", "p=0.5", *BRIEF, "--only", "privacy")[0] == 0
    assert call("run", "mine.py:Both", "--set", "p=0.5", *BRIEF, "--only", "utility")[0] == 1


def test_run_exits_3_when_one_claim_is_neither_refuted_nor_met(call):
    assert call("run", "mine.py:Both", "--set", "p=0.1", "--budget", "1000")[0] == 3


def test_a_subject_without_a_privacy_claim_is_audited_for_its_utility_alone(call):
    code, out, _ = call("run", "mine.py:Useful", "--json", "-")
    assert code == 0
    assert UtilityResult.from_json(out).met


@pytest.mark.parametrize(
    "asked", [("--epsilon", "1"), ("--only", "privacy"), ("--epsilon", "1", "--explain")]
)
def test_asking_for_the_privacy_of_a_subject_without_that_claim_is_refused_with_advice(call, asked):
    code, _, err = call("run", "mine.py:Useful", *asked, *BRIEF)
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith("dp-audit: `mine.py:Useful` claims only utility. To audit that, leave out")
    assert "`--pair LEFT RIGHT`" in err


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (("mine.py:Useful",), "`mine.py:Useful` claims only utility"),
        (("mine.py:Both", "--only", "utility"), "`--only utility` audits none"),
    ],
)
def test_a_mutation_check_of_utility_is_refused_in_one_line(call, asked, why):
    code, out, err = call("run", *asked, *BRIEF, "--mutate")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"dp-audit: `--mutate` needs a privacy claim to make smaller; {why}:")


def test_a_plan_and_a_mutation_check_show_the_name_that_was_asked_for(call, monkeypatch):
    monkeypatch.setattr("audit.subject.targets.load_catalogue", lambda: [entry("asked-for", 0.0)])
    assert call("run", "asked-for", "--explain")[1].startswith("Plan for asked-for, PureDP(epsilon=")
    out = call("run", "asked-for", "--only", "privacy", "--mutate")[1]
    assert "Mutation check of asked-for: the same audit" in out


def test_the_privacy_of_a_subject_without_that_claim_is_audited_if_databases_are_known(call):
    given = ("--epsilon", "1", "--only", "privacy", *BRIEF)
    assert call("run", "mine.py:Useful", *given, "--pair", "[0]", "[1]")[0] == 0
    assert call("run", "mine.py:UsefulOn", *given)[0] == 0


def test_a_utility_claim_and_its_problems_can_be_given_for_any_function(call):
    given = ("mine.py:bare", "--problems", "mine.py:PROBLEMS")
    assert call("run", *given, "--alpha", "0.25", "--beta", "0.1")[0] == 1
    assert call("run", *given, "--alpha", "0.25", "--beta", "0.6")[0] == 0
    code, _, err = call("run", *given, "--alpha", "0.25")
    assert (code, err.count("\n")) == (2, 1)
    code, _, err = call("run", *given, "--alpha", "-1", "--beta", "0.1")
    assert (code, err) == (2, "dp-audit: The `--alpha` must be a finite number ≥ 0; got -1.0.\n")


def test_a_saved_failure_is_replayed_on_the_same_subject_and_on_another(call, folder):
    call("run", "mine.py:Both", "--set", "p=0.5", "--only", "utility", "--json", "failure.json")
    code, out, err = call("replay", "failure.json", "--trust")
    assert (code, err) == (1, "")
    assert "This is the same output as the saved one" in out
    assert f"It was drawn from {(folder / 'mine.py').resolve()}.\n" in out
    code, out, _ = call("replay", "failure.json", "--trust", "--set", "p=0.0")
    assert code == 0
    assert "NOT REPRODUCED" in out
    (folder / "mine.py").write_text((folder / "mine.py").read_text() + "\n")
    assert "mine.py, which has changed since the audit.\n" in call("replay", "failure.json", "--trust")[1]
    call("run", "mine.py:Useful", "--json", "met.json")
    code, _, err = call("replay", "met.json")
    assert (code, err.count("\n")) == (2, 1)
    assert "nothing to replay" in err


def test_a_saved_failure_is_replayed_through_the_convert_of_its_audit(call, folder):
    (folder / "rows.py").write_text(
        "from audit import PAC\nfrom audit.problems import FixedProblem\n\n"
        "PROBLEMS = [FixedProblem('fixed', [1], lambda output, database: output)]\n\n\n"
        "def rows(records):\n    return {'rows': records}\n\n\n"
        "def learner(database, rng):\n    return 1.0 if isinstance(database, dict) else 0.0\n"
    )
    given = (
        "--problems",
        "rows.py:PROBLEMS",
        "--alpha",
        "0.25",
        "--beta",
        "0.1",
        "--convert",
        "rows.py:rows",
    )
    assert call("run", "rows.py:learner", *given, "--json", "failure.json")[0] == 1
    code, _, err = call("replay", "failure.json", "--trust")
    assert code == 2
    assert "could not be saved, so its error cannot be measured: give it in `--problems`" in err
    again = ("replay", "failure.json", "--trust", "--problems", "rows.py:PROBLEMS")
    code, out, err = call(*again)
    assert (code, err) == (1, "")
    assert "This is the same output as the saved one" in out
    assert call(*again, "--convert", "builtins:list")[0] == 0


def useful(p):
    class Learner:
        utility_claim = PAC(0.25, 0.1)

        def __call__(self, database, rng):
            return int(rng.random() < p)

        def problems(self):
            return [SampledProblem("coins", lambda rng: [0] * 5, lambda output, _: output)]

    return Learner()


def entry(name, p, expected="not refuted"):
    options = {"claim": _pure(), "records": [0, 1], "size": 2, "budget": 1_000}
    return Entry(
        name, lambda: useful(p), options=options, utility={"budget": 2_000}, utility_expected=expected
    )


def _pure():
    from audit import PureDP

    return PureDP(1.0)


def only_useful(name, p, expected="not refuted"):
    return Entry(name, lambda: useful(p), options=None, utility={"budget": 2_000}, utility_expected=expected)


def test_an_entry_without_a_privacy_claim_is_audited_for_its_utility_only(call, monkeypatch, folder):
    entries = [only_useful("right", 0.01), only_useful("wrong", 0.5, "refuted")]
    monkeypatch.setattr("audit.catalogue.load_catalogue", lambda: entries)
    code, out, _ = call("suite", "--jobs", "1", "--json", "kept")
    assert code == 0
    assert "2 audits, 2 as expected" in out
    assert sorted(path.name for path in (folder / "kept").iterdir()) == [
        "right-utility.json",
        "wrong-utility.json",
    ]
    cases = parametrize_with_audits(entries).args[1]
    assert [case.id for case in cases] == ["right-utility", "wrong-utility"]
    assert [one.flaws for one in entries] == [[], ["utility"]]


def test_long_audits_of_an_entry_are_left_out_unless_asked_for(call, monkeypatch):
    slow = dataclasses.replace(only_useful("slow", 0.01), long=("utility",))
    monkeypatch.setattr("audit.catalogue.load_catalogue", lambda: [only_useful("right", 0.01), slow])
    _, out, _ = call("suite", "--jobs", "1")
    assert "1 audit of more than 10 seconds left out; --full adds them" in out
    assert "1 audit, 1 as expected" in out
    assert "2 audits, 2 as expected" in call("suite", "--jobs", "1", "--full")[1]
    assert "1 audit, 1 as expected" in call("suite", "slow", "--jobs", "1")[1]


def test_an_entry_without_any_audit_is_refused():
    with pytest.raises(InvalidValue, match="audits nothing: `options` and `utility` are both None"):
        Entry("idle", len, options=None)


def test_the_budget_of_an_entrys_privacy_audit_does_not_limit_its_utility_audit(monkeypatch):
    few = {"claim": _pure(), "records": [0, 1], "size": 2, "budget": 150}
    short = Entry("short", lambda: useful(0.01), options=few, utility={})
    by_suite = audit_entry(short, "utility", {})
    assert by_suite.verdict is Verdict.NOT_REFUTED
    assert by_suite.samples > 150
    monkeypatch.setattr("audit.subject.targets.load_catalogue", lambda: [short])
    [_, by_run] = audit_target(read("short", (), {}))
    assert by_run.samples == by_suite.samples


def test_the_suite_compares_the_utility_of_its_entries_with_their_expectation(call, monkeypatch, folder):
    def suite(*entries):
        monkeypatch.setattr("audit.catalogue.load_catalogue", lambda: list(entries))
        return call("suite", "--jobs", "1", "--html", "page.html")

    code, out, _ = suite(entry("right", 0.01), entry("wrong", 0.5, "refuted"))
    assert code == 0
    assert "right (utility)" in out
    assert "4 audits, 4 as expected" in out
    assert (folder / "results" / "wrong-utility.json").exists()
    assert suite(entry("missed", 0.01, "refuted"))[0] == 1
    assert suite(entry("worse", 0.5))[0] == 1
    assert suite(entry("open", 0.1))[0] == 3


# pytest


def test_parametrize_covers_both_claims():
    @parametrize_with_audits([useful(0.0), entry("named", 0.0), len])
    def test(audited):
        """Do nothing."""

    [mark] = test.pytestmark
    ids = [case.id for case in mark.args[1]]
    assert [name.rpartition("-")[2] for name in ids] == ["utility", "named", "utility", "len"]


TESTS = """
from mine import *
from audit.pytest_plugin import *

@parametrize_with_audits([Both()])
def test_claims(audited, auditor):
    auditor.check(audited)

def test_met(auditor):
    auditor.check_utility(Both(p=0.5))

def test_open(auditor):
    auditor.check_utility(Both(p=0.1))

def test_refuted(auditor):
    auditor.refute_utility(Both(p=0.0))

def test_right(auditor):
    auditor.refute_utility(Both(p=0.5))

def test_given(auditor):
    auditor.check_utility(bare, PAC(0.25, 0.6), problems=PROBLEMS)

def test_none(auditor):
    auditor.check_utility(bare)
"""


def test_one_session_audits_each_claim_and_shows_met_refuted_and_open_utility(pytester):
    """The summary shows the two claims of a parametrized audit.

    Each failing call shows a text of its own.
    """
    pytester.makepyfile(mine=MODULE, test_it=TESTS)
    run = pytester.runpytest_inprocess(
        "-p", "no:cacheprovider", "--audit-budget=1500", "--audit-report=page.html"
    )
    run.assert_outcomes(passed=4, failed=4)
    run.stdout.fnmatch_lines(["NOT REFUTED*Both*", "NOT REFUTED*Both*(utility)*failure probability ≤*"])
    assert "own problem" in (pytester.path / "page.html").read_text()
    run.stdout.fnmatch_lines_random(
        [
            "*does not satisfy its claim: PAC(alpha=0.25, beta=0.1) is refuted.*",
            "*INCONCLUSIVE on PAC(alpha=0.25, beta=0.1).*",
            "*: expected REFUTED, got NOT_REFUTED.*",
            "*No utility claim*",
        ]
    )
    run.stdout.no_fnmatch_line("*Traceback*")


# JSON and page


def both(name="learner"):
    learner = useful(0.5)
    private = audit_privacy(learner, _pure(), records=[0, 1], size=2, budget=2000)
    return private, audit_utility(learner)


def test_a_document_of_one_kind_is_refused_by_the_other_in_one_line():
    private, of_use = both()
    with pytest.raises(CorruptFile, match="read it with UtilityResult"):
        AuditResult.from_json(of_use.to_json())
    with pytest.raises(CorruptFile, match="read it by AuditResult"):
        UtilityResult.from_json(private.to_json())


def test_a_damaged_document_names_the_place():
    document = both()[1].to_json()
    document["result"]["witness"]["seed"] = -1
    with pytest.raises(CorruptFile, match=r"result\.witness\.seed must be a whole number"):
        UtilityResult.from_json(json.dumps(document))


def test_the_two_audits_of_a_subject_link_to_each_other():
    private, of_use = both()
    other = audit_privacy(lambda database: 0, _pure(), records=[0, 1], size=2, budget=2000)
    page = render([private.to_json(), other.to_json(), of_use.to_json()])
    assert '<a href="#audit-0">Its privacy: not refuted</a>' in page
    assert '<a href="#audit-2">Its utility: refuted</a>' in page
    row = page[page.index('data-what="utility"') :].split("</tr>")[0]
    assert "(0.25, 0.1)-PAC" in row
    assert "≥ 0.1" in row
    one = render([private.to_json() | {"utility": of_use.to_json()}, other.to_json()])
    assert "Its privacy: not refuted" in one


def test_texts_of_a_learner_or_a_problem_are_never_markup():
    script = "<script>alert(1)</script>"
    problem = SampledProblem(script, lambda rng: [script], lambda output, _: 1.0)
    page = render([audit_utility(lambda database, rng: script, PAC(0.1, 0.1), problems=[problem]).to_json()])
    assert script not in page
    assert "&lt;script&gt;alert(1)" in page


def test_each_audit_has_a_line_and_their_significances_add_up():
    private, of_use = both()
    assert "(utility)" in line(of_use)
    assert "failure probability ≥ 0.1" in line(of_use)
    assert total([private, of_use]).endswith("total significance spent: 2e-06")
    failed = UtilityResult("m", None, Verdict.ERROR, Evidence.STATISTICAL, "It raises.")
    assert "It raises." in line(failed)
