"""The parts of sanitizers, and the learner built from a sanitizer."""

import math
import re

import numpy as np
import pytest
from scipy import stats

from audit import Verdict, audit_privacy, audit_utility
from audit.claims import ApproximateDP, PureDP
from audit.errors import InvalidKind, InvalidValue
from learners.concepts import ExplicitClass, IntervalClass, PointClass
from learners.findings.sanitizers import FINDINGS
from learners.sanitizers import GenericSanitizer, SanitizingLearner
from learners.sanitizers.cuts.dyadic import DyadicTree, Remaining
from learners.sanitizers.noise import clamped_geometric, straying
from learners.sanitizers.reduction import transfer_size
from learners.sanitizers.rounding import completed, rounded
from learners.sanitizers.tallies import tally
from mechanisms.noise.noises import GeometricNoise

SIGNIFICANCE = 1e-7


def test_the_error_is_the_maximum_over_all_concepts():
    rng = np.random.default_rng(0)
    points, intervals = PointClass(4), IntervalClass(4)
    for _ in range(100):
        database = rng.integers(0, rng.integers(1, 17), 20).tolist()
        other = rng.integers(0, 16, rng.integers(1, 9)).tolist()
        seen = tally(database, dimension=4, owner="test")
        for concepts, found in (
            (points, seen.point_error({p: other.count(p) / len(other) for p in other})),
            (intervals, seen.interval_error(other)),
        ):
            expected = np.abs(
                concepts.table(database).mean(axis=1) - concepts.table(other).mean(axis=1)
            ).max()
            assert found == pytest.approx(expected, abs=1e-12)


def test_completed_shares_keep_named_points_within_twice_the_error_and_others_below_the_cap():
    rng = np.random.default_rng(1)
    for _ in range(300):
        domain, cap, error = (
            int(rng.integers(2, 12)),
            float(rng.uniform(0.05, 0.5)),
            float(rng.uniform(0, 0.2)),
        )
        truth = rng.dirichlet(np.full(domain, rng.choice([0.1, 1.0, 10.0])))
        named = [p for p in range(domain) if truth[p] > cap or rng.random() < 0.2]
        given = {
            p: float(np.clip(truth[p] + rng.choice([-1, 1, rng.uniform(-1, 1)]) * error, 0, 1)) for p in named
        }
        others = [p for p in range(domain) if p not in given]
        shares = completed(given, cap=cap, unnamed=len(others), others=others)
        assert math.fsum(shares.values()) == pytest.approx(1.0)
        for point in range(domain):
            off = abs(shares.get(point, 0.0) - truth[point])
            assert off <= (2 * error if point in given else cap) + 1e-9


def test_rounding_moves_no_cumulative_share_by_more_than_half_a_record():
    rng = np.random.default_rng(2)
    for _ in range(100):
        shares = rng.dirichlet(np.ones(rng.integers(1, 9)))
        cumulative = np.minimum(np.cumsum(shares), 1.0)
        cumulative[-1] = 1.0
        size = int(rng.integers(1, 20))
        database = rounded(range(len(shares)), cumulative, size=size)
        told = [sum(p <= i for p in database) / size for i in range(len(shares))]
        assert len(database) == size
        assert np.abs(np.array(told) - cumulative).max() <= 0.5 / size + 1e-12


@pytest.mark.parametrize("dimension", [1, 5, 64])
def test_counts_of_dyadic_intervals_are_right_after_any_removal(dimension):
    rng = np.random.default_rng(dimension)
    top = 2**dimension - 1
    for _ in range(20):
        records = [min(top, int(rng.integers(0, 40)) << int(rng.integers(0, dimension))) for _ in range(30)]
        tree = DyadicTree(tally(records, dimension=dimension, owner="test"), dimension)
        left, alive = Remaining(tree), list(records)
        for _ in range(4):
            level = int(rng.integers(0, dimension + 1))
            taken = left.take(level, int(rng.integers(0, len(left.counts(level)))))
            alive = [x for x in alive if not taken.low <= x <= taken.high]
            expected = [
                max([sum(x >> j == y >> j for x in alive) for y in alive], default=0)
                for j in range(dimension + 1)
            ]
            assert left.highest().tolist() == expected


def test_clamped_noise_is_the_discrete_laplace_law_with_its_tails_at_the_ends():
    law, rate = clamped_geometric(3, 0.4, -2, 9), 0.4
    noise = stats.dlaplace(rate, loc=3)
    expected = [noise.cdf(-2), *(noise.pmf(k) for k in range(-1, 9)), noise.sf(8)]
    assert law == pytest.approx(expected, rel=1e-9)


