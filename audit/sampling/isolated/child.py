"""The child process of an isolated subject.

A supervisor loads the modules of the subject once and never runs the subject. It starts a worker, which runs
the subject.

The worker is a fork, so a dead worker is replaced in milliseconds. If processes cannot fork, the worker is a
new process that loads the modules again. A supervisor without a subject keeps no state. Each of its workers
makes a subject anew, makes its runs and ends (`Errand`).
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

#: Fresh processes start with these packages imported. This saves time, because the packages take long to
#: import. On import they draw nothing, start no thread and keep no generator but numpy's global one, which
#: every process reseeds. Never list a library that is itself audited.
_PRELOADED: Final = frozenset({"audit", "scipy", "pandas", "sklearn", "statsmodels", "hypothesis", "pytest"})


def is_preloaded(module: str) -> bool:
    """Return whether a fresh process may start with this module imported.

    Examples
    --------
    >>> is_preloaded("scipy.stats"), is_preloaded("diffprivlib.tools")
    (True, False)
    """
    return module.partition(".")[0] in _PRELOADED


@dataclass(frozen=True)
class Errand:
    """The job of a worker that makes a subject anew, makes its runs and ends.

    Parameters
    ----------
    recipe
        The instructions to make the subject, and the root of the seed tree.
    paths
        The module search path.
    folder
        The worker's own directory: working directory, home and temporary directory.
    place
        The place in the seed tree that determines the process's generators.
    task
        The packed runs.

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
        """Return the job for the rest of a block. Its generators get another place in the seed tree."""
        packed = pack(task, by_value=self.recipe.by_value)
        return replace(self, place=(*self.place, task.start), task=packed)

    def move_in(self) -> tuple[Host, Task]:
        """Return the subject, newly made in this process, and the task to run."""
        sys.path[:] = self.paths
        os.chdir(self.folder)
        for name in ("HOME", "TMPDIR", "TEMP", "TMP", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
            os.environ[name] = self.folder
        os.environ[WITHIN] = "1"
        reseed_process(self.recipe.seed, self.place)
        return Host(self.recipe.mechanism(self.place), self.recipe.calling), unpack(self.task)


def import_all(modules: tuple[str, ...]) -> None:
    """Import modules by name. A module that cannot be imported is left out.

    Examples
    --------
    >>> import_all(("math", "no_such_module"))
    """
    for name in modules:
        with contextlib.suppress(Exception):  # the parent could import it, and perhaps a worker can
            importlib.import_module(name)


class _Stream(list[Any]):
    """A list that also sends each appended item to the parent process."""

    def __init__(self, fd: int) -> None:
        super().__init__()
        self._fd = fd

    def append(self, outcome: Any) -> None:
        write_frame(self._fd, pack_outputs(("outcome", outcome)))
        super().append(outcome)


def main(requests: int, answers: int, records: int) -> None:
    """Answer the requests of the parent process until it closes the pipes.

    Parameters
    ----------
    requests
        The file descriptor from which requests are read. The first request holds a directory, a parcel or
        None, a path in the seed tree, and names of modules. All workers start with these modules.
    answers
        The file descriptor for frames, each a pair of a word and a value.
    records
        The file descriptor for small records: which workers started or ended, and their progress.
    """
    first = read_frame(requests) or b""
    try:
        parcel, place = _prepare(first)
    except BaseException as error:  # noqa: BLE001  whatever the user's modules raise when they are imported
        write_frame(answers, pack_outputs(("failed", f"{type(error).__name__}: {error}")))
        return
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    asked, ask = os.pipe()  # tells the supervisor that a worker got a request meant for it
    os.set_blocking(asked, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waker)
    number = 0
    while True:
        worker = os.fork() if can_fork() else _spawned(first, number, requests, answers, records)
        if worker == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _work(parcel, (*place, number), requests, answers, records, ask=ask)
        with contextlib.suppress(OSError):  # the worker may have done this already, or have ended
            os.setpgid(worker, worker)
        write_record(records, STARTED, worker)
        status = _wait(worker, requests, wake)
        if status is None:
            return
        write_record(records, ENDED, status)
        number += 1
        with contextlib.suppress(BlockingIOError):  # the worker got no request meant for the supervisor
            os.read(asked, 1)
            if (frame := read_frame(requests)) is not None:
                import_all(unpack(frame)[1])


def _prepare(first: bytes) -> tuple[Parcel | None, Path]:
    """Set the directory, import modules, and return the parcel and the place."""
    directory, parcel, place, modules = unpack(first)
    os.chdir(directory)
    import_all(modules)
    if parcel is not None:
        parcel.mechanism(place)  # imports what the subject needs, once for all workers
    return parcel, place


def _spawned(first: bytes, number: int, *pipes: int) -> int:
    """Start a worker without a fork, and return its process id."""
    theirs, ours = os.pipe()
    worker = spawn("audit.sampling.isolated.child:work_anew", (theirs, number, *pipes), inherited=theirs)
    os.close(theirs)
    with contextlib.suppress(BrokenPipeError):  # the worker has ended already
        write_frame(ours, first)
    os.close(ours)
    return worker


def work_anew(start: int, number: int, requests: int, answers: int, records: int) -> None:
    """Be a worker in a process that was not forked. The first request is read from the pipe `start`."""
    parcel, place = _prepare(read_frame(start) or b"")
    os.close(start)
    _work(parcel, (*place, number), requests, answers, records)


def _wait(worker: int, requests: int, wake: int) -> int | None:
    """Return the exit status of a worker. If the parent is gone, kill the worker and return None."""
    poll = select.poll()
    poll.register(requests, 0)  # reports only that the other side has closed
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


def _work(
    parcel: Parcel | None, path: Path, requests: int, answers: int, records: int, *, ask: int | None = None
) -> NoReturn:
    os.setpgid(0, 0)  # killing its group also kills what it has started
    number = path[-1]
    found = len(sys.modules)
    try:
        host = None if parcel is None else parcel.move_in(path)
        write_record(records, BEAT, 0)  # the time of the first run begins here, after the subject is made
        while (frame := read_frame(requests)) is not None:
            addressee, request, streamed = unpack(frame)
            if addressee != number:  # the request was meant for a worker that has died
                continue
            if isinstance(request, tuple):  # modules for the supervisor: the parent will send them again
                if ask is not None:
                    os.write(ask, b"\0")
                break
            write_frame(answers, _answer(host, request, answers, records, streamed=streamed))
            if isinstance(request, Errand):
                # Send only the new entries, read from the end: touching all entries would copy shared memory.
                new = list(islice(reversed(sys.modules), max(0, len(sys.modules) - found)))
                loaded = [name for name in reversed(new) if is_preloaded(name)]
                write_frame(answers, pack_outputs(("loaded", loaded)))
                break
    finally:
        os._exit(0)


def _answer(
    host: Host | None, request: Task | Errand | None, answers: int, records: int, *, streamed: bool
) -> bytes:
    """Return the answer to a request.

    The answer to a task is its block. The answer to None is whether the subject keeps state. If `streamed`,
    every outcome is also sent as soon as it is known.
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
