"""Who draws the blocks: this process, worker processes, or isolated children. The one parallel seam."""

import contextlib
import functools
import os
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Final

from audit.errors import AuditError
from audit.sampling.blocks import Block, Host, Task
from audit.sampling.isolated.isolation import Child, drawn_by
from audit.sampling.seeds import RNG_CHECK
from audit.sampling.shipping import Parcel, pack, pack_outputs, unpack

_WORTH_SHARING: Final = 0.1  # seconds; below, handing a draw over costs more than it saves


class Here:
    """Draws blocks in this process; large ones of a steady subject are shared among worker processes.

    joblib owns their pool and ends it.
    Where a steady subject's block is drawn changes nothing about it, so that time may decide.

    Parameters
    ----------
    host
        The subject.
    parcel
        The same for worker processes; None for none.
    jobs
        How many worker processes.

    Examples
    --------
    >>> from audit.subject.signatures import Calling
    >>> workers = Here(Host(len, Calling(takes_rng=False)))
    >>> [block.left for block in workers.map([Task(left=[], right=[0], size=2, seed=0, path=(1, 0))])]
    [[0, 0]]
    """

    def __init__(self, host: Host, parcel: Parcel | None = None, jobs: int = 1) -> None:
        self._host = host
        self._parcel = parcel
        self._jobs = jobs
        self._seconds = 0.0
        self._runs = 0

    def map(self, tasks: Sequence[Task], *, steady: bool = False) -> Iterator[Block]:
        """Yield the blocks of `tasks`; a steady subject's may be drawn anywhere and again."""
        for index, task in enumerate(tasks):
            if steady and self._parcel is not None and self._worth_sharing(tasks[index:]):
                yield from self._shared(self._parcel, tasks[index:])
                return
            start = time.perf_counter()
            block = self._host.run(task)
            self._seconds += time.perf_counter() - start
            self._runs += task.runs
            yield block

    def state_kept(self) -> bool | None:
        """Return whether the subject's state differs from its first one; None if that is unknown."""
        return self._host.state_kept()

    def _worth_sharing(self, tasks: Sequence[Task]) -> bool:
        expected = self._seconds / max(self._runs, 1) * sum(task.runs for task in tasks)
        return len(tasks) > 1 and self._runs > 0 and expected > _WORTH_SHARING

    def _shared(self, parcel: Parcel, tasks: Sequence[Task]) -> Iterator[Block]:
        # imported here: an audit in one process does without
        from concurrent.futures.process import BrokenProcessPool

        from joblib import Parallel, delayed

        jobs = self._jobs  # "processes" are a cluster's, where the user has configured one
        parallel = Parallel(n_jobs=jobs, prefer="processes", return_as="generator", pre_dispatch=2 * jobs)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about workers that start late or stop early
                packed = (pack(task, by_value=parcel.by_value) for task in tasks)
                results: Any = parallel(delayed(draw_elsewhere)(parcel, task) for task in packed)
            with contextlib.closing(results):
                yield from map(unpack, results)
        except BrokenProcessPool:
            raise AuditError("The mechanism ended its worker process; audit it with isolate=True.") from None


class Children:
    """Draws in isolated children: one, or several for a steady subject."""

    def __init__(self, parcel: Parcel, jobs: int) -> None:
        self._parcel = parcel
        self._jobs = jobs
        self._made = 0
        self._children: list[Child] = []
        self._add()

    def map(self, tasks: Sequence[Task], *, steady: bool = False) -> Iterator[Block]:
        """Yield the blocks of `tasks`."""
        if not steady or self._jobs == 1 or len(tasks) == 1:
            for task in tasks:
                yield self._children[0].run(task, steady=steady)
            return
        while len(self._children) < min(self._jobs, len(tasks)):
            self._add()
        try:
            yield from drawn_by(self._children, tasks, lambda child, task: child.run(task, steady=True))
        except BaseException:
            self.close()
            self._add()
            raise

    def state_kept(self) -> bool | None:
        """Ask the subject in every child: the first that has changed decides."""
        kept = [child.state_kept() for child in self._children]
        return True if True in kept else (None if None in kept else False)

    def close(self) -> None:
        """End the children."""
        for child in self._children:
            child.close()
        self._children = []

    def _add(self) -> None:
        self._children.append(Child(self._parcel, number=self._made))
        self._made += 1


Workers = Here | Children


def draw_elsewhere(parcel: Parcel, task: bytes) -> bytes:
    """Return the packed block of a packed task, drawn in this worker process."""
    return pack_outputs(_host(parcel).run(unpack(task)))


@functools.lru_cache(maxsize=1)
def _host(parcel: Parcel) -> Host:
    return parcel.move_in((RNG_CHECK, os.getpid()))
