"""The command line: what it prints, what it writes, how it exits. The audits are small but real.

Long, because every option and exit code is tested once, on the same few subjects.
"""

import contextlib
import inspect
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from audit.catalogue import Entry, load_catalogue
from audit.claims import PureDP
from audit.codec.files import Unwritable
from audit.doors.cli import main
from audit.results.result import AuditResult, Verdict

DP_AUDIT = Path(sys.executable).with_name("dp-audit")
MECHANISMS = '''
import os, pathlib, time
from dataclasses import dataclass

def leak(database, rng):
    return database[0]

def coin(database, rng):
    return int(rng.integers(0, 2))

def failing(database, rng):
    raise RuntimeError("the backend is down")

def slow(database, rng):
    time.sleep(0.01)
    return int(rng.integers(0, 2))

def deadly(database, rng):
    os._exit(3)

def traced(database, rng):
    pathlib.Path("it ran").touch()
    return 0

@dataclass(frozen=True)
class Response:
    """Randomized response; its epsilon is ln(keep / (1 - keep))."""
    keep: float = 0.6
    def __call__(self, database, rng):
        return database[0] if rng.random() < self.keep else 1 - database[0]
'''
PAIR = ["--pair", "[0]", "[1]"]
BRIEF = ["--epsilon", "0.1", *PAIR, "--budget", "4000"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Change to a user's folder with the target module, and yield its path."""
    (tmp_path / "mine.py").write_text(MECHANISMS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("dp_audit_target_")]:
        del sys.modules[name]


@pytest.fixture
def call(capsys, in_process):
    """Return a function that runs the command in this process. It returns exit code, stdout and stderr."""

    def run(*arguments):
        with pytest.raises(SystemExit) as left:
            main(arguments)
        return left.value.code, *capsys.readouterr()

    return run


def test_a_refuted_claim_exits_1_with_the_report_on_stdout(folder, call):
    code, out, err = call("run", "mine.py:leak", *BRIEF)
    assert (code, err) == (1, "")
    assert out.startswith("REFUTED  leak  PureDP(epsilon=0.1)")


def test_a_claim_that_holds_exits_0(folder, call):
    code, out, err = call("run", "mine.py:coin", *BRIEF)
    assert (code, err) == (0, "")
    assert out.startswith("NOT_REFUTED  coin")


def test_records_that_were_not_listed_are_reported_as_untested(folder, call):
    listed = ["--epsilon", "1", "--records", "[0, 50, 100]", "--size", "2", "--budget", "2000"]
    _, text, _ = call("run", "mine.py:coin", *listed)
    assert "records other than the 3 given (0, 50, 100)" in text
    assert "records other than" not in call("run", "mine.py:leak", *listed)[1]
    assert "records other than" not in call("run", "mine.py:coin", *BRIEF)[1]


def test_an_audit_that_cannot_be_carried_out_exits_3_with_the_mechanisms_own_message(folder, call):
    code, out, _ = call("run", "mine.py:failing", *BRIEF)
    assert code == 3
    assert "the backend is down" in out
    assert "Traceback" not in out


def test_a_mechanism_that_ends_its_process_does_not_end_the_command(folder, capsys):
    """The runs are drawn in a child process, unlike those of the other tests here."""
    with pytest.raises(SystemExit) as left:
        main(["run", "mine.py:deadly", *BRIEF])
    assert left.value.code == 3
    assert capsys.readouterr().out.startswith("ERROR  deadly")


def test_parameters_and_numbers_reach_the_audit(folder, call):
    code, out, _ = call(
        "run", "mine.py:Response", "--set", "keep=.97", *PAIR, "--claim-epsilon", "2", "--claim-delta", "0.1",
        "--budget", "5e3", "--seed", "7", "--significance", "1e-4", "--json", "-",
    )  # fmt: skip
    result = AuditResult.from_json(out)
    assert (code, result.verdict) == (1, Verdict.REFUTED)
    assert (result.budget, result.seed, result.significance) == (5000, 7, 1e-4)
    assert (result.claim.epsilon, result.claim.delta) == (2, 0.1)
    assert (result.parameters["keep"], result.target) == (0.97, "mine.py:Response")


def test_records_and_size_reach_the_audit(folder, call):
    code, _, _ = call(
        "run", "mine.py:leak", "--epsilon", "1", "--records", "[0, 1]", "--size", "2", "--budget", "4000"
    )
    assert code == 1


def test_the_result_and_the_report_are_written(folder, call):
    code, _, err = call("run", "mine.py:leak", *BRIEF, "--json", "out/r.json", "--html", "out/r.html")
    assert (code, err) == (1, "wrote out/r.json\nwrote out/r.html\n")
    assert json.loads(Path("out/r.json").read_text())["result"]["subject"] == "leak"
    assert "leak" in Path("out/r.html").read_text()


USAGE = {
    "negative epsilon": (["run", "mine.py:coin", *PAIR, "--epsilon", "-1"], "≥ 0; got -1"),
    "nan epsilon": (["run", "mine.py:coin", *PAIR, "--epsilon", "nan"], "got nan"),
    "infinite epsilon": (["run", "mine.py:coin", *PAIR, "--epsilon", "inf"], "got inf"),
    "delta of one": (["run", "mine.py:coin", *PAIR, "--epsilon", "1", "--delta", "1"], "[0, 1); got 1"),
    "delta alone": (["run", "mine.py:coin", *PAIR, "--delta", "0.1"], "needs --epsilon"),
    "no claim": (["run", "mine.py:coin", *PAIR], "claim"),
    "no pair": (["run", "mine.py:coin", "--epsilon", "1", "--pair", "[0]", "[0]"], "equal"),
    "no records": (["run", "mine.py:coin", "--epsilon", "1", "--records", "[]", "--size", "1"], "records"),
    "size too small": (
        ["run", "mine.py:coin", "--epsilon", "1", "--records", "[0, 1]", "--size", "0"],
        "size",
    ),
    "no module": (["run", "nowhere_at_all:x", *BRIEF], "No module named 'nowhere_at_all'"),
    "no such name": (["run", "mine.py:leek", *BRIEF], "did you mean `leak`?"),
    "no such file": (["run", "mime.py:leak", *BRIEF], "did you mean `mine.py`?"),
    "no such entry": (["run", "laplas-mean"], "did you mean `laplace-mean`?"),
    "signature": (["run", "mine.py:Response.__call__", *BRIEF], "lambda database, rng"),
    "budget too small": (["run", "mine.py:coin", *PAIR, "--epsilon", "1", "--budget", "4"], "budget"),
    "budget of no runs": (["run", "mine.py:coin", *PAIR, "--epsilon", "1", "--budget", "0"], "budget"),
    "budget in words": (["run", "mine.py:coin", "--budget", "many"], "'many' is not a whole number"),
    "significance": (["run", "mine.py:coin", *BRIEF, "--significance", "2"], "significance"),
    "report": (
        ["run", "mine.py:coin", *BRIEF, "--html", "/dev/null/r.html"],
        "/dev/null/r.html cannot be written",
    ),
    "json": (
        ["run", "mine.py:coin", *BRIEF, "--json", "/dev/null/r.json"],
        "/dev/null/r.json cannot be written",
    ),
    "witness": (["replay", "mine.py"], "mine.py: not JSON"),
    "no witness": (["replay", "nothing.json"], "nothing.json cannot be read"),
    "unknown option": (["run", "mine.py:coin", "--bugdet", "3"], "--bugdet"),
    "unknown parameter": (["run", "mine.py:Response", "--set", "kept=1", *BRIEF], "its parameters are keep"),
    "no target": (["run"], "TARGET'. `dp-audit run --help` shows how"),
    "no command": ([], "`dp-audit --help` shows how"),
    "no claim, in options": (["run", "mine.py:coin", *PAIR], "such as `--epsilon 1.0`"),
    "no domain": (["run", "mine.py:coin", "--epsilon", "1"], "`--pair LEFT RIGHT`, or `--records` and"),
    "no budget": (["run", "mine.py:coin", *BRIEF, "--budget", "0"], "`--budget`"),
    "wrong choice": (["run", "mine.py:coin", "--until", "dawn"], "'dawn'"),
    "no entry matches": (["suite", "no-such-thing"], "No name in the catalogue matches `no-such-thing`"),
    "explain and save": (["run", "mine.py:coin", *BRIEF, "--explain", "--json", "-"], "runs no audit"),
    "mutate no epsilon": (
        ["run", "mine.py:coin", *PAIR, "--epsilon", "0", "--budget", "4000", "--mutate"],
        "already claims ε = 0",
    ),
    "relation": (["run", "mine.py:coin", *BRIEF, "--relation", "friends"], "'friends'"),
}


@pytest.mark.parametrize(("arguments", "words"), USAGE.values(), ids=USAGE.keys())
def test_bad_input_gets_one_line_and_exit_code_2(folder, call, arguments, words):
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert err.startswith("dp-audit: ")
    assert words in err


def test_an_unwritable_report_is_found_before_the_mechanism_runs(folder, call):
    code, _, _ = call("run", "mine.py:traced", *BRIEF, "--html", "/dev/null/r.html")
    assert code == 2
    assert not Path("it ran").exists()


def test_list_shows_every_entry_in_a_line(call):
    code, out, _ = call("list")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == [entry.name for entry in load_catalogue()]


def test_list_says_which_claims_are_audited_and_which_of_them_are_flawed(call, monkeypatch):
    entries = [
        Entry("a-sum", list, summary="the first"),
        Entry("a-learner", list, expected="refuted", utility={}, reference="K08"),
        Entry("lesson", list, options=None, utility={}, utility_expected="refuted"),
    ]
    monkeypatch.setattr("audit.catalogue.load_catalogue", lambda: entries)
    assert call("list")[1].splitlines() == [
        "a-sum      privacy                    the first",
        "a-learner  privacy (flawed), utility  [K08]",
        "lesson     utility (flawed)",
    ]


def test_list_shows_the_names_that_match(call, monkeypatch):
    entries = [Entry(name, list) for name in ("laplace", "coin", "a-laplace-sum")]
    monkeypatch.setattr("audit.catalogue.load_catalogue", lambda: entries)
    matching = ["laplace", "a-laplace-sum"]
    for pattern in ("laplac", "*laplace*"):
        assert [line.split()[0] for line in call("list", pattern)[1].splitlines()] == matching
    code, out, err = call("list", "zzzz")
    assert (code, out) == (2, "")
    assert err == "dp-audit: No name in the catalogue matches `zzzz`; `dp-audit list` shows all names.\n"


def test_a_name_means_its_entry_and_not_those_that_contain_it(suite):
    entries = [entry("coin", lambda: coin), entry("coin-leaky", lambda: leak)]
    assert "1 audit, 1 as expected" in suite(entries, "coin")[1]
    assert "2 audits, " in suite(entries, "coi")[1]


def test_a_closed_pipe_does_not_look_like_a_refutation(folder):
    read, write = os.pipe()
    os.close(read)
    ran = subprocess.run([DP_AUDIT, "list"], stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (ran.returncode, ran.stderr) == (3, "")


def test_a_report_that_cannot_be_written_does_not_lose_the_result(folder, call, monkeypatch):
    def full_disk(documents, path):
        raise Unwritable("r.html cannot be written: No space left on device.")

    monkeypatch.setattr("audit.doors.cli.run.render_report", full_disk)
    code, out, err = call("run", "mine.py:leak", *BRIEF, "--html", "r.html", "--json", "r.json")
    assert code == 3
    assert out.startswith("REFUTED  leak")
    assert err == "dp-audit: r.html cannot be written: No space left on device.\n"
    assert Path("r.json").exists()


def leak(database, rng):
    return database[0]


def coin(database, rng):
    return int(rng.integers(0, 2))


def failing(database, rng):
    raise RuntimeError("the backend is down")


OPTIONS = {"claim": PureDP(0.1), "pairs": [([0], [1])], "budget": 4000}


def entry(name, factory, expected="not refuted"):
    return Entry(name, factory, options=OPTIONS, expected=expected, reference="nowhere", summary="for a test")


@pytest.fixture
def suite(folder, call, monkeypatch):
    """Return a function that runs the suite on given entries."""

    def run(entries, *arguments):
        monkeypatch.setattr("audit.catalogue.load_catalogue", lambda: entries)
        # other processes cannot find entries of a test
        return call("suite", "--jobs", "1", *arguments)

    return run


def test_a_suite_that_finds_what_is_expected_exits_0(suite):
    entries = [entry("fair", lambda: coin), entry("leaky", lambda: leak, "refuted")]
    code, out, err = suite(entries, "--html", "page/index.html")
    assert (code, err) == (0, "")
    assert "2 audits, 2 as expected; total significance spent: 2e-06" in out
    assert sorted(path.name for path in Path("page/results").iterdir()) == ["fair.json", "leaky.json"]
    page = Path("page/index.html").read_text()
    assert "fair" in page
    assert "leaky" in page


@pytest.mark.parametrize(
    ("mechanism", "expected", "code"),
    [(leak, "not refuted", 1), (coin, "refuted", 1), (failing, "not refuted", 3), (failing, "refuted", 3)],
)
def test_a_suite_exits_by_what_was_expected(suite, mechanism, expected, code):
    assert suite([entry("first", lambda: coin), entry("second", lambda: mechanism, expected)])[0] == code


def test_an_entry_that_cannot_be_built_is_an_error_and_the_others_go_on(suite):
    def unbuildable():
        raise ValueError("no such\ntable")

    code, out, _ = suite([entry("bad", unbuildable), entry("fair", lambda: coin)], "--json", "all.json")
    assert code == 3
    assert "ValueError: no such table" in out
    results = json.loads(Path("all.json").read_text())
    assert [document["result"]["verdict"] for document in results] == ["error", "not refuted"]


def test_each_result_is_on_disk_before_the_next_audit_starts(suite):
    def second():
        assert Path("results/first.json").exists()
        return coin

    assert suite([entry("first", lambda: coin), entry("second", second)], "--json", "results")[0] == 0


def test_an_interrupted_suite_keeps_and_reports_what_is_finished(suite):
    def interrupted():
        raise KeyboardInterrupt

    entries = [entry("finished", lambda: coin), entry("stopped", interrupted), entry("never", lambda: coin)]
    code, out, err = suite(entries, "--html", "index.html")
    assert code == 130
    assert "2 not audited" in out
    assert err == "interrupted; 1 of 3 audits saved in results; the same command resumes\n"
    page = " ".join(Path("index.html").read_text().split())
    assert "The suite was interrupted: 2 of 3 audits are missing." in page
    assert "<bdi>stopped, never</bdi>" in page
    assert page.count("<article") == 1
    assert [path.name for path in Path("results").iterdir()] == ["finished.json"]


@pytest.mark.parametrize("place", ["results", "all.json"])
def test_the_same_command_resumes_a_suite_and_audits_what_changed(suite, place):
    def entries(second, **options):
        def first():
            with Path("made").open("a") as made:
                made.write("1")
            return coin

        return [entry("first", first), Entry("second", second, options={**OPTIONS, **options})]

    def interrupted():
        raise KeyboardInterrupt

    assert suite(entries(interrupted), "--json", place)[0] == 130
    code, out, _ = suite(entries(lambda: coin), "--json", place)
    assert (code, Path("made").read_text()) == (0, "1")
    assert out.startswith("1 of 2 audits were saved before, with the same code\nNOT REFUTED   first ")
    assert "2 audits, 2 as expected" in out
    _, changed, _ = suite(entries(lambda: coin, seed=1), "--json", place)
    assert changed.startswith("1 of 2 audits were saved before")
    suite(entries(lambda: coin, seed=1), "--json", place, "--seed", "2")
    assert Path("made").read_text() == "11"
    suite([entry("third", lambda: coin)], "--json", place)  # what another suite saved there stays
    if place == "results":
        assert len([*Path(place).iterdir()]) == 3
    else:
        assert len(json.loads(Path(place).read_text())) == 3


def test_a_suite_of_a_pattern_audits_what_matches(suite):
    entries = [entry("fair-coin", lambda: coin), entry("leaky", lambda: leak)]
    code, out, _ = suite(entries, "fair")
    assert code == 0
    assert "leaky" not in out


def test_a_saved_refutation_is_reproduced(folder, call):
    call("run", "mine.py:Response", "--set", "keep=0.99", *BRIEF, "--json", "w.json")
    code, out, err = call("replay", "w.json", "--trust")
    assert (code, err) == (1, "")
    assert "the saved counts were reproduced exactly" in out
    assert call("replay", "w.json", "--fresh", "--trust")[0] == 1


def test_a_refutation_is_not_reproduced_by_a_fixed_mechanism(folder, call):
    call("run", "mine.py:leak", *BRIEF, "--json", "w.json")
    code, out, _ = call("replay", "w.json", "mine.py:coin", "--fresh")
    assert code == 0
    said = " ".join(out.split())
    assert said.startswith("NOT_REFUTED coin ")
    assert "NOT REPRODUCED: these runs do not confirm the saved refutation of leak: about " in said
    assert (
        "runs on each side tested the saved event on the saved pair. No other event or pair was tried."
        in said
    )
    assert "A/A" not in said
    assert "Again dp-audit replay w.json mine.py:coin --fresh" in said


RUNS = {"leak": [], "Response": ["--set", "keep=0.99"], "coin": []}
_SAVED = {}


@pytest.fixture
def witnesses(folder, call):
    """Save two refutations and a result without one. Each audit runs only once."""
    for name, options in RUNS.items():
        path = Path(f"{name.lower()}.json")
        if name not in _SAVED:
            call("run", f"mine.py:{name}", *options, *BRIEF, "--json", str(path))
            _SAVED[name] = path.read_text()
        path.write_text(_SAVED[name])


def test_several_refutations_are_replayed_in_a_line_each(witnesses, call):
    code, out, err = call("replay", "leak.json", "response.json", "--trust")
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert [line.split(":")[0] for line in lines[:2]] == ["leak.json", "response.json"]
    assert all("REFUTED" in line for line in lines[:2])
    assert lines[2] == "2 refutations replayed: 2 stand, 0 do not, 0 could not be replayed"


def test_several_refutations_may_be_replayed_on_one_target(witnesses, call):
    code, out, _ = call("replay", "leak.json", "response.json", "mine.py:coin", "--fresh")
    assert code == 0
    assert out.splitlines()[-1] == "2 refutations replayed: 0 stand, 2 do not, 0 could not be replayed"


def test_a_refutation_that_cannot_be_replayed_does_not_stop_the_others(witnesses, call):
    Path("gone.json").write_text(Path("leak.json").read_text().replace("mine.py:leak", "mine.py:gone"))
    code, out, _ = call("replay", "gone.json", "response.json", "--trust")
    assert code == 1
    assert out.splitlines()[0].startswith(
        f"gone.json: not replayed: `{Path('mine.py').resolve()}` has no `gone`"
    )
    assert "1 stand, 0 do not, 1 could not be replayed" in out
    assert call("replay", "gone.json", "leak.json", "mine.py:coin")[0] == 0
    Path("also_gone.json").write_text(Path("gone.json").read_text())
    assert call("replay", "gone.json", "also_gone.json", "--trust")[0] == 3


@pytest.mark.parametrize("held", ["{", None, '{"schema": 1, "result": {"seed": ' + "9" * 5000 + "}}"])
def test_a_damaged_file_does_not_stop_the_others(witnesses, call, held):
    if held is not None:
        Path("bad.json").write_text(held)
    code, out, err = call("replay", "bad.json", "leak.json", "response.json", "--trust")
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert lines[0].startswith("bad.json: not replayed: ")
    assert lines[-1].endswith("1 could not be replayed")
    assert len(lines) == 4


CLOSED = "import os, sys; os.close(2); os.execv(sys.argv[1], sys.argv[1:])"
FULL = "import os, sys; os.dup2(os.open('/dev/full', os.O_WRONLY), 2); os.execv(sys.argv[1], sys.argv[1:])"
DEAF = "import os, sys; r, w = os.pipe(); os.close(r); os.dup2(w, 2); os.execv(sys.argv[1], sys.argv[1:])"


FINDS = ["run", "mine.py:Response", "--set", "keep=0.99", *BRIEF, "--json", "r.json"], 1, "REFUTED"
COMPLAINS = ["run", "no.py:leak", *BRIEF], 2, ""


@pytest.mark.parametrize(
    ("stderr", "arguments", "code", "said"),
    [(FULL, *FINDS), (CLOSED, *COMPLAINS), (DEAF, *COMPLAINS)],
    ids=["full", "closed, in use", "a pipe without a reader, in use"],
)
@pytest.mark.usefixtures("folder")
def test_a_closed_stderr_does_not_change_the_exit_code(stderr, arguments, code, said):
    command = [sys.executable, "-c", stderr, str(DP_AUDIT), *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stdout[: len(said)]) == (code, said)


def test_a_file_without_a_refutation_among_several_is_named(witnesses, call):
    code, out, err = call("replay", "coin.json", "leak.json", "--trust")
    assert (code, err) == (1, "")
    assert out.startswith("coin.json: not replayed: holds no refutation, so there is nothing to replay.\n")


def test_a_result_without_a_refutation_cannot_be_replayed(folder, call):
    call("run", "mine.py:coin", *BRIEF, "--json", "w.json")
    code, _, err = call("replay", "w.json")
    assert code == 2
    assert "holds no refutation" in err


def test_the_mutation_check_shows_which_smaller_claims_are_refuted(folder, call):
    """With keep = 0.6 the loss is ln 1.5 = 0.4055. The claims of 0.36 and 0.405 may or may not be noticed.
    The claim of 0.225 is missed with probability below 1e-7."""
    budget = ["--budget", "20000"]
    code, out, err = call(
        *("run", "mine.py:Response", "--epsilon", "0.45", *PAIR, *budget),
        *("--mutate", "--json", "r.json", "--html", "r.html"),
    )
    assert (code, err) == (0, "wrote r.json\nwrote r.html\n")
    assert out.startswith("NOT_REFUTED  Response")
    assert "Mutation check of Response" in out
    assert "0.5 × ε = 0.225      REFUTED" in out
    document = json.loads(Path("r.json").read_text())
    assert document["mutation"]["noticed_from"] >= 0.5
    assert AuditResult.from_json(document).verdict is Verdict.NOT_REFUTED
    page = Path("r.html").read_text(encoding="utf-8")
    assert "0.5 × ε = 0.225      REFUTED" in page
    assert f"Noticed at {document['mutation']['noticed_from']:g} × ε: " in page


def test_json_on_stdout_stays_one_document_with_the_mutation_check_in_it(folder, call):
    code, out, err = call("run", "mine.py:coin", *BRIEF, "--mutate", "--json", "-")
    assert code == 0
    assert json.loads(out)["mutation"]["noticed_from"] is None
    assert "No smaller claim was refuted" in err


def test_a_refuted_audit_needs_no_mutation_check(folder, call):
    code, out, _ = call("run", "mine.py:leak", *BRIEF, "--mutate", "--json", "r.json")
    assert code == 1
    assert "No mutation check" in out
    assert json.loads(Path("r.json").read_text())["mutation"] is None


def test_a_mutation_check_that_is_stopped_loses_no_result(folder, call, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("audit.doors.cli.run.mutation_check", interrupted)
    code, out, _ = call("run", "mine.py:coin", *BRIEF, "--mutate", "--json", "-")
    assert code == 130
    assert AuditResult.from_json(out).verdict is Verdict.NOT_REFUTED


def test_a_plan_is_printed_and_nothing_is_audited(folder, call):
    code, out, err = call(
        "run", "mine.py:leak", "--epsilon", "1", "--records", "[0, 1]", "--size", "2", "--explain"
    )
    assert (code, err) == (0, "")
    assert out.startswith("Plan for leak, PureDP(epsilon=1) under replace-one")
    assert "REFUTED" not in out


def test_the_help_states_the_defaults_of_the_audit(call):
    from audit.privacy import audit_privacy

    told = " ".join(call("run", "--help")[1].split())
    parameters = inspect.signature(audit_privacy).parameters
    defaults = {name: each.default for name, each in parameters.items()}
    assert float(defaults["significance"]) == 1e-6
    assert "[default: 1e-6]" in told
    for name in ("numerics", "until", "unfinished"):
        assert f"[default: {defaults[name]}]" in told
    for name in ("budget", "seed", "run_time_limit"):
        assert f"[default: {defaults[name]:,.0f}]" in told
    # of the command; `audit_privacy` itself has one job
    assert "[default: one for each core]" in told


def test_help_imports_nothing_heavy():
    """`benchmarks/startup.py` measures the start-up time."""
    code = "import sys, audit.doors.cli; print({'numpy', 'scipy', 'hypothesis'} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "set()"
    for command in ([DP_AUDIT], [sys.executable, "-m", "audit"]):
        told = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True).stdout
        assert "Usage: dp-audit" in told


def test_a_misspelt_name_is_refused_before_anything_heavy_is_loaded():
    code = """
import sys
from audit.doors.cli import main
for command in ("run", "suite", "list"):
    try:
        main([command, "laplas"])
    except SystemExit as left:
        heavy = {"scipy.optimize", "scipy.stats", "hypothesis", "audit.privacy"} & set(sys.modules)
        print(command, left.code, heavy or "light")
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["run 2 light", "suite 2 light", "list 2 light"]
    assert ran.stderr.count("did you mean `laplace`?") == 3


def test_a_shell_completes_commands_options_and_names(call, monkeypatch):
    for shell in ("bash", "zsh", "fish"):
        code, script, _ = call("completion", shell)
        assert (code, "_DP_AUDIT_COMPLETE" in script) == (0, True)
    monkeypatch.setenv("_DP_AUDIT_COMPLETE", "bash_complete")
    for words, number, expected in (
        ("dp-audit sui", 1, "suite"),
        ("dp-audit run --rec", 2, "--records"),
        ("dp-audit run laplace-mea", 2, "laplace-mean"),
    ):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(number))
        code, out, _ = call()
        assert code == 0
        assert f"plain,{expected}" in out.splitlines()


def test_a_refused_command_makes_no_folder(folder, call, monkeypatch):
    assert call("run", "mine.py:leek", *BRIEF, "--json", "nosuch/r.json")[0] == 2
    assert not Path("nosuch").exists()
    (folder / "here").mkdir()
    monkeypatch.chdir(folder / "here")
    code, _, err = call("run", "../mine.py:leak", *BRIEF, "--json", "../nosuch/such/r.json")
    assert code == 2
    assert err == "dp-audit: ../nosuch/such/r.json cannot be written: the folder ../nosuch does not exist.\n"
    assert not Path("../nosuch").exists()


def test_records_may_be_a_function_that_returns_a_strategy(folder, call):
    text = "from hypothesis import strategies as st\ndef bits(): return st.integers(0, 1)\ndef odd(k): pass\n"
    Path("rows.py").write_text(text)
    audited = ["run", "mine.py:leak", "--epsilon", "1", "--size", "1", "--budget", "4000"]
    assert call(*audited, "--records", "rows.py:bits")[0] == 1
    code, _, err = call(*audited, "--records", "rows.py:odd")
    assert (code, "`rows.py:odd` cannot be called without arguments: TypeError" in err) == (2, True)


def test_a_project_with_packages_of_our_names_is_audited_with_its_own(folder):
    for name in ("mechanisms", "learners", "reports"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("value = 1\n")
    text = (
        "import learners, mechanisms, reports\n"
        "def mine(database, rng): return database[0] * reports.value + rng.normal(scale=0.1)\n"
    )
    (folder / "project.py").write_text(text)
    command = [DP_AUDIT, "run", "project.py:mine", *BRIEF, "--html", "r.html"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (1, "wrote r.html\n")
    assert "mine" in Path("r.html").read_text()
    assert subprocess.run([DP_AUDIT, "list"], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("name", ["audit.py", "audit/sampling/__init__.py"])
def test_a_project_with_a_module_named_audit_is_audited(folder, name):
    """The child process must find our package, not the module of that name in the target's folder."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("raise RuntimeError('this is not the tool')")
    command = [DP_AUDIT, "run", "mine.py:leak", *BRIEF]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stderr) == (1, "")
    assert ran.stdout.startswith("REFUTED  leak")


def test_a_long_audit_shows_its_length_on_a_terminal_and_gives_its_verdict_so_far_at_ctrl_c(folder):
    terminal, end = pty.openpty()
    command = [DP_AUDIT, "run", "mine.py:slow", "--epsilon", "1", *PAIR, "--json", "r.json"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=end, env={**os.environ, "TERM": "xterm"}
    )
    os.close(end)
    shown = ""
    deadline = time.monotonic() + 30
    while "up to about" not in shown and time.monotonic() < deadline:
        shown += os.read(terminal, 4096).decode(errors="replace")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    os.close(terminal)
    assert "up to about" in shown
    assert process.returncode == 130
    assert "Stopped by Ctrl-C after " in " ".join(out.decode().split())
    assert AuditResult.from_json(Path("r.json").read_text()).notes[-1].kind == "stopped"


def test_results_go_to_stdout_while_a_bar_is_drawn_on_the_terminal(folder):
    terminal, end = pty.openpty()
    command = [DP_AUDIT, "suite", "flawed-kary-*"]
    environment = {**os.environ, "TERM": "xterm"}
    with Path("out.txt").open("w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=end, env=environment)
    os.close(end)
    shown = ""
    # A terminal that nobody reads would stop the command. OSError marks its end.
    with contextlib.suppress(OSError):
        while piece := os.read(terminal, 65536):
            shown += piece.decode(errors="replace")
    os.close(terminal)
    assert process.wait(timeout=60) == 0
    assert "flawed-kary" in shown
    assert re.search(r"\d of \d audits", shown)
    assert "as expected" not in shown
    assert "as expected" in Path("out.txt").read_text()
