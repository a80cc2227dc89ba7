"""A*: its three forms, its plans and its privacy."""

import math
from collections import defaultdict
from itertools import product

import numpy as np
import pytest

from audit import PureDP, Verdict, audit_privacy
from audit.errors import InvalidKind, InvalidValue
from audit.laws.law_check import law_log_e_value
from learners import AmplifiedParityLearner
from learners.parity import INSUFFICIENT, BitExamples, ParityLearner, Plan
from learners.parity.flawed import OverspentParityRetry
from learners.parity.plans import derived_plan, failure_bound
from learners.parity.rates import printed_sample_size

LIMIT = math.log(1e7)
FORMS = pytest.mark.parametrize("form", ["retry", "held-out", "selection"])
GRID = list(product([1, 16, 64], [0.1, 1.0, 2.0], [0.01, 0.1, 0.4], [0.001, 0.1, 0.45]))


def masses(law):
    return dict(zip(law.outcomes, np.exp(law.log_probabilities).tolist(), strict=True))


def odds_of_first(mistakes, *, form, epsilon):
    """Return Pr[the first of two parities is chosen].

    If `form` is "selection", the choice has exponential weights. Otherwise the two numbers of mistakes
    get Laplace noise.
    """
    lead = mistakes[1] - mistakes[0]
    if form == "selection":
        return 1 / (1 + math.exp(-epsilon / 2 * lead))
    x = abs(lead) * epsilon / 2  # in units of the noise scale 2/epsilon
    beyond = math.exp(-x) * (0.5 + x / 4)
    return 1 - beyond if lead >= 0 else beyond


def written_out(database, *, form, epsilon, made, dimension):
    """Return the law of A* as its text defines it, from the laws of A."""
    law = defaultdict(float)
    if form == "retry":
        single = masses(ParityLearner(dimension, epsilon / made.candidates).distribution(database))
        for answers in product(single, repeat=made.candidates):
            first = next((answer for answer in answers if answer != "⊥"), "⊥")
            law[first] += math.prod(single[answer] for answer in answers)
        return law
    n = made.training
    single = [
        masses(ParityLearner(dimension, epsilon).distribution(database[j * n : (j + 1) * n])) for j in (0, 1)
    ]
    test = database[2 * n : 2 * n + made.test]
    for one, two in product(*single):
        mistakes = [
            len(test) if r == "⊥" else sum(sum(map(int.__mul__, r, x)) % 2 != y for x, y in test)
            for r in (one, two)
        ]
        share = odds_of_first(mistakes, form=form, epsilon=epsilon)
        law[one] += single[0][one] * single[1][two] * share
        law[two] += single[0][one] * single[1][two] * (1 - share)
    return law


def some_database(size, *, dimension, seed):
    rng = np.random.default_rng(seed)
    return [(tuple(rng.integers(0, 2, dimension).tolist()), int(rng.integers(2))) for _ in range(size)]


@FORMS
def test_the_law_matches_its_text(form):
    for seed, (dimension, made) in enumerate([(1, Plan(2, 2, 3)), (2, Plan(2, 3, 4)), (2, Plan(2, 2, 0))]):
        learner = AmplifiedParityLearner(dimension, 1.5, form=form, made=made)
        database = some_database(made.sample_size(form) + 1, dimension=dimension, seed=seed)
        found = masses(learner.distribution(database))
        expected = written_out(database, form=form, epsilon=1.5, made=made, dimension=dimension)
        assert {a: m for a, m in found.items() if m} == pytest.approx(
            {a: m for a, m in expected.items() if m}, rel=1e-11
        )


@FORMS
@pytest.mark.parametrize("tight", [False, True])
def test_draws_follow_the_law(form, tight):
    rng = np.random.default_rng(3)
    made = Plan(3, 3, 5)
    learner = AmplifiedParityLearner(2, 1.0, form=form, tight=tight, made=made)
    database = some_database(made.sample_size(form), dimension=2, seed=5)
    law = learner.distribution(database)
    assert law_log_e_value(law, learner.sample(database, 20_000, rng)) < LIMIT
    assert law_log_e_value(law, [learner(database, rng) for _ in range(500)]) < LIMIT
    other = AmplifiedParityLearner(2, 2.0, form=form, tight=tight, made=made)
    assert law_log_e_value(law, other.sample(database, 20_000, rng)) > LIMIT


def test_rounding_up_the_rounds_without_lowering_their_epsilon_overspends():
    result = audit_privacy(OverspentParityRetry(), budget=20_000)
    assert result.verdict is Verdict.REFUTED
    assert result.epsilon_lower == pytest.approx(math.ceil(math.log2(20)) / math.log2(20), rel=1e-9)


