"""The workers that draw blocks."""

import atexit
import functools
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from audit.errors import AuditError
from audit.sampling.blocks import Block, Host, Task
from audit.sampling.isolated.elsewhere import in_order
from audit.sampling.isolated.isolation import Child, drawn_by
from audit.sampling.isolated.processes import Elsewhere, ProcessDied
from audit.sampling.seeds import RNG_CHECK
from audit.sampling.shipping import Parcel, pack, pack_outputs, unpack

#: Only a draw that takes at least this many seconds is shared; sharing a shorter draw costs more than it
#: saves.
_WORTH_SHARING: Final = 0.1
#: A second child process is started only for a draw of at least this many seconds. Starting the process takes
#: about as long.
_WORTH_A_CHILD: Final = 1.0


class _Pace:
    """The time that a run takes, in seconds, as measured."""

    def __init__(self) -> None:
        self._seconds = 0.0
        self._runs = 0

    def timed(self, task: Task, draw: Callable[[Task], Block]) -> Block:
        """Return a block drawn in this process, and measure the time."""
        start = time.perf_counter()
        block = draw(task)
        self._seconds += time.perf_counter() - start
        self._runs += task.runs
        return block

    def expected(self, tasks: Sequence[Task]) -> float:
        """Return the expected time of the tasks in this process, in seconds.

        Return 0 if it is unknown, or if there is only one task.
        """
        if len(tasks) == 1 or not self._runs:
            return 0.0
        return self._seconds / self._runs * sum(task.runs for task in tasks)


class Here:
    """Draws blocks in this process.

    Large draws of a steady subject go to other processes or to a cluster. A steady subject gives the same
    runs for the same seeds, in every process. So the measured time may decide where a block is drawn.

    Parameters
    ----------
    host
        The subject.
    parcel
        The subject prepared for other processes. If None, blocks are drawn only in this process.
    place
        The other place to draw blocks, or None.

    Examples
    --------
    >>> from audit.subject.signatures import Calling
    >>> workers = Here(Host(len, Calling(takes_rng=False)))
    >>> [block.left for block in workers.map([Task(left=[], right=[0], size=2, seed=0, path=(1, 0))])]
    [[0, 0]]
    """

    def __init__(self, host: Host, parcel: Parcel | None = None, place: Elsewhere | None = None) -> None:
        self._host = host
        self._parcel = parcel
        self._place = place
        self._pace = _Pace()

    def map(self, tasks: Sequence[Task], *, steady: bool = False) -> Iterator[Block]:
        """Yield the blocks of `tasks`. If `steady`, any process may draw a block, even a second time."""
        for index, task in enumerate(tasks):
            rest, parcel, place = tasks[index:], self._parcel, self._place
            if steady and parcel and place and self._pace.expected(rest) > _WORTH_SHARING:
                try:
                    yield from _shared(place, draw_elsewhere, parcel, rest)
                except ProcessDied:
                    raise AuditError(
                        "The mechanism ended its worker process; audit it with isolate=True."
                    ) from None
                return
            yield self._pace.timed(task, self._host.run)

    def state_kept(self) -> bool | None:
        """Return whether the subject's state differs from its first state.

        If that is unknown, return None.
        """
        return self._host.state_kept()


class Children:
    """Draws blocks in one or several isolated child processes.

    Several children draw only if the subject is steady. Then equal seeds give equal runs.

    Parameters
    ----------
    parcel
        The subject.
    jobs
        The most children on this machine.
    cluster
        The cluster that draws the blocks instead if the subject is steady. If None, this machine draws them.
    """

    def __init__(self, parcel: Parcel, jobs: int, cluster: Elsewhere | None = None) -> None:
        self._parcel = parcel
        self._jobs = jobs
        self._cluster = cluster
        self._made = 0
        self._children: list[Child] = []
        self._pace = _Pace()
        self._add()

    def map(self, tasks: Sequence[Task], *, steady: bool = False) -> Iterator[Block]:
        """Yield the blocks of `tasks`. If `steady`, any process may draw a block, even a second time."""
        for index, task in enumerate(tasks):
            if steady and self._worth_more(tasks[index:]):
                yield from self._shared(tasks[index:])
                return
            yield self._pace.timed(task, lambda task: self._children[0].run(task, steady=steady))

    def _worth_more(self, tasks: Sequence[Task]) -> bool:
        """Return whether to draw in more than one child."""
        if self._cluster is None and (self._jobs == 1 or len(tasks) == 1):
            return False
        return len(self._children) > 1 or self._pace.expected(tasks) > _WORTH_A_CHILD

    def _shared(self, tasks: Sequence[Task]) -> Iterator[Block]:
        if self._cluster is not None:
            yield from _shared(self._cluster, draw_isolated, self._parcel, tasks)
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
        """Return whether the subject keeps state in any of the children. If that is unknown, return None."""
        kept = [child.state_kept() for child in self._children]
        return True if True in kept else (None if None in kept else False)

    def close(self) -> None:
        """End all children."""
        for child in self._children:
            child.close()
        self._children = []

    def _add(self) -> None:
        self._children.append(Child(self._parcel, number=self._made))
        self._made += 1


Workers = Here | Children


def _shared(
    place: Elsewhere, draw: Callable[[Parcel, bytes], bytes], parcel: Parcel, tasks: Sequence[Task]
) -> Iterator[Block]:
    calls = ((parcel, pack(task, by_value=parcel.by_value)) for task in tasks)
    yield from map(unpack, in_order(place, draw, calls, workers=place.workers))


def draw_elsewhere(parcel: Parcel, task: bytes) -> bytes:
    """Return a block drawn in this process. The task and the block are packed."""
    return pack_outputs(_host(parcel).run(unpack(task)))


@functools.lru_cache(maxsize=1)
def _host(parcel: Parcel) -> Host:
    return parcel.move_in((RNG_CHECK, os.getpid()))


def draw_isolated(parcel: Parcel, task: bytes) -> bytes:
    """Return a block drawn in a child process, which stays alive for further tasks.

    The task and the block are packed.
    """
    child = _CHILDREN.get(parcel)
    if child is None:
        _let_go()
        child = _CHILDREN[parcel] = Child(parcel)
    return pack_outputs(child.run(unpack(task), steady=True))


_CHILDREN: dict[Parcel, Child] = {}


@atexit.register
def _let_go() -> None:
    while _CHILDREN:
        _CHILDREN.popitem()[1].close()
