"""`audit_utility` as users call it: verdicts, searches, laws, faults and bad arguments.

The file is long because one small learner and its problems go through every verdict and every fault.
"""

import copy
import dataclasses
import json
import math
import re
import time
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import strategies as st

from audit import PAC, Accuracy, Evidence, PureDP, UtilityResult, Verdict, audit_utility
from audit.distributions import Density, Finite
from audit.doors.summary import line
from audit.errors import AuditError, InvalidKind, InvalidValue, SubjectError
from audit.problems import FixedProblem, Problem, SampledProblem
from audit.results.result import PrivacyRefuted
from audit.utility.families import Family

CLAIM = PAC(alpha=0.25, beta=0.1)
HALF = PAC(alpha=0.5, beta=0.2)


def coins(name="coins", size=5):
    return SampledProblem(name, lambda rng: rng.integers(0, 2, size).tolist(), lambda output, _: output)


def failing(p):
    """Return a learner whose output is its error: 1 with probability p, else 0."""
    return lambda database, rng: float(rng.random() < p)


@dataclass(frozen=True)
class Lawful:
    """A learner that has error 1 with probability `database[0]`, else 0."""

    utility_claim: PAC = CLAIM

    def __call__(self, database, rng):
        return float(rng.random() < database[0])

    def distribution(self, database):
        return Finite([0.0, 1.0], [1.0 - database[0], database[0]])


def fixed(p):
    return FixedProblem(f"fails with {p}", [p], lambda output, database: output)


# Verdicts


def test_twice_the_claimed_failure_probability_is_refuted():
    result = audit_utility(failing(0.2), CLAIM, problems=[coins()])
    assert result.verdict is Verdict.REFUTED
    assert result.evidence is Evidence.STATISTICAL
    assert 0.1 <= result.beta_lower <= 0.2 <= result.beta_upper
    assert result.samples_to_refutation <= result.samples < 2_000


def test_half_the_claimed_failure_probability_is_met_on_one_problem_and_says_so():
    result = audit_utility(failing(0.05), CLAIM, problems=[coins()])
    assert result.verdict is Verdict.NOT_REFUTED
    assert result.met
    assert result.beta_lower <= 0.05 <= result.beta_upper <= 0.1
    assert "met with confidence 1 − 1e-06 on this 1 problem" in str(result)
    assert "not a proof" in str(result)


def test_a_claim_neither_refuted_nor_met_is_inconclusive_with_its_bounds():
    result = audit_utility(failing(0.1), CLAIM, problems=[coins()], budget=1_000)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert not result.met
    assert result.beta_lower < 0.1 < result.beta_upper
    assert "1,000 runs" in result.reason
    said = " ".join(str(result).split())
    between = re.search(r"lies between (\S+) and (\S+)\. The probability", said).groups()
    assert between == re.search(r"is at least (\S+) and at most (\S+) \(claimed", said).groups()
    assert float(between[0]) <= result.beta_lower
    assert float(between[1]) >= result.beta_upper


def test_close_bounds_suggest_a_next_step_and_wide_ones_do_not():
    open_one = UtilityResult("m", CLAIM, Verdict.INCONCLUSIVE, Evidence.STATISTICAL, "The budget was spent")
    close = dataclasses.replace(open_one, beta_lower=0.0894, beta_upper=0.1051)
    assert "equality" not in str(open_one)
    assert "This says nothing for or against the claim." in str(open_one)
    said = " ".join(str(close).split())
    assert "the claim may hold with equality. Raise the budget, allow a larger α or β, or declare" in said
    assert "This says nothing" not in said


def test_a_failure_is_printed_with_what_repeats_it():
    result = audit_utility(failing(0.3), CLAIM, problems=[coins()])
    said = " ".join(str(result).split())
    assert f"on the saved result, repeats it from seed {result.witness.seed}." in said
    assert "Again result.replay(), or the same audit with seed=0" in said
    unlike = dataclasses.replace(result.witness, repeats=False)
    other = " ".join(str(dataclasses.replace(result, witness=unlike)).split())
    assert "did not give the same failure again." in other
    assert "repeats it" not in other


