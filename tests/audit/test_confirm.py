"""After a refutation a witness is fixed and run afresh.

If the subject keeps state, the runs are in fresh processes.
"""

import dataclasses
import itertools
import math
import threading

import numpy as np
import pytest
from scipy import stats

from audit import PureDP, Verdict, audit_privacy
from audit.databases.chosen import Databases
from audit.events.features.views import View
from audit.relations import Relation
from audit.sampling import BET, CONFIRM, EXPLORE, Sampler
from audit.subject.subject import adapt
from audit.verdict.betting import Betting
from audit.verdict.confirm import confirm
from audit.verdict.shown.candidates import MOST_CANDIDATES, find_candidates
from audit.verdict.terms import Terms
from audit.verdict.witness import Plan, loss, spread_evenly


class Loud:
    """A sum with noise of scale 1/3, so the true ε is 3."""

    def __call__(self, database, rng):
        return database[0] + rng.laplace(scale=1 / 3)

    def sample(self, database, size, rng):
        return database[0] + rng.laplace(scale=1 / 3, size=size)


class Recording(Sampler):
    def __init__(self, subject, **options):
        super().__init__(subject, **options)
        self.places = []

    def draw(self, left_db, right_db, size, path, **options):
        self.places.append((path, size, options.get("by_call", False)))
        return super().draw(left_db, right_db, size, path, **options)

    def draw_anew(self, left_db, right_db, sizes, path, **options):
        self.places += [(path, size, True) for size in sizes]
        return super().draw_anew(left_db, right_db, sizes, path, **options)


def refute(mechanism, *, epsilon=1.0, delta=0.0, seed=0, allowance=20_000, pair=([0.0], [1.0])):
    with Recording(adapt(mechanism), seed=seed) as sampler:
        betting = Betting(sampler, [pair], Terms(epsilon, delta, 1e-6, 40_000))
        betting.run()
        assert betting.refuted
        before = sampler.drawn
        databases = Databases(Relation.REPLACE_ONE, given=(pair,))
        found = confirm(sampler, betting, allowance=allowance, databases=databases)
        return found, betting, sampler, sampler.drawn - before


def test_a_witness_of_a_leak_is_confirmed_on_new_runs():
    found, _, sampler, _ = refute(Loud())
    witness = found.witness
    assert witness.confirmed
    assert not found.doubt
    assert found.how == "stateless"
    assert (witness.fresh, witness.parts) == (False, 0)
    assert {path[0] for path, *_ in sampler.places} <= {EXPLORE, BET, CONFIRM}
    assert [place for place in sampler.places if place[0][0] == CONFIRM] == [
        (tuple(witness.seed), witness.runs, True)
    ]


def test_p_and_q_are_frequencies_in_the_runs_of_the_witness():
    witness = refute(Loud())[0].witness
    with Sampler(adapt(Loud()), seed=0) as sampler:
        seed = tuple(witness.seed)
        blocks = sampler.draw(witness.left, witness.right, witness.runs, seed, singly=True, by_call=True)
        drawn = [(block.left, block.right) for block in blocks]
    left, right = (list(itertools.chain(*side)) for side in zip(*drawn, strict=True))
    assert len(left) + len(right) == 2 * witness.runs
    shares = [witness.event.members(View(side)).sum() / len(side) for side in (left, right)]
    assert shares == ([witness.p, witness.q] if witness.direction == "left" else [witness.q, witness.p])


def first_three(witness, subject, seed=0):
    """Return the first three outputs of a witness on each side.

    They are drawn again from its seed, and rounded to four digits.
    """
    with Sampler(adapt(subject), seed=seed) as sampler:
        seed = tuple(witness.seed)
        [block, *_] = sampler.draw(witness.left, witness.right, witness.runs, seed, singly=True, by_call=True)
    return tuple(tuple(repr(float(f"{each:.4g}")) for each in side[:3]) for side in (block.left, block.right))


