"""The choosing mechanism, bounded growth, and failures below the stated size.

The file is long because law, growth, size bound and utility are checked on the same small domains.
"""

import math
from collections import Counter
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from scipy import special, stats

from audit import ApproximateDP, Evidence, Verdict, audit_privacy
from audit.errors import AuditError, InvalidKind, InvalidValue
from audit.laws.law_check import law_log_e_value
from audit.relations import Relation
from mechanisms import ChoosingMechanism, ChoosingScores
from mechanisms.flawed import UncheckedChoosing
from mechanisms.queries import approvals
from mechanisms.selection.choosing_round import least_size
from mechanisms.selection.growth import check_growth
from mechanisms.selection.score_vectors import BoundedGrowth
from mechanisms.selection.scoring import MostFrequent

RUNS = 100_000

# alpha, beta, epsilon, delta, growth, solutions, the stated m, its exact delta, delta at m = 1, 2, 3
CHECKED = [
    (1.0, 0.5, 8.0, 0.1, 1, 3, 9, 0.00046, (0.816, 0.5, 0.184)),
    (1.0, 0.5, 8.0, 0.1, 2, 4, 9, 0.00091, (0.816, 0.5, 0.184)),
    (1.0, 0.9, 8.0, 0.2, 3, 4, 8, 0.00369, (0.816, 0.5, 0.236)),
    (1.0, 0.5, 4.0, 0.1, 2, 3, 14, 0.00247, (0.697, 0.5, 0.303)),
    (1.0, 0.9, 2.0, 0.5, 2, 3, 24, 0.00405, (0.611, 0.5, 0.389)),
    (1.0, 0.5, 12.0, 0.05, 2, 4, 8, 0.00012, (0.888, 0.5, 0.112)),
]


def written_out(scores, *, m, alpha, epsilon):
    """Return the laws on rows of scores, as BNS §4.1 defines them.

    The outcome ⊥ comes first, and is certain if all scores are 0.
    """
    scores = np.atleast_2d(np.asarray(scores, float))
    passing = stats.laplace(scores.max(axis=1), 4 / epsilon).sf(alpha * m / 2)
    with np.errstate(invalid="ignore"):
        shares = special.softmax(np.where(scores >= 1, epsilon / 2 * scores / 2, -np.inf), axis=1)
    shares = np.where((scores >= 1).any(axis=1, keepdims=True), shares, 0.0)
    laws = passing[:, None] * shares
    return np.column_stack([1 - laws.sum(axis=1), laws])


def worst_delta(at, *, m, alpha, epsilon, growth, solutions):
    """Return the largest delta over score vectors in 0 … m.

    At most `growth` scores rise by 1 and at most `growth` fall by 1.
    """
    vectors = np.array(list(product(range(m + 1), repeat=solutions)))
    laws = written_out(vectors, m=m, alpha=alpha, epsilon=epsilon)
    weights = (m + 1) ** np.arange(solutions)[::-1]
    worst = 0.0
    for step in product((-1, 0, 1), repeat=solutions):
        if 0 < max(step.count(1), step.count(-1)) <= growth:
            here = ((vectors + step >= 0) & (vectors + step <= m)).all(axis=1)
            there = (vectors[here] + step) @ weights
            excess = np.maximum(0.0, laws[here] - math.exp(at) * laws[there]).sum(axis=1)
            worst = max(worst, excess.max())
    return worst


def lone_supporter(m, *, alpha=0.5, epsilon=1.0):
    """Return Pr[y] on {x^(m−1), y}, or on {y} for m = 1.

    On the neighbour {x^m} this probability is 0.
    """
    best = max(m - 1, 1)
    share = 1.0 if m == 1 else special.expit(epsilon / 4 * (1 - best))
    return stats.laplace(best, 4 / epsilon).sf(alpha * m / 2) * share


@pytest.mark.parametrize(
    ("alpha", "beta", "epsilon", "delta", "growth", "count", "m", "published", "small"), CHECKED
)
def test_the_stated_size_is_private_and_smaller_ones_are_not(
    alpha, beta, epsilon, delta, growth, count, m, published, small
):
    assert least_size(alpha=alpha, beta=beta, epsilon=epsilon, delta=delta, growth=growth) == m
    shape = {"alpha": alpha, "epsilon": epsilon, "growth": growth, "solutions": count}
    assert round(worst_delta(epsilon, m=m, **shape), 5) == published < delta
    below = [round(worst_delta(epsilon, m=size, **shape), 3) for size in (1, 2, 3)]
    assert below == list(small)
    assert below[0] > delta


