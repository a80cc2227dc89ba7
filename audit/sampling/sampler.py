"""The one seam through which runs are drawn."""

import contextlib
import functools
import os
import pickle
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Final, Self

from audit.canonical import same
from audit.errors import InvalidValue, SubjectError
from audit.outcomes import Raised, Unfinished, is_refusal
from audit.sampling.blocks import Block, Host, Task
from audit.sampling.fresh import can_start, draw_anew
from audit.sampling.plan import block_sizes
from audit.sampling.recipes import Recipe, keeps_data, recipe_of
from audit.sampling.seeds import RNG_CHECK, Path
from audit.sampling.shipping import Parcel
from audit.sampling.state import Pristine
from audit.sampling.watch import can_watch
from audit.sampling.workers import Children, Here, Processes, Workers
from audit.subjects import Subject

__all__ = ["Runs", "Sampler"]

_CHECKS: Final = 2  # pairs of runs, drawn twice
_SILENCE: Final = 64  # runs without an answer, before it is asked whether there are any more
_LONG_CHECK: Final = 16  # pairs of runs, before it is said that the generator makes no difference
_UNSEEDED: Final = "the seed does not reproduce its runs, and one process draws them all"


@dataclass(frozen=True)
class Runs:
    """Outputs of a block of runs.

    Parameters
    ----------
    left, right
        The outputs on the two databases, each in the order of the calls: a list, or one array of shape (n,)
        or (n, d) when the subject's own sampler returned arrays. Of pairs of runs the i-th of each belong
        together; of runs with a coin each, one side may have more than the other.

    Examples
    --------
    >>> Runs([1, 2], [3]).right
    [3]
    """

    left: Any
    right: Any


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
    loading
        Seconds that the first run took longer than the next: it compiles, or loads something.
    last_answer
        Which of the runs was the last to give an answer: neither None nor an exception.
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
        self.loading = 0.0
        self.last_answer = 0
        self.notes: list[str] = []
        self._workers: Workers | None = None
        self._host: Host | None = None
        self._parcel: Parcel | None = None
        self._steady: bool | None = None
        self._honours = False
        self._first: tuple[Any, _Answers] | None = None

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
        by_call: bool = False,
    ) -> Iterator[Runs]:
        """Yield `2·size` runs in blocks, each drawn when it is asked for.

        The first draw is preceded by eight runs that tell whether the subject honours its generator.

        Parameters
        ----------
        left_db, right_db
            The two databases.
        size
            Half the number of runs.
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
        by_call
            Let each run draw its side by a fair coin of its own; else there are as many runs of either side,
            and a coin decides for each pair which is first.

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
        >>> [len(runs.left) for runs in sampler.draw([1], [2], 20, (0,))], sampler.drawn
        ([10, 10], 48)
        """
        ways = {"fresh": fresh, "coupled": coupled, "singly": singly, "by_call": by_call}
        left, right = self.subject.prepare(left_db), self.subject.prepare(right_db)
        workers = self._ready(left)
        for block in workers.map(self._tasks(left, right, size, path, **ways), steady=bool(self._steady)):
            yield self._account(block)

    def of_either_side(self, size: int, path: Path, *, singly: bool = False) -> tuple[int, int]:
        """Return how many of `2·size` runs with a coin each are of the left side, and how many of the right.

        Examples
        --------
        >>> from audit.subjects import adapt
        >>> sum(Sampler(adapt(len), seed=0).of_either_side(20, (1, 0)))
        40
        """
        tasks = self._tasks(None, None, size, path, singly=singly, by_call=True)
        both = [task.of_either_side for task in tasks]
        return sum(left for left, _ in both), sum(right for _, right in both)

    def draw_anew(
        self, left_db: Any, right_db: Any, sizes: Sequence[int], path: Path, *, by_call: bool = True
    ) -> Iterator[Runs]:
        """Yield `2·size` runs for each of `sizes`, each from a fresh process that makes the subject anew.

        Parameters
        ----------
        left_db, right_db
            The two databases.
        sizes
            Half the number of runs of each process; 0 for a single run.
        path
            Place in the seed tree.
        by_call
            As for `draw`.

        Raises
        ------
        SubjectError
            The subject cannot be made anew (`recipe` is None), or not in another process.
        """
        if self.recipe is None:
            raise SubjectError(
                f"`{self.subject.name}` cannot be made anew: give `fresh=`, a function that does."
            )
        left, right = self.subject.prepare(left_db), self.subject.prepare(right_db)
        task = replace(self._task(left, right, 0, path, fresh=False), vectorised=False, by_call=by_call)
        tasks = [
            replace(task, size=size or 1, alone=not size, path=(*path, index))
            for index, size in enumerate(sizes)
        ]
        try:
            for block in draw_anew(self.recipe, tasks):
                yield self._account(block)
        except (
            TypeError,
            AttributeError,
            pickle.PicklingError,
        ) as error:  # what a database may say to a pickler
            raise SubjectError(f"A database cannot be sent to another process: {error}") from error

    @functools.cached_property
    def recipe(self) -> Recipe | None:
        """How the subject is made anew in a fresh process; None where it cannot be.

        Examples
        --------
        >>> from audit.subjects import adapt
        >>> Sampler(adapt(lambda database: len(database)), seed=0).recipe is None
        False
        """
        if not can_start():
            return None
        pristine = None if self._host is None else self._host.first()
        return recipe_of(self.subject.object, self.subject.calling, at_first=pristine)

    def is_stateless(self, left_db: Any, right_db: Any) -> bool:
        """Whether runs depend on the generator that they are given and on nothing else.

        It answers alike to the same generator state and differently to different ones, now as before the
        first run, on the same object, on a copy of how it was at first and, where data was made with it, in
        a fresh process; and its pickled form is what it was.

        Parameters
        ----------
        left_db, right_db
            Databases that it is asked on.

        Examples
        --------
        >>> from audit.subjects import adapt
        >>> sampler = Sampler(adapt(lambda database, rng: len(database) + rng.random()), seed=0)
        >>> [_] = sampler.draw([1], [1, 2], 1, (0,))
        >>> sampler.is_stateless([1], [1, 2])
        True
        """
        if not self._honours or self.state_kept() is not False or self._first is None:
            return False
        workers = self._start()
        first, then = self._first
        asked = [first, *map(self.subject.prepare, (left_db, right_db))]
        for fresh in (False, True):
            if not self._answers(workers, first, fresh=fresh).are(then):
                return False
        here = [self._answers(workers, database) for database in asked[1:]]
        copied = [self._answers(workers, database, fresh=True) for database in asked[1:]]
        if not all(a.are(b) for a, b in zip(here, copied, strict=True)):
            return False
        return self._varies(workers, asked[1:], here) and self._alike_elsewhere(asked[1:], here)

    def _varies(self, workers: Workers, databases: list[Any], answers: "list[_Answers]") -> bool:
        """Whether different generator states give different outputs on one of the databases."""
        if any(each.vary for each in answers):
            return True
        left, right = databases
        task = self._task(left, right, _LONG_CHECK, (RNG_CHECK, _CHECKS), fresh=False)
        [block] = workers.map([replace(task, vectorised=False)])
        runs = self._account(block)
        return any(not same(side[0], output) for side in (runs.left, runs.right) for output in side)

    def _alike_elsewhere(self, databases: list[Any], answers: "list[_Answers]") -> bool:
        """Whether a fresh process answers as this one does; True where none can be had or none is needed."""
        if self.recipe is None or not keeps_data(self.subject.object):
            return True
        for database, here in zip(databases, answers, strict=True):
            try:
                there = _Answers(list(draw_anew(self.recipe, self._checks(database))))
            except Exception:  # noqa: BLE001  whatever keeps it from being made there says nothing of its state
                return True
            if not there.are(here):
                return False
        return True

    def _tasks(
        self,
        left: Any,
        right: Any,
        size: int,
        path: Path,
        *,
        fresh: bool = False,
        coupled: bool = False,
        singly: bool = False,
        by_call: bool = False,
    ) -> list[Task]:
        """Return the blocks of a draw."""
        kept = self.state_suspected() if fresh else False
        if kept is None:
            self._note(
                "Whether the subject keeps state cannot be told: it cannot be pickled with all it uses."
            )
        vectorised = self.subject.declared_sampler is not None and not coupled and not singly
        task = self._task(left, right, size, path, fresh=kept is not False)
        ways = {"vectorised": vectorised, "coupled": coupled, "by_call": by_call}
        return [
            replace(task, size=count, path=(*path, index), **ways)
            for index, count in enumerate(block_sizes(size, vectorised=vectorised and kept is False))
        ]

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

    def stopped_answering(self) -> bool:
        """Whether the last half of the runs has no answer, not even where the subject first gave one."""
        if self._first is None or self.drawn - self.last_answer < max(_SILENCE, self.drawn // 2):
            return False
        database, answers = self._first
        return not answers.refused and self._answers(self._start(), database).refused

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
            repeats = self._repeats(workers, database)
            self._honours = self.subject.takes_rng and repeats
            kept = workers.state_kept()
            if not self.subject.takes_rng:
                self._note(f"The subject takes no generator: {_UNSEEDED}.")
            elif not self._honours:
                self._note(f"The subject answers differently to the same generator state: {_UNSEEDED}.")
            self._steady = self._honours and kept is not True
        return workers

    def _repeats(self, workers: Workers, database: Any) -> bool:
        """Tell whether runs drawn twice from the same generator state come out the same."""
        before = self.unfinished
        once = self._answers(workers, database)
        self._first = (database, once)
        self.loading = max(0.0, once.seconds[0] - once.seconds[-1])
        if self.unfinished > before:
            return True  # it may take long to say no more
        return once.are(self._answers(workers, database))

    def _answers(self, workers: Workers, database: Any, *, fresh: bool = False) -> "_Answers":
        """Draw the runs that are compared with what they are elsewhere, or at another time."""
        answers = _Answers()
        for task in self._checks(database, fresh=fresh):
            start = time.monotonic()
            [block] = workers.map([task])
            answers.seconds.append(time.monotonic() - start)
            answers.blocks.append(block)
            self._account(block)
            if any(type(output) is Unfinished for output in (*block.left, *block.right)):
                break
        return answers

    def _checks(self, database: Any, *, fresh: bool = False) -> list[Task]:
        task = self._task(database, database, 1, (RNG_CHECK,), fresh=fresh)
        return [replace(task, path=(RNG_CHECK, index)) for index in range(_CHECKS)]

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
        self.drawn += len(block.left) + len(block.right)
        for side in (block.left, block.right):
            refused = 0
            if isinstance(side, list):
                kinds = [type(output) for output in side]
                self.unfinished += kinds.count(Unfinished)
                self.raised += kinds.count(Raised)
                refused = kinds.count(Raised) + kinds.count(type(None)) + kinds.count(Unfinished)
            if refused < len(side):
                self.last_answer = self.drawn
        self.printed += block.printed
        for note in block.notes:
            self._note(note)
        if block.printed:
            self._note("The mechanism prints; what it printed was swallowed.")
        return Runs(block.left, block.right)

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)


@dataclass
class _Answers:
    """What a subject answered to a few generator states."""

    blocks: list[Block] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    @property
    def refused(self) -> bool:
        """Whether none was an answer."""
        return all(map(is_refusal, self.outputs))

    @property
    def outputs(self) -> list[Any]:
        """All outputs."""
        return [output for block in self.blocks for side in (block.left, block.right) for output in side]

    def are(self, others: "_Answers") -> bool:
        """Whether these are the others' answers, and the generators were used alike."""
        return len(self.blocks) == len(others.blocks) and all(
            mine.rest == theirs.rest
            and same([list(mine.left), list(mine.right)], [list(theirs.left), list(theirs.right)])
            for mine, theirs in zip(self.blocks, others.blocks, strict=True)
        )

    @property
    def vary(self) -> bool:
        """Whether different generator states had different answers."""
        outputs = self.outputs
        return any(not same(outputs[0], output) for output in outputs)
