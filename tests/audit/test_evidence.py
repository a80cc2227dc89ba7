"""The betting rule: by enumeration no claim that holds is bet against with profit; bounds and intervals.

Long, for the enumerations share their claims, couplings and stakes.
"""

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from audit import ApproximateDP
from audit.evidence import (
    EPSILON_CAP,
    LOG_STAKE_PRIOR,
    STAKES,
    Bet,
    Ledger,
    at_distance,
    best_log_growth,
    ceiling,
    clopper_pearson,
    delta_bound,
    delta_lattice,
    epsilon_bound,
    epsilon_lattice,
    joint,
    log_payoffs,
    lower_bound,
)

CASES = 10_000


def coupling(p, q, rng):
    """Return a random joint law with margins p and q: a mixture of corners of the set of all couplings."""
    total = np.zeros((len(p), len(q)))
    weights = rng.dirichlet(np.ones(2))
    for weight in weights:
        rows, columns = rng.permutation(len(p)), rng.permutation(len(q))
        a, b = p[rows].copy(), q[columns].copy()
        i = j = 0
        while i < len(a) and j < len(b):  # the north-west corner rule
            moved = min(a[i], b[j])
            total[rows[i], columns[j]] += weight * moved
            a[i], b[j] = a[i] - moved, b[j] - moved
            i, j = (i + 1, j) if a[i] <= b[j] else (i, j + 1)
    independent = np.outer(p, q)
    share = rng.choice([0.0, 0.5, 1.0])
    return share * independent + (1 - share) * total


def tight_laws(rng, outcomes):
    """Return two laws and a claim (R, δ) that they meet with equality in at least one direction."""
    p = rng.dirichlet(rng.choice([0.3, 1.0, 5.0]) * np.ones(outcomes))
    q = rng.dirichlet(rng.choice([0.3, 1.0, 5.0]) * np.ones(outcomes))
    if rng.random() < 0.4:  # pure: the largest ratio either way
        ratio = max(1.0, float(np.max(p / q)), float(np.max(q / p)))
        if ratio < 1e6:
            return p, q, ratio, 0.0
    ratio = math.exp(rng.uniform(0, 3))
    excess = [np.maximum(0, x - ratio * y).sum() for x, y in ((p, q), (q, p))]
    return p, q, ratio, float(min(max(excess), 1 - 1e-9))


def random_bet(rng, events, counts):
    """Return a bet with arbitrary weights, estimates and past: all they are is fixed before the batch."""
    past = rng.choice([0.0, 1.0, 30.0, 3_000.0], events)
    p, q = rng.uniform(0.001, 0.999, (2, events))
    return Bet(np.log(rng.dirichlet(np.ones(events))), p, q, past, counts)


def far_laws(rng, outcomes, *, steps):
    """Return the laws at the ends of a path and a claim (R, δ) that every step keeps.

    In half of the cases the first outcome meets it with equality all along: p_i = R·p_(i+1) + δ.
    """
    ratio = math.exp(rng.choice([0.0, rng.uniform(0, 1)]))
    delta = float(rng.choice([0.0, rng.uniform(0, 0.4) / sum(ratio**i for i in range(steps))]))
    if rng.random() < 0.5:
        tops = [rng.uniform(0, 0.5) / ratio**steps]
        for _ in range(steps):
            tops.insert(0, ratio * tops[0] + delta)
        path = [np.append(top, (1 - top) * np.ones(outcomes - 1) / (outcomes - 1)) for top in tops]
    else:
        path = rng.dirichlet(rng.choice([1.0, 5.0]) * np.ones(outcomes), size=steps + 1)
    pairs = [*itertools.pairwise(path), *((b, a) for a, b in itertools.pairwise(path))]
    worst = max(float(np.maximum(0, a - ratio * b).sum()) for a, b in pairs)
    return path[0], path[-1], ratio, min(max(delta, worst), 1 - 1e-9)


def one_hot(inside_p, inside_q):
    """Return the four counts of one pair of runs for each event."""
    return np.stack(
        [inside_p & inside_q, inside_p & ~inside_q, ~inside_p & inside_q, ~inside_p & ~inside_q], axis=-1
    ).astype(float)


