"""Bets on whole tables expect no gain if the laws keep the claim.

Linear programming finds the worst pair of laws. A general solver finds the nearest pair that keeps the claim.
"""

import math

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from scipy.stats import laplace, norm

from audit.evidence.cells import _along, _walk, most_broken, payoffs, smoothed, strengths
from audit.evidence.goals import CellCounts


def drawn(rng, cells):
    """Return two probability vectors.

    They may lie far apart and may have cells with almost no mass.
    """
    return (rng.dirichlet(np.full(cells, 10 ** rng.uniform(-1, 1))) * (1 - 1e-9) + 1e-9 / cells for _ in "pq")


def most_expected(won, epsilon, delta):
    """Return the largest expectation of the payoffs `won`.

    It is taken over all pairs of laws (P, Q) that keep (ε, δ).
    """
    cells, ratio = won.shape[1], math.exp(epsilon)
    eye, none, one = np.eye(cells), np.zeros((cells, cells)), np.ones(cells)
    zero = np.zeros(cells)
    # The claim for every event: P ≤ R·Q + s and Q ≤ R·P + t with Σ s ≤ δ and Σ t ≤ δ.
    above = np.vstack(
        [
            np.hstack([eye, -ratio * eye, -eye, none]),
            np.hstack([-ratio * eye, eye, none, -eye]),
            np.concatenate([zero, zero, one, zero])[None],
            np.concatenate([zero, zero, zero, one])[None],
        ]
    )
    sums = np.vstack([np.concatenate([one, zero, zero, zero]), np.concatenate([zero, one, zero, zero])])
    found = linprog(
        -np.concatenate([won[0], won[1], zero, zero]) / 2,
        A_ub=above,
        b_ub=np.concatenate([np.zeros(2 * cells), [delta, delta]]),
        A_eq=sums,
        b_eq=[1, 1],
    )
    assert found.status == 0
    return -found.fun


@pytest.mark.parametrize("delta", [0.0, 1e-3, 0.2])
@pytest.mark.parametrize("cells", [2, 3, 9])
def test_no_pair_of_laws_that_keeps_the_claim_expects_a_gain(cells, delta):
    rng = np.random.default_rng([cells, int(1000 * delta)])
    for _ in range(25):
        p, q = drawn(rng, cells)
        epsilon = 10 ** rng.uniform(-2, 1)
        [won] = payoffs(p, q, np.exp([epsilon]), np.array([delta]))
        assert most_expected(won, epsilon, delta) <= 1e-9 * max(1.0, np.abs(won).max())


def test_bets_expect_a_gain_against_half_of_the_epsilon():
    """Bets against ε = 0.2 expect a gain if the laws only have to keep ε = 0.4."""
    p, q = np.array([0.7, 0.3]), np.array([0.3, 0.7])
    [won] = payoffs(p, q, np.exp([0.2]), np.zeros(1))
    assert most_expected(won, 0.4, 0.0) > 0.01


@pytest.mark.parametrize("seed", range(4))
def test_the_bet_is_the_likelihood_ratio_to_the_nearest_pair_that_keeps_the_claim(seed):
    rng = np.random.default_rng(seed)
    p, q = (rng.dirichlet(np.full(4, 3.0)) for _ in "pq")
    epsilon = 0.2
    ratio = math.exp(epsilon)

    def divergence(laws):
        return -(p @ np.log(laws[:4])) - q @ np.log(laws[4:])

    nearest = minimize(
        divergence,
        np.full(8, 0.25),
        bounds=[(1e-9, 1)] * 8,
        method="SLSQP",
        constraints=[
            {"type": "eq", "fun": lambda laws: [laws[:4].sum() - 1, laws[4:].sum() - 1]},
            {"type": "ineq", "fun": lambda laws: ratio * laws[4:] - laws[:4]},
            {"type": "ineq", "fun": lambda laws: ratio * laws[:4] - laws[4:]},
        ],
        options={"ftol": 1e-14, "maxiter": 1000},
    ).x
    [won] = payoffs(p, q, np.array([ratio]), np.zeros(1))
    assert np.allclose(won[0], p / nearest[:4] - 1, atol=2e-3)
    assert np.allclose(won[1], q / nearest[4:] - 1, atol=2e-3)


