"""Queries about MASKED-PARITY and PARITY, with exact means."""

from itertools import product

import numpy as np
import pytest

from audit.errors import InvalidKind, InvalidValue
from learners.concepts import MaskedParityClass, ParityClass
from learners.concepts.bits import number_of
from learners.masked import (
    BentQuery,
    BitQuery,
    BlindOracle,
    MaskedPopulation,
    MaskedQuery,
    MaskQuery,
    ParityQuery,
)
from learners.masked.experiments import lower_bound
from learners.masked.fourier import split, walsh
from learners.masked.parity import ParityByQueries, SilentOracle, WordQuery, coset_queries
from learners.masked.queries import bent
from learners.masked.words import parity
from mechanisms.queries import ExactOracle, Population, StatisticalQuery

QUERIES = {
    2: [BitQuery(2, 0), BitQuery(2, 1), MaskQuery(2, 1), ParityQuery(2, 2), BentQuery(2)],
    4: [BitQuery(4, 1), BitQuery(4, 3), MaskQuery(4, 5), ParityQuery(4, 9), BentQuery(4)],
}
EVERY = [(d, query) for d, queries in QUERIES.items() for query in queries]


class Noise(MaskedQuery):
    """A query whose values look random.

    All three kinds of coefficients of MASKED-PARITY occur in it.
    """

    low = -1.0
    boolean = False

    def on(self, x, i, b, y):
        mixed = (np.asarray(x) * 37 + np.asarray(i) * 11 + np.asarray(b) * 5 + np.asarray(y) * 3) % 17
        return mixed / 8.0 - 1.0


def by_enumeration(query, concept):
    """Return E[g] as the mean over every labelled point of the domain."""
    masked = MaskedParityClass(query.dimension)
    points = list(masked.listed_domain())
    labels = np.where(masked.says(concept, points), -1, 1).tolist()
    return float(np.mean([query(record) for record in zip(points, labels, strict=True)]))


def by_hand(query, x, i, b, y):
    """Return the five queries as the texts write them."""
    inner = sum(p * q for p, q in zip(x, word_of(query, len(x)), strict=True)) % 2
    if isinstance(query, BitQuery):
        return float(i == query.place and b == 1 and y == -1)
    if isinstance(query, MaskQuery):
        return float(b == 0 and y != (-1) ** inner)
    if isinstance(query, ParityQuery):
        return float(y * (-1) ** inner if b == 0 else 0)
    half = len(x) // 2
    halves = sum(p * q for p, q in zip(x[:half], x[half:], strict=True)) % 2
    return float(y * (-1) ** halves if b == 0 else 1)


def word_of(query, length):
    value = getattr(query, "word", 0)
    return [int(digit) for digit in f"{value:0{length}b}"]


@pytest.mark.parametrize(("dimension", "query"), EVERY)
def test_a_query_has_the_values_of_the_text_on_every_record(dimension, query):
    bits = dimension.bit_length() - 1
    for point in product((0, 1), repeat=dimension + bits + 1):
        x, index, b = point[:dimension], point[dimension:-1], point[-1]
        for y in (1, -1):
            expected = by_hand(query, x, number_of(index), b, y)
            assert query((point, y)) == expected
            assert query.many([(point, y)] * 2).tolist() == [expected] * 2


@pytest.mark.parametrize(("dimension", "query"), [*EVERY, (2, Noise(2)), (4, Noise(4))])
def test_means_match_the_enumeration_on_every_concept(dimension, query):
    for concept in MaskedParityClass(dimension).listed_concepts():
        word, a = concept
        population = MaskedPopulation.of(concept, dimension=dimension)
        expected = by_enumeration(query, concept) if dimension == 2 or a == sum(word) % 2 else None
        found = population.expectation(query.asked(0.1))
        assert found == pytest.approx(split(query).parts(number_of(word)).expectation(a), abs=1e-12)
        if expected is not None:
            assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("dimension", [2, 4, 8])
def test_a_bent_function_is_equally_correlated_with_every_parity(dimension):
    words = np.arange(2**dimension)
    values = bent(words, dimension=dimension)
    # by definition, without the fast transform
    signed = (-1.0) ** parity(words[:, None], words[None, :])
    coefficients = (signed * values).mean(axis=1)
    assert np.abs(coefficients) == pytest.approx(np.full(2**dimension, 2.0 ** (-dimension / 2)))
    assert walsh(values) == pytest.approx(coefficients)


def test_population_samples_are_labelled_by_their_concept_and_uniform():
    population = MaskedPopulation(4, r=0b0110, a=1)
    masked = MaskedParityClass(4)
    sample = population.sample(4000, np.random.default_rng(12))
    assert all(masked.label(population.concept, point) == label for point, label in sample)
    ones = np.array([point for point, _ in sample]).mean(axis=0)
    # seven bits: false alarm probability 1e-7 in total
    assert np.abs(ones - 0.5).max() < 5.8 * 0.5 / 4000**0.5


