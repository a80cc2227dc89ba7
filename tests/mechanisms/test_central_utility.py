"""Utility of the central mechanisms on the hardest databases.

An audit by betting gives a false alarm with probability at most 1e-7. If a refutation is expected,
200,000 runs miss it with probability below 1e-12. A proof of a claim about three databases takes 6,000
runs.
"""

import math

import numpy as np
import pytest
from scipy import special, stats

from audit import Evidence, Verdict
from audit.claims import PAC, Accuracy
from audit.errors import InvalidValue
from audit.utility.front import audit_utility
from mechanisms import (
    ChoosingMechanism,
    ConcavePromise,
    ExponentialMechanism,
    LaplaceMean,
    StableSelection,
    TightStableSelection,
)
from mechanisms.concave import log_star
from mechanisms.flawed.concave import LiteralConcavePromise
from mechanisms.selection.instances import letters, shortfall_problem
from mechanisms.selection.scoring import MostFrequent

BETTING = {"exact": False, "significance": 1e-7}


def audited(subject, claim=None, **options):
    return audit_utility(subject, claim, **{**BETTING, **options})


def fails(problem, outcomes, alpha):
    """Return the failure probability of a law on a problem."""
    database = problem.draw(None)
    return sum(mass for output, mass in outcomes.items() if problem.error(output, database) > alpha)


# M1


def test_the_error_of_a_noisy_mean_meets_its_claim_with_equality_on_every_problem():
    mean = LaplaceMean(epsilon=0.7, upper=4.0, size=6, beta=0.2)
    noise = stats.laplace(scale=4.0 / (0.7 * 6))
    assert mean.utility_claim.alpha == pytest.approx(4.0 / (0.7 * 6) * math.log(5))
    assert mean.utility_claim.beta == 0.2
    assert 2 * noise.sf(mean.utility_claim.alpha) == pytest.approx(0.2)
    for problem in mean.problems():
        database = problem.draw(None)
        assert problem.error(np.mean(database) + 1.25, database) == pytest.approx(1.25)


def test_betting_refutes_a_smaller_alpha_or_beta_but_not_the_claim():
    mean = LaplaceMean(beta=0.2)
    alpha = mean.utility_claim.alpha
    assert audited(mean, budget=2_000).verdict is not Verdict.REFUTED
    # the failure rate is 0.2^0.7 = 0.32 at 0.7·alpha, and 0.2 at alpha, twice 0.1
    assert audited(mean, Accuracy(0.7 * alpha, 0.2), budget=4_000).verdict is Verdict.REFUTED
    assert audited(mean, Accuracy(alpha, 0.1), budget=4_000).verdict is Verdict.REFUTED


def test_twice_the_error_is_met():
    mean = LaplaceMean(beta=0.2)  # the failure probability is 0.04
    result = audited(mean, Accuracy(2 * mean.utility_claim.alpha, 0.2))
    assert result.verdict is Verdict.NOT_REFUTED


# Proposition 1(ii)


def test_the_tail_of_the_exponential_mechanism_is_proved_and_tight_on_its_hardest_database():
    mechanism = ExponentialMechanism()  # 16 solutions; 11 is the first whole number above 2·ln(160) = 10.15
    result = audit_utility(mechanism, budget=6_000)
    odds = 15 * math.exp(-11 / 2)
    assert result.verdict is Verdict.PROVED
    assert result.beta_upper == pytest.approx(odds / (1 + odds), rel=1e-6)
    assert audited(mechanism, problems=mechanism.problems()).verdict is Verdict.NOT_REFUTED


def test_the_bound_is_nearly_tight_for_many_solutions_just_beyond_it():
    count, beta = 1001, 0.1
    far = 2 * math.log(count / beta) * (1 + 1e-9)
    scores = np.where(np.arange(count) == 0, far, 0.0)
    mechanism = ExponentialMechanism(
        solutions=range(count), score=lambda *_: scores, vectorised=True, beta=beta
    )
    hardest = [shortfall_problem("all others just beyond", [], solutions=range(count), scores=scores)]
    failure = (count - 1) * beta / count / (1 + (count - 1) * beta / count)
    assert failure == pytest.approx(0.0908, abs=1e-4)
    exact = audit_utility(mechanism, problems=hardest, budget=2_000)
    assert exact.verdict is Verdict.PROVED
    assert exact.beta_upper == pytest.approx(failure, rel=1e-6)
    result = audited(mechanism, Accuracy(mechanism.utility_claim.alpha, 0.045), problems=hardest)
    assert result.verdict is Verdict.REFUTED


