"""The betting rule: no bet against a true claim has a positive expected gain.

This is checked by enumeration. Other tests here check bounds and intervals. The file is long because the
enumerations share their claims, laws and stakes.
"""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from audit import ApproximateDP
from audit.evidence.bets import (
    EPSILON_CAP,
    LOG_STAKE_PRIOR,
    STAKES,
    Bet,
    Ledger,
    at_distance,
    ceiling,
    clopper_pearson,
    log_payoffs,
    outcomes,
)
from audit.evidence.bounds import delta_bound, delta_lattice, epsilon_bound, epsilon_lattice, lower_bound
from audit.self_audit.subjects.limits import best_log_growth


def tight_laws(rng, cases, *shape):
    """Return pairs of laws, and for each case a claim (R, δ) that its pairs keep.

    Outcomes are along the last axis. Each pair moves from one law towards another as far as the claim allows
    in at least one direction.
    """
    pure = rng.random(cases) < 0.4
    ratio = np.exp(rng.uniform(0, np.where(pure, rng.choice([1.0, 3.0, 13.0], cases), 3.0)))
    delta = np.where(pure, 0.0, rng.uniform(size=cases) ** rng.choice([1, 3], cases))
    apart = (..., *(None for _ in shape))
    spread = rng.choice([0.3, 1.0, 5.0], (2, cases))[apart]
    p, q = rng.standard_gamma(np.broadcast_to(spread, (2, cases, *shape))) + 1e-12
    p, q = (law / law.sum(axis=-1, keepdims=True) for law in (p, q))
    ratio_of, delta_of = ratio[apart], delta[apart][..., 0]

    def moved(share):
        return q + share[..., None] * (p - q)

    def kept(share):
        law = moved(share)
        excess = (np.maximum(0, a - ratio_of * b).sum(axis=-1) for a, b in ((law, q), (q, law)))
        return np.maximum(*excess) <= delta_of

    least, most = np.zeros((cases, *shape[:-1])), np.ones((cases, *shape[:-1]))
    for _ in range(50):
        middle = np.where(kept(most), most, (least + most) / 2)
        least, most = np.where(kept(middle), [middle, most], [least, middle])
    return moved(least), q, ratio, delta


