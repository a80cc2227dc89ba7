"""Oracles, simulations, runs and sizes refuse bad input in one line."""

import math

import numpy as np
import pytest

from audit.errors import AuditError, InvalidKind, InvalidValue
from mechanisms import RandomizedResponse
from mechanisms.composition.budget import OverspentError
from mechanisms.local import (
    InteractiveProtocol,
    LaplaceSum,
    LocalLaplace,
    LROracle,
    NonInteractiveProtocol,
    laplace_size,
    mean_tail_bound,
)
from mechanisms.queries import (
    AdversarialOracle,
    BooleanOnly,
    ExactOracle,
    FixedRoundsSimulation,
    InteractiveSimulation,
    LaplaceEntries,
    LiteralPrivateOracle,
    LocalOracle,
    LocalRun,
    NoisyLabelOracle,
    NonAdaptive,
    Population,
    PrivateOracle,
    RandomizerSimulation,
    RandomOracle,
    SampleOracle,
    StatisticalQuery,
    ThroughBoolean,
    candidate_rates,
    flip_labels,
    learn_from_noisy_labels,
    local_sample_size,
    noisy_labels,
    noisy_sample_size,
    private_sample_size,
    sample_size,
)
from mechanisms.queries.runs.against import OracleRun
from mechanisms.queries.simulations.tables import binary_response

COIN = binary_response(1.0)
ONES = StatisticalQuery.fraction(bool, tau=0.1)
HALVES = Population([0, 1])
NARROW = StatisticalQuery(float, tau=0.1, low=0.0, high=0.5)
WIDE = StatisticalQuery.bounded(float, bound=2.0, tau=0.5)
ONE = RandomizerSimulation(randomizer=COIN, base=0, accesses=1, beta=0.3)
TWO = FixedRoundsSimulation(randomizers=[COIN, COIN], base=0, beta=0.2)


def rng():
    return np.random.default_rng(0)


def entries():
    return LROracle([1, 0, 1], epsilon=1.0, rng=rng())


def asked_twice(oracle):
    oracle.ask_all([ONES])
    return oracle.ask_all([ONES])


def private(sample, **keywords):
    return PrivateOracle(sample, **{"epsilon": 1.0, "queries": 1, "beta": 0.1, "rng": rng()} | keywords)


def local(sample, **keywords):
    estimator = LaplaceEntries(epsilon=1.0)
    return LocalOracle(sample, **{"estimator": estimator, "queries": 1, "beta": 0.1, "rng": rng()} | keywords)


def local_size(**keywords):
    told = {"estimator": LaplaceEntries(epsilon=1.0), "queries": 1, "beta": 0.1} | keywords
    return local_sample_size(told.pop("query", ONES), **told)


class Says:
    """An oracle that gives the same answer to every query.

    On request it returns one answer too few in a round.
    """

    def __init__(self, answer, *, less=0):
        self.answer, self.less = answer, less

    def ask(self, query):
        return self.answer

    def ask_all(self, queries):
        return [self.answer] * (len(list(queries)) - self.less)

    def ask_repeatedly(self, query, times):
        return np.full(times, self.answer)


class Silent(Says):
    """An oracle that answers a round with nothing."""

    def ask_all(self, queries):
        return None


