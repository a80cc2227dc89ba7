"""The perceptron by statistical queries keeps its guarantee with valid oracles.

Its runs by chunks are private.
"""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit import Verdict, audit_privacy
from audit.errors import InvalidValue
from learners.by_queries.chunks import INSUFFICIENT, ChunkNoise, EvenChunks
from learners.by_queries.perceptron import Perceptron, PerceptronQueries, mistakes
from mechanisms.queries import AdversarialOracle, ExactOracle, Population, RandomOracle, offsets

ADVERSARIES = ["up", "down", "towards-zero", "away-from-zero", "alternating"]


def separable(dimension, *, margin, points, seed):
    """Return random weighted points at least `margin` away from a hyperplane.

    The points lie in the unit ball.
    """
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=dimension)
    normal /= np.linalg.norm(normal)
    kept = []
    while len(kept) < points:
        x = rng.normal(size=dimension)
        x *= rng.random() ** (1 / dimension) / np.linalg.norm(x)
        side = float(x @ normal)
        if abs(side) >= margin:
            kept.append((tuple(x.tolist()), 1 if side > 0 else -1))
    weights = rng.exponential(size=points)
    return Population(kept, weights / weights.sum())


def error(weights, population):
    return float(population.weights @ mistakes(population.points, weights)[1])


@given(
    dimension=st.integers(1, 4),
    margin=st.sampled_from([0.1, 0.3]),
    alpha=st.sampled_from([0.05, 0.3]),
    seed=st.integers(0, 10**6),
    adversary=st.sampled_from(ADVERSARIES) | offsets(60, extreme=False),
)
@settings(max_examples=60, deadline=None)
def test_the_error_is_at_most_alpha_within_the_rounds_promised(dimension, margin, alpha, seed, adversary):
    population = separable(dimension, margin=margin, points=30, seed=seed)
    learner = PerceptronQueries(dimension, alpha=alpha, margin=margin)
    oracle = AdversarialOracle(population, adversary)
    assert error(learner.learn(oracle), population) <= alpha
    assert learner.most_rounds == math.floor((4 / margin + 0.5) ** 2) + 1
    assert oracle.asked <= learner.most_queries
    assert oracle.least_tau >= margin * alpha / (8 * math.sqrt(dimension)) * (1 - 1e-12)


def test_with_fewer_rounds_the_perceptron_fails():
    population = separable(3, margin=0.02, points=60, seed=0)
    oracle = ExactOracle(population)
    weights = PerceptronQueries(3, alpha=0.01, margin=0.02).learn(oracle)
    assert error(weights, population) <= 0.01
    assert oracle.rounds > 4
    one = PerceptronQueries(3, alpha=0.01, margin=0.02, rounds=1).learn(ExactOracle(population))
    assert error(one, population) > 0.01


def test_answers_far_beyond_the_tolerance_mislead_the_perceptron():
    population = separable(2, margin=0.3, points=30, seed=1)

    class Lying(ExactOracle):
        def _answer(self, query):
            return super()._answer(query) if query.boolean else -0.5

    weights = PerceptronQueries(2, alpha=0.05, margin=0.3).learn(Lying(population))
    assert error(weights, population) > 0.05


def test_queries_depend_on_earlier_answers():
    population = separable(2, margin=0.3, points=30, seed=2)
    asked = []

    class Listening(RandomOracle):
        def _answers(self, queries):
            asked.extend(query.function for query in queries)
            return super()._answers(queries)

    learner = PerceptronQueries(2, alpha=0.05, margin=0.3)
    for seed in (0, 1):
        learner.learn(Listening(population, rng=np.random.default_rng(seed)))
    first_error = asked[0]
    second = [query for query in asked if query.weights != first_error.weights]
    assert len({query.weights for query in second}) >= 2  # different answers lead to different queries


