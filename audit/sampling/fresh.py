"""Runs in fresh processes: each makes the subject anew, in a directory of its own, and ends after its part.

What such a process draws shares nothing with what was drawn before: not the subject's attributes, not its
modules, not the files that it keeps in its working directory, its home or the directory for temporary files.
The processes are forked from one that has loaded this package alone, so that each costs what the import of
the subject costs.
"""

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from audit.sampling.blocks import Block, Task
from audit.sampling.child import Errand
from audit.sampling.isolation import Child
from audit.sampling.modules import WITHIN
from audit.sampling.recipes import Recipe
from audit.sampling.seeds import COPIES

__all__ = ["can_start", "draw_anew"]

#: The children that fork fresh processes, kept for the next audit: they never see a subject. By process, for
#: a fork must not talk to its parent's.
_NURSERY: dict[int, list[Child]] = {}


def can_start() -> bool:
    """Whether fresh processes can be had here: not inside of one, and only where processes can fork."""
    return hasattr(os, "fork") and WITHIN not in os.environ


def draw_anew(recipe: Recipe, tasks: Sequence[Task]) -> Iterator[Block]:
    """Yield the blocks of `tasks` in their order, each drawn in a fresh process, on every core.

    Raises
    ------
    SubjectError
        The subject cannot be made in a fresh process.
    """
    children = _children(min(_cores(), len(tasks)))
    idle: SimpleQueue[Child] = SimpleQueue()
    for child in children:
        idle.put(child)

    def draw(task: Task) -> Block:
        child, folder = idle.get(), tempfile.mkdtemp(prefix="dp-audit-")
        try:
            place = (*task.path, COPIES)
            return child.run_anew(task, Errand(recipe, _paths(), folder, task.seed, place))
        finally:
            idle.put(child)
            shutil.rmtree(folder, ignore_errors=True)

    pool = ThreadPoolExecutor(len(children))
    try:
        yield from pool.map(draw, tasks)
    except BaseException:
        _dismiss()  # Ctrl-C, an error, a draw that nobody wants any more: threads may still wait for them
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _children(count: int) -> list[Child]:
    known = _NURSERY.setdefault(os.getpid(), [])
    while len(known) < count:
        known.append(Child(None))
    return known[:count]


def _dismiss() -> None:
    for child in _NURSERY.pop(os.getpid(), []):
        child.kill()
        child.close()


atexit.register(_dismiss)


def _paths() -> tuple[str, ...]:
    """Return where modules are found, from any working directory."""
    return tuple(str(Path(path).absolute()) if path else str(Path.cwd()) for path in sys.path)