def test_one_problem_that_is_not_met_is_enough_for_inconclusive():
    def learner(database, rng):
        return float(rng.random() < (0.1 if len(database) == 5 else 0.0))

    result = audit_utility(learner, CLAIM, problems=[coins(), coins("easy", size=3)], budget=5_000)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert {problem.name: problem.met for problem in result.problems} == {"coins": False, "easy": True}


def test_the_worst_problem_is_found_and_named_with_a_failure_drawn_from_it():
    def learner(database, rng):
        return float(len(database) == 3 and rng.random() < 0.5)

    problems = [coins(f"{size} records", size=size) for size in range(1, 9)]
    result = audit_utility(learner, CLAIM, problems=problems)
    assert result.verdict is Verdict.REFUTED
    assert result.worst == result.witness.problem == "3 records"
    assert len(result.witness.database) == 3
    assert (result.witness.output, result.witness.error) == (1.0, 1.0)


def test_runs_after_the_refutation_tighten_the_bounds_if_asked_for():
    short = audit_utility(failing(0.2), CLAIM, problems=[coins()])
    long = audit_utility(failing(0.2), CLAIM, problems=[coins()], until="budget", budget=4_000)
    assert long.verdict is Verdict.REFUTED
    assert long.samples_to_refutation == short.samples_to_refutation
    assert short.beta_lower < long.beta_lower <= 0.2


def test_a_claim_of_no_failure_is_refuted_by_the_first_failure():
    result = audit_utility(failing(0.05), PAC(0.25, 0.0), problems=[coins()], budget=2_000)
    assert result.verdict is Verdict.REFUTED


def test_the_reported_sample_size_is_that_of_the_worst_problem():
    def learner(database, rng):
        if len(database) == 3:
            return CLAIM.alpha  # this is no failure, but the problem looks worse at first
        return float(rng.random() < 0.2)

    problems = [
        SampledProblem(f"{n} records", lambda rng, n=n: [0] * n, lambda output, database: output)
        for n in (3, 5)
    ]
    result = audit_utility(learner, CLAIM, problems=problems)
    assert (result.worst, result.sample_size) == ("5 records", 5)


def test_an_error_equal_to_alpha_up_to_rounding_is_not_above_alpha():
    problem = SampledProblem("sum", lambda rng: [], lambda output, database: 0.1 + 0.2)
    assert audit_utility(failing(0), PAC(0.3, 0.1), problems=[problem]).met


def test_a_refusal_with_infinite_error_is_a_failure():
    problem = SampledProblem("sum", lambda rng: [], lambda output, database: math.inf)
    result = audit_utility(failing(0), Accuracy(1_000, 0.1), problems=[problem])
    assert result.refuted
    assert result.witness.error == math.inf
    assert UtilityResult.from_json(result.to_json()) == result


def test_the_same_seed_gives_the_same_bytes_for_any_jobs_and_isolation():
    options = {"problems": [coins(), coins("more", size=9)], "budget": 3_000, "seed": 3}
    one = audit_utility(failing(0.15), CLAIM, **options)
    for other in ({"jobs": 2}, {"isolate": True}, {"isolate": True, "jobs": 2}):
        again = audit_utility(failing(0.15), CLAIM, **options, **other)
        assert json.dumps(again.to_json()["result"]) == json.dumps(one.to_json()["result"])
    assert audit_utility(failing(0.15), CLAIM, **{**options, "seed": 4}) != one


