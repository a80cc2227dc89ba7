"""The noisy mean of values in [0, b]."""

import math

import numpy as np
import pytest
from scipy import stats

from audit.errors import InvalidKind, InvalidValue
from mechanisms import LaplaceMean


@pytest.mark.parametrize(
    ("epsilon", "upper", "size"), [(1.0, 1.0, 5), (0.1, 30.0, 2), (7.0, 0.3, 6), (0.5, 1e-4, 1)]
)
def test_the_worst_pair_loses_exactly_epsilon(epsilon, upper, size, loss, pairs_of):
    mechanism = LaplaceMean(epsilon=epsilon, upper=upper, size=size)
    losses = [loss(mechanism.distribution(a), mechanism.distribution(b)) for a, b in pairs_of(mechanism)]
    assert max(losses) == pytest.approx(epsilon, rel=1e-12)


def test_clamping_keeps_the_loss_at_epsilon_for_all_records(loss, pairs_of):
    mechanism = LaplaceMean(epsilon=0.4, upper=2.0, size=2, clamp=True)
    assert any(math.isnan(record) for record in mechanism.records)
    losses = [loss(mechanism.distribution(a), mechanism.distribution(b)) for a, b in pairs_of(mechanism)]
    assert max(losses) == pytest.approx(0.4, rel=1e-12)


def test_the_noise_is_the_density_of_definition_2():
    mechanism = LaplaceMean(epsilon=2.0, upper=3.0, size=4)
    rate = 2.0 * 4 / 3.0  # alpha·n/b, which the definition calls the scale
    for x in (-1.0, 0.2, 5.0):
        expected = rate / 2 * math.exp(-abs(x) * rate)
        assert mechanism.distribution([0, 3, 3, 0]).pdf(1.5 + x) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("draw", ["sample", "call"])
def test_outputs_follow_scipys_law_around_the_mean(draw, agreement):
    # power: see test_laplace
    mechanism, database, rng = (
        LaplaceMean(epsilon=0.5, upper=10.0, size=4),
        [10.0, 0.0, 2.5, 7.5],
        np.random.default_rng(21),
    )
    outputs = (
        mechanism.sample(database, 1_000_000, rng)
        if draw == "sample"
        else np.array([mechanism(database, rng) for _ in range(20_000)])
    )
    edges = stats.laplace(loc=5.0, scale=5.0).ppf(np.arange(1, 16) / 16)
    counts = np.bincount(np.searchsorted(edges, outputs), minlength=16)
    assert agreement(counts, np.full(16, 1 / 16)) > 1e-9


def test_run_i_draws_the_same_noise_on_every_database():
    mechanism = LaplaceMean(size=2)
    left, right = (mechanism.sample(rows, 1000, np.random.default_rng(22)) for rows in ([0, 0], [1, 0]))
    assert mechanism.aligned
    assert np.abs(right - left - 0.5).max() < 1e-12


@pytest.mark.parametrize("beta", [1e-6, 0.05, 0.5])
def test_the_error_bound_of_theorem_3_holds_with_equality(beta):
    mechanism = LaplaceMean(epsilon=0.5, upper=2.0, size=3)
    bound = mechanism.error_bound(beta)
    assert bound == pytest.approx(2.0 / (0.5 * 3) * math.log(1 / beta), rel=1e-12)
    law = mechanism.distribution([0.0, 1.0, 2.0])
    assert law.cdf(1.0 - bound) + law.sf(1.0 + bound) == pytest.approx(beta, rel=1e-9)


@pytest.mark.parametrize("bad", [-1e-9, 1.0000001, 7, math.nan, math.inf, -math.inf])
def test_a_value_out_of_range_is_refused(bad):
    mechanism = LaplaceMean(size=2)
    for use in (mechanism.distribution, lambda rows: mechanism(rows, np.random.default_rng(0))):
        with pytest.raises(InvalidValue, match=r"Values of `LaplaceMean` must lie in \[0, 1\]"):
            use([0.5, bad])
    with pytest.raises(InvalidValue, match="clamp=True"):
        mechanism.sample([bad, 0.5], 3, np.random.default_rng(0))


def test_the_ends_of_the_range_are_inside():
    assert LaplaceMean(size=4, upper=3.0).answer([0, 3.0, -0.0, np.float64(3.0)]) == 1.5


@pytest.mark.parametrize(
    ("value", "counts_as"),
    [(-5.0, 0.0), (2.5, 1.0), (math.nan, 0.0), (math.inf, 1.0), (-math.inf, 0.0), (0.25, 0.25)],
)
def test_clamping_moves_a_value_to_the_nearest_end(value, counts_as):
    assert LaplaceMean(size=2, clamp=True).answer([value, 0.0]) == counts_as / 2


@pytest.mark.parametrize("database", [[], [0.5], [0.5] * 3, [[0.5, 0.5]], 0.5])
def test_a_database_of_another_size_is_refused(database):
    with pytest.raises(InvalidValue, match="must hold 2 numbers"):
        LaplaceMean(size=2).answer(database)


@pytest.mark.parametrize("database", [["0.5", 0.5], [None, 0.5], "ab", [[1], [1, 2]], [1j, 0.5]])
@pytest.mark.parametrize("clamp", [False, True])
def test_records_that_are_not_numbers_are_refused_with_and_without_clamping(database, clamp):
    with pytest.raises(InvalidKind, match="records of `LaplaceMean` must be real numbers"):
        LaplaceMean(size=2, clamp=clamp).answer(database)


def test_arrays_tuples_and_booleans_are_read_as_numbers():
    mechanism = LaplaceMean(size=2)
    assert mechanism.answer(np.array([0.0, 1.0], dtype=np.float32)) == mechanism.answer((True, False)) == 0.5


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf])
@pytest.mark.parametrize("name", ["epsilon", "upper"])
def test_parameters_without_privacy_are_refused(name, bad):
    with pytest.raises(InvalidValue, match=f"The `{name}` of `LaplaceMean` must be a finite number > 0"):
        LaplaceMean(**{name: bad})


def test_an_empty_mean_is_refused():
    with pytest.raises(InvalidValue, match="The `size` of `LaplaceMean` must be a whole number ≥ 1; got 0"):
        LaplaceMean(size=0)
