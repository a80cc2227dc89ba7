"""Audits of user code refute the wrong versions and pass the right ones."""

import importlib.util
from pathlib import Path

import pytest

from audit import FaultKind, Verdict, audit_privacy

EXAMPLES = Path(__file__).parents[2] / "examples"
FAULTS = {
    "data_release": FaultKind.DATA_DEPENDENT_DOMAIN,
    "estimator": FaultKind.UNNOISED_PART,
    "stream_counter": FaultKind.BUDGET_SPENT_TWICE,
    "private_sgd": FaultKind.NOISE_TOO_SMALL,
}


def load(name):
    specification = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", FAULTS)
def test_the_wrong_version_is_refuted_with_its_fault_named_and_the_right_one_is_not(name):
    module = load(name)
    wrong = audit_privacy(module.wrong, budget=6_000)
    assert wrong.verdict is Verdict.REFUTED
    assert wrong.fault.kind is FAULTS[name]
    assert audit_privacy(module.right, budget=2_000).verdict is Verdict.NOT_REFUTED
