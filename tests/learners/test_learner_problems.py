"""The search proposes only problems that the claims cover.

Samples stored as numbers are valid samples.
"""

import copy
import itertools
import pickle
import warnings

import numpy as np
import pytest
from scipy import stats

from audit import audit_privacy
from audit.claims import PAC
from audit.results.result import Verdict
from audit.utility.front import audit_utility
from learners.by_queries.centres import KMeansQueries
from learners.by_queries.clusters import cluster_problems, is_steady, lloyd, random_clusters
from learners.by_queries.conjunctions import ConjunctionLearner
from learners.by_queries.perceptron import PerceptronQueries
from learners.by_queries.separable import mistakes, random_separable, separable_problems
from learners.concepts import ConjunctionClass, IntervalClass
from learners.finite.at_size import at_size
from learners.finite.hypotheses import Hypotheses
from learners.finite.listed import LateExamples, ListedExamples, label_counts, spread
from learners.finite.problems import LearningProblem
from learners.finite.proposals import random_problem, varied_problem
from learners.finite.tables import TruthTable
from learners.generic.agnostic import GenericLearner, VCLearner
from learners.generic.compression import CompressionLearner
from learners.generic.labels import LabelPrivateLearner
from learners.masked import MaskedParityLearner
from learners.parity.sources import random_problem as random_parity
from mechanisms.queries import AdversarialOracle, Population

INTERVALS = Hypotheses.of(IntervalClass(3))
ADVERSARIES = ["up", "down", "towards-zero", "away-from-zero", "alternating"]


def chain(first, near, rng, *, steps=30):
    found = [first]
    for _ in range(steps):
        found.append(near(found[-1], rng))
    return found


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("noisy", [False, True])
def test_proposed_problems_have_a_target_in_the_class_unless_labels_may_be_noisy(seed, noisy):
    rng = np.random.default_rng(seed)
    first = random_problem(INTERVALS, rng, alpha=0.1, examples=7, noisy=noisy)
    for problem in chain(first, lambda one, rng: varied_problem(one, rng, noisy=noisy), rng):
        assert problem.law.shape == (8, 2)
        assert (problem.law >= 0).all()
        assert problem.law.sum() == pytest.approx(1.0)
        assert problem.examples == 7
        assert len(problem.name) < 120
        assert noisy or problem.optimum == pytest.approx(0.0, abs=1e-12)


def test_some_proposed_problems_have_noise_or_another_target():
    rng = np.random.default_rng(1)
    problems = [random_problem(INTERVALS, rng, alpha=0.1, examples=7, noisy=True) for _ in range(50)]
    optima = [problem.optimum for problem in problems]
    assert min(optima) == pytest.approx(0.0, abs=1e-12)
    assert max(optima) > 0.1
    assert len({problem.name.split(",")[0] for problem in problems}) > 4


def test_a_random_rival_may_be_just_above_or_just_below_alpha():
    rng = np.random.default_rng(2)
    problems = [random_problem(INTERVALS, rng, alpha=0.1, examples=7) for _ in range(100)]
    near = [problem for problem in problems if "rival near alpha" in problem.name]
    risks = np.concatenate([problem.risks for problem in near])
    assert ((risks > 0.1) & (risks <= 0.15 + 1e-12)).any()
    assert ((risks >= 0.08 - 1e-12) & (risks < 0.1)).any()


def agrees(times, shares):
    """Return whether counts fit the probabilities `shares`.

    This is a chi-square test at significance 1e-7.
    """
    return stats.chisquare(times, np.sum(times) * np.asarray(shares)).pvalue > 1e-7


def seen(true, shares, size):
    """Return the probability that `agrees` rejects `shares` under `true`."""
    excess = size * sum((p - q) ** 2 / q for p, q in zip(true, shares, strict=True))
    degrees = len(shares) - 1
    return stats.ncx2.sf(stats.chi2.isf(1e-7, degrees), degrees, excess)


