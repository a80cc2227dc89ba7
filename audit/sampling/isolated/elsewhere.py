"""Where calls are carried out: here, in processes of this machine, or on a cluster. One way for all of them.

Whole audits and blocks of one audit are calls: an importable function with arguments that can be pickled.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, Protocol

from audit.sampling.isolated.processes import Processes

#: Seconds after which a wait looks whether Ctrl-C was pressed: another thread may be given the signal.
HEED: Final = 0.1


class Elsewhere(Protocol):
    """An executor that says how many calls it carries out at once."""

    workers: int

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Return the future of a call."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002
        """End; with `cancel_futures`, also what is under way."""


#: The processes that are kept: by the process that started them, for a fork must not talk to its parent's.
_KEPT: Final[dict[tuple[int, int], Processes]] = {}
_CLUSTER: ContextVar[Elsewhere | None] = ContextVar("cluster", default=None)


@contextmanager
def everywhere_on(cluster: Elsewhere) -> Iterator[None]:
    """Carry out all calls on a cluster while this lasts."""
    before = _CLUSTER.set(cluster)
    try:
        yield
    finally:
        _CLUSTER.reset(before)


def on_cluster() -> bool:
    """Return whether a cluster carries out the calls.

    Examples
    --------
    >>> on_cluster()
    False
    """
    return _CLUSTER.get() is not None


def elsewhere(jobs: int) -> Elsewhere | None:
    """Return the cluster, if there is one, or as many processes as there are jobs; None for one job: here.

    The processes are kept for the next audit.

    Examples
    --------
    >>> elsewhere(1) is None
    True
    """
    cluster = _CLUSTER.get()
    if cluster is not None or jobs == 1:
        return cluster
    found = _KEPT.get((os.getpid(), jobs))
    if found is None or found.stopped:
        found = _KEPT[os.getpid(), jobs] = Processes(jobs)
    return found


def in_order(
    place: Elsewhere, function: Callable[..., Any], calls: Iterable[tuple[Any, ...]]
) -> Iterator[Any]:
    """Yield what a function returns for the arguments of each call, in their order, a few calls ahead.

    Ctrl-C or an error ends what is under way.

    Examples
    --------
    >>> with Processes(2) as processes:
    ...     list(in_order(processes, divmod, [(7, 2), (9, 4)]))
    [(3, 1), (2, 1)]
    """
    ahead = deque[Future[Any]]()
    try:
        for arguments in calls:
            ahead.append(place.submit(function, *arguments))
            if len(ahead) == 2 * place.workers:  # what nobody has taken yet is not piled up
                yield result_of(ahead.popleft())
        while ahead:
            yield result_of(ahead.popleft())
    except BaseException as stop:
        for future in ahead:
            future.cancel()
        if not isinstance(stop, GeneratorExit):  # where no more are wanted, those under way end soon
            place.shutdown(wait=False, cancel_futures=True)
        raise


def result_of(future: Future[Any]) -> Any:
    """Wait for a call, heeding Ctrl-C, and return its result."""
    while not wait([future], timeout=HEED).done:
        pass
    return future.result()
