"""Correct statements of the texts, checked by second derivations.

Changes that would refute the statements are tried too.
"""

import math
from itertools import product

import pytest
from scipy import stats

from mechanisms.findings import findings


def finding_of(name):
    return findings()[name]()


def chernoff(n, mean, *, upper):
    """Return the largest ratio of tail to bound, with each tail summed."""
    law = [math.comb(n, k) * mean**k * (1 - mean) ** (n - k) for k in range(n + 1)]
    worst = 0.0
    for k in range(n + 1):
        phi = k / (n * mean) - 1 if upper else 1 - k / (n * mean)
        if 0 < phi <= 1:
            tail = sum(law[k:]) if upper else sum(law[: k + 1])
            worst = max(worst, tail / math.exp(-(phi**2) * mean * n / (3 if upper else 2)))
    return worst


@pytest.mark.parametrize("mean", [0.1, 0.5, 0.98])
def test_theorem_a_1_has_the_ratios_of_a_second_calculation(mean):
    rows = {row[0]: row[1:] for row in finding_of("K11 Theorem A.1").tables[0].rows}
    small = [[chernoff(n, mean, upper=upper) for n in (1, 2, 5, 20, 100)] for upper in (True, False)]
    large = []
    for upper in (True, False):  # n = 1000
        tail = stats.binom(1000, mean)
        counts = [k for k in range(1001) if 0 < (k / (1000 * mean) - 1) * (1 if upper else -1) <= 1]
        large.append(
            max(
                (
                    (tail.sf(k - 1) if upper else tail.cdf(k))
                    / math.exp(-((k / (1000 * mean) - 1) ** 2) * mean * 1000 / (3 if upper else 2))
                    for k in counts
                    if abs(k - 1000 * mean) < 250
                ),
            )
        )
    assert rows[mean] == pytest.approx([max([*small[i], large[i]]) for i in (0, 1)], rel=1e-6)


def test_theorem_a_1_would_fail_with_the_constant_16_of_e14():
    tail = stats.binom.cdf(math.ceil(0.5 * 3200 / 8) - 1, 3200, 0.125)
    assert tail <= math.exp(-0.25 * 0.125 * 3200 / 2)  # φ = 1/2: e^(−εn/32)
    assert tail > math.exp(-0.5 * 3200 / 16)


def test_theorem_a_2_has_the_closed_form_ratio_for_one_coin():
    for mean, one, *rest in finding_of("K11 Theorem A.2").tables[0].rows:
        off = max(mean, 1 - mean)
        near = 1 - off
        closed = max(near / (2 * math.exp(-2 * off**2)), 1 / (2 * math.exp(-2 * near**2)))
        if near == off:
            closed = 1 / (2 * math.exp(-0.5))
        assert one == pytest.approx(closed)
        assert all(quotient <= 1 for quotient in rest)


def test_definition_12_counts_the_scores_and_no_more_than_2k_solutions_move():
    """The scores of one solution are counted place by place.

    There are up to 3 records of two kinds, a and b.
    """
    places = [(a, n - a) for n in range(1, 4) for a in range(n + 1)]
    grows = 0
    for values in product(range(4), repeat=len(places)):
        score = {(0, 0): 0, **dict(zip(places, values, strict=True))}
        grows += all(
            0 <= score[a, b] - score[less] <= 1
            for a, b in places
            for less in ((a - 1, b), (a, b - 1))
            if min(less) >= 0
        )
    one, two, both = finding_of("BNS Definition 12").tables[0].rows
    assert one[2] == grows
    assert both[2] == grows**2
    assert two[2] < both[2]
    assert [row[3] for row in (one, two, both)] == [1, 1, 1]
    assert two[4] == 2  # k = 1: one score falls and another rises


def test_remark_2_has_logarithmic_ranges():
    assert [row[1] for row in finding_of("BNS Remark 2").tables[0].rows] == ["16", "64, 6", "1024, 10"]


def test_lemma_5_8_is_no_worse_than_its_claims_combined():
    finding = finding_of("K11 Lemma 5.8")
    assert finding.found == max(finding_of("K11 Claim 5.9").found, finding_of("K11 Claim 5.10").found)
    for epsilon, t, tolerance, printed, expected, asked, distance in finding.tables[0].rows:
        # a trial ends with probability Σ q·p/(q·(1 + φ)·e^ε) = 1/((1 + φ)·e^ε), φ = 0.3/3t
        assert expected == pytest.approx((t + 0.1) * math.exp(epsilon))
        assert printed < expected < asked
        # a fair coin: both weights are off by the tolerance before normalisation; that of the likely outcome
        # is too low
        likely = 1 / (1 + math.exp(-epsilon))
        more, less = (tolerance * 2 * math.sinh(epsilon) * q for q in (likely, 1 - likely))
        assert distance == pytest.approx((0.5 + less) / (1 + less - more) - 0.5, rel=1e-7)
        assert t * distance <= 0.3
