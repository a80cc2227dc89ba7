"""Run the tests in other environments.

Usage: `make matrix`, or `python -P tests/matrix.py oldest`.

oldest    the lowest version of each dependency that `pyproject.toml` allows
newest    the newest version of each dependency
spawn     processes that may not fork, started with SIGINT ignored, as in the background of a script
names     the installed wheel, in a project with its own folders `mechanisms`, `learners` and `reports`
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENVS = ROOT / ".venv-matrix"
#: Tests to run in every environment: user interfaces, processes, strategies, saved files, the HTML page.
TESTS = [
    *("tests/audit/test_cli.py", "tests/audit/test_cli_suite.py", "tests/audit/test_cli_replay.py"),
    *("tests/audit/test_cli_processes.py", "tests/audit/test_results.py"),
    "tests/audit/test_sampling_workers.py",
    *("tests/audit/test_replay_processes.py", "tests/audit/test_public_strategies.py"),
    *("tests/audit/test_pytest_plugin.py", "tests/audit/test_compat.py", "tests/audit/test_utility.py"),
    *("tests/reports", "tests/test_public_names.py"),
]
QUIET = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
PROJECT = """
import learners, mechanisms, reports
from mechanisms.noise import helper

def mine(database, rng):
    return helper(database[0]) * learners.value * reports.value
"""
AUDITED = """
import mechanisms
from audit import PureDP
from project import mine

def test_mine(auditor, tmp_path):
    result = auditor.refute(mine, PureDP(1.0), pairs=[([0], [1])], budget=4000)
    result.to_html(tmp_path / "page.html")
    assert mechanisms.value == 1
"""


def oldest():
    """Run the tests with the lowest version of each direct dependency."""
    wanted = _dependencies()
    # the last patch release, since some first releases were withdrawn
    lowest = [re.sub(r">=(.*)", r"==\1.*", each) for each in wanted]
    chosen = [
        each for each in TESTS if "compat" not in each
    ]  # test_compat is about changes of later versions
    _tests(_environment("oldest", *lowest, *_test_tools()), chosen)


def newest():
    """Run the tests with the newest version of each dependency."""
    _tests(_environment("newest", "--upgrade", "--upgrade-strategy", "eager", *_test_tools()), TESTS)


def spawn():
    """Run the tests with processes that may not fork."""
    chosen = [each for each in TESTS if "sampling" in each or "replay" in each or "cli" in each]
    heeded = signal.signal(signal.SIGINT, signal.SIG_IGN)  # a new process inherits this setting
    _run([sys.executable, "-m", "pytest", "-q", *chosen], cwd=ROOT, DP_AUDIT_SPAWN="1")
    signal.signal(signal.SIGINT, heeded)


def names():
    """Test every user interface in a project with folders named like ours."""
    place = _environment("names")
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        for name in ("mechanisms", "learners", "reports"):
            (project / name).mkdir()
            (project / name / "__init__.py").write_text("value = 1\n")
        (project / "mechanisms" / "noise.py").write_text("def helper(record): return record\n")
        (project / "project.py").write_text(PROJECT)
        (project / "test_project.py").write_text(AUDITED)
        audited = ["--epsilon", "1", "--pair", "[0]", "[1]", "--budget", "4000"]
        for command in ([place / "dp-audit"], [place / "python", "-m", "audit"]):
            for target in ("project.py:mine", "project:mine"):
                _run(
                    [*command, "run", target, *audited, "--html", "r.html", "--json", "r.json"],
                    project,
                    code=1,
                )
            _run([*command, "replay", "r.json", "--trust"], cwd=project, code=1)
            _run([*command, "suite", "flawed-kary-*", "--html", "suite/index.html"], cwd=project)
            _run([*command, "findings", "E1"], cwd=project)
        _run([place / "python", "-m", "pytest", "-q"], cwd=project)


def _dependencies():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]


def _test_tools():
    """Return the packages that only the tests need."""
    return ["scikit-learn", "pytest-xdist", "dp-accounting"]


def _environment(name, *wanted):
    """Make a fresh environment with the wheel and these packages.

    Return the folder of its commands.
    """
    subprocess.run([sys.executable, "-m", "venv", "--clear", VENVS / name], check=True)
    place = VENVS / name / "bin"
    subprocess.run([place / "python", "-m", "pip", "install", "-q", ROOT, *wanted], check=True)
    return place


def _tests(place, chosen):
    _run([place / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen], cwd=ROOT)


def _run(command, cwd, *, code=0, **environment):
    print("$", *command, flush=True)
    ran = subprocess.run(list(map(str, command)), cwd=cwd, env={**QUIET, **environment}, check=False)
    if ran.returncode != code:
        sys.exit(f"exit code {ran.returncode} in place of {code}")


if __name__ == "__main__":
    for job in sys.argv[1:] or ["oldest", "newest", "spawn", "names"]:
        {"oldest": oldest, "newest": newest, "spawn": spawn, "names": names}[job]()
