"""Learners that keep state or share records with their problem.

No verdict rests on silent copies.
"""

import random

import numpy as np
import pytest

from audit import PAC, Accuracy, Verdict, audit_utility
from audit.errors import AuditError
from audit.options import taken
from audit.problems import FixedProblem, SampledProblem
from audit.sampling.copies import copied
from audit.sampling.isolated.recipes import draws_when_made
from audit.subject.claimed import claims, claims_utility
from audit.utility.renewal import learners_needed

CLAIM = PAC(0.1, 0.1)


def told():
    """Return a problem that takes the output of the learner as the error."""
    return SampledProblem("told", lambda rng: rng.integers(0, 2, 3).tolist(), lambda error, _: error)


class Cycle:
    """A learner that fails in the first `failing` of every `period` calls."""

    def __init__(self, period, failing):
        self.period, self.failing, self.calls = period, failing, 0

    def __call__(self, database, rng):
        self.calls += 1
        return float((self.calls - 1) % self.period < self.failing)


class Later:
    """A learner that fails in all calls after the first `after` calls."""

    def __init__(self, after):
        self.after, self.calls = after, 0

    def __call__(self, database, rng):
        self.calls += 1
        return float(self.calls > self.after)


class OnTheClass:
    """A learner that counts its calls in its class, and fails in four of five."""

    calls = 0

    def __call__(self, database, rng):
        OnTheClass.calls += 1
        return float(OnTheClass.calls % 5 != 0)


class Lucky:
    """A learner whose constructor draws whether it fails."""

    def __init__(self, chance):
        self.chance = chance
        self.fails = random.random() < chance

    def __call__(self, database, rng):
        return float(self.fails)


# Learners that keep state


@pytest.mark.parametrize("learner", [Cycle(5, 3), Later(2), OnTheClass()], ids=["0.6", "third call", "class"])
def test_a_learner_whose_calls_fail_is_refuted_on_new_learners_even_if_first_calls_succeed(learner):
    result = audit_utility(learner, CLAIM, problems=[told()])
    assert result.verdict is Verdict.REFUTED
    assert any("they confirmed the verdict, each with its own learner" in said for said in result.assumptions)


def test_a_learner_that_rarely_fails_is_met_although_its_first_call_fails():
    result = audit_utility(Cycle(50, 1), PAC(0.1, 0.5), problems=[told()])
    assert result.met
    assert any("each call of a new learner" in said for said in result.assumptions)


@pytest.mark.parametrize(("learner", "verdict"), [(Cycle(50, 1), "REFUTED"), (Later(2), "NOT_REFUTED")])
def test_fresh_asks_about_the_first_call_of_a_new_learner_and_the_result_says_so(learner, verdict):
    made = type(learner)
    arguments = (50, 1) if made is Cycle else (2,)
    result = audit_utility(learner, CLAIM, problems=[told()], fresh=lambda: made(*arguments))
    assert result.verdict.name == verdict
    assert "the claim applies to the first call of a new learner" in result.assumptions


@pytest.mark.parametrize(("chance", "fails"), [(0.3, True), (0.7, False)])
def test_what_a_constructor_draws_gives_no_verdict_on_one_learner(chance, fails):
    lucky = Lucky(chance)
    lucky.fails = fails
    result = audit_utility(lucky, PAC(0.1, 0.5), problems=[told()], significance=1e-5)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "`fresh=`" in result.reason


def test_a_learner_with_state_that_cannot_be_renewed_is_inconclusive_and_names_fresh():
    counts = [0]

    def learner(database, rng):
        counts[0] += 1
        return float(counts[0] % 2)

    result = audit_utility(learner, CLAIM, problems=[told()])
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "`fresh=`" in result.reason
    assert (result.beta_lower, result.beta_upper) == (0.0, 1.0)


def test_an_ordinary_learner_is_reported_as_stateless():
    result = audit_utility(lambda database, rng: float(rng.random() < 0.5), CLAIM, problems=[told()])
    assert result.refuted
    assert any("keeps no state between runs" in said for said in result.assumptions)


class Cached:
    """A learner that keeps what it computed or drew at its first call."""

    def __init__(self, lucky):
        self.lucky, self.kept = lucky, None

    def __call__(self, database, rng):
        if self.kept is None:
            self.kept = float(rng.random() < 0.5) if self.lucky else 0.0
        return self.kept


def test_a_cache_of_computed_values_makes_no_difference():
    cached = audit_utility(Cached(lucky=False), CLAIM, problems=[told()])
    assert cached.met
    assert any("made no difference" in said for said in cached.assumptions)