def test_a_sample_stored_as_numbers_has_the_law_of_the_problem():
    """A mass of 0.015 moved to another record is detected with probability 99.9 %."""
    law = np.array([[0.5, 0.0], [0.1, 0.15], [0.0, 0.25]])
    rows = Hypotheses.of_rows([[0, 0, 1], [0, 1, 1]], domain="abc")
    sample = LearningProblem("three", rows, law, 40_000).draw(np.random.default_rng(0))
    times = np.array([sum(one == record for one in sample) for record in rows.records])
    shares = law.ravel()
    assert set(times[shares == 0]) == {0}
    shares, times = shares[shares > 0], times[shares > 0]
    assert agrees(times, shares)
    assert seen(np.add(shares, [0.0, 0.0, 0.015, -0.015]), shares, 40_000) > 0.999


@pytest.mark.parametrize(
    "learner",
    [
        GenericLearner(concepts=IntervalClass(2), alpha=0.3),
        VCLearner(concepts=IntervalClass(2), alpha=0.3),
        LabelPrivateLearner(),
        ConjunctionLearner(dimension=2),
        CompressionLearner(concepts=ConjunctionClass(2), alpha=0.4),
        MaskedParityLearner(dimension=2),
    ],
    ids=lambda learner: learner.name,
)
def test_a_sample_as_numbers_equals_the_same_sample_as_a_list(learner):
    sample = learner.random(np.random.default_rng(3)).draw(np.random.default_rng(4))
    assert isinstance(sample, ListedExamples | LateExamples)
    travelled = pickle.loads(pickle.dumps(sample))
    laws = [learner.distribution(database) for database in (sample, travelled, list(sample))]
    for law in laws[1:]:
        assert list(law.outcomes) == list(laws[0].outcomes)
        np.testing.assert_allclose(law.log_probabilities, laws[0].log_probabilities)
    outputs = [learner(database, np.random.default_rng(5)) for database in (sample, list(sample))]
    assert outputs[0] == outputs[1]


def test_counts_follow_the_order_of_the_samples_own_records():
    rows = Hypotheses.of_rows([[0, 1], [1, 1]], domain="ab")
    turned = ListedExamples(tuple(reversed(rows.records)), np.array([0, 0, 3]))
    counts = label_counts(rows, turned, owner="It")
    assert counts.ones.tolist() == [0.0, 2.0]
    assert counts.zeros.tolist() == [1.0, 0.0]


@pytest.mark.parametrize(("start", "stop"), [(0, None), (0, 5_000), (5_000, 16_000), (7, 7)])
def test_counting_a_range_equals_counting_the_slice(start, stop):
    rows = Hypotheses.of_rows([[0, 1], [1, 1]], domain="ab")
    late = LateExamples(rows.records, np.array([0.1, 0.4, 0.7, 1.0]), 20_000, seed=8)
    for database in (late, late[:], list(late)):
        some = label_counts(rows, database, owner="It", start=start, stop=stop)
        part = rows.counts(list(late)[start:stop])
        assert some.zeros.tolist() == part.zeros.tolist()
        assert some.ones.tolist() == part.ones.tolist()


def test_a_long_sample_is_drawn_lazily_and_has_the_law_of_the_problem():
    """A mass of 0.025 moved to another record is detected with probability 99.9 %."""
    rows = Hypotheses.of_rows([[0, 1], [1, 1]], domain="ab")
    problem = LearningProblem("two", rows, np.array([[0.2, 0.3], [0.0, 0.5]]), 16_384)
    sample = problem.draw(np.random.default_rng(5))
    assert isinstance(sample, LateExamples)
    times = np.array([list(sample).count(record) for record in rows.records])
    assert times[2] == 0
    shares = np.array([0.2, 0.3, 0.5])
    assert agrees(times[[0, 1, 3]], shares)
    assert seen(np.add(shares, [0.025, -0.025, 0.0]), shares, 16_384) > 0.999


