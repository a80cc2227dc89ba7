"""The mutations of `benchmarks/mutated.py` apply to the current code."""

import runpy
from pathlib import Path

from audit.catalogue import load_catalogue


def test_each_mutation_of_the_benchmark_applies_to_the_code():
    root = Path(__file__).parent.parent
    mutations = runpy.run_path(str(root / "benchmarks" / "mutated.py"))["MUTATIONS"]
    assert [each.old for each in mutations if (root / each.path).read_text().count(each.old) != 1] == []
    assert {name for each in mutations for name in each.entries} <= {entry.name for entry in load_catalogue()}
    assert {test for each in mutations for test in each.tests if not (root / test).is_file()} == set()
