"""Audits of mechanisms that meet their claim with equality refute few.

The mean wealth does not grow. This file makes only some of the audits, with fewer runs.
``DP_AUDIT_TIGHT_AUDITS=2000`` or ``python benchmarks/false_alarms.py`` makes all of them.
"""

import os

import numpy as np
import pytest
from scipy import stats

AUDITS = int(os.environ.get("DP_AUDIT_TIGHT_AUDITS", "135"))
RUNS = 2_000 if "DP_AUDIT_TIGHT_AUDITS" in os.environ else 500


def test_the_claims_are_met_with_equality(false_alarms):
    """The worst event of each case has p = e^ε·q + δ, by closed forms."""
    alpha, case = np.exp(-1), false_alarms.CASES
    laplace, normal = stats.laplace.sf, stats.norm.sf
    assert laplace(1 - 1) == pytest.approx(np.exp(case["laplace"].epsilon) * laplace(1))
    assert np.exp(case["randomized response"].epsilon) * 0.25 == pytest.approx(0.75)
    p, q = normal(1.5 - 1), normal(1.5)  # the log-ratio is x − 1/2, so it exceeds ε = 1 from x = 3/2 on
    assert p == pytest.approx(np.e * q + case["gaussian"].delta)
    noise = stats.dlaplace(1).sf
    assert noise(2) == pytest.approx(alpha**3 / (1 + alpha)) == pytest.approx(case["threshold release"].delta)
    assert noise(0) * np.e == pytest.approx(noise(-1))  # geometric: Pr[≥ 1] against Pr[≥ 0]


def test_the_swap_of_a_noisy_max_has_the_probability_that_the_case_uses(false_alarms):
    """The reference is Pr[difference of two Laplace(2) > 1].

    It integrates the tail of one variable over the density of the other.
    """
    from scipy.integrate import quad

    swapped = sum(
        quad(lambda x: stats.laplace.pdf(x, scale=2) * stats.laplace.sf(1 + x, scale=2), *bounds)[0]
        for bounds in ((-60, -1), (-1, 0), (0, 60))
    )
    assert false_alarms.CASES["noisy max"].epsilon == pytest.approx(np.log((1 - swapped) / swapped))


def test_tight_audits_stay_within_their_significance(false_alarms):
    """Each of ten mechanisms meets two criteria at significance 0.05, and so do all together.

    A sound auditor fails the count over all mechanisms with probability at most 9e-6. It fails each of
    the other 21 criteria with probability at most 1e-7. The sum is 1.1e-5. A mean of at most 1 is not
    required, because a sound auditor may exceed it by chance.

    Power: suppose the wealth is 20 at the end of a fifth of the audits, and ½ at the end of the others.
    With 135 audits such an auditor fails with probability 0.951.
    """
    found = false_alarms.audit_all(AUDITS, budget=RUNS)
    judged = false_alarms.judge([wealth for wealths in found.values() for wealth in wealths])
    assert judged.audits == AUDITS
    assert judged.sound, judged
    for wealths in found.values():
        assert false_alarms.judge(wealths, level=false_alarms.EACH_LEVEL).sound


def test_the_full_number_allows_144_refutations(false_alarms):
    assert false_alarms.judge([0.0] * 2000).most_refuted == 144


def test_by_enumeration_the_criterion_of_the_mean_is_an_e_value(false_alarms):
    """The wealth is 20 with probability 1/20, else 0.

    Its mean is 1, and so is the expectation of the criterion.
    """
    audits = 60
    total = 0.0
    for hits in range(audits + 1):
        wealths = [np.log(20.0)] * hits + [-np.inf] * (audits - hits)
        weight = stats.binom.pmf(hits, audits, 1 / 20)
        total += weight * np.exp(false_alarms.judge(wealths).log_e_value)
    assert total == pytest.approx(1.0, abs=1e-9)


def test_the_power_of_135_audits_is_0_951(false_alarms):
    def is_accused(hits):
        return not false_alarms.judge([np.log(20.0)] * hits + [np.log(0.5)] * (135 - hits)).sound

    least = min(filter(is_accused, range(135)))
    assert all(map(is_accused, range(least, 135)))
    assert stats.binom.sf(least - 1, 135, 0.2) == pytest.approx(0.9510, abs=1e-4)


def test_both_criteria_accuse_an_auditor_that_alarms_too_often(false_alarms):
    assert not false_alarms.judge([np.log(20.0)] * 160 + [-np.inf] * 1840).sound  # by the count alone
    judged = false_alarms.judge([np.log(19.9)] * 160 + [np.log(0.5)] * 1840)  # by the mean alone
    assert judged.refuted == 0
    assert not judged.sound
