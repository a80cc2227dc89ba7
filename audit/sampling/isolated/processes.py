"""Processes that make calls in parallel. If a process dies, it is replaced and its call is made again."""

import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from typing import Any, Final

from audit.errors import AuditError
from audit.sampling.isolated.forking import start
from audit.sampling.isolated.pipes import read_frame, write_frame
from audit.sampling.shipping import pack, unpack

#: A call that kills its process is tried this many times in all.
_ATTEMPTS: Final = 3


class ProcessDied(AuditError):  # noqa: N818  says what happened, as `CorruptFile` does
    """A call killed its process at every attempt.

    Examples
    --------
    >>> issubclass(ProcessDied, AuditError)
    True
    """


class Elsewhere(Executor):
    """An executor with a known number of parallel calls. `cancel_futures` also stops running calls."""

    workers: int


class Processes(Elsewhere):
    """An executor that makes calls in its own processes.

    Functions must be importable by name. Arguments and results must be picklable. Each process has one thread
    for linear algebra, and its printed output is discarded.

    Parameters
    ----------
    workers
        The number of calls at once.

    Examples
    --------
    >>> with Processes(2) as processes:
    ...     processes.submit(divmod, 7, 2).result()
    (3, 1)
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.stopped = False
        self._cancelled = False
        self._threads = ThreadPoolExecutor(workers)
        self._lock = threading.Lock()
        self._idle: list[_Process] = []
        self._busy: set[_Process] = set()

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Future[Any]:
        """Return the future of a call.

        If the call kills its process at every attempt, `result()` raises `ProcessDied`. If the function
        raises an error that is not an `AuditError`, `result()` raises `CallFailed`.
        """
        assert not keywords
        call = pack((os.getcwd(), sys.path, pack((function, arguments))))  # noqa: PTH109  a text is sent
        return self._threads.submit(self._carried_out, call)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002
        """End the processes after the last call.

        With `cancel_futures`, end them immediately, even during calls.
        """
        self.stopped = True
        if cancel_futures:
            with self._lock:
                self._cancelled = True
                for process in self._busy:
                    process.kill()
        self._threads.shutdown(wait=wait, cancel_futures=cancel_futures)
        with self._lock:
            while self._idle:
                self._idle.pop().close()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.shutdown(cancel_futures=kind is not None)

    def _carried_out(self, call: bytes) -> Any:
        code = 0
        for _ in range(_ATTEMPTS):
            with self._lock:
                if self._cancelled:
                    raise CancelledError
                process = self._idle.pop() if self._idle else _Process()
                self._busy.add(process)
            answer = process.ask(call)
            with self._lock:
                self._busy.discard(process)
                if answer is not None:
                    self._idle.append(process)
            if answer is not None:
                returned, value = unpack(answer)
                if returned:
                    return value
                raise value
            code = process.close()
        raise ProcessDied(f"the process that carried it out {_in_words(code)}, {_ATTEMPTS} times in turn")


class _Process:
    """One process with the pipes for its calls and their results."""

    def __init__(self) -> None:
        (theirs, self._requests), (self._answers, answers) = os.pipe(), os.pipe()
        pipes = (theirs, answers)
        self._process = start("audit.sampling.isolated.serving", pipes, shares_cores=True)

    def ask(self, call: bytes) -> bytes | None:
        """Return the answer to a call, or None if the process dies."""
        try:
            write_frame(self._requests, call)
            return read_frame(self._answers)
        except BrokenPipeError:
            return None

    def kill(self) -> None:
        """End the process immediately, so that a waiting `ask` returns None."""
        self._process.kill()

    def close(self) -> int:
        """End the process and return its exit code, or minus a signal's number."""
        os.close(self._requests)
        os.close(self._answers)
        return self._process.wait()


def _in_words(code: int) -> str:
    """Return how a process ended.

    Examples
    --------
    >>> _in_words(-9), _in_words(3)
    ('was ended by SIGKILL', 'ended with code 3')
    """
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
