"""Process settings that a mechanism may change and leave changed."""

import contextlib
import decimal
import gc
import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, Final

import numpy as np

#: Every forked process adds its id to its copy of this list. `put_back` empties the list, so after that it is
#: empty except in a process that the mechanism forked.
strays: Final[list[int]] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: strays.append(os.getpid()))

_SIGNALS: Final = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGPIPE", "SIGCHLD")
    if hasattr(signal, name)
)
# The caller's numpy settings for floating-point errors; the mechanism runs with these settings.
_THEIRS: ContextVar[dict[str, Any] | None] = ContextVar("theirs", default=None)


def end_if_strayed() -> None:
    """End this process if the mechanism forked it and returned here.

    Only one process may report a run.

    Examples
    --------
    >>> end_if_strayed()
    """
    if strays:
        os._exit(0)


@contextlib.contextmanager
def own_arithmetic() -> Iterator[None]:
    """Keep floating-point errors in our code from raising.

    This holds under any setting of `np.seterr`. Mechanisms still run with the settings of the caller.

    Examples
    --------
    >>> with np.errstate(all="raise"), own_arithmetic():
    ...     float(np.float64(1e-300) * np.float64(1e-300))
    0.0
    """
    found = np.geterr()
    ours: dict[str, Any] = {kind: "ignore" if mode == "ignore" else "warn" for kind, mode in found.items()}
    token = _THEIRS.set({**found})
    try:
        with np.errstate(**{**ours, "under": "ignore"}):  # numpy's default
            yield
    finally:
        _THEIRS.reset(token)


@contextlib.contextmanager
def put_back() -> Iterator[None]:
    """Restore the process settings that the code in the block changes.

    A process that this code forks ends here.

    The restored settings are: how numpy and `decimal` treat floating-point errors, the recursion limit,
    tracing, garbage collection, the working directory and signal handlers. `Watch` restores SIGALRM. `quiet`
    restores standard streams and warning filters.

    Examples
    --------
    >>> with put_back():
    ...     sys.setrecursionlimit(5_000)
    >>> sys.getrecursionlimit() == 5_000
    False
    """
    strays.clear()
    found = [get() for get, _ in _SETTINGS]
    try:
        with np.errstate(**(_THEIRS.get() or {})), decimal.localcontext():
            yield
    finally:
        end_if_strayed()
        for (get, put), before in zip(_SETTINGS, found, strict=True):
            if get() != before:
                put(before)


class Printed(io.TextIOBase):
    """A text stream that counts the characters written and discards them.

    Examples
    --------
    >>> stream = Printed()
    >>> print("noise", file=stream)
    >>> stream.count
    6
    """

    encoding = "utf-8"

    def __init__(self) -> None:
        self.count = 0

    def write(self, text: str, /) -> int:
        """Count the characters of a text and return their number."""
        self.count += len(text)
        return len(text)

    def writable(self) -> bool:
        """Return True."""
        return True


@contextlib.contextmanager
def quiet() -> Iterator[Printed]:
    """Discard prints and warnings of the code in the block.

    The settings that the code changes are restored (`put_back`).

    Examples
    --------
    >>> with quiet() as printed:
    ...     print("noise")
    >>> printed.count
    6
    """
    printed = Printed()
    with (
        put_back(),
        warnings.catch_warnings(action="ignore"),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        yield printed


def _folder() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109  a text is compared
    except OSError:  # the working directory was removed
        return None


def _go_to(folder: str | None) -> None:
    with contextlib.suppress(OSError):
        if folder is not None:
            os.chdir(folder)


def _collect(enabled: bool) -> None:  # noqa: FBT001  the setting itself
    (gc.enable if enabled else gc.disable)()


def _handlers() -> list[Any]:
    if threading.current_thread() is not threading.main_thread():
        return []  # only the main thread can set handlers
    return [signal.getsignal(each) for each in _SIGNALS]


def _handle(handlers: list[Any]) -> None:
    for each, handler in zip(_SIGNALS, handlers, strict=True):
        if handler is not None:  # None: Python did not set this handler and cannot restore it
            signal.signal(each, handler)


_SETTINGS: Final[tuple[tuple[Callable[[], Any], Callable[[Any], Any]], ...]] = (
    (sys.getrecursionlimit, sys.setrecursionlimit),
    (sys.gettrace, sys.settrace),
    (sys.getprofile, sys.setprofile),
    (gc.isenabled, _collect),
    (_folder, _go_to),
    (_handlers, _handle),
)
