"""Exact utility audits whose learners or problems declare wrong laws."""

import math
import os
import sys
import time
from dataclasses import dataclass, replace
from itertools import chain, cycle

import numpy as np
import pytest

from audit import PAC, Accuracy, Evidence, Verdict, audit_utility
from audit.distributions import Finite
from audit.errors import InvalidKind, InvalidValue, SubjectError
from audit.evidence.failures import least_runs
from audit.problems import FixedProblem, SampledProblem
from audit.task import Task
from audit.utility.law_check import failures_log_e_value

CLAIM = PAC(alpha=0.5, beta=0.1)


def fixed(number):
    return FixedProblem(f"on {number}", [number], lambda output, database: float(output))


def ones(p):
    return Finite([0, 1], [1.0 - p, p])


@dataclass(frozen=True)
class Learner:
    """A learner that fails with probability `says`, but always on the database `bad`.

    Its law ignores this exception.
    """

    bad: int | None = None
    says: float = 0.05

    def __call__(self, database, rng):
        return 1 if database[0] == self.bad else int(rng.random() < self.says)

    def distribution(self, database):
        return ones(self.says)


@dataclass(frozen=True)
class Drawn:
    """A problem that draws [1] with probability `true`, else [0].

    Its law says that the probability is `said`.
    """

    true: float
    said: float
    name: str = "drawn"

    def draw(self, rng):
        return [int(rng.random() < self.true)]

    def error(self, output, database):
        return float(output)

    def distribution(self):
        return Finite([[0], [1]], [1.0 - self.said, self.said])


class Copies:
    """A learner that returns its record, as its law says."""

    def __call__(self, database, rng):
        return database[0]

    def distribution(self, database):
        return Finite([database[0]], [1.0])


@pytest.mark.parametrize("place", [0, 3, 9])
def test_a_law_that_is_wrong_on_one_of_many_problems_proves_nothing(place):
    result = audit_utility(Learner(bad=place), CLAIM, problems=[fixed(k) for k in range(10)])
    assert result.verdict is Verdict.ERROR
    assert f"`on {place}`" in result.reason
    assert audit_utility(Learner(), CLAIM, problems=[fixed(k) for k in range(10)]).verdict is Verdict.PROVED


def test_a_problem_whose_draws_contradict_its_law_proves_nothing():
    result = audit_utility(Copies(), CLAIM, problems=[Drawn(true=0.5, said=0.01)])
    assert result.verdict is Verdict.ERROR
    assert "the laws do not match the runs" in result.reason
    assert audit_utility(Copies(), CLAIM, problems=[Drawn(0.05, 0.05)]).verdict is Verdict.PROVED


def test_a_law_that_is_wrong_only_on_a_rare_database_proves_nothing():
    result = audit_utility(Learner(bad=1, says=0.01), CLAIM, problems=[Drawn(0.2, 0.2)])
    assert result.verdict is Verdict.ERROR


def test_a_law_that_is_wrong_only_on_a_rare_database_meets_nothing_by_conditional_bets():
    drawn = SampledProblem("drawn", lambda rng: [int(rng.random() < 0.2)], lambda output, _: float(output))
    result = audit_utility(Learner(bad=1, says=0.01), CLAIM, problems=[drawn])
    assert result.verdict is Verdict.ERROR
    honest = audit_utility(Learner(says=0.01), CLAIM, problems=[drawn])
    assert (honest.verdict, honest.conditional) == (Verdict.NOT_REFUTED, True)


def test_errors_of_a_batch_that_differ_from_single_errors_prove_nothing():
    class Lenient(Drawn):
        def errors(self, outputs, database):
            return np.zeros(len(outputs))

    assert audit_utility(Learner(says=0.5), CLAIM, problems=[Lenient(0.5, 0.5)]).verdict is Verdict.ERROR


def test_a_failure_probability_that_a_problem_makes_up_proves_nothing():
    problem = replace(fixed(0), tail=lambda law, alpha, database: 0.0)
    assert audit_utility(Learner(says=0.5), CLAIM, problems=[problem]).verdict is Verdict.ERROR


# Runs that do not finish


@dataclass(frozen=True)
class Hangs(Learner):
    """A learner that hangs with probability `often`, and by its law never fails."""

    often: float = 1.0

    def __call__(self, database, rng):
        if rng.random() < self.often:
            time.sleep(60)
        return 0

    def distribution(self, database):
        return Finite([0], [1.0])


