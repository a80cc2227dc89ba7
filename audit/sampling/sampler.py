"""The one seam through which runs are drawn."""

from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self


from audit.sampling.loops import call_each, in_pairs, ordered, schedule
from audit.sampling.plan import block_sizes
from audit.sampling.seeds import COINS, RUNS, Path, generator
from audit.sampling.vectorised import sample_pairs
from audit.subjects import Subject

__all__ = ["Runs", "Sampler"]


@dataclass(frozen=True)
class Runs:
    """Outputs of a block of pairs.

    Parameters
    ----------
    left, right
        The outputs on the two databases, the i-th of each from the i-th pair of runs: a list, or one array of shape
        (n,) or (n, d) when the subject's own sampler returned arrays.

    Examples
    --------
    >>> len(Runs([1, 2], [3, 4]))
    2
    """

    left: Any
    right: Any

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
        Worker processes.
    isolate
        Run the subject in a child process.
    run_time_limit
        Seconds that one run may take.

    Examples
    --------
    >>> from audit.subjects import adapt
    >>> with Sampler(adapt(lambda database, rng: len(database)), seed=0) as sampler:
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
        self.notes: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the workers."""

    def draw(
        self, left_db: Any, right_db: Any, size: int, path: Path, *, fresh: bool = False
    ) -> Iterator[Runs]:
        """Yield `size` pairs of runs in blocks, each drawn when it is asked for."""
        del fresh
        left, right = self.subject.prepare(left_db), self.subject.prepare(right_db)
        sizes = block_sizes(size, vectorised=self.subject.declared_sampler is not None)
        for index, count in enumerate(sizes):
            runs = self._block(left, right, count, (*path, index))
            self.drawn += 2 * count
            yield runs

    def state_kept(self) -> bool | None:
        """Tell whether the subject keeps state; None when that cannot be told."""
        return None

    def _block(self, left: Any, right: Any, size: int, path: Path) -> Runs:
        coins, rng = generator(self.seed, (*path, COINS)), generator(self.seed, (*path, RUNS))
        if self.subject.declared_sampler is not None:
            sides = (lambda: left), (lambda: right)
            return Runs(*sample_pairs(self.subject.declared_sampler, sides, size, rng=rng, coins=coins))
        order = schedule(size, coins)
        outputs: list[Any] = []
        call = self.subject.calling.bind(self.subject.object)
        call_each(call, ordered(order, left, right), rng, outputs=outputs)
        return Runs(*in_pairs(order, outputs))
