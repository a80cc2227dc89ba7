"""The child process in which an isolated subject runs: a supervisor, and the worker that it forks.

The supervisor loads the subject's modules once and never runs it. A worker that dies is replaced in
milliseconds.
"""

import contextlib
import os
import select
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from audit.errors import AuditError
from audit.sampling.blocks import Host, Task
from audit.sampling.pipes import BEAT, ENDED, STARTED, read_frame, write_frame, write_record
from audit.sampling.seeds import Path
from audit.sampling.shipping import pack_outputs, unpack

__all__ = ["Request", "main"]


@dataclass(frozen=True)
class Request:
    """What the parent asks of a worker.

    Parameters
    ----------
    task
        Runs to draw; None asks whether the subject keeps state.
    streamed
        Whether every outcome is sent as soon as it is there.

    Examples
    --------
    >>> Request().streamed
    False
    """

    task: Task | None = None
    streamed: bool = False


class _Stream(list[Any]):
    """A list that sends what is appended."""

    def __init__(self, fd: int) -> None:
        super().__init__()
        self._fd = fd

    def append(self, outcome: Any) -> None:
        write_frame(self._fd, pack_outputs(("outcome", outcome)))
        super().append(outcome)


def main(requests: int, answers: int, records: int) -> None:
    """Serve the parent at the other end of three pipes until it closes them.

    Parameters
    ----------
    requests
        Descriptor that requests come from. The first is a directory, a parcel, and a path in the seed tree.
    answers
        Descriptor for frames: each a pair of a word and a value.
    records
        Descriptor for small records: workers that start and end, and how far they are.
    """
    try:
        directory, parcel, place = unpack(read_frame(requests) or b"")
        os.chdir(directory)
        parcel.open(place)  # imports what the subject needs, once for all workers
    except BaseException as error:  # noqa: BLE001  whatever the user's modules raise when they are imported
        write_frame(answers, pack_outputs(("failed", f"{type(error).__name__}: {error}")))
        return
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waker)
    number = 0
    while True:
        worker = os.fork()
        if worker == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _work(parcel.move_in, (*place, number), requests, answers, records)
        with contextlib.suppress(OSError):  # it may have done so itself, or be gone
            os.setpgid(worker, worker)
        write_record(records, STARTED, worker)
        status = _wait(worker, requests, wake)
        if status is None:
            return
        write_record(records, ENDED, status)
        number += 1


def _wait(worker: int, requests: int, wake: int) -> int | None:
    """Return the status that a worker ended with; when the parent has gone kill it and return None."""
    poll = select.poll()
    poll.register(requests, 0)  # only the end of the other side is reported
    poll.register(wake, select.POLLIN)
    while True:
        events = dict(poll.poll())
        if wake in events:
            os.read(wake, 4096)
        if requests in events:
            os.killpg(worker, signal.SIGKILL)
            os.waitpid(worker, 0)
            return None
        ended, status = os.waitpid(worker, os.WNOHANG)
        if ended:
            return status


def _work(move_in: Callable[[Path], Host], path: Path, requests: int, answers: int, records: int) -> NoReturn:
    os.setpgid(0, 0)  # it is killed with whatever it has started
    number = path[-1]
    try:
        host = move_in(path)
        while (frame := read_frame(requests)) is not None:
            addressee, request = unpack(frame)
            if addressee == number:  # else it was meant for a worker that died before it read it
                write_frame(answers, _answer(host, request, answers, records))
    finally:
        os._exit(0)


def _answer(host: Host, request: Request, answers: int, records: int) -> bytes:
    task = request.task
    try:
        if task is None:
            return pack_outputs(("state", host.state_kept()))

        def beat(progress: int) -> None:
            write_record(records, BEAT, progress)

        if request.streamed:
            return pack_outputs(("printed", host.call_each(task, _Stream(answers), on_tick=beat)))
        return pack_outputs(("block", host.run(task, on_tick=beat)))
    except AuditError as error:
        return pack_outputs(("error", error))
