"""Local randomizers and what they must declare."""

import math

import numpy as np
import pytest
from scipy import stats

from audit import Evidence, Verdict, audit_privacy
from audit.claims import ApproximateDP, PureDP
from audit.errors import InvalidKind, InvalidValue
from audit.relations import Relation
from mechanisms import KaryRandomizedResponse, LaplaceMechanism, RandomizedResponse, flawed
from mechanisms.flawed import local as wrong
from mechanisms.local import (
    LocalLaplace,
    LocalRandomizer,
    SignResponse,
    Transparent,
    cost_of,
    transition,
    transition_matrix,
)

RUNS = 100_000
SIGNIFICANCE = 1e-9
CORNERS = ((-1, -1), (-1, 1), (1, 1))


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 5.0])
@pytest.mark.parametrize("bound", [0.25, 1.0, 7.0])
def test_the_noise_of_a_query_in_minus_b_to_b_has_scale_2b_over_epsilon(epsilon, bound, loss):
    randomizer = LocalLaplace(epsilon=epsilon, bound=bound, records=(-bound, 0, bound))
    assert randomizer.scale == pytest.approx(2 * bound / epsilon, rel=1e-15)
    left, right = (randomizer.distribution([u]) for u in (-bound, bound))
    assert loss(left, right) == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_a_vector_splits_epsilon_over_its_coordinates(dimension, loss):
    randomizer = LocalLaplace(epsilon=1.0, dimension=dimension)
    assert randomizer.scale == 2.0 * dimension
    left, right = (randomizer.distribution([[u] * dimension]) for u in (-1, 1))
    assert loss(left, right) == pytest.approx(1.0, rel=1e-12)


def test_one_hot_vectors_of_any_length_have_l1_sensitivity_two(loss):
    records = tuple(tuple(int(i == j) for j in range(6)) for i in range(6))
    randomizer = LocalLaplace(epsilon=1.0, dimension=6, norm=1.0, records=records)
    assert randomizer.scale == 2.0
    losses = [
        loss(randomizer.distribution([a]), randomizer.distribution([b]))
        for a in records
        for b in records
        if a != b
    ]
    assert losses == pytest.approx([1.0] * 30, rel=1e-12)
    with pytest.raises(InvalidValue, match="must stay within the L1 norm 1; on entry"):
        randomizer([(0.5, 0.5, 0.5, 0, 0, 0)], np.random.default_rng(0))


@pytest.mark.parametrize("value", [1.5, -1.0000001, math.nan, math.inf])
@pytest.mark.parametrize("ask", ["call", "sample", "respond", "distribution"])
def test_a_value_outside_the_bound_is_refused_and_never_clamped(value, ask):
    randomizer, rng = LocalLaplace(), np.random.default_rng(1)
    state = rng.bit_generator.state
    asked = {
        "call": lambda: randomizer([value], rng),
        "sample": lambda: randomizer.sample([value], 3, rng),
        "respond": lambda: randomizer.respond(np.array([0.0, value]), rng),
        "distribution": lambda: randomizer.distribution([value]),
    }
    with pytest.raises(InvalidValue, match=r"must stay within \[-1, 1\]; on entry") as refused:
        asked[ask]()
    assert "\n" not in str(refused.value)
    assert rng.bit_generator.state == state


def test_the_query_is_asked_entry_by_entry_or_all_at_once():
    single = LocalLaplace(query=lambda u: u["x"] / 2)
    assert single.values([{"x": 1}, {"x": -2}]).tolist() == [0.5, -1.0]
    whole = LocalLaplace(query=lambda u: u**2, vectorised=True)
    assert whole.values(np.array([0.5, -1.0])).tolist() == [0.25, 1.0]
    with pytest.raises(InvalidValue, match=r"must give values of shape \(2,\); got \(\)"):
        LocalLaplace(dimension=2).values([0.5])
    with pytest.raises(InvalidKind, match="must be real numbers"):
        LocalLaplace().values(["a"])


