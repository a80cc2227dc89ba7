"""Planted defects that make an auditor refute true claims are noticed.

The seeds were fixed in advance. Audits of the same case without the defect pass, here or in
`test_false_alarms`. A sound auditor fails a criterion with probability at most 1e-5.
"""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import audit.verdict.by_law
import audit.verdict.law_runs
from audit import PureDP, Verdict, audit_privacy
from audit.distributions import Density
from audit.events.features.numbers import Length
from audit.events.features.views import View
from audit.events.tables import Table
from audit.evidence.bets import Bet, log_payoffs
from audit.evidence.memory import bet_on
from audit.sampling import BET, Sampler
from audit.sampling import blocks as sampling_blocks
from audit.sampling.loops import sides
from audit.sampling.seeds import generator
from audit.subject.subject import adapt
from audit.verdict.betting import Betting
from audit.verdict.terms import Terms


@pytest.fixture
def wealths(false_alarms):
    """Return a function that yields the log wealths of several audits of a case."""

    def made(name, betting=Betting, *, audits=10, **options):
        case = false_alarms.CASES[name]
        return (false_alarms.audit(case, seed, betting=betting, **options) for seed in range(audits))

    return made


# 1. An event learned on the batch it is bet on


class LearnsFirst(Betting):
    def _bet(self, memory, size):
        crosses, blocks = self._draw(memory, size, self.stage)
        memory.learn(blocks, crosses)
        chosen = memory.choose(self.terms.epsilon, self.terms.delta)
        left, right = (
            View([o for view in side[-len(blocks) :] for o in view.outputs]) for side in memory.kept(0)
        )
        self.log_wealth += bet_on(chosen, memory.count(left, right)).log_growth(
            self.terms.epsilon, self.terms.delta
        )
        if not self.refuted and self.log_wealth >= self.terms.log_limit:
            self.crossed_at = self.spent


def test_an_event_learned_on_the_batch_it_is_bet_on_is_caught(wealths, false_alarms):
    assert false_alarms.accused(wealths("laplace", LearnsFirst, audits=40))


# 2. The width of the batch as a feature


def widest(self, view):
    return np.full(len(view), max((len(output) for output in view.outputs), default=0), dtype=float)


def test_batch_width_as_a_feature_is_caught(wealths, false_alarms, monkeypatch):
    """`test_features` catches this defect too."""
    monkeypatch.setattr(Length, "column", widest)
    assert false_alarms.accused(wealths("threshold release", audits=30))


# 3. Runs drawn to explore pairs are bet on


class BetsOnExploration(Betting):
    def _look(self, memory, size):
        before = memory.pairs
        super()._look(memory, size)
        drawn = memory.pairs - before
        if drawn:
            sides = ([o for view in side for o in view.outputs][-drawn:] for side in memory.kept(0))
            counted = memory.count(*map(View, sides))
            terms = self.terms
            chosen = memory.choose(terms.epsilon, terms.delta)
            self.log_wealth += bet_on(chosen, counted).log_growth(terms.epsilon, terms.delta)


def test_betting_on_exploration_runs_is_caught(wealths, false_alarms, monkeypatch):
    case = false_alarms.CASES["several pairs"]
    many = replace(case, pairs=tuple(([k], [k + 1]) for k in range(48)))
    monkeypatch.setitem(false_alarms.CASES, "many pairs", many)
    assert false_alarms.judge(list(wealths("many pairs", audits=3, budget=10_000))).sound
    assert false_alarms.accused(wealths("many pairs", BetsOnExploration, audits=150, budget=10_000))


class Recording(Sampler):
    def __init__(self, subject, **options):
        super().__init__(subject, **options)
        self.places = []

    def draw(self, left_db, right_db, size, path, **options):
        self.places.append((path, size))
        return super().draw(left_db, right_db, size, path, **options)


def test_every_place_of_the_seed_tree_is_drawn_once_and_only_bets_are_bet_on(false_alarms):
    case = false_alarms.CASES["several pairs"]
    with Recording(adapt(case.mechanism), seed=0) as sampler:
        betting = Betting(sampler, case.pairs, Terms(1.0, 0.0, 1e-6, 20_000))
        betting.run()
    paths = [path for path, _ in sampler.places]
    assert len(set(paths)) == len(paths)
    assert [size for path, size in sampler.places if path[0] == BET] == [
        bet.calls // 2 for bet in betting.ledger.bets
    ]
    assert any(path[0] != BET for path in paths)


# 4. The wealth of the best of several events


def of_the_best(self, epsilon, delta):
    return float((self.counts[:, None, :] @ log_payoffs(self.p, self.q, epsilon, delta)).max())


def test_wealth_maximised_over_events_is_caught(wealths, false_alarms, monkeypatch):
    """The enumeration in `test_evidence` catches this too."""
    monkeypatch.setattr(Bet, "log_growth", of_the_best)
    assert false_alarms.accused(wealths("geometric", audits=30))


# 5. A batch that lost is skipped


class SkipsLosses(Betting):
    def _bet(self, memory, size):
        before = self.log_wealth
        super()._bet(memory, size)
        self.log_wealth = max(before, self.log_wealth)


def test_skipping_batches_that_lose_is_caught(wealths, false_alarms):
    assert false_alarms.accused(wealths("laplace", SkipsLosses, audits=90, budget=30_000))


# 6. One random stream for two workers


def one_stream(seed, path):
    """Return the generator of a place in the seed tree.

    Planted defect: all blocks of a draw get the same generator.
    """
    return generator(seed, (*path[:2], 0, *path[3:]))


