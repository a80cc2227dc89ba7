"""Algorithm Rec against an enumeration of Fig. 1.

Each chi-square test has significance 1e-9. Comments state which errors each test would detect. Privacy,
utility and limits are tested too. The file is long because they share the enumeration and the instances.
"""

import itertools
import math
import warnings

import numpy as np
import pytest
from scipy import special, stats

from audit import Verdict, audit_privacy
from audit.claims import ApproximateDP, PureDP
from audit.errors import InvalidKind, InvalidValue
from audit.laws.exact import compare_pairs
from audit.relations import Relation
from mechanisms import ConcavePromise, ExponentialMechanism
from mechanisms.comparison.threshold import ThresholdTest
from mechanisms.concave import (
    IntervalVotes,
    QualityFunctions,
    ThresholdAgreement,
    bounds,
    calls,
    least_promise,
    lemma_2,
    levels,
    log_star,
    random_pair,
    recursion,
)
from mechanisms.concave.contest import contest
from mechanisms.concave.instances import random_quality, telling_pairs
from mechanisms.concave.piecewise import StepFunction
from mechanisms.concave.votes import votes_on_64_bits
from mechanisms.flawed.concave import LiteralConcavePromise

RUNS = 200_000


def rec(**parameters):
    told = {"promise": 60.0, "beta": None, "accounting": "tight", **parameters}
    return ConcavePromise(**told)


# Fig. 1 as exact probabilities, by lists and loops. The docstring of Rec settles the gaps of N8.


