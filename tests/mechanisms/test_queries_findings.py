"""Findings about statistical queries, by closed forms and second derivations."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from audit.findings import Finding
from mechanisms.findings.queries import FINDINGS


@pytest.fixture(scope="module")
def found():
    return {name: compute() for name, compute in FINDINGS.items()}


def test_every_finding_is_listed_under_its_own_name(found):
    assert list(found) == [
        "E1",
        "N12",
        "B Thm 6",
        "B Thm 8",
        "E15",
        "N10",
        "N11",
        "K11 Claim 5.9",
        "K11 Claim 5.10",
        "K11 Lemma 5.8",
        "K11 Claims 5.9, 5.10 for R_g",
    ]
    assert all(isinstance(one, Finding) and one.name == name for name, one in found.items())


@pytest.mark.parametrize(
    ("c", "epsilon", "queries", "literal"),
    [(2, 1, 20, 0.0127), (2, 1, 50, 0.834), (2, 0.1, 5, 0.070), (2, 0.1, 10, 0.615), (8, 1, 100, 0.0654)],
)
def test_e1_matches_the_closed_form_of_the_noise(found, c, epsilon, queries, literal):
    chunk = math.ceil(c * (1 / (epsilon * 0.1) + 100) * math.log(2 * queries / 0.05))
    closed = 1 - (1 - math.exp(-epsilon * 0.1 * chunk / queries)) ** queries
    (row,) = [row for row in found["E1"].tables[0].rows if row[:3] == (c, epsilon, queries)]
    assert row[4] == chunk
    assert row[5] == pytest.approx(closed, rel=1e-9)
    assert row[5] == pytest.approx(literal, rel=0.006)  # the value printed in the errata
    log10 = (math.log(queries) - epsilon * 0.1 * chunk) / math.log(10)
    assert row[6] == pytest.approx(log10, abs=1e-6)  # 1e-400 underflows to 0, but its logarithm does not


def test_e1_answers_fail_with_the_noise_of_the_proof_and_not_with_the_corrected_noise(found):
    for c, epsilon, queries, *_, chunk, _, _, literal, corrected in found["E1"].tables[0].rows:
        counts = np.arange(chunk + 1)
        off = counts / chunk - 0.5
        for scale, told in ((queries / (epsilon * chunk), literal), (1 / (epsilon * chunk), corrected)):
            noise = stats.laplace(0, scale)
            each = stats.binom(chunk, 0.5).pmf(counts) @ (noise.sf(0.1 - off) + noise.cdf(-0.1 - off))
            assert told == pytest.approx(1 - (1 - each) ** queries, rel=1e-6, abs=1e-12)
        assert corrected <= 0.05  # holds at the sample size of the theorem, even for c = 2
        if queries > c * (1 + epsilon / 0.1):
            assert literal > 0.05


def test_e1_holds_for_every_constant_because_the_number_of_queries_grows(found):
    rows = found["E1"].tables[0].rows
    assert rows[-1][5] > 0.97
    assert max(row[5] for row in rows) > 10 * 0.05
    assert max(row[6] for row in rows) < -8
    assert -400 < rows[-1][6] < -323  # the probability is below the smallest positive float
    for c in (2, 8, 100):  # the closed form tends to 1 for each c
        chances = []
        for queries in (10, 10**3, 10**5):
            chunk = math.ceil(c * (1 / 0.1 + 100) * math.log(2 * queries / 0.05))
            chances.append(1 - (1 - math.exp(-0.1 * chunk / queries)) ** queries)
        assert chances[-1] > 0.999


def test_e1_is_m_times_too_private(found):
    for queries, literal, corrected, claimed in found["E1"].tables[1].rows:
        assert literal == pytest.approx(1 / queries, rel=1e-9)
        assert corrected == pytest.approx(claimed, rel=1e-9)


def test_n12_scales_the_label_term_by_the_ratio_of_the_noise_factors(found):
    for eta, used, _, answer in found["N12"].tables[0].rows:
        # φ = 1[y = 1]: the label term and the other term are both 1/2
        assert answer == pytest.approx(0.5 + 0.5 * (1 - 2 * eta) / (1 - 2 * used), rel=1e-12)
    assert found["N12"].found == pytest.approx(2.0, rel=1e-12)
    assert "errs on 0%" in found["N12"].corrected


def test_e15_distance_is_tau_and_not_nine_tau(found):
    for tau, nine, closed, worst in found["E15"].tables[0].rows:
        assert nine == pytest.approx(9 * tau)
        # a grid of laws on two outcomes, with p̃₁/p̃₂ at its two extremes
        high, low = (1 + tau) / (1 - tau), (1 - tau) / (1 + tau)
        share = np.linspace(0, 1, 20_001)
        brute = (share * high / (share * high + (1 - share) * low) - share).max()
        assert closed == pytest.approx(tau, rel=1e-9)
        assert worst == pytest.approx(brute, abs=1e-7)


def test_e15_acceptance_exceeds_one_only_with_the_access_own_epsilon(found):
    for earlier, own, by_own, by_total, corrected in found["E15"].tables[1].rows:
        u, v = math.exp(-earlier - own), math.exp(-earlier)
        k = (u - u**3) / 3
        assert by_own == pytest.approx((1 + k * u / v**2) / (4 / 3 * (1 - k / v)), rel=1e-9)
        assert by_total == pytest.approx(by_own * v, rel=1e-9)
        assert corrected <= 1
    assert max(row[2] for row in found["E15"].tables[1].rows) > 1.45


def test_e15_as_printed_a_valid_oracle_keeps_step_four_a_probability():
    # the acceptance probability (v² + k·u)/((1 + φ)(v − k)), over all splits of the entry's ε and all φ ≤ 1/3
    phi, u = np.meshgrid(np.linspace(1e-3, 1 / 3, 60), np.linspace(1e-4, 1, 400))
    k = phi * (u - u**3)
    for share in np.linspace(0, 1, 41):
        v = u**share
        assert ((v**2 + k * u) / ((1 + phi) * (v - k))).max() < 1


def test_n10_the_expected_and_the_fixed_number_of_queries_match_their_formulas(found):
    rows = found["N10"].tables[0].rows
    for epsilon, accesses, beta, printed, expected, asked, distance, allowed in rows:
        assert printed == pytest.approx(accesses * math.exp(epsilon))
        assert distance <= allowed
        if epsilon == 0:
            assert (expected, asked, distance) == (0, 0, 0)
            continue
        assert expected == pytest.approx((accesses + beta / 3) * math.exp(epsilon), rel=1e-9)
        phi = beta / 2 / (3 * accesses)
        least = math.exp(epsilon) * (1 + phi) / (1 - phi) * math.log(2 * accesses / beta)
        assert asked == accesses * math.ceil(least)
    assert (round(found["N10"].found, 2), round(found["N10"].claimed, 2)) == (3.17, 2.72)


def test_n11_the_distance_and_the_acceptance_exceed_what_the_lemmas_state(found):
    for epsilon, factor, claimed, distance, reached, repaired in found["N11"].tables[0].rows:
        assert factor == pytest.approx(math.exp(epsilon))
        # at p = e^ε·q, the error τ·c·q raises the acceptance ratio to 1 + τ(1 − e^(−2ε))
        assert reached == pytest.approx(1 + 0.1 * (1 - math.exp(-2 * epsilon)), rel=1e-9)
        assert distance == pytest.approx(_k08_by_grid(epsilon), abs=1e-9)
        assert repaired <= claimed
    assert found["N11"].found > 0.5
    assert found["N11"].claimed == 0.1


def _k08_by_grid(epsilon, tau=0.1):
    """Return the distance of erratum N11, from explicit probabilities on a grid."""
    truth_told = math.exp(epsilon) / (1 + math.exp(epsilon))
    q = np.array([truth_told, 1 - truth_told])
    slack = tau * q * 2 * math.sinh(epsilon)
    best = 0.0
    for share in np.linspace(0, 1, 101):
        p = share * q + (1 - share) * q[::-1]
        for signs in product([-1, 1], repeat=2):
            weights = np.clip(p + np.array(signs) * slack, 0, q * math.exp(epsilon))
            if weights.sum() > 0:
                best = max(best, abs(weights / weights.sum() - p).sum() / 2)
    return best


def test_the_claims_5_9_and_5_10_hold_with_room(found):
    for _, exact, up, worst, allowed, iterations in found["K11 Claim 5.9"].tables[0].rows:
        assert exact < 1e-12
        assert up <= worst + 1e-12
        assert worst <= (1 - math.sqrt(1 - 0.01)) / 0.1 < allowed
        assert iterations > 1
    for beta, _, worst, third in found["K11 Claim 5.10"].tables[0].rows:
        assert 0 < worst <= third == pytest.approx(beta / 3)
    for _, exact, *named, worst, third in found["K11 Claim 5.10"].tables[1].rows:
        assert exact < 1e-12
        assert 0 < max(named) <= worst <= third == pytest.approx(0.1)


def test_theorems_6_and_8_hold_at_their_constants(found):
    for row in found["B Thm 6"].tables[0].rows:
        assert row[2] == row[0] * math.ceil(math.log(2 * row[0] / 0.05) / (2 * row[1] ** 2))
        assert row[3] <= 0.05
    for queries, tau, eta, needed, some in found["B Thm 8"].tables[0].rows:
        nats = 2 * math.log(4 * queries / 0.05)
        each = math.ceil(nats / (tau * (1 - 2 * eta)) ** 2) + math.ceil(nats / tau**2)
        assert needed == pytest.approx(queries * each, abs=queries)
        assert some <= 0.05