def test_each_claim_is_bet_against_as_if_it_were_alone():
    p, q = drawn(np.random.default_rng(5), 6)
    ratios, deltas = np.exp([0.1, 1.0, 3.0]), np.array([0.0, 0.01, 0.1])
    together = payoffs(p, q, ratios, deltas)
    for one, ratio, delta in zip(together, ratios, deltas, strict=True):
        assert np.allclose(one, payoffs(p, q, np.array([ratio]), np.array([delta]))[0])


@pytest.mark.parametrize("ordered", [0, 3, 12])
def test_smoothed_laws_are_laws_and_believe_large_counts(ordered):
    rng = np.random.default_rng(3)
    p, q = rng.dirichlet(np.ones(12)), rng.dirichlet(np.ones(12))
    for runs in (3, 100, 10**8):
        smooth = smoothed(rng.multinomial(runs, p), rng.multinomial(runs, q), ordered=ordered)
        assert all(law.min() > 0 for law in smooth)
        assert np.allclose([law.sum() for law in smooth], 1)
    assert np.allclose(np.log(smooth[0] / smooth[1]), np.log(p / q), atol=0.02)


@pytest.mark.parametrize("ordered", [0, 30])
def test_differences_by_chance_are_smoothed_away(ordered):
    """Smoothing reduces the standard error of a cell's log-ratio below 0.06.

    With 1,000 runs a side in 30 cells it is 0.25 before smoothing.
    """
    rng = np.random.default_rng(4)
    law = np.full(30, 1 / 30)
    left = []
    for _ in range(20):
        p, q = smoothed(rng.multinomial(1000, law), rng.multinomial(1000, law), ordered=ordered)
        left.append(np.sqrt(np.mean(np.log(p / q) ** 2)))
    assert np.mean(left) < 0.06


