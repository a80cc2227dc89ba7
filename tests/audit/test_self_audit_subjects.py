"""The mechanisms of a self-audit, their laws and their true ε."""

import math

import numpy as np
import pytest
from scipy import stats

from audit.self_audit.subjects.exact import (
    gaussian,
    gaussian_delta,
    geometric,
    laplace,
    noisy_max,
    randomized_response,
)
from audit.self_audit.subjects.peers import peer_suite
from audit.self_audit.subjects.tight import ChainedResponse


@pytest.mark.parametrize("make", [geometric, randomized_response, noisy_max])
def test_the_laws_of_a_setting_are_those_of_its_draws_and_have_its_epsilon(make):
    """Correct laws fail one of six chi-square tests with probability at most 6e-6."""
    setting = make()
    for database, law in zip(setting.pair, setting.laws, strict=True):
        assert law.probabilities.sum() == pytest.approx(1.0, abs=1e-9)
        drawn = setting.mechanism.sample(database, 20_000, np.random.default_rng(5))
        seen = np.array([np.sum(drawn == outcome) for outcome in law.outcomes])
        expected = law.probabilities / law.probabilities.sum() * 20_000
        often = expected >= 5
        rest = [seen[~often].sum()], [expected[~often].sum()]
        table = (np.append(seen[often], rest[0]), np.append(expected[often], rest[1]))
        keep = table[1] > 0
        assert stats.chisquare(table[0][keep], table[1][keep]).pvalue > 1e-6
    left, right = (law.probabilities for law in setting.laws)
    assert np.abs(np.log(left / right)).max() == pytest.approx(setting.epsilon)
    assert setting.epsilon == pytest.approx(1.0) if make is not noisy_max else 0 < setting.epsilon < 1


def test_the_gaussian_setting_has_the_epsilon_that_it_says():
    setting = gaussian(1.0, 1e-3)
    sigma = setting.mechanism.sample([0], 200_000, np.random.default_rng(0)).std()
    assert gaussian_delta(1.0, sigma) == pytest.approx(1e-3, rel=0.1)


def test_the_best_events_of_laplace_noise_are_half_lines():
    p, q = laplace().events[800]  # the event "below 0"
    assert (p, q) == pytest.approx((0.5, 0.5 * math.exp(-1)))


def test_the_chained_response_is_tight_for_every_state_that_it_keeps():
    for last in (0, 1):
        counts = []
        for bit in (0, 1):
            mechanism, rng, ones = ChainedResponse(), np.random.default_rng(bit), 0
            for _ in range(20_000):
                mechanism.last = last
                ones += mechanism([bit], rng)
            counts.append(ones / 20_000)
        assert sorted(counts) == pytest.approx([0.25, 0.75], abs=0.02)  # 6.5 standard deviations


def test_the_peers_above_their_claim_are_those_of_the_literature():
    """Lyu, Su and Li 2017: Algorithm 1 keeps its claim, Algorithms 3 to 6 do not.

    A noisy max that releases the value does not either.
    """
    flawed = [name for name, peer in peer_suite().items() if peer.flawed]
    assert flawed == ["noisy_hist2", "rnm3", "rnm4", "svt3", "svt4", "svt5", "svt6", "prefix_sum"]
    rng = np.random.default_rng(0)
    first = peer_suite()["svt1"].subject.sample([0.0, 9.0, 9.0, *[0.0] * 7], 2_000, rng)
    for row in first:
        hits = np.flatnonzero(row == 1)
        assert len(hits) <= 1  # svt1 stops at the first answer that reaches the threshold
        assert not len(hits) or (row[hits[0] + 1 :] == -1).all()
