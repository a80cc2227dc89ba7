"""Monotone conjunctions through every oracle, and the two private subjects."""

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from audit import Verdict, audit_privacy
from audit.claims import PureDP
from audit.errors import InvalidKind, InvalidValue
from audit.laws.divergence import epsilon_at
from learners.by_queries.chunks import INSUFFICIENT, ChunkNoise, EvenChunks
from learners.by_queries.conjunctions import ConjunctionLearner, ConjunctionQueries
from learners.concepts import ConjunctionClass
from learners.findings.exact import worst
from mechanisms.queries import (
    AdversarialOracle,
    ExactOracle,
    NoisyLabelOracle,
    Population,
    PrivateOracle,
    RandomOracle,
    SampleOracle,
    StatisticalQuery,
    noisy_labels,
    offsets,
    private_sample_size,
    sample_size,
)

DIMENSION = 3
CLASS = ConjunctionClass(DIMENSION)
WORDS = list(CLASS.listed_domain())
SIGNIFICANCE = 1e-7
ADVERSARIES = ["up", "down", "towards-zero", "away-from-zero", "alternating"]


def population(target, weights, *, false=0):
    records = [(x, CLASS.label(target, x) or false) for x in WORDS]
    return Population(records, np.array(weights) / sum(weights))


def error(output, target, weights):
    wrong = [CLASS.label(output, x) != CLASS.label(target, x) for x in WORDS]
    return float(np.dot(wrong, weights) / sum(weights))


def hard_weights(alpha, *, factor):
    """Return the weights of a law for conjunctions.

    Each variable is the only 0 with probability factor·alpha/d. With the remaining probability all
    variables are 1.
    """
    light = factor * alpha / DIMENSION
    return [
        1 - DIMENSION * light if sum(x) == DIMENSION else light * (sum(x) == DIMENSION - 1) for x in WORDS
    ]


@given(
    target=st.sampled_from(WORDS),
    weights=st.lists(st.integers(0, 9), min_size=8, max_size=8).filter(any),
    adversary=offsets(DIMENSION, extreme=False) | st.sampled_from(ADVERSARIES),
    alpha=st.sampled_from([0.05, 0.2, 0.45]),
)
@settings(max_examples=150, deadline=None)
def test_every_valid_oracle_gives_an_error_of_at_most_alpha(target, weights, adversary, alpha):
    learner = ConjunctionQueries(DIMENSION, alpha)
    oracle = AdversarialOracle(population(target, weights), adversary)
    output = learner.learn(oracle)
    assert error(output, target, weights) <= alpha + 1e-12
    assert all(kept >= wanted for kept, wanted in zip(output, target, strict=True))  # one-sided
    assert (oracle.asked, oracle.rounds) == (DIMENSION, 1)
    assert oracle.least_tau == alpha / (2 * DIMENSION)  # B Theorem 5


def test_an_oracle_outside_the_tolerance_breaks_the_promise():
    alpha = 0.3
    # each variable is 0 with probability above alpha/d, so no valid oracle makes the learner keep it
    weights = hard_weights(alpha, factor=1.2)
    always = (0,) * DIMENSION
    people = population(always, weights)
    valid = ConjunctionQueries(DIMENSION, alpha).learn(AdversarialOracle(people, "down"))
    assert error(valid, always, weights) == 0.0

    def lying(_, mean):
        return mean - 1.5 * alpha / (2 * DIMENSION)

    class Lying(ExactOracle):
        def _answer(self, query):
            return lying(query, super()._answer(query))

    broken = ConjunctionQueries(DIMENSION, alpha).learn(Lying(people))
    assert error(broken, always, weights) == pytest.approx(1.2 * alpha)


def test_the_worst_case_needs_the_whole_tolerance():
    alpha = 0.3
    weights = hard_weights(alpha, factor=0.999)
    always = (0,) * DIMENSION
    output = ConjunctionQueries(DIMENSION, alpha).learn(
        AdversarialOracle(population(always, weights), "down")
    )
    assert error(output, always, weights) == pytest.approx(0.999 * alpha)


@pytest.mark.parametrize("target", [(0, 0, 0), (1, 0, 1), (1, 1, 1)])
@pytest.mark.parametrize("kind", ["exact", "random", "sample", "private", "central", "local"])
def test_it_runs_through_every_oracle(kind, target):
    alpha, beta, epsilon = 0.3, 1e-7, 1.0
    learner, rng = ConjunctionQueries(DIMENSION, alpha), np.random.default_rng(8)
    weights = hard_weights(alpha, factor=1.1)
    people = population(target, weights)
    numbers = {"tau": learner.tau, "beta": beta}

    def drawn(size):
        return people.sample(size, rng)

    def even(model):
        noise = ChunkNoise(model, epsilon)
        size = DIMENSION * noise.chunk_size(learner.queries(), beta=beta)
        return EvenChunks(drawn(size), queries=DIMENSION, noise=noise, rng=rng)

    def private():
        size = private_sample_size(DIMENSION, epsilon=epsilon, **numbers)
        return PrivateOracle(drawn(size), epsilon=epsilon, queries=DIMENSION, beta=beta, rng=rng)

    oracle = {
        "exact": lambda: ExactOracle(people),
        "random": lambda: RandomOracle(people, rng=rng),
        "sample": lambda: SampleOracle(
            drawn(sample_size(DIMENSION, **numbers)), queries=DIMENSION, beta=beta
        ),
        "private": private,
        "central": lambda: even("central"),
        "local": lambda: even("local"),
    }[kind]()
    # each of these checks fails with probability at most 1e-7
    assert error(learner.learn(oracle), target, weights) <= alpha


