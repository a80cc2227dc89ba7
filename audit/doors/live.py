"""The progress of an audit in a test session under ``-v``."""

import contextlib
import sys
import time
from typing import Any

import pytest

from audit.values.progress import AuditProgressed, AuditStarted, Event, Listener, Pace, duration

#: Seconds between two lines. An audit that takes less shows no line.
EVERY = 5.0


def live(config: pytest.Config) -> Listener | None:
    """Return a listener that shows an audit's progress in a test session.

    None without ``-v`` or without a reporter. In a pytest-xdist worker the listener writes to stderr, because
    the output of its reporter is lost.
    """
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or config.get_verbosity() < 1:
        return None
    in_worker = hasattr(config, "workerinput")
    return _Live(None if in_worker else reporter, config.pluginmanager.get_plugin("capturemanager"))


class _Live:
    """A listener that writes the progress of an audit in whole lines.

    If there is no reporter, it writes to stderr.
    """

    def __init__(self, reporter: Any, capturing: Any) -> None:
        self._reporter, self._capturing = reporter, capturing
        self._started = self._told = time.monotonic()
        self._pace = Pace()

    def __call__(self, event: Event) -> None:
        now = time.monotonic()
        if isinstance(event, AuditStarted):
            self._started = self._told = now
            self._pace = Pace(event.time_limit)
        elif isinstance(event, AuditProgressed):
            self._pace.note(event.runs, elapsed=now - self._started)
            if now - self._told < EVERY:
                return
            self._told = now
            self._show(_line(event, self._pace.seconds_left(event.budget)))

    def _show(self, line: str) -> None:
        shown = self._capturing.global_and_fixture_disabled() if self._capturing else contextlib.nullcontext()
        with shown:
            if self._reporter is None:
                sys.stderr.write(f"{line}\n")
                sys.stderr.flush()
            else:
                self._reporter.ensure_newline()
                self._reporter.write_line(line)


def _line(event: AuditProgressed, left: float | None) -> str:
    """Return the progress of an audit as a line.

    `left` bounds the time left, in seconds. It is None if unknown.

    Examples
    --------
    >>> event = AuditProgressed("slow", 500, 2_000, log_wealth=0.0, log_limit=13.8, stage="bet")
    >>> _line(event, 90.0)
    '  slow: 500 of at most 2,000 runs, at most 2 minutes left'
    """
    rest = "" if left is None else f", at most {duration(left)} left"
    return f"  {event.subject}: {event.runs:,} of at most {event.budget:,} runs{rest}"