@pytest.mark.parametrize("points", [1, 8, 63, 64, 65, 130])
def test_the_first_hypothesis_of_each_labelling_is_kept(points):
    rng = np.random.default_rng(points)
    labels = rng.random((60, points)) < 0.5
    labels[rng.integers(60, size=40)] = labels[rng.integers(60, size=40)]
    labels[-1] = labels[0]
    labels[-1, -1] ^= True  # two labellings that differ only in the last point
    first = {}
    for place, row in enumerate(labels.tolist()):
        first.setdefault(tuple(row), place)
    assert TruthTable.of(labels).dichotomies().tolist() == sorted(first.values())


def test_lazy_records_do_not_depend_on_how_they_are_read():
    late = LateExamples("abc", np.array([0.2, 0.5, 1.0]), 30_000, seed=7)
    again = LateExamples("abc", np.array([0.2, 0.5, 1.0]), 30_000, seed=7)
    whole = list(late[:])
    assert [again[place] for place in (29_999, 0, 8_192, -1)] == [
        whole[place] for place in (29_999, 0, 8_192, -1)
    ]
    assert list(again[8_000:17_000]) == whole[8_000:17_000]
    assert list(again[100:20_000:501]) == whole[100:20_000:501]
    assert list(again[20_000:100:-501]) == whole[20_000:100:-501]
    assert list(copy.deepcopy(again)) == whole
    assert len(again[5:5]) == 0
    with pytest.raises(IndexError):
        again[30_000]
    for letter, share in zip("abc", (0.2, 0.3, 0.5), strict=True):
        # the tolerance is about seven standard deviations
        assert abs(whole.count(letter) / 30_000 - share) < 0.02


def test_a_function_of_records_is_evaluated_once_for_each_kind():
    seen = []

    def length(words):
        seen.append(len(words))
        return np.array([len(word) for word in words])

    some = ListedExamples(["a", "bb"], np.array([1, 0, 1, 1]))
    assert spread(length, some).tolist() == spread(length, list(some)).tolist() == [2, 1, 2, 2]
    assert seen == [2, 4]


@pytest.mark.parametrize("dimension", [1, 2, 4])
@pytest.mark.parametrize("margin", [0.3, 0.9])
def test_separable_problems_keep_their_margin_and_the_perceptron_learns_them_from_every_oracle(
    dimension, margin
):
    rng = np.random.default_rng(6)
    problems = separable_problems(dimension, alpha=0.2, margin=margin, examples=5)
    problems += [random_separable(dimension, margin=margin, examples=5, rng=rng) for _ in range(5)]
    for problem in [*problems, *chain(problems[0], lambda one, rng: one.varied(rng), rng, steps=10)]:
        signed, _ = mistakes(problem.records, problem.normal)
        assert (signed @ np.array(problem.normal) >= margin - 1e-9).all()
        assert (np.linalg.norm(signed, axis=1) <= 1 + 1e-9).all()
        assert problem.error(problem.normal, None) == 0.0
        population = Population(list(problem.records), np.array(problem.weights))
        for adversary in ADVERSARIES:
            learner = PerceptronQueries(dimension, alpha=0.2, margin=margin)
            assert problem.error(learner.learn(AdversarialOracle(population, adversary)), None) <= 0.2


def test_one_round_does_not_learn_a_far_side_just_above_alpha():
    problem = next(
        it for it in separable_problems(2, alpha=0.1, margin=0.3, examples=5) if "just above" in it.name
    )
    signed, _ = mistakes(problem.records, problem.normal)
    mean = tuple((np.array(problem.weights) @ signed).tolist())
    assert problem.error(mean, None) == pytest.approx(0.105)


ALGORITHM = KMeansQueries(((0.1, 0.1), (0.9, 0.9)), rounds=3, tau=0.02, least_mass=0.2)