def test_the_bound_covers_the_tail_of_sums_computed_by_convolution():
    rate, terms = 0.5, 6
    one = stats.dlaplace(rate).pmf(np.arange(-200, 201))
    law = one
    for _ in range(terms - 1):
        law = np.convolve(law, one)
    places = np.arange(len(law)) - len(law) // 2
    for distance in (5, 20, 40, 80):
        tail = law[np.abs(places) > distance].sum()
        assert tail <= straying(distance, terms=terms, rate=rate) <= 1.0
    assert straying(80, terms=terms, rate=rate) < 1e-8


CLASSES = [IntervalClass(2), PointClass(2), ExplicitClass("abc", [[0, 0, 0], [0, 1, 1], [1, 1, 0]])]


@pytest.mark.parametrize("concepts", CLASSES)
def test_the_pure_sanitizer_has_the_law_of_the_exponential_mechanism_by_hand(concepts):
    made = GenericSanitizer(epsilon=1.5, alpha=0.5, concepts=concepts)
    rng = np.random.default_rng(4)
    names = list(made.records)
    database = [names[i] for i in rng.integers(0, len(names), 9).tolist()]
    law = made.distribution(database)
    weights = {}
    for i in range(len(law.log_probabilities)):
        small = law.outcome(i)
        worst = max(
            abs(np.mean(concepts.says(c, database)) - np.mean(concepts.says(c, list(small))))
            for c in concepts.concepts
        )
        weights[small] = math.exp(-1.5 / 2 * len(database) * worst)
    for small, weight in weights.items():
        assert law.pmf(small) == pytest.approx(weight / sum(weights.values()), rel=1e-9)


@pytest.mark.parametrize("concepts", CLASSES)
def test_some_small_database_is_within_half_of_alpha_and_the_failure_within_beta(concepts):
    made = GenericSanitizer(alpha=0.25, concepts=concepts)
    rng = np.random.default_rng(6)
    m, names = made.sample_size(), list(made.records)
    for _ in range(20):
        shares = rng.dirichlet(np.full(len(names), 0.5))
        database = [names[i] for i in rng.choice(len(names), m, p=shares).tolist()]
        errors = made.worst_errors(database)
        assert errors.min() <= made.alpha / 2
        assert np.exp(made.log_probabilities(database))[errors > made.alpha].sum() <= made.beta


def test_the_pure_claims_are_proved_on_all_databases_of_a_size():
    made = GenericSanitizer(epsilon=2.0, alpha=0.5, size=2)
    result = audit_privacy(made, budget=20_000)
    assert result.verdict is Verdict.PROVED
    assert 1.0 < result.epsilon_lower <= 2.0
    learner = SanitizingLearner(epsilon=1.0, alpha=0.25, size=1)
    assert audit_privacy(learner, budget=20_000).verdict is Verdict.PROVED


def test_bad_domains_and_records_are_refused():
    with pytest.raises(InvalidValue, match="at most 262144"):
        GenericSanitizer(alpha=0.1, concepts=IntervalClass(5))
    for wrong in ([], [4], ["a"]):
        with pytest.raises(InvalidValue, match="points of its domain"):
            GenericSanitizer(alpha=0.5).distribution(wrong)


def test_the_law_of_the_learner_is_the_mapped_law_of_the_sanitizer():
    learner = SanitizingLearner(epsilon=1.0, alpha=0.25)
    database = [(0, 1)] * 5 + [(1, 0)] * 4 + [(1, 1)] * 2
    inner, expected = learner.sanitizer.distribution(database), dict.fromkeys((0, 1, 2), 0.0)
    for i, log in enumerate(inner.log_probabilities.tolist()):
        expected[learner.best(inner.outcome(i))] += math.exp(log)
    law = learner.distribution(database)
    assert [law.pmf(c) for c in (0, 1, 2)] == pytest.approx([expected[c] for c in (0, 1, 2)], rel=1e-9)


def test_the_learner_guarantees_more_than_theorem_5():
    learner = SanitizingLearner(epsilon=4.0, alpha=0.25)
    assert learner.utility_claim.alpha == pytest.approx(3 * 0.25 + 2 * 0.05)
    assert learner.own_claim.alpha == 0.75
    assert audit_utility(learner, learner.own_claim).verdict is Verdict.NOT_REFUTED