def expectation(rng, *, pairs, outcomes, steps=1, claimed_steps=None):
    """Return E[factor] of one batch of so many pairs, over every outcome of a tight case."""
    far = steps > 1
    p, q, ratio, delta = far_laws(rng, outcomes, steps=steps) if far else tight_laws(rng, outcomes)
    law = coupling(p, q, rng)
    events = int(rng.integers(1, 5))
    members = rng.random((events, outcomes)) < 0.5
    turned = rng.random(events) < 0.5  # which direction each event is bet on
    cells = list(itertools.product(range(outcomes), repeat=2))
    seen = {
        (i, j): one_hot(
            np.where(turned, members[:, j], members[:, i]), np.where(turned, members[:, i], members[:, j])
        )
        for i, j in cells
    }
    fixed = random_bet(rng, events, np.zeros((events, 4)))
    total = 0.0
    for batch in itertools.product(cells, repeat=pairs):
        counts = sum(seen[cell] for cell in batch)
        bet = Bet(fixed.log_prior, fixed.p, fixed.q, fixed.past, counts, claimed_steps or steps)
        weight = math.prod(float(law[cell]) for cell in batch)
        if weight > 0:
            total += weight * math.exp(bet.log_growth(math.log(ratio), delta))
    return total


def test_by_enumeration_no_update_has_an_expectation_above_one():
    """10,000 random cases on the boundary of their claim, dependent sides and several events at once."""
    rng = np.random.default_rng(20)
    for outcomes, share in ((2, 0.8), (3, 0.18), (5, 0.02)):
        cases = range(int(share * CASES))
        assert max(expectation(rng, pairs=1, outcomes=outcomes) for _ in cases) <= 1 + 1e-12


@pytest.mark.parametrize(("pairs", "cases"), [(2, 300), (3, 60)])
def test_by_enumeration_no_batch_has_an_expectation_above_one(pairs, cases):
    rng = np.random.default_rng(21)
    assert max(expectation(rng, pairs=pairs, outcomes=2) for _ in range(cases)) <= 1 + 1e-12


@pytest.mark.parametrize("steps", [2, 3, 7])
def test_by_enumeration_no_update_on_the_ends_of_a_path_has_an_expectation_above_one(steps):
    """Couplings, several events and δ > 0 included; the claim is one that every step of the path keeps."""
    rng = np.random.default_rng(22)
    for outcomes, cases in ((2, 1_500), (3, 300)):
        found = [expectation(rng, pairs=1, outcomes=outcomes, steps=steps) for _ in range(cases)]
        assert max(found) <= 1 + 1e-12


def test_the_enumeration_sees_a_distance_that_is_said_too_short():
    rng = np.random.default_rng(22)
    found = [expectation(rng, pairs=1, outcomes=2, steps=3, claimed_steps=2) for _ in range(200)]
    assert max(found) > 1.001


@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("delta", [0.0, 1e-9, 0.01, 0.7])
@pytest.mark.parametrize("steps", [1, 2, 5, 40])
def test_what_is_allowed_at_a_distance_is_what_the_claim_says_of_groups(epsilon, delta, steps):
    """And what a chain of the inequality gives: b ← R·b + δ, from the far end's probability 0."""
    far = at_distance(epsilon, delta, steps)
    group = ApproximateDP(epsilon, delta).group(steps)
    assert far == pytest.approx((group.epsilon, group.delta), rel=1e-12)
    bound = 0.0
    for _ in range(steps):
        bound = min(1.0, math.exp(epsilon) * bound + delta)
    assert far[1] == pytest.approx(bound, rel=1e-6)


def test_a_bound_from_distant_databases_is_one_about_a_single_step():
    """p = 1/2 and q = e^(−2.4)/2 at distance 4 are a loss of 0.6 a step; 40,000 pairs come close to it."""
    rng = np.random.default_rng(5)
    ledger, seen = Ledger(), np.zeros(4)
    p, q, past = 0.5, 0.5 * math.exp(-2.4), 0.0
    for size in [200] * 200:
        hits, misses = (seen[0] + seen[1] + 0.5, seen[0] + seen[2] + 0.5)
        estimates = [np.array([value / (past + 1)]) for value in (hits, misses)]
        counts = rng.multinomial(size, joint(np.array(p), np.array(q))).astype(float)
        ledger.add(Bet(np.zeros(1), *estimates, np.array([past]), counts[None, :], 4))
        seen, past = seen + counts, past + size
    bound = epsilon_bound(ledger, epsilon=0.5, delta=0.0, significance=1e-6)
    assert 0.55 < bound <= 0.6
    near = Ledger([Bet(b.log_prior, b.p, b.q, b.past, b.counts) for b in ledger.bets])
    assert epsilon_bound(near, epsilon=0.5, delta=0.0, significance=1e-6) == pytest.approx(
        4 * bound, rel=0.02
    )