def test_on_steady_problems_every_oracle_gives_centres_within_the_accuracy_claimed():
    rng = np.random.default_rng(8)
    problems = cluster_problems(ALGORITHM, examples=5)
    assert len(problems) == 5
    problems += chain(problems[2], lambda one, rng: one.varied(rng), rng, steps=20)
    problems += [random_clusters(ALGORITHM, examples=5, rng=rng) for _ in range(5)]
    worst = 0.0
    for problem, adversary in itertools.product(problems, ADVERSARIES):
        assert is_steady(problem.points, problem.weights, ALGORITHM)
        population = Population(list(problem.points), np.array(problem.weights))
        centres = ALGORITHM.learn(AdversarialOracle(population, adversary))
        worst = max(worst, problem.error(centres, None))
    assert 0.2 * ALGORITHM.accuracy < worst <= ALGORITHM.accuracy


def test_lloyd_agrees_with_scikit_learn():
    from sklearn.cluster import KMeans

    rng = np.random.default_rng(9)
    points = rng.uniform(size=(60, 2))
    algorithm = KMeansQueries(((0.2, 0.3), (0.8, 0.6)), rounds=4, least_mass=0.01)
    theirs = KMeans(2, init=np.array(algorithm.start), n_init=1, max_iter=4, tol=0.0, algorithm="lloyd")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns if four rounds are too few to converge
        theirs.fit(points)
    mine = lloyd(points.tolist(), np.full(60, 1 / 60), algorithm)
    assert theirs.n_iter_ == 4 or np.allclose(mine[-1][0], mine[-2][0])
    np.testing.assert_allclose(mine[-1][0], theirs.cluster_centers_, atol=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_random_parity_problems_are_labelled_by_their_target(seed):
    rng = np.random.default_rng(seed)
    problem = random_parity(6, alpha=0.1, size=200, rng=rng)
    database = problem.draw(rng)
    odd = np.array([np.dot(x, problem.target) % 2 for x, _ in database])
    assert odd.tolist() == [y for _, y in database]
    assert problem.error(problem.target, database) == 0.0
    for part in problem.source.parts:
        words = {
            tuple(np.bitwise_xor.reduce(np.array([part.origin, *chosen]), axis=0).tolist())
            for count in range(len(part.directions) + 1)
            for chosen in itertools.combinations(part.directions, count)
        }
        assert len(words) == 2 ** len(part.directions)  # the directions are independent


class Half(GenericLearner):
    """A learner that errs in half of its runs."""

    def sample(self, database, size, rng):
        right = super().sample(database, size, rng)
        return [name if rng.random() < 0.5 else "no answer" for name in right]


class Loud(GenericLearner):
    """A learner that spends four times the epsilon it claims."""

    def sample(self, database, size, rng):
        return GenericLearner(epsilon=4 * self.epsilon, concepts=self.concepts).sample(database, size, rng)


def test_at_size_a_learner_that_fails_half_the_time_is_refuted_and_a_right_one_is_not():
    """200 runs miss the failing learner with probability below 1e-12.

    The wealth grows by at least 0.6 nats a run.
    """
    settings = {"concepts": IntervalClass(4), "alpha": 0.3, "calm": (8, 0), "odd": (8, 1)}
    found = audit_utility(at_size(Half, **settings), budget=2_000)
    assert found.verdict is Verdict.REFUTED
    assert found.claim == PAC(0.3, 0.1)
    right = audit_utility(at_size(GenericLearner, **settings), budget=4_000)
    assert right.verdict is Verdict.NOT_REFUTED
    assert "random search and hill climbing" in right.family


def test_at_size_a_learner_that_spends_four_times_its_epsilon_is_refuted():
    """A probability of 0.5 becomes 0.018 if one record changes.

    On a balanced sample the record moves the odds of two rivals from 1 to e^4.
    """
    settings = {"concepts": IntervalClass(1), "alpha": 0.3, "calm": (0, 0), "odd": (0, 1)}
    found = audit_privacy(at_size(Loud, **settings), budget=60_000)
    assert found.verdict is Verdict.REFUTED
    assert audit_privacy(at_size(GenericLearner, **settings), budget=20_000).verdict is Verdict.NOT_REFUTED