@pytest.mark.parametrize("problem", [fixed(0), SampledProblem("drawn", lambda rng: [0], lambda o, _: o)])
def test_a_law_proves_nothing_of_code_that_hangs(problem):
    never = audit_utility(Hangs(often=1.0), CLAIM, problems=[problem], run_time_limit=0.02)
    assert never.verdict is Verdict.ERROR
    assert "no run finished" in never.reason
    rarely = audit_utility(Hangs(often=0.1), CLAIM, problems=[problem], run_time_limit=0.02)
    assert rarely.verdict is Verdict.INCONCLUSIVE
    assert "`exact=False`" in rarely.reason


def test_laws_without_time_for_comparison_decide_nothing():
    result = audit_utility(Learner(), CLAIM, problems=[fixed(0)], time_limit=1e-9)
    assert (result.verdict, result.evidence) == (Verdict.INCONCLUSIVE, Evidence.EXACT)
    assert "time ran out" in result.reason


def test_a_time_limit_that_ends_a_comparison_leaves_no_proof(monkeypatch):
    problems = [fixed(0), fixed(1)]
    whole = audit_utility(Learner(), CLAIM, problems=problems)
    assert whole.verdict is Verdict.PROVED
    for calls in range(8):  # the limit passes between two looks at the clock, wherever they are
        late = chain([False] * calls, cycle([True]))
        monkeypatch.setattr(Task, "is_late", lambda self, late=late: next(late))
        found = audit_utility(Learner(), CLAIM, problems=problems)
        assert (found.verdict is Verdict.PROVED) == (found.samples == whole.samples), calls


# Faults of problems, on the exact path


class Faulty(Drawn):
    def distribution(self):
        raise KeyError("nothing")


class Listed(Drawn):
    def distribution(self):
        return [0]


@pytest.mark.parametrize("kind", [Faulty, Listed])
def test_a_problem_whose_law_is_not_a_law_gets_one_line(kind):
    with pytest.raises(SubjectError, match="problem `drawn`") as caught:
        audit_utility(Copies(), CLAIM, problems=[kind(0.05, 0.05)])
    assert "\n" not in str(caught.value)


def test_a_climb_that_fails_is_reported_in_one_line_on_the_exact_path():
    class Failing(Learner):
        def problems(self):
            return [fixed(0)]

        def vary(self, problem, rng):
            raise ZeroDivisionError

    with pytest.raises(SubjectError, match="`vary` of the problems failed"):
        audit_utility(Failing(), CLAIM)

    class Wrong(Failing):
        def vary(self, problem, rng):
            return 3

    with pytest.raises(InvalidKind, match="no `name`"):
        audit_utility(Wrong(), CLAIM)


def test_random_problems_are_looked_at_on_the_exact_path_too():
    class Random(Copies):
        def problems(self):
            return [fixed(0)]

        def random(self, rng):
            return fixed(1)

    result = audit_utility(Random(), CLAIM)
    assert (result.verdict, result.evidence, result.worst) == (Verdict.REFUTED, Evidence.EXACT, "on 1")


# The faults of a learner, and its runs


def test_a_learner_that_ends_the_process_has_failed():
    def leaves(database, rng):
        if rng.random() < 0.5:
            sys.exit(3)
        return 0

    assert audit_utility(leaves, CLAIM, problems=[fixed(0)]).verdict is Verdict.REFUTED


def at_home():
    home = os.getpid()
    return lambda database: float(os.getpid() != home)


def test_a_learner_without_a_generator_stays_in_one_process():
    assert audit_utility(at_home(), CLAIM, problems=[fixed(0)], jobs=2, until="budget", budget=8_000).met


def test_the_budget_is_exceeded_only_by_the_state_check_and_the_repeated_failure():
    with pytest.raises(InvalidValue, match="at least 16"):
        audit_utility(lambda database: 0, PAC(0.1, 0.1), problems=[fixed(0)], budget=15)
    result = audit_utility(lambda database: 1, PAC(0.1, 0.1), problems=[fixed(0)], budget=16)
    state_told, shown = 24, 2
    assert (result.verdict, result.samples) == (Verdict.REFUTED, 16 + state_told + shown)


def test_a_budget_too_small_to_meet_a_claim_is_answered_with_one_large_enough():
    result = audit_utility(lambda database: 0, PAC(0.1, 0.01), problems=[fixed(0), fixed(1)], budget=2_000)
    assert result.verdict is Verdict.INCONCLUSIVE
    said = result.reason.partition("without a failure each problem needs ")[2]
    needed = int(said.partition(" runs")[0].replace(",", ""))
    assert 1_400 < needed < 1_900  # ln(1e6)/ln(1/0.99) = 1,375, plus more for betting on a dozen stakes
    enough = audit_utility(lambda database: 0, PAC(0.1, 0.01), problems=[fixed(0)], budget=needed + 8)
    assert enough.met


