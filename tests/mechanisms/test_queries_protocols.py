"""Whole local algorithms run by statistical queries (K11 Lemma 5.8).

The file is long because all simulations are compared on the same protocols.
"""

from __future__ import annotations

import math
from collections import Counter
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from audit import Evidence, Verdict, audit_privacy
from audit.errors import InvalidKind, InvalidValue
from mechanisms import KaryRandomizedResponse, RandomizedResponse
from mechanisms.composition.budget import OverspentError
from mechanisms.local import InteractiveProtocol, LROracle, NonInteractiveProtocol
from mechanisms.local.algorithms import poll_twice
from mechanisms.queries import (
    AdversarialOracle,
    ExactOracle,
    FixedRoundsSimulation,
    InteractiveSimulation,
    NonInteractiveSimulation,
    Population,
    ProtocolSimulation,
    RandomOracle,
    SimulatedEntries,
    SimulatedProtocol,
    TableRandomizer,
    binary_response,
    clamped_geometric,
    kary_response,
    offsets,
)
from mechanisms.queries.simulations.simulated_protocol import coarse_response, simulated_poll

SIGNIFICANCE = 1e-9
COIN = Population([0, 1], [0.35, 0.65])


def asked(*queries, size=2, epsilon=1.0, records=(0, 1)):
    """Return a protocol that asks these questions in order.

    A question may be a function of the earlier answers.
    """

    def algorithm(_size):
        answers = []
        for query in queries:
            answers.append((yield query(answers) if callable(query) else query))
        return tuple(tuple(np.ravel(answer).tolist()) for answer in answers)

    return InteractiveProtocol(algorithm=algorithm, epsilon=epsilon, size=size, records=records)


def then_who_denied(answers):
    """Ask again the first entry that answered 0.

    The randomizer has ε = 1/4 if both entries answered 0, and ε = 1/2 otherwise.
    """
    share = 0.25 if not answers[0].any() else 0.5
    return int(answers[0].argmin()), RandomizedResponse(epsilon=share)


PROTOCOLS = {
    "poll twice": (InteractiveProtocol(algorithm=partial(poll_twice, epsilon=1.0), epsilon=1.0), 4),
    "who denied": (asked((range(2), binary_response(0.5)), then_who_denied), 3),
    "one entry, then another": (
        asked((0, kary_response(0.7, 2)), lambda said: (1, kary_response(1.0 if said[0] else 0.2, 2))),
        2,
    ),
    "k-ary": (asked((0, KaryRandomizedResponse(epsilon=0.9, categories=3)), records=(0, 1, 2), size=1), 1),
    "truncated geometric": (asked((0, clamped_geometric(0.5, 2)), records=(0, 1, 2), size=1), 1),
}


def simulated(name, beta=0.9):
    protocol, accesses = PROTOCOLS[name]
    return ProtocolSimulation(protocol=protocol, accesses=accesses, beta=beta)


def population_of(simulation):
    records = simulation.protocol.records
    return COIN if len(records) == 2 else Population(list(records), [0.2, 0.3, 0.5])


def mixed(protocol, population):
    """Return the average of the output laws on all databases."""
    found = Counter()
    for places in product(range(len(population.points)), repeat=protocol.size):
        law = protocol.distribution([population.points[place] for place in places])
        weight = math.prod(population.weights[place] for place in places)
        for output in law.outcomes:
            found[output] += weight * law.pmf(output)
    return found


def distance(law, truth):
    return sum(abs(law.pmf(output) - chance) for output, chance in truth.items()) / 2


@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize("beta", [0.9, 0.03])
def test_the_output_is_within_a_third_of_beta_against_every_oracle(name, beta):
    simulation = simulated(name, beta)
    population = population_of(simulation)
    truth = mixed(simulation.protocol, population)
    assert sum(truth.values()) == pytest.approx(1.0, abs=1e-12)
    assert distance(simulation.law(population), truth) <= 1e-12
    assert distance(simulation.simulated_law(ExactOracle(population)), truth) <= 1e-12
    worst = simulation.worst_distance(population)
    assert 0.0 < worst <= beta / 3 + 1e-12
    for adversary in ("up", "down", "towards-zero", "away-from-zero", "alternating"):
        law = simulation.simulated_law(AdversarialOracle(population, adversary))
        assert distance(law, truth) <= worst + 1e-12
    random = RandomOracle(population, rng=np.random.default_rng(0))
    for _ in range(5):
        assert distance(simulation.simulated_law(random), truth) <= worst + 1e-12


