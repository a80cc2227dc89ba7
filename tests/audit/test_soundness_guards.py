"""Guards that keep the auditor sound. If any guard is removed, a test here fails.

A guard corrects for a second look at the same runs, for runs that never ended, or for a choice among
many. The file is long because each guard comes with the subject that needs it.
"""

import functools
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import audit.utility.audit
import audit.utility.law_check
import audit.verdict.by_law
import audit.verdict.by_runs
import audit.verdict.confirm
import audit.verdict.judge
import audit.verdict.law_runs
from audit import PAC, Accuracy, PureDP, Verdict, audit_privacy, audit_utility
from audit.distributions import Finite
from audit.events.event import AtomIn, Event
from audit.events.features.atoms import Whole
from audit.evidence.bets import Ledger
from audit.evidence.memory import broken_off
from audit.laws.losses import loss_of
from audit.laws.losses.bracket import Bracket
from audit.problems import FixedProblem, SampledProblem
from audit.sampling import MutatedInput, Sampler
from audit.subject.subject import adapt
from audit.utility.betting import UtilityBetting
from audit.utility.runs import Trials
from audit.utility.search import Look
from audit.values.outcomes import Unfinished
from audit.verdict.betting import Betting, bet_size
from audit.verdict.shown.candidates import Candidate
from audit.verdict.terms import Terms
from audit.verdict.witness import Plan, run_witness

PAIR = ([0], [1])


# A refutation by runs of one `sample` call is tried again with single calls


class OneNoiseForAll:
    """A correct subject whose `sample` makes one draw for all its runs."""

    def __call__(self, database, rng):
        return sum(database) + rng.laplace()

    def sample(self, database, size, rng):
        return np.full(size, sum(database) + rng.laplace())


def verdicts_of_one_noise(seeds):
    options = {"pairs": [PAIR], "budget": 2_000, "significance": 1e-3}
    return (audit_privacy(OneNoiseForAll(), PureDP(1.0), seed=seed, **options) for seed in seeds)


def test_a_sampler_whose_runs_share_a_draw_refutes_nothing():
    """Each of the 12 audits refutes with probability at most 1e-3.

    In single calls the mechanism meets its claim.
    """
    found = list(verdicts_of_one_noise(range(12)))
    assert Verdict.REFUTED not in {result.verdict for result in found}
    said = "fails only when many runs share one call of `sample`: single calls did not confirm it"
    assert said in {result.reason for result in found}


def test_without_the_second_try_by_calls_a_shared_draw_would_refute(monkeypatch):
    monkeypatch.setattr(audit.verdict.judge.Judge, "_again_by_calls", lambda self: True)
    assert any(result.verdict is Verdict.REFUTED for result in verdicts_of_one_noise(range(12)))


# A subject that keeps state is confirmed in fresh processes


def keeping_noise():
    """Return a subject that draws its noise once and keeps it in its process."""

    class KeepsNoise:
        def __init__(self):
            self.noise = []

        def __call__(self, database, rng):
            self.noise = self.noise or [rng.laplace()]
            return sum(database) + self.noise[0]

    return KeepsNoise()


def test_kept_noise_refutes_only_if_the_judge_trusts_its_own_process(monkeypatch):
    small = {"claim": PureDP(0.1), "pairs": [([0.0], [0.1])]}
    assert audit_privacy(keeping_noise(), **small).verdict is Verdict.INCONCLUSIVE
    monkeypatch.setattr(audit.verdict.judge.Judge, "doubt", lambda self, first: "")
    assert audit_privacy(keeping_noise(), **small).verdict is Verdict.REFUTED


# Runs of a witness that did not finish


DONE, LOST = (Event((AtomIn(Whole(), (output,)),)) for output in ("done", Unfinished("out of memory")))


def ends_on(database):
    def mechanism(given, rng):
        if given != database:
            raise MemoryError
        return "done"

    return mechanism