def test_what_the_first_call_draws_gives_no_verdict_on_one_learner():
    for seed in range(4):
        result = audit_utility(
            Cached(lucky=True), PAC(0.1, 0.5), problems=[told()], significance=1e-6, seed=seed
        )
        assert result.verdict is Verdict.INCONCLUSIVE


def test_fresh_reaches_both_audits_of_a_subject():
    assert taken("utility", {"fresh": Later, "size": 3}) == {"fresh": Later}


def test_draws_at_construction_with_probability_beta_are_detected():
    kept = Lucky(0.1)
    kept.fails = False
    assert draws_when_made(kept, 200)  # missed with probability 0.9^200 = 7e-10
    assert not draws_when_made(Later(2), 200)


@pytest.mark.parametrize(("p", "beta", "against"), [(1.0, 0.1, True), (0.6, 0.1, True), (0.0, 0.1, False)])
def test_enough_new_learners_are_made_to_decide(p, beta, against):
    most = learners_needed(p, beta, calls=1_000, log_limit=13.8, against=against)
    ratio = p / beta if against else (1 - p) / (1 - beta)
    assert 13.8 / np.log(ratio) < most < 2.5 * 13.8 / np.log(ratio) + 6


# Records that are shared with the learner


class Cell:
    """A record that can be hashed and can change."""

    def __init__(self, value):
        self.value = value

    def __deepcopy__(self, memo):
        return self


@pytest.mark.parametrize(
    "wrapped", [lambda cell: [cell], lambda cell: (cell,), lambda cell: [(cell, 1)], lambda cell: {0: cell}]
)
def test_a_learner_cannot_change_the_database_that_measures_it(wrapped):
    cell = Cell(1)

    def learner(database, rng):
        inside = database[0]
        (inside[0] if isinstance(inside, tuple) else inside).value = 0
        return 0

    problem = FixedProblem("cell", wrapped(cell), lambda output, _: float(output != cell.value))
    result = audit_utility(learner, CLAIM, problems=[problem])
    assert result.refuted
    assert cell.value == 1


def test_records_that_cannot_change_are_not_copied():
    database = [(1, "a"), ((2.5, None), frozenset([3])), np.int64(4)]
    assert all(one is other for one, other in zip(copied(database), database, strict=True))


# Invalid errors, and problems that were not seen


@pytest.mark.parametrize("error", [-3, -np.inf, 1j, np.complex128(0), np.array(0j)])
def test_an_invalid_error_is_refused_in_one_line(error):
    problem = FixedProblem("odd", [0], lambda output, database: error)
    with pytest.raises(AuditError, match=r"measures? (an error of|errors)") as raised:
        audit_utility(lambda database, rng: 0, CLAIM, problems=[problem])
    assert "\n" not in str(raised.value)


def test_a_negative_error_is_allowed_by_a_claim_about_distances():
    problem = FixedProblem("excess", [0], lambda output, database: -0.02)
    assert audit_utility(lambda database, rng: 0, Accuracy(0.1, 0.1), problems=[problem]).met


@pytest.mark.parametrize("errors", [[-3.0, 0.0], [-np.inf, 0.0], [0j, 0j]])
def test_errors_computed_at_once_are_checked_like_single_ones(errors):
    from audit.distributions import Finite

    class Coin:
        def __call__(self, database, rng):
            return int(rng.integers(2))

        def distribution(self, database):
            return Finite([0, 1], [0.5, 0.5])

    class Odd:
        name = "odd"

        def draw(self, rng):
            return [0]

        def distribution(self):
            return Finite([(0,)], [1.0])

        def error(self, output, database):
            return 0.0

        def errors(self, outputs, database):
            return np.array(errors)

    with pytest.raises(AuditError, match="The problem `odd` m"):
        audit_utility(Coin(), CLAIM, problems=[Odd()])


class Beside:
    utility_claim = CLAIM

    def __init__(self, problems):
        self.problems = problems

    def __call__(self, database, rng):
        return 1.0


def test_a_list_of_problems_beside_the_claim_is_audited():
    subject = Beside([told()])
    assert claims_utility(subject)
    assert claims(subject, {}) == ["utility"]
    assert audit_utility(subject).refuted


@pytest.mark.parametrize("stray", [5, "text", [3], {"a": 1}, lambda: 7])
def test_problems_of_a_wrong_kind_get_one_line(stray):
    with pytest.raises(AuditError) as raised:
        audit_utility(Beside(stray))
    assert "\n" not in str(raised.value)
    assert "problem" in str(raised.value)
