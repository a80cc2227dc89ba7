"""Noisy max and the sparse vector technique, by quadrature and published losses.

Chi-square tests use significance 1e-9. The power of each test against a wrong scale is checked too.
"""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, stats

from audit.errors import InvalidValue
from audit.laws.divergence import epsilon_at
from mechanisms import ExponentialNoisyMax, LaplaceNoisyMax, ResamplingSparseVector, SparseVector, flawed
from mechanisms.comparison.laplace_integrals import quadrature

SIGNIFICANCE = 1e-9
RUNS = 100_000


def patterns(size):
    """Return the neighbours of the published benchmarks.

    One answer moves, or half of the answers, or all.
    """
    one, half = [1.0] * size, size // 2
    others = [
        [0.0, *one[1:]],
        [2.0, *one[1:]],
        [2.0, *[0.0] * (size - 1)],
        [0.0, *[2.0] * (size - 1)],
        [2.0] * half + [0.0] * (size - half),
        [2.0] * size,
        [0.0] * size,
    ]
    return [(one, other) for other in others] + [
        ([1.0] * half + [0.0] * (size - half), [0.0] * half + [1.0] * (size - half))
    ]


def integral(function, knots, tail):
    ends = [min(knots) - tail, *sorted(set(knots)), max(knots) + tail]
    return sum(
        integrate.quad(function, low, high, epsabs=0, epsrel=1e-12, limit=500)[0]
        for low, high in itertools.pairwise(ends)
    )


def max_law(answers, scale):
    def at(x, place):
        beaten = [stats_cdf(x - a, scale) for i, a in enumerate(answers) if i != place]
        return stats_pdf(x - answers[place], scale) * math.prod(beaten)

    return [integral(lambda x, j=j: at(x, j), answers, 60 * scale) for j in range(len(answers))]


def stats_pdf(x, scale):
    return math.exp(-abs(x) / scale) / (2 * scale)


def stats_cdf(x, scale):
    tail = math.exp(-abs(x) / scale) / 2
    return tail if x < 0 else 1 - tail


def marks_probability(answers, marks, *, threshold, threshold_scale, query_scale):
    """Return the probability of these marks for one noisy threshold, by quadrature."""

    def at(r):
        value = stats_pdf(r, threshold_scale)
        for answer, mark in zip(answers, marks, strict=True):
            if mark >= 0:
                value *= stats_cdf((answer - threshold - r) * (1 if mark else -1), query_scale)
        return value

    return integral(at, [0.0, *(answer - threshold for answer in answers)], 60 * threshold_scale)


def first_hits(size):
    """Return the outputs possible at limit 1: one hit anywhere, or none."""
    return [[0] * k + [1] + [-1] * (size - k - 1) for k in range(size)] + [[0] * size]


def worst(law, pairs):
    return max(np.abs(np.log(np.divide(law(a), law(b)))).max() for a, b in pairs)


def masses(law):
    return np.exp(law.log_probabilities)


# ------------------------------------------------------------------ noisy max


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("answers", [[0.0], [1.0, 1.0], [0.0, 2.0, 2.0], [-3.0, 0.5, 7.0, 2.0, 2.0]])
def test_laplace_noisy_max_has_the_law_that_scipy_integrates(answers, epsilon):
    law = LaplaceNoisyMax(epsilon=epsilon, size=len(answers)).distribution(answers)
    assert masses(law) == pytest.approx(max_law(answers, 2 / epsilon), rel=1e-10)


@pytest.mark.parametrize("gap", [0.5, 2.0, 40.0])
def test_two_answers_are_compared_by_the_difference_of_two_laplace_draws(gap):
    # Pr[Z − Z′ > t] = e^(−t/b)·(2 + t/b)/4 for t ≥ 0, b = 2
    law = LaplaceNoisyMax(size=2).distribution([0.0, gap])
    assert law.pmf(0) == pytest.approx(math.exp(-gap / 2) * (2 + gap / 2) / 4, rel=1e-12)
    # the difference of two exponential draws of mean b is a Laplace draw of scale b
    law = ExponentialNoisyMax(size=2).distribution([0.0, gap])
    assert law.pmf(0) == pytest.approx(math.exp(-gap / 2) / 2, rel=1e-12)


@pytest.mark.parametrize("answers", [[0.0, 2.0, 2.0], [-3.0, 0.5, 7.0, 2.0, 2.0]])
def test_exponential_noisy_max_has_the_law_of_permute_and_flip(answers):
    # queries in random order; each is taken with probability e^((a − max)/scale), else the next
    shares = np.exp((np.array(answers) - max(answers)) / 2.0)
    taken = np.zeros(len(answers))
    for order in itertools.permutations(range(len(answers))):
        reached = 1.0
        for place in order:
            taken[place] += reached * shares[place] / math.factorial(len(answers))
            reached *= 1 - shares[place]
    assert masses(ExponentialNoisyMax(size=len(answers)).distribution(answers)) == pytest.approx(
        taken, rel=1e-12
    )