def test_half_the_weight_breaks_the_tail_bound():
    class Timid(ExponentialMechanism):
        @property
        def weight(self):
            return 0.5 * super().weight

    claim = ExponentialMechanism().utility_claim
    # the odds of the other solutions are 15·e^(−11/4): failure probability 0.49
    hardest = ExponentialMechanism().problems()
    assert audited(Timid(), claim, problems=hardest).verdict is Verdict.REFUTED


# Proposition 2(ii)


@pytest.mark.parametrize("kind", [StableSelection, TightStableSelection])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 5.0])
def test_the_required_gap_meets_the_claim(kind, epsilon):
    subject = kind(epsilon=epsilon)
    result = audit_utility(subject, budget=1_000)
    assert (result.verdict, result.evidence) == (Verdict.NOT_REFUTED, Evidence.EXACT)
    gap = math.ceil(subject.needed_gap(0.1))
    failure = stats.laplace(gap, subject.scale).cdf(subject.threshold)
    assert result.beta_upper == pytest.approx(failure, rel=1e-6)
    assert failure <= 0.1


def test_proposition_2_ii_is_refuted_by_betting_at_epsilon_5_and_met_at_the_gap_that_is_needed():
    # This delta makes the printed gap the whole number 8. The failure probability at this gap is
    # (0.1/4)·e^2.5 = 0.3046.
    subject = StableSelection(epsilon=5.0, delta=2 / 0.1 * math.exp(-5 * 8 / 4))
    printed = subject.printed_problems()
    assert {problem.name.split(",")[0] for problem in printed} == {"a lead of 8"}
    result = audited(subject, problems=printed)
    assert result.verdict is Verdict.REFUTED
    assert result.beta_lower > 0.1
    exact = audit_utility(subject, problems=printed, budget=1_000)
    assert exact.beta_lower == pytest.approx(0.3046, abs=5e-5)
    # the failure probability at a gap of 15 is 0.044
    needed = StableSelection(epsilon=5.0)
    assert audited(needed, problems=needed.problems()).verdict is Verdict.NOT_REFUTED


def test_the_printed_gap_is_enough_at_epsilon_1():
    # at a gap of 60 the failure probability is 0.041
    subject = StableSelection(epsilon=1.0, delta=2 / 0.1 * math.exp(-15))
    assert audited(subject, problems=subject.printed_problems()).verdict is Verdict.NOT_REFUTED


def test_too_many_solutions_to_list_can_be_audited():
    subject = StableSelection(leaders=MostFrequent(2**64))
    assert audit_utility(subject, budget=6_000).verdict is Verdict.PROVED
    assert [problem.draw(None)[0] for problem in subject.problems()] == [0, 0, 0]
    assert StableSelection(score=lambda rows, name: 0.0).problems() == []


# Lemma 4


def test_lemma_4_as_printed_is_refuted_by_betting():
    subject = ChoosingMechanism()
    assert subject.size == 230
    result = audited(subject, problems=subject.printed_problems())
    assert result.verdict is Verdict.REFUTED
    alone = {problem.name: problem for problem in subject.printed_problems()}
    # the output is ⊥ always at opt = 0, and with probability Pr[Lap(4) < −1/2] = 0.44 at opt = 58
    for name in ("opt = 0", "opt = 58"):
        assert audited(subject, problems=[alone[name]]).verdict is Verdict.REFUTED
    for name in ("opt = 116", "opt = 116, rival 114"):
        assert audited(subject, problems=[alone[name]]).verdict is Verdict.NOT_REFUTED


def test_the_corrected_lemma_4_holds_on_the_same_databases():
    subject = ChoosingMechanism()
    result = audit_utility(subject, budget=1_000)
    assert (result.verdict, result.evidence) == (Verdict.NOT_REFUTED, Evidence.EXACT)
    assert result.beta_upper == pytest.approx(stats.laplace(116, 4).cdf(57.5), rel=1e-6)
    assert audited(subject, problems=subject.problems()).verdict is Verdict.NOT_REFUTED


