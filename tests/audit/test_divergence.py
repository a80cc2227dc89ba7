"""Exact divergences, by closed forms, brute force and quadrature.

The file is long because all kinds of laws get the same comparisons.
"""

import functools
import itertools
import math

import numpy as np
import pytest
from scipy import integrate, stats

from audit.distributions import Countable, Density, Finite, Mixture, Product
from audit.errors import InvalidKind, InvalidValue
from audit.laws.divergence import (
    epsilon_at,
    epsilon_bounds,
    hockey_stick,
    hockey_stick_bounds,
    worst_event,
)
from audit.laws.losses.line import LineLoss
from audit.laws.region import probability

LN3 = math.log(3.0)


def laplace_delta(epsilon, distance):
    """Return δ(ε) of Laplace noise of scale 1 for any real ε, in closed form.

    It is the integral of (p − e^ε·q)₊.
    """
    if epsilon >= distance:
        return 0.0
    return -math.expm1((epsilon - distance) / 2) if epsilon > -distance else -math.expm1(epsilon)


def gaussian_delta(epsilon, mu):
    """Return δ(ε) of normal noise (Balle and Wang 2018, Theorem 8)."""
    tail = math.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)
    return stats.norm.cdf(mu / 2 - epsilon / mu) - tail


def brute_force(p, q, epsilon):
    return float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())


@pytest.mark.parametrize(("distance", "epsilon"), [(1.0, 0.5), (3.0, 0.1), (2.0, 1.9999), (0.1, 0.0)])
def test_laplace_has_its_closed_form(distance, epsilon):
    p, q = Density.laplace(5.0), Density.laplace(5.0 + distance)
    for pair in ((p, q), (q, p)):
        assert hockey_stick(*pair, epsilon) == pytest.approx(laplace_delta(epsilon, distance), abs=1e-14)
        assert epsilon_at(*pair) == pytest.approx(distance, abs=1e-14)


@pytest.mark.parametrize("mu", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0, 6.0])
def test_gaussian_has_its_analytic_formula(mu, epsilon):
    p, q = Density.normal(2.0**20, 1.0), Density.normal(2.0**20 + mu, 1.0)
    assert hockey_stick(p, q, epsilon) == pytest.approx(gaussian_delta(epsilon, mu), rel=1e-9, abs=1e-14)


def test_epsilon_of_a_gaussian_inverts_delta():
    epsilon = epsilon_at(Density.normal(0.0), Density.normal(1.0), 1e-6)
    assert gaussian_delta(epsilon, 1.0) == pytest.approx(1e-6, rel=1e-9)
    assert epsilon_at(Density.normal(0.0), Density.normal(1.0)) == math.inf


@pytest.mark.parametrize("distance", [1, 3])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.7, 2.0])
def test_geometric_agrees_with_a_sum_over_the_integers(distance, epsilon):
    k = np.arange(-200, 200)
    p, q = Countable.geometric(0, 1 / 0.7), Countable.geometric(distance, 1 / 0.7)
    expected = brute_force(stats.dlaplace.pmf(k, 0.7), stats.dlaplace.pmf(k - distance, 0.7), epsilon)
    assert hockey_stick(p, q, epsilon) == pytest.approx(expected, abs=1e-13)
    assert epsilon_at(p, q) == pytest.approx(0.7 * distance, abs=1e-13)


def test_randomized_response_has_its_closed_form():
    p, q = Finite([0, 1], [0.75, 0.25]), Finite([0, 1], [0.25, 0.75])
    assert epsilon_at(p, q) == pytest.approx(LN3, abs=1e-15)
    assert hockey_stick(p, q, 0.5) == pytest.approx(0.75 - math.exp(0.5) * 0.25, abs=1e-15)
    # (ε, δ) holds if and only if ε ≥ log((0.75 − δ)/0.25)
    assert epsilon_at(p, q, 0.1) == pytest.approx(math.log(0.65 / 0.25), abs=1e-9)


