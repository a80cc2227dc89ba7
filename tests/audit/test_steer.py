"""Recorded draws predict how fast bets on a pair of databases win.

The search tries the best predictions first.
"""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from audit import PureDP, Relation, audit_privacy
from audit.databases.domain import describe
from audit.evidence.growth import growth_rate
from audit.sampling import EXPLORE, Sampler
from audit.sampling.recorded.generator import RecordingGenerator
from audit.search.steer import SCOUTS, Steering, promised
from audit.subject.subject import adapt
from audit.verdict.betting import Betting
from audit.verdict.terms import Terms


def histogram(database, rng):
    return np.bincount(database, minlength=4) + rng.laplace(0.0, 2.0, 4)


def prefix_sums(database, rng):
    return np.cumsum(np.asarray(database) + rng.laplace(0.0, 2.0, len(database)))


def two_scales(database, rng):
    return {"sum": sum(database) + rng.laplace(0.0, 4.0), "peak": max(database) + rng.laplace(0.0, 1.0)}


def whole_sum(database, rng):
    return sum(database) + int(rng.geometric(0.4)) - int(rng.geometric(0.4))


def normal_sums(database, rng):
    return np.array([sum(database), 2 * max(database)]) + rng.normal(0.0, 2.0, 2)


def l1(database, other, f, scale):
    return float((np.abs(np.subtract(f(other), f(database))) / scale).sum())


ADDITIVE = {
    "histogram": (histogram, lambda a, b: l1(a, b, lambda d: np.bincount(d, minlength=4), 2.0)),
    "prefix sums": (prefix_sums, lambda a, b: l1(a, b, np.asarray, 2.0)),
    "two scales": (two_scales, lambda a, b: l1(a, b, lambda d: [sum(d), max(d)], [4.0, 1.0])),
    "geometric": (whole_sum, lambda a, b: l1(a, b, lambda d: [sum(d)], 1 / -math.log(0.6))),
    "normal": (
        normal_sums,
        lambda a, b: math.hypot(*(np.subtract([sum(b), 2 * max(b)], [sum(a), 2 * max(a)]) / 2)),
    ),
}


@pytest.mark.parametrize("name", ADDITIVE)
def test_the_promise_of_one_coupled_run_ranks_pairs_by_their_loss(name):
    """Each pair is two random lists of numbers from 0 to 3.

    Pairs with equal losses may differ in predicted growth: one large move is faster than several small
    moves.
    """
    mechanism, loss = ADDITIVE[name]
    rng, steering, losses, promises = np.random.default_rng(0), Steering(0.05, 0.0), [], []
    with Sampler(adapt(mechanism), seed=0) as sampler:
        for place in range(60):
            left, right = (rng.integers(0, 4, 3).tolist() for _ in range(2))

            def draw(probes, left=left, right=right, place=place):
                return sampler.probe(left, right, probes, (EXPLORE, place))

            losses.append(loss(left, right))
            promises.append(steering.promise(*draw(SCOUTS), draw))
    assert stats.spearmanr(losses, promises).statistic >= 0.9
    assert losses[int(np.argmax(promises))] == pytest.approx(max(losses))


def test_no_growth_is_promised_against_a_claim_that_holds_with_equality():
    scales = np.full((2, 4), 2.0)
    assert promised(np.full(4, 0.5), scales, normal=False, epsilon=1.0, delta=0.0) == 0.0
    assert promised(np.full(4, 0.7), scales, normal=False, epsilon=1.0, delta=0.0) > 0.0
    assert promised(np.zeros(4), scales * [[1.0], [2.0]], normal=False, epsilon=1.0, delta=0.0) > 0.0


def test_a_promise_is_checked_before_it_is_made():
    """On [0.0] the output depends on the draws in another way than on [3.0].

    The noise grows with the data, and the audit measures on [0.0].
    """

    def stretched(database, rng):
        return database[0] + (1.0 + database[0]) * rng.laplace(0.0, 0.1)

    steering, promises = Steering(1.0, 0.0), []
    with Sampler(adapt(stretched), seed=0) as sampler:
        for place, (left, right) in enumerate([([0.3], [0.0]), ([0.0], [3.0])]):

            def draw(probes, left=left, right=right, place=place):
                return sampler.probe(left, right, probes, (EXPLORE, place))

            promises.append(steering.promise(*draw(SCOUTS), draw))
    assert promises[0] > 0 == promises[1]


def selection(database, rng):
    """Return the median of 0 to 10 by the exponential mechanism.

    The score moves by 2, but the noise is for a move of 1.
    """
    counts = np.bincount(database, minlength=11)
    below = np.cumsum(counts) - counts
    weights = np.exp(-0.5 * np.abs(2 * below + counts - len(database)))
    return int(rng.choice(11, p=weights / weights.sum()))


def test_the_weights_of_a_choice_promise_the_best_bet_on_any_set_of_outputs():
    rng, steering, hopeful = np.random.default_rng(0), Steering(1.0, 0.0), 0
    sets = np.array(list(itertools.product([0.0, 1.0], repeat=11)))[1:-1]
    with Sampler(adapt(selection), seed=0) as sampler:
        for place in range(20):
            left, right = (rng.integers(0, 11, 3).tolist() for _ in range(2))
            runs = sampler.probe(left, right, SCOUTS, (EXPLORE, place))
            p, q = (sets @ run.draws[0].parameters["p"] for run in runs)
            best = max(growth_rate(p, q, 1.0, 0.0).max(), growth_rate(q, p, 1.0, 0.0).max())
            hopeful += best > 1e-5
            assert steering.promise(*runs, None) == pytest.approx(best if best > 1e-5 else 0.0)
    assert 5 <= hopeful <= 15