@pytest.mark.parametrize("size", [2, 5, 40])
def test_log_ratios_are_smoothed_to_the_mean_that_dense_matrices_give(size):
    """The reference is the posterior mean of a random walk, by dense matrices.

    The first level is free. The variance of a step is the one with the largest likelihood in a list of
    values.
    """
    rng = np.random.default_rng(size)
    errors = 10.0 ** rng.uniform(-3, 1, size)
    values = 0.3 * rng.normal(size=size).cumsum() + rng.normal(size=size) * np.sqrt(errors)
    place, ones, fits = np.arange(size), np.ones(size), []
    for step in (0.0, *10.0 ** np.arange(-8, 2)):
        walk = step * np.minimum(place[:, None], place)
        inverse = np.linalg.inv(walk + np.diag(errors))
        known = ones @ inverse @ ones
        off = values - ones @ inverse @ values / known
        misfit = off @ inverse @ off + math.log(known) - np.linalg.slogdet(inverse)[1]
        fits.append((misfit, values - errors * (inverse @ off)))
    best = min(fits, key=lambda fit: fit[0])[1]
    level = np.full(size, np.average(values, weights=1 / errors))
    assert np.allclose(_walk(values, level, 1 / errors)[1], best, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("law", [norm, laplace])
def test_log_ratios_of_a_shift_are_learned_from_few_runs(law):
    """The mean square error is less than half of that of a random walk around a constant.

    The noise is normal or Laplace, the shift 0.05 standard deviations, with 100,000 runs a side.
    """
    rng, shift, runs, errors = np.random.default_rng(4), 0.05 * law.std(), 100_000, np.zeros(2)
    edges = law.ppf(np.arange(1, 64) / 64)
    cells = [np.diff(np.concatenate([[0.0], law.cdf(edges - by), [1.0]])) for by in (0.0, shift)]
    true = np.log(cells[0] / cells[1])
    for _ in range(20):
        x, y = (rng.multinomial(runs, law_of_cells) + 0.5 for law_of_cells in cells)
        values, variances = np.log(x / y), 1 / x + 1 / y
        walk = _walk(values, np.full(64, np.average(values, weights=1 / variances)), 1 / variances)[1]
        errors += [np.mean((found - true) ** 2) for found in (_along(values, variances), walk)]
    assert errors[0] < 0.5 * errors[1]


def test_a_cell_that_stands_out_is_not_shrunk_although_the_others_agree():
    """A cell with 15,000 runs on one side alone is not shrunk.

    The other two cells have about 150,000 runs a side, and nearly the same log-ratio.
    """
    x, y = np.array([154_000.0, 154_050, 0]), np.array([146_000.0, 146_040, 15_000])
    p, q = smoothed(x, y, ordered=0)
    assert q[2] / p[2] > 10_000
    assert abs(math.log(q[0] / p[0]) - math.log(146_000 / 154_000)) < 0.02
    flat_p, flat_q = smoothed(np.array([100.0, 110, 95]), np.array([104.0, 101, 100]), ordered=0)
    assert np.abs(np.log(flat_p / flat_q)).max() < 0.02


def test_a_table_that_differs_a_little_in_all_cells_is_chosen_before_one_that_differs_in_none():
    """Ten cells that differ a little are chosen before merged cells.

    They have shares of 0.11 and 0.09 in turn on the left, and of 0.09 and 0.11 on the right. Merged in
    pairs, all cells have equal shares.
    """
    shares = np.array([[0.11, 0.09] * 5, [0.09, 0.11] * 5])
    fine = 10_000 * shares
    coarse = fine.reshape(2, 5, 2).sum(axis=2)
    for tables, best in (([coarse, fine], 1), ([fine, coarse], 0)):
        assert most_broken(tables, np.array([0.05, 0.1]), 0.0).tolist() == [best, best]


def test_the_evidence_of_a_table_is_the_sum_over_the_cells_that_break_the_claim():
    """Shares of 0.6 and 0.4 in 100 runs a side.

    Against ε = 0 each side is above in one cell, by 0.2²/(0.6/100 + 0.4/100) = 4; two cells cost 1. Against
    ε = ln 1.2 it is (0.6 − 1.2·0.4)²/(0.6/100 + 1.2²·0.4/100) = 1.2245. No cell breaks ε = ln 2.
    """
    table = np.array([[60.0, 40.0], [40.0, 60.0]])
    found = strengths([table, np.zeros((2, 3))], np.log([1.0, 1.2, 2.0]), 0.0)
    assert found == pytest.approx(
        np.array([[math.sqrt(7), 0], [math.sqrt(2 * 1.2245 - 1), 0], [0, 0]]), rel=1e-4
    )


def test_a_larger_difference_in_few_runs_is_not_preferred():
    """100 runs do not establish 0.625 against 0.375.

    A bet on these would win more per run than one on 0.6 against 0.4.
    """
    few = 50 * np.array([[0.625, 0.375], [0.375, 0.625]])
    many = 10_000 * np.array([[0.6, 0.4], [0.4, 0.6]])
    assert most_broken([few, many], np.zeros(1), 0.0).tolist() == [1]
    assert most_broken([200 * few, many], np.zeros(1), 0.0).tolist() == [0]


def test_a_difference_that_delta_allows_promises_nothing():
    """Only the difference in the frequent cell exceeds δ = 0.2.

    The tables differ by 0.15 in a rare cell and by 0.24 in a frequent cell.
    """
    rare = 50_000 * np.array([[0.15, 0.85], [0.0, 1.0]])
    frequent = 50_000 * np.array([[0.62, 0.38], [0.38, 0.62]])
    assert most_broken([rare, frequent], np.zeros(1), 0.0).tolist() == [0]
    assert most_broken([rare, frequent], np.zeros(1), 0.2).tolist() == [1]


def test_nothing_is_bet_if_the_counts_surely_keep_the_claim():
    """A loss of 0.2 breaks ε = 0.1 and keeps ε = 1, both by more than ten standard errors."""
    table = CellCounts(0, 20_000 * np.array([[0.55, 0.45], [0.45, 0.55]]), ordered=0)
    won, square, score = table.plan(np.exp([0.1, 1.0]), np.zeros(2))
    assert won[1].any()
    assert square[0] > 0 < score[0]
    assert square[1] == 0 > score[1]
