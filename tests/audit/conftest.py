import importlib.util
import os
import sys
from pathlib import Path

import pytest

from audit.doors.cli import main
from audit.faults.asked import Asked
from audit.faults.examine import _has_nan, _middle
from audit.faults.examiner import looked_at
from audit.faults.scene import LEFT, RIGHT
from audit.relations import Relation
from audit.sampling import Sampler
from audit.sampling.isolated.starting import SPAWN

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


def benchmark(name):
    path = Path(__file__).parents[2] / "benchmarks" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _examined(subject, pair, claim, relation=Relation.REPLACE_ONE, *, bits=False):
    left, right = pair
    asked = Asked(epsilon=claim.epsilon, delta=claim.delta, bits=bits, nan=_has_nan(left, right))
    databases = {LEFT: left, RIGHT: right, **_middle(left, right, relation)}
    prepared = {name: subject.prepare(database) for name, database in databases.items()}
    return looked_at(subject.object, subject.calling, prepared, asked)


@pytest.fixture(scope="session")
def examined():
    """Return a function that takes a subject, two neighbours on which the claim fails, the claim and the
    relation. It names the fault that runs recorded in this process show."""
    return _examined


@pytest.fixture(scope="session")
def false_alarms():
    """Return the module benchmarks/false_alarms.py, which is also a command."""
    return benchmark("false_alarms")


@pytest.fixture(scope="session")
def interrupts():
    """Return the module benchmarks/interrupts.py, which is also a command."""
    return benchmark("interrupts")


@pytest.fixture(scope="session")
def hostile_files():
    """Return the module benchmarks/hostile_files.py, which damages good files."""
    return benchmark("hostile_files")


@pytest.fixture(scope="session")
def limits():
    """Return the module benchmarks/limits.py, on the wealth of utility auditors."""
    return benchmark("limits")


@pytest.fixture
def in_process(monkeypatch):
    """Make commands draw their runs in this process, which saves half a second of CPU.

    If `DP_AUDIT_SPAWN` is set, commands still start child processes.
    """
    if SPAWN not in os.environ:
        monkeypatch.setattr(
            Sampler, "isolate", property(lambda _: False, lambda _, given: None), raising=False
        )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Change to a user's folder that contains the target module, and yield its path."""
    (tmp_path / "mine.py").write_text(MECHANISMS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("dp_audit_target_")]:
        del sys.modules[name]


@pytest.fixture
def call(capsys, in_process):
    """Return a function that runs the command in this process.

    It returns exit code, stdout and stderr.
    """

    def run(*arguments):
        with pytest.raises(SystemExit) as left:
            main(arguments)
        return left.value.code, *capsys.readouterr()

    return run


@pytest.fixture
def thirdparty(tmp_path, monkeypatch):
    """Return a function that installs a distribution with one module and one entry point."""

    def install(group, *, entry, text):
        site = tmp_path / "site"
        info = site / "thirdparty-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: thirdparty\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{group}]\nthirdparty = {entry}\n")
        (site / f"{entry.partition(':')[0]}.py").write_text(text)
        monkeypatch.syspath_prepend(site)

    return install