@pytest.mark.parametrize("model", ["central", "local"])
def test_every_record_affects_one_answer_only(model):
    reads = Counter()

    class Reading(PerceptronQueries):
        def error_query(self, weights):
            return self._told(super().error_query(weights))

        def push_queries(self, weights):
            return [self._told(query) for query in super().push_queries(weights)]

        def _told(self, query):
            inner = query.vectorised

            def counting(records):
                reads.update(x[0] for x, _ in records)
                return inner(records)

            return replace(query, vectorised=counting)

    learner = Reading(1, alpha=0.05, margin=0.5, rounds=4)
    records = [((value / 1000,), 1 if value % 2 else -1) for value in range(1, 81)]
    noise = ChunkNoise(model, 1.0)
    oracle = EvenChunks(records, queries=learner.most_queries, noise=noise, rng=np.random.default_rng(3))
    learner.learn(oracle)
    assert oracle.asked > 1
    assert set(reads.values()) == {1}
    if model == "local":
        assert oracle._reports.spent.max() == 1.0


@pytest.mark.parametrize("model", ["central", "local"])
def test_the_noise_of_an_answer_matches_the_model(model):
    noise, width, chunk = ChunkNoise(model, 0.5), 2.0, 10
    terms = 1 if model == "central" else chunk
    law = noise.law(chunk, width=width)
    assert (law.size, law.scale) == (terms, width / (0.5 * chunk))
    # replacing a record moves the mean by width/chunk, so the loss of the central answer is exactly 0.5
    if model == "central":
        assert law.logsf(3.0) - law.logsf(3.0 + width / chunk) == pytest.approx(0.5)


def test_enough_private_examples_find_the_separator():
    population = separable(2, margin=0.4, points=20, seed=4)
    for model in ("central", "local"):
        learner = Perceptron(dimension=2, alpha=0.2, margin=0.4, rounds=10, epsilon=2.0, model=model)
        weights = learner(population.sample(150_000, np.random.default_rng(5)), np.random.default_rng(6))
        assert error(weights, population) <= 0.2


def test_the_sample_size_makes_every_answer_good_enough():
    learner = Perceptron(dimension=1, rounds=2, beta=0.1)
    # M = 4 queries; the widest has width 2 and tau = 0.5·0.2/8: 2·4·ln(4·4/0.1)/tau² records in each chunk
    tau = 0.5 * 0.2 / 8
    assert learner.sample_size() == 4 * math.ceil(8 * math.log(160) / tau**2)


@pytest.mark.parametrize("model", ["central", "local"])
def test_the_audit_does_not_refute_the_perceptron(model):
    result = audit_privacy(Perceptron(model=model), budget=4_000)
    assert result.verdict is Verdict.NOT_REFUTED


def test_noise_for_a_fiftieth_of_the_sensitivity_is_refuted():
    class Thrifty(Perceptron):
        def __call__(self, database, rng):
            return self.sample(database, 1, rng)[0]

        def sample(self, database, size, rng):
            return Perceptron(epsilon=50.0, rounds=1, size=2).sample(database, size, rng)

    assert audit_privacy(Thrifty(rounds=1), budget=20_000).verdict is Verdict.REFUTED


def test_too_few_records_all_get_the_same_answer():
    assert Perceptron(rounds=3)([((1.0,), 1)] * 5, np.random.default_rng(0)) == INSUFFICIENT


@pytest.mark.parametrize("record", [((1.1,), 1), ((0.5,), 0), ((0.5, 0.5), 1), (0.5, 1), 3, ((math.nan,), 1)])
def test_an_invalid_record_is_refused(record):
    with pytest.raises(InvalidValue, match="A record of `Perceptron` must be"):
        Perceptron()([((0.5,), 1)] * 4 + [record], np.random.default_rng(0))


@pytest.mark.parametrize(
    "keywords", [{"alpha": 0.5}, {"beta": 0}, {"margin": 0}, {"rounds": 0}, {"model": "x"}]
)
def test_parameters_out_of_range_are_refused(keywords):
    with pytest.raises(InvalidValue):
        Perceptron(**keywords)
