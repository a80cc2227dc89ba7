"""The bets on a failure probability, and what unsound auditors would do."""

import math
from statistics import NormalDist
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from audit import Accuracy
from audit.evidence.bets import clopper_pearson
from audit.evidence.failures import (
    GRID,
    Bets,
    least_runs,
    log_payoffs,
    lower_bound,
    upper_bound,
    weights,
)
from audit.sampling import Runs
from audit.utility.betting import UtilityBetting
from audit.utility.experiment import Trial
from audit.utility.runs import draw_trials
from audit.utility.search import Look

#: The probability of a false alarm in each statistical check here.
RARE = 1e-7


class Problem:
    """A problem on which the learner fails with probability p."""

    def __init__(self, name, p):
        self.name, self.p = name, p

    def draw(self, rng):
        return []

    def error(self, output, database):
        return output


class FakeSampler:
    """A sampler that draws failures at once, without a learner."""

    class subject:
        name = "fake"

    def __init__(self, seed):
        self.rng, self.drawn = np.random.default_rng(seed), 0

    def draw(self, left, right, size, path, *, fresh=False):
        del right, path, fresh
        failed = (self.rng.random((2, size)) < left.problem.p).astype(float)
        self.drawn += 2 * size
        yield Runs(*([Trial(f, f, 0) for f in side.tolist()] for side in failed))


def betting_on(looks, sampler, *, beta, significance, budget):
    """Return the betting on these looks, each a problem with its first trials.

    The audit has a claim and options, but no learner.
    """
    options = SimpleNamespace(significance=significance, until="refuted", budget=budget)
    claim, late = Accuracy(0.1, beta), lambda: False
    task = SimpleNamespace(claim=claim, options=options, against=True, listener=None, is_late=late)
    return UtilityBetting(task, sampler, looks)


def audit(problems, *, beta, significance, budget, seed, explored=0):
    """Return the betting on problems after `explored` pairs of trials of each.

    The problems are sorted by these trials, the worst first.
    """
    sampler = FakeSampler(seed)
    looks = []
    for problem in problems:
        trials = draw_trials(sampler, problem, explored, ()) if explored else None
        looks.append(Look(problem, problem.name, trials, trials.low.mean() if explored else 0.0))
    looks.sort(key=lambda look: -look.score)
    betting = betting_on(looks, sampler, beta=beta, significance=significance, budget=budget)
    betting.run()
    return betting


def most_alarms(audits, level):
    """Return the number of alarms that a test at `level` exceeds rarely.

    In this many audits it exceeds the number with probability at most RARE.
    """
    return int(stats.binom.isf(RARE, audits, level))


def mean_is_at_most_one(values):
    """Return whether the mean of the values is at most 1, up to chance.

    For values in [0, 20] of true mean at most 1 the answer is False with probability at most RARE
    (central limit theorem).
    """
    slack = NormalDist().inv_cdf(1 - RARE) * np.std(values) / math.sqrt(len(values))
    return np.mean(values) <= 1 + slack


@pytest.mark.parametrize("beta", [1e-9, 0.01, 0.1, 0.5, 0.9])
def test_one_update_has_expectation_at_most_one_on_the_claims_boundary(beta):
    payoffs = np.exp(log_payoffs(np.array([0.0, 1.0]), beta))
    expected = (1 - beta) * payoffs[0] + beta * payoffs[1]
    assert (payoffs > 0).all()
    assert (expected <= 1 + 1e-12).all()
    assert (expected >= 1 - 1e-6).all()  # nearly 1: the bet gives nothing away


def test_a_conditional_probability_is_as_fair_as_an_indicator():
    rng = np.random.default_rng(0)
    for _ in range(1_000):
        beta = rng.uniform(0.01, 0.9)
        values = rng.dirichlet(np.ones(4))  # values of F, scaled below to have mean beta
        chances = rng.dirichlet(np.ones(4))
        values = np.clip(values * beta / (chances @ values), 0, None)
        if values.max() <= 1:
            assert (chances @ np.exp(log_payoffs(values, beta)) <= 1 + 1e-12).all()