def test_a_failure_can_be_drawn_again_from_its_seed_alone():
    result = audit_utility(failing(0.3), CLAIM, problems=[coins()])
    saved = UtilityResult.from_json(json.dumps(result.to_json()))
    again = saved.replay(failing(0.3), problems=[coins()])
    assert again.repeats
    assert (again.database, again.output, again.error) == (result.witness.database, 1.0, 1.0)
    with pytest.raises(AuditError, match=r"so its error cannot be measured: give it in `problems`"):
        saved.replay(failing(0.3))
    assert result.replay(failing(0.3)).repeats  # a live result knows its problem
    assert not saved.replay(failing(0.0), problems=[coins()]).repeats


class CountsThree:
    """A learner whose law is right only for databases of three records."""

    def __call__(self, database, rng):
        return len(database)

    def distribution(self, database):
        return Finite([3, 4], [1.0, 0.0])


@pytest.mark.parametrize("database", [[1, 2, 3], np.array([1, 2, 3])])
def test_an_error_that_changes_its_database_changes_no_later_run(database):
    def changing(output, given):
        # The error is 0 only if the database is still [1, 2, 3].
        distance = abs(output - sum(given) / 2)
        given[0] += 1
        return distance

    problem = FixedProblem("changing", database, changing)
    for _ in range(2):
        result = audit_utility(CountsThree(), CLAIM, problems=[problem], exact=False, budget=2_000)
        assert (result.verdict, list(problem.database)) == (Verdict.NOT_REFUTED, [1, 2, 3])


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("isolate", [False, True])
@pytest.mark.parametrize(
    ("database", "change"),
    [
        ([[2, 1], [3], [4]], lambda rows: rows[0].sort()),
        ({"a": [1], 1: 2, 2: 2}, lambda rows: rows.pop(1, 0)),
    ],
)
def test_an_error_that_changes_a_database_too_costly_to_copy_is_refused(database, change, exact, isolate):
    problem = FixedProblem("changing", copy.deepcopy(database), lambda _, given: float(bool(change(given))))
    with pytest.raises(SubjectError, match=r"^The problem `changing` changes the database .* on a copy$"):
        audit_utility(CountsThree(), CLAIM, problems=[problem], exact=exact, isolate=isolate, budget=2_000)
    assert problem.database == database


def test_an_error_that_shrinks_its_database_is_refused():
    def shrinking(output, given):
        given.pop()
        return 0.0

    problem = FixedProblem("shrinking", [1, 2, 3], shrinking)
    with pytest.raises(SubjectError, match="`shrinking` changes the database"):
        audit_utility(CountsThree(), CLAIM, problems=[problem])
    assert problem.database == [1, 2, 3]


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("many", [False, True])
def test_a_claim_about_probabilities_refuses_a_finite_error_above_1(exact, many):
    @dataclass(frozen=True)
    class Twofold:
        name: str = "twofold"
        largest: float = 2.0

        def draw(self, rng):
            return [0.5]

        def distribution(self):
            return Finite([[0.5]], [1.0])

        def error(self, output, database):
            return self.largest * output

    class AtOnce(Twofold):
        def errors(self, outputs, database):
            return self.largest * np.asarray(outputs)

    kind = AtOnce if many else Twofold
    with pytest.raises(SubjectError) as refused:
        audit_utility(Lawful(), CLAIM, problems=[kind()], exact=exact)
    assert str(refused.value) == (
        "The problem `twofold` measures an error of 2.0 for the output 1.0, but the errors of a `PAC` claim "
        "are probabilities; claim `Accuracy` instead"
    )
    assert audit_utility(Lawful(), Accuracy(0.25, 0.1), problems=[kind()], exact=exact).refuted
    for of_no_answer in (1.0, 1.0 + 1e-12):  # a sum of float probabilities may exceed 1 by rounding
        assert audit_utility(Lawful(), CLAIM, problems=[kind(largest=of_no_answer)], exact=exact).refuted
    refusing = SampledProblem("refused", lambda rng: [0.5], lambda output, _: math.inf if output else 0.0)
    assert audit_utility(Lawful(), CLAIM, problems=[refusing], exact=exact).refuted


