"""Findings about the central mechanisms, by closed forms and derivations."""

import itertools
import math

import numpy as np
import pytest
from scipy import special, stats

from audit.findings import Finding
from mechanisms import findings as page
from mechanisms.findings import central


def finding_of(name):
    return central.FINDINGS[name]()


def column(finding, number, table=0):
    return [row[number] for row in finding.tables[table].rows]


def test_every_finding_is_on_the_page_under_its_own_name():
    everything = page.findings()
    assert set(central.FINDINGS) <= set(everything)
    assert {"E6", "E8", "E12", "N5", "N6", "N7", "N8", "N18", "N20", "N21", "N22", "N26", "N27"} <= set(
        central.FINDINGS
    )
    for name in ("B Theorem 3", "E8", "E12", "N5", "N7", "N20", "N21", "N22", "N26", "N27"):
        finding = central.FINDINGS[name]()
        assert isinstance(finding, Finding)
        assert finding.name == name


# Noise


def test_both_parts_of_theorem_3_of_b_hold_with_equality():
    finding = finding_of("B Theorem 3")
    assert finding.judgement == "holds"
    assert column(finding, 1) == pytest.approx([1.0, 1.0, 1.0], rel=1e-9)
    assert column(finding, 4) == pytest.approx(column(finding, 2), rel=1e-9)
    assert column(finding, 3) == pytest.approx([math.log(2), math.log(20) / 5, math.log(1e6) / 1000])


def test_the_rate_passed_as_the_scale_is_a_million_times_too_wide():
    finding = finding_of("B Definition 2")
    assert (finding.judgement, finding.claimed, finding.found) == ("typo", 0.001, 1000.0)
    assert finding.ratio == pytest.approx(1000**2 * 1.0**2 / 1.0**2)  # n²ε²/b²
    assert finding.tables[0].rows[-1][4] == pytest.approx(1000 * math.log(20))


def test_the_deviation_is_root_two_times_the_scale():
    finding = finding_of("E8")
    assert finding.judgement == "typo"
    assert column(finding, 2) == pytest.approx([stats.laplace(scale=s).std() for s in (0.5, 1.0, 2.0)])
    assert finding.ratio == pytest.approx(4.0)


def test_conditioning_on_the_range_costs_the_ratio_of_normalisers_and_clamping_costs_nothing():
    def normaliser(answer, upper):
        return sum(2.0 ** -abs(k - answer) for k in range(upper + 1))

    finding = finding_of("N18")
    expected = [math.log(2 * normaliser(1, b) / normaliser(0, b)) for b in (1, 2, 5, 20)]
    assert column(finding, 1) == pytest.approx(expected)
    assert [round(x, 3) for x in expected] == [0.693, 0.827, 0.907, 0.916]
    assert column(finding, 2) == pytest.approx([math.log(2)] * 4)


def test_the_ratio_of_geometric_probabilities():
    finding = finding_of("N22")
    assert finding.claimed == 2.0
    assert column(finding, 3) == pytest.approx([0.5, 0.5, 2.0])
    assert all(true <= 2.0 for true in column(finding, 3))
    assert column(finding, 2) == [2.0, 2.0, 0.5]


# The exponential mechanism and A_dist


def test_the_loss_of_the_exponential_mechanism_approaches_epsilon_from_below():
    rows = finding_of("BNS Proposition 1(i)").tables[0].rows
    for count, behind, loss in rows:
        before = special.expit(-behind / 2 - math.log(count - 1))
        after = special.expit((2 - behind) / 2 - math.log(count - 1))
        assert loss == pytest.approx(math.log(after / before), rel=1e-9)
        assert loss < 1.0
    # two solutions are enough to come close to ε
    assert max(loss for count, _, loss in rows if count == 2) > 1 - 1e-8


def test_a_score_of_sensitivity_ten_has_a_loss_of_five():
    left, right = (special.log_softmax(np.array(scores) / 2) for scores in ([0, 10], [10, 0]))
    assert finding_of("N7").found == pytest.approx(np.abs(left - right).max())
    assert finding_of("N7").judgement == "hidden condition"
    assert finding_of("N7").found > finding_of("N7").claimed


def test_the_tail_bound_of_the_exponential_mechanism_is_tight_up_to_the_probability_of_the_best():
    finding = finding_of("BNS Proposition 1(ii)")
    for count, far, bound, found in finding.tables[0].rows:
        odds = (count - 1) * math.exp(-far / 2)
        assert bound == pytest.approx(count * math.exp(-far / 2))
        assert found == pytest.approx(odds / (1 + odds))
        assert found <= bound


