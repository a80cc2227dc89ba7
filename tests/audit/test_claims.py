"""Claims: refused values, what they imply, and their texts."""

import json
import math
import pickle
import sys
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.claims import PAC, ApproximateDP, PrivacyClaim, PureDP, check_claim, claim_from_json
from audit.errors import InvalidKind, InvalidValue

fixed = settings(derandomize=True, deadline=None, database=None)
epsilons = st.floats(0, 30)
deltas = st.floats(0, 1, exclude_max=True)


def leaky_response(epsilon, delta):
    """Return the output laws of randomized response that leaks with probability delta.

    They have four outcomes.
    """
    keep = (1 - delta) * math.exp(epsilon) / (1 + math.exp(epsilon))
    turn = (1 - delta) / (1 + math.exp(epsilon))
    return (delta, keep, turn, 0.0), (0.0, turn, keep, delta)


def hockey_stick(p, q, epsilon):
    """Return the largest p(E) − e^epsilon·q(E) over all events, by trying every event."""
    return max(
        sum(a - math.exp(epsilon) * b for a, b, inside in zip(p, q, event, strict=True) if inside)
        for event in product((False, True), repeat=len(p))
    )


@pytest.mark.parametrize("epsilon", [-1, -1e-300, math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("make", [PureDP, lambda epsilon: ApproximateDP(epsilon, 0.1)])
def test_an_epsilon_that_is_negative_or_not_finite_is_refused(make, epsilon):
    with pytest.raises(InvalidValue, match=r"^The `epsilon` of `\w+DP` must be a finite number ≥ 0; got "):
        make(epsilon)


@pytest.mark.parametrize("epsilon", [True, "1", None, 1j, [1.0], np.array([1.0, 2.0])])
def test_an_epsilon_that_is_no_number_is_refused(epsilon):
    with pytest.raises(InvalidKind, match=r"^The `epsilon` of `PureDP` must be a finite number ≥ 0; got "):
        PureDP(epsilon)


@pytest.mark.parametrize("delta", [-0.1, 1, 1.5, math.nan, math.inf])
def test_a_delta_outside_its_interval_is_refused(delta):
    with pytest.raises(
        InvalidValue, match=r"^The `delta` of `ApproximateDP` must be a number in \[0, 1\); got "
    ):
        ApproximateDP(1.0, delta)


def test_the_message_names_the_argument_the_value_and_what_would_be_right():
    with pytest.raises(InvalidValue) as caught:
        PureDP(epsilon=-1)
    assert str(caught.value) == "The `epsilon` of `PureDP` must be a finite number ≥ 0; got -1."


@pytest.mark.parametrize("numbers", [(-0.1, 0.1), (1.1, 0.1), (0.1, 1.0), (0.1, -0.1), (math.nan, 0.1)])
def test_accuracy_claims_are_checked_too(numbers):
    with pytest.raises(InvalidValue, match=r"^The `(alpha|beta)` of `PAC` must be a number in \[0, 1"):
        PAC(*numbers)


def test_claims_are_values():
    assert PureDP(1) == PureDP(np.float64(1.0))
    assert len({PureDP(1.0), PureDP(1), ApproximateDP(1.0, 0.0)}) == 2
    with pytest.raises(AttributeError):
        PureDP(1.0).epsilon = 2.0
    for claim in (PureDP(0.5), ApproximateDP(1, 1e-6), PAC(0.1, 0.05)):
        assert pickle.loads(pickle.dumps(claim)) == claim


def test_claims_read_as_they_are_written():
    assert str(PureDP(epsilon=1.0)) == "PureDP(epsilon=1)"
    assert str(ApproximateDP(1.5, 0)) == "ApproximateDP(epsilon=1.5, delta=0)"
    assert str(PAC(0.1, 0.05)) == "PAC(alpha=0.1, beta=0.05)"
    assert repr(PureDP(1)) == "PureDP(epsilon=1.0)"


@fixed
@given(epsilons, deltas, epsilons)
def test_the_profile_is_that_of_the_worst_mechanism_that_meets_the_claim(epsilon, delta, at):
    p, q = leaky_response(epsilon, delta)
    # The hockey stick subtracts e^at·q from p. Both terms have a relative error of 1e-16.
    tolerance = 4e-16 * (1 + math.exp(at) * sum(q))
    assert ApproximateDP(epsilon, delta).profile(at) == pytest.approx(hockey_stick(p, q, at), abs=tolerance)


def test_the_profile_at_zero_is_the_total_variation_distance_of_randomized_response():
    assert PureDP(math.log(3)).profile(0) == pytest.approx(0.5, rel=1e-15)


def test_the_profile_from_the_claimed_epsilon_on_is_the_claimed_delta():
    claim = ApproximateDP(1.0, 1e-3)
    assert claim.profile(1.0) == claim.profile(5.0) == claim.profile(math.inf) == 1e-3


def test_the_profile_of_a_huge_epsilon_does_not_overflow():
    assert PureDP(1e6).profile(0) == 1.0


@pytest.mark.parametrize("at", [-0.5, math.nan])
def test_the_profile_refuses_anything_but_a_number_from_zero_on(at):
    with pytest.raises(InvalidValue, match=r"^The `epsilon` of `profile`"):
        PureDP(1.0).profile(at)


@fixed
@given(st.floats(0, 3), st.floats(0, 0.01), st.integers(1, 6))
def test_the_group_claim_is_the_neighbour_claim_chained(epsilon, delta, k):
    reached = 0.0
    for _ in range(k):
        reached = math.exp(epsilon) * reached + delta
    group = ApproximateDP(epsilon, delta).group(k)
    assert group.epsilon == pytest.approx(k * epsilon)
    assert group.delta == pytest.approx(min(reached, 1.0), rel=1e-12)
    assert group.delta < 1


def test_the_group_claim_at_epsilon_zero_adds_the_deltas():
    assert ApproximateDP(0.0, 0.125).group(3) == ApproximateDP(0.0, 0.375)


def test_the_group_claim_of_a_pure_claim_is_pure():
    assert PureDP(0.5).group(3) == PureDP(1.5)


def test_group_claims_stay_finite_and_their_delta_below_one():
    assert PureDP(1e308).group(10).epsilon == sys.float_info.max
    vacuous = ApproximateDP(800.0, 0.1).group(2)
    assert vacuous == ApproximateDP(1600.0, math.nextafter(1, 0))
    assert ApproximateDP(800.0, 0.1).group(1).delta == 0.1


@pytest.mark.parametrize("k", [0, -1])
def test_a_distance_below_one_is_refused(k):
    for claim in (PureDP(1.0), ApproximateDP(1.0, 0.1)):
        with pytest.raises(InvalidValue, match=r"^The distance `k` must be a whole number ≥ 1"):
            claim.group(k)


@pytest.mark.parametrize("claim", [PureDP(0.1), ApproximateDP(1.0, 1e-6), PAC(0.1, 0.05)])
def test_a_claim_comes_back_from_its_json(claim):
    assert claim_from_json(json.loads(json.dumps(claim.to_json()))) == claim


@pytest.mark.parametrize(
    "data",
    [{}, {"claim": "Other", "epsilon": 1}, {"claim": "PureDP"}, {"claim": ["PureDP"], "epsilon": 1},
     {"claim": "PureDP", "epsilon": 1, "delta": 0}],
)  # fmt: skip
def test_an_invalid_saved_claim_is_refused(data):
    with pytest.raises(InvalidValue, match=r"^A saved claim must be"):
        claim_from_json(data)


def test_a_claim_of_the_users_own_class_is_accepted():
    class Gaussian:
        epsilon = 1.0
        delta = 1e-3

        def profile(self, epsilon):
            return self.delta

        def group(self, k):
            return self

        def to_json(self):
            return {}

    assert isinstance(Gaussian(), PrivacyClaim)
    assert isinstance(check_claim(Gaussian()), Gaussian)


@pytest.mark.parametrize("claim", [1.0, None, PureDP, "PureDP(1)", PAC(0.1, 0.1)])
def test_an_object_that_is_not_a_privacy_claim_is_refused(claim):
    with pytest.raises(InvalidKind, match=r"^The `claim` must be a privacy claim such as "):
        check_claim(claim)
