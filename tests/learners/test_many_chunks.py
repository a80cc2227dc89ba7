"""Vectorised runs of the perceptron and k-means equal single runs through oracles."""

import math

import numpy as np
import pytest
from scipy import stats

from audit.errors import InvalidValue
from learners.by_queries.chunks import INSUFFICIENT, ChunkNoise
from learners.by_queries.kmeans import KMeans
from learners.by_queries.many_chunks import ManyChunks
from learners.by_queries.perceptron import Perceptron
from learners.finite.listed import LateExamples, ListedExamples, draw_listed, listed

EXAMPLES = [((0.6, 0.8), 1), ((-0.8, -0.6), 1), ((0.0, 1.0), -1), ((0.3, 0.1), 1)]
POINTS = [(0.0, 0.0), (1.0, 1.0), (0.3, 0.5), (0.6, 0.7)]
START = ((0.1, 0.1), (0.9, 0.9))
FALSE_ALARM = 1e-7


def sides(model):
    perceptron = Perceptron(dimension=2, rounds=3, epsilon=4.0, model=model)
    return [(perceptron, EXAMPLES), (KMeans(rounds=3, start=START, epsilon=4.0, model=model), POINTS)]


@pytest.mark.parametrize("place", [0, 1])
def test_one_of_many_runs_is_the_run_through_the_oracle_with_the_same_noise(place):
    # The central oracle draws one variable for each answer, in the order of the queries. A sample of one run
    # does too.
    learner, kinds = sides("central")[place]
    for seed in range(40):
        rng = np.random.default_rng((seed, place))
        database = [kinds[index] for index in rng.integers(0, len(kinds), int(rng.integers(40, 500)))]
        single = learner(database, np.random.default_rng(seed))
        (one,) = learner.sample(database, 1, np.random.default_rng(seed))
        assert np.array(one) == pytest.approx(np.array(single), abs=1e-9)


@pytest.mark.parametrize("place", [0, 1])
def test_many_local_runs_have_the_law_of_runs_in_which_every_record_reports(place):
    # Kolmogorov-Smirnov on one coordinate; 400 against 4,000 runs detect a shift of about 0.35 standard
    # deviations
    learner, kinds = sides("local")[place]
    database = [kinds[index] for index in np.random.default_rng(5).integers(0, len(kinds), 180)]
    rng = np.random.default_rng(6)
    single = [np.ravel(learner(database, rng)) for _ in range(400)]
    many = [np.ravel(run) for run in learner.sample(database, 4_000, rng)]
    for one, other in zip(np.transpose(single), np.transpose(many), strict=True):
        assert stats.ks_2samp(one, other).pvalue > FALSE_ALARM


# Only the last of 180 records differs. It is in the chunk of the last query, so only the last coordinate can
# change. The perceptron has 9 chunks of 20 records, k-means 18 of 10. The perceptron reads y·x_1 in the last
# chunk: 0.8 or −0.6 if the record is a mistake, else 0. It divides by an error above 3·alpha/4. k-means reads
# x_1: 1 if the record is in the last cluster, else 0. It divides by a mass of at least 0.3.
@pytest.mark.parametrize(
    ("place", "low", "high"),
    [(0, -1.4 / (20 * 0.75 * 0.2), 0.0), (1, 0.0, 1.0 / (10 * 0.3))],
    ids=["perceptron", "k-means"],
)
def test_changing_the_last_record_changes_only_the_last_coordinate(place, low, high):
    learner, kinds = sides("central")[place]
    shared = [kinds[index] for index in np.random.default_rng(7).integers(0, len(kinds), 179)]
    left, right = (
        np.array(learner.sample([*shared, last], 200, np.random.default_rng(8))) for last in kinds[:2]
    )
    moved = (right - left).reshape(200, -1)
    assert not moved[:, :-1].any()
    assert moved[:, -1].any()
    assert moved[:, -1].min() >= low - 1e-12
    assert moved[:, -1].max() <= high + 1e-12


def test_the_runs_do_not_depend_on_how_the_sample_is_stored():
    learner, kinds = sides("local")[0]
    late = LateExamples(kinds, np.array([0.3, 0.5, 0.7, 1.0]), 30_000, seed=3)
    samples = [late, late[:], list(late[:])]
    runs = [np.array(learner.sample(sample, 20, np.random.default_rng(9))) for sample in samples]
    assert runs[1] == pytest.approx(runs[0], abs=1e-12)
    assert runs[2] == pytest.approx(runs[0], abs=1e-12)


