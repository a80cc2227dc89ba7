"""The losses of the gallery's flaws match hand calculations and runs.

Each row of `ROWS` has an event with closed-form probabilities p and q on two neighbours. Each test of
counts has significance 1e-9. The runs detect a p that is off by half with probability 0.99.
"""

import itertools
import math

import numpy as np
import pytest
from scipy import optimize, stats

from audit.laws.divergence import epsilon_at
from mechanisms import flawed

SIGNIFICANCE = 1e-9
INF = math.inf
NAN = math.nan
E = math.exp


def shuffled(x, first):
    """Return Pr[largest of 100 outputs ≤ x].

    The outputs of 99 records lie around −1, and the output of the other record lies around `first`.
    """
    return stats.norm.cdf(2 * (x + 1)) ** 99 * stats.norm.cdf(2 * (x - first))


# name: subject, left, right, event, p, q, log(p/q)
ROWS = {
    # every noisy answer is at most 0: five factors 1/2 on one side, five factors e^(−1/2)/2 on the other
    "max value, Laplace": (
        flawed.LaplaceMaxValue(),
        [0.0] * 5,
        [1.0] * 5,
        lambda o: o <= 0,
        0.5**5,
        (0.5 * E(-0.5)) ** 5,
        2.5,
    ),
    "max value, exponential": (
        flawed.ExponentialMaxValue(),
        [0.0] * 5,
        [1.0] * 5,
        lambda o: o < 1,
        (1 - E(-0.5)) ** 5,
        0.0,
        INF,
    ),
    # place 2 and value ≤ 0 with threshold 1: e^(−1/2 − (a0 + a1 + a2)/2 − 0)/192, by integrating exponentials
    "sparse vector with values": (
        flawed.ValueSparseVector(size=3),
        [0.0] * 3,
        [1.0] * 3,
        lambda o: (o[..., 0] == 2) & (o[..., 1] <= 0),
        E(-0.5) / 192,
        E(-2.0) / 192,
        1.5,
    ),
    # a hit at (1, 0) only: the noisy threshold 1 + Lap(2) is in (0, 1]
    "sparse vector without query noise": (
        flawed.NoiselessSparseVector(size=2),
        [1.0, 0.0],
        [0.0, 1.0],
        lambda o: (o[..., 0] == 1) & (o[..., 1] == 0),
        0.5 * (1 - E(-0.5)),
        0.0,
        INF,
    ),
    "prefix sums": (
        flawed.PrefixSums(size=3),
        [0.0] * 3,
        [1.0] * 3,
        lambda o: (np.diff(o, axis=-1, prepend=0.0) <= 0).all(axis=-1),
        1 / 8,
        E(-3) / 8,
        3.0,
    ),
    "histogram scale": (
        flawed.HundredthHistogram(),
        [],
        [2],
        lambda o: o[..., 2] <= 0,
        0.5,
        0.5 * E(-100),
        100.0,
    ),
    "frequency scale": (
        flawed.FrequencyScaleCounts(),
        [0] * 10,
        [1] + [0] * 9,
        lambda o: (o[0] >= 10) & (o[1] <= 0),
        0.25,
        0.25 * E(-10),
        10.0,
    ),
    "counts under replacing": (
        flawed.CountsUnderReplacing(),
        [0],
        [1],
        lambda o: (o[0] >= 1) & (o[1] <= 0),
        0.25,
        0.25 * E(-2),
        2.0,
    ),
    "squares of one end": (
        flawed.OneEndSquares(),
        [3.0, 1.0],
        [0.0, 1.0],
        lambda o: o >= 10,
        0.5,
        0.5 * E(-9),
        9.0,
    ),
    "range from data": (flawed.RangeFromData(), [5.0, 5.0], [5.0, 9.0], lambda o: o == 10, 1.0, 0.0, INF),
    # 127 + Z ≤ −128, Z two-sided geometric of rate 1/100: e^(−255/100)/(1 + e^(−1/100))
    "wrapping sum": (
        flawed.WrappingSum(),
        [100, 27, 1],
        [100, 27],
        lambda o: o <= -128,
        1 / (1 + E(-0.01)),
        E(-2.55) / (1 + E(-0.01)),
        2.55,
    ),
    "shared noise": (
        flawed.SharedNoise(),
        [0, 1, 1],
        [0, 0, 1],
        lambda o: o[1] - o[0] == 1,
        1.0,
        0.0,
        INF,
    ),
    # category 0 only: the threshold 1 + Lap(1) is in (0, 1]
    "noiseless comparison": (
        flawed.NoiselessComparison(),
        [0],
        [1],
        lambda o: o == (True, False, False, False),
        0.5 * (1 - E(-1)),
        0.0,
        INF,
    ),
    "discarded clip": (
        flawed.DiscardedClip(),
        [0.25, 50.0],
        [0.25],
        lambda o: o >= 50.25,
        0.5,
        0.5 * E(-50),
        50.0,
    ),
    "keys from data": (
        flawed.KeysFromData(),
        ["b", "a"],
        ["a"],
        lambda o: any(key == "b" for key, _ in o),
        1.0,
        0.0,
        INF,
    ),
    "NaN as zero": (
        flawed.NanAsZero(),
        [1.0] * 20,
        [NAN] + [1.0] * 19,
        lambda o: o >= 20,
        0.5,
        0.5 * E(-20),
        20.0,
    ),
    "shuffled batches": (
        flawed.ShuffledBatches(),
        [-1.0] * 50 + [1.0] + [-1.0] * 49,
        [-1.0] * 99,
        lambda o: o.max() > 1.043,
        1 - shuffled(1.043, 1.0),
        1 - shuffled(1.043, 0.0),
        None,
    ),
    # a key of one record is published if the noise is at least 4
    "inclusive threshold": (
        flawed.InclusiveThreshold(),
        ["k"],
        [],
        lambda o: len(o) > 0,
        E(-4) / (1 + E(-1)),
        0.0,
        INF,
    ),
}
NAMED = pytest.mark.parametrize(
    ("subject", "left", "right", "event", "p", "q", "loss"), ROWS.values(), ids=ROWS
)


