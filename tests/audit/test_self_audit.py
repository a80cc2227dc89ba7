"""A self-audit: how it judges, how it catches broken auditors, its command."""

import dataclasses
import json
import math

import numpy as np
import pytest
from scipy import stats

from audit import AuditResult, Evidence, PureDP, Relation, Verdict
from audit.doors.cli import main
from audit.errors import AuditError, InvalidValue
from audit.privacy import audit_privacy
from audit.results.result import Witness
from audit.self_audit.audits import Sizes, Step
from audit.self_audit.judging import first_failing
from audit.self_audit.measures import coverage, efficiency, false_alarms, tightness
from audit.self_audit.run import FULL, PAGE, PARTS, QUICK, SelfAuditInterrupted, judged_rows, self_audit
from audit.self_audit.saved import from_json, to_json
from audit.self_audit.subjects.cases import load_cases
from audit.self_audit.subjects.exact import (
    randomized_response,
)
from audit.self_audit.subjects.tight import ChainedResponse
from reports.html import render

SMALL = Sizes(
    "quick", audits=25, witnesses=12, detections=25, every=60, controls=1_000, repeats=1, side=2_000
)
ALWAYS = type(
    "Always",
    (),
    {
        "to_json": lambda self: {},
        "words": lambda self: "always",
        "members": lambda self, x: np.ones(len(x), bool),
    },
)()


def answering(**answers):
    """Return an auditor that draws nothing.

    Each keyword is a field of its results, or a function that makes the field.
    """

    def audit(subject, claim, **options):
        rng = np.random.default_rng(options["seed"])
        told = {name: value(rng, options) if callable(value) else value for name, value in answers.items()}
        told = {"verdict": Verdict.NOT_REFUTED, "detectable_epsilon": 1.5, **told}
        left, right = options.get("pairs", [([0], [1])])[0]
        if told["verdict"] is Verdict.REFUTED:
            told.setdefault("samples_to_refutation", 40)
            told.setdefault("log_wealth", -math.log(options.get("significance", 1e-6)))
        told.setdefault("log_wealth", -20.0)
        told.setdefault(
            "witness", Witness(left, right, ALWAYS, 1.0, 1.0, (0.9, 1.0), (0.9, 1.0), confidence=0.99)
        )
        return AuditResult("m", claim, evidence=Evidence.STATISTICAL, **told)

    return audit


def refuting(rate):
    """Return a function that draws REFUTED with probability rate(significance)."""

    def drawn(rng, options):
        return (
            Verdict.REFUTED if rng.random() < rate(options.get("significance", 1e-6)) else Verdict.NOT_REFUTED
        )

    return drawn


def failed(result):
    return {row.what for row in result.failed}


# What is measured


def test_every_part_of_the_page_has_rows_and_the_judged_ones_share_the_level():
    """This auditor is sound and refutes as often as it may at each level."""
    auditor = answering(verdict=refuting(lambda level: 0.95 if level == 1e-6 else level))
    result = self_audit(sizes=SMALL, auditor=auditor, parts=PARTS)
    assert result.parts == PARTS
    assert len(result.judged) == result.planned == judged_rows({})
    assert result.level == PAGE / result.planned
    assert result.chance <= PAGE * (1 + 1e-12)
    assert failed(result) == {"correct mechanisms of the peer suite, 1,000 runs, refuted, significance 1e-06"}


def test_a_small_self_audit_gives_the_same_bytes_again(monkeypatch):
    monkeypatch.setattr(tightness, "settings", lambda: (randomized_response(),))
    one, again = (json.dumps(to_json(self_audit(sizes=SMALL, parts=("tightness",)))) for _ in range(2))
    assert one == again


def test_each_audit_has_a_separate_seed_derived_from_the_root():
    def seeds(root):
        used = []

        def auditor(subject, claim, **options):
            used.append(options["seed"])
            return answering()(subject, claim, **options)

        self_audit(sizes=SMALL, seed=root, auditor=auditor, parts=("false alarms", "coverage"))
        return used

    one, other = seeds(0), seeds(1)
    assert len({*one, *other}) == len(one) + len(other) > 1000
    assert one == seeds(0)