def test_the_exact_audit_covers_all_score_vectors_at_the_stated_size():
    result = audit_privacy(
        ChoosingScores(alpha=1.0, beta=0.5, epsilon=8.0, delta=0.1, growth=1, solutions=3), budget=2_000
    )
    expected = worst_delta(8.0, m=9, alpha=1.0, epsilon=8.0, growth=1, solutions=3)
    assert (result.refuted, result.evidence) == (False, Evidence.EXACT)
    assert result.delta_lower == pytest.approx(expected, rel=1e-9)
    assert result.pairs_tried == result.pairs_total == 5130
    assert result.family.startswith(
        "every score of this growth on all databases of this size, as the subject"
    )


def test_every_small_database_at_the_stated_size_is_proved_too():
    result = audit_privacy(
        ChoosingMechanism(epsilon=8.0, delta=0.1, alpha=1.0, beta=0.5, records=("a", "b")), budget=20_000
    )
    assert result.verdict is Verdict.PROVED
    assert result.pairs_tried == result.pairs_total == 9 * 2**8
    assert 0 < result.delta_lower <= 0.00046


@pytest.mark.parametrize(("m", "published"), [(1, 0.585), (5, 0.240), (10, 0.107)])
def test_the_twin_without_the_size_check_is_refuted(m, published):
    result = audit_privacy(UncheckedChoosing(size=m), budget=2_000, recorded=False)
    assert result.verdict is Verdict.REFUTED
    assert result.delta_lower == pytest.approx(lone_supporter(m), rel=1e-9)
    assert round(result.delta_lower, 3) == published
    assert {result.witness.left.count("a"), result.witness.right.count("a")} & {0, m}
    assert 0.0 in {result.witness.p, result.witness.q}


def test_the_twin_is_refuted_at_m_20_with_too_many_pairs_to_enumerate():
    twin = UncheckedChoosing(size=20)
    left, right = twin.suggested_pairs()[0]
    assert sorted({*left, *right}) == ["a", "b"]
    result = audit_privacy(twin, budget=2_000, recorded=False)
    assert result.refuted
    assert round(result.delta_lower, 4) == round(lone_supporter(20), 4) == 0.0108


@pytest.mark.parametrize("m", [1, 2, 3])
def test_the_twin_is_refuted_over_score_vectors_too(m):
    class Twin(ChoosingScores):
        _kind = UncheckedChoosing

    twin = Twin(growth=1, records_count=m)
    result = audit_privacy(twin, ApproximateDP(8.0, 0.1), budget=2_000, recorded=False)
    assert result.refuted
    assert round(result.delta_lower, 3) == CHECKED[0][-1][m - 1]


@pytest.mark.parametrize("scores", [[9, 0, 0], [4, 4, 1], [5, 4, 9], [0, 0, 0], [1, 1, 1]])
def test_answers_follow_the_law(scores, agreement, shares):
    subject = ChoosingScores(epsilon=2.0, delta=0.5, alpha=0.9, beta=0.9, growth=1)
    expected = written_out(scores, m=subject.records[-1], alpha=0.9, epsilon=2.0)[0]
    law = subject.distribution(scores)
    assert [law.pmf(answer) for answer in ("⊥", 0, 1, 2)] == pytest.approx(expected, rel=1e-9)
    outputs = subject.sample(scores, RUNS, np.random.default_rng(80))
    rng = np.random.default_rng(81)
    called = [subject(scores, rng) for _ in range(2_000)]
    for answers in (outputs, called):
        if expected[0] < 1:
            assert agreement(shares(answers, ["⊥", 0, 1, 2]), expected) > 1e-9
        else:
            assert set(answers) == {"⊥"}
        assert law_log_e_value(law, answers) < math.log(1e9)


def test_that_comparison_detects_twice_the_exponent(power):
    right = written_out([5, 4, 9], m=19, alpha=0.9, epsilon=2.0)[0]
    shares = special.softmax(2.0 * np.array([5, 4, 9]) / 2)
    wrong = np.array([right[0], *shares * (1 - right[0])])
    assert power(wrong, right, 2_000) > 0.999
    assert power(right + 0.015 * np.array([1, 0, 0, -1]), right, RUNS) > 0.99


