"""Who draws the blocks: this process, worker processes, or isolated children. The one parallel seam."""

import contextlib
import functools
import os
import time
import warnings
from collections.abc import Iterator, Sequence
from queue import SimpleQueue
from typing import Any, Final, Protocol

from audit.errors import AuditError
from audit.sampling.blocks import Block, Host, Task
from audit.sampling.isolated.isolation import Child
from audit.sampling.seeds import RNG_CHECK
from audit.sampling.shipping import Parcel, pack, pack_outputs, unpack

_WORTH_SHARING: Final = 0.1  # seconds; below, handing a draw over costs more than it saves


class Workers(Protocol):
    """Draw blocks in planned order, whoever finishes first.

    Examples
    --------
    >>> from audit.subject.signatures import Calling
    >>> workers: Workers = Here(Host(len, Calling(takes_rng=False)))
    >>> [block.left for block in workers.map([Task(left=[], right=[0], size=2, seed=0, path=(1, 0))])]
    [[0, 0]]
    """

    def map(self, tasks: Sequence[Task], *, steady: bool = False) -> Iterator[Block]:
        """Yield the blocks of `tasks`; a steady subject's may be drawn anywhere and again."""
        ...

    def state_kept(self) -> bool | None:
        """Tell whether the subject's state is another than at first; None when that cannot be told."""
        ...

    def close(self) -> None:
        """End the workers."""
        ...


class Here:
    """Draws every block in this process when it is asked for."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def map(self, tasks: Sequence[Task], *, steady: bool = False) -> Iterator[Block]:
        """Yield the blocks of `tasks`."""
        del steady
        return map(self._host.run, tasks)

    def state_kept(self) -> bool | None:
        """Ask the subject here."""
        return self._host.state_kept()

    def close(self) -> None:
        """Do nothing."""


class Processes:
    """Shares the blocks of a steady subject among worker processes; draws the others, and small ones, here.

    Where a steady subject's block is drawn changes nothing about it, so that time may decide.
    """

    def __init__(self, host: Host, parcel: Parcel, jobs: int) -> None:
        self._here = Here(host)
        self._parcel = parcel
        self._jobs = jobs
        self._seconds = 0.0
        self._runs = 0

    def map(self, tasks: Sequence[Task], *, steady: bool = False) -> Iterator[Block]:
        """Yield the blocks of `tasks`."""
        rest = list(tasks)
        while rest:
            expected = self._seconds / max(self._runs, 1) * sum(task.runs for task in rest)
            if steady and len(rest) > 1 and self._runs and expected > _WORTH_SHARING:
                break
            start = time.perf_counter()
            [block] = self._here.map([rest[0]])
            self._seconds += time.perf_counter() - start
            self._runs += rest.pop(0).runs
            yield block
        if rest:
            calls = (
                (draw_elsewhere, self._parcel, pack(task, by_value=self._parcel.by_value)) for task in rest
            )
            yield from map(unpack, _in_order(calls, jobs=self._jobs))

    def state_kept(self) -> bool | None:
        """Ask the subject here."""
        return self._here.state_kept()

    def close(self) -> None:
        """Do nothing: the pool is joblib's, and ends by itself."""


class Children:
    """Draws in isolated children: one, or several for a steady subject."""

    def __init__(self, parcel: Parcel, jobs: int) -> None:
        self._parcel = parcel
        self._jobs = jobs
        self._children = [Child(parcel)]
        self._given_up: list[Child] = []

    def map(self, tasks: Sequence[Task], *, steady: bool = False) -> Iterator[Block]:
        """Yield the blocks of `tasks`."""
        if not steady or self._jobs == 1 or len(tasks) == 1:
            for task in tasks:
                yield self._children[0].run(task, steady=steady)
            return
        while len(self._children) < min(self._jobs, len(tasks)):
            self._children.append(Child(self._parcel, number=len(self._given_up + self._children)))
        idle: SimpleQueue[Child] = SimpleQueue()
        for child in self._children:
            idle.put(child)

        def draw(task: Task) -> Block:
            child = idle.get()
            try:
                return child.run(task, steady=True)
            finally:
                idle.put(child)

        try:
            yield from _in_order(((draw, task) for task in tasks), jobs=self._jobs, backend="threading")
        except BaseException:
            # Ctrl-C, an error, a draw that nobody wants any more: threads may still wait for their children.
            self._give_up()
            raise

    def state_kept(self) -> bool | None:
        """Ask the subject in every child: the first that has changed decides."""
        kept = [child.state_kept() for child in self._children]
        return True if True in kept else (None if None in kept else False)

    def close(self) -> None:
        """End the children."""
        for child in self._children + self._given_up:
            child.close()
        self._children, self._given_up = [], []

    def _give_up(self) -> None:
        for child in self._children:
            child.kill()
        self._given_up += self._children
        self._children = [Child(self._parcel, number=len(self._given_up))]


def draw_elsewhere(parcel: Parcel, task: bytes) -> bytes:
    """Return the packed block of a packed task, drawn in this worker process."""
    return pack_outputs(_host(parcel).run(unpack(task)))


@functools.lru_cache(maxsize=1)
def _host(parcel: Parcel) -> Host:
    return parcel.move_in((RNG_CHECK, os.getpid()))


def _in_order(calls: Iterator[tuple[Any, ...]], *, jobs: int, backend: str | None = None) -> Iterator[Any]:
    """Yield what the calls return, in their order, a few of them being worked on at any time."""
    # imported here: an audit in one process does without
    from concurrent.futures.process import BrokenProcessPool

    from joblib import Parallel, delayed

    prefer: Any = None if backend else "processes"  # a cluster's, where the user has configured one
    parallel = Parallel(
        n_jobs=jobs, backend=backend, prefer=prefer, return_as="generator", pre_dispatch=2 * jobs
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about workers that start late or stop early
            results: Any = parallel(delayed(function)(*arguments) for function, *arguments in calls)
        with contextlib.closing(results):
            yield from results
    except BrokenProcessPool:
        raise AuditError("The mechanism ended its worker process; audit it with isolate=True.") from None
