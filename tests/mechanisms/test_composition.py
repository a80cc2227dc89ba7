"""Compositions: bounds by published formulas and dp-accounting, laws by hand.

Chi-square tests use significance 1e-9. The file is long because sequences, parallel parts and choices are
tested on the same mechanisms.
"""

import math
from functools import partial

import numpy as np
import pytest
from scipy import stats

from audit import audit_privacy
from audit.claims import ApproximateDP, PureDP
from audit.distributions import Countable, Density, Finite
from audit.errors import InvalidValue
from audit.laws.divergence import epsilon_at, hockey_stick
from audit.laws.law_check import law_log_e_value
from audit.relations import Relation
from audit.results.result import Evidence, Verdict
from mechanisms import (
    Budget,
    GeometricMechanism,
    LaplaceMechanism,
    Parallel,
    PostProcessed,
    RandomChoice,
    RandomizedResponse,
    Sequential,
    StableSelection,
    Undeclared,
)
from mechanisms.composition.accounting import (
    advanced_bound,
    composed_delta,
    composed_epsilon,
    dominating_pair,
    laws_delta,
    laws_epsilon,
    parallel_bound,
    sequential_bound,
)
from mechanisms.composition.budget import OverspentError
from mechanisms.composition.mixing import mixture

RUNS = 100_000


def optimal_delta(epsilon, delta, *, copies, place):
    """Return the least delta of `copies` (epsilon, delta)-private mechanisms.

    The composition has epsilon (copies − 2·place)·epsilon (Kairouz, Oh and Viswanath 2015, Theorem 3.3).
    """
    terms = [
        math.comb(copies, j)
        * (math.exp((copies - j) * epsilon) - math.exp((copies - 2 * place + j) * epsilon))
        for j in range(place)
    ]
    inner = math.fsum(terms) / (1 + math.exp(epsilon)) ** copies
    return 1 - (1 - delta) ** copies * (1 - inner)


class Telltale:
    """A mechanism that claims more than the budget, and must not run."""

    claim = PureDP(2.0)
    relation = Relation.REPLACE_ONE
    ran = False

    def __call__(self, database, rng):
        Telltale.ran = True
        return 0


# Bounds


def test_sequential_sums_and_parallel_takes_the_largest():
    claims = [PureDP(0.5), ApproximateDP(0.25, 1e-3), ApproximateDP(1.0, 1e-6)]
    assert sequential_bound(claims) == ApproximateDP(1.75, 1e-3 + 1e-6)
    assert parallel_bound(claims) == ApproximateDP(1.0, 1e-3)
    assert sequential_bound(claims[:1] * 3) == PureDP(1.5)
    assert parallel_bound([]) == sequential_bound([]) == PureDP(0.0)


def test_the_advanced_bound_matches_its_formula_and_helps_for_many_small_claims():
    claims = [ApproximateDP(0.1, 1e-9)] * 200
    bound = advanced_bound(claims, slack=1e-6)
    mean = 200 * 0.1 * (math.exp(0.1) - 1) / (math.exp(0.1) + 1)
    assert bound.epsilon == pytest.approx(mean + math.sqrt(2 * math.log(1e6) * 200 * 0.01))
    assert bound.delta == pytest.approx(1e-6 + 200e-9)
    assert bound.epsilon < sequential_bound(claims).epsilon
    assert advanced_bound(claims[:3], slack=1e-6).epsilon > 0.3