@settings(deadline=None, max_examples=25)
@given(drawn=offsets(40, extreme=False), share=st.floats(0.0, 1.0))
def test_no_drawn_adversary_exceeds_the_worst_distance(drawn, share):
    population = Population([0, 1], [share, 1.0 - share])
    simulation = simulated("who denied")
    law = simulation.simulated_law(AdversarialOracle(population, drawn))
    worst = simulation.worst_distance(population)
    assert distance(law, mixed(simulation.protocol, population)) <= worst + 1e-12


def test_the_worst_distance_is_attained_by_an_extreme_adversary():
    # two proposals of the first entry, two of the second after either: 2⁶ adversaries
    simulation = simulated("one entry, then another")
    truth = mixed(simulation.protocol, COIN)
    best = max(
        distance(simulation.simulated_law(AdversarialOracle(COIN, signs)), truth)
        for signs in product([-1.0, 1.0], repeat=6)
    )
    assert best == pytest.approx(simulation.worst_distance(COIN), abs=1e-12)


def test_two_accesses_of_one_entry_match_the_interactive_simulation():
    first, after = binary_response(0.6), (binary_response(0.9), clamped_geometric(0.5, 1))

    def choose(past):
        return None if len(past) == 2 else after[past[0]] if past else first

    one = InteractiveSimulation(choose=choose, base=0, accesses=2, beta=0.9, epsilon=1.5)
    protocol = asked((0, first), lambda said: (0, after[said[0]]), size=1, epsilon=1.5)
    whole = ProtocolSimulation(protocol=protocol, accesses=2, beta=0.9)
    assert whole.worst_distance(COIN) == pytest.approx(one.worst_distance(COIN), abs=1e-12)
    law = whole.law(COIN)
    for (a, b), chance in one.law(COIN).items():
        assert law.pmf(((a,), (b,))) == pytest.approx(chance, abs=1e-12)


@pytest.mark.parametrize("kind", ["exact", "random"])
def test_samples_follow_the_law_of_the_output(kind, agreement, power):
    # Random answers do not change the law: the estimate x̃/ỹ has mean x·E[1/ỹ], with the same factor for
    # every outcome.
    simulation = simulated("poll twice")
    oracle = ExactOracle(COIN) if kind == "exact" else RandomOracle(COIN, rng=np.random.default_rng(1))
    truth = mixed(simulation.protocol, COIN)
    expected = np.array(list(truth.values()))
    drawn = Counter(simulation.sample(oracle, 80_000, np.random.default_rng(2)))
    assert agreement([drawn[output] for output in truth], expected) > SIGNIFICANCE
    assert power(forgetful(truth), expected, 80_000) > 0.999


def forgetful(truth):
    """Return the law of `poll_twice` with a new entry for each answer."""
    found = []
    for output in truth:
        first, second = output[:2], output[2:]
        half, quarter = (math.exp(e) / (1 + math.exp(e)) for e in (0.5, 0.25))
        kept = quarter if len(second) == 2 else half
        one, again = (0.65 * t + 0.35 * (1 - t) for t in (half, kept))
        found.append(
            math.prod(one if a else 1 - one for a in first)
            * math.prod(again if a else 1 - again for a in second)
        )
    return np.array(found)


def test_single_runs_follow_the_law_of_the_output(agreement):
    simulation = simulated("who denied")
    truth = mixed(simulation.protocol, COIN)
    rng, oracle = np.random.default_rng(3), ExactOracle(COIN)
    drawn = Counter(simulation.run(oracle, rng) for _ in range(300))
    assert agreement([drawn[output] for output in truth], np.array(list(truth.values()))) > SIGNIFICANCE


