"""One interface for calls here, in other processes, or on a cluster.

A call is an importable function with arguments that can be pickled. It makes a whole audit, or a block of
runs.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, wait
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from audit.sampling.isolated.processes import Elsewhere, Processes

#: Seconds between two checks for Ctrl-C while waiting, because another thread may receive the signal. A
#: smaller number gives a quicker reaction.
HEED: Final = 0.1


#: The processes kept for later audits. A key has two parts: the process that started them, because a fork
#: must not use the processes of its parent, and their number.
_KEPT: Final[dict[tuple[int, int], Processes]] = {}
_CLUSTER: ContextVar[Elsewhere | None] = ContextVar("cluster", default=None)


@contextmanager
def everywhere_on(cluster: Elsewhere) -> Iterator[None]:
    """Make all calls on a cluster while this context lasts."""
    before = _CLUSTER.set(cluster)
    try:
        yield
    finally:
        _CLUSTER.reset(before)


def on_cluster() -> bool:
    """Return whether calls go to a cluster.

    Examples
    --------
    >>> on_cluster()
    False
    """
    return _CLUSTER.get() is not None


def elsewhere(jobs: int) -> Elsewhere | None:
    """Return the cluster if there is one, else `jobs` processes.

    One job needs neither, so then return None. The processes stay alive for the next audit.

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
    place: Executor, function: Callable[..., Any], calls: Iterable[tuple[Any, ...]], *, workers: int
) -> Iterator[Any]:
    """Yield the function's results for the arguments of the calls, in order.

    A few calls run before their results are asked for. Ctrl-C or an error stops all running calls.

    Examples
    --------
    >>> with Processes(2) as processes:
    ...     list(in_order(processes, divmod, [(7, 2), (9, 4)], workers=2))
    [(3, 1), (2, 1)]
    """
    ahead = deque[Future[Any]]()
    try:
        for arguments in calls:
            ahead.append(place.submit(function, *arguments))
            if len(ahead) == 2 * workers:  # limit the number of results that wait for the caller
                yield result_of(ahead.popleft())
        while ahead:
            yield result_of(ahead.popleft())
    except BaseException as stop:
        for future in ahead:
            future.cancel()
        if not isinstance(stop, GeneratorExit):  # if the caller only stops reading, let the running calls end
            place.shutdown(wait=False, cancel_futures=True)
        raise


def result_of(future: Future[Any]) -> Any:
    """Return the result of a call. Ctrl-C interrupts the wait."""
    while not wait([future], timeout=HEED).done:
        pass
    return future.result()