def test_databases_are_scored_before_the_choice():
    mechanism = ChoosingMechanism(epsilon=8.0, delta=0.1, alpha=1.0, beta=0.5)
    law = mechanism.distribution(list("aaaabb") + [""] * 3)
    expected = written_out([4, 2, 0], m=9, alpha=1.0, epsilon=8.0)[0]
    assert [law.pmf(answer) for answer in ("⊥", "a", "b", "c")] == pytest.approx(expected, rel=1e-9)


def test_the_output_is_a_refusal_if_no_solution_has_a_score():
    mechanism = ChoosingMechanism(epsilon=8.0, delta=0.1, alpha=1.0, beta=0.5)
    assert mechanism.distribution([""] * 9).pmf("⊥") == 1.0
    assert set(mechanism.sample([""] * 9, 10_000, np.random.default_rng(82))) == {"⊥"}
    # without the rule for all scores 0, the noisy test would still pass with probability 2.9e-7 (N5)
    assert math.exp(ChoosingMechanism().test.log_pass(0.0)) == pytest.approx(2.9e-7, abs=5e-9)


def test_run_i_draws_the_same_numbers_on_every_database():
    mechanism = ChoosingMechanism(epsilon=8.0, delta=0.1, alpha=1.0, beta=0.5)
    states = []
    for rows in ([""] * 9, ["a"] * 9, list("aabb") + [""] * 5):
        rng = np.random.default_rng(83)
        mechanism.sample(rows, 500, rng)
        states.append(rng.bit_generator.state)
    assert states[0] == states[1] == states[2]


@pytest.mark.parametrize(("epsilon", "delta", "growth"), [(1.0, 1e-3, 1), (0.1, 1e-6, 7), (4.0, 0.4, 1000)])
def test_the_stated_size_is_the_bound_rounded_up(epsilon, delta, growth):
    first = epsilon / 4 + math.log(1 / delta)
    second = math.log(16 * growth / (0.5 * 0.1 * epsilon))
    m = least_size(alpha=0.5, beta=0.1, epsilon=epsilon, delta=delta, growth=growth)
    assert m - 1 < 16 / (0.5 * epsilon) * max(first, second) <= m


@pytest.mark.parametrize("size", [1, 100, 229])
def test_a_size_below_the_bound_is_refused_before_any_data(size):
    def score(rows, name):
        raise AssertionError("data was used")

    with pytest.raises(InvalidValue, match="must be at least 230, or it is not private; got") as caught:
        ChoosingMechanism(size=size, score=score)
    assert "\n" not in str(caught.value)
    assert ChoosingMechanism(size=230, score=score).size == 230


def test_an_epsilon_beyond_what_the_proof_allows_is_refused():
    with pytest.raises(InvalidValue, match=r"`epsilon` of `ChoosingMechanism`.* ≤ 17\.7"):
        ChoosingMechanism(alpha=1.0, beta=0.9, epsilon=40.0, delta=math.exp(-5))


def test_for_a_larger_epsilon_the_stated_size_is_not_private():
    # N27: at m = 6 the size bound holds with equality. k new solutions join one with score 3 = alpha·m/2.
    epsilon, k, delta = 40.0, int(36 / 16 * math.exp(15)), math.exp(-5)
    twin = UncheckedChoosing(alpha=1.0, beta=0.9, epsilon=epsilon, delta=delta, growth=k, size=6)
    assert twin.sample_size() == 6
    new = k * math.exp(epsilon / 4)
    mass = math.exp(twin.test.log_pass(3.0)) * new / (math.exp(3 * epsilon / 4) + new)
    assert round(mass, 5) == 0.00747
    assert mass > delta * 1.1


def test_the_printed_utility_of_lemma_4_fails_without_a_high_score():
    mechanism = ChoosingMechanism()
    assert mechanism.size == 230
    assert mechanism.printed_failure([""] * 230) == 1.0
    half = mechanism.printed_failure(["a"] * 58 + [""] * 172)  # the first whole score above alpha·m/2
    assert half == pytest.approx(stats.laplace(58, 4).cdf(57.5), rel=1e-9)
    assert round(half, 2) == 0.44 > mechanism.beta
    for rows in ([""] * 230, ["a"] * 58 + [""] * 172, ["a"] * 115 + [""] * 115):
        assert mechanism.failure(rows) == 0.0