@pytest.mark.parametrize("eta", [0.0, 0.2, 0.4])
@pytest.mark.parametrize("adversary", ADVERSARIES)
def test_label_noise_is_corrected(eta, adversary):
    alpha, target = 0.3, (1, 0, 1)
    weights = hard_weights(alpha, factor=1.1)
    noisy = noisy_labels(population(target, weights, false=-1), eta)
    oracle = NoisyLabelOracle(AdversarialOracle(noisy, adversary), eta=eta)
    assert error(ConjunctionQueries(DIMENSION, alpha).learn(oracle), target, weights) <= alpha


def test_without_the_correction_the_target_is_missed():
    weights = [1.0] * 8
    noisy = noisy_labels(population((1, 0, 0), weights, false=-1), 0.4)
    output = ConjunctionQueries(DIMENSION, 0.3).learn(ExactOracle(noisy))
    assert error(output, (1, 0, 0), weights) > 0.3


def tail_of_sum(records, x):
    """Return Pr[sum of one or two Laplace(1) variables > x]."""
    one = {1: lambda s: math.exp(-s) / 2, 2: lambda s: math.exp(-s) * (2 + s) / 4}[records]
    return one(x) if x >= 0 else 1 - one(-x)


@pytest.mark.parametrize("model", ["central", "local"])
@pytest.mark.parametrize("chunk", [1, 2])
def test_the_law_is_a_product_of_laplace_tails(model, chunk):
    epsilon, alpha = 0.8, 0.3
    learner = ConjunctionLearner(dimension=2, epsilon=epsilon, alpha=alpha, model=model)
    rng = np.random.default_rng(9)
    for _ in range(20):
        database = [
            (tuple(map(int, x)), int(y))
            for x, y in zip(
                rng.integers(2, size=(2 * chunk, 2)), rng.integers(2, size=2 * chunk), strict=True
            )
        ]
        kept = []
        for place in (0, 1):
            part = database[place * chunk : (place + 1) * chunk]
            mean = sum(x[place] == 0 and y == 1 for x, y in part) / chunk
            # answer = mean + sum/(ε·chunk); the variable is kept if the sum is at most (α/4 − mean)·ε·chunk
            terms = 1 if model == "central" else chunk
            kept.append(1 - tail_of_sum(terms, (alpha / 4 - mean) * epsilon * chunk))
        law = learner.distribution(database)
        for word in product((0, 1), repeat=2):
            expected = math.prod(p if bit else 1 - p for p, bit in zip(kept, word, strict=True))
            assert law.pmf(word) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("model", ["central", "local"])
@pytest.mark.parametrize("draw", ["sample", "call"])
def test_runs_follow_the_law(model, draw):
    learner = ConjunctionLearner(dimension=2, epsilon=1.0, model=model)
    database = [((0, 1), 1), ((1, 1), 1), ((0, 0), 0), ((1, 0), 1), ((0, 0), 1)]
    rng, runs = np.random.default_rng(10), 20_000 if draw == "sample" else 4_000
    outputs = (
        learner.sample(database, runs, rng)
        if draw == "sample"
        else [learner(database, rng) for _ in range(runs)]
    )
    words, seen = list(product((0, 1), repeat=2)), Counter(outputs)
    law = learner.distribution(database)
    expected = runs * np.array([law.pmf(word) for word in words])
    assert stats.chisquare([seen[word] for word in words], expected).pvalue > SIGNIFICANCE
    # power: noise of half the scale would be detected
    other = ConjunctionLearner(dimension=2, epsilon=2.0, model=model).distribution(database)
    wrong = runs * np.array([other.pmf(word) for word in words])
    excess = ((wrong - expected) ** 2 / expected).sum()
    assert stats.ncx2.sf(stats.chi2.isf(SIGNIFICANCE, 3), 3, excess) > 0.99


def test_the_loss_is_epsilon_for_large_chunks_and_equal_in_both_models_for_chunks_of_one_record():
    central, local = (ConjunctionLearner(dimension=2, model=model) for model in ("central", "local"))
    assert worst(central, 2)[0] == pytest.approx(worst(local, 2)[0])
    # means 1/2 and 1 are on the same side of the threshold, so the tails differ by exactly e^epsilon
    assert worst(ConjunctionLearner(dimension=1), 2)[0] == pytest.approx(1.0, abs=1e-9)


def test_a_claim_of_half_the_epsilon_is_refuted():
    assert (
        audit_privacy(ConjunctionLearner(dimension=1, size=2), PureDP(0.5), budget=20_000).verdict
        is Verdict.REFUTED
    )


