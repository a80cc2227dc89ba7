"""k-means by statistical queries is Lloyd's iteration with the exact oracle.

With other oracles it is close to it.
"""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.vq import kmeans2

from audit import Verdict, audit_privacy, audit_utility
from audit.claims import PureDP
from audit.errors import InvalidValue
from learners.by_queries.centres import KMeansQueries, nearest
from learners.by_queries.chunks import INSUFFICIENT, ChunkNoise, EvenChunks
from learners.by_queries.kmeans import KMeans
from mechanisms.queries import AdversarialOracle, ExactOracle, Population


def clouds(seed, *, dimension=2, points=60):
    """Return three clouds of points in the unit cube."""
    rng = np.random.default_rng(seed)
    middles = rng.uniform(0.15, 0.85, size=(3, dimension))
    noise = rng.normal(scale=0.08, size=(points, dimension))
    return np.clip(middles[np.arange(points) % 3] + noise, 0.0, 1.0), middles


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("rounds", [1, 2, 7])
def test_with_the_exact_oracle_k_means_is_lloyds_iteration(seed, rounds):
    points, middles = clouds(seed)
    expected, _ = kmeans2(points, middles, iter=rounds, minit="matrix")  # scipy's implementation
    start = tuple(map(tuple, middles.tolist()))
    learner = KMeansQueries(start, rounds=rounds, least_mass=1e-6)
    oracle = ExactOracle(Population([tuple(point) for point in points.tolist()]))
    assert np.array(learner.learn(oracle)) == pytest.approx(expected, abs=1e-12)
    assert (oracle.rounds, oracle.asked) == (rounds, rounds * 3 * 3)


@given(seed=st.integers(0, 1000), signs=st.lists(st.sampled_from([-1.0, 0.0, 1.0]), max_size=9))
@settings(max_examples=50, deadline=None)
def test_one_round_stays_within_the_bound_of_lloyds(seed, signs):
    points, middles = clouds(seed)
    start, tau = tuple(map(tuple, middles.tolist())), 0.02
    population = Population([tuple(point) for point in points.tolist()])
    learner = KMeansQueries(start, rounds=1, tau=tau, least_mass=0.05)
    found = np.array(learner.learn(AdversarialOracle(population, signs)))
    clusters = nearest(points, start)
    for cluster in range(3):
        mass = float((clusters == cluster).mean())
        if mass >= 0.05 + tau:
            exact = points[clusters == cluster].mean(axis=0)
            assert np.abs(found[cluster] - exact).max() <= 2 * tau / (mass - tau) + 1e-12


def test_a_centre_without_points_stays_where_it_is():
    learner = KMeansQueries(((0.1,), (0.9,)), rounds=3, tau=0.01)
    centres = learner.learn(AdversarialOracle(Population([(0.1,), (0.2,)]), "up"))
    assert centres[1] == (0.9,)


def test_later_rounds_ask_about_the_centres_of_earlier_ones():
    asked = []

    class Listening(ExactOracle):
        def _answers(self, queries):
            asked.append({query.function.centres for query in queries})
            return super()._answers(queries)

    KMeansQueries(((0.0,), (0.5,)), rounds=2).learn(Listening(Population([(0.0,), (0.4,), (1.0,)])))
    # The centres 0 and 0.5 get {0} and {0.4, 1}, so the second round asks about 0 and 0.7.
    ((first,), (second,)) = asked
    assert np.array(first).ravel().tolist() == [0.0, 0.5]
    assert np.array(second).ravel() == pytest.approx([0.0, 0.7])


@pytest.mark.parametrize("model", ["central", "local"])
def test_every_record_affects_one_answer_only(model):
    reads = Counter()

    class Reading(KMeansQueries):
        def queries(self, centres):
            return [self._told(query) for query in super().queries(centres)]

        def _told(self, query):
            inner = query.vectorised

            def counting(records):
                reads.update(x for (x,) in records)
                return inner(records)

            return replace(query, vectorised=counting)

    learner = Reading(((0.2,), (0.8,)), rounds=3)
    records = [(value / 100,) for value in range(96)]
    noise = ChunkNoise(model, 1.0)
    oracle = EvenChunks(records, queries=learner.most_queries, noise=noise, rng=np.random.default_rng(7))
    learner.learn(oracle)
    assert set(reads.values()) == {1}
    assert len(reads) == 96
    if model == "local":
        assert oracle._reports.spent.tolist() == [1.0] * 96


