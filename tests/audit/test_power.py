"""An audit refutes a subject with the detectable ε nine times in ten."""

import math
import re
import time

import numpy as np
import pytest
from scipy.optimize import brentq

import audit.evidence.power
from audit import PureDP, Verdict, audit_privacy
from audit.doors.summary import line
from audit.evidence.bets import Bet, ceiling
from audit.evidence.power import Section, _Option, detectable
from audit.sampling import Sampler
from audit.subject.subject import adapt
from audit.verdict.betting import Betting
from audit.verdict.terms import Terms


class Biased:
    """A mechanism that returns 1 with probability p on the left and q on the right."""

    def __init__(self, p, q):
        self.p, self.q = p, q

    def __call__(self, database, rng):
        return bool(rng.random() < (self.p if database == [0] else self.q))

    def sample(self, database, size, rng):
        return rng.random(size) < (self.p if database == [0] else self.q)


def audited(p, q, *, epsilon, seed=0, budget=6_000):
    with Sampler(adapt(Biased(p, q)), seed=seed) as sampler:
        betting = Betting(sampler, [([0], [1])], Terms(epsilon, 0.0, 1e-6, budget))
        betting.run()
    return betting


def power_of(betting, *, epsilon, **changes):
    options = {"epsilon": epsilon, "delta": 0.0, "significance": 1e-6, **changes}
    sizes = tuple(bet.calls // 2 for bet in betting.ledger.bets)
    return detectable(betting.memories[0], [Section(16, sizes)], **options)


def test_a_frequent_q_side_in_few_coupled_pairs_leaves_a_probability_for_each_outcome():
    """Few pairs may show only the q side more often than p allows: 3·q·(1 − p) exceeds 1 − p for q > 1/3."""
    memory = audited(0.7, 0.6, epsilon=0.3).memories[0]
    sections = [Section(16, (20,), 64, (100, 200, 400))]
    found = [
        detectable(memory, sections, epsilon=0.1, delta=0.0, significance=1e-3, rarer=lambda _, k=k: k)
        for k in (1.0, 2.0, 5.0)
    ]
    assert found[0].p > 0.5
    assert found[0].epsilon < found[1].epsilon <= found[2].epsilon


class Halves(Biased):
    """A mechanism whose output is below 1 with probability p (left) or q (right).

    The audit has to learn this event.
    """

    def __call__(self, database, rng):
        return float(self.sample(database, 1, rng)[0])

    def sample(self, database, size, rng):
        return rng.random(size) + ~super().sample(database, size, rng)


def audited_halves(p, q, claim, *, seed):
    with Sampler(adapt(Halves(p, q)), seed=seed) as sampler:
        betting = Betting(sampler, [([0], [1])], Terms(*claim, 1e-6, 1_500))
        betting.run()
    return betting


@pytest.mark.parametrize("claim", [(0.5, 0.0), (1.0, 0.05)])
def test_nine_tenths_of_whole_audits_at_the_detectable_epsilon_refute(claim):
    """More than 22 of 40 audits refute at the detectable ε.

    The detectable ε comes from 200 simulations, so the true power may be 0.85 (0.9 less 2.4 standard
    errors). At 0.85, 22 or fewer of 40 audits refute with probability 5.9e-6. At a power of 0.5 the test
    fails with probability 78.5 %, at 0.4 with 98.1 %.

    Half-way between the claim and the detectable ε hardly any audit refutes. If the power there were 0.1,
    nine or more of 12 audits would refute with probability 1.7e-7.
    """
    epsilon, delta = claim
    betting = audited_halves(0.5, (0.5 - delta) / math.exp(epsilon), claim, seed=0)
    power = power_of(betting, epsilon=epsilon, delta=delta)

    def refuted(true, seeds):
        q = (power.p - delta) / math.exp(true)
        return sum(audited_halves(power.p, q, claim, seed=seed).refuted for seed in seeds)

    assert refuted(power.epsilon, range(100, 140)) > 22
    assert refuted((power.epsilon + epsilon) / 2, range(200, 212)) < 9


SIZES = [20, 20, 20, 20, 24, 30, 37, 46, 58, 72, 90, 113, 141, 176, 220, 275]
LOOK = 16


def counted(calls):
    """Return four counts of calls: inside and outside the event, on each side.

    The p side comes first. `calls` holds the flags (p side, inside) of each call.
    """
    p_side, inside = calls
    return np.array(
        [(side & event).sum() for side in (p_side, ~p_side) for event in (inside, ~inside)], float
    )


def refuted_by(calls, sizes, *, epsilon, rivals):
    """Return whether bets on these calls cross the limit of 1e-6 at δ = 0.

    Betting alternates with learning. At first the stakes are equal on all events, and only one of the events
    happens.
    """
    wealth = 0.0
    for start, size in zip(2 * (LOOK + np.cumsum([0, *sizes])), sizes, strict=False):
        seen, batch = counted(calls[:, :start]), counted(calls[:, start : start + 2 * size])
        p, q = (
            (np.append(seen[k], np.zeros(rivals - 1)) + 0.5) / (seen[k] + seen[k + 1] + 1) for k in (0, 2)
        )
        counts = np.tile([0.0, batch[:2].sum(), 0.0, batch[2:].sum()], (rivals, 1))
        counts[0] = batch
        past = np.full(rivals, float(start))
        wealth += Bet(np.full(rivals, -math.log(rivals)), p, q, past, counts).log_growth(epsilon, 0.0)
        if wealth >= math.log(1e6):
            return True
    return False


@pytest.mark.parametrize("rivals", [1, 36])
def test_nine_tenths_of_audits_at_the_detectable_epsilon_refute(rivals, monkeypatch):
    """More than 58 of 88 audits refute at the detectable ε.

    The audits have other random numbers than the 200 simulations behind the estimate. At a power of 0.85
    (0.9 less 2.4 standard errors) 58 or fewer refute with probability 6.8e-6. At a power of 0.5 the test
    fails with probability 99.9 %.
    """
    monkeypatch.setattr(audit.evidence.power, "_options", lambda *given: [_Option(None, 0.5, rivals)])
    power = detectable(None, [Section(LOOK, tuple(SIZES))], epsilon=0.5, delta=0.0, significance=1e-6)
    rng = np.random.default_rng(88)
    p_side, chance = rng.random((2, 88, 2 * (LOOK + sum(SIZES))))
    p_side = p_side < 0.5
    inside = chance < np.where(p_side, power.p, power.p / math.exp(power.epsilon))
    audits = np.stack([p_side, inside], axis=1)
    refuted = sum(refuted_by(calls, SIZES, epsilon=0.5, rivals=rivals) for calls in audits)
    assert refuted > 58


@pytest.mark.parametrize("rivals", [1, 7, 1_000])
def test_the_limit_of_one_event_includes_the_stakes_on_its_rivals(rivals):
    """If the first batch wins `limit` on one event, the wealth reaches exactly 1e6.

    It wins nothing on the event's rivals.
    """
    limit = _Option(None, 0.5, rivals).limit(1e-6)

    def growth(pairs, events):
        counts = np.tile([0.0, pairs, 0.0, pairs], (events, 1))
        counts[0] = pairs, 0.0, 0.0, pairs
        half = np.full(events, 0.5)
        prior = np.full(events, -math.log(rivals))
        return Bet(prior, half, half, np.zeros(events), counts).log_growth(0.5, 0.0)

    alone = brentq(lambda pairs: growth(pairs, 1) - limit, 1.0, 1e3)
    assert growth(alone, rivals) == pytest.approx(math.log(1e6), abs=1e-5)


def test_more_runs_detect_less_and_no_more_than_the_ceiling():
    epsilon = 0.5
    found = []
    for budget in (2_000, 8_000, 32_000):
        betting = audited(0.4, 0.4, epsilon=epsilon, budget=budget)
        found.append(power_of(betting, epsilon=epsilon).epsilon)
        assert epsilon < found[-1] < ceiling(sum(bet.calls // 2 for bet in betting.ledger.bets), 1e-6)
    assert found[0] > found[1] > found[2]


def test_a_stricter_significance_detects_less():
    betting = audited(0.4, 0.4, epsilon=0.5)
    loose, strict = (power_of(betting, epsilon=0.5, significance=s).epsilon for s in (0.01, 1e-9))
    assert loose < strict


def test_without_any_event_the_detectable_epsilon_is_that_of_a_fair_coin():
    power = detectable(None, [Section(16, (40,) * 10)], epsilon=1.0, delta=0.0, significance=1e-6)
    assert power.event is None
    assert power.p == 0.5


def test_runs_that_can_refute_nothing_have_no_detectable_epsilon():
    power = detectable(None, [Section(16, (4,))], epsilon=1.0, delta=0.0, significance=1e-6)
    assert power.epsilon is None


def test_the_default_event_has_a_probability_above_delta():
    """An event of probability 1/2 cannot break a claim with δ = 0.6."""
    power = detectable(None, [Section(16, (1000,) * 10)], epsilon=1.0, delta=0.6, significance=1e-6)
    assert power.event is None
    assert power.p == pytest.approx(0.8)
    assert 1.0 < power.epsilon < 2.0


def test_the_detectable_epsilon_is_deterministic():
    betting = audited(0.4, 0.4, epsilon=0.5)
    assert power_of(betting, epsilon=0.5) == power_of(betting, epsilon=0.5)


@pytest.mark.parametrize("delta", [0.0, 0.1])
def test_the_event_named_distinguishes_the_databases(delta):
    betting = audited(0.45, 0.3, epsilon=0.8)
    power = power_of(betting, epsilon=0.8, delta=delta)
    members = power.event.members(np.array([True, False]))
    assert members.sum() == 1


class Mostly:
    """A fair coin that lands on its edge in a few runs, mostly on the left."""

    def __init__(self, right):
        self.right = right

    def __call__(self, database, rng):
        return int(self.sample(database, 1, rng)[0])

    def sample(self, database, size, rng):
        edge = 0.004 if database == [0] else self.right
        return rng.choice(3, p=[(1 - edge) / 2, (1 - edge) / 2, edge], size=size)


def power_of_mostly(right, *, epsilon):
    with Sampler(adapt(Mostly(right)), seed=0) as sampler:
        betting = Betting(sampler, [([0], [1])], Terms(epsilon, 0.0, 1e-6, 40_000))
        betting.run()
    return power_of(betting, epsilon=epsilon)


def test_a_promising_event_that_is_too_rare_does_not_hide_a_common_one():
    """The complementary event can refute ε = 2 in 20,000 pairs of runs.

    The event "on its edge" cannot, even with probability 0.004 on the left and 0 on the right.
    """
    power = power_of_mostly(0.001, epsilon=2.0)
    assert power.event is not None
    assert power.p == pytest.approx(0.996, abs=0.004)
    assert 2.0 < power.epsilon < 3.0


@pytest.fixture
def only_rare(monkeypatch):
    """Remove the event "not on its edge".

    At ε = 0 this event is exactly as informative as the event "on its edge".
    """
    options = audit.evidence.power._options
    monkeypatch.setattr(
        audit.evidence.power, "_options", lambda *given: [o for o in options(*given) if o.p < 0.5]
    )


@pytest.mark.usefixtures("only_rare")
def test_an_event_too_rare_to_refute_has_no_detectable_epsilon():
    """The true ε is infinite, but this event cannot refute.

    About 80 of 40,000 calls show the event. Each adds less than ln(1 + 2/(2e² − 0.004)) = 0.127 nats.
    Together they add 10 nats of the 13.8 needed.
    """
    power = power_of_mostly(0.0, epsilon=2.0)
    assert power.event is not None
    assert (power.epsilon, power.p) == (None, pytest.approx(0.004, abs=0.002))


PAIR = {"pairs": [([0], [1])]}


@pytest.mark.parametrize(("budget", "verdict"), [(224, Verdict.INCONCLUSIVE), (2_000, Verdict.NOT_REFUTED)])
def test_an_audit_that_could_detect_nothing_is_inconclusive_and_asks_for_runs(budget, verdict):
    """224 runs can refute a mechanism that returns its database, but none by this coin's events."""
    result = audit_privacy(Biased(0.4, 0.4), PureDP(1.0), **PAIR, budget=budget)
    assert result.verdict is verdict
    assert (result.detectable_epsilon is None) == (verdict is Verdict.INCONCLUSIVE)
    if verdict is Verdict.INCONCLUSIVE:
        assert result.reason.startswith("224 runs are too few, raise `budget`: ")
        assert "raise `budget`" in line(result)


@pytest.mark.usefixtures("only_rare")
def test_too_few_runs_for_the_event_make_the_audit_inconclusive():
    result = audit_privacy(Mostly(0.0), PureDP(2.0), **PAIR, budget=10_000)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.reason.startswith("10,000 runs are too few, raise `budget`: ")
    assert re.search(r"on an event of probability 0\.00\d+: the output is ", result.reason)


def test_if_the_time_ran_out_first_the_result_asks_for_more_time():
    def slow(database, rng):
        time.sleep(0.001)
        return rng.random() < 0.5

    result = audit_privacy(slow, PureDP(1.0), **PAIR, time_limit=0.3)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "raise `time_limit`" in result.reason