@pytest.mark.parametrize("draw", ["sample", "respond", "call"])
def test_answers_follow_the_laplace_law(draw):
    randomizer, rng, u = LocalLaplace(epsilon=0.8, bound=2.0), np.random.default_rng(11), 1.5
    answers = {
        "sample": lambda: randomizer.sample([u], RUNS, rng),
        "respond": lambda: randomizer.respond(np.full(RUNS, u), rng),
        "call": lambda: [randomizer([u], rng) for _ in range(20_000)],
    }[draw]()
    assert stats.kstest(answers, stats.laplace(u, 5.0).cdf).pvalue > SIGNIFICANCE
    # power: at half the scale the distribution functions differ by 0.125, at least 18 times 1/√runs
    assert stats.kstest(answers, stats.laplace(u, 2.5).cdf).pvalue < 1e-20


def test_a_survey_answers_with_independent_noise():
    answers = LocalLaplace().respond(np.zeros(RUNS), np.random.default_rng(12))
    correlation = np.corrcoef(np.sign(answers[:-1]), np.sign(answers[1:]))[0, 1]
    assert abs(correlation) * math.sqrt(RUNS) < 6.0


@pytest.mark.parametrize("epsilon", [0.1, math.log(3), 20.0])
def test_the_sign_response_tells_the_truth_with_warners_probability(epsilon):
    response = SignResponse(epsilon=epsilon)
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    assert response.distribution([-1]).pmf(-1) == pytest.approx(truth, rel=1e-12)
    assert response.distribution([1]).pmf(-1) == pytest.approx(1 / (1 + math.exp(epsilon)), rel=1e-12)
    assert response.shrinkage == pytest.approx(2 * truth - 1, rel=1e-12)


@pytest.mark.parametrize("draw", ["sample", "respond", "call"])
def test_signs_follow_that_law(draw, agreement, shares):
    response, rng = SignResponse(epsilon=math.log(3)), np.random.default_rng(13)
    reports = {
        "sample": lambda: response.sample([-1], RUNS, rng),
        "respond": lambda: response.respond([-1] * RUNS, rng),
        "call": lambda: [response([-1], rng) for _ in range(20_000)],
    }[draw]()
    assert agreement(shares(reports, (-1, 1)), [0.75, 0.25]) > SIGNIFICANCE


@pytest.mark.parametrize("value", [0, 0.5, 2, math.nan])
def test_an_invalid_sign_is_refused(value):
    with pytest.raises(InvalidValue, match="must"):
        SignResponse().respond([1, value], np.random.default_rng(0))


def test_run_i_draws_the_same_noise_on_every_entry():
    noise = [LocalLaplace().sample([u], 50, np.random.default_rng(14)) - u for u in (-1.0, 0.5)]
    assert noise[0] == pytest.approx(noise[1], abs=1e-12)
    signs = [SignResponse().sample([u], 50, np.random.default_rng(14)) for u in (-1, 1)]
    assert (signs[0] == -signs[1]).all()


def test_a_transparent_randomizer_gives_the_probability_of_an_answer():
    kary = KaryRandomizedResponse(epsilon=math.log(2), categories=3)
    assert [transition(kary, 1, output=w) for w in range(3)] == pytest.approx([0.25, 0.5, 0.25])
    # continuous answers have a density: exp(−|3 − 1|/2)/4
    assert transition(LocalLaplace(), 1, output=3.0) == pytest.approx(math.exp(-1.0) / 4.0)
    answers, matrix = transition_matrix(kary, [0, 1, 2])
    assert answers == [0, 1, 2]
    assert matrix == pytest.approx(np.full((3, 3), 0.25) + 0.25 * np.eye(3))
    assert isinstance(kary, Transparent)
    assert not isinstance(wrong_kind(PureDP(1.0), Relation.LOCAL), Transparent)
    with pytest.raises(InvalidKind, match="finitely many answers"):
        transition_matrix(LocalLaplace(), [0])
    with pytest.raises(InvalidKind, match="is not transparent"):
        transition(wrong_kind(PureDP(1.0), Relation.LOCAL), 0, output=0)


