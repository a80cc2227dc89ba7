"""The one seam through which runs are drawn."""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Final, Self

from audit.canonical import same
from audit.errors import InvalidValue, SubjectError
from audit.outcomes import Raised, Unfinished
from audit.sampling.blocks import Block, Host, Task
from audit.sampling.plan import block_sizes
from audit.sampling.seeds import RNG_CHECK, Path
from audit.sampling.shipping import Parcel
from audit.sampling.state import Pristine
from audit.sampling.variety import Variety
from audit.sampling.watch import can_watch
from audit.sampling.workers import Children, Here, Processes, Workers
from audit.subjects import Subject
from audit.weights import weigh_all

__all__ = ["Runs", "Sampler"]

_CHECKS: Final = 2  # pairs of runs, drawn twice
_UNSEEDED: Final = "the seed does not reproduce its runs, and one process draws them all"


@dataclass(frozen=True)
class Runs:
    """Outputs of a block of pairs.

    Parameters
    ----------
    left, right
        The outputs on the two databases, the i-th of each from the i-th pair of runs: a list, or one array of
        shape (n,) or (n, d) when the subject's own sampler returned arrays.
    typed
        Whether the type of every output is its own, and not that of many drawn in one call.

    Examples
    --------
    >>> len(Runs([1, 2], [3, 4]))
    2
    """

    left: Any
    right: Any
    typed: bool = True

    def __len__(self) -> int:
        return len(self.left)


