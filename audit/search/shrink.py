"""Find the simplest pair of databases on which the claim still clearly fails.

The search starts from a witness and is greedy. The first simpler version on which the claim still fails by a
margin replaces the pair. Each version gets a few new runs at first. Their number is doubled, up to a limit,
until they decide whether the claim fails. These runs are not evidence: `confirm` makes new runs on the final
pair.
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
#: A simpler pair is taken only if its predicted growth is at least this share of the present pair's growth.
_KEEP = 0.35
#: One version may be tried this many times, because a few runs may miss that the claim fails on it.
_CHANCES = 2
#: A version gets `_FIRST` ÷ (wanted growth) pairs of runs at first, and at most `_LAST` ÷ (wanted growth) in
#: all.
_FIRST, _LAST = 0.5, 8.0
#: A version, or a half of a path, gets at least this many pairs of runs.
_LEAST = 24
#: A simpler version is accepted only with about this many nats of evidence against the claim. With fewer
#: nats, some of 200 versions would pass by chance.
_NATS = 8.0
#: Each half of a path gets the number of runs with which bets on the whole path would have gained this many
#: nats.
_STEP_NATS = 12.0
#: Each half of a path gets this many pairs of runs if too few runs are left to reach `_STEP_NATS`.
_LEAST_AT_LAST = 100


def size(pair: Pair) -> tuple[Any, ...]:
    """Return a sort key that puts simpler pairs first.

    Fewer records come first, then fewer distinct records, then simpler records.

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
    """Return the memory of the step on which an event breaks the claim most clearly.

    If an event breaks the claim between the ends of a path, it also does so on one half of the path
    (`audit.databases.paths.halves`). So, after enough halvings, it breaks the claim on a single step. Runs
    estimate which half this is. If the estimate is wrong, later runs do not confirm the refutation.

    Parameters
    ----------
    memory
        The memory of the path.
    look
        Takes a memory and a number, and draws that many pairs of runs. Returns False if too few are left.
    growth
        Returns the growth of bets on that event, in nats per pair of runs. If the event supports the claim,
        it is negative.
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
        Takes a memory and a number, and draws that many pairs of runs. Returns False if too few are left.
    growth
        Takes a memory and a number of standard errors. Returns the predicted growth, in nats per pair of
        runs, minus these errors.
    taken
        Called with the memory of each simpler pair on which the claim fails.
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
    """Return whether the wealth of bets on a pair grows as fast as `wanted`.

    If no runs are left, return None. The number of runs doubles until the answer is clear. If it stays
    unclear, the answer is False.
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