def test_values_of_many_kinds_are_computed_in_blocks(monkeypatch):
    monkeypatch.setattr("learners.by_queries.many_chunks._CELLS", 12)
    asked = []
    noise, rng = ChunkNoise("central", 1e9), np.random.default_rng(0)
    oracle = ManyChunks(list(range(30)), queries=3, noise=noise, runs=4, rng=rng)

    def values(places):
        asked.append(len(places))
        return np.tile(np.array(oracle.records)[places] / 30, (4, 1))

    answers = [oracle.ask(values, width=1.0)[0] for _ in range(3)]
    assert answers == pytest.approx([4.5 / 30, 14.5 / 30, 24.5 / 30], abs=1e-7)
    assert max(asked) == 3
    assert sum(asked) == 30
    with pytest.raises(InvalidValue, match="at most 3 queries"):
        oracle.ask(values, width=1.0)


@pytest.mark.parametrize("again", [None, np.array([0, 1]), np.array([2])])
def test_a_run_that_skipped_a_query_may_ask_no_more(again):
    # If this run were made alone, its next query would use an earlier chunk.
    noise, rng = ChunkNoise("central", 1.0), np.random.default_rng(0)
    oracle = ManyChunks([0.5] * 9, queries=3, noise=noise, runs=3, rng=rng)

    def ask(active):
        return oracle.ask(lambda places: np.full((3, len(places)), 0.5)[active], width=1.0, active=active)

    assert len(ask(np.array([0, 2]))) == 2
    assert len(ask(np.array([0]))) == 1
    with pytest.raises(InvalidValue, match="no more once it left a query out"):
        oracle.ask(lambda places: np.full((3, len(places)), 0.5), width=1.0, active=again)


def test_vectorised_runs_refuse_what_single_runs_refuse():
    learner, kinds = sides("central")[0]
    assert learner.sample(kinds[:1] * 8, 3, np.random.default_rng(0)) == [INSUFFICIENT] * 3
    with pytest.raises(InvalidValue, match="A record of `Perceptron` must be"):
        learner.sample([*kinds * 10, ((math.nan, 0.0), 1)], 2, np.random.default_rng(0))
    with pytest.raises(InvalidValue, match="a record for each of 5 queries"):
        ManyChunks([1], queries=5, noise=ChunkNoise("central", 1.0), runs=1, rng=np.random.default_rng(0))


def test_the_counts_of_a_lazy_sample_match_its_records():
    late = LateExamples("abc", np.array([0.2, 0.2, 1.0]), 20_001, seed=4)
    rng = np.random.default_rng(5)
    for start, stop in [
        (0, 20_001),
        (7, 7),
        *np.sort(rng.integers(0, 20_001, size=(30, 2)), axis=1).tolist(),
    ]:
        fresh = LateExamples("abc", np.array([0.2, 0.2, 1.0]), 20_001, seed=4)
        assert fresh.counts(start, stop).tolist() == late[start:stop].counts(0, stop - start).tolist()


def test_the_records_of_a_lazy_sample_are_independent():
    # pairs of consecutive records follow the product law, and the counts of blocks are binomial
    late = LateExamples("ab", np.array([0.3, 1.0]), 409_600, seed=6)
    chosen = late[:].chosen
    words = np.bincount(2 * chosen[::2] + chosen[1::2], minlength=4)
    expected = np.array([0.09, 0.21, 0.21, 0.49]) * 204_800
    assert stats.chisquare(words, expected).pvalue > FALSE_ALARM
    blocks = np.array([late.counts(k * 4096, (k + 1) * 4096)[0] for k in range(100)])
    spread = ((blocks - 0.3 * 4096) ** 2 / (4096 * 0.21)).sum()
    assert FALSE_ALARM < stats.chi2(100).cdf(spread) < 1 - FALSE_ALARM


def test_a_cumulative_sum_rounded_above_one_gives_no_negative_probability():
    cumulative = np.array([0.25, np.nextafter(1.0, 2.0), 1.0])
    for drawn in (
        LateExamples("abc", cumulative, 9_000, seed=1),
        draw_listed("abc", cumulative, size=9_000, rng=np.random.default_rng(1)),
    ):
        counts = drawn.counts(0, 9_000)
        assert (counts.sum(), counts[-1]) == (9_000, 0)


def test_records_that_cannot_be_hashed_are_separate_kinds():
    some = listed([[0.1], [0.1]])
    assert isinstance(some, ListedExamples)
    assert len(some.records) == 2
