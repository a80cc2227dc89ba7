"""Ctrl-C as the end of an audit's time: what was bet on so far counts, and gives the verdict.

A batch that is broken off is bet on nowhere. The wealth before it is one that the audit had: the guarantee
holds at all of its moments together (Ville), whenever somebody stops it.
"""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


class TimeIsOver(KeyboardInterrupt):
    """The time is over, by its limit or by Ctrl-C, before runs were drawn that count only all together."""


@dataclass
class _Stop:
    """Whether Ctrl-C was pressed, and whether a draw is under way that it may break off."""

    asked: bool = False
    drawing: bool = False


_STOP = _Stop()


def stop_asked() -> bool:
    """Return whether Ctrl-C has ended the time of the audit under way (`ctrl_c_ends_time`).

    Examples
    --------
    >>> stop_asked()
    False
    """
    return _STOP.asked


def why_over() -> str:
    """Return why the time is over, in words.

    Examples
    --------
    >>> why_over()
    'time ran out'
    """
    return "Ctrl-C was pressed" if _STOP.asked else "time ran out"


@contextlib.contextmanager
def ctrl_c_ends_time(tell: Callable[[], None]) -> Iterator[None]:
    """Let the first Ctrl-C end the time of an audit, after a call of `tell`; the second interrupts, as ever.

    Where Ctrl-C is not heeded, as in a job of `nohup`, or cannot be (in a thread), nothing changes.
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
    """Yield what is drawn; Ctrl-C breaks that off.

    Raises
    ------
    TimeIsOver
        Ctrl-C was pressed while one was drawn.

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