@pytest.mark.parametrize("delta", [0.0, 0.02])
def test_the_path_of_a_ledger_adds_up_bets_at_several_distances(delta):
    rng = np.random.default_rng(3)
    ledger = Ledger()
    for distance in (1, 3, 1, 2):
        counts = rng.integers(0, 9, (2, 4)).astype(float)
        bet = random_bet(rng, 2, counts)
        ledger.add(Bet(bet.log_prior, bet.p, bet.q, bet.past, counts, distance))
    expected = np.cumsum([bet.log_growth(0.4, delta) for bet in ledger.bets])
    assert ledger.path(0.4, delta) == pytest.approx(expected)


def test_the_enumeration_sees_a_factor_taken_at_its_best_event(monkeypatch):
    """The planted defect "wealth maximised over features" is far outside what the enumeration allows."""

    def at_its_best(self, epsilon, delta):
        return float((self.counts @ log_payoffs(epsilon, delta)).max())

    monkeypatch.setattr(Bet, "log_growth", at_its_best)
    rng = np.random.default_rng(20)
    assert max(expectation(rng, pairs=1, outcomes=3) for _ in range(50)) > 1.1


def test_a_case_on_the_boundary_is_fair_where_every_event_is_the_tight_one():
    """Equality: with p = R·q + δ for the only event, each product of payoffs has expectation exactly 1."""
    q, ratio, delta = 0.1, 3.0, 0.05
    p = ratio * q + delta
    cells = joint(np.array(p), np.array(q))
    assert cells @ np.exp(log_payoffs(math.log(ratio), delta)) == pytest.approx(
        np.ones(len(STAKES)), abs=1e-14
    )


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (1.0, 0.0), (0.3, 0.2), (4.0, 1e-6), (40.0, 0.9)])
def test_payoffs_are_those_of_the_linear_bet(epsilon, delta):
    ratio = math.exp(epsilon)
    for row, (x, y) in enumerate([(1, 1), (1, 0), (0, 1), (0, 0)]):
        for column, stake in enumerate(STAKES):
            expected = math.log1p(stake / (ratio + delta) * (x - ratio * y - delta))
            assert log_payoffs(epsilon, delta)[row, column] == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_no_stake_can_lose_everything_and_one_stakes_nothing():
    assert np.isfinite(log_payoffs(1.0, 0.5)).all()
    assert (STAKES >= 0).all()
    assert (STAKES < 1).all()
    assert 0.0 in STAKES
    assert np.exp(LOG_STAKE_PRIOR).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("epsilon", [700.0, 1e4, 1e308])
def test_an_enormous_claim_is_bet_against_without_overflow(epsilon):
    assert np.isfinite(log_payoffs(epsilon, 0.0)).all()


def test_the_joint_law_of_independent_sides_is_a_law():
    cells = joint(np.array([0.2, 0.9]), np.array([0.5, 0.1]))
    assert cells[0] == pytest.approx([0.1, 0.1, 0.4, 0.4])
    assert cells.sum(axis=-1) == pytest.approx([1.0, 1.0])


def test_with_no_past_the_factor_is_the_prior_mean_of_the_stakes():
    counts = np.array([[1.0, 4.0, 2.0, 3.0]])
    bet = Bet(np.zeros(1), np.array([0.9]), np.array([0.2]), np.zeros(1), counts)
    ratio = math.exp(0.7)
    expected = 0.0
    for stake, weight in zip(STAKES, np.exp(LOG_STAKE_PRIOR), strict=True):
        rate = stake / (ratio + 0.1)
        gains = [1 + rate * (x - ratio * y - 0.1) for x, y in ((1, 1), (1, 0), (0, 1), (0, 0))]
        expected += weight * math.prod(gain**n for gain, n in zip(gains, counts[0], strict=True))
    assert bet.log_growth(0.7, 0.1) == pytest.approx(math.log(expected), rel=1e-12)