def test_enough_examples_transfer_training_errors_by_the_exact_binomial():
    t = transfer_size(3, low=0.25, high=0.375, beta=0.05)
    assert 3 * stats.binom.cdf(0.25 * t, t, 0.375) <= 0.05
    assert 3 * stats.binom.cdf(0.25 * (t // 6), t // 6, 0.375) > 0.05


@pytest.mark.parametrize("name", ["BNS Theorem 3", "BNS Theorem 5"])
def test_findings_compare_the_texts_with_the_code(name):
    found = FINDINGS[name]()
    if name == "BNS Theorem 3":
        assert found.ratio is None  # the text gives only an order of growth
        for alpha, *_, order, _, ours, ratio, _, _, _ in found.tables[0].rows:
            printed = math.sqrt(math.log(1e6)) * math.log(1e6 / (alpha * 0.1)) / alpha**1.5
            assert (order, ratio) == pytest.approx((printed, ours / printed))
        slope = float(re.findall(r"like α\^\(−([\d.]+)\)", found.shown)[-1])
        assert 1.5 < slope < 1.7  # the exponent 3/2, and a little more from the logarithm
        assert all(row[-1] <= 1.0 for row in found.tables[0].rows)
    else:
        assert found.claimed - found.found == pytest.approx(2 * 0.05)
        assert all(row[-1] <= 0.1 for row in found.tables[0].rows)


@pytest.mark.parametrize("wrong", [[], [(0, 2)], [(2, 0)], [0], [(0, 1), None]])
def test_the_learner_by_sanitizing_names_itself_in_errors_about_examples(wrong):
    learner = SanitizingLearner(epsilon=1.0, alpha=0.25)
    for asked in (lambda: learner(wrong, np.random.default_rng(0)), lambda: learner.distribution(wrong)):
        with pytest.raises(InvalidValue, match=r"`SanitizingLearner` must hold examples \(x, y\)") as refusal:
            asked()
        assert "GenericSanitizer" not in str(refusal.value)


def test_the_learner_by_sanitizing_names_itself_in_errors_about_parameters():
    with pytest.raises(InvalidValue, match="`size` of `SanitizingLearner`"):
        SanitizingLearner(size=0)
    with pytest.raises(InvalidValue, match="small databases of `SanitizingLearner`"):
        SanitizingLearner(alpha=0.05, concepts=IntervalClass(4))


class Wrapped:
    """A sanitizer with only the properties that Theorem 5 requires."""

    def __init__(self, inner, claim=None):
        self.inner, self.claim = inner, claim or inner.claim
        self.alpha, self.beta, self.sample_size = inner.alpha, inner.beta, inner.sample_size
        self.estimate, self.distribution = inner.estimate, inner.distribution

    def __call__(self, database, rng):
        return self.inner(database, rng)


def test_any_sanitizer_of_the_error_class_makes_a_learner():
    default = SanitizingLearner(epsilon=1.0, alpha=0.25)
    claim = ApproximateDP(1.0, 1e-6)
    learner = SanitizingLearner(epsilon=9.0, sanitizer=Wrapped(default.sanitizer, claim))
    assert (learner.claim, learner.epsilon, learner.alpha) == (claim, 1.0, 0.25)
    assert learner.sample_size() == default.sample_size()
    database = [(0, 1)] * 5 + [(1, 0)] * 4 + [(1, 1)] * 2
    law, expected = learner.distribution(database), default.distribution(database)
    assert [law.pmf(c) for c in (0, 1, 2)] == pytest.approx([expected.pmf(c) for c in (0, 1, 2)], rel=1e-9)
    drawn = learner.sample(database, 400, np.random.default_rng(4))
    for concept in (0, 1, 2):
        assert stats.binomtest(drawn.count(concept), 400, expected.pmf(concept)).pvalue > 1e-7


class Counted:
    """An improper sanitizer for C^label, which counts all (x, y).

    The counts have two-sided geometric noise.
    """

    claim, alpha, beta, sample_size = PureDP(1.0), 0.1, 0.05, 200

    def __call__(self, database, rng):
        noise = GeometricNoise(0.5).sample(4, rng).tolist()
        pairs = [(x, y) for x in (0, 1) for y in (0, 1)]
        return {pair: database.count(pair) + extra for pair, extra in zip(pairs, noise, strict=True)}

    def estimate(self, output, concept):
        wrong = [output[x, y] for x in (0, 1) for y in (0, 1) if int(x < concept) != y]
        return sum(wrong) / 200


def test_an_improper_sanitizer_makes_a_proper_learner_without_a_law():
    learner = SanitizingLearner(sanitizer=Counted())
    assert learner.distribution([(0, 1)] * 200) is None
    problem = [(0, 1)] * 100 + [(1, 0)] * 100
    assert learner.sample(problem, 50, np.random.default_rng(0)) == [1] * 50
    assert learner.utility_claim.alpha == pytest.approx(0.3 + 0.1)


@pytest.mark.parametrize("wrong", [7, Wrapped(GenericSanitizer(), "private")])
def test_an_invalid_sanitizer_is_refused_in_one_line(wrong):
    with pytest.raises(InvalidKind, match="`sanitizer` of `SanitizingLearner` must have") as refusal:
        SanitizingLearner(sanitizer=wrong)
    assert "\n" not in str(refusal.value)
