"""Bets on coupled pairs of runs."""

import colorsys
import math
from dataclasses import replace

import numpy as np
import pytest

from audit import PureDP, Verdict, audit_privacy
from audit.events.features.views import View
from audit.evidence.bets import STAKES, Bet, Ledger, coupled_payoffs
from audit.evidence.coupled import Coupling, growth
from audit.evidence.coupled_bets import CoupledBets
from audit.evidence.goals import Aim, CoupledEvent, Goals
from audit.evidence.memory import PairMemory
from audit.sampling import Sampler
from audit.subject.subject import adapt


def joint_laws(rng, cases):
    """Return R, δ, and joint laws of two events with probabilities q and p = R·q + δ.

    The laws have the shape (cases, 4).
    """
    ratio = np.exp(rng.uniform(0, 3, cases) * rng.integers(0, 2, cases))
    delta = rng.uniform(0, 0.3, cases) * rng.integers(0, 2, cases)
    q = rng.uniform(0, 1, cases) * (1 - delta) / ratio
    p = ratio * q + delta
    least, most = np.maximum(0, p + q - 1), np.minimum(p, q)
    both = least + (most - least) * rng.choice([0.0, 0.3, 1.0], cases)
    return ratio, delta, np.stack([both, p - both, q - both, 1 - p - q + both], axis=1)


def test_by_enumeration_no_coupling_gives_an_expectation_above_one_if_the_claim_holds():
    """This holds for every stake.

    On the boundary of the claim the expectation is 1 for every coupling.
    """
    ratio, delta, shares = joint_laws(np.random.default_rng(1), 10_000)
    payoffs = coupled_payoffs(np.log(ratio), delta)
    expected = (shares[:, None, :] @ np.exp(payoffs))[:, 0, :]
    assert payoffs.shape == (10_000, 4, len(STAKES))
    assert np.abs(expected - 1).max() < 1e-12


def test_the_bet_with_an_aim_has_no_expectation_above_one_either():
    """The four outcomes of one pair of runs are enumerated.

    The past and the goal decide the stake.
    """
    rng = np.random.default_rng(2)
    ratio, delta, shares = joint_laws(rng, 300)
    goals = Goals(3.0, 0.5)
    for r, d, true in zip(ratio, delta, shares, strict=True):
        seen = rng.dirichlet(np.ones(4))
        claim = np.array([math.log(r)]), np.array([d])
        after = [
            goals.after(Aim((CoupledEvent(seen, np.eye(5)[[k]][:, None, :]),), calls=50), np.zeros(1), *claim)
            for k in range(4)
        ]
        assert float(true @ np.exp(np.concatenate(after))) <= 1 + 1e-12


def test_the_enumeration_sees_two_outcomes_of_a_pair_that_are_swapped():
    """With "q side alone" taken for "neither", the expected payoff is positive."""
    ratio, delta, shares = joint_laws(np.random.default_rng(3), 1_000)
    better = shares[:, [0, 1, 3, 2]]  # swaps "q side alone" and "neither"
    assert (better[:, None, :] @ np.exp(coupled_payoffs(np.log(ratio), delta))).max() > 1.1


def some_bet(rng, *, coupled):
    events = int(rng.integers(1, 5))
    p, q = rng.uniform(0.01, 0.99, (2, events))
    counts = rng.multinomial(40, rng.dirichlet(np.ones(4)), size=events).astype(float)
    shares = rng.dirichlet(np.ones(4), size=events) if coupled else None
    prior = np.log(rng.dirichlet(np.ones(events)))
    return Bet(prior, p, q, np.full(events, 90.0), counts, int(rng.integers(1, 3)), shares)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (1.0, 0.0), (2.0, 0.1)])
def test_a_ledger_of_both_kinds_has_the_growth_of_each_bet(epsilon, delta):
    rng = np.random.default_rng(4)
    ledger = Ledger([some_bet(rng, coupled=k % 2 == 1) for k in range(8)])
    growths = ledger.growths(np.array([epsilon, 0.3]), np.array([delta, 0.0]))
    assert growths[0] == pytest.approx([bet.log_growth(epsilon, delta) for bet in ledger.bets], abs=1e-10)
    worst = [replace(bet, counts=bet.at_worst().counts) for bet in ledger.bets]
    assert (Ledger(worst).growths(np.array([epsilon]), np.array([delta]))[0] <= growths[0] + 1e-12).all()
    assert [bet.calls for bet in ledger.bets] == [40, 80] * 4


def learned(move, pairs, *, coupled=True):
    """Return a coupling that has learned from Laplace noise around 0 and `move`."""
    rng = np.random.default_rng(5)
    noise, other = rng.laplace(size=(2, pairs))
    left, right = View(noise), View(move + (noise if coupled else other))
    memory = PairMemory([0], [1])
    memory.learn([memory.keep(left, right)], memory.count(left, right))
    coupling = Coupling(memory)
    coupling.learn([(left, right)], coupling.count([(left, right)]))
    return coupling


def test_coupled_pairs_of_additive_noise_never_show_the_q_side_alone():
    """If the smaller answer is above a threshold, the larger answer is too."""
    coupling = learned(1.0, 2_000)
    chosen = coupling.choose(0.5, 0.0, against=True)
    best = max(chosen, key=lambda each: growth(each.shares, 0.5, 0.0).max())
    both, p_side, q_side, neither = best.shares[growth(best.shares, 0.5, 0.0).argmax()]
    assert both + p_side + q_side + neither == pytest.approx(1)
    assert q_side < 2e-3 < both
    assert p_side / (both + p_side) == pytest.approx(1 - math.exp(-1), abs=0.1)
    assert coupling.is_worth(0.5, 0.0, against=True)


