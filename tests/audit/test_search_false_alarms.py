"""Searching audits of mechanisms that meet their claim earn nothing on average.

Planted defects are caught. This file makes only some of the audits. ``DP_AUDIT_TIGHT_SEARCHES=2000`` or
``python benchmarks/false_alarms.py --search`` makes all of them. The criteria are those of
`test_false_alarms`.
"""

import itertools
import math
import os

import numpy as np
import pytest
from scipy import stats

import audit.sampling.blocks
from audit.events.features.views import View
from audit.evidence.memory import PairMemory, bet_on
from audit.sampling import BET, Sampler
from audit.subject.subject import adapt
from audit.verdict.betting import Betting
from audit.verdict.terms import Terms

AUDITS = int(os.environ.get("DP_AUDIT_TIGHT_SEARCHES", "20"))


def test_tight_audits_that_search_freely_stay_within_their_significance(false_alarms):
    """Each of ten mechanisms meets two criteria at significance 0.05, and so do all together.

    A sound auditor fails the count over all mechanisms with probability at most 9e-6. It fails each of
    the other 21 criteria with probability at most 1e-7. The sum is 1.1e-5.

    Power: the count over all mechanisms fails if 8 of the 20 audits refute. If each audit refutes with
    probability 0.6, this happens with probability 0.979.
    """
    found = false_alarms.audit_all(AUDITS, cases=false_alarms.SEARCHED)
    judged = false_alarms.judge([wealth for wealths in found.values() for wealth in wealths])
    assert judged.audits == AUDITS
    assert judged.sound, judged
    for wealths in found.values():
        assert false_alarms.judge(wealths, level=false_alarms.EACH_LEVEL).sound


# The claims hold on the whole domain, with equality on some pairs. The reference values are closed forms.


def responses(database):
    """Return the exact law of randomized response applied to every record."""
    return {
        answers: math.prod(
            0.75 if bit == answer else 0.25 for bit, answer in zip(database, answers, strict=True)
        )
        for answers in itertools.product((0, 1), repeat=len(database))
    }


def test_responses_meet_their_claim_on_every_pair(false_alarms):
    case = false_alarms.SEARCHED["each response"]
    for left, right in case.databases.enumerate():
        p, q = responses(left), responses(right)
        assert max(math.log(p[answer] / q[answer]) for answer in p) == pytest.approx(case.epsilon)


def test_sums_and_counts_move_by_at_most_their_scale(false_alarms):
    """Between neighbours, sums and counts move by at most 1.

    So the laws on databases of one record are the worst. `test_false_alarms` compares these with closed
    forms.
    """
    for name, value in (("laplace sum", sum), ("gaussian sum", sum), ("geometric count", len)):
        case = false_alarms.SEARCHED[name]
        moves = {abs(value(left) - value(right)) for left, right in case.databases.enumerate()}
        assert max(moves) == 1
        assert case.delta == (false_alarms.CASES["gaussian"].delta if name == "gaussian sum" else 0)


def test_one_more_record_releases_no_more_than_the_claim_allows(false_alarms):
    """The hockey-stick divergence of n and n + 1 records keeps the claim in two directions.

    A noisy count is released if it is above 3. The noise is geometric with ratio 1/e.
    """
    case = false_alarms.SEARCHED["threshold release"]
    noise = stats.dlaplace(1)
    shown = np.arange(4, 200)

    def law(count):
        return noise.pmf(shown - count) if count else np.zeros(len(shown))

    def excess(p, q):
        hidden = (1 - p.sum()) - math.e * (1 - q.sum())
        return np.maximum(p - math.e * q, 0).sum() + max(hidden, 0)

    found = [
        max(excess(law(n), law(n + 1)), excess(law(n + 1), law(n))) for n in range(case.databases.sizes[1])
    ]
    assert max(found) == pytest.approx(case.delta, rel=1e-9)
    assert found[0] == pytest.approx(case.delta, rel=1e-9)


def test_a_noisy_max_of_exponentials_is_tight_if_one_answer_leads(false_alarms):
    """The answer that is behind by d wins with probability e^(−d/2)/2.

    There are two answers, with exponential noise of scale 2.
    """
    case = false_alarms.SEARCHED["noisy max"]

    def wins(lead):
        return math.exp(-lead / 2) / 2 if lead >= 0 else 1 - math.exp(lead / 2) / 2

    leads = np.linspace(-6, 6, 241)
    losses = [abs(math.log(wins(lead) / wins(lead + 2))) for lead in leads]
    assert max(losses) == pytest.approx(case.epsilon)


# Databases several steps apart, compared with the claim at that distance


def far_audit(false_alarms, name, seed):
    """Audit a case only on the two ends of a path, and return the log wealth."""
    case = false_alarms.SEARCHED[name]
    where = case.where(seed)
    paths = (path for pair in where["pairs"] for path in where["further"](pair))
    where = {**where, "pairs": itertools.islice(paths, 40), "vary": None}
    terms = Terms(case.epsilon, case.delta, false_alarms.SIGNIFICANCE, 2_000)
    with Sampler(adapt(case.mechanism), seed=seed) as sampler:
        betting = Betting(sampler, terms=terms, **where)
        betting.run()
    assert any(bet.distance > 1 for bet in betting.ledger.bets)
    return betting.log_wealth