def test_a_failure_is_replayed_with_the_convert_of_its_audit_or_asks_for_one():
    def fails_on_tuples(database, rng):
        return float(isinstance(database, tuple))

    def saved(convert):
        result = audit_utility(fails_on_tuples, CLAIM, problems=[coins()], convert=convert)
        assert result.replay().repeats
        return UtilityResult.from_json(json.dumps(result.to_json()))

    named = saved(tuple)
    known = {"problems": [coins()]}
    with pytest.raises(AuditError, match="names `builtins:tuple` as its `convert`, "):
        named.replay(fails_on_tuples, **known)
    assert named.replay(fails_on_tuples, trust=True, **known).failure == 1.0
    assert not named.replay(fails_on_tuples, convert=list, **known).repeats
    nameless = saved(lambda rows: (*rows,))
    with pytest.raises(AuditError, match=r"`convert` cannot be imported by name; pass `convert=`"):
        nameless.replay(fails_on_tuples, **known)
    assert nameless.replay(fails_on_tuples, convert=tuple, **known).repeats


def test_a_refuted_result_raises_and_another_is_returned():
    with pytest.raises(PrivacyRefuted, match="PAC"):
        audit_utility(failing(0.5), CLAIM, problems=[coins()]).raise_if_refuted()
    met = audit_utility(failing(0.0), CLAIM, problems=[coins()])
    assert met.raise_if_refuted() is met


# Problems are searched


@dataclass(frozen=True)
class Line:
    """A problem at a place, on which the learner fails more often near 10."""

    place: int

    @property
    def name(self):
        return f"at {self.place}"

    def draw(self, rng):
        return [self.place]

    def error(self, output, database):
        return output


@dataclass(frozen=True)
class Climber:
    utility_claim: PAC = HALF

    def __call__(self, database, rng):
        return rng.random() * (1.0 - abs(10 - database[0]) / 20)  # an error above 1/2 is more likely near 10

    def problems(self):
        return [Line(0)]

    def vary(self, problem, rng):
        return Line(problem.place + int(rng.choice([-3, -1, 1, 3])))


def test_the_climb_finds_a_problem_outside_the_library():
    result = audit_utility(Climber())
    assert result.verdict is Verdict.REFUTED  # `problems` lists only Line(0), with errors of at most 1/2
    assert result.worst != "at 0"
    assert "climb" in result.family
    assert audit_utility(Climber(), problems=[Line(0)]).met  # given problems are the only ones


def test_problems_may_come_from_a_strategy():
    result = audit_utility(Climber(), problems=st.integers(0, 12).map(Line))
    assert result.refuted
    assert "examples of the strategy" in result.family


def test_the_subjects_own_problems_and_claim_are_the_default():
    result = audit_utility(Climber(), seed=1)
    assert result.claim == PAC(0.5, 0.2)
    assert "own problem" in result.family


# Exact laws


def test_exact_failure_probabilities_over_fixed_databases_prove_the_claim():
    result = audit_utility(Lawful(), problems=[fixed(0.1), fixed(0.02)])
    assert result.verdict is Verdict.PROVED
    assert result.evidence is Evidence.EXACT
    assert result.beta_lower == result.beta_upper == pytest.approx(0.1, abs=1e-15)
    assert [problem.exact for problem in result.problems] == pytest.approx([0.1, 0.02], abs=1e-15)


def test_exact_failure_probabilities_over_fixed_databases_refute_the_claim():
    result = audit_utility(Lawful(), problems=[fixed(0.02), fixed(0.11)])
    assert result.verdict is Verdict.REFUTED
    assert result.evidence is Evidence.EXACT
    assert result.beta_lower == result.witness.failure == pytest.approx(0.11, abs=1e-15)
    assert result.worst == result.witness.problem == "fails with 0.11"
    assert (result.witness.database, result.witness.output) == ([0.11], 1.0)


