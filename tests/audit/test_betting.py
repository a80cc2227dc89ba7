"""The bets of a batch are fixed before its runs, and only bets change the wealth."""

import itertools
import math
import time

import numpy as np
import pytest
from scipy import stats

from audit.evidence.memory import PairMemory
from audit.sampling import BET, Sampler
from audit.subject.subject import adapt
from audit.values.outcomes import Raised, Unfinished
from audit.verdict.betting import Betting
from audit.verdict.terms import NeverAnswers, Terms


class Noisy:
    def __call__(self, database, rng):
        return database[0] + rng.laplace(scale=0.5)

    def sample(self, database, size, rng):
        return database[0] + rng.laplace(scale=0.5, size=size)


def run(mechanism, pairs=(([0.0], [1.0]),), *, epsilon=1.0, budget=8_000, seed=0, listener=None, **terms):
    with Sampler(adapt(mechanism), seed=seed) as sampler:
        betting = Betting(
            sampler,
            pairs,
            Terms(epsilon, terms.pop("delta", 0.0), terms.pop("significance", 1e-6), budget, **terms),
            listener,
        )
        betting.run()
    return betting


def test_what_is_bet_on_was_chosen_from_what_was_known_before(monkeypatch):
    """Between the choice of bets and their settlement, nothing is learned."""
    happened = []

    def spy(name):
        real = getattr(PairMemory, name)

        def recording(self, *arguments, **options):
            happened.append(name)
            return real(self, *arguments, **options)

        monkeypatch.setattr(PairMemory, name, recording)

    for name in ("choose", "count", "learn"):
        spy(name)
    run(Noisy(), epsilon=3.0, budget=1_000)
    # the second letter names the call: h is choose, o is count, e is learn
    batches = "".join(name[1] for name in happened).split("h")[1:]
    assert len(batches) > 3
    assert all("e" in batch for batch in batches)
    assert all(batch.startswith("o") for batch in batches)


def test_the_wealth_is_that_of_the_ledger_and_of_the_bets_alone():
    betting = run(Noisy(), epsilon=2.0)
    path = betting.ledger.path(2.0, 0.0)
    assert betting.log_wealth == pytest.approx(path[-1])


def test_it_stops_at_the_crossing_and_says_when():
    betting = run(Noisy(), epsilon=0.5)
    assert betting.refuted
    assert betting.crossed_at == betting.spent < 8_000
    assert betting.log_wealth >= math.log(1e6)
    assert betting.ledger.path(0.5, 0.0)[:-1].max() < math.log(1e6)
    assert (betting.winner.left, betting.winner.right) == ([0.0], [1.0])


def test_it_continues_to_the_budget_if_told_to():
    stopped, went_on = run(Noisy(), epsilon=0.5), run(Noisy(), epsilon=0.5, stop_when_refuted=False)
    assert stopped.refuted
    assert went_on.refuted
    assert stopped.crossed_at == stopped.spent < went_on.spent
    assert 7_998 <= went_on.spent <= 8_000
    assert went_on.ledger.bets[0].counts.tolist() == stopped.ledger.bets[0].counts.tolist()


@pytest.fixture
def aimed(monkeypatch):
    """The number of pairs of runs that were known at each bet that aims at the end."""
    known, real = [], PairMemory.aim

    def aim(self, *claim, **options):
        known.append(self.pairs)
        return real(self, *claim, **options)

    monkeypatch.setattr(PairMemory, "aim", aim)
    return known


@pytest.mark.parametrize("stops", [True, False])
def test_stakes_aim_at_the_end_once_a_pair_is_known(aimed, stops):
    """An audit that runs to the end aims no bets at its end while it chooses among pairs it hardly knows."""
    run(Noisy(), epsilon=3.0, budget=8_000, stop_when_refuted=stops)
    few = 4_000 * (0.5 / (math.sqrt(2 * math.log(1e6)) + 1)) ** 2
    assert (min(aimed) < few) == stops
    assert min(aimed) < 3 * few


def test_a_time_limit_counts_when_the_end_is_judged(aimed):
    """The budget alone would leave every pair hardly known."""
    run(Noisy(), epsilon=3.0, budget=10**12, stop_when_refuted=False, deadline=time.monotonic() + 1.0)
    assert aimed


@pytest.mark.parametrize("budget", [100, 101, 1_000, 4_321])
def test_the_budget_is_not_exceeded(budget):
    assert budget - 1 <= run(Noisy(), epsilon=3.0, budget=budget).spent <= budget


