"""A_dist and its tight form.

The file is long because both mechanisms are tested against the same closed forms.
"""

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy import stats

from audit import ApproximateDP, Evidence, Verdict, audit_privacy
from audit.errors import InvalidKind, InvalidValue
from audit.laws.law_check import law_log_e_value
from audit.relations import Relation
from mechanisms import (
    StableSelection,
    StableSelectionGaps,
    TightStableSelection,
    TightStableSelectionGaps,
)
from mechanisms.selection.gaps import ScoreGaps
from mechanisms.selection.scoring import MostFrequent, TwoBest

RUNS = 50_000
KINDS = pytest.mark.parametrize("kind", [StableSelection, TightStableSelection])


def tails(gaps, *, epsilon, delta, tight=False):
    """Return Pr[fail] and Pr[pass] by scipy's law.

    The threshold is that of BNS §2.4 or of the tight form.
    """
    scale, inside = (2 / epsilon, 2 * delta) if tight else (4 / epsilon, delta)
    noisy, threshold = stats.laplace(np.abs(gaps), scale), scale * math.log(1 / inside) + 2
    return noisy.cdf(threshold), noisy.sf(threshold)


def written_out(gap, **parameters):
    """Return the output law for a signed gap (BNS §2.4)."""
    failing, passing = tails(gap, **parameters)
    return {"⊥1": failing, "⊥2" if gap == 0 else "f" if gap > 0 else "f′": passing}


def delta_between(p, q, epsilon):
    return sum(max(0.0, mass - math.exp(epsilon) * q.get(answer, 0.0)) for answer, mass in p.items())


def worst_delta(at, *, epsilon, delta, tight=False, largest=None):
    """Return the largest delta over all signed gaps that differ by at most 2."""
    largest = largest or math.ceil(4 / epsilon * math.log(1 / delta)) + 6
    gaps = np.arange(-largest, largest + 1)
    failing, passing = tails(gaps, epsilon=epsilon, delta=delta, tight=tight)
    laws = np.stack([failing, *(np.where(np.sign(gaps) == sign, passing, 0.0) for sign in (-1, 0, 1))])
    factor = math.exp(at)
    pairs = [(laws[:, :-step], laws[:, step:]) for step in (1, 2)]
    return max(
        np.maximum(0.0, p - factor * q).sum(axis=0).max() for a, b in pairs for p, q in ((a, b), (b, a))
    )


def scored(scores, **options):
    """Return a subject whose databases are the vectors of scores."""
    return StableSelection(
        solutions=range(scores), score=lambda vector, _: np.asarray(vector, float), vectorised=True, **options
    )


@pytest.mark.parametrize("tight", [False, True])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 1e-9), (1.0, 1e-6), (5.0, 0.4)])
def test_the_law_is_the_laplace_tail_at_the_threshold(tight, epsilon, delta):
    kind = TightStableSelectionGaps if tight else StableSelectionGaps
    subject = kind(epsilon=epsilon, delta=delta)
    for gap in subject.records:
        expected = written_out(gap, epsilon=epsilon, delta=delta, tight=tight)
        law = subject.distribution([gap])
        assert {answer: law.pmf(answer) for answer in law.support()} == pytest.approx(expected, rel=1e-9)


def test_a_tie_is_never_a_solution_and_a_lead_never_a_tie():
    mechanism = StableSelection(epsilon=50.0, delta=0.4)  # threshold 2.07
    assert set(mechanism.distribution(["a", "b", ""]).support()) == {"⊥1", "⊥2"}
    assert set(mechanism.distribution(["", "", ""]).support()) == {"⊥1", "⊥2"}
    assert set(mechanism.distribution(["b", "", ""]).support()) == {"⊥1", "b"}


def test_ties_below_the_best_do_not_matter():
    mechanism = scored(4)
    assert mechanism.distribution([9, 4, 4, 4]) == mechanism.distribution([9, 4, 0, 1])


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 8.0])
@pytest.mark.parametrize("delta", [1e-6, 0.01, 0.3])
def test_over_all_gaps_a_dist_uses_exactly_half_its_claim(epsilon, delta):
    for at in (epsilon, epsilon / 2):
        assert worst_delta(at, epsilon=epsilon, delta=delta) == pytest.approx(delta / 2, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 8.0])
