"""Local protocols, noninteractive and interactive, and their exact laws."""

import copy
import math
from functools import partial
from itertools import product

import numpy as np
import pytest

from audit.errors import InvalidKind, InvalidValue
from mechanisms import KaryRandomizedResponse, RandomizedResponse
from mechanisms.composition.budget import OverspentError
from mechanisms.local import InteractiveProtocol, LocalLaplace, NonInteractiveProtocol
from mechanisms.local.algorithms import poll_twice

RUNS = 40_000
SIGNIFICANCE = 1e-9
POLL = InteractiveProtocol(algorithm=partial(poll_twice, epsilon=1.0), epsilon=1.0)


def kept(epsilon):
    return math.exp(epsilon) / (1 + math.exp(epsilon))


def poll_probability(transcript, bits):
    """Return the probability of an output of `poll_twice`, computed by hand.

    Here ε = 1, on two bits.
    """
    first, second = transcript[:2], transcript[2:]
    t = kept(0.5)
    p = math.prod(t if report == bit else 1 - t for report, bit in zip(first, bits, strict=True))
    denied = [place for place in range(2) if first[place] == 0]
    if len(second) != len(denied):
        return 0.0
    t = kept(0.25) if len(denied) == 2 else kept(0.5)
    return p * math.prod(t if r == bits[i] else 1 - t for r, i in zip(second, denied, strict=True))


OUTPUTS = [t for n in (2, 3, 4) for t in product((0, 1), repeat=n) if poll_probability(t, (0, 0)) > 0]


@pytest.mark.parametrize("bits", [[0, 0], [1, 0], [0, 1], [1, 1]])
def test_the_exact_law_of_two_correlated_rounds_matches_their_description(bits):
    law = POLL.distribution(bits)
    assert len(law.outcomes) == len(OUTPUTS) == 1 + 2 * 2 + 4
    for output in OUTPUTS:
        assert law.pmf(output) == pytest.approx(poll_probability(output, bits), rel=1e-12)


@pytest.mark.parametrize("draw", ["sample", "call"])
def test_runs_of_two_rounds_follow_that_law(draw, agreement, shares):
    rng = np.random.default_rng(31)
    drawn = POLL.sample([1, 0], RUNS, rng) if draw == "sample" else [POLL([1, 0], rng) for _ in range(1000)]
    expected = [poll_probability(output, (1, 0)) for output in OUTPUTS]
    assert agreement(shares(drawn, OUTPUTS), expected) > SIGNIFICANCE


def test_that_comparison_detects_uncorrelated_rounds(power):
    right = np.array([poll_probability(output, (1, 0)) for output in OUTPUTS])
    # the law if the second round always asked at ε/2
    wrong = right.copy()
    for i, output in enumerate(OUTPUTS):
        if len(output) == 4:
            t, u = kept(0.25), kept(0.5)
            for report, bit in zip(output[2:], (1, 0), strict=True):
                wrong[i] *= (u / t) if report == bit else (1 - u) / (1 - t)
    assert wrong.sum() == pytest.approx(1.0)
    assert power(wrong, right, 40_000) > 0.99


def test_an_interactive_algorithm_that_overspends_stops_and_draws_no_more():
    seen = []

    def greedy(size):
        for _ in range(5):
            answer = yield 0, RandomizedResponse(epsilon=0.4)
            seen.append(answer)

    protocol = InteractiveProtocol(algorithm=greedy, epsilon=1.0, size=1)
    with pytest.raises(OverspentError, match=r"Entry 0 has spent 0\.8 of its epsilon of 1"):
        protocol([1], np.random.default_rng(0))
    assert len(seen) == 2
    assert protocol.distribution([1]) is None
    with pytest.raises(OverspentError):
        protocol.sample([1], 3, np.random.default_rng(0))


def test_an_algorithm_must_yield_questions():
    def wrong(size):
        yield RandomizedResponse()

    with pytest.raises(InvalidKind, match=r"must be a pair \(entries, randomizer\)"):
        InteractiveProtocol(algorithm=wrong, epsilon=1.0)([0, 1], np.random.default_rng(0))
    with pytest.raises(InvalidValue, match="The `epsilon` of `InteractiveProtocol` must be given"):
        InteractiveProtocol(algorithm=wrong)


def test_a_database_of_another_size_is_refused():
    with pytest.raises(InvalidValue, match="must hold 2 entries; got 3"):
        POLL([0, 1, 1], np.random.default_rng(0))


QUESTIONS = (
    (range(2), RandomizedResponse(epsilon=0.25)),
    (0, KaryRandomizedResponse(epsilon=0.5, categories=3)),
)


def test_a_noninteractive_protocol_claims_the_largest_cost_of_any_entry():
    assert NonInteractiveProtocol(queries=QUESTIONS).claim.epsilon == 0.75
    assert NonInteractiveProtocol(queries=QUESTIONS, epsilon=2.0).claim.epsilon == 2.0
    with pytest.raises(OverspentError, match=r"cost an entry 0\.75 of its epsilon of 0\.5"):
        NonInteractiveProtocol(queries=QUESTIONS, epsilon=0.5)
    with pytest.raises(InvalidValue, match="must be one of 0 … 1; got 2"):
        NonInteractiveProtocol(queries=[(2, RandomizedResponse())])
    with pytest.raises(InvalidKind, match="must be indices"):
        NonInteractiveProtocol(queries=[([True, False], RandomizedResponse())])
    with pytest.raises(InvalidKind, match=r"must be a pair \(entries, randomizer\); got 3"):
        NonInteractiveProtocol(queries=[3])
    with pytest.raises(InvalidValue, match="must be given where `queries` is a function"):
        NonInteractiveProtocol(queries=lambda size, coins: QUESTIONS)


