"""SQ algorithms against valid oracles keep their promises, tightly.

A flawed algorithm fails.
"""

import math
import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit import Evidence, Verdict, audit_utility
from audit.claims import Accuracy
from audit.errors import InvalidKind, InvalidValue
from audit.utility.result import UtilityResult
from mechanisms.queries import AdversarialOracle, Population, SQAlgorithm, StatisticalQuery, offsets
from mechanisms.queries.oracles.adversarial import POLICIES
from mechanisms.queries.oracles.cases import OracleCase, Watched, reweighted
from mechanisms.queries.runs import deviations
from mechanisms.queries.runs.against import OracleRun
from mechanisms.queries.runs.deviations import deviation_run, spread_run, trusting_run

#: Runs against an oracle draw no random numbers.
RNG = np.random.default_rng(0)

RIGHT = [spread_run(tau=0.25), spread_run(tau=0.1), deviation_run(tau=0.25), deviation_run(tau=0.6)]
POINTS = (-1.0, -0.25, 0.0, 0.5, 1.0)
COIN = Population([0, 1])


@pytest.mark.parametrize("run", RIGHT, ids=lambda run: f"{run.name}-{run.parameters['tau']}")
@settings(max_examples=60, deadline=None)
@given(
    drawn=offsets(2, extreme=False),
    weights=st.lists(st.floats(0.01, 1.0), min_size=len(POINTS), max_size=len(POINTS)),
)
def test_the_promise_holds_for_any_offsets_and_any_population(run, drawn, weights):
    masses = np.array(weights) / math.fsum(weights)
    case = OracleCase("drawn", Population(POINTS, masses), drawn)
    output = run(case, np.random.default_rng(0))
    assert run.measure(output, case) <= run.utility_claim.alpha * (1.0 + 1e-12)


def test_the_error_of_a_standard_deviation_matches_the_definition():
    run, case = deviation_run(), OracleCase("three", Population([-1, 0.5, 1], [0.25, 0.5, 0.25]))
    # mean 0.25, mean square 0.25 + 0.125 + 0.25 = 0.625, variance 0.5625
    assert run(case, RNG) == pytest.approx(0.75)
    assert run.measure(0.5, case) == pytest.approx(0.25)


@pytest.mark.parametrize("tau", [0.1, 0.25, 0.6])
def test_the_library_reaches_the_largest_errors_of_valid_answers(tau):
    # if all records are 1, or all are −1, the error is the root of 3t − t²; t = tau²/3 is the tolerance
    tolerance = tau**2 / 3
    run = deviation_run(tau=tau)
    worst = run.problems()[0]
    output = run(worst.database, RNG)
    assert worst.error(output, worst.database) == pytest.approx(math.sqrt(3 * tolerance - tolerance**2))
    spread = spread_run(tau=tau).problems()[0]
    assert spread.error(spread_run(tau=tau)(spread.database, RNG), spread.database) == pytest.approx(tau)


def test_correct_algorithms_meet_their_claims_exactly_and_a_slightly_smaller_claim_is_refuted():
    for run in (spread_run(), deviation_run()):
        met = audit_utility(run, budget=600)
        assert (met.verdict, met.evidence, met.beta_upper) == (Verdict.NOT_REFUTED, Evidence.EXACT, 0.0)
        less = Accuracy(0.97 * run.utility_claim.alpha, 0.0)
        assert audit_utility(run, less, budget=600).verdict is Verdict.REFUTED


def test_the_trusting_twin_is_refuted_and_the_result_names_the_adversary():
    result = audit_utility(trusting_run(tau=0.25), budget=1_000)
    assert (result.verdict, result.evidence) == (Verdict.REFUTED, Evidence.EXACT)
    assert result.worst == "all highest, answers off by tau times -1 1 and 0 thereafter"
    # √(3·tau − tau²) although the true value is 0
    assert result.witness.error == pytest.approx(math.sqrt(0.75 - 0.0625))
    assert result.witness.database.adversary == (-1.0, 1.0)


