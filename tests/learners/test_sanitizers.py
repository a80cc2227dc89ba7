"""The sanitizers of POINT_d and INTERVAL_d: laws, privacy and accuracy."""

import math
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from audit.claims import ApproximateDP, PureDP
from audit.errors import InvalidKind, InvalidValue
from learners.sanitizers import IntervalCuts, IntervalSanitizer, PointSanitizer
from learners.sanitizers.choices import RepeatedChoosing
from learners.sanitizers.swaps import swaps
from learners.sanitizers.tallies import tally
from mechanisms import ChoosingMechanism
from mechanisms.comparison.threshold import ThresholdTest
from mechanisms.composition.accounting import composed_delta
from mechanisms.concave.hard import hard_qualities

LOOSE = {"epsilon": 8.0, "delta": 0.1, "alpha": 0.5, "beta": 0.5}
SIGNIFICANCE = 1e-7


def points_law(subject, database):
    law = subject.distribution(database)
    return {law.outcome(i): math.exp(log) for i, log in enumerate(law.log_probabilities.tolist())}


def hockey_stick(p, q, epsilon):
    return sum(max(0.0, mass - math.exp(epsilon) * q.get(key, 0.0)) for key, mass in p.items())


def worst_delta(subject, pairs, epsilon):
    worst = 0.0
    for left, right in pairs:
        p, q = points_law(subject, left), points_law(subject, right)
        worst = max(worst, hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon))
    return worst


def test_each_round_of_repeated_choosing_has_the_law_of_the_choosing_mechanism():
    size, counts = 60, {0: 31, 1: 20, 3: 9}
    database = [point for point, times in counts.items() for _ in range(times)]
    settings = {"epsilon": 3.0, "delta": 0.1, "alpha": 0.5, "beta": 0.5, "size": size}

    def choosing(solutions):
        return ChoosingMechanism(solutions=solutions, records=(0,), score=list.count, **settings)

    expected = Counter()
    first = points_law(choosing(range(4)), database)
    for one, mass in first.items():
        if one == "⊥":
            expected[frozenset()] += mass
            continue
        for two, share in points_law(choosing([x for x in range(4) if x != one]), database).items():
            expected[frozenset([one]) if two == "⊥" else frozenset([one, two])] += mass * share
    rounds = RepeatedChoosing(
        tally(database, dimension=2, owner="test"), ThresholdTest(4 / 3, 15.0), weight=0.75, rounds=2
    )
    names = rounds.tally.points.tolist()
    found = {frozenset(names[i] for i in places): mass for places, mass in rounds.law().items()}
    assert found == pytest.approx({key: mass for key, mass in expected.items() if mass}, rel=1e-10)


def test_runs_follow_the_exact_law():
    cases = [
        (PointSanitizer(dimension=2, size=42, **LOOSE), [0] * 20 + [1] * 15 + [2] * 7),
        (IntervalCuts(dimension=2, alpha=0.5, epsilon=4.0, delta=0.01, size=648), [0] * 160 + [3] * 488),
    ]
    for subject, database in cases:
        shown = Counter(
            tuple(point for point, _ in out) if isinstance(subject, PointSanitizer) else out
            for out in subject.sample(database, 3000, np.random.default_rng(5))
        )
        if isinstance(subject, PointSanitizer):
            seen = subject.choosing(database)
            law = {
                tuple(int(seen.tally.points[i]) for i in sorted(places)): mass
                for places, mass in seen.law().items()
            }
        else:
            law = points_law(subject, database)
        assert math.isclose(sum(law.values()), 1.0, rel_tol=1e-9)
        for key in {*shown, *law}:
            mass = min(1.0, law.get(key, 0.0))
            assert stats.binomtest(shown[key], 3000, mass).pvalue > SIGNIFICANCE, key


@pytest.mark.parametrize("proper", [False, True])
def test_the_point_sanitizer_keeps_its_claim_on_pairs_of_multisets_over_two_points(proper):
    size = PointSanitizer(dimension=1, proper=proper, **LOOSE).private_size
    subject = PointSanitizer(dimension=1, proper=proper, size=size, **LOOSE)
    many = 4 if proper else 8
    assert worst_delta(subject, swaps(0, 1, size=size, many=many), 8.0) <= 0.1


def test_below_the_precondition_of_choosing_one_round_is_not_private():
    def law(database):
        seen = tally(database, dimension=1, owner="test")
        found = RepeatedChoosing(seen, ThresholdTest(4.0, 1.25), weight=0.25, rounds=1).law()
        return {frozenset(int(seen.points[i]) for i in places): mass for places, mass in found.items()}

    assert hockey_stick(law([0] * 4 + [1]), law([0] * 5), 1.0) > 0.05  # the claim would be delta = 1e-3


def test_the_cuts_keep_the_privacy_of_their_composition():
    subject = IntervalCuts(dimension=2, alpha=0.5, epsilon=4.0, delta=0.01, size=648)
    pairs = [*swaps(0, 1, size=648, many=4), *swaps(3, 0, size=648, many=3)]
    edge = 648 // 4
    pairs.append(([0] * edge + [2] * (648 - edge), [3] + [0] * (edge - 1) + [2] * (648 - edge)))
    assert worst_delta(subject, pairs, 4.0) <= 0.01


def test_the_interval_sanitizer_keeps_its_claim_on_two_points():
    subject = IntervalSanitizer(dimension=1, size=241, **LOOSE)
    assert worst_delta(subject, swaps(0, 1, size=241, many=6), 8.0) <= 0.1