@pytest.mark.parametrize(
    ("ending", "event", "counted", "as_outputs"),
    [([0], DONE, (1.0, 1.0), (1.0, 0.0)), ([1], LOST, (0.0, 0.0), (1.0, 0.0))],
    ids=["on the unlikely side", "on the likely side"],
)
@pytest.mark.parametrize("side", [0, 1])
def test_unfinished_runs_of_a_witness_count_against_it(ending, event, counted, as_outputs, side):
    """Nothing is confirmed.

    An unfinished run counts as outside the event on the likely side, and as inside on the unlikely side.
    """
    pair = PAIR if side == 0 else PAIR[::-1]
    candidate = Candidate(event=event, side=side, p=0.9, q=0.1, past=100.0)
    for against, expected in ((True, counted), (False, as_outputs)):
        terms = Terms(1.0, 0.0, 1e-6, 2_000, against=against)
        with Sampler(adapt(ends_on(ending)), seed=0) as sampler:
            found = run_witness(sampler, pair, candidate, terms, plan=Plan(200), path=(3, 1, 0)).witness
        assert (found.p, found.q) == expected
        assert found.confirmed is not against


# No second chance for an audit that begins again


class MutatesLate:
    """A mechanism that changes its input after a number of calls.

    Its outputs are those of `answer`.
    """

    def __init__(self, calls, answer):
        self.calls, self.answer = calls, answer

    def __call__(self, database, rng):
        self.calls -= 1
        answer = self.answer(database, rng)
        if self.calls < 0:
            database.append(0)
        return answer


def coin(database, rng):
    return int(rng.integers(2))


def given_up(answer, *, calls, epsilon=0.0):
    """Return the betting of an audit whose input changed in the middle of a bet."""
    with Sampler(adapt(MutatesLate(calls, answer)), seed=0) as sampler:
        terms = Terms(epsilon, 0.0, 1e-6, 4_000, stop_when_refuted=False)
        betting = Betting(sampler, [PAIR], terms)
        with pytest.raises(MutatedInput):
            betting.run()
    assert betting.ledger.bets
    return betting


@pytest.mark.parametrize("answer", [coin, lambda database, rng: database[0]], ids=["coin", "leak"])
def test_a_stake_whose_batch_is_interrupted_is_lost(answer):
    """The wealth is at most what any complete batch would have left.

    The test draws complete batches at random.
    """
    betting = given_up(answer, calls=90)
    *_, before, after = betting.ledger.path(0.0, 0.0)
    assert betting.log_wealth == pytest.approx(after)
    memory, rng = betting.memories[0], np.random.default_rng(0)
    bet = broken_off(memory.choose(0.0, 0.0), 0, 0)
    # all calls of the p side outside the event, all calls of the q side inside
    sides = betting.ledger.bets[-1].counts[:, 1:3]
    assert sides.sum(axis=1).tolist() == [2 * bet_size(memory.pairs)] * len(bet.p)
    for inside in rng.choice([0.0, 1.0, 0.5, 0.1], size=(100, len(bet.p), 2)):
        hits = rng.binomial(sides.astype(int), inside).astype(float)
        counts = np.stack([hits, sides - hits], axis=2).reshape(-1, 4)
        others = [*betting.ledger.bets[:-1], replace(bet, counts=counts)]
        left = Ledger(others, goals=betting.terms.goals, aims=betting.ledger.aims).log_wealth(0.0, 0.0)
        assert after <= left + 1e-9
    assert after < before - 0.01


def test_a_restarted_audit_keeps_its_losses(monkeypatch):
    """The bounds come from the same bets, so losses are kept for every claim.

    Gains are dropped.
    """
    begun = []

    class Recorded(Betting):
        def __post_init__(self):
            super().__post_init__()
            begun.append((self, self.log_wealth))

    monkeypatch.setattr(audit.verdict.by_runs, "Betting", Recorded)
    result = audit_privacy(MutatesLate(300, coin), PureDP(0.1), pairs=[PAIR], budget=2_000)
    assert any("audit restarted" in note for note in result.notes)
    (first, at_first), (second, at_second) = begun
    assert at_first == 0.0
    assert at_second == pytest.approx(first.log_wealth)
    assert result.log_wealth == pytest.approx(second.ledger.log_wealth(0.1, 0.0))
    for epsilon in (0.0, 0.05, 0.1, 0.5):
        lost = first.ledger.log_wealth(epsilon, 0.0)
        own = replace(second.ledger, before=None).path(epsilon, 0.0)
        assert lost < -0.01
        assert second.ledger.path(epsilon, 0.0) == pytest.approx(own + lost)