def enumerated(values, *, epsilon, delta, promise, alpha, small=32):
    top = len(values) - 1
    if top <= small:
        return dict(enumerate(special.softmax(epsilon / 2 * np.array(values))))
    padded_top = 1
    while padded_top < top:
        padded_top *= 2
    padded = [*values, *[0.0] * (padded_top - top)]
    powers = int(math.log2(padded_top))
    longest = [
        max(min(padded[a : a + 2**j]) for a in range(padded_top + 1 - 2**j + 1)) for j in range(powers + 1)
    ]
    longest.append(min(0.0, longest[-1]))
    inner = [min(longest[j] - (1 - alpha) * promise, promise - longest[j + 1]) for j in range(powers + 1)]
    chosen = enumerated(
        inner, epsilon=epsilon, delta=delta, promise=alpha / 2 * promise, alpha=alpha, small=small
    )
    law = dict.fromkeys(range(top + 1), 0.0)
    for power, mass in chosen.items():
        width = 8 * 2**power
        released = [winner(padded, first, width, epsilon, delta) for first in (0, width // 2)]
        for a, b in itertools.product(*released):
            points = halves([a, b], 2**power, top)
            weights = special.softmax([epsilon / 2 * values[point] for point in points])
            for point, weight in zip(points, weights, strict=True):
                law[point] += mass * released[0][a] * released[1][b] * weight
    return law


def winner(padded, first, width, epsilon, delta):
    """Return the law of A_dist over the left ends and None (a refusal)."""
    ends = list(range(first, len(padded), width))
    scores = [max(padded[end : end + width]) for end in ends]
    if len(ends) < 2:
        return dict.fromkeys(ends or [None], 1.0)
    ranked = sorted(zip(scores, ends, strict=True), reverse=True)
    gap = ranked[0][0] - ranked[1][0]
    threshold = 4 / epsilon * math.log(1 / delta) + 2
    if gap == 0:
        return {ranked[0][1]: 0.0, None: 1.0}
    noise = stats.laplace(scale=4 / epsilon)
    return {ranked[0][1]: noise.sf(threshold - gap), None: noise.cdf(threshold - gap)}


def halves(ends, length, top):
    points = {
        min(end + math.floor(i * length / 2), top) for end in ends if end is not None for i in range(16)
    }
    return sorted(points) or sorted({math.floor(i * top / 31) for i in range(32)})


def check_law(subject, values, *, small=32):
    law = subject.distribution(values)
    expected = enumerated(
        list(values),
        epsilon=subject.epsilon,
        delta=subject.delta,
        promise=subject.target,
        alpha=subject.alpha,
        small=small,
    )
    for point, mass in expected.items():
        assert law.pmf(point) == pytest.approx(mass, rel=1e-9, abs=1e-300)
    assert set(law.support()) <= set(expected)


@pytest.mark.parametrize("seed", range(24))
def test_the_law_matches_an_enumeration(seed):
    rng = np.random.default_rng([80, seed])
    subject = rec(
        top=int(rng.integers(33, 71)),
        epsilon=float(rng.choice([0.3, 1.0, 4.0])),
        delta=float(rng.choice([1e-6, 0.1])),
        promise=float(rng.choice([3.0, 20.0, 200.0])),
        alpha=float(rng.choice([0.1, 0.5, 1.0])),
    )
    quality = random_quality(subject.top, rng, lead=subject.test.threshold)
    check_law(subject, quality.values_everywhere())


@pytest.mark.parametrize("seed", range(24))
def test_the_law_matches_an_enumeration_through_two_levels(seed, monkeypatch):
    monkeypatch.setattr(bounds, "SMALL", 2)  # 16 → 4 → 2
    monkeypatch.setattr(recursion, "SMALL", 2)
    rng = np.random.default_rng([81, seed])
    subject = rec(top=int(rng.integers(9, 40)), delta=0.1, promise=float(rng.choice([3.0, 20.0, 100.0])))
    quality = random_quality(subject.top, rng, lead=subject.test.threshold)
    check_law(subject, quality.values_everywhere(), small=2)


@pytest.mark.parametrize("top", [2, 5, 32])
def test_a_small_range_is_one_exponential_mechanism(top):
    values = np.random.default_rng(82).normal(size=top + 1) * 5
    subject = rec(top=top)
    expected = ExponentialMechanism(
        solutions=range(top + 1), score=lambda rows, _: values, vectorised=True
    ).distribution([])
    law = subject.distribution(values)
    assert law.log_probabilities == pytest.approx(expected.log_probabilities, rel=1e-12)
    assert subject.claim == PureDP(1.0)


@pytest.mark.parametrize("seed", range(30))
def test_longest_windows_and_best_intervals_match_an_enumeration(seed):
    rng = np.random.default_rng([83, seed])
    top = int(rng.integers(1, 90))
    quality = random_quality(top, rng, lead=5.0)
    values = quality.values_everywhere()
    minima = [
        max(min(values[a : a + 2**j]) for a in range(top + 2 - 2**j)) for j in range((top + 1).bit_length())
    ]
    assert quality.window_minima() == minima
    for width, offset in itertools.product((4, 8, 64), (0, 1, 4, 32)):
        ends = list(range(offset, top + 1, width))
        scores = sorted((max(values[end : end + width]) for end in ends), reverse=True)
        found = contest(quality, offset=offset, width=width)
        gap = 0.0 if not ends else math.inf if len(ends) == 1 else scores[0] - scores[1]
        assert found.gap == pytest.approx(gap)
        if gap:
            best = max(ends, key=lambda end: max(values[end : end + width]))
            assert (found.low, found.high) == (best, min(best + width - 1, top))


def test_breakpoints_beyond_64_bits_are_exact():
    huge = 2**200
    step = StepFunction([0, huge + 1, huge + 9], np.array([0.0, 5.0, 1.0]), top=2**201)
    assert step(huge) == 0.0
    assert step(huge + 8) == 5.0
    assert step.window_minima()[:5] == [5.0, 5.0, 5.0, 5.0, 1.0]
    assert len(step.window_minima()) == 202
    assert contest(step, offset=0, width=16).low == huge
    assert rec(top=2**201, promise=5.0).distribution(step).pmf(3) < 1e-6


# Runs against the law


INSTANCES = {
    "peak": (64, lambda top: [60.0 if 20 <= j <= 26 else 0.0 for j in range(top + 1)]),
    "tied": (64, lambda top: [30.0 * (j % 16 < 2) for j in range(top + 1)]),
    "two peaks": (100, lambda top: [60.0 * (j < 3) + 25.0 * (60 <= j < 64) for j in range(top + 1)]),
    "constant": (64, lambda top: [60.0] * (top + 1)),
    "noise": (1000, lambda top: np.random.default_rng(84).uniform(-50, 50, top + 1)),
    "extreme": (64, lambda top: [1e300 * (60 <= j <= 63) - 1e300 for j in range(top + 1)]),
}


@pytest.mark.parametrize("name", INSTANCES)
def test_runs_follow_the_law(name, agreement, shares):
    top, values = INSTANCES[name]
    subject, database = rec(top=top, delta=0.01, promise=30.0), values(top)
    law = subject.distribution(database)
    outputs = subject.sample(database, RUNS, np.random.default_rng(85))
    points = list(range(top + 1))
    assert agreement(shares(outputs, points), [law.pmf(point) for point in points]) > 1e-9


def test_calls_follow_the_law(agreement, shares):
    subject, rng = rec(delta=0.01, promise=30.0), np.random.default_rng(86)
    database = INSTANCES["peak"][1](64)
    law = subject.distribution(database)
    outputs = [subject(database, rng) for _ in range(2_000)]
    assert agreement(shares(outputs, list(range(65))), [law.pmf(point) for point in range(65)]) > 1e-9


def test_that_comparison_detects_a_threshold_off_by_a_quarter_of_its_noise(power):
    class Shifted(ConcavePromise):
        @property
        def test(self):
            right = super().test
            return ThresholdTest(right.scale, right.threshold + 0.25 * right.scale)

    told = {"top": 64, "delta": 0.01, "promise": 30.0, "beta": None}
    database = [20.0 if 30 <= j <= 33 else 0.0 for j in range(65)]
    right, wrong = (kind(**told).distribution(database) for kind in (ConcavePromise, Shifted))
    points = [point for point in range(65) if right.pmf(point) * RUNS > 5]
    masses = np.array([[law.pmf(point) for point in points] for law in (wrong, right)])
    assert power(masses[0], masses[1], RUNS) > 0.99


def test_runs_on_64_bits_follow_the_law(agreement, shares):
    subject = votes_on_64_bits().part
    database = [(2**63, 2**63 + 2**20)] * 21 + [(0, 2**64)] * 3
    law = subject.distribution(database)
    outputs = subject.sample(database, RUNS, np.random.default_rng(87))
    assert all(type(output) is int for output in outputs)
    points = list(law.support())
    assert agreement(shares(outputs, points), [law.pmf(point) for point in points]) > 1e-9


# What Fig. 1 leaves open


def test_single_and_empty_families_are_handled_and_points_beyond_the_range_are_clamped():
    # K = T′: {A_i} has one member and {B_i} is empty; H = {0, K/2, K, …} is clamped into [0, T]
    law = rec(top=4096, promise=1e5).distribution([1e5] * 4097)
    assert [law.pmf(point) for point in (0, 2048, 4096)] == pytest.approx([1 / 3] * 3)
    assert max(law.support()) == 4096


def test_outputs_stay_in_the_range_even_if_the_padding_is_best():
    law = rec(top=33, promise=5.0, delta=0.1).distribution([-1000.0] * 34)
    assert set(law.support()) <= set(range(34))


def test_if_nothing_is_released_the_candidates_are_spread_over_the_range():
    values = [1e6 * (j % 2) for j in range(65)]  # K = 1, with ties in every family of more than one interval
    law = rec(top=64, promise=1e6).distribution(values)
    assert sum(law.pmf(64 * i // 31) for i in range(32)) == pytest.approx(1.0)


# The algorithm as printed and as corrected (E6), and the numbers of the lemmas (N6, N26)


@pytest.mark.parametrize(("low", "literal"), [(59, 0.0), (66, 1.0)])
def test_the_second_half_of_h_must_begin_at_the_left_end_of_b(low, literal):
    told = {"top": 4096, "beta": 0.01, "promise": None}
    good = range(low, low + 11)
    for kind, rate in ((ConcavePromise, 1.0), (LiteralConcavePromise, literal)):
        subject = kind(**told)
        database = [subject.target if j in good else 0.0 for j in range(4097)]
        outputs = subject.sample(database, 300, np.random.default_rng(88))
        assert np.isin(outputs, good).mean() == rate
        law = subject.distribution(database)
        assert sum(law.pmf(point) for point in good) == pytest.approx(rate, abs=1e-3)


def test_the_literal_form_is_equally_private():
    told = {"top": 100, "delta": 0.05, "promise": 15.0, "beta": None, "accounting": "tight"}
    subject, rng = LiteralConcavePromise(**told), np.random.default_rng(89)
    pairs = [random_pair(100, rng, lead=subject.test.threshold) for _ in range(100)]
    assert compare_pairs(pairs, subject.distribution, subject.claim).within


def test_iterated_logarithms_levels_and_calls():
    # ERRATA N26: calls stated and calls made are 12 and 1 at 32, 12 and 4 at 2^16, 15 and 7 at 2^64
    tops = (32, 2**16, 2**64)
    assert [3 * log_star(top) for top in tops] == [12, 12, 15]
    assert [len(calls(top, epsilon=1.0, delta=1e-6)) for top in tops] == [1, 4, 7]
    assert [levels(top) for top in (2, 32, 33, 2**32, 2**32 + 1, 2**64)] == [0, 0, 1, 1, 2, 2]
    assert [log_star(number) for number in (1, 2, 3, 4, 5, 16, 17, 2**16, 2**16 + 1)] == [
        0,
        1,
        2,
        2,
        3,
        3,
        4,
        4,
        5,
    ]


def test_the_three_accounts_of_privacy():
    told = {"top": 2**16, "epsilon": 0.1, "delta": 1e-6, "promise": 1.0, "beta": None}
    printed = ConcavePromise(**told, accounting="lemma 2").claim
    spread = math.sqrt(6 * 4 * math.log(1 / (4 * 1e-6)))
    assert printed.epsilon == pytest.approx(spread * 0.1 + 6 * 4 * 0.1**2)
    assert printed.delta == pytest.approx(4 * 4 * 1e-6)
    assert ConcavePromise(**told, accounting="calls").claim == ApproximateDP(0.4, 2e-6)
    tight = ConcavePromise(**told, accounting="tight").claim
    assert (tight.epsilon, tight.delta) == pytest.approx((0.3, 1e-6))


def test_the_promise_that_lemma_3_needs():
    needed = (2 / 0.5) ** 4 * 16 / (0.5 * 1.0) * math.log(32 / (0.01 * 1e-6))
    assert least_promise(4096, alpha=0.5, beta=0.01, epsilon=1.0, delta=1e-6) == pytest.approx(needed)
    assert ConcavePromise(top=4096, beta=0.01).target == pytest.approx(needed)


@pytest.mark.parametrize("top", [40, 4096, 2**64])
def test_lemma_3_holds_at_its_smallest_promise(top):
    subject = ConcavePromise(top=top, beta=0.05, delta=1e-3)
    allowed = 2 * 0.05 * log_star(top)
    assert subject.error_bound(allowed) == pytest.approx(subject.target / 2)
    rng = np.random.default_rng(90)
    for low in (0, top, top // 2, *(int(rng.random() * top) for _ in range(3))):
        for width in (1, top // 64 + 1, top // 3):
            high = min(low + width, top + 1)
            good = subject.target * (0.5 - 1e-9)
            starts = [start for start in (0, low, high) if start <= top]
            parts = {0: good, low: subject.target, high: good}
            quality = StepFunction(
                sorted(set(starts)), np.array([parts[start] for start in sorted(set(starts))]), top=top
            )
            law = subject.distribution(quality)
            met = sum(law.pmf(point) for point in law.support() if quality(point) >= subject.target / 2)
            assert 1 - met <= allowed


def test_at_t_1_the_lemmas_are_false_so_it_is_refused():
    # log*(1) = 0, so Lemma 2 would claim (0, 0). The exponential mechanism on {0, 1} has loss 1/2 at epsilon
    # = 1.
    assert log_star(1) == 0
    left, right = (special.log_softmax(np.array(scores) / 2) for scores in ([0, 1], [1, 0]))
    assert np.abs(left - right).max() == pytest.approx(0.5)
    for top in (0, 1):
        with pytest.raises(InvalidValue, match=f"must be a whole number ≥ 2; got {top}"):
            rec(top=top)
        with pytest.raises(InvalidValue, match="≥ 2"):
            lemma_2(top, epsilon=1.0, delta=1e-6)


# Privacy


PRIVACY = [(33, 1.0, 0.05), (256, 0.1, 1e-3), (4096, 1.0, 1e-6)]


@pytest.mark.parametrize(("top", "epsilon", "delta"), PRIVACY)
def test_random_neighbouring_qualities_stay_within_the_composition_of_the_calls(top, epsilon, delta):
    rng = np.random.default_rng([91, top])
    for promise in (5.0, 100.0, 5000.0):
        subject = rec(top=top, epsilon=epsilon, delta=delta, promise=promise)
        lead = subject.test.threshold
        pairs = [random_pair(top, rng, lead=lead) for _ in range(40)] + telling_pairs(top, lead=lead)
        assert all(itertools.starmap(QualityFunctions().are_neighbours, pairs))
        assert compare_pairs(pairs, subject.distribution, subject.claim).within


def test_those_pairs_refute_a_rec_whose_threshold_omits_delta():
    class Hasty(ConcavePromise):
        @property
        def test(self):
            return ThresholdTest(super().test.scale, 2.0)

    subject = Hasty(top=64, delta=0.05, promise=20.0, beta=None, accounting="tight")
    rng = np.random.default_rng(92)
    pairs = [random_pair(64, rng, lead=subject.test.threshold) for _ in range(200)]
    assert compare_pairs(pairs, subject.distribution, subject.claim).over


def test_neighbouring_databases_have_neighbouring_qualities():
    rng = np.random.default_rng(93)
    votes, agreement = IntervalVotes(63), ThresholdAgreement(6, margin=3.0)
    for _ in range(50):
        ends = np.sort(rng.integers(0, 64, (6, 2)), axis=1).tolist()
        points = [
            (int(x), int(y)) for x, y in zip(rng.integers(0, 64, 6), rng.integers(0, 2, 6), strict=True)
        ]
        for quality, rows in ((votes, [tuple(end) for end in ends]), (agreement, points)):
            left, right = quality(rows[:5]), quality([rows[5], *rows[1:5]])
            assert left == right or QualityFunctions().are_neighbours(left, right)


def test_qualities_of_records_match_their_definitions():
    rows = [(3, 1), (5, 0), (5, 1), (7, 0)]
    quality = ThresholdAgreement(3, margin=4.0)(rows)
    wrong = [sum((x < j) != bool(y) for x, y in rows) for j in range(9)]
    assert quality.values_everywhere() == [4.0 - errors for errors in wrong]
    ends = [(0, 4), (2, 8), (8, 8)]
    counts = [sum(low <= j <= high for low, high in ends) for j in range(9)]
    assert IntervalVotes(8)(ends).values_everywhere() == counts


def test_the_relation_of_qualities():
    relation, rng = QualityFunctions(), np.random.default_rng(94)
    quality = StepFunction([0, 10], np.array([1.0, 5.0]), top=2**64)
    assert not relation.are_neighbours(quality, quality)
    assert not relation.are_neighbours(quality, quality.plus(1.001))
    assert not relation.are_neighbours(quality, StepFunction([0], np.array([1.0]), top=5))
    fixed = list(relation.neighbours(quality))
    drawn = list(itertools.islice(relation.neighbours(quality, rng=rng), 50))
    assert len(fixed) == 4
    assert all(other == quality or relation.are_neighbours(quality, other) for other in [*fixed, *drawn])
    with pytest.raises(InvalidKind, match="step functions"):
        relation.are_neighbours([1.0], [2.0])


# Large ranges: no code here iterates over the range. benchmarks/central.py measures time and memory.


def test_twenty_thousand_labelled_points_on_64_bits_give_a_good_threshold():
    rng = np.random.default_rng(95)
    points = rng.integers(0, 2**64, 20_000, dtype=np.uint64).tolist()
    rows = [(x, int(x < 2**63 + 12345)) for x in points]
    subject = rec(top=2**64, promise=2e4, quality=ThresholdAgreement(64, margin=2e4))
    quality = subject.quality_on(rows)
    law = subject.distribution(rows)
    good = {j for j in law.support() if quality(j) >= 1e4}
    assert sum(law.pmf(j) for j in good) == pytest.approx(1.0, abs=1e-12)
    assert subject(rows, rng) in good
    wrong = {j: sum((x < j) != bool(y) for x, y in rows) for j in sorted(good)[:: max(1, len(good) // 4)]}
    assert all(quality(j) == 2e4 - errors for j, errors in wrong.items())


# Bad input


def test_a_quality_of_sensitivity_four_is_found_by_the_audit_with_the_pair():
    def quality(rows):
        return [4.0 * rows.count("a"), 4.0 * rows.count("b"), 0.0]

    told = {"relation": Relation.REPLACE_ONE, "records": ("a", "b"), "size": 2}
    result = audit_privacy(rec(top=2, quality=quality, **told), budget=1_000, recorded=False)
    rows = [special.log_softmax(np.array(quality(row)) / 2) for row in (["a", "a"], ["a", "b"])]
    assert result.verdict is Verdict.REFUTED
    assert result.epsilon_lower == pytest.approx(np.abs(rows[0] - rows[1]).max(), rel=1e-6)
    assert Relation.REPLACE_ONE.are_neighbours(result.witness.left, result.witness.right)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_quality_that_is_not_finite_is_refused(bad):
    with pytest.raises(InvalidValue, match="values of a quality function must be finite"):
        rec(top=40).distribution([bad] + [0.0] * 40)


def test_a_quality_on_another_range_is_refused():
    with pytest.raises(InvalidValue, match=r"on \[0, 40\]; got one on \[0, 2\]"):
        rec(top=40).sample([1.0, 2.0, 3.0], 1, np.random.default_rng(0))


def test_a_quality_that_is_not_a_vector_is_refused():
    with pytest.raises(InvalidValue, match="must be a vector"):
        rec(top=40).distribution(np.array(3.0))


@pytest.mark.parametrize(
    ("starts", "values", "top"),
    [([1], [0.0], 5), ([0, 0], [0.0, 1.0], 5), ([0, 9], [0.0, 1.0], 5), ([], [], 5), ([0], [0.0, 1.0], 5)],
)
def test_pieces_out_of_order_are_refused(starts, values, top):
    with pytest.raises(InvalidValue, match="quality function must"):
        StepFunction(starts, np.array(values), top=top)


def test_a_promise_below_lemma_3_warns_with_the_bound_and_stays_private():
    bound = least_promise(64, alpha=0.5, beta=0.1, epsilon=1.0, delta=1e-6)
    with pytest.warns(UserWarning, match=f"{bound:.6g} for BNS Lemma 3 at beta = 0.1; got 60. Privacy holds"):
        subject = ConcavePromise(top=64, promise=60.0)
    with pytest.raises(InvalidValue, match="Lemma 3"):
        subject.error_bound(0.05)
    with pytest.warns(UserWarning, match=r"`alpha` of `ConcavePromise` must be ≤ 0.5 for BNS Lemma 3"):
        ConcavePromise(top=64, alpha=0.75)


def test_without_a_utility_target_there_is_no_warning():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        rec(top=64, promise=1.0)
    assert told == []


@pytest.mark.parametrize(
    ("bad", "match"),
    [
        ({"epsilon": 0}, "`epsilon`"),
        ({"delta": 0.0}, "`delta`"),
        ({"alpha": 0}, "`alpha`"),
        ({"promise": -1.0}, "`promise`"),
        ({"promise": None}, "must be given where its `beta` is None"),
        ({"beta": 1.0}, "`beta`"),
        ({"accounting": "loose"}, "lemma 2, calls, tight"),
        ({"delta": 0.3, "accounting": "lemma 2"}, "for Lemma 2 to say anything"),
    ],
)
def test_parameters_out_of_bounds_are_refused(bad, match):
    with pytest.raises(InvalidValue, match=match):
        rec(**bad)


def test_records_outside_their_range_are_refused():
    with pytest.raises(InvalidValue, match=r"An interval must lie in \[0, 8\]"):
        IntervalVotes(8)([(3, 9)])
    with pytest.raises(InvalidValue, match="A record must be"):
        ThresholdAgreement(3)([(8, 1)])


def test_suggested_pairs_are_neighbours():
    assert rec(relation=QualityFunctions()).suggested_pairs() == []
    subject = votes_on_64_bits()
    assert len(subject.suggested_pairs()) == 12
    assert all(itertools.starmap(Relation.REPLACE_ONE.are_neighbours, subject.suggested_pairs()))