def test_a_law_over_databases_is_summed():
    @dataclass(frozen=True)
    class Mixed:
        name: str = "mixed"

        def draw(self, rng):
            return [0.0] if rng.random() < 0.75 else [0.2]

        def error(self, output, database):
            return output

        def distribution(self):
            return Finite([[0.0], [0.2]], [0.75, 0.25])

    result = audit_utility(Lawful(), problems=[Mixed()])
    assert result.verdict is Verdict.PROVED
    assert result.beta_lower == pytest.approx(0.05, abs=1e-12)


def test_a_law_that_the_code_does_not_follow_is_an_error():
    class Other(Lawful):
        def __call__(self, database, rng):
            return float(rng.random() < 0.5)

    for problem in (fixed(0.01), SampledProblem("drawn", lambda rng: [0.01], lambda o, d: o)):
        result = audit_utility(Other(), problems=[problem])
        assert result.verdict is Verdict.ERROR
        assert "do not follow its declared law" in result.reason


@dataclass(frozen=True)
class Noisy:
    """A learner with output Laplace noise of scale 1.

    |noise| > alpha has probability e^−alpha.
    """

    def __call__(self, database, rng):
        return rng.laplace()

    def distribution(self, database):
        return Density.laplace(0.0, 1.0)


def tail(law, alpha, database):
    return law.cdf(-alpha) + law.sf(alpha)


def test_the_exact_tail_of_a_continuous_law_decides_a_tight_claim_without_a_proof():
    problem = FixedProblem("zero", [0], lambda output, database: abs(output), tail=tail)
    tight = audit_utility(Noisy(), Accuracy(1.0, math.exp(-1)), problems=[problem])
    assert (tight.verdict, tight.evidence) == (Verdict.NOT_REFUTED, Evidence.EXACT)
    assert tight.met
    assert tight.beta_upper == pytest.approx(math.exp(-1), abs=1e-12)
    assert any("floating point" in note for note in tight.notes)
    false = audit_utility(Noisy(), Accuracy(1.0, 0.36), problems=[problem])
    assert (false.verdict, false.evidence) == (Verdict.REFUTED, Evidence.EXACT)
    assert "On this database of `zero` the learner fails with probability" in str(false)
    assert UtilityResult.from_json(false.to_json()) == false
    plain = FixedProblem("zero", [0], lambda output, database: abs(output))  # without `tail` runs decide
    assert audit_utility(Noisy(), Accuracy(1.0, 0.2), problems=[plain]).evidence is Evidence.STATISTICAL


def test_an_invalid_failure_probability_is_blamed_on_the_problem():
    problem = FixedProblem("zero", [0], lambda o, d: abs(o), tail=lambda law, alpha, database: 1.5)
    with pytest.raises(SubjectError, match=r"must return a failure probability in \[0, 1\]; got 1\.5"):
        audit_utility(Noisy(), Accuracy(1.0, 0.5), problems=[problem])


def test_an_endless_family_is_met_exactly_but_not_proved():
    class Endless(Lawful):
        def problems(self):
            return [fixed(0.01)]

        def vary(self, problem, rng):
            return fixed(min(0.09, problem.database[0] + 0.01 * int(rng.integers(3))))

    result = audit_utility(Endless())
    assert (result.verdict, result.evidence) == (Verdict.NOT_REFUTED, Evidence.EXACT)
    assert result.met
    assert result.beta_upper == pytest.approx(0.09)  # from the climb, not from the library


def test_conditional_probabilities_decide_with_fewer_databases_than_indicators():
    # F = Pr[failure] is 0.05. In each run the bet that the claim holds gains log(1 + s·(β − F)/(1 − β)).
    drawn = SampledProblem("drawn", lambda rng: [0.05], lambda output, database: output)
    exact = audit_utility(Lawful(), problems=[drawn])
    plain = audit_utility(Lawful(), problems=[drawn], exact=False)
    assert exact.met
    assert plain.met
    assert exact.conditional
    assert not plain.conditional
    assert exact.problems[0].runs < plain.problems[0].runs
    assert exact.problems[0].failures == pytest.approx(0.05 * exact.problems[0].runs)


