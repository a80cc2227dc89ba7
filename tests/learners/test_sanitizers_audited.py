"""Audits of the sanitizer entries refute flawed twins on the same pairs."""

import math
import re
from collections import Counter
from functools import cache
from operator import eq

import numpy as np
import pytest
from scipy import stats

from audit.catalogue import load_catalogue
from audit.claims import ApproximateDP
from audit.laws.exact import compare_pairs
from learners.sanitizers import IntervalCuts, PointSanitizer
from learners.sanitizers.lumped import LumpedPoints
from learners.sanitizers.noise import clamped_geometric, class_masses
from learners.sanitizers.swaps import swaps
from learners.sanitizers.tables import CountTable
from mechanisms.concave import levels

ENTRIES = {entry.name: entry for entry in load_catalogue() if re.search("sanitiz|interval-cuts", entry.name)}


@cache
def found(name):
    subject = ENTRIES[name].factory()
    return compare_pairs(ENTRIES[name].options["pairs"], subject.distribution, subject.claim)


def test_an_exact_entry_compares_revealing_pairs_and_decides_as_expected():
    exact = []
    for name, entry in ENTRIES.items():
        pairs, subject = (entry.options or {}).get("pairs"), entry.factory()
        if pairs is None or subject.distribution(pairs[0][0]) is None:
            continue
        exact.append(name)
        finding = found(name)
        assert finding.epsilon > min(0.1, 0.4 * subject.claim.epsilon), name
        assert finding.over == (entry.expected == "refuted"), name
        assert finding.within != finding.over, name
    assert len(exact) >= 11


@pytest.mark.parametrize("name", ["point-sanitizer", "point-sanitizer-proper", "interval-sanitizer"])
def test_an_exact_entry_over_one_bit_compares_every_pair_of_neighbouring_multisets(name):
    pairs = ENTRIES[name].options["pairs"]
    size = ENTRIES[name].factory().size
    assert {(sum(left), sum(right)) for left, right in pairs} == {(n, n - 1) for n in range(1, size + 1)}
    assert all(len(left) == len(right) == size for left, right in pairs)


def test_a_few_pairs_can_miss_what_all_pairs_show():
    subject = ENTRIES["point-sanitizer-proper"].factory()
    few = compare_pairs(swaps(0, 1, size=85, many=3), subject.distribution, subject.claim)
    assert few.epsilon < 0.5 * found("point-sanitizer-proper").epsilon


def test_a_listed_law_is_the_sum_over_all_vectors_of_counts():
    def largest(counts):
        return max(counts)

    first, second = [0.2, 0.3, 0.5], [0.6, 0.3, 0.1]
    expected = {0: 0.2 * 0.6, 1: 0.2 * 0.3 + 0.3 * 0.6 + 0.3 * 0.3}
    expected[2] = 1.0 - sum(expected.values())
    law = CountTable.of(largest, range(3), length=2).law([first, second])
    assert law == pytest.approx(expected, rel=1e-12)


def two_points(size, head, *, other):
    return [0] * head + [other] * (size - head)


@pytest.mark.parametrize("dimension", [1, 2, 33, 64])
def test_vectorised_runs_follow_the_exact_law_of_sequences(dimension):
    """The 30 likeliest sequences are tested in 4,000 runs, singly and pooled.

    Each test has a false alarm probability below 1e-8.
    """
    cuts = IntervalCuts(dimension=dimension, alpha=0.5, epsilon=2.0, delta=0.1)
    database = two_points(cuts.size, cuts.size // 5, other=2**dimension - 1)
    law = cuts.distribution(database)
    shown = Counter(cuts.sample(database, 4000, np.random.default_rng(11)))
    likely = [law.outcome(i) for i in np.argsort(-law.log_probabilities)[:30].tolist()]
    together = sum(shown[key] for key in likely), sum(law.pmf(key) for key in likely)
    assert together[1] > 0.8
    for times, mass in [together, *((shown[key], law.pmf(key)) for key in likely)]:
        assert stats.binomtest(times, 4000, min(1.0, mass)).pvalue > 1e-8


def test_runs_are_coupled_on_similar_databases():
    cuts = IntervalCuts(dimension=64, alpha=0.5)
    half = cuts.size // 2
    first, second = (two_points(cuts.size, head, other=7) for head in (half, half + 1))
    runs = [cuts.sample(database, 500, np.random.default_rng(2)) for database in (first, second)]
    assert math.expm1(cuts.spending.step / 2) < 0.05  # relative change of a choice by one swap
    assert sum(map(eq, *runs)) >= 440  # about 250 independent runs would agree


def test_the_mass_of_a_class_of_counts_is_the_sum_over_its_counts():
    single = clamped_geometric(9, 0.3, 0, 20)
    found = class_masses(9, 0.3, [4, 9, 10, 15])
    assert found == pytest.approx([part.sum() for part in np.split(single, [4, 9, 10, 15])], rel=1e-12)
    assert class_masses(1000, 1.0, [2, 5])[1] == pytest.approx(
        math.exp(-996) * (1 - math.exp(-3)) / (1 + math.exp(-1)), abs=1e-300
    )


def test_lumping_counts_into_classes_keeps_the_privacy_loss():
    point = PointSanitizer(dimension=1, epsilon=8.0, delta=0.1, alpha=0.5, beta=0.5, size=42)
    for head in (11, 21):
        pair = two_points(42, head, other=1), two_points(42, head - 1, other=1)
        lumped = LumpedPoints(of=point, told=(0, 1), edges=((head,), (42 - head + 1,)))
        for epsilon, delta in ((0.1, 1e-9), (0.5, 1e-9)):
            claim = ApproximateDP(epsilon, delta)
            whole, told = (compare_pairs([pair], s.distribution, claim) for s in (point, lumped))
            assert told.epsilon == pytest.approx(whole.epsilon, rel=1e-9)
            assert told.delta == pytest.approx(whole.delta, rel=1e-9)


@pytest.mark.parametrize("name", [name for name in ENTRIES if name.endswith("-64-lumped")])
def test_runs_at_64_bits_follow_the_lumped_law(name):
    subject, (left, _), *_ = ENTRIES[name].factory(), *ENTRIES[name].options["pairs"]
    law = subject.distribution(left)
    shown = Counter(subject.sample(left, 2000, np.random.default_rng(4)))
    for key in [law.outcome(i) for i in np.argsort(-law.log_probabilities)[:20].tolist()]:
        assert stats.binomtest(shown[key], 2000, min(1.0, law.pmf(key))).pvalue > 1e-9, key


@pytest.mark.parametrize("name", ["point-sanitizer-64-lumped", "interval-sanitizer-64-lumped"])
def test_the_64_bit_sanitizers_have_the_stated_budget_with_all_levels_of_rec(name):
    subject = ENTRIES[name].factory()
    assert subject.claim == ApproximateDP(1.0, 1e-6)
    assert subject.of.dimension == 64
    assert subject.size == subject.of.private_size
    assert 0.1 < found(name).epsilon < 1.0
    assert levels(64) == 1
