"""Pure learners of points and thresholds: sizes, hash maps and laws."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from audit import Verdict, audit_privacy, audit_utility
from audit.claims import PureDP
from audit.errors import InvalidValue
from audit.laws.exact import compare_pairs
from audit.results.result import Evidence
from learners.approximate import LumpedLearner, NumberSource
from learners.approximate.hard import point_problems
from learners.concepts import IntervalClass, PointClass
from learners.generic.agnostic import GenericLearner
from learners.pure import (
    HashedPoint,
    HashedPointLearner,
    PureIntervalLearner,
    PurePointLearner,
    hashed_size,
    pure_size,
)
from learners.pure.groups import GroupedChoice
from learners.pure.hashed import hashed_bits
from mechanisms.concave.piecewise import StepFunction

LAST = 2**64 - 1
PAIRS = [(PurePointLearner, PointClass), (PureIntervalLearner, IntervalClass)]


@pytest.mark.parametrize(("kind", "concepts"), PAIRS)
def test_the_grouped_law_matches_the_generic_learner(kind, concepts):
    rng = np.random.default_rng(0)
    generic = GenericLearner(concepts=concepts(4), epsilon=0.7)
    for size in (0, 1, 5, 40):
        records = [(int(rng.integers(16)), int(rng.integers(2))) for _ in range(size)]
        ours, theirs = kind(dimension=4, epsilon=0.7).distribution(records), generic.distribution(records)
        outcomes = list(theirs.support())
        assert [ours.pmf(j) for j in outcomes] == pytest.approx([theirs.pmf(j) for j in outcomes], abs=1e-12)


def test_the_choice_within_a_group_is_uniform_at_64_bits():
    """Kolmogorov–Smirnov test at significance 1e-8.

    The draws reach the far end of the range.
    """
    choice = GroupedChoice(StepFunction([0, 2**63], [0.0, 1.0], top=2**64), epsilon=2.0)
    drawn = choice.sample(20_000, np.random.default_rng(2))
    upper = np.array([float(j - 2**63) / 2**63 for j in drawn if j >= 2**63])
    share = math.e / (1 + math.e)
    assert abs(len(upper) / 20_000 - share) < 6 * math.sqrt(share * (1 - share) / 20_000)
    assert stats.kstest(upper, "uniform").pvalue > 1e-8
    assert all(0 <= j <= 2**64 for j in drawn)


def test_the_mass_of_a_range_is_the_sum_of_its_numbers():
    choice = GroupedChoice(StepFunction([0, 3, 9], [0.0, 2.0, 1.0], top=12), epsilon=1.0)
    by_hand = math.fsum(math.exp(choice.log_probability(j)) for j in range(2, 11))
    assert math.exp(choice.log_mass(2, 10)) == pytest.approx(by_hand, rel=1e-12)
    assert math.exp(choice.log_mass(0, 12)) == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("kind", [PurePointLearner, PureIntervalLearner])
def test_the_proper_learners_keep_their_claim_on_all_samples(kind):
    assert audit_privacy(kind(size=2), budget=16_000).verdict is Verdict.PROVED
    assert audit_privacy(kind(size=2), PureDP(0.6), budget=2_000).verdict is Verdict.REFUTED


def test_at_64_bits_the_loss_comes_close_to_epsilon():
    """One score falls by 1 and another rises by 1.

    Each of these changes moves the odds by e^(1/2), because all other outputs have nearly all the weight.
    """
    lumped = LumpedLearner(of=PurePointLearner(dimension=64, points=(0, LAST), size=2))
    result = audit_privacy(lumped, budget=2_000)
    assert result.evidence is Evidence.EXACT
    assert result.epsilon_upper <= 1.0 + 1e-9
    assert result.epsilon_lower == pytest.approx(1.0, abs=1e-9)


def test_the_size_is_the_smallest_by_its_bound_and_grows_with_d():
    for d in (8, 64):
        m = pure_size(2**d, alpha=0.1, beta=0.1, epsilon=1.0)
        bound = [2.0**d * (1 - 0.1 + 0.1 * math.exp(-0.5)) ** size for size in (m, m - 1)]
        assert bound[0] <= 0.1 < bound[1]
    per_bit = math.log(2) / -math.log(1 - 0.1 * (1 - math.exp(-0.5)))
    grown = pure_size(2**64, alpha=0.1, beta=0.1, epsilon=1.0) - pure_size(
        2**8, alpha=0.1, beta=0.1, epsilon=1.0
    )
    assert grown == pytest.approx(56 * per_bit, abs=1.01)


@pytest.mark.parametrize("kind", [PurePointLearner, PureIntervalLearner, HashedPointLearner])
def test_the_accuracy_claim_is_met_at_64_bits_and_refuted_on_a_fifth_of_the_sample(kind):
    learner = kind(dimension=64)
    assert audit_utility(learner, problems=learner.problems()[:2], exact=False).verdict is Verdict.NOT_REFUTED
    few = [type(p)(p.name, p.source, p.target, learner.sample_size() // 8) for p in learner.problems()[:4]]
    assert audit_utility(learner, problems=few, exact=False).verdict is Verdict.REFUTED


# The hash.


def test_a_predictor_evaluates_its_parities_and_counts_its_ones():
    for rows in product(range(8), repeat=2):
        for bucket in range(4):
            predictor = HashedPoint(rows, bucket, 3)
            bits = [bucket >> 1, bucket & 1]
            ones = [x for x in range(8) if [(x & row).bit_count() % 2 for row in rows] == bits]
            assert [x for x in range(8) if predictor(x)] == ones
            assert predictor.count == len(ones)


def test_the_error_of_a_predictor_is_the_mass_of_its_mistakes():
    source = NumberSource(3, ((0, 0.25), (5, 0.125)), spread=True)
    for rows, bucket, target in product([(1, 2), (3, 3), (0, 7)], range(4), range(8)):
        predictor = HashedPoint(rows, bucket, 3)
        by_hand = math.fsum(source.at(x) for x in range(8) if predictor(x) != (x == target))
        assert predictor.error_on(source, target) == pytest.approx(by_hand, abs=1e-12)


def test_random_maps_are_universal():
    """Over all maps A, Pr[Ax = Ay] = 2^(−l) for every x ≠ y."""
    from learners.pure.hashed import parities

    numbers = np.arange(8, dtype=np.uint64)
    hashed = np.array([parities(numbers, rows) for rows in product(range(8), repeat=2)])
    for x, y in product(range(8), range(8)):
        assert (hashed[:, x] == hashed[:, y]).mean() == (1.0 if x == y else 0.25)


def test_the_hashed_learner_is_private_over_all_maps():
    """The loss is taken over every map from 2 bits to 1 bit, by the exact law.

    The law is that of (map, bucket), on every sample of 2 examples.
    """
    learner = HashedPointLearner(dimension=2, bits=1, size=2)
    databases = list(product(learner.records, repeat=2))
    pairs = [(a, b) for a, b in product(databases, databases) if sum(map(tuple.__ne__, a, b)) == 1]
    assert compare_pairs(pairs, learner.distribution, learner.claim).within
    assert compare_pairs(pairs, learner.distribution, PureDP(0.3)).over


def test_a_bucket_has_the_law_of_the_exponential_mechanism_over_predictors():
    learner = HashedPointLearner(dimension=3, bits=2, epsilon=0.9)
    records, rows = [(1, 1), (1, 1), (6, 0), (3, 0), (0, 1)], (0b101, 0b011)
    errors = np.array([sum(HashedPoint(rows, b, 3)(x) != y for x, y in records) for b in range(4)])
    weights = np.exp(-0.45 * errors)
    expected = (weights / weights.sum()).tolist()
    choice = learner.choice(records, rows)
    assert np.exp(choice.log_probabilities(range(4))).tolist() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.5, 6.0, 20.0, 700.0])
def test_the_hashed_size_grows_neither_with_d_nor_with_epsilon(epsilon):
    told = {"alpha": 0.1, "beta": 0.1}
    assert len({hashed_size(d, epsilon=epsilon, **told) for d in (24, 32, 48, 64)}) == 1
    assert hashed_size(64, epsilon=epsilon, **told) <= hashed_size(64, epsilon=epsilon / 2, **told)


def test_at_a_large_epsilon_the_hashed_learner_keeps_its_claims():
    learner = HashedPointLearner(dimension=64, epsilon=40.0)
    assert learner.sample_size() == HashedPointLearner(dimension=64, epsilon=6.0).sample_size()
    result = audit_utility(learner, problems=learner.problems()[:2], budget=4_000)
    assert result.verdict is Verdict.NOT_REFUTED


def test_the_hashed_size_equals_its_bound_and_grows_with_log_alpha_and_not_with_d():
    sizes = {hashed_size(d, alpha=0.1, beta=0.1, epsilon=1.0) for d in (15, 20, 40, 64)}
    assert len(sizes) == 1
    bits, m = hashed_bits(64, alpha=0.1, beta=0.1, epsilon=1.0)
    theta = 2 / (0.01 * 2**bits)
    base = 1 - 0.1 * (1 - math.exp(-0.5)) + theta * 0.1 * (math.exp(0.5) - 1)
    assert 2.0**bits * base**m <= 0.05 < 2.0**bits * base ** (m - 1)
    assert theta <= 1


def test_a_hash_of_too_few_bits_claims_no_accuracy():
    learner = HashedPointLearner(dimension=64, bits=1)
    assert learner.utility_claim is None
    assert learner.problems() == []
    told = HashedPointLearner(dimension=64)
    blunt = audit_utility(
        learner, told.utility_claim, problems=point_problems(64, alpha=0.1, size=308), exact=False
    )
    assert blunt.verdict is Verdict.REFUTED


@pytest.mark.parametrize("kind", [PurePointLearner, PureIntervalLearner, HashedPointLearner])
@pytest.mark.parametrize("record", [(16, 1), (-1, 0), (1, 2), (0.5, 1)])
def test_invalid_examples_are_refused(kind, record):
    with pytest.raises(InvalidValue, match=kind.__name__):
        kind(dimension=4)([record], np.random.default_rng(0))


@pytest.mark.parametrize("kind", [PurePointLearner, PureIntervalLearner, HashedPointLearner])
@pytest.mark.parametrize("keywords", [{"dimension": 4097}, {"epsilon": 0}, {"alpha": 1.0}, {"beta": 0}])
def test_parameters_out_of_range_are_refused(kind, keywords):
    with pytest.raises(InvalidValue):
        kind(**keywords)