def test_an_algorithm_with_coins_is_run_but_has_no_law():
    def algorithm(size, coins):
        return (yield int(coins.integers(size)), RandomizedResponse(epsilon=1.0))

    protocol = InteractiveProtocol(algorithm=algorithm, epsilon=1.0, coins=True)
    simulation = ProtocolSimulation(protocol=protocol, accesses=1, beta=0.5)
    assert simulation.run(ExactOracle(COIN), np.random.default_rng(0)) in (0, 1)
    with pytest.raises(InvalidValue, match="with `coins` must be run"):
        simulation.law(COIN)


# --- simulated entries --------------------------------------------------------------------------------


def entries(oracle=None, **terms):
    told = {"size": 3, "records": (0, 1), "accesses": 9, "beta": 0.3, "epsilon": 1.0, **terms}
    return SimulatedEntries(oracle or ExactOracle(COIN), rng=np.random.default_rng(5), **told)


def test_answers_have_the_form_of_the_lr_oracle():
    words = TableRandomizer([0, 1], ["no", "yes"], [[0.6, 0.4], [0.4, 0.6]])
    real = LROracle([0, 1, 1], epsilon=3.0, rng=np.random.default_rng(0))
    for query in ((0, binary_response(0.3)), ([2, 0], binary_response(0.3)), ([1], words), (1, words)):
        given_, true = (one.ask(*query) for one in (entries(epsilon=3.0), real))
        assert type(given_) is type(true)
        assert np.shape(given_) == np.shape(true)


def test_overspending_is_refused_before_anything_is_asked():
    oracle = ExactOracle(COIN)
    some = entries(oracle)
    some.ask([0, 1], RandomizedResponse(epsilon=0.75))
    before = oracle.asked
    with pytest.raises(OverspentError, match=r"Entry 1 has spent 0\.75 of its epsilon of 1;.* to 1\.25\."):
        some.ask_all([(2, RandomizedResponse(epsilon=0.5)), ([2, 1], RandomizedResponse(epsilon=0.5))])
    assert (oracle.asked, some.spent.tolist()) == (before, [0.75, 0.75, 0.0])
    with pytest.raises(OverspentError, match=r"Entry 2 has spent 0\.6 of"):
        some.ask([2, 2], RandomizedResponse(epsilon=0.6))


def test_a_randomizer_that_loses_more_than_it_claims_costs_what_it_loses():
    lying = TableRandomizer([0, 1], [0, 1], [[0.9, 0.1], [0.1, 0.9]], claimed=0.5)
    with pytest.raises(OverspentError, match=r"bring it to 2\.197"):
        entries().ask(0, lying)


@pytest.mark.parametrize(
    ("query", "kind", "words"),
    [
        ((3, RandomizedResponse(epsilon=0.5)), InvalidValue, "one of 0 … 2; got 3"),
        ((0, "R"), InvalidKind, "A local randomizer must be a subject"),
        ((range(3), RandomizedResponse(epsilon=0.1)), InvalidValue, "at most 2 answers, its `accesses`"),
    ],
)
def test_what_cannot_be_simulated_is_refused(query, kind, words):
    with pytest.raises(kind, match=words):
        entries(accesses=2).ask(*query)


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: ProtocolSimulation(protocol="A", accesses=1, beta=0.5), InvalidKind),
        (lambda: ProtocolSimulation(protocol=PROTOCOLS["k-ary"][0], accesses=0, beta=0.5), InvalidValue),
        (lambda: ProtocolSimulation(protocol=PROTOCOLS["k-ary"][0], accesses=1, beta=0.0), InvalidValue),
        (lambda: entries(records=()), InvalidValue),
        (lambda: NonInteractiveSimulation(protocol=PROTOCOLS["k-ary"][0], beta=0.5), InvalidKind),
    ],
)
def test_invalid_parameters_are_refused(make, kind):
    with pytest.raises(kind):
        make()