def wrong_kind(claim_of_it, relation_of_it):
    class Randomizer:
        claim = claim_of_it
        relation = relation_of_it

        def __call__(self, database, rng):
            return 0

    return Randomizer()


def test_a_randomizer_must_declare_its_cost():
    assert cost_of(RandomizedResponse(epsilon=0.3)) == 0.3
    assert isinstance(RandomizedResponse(), LocalRandomizer)
    with pytest.raises(InvalidKind, match="must be a subject with `claim`"):
        cost_of(lambda database, rng: 0)
    with pytest.raises(InvalidKind, match="must be a subject with `claim`"):
        cost_of(RandomizedResponse)
    for survey in (RandomizedResponse(size=2), LaplaceMechanism()):
        with pytest.raises(InvalidValue, match=r"must claim its privacy for Relation\.LOCAL"):
            cost_of(survey)
    with pytest.raises(InvalidValue, match="must claim a PureDP"):
        cost_of(wrong_kind(ApproximateDP(1.0, 1e-6), Relation.LOCAL))


@pytest.mark.parametrize(
    "parameters",
    [
        {"epsilon": 0},
        {"epsilon": math.inf},
        {"bound": 0},
        {"bound": -1},
        {"dimension": 0},
        {"norm": 1.0},
        {"dimension": 2, "norm": 0},
    ],
)
def test_bad_parameters_are_refused_in_one_line(parameters):
    with pytest.raises(InvalidValue, match="of `LocalLaplace`") as refused:
        LocalLaplace(**parameters)
    assert "\n" not in str(refused.value)


def test_a_local_database_is_one_record():
    with pytest.raises(InvalidValue, match="must hold one record; got 2"):
        LocalLaplace()([0, 0], np.random.default_rng(0))


@pytest.mark.parametrize(
    ("subject", "verdict"),
    [
        (LocalLaplace(epsilon=0.7), Verdict.NOT_REFUTED),
        (LocalLaplace(epsilon=0.7, dimension=2, records=CORNERS), Verdict.NOT_REFUTED),
        (SignResponse(epsilon=0.7), Verdict.NOT_REFUTED),
        (RandomizedResponse(epsilon=0.7), Verdict.NOT_REFUTED),
        (KaryRandomizedResponse(epsilon=0.7, categories=5), Verdict.PROVED),
    ],
)
def test_the_exact_audit_finds_the_claim_met_with_equality(subject, verdict):
    # a proof needs a budget of 16,000, to compare the law with the code
    result = audit_privacy(subject, budget=16_000 if verdict is Verdict.PROVED else 1_000)
    assert (result.verdict, result.evidence) == (verdict, Evidence.EXACT)
    assert result.epsilon_lower == pytest.approx(0.7, rel=1e-9)


@pytest.mark.parametrize(
    ("subject", "found"),
    [
        (wrong.TruthfulLie(epsilon=math.log(2)), math.log(5)),
        (wrong.TruthfulLie(epsilon=1.0), math.log(2 * math.e + 1)),
        (wrong.HalfRangeLocalLaplace(epsilon=0.7), 1.4),
        (wrong.UnsplitLocalLaplace(epsilon=0.7), 1.4),
        (wrong.ShiftedUniform(), math.inf),
        (flawed.BinaryCalibratedResponse(epsilon=1.0, categories=4), 1.0 + math.log(3)),
    ],
)
def test_the_exact_audit_refutes_every_wrong_randomizer_at_its_true_loss(subject, found):
    result = audit_privacy(subject, budget=1_000, recorded=False)
    assert (result.verdict, result.evidence) == (Verdict.REFUTED, Evidence.EXACT)
    assert result.epsilon_lower == pytest.approx(found, rel=1e-9)


def test_the_truthful_response_has_the_stated_probability(agreement, shares):
    # the truth with probability 2/3, else a fair coin: 2/3 + 1/6 = 5/6
    reports = wrong.TruthfulLie(epsilon=math.log(2)).sample([1], RUNS, np.random.default_rng(15))
    assert agreement(shares(reports, (0, 1)), [1 / 6, 5 / 6]) > SIGNIFICANCE