def some_ledger(rng, *, bets=6):
    ledger = Ledger()
    for _ in range(bets):
        events = int(rng.integers(1, 6))
        counts = rng.multinomial(40, rng.dirichlet(np.ones(4)), size=events).astype(float)
        ledger.add(random_bet(rng, events, counts))
    return ledger


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (1.0, 0.0), (2.0, 0.1)])
def test_the_path_of_a_ledger_adds_up_its_bets(seed, epsilon, delta):
    ledger = some_ledger(np.random.default_rng(seed))
    one_by_one = np.cumsum([bet.log_growth(epsilon, delta) for bet in ledger.bets])
    assert ledger.path(epsilon, delta) == pytest.approx(one_by_one, rel=1e-10, abs=1e-10)
    assert ledger.log_wealth(epsilon, delta) == pytest.approx(one_by_one[-1], rel=1e-10, abs=1e-10)


def test_a_bet_added_after_the_path_was_read_counts():
    rng = np.random.default_rng(0)
    ledger = some_ledger(rng)
    before = ledger.path(1.0, 0.0)
    ledger.add(some_ledger(rng, bets=1).bets[0])
    assert ledger.path(1.0, 0.0)[:-1] == pytest.approx(before)


def test_a_ledger_without_bets_has_the_wealth_it_began_with_and_bounds_nothing():
    assert Ledger().log_wealth(1.0, 0.0) == 0.0
    assert len(Ledger().path(1.0, 0.0)) == 0
    assert epsilon_bound(Ledger(), epsilon=1.0, delta=0.0, significance=0.01) == 0.0
    assert delta_bound(Ledger(), epsilon=1.0, significance=0.01) == 0.0


@pytest.mark.parametrize("epsilon", [0.0, 1e-300, 1e-9, 0.1, 1.0, 3.0, 40.0])
def test_the_lattice_of_epsilon_rises_from_zero_through_the_claim_to_the_cap(epsilon):
    lattice = list(epsilon_lattice(epsilon))
    assert lattice[0] == 0.0
    assert (np.diff(lattice) > 0).all()
    assert epsilon in lattice
    assert lattice[-1] > 0.98 * EPSILON_CAP
    assert lattice[-1] > max(2.0, 2 * epsilon)


def test_the_lattice_of_epsilon_has_steps_of_half_a_per_cent_near_the_claim():
    near = [value for value in epsilon_lattice(0.8) if 0.41 <= value <= 8]
    assert (np.diff(near) / near[:-1]).max() < 0.0051


def test_the_lattice_of_delta_rises_from_zero_to_one():
    lattice = list(delta_lattice())
    assert lattice[0] == 0.0
    assert lattice[-1] == 1.0
    assert (np.diff(lattice) > 0).all()


@pytest.mark.parametrize(
    ("rejected", "bound"),
    [((), 0), ((0,), 0), ((0, 1, 2), 2), ((0, 1, 3, 4), 1), ((1, 2), 0), (range(6), 5)],
)
def test_the_bound_is_the_last_value_before_the_first_that_is_not_rejected(rejected, bound):
    assert lower_bound(iter(range(6)), lambda value: value in rejected) == bound


def test_bounds_do_not_pass_the_truth():
    """Laplace at ε = 1: each bound above the truth is a false alarm of probability at most 1e-8."""
    rng = np.random.default_rng(4)
    for _ in range(5):
        ledger = Ledger()
        p, q = 1 - 0.5 * math.exp(-1), 0.5  # Pr[z + noise > 0] for z = 1 and 0
        for size in (20, 100, 1_000, 10_000):
            counts = rng.multinomial(size, joint(np.array(p), np.array(q)))[None, :].astype(float)
            ledger.add(Bet(np.zeros(1), np.array([p]), np.array([q]), np.array([float(size)]), counts))
        assert epsilon_bound(ledger, epsilon=0.2, delta=0.0, significance=1e-8) <= math.log(p / q)
        assert delta_bound(ledger, epsilon=0.2, significance=1e-8) <= p - math.exp(0.2) * q