def gap_delta(at, *, epsilon, delta, tight=False):
    """Return the largest delta of A_dist, derived by hand.

    Either the same solution leads on both databases. Or a solution leads by 2 on one database, and the
    other database has a tie.
    """
    scale, inside = (2 / epsilon, 2 * delta) if tight else (4 / epsilon, delta)
    threshold = scale * math.log(1 / inside) + 2
    noise, gaps = stats.laplace(scale=scale), np.arange(1, math.ceil(threshold) + 8)
    released, kept = noise.sf(threshold - gaps), noise.cdf(threshold - gaps)
    best = noise.sf(threshold - 2)  # a gap of 2, against a tie
    for step in (1, 2):
        for p, q in ((slice(step, None), slice(None, -step)), (slice(None, -step), slice(step, None))):
            excess = sum(np.maximum(0, side[p] - math.exp(at) * side[q]) for side in (released, kept))
            best = max(best, excess.max())
    return best


def test_a_dist_uses_half_its_claim_and_the_tight_twin_all_of_it():
    finding = finding_of("E9 (A_dist)")
    assert finding.judgement == "loose"
    for epsilon, at_epsilon, at_half, below, tight in finding.tables[0].rows:
        assert at_epsilon == pytest.approx(5e-7, rel=1e-9)
        assert at_half == pytest.approx(5e-7, rel=1e-9)
        assert below == pytest.approx(gap_delta(0.49 * epsilon, epsilon=epsilon, delta=1e-6), rel=1e-6)
        assert below > 1e-4
        assert tight == pytest.approx(gap_delta(epsilon, epsilon=epsilon, delta=1e-6, tight=True), rel=1e-9)
        assert tight == pytest.approx(1e-6, rel=1e-9)


def test_a_dist_keeps_its_claim():
    finding = finding_of("BNS Proposition 2(i)")
    assert finding.judgement == "holds"
    assert column(finding, 2) == pytest.approx([delta / 2 for delta in column(finding, 1)])


def test_the_printed_gap_fails_too_often_beyond_four_logs_of_two():
    for epsilon, beta, gap, failure, needed, right in finding_of("E12").tables[0].rows:
        scale = 4 / epsilon
        threshold = scale * math.log(1e6) + 2
        assert failure == pytest.approx(stats.laplace(gap, scale).cdf(threshold))
        assert failure == pytest.approx(beta / 4 * math.exp(epsilon / 2))
        assert (failure > beta) == (epsilon > 4 * math.log(2))
        assert needed == pytest.approx(scale * math.log(1 / (2 * beta * 1e-6)) + 2)
        assert right == pytest.approx(beta)
    assert round(finding_of("E12").found, 4) == 0.3046


# Choosing


def test_lemma_4_is_private_at_the_stated_size_and_not_at_small_ones():
    first, second = finding_of("BNS Lemma 4").tables[0].rows
    assert first[3:5] == (9, pytest.approx(0.00046, abs=5e-6))
    assert second[3:5] == (14, pytest.approx(0.00247, abs=5e-6))
    for epsilon, delta, *_, one, two, three in (first, second):
        # Only the last record supports its solution. The other m − 1 records support another one; at m = 1
        # there are none.
        for m, found in ((1, one), (2, two), (3, three)):
            best = max(m - 1, 1)
            share = 1.0 if m == 1 else special.expit(epsilon / 4 * (1 - best))
            least = stats.laplace(best, 4 / epsilon).sf(m / 2) * share
            assert found >= least * (1 - 1e-9)
            assert found > delta


def test_without_a_high_score_the_answer_is_a_refusal():
    finding = finding_of("N5")
    assert finding.judgement == "false"
    assert (finding.claimed, finding.found) == (0.1, 1.0)
    opt, printed, true = finding.tables[0].rows[1]
    assert opt == 58
    assert printed == pytest.approx(stats.laplace(58, 4).cdf(57.5))
    assert printed > 0.1
    assert max(column(finding, 2)) < 0.1
    assert true == 0.0


def test_an_enormous_epsilon_breaks_lemma_4_by_half_of_k_fresh_solutions():
    for epsilon, delta, k, found, ratio in finding_of("N27").tables[0].rows:
        assert delta == pytest.approx(math.exp(-epsilon / 8))
        fresh = k * math.exp(epsilon / 4)
        assert found == pytest.approx(0.5 * fresh / (math.exp(3 * epsilon / 4) + fresh))
        # the stated size, from §4.1, is still 6
        bound = 16 / epsilon * max(epsilon / 4 - math.log(delta), math.log(16 * k / (0.9 * epsilon)))
        assert bound <= 6 * (1 + 1e-12)
        assert ratio > 1
        assert epsilon > 16 / 0.9
    assert [round(r, 1) for r in column(finding_of("N27"), 4)] == [1.1, 1.8, 5.6]


