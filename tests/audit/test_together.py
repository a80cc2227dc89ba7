"""Several audits judged together, by e-BH and Holm."""

import math

import numpy as np
import pytest
from scipy import stats

from audit import AuditResult, Verdict
from audit.doors.summary import together
from audit.evidence.power import fixed_sample_epsilon, generic
from audit.evidence.together import e_bh, holm
from audit.results.result import Evidence


def random_logs(rng):
    return rng.normal(2, 3, rng.integers(1, 12)).tolist()


@pytest.mark.parametrize("seed", range(30))
def test_e_bh_rejects_the_largest_set_that_its_definition_allows(seed):
    logs = random_logs(np.random.default_rng(seed))
    total = len(logs)
    ordered = sorted(logs, reverse=True)
    most = max((k for k in range(1, total + 1) if math.exp(ordered[k - 1]) >= total / (k * 0.05)), default=0)
    assert sorted(np.array(logs)[e_bh(logs)], reverse=True) == ordered[:most]


@pytest.mark.parametrize("seed", range(30))
def test_holm_steps_down_and_stops_at_the_first_that_is_not_rejected(seed):
    logs = random_logs(np.random.default_rng(seed))
    named = set()
    for step, place in enumerate(sorted(range(len(logs)), key=lambda place: -logs[place])):
        if math.exp(-logs[place]) > 0.05 / (len(logs) - step):
            break
        named.add(place)
    assert set(np.flatnonzero(holm(logs))) == named


def result(name, verdict=Verdict.NOT_REFUTED, evidence=Evidence.STATISTICAL, **more):
    return AuditResult(name, None, verdict, evidence, **more)


def test_an_inconclusive_audit_is_no_evidence():
    doubtful = result("kept", Verdict.INCONCLUSIVE, log_wealth=40.0)
    assert together([doubtful, result("fine")]) == ""


def test_an_exact_refutation_counts_and_a_single_audit_is_not_judged_twice():
    leak = result("leak", Verdict.REFUTED, Evidence.EXACT)
    assert "Holm rejects 1" in together([leak, result("fine")])
    assert "e-BH rejects 1" in together([leak, result("fine")])
    assert together([leak]) == ""


def test_a_replay_that_refutes_counts_by_its_significance():
    """A replay has no wealth, and refutes a true claim with probability at most 1e-6."""
    replay = {"environment": {"replay_of": "saved"}}
    again = result("again", Verdict.REFUTED, significance=1e-6, **replay)
    assert "Holm rejects 2" in together([again, result("leak", Verdict.REFUTED, log_wealth=18.0)])
    assert "Holm rejects 1" in together([again, result("mended", **replay)])
    weak = result("weak", Verdict.REFUTED, significance=0.03, **replay)
    assert "Holm rejects 0" in together([weak, result("fine")])  # two audits need 0.025


@pytest.mark.parametrize(
    ("epsilon", "delta", "pairs"), [(1.0, 0.0, 70_000), (0.1, 1e-3, 10**6), (3.0, 0.0, 5_000)]
)
def test_the_planned_test_has_the_stated_power_at_the_stated_epsilon(epsilon, delta, pairs):
    """The reference is the normal approximation of a test of the claim.

    It rejects if the mean of X − e^ε·Y − δ is large.
    """
    found = fixed_sample_epsilon(pairs, epsilon=epsilon, delta=delta, significance=1e-6)
    p, ratio = generic(delta), math.exp(epsilon)

    def moments(q):
        return p - ratio * q - delta, math.sqrt((p * (1 - p) + ratio**2 * q * (1 - q)) / pairs)

    _, null = moments((p - delta) / ratio)
    move, spread = moments((p - delta) / math.exp(found))
    critical = stats.norm.isf(1e-6) * null
    assert stats.norm.sf((critical - move) / spread) == pytest.approx(0.9, abs=1e-6)
