"""Run calls in parallel, on every core or on a cluster. Progress and the time left are shown."""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass, field
from typing import Any, Final

from audit.errors import AuditError
from audit.sampling.isolated.elsewhere import HEED, elsewhere
from audit.sampling.isolated.processes import Elsewhere
from audit.sampling.isolated.starting import usable_cores
from audit.values.progress import AuditFinished, Counted, Listener, terminal_progress

#: After this many calls, their mean time is a fair estimate for the others.
_ENOUGH: Final = 3


@dataclass(frozen=True, kw_only=True)
class Call:
    """One of many calls.

    Parameters
    ----------
    here
        A function that makes the call in this process. Its argument is a listener to the progress.
    there
        The same call in another process: an importable function, and arguments that can be pickled.
    seconds
        How long the call took in an earlier session; None if unknown.

    Examples
    --------
    >>> Call(here=lambda _: divmod(7, 2), there=(divmod, 7, 2)).seconds is None
    True
    """

    here: Callable[[Listener | None], Any]
    there: tuple[Any, ...]
    seconds: float | None = None


def processes_for(jobs: int | None) -> int:
    """Return the number of processes.

    If `jobs` is None, there is one for each core.

    Examples
    --------
    >>> processes_for(3)
    3
    """
    return usable_cores() if jobs is None else jobs


def side_by_side(
    calls: Sequence[Call],
    *,
    jobs: int,
    what: str,
    take: Callable[[int, Callable[[], Any]], None],
    before: int = 0,
) -> bool:
    """Carry out calls, and return whether all were done.

    Each answer is passed to `take` as soon as it is known. With one job, or a single call, the work stays in
    this process.

    Parameters
    ----------
    calls
        The calls. If several run at once, they start in the order of `order`.
    jobs
        Number of processes; the answers do not depend on it.
    what
        The plural noun for the calls on the terminal, such as ``"audits"``.
    take
        Called in this thread for each finished call. It gets the index of the call and a function. The
        function returns the answer or raises the error. After Ctrl-C, calls that are done are still passed.
    before
        How many other calls were done earlier. The terminal counts them as done.
    """
    place = elsewhere(jobs) if len(calls) > 1 else None
    with terminal_progress() as listener:
        workers = 1 if place is None else place.workers
        under_way = _UnderWay(calls, what, listener, before=before, workers=workers)
        done = under_way.here() if place is None else under_way.there(place)
        try:
            for index in done:
                take(index, under_way.answer(index))
                under_way.taken += 1
                del under_way.futures[index]
        except BaseException as stop:
            for future in under_way.futures.values():
                future.cancel()
            if place is not None:
                place.shutdown(wait=False, cancel_futures=True)
            if not isinstance(stop, KeyboardInterrupt):
                raise
            for index, future in list(under_way.futures.items()):
                if future.done() and not future.cancelled():
                    take(index, under_way.answer(index))
            return False
    return True


@dataclass
class _UnderWay:
    """Calls under way, and the measured seconds of finished calls."""

    calls: Sequence[Call]
    what: str
    listener: Listener | None
    before: int
    workers: int
    futures: dict[int, Future[tuple[float, Any]]] = field(default_factory=dict)
    measured: dict[int, float] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)
    taken: int = 0

    def here(self) -> Iterator[int]:
        """Carry out the calls one after the other, and yield their indices."""
        for index, call in enumerate(self.calls):
            self._tell()
            future = self.futures[index] = Future()
            try:
                future.set_result(_timed(call.here, self.listener))
            except Exception as error:  # noqa: BLE001  raised again where the answer is read
                future.set_exception(error)
            yield index

    def there(self, place: Elsewhere) -> Iterator[int]:
        """Carry out several calls at once, and yield the index of each done call."""
        for index in order([call.seconds for call in self.calls]):
            self.futures[index] = place.submit(_timed, *self.calls[index].there)
        while self.futures:
            self._tell()
            wait(self.futures.values(), timeout=HEED, return_when=FIRST_COMPLETED)
            yield from [index for index, future in self.futures.items() if future.done()]

    def answer(self, index: int) -> Callable[[], Any]:
        """Return a function that returns the answer of a finished call.

        The terminal is freed for printing.
        """
        future = self.futures[index]
        if future.exception() is None:
            self.measured[index] = future.result()[0]
        if self.listener is not None:
            self.listener(AuditFinished(None))
        return lambda: future.result()[1]

    def _tell(self) -> None:
        if self.listener is not None:
            left = seconds_left(
                [call.seconds for call in self.calls],
                self.measured,
                elapsed=time.monotonic() - self.began,
                workers=min(self.workers, len(self.calls)),
            )
            done, of = self.before + self.taken, self.before + len(self.calls)
            self.listener(Counted(done, of, self.what, left))


