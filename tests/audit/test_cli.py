"""The command line: what it prints, what it writes, how it exits."""

import inspect
import json
from pathlib import Path

import pytest

from audit.catalogue import Entry, load_catalogue
from audit.codec.files import Unwritable
from audit.doors.cli import main
from audit.results.result import AuditResult, Verdict

PAIR = ["--pair", "[0]", "[1]"]
BRIEF = ["--epsilon", "0.1", *PAIR, "--budget", "1000"]


def test_a_refuted_claim_exits_1_with_the_report_on_stdout(folder, call):
    code, out, err = call("run", "mine.py:leak", *BRIEF)
    assert (code, err) == (1, "")
    assert out.startswith("REFUTED  leak  PureDP(epsilon=0.1)")


def test_a_claim_that_holds_exits_0(folder, call):
    code, out, err = call("run", "mine.py:coin", *BRIEF)
    assert (code, err) == (0, "")
    assert out.startswith("NOT_REFUTED  coin")


def test_records_that_were_not_listed_are_reported_as_untested(folder, call):
    listed = ["--epsilon", "1", "--records", "[0, 50, 100]", "--size", "1", "--budget", "400"]
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
    """The runs are drawn in a child process."""
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
        "run", "mine.py:leak", "--epsilon", "1", "--records", "[0, 1]", "--size", "2", "--budget", "400"
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
        ["run", "mine.py:coin", *PAIR, "--epsilon", "0", "--budget", "1000", "--mutate"],
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


def test_a_report_that_cannot_be_written_does_not_lose_the_result(folder, call, monkeypatch):
    def full_disk(documents, path):
        raise Unwritable("r.html cannot be written: No space left on device.")

    monkeypatch.setattr("audit.doors.cli.run.render_report", full_disk)
    code, out, err = call("run", "mine.py:leak", *BRIEF, "--html", "r.html", "--json", "r.json")
    assert code == 3
    assert out.startswith("REFUTED  leak")
    assert err == "dp-audit: r.html cannot be written: No space left on device.\n"
    assert Path("r.json").exists()


def test_the_mutation_check_shows_which_smaller_claims_are_refuted(folder, call):
    """The claim of 0.225 escapes refutation with probability below 1e-7.

    With keep = 0.6 the loss is ln 1.5 = 0.4055. The claims of 0.36 and 0.405 may or may not be refuted.
    """
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
    # the default of the command; the default of `audit_privacy` is one job
    assert "[default: one for each core]" in told


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
    audited = ["run", "mine.py:leak", "--epsilon", "1", "--size", "1", "--budget", "400"]
    assert call(*audited, "--records", "rows.py:bits")[0] == 1
    code, _, err = call(*audited, "--records", "rows.py:odd")
    assert (code, "`rows.py:odd` cannot be called without arguments: TypeError" in err) == (2, True)
