"""One block of runs, and the host that runs the subject."""

import functools
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from audit.errors import SubjectError
from audit.sampling.loops import call_each, coupled, kept, sample_pairs, shares, sides, states_of
from audit.sampling.recorded.runs import Probe, probing
from audit.sampling.remake.reseeding import Reseeding
from audit.sampling.remake.state import Pristine
from audit.sampling.seeds import COINS, RESTART, RUNS, Path, generator
from audit.sampling.snapshots import Input
from audit.sampling.watch import Watch
from audit.subject.signatures import Calling, refusal
from audit.subject.surroundings import quiet
from audit.values.said import Said, Says

Tick = Callable[[int], None]
LARGEST_BLOCK: Final = 2**18  # pairs of runs; a larger number gives fewer blocks, more memory
_HEAVIEST_BLOCK: Final = 2**27  # bytes of both sides; a larger number gives fewer blocks, more memory
_VECTORISED_BLOCK: Final = 2**16
#: A block has at most this many parts; a stake may change between two parts. With more parts, stakes adapt
#: more often.
_PARTS: Final = 8
_WORKERS: Final = 8
_SMALLEST_BLOCK: Final = 8


def block_sizes(size: int, *, vectorised: bool, weight: int = 0) -> list[int]:
    """Return the number of pairs of runs in each block of a draw.

    A draw by single calls is split into up to eight blocks, which workers share. A very large draw is split
    into more blocks.

    A vectorised sampler takes about as long for one run as for many. So only large draws are split. If the
    `weight` of an output in bytes is known, a block holds at most 128 MB.

    Examples
    --------
    >>> block_sizes(20, vectorised=False), block_sizes(20, vectorised=True), block_sizes(0, vectorised=True)
    ([10, 10], [20], [])
    >>> block_sizes(3, vectorised=False, weight=10**8)
    [1, 1, 1]
    """
    if vectorised:
        count = -(-size // _VECTORISED_BLOCK)
    else:
        count = max(min(_WORKERS, size // _SMALLEST_BLOCK), -(-size // LARGEST_BLOCK), min(size, 1))
    most = max(1, _HEAVIEST_BLOCK // (2 * max(1, weight)))
    count = max(count, -(-size // most))
    return [size * (i + 1) // count - size * i // count for i in range(count)]


@dataclass(frozen=True, kw_only=True)
class Task:
    """A block of runs to draw.

    Parameters
    ----------
    left, right
        The two databases, in the form that the mechanism takes.
    size
        Half the number of runs in the block.
    seed, path
        The seed and the place in the seed tree.
    fresh
        Whether every run has a fresh copy of the subject.
    copy_inputs
        Whether every run has a fresh copy of its database.
    vectorised
        Whether the subject's own sampler draws the runs.
    limit
        The most seconds that one run may take.
    coupled
        Whether the two runs of a pair start from the same generator state. Each pair has a new state.
    by_call
        Whether a coin decides the side of each run. Otherwise runs come in pairs, one run on each side.
    alone
        Whether the block is a single run, whose side a coin decides.
    probes
        If given, the block consists of these recorded runs, all from one generator state.
    start
        The number of the first run to draw. If a part of the block is already drawn, it is larger than 0.

    Examples
    --------
    >>> task = Task(left=[0], right=[1], size=2, seed=0, path=(1, 0))
    >>> sorted(task.order)
    [False, False, True, True]
    """

    left: Any
    right: Any
    size: int
    seed: int
    path: Path
    fresh: bool = False
    copy_inputs: bool = False
    vectorised: bool = False
    coupled: bool = False
    by_call: bool = False
    alone: bool = False
    limit: float = 10.0
    probes: tuple[Probe, ...] = ()
    start: int = 0

    @functools.cached_property
    def order(self) -> list[bool]:
        """Whether each run is on the right database, in call order."""
        if self.probes:
            return [turned for turned, _ in self.probes]
        return sides(self.size, self.coins, by_call=self.by_call)[: self.runs]

    @property
    def runs(self) -> int:
        """The number of runs."""
        return len(self.probes) or (1 if self.alone else 2 * self.size)

    @property
    def plan(self) -> list[tuple[int, int, bool]]:
        """The pairs of sampler calls of the block. Each is (left runs, right runs, right call first)."""
        return shares(self.size, self.coins, by_call=self.by_call)

    @property
    def parts(self) -> list[tuple[int, int]]:
        """The numbers of left and right runs in each part of the block."""
        if self.vectorised and not self.fresh:
            return [(left, right) for left, right, _ in self.plan]
        order, size = self.order, max(1, -(-self.runs // _PARTS))
        return [
            (len(part) - sum(part), sum(part))
            for part in (order[i : i + size] for i in range(0, self.runs, size))
        ]

    @property
    def coins(self) -> np.random.Generator:
        """The generator that decides the order of runs. The subject never sees it."""
        return generator(self.seed, (*self.path, COINS))

    @property
    def patience(self) -> float:
        """The most seconds without a finished run. A call for many runs gets a millisecond more per run."""
        return self.limit + self.size / 1000 if self.vectorised and not self.fresh else self.limit

    @property
    def rng(self) -> np.random.Generator:
        """The generator that the runs share."""
        return generator(self.seed, (*self.path, *((RESTART, self.start) if self.start else (RUNS,))))

    @property
    def inputs(self) -> list[Input]:
        """The left and the right `Input`, from which runs get their database."""
        every_run = self.copy_inputs or self.fresh
        return [Input(side, every_run=every_run) for side in (self.left, self.right)]

    def block(self, outputs: list[Any], *, printed: int, rest: int) -> "Block":
        """Return the block of these outputs, which come in call order."""
        sides: tuple[list[Any], list[Any]] = [], []
        for output, turned in zip(outputs, self.order, strict=True):
            sides[turned].append(output)
        return Block(left=sides[0], right=sides[1], printed=printed, rest=rest)


@dataclass(frozen=True, kw_only=True)
class Block:
    """The outputs of a drawn `Task`, with what else its runs showed.

    Parameters
    ----------
    left, right
        The outputs of the two sides.
    printed
        The number of characters that the mechanism printed.
    notes
        Notes on these runs, for readers of the result.
    rest
        The next number of the block's generator after the runs. It shows how far they advanced the generator.

    Examples
    --------
    >>> Block(left=[0], right=[1]).printed
    0
    """

    left: Any
    right: Any
    printed: int = 0
    notes: tuple[Said, ...] = ()
    rest: int = 0


class Host:
    """A subject in the process that runs it.

    Parameters
    ----------
    mechanism
        The user's object, or a copy of it.
    calling
        How the mechanism gets its generator.
    pristine
        The mechanism's state before its first run. Fresh copies and `state_kept` need it.

    Examples
    --------
    >>> host = Host(lambda database: len(database), Calling(takes_rng=False))
    >>> host.run(Task(left=[0], right=[0, 0], size=2, seed=0, path=(1, 0))).right
    [2, 2]
    """

    def __init__(self, mechanism: Any, calling: Calling, *, pristine: Pristine | None = None) -> None:
        self._mechanism = mechanism
        self._calling = calling
        self._call = calling.bind(mechanism)
        self._pristine = pristine
        self._copied = pristine if pristine is not None and pristine.copies else None

    def state_kept(self) -> bool | None:
        """Return whether the subject's state differs from its first state.

        If that is unknown, return None.
        """
        return None if self._pristine is None else self._pristine.differs_from(self._mechanism)

    def first(self) -> Any:
        """Return a copy of the subject in its first state.

        If the subject cannot be copied, return the subject itself.
        """
        return self._mechanism if self._copied is None else self._copied.copy(Reseeding(0, ()))

    def run(self, task: Task, *, on_tick: Tick | None = None) -> Block:
        """Return the drawn block.

        Meanwhile, `on_tick` gets the number of finished runs now and then.

        Raises
        ------
        MutatedInput
            The mechanism changed its database, which all runs of the task share.
        SubjectError
            The subject's own sampler returned the wrong number of outputs, or an output can be read only
            once.
        """
        if task.fresh and self._copied is None:
            task = replace(task, fresh=False)
        if task.vectorised and not task.fresh:
            sampled = self._sampled(task, on_tick)
            if isinstance(sampled, Block):
                return sampled
            called = self.run(replace(task, vectorised=False), on_tick=on_tick)
            return replace(called, notes=(*called.notes, sampled))
        outputs: list[Any] = []
        printed, rest = self.call_each(task, outputs, on_tick=on_tick)
        refuse_what_is_spent(outputs)
        return task.block(outputs, printed=printed, rest=rest)

    def call_each(self, task: Task, outputs: list[Any], *, on_tick: Tick | None = None) -> tuple[int, int]:
        """Append each run's outcome to `outputs`, in call order. Return `printed` and `rest` of `Block`."""
        inputs, rng, order = task.inputs, task.rng, task.order[task.start :]
        if all(given.constant for given in inputs):
            pair = [given() for given in inputs]
            databases = iter([pair[turned] for turned in order])
        else:
            databases = (inputs[turned]() for turned in order)
        call = self._fresh_call(task) or self._call
        if task.coupled:
            call = coupled(call, task.rng, start=task.start)
        if task.probes:  # even if only a part is drawn again, the runs start from the same state
            call = probing(call, next(states_of(replace(task, start=0).rng)), task.probes[task.start :])
        with quiet() as printed:
            call_each(call, databases, rng, outputs=outputs, limit=task.limit, on_tick=on_tick)
        for given in inputs:
            given.check()
        return printed.count, int(rng.integers(2**63))

    def _fresh_call(self, task: Task) -> Callable[[Any, Any], Any] | None:
        """Return a function that runs a new copy of the subject each time, or None."""
        pristine, calling, runs = self._copied, self._calling, iter(range(task.start, task.runs))
        if not task.fresh or pristine is None:
            return None

        def call(database: Any, rng: Any) -> Any:
            copy = pristine.copy(Reseeding(task.seed, (*task.path, next(runs))))
            if task.vectorised:
                return kept(copy.sample(database, 1, rng), 1)[0]
            return calling.bind(copy)(database, rng)

        return call

    def _sampled(self, task: Task, on_tick: Tick | None) -> Block | Said:
        """Return the block drawn by the subject's own sampler, or why it failed."""
        inputs, rng = task.inputs, task.rng
        try:
            with quiet() as printed, Watch(task.patience, lambda: 0, on_tick=on_tick) as watch:
                left, right = sample_pairs(self._mechanism.sample, inputs, task.plan, rng=rng)
        except (KeyboardInterrupt, SubjectError):
            raise
        except BaseException as error:
            if error is watch.outer_error:
                raise
            return Says.SAMPLE_FAILED(error=type(error).__name__)
        for given in inputs:
            given.check()
        return Block(left=left, right=right, printed=printed.count, rest=int(rng.integers(2**63)))


def refuse_what_is_spent(outputs: list[Any]) -> None:
    """Raise an error if an output can be read only once.

    Iterators and coroutines are such outputs. No audit can examine them.

    Examples
    --------
    >>> refuse_what_is_spent([1.5, iter([1.5])])
    Traceback (most recent call last):
    audit.errors.SubjectError: The mechanism returns a list_iterator, whose contents ...
    """
    for kind, output in {type(output): output for output in outputs}.items():
        if issubclass(kind, Coroutine) or (issubclass(kind, Iterator) and iter(output) is output):
            how = "asyncio.run" if issubclass(kind, Coroutine) else "list"
            said = f"The mechanism returns a {kind.__name__}, whose contents an audit cannot read."
            raise refusal(said, write=f"lambda database, rng: {how}(f(database, rng))")


def parts_of(task: Task, block: Block) -> list[tuple[int, int]]:
    """Return the numbers of left and right runs in each part of a block.

    If the subject's own sampler failed, these are the parts of a block drawn by single calls.
    """
    parts = task.parts
    whole = tuple(map(sum, zip(*parts, strict=True)))
    return parts if whole == (len(block.left), len(block.right)) else replace(task, vectorised=False).parts
