"""Utility claims that the catalogue does not audit, but `dp-audit run` does."""

import pytest

from audit import Verdict, audit_utility
from audit.catalogue import load_catalogue
from audit.claims import PAC
from audit.subject.claimed import claims_utility
from learners.concepts import ConjunctionClass
from learners.generic.compression import CompressionLearner
from learners.parity.amplified import AmplifiedParityLearner
from learners.parity.plans import Plan

BUDGET = 100
"""A claim of beta = 0.1 that fails half the time is refuted in some 20 runs at 1e-6: 5^20/2^20 and more."""

UNLISTED = [
    entry
    for entry in load_catalogue()
    if entry.utility is None and entry.expected == "not refuted" and claims_utility(entry.factory())
]


@pytest.mark.parametrize("entry", UNLISTED, ids=lambda entry: entry.name)
def test_the_utility_claim_of_a_correct_entry_is_not_refuted(entry):
    assert audit_utility(entry.factory(), budget=BUDGET).verdict is not Verdict.REFUTED


@pytest.mark.parametrize("form", ["retry", "held-out", "selection"])
def test_amplified_claims_accuracy_if_and_only_if_its_plan_proves_it(form):
    derived = AmplifiedParityLearner(4, form=form, tight=True)
    plan = derived.plan
    assert derived.utility_claim == PAC(0.1, 0.1)
    for made, proved in (
        (plan, True),
        (Plan(plan.candidates, 2 * plan.training, 2 * plan.test), True),
        (Plan(plan.candidates, plan.training // 2, plan.test), False),
        (Plan(2, 1, 1), False),
    ):
        learner = AmplifiedParityLearner(4, form=form, tight=True, made=made)
        assert (learner.utility_claim is not None) == proved


@pytest.mark.parametrize("form", ["retry", "held-out", "selection"])
def test_derived_plans_claim_their_target_accuracy(form):
    for dimension in (1, 2, 8, 64):
        for tight in (False, True):
            for alpha, beta in ((0.1, 0.1), (0.3, 0.05), (0.01, 0.4)):
                learner = AmplifiedParityLearner(dimension, alpha=alpha, beta=beta, form=form, tight=tight)
                assert learner.utility_claim == PAC(alpha, beta)


def test_compression_with_a_shorter_first_round_or_custom_caps_claims_no_accuracy():
    settings = {"concepts": ConjunctionClass(2), "alpha": 0.3, "beta": 0.3}
    own = CompressionLearner(**settings)
    assert own.utility_claim == PAC(0.3, 0.3)
    first = own.rounds(own.sample_size())[0].stop
    assert CompressionLearner(**settings, first_round=first).utility_claim == PAC(0.3, 0.3)
    assert CompressionLearner(**settings, first_round=first - 1).utility_claim is None
    assert CompressionLearner(**settings, caps=(0, 1, 2)).utility_claim is None
    longer = CompressionLearner(**settings, first_round=2 * first + 1)
    assert longer.utility_claim == PAC(0.3, 0.3)
    assert audit_utility(longer, budget=400).verdict is not Verdict.REFUTED