# In an audit


def ads(database, rng):
    """Put the ad of the last epoch into the first histogram, and so on backwards.

    One epoch moves up to three histograms, but the noise covers only a move of 1.3.
    """
    out, left = np.zeros((3, 3)), [epoch for epoch in database if epoch]
    for turn, ad in enumerate(reversed(left)):
        out[turn, ad - 1] = 1.0
    return out + rng.laplace(0.0, 1.3, (3, 3))


class Recording(Sampler):
    """A sampler that records the place and size of each draw larger than 1."""

    draws = ()

    def draw(self, left_db, right_db, size, path, **ways):
        self.draws += () if size == 1 else ((path, size),)
        return super().draw(left_db, right_db, size, path, **ways)


def searched(mechanism, *, epsilon, budget, steering, values=4):
    """Search the lists of three records, and return the betting and its sampler."""
    domain = {"pairs": None, "databases": None, "records": list(range(values)), "size": 3}
    databases = describe(Relation.REPLACE_ONE, **domain)
    with Recording(adapt(mechanism), seed=0) as sampler:
        terms = Terms(epsilon, 0.0, 1e-6, budget)
        proposals = databases.proposals(np.random.default_rng(0))
        return Betting(sampler, proposals, terms, steering=steering).run(), sampler


def test_an_audit_that_steers_needs_few_runs():
    """A search by counts needs 1.8 times as many runs as this audit.

    A few of 288 pairs have a loss of 3.8, and most have far less.
    """
    betting, _ = searched(ads, epsilon=1.0, budget=6_000, steering=Steering(1.0, 0.0))
    assert betting.refuted
    without, _ = searched(ads, epsilon=1.0, budget=int(1.5 * betting.crossed_at), steering=None)
    assert not without.refuted


def test_a_selection_is_steered_by_its_weights():
    """A search by counts needs several times as many runs.

    Only a few pairs have a large loss.
    """
    told = {"epsilon": 1.0, "budget": 7_500, "values": 11}
    betting, _ = searched(selection, **told, steering=Steering(1.0, 0.0))
    without, _ = searched(selection, **told, steering=None)
    assert betting.refuted
    assert not without.refuted


def test_steering_runs_count_and_belong_to_the_search_only(monkeypatch):
    drawn, probes, probe = [], [], Sampler.probe

    def counting(self, left, right, asked, path):
        before = self.drawn
        found = probe(self, left, right, asked, path)
        probes.append((path[0], len(asked)))
        drawn.append(self.drawn - before)
        return found

    monkeypatch.setattr(Sampler, "probe", counting)
    betting, sampler = searched(ads, epsilon=4.0, budget=2_000, steering=Steering(4.0, 0.0))
    assert {stage for stage, _ in probes} == {EXPLORE}
    assert drawn[1:] == [size for _, size in probes][1:]  # the first probe also checks the generator
    assert max(drawn[1:]) == 10  # one run for each of nine noise values; runs come in pairs
    assert betting.spent == sampler.drawn
    assert 1_998 <= sampler.drawn <= 2_000


def test_a_search_without_promises_behaves_as_without_steering():
    """The only extra runs are the nine that measure how the output follows the noise."""
    draws = [
        searched(ads, epsilon=4.0, budget=2_500, steering=steering)[1].draws[:-1]
        for steering in (Steering(4.0, 0.0), None)
    ]
    assert len(draws[0]) > 20
    assert draws[0] == draws[1][: len(draws[0])]


def test_with_recorded_false_no_recorded_run_is_made(monkeypatch):
    monkeypatch.delattr(Sampler, "probe")
    where = {"records": [0, 1], "size": 2, "budget": 1_000}
    assert audit_privacy(words, PureDP(1.0), **where, recorded=False).samples >= 998


def picky(database, rng):
    if isinstance(rng, RecordingGenerator):
        raise TypeError("a numpy generator, please")
    return sum(database) + rng.laplace()


def own_noise(database):
    return sum(database) + np.random.default_rng().laplace()


def many_numbers(database, rng):
    return float(sum(database) + rng.laplace(0.0, 1.0, 200)[0])


def raises_on_one(database, rng):
    if sum(database) == 3:
        raise ValueError("no such record")
    return sum(database) + rng.laplace()


def words(database, rng):
    return "yes" if sum(database) + rng.laplace() > 1 else "no"


@pytest.mark.parametrize(
    "mechanism", [picky, own_noise, many_numbers, raises_on_one, words], ids=lambda each: each.__name__
)
def test_a_subject_with_uninformative_draws_is_audited_as_without_recording(mechanism):
    where = {"records": [0, 1], "size": (0, 3), "relation": "add-or-remove-one", "budget": 3_000}
    with_them, without = (
        audit_privacy(mechanism, PureDP(1.0), **where, recorded=recorded) for recorded in (True, False)
    )
    assert with_them.verdict == without.verdict
    if mechanism is not own_noise:  # own_noise has no seed
        assert with_them.samples_to_refutation == without.samples_to_refutation
