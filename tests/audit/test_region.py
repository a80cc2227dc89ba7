"""Regions: membership, words and probabilities."""

import math

import numpy as np
import pytest

from audit.distributions import Density, Finite, Mixture, Product
from audit.laws.region import Region, log_probability, probability


@pytest.mark.parametrize(
    "output", [None, "text", math.nan, True, [], (), {}, np.zeros(0), np.zeros((2, 2)), object(), 1 + 2j]
)
def test_membership_is_defined_for_every_output(output):
    assert not Region(outcomes=("other",), intervals=((0.0, 1.0),)).contains(output)
    assert not Region(coordinates=((1, Region(intervals=((5.0, 6.0),))),)).contains(output)


def test_intervals_are_open_and_outcomes_need_no_interval():
    region = Region(outcomes=(1.0,), intervals=((0.0, 1.0),))
    assert [region.contains(x) for x in (0.0, 0.5, 1, True)] == [False, True, True, False]


def test_an_excluded_atom_is_outside():
    region = Region(intervals=((-1.0, 1.0),), excluded=(0.0,))
    law = Mixture([0.0], Density.uniform(-1.0, 1.0), probabilities=[0.5])
    assert not region.contains(0)
    assert region.contains(0.1)
    assert probability(law, region) == pytest.approx(0.5)


def test_a_box_multiplies_and_leaves_other_coordinates_free():
    box = Region(coordinates=((0, Region(intervals=((0.0, math.inf),))), (2, Region(outcomes=("a",)))))
    law = Product([Density.laplace(), Density.normal(), Finite("ab", [0.25, 0.75])])
    assert probability(law, box) == pytest.approx(0.125)
    assert box.contains((1.0, -7.0, "a"))
    assert not box.contains((1.0, -7.0, "b"))
    assert box.words() == "output[0] is above 0 and output[2] is 'a'"


def test_tiny_probabilities_stay_above_zero_in_logarithms():
    assert log_probability(Density.laplace(), Region(intervals=((2000.0, math.inf),))) == pytest.approx(
        -2000.0 - math.log(2.0)
    )


def test_words_stay_short():
    assert len(Region(outcomes=tuple(range(10_000))).words()) < 80
    assert Region().words() == "the output is impossible"


def test_words_distinguish_the_ends_of_a_narrow_interval():
    narrow = Region(intervals=((100000000.25, 100000001.75),))
    assert narrow.words() == "the output is between 100000000.25 and 100000001.75"
    assert Region(intervals=((-math.inf, 1e10 + 0.5),)).words() == "the output is below 10000000000.5"
    assert Region(intervals=((-math.inf, 2 / 3),)).words() == "the output is below 0.666667"