def _timed(function: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """Return the seconds that a call takes, and its answer."""
    began = time.monotonic()
    answer = function(*arguments)
    return time.monotonic() - began, answer


def order(seconds: Sequence[float | None]) -> list[int]:
    """Return the order of calls.

    The quickest comes first, then those of unknown time, then the others, longest first.

    Examples
    --------
    >>> order([2.0, None, 9.0, 1.0]), order([None, None])
    ([3, 1, 2, 0], [0, 1])
    """
    unknown = [index for index, known in enumerate(seconds) if known is None]
    known = [index for index in range(len(seconds)) if seconds[index] is not None]
    known.sort(key=lambda index: -(seconds[index] or 0.0))
    return [*known[-1:], *unknown, *known[:-1]]


def seconds_left(
    before: Sequence[float | None], measured: Mapping[int, float], *, elapsed: float, workers: int
) -> float | None:
    """Return the seconds left until all calls are done; None if unknown.

    The workers share the calls evenly. A call is expected to take its earlier time multiplied by the
    slowdown. The slowdown is the time of the finished calls divided by their earlier time. A twentieth of all
    earlier time is added to both sums, so that the slowdown starts from 1. If the earlier time is unknown, a
    call is expected to take the mean time of the finished calls. This mean is the workers' time so far
    divided by the number of finished calls.

    Parameters
    ----------
    before
        Seconds that each call took in an earlier session; None if unknown.
    measured
        Seconds of the calls done in this session, by index.
    elapsed
        Seconds since the start.
    workers
        How many calls run at once.

    Examples
    --------
    >>> seconds_left([None] * 10, {0: 2.0, 1: 3.0, 2: 1.0}, elapsed=3.0, workers=2)
    7.0
    >>> seconds_left([1.0, 1.0, 10.0], {}, elapsed=2.0, workers=2)
    4.0
    """
    spent, known = workers * elapsed, [then for then in before if then]
    ahead = [then for index, then in enumerate(before) if index not in measured]
    unknown = ahead.count(None)
    if unknown and len(measured) < _ENOUGH:
        return None
    both = [(now, before[index] or 0.0) for index, now in measured.items() if before[index]]
    prior = sum(known) / 20
    now, then = (prior + sum(column) for column in zip((0.0, 0.0), *both, strict=True))
    work = sum(seconds or 0.0 for seconds in ahead) * (now / then if then else 1.0)
    if unknown:
        work += unknown * spent / len(measured)
    else:
        work -= spent - sum(measured.values())  # minus the time spent on calls under way
    return max(0.0, work / workers)


def told_of(error: Exception) -> str:
    """Return the text of an error that must not end the other calls.

    The text has the class of the error if the toolkit did not raise it. With ``DP_AUDIT_TRACEBACK`` set,
    raise the error again.

    Examples
    --------
    >>> told_of(ValueError("no such table")), told_of(AuditError("too small"))
    ('ValueError: no such table', 'too small')
    """
    if os.environ.get("DP_AUDIT_TRACEBACK"):
        raise error
    if isinstance(error, CancelledError):
        return "the cluster gave it up"
    return str(error) if isinstance(error, AuditError) else f"{type(error).__name__}: {error}"