@pytest.mark.parametrize(
    "made", [PointSanitizer(alpha=0.1), PointSanitizer(proper=True), IntervalSanitizer(alpha=0.2)]
)
def test_the_whole_budget_is_spent_and_no_more(made):
    spent = made.spending
    assert composed_delta(spent.claims, epsilon=made.epsilon) <= made.delta
    assert sum(claim.delta for claim in spent.claims) <= made.delta / 2 * (1 + 1e-9)
    more = [
        ApproximateDP(1.02 * c.epsilon, c.delta) if c.delta else PureDP(1.02 * c.epsilon)
        for c in spent.claims
    ]
    assert composed_delta(more, epsilon=made.epsilon) > made.delta
    per_round = 1 if isinstance(made, PointSanitizer) else 5  # Rec on {0 … 64}: 4 calls; choosing: 1 call
    assert len(spent.claims) == per_round * made.rounds + 1


@pytest.mark.parametrize("dimension", [2, 16, 32, 33, 64])
def test_recs_failure_stays_below_the_bound_from_its_true_depth(dimension):
    cuts = IntervalCuts(dimension=dimension, alpha=0.25)
    promise = 0.25 * cuts.size
    worst = 0.0
    for quality in hard_qualities(cuts.top, height=promise):
        law = cuts.rec.distribution(quality.values_everywhere())
        good = [quality(law.outcome(i)) >= promise / 2 for i in range(len(law.log_probabilities))]
        worst = max(worst, float(np.exp(law.log_probabilities)[~np.array(good)].sum()))
    assert worst <= cuts.rec_failure(promise)


def failures(sanitizer, problem, runs, rng):
    outputs = sanitizer.sample(problem.database, runs, rng)
    return int((problem.errors(outputs, problem.database) > sanitizer.alpha).sum())


@pytest.mark.parametrize(
    "made",
    [
        PointSanitizer(dimension=64, alpha=0.1),
        PointSanitizer(dimension=64, alpha=0.2, proper=True),
        PointSanitizer(dimension=2, alpha=0.3, proper=True),
        IntervalSanitizer(dimension=64, alpha=0.25),
        IntervalSanitizer(dimension=3, alpha=0.25),
        IntervalSanitizer(dimension=1, alpha=0.3),
    ],
)
def test_all_concepts_have_error_at_most_alpha_on_hard_databases_and_near_them(made):
    """Each database gets thirty runs, of which 15 may fail.

    If a run fails with probability 0.1 (beta), 16 or more runs fail with probability below 1e-8. At 0.8,
    16 or more fail with probability above 0.999.
    """
    rng = np.random.default_rng(3)
    problems = made.problems()
    problems += [made.vary(problem, rng) for problem in problems[:4]]
    assert stats.binom.sf(15, 30, made.beta) < SIGNIFICANCE
    for problem in problems:
        assert len(problem.database) == made.size
        assert failures(made, problem, 30, rng) <= 15, problem.name


def test_points_are_found_if_and_only_if_they_are_heavy():
    made = PointSanitizer(alpha=0.1)
    heavy = made.size // 5
    database = [2**64 - 1] * heavy + [0] * heavy + list(range(1, made.size - 2 * heavy + 1))
    assert {point for point, _ in made(database, np.random.default_rng(0))} >= {0, 2**64 - 1}


def test_sizes_are_the_smallest_that_their_bounds_allow():
    for made in (PointSanitizer(alpha=0.05, proper=True), IntervalSanitizer(alpha=0.25)):
        assert made.sample_size() > made.private_size
        assert (
            made.failure_bound(made.sample_size()) <= made.beta < made.failure_bound(made.sample_size() - 1)
        )
    assert PointSanitizer(dimension=1).size == PointSanitizer(dimension=64).size
    assert IntervalSanitizer(dimension=64).size < 1_000_000


def test_a_smaller_size_is_private_but_claims_no_accuracy():
    made = IntervalSanitizer(alpha=0.25)
    assert IntervalSanitizer(alpha=0.25, size=made.private_size).utility_claim is None
    assert made.utility_claim is not None


@pytest.mark.parametrize("kind", [PointSanitizer, IntervalSanitizer])
def test_bad_parameters_are_refused_in_one_line(kind):
    with pytest.raises(InvalidValue, match="GenericSanitizer"):
        kind(delta=0.0)
    for wrong in ({"dimension": 0}, {"dimension": 65}, {"epsilon": 0}, {"alpha": 1.0}, {"beta": 0.0}):
        with pytest.raises(InvalidValue, match=rf"`{next(iter(wrong))}` of `{kind.__name__}`"):
            kind(**wrong)
    with pytest.raises(InvalidValue, match="not private"):
        kind(size=kind().private_size - 1)


@pytest.mark.parametrize("kind", [PointSanitizer, IntervalSanitizer])
def test_bad_databases_are_refused(kind):
    made, rng = kind(dimension=3, alpha=0.5), np.random.default_rng(0)
    for record, error in (
        (8, InvalidValue),
        (-1, InvalidValue),
        (2**70, InvalidValue),
        (0.5, InvalidKind),
        (True, InvalidKind),
        ("a", InvalidKind),
    ):
        with pytest.raises(error, match=f"A record of `{kind.__name__}`"):
            made([record] + [0] * (made.size - 1), rng)
    with pytest.raises(InvalidValue, match="must hold"):
        made([0] * (made.size - 1), rng)
    with pytest.raises(InvalidValue, match="A record"):
        made(np.full(made.size, -1), rng)


def test_arrays_and_lists_give_the_same_output():
    for made in (PointSanitizer(alpha=0.5), IntervalSanitizer(alpha=0.5)):
        database = made.problems()[2].database
        first, second = (made(d, np.random.default_rng(1)) for d in (database, database.tolist()))
        assert first == second
