"""Correct statements on learners, checked by second derivations."""

import math
from itertools import combinations_with_replacement, pairwise, product

import numpy as np
import pytest

from learners.concepts import IntervalClass, ParityClass, PointClass
from learners.findings import findings
from learners.findings.doubling import k11_claim_4_3
from learners.findings.equivalence import bns_agnostic, by_learning, by_sanitizing
from learners.findings.sanitizers import definition_6


def chance(database, place, *, taken, target, p):
    """Return Pr[A outputs the target | no refusal].

    `taken` says whether A uses the example at `place`.
    """
    total = 0.0
    others = [i for i in range(len(database)) if i != place]
    for subset in product((0, 1), repeat=len(others)):
        chosen = [i for i, took in zip(others, subset, strict=True) if took] + [place] * taken
        solutions = [
            r for r in range(4) if all((r & database[i][0]).bit_count() % 2 == database[i][1] for i in chosen)
        ]
        weight = math.prod(p if took else 1 - p for took in subset)
        total += weight * (target in solutions) / max(1, len(solutions))
    return total


def test_claim_4_3_by_a_second_enumeration_at_every_place():
    worst, records = 0.0, [(x, y) for x in range(4) for y in (0, 1)]
    for database in product(records, repeat=2):
        for place, target in product(range(2), range(4)):
            ways = (chance(database, place, taken=taken, target=target, p=0.3) for taken in (True, False))
            with_it, without = ways
            if without:
                worst = max(worst, with_it / without)
            else:
                assert with_it == 0
    assert worst == pytest.approx(2.0)
    finding = k11_claim_4_3()
    assert (finding.judgement, finding.claimed) == ("holds", 2.0)
    assert [row[4] for row in finding.tables[0].rows] == pytest.approx([2.0] * 10)


def test_claim_4_3_counts_the_cases_of_one_example():
    """For d = 1 and one example there are 4 records and 2 parities.

    Without the example, both parities are possible.
    """
    assert k11_claim_4_3().tables[0].rows[0][:4] == (1, 1, 0.25, 8)


def test_definition_6_moves_by_whole_entries_up_to_twice_alpha():
    for _, alpha, size, double, found in definition_6().tables[0].rows:
        assert double == 2 * alpha
        assert found == pytest.approx(math.floor(2 * alpha * size + 1e-9) / size)


def test_theorem_5_14_costs_a_polynomial_each_way():
    rows = findings()["K11 Theorem 5.14"]().tables[0].rows
    for d, queries, tau, records, tolerance, back in rows:
        assert (queries, tau) == (d + 1, pytest.approx(1 / (4 * d + 1)))
        # As tau is small, the tail of an answer has nearly the exponent of a normal law. Values in [0, 1]
        # plus Laplace noise of scale 1 have variance at most 1/4 + 2. Each of d + 1 answers misses with
        # probability at most 0.1/(d + 1).
        answer = 2 * 2.25 * math.log(2 * (d + 1) / 0.1) / tau**2
        assert records == pytest.approx((d + 1) * answer, rel=0.005)
        # each of t accesses to a fair coin takes e·(1 + φ) trials of one query on average, φ = 0.1/3t
        assert (records + 0.1 / 3) * math.e < back
        # All accesses together change the law by less than β = 0.1, but by at least β/(3·e²).
        assert 0.1 / (3 * math.e**2) < records * farthest(tolerance) < 0.1
    # d doubles, so the growth is below d⁴
    assert all(later[3] < 2**4 * row[3] for row, later in pairwise(rows))


def farthest(tolerance):
    """Return how far the accepted law may be from a fair coin at ε = 1.

    The answers to queries are off by the tolerance.
    """
    likely = math.e / (1 + math.e)
    more, less = (tolerance * 2 * math.sinh(1.0) * q for q in (likely, 1 - likely))
    # here the estimated weight of the likely outcome is too low
    return (0.5 + less) / (1.0 + less - more) - 0.5


def test_the_learner_that_sanitizes_by_a_second_enumeration():
    """A second enumeration uses plain lists and tries all pairs of outputs.

    There are samples of two examples. On the outputs the frequency of every concept is off by at most α =
    0.1.
    """
    concepts = [set(), {1}, {1, 2}]
    outputs = list(combinations_with_replacement(range(3), 15))
    kinds = [(x, y) for y in (1, 0) for x in (1, 2)]
    worst = 0.0
    for sample in combinations_with_replacement(kinds, 2):
        parts = {y: [x if label == y else 0 for x, label in sample] for y in (0, 1)}
        errors = [sum((x in held) != y for x, y in sample) / 2 for held in concepts]
        near = {
            y: [
                output for output in outputs if all(abs(gap(output, part, c)) <= 0.1 + 1e-9 for c in concepts)
            ]
            for y, part in parts.items()
        }
        for ones, zeros in product(near[1], near[0]):
            told = [share(zeros, held) - share(ones, held) for held in concepts]
            worst = max(worst, errors[told.index(min(told))] - min(errors))
    assert by_sanitizing(2)[1] == pytest.approx(worst)


def share(points, held):
    return sum(point in held for point in points) / len(points)


def gap(left, right, held):
    return share(left, held) - share(right, held)


@pytest.mark.parametrize("concepts", [PointClass(3), ParityClass(3), IntervalClass(3)], ids=str)
def test_an_agnostic_learner_sanitizes_random_databases_within_the_rounds_that_are_shown(concepts):
    rng = np.random.default_rng(4)
    for spread in (0.05, 0.3, 1.0):
        shares = rng.dirichlet(np.full(8, spread))
        rounds, built = by_learning(concepts, shares)
        assert rounds <= math.log(8) / (2 * 0.06**2)
        assert (built.min() > 0, built.sum()) == (True, pytest.approx(1.0))
        for concept in concepts.concepts:
            held = [concepts.label(concept, point) == concepts.labels[1] for point in concepts.domain]
            assert abs(shares[held].sum() - built[held].sum()) <= 0.1
    assert by_learning(concepts, np.full(8, 1 / 8))[0] == 0


def test_the_finding_on_agnostic_learning_stays_within_its_bounds():
    finding = bns_agnostic()
    assert finding.found <= finding.claimed == 0.4
    for _, size, rounds, error, records in finding.tables[0].rows:
        assert 0 < rounds <= 385
        assert error <= 0.1
        assert records == math.ceil(385 * math.log(2 * size * 385 / 0.1) / 0.02)
