"""The progress events of an audit, and their display on a terminal."""

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress

MEASURED = 5.0  # no duration is shown before this many seconds; a larger number gives better estimates
LONG = 60.0  # seconds; an audit that may take longer announces it


@dataclass(frozen=True)
class AuditStarted:
    """Event that an audit begins. `budget` is in runs, `time_limit` in seconds.

    Examples
    --------
    >>> AuditStarted("laplace", budget=200_000, time_limit=None).budget
    200000
    """

    subject: str
    budget: int
    time_limit: float | None


@dataclass(frozen=True)
class AuditProgressed:
    """Event that some runs were drawn. If `log_wealth` reaches `log_limit`, the claim is refuted.

    Examples
    --------
    >>> AuditProgressed("laplace", 20, 200_000, log_wealth=0.0, log_limit=13.8, stage="explore").runs
    20
    """

    subject: str
    runs: int
    budget: int
    log_wealth: float
    log_limit: float
    stage: str


@dataclass(frozen=True)
class AuditFinished:
    """Event that an audit ended with this result.

    Examples
    --------
    >>> AuditFinished(result=None).result is None
    True
    """

    result: Any


@dataclass(frozen=True)
class Counted:
    """Event that some of several audits are finished.

    `done` of `of` are finished, and `seconds` are left. `what` is the word for what is counted, such as
    "audits".

    Examples
    --------
    >>> print(Counted(3, 12, "audits", 200.0))
    3 of 12 audits, about 3 minutes left
    >>> print(Counted(0, 2, "findings", None))
    0 of 2 findings
    """

    done: int
    of: int
    what: str
    seconds: float | None

    def __str__(self) -> str:
        left = "" if self.seconds is None else f", about {duration(self.seconds)} left"
        return f"{self.done} of {self.of} {self.what}{left}"


Event = AuditStarted | AuditProgressed | AuditFinished | Counted
Listener = Callable[[Event], None]


class Pace:
    """The speed of an audit, measured over the later half of its time so far.

    The first runs are slower, because they start processes, compile, and come in small batches. `limit` is
    the time limit of the audit in seconds.

    Examples
    --------
    >>> pace = Pace()
    >>> for seconds, runs in ((1.0, 20), (4.0, 400), (8.0, 1_200)):
    ...     pace.note(runs, elapsed=seconds)
    >>> pace.seconds_left(3_200)
    10.0
    """

    def __init__(self, limit: float | None = None) -> None:
        self._limit = limit
        self._marks: list[tuple[float, int]] = []

    def note(self, runs: int, *, elapsed: float) -> None:
        """Record how many runs were drawn in the first `elapsed` seconds."""
        self._marks.append((elapsed, runs))
        while len(self._marks) > 2 and 2 * self._marks[1][0] <= elapsed:
            del self._marks[0]

    def seconds_left(self, budget: int) -> float | None:
        """Return the most seconds that the rest of the budget can take.

        Before `MEASURED` seconds, return None. An audit that refutes may end earlier.
        """
        (began, before), (now, runs) = self._marks[0], self._marks[-1]
        if now < MEASURED or runs <= before:
            return None
        left = (now - began) / (runs - before) * max(budget - runs, 0)
        return left if self._limit is None else min(left, max(self._limit - now, 0.0))


def duration(seconds: float) -> str:
    """Return a rough duration in words.

    Examples
    --------
    >>> duration(42.0), duration(80.0), duration(9_000.0)
    ('40 seconds', '1 minute', '2 hours')
    """
    if seconds < 55:
        return f"{max(5, 5 * round(seconds / 5))} seconds"
    minutes = round(seconds / 60)
    return f"{minutes} minute{'s' if minutes > 1 else ''}" if minutes < 120 else f"{minutes / 60:.0f} hours"


@contextmanager
def terminal_progress() -> Iterator[Listener | None]:
    """Yield a listener that shows progress on stderr. If stderr is not a terminal, yield None.

    Examples
    --------
    >>> with terminal_progress() as listener:
    ...     callable(listener) or listener is None
    True
    """
    if not sys.stderr.isatty():
        yield None
        return
    renderer = _Renderer(_bar)
    try:
        yield renderer
    finally:
        renderer.close()


def _bar() -> "Progress":
    from rich.console import Console  # only a terminal needs it
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} runs", markup=False),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,  # rich would send stdout to stderr, but results belong on stdout
        redirect_stderr=False,
    )


class _Renderer:
    """Shows a bar for the running audit.

    If several audits run at once, it shows the number of finished audits.
    """

    def __init__(self, make_bar: Callable[[], "Progress"]) -> None:
        self._make_bar = make_bar
        self._bar: Progress | None = None
        self._pace = Pace()
        self._told = False
        self._count = ""
        self._shown = ""

    def __call__(self, event: Event) -> None:
        if isinstance(event, AuditStarted):
            self._start(event)
        elif isinstance(event, AuditProgressed):
            self._advance(event)
        elif isinstance(event, Counted):
            self._count = str(event)
            self._draw(self._count)
        else:
            self.close()

    def close(self) -> None:
        """Remove everything drawn."""
        self._draw("")
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _draw(self, text: str) -> None:
        """Replace the last line of text."""
        if text != self._shown:
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(f"\r\x1b[K{text[:width]}")
            sys.stderr.flush()
            self._shown = text

    def _start(self, event: AuditStarted) -> None:
        self.close()  # the last audit may have ended without a result
        self._bar = self._make_bar()
        self._bar.add_task(event.subject, total=event.budget)
        self._bar.start()
        self._pace, self._told = Pace(event.time_limit), False

    def _advance(self, event: AuditProgressed) -> None:
        if self._bar is None:
            return
        task = self._bar.tasks[0]
        elapsed = task.elapsed or 0.0
        self._pace.note(event.runs, elapsed=elapsed)
        left = self._pace.seconds_left(event.budget)
        share = max(0.0, min(1.0, event.log_wealth / event.log_limit)) if event.log_limit > 0 else 0.0
        words = f"{event.subject} · {event.stage} · evidence {share:.0%}"
        rest = "" if left is None else f"at most {duration(left)} left"
        words = " · ".join(filter(None, (self._count, words, rest)))
        self._bar.update(task.id, completed=event.runs, total=event.budget, description=words)
        if left is not None and not self._told:
            self._told = True
            if elapsed + left > LONG:
                self._bar.console.print(_notice(event, elapsed + left), markup=False, highlight=False)


def _notice(event: AuditProgressed, seconds: float) -> str:
    most = f"{duration(seconds)} for {event.budget:,} runs"
    return f"{event.subject}: up to about {most} (see --budget and --time-limit)"