# Auditors that are broken on purpose


def test_an_auditor_that_refutes_five_times_too_often_is_caught():
    """The auditor refutes at rates 0.5, 0.25 and 0.05 instead of 0.1, 0.05 and 0.01.

    A row of 175 audits fails at 39 refutations or more at the first level, and at 25 or more at the second. A
    rate five times too high reaches these numbers with probability over 0.999.
    """
    level = PAGE / judged_rows({})
    for limit in (0.1, 0.05):
        assert stats.binom.sf(first_failing(175, limit, level) - 1, 175, 5 * limit) > 0.999
    found = self_audit(
        sizes=SMALL, auditor=answering(verdict=refuting(lambda level: 5 * level)), parts=("false alarms",)
    )
    assert {"all mechanisms, significance 0.1", "all mechanisms, significance 0.05"} <= failed(found)
    assert not found.kept


def test_an_auditor_at_five_times_the_significance_is_caught_by_the_wealth_of_refutations(monkeypatch):
    """The auditor refutes at log wealth 12.2 instead of 13.8.

    A sound audit never refutes below 13.8, but 18 of 30 audits by this auditor did. All five audits here
    end above 13.8 with probability 0.01.
    """
    monkeypatch.setattr(efficiency, "settings", lambda: (randomized_response(),))
    monkeypatch.setattr(efficiency, "SHARES", (0.8,))

    def auditor(subject, claim, **options):
        return audit_privacy(subject, claim, **{**options, "significance": 5 * options["significance"]})

    assert self_audit(sizes=SMALL, parts=("efficiency",)).kept
    sizes = dataclasses.replace(SMALL, repeats=5)
    assert len(self_audit(sizes=sizes, auditor=auditor, parts=("efficiency",)).failed) == 1


def test_an_auditor_whose_wealth_leaks_is_caught_though_it_refutes_nothing():
    def wealth(rng, options):
        return -math.log(options["significance"]) if rng.random() < 0.4 else math.log(0.5)

    found = self_audit(sizes=SMALL, auditor=answering(log_wealth=wealth), parts=("false alarms",))
    assert failed(found) == {
        f"mean of min(wealth, {cap}) at the end, significance {level}"
        for cap, level in ((10, 0.1), (20, 0.05), (100, 0.01))
    }


def test_an_auditor_that_is_broken_on_one_mechanism_only_is_caught_there():
    def auditor(subject, claim, **options):
        broken = isinstance(subject, ChainedResponse)
        return answering(verdict=Verdict.REFUTED if broken else Verdict.NOT_REFUTED)(
            subject, claim, **options
        )

    found = self_audit(sizes=SMALL, auditor=auditor, parts=("false alarms",))
    assert {f"chained response, significance {level}" for level in false_alarms.LEVELS} <= failed(found)


@pytest.fixture(scope="module")
def witnessed():
    """Return an auditor that makes real audits and keeps the results by seed.

    The audits are of randomized response.
    """
    made = {}

    def auditor(subject, claim, **options):
        key = options["seed"]
        if key not in made:
            made[key] = audit_privacy(subject, claim, **options)
        return made[key]

    return auditor


@pytest.fixture
def only_response(monkeypatch):
    """Restrict the coverage rows to witnesses of randomized response."""
    monkeypatch.setattr(coverage, "settings", lambda: (randomized_response(),))
    monkeypatch.setattr(coverage, "CONTROLS", ())


