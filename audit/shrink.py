"""Shrinking a witness: the simplest pair of databases on which the claim still visibly fails.

Greedy: of the simpler versions of a pair the first one that still fails by a margin becomes the pair, until
none does. A version is tried by runs of its own, which decide nothing: the pair that is left is then run
afresh as a witness (`confirm`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from audit import canonical
from audit.memory import PairMemory
from audit.variations import simplicity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Pair = tuple[Any, Any]

#: Most simpler versions that are tried.
MOST_TRIES = 200
#: A simpler pair must promise at least this share of the growth of the pair that it replaces.
_KEEP = 0.35
#: How often one version is tried: few runs may miss what is there.
_CHANCES = 2


def size(pair: Pair) -> tuple[Any, ...]:
    """Return a key by which simpler pairs come first: fewer records, then simpler ones.

    Examples
    --------
    >>> size(([0], [1])) < size(([0, 0], [1, 0])), size(([0], [1])) < size(([7], [1]))
    (True, True)
    """
    records = [record for side in pair for record in side]
    return len(records), sorted((simplicity(record) for record in records), reverse=True)


def shrink(
    memory: PairMemory,
    *,
    simpler: Callable[[Pair], Iterator[Pair]],
    look: Callable[[PairMemory, int], bool],
    growth: Callable[[PairMemory], float],
    floats: bool,
) -> PairMemory:
    """Return what is known of the simplest pair found.

    Parameters
    ----------
    memory
        The pair that refuted the claim.
    simpler
        Gives simpler versions of a pair.
    look
        Draws so many pairs of runs; False when the allowance of runs does not reach for them.
    growth
        The cautious growth, in nats a pair of runs, that a pair promises.
    floats
        Whether bit patterns may be used.
    """
    wanted = _KEEP * growth(memory)
    if wanted <= 0:
        return memory
    needed = max(24, round(4.0 / wanted))
    chances: dict[Any, int] = {}
    tries = 0
    improved = True
    while improved:
        improved = False
        for pair in simpler((memory.left, memory.right)):
            key = canonical.key(list(pair))
            if size(pair) >= size((memory.left, memory.right)):
                continue
            if chances.setdefault(key, _CHANCES) == 0:
                continue
            chances[key] -= 1
            tries += 1
            candidate = PairMemory(*pair, floats=floats)
            if tries > MOST_TRIES or not look(candidate, needed):
                return memory
            if growth(candidate) >= wanted:
                memory, improved = candidate, True
                break
    return memory