def far_laws(rng, outcomes, *, steps):
    """Return the laws at the ends of a path, and a claim (R, δ) that every step keeps.

    In half of the cases every step meets the claim with equality on the first outcome: p_i = R·p_(i+1) + δ.
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


def random_bet(rng, events, counts, distance=1):
    """Return a bet with arbitrary weights, estimates and past, all fixed beforehand."""
    past = rng.choice([0.0, 1.0, 30.0, 3_000.0], events)
    p, q = rng.uniform(0.001, 0.999, (2, events))
    return Bet(np.log(rng.dirichlet(np.ones(events))), p, q, past, counts, distance)


def factors(rng, calls, outcomes, claim, *, distance=1):
    """Return the factors of the wealth by a random bet, for every batch of this size.

    The batches are in the order of their histories: (side, outcome) of the first call, then of the second, …
    """
    events = int(rng.integers(1, 5))
    members = rng.random((events, outcomes)) < 0.5
    p_side = rng.integers(0, 2, events)  # the direction in which each event is bet on
    of_call = np.zeros((2, outcomes, events, 4))
    for side, outcome, event in np.ndindex(2, outcomes, events):
        of_call[side, outcome, event, 2 * (side != p_side[event]) + (not members[event, outcome])] = 1
    batches = itertools.product(of_call.reshape(-1, events, 4), repeat=calls)
    fixed = random_bet(rng, events, np.zeros((events, 4)), distance)
    bets = [Bet(fixed.log_prior, fixed.p, fixed.q, fixed.past, sum(batch), distance) for batch in batches]
    epsilon, delta = claim
    return np.exp(Ledger(bets).growths(np.array([epsilon]), np.array([delta]))[0])


def expectation(value, p, q, *, order_coin=False):
    """Return E[factor] of a batch against a subject that sees the past.

    The past is all earlier coins, sides and outcomes.

    Parameters
    ----------
    value
        The factor for every history, as `factors` gives them.
    p, q
        The laws on either side, for each call an array (choices, histories before the call, outcomes). The
        subject takes the choices that suit the bet best.
    order_coin
        True: one coin decides the order of the sides in a pair of calls. False: each call has a coin.
    """
    for call in reversed(range(len(p))):
        outcomes = p[call].shape[-1]
        value = value.reshape(-1, 2, outcomes)
        of_left, of_right = ((law[call] * value[:, side]).sum(axis=-1) for side, law in enumerate((p, q)))
        left = np.full(len(value), 0.5)
        if order_coin and call % 2:
            left = np.arange(len(value)) // outcomes % 2  # after the right side comes the left
        value = (left * of_left + (1 - left) * of_right).max(axis=0)
    return float(value.item())


def expectations(rng, cases, *, calls, outcomes, choices=3, **how):
    """Return E[factor] for random claims.

    Most laws of the adversarial subjects meet their claims with equality.
    """
    befores = [(2 * outcomes) ** call for call in range(calls)]
    p, q, ratio, delta = tight_laws(rng, cases, choices, sum(befores), outcomes)
    cuts = np.cumsum(befores)[:-1]
    found = []
    for case in range(cases):
        value = factors(rng, calls, outcomes, (math.log(ratio[case]), delta[case]))
        laws = (np.split(law[case], cuts, axis=1) for law in (p, q))
        found.append(expectation(value, *laws, **how))
    return found


@pytest.mark.parametrize(
    ("calls", "outcomes", "cases"), [(1, 2, 900), (1, 5, 300), (2, 2, 1_300), (2, 3, 250), (3, 2, 170)]
)
def test_by_enumeration_no_batch_has_an_expectation_above_one(calls, outcomes, cases):
    """In 2,920 random cases, coins and earlier outcomes may change the laws.

    The claim is kept.
    """
    rng = np.random.default_rng([20, calls, outcomes])
    assert max(expectations(rng, cases, calls=calls, outcomes=outcomes)) <= 1 + 1e-12


def test_the_subjects_of_the_enumeration_use_what_they_see():
    """The expected factor of one call is often exactly 1."""
    rng = np.random.default_rng(23)
    found = np.array(expectations(rng, 300, calls=2, outcomes=2))
    assert np.median(found) > 0.95


def test_the_enumeration_sees_one_coin_per_pair_instead_of_one_per_call():
    """The second call of a pair knows its side from the first call.

    A subject that uses this can give a bet an expectation above 1 although its laws keep the claim.
    """
    rng = np.random.default_rng(20)
    assert max(expectations(rng, 50, calls=2, outcomes=2, order_coin=True)) > 1.001


def expectation_far(rng, outcomes, *, steps, claimed_steps=None):
    """Return E[factor] of one call on the databases at the ends of a path.

    Every step of the path keeps a claim.
    """
    p, q, ratio, delta = far_laws(rng, outcomes, steps=steps)
    value = factors(rng, 1, outcomes, (math.log(ratio), delta), distance=claimed_steps or steps)
    return expectation(value, p.reshape(1, 1, 1, -1), q.reshape(1, 1, 1, -1))


@pytest.mark.parametrize("steps", [2, 3, 7])
def test_by_enumeration_no_update_on_the_ends_of_a_path_has_an_expectation_above_one(steps):
    """Every step of the path keeps the claim.

    The enumeration includes several events and δ > 0.
    """
    rng = np.random.default_rng(22)
    for size, cases in ((2, 500), (3, 100)):
        assert max(expectation_far(rng, size, steps=steps) for _ in range(cases)) <= 1 + 1e-12


def test_enumeration_detects_a_distance_declared_too_short():
    rng = np.random.default_rng(22)
    assert max(expectation_far(rng, 2, steps=3, claimed_steps=2) for _ in range(200)) > 1.001


@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 0.1, 1.0, 30.0])
def test_the_bound_at_a_distance_is_the_group_claim(epsilon):
    """The reference applies b ← R·b + δ once for each step, from b = 0."""
    for delta, steps in itertools.product((0.0, 1e-9, 0.01, 0.7), (1, 2, 5, 40)):
        far = at_distance(epsilon, delta, steps)
        group = ApproximateDP(epsilon, delta).group(steps)
        assert far == pytest.approx((group.epsilon, group.delta), rel=1e-12)
        bound = 0.0
        for _ in range(steps):
            bound = min(1.0, math.exp(epsilon) * bound + delta)
        assert far[1] == pytest.approx(bound, rel=1e-6)


def test_bounds_from_distant_databases_are_about_a_single_step():
    """The bound from 80,000 calls is close to the loss per step, 0.6.

    At distance 4, p = 1/2 and q = e^(−2.4)/2.
    """
    rng = np.random.default_rng(5)
    ledger, seen = Ledger(), np.zeros(4)
    for size in [400] * 200:
        p, q = ((seen[k : k + 1] + 0.5) / (seen[k] + seen[k + 1] + 1) for k in (0, 2))
        counts = rng.multinomial(size, outcomes(np.array(0.5), np.array(0.5 * math.exp(-2.4)))).astype(float)
        ledger.add(Bet(np.zeros(1), p, q, seen.sum(keepdims=True), counts[None, :], 4))
        seen += counts
    bound = epsilon_bound(ledger, epsilon=0.5, delta=0.0, significance=1e-6)
    assert 0.55 < bound <= 0.6
    near = Ledger([replace(bet, distance=1) for bet in ledger.bets])
    assert epsilon_bound(near, epsilon=0.5, delta=0.0, significance=1e-6) == pytest.approx(
        4 * bound, rel=0.02
    )


def held_back(growths):
    """Return the log wealth after each bet.

    A share of 0.8 is bet from the start, and a further share of 0.2/(n(n + 1)) from bet n + 1 on.
    """
    parts = [0.8] + [0.2 / (n * (n + 1)) for n in range(1, len(growths))]
    wealth = []
    for last in range(len(growths)):
        bet = sum(part * math.exp(sum(growths[k : last + 1])) for k, part in enumerate(parts[: last + 1]))
        wealth.append(math.log(bet + 0.2 / (last + 1)))
    return np.array(wealth)


@pytest.mark.parametrize("delta", [0.0, 0.02])
def test_the_path_of_a_ledger_adds_up_bets_at_several_distances(delta):
    rng = np.random.default_rng(3)
    ledger = Ledger()
    for distance in (1, 3, 1, 2):
        counts = rng.integers(0, 9, (2, 4)).astype(float)
        ledger.add(random_bet(rng, 2, counts, distance))
    expected = held_back([bet.log_growth(0.4, delta) for bet in ledger.bets])
    assert ledger.path(0.4, delta) == pytest.approx([0.0, *expected])


def at_its_best(self, epsilons, deltas):
    """Return the growth of the wealth by the event and stake that won most."""
    payoffs = [log_payoffs(bet.p, bet.q, epsilons[0], deltas[0]) for bet in self.bets]
    won = [(bet.counts[:, None, :] @ paid).max() for bet, paid in zip(self.bets, payoffs, strict=True)]
    return np.array([won])


def test_the_enumeration_sees_a_factor_taken_at_its_best_event(monkeypatch):
    """Planted defect: the wealth is maximised over features.

    The result is far outside what the enumeration allows.
    """
    monkeypatch.setattr(Ledger, "growths", at_its_best)
    rng = np.random.default_rng(20)
    assert max(expectations(rng, 50, calls=1, outcomes=3)) > 1.1


ESTIMATES = [(0.5, 0.5), (1e-4, 0.9), (0.999, 1e-3), (0.3, 0.1)]


@pytest.mark.parametrize(("p", "q"), ESTIMATES)
def test_a_case_on_the_boundary_is_fair_for_any_estimate(p, q):
    """If p = R·q + δ is true of an event, the payoff of each stake has expectation exactly 1."""
    true, ratio, delta = 0.1, 3.0, 0.05
    payoffs = log_payoffs(np.array(p), np.array(q), math.log(ratio), delta)
    shares = outcomes(np.array(ratio * true + delta), np.array(true))
    assert shares @ np.exp(payoffs) == pytest.approx(np.ones(len(STAKES)), abs=1e-14)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (1.0, 0.0), (0.3, 0.2), (4.0, 1e-6), (40.0, 0.9)])
@pytest.mark.parametrize(("p", "q"), ESTIMATES)
def test_payoffs_are_those_of_the_linear_bet(p, q, epsilon, delta):
    """For a stake s the payoff is log(1 + s·D/M).

    D is 2·1[E] − δ − h for a call on the p side, and −2R·1[E] − δ + h for a call on the q side. M is the
    largest loss, −min D.
    """
    ratio = math.exp(epsilon)
    h = p + ratio * q
    found = log_payoffs(np.array(p), np.array(q), epsilon, delta)
    gains = [
        2 * on_p * inside - 2 * ratio * (1 - on_p) * inside - delta - h * (2 * on_p - 1)
        for on_p, inside in ((1, 1), (1, 0), (0, 1), (0, 0))
    ]
    for row, gain in enumerate(gains):
        for column, stake in enumerate(STAKES):
            expected = math.log1p(stake * gain / -min(gains))
            assert found[row, column] == pytest.approx(expected, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(("p", "q"), ESTIMATES)
def test_no_stake_can_lose_everything_and_one_stakes_nothing(p, q):
    assert log_payoffs(np.array(p), np.array(q), 1.0, 0.5).min() >= math.log1p(-STAKES.max()) - 1e-12
    assert (STAKES >= 0).all()
    assert (STAKES < 1).all()
    assert 0.0 in STAKES
    assert np.exp(LOG_STAKE_PRIOR).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("epsilon", [700.0, 1e4, 1e308])
def test_an_enormous_claim_is_bet_against_without_overflow(epsilon):
    assert np.isfinite(log_payoffs(np.array([0.5, 1.0]), np.array([0.5, 0.0]), epsilon, 0.0)).all()


def test_the_outcomes_of_a_call_have_a_law():
    cells = outcomes(np.array([0.2, 0.9]), np.array([0.5, 0.1]))
    assert cells[0] == pytest.approx([0.1, 0.4, 0.25, 0.25])
    assert cells.sum(axis=-1) == pytest.approx([1.0, 1.0])


def test_with_no_past_the_factor_is_the_prior_mean_of_the_stakes():
    counts = np.array([[1.0, 4.0, 2.0, 3.0]])
    bet = Bet(np.zeros(1), np.array([0.9]), np.array([0.2]), np.zeros(1), counts)
    ratio = math.exp(0.7)
    h = 0.9 + ratio * 0.2
    most = max(h + 0.1, 2 * ratio + 0.1 - h)
    expected = 0.0
    for stake, weight in zip(STAKES, np.exp(LOG_STAKE_PRIOR), strict=True):
        gains = [1 + stake / most * (d - 0.1) for d in (2 - h, -h, h - 2 * ratio, h)]
        expected += weight * math.prod(gain**n for gain, n in zip(gains, counts[0], strict=True))
    assert bet.log_growth(0.7, 0.1) == pytest.approx(math.log(expected), rel=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_an_interrupted_batch_gets_the_worst_counts_that_its_coins_allow(seed):
    rng = np.random.default_rng(seed)
    coins = rng.integers(0, 30, 2)
    inside = rng.integers(0, coins + 1, (5, 2))
    of_p, of_q = inside.T
    counts = np.stack([of_p, coins[0] - of_p, of_q, coins[1] - of_q], axis=1).astype(float)
    bet = random_bet(rng, 5, counts)
    worst = bet.at_worst()
    assert worst.calls == bet.calls
    assert worst.counts[:, :2].sum(axis=1).tolist() == [coins[0]] * 5
    for claim in ((0.0, 0.0), (1.0, 0.0), (2.0, 0.1)):
        assert worst.log_growth(*claim) <= bet.log_growth(*claim) + 1e-12
        assert worst.log_growth(*claim) <= 1e-12


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
    one_by_one = held_back([bet.log_growth(epsilon, delta) for bet in ledger.bets])
    assert ledger.path(epsilon, delta)[1:] == pytest.approx(one_by_one, rel=1e-10, abs=1e-10)
    assert ledger.log_wealth(epsilon, delta) == pytest.approx(one_by_one[-1], rel=1e-10, abs=1e-10)


def test_a_bet_added_after_the_path_was_read_counts():
    rng = np.random.default_rng(0)
    ledger = some_ledger(rng)
    before = ledger.path(1.0, 0.0)
    ledger.add(some_ledger(rng, bets=1).bets[0])
    assert ledger.path(1.0, 0.0)[:-1] == pytest.approx(before)


def test_a_ledger_without_bets_has_the_wealth_it_began_with_and_bounds_nothing():
    assert Ledger().log_wealth(1.0, 0.0) == 0.0
    assert Ledger().path(1.0, 0.0).tolist() == [0.0]
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
    assert lower_bound(iter(range(6)), lambda values: np.isin(values, list(rejected))) == bound


def test_bounds_do_not_pass_the_truth():
    """Each bound exceeds the true ε = 1 with probability at most 1e-8."""
    rng = np.random.default_rng(4)
    for _ in range(5):
        ledger = Ledger()
        p, q = 1 - 0.5 * math.exp(-1), 0.5  # Pr[z + noise > 0] for z = 1 and 0
        for size in (20, 100, 1_000, 10_000):
            counts = rng.multinomial(2 * size, outcomes(np.array(p), np.array(q)))[None, :].astype(float)
            ledger.add(Bet(np.zeros(1), np.array([p]), np.array([q]), np.array([2.0 * size]), counts))
        assert epsilon_bound(ledger, epsilon=0.2, delta=0.0, significance=1e-8) <= math.log(p / q)
        assert delta_bound(ledger, epsilon=0.2, significance=1e-8) <= p - math.exp(0.2) * q


def test_bounds_come_close_to_what_an_event_shows():
    """For p = 1/2 and q = 0.1, ε = ln 5 and δ(0) = 0.4.

    The test fails with probability below 1e-9.
    """
    rng = np.random.default_rng(5)
    ledger = Ledger()
    for _ in range(2):
        counts = rng.multinomial(100_000, outcomes(np.array(0.5), np.array(0.1)))[None, :].astype(float)
        ledger.add(Bet(np.zeros(1), np.array([0.5]), np.array([0.1]), np.array([2e4]), counts))
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
    """The reference is the boundary p′ = R·q′ + δ, on a grid of a million points."""
    ratio = math.exp(epsilon)
    grid = np.linspace(1e-12, (1 - delta) / ratio - 1e-12, 10**6)
    expected = (kl(q, grid) + kl(p, ratio * grid + delta)).min()
    assert best_log_growth(p, q, epsilon, delta) == pytest.approx(expected, rel=1e-6)


def test_the_best_growth_of_an_outright_leak_is_in_closed_form():
    """If p = 1 and q = 0, the divergence from p′ = R·q′ is −ln(R·q′) − ln(1 − q′).

    For R ≥ 2 this divergence falls until R·q′ = 1, where it is ln(R/(R − 1)).
    """
    assert best_log_growth(1.0, 0.0, 1.0, 0.0) == pytest.approx(math.log(math.e / (math.e - 1)), rel=1e-6)
    assert math.log(1e6) / best_log_growth(1.0, 0.0, 1.0, 0.0) == pytest.approx(30.1, abs=0.05)


def test_no_wealth_grows_on_a_pair_that_meets_the_claim():
    assert best_log_growth(0.3, 0.2, 0.5, 0.0) == 0.0
    assert best_log_growth(0.3, 0.1, math.log(3), 1e-15) == 0.0


def test_an_outright_leak_once_known_is_refuted_in_eighty_calls():
    """Significance 1e-6 takes at least 68 calls.

    At ε = 1 a call multiplies the wealth by at most 1 + 1/(2e − 1).
    """
    fewest = math.log(1e6) / math.log1p(1 / (2 * math.e - 1))
    assert fewest == pytest.approx(68, abs=0.1)

    def growth(calls):
        counts = np.array([[calls / 2, 0.0, 0.0, calls / 2]])
        past = np.array([32.0])
        return Bet(np.zeros(1), np.array([0.97]), np.array([0.03]), past, counts).log_growth(1.0, 0.0)

    assert growth(80) >= math.log(1e6) > growth(math.floor(fewest))
