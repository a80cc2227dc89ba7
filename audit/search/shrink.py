"""Shrink a witness to the simplest pair of databases on which the claim still clearly fails.

The search is greedy: the first simpler version that still fails by a margin replaces the pair, until no
version does. Each version gets new runs: few at first, and twice as many while they do not settle it. These
runs decide nothing in the result: `confirm` runs the remaining pair afresh as a witness.
"""

from collections.abc import Callable, Iterator
from typing import Any

from audit.databases.paths import halves
from audit.databases.variations import simplicity
from audit.evidence.memory import PairMemory
from audit.values import canonical

Pair = tuple[Any, Any]

#: At most this many simpler versions are tried.
MOST_TRIES = 200
#: A simpler pair must promise at least this share of the growth of the pair that it replaces.
_KEEP = 0.35
#: How often one version may be tried, because a few runs may miss a failure.
_CHANCES = 2
#: Pairs of runs of one version, at first and at most: these numbers divided by the growth wanted.
_FIRST, _LAST = 0.5, 8.0
#: The fewest pairs of runs in any look.
_LEAST = 24
#: A version must show about this many nats to be taken. With fewer, some of 200 would pass by chance.
_NATS = 8.0
#: A half of a path gets as many runs as would have shown this many nats on the whole path.
_STEP_NATS = 12.0
#: A half gets this many pairs of runs if the allowance of runs does not suffice for that.
_LEAST_AT_LAST = 100


def size(pair: Pair) -> tuple[Any, ...]:
    """Return a key by which simpler pairs come first: fewer records, fewer different ones, simpler ones.

    Examples
    --------
    >>> size(([0], [1])) < size(([0, 0], [1, 0])), size(([0], [1])) < size(([7], [1]))
    (True, True)
    >>> size(([5, 5], [5, 9])) < size(([0, 5], [0, 9]))
    True
    """
    records = [record for side in pair for record in side]
    different = {canonical.key(record) for record in records}
    return len(records), len(different), sorted((simplicity(record) for record in records), reverse=True)


def failing_step(
    memory: PairMemory, *, look: Callable[[PairMemory, int], bool], growth: Callable[[PairMemory], float]
) -> PairMemory:
    """Return the memory of the step of a path on which the claim fails most clearly, by one event.

    If the ends of a path break the claim on an event, so do the ends of one of its halves on the same event
    (`audit.databases.paths.halves`), and finally those of a single step. Runs estimate which half it is. If
    the estimate is wrong, later runs of that witness do not confirm it.

    Parameters
    ----------
    memory
        The memory of the path.
    look
        Draws this many pairs of runs; returns False if the allowance of runs does not suffice.
    growth
        The growth by that event, in nats per pair of runs; negative if the event supports the claim.
    """
    while memory.distance > 1:
        pairs = max(_LEAST, round(_STEP_NATS / max(growth(memory), 1e-9)))
        parts = halves(memory.path)
        pieces = [PairMemory(part[0], part[-1], floats=memory.floats, path=part) for part in parts]
        for piece in pieces:
            if not look(piece, pairs):
                look(piece, _LEAST_AT_LAST)
        memory = max(pieces, key=growth)
    return memory


def shrink(
    memory: PairMemory,
    *,
    simpler: Callable[[Pair], Iterator[Pair]],
    look: Callable[[PairMemory, int], bool],
    growth: Callable[[PairMemory, float], float],
    taken: Callable[[PairMemory], object] = lambda _: None,
) -> PairMemory:
    """Return the memory of the simplest pair found.

    Parameters
    ----------
    memory
        The memory of the pair that refuted the claim.
    simpler
        Yields simpler versions of a pair.
    look
        Draws this many pairs of runs; returns False if the allowance of runs does not suffice.
    growth
        The growth, in nats per pair of runs, that a memory promises, less this many standard errors.
    taken
        Called with the memory of each simpler pair that fails. The search continues from it.
    """
    wanted = _KEEP * growth(memory, 1.0)
    if wanted <= 0:
        return memory
    chances: dict[Any, int] = {}
    tries = 0
    while True:
        tried: set[Any] = set()
        for pair in simpler((memory.left, memory.right)):
            key = canonical.key(list(pair))
            if key in tried or size(pair) >= size((memory.left, memory.right)):
                continue
            tried.add(key)
            if chances.setdefault(key, _CHANCES) == 0:
                continue
            chances[key] -= 1
            tries += 1
            candidate = PairMemory(*pair, floats=memory.floats)
            fails = None if tries > MOST_TRIES else _fails(candidate, wanted, look=look, growth=growth)
            if fails is None:
                return memory
            if fails:
                memory = candidate
                taken(memory)
                break
        else:
            return memory


def _fails(
    memory: PairMemory,
    wanted: float,
    *,
    look: Callable[[PairMemory, int], bool],
    growth: Callable[[PairMemory, float], float],
) -> bool | None:
    """Return whether the claim fails on a pair by the growth wanted; None if the runs are used up.

    While the answer is open, the number of runs doubles. If it stays open, the pair counts as not failing.
    """
    pairs, most = max(_LEAST, round(_FIRST / wanted)), max(_LEAST, round(_LAST / wanted))
    known = 0
    while pairs <= most:
        if not look(memory, pairs - known):
            return None
        known, pairs = pairs, 2 * pairs
        promised = growth(memory, 0.0)
        if promised < wanted:
            return False
        if growth(memory, 1.0) >= wanted and known * promised >= _NATS:
            return True
    return False