def states(false_alarms, monkeypatch, derive):
    """Return the starting states of all generators that one audit uses."""
    made = {}

    def recorded(seed, path):
        made[path] = derive(seed, path).bit_generator.state["state"]["state"]
        return derive(seed, path)

    with monkeypatch.context() as patch:
        patch.setattr(sampling_blocks, "generator", recorded)
        false_alarms.audit(false_alarms.CASES["randomized response"], 0)
    return made


def test_one_stream_in_several_blocks_is_caught(false_alarms, monkeypatch):
    """Without the defect every block of an audit starts from a different state."""
    sound = states(false_alarms, monkeypatch, generator)
    assert len(set(sound.values())) == len(sound) > 100
    planted = states(false_alarms, monkeypatch, one_stream)
    assert len(set(planted.values())) < len(planted)


# 7. A fixed order of the calls, and a clock


class Clock:
    """A mechanism whose private calls alternate between two laws."""

    def __init__(self):
        self.calls = 0

    def __call__(self, database, rng):
        self.calls += 1
        return rng.random() < (0.8 if self.calls % 2 else 0.2)


def test_a_fixed_order_of_calls_is_caught_by_a_clock(false_alarms, monkeypatch):
    case = false_alarms.Case(Clock(), (([0], [1]),), 0.5)

    def wealths():
        return (false_alarms.audit(replace(case, mechanism=Clock()), seed) for seed in range(20))

    assert false_alarms.judge(list(itertools.islice(wealths(), 5))).sound
    monkeypatch.setattr(sampling_blocks, "sides", lambda pairs, coins, **_: [False, True] * pairs)
    assert false_alarms.accused(wealths())


# 8. One coin for the order of each pair of calls instead of a coin for each call


class Remembers:
    """A mechanism that releases its last randomized response and a new one.

    Each call is private given all earlier outputs.
    """

    def __init__(self):
        self.last = 0

    def __call__(self, database, rng):
        last, self.last = self.last, int((rng.random() < 0.75) == database[0])
        return last, self.last


def test_one_order_coin_per_pair_of_calls_is_caught_by_a_memory(false_alarms, monkeypatch):
    """One coin for a pair of calls is caught.

    With this defect, the remembered response comes from the other database in half of the calls. The
    outputs (1, 0) and (0, 1) then have probabilities 15/32 and 3/32. Their ratio is 5, and the claim
    allows 3.
    """
    case = false_alarms.Case(Remembers(), (([0], [1]),), math.log(3))

    def wealths():
        return (false_alarms.audit(replace(case, mechanism=Remembers()), seed) for seed in range(20))

    assert false_alarms.judge(list(itertools.islice(wealths(), 3))).sound
    monkeypatch.setattr(sampling_blocks, "sides", lambda pairs, coins, **_: sides(pairs, coins))
    assert false_alarms.accused(wealths())


# 9. A time-out as an output


def slow_on_the_right(database, rng):
    """Return randomized response, of which half of the runs on [1] do not finish."""
    if database == [1] and rng.random() < 0.5:
        raise MemoryError
    return "yes" if (database == [1]) == (rng.random() < 0.75) else "no"


def test_a_time_out_as_an_output_is_caught(false_alarms, monkeypatch):
    case = false_alarms.Case(slow_on_the_right, (([0], [1]),), math.log(3))

    def wealths():
        return (false_alarms.audit(case, seed) for seed in range(20))

    assert false_alarms.judge(list(itertools.islice(wealths(), 5))).sound
    suggest = Table.suggest
    monkeypatch.setattr(
        Table, "suggest", lambda self, side, **_: suggest(self, side, unfinished_counts_against=False)
    )
    assert false_alarms.accused(wealths())


# 10. Batches merged in the order of their arrival


class TakesWhatComesFirst(Sampler):
    """A sampler that merges only the first blocks to finish.

    Runs with the answer "yes" are slow.
    """

    def draw(self, left_db, right_db, size, path, **options):
        if size == 1:
            return super().draw(left_db, right_db, size, path, **options)
        blocks = list(super().draw(left_db, right_db, 2 * size, path, **options))
        return iter(
            sorted(blocks, key=lambda block: [*block.left, *block.right].count("yes"))[: len(blocks) // 2]
        )


def test_merging_in_order_of_arrival_is_caught(wealths, false_alarms, monkeypatch):
    monkeypatch.setattr(false_alarms, "Sampler", TakesWhatComesFirst)
    assert false_alarms.accused(wealths("randomized response", audits=90, budget=6_000))


# 11. A sampler that differs from its declared law


class Declared:
    """A subject with Laplace noise, which is a third as wide in `sample`."""

    def __call__(self, database, rng):
        return sum(database) + rng.laplace()

    def sample(self, database, size, rng):
        return sum(database) + rng.laplace(scale=1 / 3, size=size)

    def distribution(self, database):
        return Density.laplace(float(sum(database)), 1.0)


def verdict_on_declared():
    return audit_privacy(Declared(), PureDP(1.0), records=[0, 1], size=2, budget=20_000)


def test_a_sampler_that_differs_from_its_declared_law_is_caught(monkeypatch):
    result = verdict_on_declared()
    assert result.verdict is Verdict.ERROR
    assert "the subject's outputs do not follow its declared law" in result.reason
    assert "`sample`" in result.reason
    monkeypatch.setattr(audit.verdict.law_runs.LawRuns, "_checks", lambda self: [])
    # `sample` shows a loss, so bets cross the limit, and calls do not confirm it
    assert verdict_on_declared().verdict is Verdict.INCONCLUSIVE
    monkeypatch.setattr(audit.verdict.by_law, "bet_on_code", lambda *given, **options: None)
    assert verdict_on_declared().verdict is Verdict.NOT_REFUTED  # the verdict without either check
