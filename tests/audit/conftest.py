import importlib.util
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def false_alarms():
    """The tight audits and their criteria, which are also a command: benchmarks/false_alarms.py."""
    path = Path(__file__).parents[2] / "benchmarks" / "false_alarms.py"
    spec = importlib.util.spec_from_file_location("false_alarms", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
