"""The event shown for a product law is a box, even if the worst event is not."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from audit import ApproximateDP, Relation, Verdict, audit_privacy
from audit.distributions import Density, Finite, Product
from audit.laws.divergence import hockey_stick_bounds, worst_event
from audit.laws.region import probability
from audit.words import story


def gain(p, q, epsilon):
    event = worst_event(p, q, epsilon)
    return probability(p, event) - math.exp(epsilon) * probability(q, event)


def product(kind, shift, count, scale=1.0):
    return Product([kind(shift, scale)] * count)


@pytest.mark.parametrize(
    ("kind", "count", "epsilon", "share"),
    [(Density.laplace, 2, 1.0, 0.9), (Density.laplace, 3, 0.5, 0.6), (Density.normal, 3, 1.0, 0.6)],
)
def test_a_box_shows_well_over_half_of_the_loss_of_few_coordinates(kind, count, epsilon, share):
    p, q = product(kind, 0.0, count), product(kind, 1.0, count)
    whole = hockey_stick_bounds(p, q, epsilon)[0]
    # The reference event is a half-line in every coordinate, cut where the two normal densities are equal.
    # Its gain has a closed form.
    if kind is Density.normal:
        even = norm.cdf(0.5) ** count - math.exp(epsilon) * norm.cdf(-0.5) ** count
        assert gain(p, q, epsilon) >= even - 1e-12
    assert share * whole <= gain(p, q, epsilon) <= whole + 1e-12


def test_a_coordinate_that_is_certain_under_one_law_belongs_to_the_box():
    p = Product([Density.laplace(0.0, 1.0), Finite([0, 1], [1.0, 0.0])])
    q = Product([Density.laplace(1.0, 1.0), Finite([0, 1], [0.5, 0.5])])
    # The second coordinate is 0 with probability 1 under p and 1/2 under q. Laplace cut at 1/2 has the masses
    # 1 − e^(−1/2)/2 and e^(−1/2)/2.
    tail = math.exp(-0.5) / 2
    assert gain(p, q, 0.5) >= (1 - tail) - math.exp(0.5) * 0.5 * tail - 1e-9


class Gaussian:
    """A mechanism that shifts each of d coordinates by 1/√d.

    Its loss is that of a shift of 1 in one coordinate.
    """

    relation = Relation.REPLACE_ONE
    records = (0, 1)
    size = 1
    claim = ApproximateDP(1.0, 1e-5)

    def __init__(self, count=30, sigma=2.5):
        self.count, self.sigma = count, sigma

    def __call__(self, database, rng):
        return database[0] / math.sqrt(self.count) + rng.normal(0.0, self.sigma, self.count)

    def distribution(self, database):
        return product(Density.normal, database[0] / math.sqrt(self.count), self.count, self.sigma)


def gaussian_delta(sigma, epsilon):
    """Return δ(ε) of a shift of 1 under noise of scale σ (Balle and Wang 2018, Theorem 8)."""
    half, steep = 1 / (2 * sigma), epsilon * sigma
    return norm.cdf(half - steep) - math.exp(epsilon) * norm.cdf(-half - steep)


def test_a_box_that_shows_too_little_is_marked_as_a_part_and_its_replay_still_refutes():
    result = audit_privacy(Gaussian(), budget=2_000)
    assert result.verdict is Verdict.REFUTED
    assert result.delta_lower == pytest.approx(gaussian_delta(2.5, 1.0), rel=1e-6)
    # otherwise the result has nothing to mark
    assert result.witness.p <= math.exp(1.0) * result.witness.q + 1e-5
    said = (
        "This event is only part of the one that breaks the claim. "
        "Over all outputs with a likelihood ratio above e^ε, p − e^ε·q is "
    )
    assert said in story.witness_story(result, result.witness)
    again = result.replay(Gaussian())
    assert again.verdict is Verdict.REFUTED
    assert again.delta_lower == pytest.approx(result.delta_lower, rel=1e-9)
    assert gaussian_delta(4.5, 1.0) < 1e-5
    assert result.replay(Gaussian(sigma=4.5)).verdict is Verdict.NOT_REFUTED


def test_a_box_that_shows_enough_is_not_marked():
    result = audit_privacy(Gaussian(count=2, sigma=1.0), budget=8_000)
    assert result.witness.p > math.exp(1.0) * result.witness.q + 1e-5
    assert "a part of" not in story.witness_story(result, result.witness)
    assert np.isfinite(result.witness.q)