def test_conditional_probabilities_refute_too():
    drawn = SampledProblem("drawn", lambda rng: [rng.choice([0.0, 0.5])], lambda output, database: output)
    result = audit_utility(Lawful(), problems=[drawn])
    assert result.refuted
    assert result.witness.failure == 0.5
    assert result.witness.output == 1.0
    assert result.replay(problems=[drawn]).repeats


@dataclass(frozen=True)
class Refuses:
    """A learner that returns ⊥ in half of its runs, else 0."""

    def __call__(self, database, rng):
        return "⊥" if rng.random() < 0.5 else 0

    def distribution(self, database):
        return Finite(["⊥", 0], [0.5, 0.5])


@pytest.mark.parametrize("refusing", [math.inf, 0.75])
def test_a_failure_by_conditional_probabilities_has_the_error_of_its_output(refusing):
    drawn = SampledProblem("drawn", lambda rng: [0], lambda output, d: refusing if output == "⊥" else 0.1)
    result = audit_utility(Refuses(), CLAIM, problems=[drawn])
    assert (result.refuted, result.conditional) == (True, True)
    # the error of the output ⊥; the mean over all outputs is smaller
    assert (result.witness.output, result.witness.error) == ("⊥", refusing)
    assert f"the learner made '⊥', error {'∞' if refusing == math.inf else refusing} " in str(result)
    again = result.replay(problems=[drawn])
    assert (again.error, again.failure, again.repeats) == (refusing, 0.5, True)


def test_a_failure_probability_given_by_a_problem_belongs_to_no_output():
    class Told(SampledProblem):
        def failure(self, law, alpha, database):
            return tail(law, alpha, database)

    drawn = Told("drawn", lambda rng: [0], lambda output, database: abs(output))
    result = audit_utility(Noisy(), Accuracy(1.0, 0.1), problems=[drawn])
    assert result.refuted
    assert (result.witness.output, result.witness.failure) == (None, pytest.approx(math.exp(-1)))
    assert math.isnan(result.witness.error)
    assert "On this database of " in str(result)


def numbered(count, size):
    return [
        SampledProblem(f"coins {k}", lambda rng, k=k: [k] * size, lambda output, database: output)
        for k in range(count)
    ]


def test_the_text_says_on_how_many_records_and_names_the_problems():
    result = audit_utility(lambda database, rng: 0.0, CLAIM, problems=numbered(3, 1_250))
    text = " ".join(str(result).split())
    assert "on the worst problem, on samples of 1,250 records, is at least" in text
    runs = result.problems[0].runs
    assert all(f"`coins {k}` 0/{runs}" in text for k in range(3))
    assert "n = 1,250, " in line(result)
    alone = audit_utility(Lawful(), CLAIM, problems=[fixed(0.05)])
    assert "on samples of 1 record, is" in " ".join(str(alone).split())
    assert "Problems     with failure probability: `fails with 0.05` 0.05\n" in str(alone)


def test_conditional_probabilities_are_marked_beside_a_problem():
    drawn = SampledProblem("drawn", lambda rng: [0.05], lambda output, database: output)
    result = audit_utility(Lawful(), CLAIM, problems=[drawn])
    assert result.conditional
    assert "with mean failure probability: `drawn` 0.05\n" in str(result)


def test_the_five_worst_of_many_problems_are_named_and_the_rest_counted():
    problems = [fixed(p) for p in (0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07)]
    refuted = audit_utility(Lawful(), PAC(0.25, 0.055), problems=problems)
    words = " ".join(str(refuted).split())
    order = "; ".join(f"`{fixed(p).name}` {p}" for p in (0.07, 0.06, 0.05, 0.04, 0.03))
    assert f"worst first, with failure probability: {order}; 2 more" in words
    assert "Family the 7 given problems" in words  # the words on the refutation name only one problem


