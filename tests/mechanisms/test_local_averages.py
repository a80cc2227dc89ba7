"""Sums of Laplace variables, and the averages that answer a statistical query."""

import itertools
import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from audit.errors import InvalidValue
from mechanisms.local import (
    LaplaceAverage,
    LaplaceSum,
    LocalLaplace,
    MeanProblem,
    NonInteractiveProtocol,
    SignAverage,
    laplace_rate,
    laplace_size,
    lemma_size,
    mean_tail_bound,
    noise_size,
    sign_size,
)
from mechanisms.local.averaging.failures import log_reports

SIGNIFICANCE = 1e-9
RUNS = 50_000


def difference_of_gammas(n, x):
    """Return Pr[G − G′ > x] for independent Gamma(n) variables, by quadrature over G′."""
    gamma = stats.gamma(n)
    low, high = gamma.ppf(1e-300), n + 60.0 * math.sqrt(n) + 3.0 * x

    def integrand(y):
        return math.exp(gamma.logpdf(y) + gamma.logsf(y + x))

    peak = optimize.minimize_scalar(
        lambda y: -(gamma.logpdf(y) + gamma.logsf(y + x)), bounds=(low, high), method="bounded"
    ).x
    parts = [max(low, peak - 10 * math.sqrt(n)), peak, peak + 10 * math.sqrt(n), high]
    return sum(
        integrate.quad(integrand, a, b, epsabs=0, epsrel=1e-11, limit=200)[0]
        for a, b in zip([low, *parts[:-1]], parts, strict=True)
        if a < b
    )


@pytest.mark.parametrize(
    ("n", "x"),
    [
        (1, 3.0),
        (2, 0.5),
        (7, 20.0),
        (20, 60.0),
        (200, 30.0),
        (200, 200.0),
        (257, 10.0),
        (257, 100.0),
        (1000, 40.0),
        (1000, 150.0),
        (20_000, 500.0),
    ],
)
def test_the_tail_of_a_laplace_sum_is_that_of_a_difference_of_gammas(n, x):
    assert math.exp(LaplaceSum(n).logsf(x)) == pytest.approx(difference_of_gammas(n, x), rel=1e-8)
    assert LaplaceSum(n, 3.0).two_sided(3.0 * x) == pytest.approx(2 * difference_of_gammas(n, x), rel=1e-8)


def test_the_tail_matches_the_exact_rational_mixture_to_every_digit():
    n, x = 20, 60
    total, poisson = Fraction(0), [Fraction(x) ** j / math.factorial(j) for j in range(n)]
    for k in range(n):
        total += Fraction(math.comb(n - 1 + k, k), 2 ** (n + k - 1)) * sum(poisson[: n - k])
    # e^(−60) to 40 digits, as a fraction
    inverse = Fraction(8756510762696520338, 10**45)
    assert LaplaceSum(n).two_sided(float(x)) == pytest.approx(float(total * inverse), rel=1e-12)


@pytest.mark.parametrize("n", [257, 1000])
def test_the_expansion_for_many_variables_is_the_mixture_of_gammas(n):
    """Olver's expansion of a Bessel function agrees with a sum of n positive terms."""
    law = LaplaceSum(n)
    x = np.concatenate([np.linspace(0.0, 6.0, 13) * math.sqrt(2 * n), np.array([0.5, 2.0, 20.0]) * n])
    density = law._mixed(x, law.log_weights) - math.log(2.0)
    tail = law._mixed(x, law._log_shape_tails) - math.log(2.0)
    assert law.logpdf(x) == pytest.approx(density, rel=2e-13, abs=2e-12)
    assert law.logsf(x) == pytest.approx(tail, rel=2e-13, abs=2e-12)


def test_a_sum_of_very_many_variables_is_normal_up_to_a_kurtosis_term():
    """Edgeworth: the tail differs from the normal tail by φ(y)·(y³ − 3y)·κ/24.

    The excess kurtosis is κ = 3/n, and n = 10^9.
    """
    n, y = 10**9, np.array([0.5, 2.0, 6.0])
    shift = stats.norm.pdf(y) * (y**3 - 3 * y) * (3 / n) / 24
    found = np.exp(LaplaceSum(n).logsf(y * math.sqrt(2 * n)))
    assert found == pytest.approx(stats.norm.sf(y) + shift, rel=1e-11)


