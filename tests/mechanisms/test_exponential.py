"""The exponential mechanism."""

import math

import numpy as np
import pytest
from scipy import special

from audit import Verdict, audit_privacy
from audit.errors import InvalidKind, InvalidValue
from audit.relations import Relation
from mechanisms import ExponentialMechanism

RUNS = 1_000_000
MILLION = 1_000_000


def worst_loss(epsilon, solutions):
    """Return the worst loss, derived by hand.

    One score falls by the sensitivity, and all others rise by it.
    """
    grown = math.exp(epsilon / 2)
    return epsilon / 2 + math.log((1 + (solutions - 1) * grown) / (grown + solutions - 1))


def many_scores(spread):
    base = np.random.default_rng(40).normal(size=MILLION) * spread
    return lambda database, solutions: base + len(database)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("letters", ["ab", "abc", "abcdefghijklmnop"])
def test_the_loss_on_the_worst_pair_matches_the_closed_form_and_stays_below_epsilon(
    epsilon, letters, loss, pairs_of
):
    mechanism = ExponentialMechanism(
        epsilon=epsilon, solutions=tuple(letters), records=("", letters[0], letters[1:], letters)
    )
    worst = max(loss(mechanism.distribution(a), mechanism.distribution(b)) for a, b in pairs_of(mechanism))
    assert worst == pytest.approx(worst_loss(epsilon, len(letters)), rel=1e-12)
    assert worst < epsilon


@pytest.mark.parametrize("size", [1, 5, 40])
def test_the_loss_of_two_solutions_tends_to_epsilon_as_one_falls_behind(size, loss):
    mechanism = ExponentialMechanism(solutions=("a", "b"), records=("a", "b"), size=size)
    left, right = ["b"] * size, ["a"] + ["b"] * (size - 1)  # "a" is behind by `size`, then by `size` − 2
    found = loss(mechanism.distribution(left), mechanism.distribution(right))
    assert found == pytest.approx(math.log((1 + math.exp(size / 2)) / (1 + math.exp(size / 2 - 1))), rel=1e-9)
    assert found < 1.0
    assert (found > 0.999_999) == (size == 40)


def test_the_loss_tends_to_epsilon_with_the_number_of_solutions():
    rest = np.ones(MILLION)
    rest[0] = 0.0
    mechanism = ExponentialMechanism(
        solutions=range(MILLION), score=lambda rows, _: rest if rows[0] else 1.0 - rest, vectorised=True
    )
    p, q = mechanism.log_probabilities([0]), mechanism.log_probabilities([1])
    assert np.abs(p - q).max() == pytest.approx(worst_loss(1.0, MILLION), rel=1e-12)
    assert 1.0 - 2e-6 < np.abs(p - q).max() < 1.0


def test_the_law_is_softmax_of_the_scores():
    scores = {"x": 0.0, "y": 3.0, "z": -2.5}
    mechanism = ExponentialMechanism(
        epsilon=0.7, sensitivity=0.5, solutions=tuple(scores), score=lambda rows, solution: scores[solution]
    )
    expected = special.softmax(0.7 * np.array(list(scores.values())) / (2 * 0.5))  # K08 Definition 3.5
    assert [mechanism.distribution([]).pmf(name) for name in scores] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("draw", ["sample", "call"])
def test_choices_follow_that_law(draw, agreement, shares):
    mechanism, rng = ExponentialMechanism(epsilon=3.0, solutions=tuple("abc")), np.random.default_rng(41)
    outputs = (
        mechanism.sample(["a"], RUNS, rng)
        if draw == "sample"
        else [mechanism(["a"], rng) for _ in range(8_000)]
    )
    weights = np.array([math.exp(1.5), 1.0, 1.0])
    assert agreement(shares(outputs, "abc"), weights / weights.sum()) > 1e-9


SCORES = {
    "random": np.random.default_rng(47).uniform(-5.0, 5.0, 40),
    "concave": -0.02 * (np.arange(40) - 17.0) ** 2,
    "two peaks": 6.0 * np.isin(np.arange(40), (3, 30)),
    "all tied": np.zeros(40),
    "extreme": np.where(np.arange(40) < 2, 1e300, -1e300),
}


