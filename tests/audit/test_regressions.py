"""Saved refutations as tests, which fail only if the fault is back."""

import io
import os
import re
import subprocess
import sys
import textwrap
import xml.etree.ElementTree as ET
from contextlib import redirect_stderr, redirect_stdout

import pytest

from audit import PureDP, audit_privacy
from audit.doors.cli import main
from audit.doors.regressions import (
    load_witness,
    locate_target,
    parametrize_with_witnesses,
    replay_file,
    witness_files,
)
from audit.errors import AuditError
from audit.results.saved import save
from audit.sampling import Sampler
from audit.sampling.isolated.starting import SPAWN

MECHANISMS = """
import os

def release(database, rng):
    fault = not os.environ.get("REPAIRED")
    return sum(database) + rng.laplace(scale=0.2 if fault else 10.0)

def leak(database, rng):
    return database[0]

def coin(database, rng):
    return int(rng.integers(0, 2))
"""
TESTS = """
from audit.pytest_plugin import parametrize_with_witnesses
from mine import coin, release

@parametrize_with_witnesses("witnesses")
def test_fault_stays_away(witness, auditor):
    auditor.check_witness(witness, trust=True)

def test_on_another(auditor):
    auditor.check_witness("tests/witnesses/leak.json", coin)

def test_on_the_same_but_new_runs(auditor):
    auditor.check_witness("tests/witnesses/release.json", release, fresh=True)

def test_no_refutation(auditor):
    auditor.check_witness("tests/nothing.json")

def test_no_file(auditor):
    auditor.check_witness("tests/nowhere.json")
"""
PATH = [*sys.path]  # without the folders of other tests
BRIEF = ["--epsilon", "0.1", "--pair", "[0]", "[1]", "--budget", "4000"]


def command(folder, *arguments):
    """Run `dp-audit` from a folder in this process.

    Return its exit code and whole output on one line.

    The target is imported anew in every call. Runs are drawn in this process too (`in_process`).
    """
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(printed), redirect_stderr(printed):
        patch.chdir(folder)
        patch.setattr(sys, "path", [*PATH])
        if SPAWN not in os.environ:
            patch.setattr(Sampler, "isolate", property(lambda _: False, lambda _, given: None), raising=False)
        with pytest.raises(SystemExit) as left:
            main([*map(str, arguments)])
    for name in [name for name in sys.modules if name.startswith("dp_audit_target_") or name == "mine"]:
        del sys.modules[name]
    return left.value.code, " ".join(printed.getvalue().split())


def replay(folder, *arguments):
    return command(folder, "replay", *arguments, "--trust")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Return a project with two saved refutations and a result without one."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "mine.py").write_text(MECHANISMS)
    (folder / "tests" / "witnesses").mkdir(parents=True)
    (folder / "tests" / "test_faults.py").write_text(textwrap.dedent(TESTS))
    places = {"leak": "witnesses/leak", "release": "witnesses/release", "coin": "nothing"}
    for name, place in places.items():
        command(folder, "run", f"mine.py:{name}", *BRIEF, "--json", f"tests/{place}.json")
    return folder