def test_the_examples_are_the_first_outputs_of_the_witness_own_runs():
    witness = refute(Loud())[0].witness
    assert witness.examples == first_three(witness, Loud())


@pytest.mark.parametrize("isolate", [False, True])
def test_the_examples_are_the_same_for_any_number_of_jobs_and_in_a_replay(isolate):
    def said(database, rng):
        if rng.random() < 0.5:
            raise KeyError(database[0])
        return [database[0]] * 100

    options = {"pairs": [([0], [1])], "budget": 2_000, "isolate": isolate}
    one, two = (audit_privacy(said, PureDP(1.0), jobs=jobs, **options) for jobs in (1, 2))
    assert one.to_json()["result"] == two.to_json()["result"]
    for value, texts in enumerate(one.witness.examples):
        assert len(texts) == 3
        assert set(texts) <= {f"raised KeyError: {value}", f"[{', '.join([str(value)] * 20)}… (length 100)"}
    assert one.replay(said).witness.examples == one.witness.examples


def test_a_pair_given_by_hand_is_marked_as_given():
    assert refute(Loud())[0].witness.given
    result = audit_privacy(Loud(), PureDP(1.0), records=[0.0, 1.0], size=1, budget=20_000)
    assert not result.witness.given


def test_the_intervals_hold_the_true_probabilities():
    """Four or more of the 24 intervals miss with probability at most 9.1e-5.

    Each of 12 seeds gives two intervals at 99 %.
    """
    misses = 0
    for seed in range(12):
        witness = refute(Loud(), seed=seed)[0].witness
        [condition] = witness.event.conditions
        locations = (0.0, 1.0) if witness.direction == "left" else (1.0, 0.0)
        truth = [
            sum(
                stats.laplace.cdf(b, at, 1 / 3) - stats.laplace.cdf(a, at, 1 / 3)
                for a, b in condition.intervals
            )
            for at in locations
        ]
        intervals = (witness.p_interval, witness.q_interval)
        misses += sum(not low <= true <= high for true, (low, high) in zip(truth, intervals, strict=True))
    assert misses <= 3


#: The number of runs that test whether a subject is stateless: four on each of three databases (the first one
#: and both of the pair), each made by the object and again by a copy.
CHECKED = 4 * 3 * 2


def test_the_confirmation_keeps_to_its_allowance():
    for allowance in (400, 2_000, 20_000):
        *_, spent = refute(Loud(), allowance=allowance)
        assert spent <= allowance + CHECKED


class Called(Loud):
    """A subject without a sampler."""

    sample = None


def test_with_too_few_runs_a_witness_of_a_stateless_subject_stays_unconfirmed():
    """The wealth crosses its limit, but p and q rest on few runs."""
    found, *_ = refute(Called(), epsilon=2.5, allowance=8)
    assert not found.witness.confirmed
    assert not found.doubt


def remembering(*, leaks):
    """Return a subject that keeps its outputs.

    Fresh processes build it without importing this module.
    """

    class Remembers:
        def __init__(self):
            self.said = {}

        def __call__(self, database, rng):
            said = self.said.setdefault(database[0], database[0] + rng.laplace())
            return database[0] if leaks else said

    return Remembers()


def test_noise_that_is_kept_is_drawn_anew_in_every_process_and_refutes_nothing():
    found, _, sampler, _ = refute(remembering(leaks=False))
    assert found.how == "fresh"
    assert found.doubt
    assert not found.witness.confirmed
    assert found.witness.parts
    assert {place[0][0] for place in sampler.places} <= {EXPLORE, BET, CONFIRM}


def test_a_leak_of_a_subject_with_state_is_confirmed_by_one_run_in_each_fresh_process():
    found, _, sampler, _ = refute(remembering(leaks=True))
    witness = found.witness
    assert found.how == "fresh"
    assert not found.doubt
    assert witness.confirmed
    assert (witness.p, witness.q) == (1.0, 0.0)
    assert witness.fresh
    assert [size for path, size, _ in sampler.places if path[0] == CONFIRM] == [0] * witness.parts
    assert witness.parts == 2 * witness.runs


