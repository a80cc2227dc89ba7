"""The commands of `examples/ci` work in a separate project.

`dp-audit` is called in this process.
"""

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from audit.doors.cli import main

yaml = pytest.importorskip("yaml")
HERE = Path(__file__).resolve().parents[2] / "examples" / "ci"


@pytest.fixture
def project(tmp_path, monkeypatch, capsys):
    """Copy the example and return a function that runs a command in the copy."""
    shutil.copytree(HERE, tmp_path / "project", ignore=shutil.ignore_patterns("__pycache__"))

    def run(command, **replaced):
        words = shlex.split(command)
        program, *words = (replaced.get(word, word) for word in words)
        if program == "dp-audit":
            return called(words)
        assert program == "python"
        words = [sys.executable, *words]
        return subprocess.run(words, cwd=tmp_path / "project", capture_output=True, text=True, check=False)

    def called(words):
        with monkeypatch.context() as patch:
            patch.chdir(tmp_path / "project")
            patch.setattr(sys, "path", [*sys.path])
            with pytest.raises(SystemExit) as left:
                main(words)
        for name in [name for name in sys.modules if name.startswith("dp_audit_target_")]:
            del sys.modules[name]  # the next command imports the target anew
        out, err = capsys.readouterr()
        return SimpleNamespace(returncode=left.value.code, stdout=out, stderr=err)

    run.folder = tmp_path / "project"
    return run


def commands(job):
    """Return the commands of one workflow job after the installation."""
    steps = yaml.safe_load((HERE / "audits.yml").read_text())["jobs"][job]["steps"]
    return [step["run"] for step in steps if "pip install" not in step.get("run", "pip install")]


def test_each_nightly_run_continues_from_the_previous_one(project):
    [night] = commands("night")
    for nights in (1, 2):
        ran = project(night, **{"20_000_000": "3_000"})
        assert ran.returncode == 0, ran.stdout + ran.stderr
        found = json.loads((project.folder / "night" / "mean.json").read_text())["result"]
        assert found["verdict"] == "not refuted"
        assert len(found["earlier"]) == nights - 1
    assert found["samples"] >= 6_000
    assert (project.folder / "report" / "mean.html").exists()


def test_a_push_runs_audits_and_the_hook_blocks_a_faulty_release(project):
    [push] = commands("push")
    ran = project(push, **{"auto": "0", "--audit-time-limit=60": "--audit-budget=3000"})
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert (project.folder / "report" / "index.html").exists()
    release = project.folder / "release.py"
    release.write_text(release.read_text().replace("scale=1.0 /", "scale=0.3 /"))
    [hook] = yaml.safe_load((HERE / "pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    ran = project(hook["entry"])
    assert ran.returncode == 1
    assert "Mean does not satisfy its claim" in ran.stdout


def test_an_ordinary_run_skips_audits_and_an_audit_named_explicitly_runs(project):
    ran = project("python -m pytest -q")
    assert "1 deselected" in ran.stdout
    assert "privacy audits" not in ran.stdout
    assert (
        "1 test collected"
        in project("python -m pytest --collect-only -q test_release.py::test_the_mean_keeps_its_claim").stdout
    )
