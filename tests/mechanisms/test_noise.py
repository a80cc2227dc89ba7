"""Laplace and geometric noise agree with scipy and the texts."""

import math

import numpy as np
import pytest
from scipy import stats

from audit.errors import InvalidKind, InvalidValue
from mechanisms.noise.noises import GeometricNoise, LaplaceNoise

RUNS = 100_000
CELLS = 16


@pytest.mark.parametrize("scale", [0.01, 1.0, 250.0])
def test_laplace_draws_follow_scipys_law_of_that_scale(scale, agreement):
    draws = LaplaceNoise(scale).sample(RUNS, np.random.default_rng(1))
    edges = stats.laplace(scale=scale).ppf(np.arange(1, CELLS) / CELLS)
    counts = np.bincount(np.searchsorted(edges, draws), minlength=CELLS)
    assert agreement(counts, np.full(CELLS, 1 / CELLS)) > 1e-9


def test_that_comparison_detects_a_scale_off_by_five_percent(power):
    edges = np.concatenate([[-np.inf], stats.laplace.ppf(np.arange(1, CELLS) / CELLS), [np.inf]])
    wrong = np.diff(stats.laplace(scale=1.05).cdf(edges))
    assert power(wrong, np.full(CELLS, 1 / CELLS), RUNS) > 0.99


def test_the_laplace_law_matches_scipy():
    points = np.array([-30.0, -1.0, 2.0, 2.5, 40.0])
    law, expected = LaplaceNoise(3.0).law(2.0), stats.laplace(loc=2.0, scale=3.0)
    assert law.logpdf(points) == pytest.approx(expected.logpdf(points), abs=1e-12)
    assert law.cdf(points) == pytest.approx(expected.cdf(points), rel=1e-12)


def test_laplace_noise_has_standard_deviation_root_two_scales():
    """K11 §2.1 states √2·scale, K08 footnote 5 prints √2/scale, which would be 0.47.

    The law has kurtosis 6, so the relative standard error is √(5/runs)/2 = 0.35 %. An error above 2 % has
    probability 2e-8 by the normal law. A scale that is off by 4 % is missed with probability 1e-8.
    """
    deviation = LaplaceNoise(3.0).sample(RUNS, np.random.default_rng(2)).std()
    assert deviation == pytest.approx(math.sqrt(2) * 3.0, rel=0.02)


@pytest.mark.parametrize("coordinates", [1, 2, 10])
@pytest.mark.parametrize("beta", [1e-6, 0.05, 0.9])
def test_the_laplace_bound_is_exceeded_with_probability_beta(coordinates, beta):
    bound = LaplaceNoise(2.0).bound(beta, coordinates=coordinates)
    inside = 1 - 2 * stats.laplace(scale=2.0).sf(bound)
    assert 1 - inside**coordinates == pytest.approx(beta, rel=1e-6)


@pytest.mark.parametrize("rate", [1e-4, math.log(2), 3.0])
def test_geometric_draws_follow_the_discrete_laplace_law_of_scipy(rate, agreement):
    draws = GeometricNoise(rate).sample(RUNS, np.random.default_rng(3))
    law = stats.dlaplace(rate)  # tanh(rate/2)·e^(−rate·|k|) = (α−1)/(α+1)·α^(−|k|)
    edges = np.unique(law.ppf(np.arange(1, CELLS) / CELLS))
    counts = np.bincount(np.searchsorted(edges, draws), minlength=len(edges) + 1)
    cells = np.diff(np.concatenate([[0.0], law.cdf(edges), [1.0]]))
    assert agreement(counts, cells) > 1e-9


def test_that_comparison_detects_a_rate_off_by_five_percent(power):
    edges = np.arange(-4, 5)
    cells = [np.diff(np.concatenate([[0.0], stats.dlaplace(r).cdf(edges), [1.0]])) for r in (0.7, 0.7 * 1.05)]
    assert power(cells[1], cells[0], RUNS) > 0.99


def test_the_geometric_law_is_the_formula_of_the_notes():
    alpha, law = 2.5, GeometricNoise(math.log(2.5)).law(4)
    for k in range(-6, 15):
        expected = (alpha - 1) / (alpha + 1) * alpha ** -abs(k - 4)  # C §2
        assert law.pmf(k) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("rate", [0.01, math.log(2), 5.0])
@pytest.mark.parametrize("beta", [1e-6, 0.05, 0.25, 0.9])
def test_the_geometric_bound_is_the_smallest_valid_integer(rate, beta):
    bound = GeometricNoise(rate).bound(beta)
    tail = [2 * stats.dlaplace(rate).sf(t) for t in range(max(0, bound - 1), bound + 1)]
    assert tail[-1] <= beta * (1 + 1e-9)
    assert bound == 0 or tail[0] > beta * (1 - 1e-9)


def test_a_tail_probability_equal_to_beta_meets_the_bound():
    # α = 2: Pr[|k| > 2] = 2·2^(−2)/3 = 1/6
    assert GeometricNoise(math.log(2)).bound(1 / 6 + 1e-12) == 2
    assert GeometricNoise(math.log(2)).bound(1 / 6 - 1e-12) == 3


@pytest.mark.parametrize("scale", [0.0, -1.0, math.nan, math.inf])
def test_an_invalid_scale_is_refused(scale):
    with pytest.raises(InvalidValue, match="scale of Laplace noise"):
        LaplaceNoise(scale)


def test_a_rate_whose_noise_overflows_integers_is_refused():
    with pytest.raises(InvalidValue, match="rate"):
        GeometricNoise(1e-15)


@pytest.mark.parametrize("beta", [0.0, 1.0, -0.1, math.nan])
def test_a_beta_outside_zero_to_one_is_refused(beta):
    for noise in (LaplaceNoise(1.0), GeometricNoise(1.0)):
        with pytest.raises(InvalidValue, match="`beta`"):
            noise.bound(beta)


def test_a_beta_that_is_not_a_number_is_refused():
    with pytest.raises(InvalidKind, match="`beta`"):
        LaplaceNoise(1.0).bound("small")
