"""Exact audits, by declared laws, of many pairs of databases."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

from audit.distributions import Countable, Density, Finite, Product
from audit.errors import InvalidKind, InvalidValue
from audit.laws.divergence import epsilon_at, hockey_stick
from audit.laws.exact import compare_pairs

LN3 = math.log(3.0)


def claim(epsilon, delta=0.0):
    return SimpleNamespace(epsilon=epsilon, delta=delta)


def truth_with(probability):
    return lambda database: Finite([0, 1], np.roll([probability, 1.0 - probability], database[0]))


TIGHT = {
    "randomized response": (LN3, truth_with(0.75)),
    "laplace": (0.1, lambda d: Density.laplace(0.1 * d[0], 1.0)),
    "laplace far away": (0.1, lambda d: Density.laplace(1e6 + d[0], 10.0)),
    "geometric": (LN3, lambda d: Countable.geometric(d[0], 1.0 / LN3)),
    "truncated geometric": (LN3, lambda d: Finite.from_clamped(Countable.geometric(d[0], 1.0 / LN3), 0, 7)),
    "vector laplace": (1.0, lambda d: Product([Density.laplace(0.3 * d[0]), Density.laplace(-0.7 * d[0])])),
}


@pytest.mark.parametrize("name", TIGHT)
def test_a_claim_met_with_equality_is_not_exceeded(name):
    epsilon, law_of = TIGHT[name]
    finding = compare_pairs([([0], [1])], law_of, claim(epsilon))
    assert finding.within
    assert not finding.over
    assert finding.epsilon == pytest.approx(epsilon, abs=1e-9)
    assert finding.delta == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("name", TIGHT)
def test_an_excess_of_a_millionth_is_seen(name):
    epsilon, law_of = TIGHT[name]
    finding = compare_pairs([([0], [1])], law_of, claim(epsilon - 1e-6))
    assert finding.over
    assert not finding.within
    worst = finding.by_epsilon
    assert worst.p > math.exp(epsilon - 1e-6) * worst.q


def test_an_approximate_claim_met_with_equality_is_not_exceeded():
    p, q = Density.normal(0.0), Density.normal(1.0)
    delta = hockey_stick(p, q, 1.0)
    laws = [p, q]
    assert compare_pairs([(0, 1)], laws.__getitem__, claim(1.0, delta)).within
    over = compare_pairs([(0, 1)], laws.__getitem__, claim(1.0 - 1e-6, delta))
    assert over.over
    assert over.epsilon == pytest.approx(1.0, abs=1e-9)


def test_a_leak_of_exactly_delta_is_within_and_a_larger_one_is_over():
    laws = [Finite("ab", [1.0, 0.0]), Finite("ab", [1.0 - 1e-5, 1e-5])]
    assert compare_pairs([(0, 1)], laws.__getitem__, claim(0.5, 1e-5)).within
    finding = compare_pairs([(0, 1)], laws.__getitem__, claim(0.5, 0.999e-5))
    assert finding.over
    assert finding.by_delta.direction == "right"
    assert finding.by_delta.event.outcomes == ("b",)
    assert (finding.by_delta.p, finding.by_delta.q) == (pytest.approx(1e-5), 0.0)
    assert finding.epsilon == math.inf


def random_laws(rng, count, outcomes):
    weights = rng.gamma(0.5, size=(count, len(outcomes)))
    weights[rng.random(weights.shape) < 0.1] = 0.0
    weights[:, 0] += 0.01
    return [Finite(outcomes, row / row.sum()) for row in weights]


@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_the_matrix_agrees_with_pair_by_pair_comparison(delta):
    rng = np.random.default_rng(3)
    laws = random_laws(rng, 12, "abcdef") + random_laws(rng, 4, ["f", "x", "a"])
    pairs = list(itertools.combinations(range(16), 2))
    finding = compare_pairs(pairs, laws.__getitem__, claim(0.4, delta))
    both = [(laws[i], laws[j]) for a, b in pairs for i, j in ((a, b), (b, a))]
    assert finding.delta == pytest.approx(max(hockey_stick(p, q, 0.4) for p, q in both), abs=1e-12)
    epsilons = [epsilon_at(p, q, delta) for p, q in both]
    assert finding.epsilon == pytest.approx(max(epsilons), abs=1e-9)


def test_epsilon_at_a_delta_agrees_between_sorting_and_root_finding():
    rng = np.random.default_rng(4)
    laws = random_laws(rng, 2, "abcdef")
    for delta in (0.3, 0.1):
        finding = compare_pairs([(0, 1)], laws.__getitem__, claim(0.0, delta))
        expected = max(epsilon_at(laws[0], laws[1], delta), epsilon_at(laws[1], laws[0], delta))
        assert finding.epsilon == pytest.approx(expected, abs=1e-9)


def test_the_worst_pair_and_its_direction_are_named():
    laws = {0: Finite("ab", [0.5, 0.5]), 1: Finite("ab", [0.6, 0.4]), 2: Finite("ab", [0.9, 0.1])}
    finding = compare_pairs([(0, 1), (1, 2), (0, 2)], laws.__getitem__, claim(1.0))
    worst = finding.by_epsilon
    # Pr[b] falls from 0.5 to 0.1, so the left database has the larger probability
    assert (worst.left, worst.right, worst.direction) == (0, 2, "left")
    assert (worst.p, worst.q) == (pytest.approx(0.5), pytest.approx(0.1))
    assert worst.event.outcomes == ("b",)


def test_each_database_is_asked_for_its_law_once():
    asked = []

    def law_of(database):
        asked.append(tuple(database))
        return Finite([0, 1], [0.5, 0.5])

    databases = [list(d) for d in itertools.product(range(2), repeat=4)]
    compare_pairs(itertools.permutations(databases, 2), law_of, claim(1.0))
    assert sorted(asked) == sorted(set(asked))


def test_a_hundred_thousand_pairs_are_compared_with_16_outcomes():
    rng = np.random.default_rng(5)
    laws = random_laws(rng, 400, range(16))
    pairs = itertools.islice(itertools.permutations(range(400), 2), 100_000)
    finding = compare_pairs(pairs, laws.__getitem__, claim(1.0))
    assert finding.pairs == 100_000
    assert finding.complete


def test_a_stop_keeps_what_was_compared():
    budget = iter([False] * 9)
    law_of = truth_with(0.75)
    finding = compare_pairs(itertools.repeat(([0], [1])), law_of, claim(2.0), stop=lambda: next(budget, True))
    assert (finding.pairs, finding.complete) == (10, False)
    assert finding.within


def test_a_stop_after_the_last_pair_stops_nothing():
    finding = compare_pairs([([0], [1])], truth_with(0.75), claim(2.0), stop=lambda: True)
    assert (finding.pairs, finding.complete) == (1, True)


@pytest.mark.parametrize("compared", [0, 2**15])  # in the first chunk, and in a later one
def test_ctrl_c_ends_the_comparison_with_no_finding(compared):
    def pairs():
        yield from itertools.repeat(([0], [1]), compared)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare_pairs(pairs(), truth_with(0.75), claim(2.0))


def test_no_pair_and_no_law_are_refused():
    with pytest.raises(InvalidValue, match="no pair"):
        compare_pairs([], truth_with(0.75), claim(1.0))
    with pytest.raises(InvalidKind, match="must return a law"):
        compare_pairs([([0], [1])], lambda _: [0.5, 0.5], claim(1.0))