def test_gains_before_a_restart_are_not_counted():
    won = given_up(lambda database, rng: database[0], calls=90).ledger
    won.keep(1)
    assert won.log_wealth(0.0, 0.0) > 10
    assert Ledger(before=won).log_wealth(0.0, 0.0) == 0.0
    assert replace(won, before=won).log_wealth(0.0, 0.0) == won.log_wealth(0.0, 0.0)


def test_the_bets_of_a_confirmation_that_begins_again_are_counted_once(monkeypatch):
    """After the restart the same runs are drawn and bet on again.

    If these bets counted twice, the bounds would be too large.
    """
    ledgers, confirm = [], audit.verdict.confirm.confirm

    def changed_at_last(sampler, betting, **options):
        ledgers.append(list(betting.ledger.bets))
        found = confirm(sampler, betting, **options)
        ledgers.append(list(betting.ledger.bets))
        if not sampler.copy_inputs:
            raise MutatedInput("The mechanism changed its database.")
        return found

    monkeypatch.setattr(audit.verdict.by_runs, "confirm", changed_at_last)
    result = audit_privacy(
        lambda database, rng: database[0] + rng.laplace(scale=0.2), PureDP(1.0), pairs=[PAIR]
    )
    assert any("confirmation restarted" in note for note in result.notes)
    before, given_up_at, again, after = ledgers
    assert len(given_up_at) > len(before)
    assert again == before
    assert len(after) == len(given_up_at)


# One significance shared by many


class Declares:
    """A subject that always returns 0, as its declared law says."""

    def __call__(self, database, rng):
        return 0

    def distribution(self, database):
        return Finite([0], [1.0])


@pytest.mark.parametrize(("nats", "verdict"), [(-1e-6, Verdict.PROVED), (1e-6, Verdict.ERROR)])
def test_the_comparisons_of_a_law_share_one_significance(monkeypatch, nats, verdict):
    """With n comparisons an e-value has to reach n divided by the significance left.

    This is what remains after the bets on the code.
    """
    made, compare = [], audit.verdict.law_runs.LawRuns._checks

    def one_disagrees(self):
        made.extend(compare(self))
        limit = math.log(len(made) / ((1 - audit.verdict.by_law.SHARE) * 1e-6))
        return [replace(made[0], log_e_value=limit + nats), *made[1:]]

    monkeypatch.setattr(audit.verdict.law_runs.LawRuns, "_checks", one_disagrees)
    assert audit_privacy(Declares(), PureDP(1.0), records=[0, 1], size=2).verdict is verdict
    assert len(made) > 2


class Errs:
    """A learner that has error 1 with probability `database[0]`, else 0."""

    def __call__(self, database, rng):
        return float(rng.random() < database[0])

    def distribution(self, database):
        return Finite([0.0, 1.0], [1.0 - database[0], database[0]])


def fixed(p):
    return FixedProblem(f"fails with {p}", [p], lambda output, database: output)


def around(p):
    return SampledProblem(f"about {p}", lambda rng: [rng.uniform(0, 2 * p)], lambda output, database: output)


@pytest.mark.parametrize("kind", [fixed, around], ids=["of problems", "beside trials"])
def test_the_comparisons_of_a_learner_with_its_law_share_one_significance(monkeypatch, kind):
    """The significance is divided by at least the number of all comparisons."""
    compared, found = [], 0.0

    def nearly_refuting(*_):
        compared.append(found)
        return found

    for name in ("law_log_e_value", "failures_log_e_value"):
        monkeypatch.setattr(audit.utility.law_check, name, nearly_refuting)
    problems = [kind(p) for p in (0.01, 0.02, 0.05)]

    def audited():
        compared.clear()
        return audit_utility(Errs(), PAC(0.25, 0.2), problems=problems, budget=4_000).verdict

    right = audited()
    many, found = len(compared), math.log(len(compared) / 1e-6) - 1e-9
    assert many > 3
    assert audited() is right is not Verdict.ERROR
    assert len(compared) == many
    found = math.log(10 * many / 1e-6)
    assert audited() is Verdict.ERROR