def test_grouped_and_single_questions_give_the_same_law(agreement, power):
    class OneByOne:
        """An oracle without the method `ask_repeatedly`."""

        ask = staticmethod(ExactOracle(COIN).ask)

    def pairs(oracle, count):
        some = entries(oracle, size=count, accesses=2 * count, epsilon=4.0)
        one, two = (some.ask(some.everyone, binary_response(2.0)) for _ in range(2))
        return np.bincount(2 * one + two, minlength=4)

    kept = math.exp(2) / (1 + math.exp(2))
    told = {bit: (1 - kept, kept) if bit else (kept, 1 - kept) for bit in (0, 1)}
    law = [
        0.35 * told[0][a] * told[0][b] + 0.65 * told[1][a] * told[1][b] for a, b in product((0, 1), repeat=2)
    ]
    assert agreement(pairs(ExactOracle(COIN), 20_000), np.array(law)) > SIGNIFICANCE
    assert agreement(pairs(OneByOne(), 400), np.array(law)) > SIGNIFICANCE
    one = law[2] + law[3]
    apart = [(1 - one) ** 2, one * (1 - one), one * (1 - one), one**2]
    assert power(apart, law, 400) > 0.999  # power against second answers that ignore the first


# --- noninteractive protocols -------------------------------------------------------------------------

QUESTIONS = [
    (range(2), RandomizedResponse(epsilon=1.5)),
    (1, KaryRandomizedResponse(epsilon=1.0, categories=2)),
]


def test_a_noninteractive_protocol_is_run_by_one_round_with_each_entry_accessed_once():
    simulation = NonInteractiveSimulation(protocol=NonInteractiveProtocol(queries=QUESTIONS), beta=0.3)
    oracle = ExactOracle(COIN)
    first = simulation.run(oracle.nonadaptive(), np.random.default_rng(6))
    assert (len(first), oracle.rounds, oracle.asked) == (3, 1, simulation.asked)
    # Claim 5.9 for two entries, of losses 1.5 and 1.5 + 1; β″ = β/2, φ = (β − β″)/3t
    phi = 0.15 / 6
    most = [(1 + phi) / (1 - phi) * math.exp(loss) * math.log(2 / 0.15) for loss in (1.5, 2.5)]
    assert simulation.asked == sum(map(math.ceil, most))
    assert 0.0 < simulation.most_distance(COIN) <= 0.3


def test_all_answers_of_an_entry_are_one_outcome_of_their_joint_randomizer():
    simulation = NonInteractiveSimulation(protocol=NonInteractiveProtocol(queries=QUESTIONS), beta=0.3)
    first, second = simulation.fixed.randomizers
    kept, again = (math.exp(e) / (1 + math.exp(e)) for e in (1.5, 1.0))
    for z in (0, 1):
        assert first.row(z) == pytest.approx([kept if a == z else 1 - kept for a in (0, 1)])
        assert dict(zip(second.outcomes, second.row(z), strict=True)) == pytest.approx(
            {
                (b, c): (kept if b == z else 1 - kept) * (again if c == z else 1 - again)
                for b, c in product((0, 1), repeat=2)
            }
        )


def test_joint_outcomes_are_split_into_the_answers_to_each_question(monkeypatch):
    def outcomes(self, oracle, rng):
        return ((1,), (0, 1))  # the first entry says 1; the second 0, then 1

    monkeypatch.setattr(FixedRoundsSimulation, "run", outcomes)
    simulation = NonInteractiveSimulation(protocol=NonInteractiveProtocol(queries=QUESTIONS), beta=0.3)
    assert simulation.run(ExactOracle(COIN), np.random.default_rng(0)) == (1, 0, 1)


def test_a_conclusion_is_drawn_from_the_simulated_answers():
    protocol = NonInteractiveProtocol(
        queries=QUESTIONS, conclude=lambda queries, answers: (len(queries), int(answers[0].sum()), answers[1])
    )
    simulation = NonInteractiveSimulation(protocol=protocol, beta=0.5)
    count, ones, last = simulation.run(ExactOracle(COIN), np.random.default_rng(0))
    assert (count, ones in (0, 1, 2), last in (0, 1)) == (2, True, True)
    assert ProtocolSimulation(protocol=protocol, accesses=3, beta=0.5).worst_distance(COIN) <= 0.5 / 3


