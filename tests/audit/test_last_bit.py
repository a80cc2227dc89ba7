"""Laws that meet their claim with equality, up to floats."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from audit import ApproximateDP, PureDP, Verdict, audit_privacy
from audit.distributions import Countable, Density, Finite, Mixture, Product
from audit.errors import InvalidValue
from audit.laws.divergence import TOLERANCE
from audit.laws.exact import compare_pairs
from audit.laws.scores import SETTLED


def compared(left, right, epsilon, delta=0.0):
    laws = [left, right]
    return compare_pairs([(0, 1)], laws.__getitem__, SimpleNamespace(epsilon=epsilon, delta=delta))


def answer(epsilon):
    """Return the textbook probability of the true answer.

    Computing 1 minus this number loses digits.
    """
    return math.exp(epsilon) / (1.0 + math.exp(epsilon))


def coins(epsilon):
    p = answer(epsilon)
    return Finite([0, 1], [p, 1.0 - p]), Finite([0, 1], [1.0 - p, p])


def truncated_geometric(place, epsilon, count):
    """Return a truncated geometric law whose last cell is 1 minus the sum of the others."""
    top = math.tanh(epsilon / 2.0)
    cells = [top * math.exp(-epsilon * abs(k - place)) for k in range(count)]
    cells[0] = math.exp(-epsilon * place) / (1.0 + math.exp(-epsilon))
    return Finite(range(count), [*cells[:-1], 1.0 - sum(cells[:-1])])


class Response:
    """Randomized response that declares its law as two floats."""

    size = 1
    records = (0, 1)

    def __init__(self, epsilon):
        self.p = answer(epsilon)

    def __call__(self, database, rng):
        return int(database[0] if rng.random() < self.p else 1 - database[0])

    def distribution(self, database):
        return Finite([0, 1], np.roll([self.p, 1.0 - self.p], database[0]))


@pytest.mark.parametrize("epsilon", [20.0, 22.0, 25.0])
def test_randomized_response_is_proved_at_its_own_epsilon_and_refuted_below(epsilon):
    result = audit_privacy(Response(epsilon), PureDP(epsilon))
    assert result.verdict is Verdict.PROVED
    assert abs(result.epsilon_lower - epsilon) <= result.tolerance <= SETTLED
    assert audit_privacy(Response(epsilon), PureDP(epsilon - 0.01)).verdict is Verdict.REFUTED


@pytest.mark.parametrize("epsilon", [20.0, 22.0, 25.0])
@pytest.mark.parametrize("share", [1.0, 0.25])
def test_a_remainder_is_not_refuted_in_other_laws_either(epsilon, share):
    """The float 1 − p appears as a mass in finite laws, mixtures, steps and products."""
    p = answer(epsilon)
    q = (1.0 - p) * share
    rest = [p, *[q] * round(1.0 / share)]
    spread = [Finite(range(len(rest)), np.roll(rest, k)) for k in (0, 1)]
    mixed = [Mixture([0], Density.uniform(), probabilities=[x]) for x in (p, 1.0 - p)]
    steps = [Density.steps([0.0, 1.0, 2.0], x) for x in ([p, 1.0 - p], [1.0 - p, p])]
    paired = [Product([coin, coin]) for coin in coins(epsilon)]
    loss = math.log(p) - math.log(q)
    meant = epsilon - math.log(share)
    assert abs(loss - meant) > TOLERANCE  # the rounding is large enough to matter
    assert not compared(*spread, meant).over
    assert not compared(*mixed, epsilon).over
    assert not compared(*steps, epsilon).over
    assert not compared(*paired, 2.0 * epsilon).over
    for laws, claim in ((spread, meant), (mixed, epsilon), (steps, epsilon), (paired, 2.0 * epsilon)):
        assert compared(*laws, claim - 0.1).over


@pytest.mark.parametrize("epsilon", [1.0, 2.0, 3.0])
@pytest.mark.parametrize("count", [12, 16, 24])
def test_a_truncated_geometric_whose_last_cell_is_a_remainder_is_not_refuted(epsilon, count):
    laws = [truncated_geometric(place, epsilon, count) for place in range(count)]
    pairs = [(place, place + 1) for place in range(count - 1)]
    assert not compare_pairs(pairs, laws.__getitem__, SimpleNamespace(epsilon=epsilon, delta=0.0)).over
    found = compare_pairs(pairs, laws.__getitem__, SimpleNamespace(epsilon=epsilon - 1e-6, delta=0.0))
    assert found.over


def test_an_approximate_claim_is_not_refuted_by_the_rounding_of_a_remainder():
    left, right = coins(25.0)
    delta = 1e-12
    exact = math.log((answer(25.0) - delta) * (1.0 + math.exp(25.0)))
    found = compared(left, right, exact, delta)
    assert abs(found.epsilon - exact) > TOLERANCE
    assert not found.over
    assert compared(left, right, exact - 0.01, delta).over


def test_a_claim_that_rounding_leaves_open_is_neither_refuted_nor_proved():
    """At ε = 40 a private and a non-private mechanism give the same floats.

    The probabilities round to 1 and 0.
    """
    result = audit_privacy(Response(40.0), PureDP(40.0))
    assert result.verdict is Verdict.NOT_REFUTED
    assert any("log_probabilities" in note for note in result.notes)


@pytest.mark.parametrize("tiny", [1e-20, 1e-30])
def test_a_tiny_violation_is_seen_if_the_numbers_can_express_it(tiny):
    def law(q):
        return Finite("ab", log_probabilities=[math.log(q), math.log1p(-q)])

    assert compared(law(tiny), law(tiny / 8.0), 2.0).over
    assert compared(law(tiny), law(tiny / 8.0), math.log(8.0)).within
    rounded = compared(Finite("ab", [tiny, 1.0 - tiny]), Finite("ab", [tiny / 8.0, 1.0]), 2.0)
    assert not rounded.over
    assert not rounded.within


def test_a_violation_larger_than_the_rounding_is_seen_in_floats():
    assert compared(Finite("ab", [1e-12, 1.0 - 1e-12]), Finite("ab", [1e-14, 1.0 - 1e-14]), 4.0).over
    assert compared(Finite("ab", [1e-12, 1.0 - 1e-12]), Finite("ab", [0.0, 1.0]), 4.0).over


def test_a_law_keeps_its_rounding_when_it_is_mapped():
    left, right = (coin.map(str) for coin in coins(22.0))
    assert not compared(left, right, 22.0).over


TINY = Fraction(1, 10**30)
HALF = Fraction(1, 2)


@pytest.mark.parametrize(
    ("left", "right", "epsilon", "delta", "over"),
    [
        ([HALF, HALF], [HALF, HALF], 0.0, 0.0, False),
        ([HALF + TINY, HALF - TINY], [HALF, HALF], 0.0, 0.0, True),
        ([TINY, 1 - TINY], [0, 1], 700.0, 0.0, True),
        ([TINY, 1 - TINY], [0, 1], 1.0, 1e-30, False),
        ([2 * TINY, 1 - 2 * TINY], [0, 1], 1.0, 1e-30, True),
        ([Fraction(2, 3), Fraction(1, 3)], [Fraction(1, 3), Fraction(2, 3)], math.log(2.0), 0.0, False),
        ([Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)], math.log(3.0), 0.0, False),
        ([Fraction(3, 10), Fraction(7, 10)], [0, 1], 1.0, 0.3, False),
        (
            [Fraction(3, 10) + TINY, Fraction(7, 10) - TINY],
            [Fraction(3, 10), Fraction(7, 10)],
            0.0,
            0.0,
            True,
        ),
    ],
)
def test_fractions_are_compared_without_a_tolerance(left, right, epsilon, delta, over):
    laws = Finite("ab", left), Finite("ab", right)
    for pair in (laws, [Product([law, Finite([0], [Fraction(1)])]) for law in laws]):
        found = compared(*pair, epsilon, delta)
        assert found.over is over
        assert found.within is not over


def test_fractions_survive_a_map_and_must_sum_to_one():
    thirds = Finite(range(3), [Fraction(1, 3)] * 3).map(lambda k: k == 0)
    assert thirds.fractions == (Fraction(1, 3), Fraction(2, 3))
    assert thirds != Finite([True, False], [Fraction(1, 3) + TINY, Fraction(2, 3) - TINY])
    with pytest.raises(InvalidValue, match="sum to 1"):
        Finite("ab", [HALF, HALF + TINY])
    assert Mixture([0], Density.uniform(), probabilities=[1 - TINY]).log_weight == pytest.approx(
        math.log(1e-30)
    )


def test_a_mechanism_whose_law_is_in_fractions_is_proved_or_refuted():
    class Thirds(Response):
        def distribution(self, database):
            law = [Fraction(2, 3) + self.extra, Fraction(1, 3) - self.extra]
            return Finite([0, 1], law[:: 1 - 2 * database[0]])

    thirds = Thirds(math.log(2.0))
    thirds.extra = Fraction()
    assert audit_privacy(thirds, PureDP(math.log(2.0))).verdict is Verdict.PROVED
    thirds.extra = Fraction(1, 10**14)
    result = audit_privacy(thirds, ApproximateDP(math.log(2.0), 1e-15))
    assert result.verdict is Verdict.REFUTED


def test_a_geometric_law_is_as_tight_as_before():
    laws = Countable.geometric(0, 1.0), Countable.geometric(1, 1.0)
    assert compared(*laws, 1.0).within
    assert compared(*laws, 1.0 - 1e-6).over
