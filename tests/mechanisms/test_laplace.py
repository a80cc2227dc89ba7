"""The Laplace mechanism for numbers and vectors."""

import math

import numpy as np
import pytest
from scipy import stats

from audit.claims import PureDP
from audit.errors import InvalidKind, InvalidValue
from audit.relations import Relation
from mechanisms import LaplaceHistogram, LaplaceMechanism
from mechanisms.queries import Histogram

RUNS = 1_000_000


@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 1.0, 20.0])
@pytest.mark.parametrize("sensitivity", [1, 2.5])
def test_the_worst_pair_loses_exactly_epsilon(epsilon, sensitivity, loss, pairs_of):
    mechanism = LaplaceMechanism(
        epsilon=epsilon,
        sensitivity=sensitivity,
        records=(0.0, sensitivity),
        size=2,
        query=sum,
    )
    losses = [loss(mechanism.distribution(a), mechanism.distribution(b)) for a, b in pairs_of(mechanism)]
    assert max(losses) == pytest.approx(epsilon, rel=1e-12)


def test_a_histogram_loses_epsilon_if_a_record_is_added_or_removed(loss, pairs_of):
    mechanism = LaplaceHistogram(epsilon=0.7)
    losses = [loss(mechanism.distribution(a), mechanism.distribution(b)) for a, b in pairs_of(mechanism)]
    assert losses == pytest.approx([0.7] * len(losses), rel=1e-12)


def test_a_histogram_needs_sensitivity_two_if_a_record_is_replaced(loss, pairs_of):
    mechanism = LaplaceMechanism(
        epsilon=0.7, query=Histogram(3), dimension=3, sensitivity=2, records=(0, 1, 2), size=2
    )
    losses = [loss(mechanism.distribution(a), mechanism.distribution(b)) for a, b in pairs_of(mechanism)]
    assert max(losses) == pytest.approx(0.7, rel=1e-12)


def test_the_scale_is_sensitivity_over_epsilon_not_the_rate():
    # B Definition 2 prints the rate epsilon/sensitivity as "scale"
    mechanism = LaplaceMechanism(epsilon=0.5, sensitivity=3.0)
    assert mechanism.scale == 6.0
    law = mechanism.distribution([1, 1, 0])
    assert law.logpdf(0.0) == pytest.approx(stats.laplace(loc=2.0, scale=6.0).logpdf(0.0), abs=1e-12)


@pytest.mark.parametrize("draw", ["sample", "call"])
def test_outputs_follow_scipys_law_around_the_answer(draw, agreement):
    mechanism, database = LaplaceMechanism(epsilon=0.5), [1, 0, 1]
    rng = np.random.default_rng(11)
    if draw == "sample":
        outputs = mechanism.sample(database, RUNS, rng)
    else:
        outputs = np.array([mechanism(database, rng) for _ in range(20_000)])
    edges = stats.laplace(loc=2.0, scale=2.0).ppf(np.arange(1, 16) / 16)
    counts = np.bincount(np.searchsorted(edges, outputs), minlength=16)
    assert agreement(counts, np.full(16, 1 / 16)) > 1e-9


def test_the_comparison_of_single_calls_detects_an_answer_off_by_half(power):
    edges = np.concatenate([[-np.inf], stats.laplace(scale=2.0).ppf(np.arange(1, 16) / 16), [np.inf]])
    wrong = np.diff(stats.laplace(loc=0.5, scale=2.0).cdf(edges))
    assert power(wrong, np.full(16, 1 / 16), 20_000) > 0.99


def test_coordinates_carry_independent_noise_of_the_same_scale():
    outputs = LaplaceHistogram(epsilon=1.0).sample([0, 0, 2], RUNS, np.random.default_rng(12))
    assert outputs.shape == (RUNS, 3)
    assert np.abs(outputs.mean(axis=0) - [2, 0, 1]).max() < 7 * math.sqrt(
        2 / RUNS
    )  # 7 standard errors: for each cell the false alarm probability is 3e-12
    assert np.abs(np.corrcoef(outputs.T) - np.eye(3)).max() < 7 / math.sqrt(RUNS)