def test_epsilon_over_2_and_epsilon_are_the_smallest_possible_for_a_small_delta(epsilon):
    assert worst_delta(0.49 * epsilon, epsilon=epsilon, delta=1e-6) > 100e-6
    assert worst_delta(0.98 * epsilon, epsilon=epsilon, delta=1e-6, tight=True) > 100e-6


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 8.0])
@pytest.mark.parametrize("delta", [1e-6, 0.01, 0.3])
def test_the_tight_twin_uses_exactly_its_claim(epsilon, delta):
    assert worst_delta(epsilon, epsilon=epsilon, delta=delta, tight=True) == pytest.approx(delta, rel=1e-9)


@pytest.mark.parametrize("at", [0.0, 0.3, 0.49, 1.0])
def test_gaps_far_beyond_the_threshold_add_nothing(at):
    subject = StableSelectionGaps(epsilon=1.0, delta=0.01)
    largest = subject.records[-1]
    assert largest < 25
    assert worst_delta(at, epsilon=1.0, delta=0.01, largest=largest) == pytest.approx(
        worst_delta(at, epsilon=1.0, delta=0.01, largest=100), rel=1e-12
    )


def test_the_exact_audit_over_all_gaps_finds_half_of_delta_at_epsilon_and_at_its_half():
    subject = StableSelectionGaps(epsilon=1.0, delta=1e-6)
    claimed, halved, exact = (
        audit_privacy(subject, claim, budget=budget)
        for claim, budget in (
            (None, 16_000),  # the least budget for a proof, because code and law are compared by runs
            (ApproximateDP(0.5, 1e-6), 1_000),
            (ApproximateDP(0.5, 5e-7), 1_000),
        )
    )
    assert claimed.verdict is Verdict.PROVED
    assert [halved.refuted, exact.refuted] == [False, False]
    assert claimed.delta_lower == pytest.approx(5e-7, rel=1e-9)
    assert halved.delta_lower == pytest.approx(5e-7, rel=1e-9)
    assert exact.epsilon_lower == pytest.approx(0.5, abs=1e-4)
    assert claimed.pairs_tried == claimed.pairs_total == 243
    assert "all 243 neighbouring pairs (score-gaps)" in claimed.family
    assert claimed.family.startswith("every database of every size, as the subject derives it from all 243")
    assert "every database of every size" in str(claimed)
    # a database with a gap of ±2, and its neighbour with a tie
    assert any(f"[{gap}] and [0], with δ 5e-07" in str(claimed) for gap in (2, -2))


@pytest.mark.parametrize("claim", [ApproximateDP(0.49, 5e-7), ApproximateDP(1.0, 4.99e-7)])
def test_the_audit_refutes_a_smaller_claim(claim):
    result = audit_privacy(StableSelectionGaps(), claim, budget=1_000, recorded=False)
    assert result.verdict is Verdict.REFUTED


def test_the_exact_audit_finds_the_claim_of_the_tight_twin_met_with_equality():
    options = {"budget": 1_000, "recorded": False}
    result = audit_privacy(TightStableSelectionGaps(epsilon=1.0, delta=1e-6), **options)
    assert (result.refuted, result.evidence) == (False, Evidence.EXACT)
    assert result.delta_lower == pytest.approx(1e-6, rel=1e-9)
    assert result.epsilon_lower == pytest.approx(1.0, abs=1e-5)
    assert audit_privacy(TightStableSelectionGaps(), ApproximateDP(1.0, 0.999e-6), **options).refuted
    assert audit_privacy(TightStableSelectionGaps(), ApproximateDP(0.99, 1e-6), **options).refuted


@KINDS
def test_the_exact_audit_of_every_small_database_finds_the_same_delta(kind):
    subject = kind()
    result = audit_privacy(subject, budget=1_000)
    assert (result.refuted, result.evidence) == (False, Evidence.EXACT)
    assert result.pairs_tried == result.pairs_total
    expected = 1e-6 if kind is TightStableSelection else 5e-7
    assert result.delta_lower == pytest.approx(expected, rel=1e-9)
    left, right = subject.suggested_pairs()[0]
    p, q = ({a: law.pmf(a) for a in law.support()} for law in map(subject.distribution, (left, right)))
    assert max(delta_between(p, q, 1.0), delta_between(q, p, 1.0)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("solutions", "highest"), [(2, 7), (3, 5), (4, 3)])
