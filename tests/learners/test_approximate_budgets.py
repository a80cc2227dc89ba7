"""How the learner of thresholds splits its budget over the calls of Rec."""

import math

import pytest
from scipy import stats

from audit.claims import ApproximateDP
from audit.laws.exact import compare_pairs
from learners import IntervalLearner
from learners.approximate.budgets import accounts, even_split, fitted_split
from learners.entries.numbers import composed_pairs
from mechanisms.composition.accounting import advanced_bound, composed_epsilon, sequential_bound
from mechanisms.concave import ConcavePromise
from mechanisms.concave.hard import hard_qualities, plateau


@pytest.mark.parametrize("dimension", [1, 5, 6, 32, 33, 64])
@pytest.mark.parametrize("delta", [1e-6, 1e-2])
def test_the_calls_of_a_split_compose_optimally_to_the_claim(dimension, delta):
    for split in (
        fitted_split(2**dimension, epsilon=1.0, delta=delta, failure=0.05),
        even_split(2**dimension, epsilon=1.0, delta=delta),
    ):
        assert len(split.claims) == 3 * split.rounds + 1 == {0: 1, 1: 4, 2: 7}[split.rounds]
        assert composed_epsilon(split.claims, delta=delta) <= 1.0 + 1e-9
        total = sequential_bound(split.claims)
        assert total.delta <= delta * (1 + 1e-9)
        assert total.epsilon >= 1.0 - 1e-6


def test_basic_composition_is_best_at_small_deltas_and_optimal_composition_at_large_ones():
    small = fitted_split(2**64, epsilon=1.0, delta=1e-6, failure=0.05)
    large = fitted_split(2**64, epsilon=1.0, delta=0.05, failure=0.05)
    assert sequential_bound(small.claims).epsilon == pytest.approx(1.0, abs=1e-8)
    assert sequential_bound(large.claims).epsilon > 1.1
    for split, delta in ((small, 1e-6), (large, 0.05)):
        assert advanced_bound(split.claims, slack=delta / 2).epsilon > composed_epsilon(
            split.claims, delta=delta
        )


def test_the_inverse_of_each_account_matches_its_formula():
    told = accounts(2**64, epsilon=1.0, delta=1e-6)
    assert told["calls"] == pytest.approx((1 / 7, 1e-6 / 4), rel=1e-8)
    assert told["tight"] == pytest.approx((1 / 5, 1e-6 / 2), rel=1e-8)
    each, part = told["lemma 2"]
    assert part == pytest.approx(1e-6 / 20)
    assert math.sqrt(30 * math.log(1 / (5 * part))) * each + 30 * each**2 == pytest.approx(1.0, rel=1e-8)


@pytest.mark.parametrize("dimension", [12, 64])
def test_the_exact_law_of_rec_with_the_fitted_split_keeps_the_budget(dimension):
    from learners.entries.numbers import _rec

    subject = _rec(dimension=dimension)
    pairs = composed_pairs(dimension, count=6)
    found = compare_pairs(pairs, subject.distribution, subject.claim)
    assert found.within
    assert found.delta > 1e-3  # the budget is 0.05; the pairs reveal a real loss


def test_rec_keeps_the_stated_budget_at_64_bits_and_a_split_of_four_times_as_much_exceeds_it():
    from learners.entries.numbers import _rec

    stated = {"epsilon": 1.0, "delta": 1e-6}
    subject, pairs = _rec(dimension=64, **stated), composed_pairs(64, count=6, **stated)
    assert subject.claim == ApproximateDP(**stated)
    found = compare_pairs(pairs, subject.distribution, subject.claim)
    assert found.within
    assert found.delta > 1e-7  # the budget is 1e-6
    greedy = {"epsilon": 4.0, "delta": 4e-6}
    law = _rec(dimension=64, **greedy).distribution
    assert compare_pairs(composed_pairs(64, count=6, **greedy), law, subject.claim).over


def test_rec_with_three_times_the_budget_exceeds_the_claim_on_those_pairs():
    from dataclasses import replace

    from learners.entries.numbers import _rec

    subject = _rec(dimension=12)
    greedy = replace(subject, split=fitted_split(2**12, epsilon=6.0, delta=0.4, failure=0.05))
    pairs = composed_pairs(12, count=6)
    assert compare_pairs(pairs, greedy.distribution, ApproximateDP(0.5, 1e-3)).over


@pytest.mark.parametrize("top", [2**5, 2**6, 2**12, 2**64])
@pytest.mark.parametrize("even", [False, True])
def test_rec_fails_less_than_the_bound_on_plateaus_and_shelves(top, even):
    """The failure probabilities are exact, on the hardest qualities known.

    They are taken at the smallest promise.
    """
    split = (
        even_split(top, epsilon=1.0, delta=1e-3)
        if even
        else fitted_split(top, epsilon=1.0, delta=1e-3, failure=0.05)
    )
    promise = split.least_promise(0.05)
    assert split.failure_at(promise) <= 0.05
    learner = IntervalLearner(dimension=top.bit_length() - 1, delta=1e-3)
    from dataclasses import replace

    rec = replace(learner.mechanism(1000), promise=promise, split=split)
    worst = 0.0
    for quality in hard_qualities(top, height=promise):
        law = rec.distribution(quality)
        bad = [point for point in law.support() if quality(point) < promise / 2]
        worst = max(worst, math.fsum(law.pmf(point) for point in bad))
    assert worst <= 0.05


def test_the_even_split_is_concave_promise_itself():
    each, part = accounts(4096, epsilon=1.0, delta=1e-3)["tight"]
    learner = IntervalLearner(dimension=12, delta=1e-3, split="even")
    ours = learner.mechanism(500)
    theirs = ConcavePromise(top=4096, epsilon=each, delta=part, promise=ours.target, beta=None)
    quality = plateau(4096, 59, 69, height=ours.target)
    a, b = ours.distribution(quality), theirs.distribution(quality)
    assert {x: a.pmf(x) for x in a.support()} == pytest.approx({x: b.pmf(x) for x in b.support()}, abs=1e-12)


@pytest.mark.parametrize(("top", "inner"), [(2**12, 13), (2**40, 7), (2**64, 7)])
def test_every_kind_of_failure_has_an_equal_share_at_the_least_promise(top, inner):
    """Three kinds of failure are computed by hand.

    One of 31 rivals wins the choice from the set H, the noise of A_dist prevents a release, or the
    innermost choice is wrong.
    """
    split = fitted_split(top, epsilon=1.0, delta=1e-6, failure=0.05)
    gap = split.least_promise(0.05) / (2 * 4**split.rounds)
    share = 0.05 / (2 * split.rounds + 1)
    for level, budget in enumerate(split.levels[:-1]):
        ahead = gap * 4 ** (split.rounds - 1 - level)
        assert 31 * math.exp(-budget.choice * ahead / 2) == pytest.approx(share, rel=1e-6)
        stable = budget.stable
        threshold = 2 + 2 / stable.epsilon * math.log(1 / (2 * stable.delta))
        refused = stats.laplace.cdf(threshold - ahead, scale=2 / stable.epsilon)
        assert refused == pytest.approx(share, rel=1e-6)
    innermost = (inner - 1) * math.exp(-split.levels[-1].choice * gap / 2)
    assert innermost == pytest.approx(share, rel=1e-6)