def outcomes(project, *arguments, **environment):
    """Run the project's tests from its root.

    Return the failure of each test (None if it passed), and the output.
    """
    session = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-W", "error"]
    ran = subprocess.run(
        [*session, "--junitxml=junit.xml", *arguments],
        cwd=project,
        env={"PATH": "", "PYTHONPATH": str(project), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    cases = ET.parse(project / "junit.xml").getroot().iter("testcase")
    failures = {case.get("name"): [part.text for part in case.findall("failure")] for case in cases}
    return {name: found[0] if found else None for name, found in failures.items()}, ran.stdout


@pytest.fixture(scope="module")
def faulty(project):
    return outcomes(project)


def explanation(text):
    assert "/audit/" not in text
    return [line for line in text.splitlines() if line.startswith("E ")]


def test_every_file_of_the_folder_becomes_a_test_named_by_it(faulty):
    names = [name for name in faulty[0] if name.startswith("test_fault")]
    assert names == ["test_fault_stays_away[leak]", "test_fault_stays_away[release]"]


def test_a_fault_that_is_back_fails_without_our_traceback(faulty):
    for name in ("leak", "release"):
        lines = explanation(faulty[0][f"test_fault_stays_away[{name}]"])
        assert 3 <= len(lines) <= 22
        assert f"{name} does not satisfy its claim" in lines[0]


def test_a_fault_that_is_gone_passes_and_the_marker_selects_regression_tests(project):
    """The repaired release is refuted with probability at most 1e-6."""
    found, _ = outcomes(project, "-m", "audit", "-k", "release or same", REPAIRED="1")
    assert found == {"test_fault_stays_away[release]": None, "test_on_the_same_but_new_runs": None}


def test_a_witness_may_be_checked_on_another_subject(faulty):
    assert faulty[0]["test_on_another"] is None


def test_new_runs_find_the_fault_too(faulty):
    """The fault is missed with probability far below 1e-7.

    The confirmation makes three times the needed runs.
    """
    assert "release does not satisfy its claim" in faulty[0]["test_on_the_same_but_new_runs"]


@pytest.mark.parametrize(
    ("name", "words"),
    [("test_no_refutation", "nothing.json holds no refutation"), ("test_no_file", "cannot be read")],
)
def test_a_file_that_is_not_a_witness_fails_with_one_line(faulty, name, words):
    [line] = explanation(faulty[0][name])
    assert words in line


def test_replays_are_in_the_table_of_the_session(faulty):
    table = faulty[1].split("privacy audits")[1]
    assert re.search(r"^REFUTED +leak +claim fails  ", table, re.MULTILINE)
    assert "4 audits; total significance spent: 4e-06" in table


def test_a_witness_finds_its_target_from_any_folder(project, tmp_path, monkeypatch):
    """The target is the file of the saved name in the nearest folder above the witness."""
    witness = project / "tests" / "witnesses" / "leak.json"
    code, said = replay(tmp_path, witness)
    assert code == 1
    assert "the saved counts were reproduced exactly" in said
    monkeypatch.chdir(tmp_path)
    assert replay_file(witness, trust=True).refuted
    assert replay_file(witness, trust=True).target == "mine.py:leak"
    (project / "tests" / "mine.py").write_text("def leak(database, rng):\n    return 0\n")
    try:
        assert locate_target("mine.py:leak", witness) == f"{project / 'tests' / 'mine.py'}:leak"
    finally:
        (project / "tests" / "mine.py").unlink()


def test_another_file_of_the_same_name_in_the_working_folder_is_not_replayed(project, tmp_path, monkeypatch):
    """The other file returns a constant, so with it the witness would pass."""
    witness = project / "tests" / "witnesses" / "leak.json"
    (tmp_path / "mine.py").write_text("def leak(database, rng):\n    return 0\n")
    monkeypatch.chdir(tmp_path)
    assert locate_target("mine.py:leak", witness) == f"{project / 'mine.py'}:leak"
    assert replay_file(witness, trust=True).refuted
    code, said = replay(tmp_path, witness)
    assert code == 1
    assert f"drawn from {project / 'mine.py'}" in said
    assert "changed" not in said


def test_an_unchanged_file_comes_before_a_nearer_one(project, tmp_path, monkeypatch):
    """A folder above the result has another file with the name of the target's file.

    The result is saved outside the project.
    """
    away = tmp_path / "results" / "leak.json"
    away.parent.mkdir()
    away.write_text((project / "tests" / "witnesses" / "leak.json").read_text())
    (tmp_path / "mine.py").write_text("def leak(database, rng):\n    return 0\n")
    monkeypatch.chdir(project)
    assert replay_file(away, trust=True).refuted
    assert f"drawn from {project / 'mine.py'}" in replay(project, away)[1]
    assert locate_target("mine.py:leak", away) == f"{tmp_path / 'mine.py'}:leak"


def test_a_replay_says_that_the_file_has_changed_since_the_audit(project, tmp_path, monkeypatch):
    saved = (project / "tests" / "witnesses" / "leak.json").read_text()
    (tmp_path / "leak.json").write_text(saved)
    (tmp_path / "mine.py").write_text("def leak(database, rng):\n    return 0\n")
    monkeypatch.chdir(tmp_path / "..")
    changed = f"drawn from {tmp_path / 'mine.py'}, which has changed since the audit"
    again = replay_file(tmp_path / "leak.json", trust=True)
    assert not again.refuted
    assert changed in again.notes
    assert changed in replay(tmp_path, "leak.json")[1]


def test_another_module_of_the_same_name_is_named_as_changed(project, tmp_path):
    """Python finds a module in the working folder first."""
    witness = tmp_path / "module.json"
    command(project, "run", "mine:leak", *BRIEF, "--json", witness)
    here, there = project / "mine.py", tmp_path / "mine.py"
    there.write_text("def leak(database, rng):\n    return 0\n")
    again = ("replay", witness, "--trust")
    assert f"drawn from {here} Not tested" in command(project, *again)[1]
    assert f"drawn from {there}, which has changed since the audit" in command(tmp_path, *again)[1]


def test_a_missing_object_is_reported_with_the_full_path_of_its_file(project, tmp_path):
    (tmp_path / "leak.json").write_text((project / "tests" / "witnesses" / "leak.json").read_text())
    (tmp_path / "mine.py").write_text("def other(database, rng):\n    return 0\n")
    code, said = replay(tmp_path, "leak.json")
    assert code == 2
    assert f"`{tmp_path / 'mine.py'}` has no `leak`" in said


def test_a_target_not_found_is_reported_with_the_places_searched(project, tmp_path, monkeypatch):
    alone = tmp_path / "alone" / "leak.json"
    alone.parent.mkdir()
    saved = (project / "tests" / "witnesses" / "leak.json").read_text()
    alone.write_text(saved.replace("mine.py:leak", "moved_away_since.py:leak"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AuditError) as refused:
        replay_file(alone, trust=True)
    for part in (
        "no file `moved_away_since.py`",
        f"`{tmp_path}`",
        f"`{alone.parent}`",
        "check_witness(witness, subject)",
    ):
        assert part in str(refused.value)
    code, said = replay(tmp_path, alone)
    assert code == 2
    assert "There is no file `moved_away_since.py`" in said
    assert replay(tmp_path, alone, project / "mine.py:leak")[0] == 1


def leak(database, rng):
    return database[0]


@pytest.fixture
def saved(tmp_path):
    result = audit_privacy(leak, PureDP(0.1), pairs=[([0], [1])], budget=4_000)
    save(result, tmp_path / "b.json")
    save(result, tmp_path / "a.json")
    return tmp_path


def test_files_are_sorted_by_name(saved):
    (saved / "notes.txt").write_text("not a witness")
    assert [file.name for file in witness_files(saved)] == ["a.json", "b.json"]
    cases = parametrize_with_witnesses(saved).mark.args[1]
    assert [case.id for case in cases] == ["a", "b"]


def test_a_folder_that_is_missing_is_named():
    with pytest.raises(AuditError, match=r"The folder `.*nowhere` of witness files does not exist"):
        parametrize_with_witnesses("nowhere")


def test_a_witness_that_names_no_target_asks_for_the_subject(saved):
    assert load_witness(saved / "a.json").refuted
    with pytest.raises(AuditError, match=r"a\.json does not say what was audited; give the subject too"):
        replay_file(saved / "a.json")
    assert replay_file(saved / "a.json", subject=leak).refuted


def test_the_convert_of_an_audit_is_remembered_or_asked_for(tmp_path):
    def of_tuple(database, rng):
        return database[0] if isinstance(database, tuple) else 0

    def refutation(convert, name):
        result = audit_privacy(of_tuple, PureDP(0.1), pairs=[([0], [1])], budget=4_000, convert=convert)
        save(result, tmp_path / name)
        return result

    assert refutation(tuple, "w.json").replay().refuted
    with pytest.raises(AuditError, match="names `builtins:tuple` as its `convert`, "):
        replay_file(tmp_path / "w.json", subject=of_tuple)
    assert replay_file(tmp_path / "w.json", subject=of_tuple, trust=True).refuted
    assert not replay_file(tmp_path / "w.json", subject=of_tuple, convert=list).refuted
    assert refutation(lambda rows: (*rows,), "nameless.json").replay().refuted
    with pytest.raises(AuditError, match=r"`convert` cannot be imported by name; pass `convert=`"):
        replay_file(tmp_path / "nameless.json", subject=of_tuple)
    assert replay_file(tmp_path / "nameless.json", subject=of_tuple, convert=tuple).refuted
    assert load_witness(tmp_path / "nameless.json").replay(of_tuple, convert=tuple).refuted


def test_the_command_line_replays_with_the_convert_of_the_audit(tmp_path):
    (tmp_path / "mine.py").write_text(
        "def rows(records):\n    return {'rows': records}\n\n"
        "def leak(database, rng):\n    return database['rows'][0]\n"
    )
    run = ("run", "mine.py:leak", *BRIEF, "--convert", "mine:rows", "--json", "w.json")
    assert command(tmp_path, *run)[0] == 1
    assert command(tmp_path, "replay", "w.json", "--trust")[0] == 1