def test_batches_begin_small_and_grow_by_a_quarter_at_most():
    betting = run(Noisy(), epsilon=2.0, budget=200_000)
    sizes = [bet.calls // 2 for bet in betting.ledger.bets]
    assert sizes[0] <= 40
    assert all(later <= math.ceil(1.25 * before) + 1 for before, later in itertools.pairwise(sizes))


def test_no_batch_begins_after_the_deadline():
    assert run(Noisy(), deadline=0.0).spent <= 64


def test_an_outright_leak_takes_few_runs():
    """p = 1, q = 0, ε = 1, significance 1e-6: 250 runs have to be enough."""
    for mechanism in (lambda database, rng: database[0], lambda database, rng: str(database)):
        assert run(mechanism).crossed_at <= 250


@pytest.mark.parametrize("turned", [False, True])
def test_either_database_may_be_the_likelier_one(turned):
    """Only the right database gives this event, with probability 0.4.

    The claim has δ > 0.
    """

    def mechanism(database, rng):
        return "seen" if database == [1] and rng.random() < 0.4 else "nothing"

    pair = ([1], [0]) if turned else ([0], [1])
    assert run(mechanism, [pair], delta=0.1).refuted
    assert not run(mechanism, [pair], delta=0.4).refuted


def test_the_pair_that_leaks_is_found_among_many():
    def mechanism(database, rng):
        return (database == [7, 7, 6]) + rng.laplace(scale=0.2)

    pairs = [([i, 7, 6], [i, 7, 5]) for i in range(12)]
    betting = run(mechanism, pairs, budget=40_000)
    assert betting.refuted
    assert betting.winner.left == [7, 7, 6]


def test_the_same_seed_is_the_same_audit_and_another_is_not():
    first, again, other = (run(Noisy(), epsilon=2.0, seed=seed).log_wealth for seed in (1, 1, 2))
    assert first == again != other


def test_progress_is_reported_after_every_batch():
    told = []
    betting = run(Noisy(), epsilon=2.0, listener=told.append)
    assert [event.runs for event in told] == sorted(event.runs for event in told)
    assert told[-1].log_wealth == betting.log_wealth
    assert len([event for event in told if event.stage == "betting"]) == len(betting.ledger.bets)


def always(outcome):
    def mechanism(database, rng):
        raise MemoryError if isinstance(outcome, Unfinished) else KeyError("age")

    return mechanism


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (Raised("KeyError", "'age'"), "every run raised KeyError: 'age'"),
        (Unfinished("out of memory"), "no run finished: out of memory"),
    ],
)
def test_a_subject_that_never_answers_is_detected(outcome, said):
    with pytest.raises(NeverAnswers, match=said):
        run(always(outcome))


def test_runs_are_bet_on_at_their_own_places_of_the_seed_tree():
    """Runs drawn again at the same places have the same coins and outputs."""
    betting = run(Noisy(), epsilon=2.0, budget=3_000)
    place, size = (BET, betting.batches - 1), betting.ledger.bets[-1].calls // 2
    with Sampler(adapt(Noisy()), seed=0) as sampler:
        [runs] = sampler.draw([0.0], [1.0], size, place, by_call=True)
        assert sampler.last_sides == (len(runs.left), len(runs.right))
    settled = betting.ledger.bets[-1].counts
    sides = {
        (int(p), int(q)) for p, q in zip(settled[:, :2].sum(axis=1), settled[:, 2:].sum(axis=1), strict=True)
    }
    assert sides <= {(len(runs.left), len(runs.right)), (len(runs.right), len(runs.left))}
    kept = betting.memories[0].kept(0)
    for drawn, views in zip((runs.left, runs.right), kept, strict=True):
        assert np.isin(drawn, np.concatenate([view.outputs for view in views])).all()


def test_each_run_that_is_bet_on_draws_its_side_by_a_coin_of_its_own():
    """With fair coins the counts are binomial.

    If runs were drawn in pairs, each side would get exactly half of the runs.
    """
    bets = run(Noisy(), epsilon=3.0, budget=20_000).ledger.bets
    uneven = [bet.counts[0, :2].sum() != bet.counts[0, 2:].sum() for bet in bets]
    assert any(uneven)
    of_p = sum(bet.counts[0, :2].sum() for bet in bets)
    assert stats.binomtest(int(of_p), sum(bet.calls for bet in bets), 0.5).pvalue > 1e-9