def test_random_questions_and_answers_with_too_many_values_are_refused():
    drawn = NonInteractiveProtocol(queries=lambda size, coins: QUESTIONS, epsilon=3.0)
    with pytest.raises(InvalidValue, match="must be listed"):
        NonInteractiveSimulation(protocol=drawn, beta=0.5)
    many = NonInteractiveProtocol(queries=[(0, RandomizedResponse(epsilon=0.1))] * 13, size=1)
    with pytest.raises(InvalidValue, match="at most 4096 values together; they have 8192"):
        NonInteractiveSimulation(protocol=many, beta=0.5)


# --- audits of the claims -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_simulation_beside_its_protocol_keeps_the_claimed_distance_by_exact_laws(name):
    simulation = simulated(name, 0.3)
    population = population_of(simulation)
    result = audit_privacy(SimulatedProtocol(simulation=simulation, population=population), budget=200)
    # too few runs for a proof
    assert (result.verdict, result.evidence) == (Verdict.NOT_REFUTED, Evidence.EXACT)
    truth = mixed(simulation.protocol, population)
    up = distance(simulation.simulated_law(AdversarialOracle(population, "up")), truth)
    # by the triangle inequality, the distance between the laws of two adversaries is at most the sum of their
    # distances from the truth
    assert up - 1e-9 <= result.delta_lower <= 2 * simulation.worst_distance(population) + 1e-9 <= 0.2 + 1e-9


def test_the_tolerance_of_k08_is_refuted_by_the_same_audit():
    result = audit_privacy(coarse_response(), budget=500)
    assert (result.verdict, result.evidence) == (Verdict.REFUTED, Evidence.EXACT)
    # All answers up: p̃ = p + τ·q·c. The outcome 0 gets the weight p̃(0)/e^ε. The outcome 1 is always
    # accepted, as p̃(1) > q(1)·e^ε, and gets the weight q(1).
    t, c = math.exp(3) / (1 + math.exp(3)), math.exp(3) - math.exp(-3)
    zero = t * (1 - t + 0.1 * t * c) / (t * math.exp(3))
    # all answers down: p̃(0) < 0, so the outcome 0 is never accepted
    assert result.delta_lower == pytest.approx(zero / (zero + 1 - t), rel=1e-9)


def test_the_coarse_simulation_follows_the_law_of_each_of_its_records():
    """Each record is tested at significance 1e-6.

    A random oracle would fail, because clipping moves the count by 14 standard errors.
    """
    subject = coarse_response()
    for record in subject.records:
        zeros = subject.sample([record], 4_000, np.random.default_rng(0)).count((0,))
        law = subject.distribution([record]).pmf((0,))
        assert binomtest(zeros, 4_000, float(law)).pvalue > 1e-6, record


@pytest.mark.parametrize("record", SimulatedProtocol.records)
def test_calls_and_samples_have_the_declared_law(record, agreement):
    subject = simulated_poll()
    law = subject.distribution([record])
    outputs, expected = list(law.outcomes), [law.pmf(output) for output in law.outcomes]
    rng = np.random.default_rng(11)
    drawn = Counter(subject.sample([record], 10_000, rng))
    assert agreement([drawn[output] for output in outputs], np.array(expected)) > SIGNIFICANCE
    called = Counter(subject([record], rng) for _ in range(100))
    assert set(called) <= set(outputs)
    assert agreement([called[output] for output in outputs], np.array(expected)) > SIGNIFICANCE


def test_a_record_without_an_answer_is_refused():
    with pytest.raises(InvalidValue, match="must be one of entries, exact, random, up"):
        simulated_poll()(["alternating"], np.random.default_rng(0))
    with pytest.raises(InvalidKind, match="must be a `ProtocolSimulation`"):
        SimulatedProtocol(simulation="B", population=COIN)