def test_tight_learners_are_refuted_at_most_at_the_significance_and_earn_nothing():
    """The test fails if 55 of 500 audits refute the claim.

    If each audit does so with probability 0.15, the test fails with probability 0.996.
    """
    beta, level, audits = 0.1, 0.05, 500
    found = [
        audit([Problem("tight", beta)], beta=beta, significance=level, budget=300, seed=(1, k))
        for k in range(audits)
    ]
    assert sum(each.refuted for each in found) <= most_alarms(audits, level)
    assert mean_is_at_most_one([min(math.exp(_stopped(each)), 20.0) for each in found])


def test_many_tight_problems_chosen_by_exploration_share_one_significance():
    """The test fails if 35 of 250 audits refute the claim.

    If each audit does so with probability 0.2, the test fails with probability 0.994.
    """
    beta, level, audits = 0.3, 0.05, 250
    problems = [Problem(f"tight {k}", beta) for k in range(8)]
    found = [
        audit(problems, beta=beta, significance=level, budget=500, seed=(2, k), explored=8)
        for k in range(audits)
    ]
    assert sum(each.refuted for each in found) <= most_alarms(audits, level)
    assert mean_is_at_most_one([min(math.exp(_stopped(each)), 20.0) for each in found])


def test_a_false_claim_is_called_met_at_most_at_the_significance():
    """The test fails if 35 of 250 audits call the claim met.

    If each audit does so with probability 0.2, the test fails with probability 0.994.
    """
    beta, level, audits = 0.3, 0.05, 250
    problems = [
        Problem("easy", 0.0),
        Problem("as bad as may not be called met", beta),
        Problem("easy too", 0.0),
    ]
    found = [
        audit(problems, beta=beta, significance=level, budget=400, seed=(3, k), explored=8)
        for k in range(audits)
    ]
    assert sum(each.met for each in found) <= most_alarms(audits, level)


def _stopped(betting):
    return betting.log_at_crossing if betting.refuted else betting.log_wealth


# Defects of unsound auditors: each one must fail a test that the sound auditor passes.