@pytest.mark.parametrize("epsilon", [0.1, 0.7, 2.0])
@pytest.mark.parametrize("delta", [0.0, 1e-4])
@pytest.mark.parametrize("copies", [1, 2, 5, 30])
def test_the_optimal_composition_matches_the_closed_form(epsilon, delta, copies):
    claims = [ApproximateDP(epsilon, delta)] * copies
    for place in range(copies // 2 + 1):
        level = (copies - 2 * place) * epsilon
        expected = optimal_delta(epsilon, delta, copies=copies, place=place)
        assert composed_delta(claims, epsilon=level) == pytest.approx(expected, rel=1e-9, abs=1e-14)


def test_the_optimal_composition_is_below_both_closed_bounds():
    claims = [PureDP(0.05), PureDP(0.2), ApproximateDP(0.1, 1e-8)] * 20
    for slack in (1e-9, 1e-5, 1e-2):
        bound = advanced_bound(claims, slack=slack)
        best = composed_epsilon(claims, delta=bound.delta)
        assert best < min(bound.epsilon, sequential_bound(claims).epsilon)
    assert composed_epsilon(claims, delta=0.0) == math.inf


def test_an_epsilon_whose_exponential_overflows_composes_to_the_sum():
    assert composed_epsilon([PureDP(1000.0)] * 2, delta=0.0) == pytest.approx(2000.0, rel=1e-9)
    assert composed_delta([PureDP(1000.0)] * 2, epsilon=1000.0) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(
    "claim", [PureDP(0.0), PureDP(1.5), ApproximateDP(1.0, 0.1), ApproximateDP(0.0, 0.5)]
)
def test_the_dominating_pair_has_the_profile_of_its_claim(claim):
    p, q = dominating_pair(claim)
    for epsilon in (0.0, 0.5, 1.0, 2.0):
        assert hockey_stick(p, q, epsilon) == pytest.approx(claim.profile(epsilon), abs=1e-12)
        assert hockey_stick(q, p, epsilon) == pytest.approx(claim.profile(epsilon), abs=1e-12)


def test_a_response_and_a_noisy_count_compose_as_calculated_by_hand():
    # The loss of the response is ±ln 3. Laplace noise with shift 1 and scale 1 has δ(e) = 1 − e^((e−1)/2) on
    # [−1, 1]
    def laplace(e):
        if e < -1:
            return 1 - math.exp(e)
        return max(0.0, 1 - math.exp((e - 1) / 2))

    left = [Finite("ab", [0.75, 0.25]), Density.laplace(0.0)]
    right = [Finite("ab", [0.25, 0.75]), Density.laplace(1.0)]
    for epsilon in (0.0, 0.5, 1.2, 2.0):
        expected = 0.75 * laplace(epsilon - math.log(3)) + 0.25 * laplace(epsilon + math.log(3))
        assert laws_delta(left, right, epsilon=epsilon) == pytest.approx(expected, abs=1e-9)
    assert laws_epsilon(left, right, delta=0.0) == pytest.approx(1 + math.log(3))


def test_dp_accounting_agrees_on_responses_and_on_laplace_noise():
    from dp_accounting.pld import common
    from dp_accounting.pld import privacy_loss_distribution as pld

    told = common.DifferentialPrivacyParameters(0.5, 1e-4)
    composed = pld.from_privacy_parameters(told, value_discretization_interval=1e-5).self_compose(8)
    mine = [composed_delta([ApproximateDP(0.5, 1e-4)] * 8, epsilon=level) for level in (0.0, 1.0, 2.5)]
    theirs = [composed.get_delta_for_epsilon(level) for level in (0.0, 1.0, 2.5)]
    assert mine == pytest.approx(theirs, abs=2e-5)
    scales = (1.0, 2.0, 4.0)
    bounds = []
    for pessimistic in (False, True):
        losses = [
            pld.from_laplace_mechanism(
                scale, value_discretization_interval=1e-4, pessimistic_estimate=pessimistic
            )
            for scale in scales
        ]
        bounds.append(losses[0].compose(losses[1]).compose(losses[2]))
    left, right = ([Density.laplace(at, scale) for scale in scales] for at in (0.0, 1.0))
    for level in (0.1, 0.5, 1.0, 1.5):
        value = laws_delta(left, right, epsilon=level)
        low, high = (bound.get_delta_for_epsilon(level) for bound in bounds)
        assert low - 1e-8 <= value <= high + 1e-8


# Sequential


def test_a_sequence_has_the_product_law_and_the_sum_of_the_losses():
    both = Sequential(
        parts=[GeometricMechanism(epsilon=0.5, size=1), GeometricMechanism(epsilon=0.25, size=1)]
    )
    assert both.claim == PureDP(0.75)
    assert both.relation is Relation.REPLACE_ONE
    p, q = both.distribution([0]), both.distribution([1])
    assert epsilon_at(p, q) == pytest.approx(0.75)
    assert p.pmf((0, 1)) == pytest.approx(
        GeometricMechanism(epsilon=0.5, size=1).distribution([0]).pmf(0)
        * GeometricMechanism(epsilon=0.25, size=1).distribution([0]).pmf(1)
    )
    assert both.sample([1], 7, np.random.default_rng(0)).shape == (7, 2)
    assert isinstance(both([1], np.random.default_rng(0)), tuple)


def test_the_audit_finds_a_sequence_that_claims_too_little():
    class Understated(Sequential):
        @property
        def claim(self):
            return PureDP(0.5)

    parts = [GeometricMechanism(epsilon=0.5, size=1)] * 2
    result = audit_privacy(Understated(parts=parts), budget=1_000, recorded=False)
    assert result.verdict is Verdict.REFUTED
    assert result.epsilon_lower == pytest.approx(1.0)
    assert audit_privacy(Sequential(parts=parts), budget=1_000).verdict is not Verdict.REFUTED


def test_parts_with_arbitrary_outputs_give_tuples():
    told = Sequential(
        parts=[StableSelection(solutions="ab"), LaplaceMechanism(records=("a", "b"), query=len)]
    )
    outputs = told.sample(["a"] * 3, 4, np.random.default_rng(0))
    assert [type(output) for output in outputs] == [tuple] * 4
    assert told.claim == ApproximateDP(2.0, 1e-6)


@pytest.mark.parametrize("compose", [Sequential, Parallel])
def test_vectors_are_laid_out_in_the_law_and_in_the_output(compose):
    vector = LaplaceMechanism(epsilon=1.0, dimension=2, size=2, query=lambda rows: [sum(rows), -rows[0]])
    count = GeometricMechanism(epsilon=0.5, size=2)
    nested = compose(
        parts=[compose(parts=[count, vector]), vector] if compose is Sequential else [count, vector]
    )
    databases = ([0, 1], [1, 1]) if compose is Sequential else ([0, 1, 0, 1], [0, 1, 1, 1])
    p, q = map(nested.distribution, databases)
    width = 5 if compose is Sequential else 3
    assert len(p.factors) == width
    assert len(nested(databases[0], np.random.default_rng(0))) == width
    outputs = nested.sample(databases[0], 20_000, np.random.default_rng(1))
    assert outputs.shape == (20_000, width)
    assert law_log_e_value(p, outputs) < math.log(1e6)
    assert law_log_e_value(q, outputs) > math.log(1e6)  # the audit sees a neighbour with another law
    # each coordinate of the vector moves by 1, a loss of 1 each; the count adds 1/2 if it is part of the
    # query
    assert epsilon_at(p, q) == pytest.approx(0.5 + 2 * 2.0 if compose is Sequential else 2.0)


def test_a_tuple_that_is_not_a_vector_stays_one_output():
    told = Sequential(parts=[PostProcessed(part=RandomizedResponse(), function=lambda bit: (bit, 1 - bit))])
    assert told([1], np.random.default_rng(0))[0] in ((0, 1), (1, 0))
    assert told.sample([1], 3, np.random.default_rng(0))[0][0] in ((0, 1), (1, 0))
    assert told.distribution([1]).pmf(((1, 0),)) == pytest.approx(2 / 3)


def test_a_composition_of_nothing_loses_nothing():
    assert composed_epsilon([], delta=0.1) == composed_delta([], epsilon=0.0) == 0.0
    assert advanced_bound([], slack=0.01) == PureDP(0.0)


def test_the_advanced_bound_is_never_above_the_sum():
    for count, epsilon in ((1, 0.1), (3, 0.5), (5, 4.0), (100, 0.1), (1000, 0.01)):
        claims = [ApproximateDP(epsilon, 1e-9)] * count
        bound, plain = advanced_bound(claims, slack=1e-6), sequential_bound(claims)
        assert bound.epsilon <= plain.epsilon
        assert bound == plain or bound.delta == pytest.approx(plain.delta + 1e-6)
        assert bound.epsilon >= composed_epsilon(claims, delta=bound.delta) - 1e-9


def test_parts_must_agree_on_neighbours_and_claim_something():
    with pytest.raises(InvalidValue, match="replace-one, local"):
        Sequential(parts=[GeometricMechanism(), RandomizedResponse()])
    with pytest.raises(InvalidValue, match="claims nothing"):
        Sequential(parts=[len])
    with pytest.raises(InvalidValue, match="at least one"):
        Sequential(parts=[])


# Budgets


def test_a_sequence_over_its_budget_cannot_exist():
    parts = [LaplaceMechanism(epsilon=0.1)] * 10
    assert Sequential(parts=parts, budget=PureDP(1.0)).claim == PureDP(1.0)
    with pytest.raises(OverspentError, match=r"PureDP\(epsilon=1\) to PureDP\(epsilon=1.1\)"):
        Sequential(parts=[*parts, LaplaceMechanism(epsilon=0.1)], budget=PureDP(1.0))
    with pytest.raises(OverspentError):
        Sequential(parts=[StableSelection(epsilon=0.5)], budget=PureDP(1.0))


def test_a_budget_refuses_before_anything_is_drawn():
    budget, rng = Budget(PureDP(1.5)), np.random.default_rng(95)
    state = rng.bit_generator.state
    with pytest.raises(OverspentError):
        budget.run(Telltale(), [0], rng=rng)
    assert not Telltale.ran
    assert rng.bit_generator.state == state
    assert budget.spent == PureDP(0.0)
    budget.run(LaplaceMechanism(epsilon=1.5), [0], rng=rng)
    assert budget.spent == PureDP(1.5)
    with pytest.raises(OverspentError):
        budget.run(LaplaceMechanism(epsilon=1e-3), [0], rng=rng)


def test_adaptively_chosen_mechanisms_stay_within_the_budget():
    # The first answer selects the second mechanism, and one path spends the whole budget. The law of both
    # answers is exact.
    def adaptive(database):
        first, paths = RandomizedResponse(epsilon=1.0), {}
        for answer in (0, 1):
            budget = Budget(PureDP(1.5), relation=Relation.LOCAL)
            second = RandomizedResponse(epsilon=0.5 if answer else 0.1)
            budget.spend(first.claim)
            budget.spend(second.claim)
            for other in (0, 1):
                mass = first.distribution(database).pmf(answer) * second.distribution(database).pmf(other)
                paths[answer, other] = mass
        return paths

    left, right = adaptive([0]), adaptive([1])
    assert max(abs(math.log(left[path] / right[path])) for path in left) == pytest.approx(1.5)


def test_a_budget_is_for_one_relation():
    with pytest.raises(InvalidValue, match=r"replace-one neighbours; randomized-response .* for local"):
        Budget(PureDP(3.0)).run(RandomizedResponse(), [0], rng=np.random.default_rng(0))


# Parallel


def worst(subject, pairs):
    laws = [(subject.distribution(left), subject.distribution(right)) for left, right in pairs]
    return max(max(epsilon_at(p, q), epsilon_at(q, p)) for p, q in laws)


def test_parts_by_position_lose_the_largest_epsilon_under_replacing(pairs_of):
    parts = [GeometricMechanism(epsilon=e, size=1) for e in (0.5, 1.0)]
    halves = Parallel(parts=parts)
    assert halves.claim == PureDP(1.0)
    assert halves.size == 2
    assert halves.split([7, 8, 9]) == [[7], [8, 9]]
    assert worst(halves, pairs_of(halves)) == pytest.approx(1.0)
    assert worst(halves, halves.suggested_pairs()) == pytest.approx(1.0)


def test_parts_by_record_lose_the_largest_epsilon_under_adding_and_twice_it_under_replacing():
    count = partial(GeometricMechanism, query=len, epsilon=1.0, records=(0, 1), size=(0, 2))
    added = Parallel(parts=[count(relation=Relation.ADD_OR_REMOVE_ONE)] * 2, part_of=lambda record: record)
    assert worst(added, [([0, 1], [0]), ([0, 1], [1]), ([], [1])]) == pytest.approx(1.0)
    # a replaced record may move from one part to another
    assert worst(added, [([0], [1])]) == pytest.approx(2.0)
    with pytest.raises(InvalidValue, match=r"by `part_of` they are not, for replace-one"):
        Parallel(parts=[count(relation=Relation.REPLACE_ONE)] * 2, part_of=lambda record: record)
    with pytest.raises(InvalidValue, match="by position they are not, for add-or-remove-one"):
        Parallel(parts=[count(relation=Relation.ADD_OR_REMOVE_ONE)] * 2)
    with pytest.raises(InvalidValue, match="one of 0 … 1; got 5"):
        added.split([5])


# Random choices and post-processing


def test_a_random_choice_has_the_mixture_of_laws(agreement, shares):
    parts = [RandomizedResponse(epsilon=2.0), RandomizedResponse(epsilon=0.5)]
    choice = RandomChoice(parts=parts, probabilities=[0.3, 0.7])
    stays = 0.3 / (1 + math.exp(-2.0)) + 0.7 / (1 + math.exp(-0.5))
    law = choice.distribution([1])
    assert law.pmf(1) == pytest.approx(stays)
    assert choice.claim == PureDP(2.0)
    outputs = choice.sample([1], RUNS, np.random.default_rng(96))
    assert agreement(shares(outputs, [0, 1]), [1 - stays, stays]) > 1e-9
    calls = [choice([1], np.random.default_rng([97, run])) for run in range(2_000)]
    assert agreement(shares(calls, [0, 1]), [1 - stays, stays]) > 1e-9


def test_that_comparison_detects_swapped_weights(power):
    stays, swapped = (a / (1 + math.exp(-2.0)) + (1 - a) / (1 + math.exp(-0.5)) for a in (0.3, 0.7))
    assert power([1 - swapped, swapped], [1 - stays, stays], RUNS) > 0.99


def test_a_random_choice_of_densities_has_their_average():
    parts = [LaplaceMechanism(epsilon=epsilon, size=1, query=sum) for epsilon in (2.0, 0.5)]
    choice = RandomChoice(parts=parts, probabilities=[0.25, 0.75])
    p, q = choice.distribution([0]), choice.distribution([1])

    def density(x, at):
        return 0.25 * stats.laplace.pdf(x, at, 0.5) + 0.75 * stats.laplace.pdf(x, at, 2.0)

    grid = np.array([-30.0, -1.0, 0.0, 0.3, 1.0, 4.0])
    assert p.pdf(grid) == pytest.approx(density(grid, 0), rel=1e-12)
    assert p.sf(3.0) == pytest.approx(0.25 * math.exp(-6) / 2 + 0.75 * math.exp(-1.5) / 2, rel=1e-12)
    fine = np.linspace(-5, 5, 100_001)
    worst = float(np.log(density(fine, 0) / density(fine, 1)).max())
    assert epsilon_at(p, q) == pytest.approx(worst, abs=1e-6)
    assert epsilon_at(p, q) < choice.claim.epsilon
    outputs = np.array(choice.sample([0], 5_000, np.random.default_rng(12)))
    # significance 1e-9: the limit is √(ln(2e9)/10,000) = 0.0463. Swapped weights move the distribution
    # function by 0.118; they are missed with probability below 2·exp(−10,000·(0.118 − 0.0463)²) < 1e-21.
    assert stats.kstest(outputs, p.cdf).pvalue > 1e-9
    assert stats.kstest(outputs[:2_000], q.cdf).pvalue < 1e-9
    assert choice.distribution([0]) == p


def test_a_random_choice_of_an_answer_and_a_density_is_mixed():
    counted = mixture([Finite(["no"], [1.0]), Density.laplace(0.0), Density.uniform(3, 4)], [0.5, 0.25, 0.25])
    assert counted.pmf("no") == 0.5
    assert counted.pdf(3.5) == pytest.approx(0.25 * math.exp(-3.5) / 2 + 0.25)
    apart = mixture([Density.uniform(0, 1), Density.uniform(2, 3)], [0.5, 0.5])
    assert apart.cdf(1.5) == pytest.approx(0.5)
    assert apart.pdf(1.5) == 0.0
    assert mixture([counted, Finite(["no"], [1.0])], [0.5, 0.5]).pmf("no") == pytest.approx(0.75)
    assert mixture([Countable.geometric(0, 1.0)], [1.0]) is None


def test_mixtures_merge_outcomes_and_forget_impossible_laws():
    law = mixture([Finite("ab", [0.5, 0.5]), Finite("bc", [0.5, 0.5])], [1.0, 0.0])
    assert [law.pmf(letter) for letter in "abc"] == pytest.approx([0.5, 0.5, 0.0])


def test_weights_must_be_probabilities_of_the_parts():
    for weights in ([0.5], [0.5, 0.6]):
        with pytest.raises(InvalidValue, match="must be 2 that sum to 1"):
            RandomChoice(parts=[RandomizedResponse()] * 2, probabilities=weights)


def test_post_processing_maps_the_law_and_never_adds_loss():
    part = StableSelection(solutions="abc", epsilon=4.0, delta=0.05)
    told = PostProcessed(part=part, function=lambda answer: answer in "ab")
    left, right = ["a"] * 6, ["b"] + ["a"] * 5
    law = told.distribution(left)
    assert law.pmf(outcome=True) == pytest.approx(part.distribution(left).pmf("a"))
    assert set(told.sample(left, 100, np.random.default_rng(98))) <= {True, False}
    assert told(left, np.random.default_rng(99)) in (True, False)
    for delta in (0.0, 0.01):
        mine = epsilon_at(law, told.distribution(right), delta)
        assert mine <= epsilon_at(part.distribution(left), part.distribution(right), delta) + 1e-9
    assert told.claim == part.claim
    assert told.name == "stable-selection-post-processed"


def test_post_processing_of_a_law_that_is_not_finite_has_no_law():
    told = PostProcessed(part=LaplaceMechanism(), function=round)
    assert told.distribution([0, 1]) is None
    assert all(isinstance(output, int) for output in told.sample([0, 1], 5, np.random.default_rng(0)))


def test_an_undeclared_law_is_audited_by_runs():
    undeclared = Undeclared(part=RandomizedResponse(epsilon=1.0))
    result = audit_privacy(undeclared, PureDP(0.5), budget=50_000, recorded=False)
    assert result.evidence is Evidence.STATISTICAL
    assert result.verdict is Verdict.REFUTED