def test_the_blind_oracle_is_valid_and_hides_the_concepts_that_parseval_allows():
    dimension, tau = 4, 2.0 ** (-4 / 3)
    told = {}
    queries = [*QUERIES[4], Noise(4)]
    for concept in MaskedParityClass(dimension).listed_concepts():
        population = MaskedPopulation.of(concept, dimension=dimension)
        oracle = BlindOracle(population)
        for query in queries:
            before = oracle.told
            answer = oracle.ask(query.asked(tau))
            assert abs(answer - population.expectation(query.asked(tau))) <= tau
            told[query] = told.get(query, 0) + oracle.told - before
    # for each query the oracle gives the true answer on at most 2^(2d/3 − 1) concepts: 3.17 at d = 4
    assert max(told.values()) <= 2 ** (2 * dimension / 3 - 1)
    assert told[ParityQuery(4, 9)] == 2  # r = 9 with both values of a: the bound is nearly reached


def test_a_blind_answer_does_not_depend_on_a():
    for r in range(16):
        answers = []
        for a in (0, 1):
            oracle = BlindOracle(MaskedPopulation(4, r=r, a=a))
            answers.append([oracle.ask(query.asked(0.5001)) for query in QUERIES[4]])
            assert oracle.told == 0
        assert answers[0] == answers[1]


def test_other_queries_and_other_dimensions_are_refused():
    population = MaskedPopulation(2, r=1, a=0)
    with pytest.raises(InvalidKind, match="must be a `MaskedQuery`"):
        BlindOracle(population).ask(StatisticalQuery.fraction(bool, tau=0.1))
    for wrong in (0, 3, 6, 12):
        with pytest.raises(InvalidValue):
            MaskedPopulation(wrong, r=0, a=0)
    with pytest.raises(InvalidValue, match="bits"):
        BitQuery(2, 0)(((1, 0, 1), 1))


def test_a_word_query_has_its_walsh_coefficients_for_means():
    rng = np.random.default_rng(13)
    query, parities = WordQuery(rng.uniform(-1, 1, 8)), ParityClass(3)
    for r in parities.listed_concepts():
        records = [(x, parities.label(r, x)) for x in parities.listed_domain()]
        exact = ExactOracle(Population(records)).ask(query.asked(0.1))
        assert exact == pytest.approx(query.coefficients[number_of(r)])


@pytest.mark.parametrize("dimension", [3, 6, 9])
def test_coset_queries_reach_every_word_once_as_far_as_parseval_allows(dimension):
    queries = coset_queries(dimension)
    edge = 2.0 ** (-dimension / 3)
    reached = np.array([np.isclose(np.abs(query.coefficients), edge) for query in queries])
    assert len(queries) == 2 ** (dimension // 3)
    assert (reached.sum(axis=0) == 1).all()
    assert (reached.sum(axis=1) == 2 ** (2 * dimension // 3)).all()
    assert all(
        (np.abs(query.coefficients)[~row] < 1e-12).all() for query, row in zip(queries, reached, strict=True)
    )


def test_the_number_of_queries_in_the_bound_does_not_learn_parity():
    dimension = 9
    tau = 2.0 ** (-dimension / 3)
    learner = ParityByQueries(tuple(coset_queries(dimension)), tau=tau)
    right = 0
    for r in range(2**dimension):
        oracle = SilentOracle(r)
        right += learner.learn(oracle) == r
        assert (oracle.asked, oracle.told) == (8, 0)  # 2^(d/3) queries
        assert learner.consistent(SilentOracle(r)) == 2**dimension
    assert right == 1


def test_parity_is_learned_with_more_queries_or_with_a_finer_tolerance():
    every = tuple(WordQuery((-1.0) ** parity(np.arange(16), r)) for r in range(16))
    assert [ParityByQueries(every, tau=0.4).learn(SilentOracle(r)) for r in range(16)] == list(range(16))
    # With a tolerance below 2^(−d/2) a bent query gets an answer, and its sign excludes half of the words.
    fine = ParityByQueries((WordQuery(bent(np.arange(16), dimension=4).astype(float)),), tau=0.2)
    assert max(fine.consistent(SilentOracle(r)) for r in range(16)) < 16


@pytest.mark.parametrize("tau", [0.05, 0.2, 0.35])
def test_the_silent_oracle_is_valid_and_reveals_few_words(tau):
    rng = np.random.default_rng(14)
    queries = [WordQuery(np.where(rng.random(64) < 0.5, -1.0, 1.0)) for _ in range(5)]
    told = np.zeros(5)
    for r in range(64):
        for place, query in enumerate(queries):
            oracle = SilentOracle(r)
            assert abs(oracle.ask(query.asked(tau)) - query.coefficients[r]) <= tau
            told[place] += oracle.told
    assert (told < 1 / tau**2).all()


def test_the_bounds_differ_by_half_of_a_union_bound():
    for t, d in ((0, 8), (5, 8), (100, 32)):
        proved, printed = (lower_bound(t, dimension=d, printed=it) for it in (False, True))
        assert proved == pytest.approx(0.5 * (1 - t / 2 ** (d / 3 + 2)))
        assert 0.5 - printed == pytest.approx(2 * (0.5 - proved))
