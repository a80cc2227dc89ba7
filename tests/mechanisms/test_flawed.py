"""The losses of the flawed gallery match hand derivations."""

import math

import numpy as np
import pytest
from scipy import stats

from mechanisms import flawed

RUNS = 200_000


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
@pytest.mark.parametrize(
    ("kind", "worked_out"),
    [
        (flawed.RateAsScaleLaplace, lambda epsilon: 1 / epsilon),
        (flawed.ReplaceOneHistogram, lambda epsilon: 2 * epsilon),
        (flawed.HalfSensitivityMean, lambda epsilon: 2 * epsilon),
        (flawed.DoubleEpsilonGeometric, lambda epsilon: 2 * epsilon),
        (
            flawed.HalfSensitivityExponential,
            lambda epsilon: epsilon + math.log((1 + 15 * math.exp(epsilon)) / (math.exp(epsilon) + 15)),
        ),
        (flawed.BinaryCalibratedResponse, lambda epsilon: epsilon + math.log(3)),
    ],
)
def test_the_exact_loss_matches_the_hand_calculation(kind, worked_out, epsilon, loss, pairs_of):
    subject = kind(epsilon=epsilon)
    losses = [loss(subject.distribution(a), subject.distribution(b)) for a, b in pairs_of(subject)]
    assert max(losses) == pytest.approx(worked_out(epsilon), rel=1e-12)


@pytest.mark.parametrize(("upper", "published"), [(1, 0.693), (2, 0.827), (5, 0.907), (20, 0.916)])
def test_conditioning_on_the_range_costs_the_ratio_of_the_normalisers(upper, published, loss, pairs_of):
    subject = flawed.RenormalisedGeometric(upper=upper, size=min(upper, 5))
    losses = [loss(subject.distribution(a), subject.distribution(b)) for a, b in pairs_of(subject)]
    z_0 = sum(2.0**-k for k in range(upper + 1))
    z_1 = sum(2.0 ** -abs(k - 1) for k in range(upper + 1))
    assert max(losses) == pytest.approx(math.log(2 * z_1 / z_0), rel=1e-12)
    assert round(max(losses), 3) == published
    assert (max(losses) > subject.epsilon + 1e-9) == (upper > 1)


def test_with_two_solutions_a_halved_sensitivity_does_not_show(loss, pairs_of):
    subject = flawed.HalfSensitivityExponential(epsilon=1.0, solutions=tuple("ab"), records=("a", "b"))
    losses = [loss(subject.distribution(a), subject.distribution(b)) for a, b in pairs_of(subject)]
    assert max(losses) == pytest.approx(1.0, rel=1e-12)


def test_the_rate_as_scale_is_private_but_useless_if_epsilon_exceeds_the_sensitivity(loss, pairs_of):
    # B Definition 2 read literally at alpha·n/b = 1000: the noise is too large by a factor n²·alpha²/b²
    subject = flawed.RateAsScaleLaplace(epsilon=1.0, sensitivity=1e-3, query=lambda rows: sum(rows) / 1000)
    assert subject.scale == pytest.approx(1000.0)
    promised = 1e-3 * math.log(1 / 0.05)  # Theorem 3
    law = subject.distribution([0, 0, 0])
    assert law.sf(promised) + law.cdf(-promised) > 0.999
    losses = [loss(subject.distribution(a), subject.distribution(b)) for a, b in pairs_of(subject)]
    assert max(losses) == pytest.approx(1e-6, rel=1e-6)


# subject, event, its probabilities on the two databases of the suggested pair (closed forms), loss
WITHOUT_LAW = [
    (flawed.HalfScaleLaplace(epsilon=1.0), lambda o: o >= 1.0, 0.5 * math.exp(-2), 0.5, 2.0),
    (flawed.TrustingMean(epsilon=1.0), lambda o: o >= 1.0, 0.5 * math.exp(-5), 0.5, 5.0),
    (
        flawed.UncheckedScore(epsilon=1.0),
        lambda o: o == 1,
        1 / (1 + math.exp(5)),
        1 / (1 + math.exp(-5)),
        5.0,
    ),
    (flawed.ThreeQuartersResponse(), lambda o: o == 1, 0.25, 0.75, math.log(3)),
]


@pytest.mark.parametrize(("subject", "event", "p", "q", "worked_out"), WITHOUT_LAW)
def test_a_subject_without_a_law_has_an_event_with_the_loss_calculated_by_hand(
    subject, event, p, q, worked_out
):
    assert not hasattr(subject, "distribution")
    assert math.log(q / p) == pytest.approx(worked_out, rel=1e-12)
    left, right = subject.suggested_pairs()[0]
    for database, probability in ((left, p), (right, q)):
        draws = event(subject.sample(database, RUNS, np.random.default_rng(61))).sum()
        assert stats.binomtest(int(draws), RUNS, probability).pvalue > 1e-9


@pytest.mark.parametrize(("subject", "event", "p", "q", "worked_out"), WITHOUT_LAW)
def test_samples_alone_refute_the_claim(subject, event, p, q, worked_out):
    # one-sided Clopper–Pearson bounds at 5e-10 each; with these p, q and runs the power is above 1 − 1e-9
    left, right = subject.suggested_pairs()[0]
    rare, common = (
        int(event(subject.sample(rows, RUNS, np.random.default_rng(62 + side))).sum())
        for side, rows in enumerate((left, right))
    )
    upper = stats.beta.isf(5e-10, rare + 1, RUNS - rare)
    lower = stats.beta.ppf(5e-10, common, RUNS - common + 1)
    assert lower > math.exp(subject.claim.epsilon) * upper


@pytest.mark.parametrize(("subject", "event", "p", "q", "worked_out"), WITHOUT_LAW)
def test_single_calls_are_drawn_as_samples_are(subject, event, p, q, worked_out):
    rng = np.random.default_rng(63)
    for database, probability in zip(subject.suggested_pairs()[0], (p, q), strict=True):
        draws = sum(bool(event(subject(database, rng))) for _ in range(5000))
        assert stats.binomtest(draws, 5000, probability).pvalue > 1e-9


@pytest.mark.parametrize(
    "subject",
    [
        flawed.RateAsScaleLaplace(),
        flawed.HalfSensitivityMean(),
        flawed.DoubleEpsilonGeometric(),
        flawed.RenormalisedGeometric(),
        flawed.HalfSensitivityExponential(),
        flawed.BinaryCalibratedResponse(),
    ],
    ids=lambda subject: subject.name,
)
def test_a_flawed_twin_returns_what_its_law_says(subject, agreement):
    database = subject.suggested_pairs()[0][0]
    law = subject.distribution(database)
    partition = law.bins(16)
    cells = np.exp(partition.log_probabilities)
    for outputs in (
        subject.sample(database, 100_000, np.random.default_rng(64)),
        [subject(database, rng) for rng in [np.random.default_rng(65)] for _ in range(5000)],
    ):
        found = partition.locate(outputs)
        assert (found >= 0).all()
        assert agreement(np.bincount(found, minlength=len(cells)), cells) > 1e-9


def test_a_flawed_histogram_returns_what_its_law_says(agreement):
    subject = flawed.ReplaceOneHistogram()
    outputs = subject.sample([0, 2], 100_000, np.random.default_rng(66))
    for column, centre in enumerate([1, 0, 1]):
        edges = stats.laplace(loc=centre).ppf(np.arange(1, 16) / 16)
        counts = np.bincount(np.searchsorted(edges, outputs[:, column]), minlength=16)
        assert agreement(counts, np.full(16, 1 / 16)) > 1e-9
