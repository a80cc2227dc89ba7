"""The two noisy binary searches: quality, laws, losses and accuracy."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from audit.doors.formulas import compared
from audit.errors import InvalidValue
from learners import LengthSearch, SearchingIntervalLearner
from learners.approximate import NumberSample
from learners.approximate.searches import most_mixed
from learners.approximate.searching import mixed_contest
from learners.findings.approximate import bns_searches
from learners.formulas.searches import searching

BY = pytest.mark.parametrize("by", ["power", "length"])
DATABASES = [
    [(2, 1)] * 4 + [(5, 0)] * 4 + [(1, 0)],
    [(7, 1), (0, 0), (3, 1), (3, 0), (4, 0), (4, 1)],
    [(0, 1), (1, 1)],
]


def mixed(database, low, high):
    """Return the smaller of the numbers of labels 0 and 1 on {low … high − 1}."""
    inside = [y for x, y in database if low <= x < high]
    return min(inside.count(0), inside.count(1))


def q(database, length, top):
    return max(mixed(database, low, low + length) for low in range(top - length + 1))


@pytest.mark.parametrize("database", DATABASES)
def test_q_is_the_maximum_over_all_windows(database):
    sample = NumberSample.counted(*zip(*database, strict=True))
    assert [most_mixed(sample, length) for length in range(1, 9)] == [q(database, j, 8) for j in range(1, 9)]


@pytest.mark.parametrize("database", DATABASES)
def test_the_best_interval_matches_a_search_of_the_listed_family(database):
    sample = NumberSample.counted(*zip(*database, strict=True))
    for length, offset in itertools.product(range(1, 9), (0, 1)):
        family = [(low, min(low + 2 * length, 8)) for low in range(offset * length, 8, 2 * length)]
        scores = sorted(((mixed(database, *ends), ends) for ends in family), reverse=True)
        found = mixed_contest(sample, offset=offset * length, width=2 * length, top=8)
        gap = scores[0][0] - scores[1][0] if len(scores) > 1 else (math.inf if scores else 0.0)
        assert found.gap == gap
        if gap > 0:
            assert (found.low, found.high + 1) == scores[0][1]


@BY
@pytest.mark.parametrize("database", DATABASES)
def test_the_law_matches_the_text(by, database):
    learner = SearchingIntervalLearner(dimension=3, epsilon=20.0, delta=0.4, by=by)
    formulas = replace(searching(learner), databases=[database], calls=0)
    assert [str(each) for each in compared(formulas, learner) if not each.agrees] == []


@BY
def test_the_loss_of_a_search_is_exactly_its_epsilon(by):
    search = LengthSearch(dimension=3, epsilon=0.7, by=by)
    laws = [search.distribution(database) for database in search.suggested_pairs()[0]]
    answers = [search.length(place) for place in range(search.lengths + 1)]
    losses = [abs(laws[0].logpmf(j) - laws[1].logpmf(j)) for j in answers]
    assert max(losses) == pytest.approx(0.7)


def test_the_number_of_comparisons_is_that_of_a_binary_search():
    for d, by in itertools.product((1, 2, 3, 5, 64), ("power", "length")):
        search = LengthSearch(dimension=d, by=by)
        assert search.comparisons == math.ceil(math.log2(d + 2)) if by == "power" else d + 1


@BY
def test_the_failure_probability_on_64_bit_problems_is_at_most_beta(by):
    """A failure probability of 0.25 would show with probability 0.9999.

    β is 0.1, and each problem gets 200 runs.
    """
    learner = SearchingIntervalLearner(dimension=64, alpha=0.25, epsilon=4.0, by=by)
    rng = np.random.default_rng(0)
    for problem in learner.problems()[:-1]:
        wrong = 0
        for _ in range(10):
            database = problem.draw(rng)
            wrong += sum(problem.error(t, database) > 0.25 for t in learner.sample(database, 20, rng))
        assert wrong <= 40


def test_search_by_power_grows_far_more_slowly_and_beats_pure_privacy_before_rec_does():
    sizes, crossings = bns_searches().tables
    rows = {row[0]: row[1:] for row in sizes.rows}
    assert rows[2048][0] > 16 * rows[64][0]  # d is 32 times as large
    assert rows[2048][1] < 2 * rows[64][1]
    at = dict(crossings.rows)
    assert at["search by power"] < at["Rec, tight"] < 2048 < at["Rec, stated"]
    assert "search by length" not in at


@BY
@pytest.mark.parametrize("dimension", [64, 65, 2048])
def test_numbers_near_and_beyond_the_machine_word_limit_are_counted_correctly(by, dimension):
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
