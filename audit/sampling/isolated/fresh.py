"""Runs in fresh processes: each makes the subject anew, in a directory of its own, and ends after its part.

What such a process draws shares nothing with what was drawn before: not the subject's attributes, not its
modules, not the files that it keeps in its working directory, its home or the directory for temporary files.

The processes are forked from one that has loaded little (`_SMALL`), so that a fork takes a millisecond. Where
a subject's first process imports more of what may be shared (`is_preloaded`), the others find that imported:
their fork is faster than the import. Where processes cannot fork, each starts anew and takes about a second.
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

#: What every fresh process finds imported: modules that draw nothing, and import no large library.
_SMALL: Final = (
    *("numpy", "audit.catalogue", "audit.claims", "audit.distributions", "audit.problems"),
    *("audit.relations", "audit.values.on_demand"),
)
#: The children that fork fresh processes, kept for the next audit: they never see a subject. By process, for
#: a fork must not talk to its parent's, and by what more they have imported: nothing, and what subjects did.
_NURSERY: dict[tuple[int, tuple[str, ...]], list[Child]] = {}
#: What more a subject, by the hash of its recipe, imports, in that order.
_LOADS: dict[int, tuple[str, ...]] = {}
#: Fresh processes that are worth the start of one more child, which takes as long as ten of them or more.
_WORTH: Final = 4


def can_start() -> bool:
    """Whether fresh processes can be had here: not inside of one, and only where a process can start some."""
    return hasattr(os, "posix_spawn") and WITHIN not in os.environ


def draw_anew(recipe: Parcel, tasks: Sequence[Task]) -> Iterator[Block]:
    """Yield the blocks of `tasks` in their order, each drawn in a fresh process, on every core.

    Raises
    ------
    SubjectError
        The subject cannot be made in a fresh process.
    """

    def draw(child: Child, task: Task) -> Block:
        with tempfile.TemporaryDirectory(prefix="dp-audit-", ignore_cleanup_errors=True) as folder:
            block = child.run_anew(task, Errand(recipe, _paths(), folder, (*task.path, COPIES)))
        _LOADS[subject] = _joined(_LOADS.get(subject, ()), child.loaded)
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
    """Return one block, drawn in one fresh process, which starts with little loaded.

    Raises
    ------
    SubjectError
        The subject cannot be made there.
    """
    try:
        [child] = _children(1, wanted=1, loads=())
        with tempfile.TemporaryDirectory(prefix="dp-audit-", ignore_cleanup_errors=True) as folder:
            return child.run_anew(task, Errand(recipe, _paths(), folder, (*task.path, COPIES)))
    except BaseException:
        _dismiss()
        raise


def _children(most: int, *, wanted: int, loads: tuple[str, ...]) -> list[Child]:
    """Return the children that are there, started until there are as many as wanted, and at most `most`.

    Those that have loaded what subjects import have it of all subjects so far: where one imports still more
    they are started again.
    """
    here, held = os.getpid(), loads
    for key in [(pid, names) for pid, names in _NURSERY if loads and names and pid == here]:
        held = _joined(key[1], loads)
        if held != key[1]:
            _dismiss(key)
    known = _NURSERY.setdefault((here, held), [])
    while len(known) < min(most, wanted):
        known.append(Child(None, foundations=(*_SMALL, *held)))
    return known[:most]


def _joined(names: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*names, *more)))


def _dismiss(*keys: tuple[int, tuple[str, ...]]) -> None:
    for key in keys or [key for key in _NURSERY if key[0] == os.getpid()]:
        for child in _NURSERY.pop(key):
            child.kill()
            child.close()


atexit.register(_dismiss)


def _paths() -> tuple[str, ...]:
    """Return where modules are found, from any working directory."""
    return tuple(str(Path(path).absolute()) if path else str(Path.cwd()) for path in sys.path)
