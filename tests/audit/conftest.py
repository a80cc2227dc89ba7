import importlib.util
import sys
from pathlib import Path

import pytest

from audit.sampling import Sampler


def benchmark(name):
    path = Path(__file__).parents[2] / "benchmarks" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def false_alarms():
    """Return the module of the tight audits and their criteria: benchmarks/false_alarms.py, also a
    command."""
    return benchmark("false_alarms")


@pytest.fixture(scope="session")
def interrupts():
    """Return the module that interrupts commands at random moments: benchmarks/interrupts.py, also a
    command."""
    return benchmark("interrupts")


@pytest.fixture(scope="session")
def hostile_files():
    """Return the module that makes damaged and hostile files from good ones: benchmarks/hostile_files.py."""
    return benchmark("hostile_files")


@pytest.fixture(scope="session")
def limits():
    """Return the module with the fastest growth of wealth of any utility auditor: benchmarks/limits.py."""
    return benchmark("limits")


@pytest.fixture
def in_process(monkeypatch):
    """Have commands draw runs in this process. The child that they start takes half a second of CPU."""
    monkeypatch.setattr(Sampler, "isolate", property(lambda _: False, lambda _, given: None), raising=False)


@pytest.fixture
def thirdparty(tmp_path, monkeypatch):
    """Return a function that installs another distribution: one entry point in a group, and one module."""

    def install(group, *, entry, text):
        site = tmp_path / "site"
        info = site / "thirdparty-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: thirdparty\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{group}]\nthirdparty = {entry}\n")
        (site / f"{entry.partition(':')[0]}.py").write_text(text)
        monkeypatch.syspath_prepend(site)

    return install
