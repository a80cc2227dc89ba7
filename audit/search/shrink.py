"""Shrinking a witness: the simplest pair of databases on which the claim still visibly fails.

Greedy: of the simpler versions of a pair the first one that still fails by a margin becomes the pair, until
none does. A version is tried by runs of its own, few at first and twice as many while they leave it open;
they decide nothing: the pair that is left is then run afresh as a witness (`confirm`).
"""

from collections.abc import Callable, Iterator
from typing import Any

from audit.databases.paths import halves
from audit.databases.variations import simplicity
from audit.evidence.memory import PairMemory
from audit.values import canonical

Pair = tuple[Any, Any]

#: Most simpler versions that are tried.
MOST_TRIES = 200
#: A simpler pair must promise at least this share of the growth of the pair that it replaces.
_KEEP = 0.35
#: How often one version is tried: few runs may miss what is there.
_CHANCES = 2
#: A version is given up, or taken, after this many runs over the growth wanted: at first, and at most.
_FIRST, _LAST = 0.5, 8.0
_LEAST = 24
#: A version is taken once it has shown about this many nats; with fewer, chance would pass some of 200.
_NATS = 8.0
#: Look at a half of a path until the whole path would have shown this many nats.
_STEP_NATS = 12.0
#: Look at it with this many pairs of runs if the allowance of runs does not suffice for that.
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
    memory: PairMemory,
    *,
    look: Callable[[PairMemory, int], bool],
    growth: Callable[[PairMemory], float],
) -> PairMemory:
    """Return what is known of the step of a path on which the claim fails most visibly, by one event.

    Where the ends of a path exceed the claim on an event, so do those of one of its halves on the same event
    (`audit.databases.paths.halves`), and at last those of one step. Which half is estimated; a step that is
    taken by mistake is a witness that runs of its own will not confirm.

    Parameters
    ----------
    memory
        The path.
    look
        Draws this many pairs of runs; returns False if the allowance of runs does not suffice.
    growth
        The growth by that event, in nats a pair of runs; negative where it speaks for the claim.
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
    """Return what is known of the simplest pair found.

    Parameters
    ----------
    memory
        The pair that refuted the claim.
    simpler
        Gives simpler versions of a pair.
    look
        Draws this many pairs of runs; returns False if the allowance of runs does not suffice.
    growth
        The growth, in nats a pair of runs, that a pair promises, less this many standard errors.
    taken
        Called with each simpler pair that fails, from which the search goes on.
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
    """Return whether the claim fails on a pair by as much as is wanted; None if the runs are used up.

    While that is open, the pair is looked at twice as long; if it stays open, the pair does not fail.
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
