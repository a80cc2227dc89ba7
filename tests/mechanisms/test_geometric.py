"""The geometric mechanism and its truncated form."""

import math

import numpy as np
import pytest
from scipy import stats

from audit.errors import InvalidKind, InvalidValue
from mechanisms import GeometricMechanism, TruncatedGeometricMechanism

RUNS = 1_000_000


def ones_times(factor):
    return lambda rows: factor * sum(rows)


@pytest.mark.parametrize("kind", [GeometricMechanism, TruncatedGeometricMechanism])
@pytest.mark.parametrize("epsilon", [1e-3, math.log(2), 5.0])
@pytest.mark.parametrize("sensitivity", [1, 3])
def test_the_worst_pair_loses_exactly_epsilon(kind, epsilon, sensitivity, loss, pairs_of):
    mechanism = kind(epsilon=epsilon, query=ones_times(sensitivity), sensitivity=sensitivity, size=2)
    losses = [loss(mechanism.distribution(a), mechanism.distribution(b)) for a, b in pairs_of(mechanism)]
    assert max(losses) == pytest.approx(epsilon, rel=1e-12)


@pytest.mark.parametrize("upper", [1, 2, 5, 20])
def test_clamping_costs_nothing_at_any_width(upper, loss, pairs_of):
    mechanism = TruncatedGeometricMechanism(epsilon=math.log(2), upper=upper, size=4)
    losses = [loss(mechanism.distribution(a), mechanism.distribution(b)) for a, b in pairs_of(mechanism)]
    assert max(losses) == pytest.approx(math.log(2), rel=1e-12)


@pytest.mark.parametrize("answer", [-7, 0, 2, 4, 9])
def test_the_truncated_law_puts_both_tails_at_the_ends(answer):
    mechanism = TruncatedGeometricMechanism(epsilon=0.8, query=lambda rows: answer, upper=4)
    law, noise = mechanism.distribution([0]), stats.dlaplace(0.8, loc=answer)
    expected = [noise.cdf(0), noise.pmf(1), noise.pmf(2), noise.pmf(3), noise.sf(3)]
    assert [law.pmf(k) for k in range(5)] == pytest.approx(expected, rel=1e-10)
    assert law.pmf(-1) == law.pmf(5) == 0


def test_sensitivity_divides_the_rate():
    law = GeometricMechanism(epsilon=1.2, sensitivity=3, query=ones_times(3)).distribution([1, 0, 0])
    assert law.pmf(5) == pytest.approx(stats.dlaplace(0.4, loc=3).pmf(5), rel=1e-12)


@pytest.mark.parametrize("draw", ["sample", "call"])
@pytest.mark.parametrize("kind", [GeometricMechanism, TruncatedGeometricMechanism])
def test_outputs_follow_the_law_of_scipy(kind, draw, agreement, shares):
    # `test_noise` states the power of this comparison
    mechanism, database, rng = kind(epsilon=0.5), [1, 0, 1], np.random.default_rng(31)
    outputs = (
        mechanism.sample(database, RUNS, rng)
        if draw == "sample"
        else np.array([mechanism(database, rng) for _ in range(20_000)])
    )
    low, high = (0, 3) if kind is TruncatedGeometricMechanism else (-100, 104)
    noise = stats.dlaplace(0.5, loc=2)
    cells = [noise.cdf(low), *noise.pmf(np.arange(low + 1, high)), noise.sf(high - 1)]
    assert agreement(shares(outputs, range(low, high + 1)), cells) > 1e-9


def test_run_i_draws_the_same_noise_on_every_database():
    left, right = (
        GeometricMechanism().sample(rows, 1000, np.random.default_rng(32)) for rows in ([0, 0], [1, 0])
    )
    assert (right - left == 1).all()
    low, high = (
        TruncatedGeometricMechanism(upper=5).sample(rows, 1000, np.random.default_rng(32))
        for rows in ([0, 0], [1, 0])
    )
    assert (low == np.clip(left, 0, 5)).all()
    assert (high == np.clip(right, 0, 5)).all()


def test_one_call_gives_an_int():
    assert type(GeometricMechanism()([0, 1], np.random.default_rng(0))) is int
    assert type(TruncatedGeometricMechanism()([0, 1], np.random.default_rng(0))) is int


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("beta", [1e-3, 0.3])
def test_the_error_bound_holds_and_no_smaller_one_does(epsilon, beta):
    mechanism = GeometricMechanism(epsilon=epsilon)
    law, bound = mechanism.distribution([1, 0, 1]), mechanism.error_bound(beta)
    assert law.cdf(2 - bound - 1) + law.sf(2 + bound) <= beta
    assert bound == 0 or law.cdf(2 - bound) + law.sf(2 + bound - 1) > beta


@pytest.mark.parametrize("answer", [-3, 0, 2, 6])
def test_clamping_moves_no_answer_away_from_the_clamped_truth(answer):
    mechanism = TruncatedGeometricMechanism(epsilon=0.4, query=lambda rows: answer, upper=4)
    law, truth = mechanism.distribution([]), min(max(answer, 0), 4)
    for beta in (0.01, 0.2, 0.7):
        bound = mechanism.error_bound(beta)
        assert sum(law.pmf(k) for k in range(5) if abs(k - truth) > bound) <= beta


@pytest.mark.parametrize("answer", [1.0, "1", None, math.nan])
def test_an_answer_that_is_not_an_integer_is_refused(answer):
    with pytest.raises(InvalidKind, match="answer of the query of `GeometricMechanism` must be an integer"):
        GeometricMechanism(query=lambda rows: answer).distribution([0])


def test_an_answer_beyond_exact_floats_is_refused():
    assert GeometricMechanism(query=lambda rows: 2**53).answer([0]) == 2**53
    with pytest.raises(InvalidValue, match=r"must be at most 2\^53"):
        GeometricMechanism(query=lambda rows: -(2**53) - 1).answer([0])


@pytest.mark.parametrize("bad", [0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("kind", [GeometricMechanism, TruncatedGeometricMechanism])
def test_an_epsilon_without_privacy_is_refused(kind, bad):
    with pytest.raises(InvalidValue, match=f"The `epsilon` of `{kind.__name__}` must be a finite number > 0"):
        kind(epsilon=bad)


def test_a_fractional_or_zero_sensitivity_is_refused():
    with pytest.raises(InvalidKind, match="`sensitivity`"):
        GeometricMechanism(sensitivity=0.5)
    with pytest.raises(InvalidValue, match="`sensitivity`"):
        GeometricMechanism(sensitivity=0)


def test_an_empty_range_is_refused():
    with pytest.raises(InvalidValue, match="The `upper` of `TruncatedGeometricMechanism`"):
        TruncatedGeometricMechanism(upper=0)