FAR = ("laplace sum", "geometric count", "gaussian sum", "each response", "threshold release", "labels")


def test_tight_audits_of_distant_databases_stay_within_their_significance(false_alarms):
    """At distance k, Laplace sums and geometric counts lose k times what one step loses.

    They meet the claim at that distance with equality too. The significance levels are those of the first
    test here.
    """
    names = itertools.cycle(FAR)
    found = [
        far_audit(false_alarms, name, seed) for seed, name in zip(range(AUDITS // 2), names, strict=False)
    ]
    judged = false_alarms.judge(found)
    assert judged.sound, judged


def test_a_distance_that_is_counted_one_step_short_is_caught(false_alarms, monkeypatch):
    monkeypatch.setattr(PairMemory, "distance", property(lambda self: max(1, len(self.path) - 2)))
    case = false_alarms.SEARCHED["laplace sum"]

    def audited(seed):
        where = {"pairs": [([0, 0], [0, 1], [1, 1])]}
        with Sampler(adapt(case.mechanism), seed=seed) as sampler:
            betting = Betting(sampler, terms=Terms(1.0, 0.0, false_alarms.SIGNIFICANCE, 2_000), **where)
            betting.run()
        return betting.log_wealth

    assert false_alarms.accused(map(audited, range(15)))


# Planted defects. A sound audit is accused with probability at most 1e-5.


@pytest.fixture
def wealths(false_alarms):
    """Return a function that yields the log wealths of several audits.

    It audits a domain, or given pairs.
    """

    def made(name, betting=Betting, *, audits=40, budget=2_000):
        case = (false_alarms.SEARCHED | false_alarms.CASES)[name]
        return (false_alarms.audit(case, seed, betting=betting, budget=budget) for seed in range(audits))

    return made


# 1. Runs drawn to explore are bet on


class BetsOnExploration(Betting):
    """Planted defect: the audit also bets on the runs that taught it the event."""

    def _look(self, memory, size):
        super()._look(memory, size)
        chosen = memory.choose(self.terms.epsilon, self.terms.delta)
        left, right = (View([o for view in side for o in view.outputs]) for side in memory.kept(0))
        if chosen and not self.refuted:
            crosses = memory.count(left, right)
            self.log_wealth += bet_on(chosen, crosses).log_growth(self.terms.epsilon, self.terms.delta)
            if self.log_wealth >= self.terms.log_limit:
                self.crossed_at = self.spent


def test_betting_on_the_runs_of_the_search_is_caught(wealths, false_alarms):
    assert false_alarms.accused(wealths("laplace sum", BetsOnExploration))


# 2. The pair to bet on is chosen after its batch was drawn


class ChoosesAfterwards(Betting):
    """Planted defect: of batches on three pairs, only the best bet counts."""

    def _bet(self, memory, size):
        others = [m for m in self.memories if m.pairs and m is not memory][:2]
        before, rivals = self.log_wealth, []
        for rival in [memory, *others]:
            self.log_wealth = before
            if self._room() >= size:
                super()._bet(rival, size)
                rivals.append(self.log_wealth)
        self.log_wealth = max([before, *rivals])


def test_choosing_the_pair_by_the_batch_is_caught(wealths, false_alarms):
    """The search has a choice among eight pairs, which are given."""
    assert false_alarms.judge(list(wealths("several pairs", audits=3, budget=8_000))).sound
    assert false_alarms.accused(wealths("several pairs", ChoosesAfterwards, budget=8_000))


# 3. Coupled runs are bet on: those of the search (`test_search`), or all runs from one generator state


class CouplesItsBets(Betting):
    """An audit that always bets on coupled runs.

    Its linear bets are sound if every pair of runs has a separate generator state.
    """

    def _draw(self, memory, size, stage, aim=None):
        draw = self.sampler.draw
        if stage == BET:
            self.sampler.draw = lambda *given, **ways: draw(*given, coupled=True)
        try:
            return super()._draw(memory, size, stage, aim)
        finally:
            self.sampler.draw = draw


def one_state_for_all(call, seeds, *, start=0):
    seed = int(seeds.integers(2**63))
    return lambda database, _: call(database, np.random.Generator(np.random.PCG64(seed)))


def test_one_generator_state_for_a_block_of_coupled_bets_is_caught(wealths, false_alarms, monkeypatch):
    """Planted defect: all pairs of runs start from the same state."""
    assert false_alarms.judge(list(wealths("geometric count", CouplesItsBets, audits=5, budget=1_000))).sound
    monkeypatch.setattr(audit.sampling.blocks, "coupled", one_state_for_all)
    assert false_alarms.accused(wealths("geometric count", CouplesItsBets, budget=1_000))
