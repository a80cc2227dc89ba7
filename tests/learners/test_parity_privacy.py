"""The exact loss of algorithm A on every small sample.

A is taken as printed, with `tight=True`, and with flaws.
"""

import math

import numpy as np
import pytest

from audit import Verdict, audit_privacy
from audit.databases import domain
from audit.doors.summary import line
from audit.relations import Relation
from learners import ParityLearner
from learners.findings.exact import worst
from learners.parity import multisets
from learners.parity.flawed import BoldParityLearner, NaiveParityLearner, UncheckedParityLearner
from learners.parity.multisets import Multisets, ParityLearnerMultisets

#: The number of runs on each database in a close comparison. A proof needs this many.
BUDGET = 16_000
#: Runs that are enough to refute a claim that the law breaks.
FEW = 2_000


@pytest.mark.parametrize(
    ("epsilon", "loss"), [(0.1, 0.050010), (0.5, 0.251314), (1.0, 0.510826), (2.0, 1.098612)]
)
def test_the_loss_on_every_sample_of_three_matches_the_closed_form(epsilon, loss):
    found, _ = worst(ParityLearner(dimension=2, epsilon=epsilon), 3)
    assert found == pytest.approx(math.log((4 + epsilon) / (4 - epsilon)), rel=1e-12)
    assert round(found, 6) == loss


def test_the_claim_is_proved_on_all_samples_of_three():
    result = audit_privacy(ParityLearner(dimension=2, epsilon=1.0), size=3, budget=BUDGET)
    assert result.verdict is Verdict.PROVED
    assert result.pairs_tried == 8**2 * 3 * math.comb(8, 2)
    assert result.epsilon_lower == pytest.approx(math.log(5 / 3), rel=1e-12)
    assert f"all {8**2 * 3 * math.comb(8, 2):,} pairs compared," in line(result)


@pytest.mark.parametrize("epsilon", [0.5, 3.0, 6.0])
def test_the_loss_of_the_tight_twin_equals_its_claim(epsilon):
    learner = ParityLearner(dimension=1, epsilon=epsilon, tight=True)
    assert worst(learner, 3)[0] == pytest.approx(epsilon, rel=1e-9)
    assert ParityLearner(epsilon=epsilon, tight=True).worst_loss == pytest.approx(epsilon, rel=1e-12)


def test_the_tight_twin_is_proved():
    learner = ParityLearner(dimension=1, epsilon=3.0, tight=True)
    assert audit_privacy(learner, size=3, budget=BUDGET).verdict is Verdict.PROVED


def test_a_smaller_refusal_or_a_larger_inclusion_breaks_the_claim():
    for flawed, loss in (
        (UncheckedParityLearner(dimension=1), 2 * math.atanh(3.9 / 4)),
        (BoldParityLearner(dimension=1), math.log(1 - math.tanh(0.5) + 2 * math.tanh(0.5) / 0.2119415576)),
        (NaiveParityLearner(dimension=1), math.inf),
    ):
        result = audit_privacy(flawed, size=2, budget=FEW)
        assert result.verdict is Verdict.REFUTED
        assert "neighbouring" not in line(result)
        assert result.epsilon_lower == pytest.approx(loss, rel=1e-8)


def test_suggested_pairs_attain_the_worst_loss():
    for tight in (False, True):
        learner = ParityLearner(3, 1.0, tight=tight, size=4)
        pairs = learner.suggested_pairs()
        assert all(Relation.REPLACE_ONE.are_neighbours(*pair) for pair in pairs)
        losses = [
            np.abs(np.subtract(*(learner.distribution(side).log_probabilities for side in pair))).max()
            for pair in pairs
        ]
        assert max(losses) == pytest.approx(learner.worst_loss, rel=1e-9)


def test_multisets_prove_larger_samples():
    result = audit_privacy(ParityLearnerMultisets(dimension=2, epsilon=1.0, examples=4), budget=BUDGET)
    assert result.verdict is Verdict.PROVED
    # a pair has a common multiset of 3 records of 8 kinds, and two different kinds for the fourth record
    assert result.pairs_tried == math.comb(3 + 7, 7) * math.comb(8, 2)
    assert result.family.startswith("all lists of n = 4 examples with d = 2 that differ in one,")
    assert f"all {result.pairs_tried:,} pairs compared," in line(result)
    assert result.epsilon_lower == pytest.approx(math.log(5 / 3), rel=1e-12)


@pytest.mark.parametrize("entry", multisets.entries, ids=lambda entry: entry.name)
def test_the_name_of_an_entry_on_all_samples_has_its_sizes(entry):
    subject = entry.factory()
    assert entry.name == f"parity-d{subject.dimension}-n{subject.examples}"
    assert f"d = {subject.dimension}, all samples of {subject.examples}" in entry.summary
    assert f"n = {subject.examples} examples with d = {subject.dimension} " in subject.family


def test_a_multiset_has_the_law_of_its_lists():
    subject = ParityLearnerMultisets(dimension=2, epsilon=1.0, examples=3)
    records = [((kind >> 1 & 1, kind >> 2 & 1), kind & 1) for kind in range(8)]
    for members in [(0, 3, 3), (1, 2, 7), (4, 5, 6)]:
        listed = [records[kind] for kind in members[::-1]]
        law, same = subject.distribution([members]), subject.learner.distribution(listed)
        assert np.exp(law.log_probabilities) == pytest.approx(np.exp(same.log_probabilities), rel=1e-12)
    relation = Multisets(8)
    near = list(relation.neighbours([(0, 3, 3)], None))
    assert len(near) == 14
    assert all(relation.are_neighbours([(0, 3, 3)], other) for other in near)


def test_records_are_a_full_list_or_a_strategy(monkeypatch):
    monkeypatch.setattr(domain, "_DRAWN", 60)  # drawn from the strategy; an audit draws 400
    assert len(ParityLearner(3, 1.0).records) == 16
    assert hasattr(ParityLearner(64, 1.0).records, "example")
    result = audit_privacy(ParityLearner(20, 1.0), size=4, budget=1_000)
    assert result.verdict is Verdict.NOT_REFUTED


def test_a_size_is_enough_to_prove_a_on_all_samples_in_any_order():
    # the samples are 2^20 lists
    result = audit_privacy(ParityLearner(dimension=1, epsilon=1.0), size=10, budget=2 * BUDGET)
    assert result.verdict is Verdict.PROVED
    assert result.epsilon_lower == pytest.approx(math.log(5 / 3))
    assert result.pairs_tried == math.comb(9 + 3, 3) * math.comb(4, 2)