def test_the_terminal_report_stays_short_with_long_problem_names():
    problems = [SampledProblem(f"{k} " + "long " * 40, lambda rng: [0], lambda o, d: 1.0) for k in range(9)]
    result = audit_utility(lambda database, rng: 0, CLAIM, problems=problems)
    assert result.refuted
    assert len(str(result).splitlines()) <= 28
    assert str(result).splitlines()[-1].startswith("  Again")


@pytest.mark.parametrize(
    ("tried", "kept", "said"),
    [
        (5, 5, " and 3 more found by random search and hill climbing"),
        (5, 4, " and the worst 2 of 3 more found by random search and hill climbing"),
        (5, 3, " and the worst of 3 more found by random search and hill climbing"),
        (5, 2, "; 3 more found by random search and hill climbing were no worse"),
        (2, 2, ""),
    ],
)
def test_the_family_counts_audited_problems_and_those_only_looked_at(tried, kept, said):
    family = Family((fixed(0.1), fixed(0.2)), vary=max, random=max, source="own")
    assert family.words(tried, kept) == f"the subject's own 2 problems{said}"


# What a learner or a problem may do


def test_a_learner_that_raises_on_some_databases_has_failed_there():
    def learner(database, rng):
        if rng.random() < 0.5:
            raise ValueError("no majority")
        return 0.0

    result = audit_utility(learner, CLAIM, problems=[coins()])
    assert result.refuted
    assert result.raised > 0
    assert "no majority" in str(result.witness.output)


def test_a_learner_that_always_raises_is_an_error_with_its_own_message():
    def learner(database, rng):
        raise ValueError("wrong shape")

    for problems in ([coins()], [coins(), coins("more", size=9)]):
        result = audit_utility(learner, CLAIM, problems=problems)
        assert result.verdict is Verdict.ERROR
        assert "every run raised ValueError: wrong shape" in result.reason


@pytest.mark.parametrize(
    ("unfinished", "verdict"), [("against", Verdict.INCONCLUSIVE), ("output", Verdict.REFUTED)]
)
def test_unfinished_runs_count_for_neither_side_unless_they_are_outputs(unfinished, verdict):
    def learner(database, rng):
        if rng.random() < 0.5:
            time.sleep(5)
        return 0.0

    result = audit_utility(
        learner, CLAIM, problems=[coins()], run_time_limit=0.01, budget=100, unfinished=unfinished
    )
    assert result.verdict is verdict
    assert result.unfinished > 0
    if unfinished == "against":
        assert "only unfinished runs speak against the claim" in result.reason


def test_a_learner_that_never_ends_is_noticed_after_a_few_runs():
    result = audit_utility(
        lambda database, rng: time.sleep(5), CLAIM, problems=[coins()], run_time_limit=0.01
    )
    assert result.verdict is Verdict.ERROR
    assert result.samples < 50


def test_a_learner_that_changes_its_database_gets_a_copy_and_a_note():
    def learner(database, rng):
        database.clear()
        return 0.0

    problem = FixedProblem("fixed", [1, 2], lambda output, database: 0.0 if database == [1, 2] else 1.0)
    result = audit_utility(learner, CLAIM, problems=[problem])
    assert result.met
    assert any("changes its database" in note for note in result.notes)


def test_a_learner_that_keeps_state_runs_on_and_with_fresh_starts_anew():
    class Tired:
        def __init__(self):
            self.calls = 0

        def __call__(self, database, rng):
            self.calls += 1
            return float(self.calls > 100)

    assert audit_utility(Tired(), CLAIM, problems=[coins()], until="budget", budget=2_000).refuted
    assert audit_utility(Tired(), CLAIM, problems=[coins()], fresh=Tired).met


