"""The sampler that draws all runs of an audit."""

import contextlib
import functools
import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, Self, TypeVar

from audit.errors import InvalidValue, SubjectError
from audit.sampling.blocks import Block, Host, Task, block_sizes, parts_of
from audit.sampling.isolated.elsewhere import elsewhere
from audit.sampling.isolated.fresh import can_start, draw_anew
from audit.sampling.isolated.recipes import recipe_of
from audit.sampling.isolated.workers import Children, Here, Workers
from audit.sampling.recorded.runs import Probe, outputs_of
from audit.sampling.remake.holdings import keeps_data
from audit.sampling.remake.state import Pristine
from audit.sampling.seeds import RNG_CHECK, Path
from audit.sampling.shipping import Parcel
from audit.sampling.snapshots import MutatedInput
from audit.sampling.stateless import Questions
from audit.sampling.stopping import TimeIsOver, drawn
from audit.sampling.tally import Runs, Tally
from audit.sampling.wanted import refuse_lists
from audit.sampling.watch import can_watch
from audit.subject.subject import Subject
from audit.values.said import Says

_SILENCE: Final = 64  # after this many runs without an answer, check whether the subject stopped answering

T = TypeVar("T")


class Sampler(Tally):
    """Draws runs of a subject on pairs of databases.

    Parameters
    ----------
    subject
        The subject to run.
    seed
        The root of the seed tree.
    jobs
        The number of worker processes. The outputs do not depend on it.
    isolate
        Whether to run the subject in a child process, so that it cannot end the audit.
    run_time_limit
        The most seconds of one run.

    Attributes
    ----------
    copy_inputs
        Whether every run gets its own copy of the database (`with_copies`).
    loading
        How many seconds longer the first run took than later runs.
    honours_rng
        Whether the seed reproduces the runs, according to the first eight runs.

    Examples
    --------
    >>> from audit.subject.subject import adapt
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
        super().__init__()
        self.subject = subject
        self.seed = seed
        self.jobs = jobs
        self.isolate = isolate
        self.run_time_limit = run_time_limit
        self.copy_inputs = False
        self.loading = 0.0
        self.honours_rng = False
        self._workers: Workers | None = None
        self._host: Host | None = None
        self._parcel: Parcel | None = None
        self._steady: bool | None = None
        self._first_pair: tuple[Any, Any] = (None, None)
        self._questions = Questions(self._ask, self._task)
        self._planned: list[Task] = []
        self._broken_off = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the workers."""
        if isinstance(self._workers, Children):
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
        by_call: bool = False,
    ) -> Iterator[Runs]:
        """Yield `2·size` runs in blocks, each drawn when it is requested.

        Before the first draw, eight runs show whether the subject honours its generator.

        Parameters
        ----------
        left_db, right_db
            The two databases.
        size
            Half the number of runs.
        path
            The place in the seed tree. If the subject honours its generator, the same path gives the same
            runs.
        fresh
            Start every run from a copy of the subject in its first state. A subject that keeps no state, or
            cannot be copied, is not copied.
        coupled
            Start both runs of a pair from the same generator state, by single calls. Each pair has a new
            state. The two runs of a pair are then not independent.
        singly
            Call the subject run by run, even if it has its own sampler.
        by_call
            Decide the side of each run by a fair coin. Otherwise both sides have the same number of runs, and
            a coin for each pair decides which side is called first.

        Raises
        ------
        MutatedInput
            The mechanism changed its database (`with_copies` draws again).
        TimeIsOver
            Ctrl-C was pressed during the draw (`stopping`).
        SubjectError
            `convert` failed, or the subject's sampler returned the wrong number of outputs.
        InvalidValue
            The mechanism needs arrays or frames, not lists.

        Examples
        --------
        >>> from audit.subject.subject import adapt
        >>> sampler = Sampler(adapt(lambda database, rng: rng.random()), seed=0)
        >>> [len(runs.left) for runs in sampler.draw([1], [2], 20, (0,))], sampler.drawn
        ([10, 10], 48)
        """
        left, right = self.subject.prepare(left_db), self.subject.prepare(right_db)
        workers = self._ready(left, right)
        kept = self.state_suspected() if fresh else False
        if kept is None:
            self.note(Says.STATE_UNKNOWN())
        vectorised = self.subject.declared_sampler is not None and not coupled and not singly
        ways = {"fresh": kept is not False, "coupled": coupled, "by_call": by_call, "vectorised": vectorised}
        sizes = block_sizes(size, vectorised=vectorised and kept is False, weight=self.weight)
        self._planned = [
            self._task(left, right, count, (*path, index), **ways) for index, count in enumerate(sizes)
        ]
        blocks = self._unless_stopped(workers.map(self._planned, steady=bool(self._steady)))
        for task, block in zip(self._planned, blocks, strict=True):
            yield replace(self.account(block), typed=not vectorised, parts=parts_of(task, block))

    def probe(self, left_db: Any, right_db: Any, probes: Sequence[Probe], path: Path) -> list[Any]:
        """Return recorded runs, all from one generator state.

        Each is a `Run` or the reason why there is no output. They count as drawn runs.

        Examples
        --------
        >>> from audit.subject.subject import adapt
        >>> sampler = Sampler(adapt(lambda database, rng: database[0] + rng.laplace()), seed=0)
        >>> [run.draws[0].method for run in sampler.probe([1.0], [3.0], [(False, {})], (0,))]
        ['laplace']
        """
        left, right = self.subject.prepare(left_db), self.subject.prepare(right_db)
        task, workers = self._task(left, right, 1, (*path, 0), probes=tuple(probes)), self._ready(left, right)
        [block] = self._unless_stopped(workers.map([task], steady=bool(self._steady)))
        self.account(replace(block, left=outputs_of(block.left), right=outputs_of(block.right)))
        sides = iter(block.left), iter(block.right)
        return [next(sides[turned]) for turned, _ in probes]

    def _unless_stopped(self, blocks: Iterator[Block]) -> Iterator[Block]:
        """Yield blocks, and note if Ctrl-C interrupts one."""
        try:
            yield from drawn(blocks)
        except TimeIsOver:
            self._broken_off = True
            raise

    def with_copies(self, draw: Callable[[], T], again: Callable[[], T] | None = None) -> T:
        """Return `draw()`, or `again()` with copies if a run changed its database."""
        try:
            return draw()
        except MutatedInput:
            if self.copy_inputs:
                raise
            self.copy_inputs = True
            return (again or draw)()

    @property
    def last_sides(self) -> tuple[int, int]:
        """The numbers of left and right runs in the last draw.

        Examples
        --------
        >>> from audit.subject.subject import adapt
        >>> sampler = Sampler(adapt(len), seed=0)
        >>> [_, _] = sampler.draw([], [1], 20, (1, 0), by_call=True)
        >>> sum(sampler.last_sides)
        40
        """
        both = [part for task in self._planned for part in task.parts]
        return sum(left for left, _ in both), sum(right for _, right in both)

    def draw_anew(
        self, left_db: Any, right_db: Any, sizes: Sequence[int], path: Path, *, by_call: bool = True
    ) -> Iterator[Runs]:
        """Yield `2·size` runs for each of `sizes`, each from a new process.

        Parameters
        ----------
        left_db, right_db
            The two databases.
        sizes
            Half the number of runs in each process; 0 for a single run.
        path
            The place in the seed tree.
        by_call
            As in `draw`.

        Raises
        ------
        SubjectError
            The subject cannot be made anew (`recipe` is None), or making it in another process fails.
        """
        if self.recipe is None:
            raise SubjectError(
                f"`{self.subject.name}` cannot be recreated; give `fresh=`, a function that returns a new "
                "mechanism."
            )
        left, right = self.subject.prepare(left_db), self.subject.prepare(right_db)
        ways = {"by_call": by_call, "copy_inputs": True}
        tasks = [
            self._task(left, right, size or 1, (*path, index), alone=not size, **ways)
            for index, size in enumerate(sizes)
        ]
        try:
            for block in self._unless_stopped(draw_anew(self.recipe, tasks)):
                yield self.account(block)
        except (TypeError, AttributeError, pickle.PicklingError) as error:  # raised by its pickling
            raise SubjectError(f"A database cannot be sent to another process: {error}") from error

    @functools.cached_property
    def recipe(self) -> Parcel | None:
        """The instructions to make the subject anew, or None if that is impossible.

        Examples
        --------
        >>> from audit.subject.subject import adapt
        >>> Sampler(adapt(lambda database: len(database)), seed=0).recipe is None
        False
        """
        if not can_start():
            return None
        pristine = None if self._host is None else self._host.first()
        return recipe_of(self.subject.object, self.subject.calling, seed=self.seed, at_first=pristine)

    def is_stateless(self, left_db: Any, right_db: Any) -> bool:
        """Return whether a run depends only on its database and generator.

        Parameters
        ----------
        left_db, right_db
            The databases on which to check this.

        Examples
        --------
        >>> from audit.subject.subject import adapt
        >>> sampler = Sampler(adapt(lambda database, rng: len(database) + rng.random()), seed=0)
        >>> [_] = sampler.draw([1], [1, 2], 1, (0,))
        >>> sampler.is_stateless([1], [1, 2])
        True
        """
        if not self.honours_rng or self.state_kept() is not False:
            return False
        databases = [self.subject.prepare(left_db), self.subject.prepare(right_db)]
        if not self._questions.answered_alike(databases):
            return False
        if self.recipe is None or not keeps_data(self.subject.object):
            return True
        return self._questions.answered_alike_in(self.recipe, databases)

    def state_kept(self) -> bool | None:
        """Return whether the subject's state differs from its first state.

        If that is unknown, or once a draw was interrupted, return None.

        Examples
        --------
        >>> from audit.subject.subject import adapt
        >>> calls = []
        >>> sampler = Sampler(adapt(lambda database: calls.append(1)), seed=0)
        >>> [_] = sampler.draw([1], [2], 1, (0,))
        >>> sampler.state_kept()
        True
        """
        return None if self._broken_off else self._start().state_kept()

    def state_suspected(self) -> bool | None:
        """Return whether the subject keeps state, or None if unknown.

        Different outputs from the same generator state count as kept state.

        Examples
        --------
        >>> from audit.subject.subject import adapt
        >>> sampler = Sampler(adapt(lambda database, rng: rng.random()), seed=0)
        >>> [_] = sampler.draw([1], [2], 1, (0,))
        >>> sampler.state_suspected()
        False
        """
        kept = self.state_kept()
        return True if kept is False and self.subject.takes_rng and not self.honours_rng else kept

    def stopped_answering(self) -> bool:
        """Return whether the subject answered at first and does not answer now.

        If the second half of the runs has no answer, the subject is run again to confirm it.
        """
        silent = self.drawn - self.last_answer >= max(_SILENCE, self.drawn // 2)
        return silent and self._questions.refused_now()

    def _start(self) -> Workers:
        if self._workers is not None:
            return self._workers
        if self.isolate:
            if not hasattr(os, "posix_spawn"):
                raise InvalidValue("`isolate` needs a POSIX system; this is not one.")
            self._parcel = self._parcel or Parcel.of(self.subject, seed=self.seed)
            self._workers = Children(self._parcel, self.jobs, cluster=elsewhere(1))
            return self._workers
        if not can_watch():
            self.note(Says.NO_TIME_LIMIT())
        place = elsewhere(self.jobs)
        if self._host is None:
            mechanism = self.subject.object
            self._host = Host(mechanism, self.subject.calling, pristine=Pristine(mechanism))
            with contextlib.suppress(SubjectError):  # if this fails, the subject runs in this process
                self._parcel = None if place is None else Parcel.of(self.subject, seed=self.seed)
        self._workers = Here(self._host, self._parcel, place)
        return self._workers

    def _ready(self, left: Any, right: Any) -> Workers:
        """Return the workers, after a check whether they may share the runs."""
        workers = self._start()
        if self._steady is None:
            self._first_pair = left, right
            repeats, self.loading = self._questions.repeat(left)
            self.honours_rng = self.subject.takes_rng and repeats
            kept = workers.state_kept()
            if not self.subject.takes_rng:
                self.note(Says.NO_GENERATOR())
            elif not self.honours_rng:
                self.note(Says.UNSTEADY())
            self._steady = self.honours_rng and kept is not True
        return workers

    def _ask(self, task: Task) -> Block:
        [block] = self._start().map([task])
        if not self.drawn:
            refuse_lists(self.subject, self._first_pair, block, self._uncounted)
        self.account(block)
        return block

    def _uncounted(self, database: Any) -> Block:
        """Return two runs that no count includes."""
        [block] = self._start().map([self._task(database, database, 1, (RNG_CHECK, 0), copy_inputs=True)])
        return block

    def _task(self, left: Any, right: Any, size: int, path: Path, **ways: Any) -> Task:
        ways = {"copy_inputs": self.copy_inputs, **ways}
        limit = self.run_time_limit
        return Task(left=left, right=right, size=size, seed=self.seed, path=path, limit=limit, **ways)