@pytest.mark.parametrize(
    ("alpha", "beta", "epsilon", "delta", "growth", "count", "m", "published", "small"), CHECKED
)
def test_the_corrected_lemma_4_holds_on_every_score_vector(
    alpha, beta, epsilon, delta, growth, count, m, published, small
):
    mechanism = ChoosingMechanism(alpha=alpha * 0.5, beta=beta, epsilon=epsilon, delta=delta, growth=growth)
    high = alpha * 0.5 * mechanism.size
    assert mechanism.failure_bound() <= beta
    # the hardest case: opt just above alpha·m, and growth·m other solutions with the highest bad score
    opt = math.floor(high) + 1
    bad = max(1, math.ceil(opt - high) - 1)
    many = growth * mechanism.size
    scores = np.array([opt] + [bad] * many)
    law = written_out(scores, m=mechanism.size, alpha=alpha * 0.5, epsilon=epsilon)[0]
    failure = law[0] + (law[2:].sum() if bad < opt - high else 0.0)
    told = ChoosingMechanism(
        alpha=alpha * 0.5,
        beta=beta,
        epsilon=epsilon,
        delta=delta,
        growth=growth,
        solutions=range(many + 1),
        score=lambda rows, _: scores,
        vectorised=True,
    )
    assert told.failure([0] * told.size) == pytest.approx(failure, rel=1e-9)
    assert 0 < failure <= mechanism.failure_bound() <= beta


@pytest.mark.parametrize("growth", [1, 2])
def test_the_relation_of_scores_is_what_replacing_one_record_can_do(growth):
    letters = "abc"
    records = ["".join(names) for k in range(growth + 1) for names in combinations(letters, k)]
    relation, steps = BoundedGrowth(growth), set()
    for rows in product(records, repeat=3):
        before = [approvals(rows, name) for name in letters]
        for other in Relation.REPLACE_ONE.neighbours(list(rows), records):
            after = [approvals(other, name) for name in letters]
            assert before == after or relation.are_neighbours(before, after)
            steps.add(tuple(np.subtract(after, before).tolist()))
    every = {
        tuple(np.subtract(other, [5, 5, 5]).tolist()) for other in relation.neighbours([5, 5, 5], range(11))
    }
    assert steps - {(0, 0, 0)} == every


def test_all_three_ways_to_find_neighbours_of_scores_agree():
    relation, rng = BoundedGrowth(1), np.random.default_rng(84)
    listed = [tuple(other) for other in relation.neighbours([0, 3, 1], range(4))]
    expected = [
        vector for vector in product(range(4), repeat=3) if relation.are_neighbours([0, 3, 1], vector)
    ]
    assert sorted(listed) == sorted(expected)
    random = relation.neighbours([0, 3, 1], range(4), rng)
    assert {tuple(next(random)) for _ in range(500)} == set(listed)
    assert list(relation.neighbours([0, 0], [0], rng)) == []
    assert not relation.are_neighbours([0, 0], [0, 2])
    assert not relation.are_neighbours([0, 0], [0, 0, 1])


def every_step(letters, size):
    """Return the number of pairs (database, database plus one record).

    A record can be inserted at n + 1 places; equal pairs count once.
    """
    return sum(letters**n * ((n + 1) * (letters - 1) + 1) for n in range(size))


def test_a_score_of_bounded_growth_is_checked_on_every_step():
    found = check_growth(approvals, "abc", growth=2, records=["", "ab", "c"], size=4)
    assert not found.refuted
    assert found.exhaustive
    assert found.steps == every_step(3, 4)


@pytest.mark.parametrize(
    ("score", "growth", "words"),
    [
        (approvals, 1, "2 scores rise, more than growth = 1"),
        (lambda rows, name: 1 + approvals(rows, name), 2, "a score of the empty database is not 0"),
        (lambda rows, name: 2 * approvals(rows, name), 2, "changes by 2, neither 0 nor 1"),
        (lambda rows, name: len(rows) % 2, 3, "changes by -1, neither 0 nor 1"),
        (lambda rows, name: 0.5 * approvals(rows, name), 2, "changes by 0.5, neither 0 nor 1"),
        (lambda rows, name: sum(a != b for a, b in pairwise(rows)), 3, "changes by 2"),
    ],
)
def test_a_violation_of_bounded_growth_is_shown_on_two_databases(score, growth, words):
    violation = check_growth(score, "abc", growth=growth, records=["ab", "c"], size=4).violation
    assert words in str(violation)
    assert "\n" not in str(violation)
    if violation.after:
        assert Relation.ADD_OR_REMOVE_ONE.are_neighbours(violation.before, violation.after)
        change = [score(violation.after, f) - score(violation.before, f) for f in violation.solutions]
        assert all(change)