def test_the_trusting_twin_is_right_with_exact_answers():
    run = trusting_run()
    exact = [each for each in run.problems() if each.database.adversary == "exact"]
    assert len(exact) == len(run.algorithm.populations)
    assert audit_utility(run, problems=exact, budget=6_000).verdict is Verdict.PROVED


def test_the_twin_is_also_refuted_by_runs():
    result = audit_utility(trusting_run(), exact=False, budget=2_000)
    assert (result.verdict, result.evidence) == (Verdict.REFUTED, Evidence.STATISTICAL)


def test_a_saved_failure_is_replayed_from_its_plain_data():
    run = trusting_run()
    saved = UtilityResult.from_json(audit_utility(run, budget=1_000).to_json())
    assert saved.witness.replayable
    again = saved.replay(trusting_run())
    assert again.repeats
    assert again.error == pytest.approx(math.sqrt(0.75 - 0.0625))
    # the name of the problem is enough to build this oracle
    ones = Population([-1, 1], [0.0, 1.0])
    assert run.algorithm.run(AdversarialOracle(ones, [-1, 1])) == saved.witness.output


def test_the_library_is_every_population_with_every_adversary():
    run = deviation_run()
    found = {(each.database.label, each.database.adversary) for each in run.problems()}
    wanted = {(label, name) for label in run.algorithm.populations for name in ("exact", 0, 1, *POLICIES)}
    assert wanted <= found
    names = [each.name for each in run.problems()]
    assert len(set(names)) == len(names)


def test_problems_and_proposals_can_be_pickled():
    rng = np.random.default_rng(3)
    for run in (spread_run(), deviation_run()):
        first = run.problems()[0]
        for problem in (first, run.vary(first, rng), run.random(rng)):
            again = pickle.loads(pickle.dumps(problem))
            output = run(problem.database, rng)
            assert pickle.loads(pickle.dumps(output)) == run(again.database, rng)
            assert again.error(output, again.database) == problem.error(output, problem.database)
            assert again.name == problem.name == str(again.database)


@pytest.mark.parametrize("adversary", ["alternating", 5, (1.0, -0.5)])
def test_every_run_has_a_fresh_oracle(adversary):
    run, case = deviation_run(), OracleCase("coin", Population([-1, 1]), adversary)
    outputs = {run(case, np.random.default_rng(seed)) for seed in range(5)}
    assert len(outputs) == 1


def first_then_contrary(*, swing):
    """Return six queries about a coin.

    One sign pattern of the answers gives the error `swing`. Exact answers give half of this error.
    """
    query = StatisticalQuery(float, 0.1, low=0.0, high=1.0)
    signs = (1, 1, -1, 1, -1, -1)

    def error(output, population):
        offs = [(answer - population.expectation(query)) / 0.1 for answer in output]
        return swing * (0.5 + sum(s * off for s, off in zip(signs, offs, strict=True)) / 12)

    def run(oracle):
        return tuple(oracle.ask(query) for _ in signs)

    return SQAlgorithm(
        run=run, queries=6, hardest=query, alpha=0.99 * swing, error=error, populations={"coin": COIN}
    )


def test_a_greedy_choice_of_offsets_finds_the_only_failing_pattern():
    run = OracleRun(make=partial(first_then_contrary, swing=1.0))
    result = audit_utility(run, budget=1_000)
    assert result.verdict is Verdict.REFUTED
    assert result.worst == "coin, answers off by tau times 1 1 -1 1 -1 -1 and 0 thereafter"


def high(record):
    return record == 1


def low(record):
    return record == 0


def all_or_nothing():
    """Return three queries with error 1 for one pattern of answers, else 0."""
    first, second = (StatisticalQuery.fraction(predicate, tau=0.25) for predicate in (high, low))

    def run(oracle):
        return tuple(oracle.ask_all([first, second, second]))

    def error(output, population):
        return float(output == (0.75, 0.25, 0.25))

    return SQAlgorithm(run=run, queries=3, hardest=first, alpha=0.5, error=error, populations={"coin": COIN})


def more_high(query, truth, answer):
    return answer if query.function is high else -answer


