"""No code that a file names runs unless the user trusts the file."""

import json
from pathlib import Path

import pytest

from audit import AuditResult, PureDP, audit_privacy
from audit.doors.cli import main
from audit.doors.regressions import replay_file
from audit.errors import AuditError
from audit.results.saved import save

EVIL = """from pathlib import Path
Path("imported").touch()

def run(*given, **named):
    Path("called").touch()
"""
SAFE = "def safe(database, rng):\n    return database[0] + rng.laplace(scale=0.2)\n"


def leak(database, rng):
    return database[0] + rng.laplace(scale=0.2)


@pytest.fixture(scope="module")
def refuted():
    return audit_privacy(leak, PureDP(1.0), pairs=[([0], [1])], budget=4_000)


@pytest.fixture
def evil(refuted, tmp_path, monkeypatch):
    """Return a file that names foreign code as its target and as its `convert`."""
    monkeypatch.chdir(tmp_path)
    Path("evil.py").write_text(EVIL)
    Path("mine.py").write_text(SAFE)
    document = refuted.to_json()
    document["result"] |= {"target": "evil.py:run", "parameters": {"command": "touch"}}
    document["environment"]["convert"] = "evil.py:run"
    Path("evil.json").write_text(json.dumps(document))
    return Path("evil.json")


def code_of(arguments):
    with pytest.raises(SystemExit) as left:
        main(arguments)
    return left.value.code


def untouched():
    return not Path("imported").exists() and not Path("called").exists()


@pytest.mark.parametrize("subject", [None, leak], ids=["no subject", "a subject"])
def test_code_that_a_file_names_is_not_imported(evil, subject):
    named = "subject" if subject is None else "`convert`"
    with pytest.raises(AuditError, match=rf"names `evil.py:run` as its {named}, .*; give {named}, or trust"):
        replay_file(evil, subject=subject)
    with pytest.raises(AuditError, match=rf"names `evil.py:run` as its {named}"):
        AuditResult.from_json(evil.read_text()).replay(subject)
    assert untouched()


def test_with_a_subject_and_a_convert_no_trust_is_needed(evil):
    assert replay_file(evil, subject=leak, convert=list).refuted
    assert untouched()


@pytest.mark.parametrize("target", [[], ["mine.py:safe"]], ids=["no target", "a target"])
def test_the_command_line_imports_nothing_that_a_file_names(evil, target, capsys):
    assert code_of(["replay", str(evil), *target]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "`evil.py:run`" in said
    assert "--trust" in said
    assert untouched()
    assert code_of(["replay", str(evil), "mine.py:safe", "--convert", "builtins:list"]) == 1
    assert untouched()


def test_the_code_that_a_trusted_file_names_is_run(evil):
    replay_file(evil, subject=leak, trust=True)
    assert Path("imported").exists()
    assert Path("called").exists()


def test_a_live_result_needs_no_trust(refuted, tmp_path):
    converted = audit_privacy(leak, PureDP(1.0), pairs=[([0], [1])], budget=4_000, convert=tuple)
    assert converted.replay().refuted
    assert converted.replay(leak).refuted
    save(converted, tmp_path / "w.json")
    with pytest.raises(AuditError, match="names `builtins:tuple` as its `convert`"):
        replay_file(tmp_path / "w.json", subject=leak)
