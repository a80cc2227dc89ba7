"""After Ctrl-C, nothing that a command shows or saves is false.

benchmarks/interrupts.py checks all commands.
"""

import contextlib
import random
import signal

import pytest

from audit import Accuracy, PureDP, audit_privacy, audit_utility
from audit.distributions import Finite
from audit.problems import FixedProblem
from audit.results.result import Verdict
from audit.sampling.stopping import TimeIsOver, ctrl_c_ends_time, stop_asked


def test_an_audit_that_compares_laws_stops_at_ctrl_c_and_saves_nothing_false(interrupts):
    """Ctrl-C comes when the command compares laws with the code.

    This is after a quarter of the command's time.
    """
    assert interrupts.interrupted("run", 1, rng=random.Random(3)) == []


class Pressing:
    """A mechanism that presses Ctrl-C `times` times during call number `call`."""

    def __init__(self, answer, call, *, times=1):
        self.answer, self.left, self.times = answer, call, times

    def __call__(self, database, rng):
        self.left -= 1
        if self.left == 0:
            for _ in range(self.times - 1):
                with contextlib.suppress(TimeIsOver):
                    signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
        return self.answer(database, rng)


class Declared(Pressing):
    def distribution(self, database):
        return Finite([0, 1], [0.5, 0.5])


def coin(database, rng):
    return int(rng.random() < 0.5)


def leak(database, rng):
    return database[0]


def stopped(mechanism, **options):
    """Return the result of an audit that handles Ctrl-C as `dp-audit run` does."""
    told = []
    with ctrl_c_ends_time(lambda: told.append(1)):
        result = audit_privacy(mechanism, PureDP(1.0), pairs=[([0], [1])], **options)
        assert (told, stop_asked()) == ([1], True)
    assert not stop_asked()
    return result


def test_the_verdict_so_far_rests_on_the_batches_before_ctrl_c():
    late = stopped(Pressing(coin, 5_000))
    assert late.verdict is Verdict.NOT_REFUTED
    assert 2_000 < late.samples < 5_000
    assert late.notes[-1].startswith("Stopped by Ctrl-C after ")
    early = stopped(Pressing(coin, 60))
    assert early.verdict is Verdict.INCONCLUSIVE
    assert early.reason.endswith("let it go on")


def test_a_refutation_left_unconfirmed_by_ctrl_c_does_not_count():
    result = stopped(Pressing(leak, 1_000), until="budget", budget=800)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "Ctrl-C was pressed before the refutation was confirmed" in result.reason


def test_laws_that_were_not_compared_with_the_code_prove_nothing():
    result = stopped(Declared(coin, 100))
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.reason == "Ctrl-C was pressed before the law was compared with the code"


@pytest.mark.parametrize("call", [3, 400])
def test_an_audit_of_utility_ends_at_ctrl_c_too(call):
    problems = [FixedProblem(name, [0], lambda output, _: output) for name in ("one", "two")]
    learner = Pressing(lambda database, rng: float(rng.random() < 0.1), call)
    with ctrl_c_ends_time(lambda: None):
        result = audit_utility(learner, Accuracy(0.5, 0.1), problems=problems)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.reason.startswith("Ctrl-C was pressed, and the claim is neither refuted nor met")


def test_a_second_ctrl_c_interrupts():
    with pytest.raises(KeyboardInterrupt), ctrl_c_ends_time(lambda: None):
        audit_privacy(Pressing(coin, 500, times=2), PureDP(1.0), pairs=[([0], [1])])
    with pytest.raises(KeyboardInterrupt):  # without the command the first Ctrl-C interrupts
        audit_privacy(Pressing(coin, 500), PureDP(1.0), pairs=[([0], [1])])