def test_normals_of_different_scale_agree_with_quadrature():
    p, q = Density.normal(0.0, 1.0), Density.normal(0.3, 1.3)

    def gap(x, epsilon, a, b):
        return max(a.pdf(x) - math.exp(epsilon) * b.pdf(x), 0.0)

    for a, b in ((p, q), (q, p)):
        for epsilon in (0.0, 0.1, 0.3):
            grid = np.linspace(-15.0, 15.0, 61)
            pieces = [
                integrate.quad(gap, *ends, (epsilon, a, b), limit=200)[0] for ends in itertools.pairwise(grid)
            ]
            assert hockey_stick(a, b, epsilon) == pytest.approx(math.fsum(pieces), abs=1e-7)
    # log p/q = log 1.3 − x²/2 + (x − 0.3)²/3.38 is largest at x = (x − 0.3)/1.69
    top = -0.3 / 0.69
    assert epsilon_at(p, q) == pytest.approx(math.log(1.3) - top**2 / 2 + (top - 0.3) ** 2 / 3.38, rel=1e-12)
    assert epsilon_at(q, p) == math.inf


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_a_density_given_by_functions_agrees_with_the_closed_form(epsilon):
    def general(law):
        return Density.general(law.logpdf, knots=[-math.inf, math.inf], logcdf=law.logcdf, logsf=law.logsf)

    p, q = general(stats.norm(0.0)), general(stats.norm(1.0))
    assert hockey_stick(p, q, epsilon) == pytest.approx(gaussian_delta(epsilon, 1.0), abs=1e-12)
    assert hockey_stick(p, Density.normal(1.0), epsilon) == pytest.approx(
        gaussian_delta(epsilon, 1.0), abs=1e-12
    )


def test_the_extreme_ratio_of_a_cauchy_shift_is_found_between_the_tails():
    p, q = (
        Density.general(law.logpdf, knots=[-math.inf, math.inf], logcdf=law.logcdf, logsf=law.logsf)
        for law in (stats.cauchy(0.0), stats.cauchy(1.0))
    )
    # (1 + (x − 1)²)/(1 + x²) is largest at x = (1 − √5)/2, where it is (3 + √5)/2
    assert epsilon_at(p, q) == pytest.approx(math.log((3 + math.sqrt(5)) / 2), abs=1e-9)


def _by_functions(law):
    return Density.general(law.logpdf, knots=[-math.inf, math.inf], logcdf=law.logcdf, logsf=law.logsf)


#: Frozen laws of scipy at a location and scale, and the ε of two of them that are one scale apart.
FAR = {
    "cauchy": (stats.cauchy, 2 * math.asinh(0.5)),
    "hypsecant": (stats.hypsecant, 1.0),
    # 3·log((5 + (x + 1/2)²)/(5 + (x − 1/2)²)) is largest at x² = 5 + 1/4
    "t5": (lambda loc, scale: stats.t(5, loc, scale), 3 * math.log((21 + 21**0.5) / (21 - 21**0.5))),
}


@functools.cache
def _near(name):
    """Return δ(0.3) and ε at δ = 0.05, for two laws of scale 1 at 0 and 1."""
    p, q = (_by_functions(FAR[name][0](loc, 1.0)) for loc in (0.0, 1.0))
    return hockey_stick(p, q, 0.3), epsilon_at(p, q, 0.05)


@pytest.mark.parametrize(
    ("far", "scale"),
    [(0.0, 2.0**-33), (1e6, 1.0), (1e10, 2.0**33)],
)
@pytest.mark.parametrize("name", FAR)
def test_the_loss_of_densities_given_by_functions_does_not_depend_on_where_they_are(name, far, scale):
    family, expected = FAR[name]
    delta, epsilon = _near(name)
    p, q = (_by_functions(family(loc, scale)) for loc in (far * scale, (far + 1.0) * scale))
    assert epsilon_at(p, q) == pytest.approx(expected, abs=1e-9)
    assert hockey_stick(p, q, 0.3) == pytest.approx(delta, abs=1e-9)
    assert epsilon_at(p, q, 0.05) == pytest.approx(epsilon, abs=1e-9)
    # at this location the bounds of the event are rounded to floats, which makes the event slightly worse
    event = worst_event(p, q, 0.3)
    gain = probability(p, event) - math.exp(0.3) * probability(q, event)
    assert gain == pytest.approx(delta, abs=1e-6)


