"""Examples that audit published libraries, skipped if the library is missing.

In the environment of `make libraries` no test is skipped.
"""

import importlib
import re
import sys
import tomllib
from pathlib import Path

import pytest

from audit import Verdict, audit_privacy

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
# Libraries warn about the next version of numpy or scikit-learn. We cannot fix those warnings.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture
def example(monkeypatch):
    """Import an example by name, or skip the test if its library is missing."""
    monkeypatch.syspath_prepend(EXAMPLES)

    def load(name):
        library = name.partition("_")[0]
        reason = f"{library} does not import here; docs/environments.md has a recipe"
        pytest.importorskip(library, reason=reason, exc_type=ImportError)
        return importlib.import_module(name)

    yield load
    for name in ("declare", "diffprivlib_audit", "diffprivlib_faults", "opendp_audit"):
        sys.modules.pop(name, None)


def pinned():
    lines = (EXAMPLES / "libraries-constraints.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def test_the_recipe_pins_every_dependency_at_its_lower_bound():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    bounds = dict(re.match(r"([\w-]+)>=([\d.]+)$", line).groups() for line in project["dependencies"])
    assert bounds
    for package, lowest in bounds.items():
        assert f"{pinned()[package]}.".startswith(f"{lowest}."), package


def test_geometric_noise_of_diffprivlib_keeps_its_claim(example):
    # The true ε is exactly 1, so the wealth is a supermartingale. A false alarm has probability at most 1e-7.
    subject = example("diffprivlib_audit").geometric
    result = audit_privacy(subject, budget=4_000, significance=1e-7)
    assert result.verdict is Verdict.NOT_REFUTED


def test_the_mean_of_mostly_missing_values_in_diffprivlib_breaks_its_claim(example):
    # Laplace noise of scale 1/10 on means 0 and 1, clamped to [0, 1]. The event "at least 1/2" has p = 1 −
    # e⁻⁵/2 and q = e⁻⁵/2 = 0.003. Even p = 1 and q = 0 need ln(1e7) / ln(1 + 1/e) = 52 pairs; there are
    # 2,000. Fewer than 1,800 hits on one side, or more than 100 on the other, have probability below 1e-50.
    subject = example("diffprivlib_faults").nanmean
    result = audit_privacy(subject, budget=4_000, significance=1e-7)
    assert result.verdict is Verdict.REFUTED
    assert result.epsilon_lower > 1


def test_a_count_of_opendp_keeps_the_epsilon_of_its_privacy_map(example):
    subject = example("opendp_audit").laplace_count
    # the count has sensitivity 1 and the noise has scale 1
    assert subject.claim.epsilon == pytest.approx(1.0)
    result = audit_privacy(subject, budget=4_000, significance=1e-7)
    assert result.verdict is Verdict.NOT_REFUTED


@pytest.mark.parametrize("module", ["diffprivlib_audit", "diffprivlib_faults", "opendp_audit"])
def test_every_declared_pair_consists_of_neighbours(example, module):
    declared = list(vars(example(module)).items())
    subjects = {n: s for n, s in declared if hasattr(s, "suggested_pairs") and not isinstance(s, type)}
    assert len(subjects) > 10
    for name, subject in subjects.items():
        for left, right in subject.suggested_pairs():
            assert subject.relation.are_neighbours(left, right), name


@pytest.mark.parametrize("module", ["diffprivlib_audit", "diffprivlib_faults", "opendp_audit"])
def test_every_example_has_a_row_in_the_table_of_outcomes(module):
    table = (ROOT / "docs" / "libraries.md").read_text(encoding="utf-8")
    source = (EXAMPLES / f"{module}.py").read_text(encoding="utf-8")
    names = re.findall(r"^def (\w+)\((?:database|rows|scores)", source, re.MULTILINE)
    names += re.findall(r"^(\w+) = Measured\(", source, re.MULTILINE)
    assert len(names) > 10
    missing = [name for name in names if f"{module}.py:{name} " not in table]
    assert missing == []
