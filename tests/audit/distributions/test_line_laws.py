"""Laws on the line against scipy.stats."""

import math

import numpy as np
import pytest
from scipy import stats

from audit.distributions import Countable, Density, Mixture
from audit.distributions.pieces import Piece
from audit.errors import InvalidKind, InvalidValue

LAWS = {
    "laplace": (Density.laplace(3.0, 2.0), stats.laplace(3.0, 2.0)),
    "normal": (Density.normal(3.0, 2.0), stats.norm(3.0, 2.0)),
    "uniform": (Density.uniform(1.0, 4.0), stats.uniform(1.0, 3.0)),
    "exponential": (Density.exponential(1.0, 3.0), stats.expon(1.0, 3.0)),
}
METHODS = ["pdf", "logpdf", "cdf", "sf", "logcdf", "logsf"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", LAWS)
def test_a_density_agrees_with_scipy_deep_into_both_tails(name, method):
    ours, theirs = LAWS[name]
    x = np.linspace(-500.0, 500.0, 2001)
    np.testing.assert_allclose(getattr(ours, method)(x), getattr(theirs, method)(x), rtol=1e-10, atol=1e-300)


@pytest.mark.parametrize("name", LAWS)
def test_quantiles_agree_with_scipy(name):
    ours, theirs = LAWS[name]
    u = np.linspace(0.001, 0.999, 999)
    np.testing.assert_allclose(ours.ppf(u), theirs.ppf(u), rtol=1e-11)


@pytest.mark.parametrize("name", LAWS)
def test_samples_follow_the_density(name):
    """Kolmogorov–Smirnov test at significance 1e-8 on 20,000 draws.

    It detects a cdf that is off by 0.031 with power 0.99.
    """
    ours, theirs = LAWS[name]
    draws = ours.sample(20_000, np.random.default_rng(1))
    assert stats.kstest(draws, theirs.cdf).pvalue > 1e-8


def test_a_restricted_normal_tail_is_scipys_truncated_normal():
    tail, theirs = Density.normal().restricted(5.0, 9.0), stats.truncnorm(5.0, 9.0)
    x = np.linspace(5.0, 8.9, 50)
    np.testing.assert_allclose(tail.logsf(x), theirs.logsf(x), rtol=1e-9)
    assert stats.kstest(tail.sample(20_000, np.random.default_rng(2)), theirs.cdf).pvalue > 1e-8


def test_a_location_far_from_zero_costs_no_digits():
    x = np.linspace(-40.0, 40.0, 81)
    np.testing.assert_allclose(
        Density.normal(2.0**30).logsf(2.0**30 + x), stats.norm.logsf(x), rtol=1e-12, atol=1e-300
    )


def test_a_general_density_keeps_scipys_functions():
    theirs = stats.cauchy(1.0, 2.0)
    ours = Density.general(
        theirs.logpdf, knots=[-math.inf, math.inf], logcdf=theirs.logcdf, logsf=theirs.logsf
    )
    x = np.linspace(-50.0, 50.0, 101)
    np.testing.assert_allclose(ours.cdf(x), theirs.cdf(x), rtol=1e-12)
    assert stats.kstest(ours.sample(20_000, np.random.default_rng(3)), theirs.cdf).pvalue > 1e-8


@pytest.mark.parametrize("family", [stats.cauchy, stats.logistic, stats.gumbel_r])
@pytest.mark.parametrize(("far", "scale"), [(0.0, 1e-10), (1e6, 1.0), (1e8, 1e10), (1e10, 1e-10)])
def test_samples_of_a_general_density_follow_it_at_any_location_and_scale(family, far, scale):
    """Kolmogorov–Smirnov test at significance 1e-8.

    Quantiles agree with scipy to a relative 1e-14 plus 1e-6 of the scale.
    """
    theirs = family(far * scale, scale)
    ours = Density.general(
        theirs.logpdf, knots=[-math.inf, math.inf], logcdf=theirs.logcdf, logsf=theirs.logsf
    )
    assert stats.kstest(ours.sample(20_000, np.random.default_rng(3)), theirs.cdf).pvalue > 1e-8
    shares = np.array([1e-9, 0.01, 0.5, 0.99])
    np.testing.assert_allclose(ours.ppf(shares), theirs.ppf(shares), rtol=1e-14, atol=1e-6 * scale)


def test_quantiles_next_to_either_end_of_a_steep_piece():
    """A piece is steep if rate × width is 50 or more.

    One piece here is nearly flat.
    """
    for rate in (1e-12, 50.0, 1e4):
        for sign in (+1.0, -1.0):
            piece = Piece(0.0, 1.0, 0.0, 0.0, slope=sign * rate)
            for x in (1e-4, 0.3, 1.0 - 1e-4):
                fraction = math.exp(float(piece.log_mass(0.0, x)) - float(piece.log_mass(0.0, 1.0)))
                if 1e-300 < fraction < 0.999:
                    assert float(piece.invert(fraction)) == pytest.approx(x, rel=1e-9)
    assert math.isinf(Piece(-math.inf, 0.0, 0.0, 0.0, slope=1.0).invert(np.array([0.0]))[0])


def test_a_bell_with_a_slope_far_from_zero_keeps_its_digits():
    """exp(s·u − u²/2), with u measured from a centre c, is a bell about c + s."""
    far = 1e15
    near, moved = (Piece(c - 4.0, c + 4.0, c, 0.0, slope=0.3125, curvature=-0.5) for c in (0.0, far))
    for high in (-2.0, 0.0, 0.5, 2.0):
        assert float(moved.log_mass(far - 4.0, far + high)) == pytest.approx(
            float(near.log_mass(-4.0, high)), rel=1e-13
        )


def test_a_tail_that_is_not_a_number_is_refused_by_name():
    law = stats.logistic(0.0)
    with pytest.raises(InvalidValue, match=r"`logsf` of `Density.general` .* nan at inf"):
        Density.general(
            law.logpdf,
            knots=[-math.inf, math.inf],
            logcdf=law.logcdf,
            logsf=lambda x: np.where(np.isposinf(x), np.nan, law.logsf(x)),
        )


@pytest.mark.parametrize("method", ["pmf", "logpmf", "cdf", "sf"])
def test_the_two_sided_geometric_agrees_with_scipy(method):
    ours, theirs = Countable.geometric(3, 2.0), stats.dlaplace(0.5, loc=3)
    k = np.arange(-60, 60)
    # scipy computes sf as 1 − cdf, which is exact to 1e-16 only.
    np.testing.assert_allclose(getattr(ours, method)(k), getattr(theirs, method)(k), rtol=1e-9, atol=1e-15)


def test_geometric_tails_are_exact_where_probabilities_underflow():
    ours = Countable.geometric(0, 1.0)
    # The closed form is Pr[k > x] = a^(x+1) / (1 + a) with a = 1/e.
    assert ours.logsf(5000) == pytest.approx(-5001.0 - math.log1p(math.exp(-1.0)), rel=1e-14)
    assert ours.logcdf(-5001) == pytest.approx(-5001.0 - math.log1p(math.exp(-1.0)), rel=1e-14)


def test_geometric_samples_are_integers_with_the_declared_frequencies():
    """Chi-square test over 21 cells at significance 1e-8."""
    draws = Countable.geometric(3, 2.0).sample(50_000, np.random.default_rng(4))
    assert draws.dtype.kind == "i"
    cells = np.bincount(np.clip(draws - 3, -10, 10) + 10, minlength=21)
    law = stats.dlaplace(0.5)
    expected = np.concatenate([[law.cdf(-10)], law.pmf(np.arange(-9, 10)), [law.sf(9)]]) * 50_000
    assert stats.chisquare(cells, expected).pvalue > 1e-8


def test_clamping_moves_the_tails_into_atoms():
    law, source = Mixture.from_clamped(Density.laplace(0.5, 1.0), -1.0, 2.0), stats.laplace(0.5, 1.0)
    assert law.pmf(-1.0) == pytest.approx(source.cdf(-1.0), rel=1e-14)
    assert law.pmf(2) == pytest.approx(source.sf(2.0), rel=1e-14)
    assert law.pmf(0.0) == 0.0
    assert law.pdf(0.0) == pytest.approx(source.pdf(0.0), rel=1e-13)
    np.testing.assert_allclose(
        law.cdf(np.array([-1.1, -1.0, 0.3, 1.99, 2.0])),
        [0.0, *source.cdf([-1.0, 0.3, 1.99]), 1.0],
        rtol=1e-12,
    )


def test_clamping_far_from_the_location_keeps_tiny_atoms():
    law = Mixture.from_clamped(Density.laplace(0.0, 1.0), 1000.0, 1001.0)
    assert law.logpmf(1001.0) == pytest.approx(-1001.0 - math.log(2.0), rel=1e-14)


def test_a_mixture_samples_its_atoms_at_their_rate():
    """Binomial test at significance 1e-8.

    Its power is above 0.99 for a rate that is off by 0.04.
    """
    law = Mixture(["refused"], Density.uniform(), probabilities=[0.25])
    draws = law.sample(20_000, np.random.default_rng(5))
    refused = sum(draw == "refused" for draw in draws)
    assert stats.binomtest(refused, 20_000, 0.25).pvalue > 1e-8
    assert all(0.0 <= draw <= 1.0 for draw in draws if draw != "refused")


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Density.laplace(0.0, 0.0), "positive"),
        (lambda: Density.normal(math.nan, 1.0), "finite"),
        (lambda: Density.uniform(1.0, 1.0), "positive"),
        (lambda: Countable.geometric(0.5, 1.0), "integer"),
        (lambda: Density.laplace().restricted(3.0, 3.0), "no mass"),
        (lambda: Mixture(["a"], Density.uniform(), probabilities=[1.5]), "sum to 1"),
        (lambda: Mixture.from_clamped(Density.laplace(), 1.0, 0.0), "low < high"),
        (lambda: Density(()), "at least one piece"),
        (lambda: Density(Density.laplace().pieces[:1]), "must sum to 1"),
    ],
)
def test_an_invalid_law_is_refused_in_one_line(build, words):
    with pytest.raises(InvalidValue, match=words) as error:
        build()
    assert "\n" not in str(error.value)


def test_a_countable_law_refuses_curved_pieces():
    with pytest.raises(InvalidKind):
        Countable(Density.normal().pieces)


@pytest.mark.parametrize("slope", [-0.7, 0.0, 0.7])
def test_a_piece_with_ends_between_integers_sums_and_inverts_over_the_integers_inside(slope):
    piece, whole = Piece(-1.5, 3.5, 0.0, 0.0, slope=slope), Piece(-1.0, 3.0, 0.0, 0.0, slope=slope)
    shares = np.linspace(0.01, 0.99, 50)
    assert piece.invert_sum(shares).tolist() == whole.invert_sum(shares).tolist()
    assert float(piece.log_sum(-9, 9)) == float(whole.log_sum(-9, 9))