@pytest.mark.parametrize("scale", [2.0**-33, 1.0, 2.0**33])
@pytest.mark.parametrize("far", [1e6, 1e8, 1e10])
@pytest.mark.parametrize(
    "make",
    [
        Density.laplace,
        Density.normal,
        Density.exponential,
        lambda loc, scale: Density.uniform(loc, loc + scale),
        lambda loc, scale: Density.normal(loc, scale).restricted(loc - scale, loc + 3 * scale),
    ],
)
def test_the_loss_of_closed_forms_does_not_depend_on_where_they_are(make, far, scale):
    near = make(0.0, 1.0), make(0.5, 1.0)
    p, q = make(far * scale, scale), make((far + 0.5) * scale, scale)
    assert hockey_stick(p, q, 0.2) == pytest.approx(hockey_stick(*near, 0.2), abs=1e-9)
    assert epsilon_at(p, q, 0.45) == pytest.approx(epsilon_at(*near, 0.45), abs=1e-9)


def test_parts_of_an_event_without_mass_add_nothing():
    """Floats here are a tenth of the scale apart, so an interval of the event is empty."""
    law = functools.partial(stats.gennorm, 1.5)
    p, q = (
        Density.general(each.logpdf, knots=[-math.inf, loc, math.inf], logcdf=each.logcdf, logsf=each.logsf)
        for loc in (1e20, 1e20 + 1e10)
        for each in [law(loc, 1e10)]
    )
    near = [
        Density.general(each.logpdf, knots=[-math.inf, loc, math.inf], logcdf=each.logcdf, logsf=each.logsf)
        for loc in (0.0, 1.0)
        for each in [law(loc, 1.0)]
    ]
    assert epsilon_at(p, q, 0.05) == pytest.approx(epsilon_at(*near, 0.05), abs=1e-5)


def test_an_event_of_many_numbers_as_close_as_floats_are_holds_each_of_them():
    first = 2.0**53
    outcomes = first + 2.0 * np.arange(400)
    heavy = np.arange(400) % 4 < 2
    p = Finite(outcomes, np.where(heavy, 1.5, 0.5) / 400)
    q = Finite(outcomes, np.where(heavy, 0.5, 1.5) / 400)
    event = worst_event(p, q, 1.0)
    assert [event.contains(x) for x in outcomes.tolist()] == heavy.tolist()


def test_clamping_is_post_processing_and_laplace_loses_nothing_by_it():
    p, q = (Mixture.from_clamped(Density.laplace(loc, 1.0), -1.0, 1.0) for loc in (0.0, 1.0))
    # the best event for ε = 1/2 is {x < 1/4}; clamping does not change it
    assert hockey_stick(p, q, 0.5) == pytest.approx(laplace_delta(0.5, 1.0), abs=1e-14)
    assert epsilon_at(p, q) == pytest.approx(1.0, abs=1e-14)


def test_truncated_geometric_agrees_with_a_sum():
    p, q = (Finite.from_clamped(Countable.geometric(loc, 1.0), 0, 5) for loc in (2, 3))
    expected = brute_force(np.exp(p.log_probabilities), np.exp(q.log_probabilities), 0.5)
    assert hockey_stick(p, q, 0.5) == pytest.approx(expected, abs=1e-15)
    assert epsilon_at(p, q) == pytest.approx(1.0, abs=1e-14)


def test_finite_and_countable_laws_of_integers_compare():
    clamped, whole = Finite.from_clamped(Countable.geometric(2, 1.0), 0, 5), Countable.geometric(2, 1.0)
    # the total variation is the mass that clamping moved: Pr[k < 0] + Pr[k > 5]
    moved = stats.dlaplace.cdf(-3, 1.0) + stats.dlaplace.sf(3, 1.0)
    assert hockey_stick(clamped, whole, 0.0) == pytest.approx(moved, abs=1e-13)
    assert hockey_stick(whole, clamped, 0.0) == pytest.approx(moved, abs=1e-13)
    assert epsilon_at(whole, clamped) == math.inf