def test_a_greedy_adversary_finds_an_error_that_no_single_offset_causes():
    with_objective = OracleRun(make=all_or_nothing, objectives=(more_high,))
    problem = with_objective.problems()[0]
    assert problem.name == "coin, answers off by tau times 1 -1 -1 and 0 thereafter"
    assert audit_utility(with_objective, budget=1_000).verdict is Verdict.REFUTED
    without = OracleRun(make=all_or_nothing)
    assert without.measure(without(without.problems()[0].database, RNG), problem.database) == 0.0


def test_a_climb_over_the_offsets_from_exact_answers_finds_the_failing_pattern():
    run = OracleRun(make=partial(first_then_contrary, swing=1.0))
    exact = next(each for each in run.problems() if each.database.adversary == "exact")

    def climbed(seed):
        rng, problem = np.random.default_rng(seed), exact
        for _ in range(50):
            problem = max(run.vary(problem, rng), problem, key=reached)
        return reached(problem)

    def reached(problem):
        return problem.error(run(problem.database, RNG), problem.database)

    # The climb never gives up a correct sign, since the error would fall. Each of 1,000 moves corrects a
    # given sign with probability at least 1/2·1/6·1/4. Some sign of 6, for some seed of 2, stays wrong with
    # probability at most 12·(47/48)^1000 = 9e-9.
    assert min(map(climbed, range(2))) > 0.99


def test_a_variation_may_move_weights_and_says_which():
    run, rng = spread_run(), np.random.default_rng(0)
    problem = run.problems()[0]
    seen = [run._near(problem.database, rng) for _ in range(60)]
    moved = [case for case in seen if ", weights " in case.label]
    assert 10 < len(moved) < 50
    for case in moved:
        said = [float(word) for word in case.label.split(", weights ")[1].split()]
        assert said == case.population.weights.tolist()
        assert math.fsum(said) == pytest.approx(1.0, abs=1e-12)
    for case in set(seen) - set(moved):
        assert case.population is problem.database.population
        assert sum(a != b for a, b in zip(case.adversary, (1.0, 1.0), strict=True)) == 1


def test_reweighting_twice_names_the_last_weights_only():
    label, once = reweighted("coin", COIN, np.array([0.25, 0.75]))
    assert reweighted(label, once, np.array([0.5, 0.5]))[0] == "coin, weights 0.5 0.5"


def test_a_recorded_oracle_reports_the_offsets_of_random_answers():
    query = StatisticalQuery(float, 0.1, low=0.0, high=1.0)
    case = OracleCase("coin", COIN, 7)
    watched = case.watched()
    answers = watched.ask_all([query] * 4)
    assert answers == case.oracle().ask_all([query] * 4)
    assert watched.offsets == pytest.approx([(answer - 0.5) / 0.1 for answer in answers], abs=1e-4)
    assert isinstance(watched, Watched)
    assert watched.asked == 4


@pytest.mark.parametrize(
    ("adversary", "kind", "words"),
    [
        ("sideways", InvalidValue, "must be one of up, down"),
        ((0.0, 1.5), InvalidValue, "offset"),
        (-1, InvalidValue, "seed"),
        (None, InvalidKind, "adversary"),
        (lambda query, truth: 1.0, InvalidKind, "plain data"),
    ],
)
def test_an_invalid_adversary_is_refused_in_one_line(adversary, kind, words):
    with pytest.raises(kind, match=words) as caught:
        OracleCase("coin", COIN, adversary)
    assert "\n" not in str(caught.value)


def test_a_database_of_records_is_refused():
    with pytest.raises(InvalidKind, match="must be an `OracleCase`"):
        spread_run()([0, 1], np.random.default_rng(0))


def test_only_the_trusting_entry_has_a_flaw_and_no_entry_has_an_audit_of_privacy():
    found = {entry.name: entry for entry in deviations.entries}
    assert {name for name, entry in found.items() if entry.flaws} == {"flawed-sq-standard-deviation"}
    for entry in found.values():
        assert entry.options is None
        assert (entry.utility_expected == "refuted") == bool(entry.flaws)