def test_good_solutions_are_counted_by_the_definition():
    subject = ChoosingMechanism()
    problems = {problem.name: problem for problem in subject.problems()}
    rival = problems["opt = 173, rival 57"]
    law = subject.distribution(rival.draw(None))
    outcomes = {answer: law.pmf(answer) for answer in law.support()}
    passed = stats.laplace(173, 4).sf(57.5)
    expected = 1 - passed * special.expit((173 - 57) / 4)  # b is 116 > 115 below
    assert fails(rival, outcomes, subject.alpha) == pytest.approx(expected, abs=1e-12)
    near = problems["opt = 116, rival 114"]
    assert near.error("b", near.draw(None)) == pytest.approx(2 / 230)
    assert near.error("⊥", near.draw(None)) == math.inf
    below = problems["opt = 115"]
    assert below.error("⊥", below.draw(None)) == 0.0


def test_a_mechanism_with_the_threshold_alpha_m_is_refuted():
    class Picky(ChoosingMechanism):
        @property
        def test(self):
            right = super().test
            return type(right)(right.scale, 2 * right.threshold + 4.0)

    assert audited(Picky()).verdict is Verdict.REFUTED  # opt = 116, threshold 119: ⊥ with probability 0.76


# Lemma 3


@pytest.mark.parametrize("top", [40, 2**64])
def test_rec_keeps_lemma_3_on_peaks_across_its_intervals(top):
    subject = ConcavePromise(top=top, beta=0.01)
    assert subject.utility_claim == PAC(0.5, 2 * 0.01 * log_star(top))
    result = audit_utility(subject, budget=1_000)
    assert (result.verdict, result.evidence) == (Verdict.NOT_REFUTED, Evidence.EXACT)
    assert result.beta_upper <= subject.utility_claim.beta
    across = [problem for problem in subject.problems() if "shelf" in problem.name]
    ends = [across[0], across[-1]]
    assert audited(subject, problems=ends).verdict is Verdict.NOT_REFUTED


def test_rec_as_printed_fails_it_across_the_border_of_two_intervals():
    subject = LiteralConcavePromise(top=4096, beta=0.01)
    assert subject.utility_claim == PAC(0.5, 0.08)
    result = audited(subject, problems=subject.problems())
    assert result.verdict is Verdict.REFUTED
    assert "[58, 69]" in str(result)  # 64 is the border of two intervals
    inside = [problem for problem in subject.problems() if "[0, 11]" in problem.name]
    assert len(inside) == 2
    assert audited(subject, problems=inside).verdict is Verdict.NOT_REFUTED


def test_the_error_of_a_point_is_its_shortfall_from_the_promise():
    subject = ConcavePromise(top=4096, beta=0.01)
    for problem in subject.problems():
        quality = problem.draw(None)
        values = [quality(point) for point in range(4097)]
        assert max(values) == subject.target
        rising = np.sign(np.diff(values))
        assert sorted(rising[rising != 0], reverse=True) == list(rising[rising != 0])  # up, then down
        low, high = values.index(subject.target), 4096 - values[::-1].index(subject.target)
        assert problem.error(low, quality) == problem.error(high, quality) == 0.0
        beyond = (
            [low - 1, high + 1]
            if "shelf" not in problem.name
            else [low - 1, high + 1 + 16 * (high - low + 1)]
        )
        assert all(problem.error(point, quality) > 0.5 for point in beyond if 0 <= point <= 4096)


def test_nothing_is_claimed_outside_the_range_of_lemma_3():
    with pytest.warns(UserWarning, match="Lemma 3"):
        assert ConcavePromise(promise=60.0).utility_claim is None
    assert ConcavePromise(promise=60.0, beta=None).utility_claim is None
    assert ConcavePromise(beta=0.2).utility_claim is None  # 2·0.2·log*(64) = 1.6


# Convention


@pytest.mark.parametrize("kind", [LaplaceMean, ExponentialMechanism, StableSelection])
@pytest.mark.parametrize("beta", [0, 1, math.nan])
def test_a_beta_outside_zero_to_one_is_refused_in_one_line(kind, beta):
    with pytest.raises(InvalidValue, match=rf"The `beta` of `{kind.__name__}` must be") as caught:
        kind(beta=beta)
    assert "\n" not in str(caught.value)


def test_problems_use_only_solutions_of_one_letter():
    assert letters(("a", "b", "c")) == ["a", "b", "c"]
    assert letters(("a", "ab", "c")) == ["a", "c"]
    assert letters(np.array(["a", "b"])) == letters(("a", 1)) == letters(()) == []
    assert ChoosingMechanism(solutions=range(5)).problems() == []
