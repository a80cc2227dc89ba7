"""Statistical queries and the oracles that know the distribution."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.errors import InvalidKind, InvalidValue
from mechanisms.queries import (
    AdversarialOracle,
    BooleanOnly,
    ExactOracle,
    Greedy,
    Population,
    RandomOracle,
    StatisticalQuery,
    ThroughBoolean,
    bits_needed,
    boolean_queries,
    offsets,
)
from mechanisms.queries.oracles.adversarial import POLICIES

DICE = Population([1, 2, 3, 4, 5, 6])
SKEWED = Population([-1.0, -0.25, 0.3, 1.0], [0.1, 0.2, 0.3, 0.4])
MEAN = -0.1 - 0.05 + 0.09 + 0.4


def within(answer, truth, tau):
    return abs(answer - truth) <= tau * (1 + 1e-12) + 1e-12


def test_a_value_outside_the_range_is_refused_and_never_clamped():
    query = StatisticalQuery.bounded(float, bound=5.0, tau=0.1)
    with pytest.raises(InvalidValue, match=r"must lie in \[-5, 5\]; got 6 for the record 6"):
        ExactOracle(DICE).ask(query)


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0000001])
def test_a_value_that_is_not_a_number_of_the_range_is_refused(value):
    with pytest.raises(InvalidValue, match="must lie in"):
        StatisticalQuery(lambda _: value, tau=0.1).values([0])


def test_a_boolean_query_refuses_values_other_than_its_two():
    with pytest.raises(InvalidValue, match="must be one of -1, 1; got 0"):
        StatisticalQuery.sign(lambda _: 0, tau=0.1).values([0])


@pytest.mark.parametrize("tau", [0, -0.1, math.nan, math.inf])
def test_a_tolerance_that_is_not_positive_is_refused(tau):
    with pytest.raises(InvalidValue, match=r"`tau` of a `StatisticalQuery` must be a finite number > 0"):
        StatisticalQuery(float, tau=tau)


def test_a_vectorised_form_of_another_shape_is_refused():
    query = StatisticalQuery(float, tau=0.1, vectorised=lambda records: np.zeros((len(records), 1)))
    with pytest.raises(InvalidValue, match=r"of shape \(2,\); got shape \(2, 1\)"):
        query.values([0, 0])


def test_anything_but_a_query_is_refused():
    with pytest.raises(InvalidKind, match="must be asked a `StatisticalQuery`"):
        ExactOracle(DICE).ask(float)


@pytest.mark.parametrize("weights", [[0.5, 0.6], [-0.5, 1.5], [1.0], [math.nan, 1.0]])
def test_invalid_probabilities_are_refused(weights):
    with pytest.raises(InvalidValue, match="The `probabilities` of `Population` must be"):
        Population([0, 1], weights)


def test_the_exact_oracle_gives_the_mean():
    assert ExactOracle(DICE).ask(StatisticalQuery(float, 1.0, low=0, high=6)) == pytest.approx(3.5, abs=1e-15)
    assert ExactOracle(SKEWED).ask(StatisticalQuery(float, 0.1)) == pytest.approx(MEAN, abs=1e-15)


def test_an_oracle_counts_queries_and_rounds_and_records_the_smallest_tolerance():
    oracle = ExactOracle(DICE)
    wide, narrow = (StatisticalQuery.fraction(lambda x: x > 3, tau=tau) for tau in (0.2, 0.01))
    oracle.ask(wide)
    oracle.ask_all([wide, narrow, wide])
    oracle.ask_repeatedly(wide, 5)
    assert (oracle.asked, oracle.rounds, oracle.least_tau) == (9, 3, 0.01)
    oracle.ask_all([])
    assert (oracle.asked, oracle.rounds) == (9, 3)


def test_random_answers_fill_the_interval_uniformly():
    from scipy.stats import kstest

    oracle = RandomOracle(SKEWED, rng=np.random.default_rng(3))
    query = StatisticalQuery(float, tau=0.2)
    asked = [oracle.ask(query) for _ in range(500)] + oracle.ask_repeatedly(query, 19_500).tolist()
    shares = (np.array(asked) - MEAN + 0.2) / 0.4
    assert shares.min() >= -1e-12
    assert shares.max() <= 1 + 1e-12
    # significance 1e-8: rejects at distance 0.0219; a law off by 0.04 is missed with probability below 1e-5
    assert kstest(shares, "uniform").pvalue > 1e-8


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_every_policy_stays_within_the_tolerance_and_attains_it_or_is_exact(policy):
    oracle = AdversarialOracle(SKEWED, policy)
    query = StatisticalQuery(float, tau=0.2)
    for answer in (oracle.ask(query), oracle.ask(query)):
        assert within(answer, MEAN, 0.2)
        assert abs(answer - MEAN) == pytest.approx(0.2, abs=1e-12)


def test_towards_zero_stops_at_zero():
    assert AdversarialOracle(SKEWED, "towards-zero").ask(StatisticalQuery(float, tau=0.5)) == 0.0


def test_a_greedy_adversary_gives_the_most_harmful_answer():
    # the valid answer closest to 1/2
    nearest_half = Greedy(lambda _query, _truth, answer: -abs(answer - 0.5))
    oracle = AdversarialOracle(SKEWED, nearest_half)
    assert oracle.ask(StatisticalQuery(float, tau=0.1)) == pytest.approx(MEAN + 0.1, abs=1e-15)


@pytest.mark.parametrize("drawn", [[1.5], [math.nan]])
def test_an_offset_beyond_the_tolerance_is_refused(drawn):
    with pytest.raises(InvalidValue, match="offset of an adversary must be"):
        AdversarialOracle(SKEWED, drawn)
    with pytest.raises(InvalidValue, match="offset of an adversary must be"):
        AdversarialOracle(SKEWED, lambda _query, _truth: drawn[0]).ask(StatisticalQuery(float, tau=0.1))


def test_an_unknown_policy_is_refused_with_the_list_of_policies():
    with pytest.raises(InvalidValue, match="must be one of up, down, towards-zero"):
        AdversarialOracle(SKEWED, "sideways")


def test_hypothesis_shrinks_an_adversary_to_the_answer_that_matters():
    from hypothesis import find

    def fails(drawn):
        oracle = AdversarialOracle(Population([0, 1]), drawn)
        answers = [oracle.ask(StatisticalQuery.fraction(bool, tau=0.1)) for _ in range(4)]
        return answers[2] < 0.5

    assert find(offsets(8), fails) == [0.0, 0.0, -1.0]


def test_a_nonadaptive_session_has_one_round():
    query = StatisticalQuery.fraction(bool, tau=0.1)
    session = ExactOracle(Population([0, 1])).nonadaptive()
    with pytest.raises(
        InvalidValue, match="must ask everything in one `ask_all`; it asks one query by itself"
    ):
        session.ask(query)
    assert session.ask_all([query, query]) == [0.5, 0.5]
    with pytest.raises(InvalidValue, match="must ask everything in one `ask_all`; it asks again"):
        session.ask_all([query])


def test_all_queries_of_a_round_are_made_before_any_answer():
    log = []

    def query(name):
        log.append(f"made {name}")
        return StatisticalQuery(lambda _: log.append(f"answered {name}") or 0.0, tau=0.1)

    ExactOracle(Population([0])).nonadaptive().ask_all(query(name) for name in "ab")
    assert log == ["made a", "made b", "answered a", "answered b"]


def test_queries_built_from_answers_of_the_same_round_are_refused():
    query = StatisticalQuery.fraction(bool, tau=0.1)
    oracle = ExactOracle(Population([0, 1]))
    session = oracle.nonadaptive()

    def adapting():
        yield query
        yield query.with_tau(session.ask_all([query])[0])

    with pytest.raises(InvalidValue, match="must ask everything in one `ask_all`; it asks again"):
        session.ask_all(adapting())
    assert oracle.asked == 0
    assert session.ask_all([query]) == [0.5]  # a refused round does not count


@settings(deadline=None, max_examples=60)
@given(
    tau=st.floats(0.001, 3.0),
    bound=st.floats(0.1, 4.0),
    drawn=offsets(16, extreme=False),
    shares=st.lists(st.floats(-1.0, 1.0), min_size=1, max_size=5),
)
def test_real_values_through_boolean_queries_stay_within_the_tolerance(tau, bound, drawn, shares):
    values = [bound * share for share in shares]
    population = Population(values)
    query = StatisticalQuery.bounded(float, bound=bound, tau=tau)
    oracle = ThroughBoolean(BooleanOnly(AdversarialOracle(population, drawn)).nonadaptive())
    assert within(oracle.ask(query), math.fsum(values) / len(values), tau)


def test_the_worst_answers_attain_the_boolean_tolerance():
    # All binary digits of −1 are 0. Every answer is tau′ too large, and −1 is half a cell below the middle of
    # the lowest cell. Together the error is tau.
    query = StatisticalQuery(float, tau=0.125)
    up = ThroughBoolean(AdversarialOracle(Population([-1.0]), "up"))
    assert up.ask(query) == pytest.approx(-1.0 + 0.125, abs=1e-12)


def test_the_number_of_boolean_queries_is_logarithmic_and_their_tolerance_at_least_half_tau_over_b():
    for bound, tau in [(1.0, 0.1), (4.0, 0.1), (2.0, 2.0), (100.0, 1e-3)]:
        query = StatisticalQuery.bounded(float, bound=bound, tau=tau)
        parts = boolean_queries(query)
        assert len(parts) == bits_needed(query) == math.ceil(math.log2(2 * bound / tau))
        assert all(tau / (2 * bound) <= part.tau <= tau / bound * (1 + 1e-12) for part in parts)
        assert all(part.boolean for part in parts)


def test_one_round_stays_one_round_through_boolean_queries():
    inner = ExactOracle(SKEWED)
    ThroughBoolean(inner).ask_all([StatisticalQuery(float, tau=0.1)] * 3)
    assert (inner.rounds, inner.asked) == (1, 15)


def test_a_real_valued_query_is_refused_by_a_boolean_oracle():
    with pytest.raises(InvalidValue, match="must be Boolean"):
        BooleanOnly(ExactOracle(SKEWED)).ask(StatisticalQuery(float, tau=0.1))
