"""Ctrl-C ends an audit early.

All bets made before Ctrl-C count, and they give the verdict.

No bet uses an interrupted batch. By Ville's inequality the guarantee holds at all times of the audit
simultaneously. So the guarantee covers the wealth before that batch, whenever the user stops the audit.
"""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


class TimeIsOver(KeyboardInterrupt):
    """The time limit or Ctrl-C ended the audit.

    It ended during a group of runs that counts only as a whole.
    """


@dataclass
class _Stop:
    """Whether Ctrl-C was pressed, and whether it may interrupt a draw."""

    asked: bool = False
    drawing: bool = False


_STOP = _Stop()


def stop_asked() -> bool:
    """Return whether Ctrl-C was pressed to end the running audit.

    Examples
    --------
    >>> stop_asked()
    False
    """
    return _STOP.asked


def why_over() -> str:
    """Return a text that says why the audit's time is over.

    Examples
    --------
    >>> why_over()
    'time ran out'
    """
    return "Ctrl-C was pressed" if _STOP.asked else "time ran out"


@contextlib.contextmanager
def ctrl_c_ends_time(tell: Callable[[], None]) -> Iterator[None]:
    """Let the first Ctrl-C end the audit's time in this context.

    The first Ctrl-C also calls `tell`. A second one interrupts as usual.

    This has no effect if Ctrl-C is ignored, as under `nohup`, or cannot be handled, as in a thread.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield
        return

    def pressed(signum: int, frame: Any) -> None:
        if _STOP.asked:
            signal.default_int_handler(signum, frame)
        _STOP.asked = True
        tell()
        if _STOP.drawing:
            raise TimeIsOver

    signal.signal(signal.SIGINT, pressed)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        _STOP.asked = False


def drawn(blocks: Iterator[T]) -> Iterator[T]:
    """Yield the drawn blocks. Ctrl-C interrupts the current block.

    Raises
    ------
    TimeIsOver
        Ctrl-C was pressed while a block was drawn.

    Examples
    --------
    >>> list(drawn(iter([1, 2])))
    [1, 2]
    """
    while True:
        _STOP.drawing = True
        try:
            block = next(blocks)
        except StopIteration:
            return
        finally:
            _STOP.drawing = False
        yield block