def test_score_vectors_of_neighbours_have_neighbouring_gaps(solutions, highest):
    # for all databases: between neighbours every score changes by at most 1
    seen = set()
    for vector in product(range(highest + 1), repeat=solutions):
        for step in product((-1, 0, 1), repeat=solutions):
            other = tuple(np.add(vector, step))
            (f, gap), (g, other_gap) = ((int(np.argmax(v)), max(v) - sorted(v)[-2]) for v in (vector, other))
            signed = other_gap if f == g or gap == 0 else -other_gap
            assert gap == signed or ScoreGaps().are_neighbours([gap], [signed])
            seen.add((gap, signed))
    assert {(gap, other) for gap, other in seen if gap <= 2 and gap != other} >= {
        (2, 0),
        (1, -1),
        (0, 2),
        (2, 1),
        (1, 0),
        (0, 1),
    }


def test_score_vectors_themselves_are_proved_with_the_same_delta():
    result = audit_privacy(
        scored(3, epsilon=1.0, delta=1e-6, relation=Relation.QUERY_ANSWERS, records=range(5), size=3),
        budget=16_000,
    )
    assert result.verdict is Verdict.PROVED
    assert result.delta_lower == pytest.approx(5e-7, rel=1e-9)


@pytest.mark.parametrize(
    ("epsilon", "beta", "published"),
    [(2.7, 0.1, 0.0964), (2.8, 0.1, 0.1014), (5.0, 0.1, 0.3046), (4.0, 0.2, 0.369)],
)
def test_proposition_2_ii_fails_beyond_four_logs_of_two(epsilon, beta, published):
    mechanism = StableSelection(epsilon=epsilon, delta=1e-6)
    failure = mechanism.failure(mechanism.printed_gap(beta))
    assert failure == pytest.approx(beta / 4 * math.exp(epsilon / 2), rel=1e-9)
    assert round(failure, len(str(published)) - 2) == published
    assert (failure > beta) == (epsilon > 4 * math.log(2))


def test_beyond_its_range_that_formula_is_too_high():
    mechanism, beta = StableSelection(epsilon=7.0), 0.1  # 7 > 2·ln(2/0.1) = 5.99
    scale, gap = 4 / 7, mechanism.printed_gap(beta)
    threshold = scale * math.log(1e6) + 2
    assert mechanism.failure(gap) == pytest.approx(stats.laplace(gap, scale).cdf(threshold), rel=1e-9)
    assert mechanism.failure(gap) < beta / 4 * math.exp(3.5)


def test_proposition_2_ii_is_refuted_on_a_database_at_epsilon_5():
    # this delta makes the printed gap the whole number 8
    epsilon, beta, gap = 5.0, 0.1, 8
    delta = 2 / beta * math.exp(-epsilon * gap / 4)
    mechanism = StableSelection(epsilon=epsilon, delta=delta)
    assert mechanism.printed_gap(beta) == pytest.approx(gap, rel=1e-12)
    database = ["a"] * (gap + 3) + ["b"] * 3
    assert 1 - mechanism.distribution(database).pmf("a") == pytest.approx(0.3046, abs=5e-5)
    wrong = 20_000 - mechanism.sample(database, 20_000, np.random.default_rng(70)).count("a")
    assert stats.binomtest(wrong, 20_000, beta, alternative="greater").pvalue < 1e-9  # power 1 − 1e-99
    right = 20_000 - TightStableSelection(epsilon=epsilon, delta=delta).sample(
        database, 20_000, np.random.default_rng(71)
    ).count("a")
    assert stats.binomtest(right, 20_000, beta, alternative="greater").pvalue > 1e-9


@pytest.mark.parametrize("epsilon", [0.5, 5.0])
@pytest.mark.parametrize("beta", [1e-6, 0.1, 0.5, 0.8])
def test_the_needed_gap_fails_with_probability_beta(epsilon, beta):
    for tight, kind in ((False, StableSelection), (True, TightStableSelection)):
        mechanism = kind(epsilon=epsilon, delta=1e-6)
        gap = mechanism.needed_gap(beta)
        assert mechanism.failure(gap) == pytest.approx(beta, rel=1e-9)
        if beta <= 0.5:
            rate, inside = (2, 4e-6) if tight else (4, 2e-6)
            assert gap == pytest.approx(rate / epsilon * math.log(1 / (inside * beta)) + 2, rel=1e-12)


def test_a_gap_of_zero_always_fails():
    assert StableSelection(epsilon=50.0, delta=0.9).failure(0.0) == 1.0
    assert TightStableSelection(epsilon=1.0, delta=0.5).needed_gap(0.9) == 0.0