def test_a_witness_mostly_has_bounds_of_few_digits():
    """Most bounds have few digits.

    If few outputs are kept, a small rounding of a bound may change the growth, so some bounds are longer.
    """
    short = 0
    for seed in range(5):
        [condition] = refute(Loud(), seed=seed)[0].witness.event.conditions
        bounds = [bound for interval in condition.intervals for bound in interval if math.isfinite(bound)]
        short += all(bound == float(f"{bound:.4g}") for bound in bounds)
    assert short >= 3


def test_candidates_are_few_different_and_the_best_first():
    _, betting, *_ = refute(Loud())
    candidates = find_candidates(betting.winner, betting.terms)
    assert 1 <= len(candidates) <= MOST_CANDIDATES
    assert len({candidate.event for candidate in candidates}) == len(candidates)
    assert all(candidate.p > math.e * candidate.q for candidate in candidates)


@pytest.mark.parametrize(
    ("p", "q", "delta", "expected"),
    [
        (0.5, 0.25, 0.0, math.log(2)),
        (0.5, 0.0, 0.1, math.inf),
        (0.2, 0.3, 0.0, 0.0),
        (0.4, 0.3, 0.1, 0.0),
        (0, 0, 0, 0),
    ],
)
def test_the_loss_follows_from_p_and_q_at_this_delta(p, q, delta, expected):
    assert loss(p, q, delta) == pytest.approx(expected)


def test_a_fault_seen_on_distant_databases_is_shown_on_the_step_that_fails():
    """The step from 25 to 26 loses 5, more than the 4 that 40 steps may lose.

    Sums are rounded to multiples of 50.
    """

    def rounded(database, rng):
        return 50 * round(sum(database) / 50) + rng.laplace(scale=10)

    path = tuple([1] * k + [0] * (60 - k) for k in range(41))
    databases = Databases(Relation.REPLACE_ONE, records=(0, 1), finite=True, sizes=(1, 60))
    with Sampler(adapt(rounded), seed=0) as sampler:
        betting = Betting(sampler, [path], Terms(0.1, 0.0, 1e-6, 40_000))
        betting.run()
        assert betting.refuted
        found = confirm(sampler, betting, allowance=20_000, databases=databases)
    assert found.far.distance == 40
    assert found.far.confirmed
    assert found.witness.distance == 1
    assert {sum(found.witness.left), sum(found.witness.right)} == {25, 26}
    assert found.witness.confirmed
    simplest = found.witness.simplest
    assert {sum(simplest.left), sum(simplest.right)} == {25, 26}
    assert len(simplest.left) == 26


def test_a_loss_that_no_single_step_confirms_is_shown_on_the_distant_databases():
    """A step loses 0.13, and the claim allows 0.1.

    The evidence grows by 2e-4 nats per pair of runs on one step, and by 1e-2 at distance 20.
    """

    def loud(database, rng):
        return sum(database) + rng.laplace(scale=1 / 0.13)

    path = tuple([1] * k + [0] * (20 - k) for k in range(21))
    databases = Databases(Relation.REPLACE_ONE, records=(0, 1), finite=True, sizes=(20, 20))
    with Sampler(adapt(loud), seed=0) as sampler:
        betting = Betting(sampler, [path], Terms(0.1, 0.0, 1e-6, 60_000))
        betting.run()
        assert betting.refuted
        found = confirm(sampler, betting, allowance=20_000, databases=databases)
    witness = found.witness
    assert (witness.distance, witness.confirmed) == (20, True)
    assert {sum(witness.left), sum(witness.right)} == {0, 20}
    assert witness.p > math.exp(20 * 0.1) * witness.q
    assert witness.epsilon_lower == pytest.approx(
        math.log(witness.p_interval[0] / witness.q_interval[1]) / 20, rel=1e-9
    )
    assert found.far == dataclasses.replace(witness, simplest=None)
    assert witness.simplest.distance == 1 or witness.simpler is None
    assert witness.simplest.confirmed


