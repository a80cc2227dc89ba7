"""The distance between two outputs is defined for all outputs, and symmetric.

Under additive noise it is the distance between the true answers.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.sampling import EXPLORE, Sampler
from audit.search.compass import SHAPE, distance
from audit.subject.subject import adapt
from audit.values.outcomes import Raised, Unfinished

NAN, INF = float("nan"), float("inf")
outputs = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats()
    | st.text(max_size=2)
    | st.binary(max_size=2),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (3, -1, 4),
        (np.float64(0.5), 1, 0.5),
        ((1, 2, 3), (0, 4, 3), 3),
        (np.array([1.0, 2.0]), np.array([1.5, 0.0]), 2.5),
        ({"a": 1.0, "b": 2.0}, {"b": 5.0, "a": 2.0}, 4.0),
        ("yes", "no", 1.0),
        (b"x", b"y", 1.0),
        (NAN, NAN, 0.0),
        ([0.0, NAN], [1.0, NAN], 1.0),
        (INF, INF, 0.0),
        (frozenset("ab"), frozenset("abc"), SHAPE),
    ],
)
def test_outputs_of_one_kind_have_the_l1_distance_or_1_if_they_differ(left, right, expected):
    if expected is SHAPE:
        assert distance(left, right) >= 1  # sets are compared as a whole
    else:
        assert distance(left, right) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1.0, "1.0"),
        ((1, 2), (1, 2, 3)),
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, {"a": 1, "b": 0}),
        (0.0, NAN),
        ([1.0, 0.0], [1.0, NAN]),
        (0, Raised("ValueError", "no")),
        (None, 0),
    ],
)
def test_outputs_of_different_shapes_are_further_apart_than_any_numbers(left, right):
    assert distance(left, right) == distance(right, left) == SHAPE > distance(-1e200, 1e200)


@given(outputs, outputs)
def test_the_distance_is_total_symmetric_and_zero_on_equals(left, right):
    forwards, backwards = distance(left, right), distance(right, left)
    assert forwards == pytest.approx(backwards)
    assert 0 <= forwards < INF
    assert distance(left, left) == 0


def test_an_infinite_gap_is_a_finite_distance():
    assert 1e200 < distance(-INF, INF) < INF
    assert distance(1.7e308, -1.7e308) < INF


def test_outcomes_without_an_output_have_a_distance():
    assert distance(Unfinished("time limit"), Unfinished("time limit")) == 0
    assert distance(Raised("ValueError", "a"), Raised("KeyError", "a")) >= 1


@pytest.mark.parametrize("noise", ["laplace", "normal", "gumbel"])
def test_coupled_runs_of_additive_noise_have_the_distance_of_the_true_answers(noise):
    mechanism = adapt(lambda database, rng: sum(database) + getattr(rng, noise)(scale=50.0))
    [runs] = Sampler(mechanism, seed=0).draw([1, 2], [1, 9], 1, (EXPLORE,), coupled=True)
    assert distance(runs.left[0], runs.right[0]) == pytest.approx(7)
