"""What a result keeps for its pictures: outputs in bins, and points of its course."""

import math

import numpy as np
import pytest
from scipy import stats

from audit import PureDP, audit_privacy
from audit.distributions import Countable, Density, Finite, Mixture, Product
from audit.events.event import AtomIn, Event, NumberIn
from audit.events.features.atoms import Whole
from audit.events.features.numbers import Value
from audit.events.features.views import View
from audit.laws.exact import compare_pairs
from audit.laws.region import Region
from audit.results.course import MOST_POINTS, Course
from audit.results.outputs import MOST_EDGE, Outputs
from audit.verdict.shown.outputs import MOST_BINS, MOST_NAMES, Seen, outputs_by_law


def test_bins_of_densities_have_the_masses_of_scipy_and_the_part_of_the_event():
    """The outer bins hold the tails.

    The event holds only a part of the bin in which it ends.
    """
    region = Region(intervals=((0.3, math.inf),))
    kept = outputs_by_law(region, Density.laplace(0.0, 0.5), Density.laplace(1.0, 0.5))
    cuts = [-math.inf, *kept.edges[1:-1], math.inf]
    for column, inside, loc in (
        (kept.on_left, kept.left_inside, 0.0),
        (kept.on_right, kept.right_inside, 1.0),
    ):
        law = stats.laplace(loc, 0.5)
        assert column == pytest.approx(np.diff(law.cdf(cuts)), abs=1e-6)
        assert inside == pytest.approx(np.diff(law.cdf(np.maximum(cuts, 0.3))), abs=1e-6)
    assert MOST_BINS / 2 <= len(kept.on_left) <= MOST_BINS + 1
    assert kept.edges[0] < 0.3 < kept.edges[-1]


def test_whole_numbers_lie_in_the_middle_of_their_bins():
    kept = outputs_by_law(Region(outcomes=(0,)), Countable.geometric(0, 2.0), Countable.geometric(1, 2.0))
    (place,) = np.flatnonzero(kept.left_inside)
    assert (kept.edges[place], kept.edges[place + 1]) == (-0.5, 0.5)
    assert kept.left_inside[place] == pytest.approx(Countable.geometric(0, 2.0).pmf(0), rel=1e-5)
    many = [Finite(range(1000), np.full(1000, 1e-3)), Finite(range(1000), np.full(1000, 1e-3))]
    kept = outputs_by_law(Region(outcomes=(7, 8)), *many)
    assert sum(kept.on_left) == pytest.approx(1.0)
    assert sum(kept.left_inside) == pytest.approx(0.002)
    assert len(kept.on_left) <= MOST_BINS + 1


def test_atoms_are_kept_beside_the_bins_and_a_box_by_its_first_coordinate():
    clamped = [Mixture.from_clamped(Density.laplace(x), -1.0, 1.0) for x in (0.0, 0.5)]
    region = Region(outcomes=(1.0,), intervals=((0.0, 1.0),))
    kept = outputs_by_law(region, *clamped)
    assert {*kept.names} == {"1.0", "-1.0"}
    upper = len(kept.edges) - 1 + kept.names.index("1.0")
    assert kept.on_left[upper] == pytest.approx(math.exp(-1.0) / 2, rel=1e-5)
    assert kept.left_inside[upper] == kept.on_left[upper]
    assert sum(kept.left_inside) == pytest.approx(0.5, abs=1e-5)
    both = [Product([Density.uniform(0.0, 1.0), law]) for law in clamped]
    boxed = outputs_by_law(Region(coordinates=((1, region),)), *both)
    assert (boxed.of, boxed.on_left) == ("output[1]", kept.on_left)


def test_values_that_are_not_numbers_are_named_including_those_of_the_event():
    """A rare value of the event is named beside more frequent values."""
    words = [f"word {i}" for i in range(30)]
    logs = np.log(np.array([*np.full(29, 0.0344), 0.0024]) / (29 * 0.0344 + 0.0024))
    laws = [Finite(words, log_probabilities=logs), Finite(words, log_probabilities=logs)]
    kept = outputs_by_law(Region(outcomes=("word 29",)), *laws)
    assert len(kept.names) == MOST_NAMES
    assert kept.names[-1] == "any other"
    assert kept.left_inside[kept.names.index("'word 29'")] == pytest.approx(0.0024, rel=1e-2)
    assert sum(kept.on_left) == pytest.approx(1.0, abs=1e-5)
    seen = Seen(Event((AtomIn(Whole(), ("a", None)),)))
    seen.add(0, View(["a", "b", "a"]), np.array([True, False, True]))
    assert seen.outputs() is None  # no output of the other side yet
    seen.add(1, View([None, "b"]), np.array([True, False]))
    kept = seen.outputs()
    assert dict(zip(kept.names, kept.on_left, strict=True)) == {"'a'": 2, "None": 0, "'b'": 1}
    assert dict(zip(kept.names, kept.right_inside, strict=True)) == {"'a'": 0, "None": 1, "'b'": 0}


