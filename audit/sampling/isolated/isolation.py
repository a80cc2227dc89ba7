"""The parent process's side of isolation. It gets complete blocks even if the child dies during a run."""

import contextlib
import math
import os
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from queue import SimpleQueue
from typing import Any, Final

from audit.errors import AuditError, SubjectError
from audit.sampling.blocks import Block, Task
from audit.sampling.isolated.child import Errand
from audit.sampling.isolated.elsewhere import in_order
from audit.sampling.isolated.forking import start
from audit.sampling.isolated.pipes import BEAT, ENDED, STARTED, Inbox, Record, write_frame
from audit.sampling.seeds import RNG_CHECK
from audit.sampling.shipping import Parcel, pack, unpack
from audit.sampling.watch import in_words
from audit.values.outcomes import Unfinished
from audit.values.said import Says

# The child enforces the time limit of a run. If the run still goes on, for example in compiled code that
# hangs, the parent ends it, at least this many seconds later.
_GRACE: Final = 2.0
_GONE: Final = "The audit's child process ended; no more runs can be drawn."
#: A process may take this many seconds to make its subject. Increase it for slow constructors.
_MAKING: Final = 60.0
#: The value of the last sign of progress (beat) before the worker has sent any. The first sign says that the
#: worker has made its subject.
_UNREADY: Final = -1


class _DiedError(Exception):
    """The worker process ended during a request."""


