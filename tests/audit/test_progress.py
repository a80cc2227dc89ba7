"""Progress: how long an audit will take, said once, and only on a terminal."""

import io

import pytest
from rich.console import Console
from rich.progress import Progress

from audit.values.progress import (
    AuditFinished,
    AuditProgressed,
    AuditStarted,
    _Renderer,
    expected_seconds,
    terminal_progress,
)


def after(runs, *, budget=1000, stage="bet"):
    return AuditProgressed("m [bold]", runs, budget, log_wealth=7.0, log_limit=14.0, stage=stage)


@pytest.mark.parametrize(
    ("runs", "elapsed", "limit", "seconds"),
    [(19, 5.0, None, None), (20, 2.0, None, 100.0), (20, 2.0, 30.0, 30.0), (1000, 70.0, None, 70.0)],
)
def test_the_duration_is_the_budget_at_the_speed_so_far_within_the_time_limit(runs, elapsed, limit, seconds):
    assert expected_seconds(after(runs), elapsed=elapsed, time_limit=limit) == seconds


def test_nothing_is_drawn_where_stderr_is_no_terminal(capsys):
    with terminal_progress() as listener:
        assert listener is None
    assert capsys.readouterr().err == ""


def rendered(events):
    """Return what a terminal shows of (seconds, event)."""
    console = Console(file=io.StringIO(), force_terminal=True, width=150)
    now = [0.0]
    bars = []

    def bar():
        bars.append(Progress(console=console, auto_refresh=False, get_time=lambda: now[0]))
        return bars[-1]

    renderer = _Renderer(bar)
    for now[0], event in events:
        renderer(event)
        assert bars[-1].live.is_started != isinstance(event, AuditFinished)
    return console.file.getvalue()


def test_a_long_audit_says_so_once_after_its_first_twenty_runs():
    started = (0.0, AuditStarted("m [bold]", 1000, None))
    early = rendered([started, (9.0, after(10)), (9.0, AuditFinished(None))])
    assert "minutes" not in early
    told = rendered([started, (9.0, after(20)), (20.0, after(40)), (20.0, AuditFinished(None))])
    assert told.count("m [bold]: up to about 8 minutes for 1,000 runs") == 1


def test_a_short_audit_says_nothing():
    events = [(0.0, AuditStarted("m", 1000, None)), (1.0, after(20)), (2.0, AuditFinished(None))]
    assert "up to" not in rendered(events)


def test_an_audit_that_ended_without_a_result_leaves_no_bar():
    started = AuditStarted("m", 1000, None)
    # `rendered` checks after every event that the newest bar is live until its audit ends
    shown = rendered([(0.0, started), (1.0, after(20)), (2.0, started), (3.0, AuditFinished(None))])
    assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h") == 2  # the cursor comes back from both bars