CASES = {
    "over-spending": (
        lambda: entries().ask([0, 0], RandomizedResponse(epsilon=0.75)),
        "Entry 0 has spent 0 of its epsilon of 1; `RandomizedResponse` would bring it to 1.5",
    ),
    "index above": (lambda: entries().ask(3, RandomizedResponse()), "must be one of 0 … 2; got 3"),
    "index below": (lambda: entries().ask([0, -1], RandomizedResponse()), "must be one of 0 … 2; got -1"),
    "index of no kind": (lambda: entries().ask(0.5, RandomizedResponse()), "must be indices; got 0.5"),
    "beyond b, exact": (lambda: ExactOracle(Population([0, 5])).ask(WIDE), "must lie in [-2, 2]; got 5"),
    "beyond b, sample": (
        lambda: SampleOracle([5] * 999, queries=1, beta=0.1).ask(WIDE),
        "must lie in [-2, 2]; got 5",
    ),
    "beyond b, private": (lambda: private([5] * 9999).ask(WIDE), "must lie in [-2, 2]; got 5"),
    "beyond b, local": (lambda: local([5] * 9999).ask(WIDE), "must lie in [-2, 2]; got 5"),
    "beyond b, randomizer": (lambda: LocalLaplace(epsilon=1.0)([5], rng()), "must stay within [-1, 1]"),
    "tau of a query": (lambda: StatisticalQuery(float, tau=0.0), "must be a finite number > 0; got 0.0"),
    "tau of a size": (lambda: sample_size(1, tau=-1.0, beta=0.1), "must be a finite number > 0; got -1.0"),
    "tau of entries": (lambda: laplace_size(tau=0, beta=0.1, epsilon=1.0), "The `tau` of `laplace_size`"),
    "tau of a private size": (lambda: private_sample_size(1, tau=0, beta=0.1, epsilon=1.0), "The `tau` of"),
    "adapts by one query": (lambda: ExactOracle(HALVES).nonadaptive().ask(ONES), "asks one query by itself"),
    "adapts by a round": (lambda: asked_twice(ExactOracle(HALVES).nonadaptive()), "it asks again"),
    "eta of an oracle": (lambda: NoisyLabelOracle(ExactOracle(HALVES), eta=0.5), "≥ 0 and < 0.5; got 0.5"),
    "eta of a size": (lambda: noisy_sample_size(1, tau=0.1, beta=0.1, eta=1), "≥ 0 and < 0.5; got 1"),
    "eta of a sample": (lambda: flip_labels([(0, 1)], 0.7, rng=rng()), "≥ 0 and < 0.5; got 0.7"),
    "eta as a bound": (lambda: candidate_rates(0.5, tau=0.1), "≥ 0 and < 0.5; got 0.5"),
    "too few": (lambda: SampleOracle([0], queries=1, beta=0.1).ask(ONES), "must have 150 fresh records"),
    "too few, private": (lambda: private([0]).ask(ONES), "must have 738 fresh records"),
    "too few, local": (lambda: local([0]).ask(ONES), "must have 1350 fresh records"),
    "too few for a run": (lambda: LocalRun(size=3), "must be at least 106 for 2 queries"),
    # sizes
    "beta of no kind": (
        lambda: local_size(beta="a"),
        "The `beta` of `local_sample_size` must be a number in",
    ),
    "beta of 1": (lambda: local_size(beta=1), "must be a number in (0, 1); got 1"),
    "beta of 2 for 4": (lambda: local_size(beta=2.0, queries=4), "must be a number in (0, 1); got 2.0"),
    "a size for no query": (lambda: local_size(query="x"), "about a `StatisticalQuery`; got 'x'"),
    "a size for a class": (lambda: local_size(estimator=LaplaceEntries), "must have `epsilon`, `entries`"),
    # simulations and their oracles
    "NaN for an answer": (lambda: TWO.run(Says(math.nan), rng()), "must be a finite number; got nan"),
    "infinity for an answer": (lambda: TWO.run(Says(math.inf), rng()), "must be a finite number; got inf"),
    "text for an answer": (lambda: TWO.run(Says("a"), rng()), "must be a finite number; got 'a'"),
    "no list of answers": (lambda: TWO.run(Silent(0), rng()), "with a list of numbers; got None"),
    "an answer too few": (lambda: TWO.run(Says(0.0, less=1), rng()), "one a query of the round; got"),
    "NaN in rejection": (lambda: ONE.run(Says(math.nan), rng()), "must be a finite number; got nan"),
    "NaN for many": (lambda: ONE.sample(Says(math.nan), 3, rng()), "must be a finite number; got nan"),
    "text in rejection": (lambda: ONE.run(Says("a"), rng()), "must be real numbers; got 'a'"),
    "no oracle for rounds": (lambda: TWO.run(None, rng()), "must have the method `ask_all`; got None"),
    "no oracle to ask": (lambda: ONE.run(None, rng()), "must have the method `ask`; got None"),
    "no rng for rounds": (lambda: TWO.run(ExactOracle(HALVES), None), "must be a numpy generator; got None"),
    "no rng to ask": (lambda: ONE.run(ExactOracle(HALVES), None), "must be a numpy generator; got None"),
    "no randomizer": (
        lambda: RandomizerSimulation(randomizer="R", base=0, accesses=1, beta=0.3),
        "must be a `TableRandomizer` or a `DensityRandomizer`; got 'R'",
    ),
    "no randomizers": (lambda: FixedRoundsSimulation(randomizers=None, base=0, beta=0.2), "must be a list"),
    "a choice of none": (
        lambda: InteractiveSimulation(
            choose=lambda past: 3, base=0, accesses=2, beta=0.3, epsilon=1.0
        ).access(()),
        "must be a `TableRandomizer` or a `DensityRandomizer`; got 3",
    ),
    # oracles built by a function
    "private, no rng": (lambda: private([0], rng=None), "The `rng` of `PrivateOracle` must be a numpy gen"),
    "literal, no rng": (
        lambda: LiteralPrivateOracle([0], epsilon=1.0, queries=1, beta=0.1, rng=None),
        "The `rng` of `LiteralPrivateOracle`",
    ),
    "random, no rng": (lambda: RandomOracle(HALVES, rng=7), "The `rng` of `RandomOracle` must be a numpy"),
    "local, no rng": (lambda: local([0], rng=None), "The `rng` of `LocalOracle` must be a numpy generator"),
    "flips, no rng": (lambda: flip_labels([(0, 1)], 0.1, rng=None), "must be a numpy generator; got None"),
    "flips of none": (lambda: flip_labels(None, 0.1, rng=rng()), "must be a list of (x, y); got None"),
    "exact, a list": (lambda: ExactOracle([0, 1]), "of `ExactOracle` must be a `Population`; got [0, 1]"),
    "random, a list": (lambda: RandomOracle([0, 1], rng=rng()), "must be a `Population`; got [0, 1]"),
    "adversary, a list": (lambda: AdversarialOracle([0, 1], "up"), "must be a `Population`; got [0, 1]"),
    "noise on a list": (lambda: noisy_labels([(0, 1)], 0.1), "must be a `Population`; got [(0, 1)]"),
    "through none": (lambda: ThroughBoolean(None), "of `ThroughBoolean` must have the method `ask_all`"),
    "Boolean only, none": (lambda: BooleanOnly(None), "of `BooleanOnly` must have the method `ask_all`"),
    "noise undone on none": (lambda: NoisyLabelOracle(None, eta=0.1), "must have the method `ask_all`"),
    "one round of none": (lambda: NonAdaptive(ExactOracle), "must have the method `ask_all`"),
    "a round of one": (lambda: ExactOracle(HALVES).ask_all(ONES), "must be a list of `StatisticalQuery`"),
    "a round of none": (lambda: ExactOracle(HALVES).nonadaptive().ask_all(None), "must be a list of"),
    "no test": (
        lambda: learn_from_noisy_labels(lambda it: it, lambda: ExactOracle(HALVES), rates=[0.1], test=None),
        "must be a list of (x, y) or a function; got None",
    ),
    # runs
    "a run on none": (lambda: LocalRun()(None, rng()), "must be a list or an array; got None"),
    "a run of none": (lambda: LocalRun(make=lambda tau: 3), "must return an `SQAlgorithm`; got 3"),
    "a run of no function": (lambda: LocalRun(make=3), "must return an `SQAlgorithm`; got 3"),
    "a run with views": (lambda: LocalRun(view=[]), "must be one of output, transcript; got []"),
    "against oracles, None": (lambda: OracleRun(make=None), "must return an `SQAlgorithm`; got None"),
    "against oracles, 3": (lambda: OracleRun(make=lambda: 3), "must return an `SQAlgorithm`; got 3"),
    # local protocols
    "no questions": (lambda: entries().ask_all(None), "a list of (entries, randomizer); got None"),
    "a protocol of none": (
        lambda: NonInteractiveProtocol(queries=None),
        "a list of (entries, randomizer); got None",
    ),
    "a protocol that asks none": (
        lambda: NonInteractiveProtocol(queries=lambda size, coins: None, epsilon=1.0)([0, 1], rng()),
        "a list of (entries, randomizer); got None",
    ),
    "no algorithm": (
        lambda: InteractiveProtocol(algorithm=None, epsilon=1.0),
        "The `algorithm` of `InteractiveProtocol` must be a generator function; got None",
    ),
    "no generator": (
        lambda: InteractiveProtocol(algorithm=lambda size: size, epsilon=1.0),
        "must be a generator function; got one that returns 2",
    ),
    "no generator, with coins": (
        lambda: InteractiveProtocol(algorithm=lambda size, coins: [coins], coins=True, epsilon=1.0),
        "must be a generator function; got one that returns [Generator(PCG64)",
    ),
    "a generator for its function": (
        lambda: InteractiveProtocol(algorithm=(size for size in [1]), epsilon=1.0),
        "must be a generator function; got <generator object",
    ),
    # ranges beyond floats
    "digits beyond floats": (
        lambda: ThroughBoolean(ExactOracle(HALVES)).ask(StatisticalQuery(float, tau=1e-320)),
        "must be at least 2^(−52) of its width, 2, for its digits to be asked; got 9.99989e-321",
    ),
    "a width beyond floats": (
        lambda: StatisticalQuery(float, tau=0.1, low=-1e308, high=1e308),
        "The width `high` − `low` of a `StatisticalQuery` must be a finite number; got inf",
    ),
    "a run without estimator": (lambda: LocalRun(estimator=3), "must take epsilon; got 3"),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_refused_in_one_line_that_says_what_is_valid(name):
    ask, words = CASES[name]
    with pytest.raises(AuditError) as refused:
        ask()
    assert isinstance(refused.value, InvalidValue | InvalidKind | OverspentError)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_sum_of_very_many_variables_is_sampled_and_bounded():
    # The standard deviation of the sum is √2·10⁶, so |sum| > 8·10⁶ has probability below 2e-8; the bound
    # agrees.
    size, limit = 10**12, 1e7
    bound = mean_tail_bound(size, scale=1.0, delta=limit / size)
    assert bound == pytest.approx(2 * math.exp(-(limit**2) / (8 * size)))
    drawn = LaplaceSum(size).sample(3, rng())
    assert bound < 1e-5
    assert (np.abs(drawn) < 8e6).all()


@pytest.mark.parametrize("kind", [private, SampleOracle])
def test_a_round_with_a_value_out_of_range_uses_no_record_and_no_randomness(kind):
    sample, source = [0, 1] * 2000, rng()
    keywords = {"queries": 3, "beta": 0.1} | ({"rng": source} if kind is private else {})
    oracle, before = kind(sample, **keywords), source.bit_generator.state
    chunk = oracle.chunk_size(ONES)
    with pytest.raises(InvalidValue, match=r"must lie in \[0, 0\.5\]; got 1 for the record 1"):
        oracle.ask_all([ONES, NARROW])
    assert (oracle.used, oracle.asked, oracle.rounds) == (0, 0, 0)
    assert source.bit_generator.state == before
    oracle.ask(ONES)
    assert (oracle.used, oracle.asked) == (chunk, 1)


def test_after_a_bad_value_the_entries_of_the_round_stay_used_and_their_budget_spent():
    source = LROracle([0, 1] * 2000, epsilon=1.0, rng=rng())
    oracle = local(source, queries=2, rng=None)
    first, second = (oracle.chunk_size(query) for query in (ONES, NARROW))
    with pytest.raises(InvalidValue, match=r"must lie in \[0, 0\.5\]; got 1 for the record"):
        oracle.ask_all([ONES, NARROW])
    assert (oracle.used, oracle.asked) == (first + second, 0)
    assert source.spent.sum() == pytest.approx(first + second)


def test_the_finest_tolerance_of_floats_is_met_digit_by_digit():
    query = StatisticalQuery(float, tau=2.0**-51, low=0.0, high=1.0)
    answer = ThroughBoolean(BooleanOnly(ExactOracle(Population([1 / 3])))).ask(query)
    assert abs(answer - 1 / 3) <= query.tau


def test_a_refused_round_does_not_use_up_the_only_round_of_a_nonadaptive_algorithm():
    session = ExactOracle(HALVES).nonadaptive()
    with pytest.raises(InvalidKind):
        session.ask_all([3])
    assert session.ask_all([ONES]) == [0.5]