def runs_for(p):
    return 1000 if p > 0.9 else math.ceil(500 / min(p, 1 - p))


def frequency(subject, database, event, runs, seed):
    rng = np.random.default_rng(seed)
    if hasattr(subject, "sample"):
        return int(event(subject.sample(database, runs, rng)).sum())
    return sum(bool(event(subject(database, rng))) for _ in range(runs))


@NAMED
def test_the_loss_matches_the_event(subject, left, right, event, p, q, loss):
    assert subject.relation.are_neighbours(left, right)
    assert not hasattr(subject, "distribution")
    claim = subject.claim
    assert p > math.exp(claim.epsilon) * q + claim.delta
    if loss is not None:
        assert (math.log(p / q) if q else INF) == pytest.approx(loss, rel=1e-12)


@NAMED
def test_runs_have_the_calculated_probabilities(subject, left, right, event, p, q, loss):
    runs = runs_for(p)
    for database, probability, seed in ((left, p, 81), (right, q, 82)):
        found = frequency(subject, database, event, runs, seed)
        assert stats.binomtest(found, runs, probability).pvalue > SIGNIFICANCE


@NAMED
def test_a_wrong_probability_would_be_detected(subject, left, right, event, p, q, loss):
    runs = runs_for(p)
    wrong = 1.5 * p if p < 0.5 else p / 1.5
    low, high = (stats.binom(runs, p).ppf(level) for level in (SIGNIFICANCE / 2, 1 - SIGNIFICANCE / 2))
    noticed = stats.binom(runs, wrong).cdf(low - 1) + stats.binom(runs, wrong).sf(high)
    assert noticed > 0.99


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if hasattr(row[0], "sample")])
def test_single_calls_are_drawn_as_samples_are(name):
    subject, left, _, event, p, *_ = ROWS[name]
    rng = np.random.default_rng(83)
    found = sum(bool(event(subject(left, rng))) for _ in range(5000))
    assert stats.binomtest(found, 5000, p).pvalue > SIGNIFICANCE


def test_floating_point_outputs_of_textbook_noise_reveal_the_count():
    # As real numbers the noise is correct. Only the count 0 gives outputs between the multiples of 2^(−53).
    subject, runs = flawed.TextbookLaplace(), 20_000
    rng = np.random.default_rng(84)
    none, one = ([subject([0] * count, rng) for _ in range(runs)] for count in (0, 1))
    for outputs, centre in ((none, 0), (one, 1)):
        assert stats.kstest(outputs, stats.laplace(loc=centre).cdf).pvalue > SIGNIFICANCE
    between = [sum(abs(o) < 0.5 and not (o * 2.0**53).is_integer() for o in seen) for seen in (none, one)]
    assert between[1] == 0
    # The noise is within 1/2 with probability 1 − e^(−1/2). At least half of those values have a bit below
    # 2^(−53).
    assert between[0] > runs * (1 - E(-0.5)) / 4


def rank_law(database, epsilon=1.0):
    """Return the exponential mechanism's law with score −| #below − #above |."""
    rows = np.asarray(database)[:, None]
    scores = -np.abs((rows < np.arange(11)).sum(axis=0) - (rows > np.arange(11)).sum(axis=0))
    weights = np.exp(epsilon * scores / 2)
    return weights / weights.sum()


