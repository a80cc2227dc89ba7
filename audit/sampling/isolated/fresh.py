"""Runs in fresh processes: each makes the subject anew, in a directory of its own, and ends after its part.

What such a process draws shares nothing with what was drawn before: not the subject's attributes, not its
modules, not the files that it keeps in its working directory, its home or the directory for temporary files.
The processes are forked from one that has loaded this package and a few libraries that draw nothing when they
are imported (`_FOUNDATIONS`), so that each costs what the import of the subject's own modules costs.
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
from audit.sampling.remake.modules import WITHIN
from audit.sampling.seeds import COPIES
from audit.sampling.shipping import Parcel

#: Libraries that a fresh process finds imported where the audit's process has them. What is listed here may
#: draw nothing when it is imported, keep no generator but numpy's global one, which every process seeds anew,
#: and start no thread: no library that is audited itself.
_FOUNDATIONS: Final = ("numpy", "scipy", "pandas", "sklearn", "statsmodels", "hypothesis", "pytest", "audit")
#: The children that fork fresh processes, kept for the next audit: they never see a subject. By process, for
#: a fork must not talk to its parent's, and by the libraries that they have imported.
_NURSERY: dict[tuple[int, frozenset[str]], list[Child]] = {}
#: Fresh processes that are worth the start of one more child, which takes as long as ten of them or more.
_WORTH: Final = 4


def can_start() -> bool:
    """Whether fresh processes can be had here: not inside of one, and only where processes can fork."""
    return hasattr(os, "fork") and WITHIN not in os.environ


def draw_anew(recipe: Parcel, tasks: Sequence[Task]) -> Iterator[Block]:
    """Yield the blocks of `tasks` in their order, each drawn in a fresh process, on every core.

    Raises
    ------
    SubjectError
        The subject cannot be made in a fresh process.
    """

    def draw(child: Child, task: Task) -> Block:
        with tempfile.TemporaryDirectory(prefix="dp-audit-", ignore_cleanup_errors=True) as folder:
            return child.run_anew(task, Errand(recipe, _paths(), folder, (*task.path, COPIES)))

    children = _children(min(_cores(), len(tasks)), wanted=math.ceil(len(tasks) / _WORTH))
    try:
        yield from drawn_by(children, tasks, draw)
    except BaseException:
        _dismiss()
        raise


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _children(most: int, *, wanted: int) -> list[Child]:
    """Return the children that are there, started until there are as many as wanted, and at most `most`."""
    here = os.getpid(), frozenset(name for name in _FOUNDATIONS if name in sys.modules)
    if here not in _NURSERY:
        _dismiss()
    known = _NURSERY.setdefault(here, [])
    while len(known) < min(most, wanted):
        names = [name for name in list(sys.modules) if name.partition(".")[0] in here[1]]
        known.append(Child(None, foundations=names))
    return known[:most]


def _dismiss() -> None:
    for key in [key for key in _NURSERY if key[0] == os.getpid()]:
        for child in _NURSERY.pop(key):
            child.kill()
            child.close()


atexit.register(_dismiss)


def _paths() -> tuple[str, ...]:
    """Return where modules are found, from any working directory."""
    return tuple(str(Path(path).absolute()) if path else str(Path.cwd()) for path in sys.path)