class Sampler:
    """Draws runs of a subject on pairs of databases.

    Parameters
    ----------
    subject
        What is run.
    seed
        Root of the seed tree.
    jobs
        Worker processes; what is drawn does not depend on it.
    isolate
        Run the subject in a child process, so that nothing it does ends the audit.
    run_time_limit
        Seconds that one run may take.

    Attributes
    ----------
    copy_inputs
        Set it to give every run a database of its own, after `MutatedInput`.
    drawn
        Runs in the blocks given out so far, both sides.
    unfinished
        How many of them have no output.
    raised
        How many of them raised.
    printed
        Characters that the mechanism printed in them.
    variety
        Whether their outputs vary.
    notes
        What the reader of a result should know.

    Examples
    --------
    >>> from audit.subjects import adapt
    >>> with Sampler(adapt(lambda database: len(database)), seed=0) as sampler:
    ...     [runs] = sampler.draw([1], [1, 2], 3, (0,))
    >>> runs.left, runs.right
    ([1, 1, 1], [2, 2, 2])
    """

    def __init__(
        self,
        subject: Subject,
        *,
        seed: int,
        jobs: int = 1,
        isolate: bool = False,
        run_time_limit: float = 10.0,
    ) -> None:
        self.subject = subject
        self.seed = seed
        self.jobs = jobs
        self.isolate = isolate
        self.run_time_limit = run_time_limit
        self.copy_inputs = False
        self.drawn = 0
        self.unfinished = 0
        self.raised = 0
        self.printed = 0
        self.variety = Variety()
        self.notes: list[str] = []
        self._workers: Workers | None = None
        self._host: Host | None = None
        self._parcel: Parcel | None = None
        self._steady: bool | None = None
        self._honours = False
        self._weight = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the workers. A later draw starts with new ones."""
        if self._workers is not None:
            self._workers.close()
        self._workers = None

    def draw(
        self,
        left_db: Any,
        right_db: Any,
        size: int,
        path: Path,
        *,
        fresh: bool = False,
        coupled: bool = False,
        singly: bool = False,
    ) -> Iterator[Runs]:
        """Yield `size` pairs of runs in blocks, each drawn when it is asked for.

        The first draw is preceded by eight runs that tell whether the subject honours its generator.

        Parameters
        ----------
        left_db, right_db
            The two databases.
        size
            Number of pairs.
        path
            Place in the seed tree; the same path gives the same runs of a subject that honours its generator.
        fresh
            Start every run from a copy of the subject as it was before its first run. A subject that keeps no
            state, or that cannot be copied (`state_kept()` is None), is run as it is.
        coupled
            Start both runs of a pair from one generator state, new for that pair, by single calls: to steer
            the search only, for such pairs are not independent.
        singly
            Call the subject run by run, even if it has a sampler of its own.

        Raises
        ------
        MutatedInput
            The mechanism changed its database; set `copy_inputs` and draw again.
        SubjectError
            `convert` failed, or the subject's sampler returned another length than asked for.

        Examples
        --------
        >>> from audit.subjects import adapt
        >>> sampler = Sampler(adapt(lambda database, rng: rng.random()), seed=0)
        >>> [len(runs) for runs in sampler.draw([1], [2], 20, (0,))], sampler.drawn
        ([10, 10], 48)
        """
        left, right = self.subject.prepare(left_db), self.subject.prepare(right_db)
        workers = self._ready(left)
        kept = self.state_suspected() if fresh else False
        if kept is None:
            self._note(
                "Whether the subject keeps state cannot be told: it cannot be pickled with all it uses."
            )
        vectorised = self.subject.declared_sampler is not None and not coupled and not singly
        task = self._task(left, right, size, path, fresh=kept is not False)
        sizes = block_sizes(size, vectorised=vectorised and kept is False, weight=self._weight)
        tasks = [
            replace(task, size=count, path=(*path, index), vectorised=vectorised, coupled=coupled)
            for index, count in enumerate(sizes)
        ]
        for block in workers.map(tasks, steady=bool(self._steady)):
            yield replace(self._account(block), typed=not vectorised)

    def state_kept(self) -> bool | None:
        """Tell whether the subject's state is another than at first; None when that cannot be told.

        Examples
        --------
        >>> from audit.subjects import adapt
        >>> calls = []
        >>> sampler = Sampler(adapt(lambda database: calls.append(1)), seed=0)
        >>> [_] = sampler.draw([1], [2], 1, (0,))
        >>> sampler.state_kept()
        True
        """
        return self._start().state_kept()

    def state_suspected(self) -> bool | None:
        """Tell whether the subject keeps state, or does not say the same twice from one generator state.

        Examples
        --------
        >>> from audit.subjects import adapt
        >>> sampler = Sampler(adapt(lambda database, rng: rng.random()), seed=0)
        >>> [_] = sampler.draw([1], [2], 1, (0,))
        >>> sampler.state_suspected()
        False
        """
        kept = self.state_kept()
        return True if kept is False and self.subject.takes_rng and not self._honours else kept

    @property
    def honours_rng(self) -> bool:
        """Whether the runs can be drawn again from the seed, as far as the first eight tell.

        Examples
        --------
        >>> from audit.subjects import adapt
        >>> sampler = Sampler(adapt(lambda database: 0), seed=0)
        >>> [_] = sampler.draw([1], [2], 1, (0,))
        >>> sampler.honours_rng
        False
        """
        return bool(self._honours)

    def _start(self) -> Workers:
        if self._workers is None:
            if not self.isolate and not can_watch():
                self._note("Runs were not limited in time: that needs the main thread, or isolate=True.")
            self._workers = self._isolated() if self.isolate else self._in_process()
        return self._workers

    def _isolated(self) -> Workers:
        if not hasattr(os, "fork"):
            raise InvalidValue(
                "`isolate` needs a system that can fork processes; got True on one that cannot."
            )
        if self._parcel is None:
            self._parcel = Parcel.of(self.subject, seed=self.seed)
        return Children(self._parcel, self.jobs)

    def _in_process(self) -> Workers:
        if self._host is None:
            mechanism = self.subject.object
            self._host = Host(mechanism, self.subject.calling, pristine=Pristine(mechanism))
            with contextlib.suppress(SubjectError):  # it stays here then
                self._parcel = Parcel.of(self.subject, seed=self.seed) if self.jobs > 1 else None
        if self._parcel is None:
            return Here(self._host)
        return Processes(self._host, self._parcel, self.jobs)

    def _ready(self, database: Any) -> Workers:
        """Return the workers once it is known whether the subject may be shared among them."""
        workers = self._start()
        if self._steady is None:
            self._honours = self.subject.takes_rng and self._repeats(workers, database)
            kept = workers.state_kept()
            if not self.subject.takes_rng:
                self._note(f"The subject takes no generator: {_UNSEEDED}.")
            elif not self._honours:
                self._note(f"The subject answers differently to the same generator state: {_UNSEEDED}.")
            self._steady = self._honours and kept is not True
        return workers

    def _repeats(self, workers: Workers, database: Any) -> bool:
        """Tell whether runs drawn twice from the same generator state come out the same."""
        for index in range(_CHECKS):
            task = self._task(database, database, 1, (RNG_CHECK, index), fresh=False)
            blocks = workers.map([task, task])
            once = next(blocks)
            self._account(once)
            if self.unfinished:
                break  # it may take long to say no more
            again = next(blocks)
            self._account(again)
            if once.rest != again.rest or not same(
                [list(once.left), list(once.right)], [list(again.left), list(again.right)]
            ):
                return False
        return True

    def _task(self, left: Any, right: Any, size: int, path: Path, *, fresh: bool) -> Task:
        return Task(
            left=left,
            right=right,
            size=size,
            seed=self.seed,
            path=path,
            fresh=fresh,
            copy_inputs=self.copy_inputs,
            vectorised=self.subject.declared_sampler is not None,
            limit=self.run_time_limit,
        )

    def _account(self, block: Block) -> Runs:
        self.drawn += 2 * len(block.left)
        for side in (block.left, block.right):
            self.variety.look(side)
            self._weight = max(self._weight, weigh_all(side) // max(1, len(side)))
            if isinstance(side, list):
                kinds = [type(output) for output in side]
                self.unfinished += kinds.count(Unfinished)
                self.raised += kinds.count(Raised)
        self.printed += block.printed
        for note in block.notes:
            self._note(note)
        if block.printed:
            self._note("The mechanism prints; what it printed was swallowed.")
        return Runs(block.left, block.right)

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)
