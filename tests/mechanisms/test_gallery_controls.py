"""The correct twins of the gallery's faults keep their claims.

Their runs follow the derived laws. Chi-square tests use significance 1e-9. The power of each test against the
flawed twin is checked too.
"""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from audit.errors import AuditError
from mechanisms import LabelResponse, NoisyCounts, SaturatingSum, ThresholdRelease, flawed

SIGNIFICANCE = 1e-9
RUNS = 20_000


def two_sided_geometric(k, rate):
    return math.tanh(rate / 2) * math.exp(-rate * abs(k))


def test_counts_carry_laplace_noise_of_the_scale_for_adding(agreement, power):
    subject, rng = NoisyCounts(), np.random.default_rng(101)
    outputs = np.array([subject([0, 2, 2], rng) for _ in range(RUNS)])
    flat = np.full(16, 1 / 16)
    for column, centre in enumerate((1, 0, 2)):
        edges = stats.laplace(loc=centre).ppf(np.arange(1, 16) / 16)
        counts = np.bincount(np.searchsorted(edges, outputs[:, column]), minlength=16)
        assert agreement(counts, flat) > SIGNIFICANCE
    # independent noise: two columns are both above their counts with probability 1/4
    both = int(((outputs[:, 0] > 1) & (outputs[:, 1] > 0)).sum())
    assert stats.binomtest(both, RUNS, 0.25).pvalue > SIGNIFICANCE
    half_noise = np.diff([0, *stats.laplace(scale=0.5).cdf(stats.laplace.ppf(np.arange(1, 16) / 16)), 1])
    assert power(half_noise, flat, RUNS) > 0.99


def test_counts_move_by_one_when_a_record_is_added_and_by_two_when_it_is_replaced():
    assert flawed.CountsUnderReplacing.__call__ is NoisyCounts.__call__
    for database in itertools.product(range(3), repeat=2):
        counts = [database.count(value) for value in range(3)]
        for value in range(3):
            added = [(*database, value).count(each) for each in range(3)]
            replaced = [(value, database[1]).count(each) for each in range(3)]
            assert sum(np.abs(np.subtract(added, counts))) == 1
            assert sum(np.abs(np.subtract(replaced, counts))) == (0 if value == database[0] else 2)


def test_a_saturating_sum_changes_by_at_most_its_upper_bound():
    values, subject = (-7, 0, 1, 27, 28, 99, 100, 250), SaturatingSum()
    for length in range(4):
        for database in itertools.product(values, repeat=length):
            before = subject.total(database)
            assert before == min(127, sum(min(max(value, 0), 100) for value in database))
            for place, value in itertools.product(range(length + 1), values):
                after = subject.total([*database[:place], value, *database[place:]])
                assert abs(after - before) <= 100


def test_a_saturating_sum_carries_geometric_noise(agreement, power):
    # rate 1/20 for upper = 20; the wrapping twin, with half the rate, would be detected
    subject, rng = SaturatingSum(upper=20), np.random.default_rng(102)
    noise = np.array([subject([5, 30], rng) for _ in range(RUNS)]) - 25
    cuts = np.arange(-60, 61, 10)
    cells = np.searchsorted(cuts, noise, side="left")
    points = np.arange(-3000, 3001)
    places = np.searchsorted(cuts, points, side="left")
    laws = [
        np.bincount(places, weights=[two_sided_geometric(int(k), rate) for k in points])
        for rate in (1 / 20, 1 / 40)
    ]
    assert agreement(np.bincount(cells, minlength=len(laws[0])), laws[0]) > SIGNIFICANCE
    assert power(laws[1], laws[0], RUNS) > 0.99


@pytest.mark.parametrize(("epsilon", "labels"), [(1.0, 3), (0.3, 2)])
def test_labels_are_kept_with_the_largest_probability_that_epsilon_allows(epsilon, labels, agreement, power):
    subject, rng = LabelResponse(epsilon=epsilon, labels=labels), np.random.default_rng(103)
    database = [("x", 0), ("y", 1)]
    outputs = [subject(database, rng) for _ in range(RUNS)]
    assert {tuple(feature for feature, _ in output) for output in outputs} == {("x", "y")}
    kept = math.exp(epsilon) / (math.exp(epsilon) + labels - 1)
    alone = [
        [kept if report == truth else (1 - kept) / (labels - 1) for report in range(labels)]
        for truth in (0, 1)
    ]
    law = np.outer(*alone).ravel()
    seen = Counter((a, b) for (_, a), (_, b) in outputs)
    counts = [seen[pair] for pair in itertools.product(range(labels), repeat=2)]
    assert sum(counts) == RUNS
    assert agreement(counts, law) > SIGNIFICANCE
    # Between two true labels the probability of a report changes by a factor of at most e^epsilon, which some
    # report reaches.
    ratios = np.log(np.divide(*alone))
    assert np.abs(ratios).max() == pytest.approx(epsilon, rel=1e-12)
    uniform = np.full(labels**2, labels**-2.0)
    assert power(uniform, law, RUNS) > 0.99


@pytest.mark.parametrize("kind", [ThresholdRelease, flawed.InclusiveThreshold])
def test_keys_are_published_with_the_probability_of_the_tail(kind, agreement):
    subject, rng = kind(threshold=2), np.random.default_rng(104)
    outputs = [subject(["b", "a", "b", "b"], rng) for _ in range(RUNS)]
    assert {key for output in outputs for key, _ in output} == {"a", "b"}
    least = 3 if kind is ThresholdRelease else 2
    for key, count in (("a", 1), ("b", 3)):
        values = [dict(output).get(key) for output in outputs]
        shown = range(least, least + 8)
        law = [two_sided_geometric(value - count, 1.0) for value in shown]
        beyond = math.exp(-(least + 8 - count)) / (1 + math.exp(-1))
        counts = [values.count(value) for value in shown]
        counts += [sum(value is not None and value >= least + 8 for value in values), values.count(None)]
        assert sum(counts) == RUNS
        assert agreement(counts, [*law, beyond, 1 - sum(law) - beyond]) > SIGNIFICANCE


def test_the_delta_of_a_threshold_is_that_of_the_first_record():
    # Pr[1 + Z > 5] = Pr[Z ≥ 5], summed term by term
    tail = sum(two_sided_geometric(k, 1.0) for k in range(5, 200))
    assert ThresholdRelease().delta == pytest.approx(tail, rel=1e-12)
    assert ThresholdRelease().delta == pytest.approx(0.0049258, abs=5e-8)
    reached = sum(two_sided_geometric(k, 1.0) for k in range(4, 200))
    assert reached == pytest.approx(0.01339, abs=5e-6)
    assert flawed.InclusiveThreshold().claim == ThresholdRelease().claim


@pytest.mark.parametrize(
    "make",
    [
        lambda: NoisyCounts(categories=0),
        lambda: SaturatingSum(upper=200),
        lambda: LabelResponse(labels=1),
        lambda: ThresholdRelease(threshold=0),
        lambda: flawed.OneEndSquares(lower=1.0),
        lambda: flawed.SwappedShares(dimension=0),
        lambda: flawed.ShuffledBatches(delta=0.0),
        lambda: flawed.WrappingSum(upper=128),
    ],
)
def test_parameters_out_of_range_are_refused_in_one_line(make):
    with pytest.raises(AuditError, match=r"^The `\w+` of `\w+` must be [^\n]*; got [^\n]*\.$"):
        make()
