"""The two noisy binary searches: Q, the exact laws by brute force, losses, and accuracy at the stated m."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import chisquare, laplace

from audit.errors import InvalidValue
from learners import LengthSearch, SearchingIntervalLearner
from learners.approximate import NumberSample
from learners.approximate.searches import most_mixed
from learners.approximate.searching import mixed_contest
from learners.findings.approximate import bns_searches

BY = pytest.mark.parametrize("by", ["power", "length"])
DATABASES = [
    [(2, 1)] * 4 + [(5, 0)] * 4 + [(1, 0)],
    [(7, 1), (0, 0), (3, 1), (3, 0), (4, 0), (4, 1)],
    [(0, 1), (1, 1)],
]


def mixed(database, low, high):
    """min(zeros, ones) on {low … high − 1}, counted."""
    inside = [y for x, y in database if low <= x < high]
    return min(inside.count(0), inside.count(1))


def q(database, length, top):
    return max(mixed(database, low, low + length) for low in range(top - length + 1))


@pytest.mark.parametrize("database", DATABASES)
def test_q_is_the_maximum_over_all_windows(database):
    sample = NumberSample.counted(*zip(*database, strict=True))
    assert [most_mixed(sample, length) for length in range(1, 9)] == [q(database, j, 8) for j in range(1, 9)]


@pytest.mark.parametrize("database", DATABASES)
def test_the_best_interval_is_that_of_the_listed_family(database):
    sample = NumberSample.counted(*zip(*database, strict=True))
    for length, offset in itertools.product(range(1, 9), (0, 1)):
        family = [(low, min(low + 2 * length, 8)) for low in range(offset * length, 8, 2 * length)]
        scores = sorted(((mixed(database, *ends), ends) for ends in family), reverse=True)
        found = mixed_contest(sample, offset=offset * length, width=2 * length, top=8)
        gap = scores[0][0] - scores[1][0] if len(scores) > 1 else (math.inf if scores else 0.0)
        assert found.gap == gap
        if gap > 0:
            assert (found.low, found.high + 1) == scores[0][1]


def by_hand(learner, database):
    """The law, from the text: every path of the search, both A_dist, and the exponential mechanism."""
    top, search, law = 1 << learner.dimension, learner.search, {}
    e_search, e_stable, e_choice = learner.shares
    lengths = [2**i for i in range(learner.dimension + 1)] if learner.by == "power" else [*range(1, top + 1)]
    noise = laplace(scale=math.ceil(math.log2(len(lengths) + 1)) / e_search)

    def paths(low, high):
        if low == high:
            return {low: 1.0}
        middle = (low + high) // 2
        large = noise.sf(search.level - q(database, lengths[middle], top))
        return {k: large * p for k, p in paths(low, middle).items()} | {
            k: (1 - large) * p for k, p in paths(middle + 1, high).items()
        }

    for place, path in paths(0, len(lengths)).items():
        released = []
        for offset in (0, 1) if place < len(lengths) else ():
            j = lengths[place]
            family = [(low, min(low + 2 * j, top)) for low in range(offset * j, top, 2 * j)]
            scores = sorted(((mixed(database, *ends), ends) for ends in family), reverse=True)
            if len(scores) == 1:
                released.append([(1.0, scores[0][1])])
            elif scores and scores[0][0] > scores[1][0]:
                test = laplace(scale=2 / e_stable).sf(
                    2 - 2 / e_stable * math.log(learner.delta) - scores[0][0] + scores[1][0]
                )
                released.append([(test, scores[0][1]), (1 - test, None)])
        for outcome in itertools.product(*released):
            share, points = path, {0, top}
            for p, ends in outcome:
                share *= p
                if ends is not None:
                    step = math.ceil(lengths[place] / 2)
                    points |= {min(ends[0] + i * step, ends[1]) for i in range(5)}
            errors = {t: sum(y != (x < t) for x, y in database) for t in points}
            weights = {t: math.exp(-e_choice * n / 2) for t, n in errors.items()}
            for t, weight in weights.items():
                law[t] = law.get(t, 0.0) + share * weight / sum(weights.values())
    return law


@BY
@pytest.mark.parametrize("database", DATABASES)
def test_the_law_is_that_of_the_text_and_of_runs(by, database):
    learner = SearchingIntervalLearner(dimension=3, epsilon=20.0, delta=0.4, by=by)
    law, hand = learner.distribution(database), by_hand(learner, database)
    assert {t: pytest.approx(law.pmf(t), rel=1e-9) for t in hand} == hand
    answers = learner.sample(database, 100_000, np.random.default_rng(0))
    kept = [t for t in hand if hand[t] > 1e-4]
    counts = [answers.count(t) for t in kept]
    expected = [hand[t] * 100_000 for t in kept]
    rest = 100_000 - sum(expected)
    seen = [*counts, 100_000 - sum(counts)] if rest > 5 else counts
    asked = [*expected, rest] if rest > 5 else [e * sum(counts) / sum(expected) for e in expected]
    assert chisquare(seen, asked).pvalue > 1e-6  # significance 1e-6


@BY
def test_a_search_loses_exactly_its_epsilon(by):
    search = LengthSearch(dimension=3, epsilon=0.7, by=by)
    laws = [search.distribution(database) for database in search.suggested_pairs()[0]]
    answers = [search.length(place) for place in range(search.lengths + 1)]
    losses = [abs(laws[0].logpmf(j) - laws[1].logpmf(j)) for j in answers]
    assert max(losses) == pytest.approx(0.7)


def test_the_comparisons_are_those_of_a_binary_search():
    for d, by in itertools.product((1, 2, 3, 5, 64), ("power", "length")):
        search = LengthSearch(dimension=d, by=by)
        assert search.comparisons == math.ceil(math.log2(d + 2)) if by == "power" else d + 1


@BY
def test_no_problem_of_64_bits_is_failed_more_often_than_beta(by):
    """200 runs a problem: a failure above β = 0.1 in truth 0.25 is seen with probability 0.9999."""
    learner = SearchingIntervalLearner(dimension=64, alpha=0.25, epsilon=4.0, by=by)
    rng = np.random.default_rng(0)
    for problem in learner.problems()[:-1]:
        wrong = 0
        for _ in range(10):
            database = problem.draw(rng)
            wrong += sum(problem.error(t, database) > 0.25 for t in learner.sample(database, 20, rng))
        assert wrong <= 40


def test_searching_by_power_grows_far_less_and_overtakes_pure_privacy_before_rec():
    sizes, crossings = bns_searches().tables
    rows = {row[0]: row[1:] for row in sizes.rows}
    assert rows[2048][0] > 16 * rows[64][0]  # d = 32 times as much
    assert rows[2048][1] < 2 * rows[64][1]
    at = dict(crossings.rows)
    assert at["search by power"] < at["Rec, tight"] < 2048 < at["Rec, stated"]
    assert "search by length" not in at


@BY
@pytest.mark.parametrize("dimension", [64, 65, 2048])
def test_numbers_near_the_top_of_a_machine_word_and_beyond_are_counted_right(by, dimension):
    top = 1 << dimension
    sample = NumberSample.counted([0, top - 9, top - 5, top - 3, top - 2], [1, 1, 1, 0, 0])
    assert [most_mixed(sample, j) for j in (2, 3, 7, 8, top)] == [0, 1, 1, 2, 2]
    found = mixed_contest(sample, offset=0, width=16, top=top)
    assert (found.low, found.high, found.gap) == (top - 16, top - 1, 2.0)
    learner = SearchingIntervalLearner(dimension=dimension, by=by, epsilon=4000.0)
    database = [(top - 9, 1)] * 300 + [(top - 3, 0)] * 300
    assert top - 9 < learner(database, np.random.default_rng(0)) <= top - 3


@pytest.mark.parametrize("kind", [LengthSearch, SearchingIntervalLearner])
def test_a_bad_word_is_refused(kind):
    with pytest.raises(InvalidValue, match="`by`"):
        kind(by="powers")
