"""Unnumbered remarks of the texts, checked by second derivations."""

import math
from itertools import product

import pytest

from learners.concepts import IntervalClass, PointClass
from learners.findings import findings
from learners.findings.packing import packing_size
from learners.findings.remarks import bns_good_interval, k11_price, k11_stability
from learners.generic.agnostic import GenericLearner
from learners.pure import HashedPointLearner, PureIntervalLearner
from learners.sanitizers import GenericSanitizer


@pytest.mark.parametrize("d", [4, 8])
def test_below_the_packing_bound_some_threshold_is_missed_more_often_than_beta(d):
    m = math.floor(packing_size(2.0**d - 1.0, beta=0.1, epsilon=1.0))
    learner = PureIntervalLearner(dimension=d)
    j = 2 ** (d - 1)
    hits = [learner.distribution([(j - 1, 1)] * k + [(j, 0)] * (m - k)).pmf(j) for k in range(m + 1)]
    assert max(hits) < 0.9  # the bound holds on every sample of the law, and so on average


def test_a_pure_sanitizer_stays_below_the_packing_bound():
    """No answer is good for m copies of j and for m copies of another value.

    The laws on two such databases differ by at most a factor e^(εm).
    """
    sanitizer, m = GenericSanitizer(concepts=PointClass(2), alpha=0.4), 2
    laws = [sanitizer.distribution([j] * m) for j in range(4)]
    good = [
        [output for output in sanitizer._outputs if sanitizer._error(output, [j] * m) <= 0.4]
        for j in range(4)
    ]
    assert all(not set(good[i]) & set(good[j]) for i, j in product(range(4), repeat=2) if i != j)
    hits = [sum(laws[j].pmf(output) for output in good[j]) for j in range(4)]
    elsewhere = [sum(laws[0].pmf(output) for output in good[j]) for j in range(4)]
    assert sum(hits) * math.exp(-m) <= sum(elsewhere) <= 1 + 1e-12


def test_the_hashed_learner_keeps_the_minimum_mean_of_ones():
    learner = HashedPointLearner(dimension=4, alpha=0.45, beta=0.45, bits=1)
    law = learner.distribution([(3, 1)] * 2)
    mean = sum(law.pmf(output) * output.count for output in law.support())
    hit = sum(law.pmf(output) for output in law.support() if output(3) == 1)
    assert mean >= 2**4 * math.exp(-2) * hit


def test_the_effect_of_one_record_on_the_expected_error_matches_a_second_enumeration():
    learner = GenericLearner(concepts=IntervalClass(1), epsilon=1.0, size=2)
    known, examples = IntervalClass(1), [(x, y) for x in (0, 1) for y in (0, 1)]

    def mean_error(database, example):
        x, y = example
        weights = [math.exp(-0.5 * sum(known.label(j, a) != b for a, b in database)) for j in known.concepts]
        wrong = [known.label(j, x) != y for j in known.concepts]
        return sum(w for w, bad in zip(weights, wrong, strict=True) if bad) / sum(weights)

    most = max(
        abs(mean_error((one, kept), example) - mean_error((other, kept), example))
        for one, other, kept, example in product(examples, repeat=4)
    )
    assert learner.epsilon == 1.0
    assert k11_stability().tables[0].rows[1][3] == pytest.approx(most)


def test_privacy_costs_a_factor_of_two_over_epsilon_in_the_limit():
    """As α falls, the ratio of the sizes tends to 1/(1 − e^(−ε/2)).

    The sizes are those with and without privacy. For small ε the ratio is about 2/ε.
    """
    rows = {row[:2]: row[2:] for row in k11_price().tables[0].rows}
    assert rows[0.01, 0.01][0] == pytest.approx(2.0, rel=0.01)
    for (alpha, epsilon), (realizable, agnostic) in rows.items():
        most = epsilon / (-math.expm1(-epsilon / 2)) / (1 - alpha)
        assert epsilon / -math.expm1(-epsilon / 2) * (1 - 1e-2) <= realizable <= most * (1 + 1e-2)
        # 6·ln(3|H|/β) with privacy, 2·ln(2|H|/β) without
        assert agnostic == pytest.approx(3.0, rel=0.02)


def test_without_the_middle_threshold_the_error_is_larger():
    """Without the middle one of five thresholds, the error is larger."""
    assert bns_good_interval().found == 1.0
    ones, zeros = [0, 0, 2, 2, 0, 0, 0, 0], [0, 0, 0, 0, 2, 0, 0, 0]
    errors = {h: sum(zeros[:h]) + sum(ones[h:]) for h in (0, 2, 4, 6, 8)}
    assert min(errors.values()) == errors[4] == 0
    assert min(error for h, error in errors.items() if h != 4) == 2


def test_the_cost_of_queries_grows_as_the_root_of_their_number_with_delta_and_linearly_without():
    rows = findings()["K11 §1.1.1, price"]().tables[0].rows
    approximate, pure = ([row[place] for row in rows if row[1] == 0.5] for place in (2, 3))
    assert max(approximate) < 2 * min(approximate)
    assert pure[2] / pure[1] == pytest.approx(10.0, rel=0.05)