class Child:
    """A child process that runs a subject.

    Parameters
    ----------
    parcel
        The subject. If None, each worker of the child makes a subject anew (`run_anew`).
    number
        The number of this child, which distinguishes it from others.
    foundations
        Modules that the child imports before it forks any worker.

    Raises
    ------
    SubjectError
        The child cannot load the subject.

    Examples
    --------
    >>> from audit.subject.subject import adapt
    >>> child = Child(Parcel.of(adapt(lambda database: len(database)), seed=0))
    >>> child.run(Task(left=[0], right=[0, 0], size=2, seed=0, path=(1, 0)), steady=True).right
    [2, 2]
    >>> child.close()
    """

    def __init__(self, parcel: Parcel | None, *, number: int = 0, foundations: tuple[str, ...] = ()) -> None:
        pipes = [os.pipe() for _ in range(3)]
        (requests, self._requests), (frames, answers), (ticks, records) = pipes
        self._fds = [self._requests, frames, ticks]
        theirs = (requests, answers, records)
        self._process = start("audit.sampling.isolated.child", theirs, shares_cores=parcel is None)
        self._by_value = () if parcel is None else parcel.by_value
        self._inbox = Inbox(frames, ticks)
        self._answers: deque[tuple[str, Any]] = deque()
        self._worker = 0
        self._number = 0
        #: Modules that the last fresh process imported and that may be imported in advance for others
        #: (`is_preloaded`).
        self.loaded: tuple[str, ...] = ()
        self._death: str | None = None
        self._beat = _UNREADY
        self._foundations = {*foundations}
        first = (os.getcwd(), parcel, (RNG_CHECK, number), foundations)  # noqa: PTH109  a text is sent
        write_frame(self._requests, pack(first))
        self._await_worker()

    def kill(self) -> None:
        """End the child immediately.

        A thread that waits for an answer gets an error.

        The child is killed before its worker, because a living child would start another worker. This process
        cannot kill a worker that it does not know yet. Closing the request pipe ends that worker. Otherwise
        it would keep the answer pipe open, and the thread would wait forever.
        """
        self._process.kill()
        self._process.wait()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._requests, inheritable=False)  # closes the pipe but keeps its number
        os.close(nowhere)
        self._kill()

    def close(self) -> None:
        """End the child, even in the middle of a run."""
        for fd in self._fds:
            os.close(fd)
        self._fds = []
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def build_on(self, modules: Sequence[str]) -> None:
        """Make the child import modules before it forks its next worker."""
        new = tuple(name for name in modules if name not in self._foundations)
        if not new:
            return
        self._await_worker()
        for _ in range(2):  # the worker reads the first and ends; the child reads the second
            self._send(new)
        while self._worker:
            self._listen(math.inf)
        self._foundations.update(new)

    def state_kept(self) -> bool | None:
        """Return whether the subject's state differs from its first state.

        If that is unknown, return None.
        """
        try:
            self._ask(None)
            return self._answer(math.inf)[1]  # type: ignore[no-any-return]
        except _DiedError:
            return None

    def run(self, task: Task, *, steady: bool) -> Block:
        """Return a drawn block.

        A subject is steady if the same seeds give the same runs again. The block of a steady subject is sent
        in one piece. If the worker dies, the block is drawn again, and each outcome is sent immediately.

        A block of an unsteady subject must not be drawn again: a second draw only after a death would bias
        the outputs. So each outcome of an unsteady subject is sent immediately from the start.
        """
        try:
            return self._whole(task, steady=steady)
        except AuditError:
            raise
        except BaseException:  # Ctrl-C: nobody needs the worker's result
            self._kill()
            raise

    def _whole(self, task: Task, *, steady: bool) -> Block:
        sampled = task.vectorised and not task.fresh
        if not steady and not sampled:
            return self._streamed(task)
        try:
            self._ask(task)
            return self._answer(task.patience)[1]  # type: ignore[no-any-return]
        except _DiedError:
            block = self._streamed(replace(task, vectorised=task.vectorised and task.fresh))
        return replace(block, notes=(*block.notes, Says.SAMPLE_ENDED())) if sampled else block

    def run_anew(self, task: Task, errand: Errand) -> Block:
        """Return a block drawn in a new worker that makes the subject anew.

        Raises
        ------
        SubjectError
            The subject cannot be made in that worker.
        """
        try:
            block = self._streamed(task, errand)
            while self._worker:
                self._listen(math.inf)
        except BaseException:
            self._kill()
            raise
        self.loaded = tuple(name for word, names in self._answers if word == "loaded" for name in names)
        return block

    def _streamed(self, task: Task, errand: Errand | None = None) -> Block:
        outputs: list[Any] = []
        printed = rest = 0
        while len(outputs) < task.runs:
            try:
                rest_of = replace(task, start=len(outputs))
                self._ask(rest_of if errand is None else errand.to_run(rest_of), streamed=True)
                if errand is not None:
                    self._await_made()
                while (answer := self._answer(task.limit))[0] == "outcome":
                    outputs.append(answer[1])
                printed, rest = printed + answer[1][0], answer[1][1]
            except _DiedError as death:
                if len(outputs) < task.runs:
                    outputs.append(Unfinished(str(death)))
        return task.block(outputs, printed=printed, rest=rest)

    def _await_made(self) -> None:
        """Wait until the worker has made its subject."""
        try:
            self._answer(_MAKING)
        except _DiedError as death:
            raise SubjectError(f"The child process died while loading the mechanism: {death}") from None

    def _ask(self, request: Task | Errand | None, *, streamed: bool = False) -> None:
        self._await_worker()
        self._death = None
        self._answers.clear()
        self._send(request, streamed=streamed)

    def _send(self, request: Task | Errand | tuple[str, ...] | None, *, streamed: bool = False) -> None:
        try:
            write_frame(self._requests, pack((self._number, request, streamed), by_value=self._by_value))
        except BrokenPipeError:
            raise AuditError(_GONE) from None

    def _answer(self, limit: float) -> tuple[str, Any]:
        """Return the next answer, or raise the error that it holds."""
        since, beat, late = time.monotonic(), self._beat, 0.0
        while not self._answers:
            if self._death is not None:
                raise _DiedError(in_words(late) if late else self._death)
            allowed = max(limit, _MAKING) if self._beat == _UNREADY else limit
            due = since + allowed + max(_GRACE, allowed / 2)
            if not self._listen(math.inf if late else max(due - time.monotonic(), 0.0)):
                self._kill()
                late = allowed
            elif self._beat != beat:
                since, beat = time.monotonic(), self._beat
        word, value = self._answers.popleft()
        if word == "error":
            raise value
        if word == "failed":
            raise SubjectError(f"The child process cannot load the mechanism: {value}")
        return word, value

    def _kill(self) -> None:
        if self._worker:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._worker, signal.SIGKILL)
            self._worker = 0

    def _await_worker(self) -> None:
        while not self._worker:
            self._listen(math.inf)
            if self._answers and self._answers[0][0] == "failed":
                self._answer(math.inf)

    def _listen(self, timeout: float) -> bool:
        """Receive messages, and return whether any arrived in time."""
        try:
            messages = list(self._inbox.receive(None if math.isinf(timeout) else timeout))
        except TimeoutError:
            return False
        for message in messages:
            if message is None:
                raise AuditError(_GONE)
            if isinstance(message, Record):
                self._note(message)
            else:
                self._answers.append(unpack(message))
        return True

    def _note(self, record: Record) -> None:
        if record.kind == BEAT:
            self._beat = record.value
        elif record.kind == STARTED:
            self._worker = record.value
        elif record.kind == ENDED:
            self._worker = 0
            self._beat = _UNREADY
            self._number += 1
            self._answers.extend(unpack(frame) for frame in self._inbox.drain())
            self._death = _in_words(record.value)


def drawn_by(
    children: Sequence[Child], tasks: Sequence[Task], draw: Callable[[Child, Task], Block]
) -> Iterator[Block]:
    """Yield the result of `draw` for each of `tasks`, in order.

    Each child works on one task at a time. Ctrl-C, an error, or a caller that stops reading early kills the
    children.
    """
    idle: SimpleQueue[Child] = SimpleQueue()
    for child in children:
        idle.put(child)

    def drawn(task: Task) -> Block:
        child = idle.get()
        try:
            return draw(child, task)
        finally:
            idle.put(child)

    pool = ThreadPoolExecutor(len(children))
    try:
        yield from in_order(pool, drawn, zip(tasks), workers=len(children))
    except BaseException:  # otherwise a further task would start a killed child again
        for child in children:  # threads may still be waiting for them
            child.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _in_words(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return (
        f"process ended by {signal.Signals(-code).name}" if code < 0 else f"process exited with code {code}"
    )