@pytest.mark.parametrize("name", SCORES)
def test_choices_follow_the_law_on_scores_of_every_shape(name, agreement, shares):
    mechanism = ExponentialMechanism(
        epsilon=1.3, solutions=range(40), score=lambda *_: SCORES[name], vectorised=True
    )
    outputs = mechanism.sample([], RUNS, np.random.default_rng(48))
    assert agreement(shares(outputs, range(40)), special.softmax(1.3 * SCORES[name] / 2)) > 1e-9


def test_that_comparison_detects_a_weight_off_by_a_tenth(power):
    right, wrong = (np.array([w, 1.0, 1.0]) / (w + 2) for w in (math.exp(1.5), 1.1 * math.exp(1.5)))
    assert power(wrong, right, RUNS) > 0.99
    assert power(np.array([math.exp(2.0), 1, 1]) / (math.exp(2.0) + 2), right, 8_000) > 0.99


@pytest.mark.parametrize("solutions", [range(3), np.array([0.5, 1.5, 2.5]), ["x", "y", "z"]])
def test_choices_are_the_solutions_themselves(solutions):
    mechanism = ExponentialMechanism(solutions=solutions, score=lambda rows, solution: 0.0)
    outputs = mechanism.sample([], 200, np.random.default_rng(42))
    assert set(outputs) == set(solutions)
    assert mechanism([], np.random.default_rng(43)) in solutions


def test_run_i_uses_the_same_uniform_number_on_every_database():
    # With two solutions, coupled choices differ with probability |p − q|; independent choices differ more
    # often.
    mechanism = ExponentialMechanism(epsilon=1.0, solutions=tuple("ab"), records=("a", "b"))
    left, right = (mechanism.sample([row], RUNS, np.random.default_rng(44)) for row in "ab")
    differ = sum(a != b for a, b in zip(left, right, strict=True))
    p = 1 / (1 + math.exp(-0.5))
    gap = p - (1 - p)
    assert mechanism.aligned
    assert abs(differ - RUNS * gap) < 7 * math.sqrt(RUNS * gap * (1 - gap))
    assert all((a, b) != ("b", "a") for a, b in zip(left, right, strict=True))


@pytest.mark.parametrize("spread", [0.0, 1e300])
def test_a_million_solutions_do_not_overflow(spread):
    mechanism = ExponentialMechanism(solutions=range(MILLION), score=many_scores(spread), vectorised=True)
    law = mechanism.distribution([1])
    outputs = mechanism.sample([1], MILLION, np.random.default_rng(45))
    assert special.logsumexp(law.log_probabilities) == pytest.approx(0.0, abs=1e-9)
    assert outputs.shape == (MILLION,)
    assert 0 <= outputs.min() <= outputs.max() < MILLION


def test_a_solution_of_vanishing_probability_is_never_chosen():
    mechanism = ExponentialMechanism(
        solutions=range(3), score=lambda rows, _: np.array([-1e6, 0.0, -1e6]), vectorised=True
    )
    assert set(mechanism.sample([], RUNS, np.random.default_rng(46)).tolist()) == {1}
    assert mechanism.log_probabilities([]) == pytest.approx([-5e5, 0.0, -5e5])


@pytest.mark.parametrize("uniform", [0.0, 1.0 - 2.0**-53])
def test_extreme_uniform_numbers_do_not_choose_it_either(uniform):
    class Extreme:
        def random(self, size):
            return np.full(size, uniform)

    mechanism = ExponentialMechanism(
        solutions=range(3), score=lambda rows, _: np.array([-1e6, 0.0, -1e6]), vectorised=True
    )
    assert mechanism.sample([], 2, Extreme()).tolist() == [1, 1]


@pytest.mark.parametrize("beta", [0.01, 0.3])
@pytest.mark.parametrize("count", [2, 50])
def test_the_error_bound_of_proposition_1_holds(beta, count):
    scores = np.linspace(0.0, 40.0, count)
    mechanism = ExponentialMechanism(
        epsilon=0.9, sensitivity=2.0, solutions=range(count), score=lambda rows, _: scores, vectorised=True
    )
    bound = mechanism.error_bound(beta)
    assert bound == pytest.approx(2 * 2.0 / 0.9 * math.log(count / beta), rel=1e-12)
    law = mechanism.distribution([])
    assert sum(law.pmf(k) for k in range(count) if scores[k] < 40.0 - bound) <= beta


