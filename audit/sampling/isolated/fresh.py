"""Runs in fresh processes.

Each makes the subject anew in its own directory, makes some runs and ends. Its runs share no state with runs
of other processes: no attributes or modules of the subject, and no files in the working directory, the home
or the temporary directory.

The processes are forked from a process that has loaded few modules (`_SMALL`), so a fork takes a millisecond.
The first process of a subject may import further modules that may be shared (`is_preloaded`). Later processes
are then forked from a process that has already imported these modules.

If processes cannot fork, each is started separately and takes about a second.
"""

import atexit
import math
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from audit.sampling.blocks import Block, Task
from audit.sampling.isolated.child import Errand
from audit.sampling.isolated.isolation import Child, drawn_by
from audit.sampling.isolated.starting import usable_cores
from audit.sampling.remake.modules import WITHIN
from audit.sampling.seeds import COPIES
from audit.sampling.shipping import Parcel

#: Modules that are imported in every fresh process from the start; they draw nothing and import no large
#: library.
_SMALL: Final = (
    *("numpy", "audit.catalogue", "audit.claims", "audit.distributions", "audit.problems"),
    *("audit.relations", "audit.values.on_demand"),
)
#: The child processes from which fresh processes are forked. They never see a subject, so they are kept for
#: the next audit. The first part of a key is the process that started them, because a fork must not use the
#: processes of its parent. The second part is whether they have imported further modules.
_NURSERY: dict[tuple[int, bool], list[Child]] = {}
#: The further modules that a subject imports, in order; the key is the hash of its recipe.
_LOADS: dict[int, tuple[str, ...]] = {}
#: One child process is started for this many fresh processes. Starting a child takes as long as ten of these.
_WORTH: Final = 4


def can_start() -> bool:
    """Return whether this process can start fresh ones. Not every system can, and a fresh process cannot."""
    return hasattr(os, "posix_spawn") and WITHIN not in os.environ


def draw_anew(recipe: Parcel, tasks: Sequence[Task]) -> Iterator[Block]:
    """Yield the block of each task, in order.

    A fresh process draws each block. All cores are used.

    Raises
    ------
    SubjectError
        The subject cannot be made in a fresh process.
    """

    def draw(child: Child, task: Task) -> Block:
        block = _run(child, recipe, task)
        _LOADS[subject] = tuple(dict.fromkeys((*_LOADS.get(subject, ()), *child.loaded)))
        return block

    subject, rest = hash(recipe.text), list(tasks)
    try:
        while rest:
            now = len(rest) if subject in _LOADS else 1
            loads = _LOADS.get(subject, ())
            children = _children(min(usable_cores(), now), wanted=math.ceil(now / _WORTH), loads=loads)
            yield from drawn_by(children, rest[:now], draw)
            del rest[:now]
    except BaseException:
        _dismiss()
        raise


def draw_once(recipe: Parcel, task: Task) -> Block:
    """Return one block, drawn in one fresh process with few modules.

    Raises
    ------
    SubjectError
        The subject cannot be made in that process.
    """
    try:
        [child] = _children(1, wanted=1, loads=())
        return _run(child, recipe, task)
    except BaseException:
        _dismiss()
        raise


def _run(child: Child, recipe: Parcel, task: Task) -> Block:
    # absolute paths, so that the working directory does not matter
    paths = tuple(str(Path(path).absolute()) if path else str(Path.cwd()) for path in sys.path)
    with tempfile.TemporaryDirectory(prefix="dp-audit-", ignore_cleanup_errors=True) as folder:
        return child.run_anew(task, Errand(recipe, paths, folder, (*task.path, COPIES)))


def _children(most: int, *, wanted: int, loads: tuple[str, ...]) -> list[Child]:
    """Return at most `most` running child processes.

    If fewer than `wanted` run, new ones are started first. Each child imports the modules in `loads`. It
    keeps those that it imported for other subjects.
    """
    known = _NURSERY.setdefault((os.getpid(), bool(loads)), [])
    while len(known) < min(most, wanted):
        known.append(Child(None, foundations=_SMALL))
    for child in known[:most]:
        child.build_on(loads)
    return known[:most]


def _dismiss() -> None:
    for key in [key for key in _NURSERY if key[0] == os.getpid()]:
        for child in _NURSERY.pop(key):
            child.kill()
            child.close()


atexit.register(_dismiss)