@pytest.mark.usefixtures("only_response")
def test_witness_intervals_hold_and_ones_a_fifth_as_wide_are_caught(witnessed):
    """A row of 12 audits fails at 5 misses or more.

    An interval at confidence 0.99 that is narrowed to a fifth misses the truth in 0.6 of audits. The rows
    for p and q then have 5 misses with probability 0.94 each. Without narrowing the probability is 8e-8.
    """

    def narrow(interval):
        middle, half = sum(interval) / 2, (interval[1] - interval[0]) / 2
        return middle - half / 5, middle + half / 5

    def auditor(subject, claim, **options):
        result = witnessed(subject, claim, **options)
        witness = result.witness
        narrowed = {name: narrow(getattr(witness, name)) for name in ("p_interval", "q_interval")}
        return dataclasses.replace(result, witness=dataclasses.replace(witness, **narrowed))

    assert self_audit(sizes=SMALL, auditor=witnessed, parts=("coverage",)).kept
    found = self_audit(sizes=SMALL, auditor=auditor, parts=("coverage",))
    assert not found.kept
    assert all("miss the exact probability" in what for what in failed(found))


def test_an_interval_is_compared_with_the_law_of_its_own_database():
    setting = randomized_response()
    truth = math.e / (1 + math.e)
    event = type("Ones", (), {"members": lambda self, outcomes: outcomes == 1})()
    right = Witness(
        [0], [1], event, truth, 1 - truth, (truth, truth), (1 - truth, 1 - truth), direction="right"
    )
    assert coverage.missed(right, setting) == (False, False)
    assert coverage.missed(dataclasses.replace(right, direction="left"), setting) == (True, True)


def test_a_detectable_epsilon_that_is_seldom_detected_is_caught():
    """At the detectable ε, 25 audits refute with probability 0.2 instead of 0.9."""
    found = self_audit(sizes=SMALL, auditor=answering(verdict=refuting(lambda _: 0.2)), parts=("coverage",))
    assert sum("at the detectable ε" in what for what in failed(found)) == len(coverage.CONTROLS)


def test_an_audit_that_fails_ends_its_measure_and_no_other(command):
    def auditor(subject, claim, **options):
        broken = options.get("budget") == false_alarms.BUDGET
        verdict = Verdict.ERROR if broken else Verdict.REFUTED
        return answering(verdict=verdict, reason="it is broken")(subject, claim, **options)

    result = self_audit(sizes=SMALL, auditor=auditor, parts=("false alarms", "efficiency"))
    said = "An audit of `laplace, significance 0.1` could not be carried out: it is broken"
    assert result.errors == (f"false alarms was broken off: {said}",)
    assert result.parts == ("efficiency",)
    assert from_json(to_json(result)) == result
    assert said in render(None, self_audits=[to_json(result)])
    code, _, err = command("false-alarms", "--quick", auditor=auditor)
    assert (code, err) == (3, f"{result.errors[0]}\n")


# The command


@pytest.fixture
def command(monkeypatch, capsys):
    """Return a function that runs the command with an `auditor`.

    It returns exit code, stdout and stderr.
    """

    def run(*arguments, auditor=None, **changed):
        def made(**options):
            return self_audit(**{**options, **changed, **({"auditor": auditor} if auditor else {})})

        monkeypatch.setattr("audit.doors.cli.self_audit.self_audit", made)
        with pytest.raises(SystemExit) as left:
            main(["self-audit", *map(str, arguments)])
        return left.value.code, *capsys.readouterr()

    return run


def test_the_command_prints_and_saves_the_rows_and_exits_by_whether_all_are_kept(command, tmp_path):
    saved, page = tmp_path / "self.json", tmp_path / "self.html"
    code, out, err = command(
        "false-alarms", "--quick", "--seed", 7, "--json", saved, "--html", page, auditor=answering()
    )
    assert (code, err) == (0, "")
    assert out.count("kept  ") == 27
    assert "A correct auditor fails any of these rows with probability at most" in " ".join(out.split())
    held = from_json(json.loads(saved.read_text()))
    assert (held.extent, held.seed, len(held.rows)) == ("quick", 7, 27)
    assert page.read_text().count('<span class="mark not-refuted">kept</span>') == 27
    code, out, _ = command("false-alarms", "--quick", auditor=answering(verdict=Verdict.REFUTED))
    assert code == 1
    assert "NOT KEPT" in out


