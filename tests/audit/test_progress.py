"""Progress: the length of an audit is printed once, and only on a terminal."""

import io

import pytest
from rich.console import Console
from rich.progress import Progress

from audit.values.progress import (
    AuditFinished,
    AuditProgressed,
    AuditStarted,
    Pace,
    _Renderer,
    terminal_progress,
)


def after(runs, *, budget=1000, stage="bet"):
    return AuditProgressed("m [bold]", runs, budget, log_wealth=7.0, log_limit=14.0, stage=stage)


def test_the_time_left_is_measured_over_the_later_half_of_the_runs():
    """After 4 s for starting processes come 10,000 runs a second, 24 s in all."""
    pace = Pace()
    for seconds, runs in ((3.9, 20), (4.0, 100), (4.5, 5_000)):
        pace.note(runs, elapsed=seconds)
        assert pace.seconds_left(200_000) is None  # too early to estimate
    for tenth in range(50, 100):
        pace.note(1_000 * (tenth - 40), elapsed=tenth / 10)
    assert pace.seconds_left(200_000) == pytest.approx(24.0 - 9.9, rel=0.05)


def test_nothing_is_drawn_if_stderr_is_not_a_terminal(capsys):
    with terminal_progress() as listener:
        assert listener is None
    assert capsys.readouterr().err == ""


def rendered(events):
    """Return what a terminal shows after these events, given as (seconds, event)."""
    console = Console(file=io.StringIO(), force_terminal=True, width=200)
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


def test_a_long_audit_shows_its_length_once_and_the_time_left_throughout():
    started, drawn = (0.0, AuditStarted("m [bold]", 1000, None)), [(1.0, after(2)), (4.0, after(10))]
    early = rendered([started, *drawn, (4.0, AuditFinished(None))])
    assert "minutes" not in early
    drawn += [(10.0, after(22)), (20.0, after(42)), (20.0, AuditFinished(None))]
    told = rendered([started, *drawn])
    assert told.count("m [bold]: up to about 8 minutes for 1,000 runs") == 1
    assert "at most 8 minutes left" in told
    limited = rendered([(0.0, AuditStarted("m", 1000, 40.0)), *drawn])
    assert "up to about" not in limited
    assert "at most 20 seconds left" in limited


def test_a_short_audit_says_nothing():
    events = [(0.0, AuditStarted("m", 1000, None)), (1.0, after(20)), (2.0, AuditFinished(None))]
    assert "up to" not in rendered(events)


def test_an_audit_that_ended_without_a_result_leaves_no_bar():
    started = AuditStarted("m", 1000, None)
    # `rendered` checks after every event that the newest bar is live until its audit ends
    shown = rendered([(0.0, started), (1.0, after(20)), (2.0, started), (3.0, AuditFinished(None))])
    # both bars show the cursor again at their end
    assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h") == 2
