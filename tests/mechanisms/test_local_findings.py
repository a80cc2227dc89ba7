"""The findings about the local model show the errata's numbers."""

import math

import numpy as np
import pytest
from scipy import stats

from mechanisms.findings.local import FINDINGS
from mechanisms.flawed import RenormalisedGeometric
from mechanisms.local import LaplaceSum, laplace_rate


def table(name, place=0):
    return FINDINGS[name]().tables[place]


def test_every_finding_is_listed_under_its_own_name():
    for name, compute in FINDINGS.items():
        assert compute().name == name


def test_e5_the_true_tail_exceeds_the_claimed_one():
    rows = {(n, x): (claimed, true) for n, x, claimed, true, *_ in table("E5").rows}
    assert rows[200, 1.0] == pytest.approx((1.929e-22, 1.711e-21), rel=5e-4)
    assert rows[20, 3.0] == pytest.approx((2.863e-20, 2.552e-14), rel=5e-4)
    assert all(true > claimed for claimed, true in rows.values())
    assert FINDINGS["E5"]().judgement == "false"


def test_e5_also_fails_under_the_side_conditions_of_the_proof():
    # the proof needs δ < 1 and λ > 1
    n, delta, scale = 400, 0.99, 1.1
    assert LaplaceSum(n, scale).two_sided(n * delta) > math.exp(-n * delta**2 / (4 * scale**2))


def test_e5_by_importance_sampling():
    # Draws come from the law tilted by e^(ts), under which the rare event is common. The relative error is
    # about 1 %.
    n, x, rng = 20, 3.0, np.random.default_rng(51)
    t = (math.sqrt(1 + x * x) - 1) / x
    # Lap(1) tilted by t has rate 1 − t on the right, with probability (1 + t)/2, and rate 1 + t on the left
    right = rng.random((200_000, n)) < (1 + t) / 2
    sizes = rng.exponential(size=right.shape)
    total = np.where(right, sizes / (1 - t), -sizes / (1 + t)).sum(axis=1)
    weights = np.where(total > n * x, np.exp(-t * total), 0.0) * (1 - t * t) ** -n
    estimate, error = 2 * weights.mean(), 2 * weights.std() / math.sqrt(len(weights))
    assert error < 0.01 * estimate
    assert abs(estimate - 2.552e-14) < 6 * error + 0.001e-14


def test_e10_the_printed_size_fails_if_epsilon_is_large():
    rows = {(c, e): (tau, n, both, alone) for c, e, tau, n, both, alone, _ in table("E10").rows}
    for key, (n, both, alone) in {
        (10, 10.0): (30, 0.599, 0.585),
        (50, 10.0): (150, 0.238, 0.221),
        (50, 100.0): (150, 0.925, 0.935),
    }.items():
        assert rows[key][1] == n
        # the numbers of the errata come from 200,000 runs: 6 standard errors are 0.0066
        assert rows[key][2] == pytest.approx(both, abs=0.0066)
        assert rows[key][3] == pytest.approx(alone, abs=5e-4)
    for tau, n, _, alone in rows.values():
        ones = np.arange(n + 1)
        missed = np.abs(2 * ones / n - 1) > tau + 1e-12
        assert alone == pytest.approx(stats.binom(n, 0.5).pmf(ones)[missed].sum(), abs=1e-6)
    assert FINDINGS["E10"]().found > 0.9 > FINDINGS["E10"]().claimed


def test_e11_the_bound_of_the_proof_is_vacuous_and_half_the_exponent_repairs_it():
    for n, x, literal, repaired, true in table("E11").rows:
        assert literal == pytest.approx((math.exp(x * x) * (1 - x * x)) ** -n, rel=1e-9)
        assert literal > 1.0
        assert repaired == pytest.approx(math.exp(-n * x * x / 2) * (1 - x * x / 4) ** -n, rel=1e-9)
        assert true <= repaired < 1.0
    assert laplace_rate(10.0) == pytest.approx(7.34, abs=5e-3)


def test_lemma_5_6_holds_with_constant_34_and_not_with_a_quarter_of_the_sharp_size():
    for epsilon, tau, closed, sharp, failure, quarter in table("K11 Lemma 5.6").rows:
        assert closed == math.ceil(34 / tau**2 * max(1.0, epsilon**-2) * math.log(40))
        assert sharp <= closed
        assert failure <= 0.05 < quarter
    assert FINDINGS["K11 Lemma 5.6"]().found <= 0.05


def test_n16_outcome_ratios_do_not_bound_a_shifted_uniform_law():
    finding = FINDINGS["N16"]()
    assert finding.found == 1.0
    assert "inf" in finding.shown


def test_n17_the_exact_loss_is_the_budget_and_not_the_sum_over_all_randomizers():
    finding = FINDINGS["N17"]()
    assert finding.claimed == 0.5 + 0.5 + 0.25
    assert finding.found == pytest.approx(1.0, abs=1e-9)
    (_, _, budget), (_, _, careless) = finding.tables[0].rows
    assert (budget, careless) == pytest.approx((1.0, 2.0), abs=1e-9)


@pytest.mark.parametrize(("upper", "loss"), [(1, 0.693), (2, 0.827), (5, 0.907), (20, 0.916)])
def test_n18_a_local_geometric_randomizer_must_clamp_and_not_renormalise(upper, loss):
    # one entry with a value in {0 … b}, α = 2: the declared law is compared with the weights 2^(−|k − u|)
    subject = RenormalisedGeometric(upper=upper, size=1, records=(0, 1), query=lambda rows: rows[0])
    laws = [subject.distribution([u]) for u in (0, 1)]
    found = max(abs(laws[0].logpmf(k) - laws[1].logpmf(k)) for k in range(upper + 1))
    z = [sum(2.0 ** -abs(k - u) for k in range(upper + 1)) for u in (0, 1)]
    assert found == pytest.approx(math.log(2 * z[1] / z[0]), rel=1e-12)
    assert round(found, 3) == loss