class OneDrawForAll:
    """A correct subject whose sampler makes one draw for a whole block."""

    def __call__(self, database, rng):
        return sum(database) + rng.laplace()

    def sample(self, database, size, rng):
        return np.full(size, sum(database) + rng.laplace())


def test_a_sampler_that_draws_once_for_a_block_refutes_nothing():
    """A loss that vanishes in separate calls is no refutation."""
    verdicts = {
        audit_privacy(OneDrawForAll(), PureDP(1.0), pairs=[([0.0], [1.0])], budget=20_000, seed=seed).verdict
        for seed in range(2)
    }
    assert Verdict.REFUTED not in verdicts


class LockedCache:
    """A subject that caches its noise and holds a lock, which cannot be copied."""

    def __init__(self):
        self.lock = threading.Lock()
        self.noise = None

    def __call__(self, database, rng):
        with self.lock:
            if self.noise is None:
                self.noise = rng.laplace()
            return sum(database) + self.noise


def test_noise_kept_by_a_subject_that_cannot_be_copied_refutes_nothing():
    result = audit_privacy(LockedCache(), PureDP(1.0), pairs=[([0.0], [1.0])], budget=20_000)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "give `fresh=`" in result.reason


# The exact test of whether a frequency is equal in every process


def exact_p_value(calls, hits):
    """Return the probability that Σ hits²/calls is at least its observed value.

    The hits are a random choice among all calls.
    """

    def statistic(drawn):
        return sum(d * d / n for d, n in zip(drawn, calls, strict=True))

    ways = [
        (math.prod(math.comb(n, d) for n, d in zip(calls, drawn, strict=True)), statistic(drawn))
        for drawn in itertools.product(*(range(n + 1) for n in calls))
        if sum(drawn) == sum(hits)
    ]
    observed = statistic(hits) * (1 - 1e-12)
    return sum(count for count, value in ways if value >= observed) / sum(count for count, _ in ways)


@pytest.mark.parametrize(
    ("calls", "hits"),
    [
        ((4, 4, 5), (3, 2, 2)),
        ((4, 4, 5), (4, 0, 1)),
        ((6, 6), (6, 0)),
        ((2, 9, 3), (0, 5, 3)),
        ((5, 5, 5), (1, 1, 1)),
    ],
)
def test_the_spread_over_processes_has_the_p_value_of_the_urn(calls, hits):
    """The p-value of 20,000 draws agrees with enumeration within five standard errors."""
    exact = exact_p_value(calls, hits)
    error = 5 * math.sqrt(exact * (1 - exact) / 20_000) + 1 / 20_000
    assert spread_evenly(np.array(hits, float), np.array(calls, float)) == pytest.approx(exact, abs=error)


@pytest.mark.parametrize("hits", [(0, 0, 0), (4, 4, 5)])
def test_hits_that_never_or_always_happen_are_spread_evenly(hits):
    assert spread_evenly(np.array(hits, float), np.array([4.0, 4.0, 5.0])) == 1.0


def test_a_process_without_calls_says_nothing_of_the_spread():
    with_none, without = ([3.0, 0.0, 1.0], [6.0, 0.0, 6.0]), ([3.0, 1.0], [6.0, 6.0])
    assert spread_evenly(*map(np.array, with_none)) == spread_evenly(*map(np.array, without))


@pytest.mark.parametrize(("runs", "parts"), [(45, 90), (45, 100), (200, 16), (192, 16), (7, 3)])
def test_a_plan_shares_its_calls_among_the_processes(runs, parts):
    sizes = Plan(runs, parts).sizes
    if parts >= 2 * runs:
        assert sizes == [0] * (2 * runs)  # each process makes a single call
    else:
        assert len(sizes) == parts
        assert sum(sizes) == runs
        assert max(sizes) - min(sizes) <= 1