def test_coordinates_of_one_call_carry_independent_noise():
    mechanism, rng = LaplaceHistogram(epsilon=1.0), np.random.default_rng(14)
    outputs = np.array([mechanism([0, 0, 2], rng) for _ in range(5000)])
    assert np.abs(outputs.mean(axis=0) - [2, 0, 1]).max() < 7 * math.sqrt(2 / 5000)
    assert np.abs(np.corrcoef(outputs.T) - np.eye(3)).max() < 7 / math.sqrt(5000)


def test_run_i_draws_the_same_noise_on_every_database():
    for mechanism, left, right in (
        (LaplaceMechanism(), [0, 0, 0], [1, 0, 0]),
        (LaplaceHistogram(), [0], [0, 2]),
    ):
        assert mechanism.aligned
        outputs = [mechanism.sample(database, 1000, np.random.default_rng(13)) for database in (left, right)]
        moved = mechanism.answer(right) - mechanism.answer(left)
        assert np.abs(outputs[1] - outputs[0] - moved).max() < 1e-12


@pytest.mark.parametrize("beta", [1e-3, 0.3])
def test_the_error_bound_is_exceeded_with_probability_beta(beta):
    scalar = LaplaceMechanism(epsilon=0.5)
    law = scalar.distribution([1, 0, 0])
    bound = scalar.error_bound(beta)
    assert law.cdf(1.0 - bound) + law.sf(1.0 + bound) == pytest.approx(beta, rel=1e-9)
    assert bound == pytest.approx(2.0 * math.log(1 / beta))  # BNS Theorem 1
    vector = LaplaceHistogram(epsilon=0.5)
    inside = 1 - math.exp(-vector.error_bound(beta) * 0.5)
    assert 1 - inside**3 == pytest.approx(beta, rel=1e-9)


def test_the_suggested_pair_moves_the_answer_furthest():
    mechanism = LaplaceMechanism(records=(0, 1, 7), sensitivity=7, size=2)
    left, right = mechanism.suggested_pairs()[0]
    assert Relation.REPLACE_ONE.are_neighbours(left, right)
    assert abs(sum(left) - sum(right)) == 7


def test_the_claim_is_pure():
    assert LaplaceMechanism(epsilon=0.25).claim == PureDP(0.25)


@pytest.mark.parametrize("bad", [0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("name", ["epsilon", "sensitivity"])
def test_parameters_without_privacy_are_refused_in_one_line(name, bad):
    with pytest.raises(InvalidValue, match=f"The `{name}` of `LaplaceMechanism` must be a finite number > 0"):
        LaplaceMechanism(**{name: bad})


def test_a_sensitivity_over_epsilon_that_is_not_a_scale_is_refused():
    with pytest.raises(InvalidValue, match="scale"):
        LaplaceMechanism(epsilon=1e-300, sensitivity=1e300)


@pytest.mark.parametrize(
    ("query", "dimension"),
    [
        (lambda rows: math.nan, None),
        (lambda rows: math.inf, None),
        (lambda rows: [1.0, 2.0], None),
        (lambda rows: 1.0, 2),
        (lambda rows: [1.0], 2),
        (lambda rows: [1.0, math.nan], 2),
    ],
)
def test_an_answer_without_the_declared_shape_or_not_finite_is_refused(query, dimension):
    mechanism = LaplaceMechanism(query=query, dimension=dimension)
    with pytest.raises(InvalidValue, match="answer of the query of `LaplaceMechanism`"):
        mechanism([0], np.random.default_rng(0))


@pytest.mark.parametrize("answer", [None, "3", ["1", 2], [[1], [1, 2]], 1j])
def test_an_answer_that_is_not_a_number_is_refused(answer):
    with pytest.raises(InvalidKind, match="answer of the query"):
        LaplaceMechanism(query=lambda rows: answer)([0], np.random.default_rng(0))


def test_a_histogram_refuses_a_record_outside_its_bins():
    with pytest.raises(InvalidValue, match="must be one of 0 … 2; got 3"):
        LaplaceHistogram().answer([0, 3])
