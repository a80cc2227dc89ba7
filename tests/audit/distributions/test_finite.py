"""Finite laws and products."""

import math

import numpy as np
import pytest
from scipy import stats

from audit.distributions import Countable, Density, Finite, Product
from audit.errors import InvalidKind, InvalidValue
from audit.values.outcomes import Raised


def test_outcomes_are_compared_as_the_toolkit_compares_values():
    law = Finite([1, True, "1", (1,), None, Raised("ValueError", "no")], [0.5, 0.1, 0.1, 0.1, 0.1, 0.1])
    assert law.pmf(1.0) == 0.5
    assert law.pmf(np.int64(1)) == 0.5
    assert law.pmf(np.True_) == pytest.approx(0.1)
    assert law.pmf([1]) == 0.0
    assert law.pmf(Raised("ValueError", "no")) == pytest.approx(0.1)


def test_a_million_outcomes_need_no_loop():
    law = Finite(range(10**6), np.full(10**6, 1e-6))
    draws = law.sample(10**5, np.random.default_rng(0))
    assert isinstance(draws, np.ndarray)
    assert (law.locate(draws) == draws).all()
    assert law.cdf(499_999) == pytest.approx(0.5, rel=1e-12)


def test_probabilities_far_below_the_smallest_float_are_kept():
    law = Finite("abc", log_probabilities=[0.0, -5000.0, -math.inf])
    assert law.logpmf("b") == -5000.0
    assert list(law.support()) == ["a", "b"]


def test_tails_of_numbers_keep_their_digits():
    logs = -np.arange(2000.0)
    logs = logs - np.log(np.exp(logs).sum())
    law = Finite(range(2000), log_probabilities=logs)
    # Pr[k > 999] of this geometric law is Σ_{k ≥ 1000} exp(−k), cut at the 2000th term and scaled.
    assert law.logsf(999) == pytest.approx(-1000.0, rel=1e-12)


@pytest.mark.parametrize(
    ("outcomes", "probabilities", "words"),
    [
        ("ab", [0.5, 0.5 + 1e-8], "sum to 1"),
        ("ab", [1.5, -0.5], "negative"),
        ("ab", [math.nan, 1.0], "NaN"),
        ("ab", [1.0], "shape"),
        ([1, 1.0], [0.5, 0.5], "distinct"),
        ([(1,), (1,)], [0.5, 0.5], "distinct"),
        (np.array([2, 2]), [0.5, 0.5], "distinct"),
    ],
)
def test_an_invalid_law_is_refused(outcomes, probabilities, words):
    with pytest.raises(InvalidValue, match=words):
        Finite(outcomes, probabilities)


def test_rounding_in_the_sum_is_accepted():
    tenths, halves = Finite(range(10), [0.1] * 10), Finite("ab", [0.5, 0.5 + 5e-10])
    assert tenths.pmf(3) == pytest.approx(0.1, abs=1e-15)
    assert halves.pmf("b") == pytest.approx(0.5, abs=1e-9)


def test_samples_have_the_declared_frequencies_and_no_impossible_outcome():
    """Chi-square test at significance 1e-8."""
    law = Finite(["a", "never", "b", "c"], [0.5, 0.0, 0.3, 0.2])
    draws = law.sample(20_000, np.random.default_rng(1))
    counts = [draws.count(outcome) for outcome in ("a", "b", "c")]
    assert sum(counts) == 20_000
    assert stats.chisquare(counts, [10_000, 6000, 4000]).pvalue > 1e-8


def test_clamped_geometric_noise_has_the_tails_in_its_ends():
    law, theirs = Finite.from_clamped(Countable.geometric(2, 1.0), 0, 5), stats.dlaplace(1.0, loc=2)
    expected = [theirs.cdf(0), *theirs.pmf(np.arange(1, 5)), theirs.sf(4)]
    np.testing.assert_allclose(np.exp(law.log_probabilities), expected, rtol=1e-12)


def test_clamped_to_one_number_is_that_number():
    assert Finite.from_clamped(Countable.geometric(0, 1.0), 3, 3) == Finite(range(3, 4), [1.0])
    with pytest.raises(InvalidValue, match=r"needs low <= high; got 3 and 2"):
        Finite.from_clamped(Countable.geometric(0, 1.0), 3, 2)


def test_a_law_moved_by_its_rounding_does_not_depend_on_earlier_queries():
    def law():
        return Finite([0, 1, 2], [0.5, 0.5 - 2.0**-51, 2.0**-51])

    asked = law()
    asked.sf(1), asked.sample(1, np.random.default_rng(0)), asked.locate([1])
    for sign in (-1, +1):
        assert asked.extreme(sign).sf(1) == law().extreme(sign).sf(1) == law().extreme(sign).pmf(2)
        drawn = [each.extreme(sign).bins(2).log_probabilities.tolist() for each in (asked, law())]
        assert drawn[0] == drawn[1]


def test_equal_laws_have_one_hash():
    plus, minus = (Finite(["a"], log_probabilities=[zero]) for zero in (0.0, -0.0))
    assert plus == minus
    assert len({plus, minus}) == 1


def test_a_cdf_of_words_is_refused():
    with pytest.raises(InvalidKind, match="numbers"):
        Finite("ab", [0.5, 0.5]).cdf(0.0)


def test_integers_beyond_float_precision_stay_apart():
    law = Finite([2**64, 2**64 + 1], [0.25, 0.75])
    assert law.pmf(2**64) == 0.25
    assert law.pmf(2**64 + 1) == 0.75


def test_a_batch_of_rows_is_matched_with_tuples():
    law = Finite([(0, 1), (1, 0)], [0.5, 0.5])
    assert law.locate(np.array([[1, 0], [0, 1], [1, 1]])).tolist() == [1, 0, -1]


def test_a_product_multiplies():
    law = Product([Density.laplace(0.0, 1.0), Density.normal(1.0, 2.0)])
    expected = stats.laplace.logpdf(0.3) + stats.norm(1.0, 2.0).logpdf(-4.0)
    assert law.logpdf((0.3, -4.0)) == pytest.approx(expected, rel=1e-14)
    coin = Finite("ab", [0.25, 0.75])
    assert Product([coin, coin]).pmf(("a", "b")) == pytest.approx(0.1875)


def test_products_of_numbers_sample_matrices_and_others_tuples():
    rng = np.random.default_rng(2)
    assert Product([Density.laplace(), Density.normal()]).sample(3, rng).shape == (3, 2)
    mixed = Product([Density.laplace(), Finite("ab", [0.5, 0.5])]).sample(3, rng)
    assert all(isinstance(row, tuple) and row[1] in "ab" for row in mixed)


def test_a_product_of_products_is_refused():
    with pytest.raises(InvalidKind):
        Product([Product([Density.laplace()])])
