"""Randomized response, binary and among k answers."""

import math

import numpy as np
import pytest
from scipy import stats

from audit.errors import InvalidKind, InvalidValue
from audit.relations import Relation
from mechanisms import KaryRandomizedResponse, RandomizedResponse

RUNS = 100_000


def test_warners_survey_tells_the_truth_with_probability_two_thirds_at_epsilon_ln_2():
    response = RandomizedResponse()
    assert response.claim.epsilon == math.log(2)
    assert response.distribution([1]).pmf(1) == pytest.approx(2 / 3, rel=1e-12)
    assert response.distribution([0]).pmf(1) == pytest.approx(1 / 3, rel=1e-12)


@pytest.mark.parametrize("epsilon", [1e-3, math.log(3), 5.0, 800.0])
@pytest.mark.parametrize("size", [1, 3])
def test_binary_response_loses_exactly_epsilon(epsilon, size, loss, pairs_of):
    response = RandomizedResponse(epsilon=epsilon, size=size)
    losses = [loss(response.distribution(a), response.distribution(b)) for a, b in pairs_of(response)]
    assert losses == pytest.approx([epsilon] * len(losses), rel=1e-12)


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 5.0, 800.0])
@pytest.mark.parametrize("categories", [2, 3, 10])
def test_kary_response_loses_exactly_epsilon(epsilon, categories, loss, pairs_of):
    response = KaryRandomizedResponse(epsilon=epsilon, categories=categories)
    losses = [loss(response.distribution(a), response.distribution(b)) for a, b in pairs_of(response)]
    assert losses == pytest.approx([epsilon] * len(losses), rel=1e-12)


def test_kary_probabilities_are_the_closed_form():
    law = KaryRandomizedResponse(epsilon=1.3, categories=5).distribution([2])
    total = math.exp(1.3) + 4
    expected = [math.exp(1.3) / total if report == 2 else 1 / total for report in range(5)]
    assert [law.pmf(report) for report in range(5)] == pytest.approx(expected, rel=1e-12)


def test_one_respondent_has_the_local_relation_and_a_survey_the_replacing_one():
    assert RandomizedResponse().relation is Relation.LOCAL
    assert RandomizedResponse(size=4).relation is Relation.REPLACE_ONE


@pytest.mark.parametrize("draw", ["sample", "call"])
@pytest.mark.parametrize("truth", [0, 2])
def test_reports_follow_the_closed_form(draw, truth, agreement, shares):
    response, rng = KaryRandomizedResponse(epsilon=1.0, categories=4), np.random.default_rng(51)
    outputs = (
        response.sample([truth], RUNS, rng)
        if draw == "sample"
        else [response([truth], rng) for _ in range(20_000)]
    )
    expected = np.full(4, 1 / (math.e + 3))
    expected[truth] = math.e / (math.e + 3)
    assert agreement(shares(outputs, range(4)), expected) > 1e-9


def test_that_comparison_detects_a_truth_probability_off_by_a_twentieth(power):
    right = np.array([math.e, 1, 1, 1]) / (math.e + 3)
    for size, excess in ((RUNS, 0.02), (20_000, 0.05)):
        wrong = np.array([right[0] + excess, *(right[1:] - excess / 3)])
        assert power(wrong, right, size) > 0.99


def test_respondents_of_a_survey_answer_independently(agreement, shares):
    outputs = RandomizedResponse(size=2).sample([1, 0], RUNS, np.random.default_rng(52))
    assert outputs.shape == (RUNS, 2)
    joint = (2 * outputs[:, 0] + outputs[:, 1]).tolist()
    assert agreement(shares(joint, range(4)), np.array([2, 1, 4, 2]) / 9) > 1e-9


def test_a_survey_reports_an_array_and_one_respondent_a_number():
    rng = np.random.default_rng(53)
    assert type(RandomizedResponse()([1], rng)) is int
    assert RandomizedResponse(size=3)([1, 0, 1], rng).shape == (3,)


def test_run_i_uses_the_same_draws_on_every_database():
    binary = [RandomizedResponse().sample([bit], 1000, np.random.default_rng(54)) for bit in (0, 1)]
    assert (binary[0] != binary[1]).all()
    kary = [KaryRandomizedResponse(categories=5).sample([k], 1000, np.random.default_rng(54)) for k in (1, 4)]
    assert ((kary[1] - kary[0]) % 5 == 3).all()
    survey = [
        RandomizedResponse(size=3).sample(row, 1000, np.random.default_rng(54))
        for row in ([0, 1, 0], [0, 1, 1])
    ]
    assert (survey[0][:, :2] == survey[1][:, :2]).all()
    assert (survey[0][:, 2] != survey[1][:, 2]).all()