def test_a_fault_of_large_databases_is_found_by_growing_them_at_random():
    def score(rows, name):
        return approvals(rows, name) + (len(rows) > 30)

    found = check_growth(score, "ab", growth=1, records=["", "a", "b"], size=40)
    assert found.refuted
    assert len(found.violation.after) == 31
    assert not found.exhaustive


def test_the_mechanism_checks_its_own_score():
    assert not ChoosingMechanism().growth_check(size=4).refuted
    assert ChoosingMechanism(records=("abc",)).growth_check().refuted
    assert not ChoosingMechanism(records=("abc",), growth=3).growth_check(size=4).refuted


def test_a_score_that_breaks_its_growth_is_found_by_the_audit_with_the_pair():
    # one record alone decides which solution has score m
    result = audit_privacy(
        ChoosingMechanism(
            epsilon=8.0,
            delta=0.1,
            alpha=1.0,
            beta=0.5,
            records=("a", "b"),
            score=lambda rows, name: len(rows) * (rows[:1] == [name]),
        ),
        budget=2_000,
        recorded=False,
    )
    assert result.refuted
    assert result.delta_lower == pytest.approx(stats.laplace(9, 0.5).sf(4.5), rel=1e-9)
    assert Relation.REPLACE_ONE.are_neighbours(result.witness.left, result.witness.right)


def test_one_candidate_and_many_are_both_accepted():
    lone = ChoosingMechanism(epsilon=8.0, delta=0.1, alpha=1.0, beta=0.5, solutions=("a",))
    assert set(lone.distribution(["a"] * 9).support()) == {"⊥", "a"}
    counts = np.zeros(1_000_000)
    counts[[7, 9]] = 230, 12
    many = ChoosingMechanism(solutions=range(1_000_000), score=lambda rows, _: counts, vectorised=True)
    assert set(many.distribution([0] * 230).support()) == {"⊥", 7, 9}


@pytest.mark.parametrize("score", [math.nan, math.inf])
def test_a_score_that_is_not_finite_is_refused(score):
    with pytest.raises(InvalidValue, match="scores of `ChoosingMechanism` must be 3 finite numbers"):
        ChoosingMechanism(score=lambda rows, _: score).distribution([""] * 230)


@pytest.mark.parametrize("score", [-1, 0.5])
def test_a_score_that_is_not_a_count_is_refused(score):
    with pytest.raises(InvalidValue, match=f"must be whole numbers ≥ 0; got {score}"):
        ChoosingMechanism(score=lambda rows, _: score).distribution([""] * 230)


@pytest.mark.parametrize("bad", [[1, 2], [1, 2, math.nan], [1, 2, -1], [1, 2, 0.5]])
def test_a_vector_of_scores_is_checked_in_the_same_way(bad):
    with pytest.raises(InvalidValue, match=r"must hold 3 scores|must be whole numbers ≥ 0"):
        ChoosingScores().distribution(bad)


def test_a_database_of_another_size_is_refused():
    with pytest.raises(InvalidValue, match="database of `ChoosingMechanism` must hold 230 records; got 231"):
        ChoosingMechanism().distribution([""] * 231)


def test_no_candidates_and_one_that_reads_as_a_refusal_are_refused():
    with pytest.raises(InvalidValue, match="`solutions` of `ChoosingMechanism` must hold at least 1"):
        ChoosingMechanism(solutions=())
    with pytest.raises(InvalidValue, match="must not be '⊥'"):
        ChoosingMechanism(solutions=["a", "⊥"])


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        *(("epsilon", bad) for bad in (0, math.nan)),
        *((name, bad) for name in ("delta", "beta") for bad in (0, 1)),
        *(("alpha", bad) for bad in (0, 1.5)),
        ("growth", 0),
    ],
)
@pytest.mark.parametrize("build", [ChoosingMechanism, UncheckedChoosing, ChoosingScores])
def test_a_parameter_out_of_bounds_is_refused_in_one_line(build, name, bad):
    with pytest.raises(InvalidValue, match=f"The `{name}` of ") as caught:
        build(**{name: bad})
    assert "\n" not in str(caught.value)