def test_pairs_that_have_nothing_in_common_are_not_worth_coupling():
    assert not learned(1.0, 2_000, coupled=False).is_worth(0.5, 0.0, against=True)


def loud(database, rng):
    """Return a noisy sum whose loss is 0.1."""
    return sum(database) + rng.laplace(scale=10.0)


def test_additive_noise_is_refuted_by_fewer_runs_than_independent_sides_need():
    """The audit takes some 2,200 runs, independent sides at least 19,000.

    The loss is 0.1 and the claim 0.02.
    """
    result = audit_privacy(loud, PureDP(0.02), pairs=[([0, 0], [1, 0])], budget=10_000)
    assert result.refuted
    assert result.samples_to_refutation < 5_000


def shows_the_last(database, rng):
    """Return a new release and, in a tenth of the runs, the previous one.

    A library keeps the previous release. To somebody who knows it, the output is private.
    """
    new, shows = sum(database) + rng.laplace(), rng.random() < 0.1
    last, colorsys.last_release = getattr(colorsys, "last_release", None), new
    return new, last if shows else None


def test_hidden_state_of_a_library_is_not_refuted_by_coupled_runs(monkeypatch):
    """Independent calls do not confirm the wrong refutation by coupled bets.

    The second run of a pair may show the output of the first run.
    """
    monkeypatch.setattr(colorsys, "last_release", None, raising=False)
    where = {"pairs": [([0, 1], [1, 1])], "budget": 8_000, "confirm_budget": 2_000, "seed": 0}
    result = audit_privacy(shows_the_last, PureDP(1.0), **where)
    assert result.log_wealth > result.log_limit, "coupled runs have to mislead for this test to mean anything"
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "independent calls did not confirm it" in result.reason
    assert result.epsilon_lower == 0.0


def test_bounds_from_coupled_runs_assume_no_state_and_are_dropped_if_there_is_state(
    monkeypatch,
):
    where = {"pairs": [([0, 0], [1, 0])], "budget": 5_000}
    sound = audit_privacy(loud, PureDP(0.1), **where)
    assert any(said.kind == "stateless" for said in sound.assumptions)
    answers = iter([False])
    monkeypatch.setattr(Sampler, "state_suspected", lambda *_: next(answers, True))
    dropped = audit_privacy(loud, PureDP(0.1), **where)
    assert not any(said.kind == "stateless" for said in dropped.assumptions)
    assert [said.kind for said in dropped.notes if "dropped" in said.kind] == ["coupled-dropped"]
    assert not any("dropped" in said.kind for said in sound.notes)
    assert dropped.epsilon_lower < sound.epsilon_lower
    assert dropped.detectable_epsilon is None or dropped.detectable_epsilon > 2 * sound.detectable_epsilon


def response(database, rng):
    """Return randomized response, for which coupling does not help.

    One generator state gives opposite answers on 0 and 1.
    """
    return database[0] if rng.random() < 0.7 else 1 - database[0]


class Counter:
    """A subject that keeps state."""

    def __init__(self):
        self.calls = 0

    def __call__(self, database, rng):
        self.calls += 1
        return sum(database) + rng.laplace()


class Vectorised:
    def __call__(self, database, rng):
        return sum(database) + rng.laplace()

    def sample(self, database, size, rng):
        return sum(database) + rng.laplace(size=size)


@pytest.mark.parametrize("subject", [response, Counter(), Vectorised(), sum])
def test_no_coupled_bets_are_made_if_coupling_does_not_help_or_is_not_valid(subject, monkeypatch):
    bets, bet = [], CoupledBets.bet
    monkeypatch.setattr(CoupledBets, "bet", lambda *given, **told: bets.append(1) or bet(*given, **told))
    audit_privacy(subject, PureDP(1.0), pairs=[([0], [1])], budget=1_000)
    assert not bets


def test_a_pair_of_calls_gets_one_state_and_every_pair_another():
    with Sampler(adapt(lambda database, rng: rng.random(3).tolist()), seed=0) as sampler:
        blocks = [*sampler.draw([0], [1], 40, (0, 0), coupled=True)]
    left = [tuple(output) for runs in blocks for output in runs.left]
    right = [tuple(output) for runs in blocks for output in runs.right]
    assert left == right
    assert len({*left}) == 40


def test_the_detectable_epsilon_takes_coupled_bets_into_account():
    """With coupled bets 5,000 runs detect an ε below 0.2 against a claim of 0.1."""

    def private(database, rng):
        return sum(database) + rng.laplace(scale=10.0)

    where = {"pairs": [([0, 0], [1, 0])], "budget": 5_000}
    coupled = audit_privacy(private, PureDP(0.1), **where)
    singly = audit_privacy(Tenth(), PureDP(0.1), **where)
    assert 0.1 < coupled.detectable_epsilon < 0.2
    assert singly.detectable_epsilon > 1.3 * coupled.detectable_epsilon


class Tenth:
    def __call__(self, database, rng):
        return self.sample(database, 1, rng)[0]

    def sample(self, database, size, rng):
        return sum(database) + rng.laplace(scale=10.0, size=size)