@pytest.mark.parametrize("draw", ["sample", "call"])
def test_its_answers_are_independent_given_the_entries(draw, agreement, shares):
    protocol, rng = NonInteractiveProtocol(queries=QUESTIONS), np.random.default_rng(32)
    runs = RUNS if draw == "sample" else 1000
    drawn = (
        protocol.sample([1, 0], runs, rng)
        if draw == "sample"
        else [protocol([1, 0], rng) for _ in range(runs)]
    )
    t, total = kept(0.25), math.exp(0.5) + 2
    outputs = list(product((0, 1), (0, 1), (0, 1, 2)))
    expected = [
        (t if a == 1 else 1 - t) * (t if b == 0 else 1 - t) * (math.exp(0.5) if c == 1 else 1) / total
        for a, b, c in outputs
    ]
    assert agreement(shares([tuple(map(int, row)) for row in drawn], outputs), expected) > SIGNIFICANCE
    law = protocol.distribution([1, 0])
    assert [law.pmf(output) for output in outputs] == pytest.approx(expected, rel=1e-12)


def test_a_conclusion_has_the_law_of_its_function_of_the_answers():
    protocol = NonInteractiveProtocol(
        queries=QUESTIONS, conclude=lambda queries, answers: int(answers[0].sum()) + 10 * answers[1]
    )
    law, whole = protocol.distribution([1, 0]), NonInteractiveProtocol(queries=QUESTIONS).distribution([1, 0])
    for value in (0, 1, 12):
        parts = [o for o in product((0, 1), (0, 1), (0, 1, 2)) if o[0] + o[1] + 10 * o[2] == value]
        assert law.pmf(value) == pytest.approx(sum(whole.pmf(o) for o in parts), rel=1e-12)


def test_continuous_questions_have_a_product_law(loss):
    queries = [([1, 0], LocalLaplace(epsilon=0.5)), (0, LocalLaplace(epsilon=0.5))]
    protocol = NonInteractiveProtocol(queries=queries, records=(-1, 1))
    assert (
        len(protocol.distribution([1, -1]).factors) == len(protocol([1, -1], np.random.default_rng(0))) == 3
    )
    left, right = protocol.distribution([1, -1]), protocol.distribution([-1, -1])
    assert loss(left, right) == pytest.approx(1.0, rel=1e-9)


def test_all_questions_are_made_before_any_answer_is_drawn():
    events = []

    class Watched(RandomizedResponse):
        def sample(self, database, size, rng):
            events.append("answer")
            return super().sample(database, size, rng)

    def prepare(size, coins):
        for place in range(size):
            events.append("question")
            yield place, Watched(epsilon=0.5)

    NonInteractiveProtocol(queries=prepare, epsilon=0.5, size=3)([0, 1, 1], np.random.default_rng(0))
    assert events == ["question"] * 3 + ["answer"] * 3


def test_questions_cannot_be_added_to_a_protocol():
    questions = [(0, RandomizedResponse(epsilon=0.5))]
    protocol = NonInteractiveProtocol(queries=questions)
    questions.append((0, RandomizedResponse(epsilon=9.0)))
    assert protocol.claim.epsilon == 0.5
    assert len(protocol([0, 1], np.random.default_rng(0))) == 1


def test_the_coins_of_the_questions_do_not_predict_the_answers():
    n, foretold = 20_000, []

    def prepare(size, coins):
        # If the answers came from this generator too, they would be its next draws.
        ahead = copy.deepcopy(coins)
        foretold.append(ahead.random(size) < kept(math.log(3)))
        return [(range(size), RandomizedResponse(epsilon=math.log(3)))]

    protocol = NonInteractiveProtocol(queries=prepare, epsilon=2.0, size=n)
    honest = np.array(protocol([1] * n, np.random.default_rng(33))) == 1
    agreeing = (honest == foretold[0]).sum()
    # Independent streams agree with probability 0.75² + 0.25² = 0.625. A shared stream always agrees, 110
    # standard errors away.
    assert abs(agreeing - 0.625 * n) < 6.0 * math.sqrt(n * 0.625 * 0.375)


def test_randomised_questions_are_asked_as_drawn_and_overspending_ones_refused(agreement, shares):
    def one_of_two(size, coins):
        return [(int(coins.integers(size)), RandomizedResponse(epsilon=1.0))]

    def conclude(queries, answers):
        return (queries[0][0], answers[0])

    protocol = NonInteractiveProtocol(queries=one_of_two, conclude=conclude, epsilon=1.0)
    assert protocol.distribution([0, 1]) is None
    # the outputs name the entry asked: each entry has mass 1/2, split into t and 1 − t
    drawn = protocol.sample([0, 1], 1500, np.random.default_rng(35))
    t = kept(1.0)
    expected = [t / 2, (1 - t) / 2, (1 - t) / 2, t / 2]
    assert agreement(shares(drawn, [(0, 0), (0, 1), (1, 0), (1, 1)]), expected) > SIGNIFICANCE
    greedy = NonInteractiveProtocol(queries=lambda size, coins: QUESTIONS, epsilon=0.5)
    rng = np.random.default_rng(34)
    with pytest.raises(OverspentError, match=r"Entry 0 has spent 0\.25"):
        greedy([0, 1], rng)