def test_a_growth_or_size_of_the_wrong_kind_is_refused():
    with pytest.raises(InvalidKind, match="The `growth` of `ChoosingMechanism`"):
        ChoosingMechanism(growth=1.5)
    with pytest.raises(InvalidKind, match="The `size` of `ChoosingMechanism`"):
        ChoosingMechanism(size=230.0)
    with pytest.raises(InvalidValue, match="The `records` of `check_growth` must hold at least one"):
        check_growth(approvals, "a", growth=1, records=[], size=2)


# too many solutions to list


HUGE = ChoosingMechanism(candidates=MostFrequent(2**64), records=(0, 2**63, 2**64 - 1), size=1000)


def test_the_law_among_2_to_the_64_solutions_is_that_of_the_definition():
    counts = {3: 241, 2**63: 240, 2**64 - 1: 1}
    rows = [point for point, times in counts.items() for _ in range(times)] + [-1] * 518
    law = HUGE.distribution(rows)
    passed = stats.laplace(241, 4).sf(250)
    total = sum(math.exp((times - 241) / 4) for times in counts.values())
    assert law.pmf("⊥") == pytest.approx(1 - passed, rel=1e-12)
    for point, times in counts.items():
        assert law.pmf(point) == pytest.approx(passed * math.exp((times - 241) / 4) / total, rel=1e-12)
    assert len(law.outcomes) == 4
    shown = Counter(HUGE.sample(rows, RUNS, np.random.default_rng(5)))
    assert set(shown) <= set(law.support())
    # 4 tests at 2e-8; a probability that is off by 0.012 is detected with probability above 0.97: it is 7.6
    # standard deviations away, and the limit is at 5.7
    for answer in law.support():
        assert stats.binomtest(shown[answer], RUNS, law.pmf(answer)).pvalue > 2e-8


def test_candidates_have_the_law_of_the_same_solutions_listed():
    listed = ChoosingMechanism(solutions=range(4), score=list.count, records=range(4), size=230)
    named = ChoosingMechanism(candidates=Counter, records=range(4), size=230)
    for rows in ([0] * 230, [0] * 60 + [1] * 58 + [3] * 112):
        one, other = listed.distribution(rows), named.distribution(rows)
        assert all(one.pmf(k) == pytest.approx(other.pmf(k), rel=1e-12) for k in (*range(4), "⊥"))
        assert listed.failure(rows) == pytest.approx(named.failure(rows), rel=1e-12)
    assert named.distribution([1] * 230).pmf(0) == 0.0


def test_a_thousand_solutions_that_score_are_a_thousand_outcomes():
    rows = np.random.default_rng(1).integers(0, 2**63, 1000).tolist()
    assert len(HUGE.distribution(rows).outcomes) == 1001
    assert len(HUGE.sample(rows, 1000, np.random.default_rng(2))) == 1000


def test_the_growth_of_candidates_is_checked_too():
    assert not HUGE.growth_check(size=3).refuted
    pairs = ChoosingMechanism(candidates=lambda rows: Counter("".join(rows)), records=("ab", "c"))
    assert pairs.growth_check(size=2).violation.after == ["ab"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"solutions": range(2**64)}, "give `candidates` instead"),
        ({"solutions": range(2**62)}, "give `candidates` instead"),
        ({"solutions": "aba"}, "must be distinct; got 'a' twice"),
        ({"candidates": 7}, "must be a function of a database; got 7"),
    ],
)
def test_solutions_that_cannot_be_scored_are_refused_in_one_line(given, told):
    with pytest.raises(AuditError, match=told) as caught:
        ChoosingMechanism(**given)
    assert "\n" not in str(caught.value)


def test_candidates_whose_scores_are_not_counts_are_refused():
    with pytest.raises(InvalidKind, match="must return a mapping from solutions to scores"):
        ChoosingMechanism(candidates=set).distribution([""] * 230)
    with pytest.raises(InvalidValue, match=r"whole numbers ≥ 0; got 0\.5"):
        ChoosingMechanism(candidates=lambda _: {"a": 0.5}).distribution([""] * 230)
    with pytest.raises(InvalidValue, match="must not be '⊥'"):
        ChoosingMechanism(candidates=lambda _: {"⊥": 3}).distribution([""] * 230)