def test_a_stopped_command_keeps_the_rows_that_are_finished(command, tmp_path):
    calls = []

    def auditor(subject, claim, **options):
        calls.append(claim)
        if len(calls) > 2 * QUICK.audits:
            raise KeyboardInterrupt
        return answering()(subject, claim, **options)

    code, out, _ = command("false-alarms", "--quick", "--json", tmp_path / "self.json", auditor=auditor)
    assert code == 130
    assert len(from_json(json.loads((tmp_path / "self.json").read_text())).rows) == 2
    assert "2 of 2 limits kept; 34 of 36 planned ones were not judged." in out


def test_an_interrupt_carries_the_finished_rows_and_each_audit_is_announced():
    told = []

    def auditor(subject, claim, **options):
        if len(told) > FULL.audits + 2:
            raise KeyboardInterrupt
        return answering()(subject, claim, **options)

    with pytest.raises(SelfAuditInterrupted) as stop:
        self_audit(auditor=auditor, listener=told.append)
    assert [row.what for row in stop.value.result.rows] == ["laplace, significance 0.1"]
    assert told[0] == Step("false alarms", "laplace, significance 0.1", 1, FULL.audits)


def test_an_unknown_part_is_refused_in_one_line(command):
    code, _, err = command("alarms")
    assert code == 2
    assert err.count("\n") == 1
    assert "No part is called `alarms`" in err
    assert "false-alarms, runs-to-refutation, efficiency, tightness, coverage" in err


# Files of cases

CASES = """
def leak(database, rng):
    return len(database)

def coin(database, rng):
    return int(rng.integers(0, 2))

def told(fn, broken, **more):
    claim = dict(epsilon=1.0, delta=0.0, neighbours="add-remove")
    return dict(fn=fn, claim=claim, example_pair=([], [1]), broken=broken, **more)

CASES = {
    "leak": told(leak, True, kind="floating point"),
    "hidden": told(coin, True, by_counting=False),
    "control": told(coin, False),
}
"""


def test_the_cases_of_a_file_are_audited_and_those_that_counts_cannot_judge_are_named(tmp_path):
    path = tmp_path / "my_cases.py"
    path.write_text(CASES)
    held = load_cases(path)
    assert held["leak"].options == {
        "relation": Relation.ADD_OR_REMOVE_ONE,
        "pairs": [([], [1])],
        "numerics": "float",
    }
    assert held["control"].claim == PureDP(1.0)

    def auditor(subject, claim, **options):
        ours = getattr(subject, "__name__", "") == "leak"
        return answering(verdict=Verdict.REFUTED if ours else Verdict.NOT_REFUTED, samples_to_refutation=40)(
            subject, claim, **options
        )

    result = self_audit(sizes=SMALL, cases=path, auditor=auditor, parts=("runs to refutation",))
    faulty, controls = result.rows[-2:]
    assert result.planned == judged_rows({}) + 1
    assert (faulty.measured, faulty.n) == (40.0, 1)
    assert faulty.note == "1 of 1 refuted; not audited, because counting cannot show them: hidden"
    assert (controls.measured, controls.n, controls.kept) == (0.0, 1, True)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "has no `CASES`"),
        ("CASES = []", r"`CASES` of .* must be a mapping"),
        ("CASES = {'a': 3}", "case `a` of .* must be a mapping"),
        ("CASES = {'a': {'claim': {}}}", "case `a` of .* has no 'example_pair'"),
        (CASES.replace('"add-remove"', '"odd"'), "case `leak` of .* has no 'odd'"),
    ],
    ids=["nothing", "a list", "a number", "no pair", "no such neighbours"],
)
def test_a_file_that_holds_no_cases_is_refused_in_one_line(tmp_path, text, match):
    path = tmp_path / "no_cases.py"
    path.write_text(text)
    with pytest.raises((AuditError, InvalidValue), match=match) as refused:
        load_cases(path)
    assert "\n" not in str(refused.value)