# Rec


def test_the_printed_half_of_h_misses_intervals_across_a_border():
    finding = finding_of("E6")
    assert finding.claimed == pytest.approx(2 * 0.01 * 4)
    assert finding.tables[0].rows[0][1] == pytest.approx(1.0)
    assert all(row[2] < -9 for row in finding.tables[0].rows)  # the column holds logarithms


def test_the_printed_h_contains_no_good_point_and_the_corrected_h_contains_one():
    # K = 8: B = [32, 95] contains [59, 69]. A_dist refuses on A, so the printed H contains no point of B.
    good = set(range(59, 70))
    corrected = {32 + i * 4 for i in range(16)}
    spread = {4096 * i // 31 for i in range(32)}
    assert corrected & good
    assert not spread & good


def test_at_one_the_iterated_logarithm_gives_a_claim_of_zero():
    left, right = (special.log_softmax(np.array(scores) / 2) for scores in ([0, 1], [1, 0]))
    assert finding_of("N6").claimed == 0.0
    assert finding_of("N6").found == pytest.approx(np.abs(left - right).max())


def test_fig_1_has_undefined_steps():
    one, none, halves, beyond = column(finding_of("N8"), 1)
    ends = range(0, 4097, 8 * 4096)
    assert (one, none) == (len(ends), len(range(4 * 4096, 4097, 8 * 4096)))
    points = [end + i / 2 for end in (0, 8) for i in range(16)]
    assert halves == sum(point != int(point) for point in points)
    assert beyond == sum(32 + i / 2 > 33 for i in range(16))


def test_a_minimum_of_zeros_and_ones_is_at_most_half():
    m = 1000
    assert finding_of("N20").found == max(min(zeros, m - zeros) for zeros in range(m + 1))
    assert finding_of("N20").claimed == pytest.approx((1 - 0.75 * 0.1) * m)
    assert all((first > 500) == (alpha < 2 / 3) for alpha, first, _ in finding_of("N20").tables[0].rows)


def test_three_eighths_of_the_good_intervals_are_inside_no_printed_one():
    length, points = 4, 80
    a = [range(i, i + 8) for i in range(0, points, 8)]
    printed = [range(i, i + 4) for i in range(4, points, 4)]
    right = [range(i, i + 8) for i in range(4, points, 8)]
    for family, share in ((printed, 0.375), (right, 0.0)):
        missed = [
            start
            for start in range(64)
            if not any(start in i and start + length - 1 in i for i in itertools.chain(a, family))
        ]
        assert len(missed) / 64 == share
        assert (6 in missed) == bool(share)  # G = [6, 9], the example of the errata
    assert column(finding_of("N21"), 1) == [0.375, 0.0]
    assert [row[1:] for row in finding_of("N21").tables[1].rows] == [
        (0, 1),
        (16, 65536),
        (1, 3),
        ("yes", "no"),
    ]


def test_lemma_2_pays_for_fifteen_calls_but_seven_are_made():
    finding = finding_of("N26")
    assert column(finding, 1) == [12, 12, 15, 15]
    assert column(finding, 2) == [1, 4, 4, 7]
    assert column(finding, 4) == pytest.approx([0.1, 0.3, 0.3, 0.5])  # A_dist at ε/2
    assert all(
        best <= total + 1e-9 for best, total in zip(column(finding, 5), column(finding, 4), strict=True)
    )
    spread = math.sqrt(6 * 5 * math.log(1 / (5 * 1e-6))) * 0.1 + 6 * 5 * 0.01
    assert column(finding, 3)[-1] == pytest.approx(spread)


def test_lemmas_2_and_3_hold_in_every_checked_case():
    privacy, utility = finding_of("BNS Lemma 2"), finding_of("BNS Lemma 3")
    assert privacy.judgement == utility.judgement == "holds"
    assert all(row[4] <= row[3] and row[6] <= row[5] for row in privacy.tables[0].rows)
    assert min(column(privacy, 4)) > 0.09  # the rows checked have a real loss
    assert all(row[3] <= math.log10(row[2]) for row in utility.tables[0].rows)
    needed = (2 / 0.5) ** 4 * 16 / 0.5 * math.log(32 / (0.05 * 1e-3))
    assert column(utility, 1)[:2] == pytest.approx([needed, needed])