def test_an_atom_that_only_one_law_has_costs_its_mass():
    p = Mixture(["refused"], Density.laplace(), probabilities=[0.125])
    assert hockey_stick(p, Density.laplace(), 3.0) == pytest.approx(0.125, abs=1e-15)
    assert epsilon_at(p, Density.laplace(), 0.125) == pytest.approx(0.0, abs=1e-9)
    assert epsilon_at(p, Density.laplace(), 0.124) == math.inf
    assert epsilon_at(Density.laplace(), p) == pytest.approx(-math.log(0.875), abs=1e-14)


def test_disjoint_uniforms_lose_the_uncovered_part():
    p, q = Density.uniform(0.0, 1.0), Density.uniform(0.25, 1.25)
    assert hockey_stick(p, q, 1.0) == pytest.approx(0.25, abs=1e-15)
    assert epsilon_at(p, q, 0.25) == pytest.approx(0.0, abs=1e-9)


def test_order_and_type_of_listed_outcomes_do_not_matter():
    p, q = Finite(["a", "b", "c"], [0.5, 0.25, 0.25]), Finite(("c", "a"), [0.5, 0.5])
    assert hockey_stick(p, q, 0.0) == pytest.approx(0.25)
    assert epsilon_at(p, q) == math.inf
    assert epsilon_at(q, p) == pytest.approx(math.log(2.0))


def test_products_of_normals_are_one_normal():
    p = Product([Density.normal(0.0)] * 3)
    q = Product([Density.normal(1.0), Density.normal(0.0), Density.normal(2.0)])
    assert hockey_stick(p, q, 1.0) == pytest.approx(gaussian_delta(1.0, math.sqrt(5.0)), abs=1e-14)


def test_products_of_coins_are_binomial():
    p, q = Product([Finite([0, 1], [0.75, 0.25])] * 20), Product([Finite([0, 1], [0.25, 0.75])] * 20)
    k = np.arange(21)
    losses = (20 - 2 * k) * LN3
    expected = np.sum(stats.binom.pmf(k, 20, 0.25) * np.maximum(-np.expm1(3.0 - losses), 0.0))
    assert hockey_stick(p, q, 3.0) == pytest.approx(expected, abs=1e-13)
    assert epsilon_at(p, q) == pytest.approx(20 * LN3, rel=1e-14)


def test_one_continuous_coordinate_is_conditioned_on_the_finite_ones():
    p = Product([Finite([0, 1], [0.75, 0.25]), Density.laplace(0.0), Density.laplace(9.0)])
    q = Product([Finite([0, 1], [0.25, 0.75]), Density.laplace(1.0), Density.laplace(9.0)])
    expected = 0.75 * laplace_delta(1.5 - LN3, 1.0) + 0.25 * laplace_delta(1.5 + LN3, 1.0)
    assert hockey_stick(p, q, 1.5) == pytest.approx(expected, abs=1e-14)


def two_laplace_delta(epsilon, first, second):
    """Return δ(ε) by conditioning on the loss of the first coordinate.

    This loss is `first` or −`first` in the tails, and `first` − 2x at a point x between them.
    """
    kinks = [(first - epsilon + sign * second) / 2 for sign in (-1, 1)]
    ends = sorted({0.0, first, *(x for x in kinks if 0 < x < first)})

    def middle(x):
        return 0.5 * math.exp(-x) * laplace_delta(epsilon - first + 2 * x, second)

    between = [integrate.quad(middle, a, b, epsabs=1e-13)[0] for a, b in itertools.pairwise(ends)]
    outer = laplace_delta(epsilon - first, second) + math.exp(-first) * laplace_delta(epsilon + first, second)
    return 0.5 * outer + math.fsum(between)


@pytest.mark.parametrize("epsilon", [0.0, 0.2, 0.5, 1.0, 1.29])
def test_two_laplace_coordinates_are_bracketed_tightly(epsilon):
    p = Product([Density.laplace(0.0), Density.laplace(0.0)])
    q = Product([Density.laplace(0.5), Density.laplace(0.8)])
    low, high = hockey_stick_bounds(p, q, epsilon)
    assert low <= two_laplace_delta(epsilon, 0.5, 0.8) <= high
    assert high - low < 1e-8


