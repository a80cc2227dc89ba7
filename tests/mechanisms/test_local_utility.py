"""Betting audits of K11 Lemma 5.6.

The claim is not refuted at the derived sample sizes. It is refuted at smaller sizes and at the printed
sizes. A true claim is refuted with probability at most 1e-7. NOT_REFUTED means that every problem has met
the claim.
"""

import pytest

from audit import Verdict, audit_utility
from audit.claims import Accuracy
from mechanisms.local import LaplaceAverage, SignAverage


def audited(average, claim=None):
    return audit_utility(
        average, claim, problems=average.problems(), exact=False, budget=20_000, significance=1e-7
    )


@pytest.mark.parametrize(
    "average",
    [
        LaplaceAverage(epsilon=1.0, tolerance=0.5),
        LaplaceAverage(epsilon=10.0, tolerance=0.25),
        LaplaceAverage(epsilon=4.0, tolerance=1.0, dimension=2, records=((-1, -1), (-1, 1), (1, 1))),
        SignAverage(epsilon=3.0, tolerance=0.5),
    ],
)
def test_a_betting_audit_does_not_refute_lemma_5_6_at_the_derived_sizes(average):
    assert audited(average).verdict is Verdict.NOT_REFUTED


def test_the_same_audit_refutes_a_quarter_of_the_size():
    enough = LaplaceAverage(tolerance=0.5).size
    few = LaplaceAverage(size=enough // 4)
    # Pr[error > 0.5] is exactly 0.17 if half of the entries are lowest and half highest
    assert audited(few, Accuracy(0.5, 0.05)).verdict is Verdict.REFUTED


def test_the_printed_size_is_refuted_for_large_epsilon():
    # K11 Lemma 5.6 with c = 50, ε = 10, τ = 0.1, β = 0.05: n = 150, and the exact failure probability is 0.24
    printed = LaplaceAverage(epsilon=10.0, size=150)
    assert audited(printed, Accuracy(0.1, 0.05)).verdict is Verdict.REFUTED