def test_peeking_at_clopper_pearson_every_fifty_runs_breaks_its_level():
    """The test fails if 16 of 300 audits by betting accept the claim.

    If each audit does so with probability 0.1, the test fails with probability 0.999.
    """
    beta, level, audits, looks = 0.1, 0.01, 1_500, 40
    rng = np.random.default_rng(4)
    failures = np.cumsum(rng.binomial(50, beta, (audits, looks)), axis=1)
    # first the sound way, at a number of runs fixed in advance: the interval keeps its level
    once = [clopper_pearson(int(k), 50 * looks, 1 - 2 * level)[1] < beta for k in failures[:, -1]]
    assert sum(once) <= most_alarms(audits, level)
    bounds = {
        (n, k): clopper_pearson(k, n, 1 - 2 * level)[1]
        for n in range(50, 50 * looks + 1, 50)
        for k in range(int(failures[:, n // 50 - 1].max()) + 1)
    }
    peeked = sum(any(bounds[50 * (i + 1), int(k)] < beta for i, k in enumerate(row)) for row in failures)
    assert peeked > most_alarms(audits, level)  # a false claim is accepted too often
    betting = [_met_by_betting(row, beta, level) for row in _flips(rng, beta, 300, 2_000)]
    assert sum(betting) <= most_alarms(len(betting), level)


def _flips(rng, beta, audits, runs):
    return (rng.random((audits, runs)) < beta).astype(float)


def _met_by_betting(row, beta, level):
    _, favour = Bets().paths(row, row, beta=beta)
    return bool(favour.max() >= -math.log(level))


@pytest.mark.parametrize(("defect", "audits"), [(False, 80), (True, 200)])
def test_betting_on_the_runs_that_chose_the_problem_is_seen_in_the_mean_wealth(defect, audits):
    """The mean wealth over 200 audits is above its limit, 3.24, in 19 of 20 cases.

    With the defect, the wealth of an audit has mean 3.9 and standard deviation 6.1.
    """
    beta, level = 0.3, 0.05
    stopped = []
    for k in range(audits):
        sampler = FakeSampler((5, k))
        problems = [Problem(f"{i}", beta) for i in range(50)]
        trials = [draw_trials(sampler, problem, 20, ()) for problem in problems]
        looks = [Look(p, p.name, t, t.low.mean()) for p, t in zip(problems, trials, strict=True)]
        looks.sort(key=lambda look: -look.score)
        budget = sampler.drawn + 200
        betting = betting_on(looks, sampler, beta=beta, significance=level, budget=budget)
        if defect:
            for standing in betting.standings:
                standing.bets.add(standing.look.trials.low, standing.look.trials.high, beta=beta)
        betting.run()
        stopped.append(min(math.exp(_stopped(betting)), 20.0))
    assert mean_is_at_most_one(stopped) != defect


def test_the_largest_wealth_of_many_problems_breaks_the_level_but_the_weighted_one_does_not():
    beta, level, audits, many = 0.3, 0.05, 150, 30
    rng = np.random.default_rng(6)
    careless = careful = 0
    for _ in range(audits):
        rows = (rng.random((many, 120)) < beta).astype(float)
        paths = np.array([Bets().paths(row, row, beta=beta)[0] for row in rows])
        careless += paths.max() >= -math.log(level)  # the defect: each problem is judged at the full level
        mixed = (weights(many)[:, None] * np.exp(paths)).sum(axis=0)
        careful += mixed.max() >= 1 / level
    assert careless > most_alarms(audits, level)
    assert careful <= most_alarms(audits, level)


# Power


def test_twice_the_claimed_failure_probability_is_refuted_within_a_few_hundred_runs(limits):
    limit = math.log(1e6) / limits.best_growth(0.2, 0.1)  # 311 runs: no audit needs fewer on average
    used = [
        audit([Problem("bad", 0.2)], beta=0.1, significance=1e-6, budget=5_000, seed=(7, k)).crossed_at
        for k in range(60)
    ]
    assert None not in used
    assert np.median(used) <= 1.5 * limit  # 467 runs


def test_half_the_claimed_failure_probability_is_met():
    found = [
        audit([Problem("good", 0.05)], beta=0.1, significance=1e-6, budget=5_000, seed=(8, k))
        for k in range(30)
    ]
    assert all(each.met and not each.refuted for each in found)


def test_a_bad_problem_missed_by_exploration_is_still_found_beside_a_tight_one():
    class Lucky(Problem):
        pass

    problems = [Problem("tight", 0.1), Lucky("bad", 0.3)]
    refuted = 0
    for k in range(20):
        sampler = FakeSampler((9, k))
        unlucky = draw_trials(FakeSampler(0), Problem("", 0.0), 8, ())  # no failure seen
        looks = [Look(problems[0], "tight", draw_trials(sampler, Problem("", 1.0), 8, ()), 1.0)]
        looks.append(Look(problems[1], "bad", unlucky, 0.0))
        betting = betting_on(looks, sampler, beta=0.1, significance=1e-6, budget=20_000)
        betting.run()
        refuted += betting.refuted and betting.worst.look.name == "bad"
    assert refuted == 20


# Bounds


def test_bounds_hold_for_draws_of_a_known_probability():
    p, level, audits = 0.2, 0.05, 200
    too_high = too_low = 0
    for k in range(audits):
        bets = Bets()
        row = (np.random.default_rng((10, k)).random(300) < p).astype(float)
        bets.add(row, row, beta=0.1)
        too_high += lower_bound(np.ones(1), [bets], significance=level) > p
        too_low += upper_bound(bets, significance=level) < p
    assert too_high <= most_alarms(audits, level)
    assert too_low <= most_alarms(audits, level)


def test_bounds_are_not_far_from_those_of_clopper_and_pearson():
    bets = Bets()
    row = np.zeros(1_000)
    row[::5] = 1.0
    bets.add(row, row, beta=0.1)
    low, high = clopper_pearson(200, 1_000, 1 - 2e-6)
    assert low - 0.02 < lower_bound(np.ones(1), [bets], significance=1e-6) < 0.2
    assert 0.2 < upper_bound(bets, significance=1e-6) < high + 0.02


@pytest.mark.parametrize("beta", [0.0, 0.01, 0.1, 0.5])
def test_the_least_runs_are_the_fewest_failures_in_a_row_that_refute(beta):
    least = least_runs(beta, 1e-6)
    assert _all_failed(least, beta) >= math.log(1e6)
    assert least == 1 or _all_failed(least - 1, beta) < math.log(1e6)


def _all_failed(runs, beta):
    bets = Bets()
    bets.add(np.ones(runs), np.ones(runs), beta=beta)
    return bets.log_wealth(beta)


def test_stakes_stay_below_the_one_that_could_lose_everything():
    assert 0 < GRID.min() < GRID.max() < 1