@pytest.mark.parametrize("model", ["central", "local"])
def test_at_the_sample_size_the_error_is_at_most_alpha(model):
    learner = ConjunctionLearner(dimension=2, alpha=0.3, beta=0.1, model=model)
    rng, draws = np.random.default_rng(11), 40
    slack = math.sqrt(math.log(1e7) / (2 * draws))  # Hoeffding, false alarm probability 1e-7
    for problem in learner.problems():
        failed = []
        for _ in range(draws):
            database = problem.draw(rng)
            law = learner.distribution(database)
            errors = problem.errors(law.outcomes, database)
            failed.append(np.exp(law.log_probabilities)[errors > 0.3].sum())
        assert np.mean(failed) <= 0.1 + slack, problem.name


def test_sizes_follow_from_hoeffding_and_the_laplace_tail():
    # d = 2, alpha = 0.2: tau = 0.05; 2·ln(4·2/0.1)/tau² = 3505.6 exceeds 2·ln(40)/(ε·tau) = 147.6 at ε = 1
    assert ConjunctionLearner(dimension=2).sample_size() == 2 * 3506
    # at ε = 0.01 the noise sets the size: 2·ln(40)/(0.01·0.05) = 14755.5
    assert ConjunctionLearner(dimension=2, epsilon=0.01).sample_size() == 2 * 14756


def test_the_answer_to_too_few_records_does_not_depend_on_them():
    learner = ConjunctionLearner(dimension=3, size=2)
    assert learner([((1, 1, 1), 1)] * 2, np.random.default_rng(0)) == INSUFFICIENT
    assert learner.sample([((1, 1, 1), 1)] * 2, 3, np.random.default_rng(0)) == [INSUFFICIENT] * 3
    assert learner.distribution([((0, 0, 0), 1)]).pmf(INSUFFICIENT) == 1.0


@pytest.mark.parametrize("record", [((1, 1), 2), ((1, 1), -1), ((1, 2), 1), ((1,), 1), "ab", 5])
def test_an_invalid_record_is_refused_in_one_line(record):
    for ask in (
        ConjunctionLearner().distribution,
        lambda it: ConjunctionLearner()(it, np.random.default_rng(0)),
    ):
        with pytest.raises((InvalidValue, InvalidKind)) as caught:
            ask([((1, 1), 1), record])
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "keywords", [{"dimension": 0}, {"epsilon": 0}, {"alpha": 0.5}, {"beta": 0.0}, {"model": "both"}]
)
def test_parameters_out_of_range_are_refused(keywords):
    with pytest.raises(InvalidValue):
        ConjunctionLearner(**keywords)


def test_a_chunk_oracle_refuses_more_queries_than_it_has_chunks_for():
    ones = StatisticalQuery.fraction(bool, tau=0.1)
    noise = ChunkNoise("central", 1.0)
    oracle = EvenChunks([0, 1], queries=2, noise=noise, rng=np.random.default_rng(0))
    oracle.ask_all([ones, ones])
    with pytest.raises(InvalidValue, match="at most 2 queries"):
        oracle.ask(ones)
    with pytest.raises(InvalidValue, match="a record for each of 3"):
        EvenChunks([0, 1], queries=3, noise=noise, rng=np.random.default_rng(0))


@pytest.mark.parametrize("model", ["central", "local"])
def test_each_query_reads_only_its_own_chunk(model):
    noise = ChunkNoise(model, 1e6)
    oracle = EvenChunks([0, 0, 1, 1, 9], queries=2, noise=noise, rng=np.random.default_rng(0))
    mean = StatisticalQuery(float, tau=0.1, low=0.0, high=9.0)
    assert oracle.ask_all([mean, mean]) == pytest.approx([0.0, 1.0], abs=1e-2)  # the fifth record is not used


def test_the_law_of_many_variables_is_a_product_over_the_variables():
    rng = np.random.default_rng(3)
    rows = [(tuple(rng.integers(0, 2, 20).tolist()), int(rng.integers(2))) for _ in range(400)]
    learner = ConjunctionLearner(dimension=20, alpha=0.4, epsilon=0.5)
    law = learner.distribution(rows)
    means = learner.means(rows)
    noise = stats.laplace(scale=1 / (0.5 * 20))
    for factor, mean in zip(law.factors, means, strict=True):
        assert factor.pmf(1) == pytest.approx(noise.cdf(0.4 / 40 - mean), rel=1e-9)
    drawn = np.array(learner.sample(rows, 20_000, rng))
    # 20 tests at 1e-8; an error of 0.02 is detected with probability above 0.98
    for place, factor in enumerate(law.factors):
        assert stats.binomtest(int(drawn[:, place].sum()), 20_000, factor.pmf(1)).pvalue > 1e-8
    near = [(rows[0][0], 1 - rows[0][1]), *rows[1:]]
    assert epsilon_at(law, learner.distribution(near)) <= 0.5 + 1e-9


def test_a_class_too_large_for_a_table_is_refused_in_one_line():
    with pytest.raises(InvalidValue, match=r"must have fewer than 2\^32 labels"):
        ConjunctionLearner(dimension=16).problems()
