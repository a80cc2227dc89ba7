"""Privacy audits of whole local protocols and averages, exactly and by sampling."""

from functools import partial

import pytest

from audit import Evidence, Verdict, audit_privacy
from mechanisms import KaryRandomizedResponse, RandomizedResponse
from mechanisms.composition.processing import Undeclared
from mechanisms.flawed.local import PerRoundProtocol
from mechanisms.local import (
    InteractiveProtocol,
    LaplaceAverage,
    NonInteractiveProtocol,
    SignAverage,
)
from mechanisms.local.algorithms import mean_then_share, poll_twice

POLL = InteractiveProtocol(algorithm=partial(poll_twice, epsilon=1.0), epsilon=1.0)


def test_a_whole_interactive_protocol_is_proved_exactly():
    result = audit_privacy(POLL, budget=20_000)
    assert result.verdict is Verdict.PROVED
    assert result.epsilon_lower == pytest.approx(1.0, rel=1e-9)  # epsilon is 0.5 + 0.5 on the worst path


@pytest.mark.parametrize("declared", [True, False])
def test_a_full_budget_in_every_round_is_refuted(declared):
    careless = PerRoundProtocol(algorithm=partial(poll_twice, epsilon=2.0), epsilon=1.0)
    result = audit_privacy(
        careless if declared else Undeclared(part=careless), budget=20_000, confirm_budget=5_000
    )
    assert result.verdict is Verdict.REFUTED
    assert result.evidence is (Evidence.EXACT if declared else Evidence.STATISTICAL)
    if declared:
        assert result.epsilon_lower == pytest.approx(2.0, rel=1e-9)


def test_continuous_rounds_are_audited_by_sampling():
    algorithm = partial(mean_then_share, epsilon=1.0)
    protocol = InteractiveProtocol(algorithm=algorithm, epsilon=1.0, records=(-1, 0, 1))
    assert protocol.distribution([0, 1]) is None
    assert audit_privacy(protocol, budget=1_000).verdict is Verdict.NOT_REFUTED


def test_a_noninteractive_protocol_with_a_conclusion_is_proved():
    protocol = NonInteractiveProtocol(
        queries=[(range(2), RandomizedResponse(epsilon=0.25)), (0, KaryRandomizedResponse(epsilon=0.5))],
        conclude=lambda queries, answers: int(answers[0].sum()) + 10 * answers[1],
    )
    assert audit_privacy(protocol, budget=20_000).verdict is Verdict.PROVED


@pytest.mark.parametrize(
    ("average", "verdict", "low"),
    [
        # the loss tends to ε in the far tail: the ratio is e^ε·((x − s)/x)^(n−1) at a finite x
        (LaplaceAverage(records=(-1, 1)), Verdict.NOT_REFUTED, 0.9),
        (SignAverage(size=3), Verdict.PROVED, 1.0 - 1e-9),
    ],
)
def test_averages_are_as_private_as_one_answer(average, verdict, low):
    result = audit_privacy(average, budget=20_000)
    assert (result.verdict, result.evidence) == (verdict, Evidence.EXACT)
    assert low <= result.epsilon_lower <= 1.0 + 1e-9