@KINDS
@pytest.mark.parametrize("scores", [[9, 1, 0], [8, 8, 2], [3, 10, 9], [0, 0, 0], [40, 0, 1], [2.5, -4.0, 0]])
def test_answers_follow_the_law(kind, scores, agreement, shares):
    mechanism = kind(
        epsilon=2.0, delta=0.02, solutions="abc", score=lambda rows, name: rows["abc".index(name)]
    )
    low, high = sorted(scores)[-2:]
    tight = kind is TightStableSelection
    expected = written_out(high - low, epsilon=2.0, delta=0.02, tight=tight)
    expected = {("abc"[scores.index(high)] if a == "f" else a): mass for a, mass in expected.items()}
    outputs = mechanism.sample(scores, RUNS, np.random.default_rng(72))
    assert agreement(shares(outputs, expected), list(expected.values())) > 1e-9
    rng = np.random.default_rng(73)
    called = [mechanism(scores, rng) for _ in range(2_000)]
    assert agreement(shares(called, expected), list(expected.values())) > 1e-9
    law = mechanism.distribution(scores)
    assert max(law_log_e_value(law, outputs), law_log_e_value(law, called)) < math.log(1e9)


def test_that_comparison_detects_a_threshold_without_the_2(power):
    # a gap of 9 passes with probability 0.33 at the correct threshold 9.82, and 0.72 at a threshold without
    # the 2
    right, wrong = (stats.laplace(9, 2.0).sf(2 * math.log(50) + extra) for extra in (2, 0))
    assert power([right, 1 - right], [wrong, 1 - wrong], 2_000) > 0.999
    assert power([right, 1 - right], [right + 0.02, 1 - right - 0.02], RUNS) > 0.99


def test_run_i_draws_the_same_noise_for_every_gap():
    subject = StableSelectionGaps(epsilon=2.0, delta=0.1)
    near, far = (subject.sample([gap], 5000, np.random.default_rng(74)) for gap in (5, 7))
    assert all(a == "⊥1" or b == "f" for a, b in zip(near, far, strict=True))
    assert 0 < near.count("f") < far.count("f")


def test_implicit_solutions_give_the_same_answers_as_listed_ones():
    rng = np.random.default_rng(75)
    implicit = StableSelection(epsilon=3.0, delta=0.1, leaders=MostFrequent(6))
    listed = StableSelection(
        epsilon=3.0, delta=0.1, solutions=range(6), score=lambda rows, value: rows.count(value)
    )
    for length in (0, 1, 2, 5, 12):
        for _ in range(20):
            rows = rng.integers(0, 8, length).tolist()  # the solutions 6 and 7 are not candidates
            assert implicit.two_best(rows).gap == listed.two_best(rows).gap
            laws = [mechanism.distribution(rows) for mechanism in (implicit, listed)]
            assert laws[0] == laws[1]


def test_the_best_of_two_to_the_64_solutions_is_found_among_100000_records():
    mechanism = StableSelection(leaders=MostFrequent(2**64))
    records = [2**64 - 1] * 300 + list(range(99_700))
    assert mechanism(records, np.random.default_rng(76)) == 2**64 - 1  # a failure has probability 1e-27


def test_solutions_from_an_array_are_returned_as_python_numbers():
    mechanism = StableSelection(
        epsilon=50.0,
        delta=0.4,
        solutions=np.array([0.5, 1.5]),
        score=lambda rows, values: 50.0 * (values > 1),
        vectorised=True,
    )
    answer = mechanism([], np.random.default_rng(77))
    assert type(answer) is float
    assert answer == 1.5


def test_a_score_of_sensitivity_three_is_found_with_the_pair():
    # a database with a gap of 6, and its neighbour with a tie: e^(−(t − 6)·epsilon/4)/2 = (e/2)·delta
    result = audit_privacy(
        StableSelection(score=lambda rows, name: 3 * sum(name in row for row in rows), size=2),
        budget=1_000,
        recorded=False,
    )
    assert result.refuted
    assert result.delta_lower == pytest.approx(math.e / 2 * 1e-6, rel=1e-9)
    assert Relation.REPLACE_ONE.are_neighbours(result.witness.left, result.witness.right)


