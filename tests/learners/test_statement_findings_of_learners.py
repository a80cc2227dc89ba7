"""Findings about statements on learners that hold, by second derivations."""

import math
from itertools import pairwise, product

import pytest

from learners.findings import findings
from learners.findings.doubling import k11_claim_4_3
from learners.findings.sanitizers import definition_6


def chance(database, place, *, taken, target, p):
    """Pr[A puts out the target | whether the example at the place is taken], but for the refusal."""
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
    """d = 1, one example: 4 records and 2 parities, none of them out of reach without the example."""
    assert k11_claim_4_3().tables[0].rows[0][:4] == (1, 1, 0.25, 8)


def test_definition_6_moves_by_whole_entries_up_to_twice_alpha():
    for _, alpha, size, double, found in definition_6().tables[0].rows:
        assert double == 2 * alpha
        assert found == pytest.approx(math.floor(2 * alpha * size + 1e-9) / size)


def test_theorem_5_14_costs_a_polynomial_each_way():
    rows = findings()["K11 Theorem 5.14"]().tables[0].rows
    for d, queries, tau, records, tolerance, back in rows:
        assert (queries, tau) == (d + 1, pytest.approx(1 / (4 * d + 1)))
        # the exponent of a normal law, as tau is small: values in [0, 1] and Laplace noise of scale 1 have a
        # variance of at most 1/4 + 2, and each of d + 1 answers misses with probability at most 0.1/(d + 1)
        answer = 2 * 2.25 * math.log(2 * (d + 1) / 0.1) / tau**2
        assert records == pytest.approx((d + 1) * answer, rel=0.005)
        # an outcome of mean 1/2 is accepted in e·(1 + φ) trials, φ = 0.1/3t, each one query
        assert (records + 0.1 / 3) * math.e < back
        # all accesses together stay within β; by no more than the e² and the 3 of the tolerance
        assert 0.1 / (3 * math.e**2) < records * farthest(tolerance) < 0.1
    assert all(later[3] < 2**4 * row[3] for row, later in pairwise(rows))  # d doubles: below d⁴


def farthest(tolerance):
    """How far an answer of e^±1/(1 + e) proposed may be off a fair coin, by a query's tolerance: ε = 1."""
    likely = math.e / (1 + math.e)
    more, less = (tolerance * 2 * math.sinh(1.0) * q for q in (likely, 1 - likely))
    return (0.5 + less) / (1.0 + less - more) - 0.5  # the weight of the likely outcome is the one too low