def test_no_number_of_runs_meets_a_claim_of_no_failure():
    result = audit_utility(lambda database: 0, PAC(0.1, 0.0), problems=[fixed(0)], budget=2_000)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "no number of runs" in result.reason


def test_a_claim_that_allows_nearly_every_failure_is_answered_at_once():
    assert least_runs(1 - 1e-9, 1e-6) > 1e10
    with pytest.raises(InvalidValue, match="can never refute"):
        audit_utility(lambda database: 0, PAC(0.1, 1 - 1e-9), problems=[fixed(0)])


def test_more_problems_than_runs_are_not_all_looked_at():
    many = [fixed(k) for k in range(2_000)]
    result = audit_utility(lambda database: 0, CLAIM, problems=many, budget=400)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.samples <= 400


def test_bounds_are_in_order_even_if_the_error_changes_with_time():
    class Later:
        name = "later"
        calls = 0

        def draw(self, rng):
            return [0]

        def error(self, output, database):
            self.calls += 1
            return float(self.calls > 400)

    result = audit_utility(lambda database: 0, CLAIM, problems=[Later()], until="budget", budget=2_000)
    assert result.beta_lower <= result.beta_upper


# The e-value


@pytest.mark.parametrize("probabilities", [[0.3], [0.01, 0.9], [0.5, 0.0, 1.0]])
def test_the_e_value_of_right_probabilities_has_expectation_one(probabilities):
    total = 0.0
    for outcome in np.ndindex(*(2,) * len(probabilities)):
        failed = np.array(outcome, dtype=float)
        chance = np.prod(np.where(failed > 0, probabilities, 1.0 - np.array(probabilities)))
        if chance > 0:
            total += chance * math.exp(failures_log_e_value(failed, np.array(probabilities)))
    assert total == pytest.approx(1.0, abs=1e-12)


def test_twice_the_failure_probability_of_the_law_is_seen_within_300_trials():
    failed = np.repeat([1.0, 0.0], [60, 240])
    assert failures_log_e_value(failed, np.full(300, 0.1)) > math.log(
        1e4
    )  # the best of 36 bets gains about KL(0.2 ‖ 0.1)·300 = 13.3 nats; averaging them costs ln 36 = 3.6
    assert failures_log_e_value(failed, np.full(300, 0.2)) < 0


def test_an_exact_audit_of_an_absolute_error_still_holds():
    claim = Accuracy(0.0, 0.05)
    assert audit_utility(Learner(), claim, problems=[fixed(0)]).verdict is Verdict.PROVED


def test_an_exact_climb_follows_errors_if_no_problem_fails_yet():
    """Nine steps lead from a problem without error to one that fails.

    The learner draws nothing.
    """

    class Constant:
        def __call__(self, database, rng):
            return 0

        def distribution(self, database):
            return Finite([0], [1.0])

    class Steps:
        def problems(self):
            return [self._at(0)]

        def vary(self, problem, rng):
            return self._at(problem.database[0] + int(rng.integers(-1, 2)))

        def _at(self, step):
            return FixedProblem(f"step {step}", [step], lambda output, database: database[0] / 10)

    found = audit_utility(Constant(), PAC(alpha=0.85, beta=0.0), problems=Steps())
    assert (found.verdict, found.evidence, found.worst) == (Verdict.REFUTED, Evidence.EXACT, "step 9")


def test_an_exact_climb_over_ever_slightly_worse_problems_ends():
    @dataclass(frozen=True)
    class Creeping(Learner):
        def distribution(self, database):
            return ones(self.says * (1 - 1 / database[0]))

        def __call__(self, database, rng):
            return int(rng.random() < self.says * (1 - 1 / database[0]))

    class Endless:
        def problems(self):
            return [fixed(2)]

        def vary(self, problem, rng):
            return fixed(problem.database[0] + 1)

    result = audit_utility(Creeping(), CLAIM, problems=Endless())
    assert result.met
    assert 0.049 < result.beta_upper < 0.05


@pytest.mark.parametrize(
    ("failure", "beta", "verdict"),
    [
        (5e-10, 0.0, Verdict.REFUTED),
        (5e-10, 1e-10, Verdict.REFUTED),
        (0.1 * (1 + 1e-6), 0.1, Verdict.REFUTED),
        (0.1 * (1 + 1e-12), 0.1, Verdict.PROVED),
        (0.0, 0.0, Verdict.PROVED),
    ],
)
def test_an_exact_failure_is_compared_with_its_beta_however_small(failure, beta, verdict):
    learner = Learner(says=failure)
    assert audit_utility(learner, PAC(alpha=0.5, beta=beta), problems=[fixed(0)]).verdict is verdict