def test_the_tight_twin_leaves_no_room_for_sensitivity_two():
    result = audit_privacy(
        TightStableSelection(score=lambda rows, name: 2 * sum(name in row for row in rows), size=2),
        budget=1_000,
        recorded=False,
    )
    assert result.refuted
    assert result.delta_lower == pytest.approx(math.e * 1e-6, rel=1e-9)  # a gap of 4 against a tie


@pytest.mark.parametrize("epsilon", [1e-6, 1e6])
@pytest.mark.parametrize("delta", [1e-300, 0.5])
def test_extreme_parameters_do_not_overflow_and_the_law_sums_to_one(epsilon, delta):
    for kind in (StableSelection, TightStableSelection):
        mechanism = kind(epsilon=epsilon, delta=delta)
        for rows in (["a"], ["a", "b"], ["a"] * 1000):
            law = mechanism.distribution(rows)
            assert sum(law.pmf(answer) for answer in law.support()) == pytest.approx(1.0, abs=1e-12)


def test_random_neighbours_of_a_gap_are_neighbours():
    relation, rng = ScoreGaps(), np.random.default_rng(78)
    drawn = Counter(next(relation.neighbours([1], range(-5, 6), rng))[0] for _ in range(200))
    assert set(drawn) == {-1, 0, 2, 3}
    assert list(relation.neighbours([100], range(3), rng)) == []
    assert not relation.are_neighbours([1], [1])


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf])
@KINDS
def test_an_epsilon_without_privacy_is_refused(kind, bad):
    with pytest.raises(InvalidValue, match=f"The `epsilon` of `{kind.__name__}` must be a finite number > 0"):
        kind(epsilon=bad)


@pytest.mark.parametrize("bad", [0, 1, -0.1, math.nan])
def test_a_delta_outside_zero_to_one_is_refused(bad):
    with pytest.raises(InvalidValue, match=r"`delta` of `StableSelection` must be a number in \(0, 1\)"):
        StableSelection(delta=bad)


def test_the_tight_twin_requires_delta_of_at_most_a_half():
    with pytest.raises(InvalidValue, match=r"`delta` of `TightStableSelection` .* got 0\.6"):
        TightStableSelection(delta=0.6)


@pytest.mark.parametrize("solutions", [(), ("a",), range(1), np.zeros(0)])
def test_fewer_than_two_solutions_are_refused_in_one_line(solutions):
    with pytest.raises(InvalidValue, match="`solutions` of `StableSelection` must hold at least 2") as caught:
        StableSelection(solutions=solutions)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("mark", ["⊥1", "⊥2"])
def test_a_solution_that_reads_as_a_refusal_is_refused(mark):
    with pytest.raises(InvalidValue, match="means a refusal"):
        StableSelection(solutions=["a", mark])
    with pytest.raises(InvalidValue, match="means a refusal"):
        StableSelection(leaders=Told(TwoBest(mark, 1.0, 0.0))).distribution([])


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_not_finite_is_refused(score):
    with pytest.raises(InvalidValue, match="scores of `StableSelection` must be 3 finite numbers"):
        StableSelection(score=lambda rows, _: score)([], np.random.default_rng(0))
    with pytest.raises(InvalidValue, match="A score of the `leaders` of `StableSelection` must be a finite"):
        StableSelection(leaders=Told(TwoBest("a", score, 0.0)))([], np.random.default_rng(0))


def test_a_range_of_scores_that_overflows_is_refused():
    with pytest.raises(InvalidValue, match="span more than floats can hold"):
        scored(2).distribution([-1.7e308, 1.7e308])


def test_invalid_leaders_are_refused():
    with pytest.raises(InvalidValue, match="must name the best first; got scores 1 and 2"):
        StableSelection(leaders=Told(TwoBest("a", 1.0, 2.0))).distribution([])
    with pytest.raises(InvalidKind, match="must have a method `two_best`"):
        StableSelection(leaders=lambda rows: ("a", 2, 1))
    with pytest.raises(InvalidValue, match="`candidates` of `MostFrequent` must be a whole number ≥ 2"):
        MostFrequent(1)


def test_a_database_of_gaps_holds_one_finite_gap():
    with pytest.raises(InvalidValue, match="must hold one gap; got 2"):
        StableSelectionGaps().distribution([1, 2])
    with pytest.raises(InvalidValue, match="A gap must be a finite number"):
        StableSelectionGaps().distribution([math.nan])


class Told:
    def __init__(self, best):
        self.best = best

    def two_best(self, database):
        return self.best
