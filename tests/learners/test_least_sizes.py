"""At its least size a learner keeps its claim. With 0.7 of its ε, the same audit refutes the claim.

The noise is then 1/0.7 times as wide. Audits have the default significance, 1e-6.
"""

from dataclasses import replace

import pytest

from audit import audit_utility
from audit.results.result import Verdict
from learners.entries.least import exact, sampled, tested


@pytest.mark.parametrize("entry", [*sampled, *tested], ids=lambda entry: entry.name)
def test_three_tenths_less_epsilon_are_seen_at_the_least_size(entry):
    right, told = entry.factory(), entry.options_for("utility")
    weak = replace(right, part=replace(right.part, epsilon=0.7 * right.part.epsilon))
    assert audit_utility(right, **told).verdict is not Verdict.REFUTED
    assert audit_utility(weak, **told).verdict is Verdict.REFUTED


def test_every_entry_has_problems_and_fewer_examples_than_are_stated():
    for entry in (*sampled, *tested):
        subject = entry.factory()
        assert entry.utility["problems"]
        assert subject.examples < subject.part.sample_size()


@pytest.mark.parametrize("entry", exact, ids=lambda entry: entry.name)
def test_laws_decide_both_at_the_least_size(entry):
    right, told = entry.factory(), entry.options_for("utility")
    weak = replace(right, epsilon=0.7 * right.epsilon)
    assert audit_utility(right, **told).verdict is Verdict.PROVED
    assert audit_utility(weak, **told).verdict is Verdict.REFUTED
