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


def test_the_audit_of_a_whole_interactive_protocol_finds_its_exact_loss(loss, pairs_of):
    result = audit_privacy(POLL, budget=1_000)
    assert (result.refuted, result.evidence) == (False, Evidence.EXACT)
    assert result.pairs_tried == result.pairs_total == 4
    assert result.epsilon_lower == pytest.approx(1.0, rel=1e-9)  # epsilon is 0.5 + 0.5 on the worst path
    worst = max(loss(POLL.distribution(left), POLL.distribution(right)) for left, right in pairs_of(POLL))
    assert worst == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("declared", [True, False])
def test_a_full_budget_in_every_round_is_refuted(declared):
    careless = PerRoundProtocol(algorithm=partial(poll_twice, epsilon=2.0), epsilon=1.0)
    result = audit_privacy(
        careless if declared else Undeclared(part=careless),
        budget=4_000,
        confirm_budget=2_000,
        recorded=False,
        pairs=[([0, 0], [1, 0])],  # the loss is 1 + 1 on the path that asks entry 0 again alone
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
    # 16,000 is the least budget for a proof: 1,000 runs on each side of two pairs, by calls and by `sample`
    assert audit_privacy(protocol, budget=16_000).verdict is Verdict.PROVED


@pytest.mark.parametrize(
    ("average", "low"),
    [
        # the loss tends to ε in the far tail: the ratio is e^ε·((x − s)/x)^(n−1) at a finite x
        (LaplaceAverage(records=(-1, 1)), 0.9),
        (SignAverage(size=3), 1.0 - 1e-9),
    ],
)
def test_averages_are_as_private_as_one_answer(average, low):
    result = audit_privacy(average, budget=1_000)
    assert (result.refuted, result.evidence) == (False, Evidence.EXACT)
    assert low <= result.epsilon_lower <= 1.0 + 1e-9
