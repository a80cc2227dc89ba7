"""Samples of realistic size for the audits of A and A* reveal flaws."""

import math
import re

import numpy as np
import pytest
from scipy import stats

from audit import PAC, Verdict, audit_privacy
from audit.catalogue import load_catalogue
from audit.claims import PureDP
from audit.relations import Relation
from learners.finite.at_size import AtSize
from learners.generic.agnostic import GenericLearner
from learners.parity.large import telling_pairs
from learners.parity.learner import ParityLearner
from learners.parity.sources import ParityProblem
from learners.parity.systems import BitSystem

ENTRIES = {entry.name: entry for entry in load_catalogue() if re.match("parity.*-at-size", entry.name)}


def agrees(sample):
    """Return whether one parity fits every label of the sample."""
    system = BitSystem.of(sample)
    return system.solve((1 << system.count) - 1) is not None


@pytest.mark.parametrize("places", [(0,), (0, -1)])
def test_the_pairs_have_one_free_example_one_flipped_label_or_random_labels(places):
    pairs = telling_pairs(16, 200, places=places)
    assert len(pairs) == 2 + len(places)
    for left, right in pairs:
        assert Relation.REPLACE_ONE.are_neighbours(left, right)
    assert [(agrees(left), agrees(right)) for left, right in pairs] == [
        (True, True),
        *[(True, False)] * len(places),
        (False, False),
    ]
    assert [np.flatnonzero(left.labels != right.labels).tolist() for left, right in pairs[1:-1]] == [
        [place % 200] for place in places
    ]


def test_a_alone_is_audited_at_64_bits_and_2000_examples():
    entry = ENTRIES["parity-at-size"]
    assert [(len(left), left.points.shape[1]) for left, _ in entry.options["pairs"]] == [(2_000, 64)] * 3
    assert entry.factory().dimension == 64
    assert entry.factory().distribution(entry.options["pairs"][0][0]) is None


def test_the_accuracy_of_a_alone_is_audited_at_64_bits_on_the_sample_that_it_states():
    entry = ENTRIES["parity-at-size"]
    learner = entry.factory()
    assert entry.audits == ["privacy", "utility"]
    assert learner.utility_claim == PAC(0.25, 0.75)
    assert {problem.size for problem in learner.problems()} == {learner.sample_size()} == {699}


def failing_alone(learner, size):
    """Return the exact failure probability of A on uniform x's.

    Every wrong parity has error 1/2. A new uniform x lies in the span of j independent ones with
    probability 2^(j − d). This gives the law of the rank. At rank j the answer is uniform among 2^(d − j)
    parities, one of which is right.
    """
    d, rates = learner.dimension, learner.rates
    ranks, right = np.zeros(d + 1), 0.0
    ranks[0] = 1.0
    inside = 2.0 ** (np.arange(d + 1) - d)
    for share in stats.binom.pmf(np.arange(size + 1), size, rates.inclusion).tolist():
        right += share * float(ranks @ inside)
        ranks = ranks * inside + np.concatenate([[0.0], (ranks * (1.0 - inside))[:-1]])
    return 1.0 - (1.0 - rates.refusal) * right


@pytest.mark.parametrize("tight", [False, True])
def test_on_uniform_points_a_fails_with_the_probability_from_the_rank(tight):
    learner, runs = ParityLearner(64, 1.0, tight=tight), 1_000
    size = round(66 / learner.rates.inclusion)  # 66 equations on average: often too few for full rank
    problem = ParityProblem("uniform", learner.problems()[0].source, (1,) * 64, size)
    rng = np.random.default_rng(0)
    failures = sum(problem.error(learner(problem.draw(rng), rng), None) > learner.alpha for _ in range(runs))
    exact = failing_alone(learner, size)
    assert learner.rates.refusal + 0.1 < exact < 0.9  # more than the refusals alone, but not nearly always
    low, high = stats.binom(runs, exact).ppf([5e-8, 1 - 5e-8])  # false alarm 1e-7
    # a failure probability that is off by 0.12 is detected with probability 99 %
    assert low <= failures <= high


def test_at_the_stated_size_on_uniform_points_a_fails_only_by_refusing():
    learner = ParityLearner(64, 1.0)
    assert 0.5 <= failing_alone(learner, learner.sample_size()) < 0.5 + 1e-9


def test_audits_at_size_find_at_least_half_the_loss_of_a():
    # tight A loses ε = 1 by construction on the pair of one free example; printed A loses ln(5/3) = 0.511
    pairs = telling_pairs(64, 2_000)
    found = audit_privacy(ParityLearner(64, 1.0, tight=True), PureDP(0.4), pairs=pairs, budget=10_000)
    assert found.verdict is Verdict.REFUTED
    assert 0.4 < found.epsilon_lower <= 1.0


@pytest.mark.parametrize("name", [name for name in ENTRIES if "amplified" in name])
def test_amplified_is_audited_on_its_stated_sample(name):
    entry = ENTRIES[name]
    assert all(len(left) == entry.factory().sample_size() for left, _ in entry.options["pairs"])


@pytest.mark.parametrize("form", ["retry", "held-out", "selection"])
def test_amplified_claims_a_failure_probability_of_one_tenth_at_size(form):
    entry = ENTRIES["parity-amplified-at-size" if form == "held-out" else f"parity-amplified-{form}-at-size"]
    learner = entry.factory()
    assert (learner.part.form, learner.part.dimension) == (form, 16)
    assert learner.utility_claim == PAC(0.1, 0.1)


def test_learners_at_size_suggest_a_sample_with_random_labels():
    subject = AtSize(part=GenericLearner(), calm=(0, 1), odd=(1, 1))
    left, right = subject.suggested_pairs()[-1]
    assert subject.relation.are_neighbours(left, right)
    assert len(left) == subject.sample_size()
    labels = np.array([y for _, y in left])
    # 6 standard deviations of a fair coin: false alarm probability 2e-9
    assert abs(labels.mean() - 0.5) < 6 * 0.5 / math.sqrt(len(labels))
    seen = {}
    for x, y in left:
        seen.setdefault(x, set()).add(y)
    assert {0, 1} in seen.values()  # no hypothesis fits these labels
    assert (
        AtSize(part=GenericLearner(), calm=(0, 1), odd=(1, 1), labels=None).suggested_pairs()[-1][0]
        is not left
    )