def test_vector_laplace_meets_its_pure_epsilon_with_equality():
    p = Product([Density.laplace(0.0)] * 4)
    q = Product([Density.laplace(x) for x in (0.25, 0.5, 0.25, 0.0)])
    assert epsilon_bounds(p, q) == (1.0, 1.0)
    assert hockey_stick_bounds(p, q, 1.0) == (0.0, 0.0)


def test_two_geometric_coordinates_are_bracketed():
    p, q = Product([Countable.geometric(0, 1.0)] * 2), Product([Countable.geometric(1, 1.0)] * 2)
    k = np.arange(-45, 46)
    a, b = stats.dlaplace.pmf(k, 1.0), stats.dlaplace.pmf(k - 1, 1.0)
    low, high = hockey_stick_bounds(p, q, 0.5)
    expected = brute_force(np.outer(a, a), np.outer(b, b), 0.5)
    assert low - 1e-12 <= expected <= high + 1e-12
    assert high - low < 1e-9


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0, 2.2])
def test_many_equal_coordinates_beside_another_one_are_bracketed(epsilon):
    """Of several equal coordinates, the number with the loss `rate` is binomial.

    Z is two-sided geometric, and the loss of Z + 1 against Z is rate or −rate.
    """
    rates = [0.25] * 16 + [0.4]
    p = Product([Countable.geometric(0, 1 / rate) for rate in rates])
    q = Product([Countable.geometric(1, 1 / rate) for rate in rates])
    ups, last = np.arange(17), np.array([-0.4, 0.4])
    masses = np.outer(stats.binom.pmf(ups, 16, 1 / (1 + math.exp(-0.25))), 1 / (1 + np.exp(-last)))
    losses = np.add.outer(0.25 * (2 * ups - 16), last)
    expected = float(np.sum(masses * np.maximum(-np.expm1(epsilon - losses), 0.0)))
    low, high = hockey_stick_bounds(p, q, epsilon)
    assert low - 1e-12 <= expected <= high + 1e-12
    assert high - low < 1e-9


def test_epsilon_of_a_bracketed_product_contains_the_truth():
    p, q = Product([Density.laplace(0.0)] * 2), Product([Density.laplace(0.5), Density.laplace(0.8)])
    low, high = epsilon_bounds(p, q, 0.01)
    assert two_laplace_delta(low, 0.5, 0.8) >= 0.01 - 1e-10
    assert two_laplace_delta(high, 0.5, 0.8) <= 0.01 + 1e-10
    assert high - low < 1e-6


def test_vectors_of_different_length_are_disjoint():
    p, q = Product([Density.laplace()]), Product([Density.laplace()] * 2)
    assert hockey_stick(p, q, 5.0) == 1.0
    assert epsilon_at(p, q) == math.inf


PAIRS = {
    "finite": (Finite("abc", [0.5, 0.3, 0.2]), Finite("abc", [0.2, 0.3, 0.5])),
    "laplace": (Density.laplace(0.0), Density.laplace(1.0)),
    "normal": (Density.normal(0.0), Density.normal(0.3, 1.3)),
    "geometric": (Countable.geometric(0, 2.0), Countable.geometric(3, 2.0)),
    "mixture": tuple(Mixture.from_clamped(Density.laplace(x), -1.0, 1.0) for x in (0.0, 1.0)),
    "range": tuple(Finite.from_clamped(Countable.geometric(x, 300.0), 0, 2000) for x in (990, 1010)),
    "one coordinate": tuple(Product([Density.normal(), Density.laplace(x)]) for x in (0.0, 1.0)),
}


def atoms_and_line(atoms, share):
    return Mixture(atoms, Density.uniform(-1.0, 1.0), probabilities=[share / len(atoms)] * len(atoms))