def test_the_error_bound_is_tight_up_to_the_probability_of_the_best():
    # all solutions but the best are exactly t below it: the odds of a failure are (|H| − 1)·e^(−weight·t)
    mechanism = ExponentialMechanism(
        solutions=range(1001),
        score=lambda rows, _: np.where(np.arange(1001) == 0, 20.0, 0.0),
        vectorised=True,
    )
    odds = 1000 * math.exp(-10.0)
    assert 1 - mechanism.distribution([]).pmf(0) == pytest.approx(odds / (1 + odds), rel=1e-9)
    assert mechanism.error_bound(1001 * math.exp(-10.0)) == pytest.approx(20.0)


def test_the_suggested_pair_is_the_worst(loss):
    mechanism = ExponentialMechanism()
    left, right = mechanism.suggested_pairs()[0]
    assert Relation.REPLACE_ONE.are_neighbours(left, right)
    assert loss(mechanism.distribution(left), mechanism.distribution(right)) == pytest.approx(
        worst_loss(1.0, 16)
    )


def test_the_audit_shows_the_worst_pair_of_a_claim_that_it_proves():
    result = audit_privacy(ExponentialMechanism(epsilon=1.0), budget=16_000)  # the least for a proof
    assert result.verdict is Verdict.PROVED
    assert result.epsilon_lower == pytest.approx(worst_loss(1.0, 16), rel=1e-6)
    [shown] = [note for note in result.notes if note.startswith("The worst pair: ")]
    assert "['bcdefghijklmnop']" in shown
    assert f"with ε {worst_loss(1.0, 16):.4g}" in shown


def test_no_pair_is_suggested_if_finding_it_costs_more_than_the_audit():
    assert ExponentialMechanism(solutions=range(MILLION)).suggested_pairs() == []


def test_a_score_that_moves_by_three_is_found_by_the_audit_with_the_pair():
    # Scores (3, 0) and (0, 3) have log-odds ±3/2, three times the 1/2 of a score with sensitivity 1.
    result = audit_privacy(
        ExponentialMechanism(
            solutions=("a", "b"), records=("a", "b"), score=lambda rows, name: 3 * rows.count(name)
        ),
        budget=1_000,
        recorded=False,
    )
    assert result.verdict is Verdict.REFUTED
    assert result.epsilon_lower == pytest.approx(1.5, rel=1e-6)
    assert sorted([result.witness.left, result.witness.right]) == [["a"], ["b"]]


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_not_finite_is_refused(score):
    with pytest.raises(InvalidValue, match="scores of `ExponentialMechanism` must be 16 finite numbers"):
        ExponentialMechanism(score=lambda rows, _: score).distribution([])


def test_scores_in_the_wrong_number_are_refused():
    with pytest.raises(InvalidValue, match="16 finite numbers"):
        ExponentialMechanism(score=lambda rows, _: [1.0, 2.0], vectorised=True).distribution([])


def test_a_score_that_is_not_a_number_is_refused():
    with pytest.raises(InvalidKind, match="scores of `ExponentialMechanism` must be real numbers"):
        ExponentialMechanism(score=lambda rows, _: "high").distribution([])


def test_scores_whose_range_overflows_are_refused():
    mechanism = ExponentialMechanism(
        solutions=range(2), score=lambda rows, _: np.array([-1.7e308, 1.7e308]), vectorised=True
    )
    with pytest.raises(InvalidValue, match="span more than floats can hold"):
        mechanism.sample([], 1, np.random.default_rng(0))


def test_an_empty_set_of_solutions_is_refused():
    with pytest.raises(InvalidValue, match="`solutions` of `ExponentialMechanism`"):
        ExponentialMechanism(solutions=())


@pytest.mark.parametrize("name", ["epsilon", "sensitivity"])
@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf])
def test_parameters_without_privacy_are_refused(name, bad):
    with pytest.raises(
        InvalidValue, match=f"The `{name}` of `ExponentialMechanism` must be a finite number > 0"
    ):
        ExponentialMechanism(**{name: bad})


def test_repeated_solutions_have_no_law():
    with pytest.raises(InvalidValue, match="distinct"):
        ExponentialMechanism(solutions=("a", "a")).distribution([""])
