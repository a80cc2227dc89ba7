"""Learners of MASKED-PARITY are exact with valid oracles, and private."""

import math
from collections import Counter
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from audit.errors import InvalidKind, InvalidValue
from learners.by_queries.chunks import INSUFFICIENT
from learners.concepts import MaskedParityClass
from learners.concepts.bits import bits_of
from learners.masked import (
    AdaptiveMasked,
    BentLearner,
    BentQuery,
    GuessingLearner,
    MaskedHypothesis,
    MaskedParityLearner,
    MaskedPopulation,
    WeakLearner,
    masked_error,
)
from learners.masked.experiments import lower_bound, over_concepts
from learners.masked.fourier import split
from mechanisms.queries import AdversarialOracle, ExactOracle, Population, offsets

SIGNIFICANCE = 1e-7
ADVERSARIES = ["up", "down", "towards-zero", "away-from-zero", "alternating"]


def answering(adversary, population):
    return AdversarialOracle(population, adversary)


@pytest.mark.parametrize("dimension", [1, 2, 4, 8])
@pytest.mark.parametrize("adversary", ADVERSARIES)
def test_the_adaptive_learner_is_exact_on_every_concept(dimension, adversary):
    done = over_concepts(
        AdaptiveMasked(dimension).learn, dimension=dimension, oracle=partial(answering, adversary)
    )
    assert done.exact == done.concepts == 2 ** (dimension + 1)
    assert (done.queries, done.rounds) == (dimension + 1, 2)  # K11 Proposition 5.18


@given(r=st.integers(0, 15), a=st.integers(0, 1), adversary=offsets(5, extreme=False))
@settings(max_examples=100, deadline=None)
def test_no_valid_answers_mislead_the_learner(r, a, adversary):
    oracle = AdversarialOracle(MaskedPopulation(4, r=r, a=a), adversary)
    assert AdaptiveMasked(4).learn(oracle) == (bits_of(r, 4), a)
    assert oracle.least_tau == 1 / 17


def test_the_learner_works_on_an_explicit_population():
    masked = MaskedParityClass(2)
    for concept in masked.listed_concepts():
        records = [(x, masked.label(concept, x)) for x in masked.listed_domain()]
        assert AdaptiveMasked(2).learn(ExactOracle(Population(records))) == concept


def test_answers_beyond_the_tolerance_mislead_the_learner():
    class Lying(ExactOracle):
        def _answer(self, query):
            return super()._answer(query) + 1.3 * query.tau

    done = over_concepts(AdaptiveMasked(4).learn, dimension=4, oracle=Lying)
    assert done.exact < done.concepts


@pytest.mark.parametrize("dimension", [8, 16])
@pytest.mark.parametrize("adversary", ADVERSARIES)
def test_a_bent_function_learns_in_one_round_at_the_tolerance_of_k08(dimension, adversary):
    words = None if dimension == 8 else np.random.default_rng(15).integers(2**16, size=100).tolist()
    learner = BentLearner(dimension)
    assert learner.tolerance == 2.0 ** (-2 * dimension / 3)
    assert {query.tau for query in learner.queries()} == {learner.tolerance}
    done = over_concepts(
        learner.learn, dimension=dimension, words=words, oracle=partial(answering, adversary)
    )
    assert done.exact == done.concepts
    assert (done.queries, done.rounds) == (dimension + 1, 1)
    assert done.queries < 2**dimension - 1  # the value that the theorem states


def test_the_bent_query_has_the_claimed_coefficients_at_dimension_sixteen():
    parts = split(BentQuery(16))
    assert np.abs(parts.masked) == pytest.approx(np.full(2**16, 2.0**-9))
    words = np.arange(0, 2**16, 257)
    assert parts.masked[words] == pytest.approx([BentQuery(16).parts(int(r)).masked for r in words])


