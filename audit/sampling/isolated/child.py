"""The child process in which an isolated subject runs: a supervisor, and the worker that it starts.

The supervisor loads the subject's modules once and never runs it. A worker is forked from it, so one that
dies is replaced in milliseconds; where processes cannot fork, it is a new process that loads them again. A
supervisor without a subject stays as it started: each of its workers may make one anew, run it once, and end
(`Errand`).
"""

import contextlib
import importlib
import os
import select
import signal
import sys
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final, NoReturn

from audit.errors import AuditError
from audit.sampling.blocks import Host, Task
from audit.sampling.isolated.pipes import BEAT, ENDED, STARTED, read_frame, write_frame, write_record
from audit.sampling.isolated.starting import can_fork, spawn
from audit.sampling.remake.modules import WITHIN
from audit.sampling.remake.reseeding import reseed_process
from audit.sampling.seeds import Path
from audit.sampling.shipping import Parcel, pack, pack_outputs, unpack

#: Packages that take long to import. None of them draws when it is imported, keeps a generator but numpy's
#: global one, which every process seeds anew, or starts a thread; so no library that is audited itself may be
#: listed here.
_PRELOADED: Final = frozenset({"audit", "scipy", "pandas", "sklearn", "statsmodels", "hypothesis", "pytest"})


def is_preloaded(module: str) -> bool:
    """Return whether a fresh process may find this module imported.

    Examples
    --------
    >>> is_preloaded("scipy.stats"), is_preloaded("diffprivlib.tools")
    (True, False)
    """
    return module.partition(".")[0] in _PRELOADED


@dataclass(frozen=True)
class Errand:
    """What a worker is asked that makes a subject anew, runs it once, and ends.

    Parameters
    ----------
    recipe
        How the subject is made, and the seed of the process's generators.
    paths
        Where modules are found.
    folder
        A directory of its own: the working directory, and what is home and place for temporary files.
    place
        Where in the seed tree the generators of the process start.
    task
        The packed runs: what is in their databases may be found by those paths only.

    Examples
    --------
    >>> Errand(None, (), "", (1,)).place
    (1,)
    """

    recipe: Parcel
    paths: tuple[str, ...]
    folder: str
    place: Path
    task: bytes = b""

    def to_run(self, task: Task) -> "Errand":
        """Return the errand for the rest of a block; a process that takes over has other generators."""
        packed = pack(task, by_value=self.recipe.by_value)
        return replace(self, place=(*self.place, task.start), task=packed)

    def move_in(self) -> tuple[Host, Task]:
        """Return the subject, made in this process, ready to run, and its runs."""
        sys.path[:] = self.paths
        os.chdir(self.folder)
        for name in ("HOME", "TMPDIR", "TEMP", "TMP", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
            os.environ[name] = self.folder
        os.environ[WITHIN] = "1"
        reseed_process(self.recipe.seed, self.place)
        return Host(self.recipe.mechanism(self.place), self.recipe.calling), unpack(self.task)


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
        Descriptor that requests come from. The first is a directory, a parcel or None, a path in the seed
        tree, and the modules that every worker finds imported.
    answers
        Descriptor for frames: each a pair of a word and a value.
    records
        Descriptor for small records: workers that start and end, and how far they are.
    """
    first = read_frame(requests) or b""
    try:
        parcel, place = _prepare(first)
    except BaseException as error:  # noqa: BLE001  whatever the user's modules raise when they are imported
        write_frame(answers, pack_outputs(("failed", f"{type(error).__name__}: {error}")))
        return
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waker)
    number = 0
    while True:
        worker = os.fork() if can_fork() else _spawned(first, number, requests, answers, records)
        if worker == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _work(parcel, (*place, number), requests, answers, records)
        with contextlib.suppress(OSError):  # it may have done so itself, or be gone
            os.setpgid(worker, worker)
        write_record(records, STARTED, worker)
        status = _wait(worker, requests, wake)
        if status is None:
            return
        write_record(records, ENDED, status)
        number += 1


def _prepare(first: bytes) -> tuple[Parcel | None, Path]:
    """Go to the directory of the first request and import what every worker finds imported."""
    directory, parcel, place, foundations = unpack(first)
    os.chdir(directory)
    for name in foundations:
        with contextlib.suppress(Exception):  # it is there for the parent, and perhaps for a worker
            importlib.import_module(name)
    if parcel is not None:
        parcel.mechanism(place)  # imports what the subject needs, once for all workers
    return parcel, place


def _spawned(first: bytes, number: int, *pipes: int) -> int:
    """Return the process of a worker that is not forked: it is given the first request, and its number."""
    theirs, ours = os.pipe()
    worker = spawn("audit.sampling.isolated.child:work_anew", (theirs, number, *pipes), inherited=theirs)
    os.close(theirs)
    with contextlib.suppress(BrokenPipeError):  # it has ended already
        write_frame(ours, first)
    os.close(ours)
    return worker


def work_anew(start: int, number: int, requests: int, answers: int, records: int) -> None:
    """Be a worker in a process of its own: its first request comes from the pipe `start`."""
    parcel, place = _prepare(read_frame(start) or b"")
    os.close(start)
    _work(parcel, (*place, number), requests, answers, records)


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


def _work(parcel: Parcel | None, path: Path, requests: int, answers: int, records: int) -> NoReturn:
    os.setpgid(0, 0)  # it is killed with whatever it has started
    number = path[-1]
    found = len(sys.modules)
    try:
        host = None if parcel is None else parcel.move_in(path)
        while (frame := read_frame(requests)) is not None:
            addressee, request, streamed = unpack(frame)
            if addressee != number:  # it was meant for a worker that died before it read it
                continue
            write_frame(answers, _answer(host, request, answers, records, streamed=streamed))
            if isinstance(request, Errand):
                # From the last one back: to go through all would touch, and so copy, what is shared.
                new = list(islice(reversed(sys.modules), max(0, len(sys.modules) - found)))
                loaded = [name for name in reversed(new) if is_preloaded(name)]
                write_frame(answers, pack_outputs(("loaded", loaded)))
                break
    finally:
        os._exit(0)


def _answer(
    host: Host | None, request: Task | Errand | None, answers: int, records: int, *, streamed: bool
) -> bytes:
    """Return the answer to runs asked for, or to the question (None) whether the subject keeps state.

    If it is `streamed`, every outcome is sent before, as soon as it is there.
    """
    task = request
    if isinstance(request, Errand):
        try:
            host, task = request.move_in()
            write_frame(answers, pack_outputs(("made", None)))
        except BaseException as error:  # noqa: BLE001  whatever the user's modules raise when they are imported
            return pack_outputs(("failed", f"{type(error).__name__}: {error}"))
    assert host is not None
    assert not isinstance(task, Errand)
    try:
        if task is None:
            return pack_outputs(("state", host.state_kept()))

        def beat(progress: int) -> None:
            write_record(records, BEAT, progress)

        if streamed:
            return pack_outputs(("ended", host.call_each(task, _Stream(answers), on_tick=beat)))
        return pack_outputs(("block", host.run(task, on_tick=beat)))
    except AuditError as error:
        return pack_outputs(("error", error))
