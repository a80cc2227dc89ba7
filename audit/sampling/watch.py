"""The time limit of a run. A timer checks whether the loop over runs goes on. This does not slow the runs."""

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final, Self

_LONGEST_TICK: Final = 1.0
_SHORTEST_TICK: Final = 1e-3


class TimeLimit(BaseException):  # so that a mechanism's `except Exception` does not catch it
    """A run exceeded its time limit."""


class ComputedTooLong(TimeLimit):
    """The process used more CPU time than it may."""


def can_watch() -> bool:
    """Return whether the time of runs can be limited.

    This needs interval timers and the main thread.

    Examples
    --------
    >>> can_watch()
    True
    """
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


def in_words(limit: float) -> str:
    """Return the reason shown for a run that exceeded its time limit.

    Examples
    --------
    >>> in_words(10.0)
    'time limit of 10 s'
    """
    return f"time limit of {limit:g} s"


@contextmanager
def computing_for(limit: float) -> Iterator[None]:
    """Raise `ComputedTooLong` once `limit` seconds of CPU time are used.

    Time spent waiting does not count, so a busy machine makes no difference. The code may catch the error. So
    the error is raised again after every further tenth of `limit`. If runs cannot be limited (`can_watch`),
    nothing is raised.

    Examples
    --------
    >>> with computing_for(0.02):
    ...     while True:
    ...         pass
    Traceback (most recent call last):
    audit.sampling.watch.ComputedTooLong
    """

    def end(*_: object) -> None:
        raise ComputedTooLong

    if not can_watch():
        yield
        return
    handler = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, limit, limit / 10)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, signal.SIG_DFL if handler is None else handler)


class Watch:
    """Raises `TimeLimit` in a loop whose current run takes too long.

    An earlier timer and SIGALRM handler are restored afterwards, with the elapsed time subtracted. If the
    earlier timer falls due inside the loop, its handler is called. An exception that the handler raises ends
    the loop.

    If a mechanism sets its own handler of SIGALRM, or its own timer, its runs have no limit until the loop
    ends. With `isolate` they have one.

    Parameters
    ----------
    limit
        The most seconds that one run may take. Infinity means no limit.
    progress
        Returns the number of runs that have ended.
    on_tick
        Called with the progress a few times in every `limit` seconds.

    Examples
    --------
    >>> with Watch(0.02, lambda: 0):
    ...     while True:
    ...         pass
    Traceback (most recent call last):
    audit.sampling.watch.TimeLimit
    """

    def __init__(
        self, limit: float, progress: Callable[[], int], *, on_tick: Callable[[int], None] | None = None
    ) -> None:
        self._limit = limit
        self._progress = progress
        self._on_tick = on_tick
        self._active = math.isfinite(limit) and can_watch()
        self._seen = -1
        self._since = 0.0
        self._handler: Any = None
        self._due: float | None = None  # the time at which the earlier timer falls due
        self._interval = 0.0
        self.outer_error: BaseException | None = None

    def __enter__(self) -> Self:
        if not self._active:
            return self
        tick = min(max(self._limit / 4, _SHORTEST_TICK), _LONGEST_TICK)
        self._since = time.monotonic()
        self._handler = signal.signal(signal.SIGALRM, self._look)
        delay, self._interval = signal.setitimer(signal.ITIMER_REAL, tick, tick)
        self._due = self._since + delay if delay else None
        return self

    def __exit__(self, *_: object) -> None:
        if not self._active:
            return
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL if self._handler is None else self._handler)
        if self._due is not None:
            left = max(self._due - time.monotonic(), 1e-6)
            signal.setitimer(signal.ITIMER_REAL, left, self._interval)

    def _look(self, signum: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._due is not None and now >= self._due:
            self._ring(signum, frame, now)
        progress = self._progress()
        if self._on_tick is not None:
            self._on_tick(progress)
        if progress != self._seen:
            self._seen, self._since = progress, now
        elif now - self._since >= self._limit:
            self._since = now  # the mechanism may catch this error: raise it again later
            raise TimeLimit

    def _ring(self, signum: int, frame: FrameType | None, now: float) -> None:
        """Call the handler of the earlier timer."""
        self._due = now + self._interval if self._interval else None
        if callable(self._handler):
            try:
                self._handler(signum, frame)
            except BaseException as error:
                self.outer_error = error
                raise
        elif self._handler is signal.SIG_DFL:
            signal.signal(signum, signal.SIG_DFL)
            os.kill(os.getpid(), signum)