@pytest.mark.parametrize(
    ("kind", "published"), [(LaplaceNoisyMax, 0.0946), (ExponentialNoisyMax, 0.1)], ids=["laplace", "expon"]
)
def test_noisy_max_has_the_published_loss_on_the_benchmark_pairs(kind, published):
    subject = kind(epsilon=0.1)
    found = worst(lambda answers: masses(subject.distribution(answers)), patterns(5))
    assert found == pytest.approx(published, abs=5e-5)


def test_exponential_noisy_max_attains_its_loss_and_laplace_noisy_max_approaches_it():
    p, q = (ExponentialNoisyMax().distribution(answers) for answers in ([1.0] * 5, [0.0] + [2.0] * 4))
    assert epsilon_at(p, q) == pytest.approx(1.0, rel=1e-12)
    gaps = []
    for gap in (2.0, 20.0, 200.0):
        p, q = (LaplaceNoisyMax(size=2).distribution(a) for a in ([0.0, gap], [-1.0, gap + 1]))
        gaps.append(1.0 - epsilon_at(p, q))
    # e^(−t/2)·(2 + t/2)/4 at t = gap and gap + 2: the loss is 1 − ln((4 + gap + 2)/(4 + gap))
    assert gaps == pytest.approx([math.log((6 + gap) / (4 + gap)) for gap in (2.0, 20.0, 200.0)], rel=1e-9)


@pytest.mark.parametrize("kind", [LaplaceNoisyMax, ExponentialNoisyMax])
def test_noisy_max_follows_its_law(kind, agreement, power):
    answers, subject = [0.0, 1.0, 2.0, 2.0, -4.0], kind()
    law = masses(subject.distribution(answers))
    for outputs in (
        subject.sample(answers, RUNS, np.random.default_rng(91)),
        [subject(answers, rng) for rng in [np.random.default_rng(92)] for _ in range(5000)],
    ):
        assert agreement(np.bincount(outputs, minlength=5), law) > SIGNIFICANCE
    half_noise = masses(kind(epsilon=2.0).distribution(answers))
    assert power(half_noise, law, 5000) > 0.99


# -------------------------------------------------------------- sparse vector


@pytest.mark.parametrize("limit", [1, 2])
@pytest.mark.parametrize("answers", [[1.0], [0.0, 3.0, 1.5], [-2.0, 1.0, 1.0, 6.0]])
def test_the_sparse_vector_technique_has_the_law_that_scipy_integrates(answers, limit):
    subject = SparseVector(size=len(answers), limit=limit)
    law = subject.distribution(answers)
    for outcome, mass in zip(law.outcomes, masses(law), strict=True):
        expected = marks_probability(
            answers, outcome, threshold=1.0, threshold_scale=2.0, query_scale=4.0 * limit
        )
        assert mass == pytest.approx(expected, rel=1e-10)


def test_fresh_thresholds_change_nothing_at_limit_one():
    answers = [0.0, 3.0, 1.5]
    once, fresh = (
        kind(size=3, limit=1).distribution(answers) for kind in (SparseVector, ResamplingSparseVector)
    )
    assert masses(once) == pytest.approx(masses(fresh), rel=1e-12)


def test_after_a_hit_a_fresh_threshold_restarts_the_law():
    subject = ResamplingSparseVector(size=3, limit=2)
    law = subject.distribution([0.0, 3.0, 1.5])
    scales = {"threshold": 1.0, "threshold_scale": 4.0, "query_scale": 8.0}
    first = marks_probability([0.0, 3.0], [0, 1], **scales)
    second = marks_probability([1.5], [1], **scales)
    assert law.pmf(np.array([0, 1, 1])) == pytest.approx(first * second, rel=1e-10)


# noise scales of threshold and queries, threshold, published loss at epsilon = 0.1 with ten queries
@pytest.mark.parametrize(
    ("scales", "threshold", "published"),
    [
        ((20.0, 40.0), 0.5, 0.0885),  # svt1, which is correct
        ((40.0, 4 / 0.3), 1.0, 0.1725),  # svt4
    ],
)
def test_sparse_vectors_have_the_published_loss_on_the_benchmark_pairs(scales, threshold, published):
    subject = (
        SparseVector(epsilon=0.1, size=10) if published < 0.1 else flawed.CheapNoiseSparseVector(epsilon=0.1)
    )
    assert (subject.threshold_scale, subject.query_scale) == pytest.approx(scales)

    def law(answers):
        return [
            marks_probability(
                answers, marks, threshold=threshold, threshold_scale=scales[0], query_scale=scales[1]
            )
            for marks in first_hits(10)
        ]

    assert worst(law, patterns(10)) == pytest.approx(published, abs=5e-5)


def test_the_exact_law_meets_the_published_loss():
    subject = SparseVector(epsilon=0.1, size=10, threshold=0.5)
    found = worst(lambda answers: masses(subject.distribution(answers)), patterns(10))
    assert found == pytest.approx(0.0885, abs=5e-5)