@FORMS
@pytest.mark.parametrize("tight", [False, True])
def test_derived_plans_fail_with_probability_at_most_beta(form, tight):
    for dimension, epsilon, alpha, beta in GRID:
        options = {"dimension": dimension, "epsilon": epsilon, "alpha": alpha, "tight": tight}
        made = derived_plan(form, beta=beta, **options)
        assert failure_bound(made, form, **options) <= beta * (1 + 1e-12)
        if form == "retry":
            assert failure_bound(Plan(made.candidates, made.training - 1), form, **options) > beta


def test_plans_match_the_formulas():
    """K11 has β′ = 1/30 and α′ = 0.02, K08 has β′ = 0.05.

    Here d = 16, ε = 1, α = β = 0.1.
    """
    options = {"dimension": 16, "epsilon": 1.0, "alpha": 0.1, "beta": 0.1, "tight": False}
    made = derived_plan("held-out", **options)
    assert made.candidates == math.ceil(math.log(30) / math.log(4 / 3)) == 12
    assert made.training == math.ceil(8 / 0.02 * (16 * math.log(2) + math.log(4)))
    assert made.test == math.ceil(12 / 0.02 * math.log(12 * 30))
    assert derived_plan("selection", **options).test == math.ceil(10 / 0.02 * math.log(12 * 30))
    made = derived_plan("retry", **options)
    assert made.candidates == math.ceil(math.log2(20)) == 5
    assert made.training <= printed_sample_size(0.05, dimension=16, alpha=0.1, epsilon=0.2)


@FORMS
def test_the_tight_form_needs_fewer_examples(form):
    for dimension, epsilon, alpha, beta in GRID:
        options = {"dimension": dimension, "epsilon": epsilon, "alpha": alpha, "beta": beta}
        one, two = (derived_plan(form, tight=tight, **options).sample_size(form) for tight in (True, False))
        assert one < two


@FORMS
def test_too_few_examples_give_their_own_outcome(form):
    learner = AmplifiedParityLearner(2, 1.0, form=form, tight=True, alpha=0.4, beta=0.4)
    enough = some_database(learner.sample_size(), dimension=2, seed=0)
    few, rng = enough[:-1], np.random.default_rng(0)
    assert learner(few, rng) == INSUFFICIENT == "insufficient samples"
    assert learner.sample(few, 3, rng) == [INSUFFICIENT] * 3
    assert masses(learner.distribution(few)) == {INSUFFICIENT: 1.0}
    assert learner(enough, rng) != INSUFFICIENT
    assert learner.problems()[0].error(INSUFFICIENT, few) == math.inf


def test_arrays_and_lists_give_the_same_answers():
    learner = AmplifiedParityLearner(3, 1.0, form="held-out", made=Plan(3, 20, 20))
    listed = some_database(80, dimension=3, seed=1)
    arrays = BitExamples(np.array([x for x, _ in listed], bool), np.array([y for _, y in listed], bool))
    assert list(arrays) == listed
    answers = [learner.sample(z, 200, np.random.default_rng(4)) for z in (listed, arrays)]
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: AmplifiedParityLearner(2, 1.0, alpha=0.5), InvalidValue, "The `alpha` of `Amplified"),
        (lambda: AmplifiedParityLearner(2, 1.0, alpha=0.0), InvalidValue, "The `alpha` of `Amplified"),
        (lambda: AmplifiedParityLearner(2, 1.0, beta=0.5), InvalidValue, "The `beta` of `Amplified"),
        (lambda: AmplifiedParityLearner(2, 1.0, form="best"), InvalidValue, "The `form` of `Amplified"),
        (
            lambda: AmplifiedParityLearner(2, 3.0),
            InvalidValue,
            "The `epsilon` of `AmplifiedParityLearner` must be ≤ 2",
        ),
        (lambda: AmplifiedParityLearner(2, 1.0, made=3), InvalidKind, "The `made` of `Amplified"),
        (lambda: Plan(0, 1), InvalidValue, "The `candidates` of `Plan` must be a whole number ≥ 1"),
    ],
)
def test_bad_parameters_get_one_line(make, kind, message):
    with pytest.raises(kind) as caught:
        make()
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_a_round_may_spend_less_than_the_whole_epsilon():
    learner = AmplifiedParityLearner(2, 3.0, form="retry")
    assert learner.claim == PureDP(3.0)
    assert learner.run.epsilon == 3.0 / learner.plan.candidates
    assert AmplifiedParityLearner(2, 30.0, tight=True).claim == PureDP(30.0)