@pytest.mark.parametrize("model", ["central", "local"])
def test_with_many_points_the_private_centres_are_lloyds(model):
    rng = np.random.default_rng(8)
    sample = [(float(x),) for x in np.where(rng.random(120_000) < 0.5, 0.2, 0.7)]
    kmeans = KMeans(start=((0.0,), (1.0,)), rounds=2, tau=0.05, least_mass=0.25, epsilon=2.0, model=model)
    centres = np.array(kmeans(sample, rng)).ravel()
    # Two clusters of mass 1/2 at 0.2 and 0.7. Errors stay far below tau = 0.05, so 2·tau/(1/2 − tau) bounds
    # them.
    assert np.abs(centres - [0.2, 0.7]).max() <= 2 * 0.05 / (0.5 - 0.05)


def test_the_sample_size_is_one_chunk_for_each_query():
    # M = 4, width 1, tau = 0.03, beta = 0.1: 2·ln(16/0.1)/tau² = 11278.2
    assert KMeans().sample_size() == 4 * 11_279


@pytest.mark.parametrize(("tau", "least_mass"), [(0.05, 0.1), (0.2, 0.1), (0.05, 0.2), (0.25, 1.0)])
def test_a_claim_that_cannot_fail_is_refused(tau, least_mass):
    # centres in [0, 1] are always within 1/2 of the middle
    with pytest.raises(
        InvalidValue, match=r"2·tau/least_mass of `KMeans`.* must be below 0.5; got"
    ) as refused:
        KMeans(tau=tau, least_mass=least_mass)
    assert "\n" not in str(refused.value)
    assert KMeans(tau=0.499 * tau / (2 * tau / least_mass), least_mass=least_mass).utility_claim.alpha < 0.5


def test_the_default_claim_can_fail_and_holds():
    kmeans = KMeans()
    assert kmeans.utility_claim.alpha < 0.25
    assert len(kmeans.problems()) == 5
    assert kmeans.problems()[0].error(((0.9,), (0.1,)), None) > kmeans.utility_claim.alpha
    problems = kmeans.problems()[::2]  # balanced, one cluster hardly heavy enough, and one too light
    assert audit_utility(kmeans, problems=problems, budget=1_560).verdict is Verdict.NOT_REFUTED


def test_nothing_is_claimed_if_no_law_is_steady():
    assert KMeans(rounds=2, start=((0.45,), (0.55,))).utility_claim is None


@pytest.mark.parametrize("model", ["central", "local"])
def test_the_audit_does_not_refute_k_means(model):
    assert audit_privacy(KMeans(model=model), budget=4_000).verdict is Verdict.NOT_REFUTED


def test_a_fifth_of_the_claim_is_refuted():
    assert audit_privacy(KMeans(epsilon=2.0), PureDP(0.4), budget=60_000).verdict is Verdict.REFUTED


def test_too_few_points_all_get_the_same_answer():
    assert KMeans(rounds=2)([(0.5,)] * 7, np.random.default_rng(0)) == INSUFFICIENT


@pytest.mark.parametrize("record", [(1.5,), (-0.1,), (0.5, 0.5), 0.5, (float("nan"),), ("a",)])
def test_an_invalid_record_is_refused(record):
    with pytest.raises(InvalidValue, match="A record of `KMeans` must be"):
        KMeans()([(0.5,)] * 4 + [record], np.random.default_rng(0))


@pytest.mark.parametrize(
    "keywords",
    [{"start": ()}, {"start": ((2.0,),)}, {"rounds": 0}, {"tau": 0}, {"least_mass": 2}, {"epsilon": 0}],
)
def test_parameters_out_of_range_are_refused(keywords):
    with pytest.raises(InvalidValue):
        KMeans(**keywords)