def test_a_learner_may_take_no_generator_and_databases_may_be_converted():
    problem = SampledProblem("mean", lambda rng: rng.random(400).tolist(), lambda mean, _: abs(mean - 0.5))
    result = audit_utility(lambda array: float(array.mean()), CLAIM, problems=[problem], convert=np.array)
    assert result.met
    assert result.sample_size == 400


def test_the_time_limit_ends_the_audit_between_batches():
    result = audit_utility(failing(0.1), CLAIM, problems=[coins()], time_limit=1e-9)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "time ran out" in result.reason


# Bad arguments: one line each


def broken(error=lambda output, database: 0.0, draw=lambda rng: []):
    return [SampledProblem("broken", draw, error)]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (lambda o, d: math.nan, "must measure errors as numbers; for the output 0.0 it gave nan"),
        (lambda o, d: "large", "it gave 'large'"),
        (lambda o, d: None, "it gave None"),
        (lambda o, d: 1 / 0, "cannot measure the output 0.0: ZeroDivisionError"),
    ],
)
def test_an_error_that_is_not_a_number_is_blamed_on_the_problem(error, said):
    with pytest.raises(SubjectError, match="The problem `broken`") as refused:
        audit_utility(failing(0), CLAIM, problems=broken(error))
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_problem_that_cannot_draw_says_so():
    with pytest.raises(SubjectError, match="`broken` cannot draw a database: ZeroDivisionError"):
        audit_utility(failing(0), CLAIM, problems=broken(draw=lambda rng: 1 / 0))


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        ({"problems": []}, InvalidValue, "The `problems` are empty"),
        ({"problems": None}, InvalidValue, "There are no problems to audit on"),
        ({"problems": 3}, InvalidKind, "The `problems` must be"),
        ({"problems": [3]}, InvalidKind, "has no `name`"),
        ({"problems": [coins(), coins()]}, InvalidValue, "must differ"),
        ({"claim": None}, InvalidValue, "No utility claim"),
        ({"claim": PureDP(1.0)}, InvalidKind, "must be a utility claim"),
        ({"claim": PAC}, InvalidKind, "must be a utility claim"),
        ({"budget": 7}, InvalidValue, "can never refute"),
        ({"budget": 0}, InvalidValue, "`budget`"),
        ({"significance": 0}, InvalidValue, "`significance`"),
        ({"isolate": "x"}, InvalidKind, "The `isolate` must be True or False; got 'x'."),
        ({"exact": "x"}, InvalidKind, "The `exact` must be True or False; got 'x'."),
        ({"until": "refuted"}, InvalidValue, "`until`"),
        ({"seed": -1}, InvalidValue, "`seed`"),
    ],
)
def test_a_bad_argument_gets_one_line(given, kind, said):
    arguments = {"claim": CLAIM, "problems": [coins()], **given}
    with pytest.raises(kind) as refused:
        audit_utility(failing(0), arguments.pop("claim"), **arguments)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "numbers", [(-0.1, 0.1), (1.1, 0.1), (0.1, 1.0), (0.1, -0.1), (math.nan, 0.1), (0.1, math.nan)]
)
def test_alpha_and_beta_outside_their_range_are_refused(numbers):
    with pytest.raises(InvalidValue, match="of `PAC` must be"):
        PAC(*numbers)
    with pytest.raises(InvalidValue):
        Accuracy(-numbers[0] if numbers[0] > 1 else numbers[0], numbers[1])


def test_a_foreign_claim_needs_its_two_numbers():
    class Loose:
        alpha, beta = 0.1, 2.0

        def to_json(self):
            return {}

    with pytest.raises(InvalidValue, match="`beta` of the claim"):
        audit_utility(failing(0), Loose(), problems=[coins()])


def test_the_problems_of_these_tests_satisfy_the_protocol():
    assert isinstance(coins(), Problem)
    assert isinstance(Line(3), Problem)
    assert not isinstance(3, Problem)