def test_two_laplace_variables_have_the_known_density():
    # (1 + |x|)·e^(−|x|)/4
    x = np.array([-8.0, -0.3, 0.0, 0.7, 5.0])
    assert np.exp(LaplaceSum(2).logpdf(x)) == pytest.approx((1 + abs(x)) * np.exp(-abs(x)) / 4, rel=1e-12)
    assert LaplaceSum(2).logsf(math.inf) == -math.inf
    assert LaplaceSum(2).logcdf(math.inf) == 0.0


@pytest.mark.parametrize("n", [1, 3, 40, 400])
def test_density_tail_and_quantile_are_consistent(n):
    law = LaplaceSum(n, 0.7)
    for x in (-2.0, 0.1, 4.0):
        slope = (law.logcdf(x + 1e-5) - law.logcdf(x - 1e-5)) / 2e-5
        assert math.exp(law.logpdf(x) - law.logcdf(x)) == pytest.approx(slope, rel=1e-5)
        assert math.exp(law.logsf(x)) + math.exp(law.logcdf(x)) == pytest.approx(1.0, abs=1e-14)
    tails = np.log([0.5, 0.3, 1e-3, 1e-12, 1e-200])
    assert law.logsf(law.isf(tails)) == pytest.approx(tails, rel=1e-12)
    mean = law.law_of_mean(1.25)
    assert mean.ppf(0.5) == pytest.approx(1.25)
    assert mean.cdf(mean.ppf([1e-9, 0.2, 0.9])) == pytest.approx([1e-9, 0.2, 0.9], rel=1e-9)
    assert integrate.quad(mean.pdf, -30, 30, points=[1.25])[0] == pytest.approx(1.0, abs=1e-8)


@pytest.mark.parametrize("draw", ["sum", "mean"])
def test_samples_follow_the_law_of_the_sum(draw):
    law, rng = LaplaceSum(5, 2.0), np.random.default_rng(41)
    drawn = law.sample(RUNS, rng) if draw == "sum" else rng.laplace(0.0, 2.0, (RUNS, 5)).sum(axis=1)
    assert stats.kstest(drawn, lambda x: np.exp(law.logcdf(x))).pvalue > SIGNIFICANCE
    # power: with four variables instead of five the distance is 0.027, 6 times 1/√runs
    other = LaplaceSum(4, 2.0)
    assert stats.kstest(drawn, lambda x: np.exp(other.logcdf(x))).pvalue < 1e-7


@pytest.mark.parametrize("x", [1e-6, 0.1, 1.0, 3.0, 50.0])
def test_the_rate_is_the_supremum_of_the_chernoff_exponents(x):
    found = optimize.minimize_scalar(
        lambda t: -(x * t + math.log1p(-t * t)), bounds=(0, 1), method="bounded", options={"xatol": 1e-13}
    )
    assert laplace_rate(x) == pytest.approx(-found.fun, rel=1e-6)
    assert laplace_rate(x) < x * x / 4.0  # the claim of Lemma A.3, for every x > 0


@pytest.mark.parametrize(("n", "x"), [(1, 0.5), (20, 3.0), (200, 1.0), (30, 0.1), (5, 10.0), (2000, 0.5)])
def test_the_repaired_tail_bounds_hold(n, x):
    true = LaplaceSum(n).two_sided(n * x)
    sharp = 2 * math.exp(-n * laplace_rate(x))
    assert true <= sharp <= mean_tail_bound(n, scale=1.0, delta=x) * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 4.0, 30.0, 1e4])
@pytest.mark.parametrize(("tau", "bound"), [(0.01, 1.0), (0.5, 1.0), (2.0, 1.0), (3.0, 50.0)])
def test_the_constant_of_the_lemma_is_34(epsilon, tau, bound):
    n = lemma_size(tau=tau, beta=0.05, epsilon=epsilon, bound=bound)
    exact = 34 * (bound / tau) ** 2 * max(1.0, epsilon**-2) * math.log(40.0)
    assert n == pytest.approx(exact, abs=1.0, rel=1e-9)
    assert laplace_size(tau=tau, beta=0.05, epsilon=epsilon, bound=bound) <= n


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 8.0, 100.0])
def test_the_sharp_size_is_the_least_that_markovs_inequality_gives(epsilon):
    tau, beta, scale = 0.3, 0.01, 2.0 / epsilon
    found = optimize.minimize_scalar(
        lambda t: -(t * tau - t * t / 2 + math.log1p(-((scale * t) ** 2))),
        bounds=(0, 1 / scale),
        method="bounded",
        options={"xatol": 1e-12},
    )
    n = laplace_size(tau=tau, beta=beta, epsilon=epsilon)
    assert n == pytest.approx(math.log(2 / beta) / -found.fun, abs=1.0, rel=1e-6)
    assert 2 * math.exp(n * found.fun) <= beta * (1 + 1e-6)