def test_bounds_come_close_to_what_an_event_shows():
    """p = 1/2 against q = 0.1 at 100,000 pairs: ε = ln 5, δ(0) = 0.4; the power is above 1 − 1e-9."""
    rng = np.random.default_rng(5)
    ledger = Ledger()
    for _ in range(2):
        counts = rng.multinomial(50_000, joint(np.array(0.5), np.array(0.1)))[None, :].astype(float)
        ledger.add(Bet(np.zeros(1), np.array([0.5]), np.array([0.1]), np.array([1e4]), counts))
    assert (
        0.95 * math.log(5) < epsilon_bound(ledger, epsilon=0.5, delta=0.0, significance=0.01) <= math.log(5)
    )
    assert 0.36 < delta_bound(ledger, epsilon=0.0, significance=0.01) <= 0.4


@pytest.mark.parametrize(
    ("hits", "runs"), [(0, 1), (0, 10), (3, 10), (10, 10), (1, 1), (499, 1_000), (1, 10**6)]
)
@pytest.mark.parametrize("level", [0.9, 0.99, 1 - 1e-6])
def test_the_interval_is_that_of_scipy_and_statsmodels(hits, runs, level):
    low, high = clopper_pearson(hits, runs, level)
    assert (low, high) == pytest.approx(
        proportion_confint(hits, runs, alpha=1 - level, method="beta"), rel=1e-8, abs=1e-12
    )
    tail = (1 - level) / 2
    if hits:
        assert low == pytest.approx(stats.beta.ppf(tail, hits, runs - hits + 1), rel=1e-8)
    if hits < runs:
        assert high == pytest.approx(stats.beta.ppf(1 - tail, hits + 1, runs - hits), rel=1e-8)


def test_the_interval_covers_as_often_as_it_says_by_enumeration():
    for truth in (0.001, 0.1, 0.5, 0.93):
        weights = stats.binom.pmf(np.arange(41), 40, truth)
        covered = [low <= truth <= high for low, high in (clopper_pearson(k, 40, 0.95) for k in range(41))]
        assert weights @ np.array(covered) >= 0.95 - 1e-12


def test_the_ceiling_is_that_of_a_leak_seen_on_every_run():
    assert ceiling(10**6, 1e-6) == pytest.approx(math.log(10**6 / math.log(2e6)))
    assert ceiling(3, 1e-6) == 0.0
    assert ceiling(0, 0.05) == 0.0


def kl(a, b):
    return sum(x * np.log(x / y) for x, y in ((a, b), (1 - a, 1 - b)) if x > 0)


@pytest.mark.parametrize(
    ("p", "q", "epsilon", "delta"),
    [
        (0.7, 0.1, 0.5, 0.0),
        (0.5, 0.01, 2.0, 0.1),
        (0.03, 0.0005, 1.0, 0.004),
        (1.0, 0.0, 1.0, 0.0),
        (0.4, 0.35, 0.0, 0.0),
    ],
)
def test_the_best_growth_is_the_least_divergence_from_the_claim(p, q, epsilon, delta):
    """Against a scan of the boundary p′ = R·q′ + δ, on a grid of a million points."""
    ratio = math.exp(epsilon)
    grid = np.linspace(1e-12, (1 - delta) / ratio - 1e-12, 10**6)
    expected = (kl(q, grid) + kl(p, ratio * grid + delta)).min()
    assert best_log_growth(p, q, epsilon, delta) == pytest.approx(expected, rel=1e-6)


def test_the_best_growth_of_an_outright_leak_is_in_closed_form():
    """p = 1, q = 0: −ln(1 − q′) − ln(R·q′) falls up to R·q′ = 1 (for R ≥ 2), where it is ln(R/(R − 1))."""
    assert best_log_growth(1.0, 0.0, 1.0, 0.0) == pytest.approx(math.log(math.e / (math.e - 1)), rel=1e-6)
    assert math.log(1e6) / best_log_growth(1.0, 0.0, 1.0, 0.0) == pytest.approx(30.1, abs=0.05)


def test_what_meets_the_claim_cannot_grow():
    assert best_log_growth(0.3, 0.2, 0.5, 0.0) == 0.0
    assert best_log_growth(0.3, 0.1, math.log(3), 1e-15) == 0.0


def test_an_outright_leak_once_known_is_refuted_in_fifty_pairs():
    """At ε = 1 and 1e-6; the linear bet cannot do it in fewer than 44, and no auditor in fewer than 30."""
    counts = np.array([[0.0, 50.0, 0.0, 0.0]])
    leak = Bet(np.zeros(1), np.array([0.97]), np.array([0.03]), np.array([16.0]), counts)
    assert leak.log_growth(1.0, 0.0) >= math.log(1e6)