@pytest.mark.parametrize("limit", [1, 2])
def test_too_little_query_noise_loses_a_quarter_of_one_plus_six_limits(limit):
    # The event: all limit + 1 high answers are missed and all low answers are hits. Up to the high answers,
    # the integrand grows like e^(r/2) in the noisy threshold r.
    subject, far = flawed.CheapNoiseSparseVector(size=2 * limit + 1, limit=limit), 60.0
    scales = {
        "threshold": 1.0,
        "threshold_scale": subject.threshold_scale,
        "query_scale": subject.query_scale,
    }
    marks = [0] * (limit + 1) + [1] * limit
    p, q = (
        marks_probability([far + step] * (limit + 1) + [1.0 - step] * limit, marks, **scales)
        for step in (0.0, 1.0)
    )
    assert math.log(p / q) == pytest.approx((1 + 6 * limit) / 4, abs=1e-6)


def test_without_a_limit_each_query_loses_half_of_epsilon():
    subject = flawed.EndlessSparseVector(size=4)
    scales = {
        "threshold": 1.0,
        "threshold_scale": subject.threshold_scale,
        "query_scale": subject.query_scale,
    }
    losses = []
    for far in (0.0, 2.0, 60.0):
        p, q = (
            marks_probability([far + 1 + step] * 2 + [1 - far - step] * 2, [0, 0, 1, 1], **scales)
            for step in (0.0, 1.0)
        )
        losses.append(math.log(p / q))
    assert losses == sorted(losses)
    assert 1.0 < losses[0] < losses[1] < 2.0
    assert losses[2] == pytest.approx(2.0, abs=1e-9)


def test_without_a_limit_ten_queries_have_the_published_loss():
    half, other = patterns(10)[-1]
    marks = [1] * 5 + [0] * 5
    scales = {"threshold": 1.0, "threshold_scale": 20.0, "query_scale": 20.0}
    subject = flawed.EndlessSparseVector(epsilon=0.1)
    assert (subject.threshold_scale, subject.query_scale) == (20.0, 20.0)
    pairs = [*patterns(10), (other, half)]
    found = max(
        abs(math.log(np.divide(*(marks_probability(answers, m, **scales) for answers in pair))))
        for pair in pairs
        for m in (marks, marks[::-1])
    )
    assert found == pytest.approx(0.42, abs=5e-3)


@pytest.mark.parametrize(
    "subject",
    [SparseVector(), SparseVector(limit=2), ResamplingSparseVector()],
    ids=["one", "two", "resampling"],
)
def test_the_correct_technique_follows_its_law(subject, agreement, power):
    answers = [0.0, 1.0, 4.0, -2.0, 1.0][: subject.size]
    law = subject.distribution(answers)
    for outputs in (
        subject.sample(answers, RUNS, np.random.default_rng(93)),
        [subject(answers, rng) for rng in [np.random.default_rng(94)] for _ in range(5000)],
    ):
        places = law.locate(outputs)
        assert (places >= 0).all()
        assert agreement(np.bincount(places, minlength=len(law.outcomes)), masses(law)) > SIGNIFICANCE
    quarter_noise = type(subject)(epsilon=4.0, size=subject.size, limit=subject.limit).distribution(answers)
    assert power(masses(quarter_noise), masses(law), 5000) > 0.99


@pytest.mark.parametrize("kind", [flawed.CheapNoiseSparseVector, flawed.EndlessSparseVector])
def test_a_flawed_technique_follows_the_law_of_its_scales(kind, agreement):
    answers, subject = [0.0, 2.0, 1.0], kind(size=3)
    endless = kind is flawed.EndlessSparseVector
    outcomes = list(itertools.product((0, 1), repeat=3)) if endless else first_hits(3)
    law = [
        marks_probability(
            answers,
            marks,
            threshold=1.0,
            threshold_scale=subject.threshold_scale,
            query_scale=subject.query_scale,
        )
        for marks in outcomes
    ]
    outputs = subject.sample(answers, RUNS, np.random.default_rng(95))
    counts = [int((outputs == marks).all(axis=1).sum()) for marks in outcomes]
    assert sum(counts) == RUNS
    assert agreement(counts, law) > SIGNIFICANCE


def test_no_more_hits_than_the_limit_are_returned():
    outputs = SparseVector(size=5, limit=2).sample([90.0] * 5, 50, np.random.default_rng(96))
    assert (outputs == [1, 1, -1, -1, -1]).all()


# ----------------------------------------------------------------- quadrature


def test_answers_too_far_apart_for_an_exact_law_are_refused():
    with pytest.raises(InvalidValue, match="too far apart"):
        LaplaceNoisyMax(size=2).distribution([0.0, 1e12])


def test_the_quadrature_is_exact_on_a_power_of_the_distribution_function():
    # ∫ f·F^n = 1/(n + 1), n = 19 factors
    points, weights = quadrature([0.0], scale=1.0, rate=20.0)
    f, cdf = stats.laplace.pdf(points), stats.laplace.cdf(points)
    assert weights @ (f * cdf**19) == pytest.approx(1 / 20, rel=1e-12)