def test_sizes_of_the_signs_and_of_the_noise_alone_are_their_closed_forms():
    shrink = (math.e - 1) / (math.e + 1)
    assert sign_size(tau=0.1, beta=0.05, epsilon=1.0) == math.ceil(2 * math.log(40) / (0.1 * shrink) ** 2)
    n = noise_size(tau=0.1, beta=0.05, epsilon=1.0)
    assert (
        LaplaceSum(n, 2.0).two_sided(0.1 * n) <= 0.05 < 4 * LaplaceSum(n // 4, 2.0).two_sided(0.1 * (n // 4))
    )


@pytest.mark.parametrize(
    ("function", "parameters", "message"),
    [
        (lemma_size, {"tau": 0.0}, "The `tau` of `lemma_size` must be a finite number"),
        (lemma_size, {"tau": -0.1}, "got -0.1"),
        (laplace_size, {"tau": 2.5}, "≤ 2"),
        (sign_size, {"tau": math.nan}, "The `tau` of `sign_size`"),
        (noise_size, {"beta": 0.0}, "The `beta` of `noise_size`"),
        (laplace_size, {"epsilon": 0.0}, "The `epsilon` of `laplace_size`"),
        (lemma_size, {"epsilon": 1e-12}, "more than can be counted"),
    ],
)
def test_sizes_refuse_impossible_targets(function, parameters, message):
    with pytest.raises(InvalidValue, match=message) as refused:
        function(**{"tau": 0.1, "beta": 0.05, "epsilon": 1.0, **parameters})
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("high", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize(
    "average",
    [
        LaplaceAverage(epsilon=0.5, tolerance=0.5),
        LaplaceAverage(epsilon=1.0, tolerance=0.6, bound=2.0),
        LaplaceAverage(epsilon=20.0, tolerance=0.2),
        SignAverage(epsilon=1.0, tolerance=0.25),
        SignAverage(epsilon=9.0, tolerance=0.1),
    ],
)
def test_lemma_5_6_holds_exactly_at_the_default_size(average, high):
    assert average.failure(high) <= average.beta


def test_the_exact_failure_probability_matches_simulated_runs():
    average = LaplaceAverage(epsilon=2.0, tolerance=0.5, size=100)
    rng = np.random.default_rng(42)
    entries = np.where(rng.random((20_000, 100)) < 0.3, 1.0, -1.0)
    answers = (entries + rng.laplace(0.0, 1.0, entries.shape)).mean(axis=1)
    failed = int((np.abs(answers + 0.4) > 0.5).sum())
    assert stats.binomtest(failed, 20_000, average.failure(0.3)).pvalue > SIGNIFICANCE
    signs = SignAverage(epsilon=1.0, tolerance=0.5, size=139)
    truth = math.e / (1 + math.e)
    entries = rng.random((20_000, 139)) < 0.3
    reports = np.where(rng.random(entries.shape) < truth, entries, ~entries)
    estimates = (2 * reports.mean(axis=1) - 1) / math.tanh(0.5)
    failed = int((np.abs(estimates + 0.4) > 0.5).sum())
    assert stats.binomtest(failed, 20_000, signs.failure(0.3)).pvalue > SIGNIFICANCE


def test_the_average_has_its_exact_law_by_every_method():
    average, rng = LaplaceAverage(epsilon=1.0, size=6), np.random.default_rng(43)
    database = [1, 1, 0, -1, 1, 0]
    law = average.distribution(database)
    roads = {
        "sample": average.sample(database, RUNS, rng),
        "call": [average(database, rng) for _ in range(2_000)],
        "stream": [average.stream([database[:1], database[1:]], rng) for _ in range(2_000)],
    }
    for drawn in roads.values():
        assert stats.kstest(drawn, law.cdf).pvalue > SIGNIFICANCE
    assert law.ppf(0.5) == pytest.approx(1 / 3)


def test_a_local_average_is_a_noninteractive_protocol():
    # the same law as one question to every entry
    protocol = NonInteractiveProtocol(
        queries=[(range(4), LocalLaplace(epsilon=1.0))],
        conclude=lambda queries, answers: float(answers[0].mean()),
        size=4,
        records=(-1, 0, 1),
    )
    drawn = protocol.sample([1, 0, -1, 1], 20_000, np.random.default_rng(44))
    law = LaplaceAverage(epsilon=1.0, size=4).distribution([1, 0, -1, 1])
    assert stats.kstest(drawn, law.cdf).pvalue > SIGNIFICANCE


@pytest.mark.parametrize("draw", ["sample", "call"])
def test_the_average_of_signs_is_a_mixture_of_binomials(draw, agreement, shares):
    average, rng = SignAverage(epsilon=math.log(3), size=5), np.random.default_rng(45)
    database = [1, -1, -1, 1, -1]
    expected = np.convolve(stats.binom(2, 0.75).pmf(range(3)), stats.binom(3, 0.25).pmf(range(4)))
    assert np.exp(log_reports(2, 5, truth=0.75)) == pytest.approx(expected, rel=1e-12)
    law = average.distribution(database)
    outcomes = [(2 * k - 5) / (5 * average.randomizer.shrinkage) for k in range(6)]
    assert [law.pmf(x) for x in outcomes] == pytest.approx(expected, rel=1e-12)
    drawn = (
        average.sample(database, RUNS, rng)
        if draw == "sample"
        else [average(database, rng) for _ in range(2_000)]
    )
    assert agreement(shares(list(map(float, drawn)), outcomes), expected) > SIGNIFICANCE
    assert float(np.dot(expected, outcomes)) == pytest.approx(-0.2)  # the average is unbiased


def test_vector_averages_have_a_law_for_each_coordinate():
    records = ((-1, -1), (-1, 1), (1, 1))
    average = LaplaceAverage(epsilon=2e4, dimension=2, size=3, records=records)
    assert average([(-1, 1), (1, 1), (1, 1)], np.random.default_rng(0)) == pytest.approx([1 / 3, 1], abs=0.01)
    assert average.sample([(-1, 1)] * 3, 7, np.random.default_rng(0)).shape == (7, 2)
    assert len(average.distribution([(-1, 1)] * 3).factors) == 2
    # two coordinates: twice the noise scale, and a union bound over both
    both = LaplaceAverage(epsilon=1.0, tolerance=0.5, dimension=2, records=records).size
    assert both > laplace_size(tau=0.5, beta=0.025, epsilon=0.5) * 0.999
    one_hot = LaplaceAverage(
        epsilon=1.0, tolerance=0.5, dimension=3, norm=1.0, records=((1, 0, 0), (0, 1, 0))
    )
    assert one_hot.size == laplace_size(tau=0.5, beta=0.05 / 3, epsilon=1.0)


@pytest.mark.parametrize("kind", [LaplaceAverage, SignAverage])
def test_too_few_entries_are_refused_with_the_required_number(kind):
    needed = kind(tolerance=0.25).size
    assert kind(tolerance=0.25, size=needed).size == needed
    with pytest.raises(InvalidValue, match=f"must be at least {needed} for an answer within 0.25") as refused:
        kind(tolerance=0.25, size=needed - 1)
    assert "\n" not in str(refused.value)
    for tolerance in (0, -0.5, 2.5, math.inf):
        with pytest.raises(
            InvalidValue, match=f"The `tolerance` of `{kind.__name__}` must be a finite number"
        ):
            kind(tolerance=tolerance)
    with pytest.raises(InvalidValue, match="The `beta` of"):
        kind(beta=0)


def test_entries_outside_the_bound_or_in_the_wrong_number_are_refused():
    average, rng = LaplaceAverage(size=3), np.random.default_rng(0)
    for ask in (average, lambda rows, rng: average.sample(rows, 2, rng)):
        with pytest.raises(InvalidValue, match=r"must stay within \[-1, 1\]; on entry 2"):
            ask([0, 2, 0], rng)
        with pytest.raises(InvalidValue, match="must hold 3 entries; got 2"):
            ask([0, 0], rng)
    with pytest.raises(InvalidValue, match="must hold 3 entries; got 4 or more"):
        average.stream([[0, 0], [0, 0]], rng)


def test_averages_of_300_entries_follow_the_law_of_their_entries():
    database, rng = [1] * 200 + [-1] * 100, np.random.default_rng(77)
    laplace, sign = LaplaceAverage(epsilon=2.0, size=300), SignAverage(epsilon=2.0, size=300)
    assert sign.distribution(database) is None
    drawn = np.sort(1 / 3 + rng.laplace(0.0, 1.0, (20_000, 300)).mean(axis=1))
    share = np.arange(1, 20_001) / 20_000
    # Dvoretzky-Kiefer-Wolfowitz at significance 1e-9; with twice the noise the distribution function is off
    # by 0.09 at one standard deviation
    law = laplace.distribution(database)
    points = drawn[::500]
    gap = max(abs(law.cdf(float(x)) - p) for x, p in zip(points, share[::500], strict=True))
    assert gap <= math.sqrt(math.log(2e9) / 40_000) < 0.024
    truth = math.exp(2.0) / (1 + math.exp(2.0))
    ones = np.convolve(stats.binom(200, truth).pmf(range(201)), stats.binom(100, 1 - truth).pmf(range(101)))
    reports = sign.law(database)
    found = [reports.pmf((2 * k - 300) / (300 * math.tanh(1.0))) for k in range(301)]
    assert found == pytest.approx(ones, rel=1e-9, abs=1e-300)


def test_an_endless_stream_is_refused_once_it_is_too_long():
    average = LaplaceAverage(size=3)
    with pytest.raises(InvalidValue, match="must hold 3 entries; got 4 or more"):
        average.stream(itertools.repeat([0.0, 0.0]), np.random.default_rng(0))


def test_a_stream_is_answered_in_bounded_memory():
    n, chunk = 4_000_000, 2**16
    sizes = [chunk] * (n // chunk) + [n % chunk]
    average = LaplaceAverage(size=n, epsilon=50.0)
    tracemalloc.start()
    answer = average.stream((np.full(size, 0.5) for size in sizes), np.random.default_rng(46))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < n  # bytes: an eighth of the memory of the entries
    assert abs(answer - 0.5) < 8.0 * math.sqrt(2.0 / n) * 2.0 / 50.0  # 8 standard errors


def test_one_large_chunk_is_split():
    average = SignAverage(size=300_001, epsilon=100.0)
    database = np.repeat([1, -1, 1], [100_000, 100_000, 100_001])
    assert average(database, np.random.default_rng(0)) == pytest.approx(100_001 / 300_001, rel=1e-12)


def test_error_bounds_hold_for_the_largest_variance():
    for average in (LaplaceAverage(size=50, epsilon=2.0), SignAverage(size=50, epsilon=2.0)):
        within = type(average)(size=None, epsilon=2.0, tolerance=min(2.0, average.error_bound(0.1)), beta=0.1)
        assert within.size in (50, 51)
        assert within.failure(0.5) <= 0.1


def test_problems_measure_the_distance_to_the_mean_of_the_distribution():
    average = LaplaceAverage(tolerance=1.0, size=400, query=lambda u: u / 4, records=(0, 2, 4))
    problems = {problem.name: problem for problem in average.problems()}
    half = problems["half lowest, half highest"]
    assert half.mean == 0.5
    assert half.error(0.75, None) == 0.25
    assert half.error("refused", None) == math.inf
    assert half.error(math.nan, None) == math.inf
    assert set(problems) == {
        "all lowest",
        "all highest",
        "half lowest, half highest",
        "one in ten highest",
        "every record alike",
    }
    centred = {p.name: p.mean for p in LaplaceAverage(size=3, records=(-1, 0, 0.5)).problems()}
    assert centred["all nearest 0"] == 0.0
    assert (centred["all lowest"], centred["all highest"]) == (-1.0, 0.5)
    assert centred["one in ten highest"] == pytest.approx(-0.85)
    drawn = half.draw(np.random.default_rng(47))
    assert len(drawn) == 400
    assert abs((drawn == 4).sum() - 200) < 60  # 6 standard deviations
    assert not (drawn == 2).any()
    moved = average.vary(half, np.random.default_rng(48))
    assert sum(moved.probabilities) == pytest.approx(1.0)
    assert moved.mean != half.mean
    vector = MeanProblem("v", ((0, 1), (1, 0)), (0.25, 0.75), np.array([[0.0, 1.0], [1.0, 0.0]]), 3)
    assert vector.error([0.75, 0.5], None) == 0.25
    assert len(vector.draw(np.random.default_rng(0))) == 3
