"""Learners of numbers and sanitizers refuse bad input in one line."""

import math

import numpy as np
import pytest

from audit.errors import InvalidKind, InvalidValue
from learners.approximate import IntervalLearner, PointLearner
from learners.pure import HashedPointLearner, PureIntervalLearner, PurePointLearner
from learners.sanitizers import GenericSanitizer, IntervalSanitizer, PointSanitizer, SanitizingLearner
from learners.sanitizers.noise import straying

LEARNERS = [PointLearner, IntervalLearner, PurePointLearner, PureIntervalLearner, HashedPointLearner]
LOOSE = {"alpha": 0.5, "epsilon": 2.0, "delta": 0.1, "dimension": 3}


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("database", [None, 5, [0], [(0,)]])
def test_a_learner_refuses_anything_but_a_list_of_pairs(learner, database):
    with pytest.raises(InvalidKind, match=f"A database of `{learner.__name__}` must be a list"):
        learner()(database, np.random.default_rng(0))


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("dimension", [1, 2, 64])
def test_a_learner_refuses_an_example_outside_its_domain_at_any_place(learner, dimension):
    outside = [(2**dimension, 1), (-1, 1), (0, 2), (0, -1)]
    for wrong in (*outside, (1.0, 1), (0, 1.0), (True, 1), (0, True), (math.nan, 0)):
        for database in ([wrong, (0, 1)], [(0, 1), wrong]):
            with pytest.raises(InvalidValue, match=r"An example of .* must be \(x, y\)"):
                learner(dimension=dimension)(database, np.random.default_rng(0))


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("dimension", [1, 2, 64])
def test_every_database_of_the_domain_is_accepted(learner, dimension):
    """A refusal that depends on the records would distinguish neighbours with certainty."""
    last, made = 2**dimension - 1, learner(dimension=dimension)
    for size in (0, 1, 2, 7, 300):
        for rows in ([(0, 0)], [(0, 1)], [(last, 0)], [(last, 1)], [(0, 1), (last, 0)], [(0, 0), (last, 1)]):
            database = (rows * size)[:size]
            answers = [made(database, np.random.default_rng(seed)) for seed in (0, 0)]
            assert answers[0] == answers[1]


@pytest.mark.parametrize("learner", LEARNERS)
def test_numpy_integers_are_integers(learner):
    made = learner(dimension=64)
    mixed = [(np.uint64(2**64 - 1), np.int8(1)), (2**64 - 1, 1)]
    plain = [(2**64 - 1, 1)] * 2
    assert made(mixed, np.random.default_rng(1)) == made(plain, np.random.default_rng(1))


@pytest.mark.parametrize(
    "sanitizer", [PointSanitizer(**LOOSE), IntervalSanitizer(**LOOSE), GenericSanitizer()]
)
@pytest.mark.parametrize("database", [None, 5])
def test_a_sanitizer_refuses_a_database_without_a_length(sanitizer, database):
    with pytest.raises(InvalidKind, match="must be a list or an array"):
        sanitizer(database, np.random.default_rng(0))


def test_the_reduction_refuses_a_database_without_a_length():
    with pytest.raises(InvalidKind, match="must be a list or an array"):
        SanitizingLearner()(None, np.random.default_rng(0))


@pytest.mark.parametrize("sanitizer", [PointSanitizer, IntervalSanitizer])
def test_an_alpha_that_needs_too_many_rounds_is_refused_at_once(sanitizer):
    with pytest.raises(InvalidValue, match=r"`alpha` .* at least 0\.001"):
        sanitizer(alpha=1e-12)


@pytest.mark.parametrize("sanitizer", [PointSanitizer, IntervalSanitizer])
@pytest.mark.parametrize("epsilon", [1e9, 1e300])
def test_an_enormous_epsilon_works(sanitizer, epsilon):
    made = sanitizer(**LOOSE | {"epsilon": epsilon})
    # the largest epsilon for which BNS Lemma 4 holds
    assert made.spending.step <= 16 / (made.choosing_alpha * made.beta)
    assert made.failure_bound(made.sample_size()) <= made.beta


@pytest.mark.parametrize("x", [1e-3, 0.5, 1.0, 4 / 3, 2.0, 50.0])
def test_the_tail_bound_matches_its_exponent_far_out(x):
    t = (math.sqrt(1 + x * x) - 1) / x
    expected = min(1.0, 2 * math.exp(-3 * (x * t + math.log(1 - t * t))))
    assert straying(3 * x, terms=3, rate=1.0) == pytest.approx(expected, rel=1e-9)
    assert straying(1e20 * x, terms=3, rate=1.0) == 0.0


@pytest.mark.parametrize("told", [{"epsilon": 1e-300}, {"alpha": 1e-14}])
def test_a_sample_size_that_is_too_large_is_refused_in_one_line(told):
    with pytest.raises(InvalidValue, match="must allow at most") as refused:
        _ = IntervalLearner(dimension=64, **told).sample_size()
    assert "\n" not in str(refused.value)


def test_the_sample_size_of_a_tiny_alpha_follows_its_promise():
    """For small alpha the sample size is nearly proportional to 1/alpha."""
    large, small = (
        IntervalLearner(dimension=64, alpha=alpha).sample_size() * alpha for alpha in (1e-5, 1e-8)
    )
    assert small == pytest.approx(large, rel=1e-3)


def composed_by_hand(step, delta, many, extra, *, epsilon):
    """Return δ(ε) of private steps by listing all sums of losses.

    There are `many` (step, delta)-private steps and one (extra, 0)-private step.
    """
    up, high = 1 / (1 + math.exp(-step)), 1 / (1 + math.exp(-extra))
    masses = [
        (math.comb(many, i) * up**i * (1 - up) ** (many - i) * share, (2 * i - many) * step + sign * extra)
        for i in range(many + 1)
        for sign, share in ((1, high), (-1, 1 - high))
    ]
    excess = math.fsum(mass * -math.expm1(epsilon - loss) for mass, loss in masses if loss > epsilon)
    return 1 - (1 - delta) ** many * (1 - excess)


@pytest.mark.parametrize("told", [{}, {"alpha": 0.25}, {"epsilon": 0.2, "delta": 1e-9}, {"proper": True}])
def test_the_rounds_of_the_point_sanitizer_cost_what_it_claims(told):
    """Each of k rounds makes a (step, δ/2k)-private choice.

    Noise of rate ε/16 covers the two counts that change by 1.
    """
    made = PointSanitizer(**told)
    assert 2 * made.noise.rate == pytest.approx(made.epsilon / 8)
    step, delta = made.spending.step, made.delta / 2 / made.rounds
    by_sums = made.rounds * step + made.epsilon / 8 <= made.epsilon * (1 + 1e-12)
    found = composed_by_hand(step, delta, made.rounds, made.epsilon / 8, epsilon=made.epsilon)
    assert by_sums or found <= made.delta
    assert found <= made.delta * (1 + 1e-9)


@pytest.mark.parametrize("dimension", [5, 16, 32, 64])
@pytest.mark.parametrize("split", ["fitted", "even"])
def test_the_calls_of_the_interval_learner_add_up_to_what_it_claims(dimension, split):
    made = IntervalLearner(dimension=dimension, split=split)
    calls = made.budgets.claims
    assert len(calls) == 3 * {5: 0, 16: 1, 32: 1, 64: 2}[dimension] + 1
    assert math.fsum(call.epsilon for call in calls) <= 1.0 * (1 + 1e-9)
    assert math.fsum(getattr(call, "delta", 0.0) for call in calls) <= 1e-6 * (1 + 1e-9)