@pytest.mark.parametrize("dimension", [8, 16, 32])
def test_the_tolerance_of_k11_stops_the_bent_function(dimension):
    words = None if dimension == 8 else range(0, 2**dimension, 2**dimension // 100 | 1)
    learner = BentLearner(dimension, tau=2.0 ** (-dimension / 3))
    done = over_concepts(learner.learn, dimension=dimension, words=words)
    assert done.told == 0
    assert done.exact == done.quarter == done.concepts / 2


def test_half_the_gap_is_below_the_tolerance_of_k11_and_above_that_of_k08_from_d_8_on():
    for dimension in (8, 16, 32, 64):
        half = 2.0 ** (-dimension / 2 - 1)
        assert 2.0 ** (-2 * dimension / 3) < half < 2.0 ** (-dimension / 3)


@pytest.mark.parametrize("guesses", [0, 1, 16, 256])
def test_a_non_adaptive_learner_errs_on_half_of_the_concepts_it_does_not_guess(guesses):
    learner = GuessingLearner(8, words=tuple(range(guesses)))
    done = over_concepts(learner.learn, dimension=8)
    assert done.rounds == 1
    assert done.quarter == 256 - guesses
    assert done.share >= lower_bound(done.queries, dimension=8)
    assert done.told == 2 * guesses


def test_a_weak_learner_has_error_exactly_a_quarter_on_every_concept():
    errors = set()
    for r in range(16):
        for a in (0, 1):
            population = MaskedPopulation(4, r=r, a=a)
            errors.add(WeakLearner(4).learn(ExactOracle(population)).error(population.concept))
    assert errors == {0.25}


def test_errors_match_the_enumeration():
    masked = MaskedParityClass(2)
    points = list(masked.listed_domain())
    for target in masked.listed_concepts():
        signs = masked.says(target, points)
        for concept in masked.listed_concepts():
            expected = float((masked.says(concept, points) != signs).mean())
            assert masked_error(concept, target) == expected
        mixed = MaskedHypothesis(2, shown=2, word=1, mask=1)
        shown, hidden = masked.says(((1, 0), 0), points), masked.says(((0, 1), 1), points)
        labels = np.where([point[-1] for point in points], shown, hidden)
        assert mixed.error(target) == float((labels != signs).mean())
    assert masked_error(INSUFFICIENT, ((0, 0), 0)) == 1.0


def test_dimensions_that_do_not_fit_are_refused():
    for kind in (AdaptiveMasked, BentLearner, WeakLearner, GuessingLearner):
        with pytest.raises(InvalidValue, match="must be a power of two; got 6"):
            kind(6)
    with pytest.raises(InvalidValue, match="must be a power of two; got 12"):
        MaskedParityLearner(dimension=12)
    with pytest.raises(InvalidValue, match="must be even"):
        BentLearner(1)


def tail(x):
    """Return Pr[Laplace(1) > x]."""
    return math.exp(-x) / 2 if x >= 0 else 1 - math.exp(x) / 2


@pytest.mark.parametrize("model", ["central", "local"])
def test_the_law_is_a_tree_of_laplace_tails(model):
    learner, rng = MaskedParityLearner(dimension=2, epsilon=0.9, model=model), np.random.default_rng(16)
    records, masked = list(learner.records), MaskedParityClass(2)
    for _ in range(30):
        database = [records[place] for place in rng.integers(len(records), size=3)]
        law = learner.distribution(database)
        above = []
        for place in (0, 1):  # with chunks of one record the mean is 0 or 1
            (point, label) = database[place]
            hit = point[2] == place and point[3] == 1 and label == -1
            above.append(tail((1 / 8 - hit) * 0.9))
        for word, mask in masked.listed_concepts():
            chance = math.prod(p if bit else 1 - p for p, bit in zip(above, word, strict=True))
            (point, label) = database[2]
            inner = sum(p * q for p, q in zip(word, point[:2], strict=True)) % 2
            hit = point[3] == 0 and label != (-1) ** inner
            one = tail((1 / 4 - hit) * 0.9)
            assert law.pmf((word, mask)) == pytest.approx(chance * (one if mask else 1 - one), rel=1e-9)


@pytest.mark.parametrize("model", ["central", "local"])
@pytest.mark.parametrize("draw", ["sample", "call"])
def test_runs_follow_the_law(model, draw):
    learner = MaskedParityLearner(dimension=2, epsilon=2.0, model=model)
    runs = 20_000 if draw == "sample" else 4_000 if model == "central" else 1_000
    rng = np.random.default_rng(17)
    database = MaskedPopulation(2, r=1, a=1).sample(8, np.random.default_rng(18))
    outputs = (
        learner.sample(database, runs, rng)
        if draw == "sample"
        else [learner(database, rng) for _ in range(runs)]
    )
    law, seen = learner.distribution(database), Counter(outputs)
    expected = runs * np.array([law.pmf(concept) for concept in law.outcomes])
    assert stats.chisquare([seen[concept] for concept in law.outcomes], expected).pvalue > SIGNIFICANCE
    other = MaskedParityLearner(dimension=2, epsilon=4.0, model=model).distribution(database)
    wrong = runs * np.array([other.pmf(concept) for concept in law.outcomes])
    # the power against half the noise; no expected count is below 3
    excess = ((wrong - expected) ** 2 / expected).sum()
    assert stats.ncx2.sf(stats.chi2.isf(SIGNIFICANCE, 7), 7, excess) > 0.99


@pytest.mark.parametrize(
    ("dimension", "model", "draws"), [(2, "central", 10), (2, "local", 10), (4, "central", 3)]
)
def test_at_the_sample_size_the_target_is_found_exactly(dimension, model, draws):
    learner, rng = MaskedParityLearner(dimension=dimension, model=model), np.random.default_rng(19)
    missed = []
    for problem in learner.problems():
        for _ in range(draws):
            law = learner.distribution(problem.draw(rng))
            missed.append(1.0 - law.pmf(problem.population.concept))
    # Hoeffding over all draws: false alarm probability 1e-7
    assert np.mean(missed) <= 0.1 + math.sqrt(math.log(1e7) / (2 * len(missed)))


def test_the_learner_finds_nothing_on_few_examples():
    learner = MaskedParityLearner(dimension=4)
    population = MaskedPopulation(4, r=5, a=1)
    law = learner.distribution(population.sample(10, np.random.default_rng(20)))
    assert law.pmf(population.concept) < 0.3
    assert learner(population.sample(4, np.random.default_rng(21)), np.random.default_rng(0)) == INSUFFICIENT


@pytest.mark.parametrize(
    "record", [((0, 0, 0, 0), 0), ((0, 0, 0), 1), ((0, 0, 0, 2), 1), 3, ((0, 0, 0, 0), "1")]
)
def test_an_invalid_record_is_refused_in_one_line(record):
    learner = MaskedParityLearner(dimension=2)
    with pytest.raises((InvalidValue, InvalidKind)) as caught:
        learner.distribution([record] * 3)
    assert "\n" not in str(caught.value)