@pytest.mark.parametrize("wide", [False, True])
def test_numbers_of_any_size_and_other_values_are_all_counted(wide):
    """The outer bins hold the numbers that are too large for an axis."""
    seen = Seen(Event((NumberIn(Value(), ((1.0, math.inf),)),)))
    ends = [-1.79e308, 1.79e308] if wide else []
    for side in (0, 1):
        outputs = [*np.linspace(0, 2 + side, 200), math.inf, -math.inf, None, *ends * 99]
        seen.add(side, View(outputs), np.array([isinstance(x, float) and x >= 1 for x in outputs]))
    kept = seen.outputs()
    assert kept.is_coherent
    assert kept.names == ("no number",)
    assert (sum(kept.on_left), kept.on_left[-1]) == (203 + 198 * wide, 1)
    assert sum(kept.left_inside) == 101 + 99 * wide
    if wide:
        assert kept.edges[-1] - kept.edges[0] > MOST_EDGE
        assert (kept.on_left[0], kept.on_left[-2]) == (100, 100)


@pytest.mark.parametrize(("unit", "has_bins"), [(1e299, True), (5e-324, False)])
def test_outputs_near_the_limits_of_floats_have_bins_that_a_file_can_hold_or_none(unit, has_bins):
    numbers = np.arange(-30, 31) * unit
    laws = [Finite(numbers, np.full(61, 1 / 61))] * 2
    kept = outputs_by_law(Region(intervals=((25 * unit, math.inf),)), *laws)
    assert (kept is not None) is has_bins
    assert kept is None or kept.is_coherent
    assert not Outputs("the output", (0.0, 5e-324), (), (1,), (1,), (0,), (0,)).is_coherent
    assert not Outputs("the output", (0.0,), ("a",), (1,), (1,), (0,), (0,)).is_coherent


def test_of_many_different_values_the_event_and_the_frequent_ones_are_named():
    """The event's value comes after 5,000 others, and each output is counted once."""
    seen = Seen(Event((AtomIn(Whole(), ("leak",)),)))
    for side in (0, 1):
        outputs = [*("often",) * 9, *(f"{side} {i}" for i in range(5000)), *("leak",) * side]
        seen.add(side, View(outputs), np.array([output == "leak" for output in outputs]))
    kept = seen.outputs()
    named = dict(
        zip(kept.names, zip(kept.on_left, kept.on_right, kept.right_inside, strict=True), strict=True)
    )
    assert (named["'often'"], named["'leak'"]) == ((9, 9, 0), (0, 1, 1))
    assert (len(named), sum(kept.on_left), sum(kept.on_right)) == (MOST_NAMES, 5009, 5010)


def loud(database, rng):
    return sum(database) + rng.laplace(scale=0.4)


def test_the_kept_runs_of_a_witness_give_its_p_and_q_and_its_wealth_ends_above_the_limit():
    found = audit_privacy(loud, PureDP(1.0), records=[0, 1], size=3)
    kept, shown = found.witness.outputs, found.witness
    assert sum(kept.on_left) + sum(kept.on_right) == 2 * shown.runs
    sides = [sum(kept.shares[2]), sum(kept.shares[3])]
    assert sorted(sides) == pytest.approx(sorted([shown.p, shown.q]), abs=1e-12)
    assert found.wealth_course.places[-1] == found.samples_to_refutation
    assert found.wealth_course.values[-1] >= found.log_limit
    assert found.search_course.places[-1] <= found.pairs_tried


def test_a_course_keeps_both_ends_and_few_points():
    course = Course.of([(place, place / 3) for place in range(1, 1000)])
    assert (course.places[0], course.places[-1], len(course.places)) == (1, 999, MOST_POINTS)
    assert course.values[-1] == 333.0
    assert Course.of([]) is None


def test_the_search_of_exact_laws_rises_to_the_largest_loss():
    """The largest loss rises at the first and the third pair.

    The losses of the five pairs are 1, 1/2, 2, 2 and 1. The kept curve ends at the fifth pair.
    """
    pairs = [((0, i), (1, i)) for i in range(5)]
    scales = [1.0, 2.0, 0.5, 0.5, 1.0]
    found = compare_pairs(pairs, lambda data: Density.laplace(data[0], scales[data[1]]), PureDP(9.0))
    assert [place for place, _ in found.course] == [1, 3, 5]
    assert [value for _, value in found.course] == pytest.approx([1.0, 2.0, 2.0])