def test_the_loss_of_the_rank_score_matches_an_enumeration():
    worst = 0.0
    for length in (2, 3, 4):
        for database in itertools.combinations_with_replacement(range(11), length):
            law = rank_law(database)
            for value in range(11):
                ratio = law / rank_law([value, *database[1:]])
                worst = max(worst, np.abs(np.log(ratio)).max())
    assert worst == pytest.approx(1.7036293, abs=5e-8)  # the value published with the fault
    given = np.log(rank_law([10, 10]) / rank_law([0, 10])).max()
    assert given == pytest.approx(1.2806269, abs=1e-7)


@pytest.mark.parametrize("database", [[0, 10], [3, 3, 3, 9]])
def test_draws_of_the_rank_score_follow_its_weights(database, agreement, power):
    subject, rng, runs = flawed.RankScore(), np.random.default_rng(85), 20_000
    counts = np.bincount([subject(database, rng) for _ in range(runs)], minlength=11)
    assert agreement(counts, rank_law(database)) > SIGNIFICANCE
    # half the epsilon would be detected
    assert power(rank_law(database, 0.5), rank_law(database), runs) > 0.99


def test_swapped_shares_lose_both_shares_at_the_corners():
    # as published: the shares add up to (1 + d·e0)/(d + e0), with d = 16 and e0 = `count`
    count = (4 * 16 * 0.225**2) ** (1 / 3)
    worked_out = (1 + 16 * count) / (16 + count)
    subject = flawed.SwappedShares()
    corner = (1.0, -1.0) * 8
    assert worked_out == pytest.approx(1.4116717, abs=5e-8)
    assert subject.loss == pytest.approx(worked_out, rel=1e-12)
    p, q = (subject.distribution(database) for database in ([], [corner]))
    assert epsilon_at(p, q) == pytest.approx(worked_out, rel=1e-9)
    # with the shares not swapped the loss is epsilon
    of_count, of_sum = 1 / subject.scales[:2]
    assert of_sum + 16 * of_count == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize(("dimension", "published"), [(5, 1.003), (8, 1.13), (16, 1.41), (50, 2.09)])
def test_swapped_shares_overspend_as_published(dimension, published):
    assert flawed.SwappedShares(dimension=dimension).loss == pytest.approx(published, abs=5e-3)


def test_swapped_shares_follow_their_law(agreement):
    subject, rng = flawed.SwappedShares(), np.random.default_rng(86)
    database = [(0.5,) * 16, (1.0, -2.0) * 8]
    outputs = np.array([subject(database, rng) for _ in range(10_000)])
    for column in (0, 1, 16):
        scale = subject.scales[column]
        centre = [2.0, 1.5, -0.5][(0, 1, 16).index(column)]
        edges = stats.laplace(loc=centre, scale=scale).ppf(np.arange(1, 16) / 16)
        counts = np.bincount(np.searchsorted(edges, outputs[:, column]), minlength=16)
        assert agreement(counts, np.full(16, 1 / 16)) > SIGNIFICANCE


def test_the_classical_gaussian_has_the_delta_of_the_exact_formula():
    subject = flawed.ClassicalGaussian()
    s = math.sqrt(2 * math.log(1250)) / 15

    def delta(epsilon):
        phi = stats.norm.cdf
        return phi(1 / (2 * s) - epsilon * s) - math.exp(epsilon) * phi(-1 / (2 * s) - epsilon * s)

    assert subject.scale == pytest.approx(s, rel=1e-12)
    assert delta(15.0) == pytest.approx(0.0231, abs=5e-5)
    needed = optimize.brentq(lambda epsilon: delta(epsilon) - 1e-3, 15, 30)
    assert needed == pytest.approx(19.4269, abs=5e-5)
    p, q = (subject.distribution([0] * count) for count in (0, 1))
    assert epsilon_at(p, q, 1e-3) == pytest.approx(needed, rel=1e-6)


def test_the_classical_gaussian_follows_its_law():
    subject, rng = flawed.ClassicalGaussian(), np.random.default_rng(87)
    outputs = [subject([0, 1], rng) for _ in range(10_000)]
    assert stats.kstest(outputs, stats.norm(2, subject.scale).cdf).pvalue > SIGNIFICANCE


def test_shuffled_batches_lose_more_than_poisson_sampling_would():
    def excess(x, epsilon):
        return (1 - shuffled(x, 1.0)) - math.exp(epsilon) * (1 - shuffled(x, 0.0))

    assert excess(1.043, 2.0) == pytest.approx(0.3145, abs=5e-5)
    thresholds = np.linspace(1, 3, 2001)
    assert excess(thresholds, 6.12).max() > 0.0085 > excess(thresholds, 6.2).max()


def test_a_sum_in_eight_bits_is_exact_but_for_multiples_of_256():
    for database in itertools.product((0, 1, 27, 100), repeat=3):
        wrapped = flawed.WrappingSum().total(database)
        assert -128 <= wrapped <= 127
        assert (wrapped - sum(database)) % 256 == 0