#: Atoms amid a density. If the event is an interval, it must leave out the atoms that lose less and the atoms
#: that only q has. If the event is many atoms, it must leave out the density between them.
AMID = {
    "the line loses": (atoms_and_line([0.0], 0.1), atoms_and_line([0.0], 0.5)),
    "an atom of q alone": (Density.uniform(-1.0, 1.0), atoms_and_line([0.0, "refused"], 0.5)),
    "many atoms lose": tuple(atoms_and_line((np.arange(100) / 200).tolist(), share) for share in (0.9, 0.1)),
    "a finite law beside a mixture": (
        Finite((np.arange(100) / 200).tolist(), [0.01] * 100),
        atoms_and_line((np.arange(50) / 200).tolist(), 0.5),
    ),
}


@pytest.mark.parametrize("name", [*PAIRS, *AMID])
def test_the_worst_event_attains_delta(name):
    p, q = (PAIRS | AMID)[name]
    epsilon = 0.01
    event = worst_event(p, q, epsilon)
    gain = probability(p, event) - math.exp(epsilon) * probability(q, event)
    assert gain == pytest.approx(hockey_stick(p, q, epsilon), abs=1e-12)


@pytest.mark.parametrize("name", PAIRS)
def test_draws_fall_into_the_worst_event_with_its_probability(name):
    """Binomial tests at significance 1e-8 on 2,000 draws.

    They detect an event that is wrong on outputs of total probability 0.1.
    """
    p, q = PAIRS[name]
    event = worst_event(p, q, 0.01)
    for law in (p, q):
        hits = sum(event.contains(output) for output in law.sample(2000, np.random.default_rng(7)))
        assert stats.binomtest(hits, 2000, min(probability(law, event), 1.0)).pvalue > 1e-8


@pytest.mark.parametrize("name", ["finite", "laplace", "geometric", "mixture"])
def test_if_the_claim_holds_the_event_of_the_largest_ratio_is_shown(name):
    p, q = PAIRS[name]
    worst = epsilon_at(p, q)
    event = worst_event(p, q, worst + 1.0)
    assert math.log(probability(p, event) / probability(q, event)) == pytest.approx(worst, abs=1e-6)


def test_a_box_event_of_a_vector_breaks_a_claim_that_is_too_small():
    p, q = Product([Density.laplace(0.0)] * 2), Product([Density.laplace(0.5), Density.laplace(0.8)])
    event = worst_event(p, q, 1.2)
    assert probability(p, event) > math.exp(1.2) * probability(q, event) > 0.0


def test_invalid_arguments_and_pairs_are_refused():
    with pytest.raises(InvalidValue):
        hockey_stick(Density.laplace(), Density.laplace(), -1.0)
    with pytest.raises(InvalidValue):
        epsilon_at(Density.laplace(), Density.laplace(), 1.5)
    with pytest.raises(InvalidKind):
        hockey_stick(Density.laplace(), Product([Density.laplace()]), 1.0)
    with pytest.raises(InvalidKind):
        hockey_stick(Density.laplace(), Countable.geometric(), 1.0)


def test_dp_accounting_agrees():
    """dp_accounting's δ is an upper bound within 2e-4.

    It rounds each loss up to a grid of 1e-4.
    """
    from dp_accounting.pld import privacy_loss_distribution as pld

    theirs = pld.from_laplace_mechanism(1.0, sensitivity=0.8, value_discretization_interval=1e-4)
    theirs = theirs.compose(
        pld.from_laplace_mechanism(1.0, sensitivity=0.5, value_discretization_interval=1e-4)
    )
    p, q = Product([Density.laplace(0.0)] * 2), Product([Density.laplace(0.5), Density.laplace(0.8)])
    for epsilon in (0.1, 0.5, 1.0):
        assert 0.0 <= theirs.get_delta_for_epsilon(epsilon) - hockey_stick_bounds(p, q, epsilon)[0] < 2e-4


def test_mass_on_one_side_alone_lies_above_every_level():
    """The uniform law has no mass below 0 and above 1. The Laplace law has 1/2 and 1/(2e) there."""
    loss = LineLoss(Density.laplace(0.0), Density.uniform(0.0, 1.0))
    log_p, log_q = loss.masses_above(math.inf)
    assert np.exp(log_p).sum() == pytest.approx(0.5 + math.exp(-1) / 2)
    assert np.exp(log_q).sum() == 0
