"""The guarantees of the catalogue as exact properties of drawn databases.

Hypothesis draws the databases from domains that are too large to enumerate.
"""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit import PureDP, Relation, assert_private, strategies
from learners import ParityLearner
from mechanisms import (
    ExponentialMechanism,
    GeometricMechanism,
    LaplaceMechanism,
    PostProcessed,
    RandomizedResponse,
    Sequential,
    StableSelection,
)

FEW = settings(
    max_examples=15, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
)
EPSILONS = st.floats(0.125, 4.0)
BITS = [0, 1]


@pytest.mark.parametrize(
    ("made", "records", "size"),
    [
        (lambda epsilon: LaplaceMechanism(epsilon=epsilon), BITS, (1, 40)),
        (lambda epsilon: GeometricMechanism(epsilon=epsilon), BITS, (1, 40)),
        (lambda epsilon: ExponentialMechanism(epsilon=epsilon), None, (1, 40)),
        (lambda epsilon: RandomizedResponse(epsilon=epsilon), BITS, 1),
        (lambda epsilon: StableSelection(epsilon=epsilon), None, (1, 12)),
        (lambda epsilon: ParityLearner(dimension=3, epsilon=min(epsilon, 1.0)), None, (1, 9)),
    ],
    ids=["laplace", "geometric", "exponential", "randomized-response", "stable-selection", "parity"],
)
def test_any_neighbours_keep_the_claim_at_any_epsilon(made, records, size):
    default = made(1.0)
    pairs = strategies.neighbours(
        default.relation, records=default.records if records is None else records, size=size
    )

    @FEW
    @given(EPSILONS, pairs)
    def check(epsilon, pair):
        assert_private(made(epsilon), pair)

    check()


def test_the_order_of_the_records_does_not_matter_to_a_symmetric_learner():
    learner = ParityLearner(dimension=2, epsilon=1.0)
    databases = strategies.databases(records=learner.records, size=(1, 6))

    @FEW
    @given(databases.flatmap(lambda rows: st.tuples(st.just(rows), st.permutations(rows))))
    def check(pair):
        assert_private(learner, pair, PureDP(epsilon=0.0))

    check()


def test_post_processing_keeps_the_claim():
    part = ExponentialMechanism(epsilon=1.0)
    pairs = strategies.neighbours(part.relation, records=part.records, size=(1, 8))

    @FEW
    @given(pairs, st.lists(st.integers(0, 2), min_size=16, max_size=16))
    def check(pair, table):
        processed = PostProcessed(part=part, function=lambda letter: table["abcdefghijklmnop".index(letter)])
        assert_private(processed, pair)

    check()


def test_databases_k_steps_apart_keep_the_group_claim():
    part = GeometricMechanism(epsilon=0.5)

    @FEW
    @given(strategies.databases(records=BITS, size=(1, 12)), st.data())
    def check(left, data):
        steps = data.draw(st.integers(1, len(left)))
        right = [1 - bit if place < steps else bit for place, bit in enumerate(left)]
        assert_private(part, (left, right), part.claim.group(steps))

    check()


def test_the_claims_of_sequential_parts_add_up():
    @FEW
    @given(strategies.neighbours(Relation.REPLACE_ONE, records=BITS, size=(1, 20)), EPSILONS, EPSILONS)
    def check(pair, first, second):
        parts = [GeometricMechanism(epsilon=first), LaplaceMechanism(epsilon=second)]
        both = Sequential(parts=parts)
        assert both.claim.epsilon == pytest.approx(first + second)
        assert_private(both, pair)

    check()


def test_a_group_claim_that_is_one_step_short_fails():
    part = GeometricMechanism(epsilon=0.5)
    with pytest.raises(AssertionError, match="breaks PureDP"):
        assert_private(part, ([0] * 3, [1] * 3), part.claim.group(2))