def test_the_candidates_for_a_witness_share_one_significance(monkeypatch):
    """The k-th candidate gets significance/2^k.

    The count goes on from the candidates for the strongest pair to those for the simplest pair.
    """
    levels, run = [], audit.verdict.judge.run_witness

    def never_confirmed(sampler, pair, candidate, terms, **options):
        levels.append(terms.significance)
        drawn = run(sampler, pair, candidate, terms, **options)
        return replace(drawn, witness=replace(drawn.witness, confirmed=False))

    monkeypatch.setattr(audit.verdict.judge, "run_witness", never_confirmed)
    result = audit_privacy(
        lambda database, rng: database[0] + rng.laplace(scale=1 / 3),
        PureDP(1.0),
        pairs=[PAIR],
        budget=4_000,
    )
    assert result.verdict is Verdict.REFUTED
    assert not result.witness.confirmed
    assert len(levels) > 1
    assert levels == [1e-6 / 2**k for k in range(1, len(levels) + 1)]
    assert sum(levels) <= 1e-6


# A replay of the same runs


def test_the_saved_counts_do_not_choose_the_stakes_of_their_replay():
    """The same runs give the same bounds for any counts in the file."""
    result = audit_privacy(
        lambda database, rng: database[0] + rng.laplace(scale=1 / 3),
        PureDP(1.0),
        pairs=[PAIR],
        budget=4_000,
    )
    witness = result.witness
    others = [(witness.p, witness.q), (0.5, 0.4), (0.9, 0.05)]
    again = [replace(result, witness=replace(witness, p=p, q=q)).replay() for p, q in others]
    assert len({(each.epsilon_lower, each.delta_lower) for each in again}) == 1


# Pairs of trials: the order of the two calls is not kept


def betting_on_one(beta, significance):
    """Return the betting on one problem, before any run."""
    options = SimpleNamespace(significance=significance, until="refuted", budget=1_000)
    task = SimpleNamespace(claim=Accuracy(0.1, beta), options=options)
    return UtilityBetting(task, None, [Look(None, "problem", None, 0.0)])


def settled(failures, *, beta, significance):
    """Return the betting on one problem after a batch with these failures."""
    betting = betting_on_one(beta, significance)
    values = np.array(failures, dtype=float)
    betting._settle(betting.standings[0], Trials(values, values), 40)
    return betting


def crossing(failures, *, beta):
    """Return a significance reached after the fifth of these trials, not the sixth."""
    values = np.array(failures, dtype=float)
    bets = betting_on_one(beta, 0.5).standings[0].bets
    path = max(bets.paths(values, values, beta=beta), key=lambda each: each[4])
    assert path[5] < path[4] == path[:6].max()
    return math.exp(-(path[4] + max(path[5], path[3])) / 2)


def test_the_wealth_against_a_learner_is_looked_at_after_pairs_only():
    """Wealth at the threshold in the middle of a pair does not count.

    This wealth may depend on the order of the calls.
    """
    failures = [1, 1, 1, 1, 1, 0]
    significance = crossing(failures, beta=0.3)
    assert not settled(failures, beta=0.3, significance=significance).refuted
    betting = settled([1] * 6, beta=0.3, significance=significance)
    assert betting.crossed_at == 40 + 6


def test_the_wealth_for_a_learner_is_looked_at_after_pairs_only():
    failures = [0, 0, 0, 0, 0, 1]
    significance = crossing(failures, beta=0.7)
    assert not settled(failures, beta=0.7, significance=significance).met
    assert settled([0] * 6, beta=0.7, significance=significance).met


# Bounds of a sum of losses


@pytest.mark.parametrize("coordinates", [1, 2, 3])
def test_both_bounds_of_a_sum_of_losses_hold_at_its_kinks(coordinates):
    """The bounds are compared with the sum over all outcomes.

    At the kinks of δ(ε), rounding the losses changes it most: by an eighth to a quarter of the allowance
    in `Bracket`.
    """
    rng = np.random.default_rng(coordinates)
    for _ in range(4):
        laws = rng.dirichlet(np.ones(3), size=(coordinates, 2))
        bracket = Bracket([loss_of(Finite("abc", p), Finite("abc", q)) for p, q in laws])
        p, q = (functools.reduce(np.multiply.outer, side).ravel() for side in laws.transpose(1, 0, 2))
        for level in np.log(p / q)[p > q]:
            truth = math.fsum(np.maximum(p - math.exp(level) * q, 0.0))
            low, high = bracket.bounds(level)
            assert low - 1e-14 <= truth <= high + 1e-14