def test_the_estimate_is_unbiased():
    # the expectation over the exact law of the report counts, for 6 respondents of whom 4 are ones
    response = RandomizedResponse(epsilon=0.8)
    ones, zeros = stats.binom(4, response.truth), stats.binom(2, 1 - response.truth)
    mean = sum(
        ones.pmf(i) * zeros.pmf(j) * response.proportion([1] * (i + j) + [0] * (6 - i - j))
        for i in range(5)
        for j in range(3)
    )
    assert mean == pytest.approx(4 / 6, rel=1e-12)


def test_the_kary_estimate_inverts_the_expected_shares():
    response = KaryRandomizedResponse(epsilon=math.log(2), categories=3)  # truth 1/2, others 1/4
    # true shares 1/2, 1/4, 1/4 give expected reports 3/8, 5/16, 5/16
    reports = [0] * 6 + [1] * 5 + [2] * 5
    assert response.estimate(reports) == pytest.approx([1 / 2, 1 / 4, 1 / 4], rel=1e-12)


def test_the_standard_error_matches_the_binomial():
    response = RandomizedResponse(epsilon=0.8, size=6)
    counts = stats.binom(6, response.truth)  # all six are ones
    values = np.array([response.proportion([1] * k + [0] * (6 - k)) for k in range(7)])
    mean = (counts.pmf(range(7)) * values).sum()
    variance = (counts.pmf(range(7)) * (values - mean) ** 2).sum()
    assert response.standard_error() == pytest.approx(math.sqrt(variance), rel=1e-9)


@pytest.mark.parametrize("beta", [0.01, 0.2])
@pytest.mark.parametrize("ones", [0, 15, 30])
def test_the_error_bound_holds_for_the_exact_law_of_the_estimate(beta, ones):
    response = RandomizedResponse(epsilon=1.5, size=30)
    counts = np.convolve(
        stats.binom(ones, response.truth).pmf(np.arange(ones + 1)),
        stats.binom(30 - ones, 1 - response.truth).pmf(np.arange(31 - ones)),
    )
    errors = [abs(response.proportion([1] * k + [0] * (30 - k)) - ones / 30) for k in range(31)]
    failure = sum(p for p, error in zip(counts, errors, strict=True) if error > response.error_bound(beta))
    assert 0 < failure <= beta


def test_the_kary_error_bound_covers_all_components():
    response = KaryRandomizedResponse(epsilon=2.0, categories=3, size=12)
    bound, failure = response.error_bound(0.1), 0.0
    law = stats.multinomial(12, [response.truth, (1 - response.truth) / 2, (1 - response.truth) / 2])
    for i in range(13):
        for j in range(13 - i):
            estimate = response.estimate([0] * i + [1] * j + [2] * (12 - i - j))
            failure += law.pmf([i, j, 12 - i - j]) * (np.abs(estimate - [1, 0, 0]).max() > bound)
    assert failure <= 0.1


@pytest.mark.parametrize("record", [2, -1, 0.5, "0", None, math.nan])
def test_a_record_outside_the_answers_is_refused(record):
    with pytest.raises(InvalidValue, match="A record of `RandomizedResponse` must be one of 0 … 1; got"):
        RandomizedResponse()([record], np.random.default_rng(0))


def test_an_empty_survey_is_refused():
    with pytest.raises(InvalidValue, match="got no record"):
        RandomizedResponse().distribution([])


def test_booleans_are_valid_answers():
    assert RandomizedResponse().answers([True, False]).tolist() == [1, 0]


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf])
@pytest.mark.parametrize("kind", [RandomizedResponse, KaryRandomizedResponse])
def test_an_epsilon_without_privacy_is_refused(kind, bad):
    with pytest.raises(InvalidValue, match=f"The `epsilon` of `{kind.__name__}` must be a finite number > 0"):
        kind(epsilon=bad)


def test_fewer_than_two_answers_are_refused():
    with pytest.raises(
        InvalidValue, match="The `categories` of `KaryRandomizedResponse` must be a whole number ≥ 2"
    ):
        KaryRandomizedResponse(categories=1)
    with pytest.raises(InvalidKind, match="`categories`"):
        KaryRandomizedResponse(categories=2.5)
