"""The search for the pair of databases on which the claim fails. It proposes; it never decides.

Pairs come from a stream of proposals and from a climb around the best pairs so far. Each is scouted by one
coupled run a side; those whose outputs lie furthest apart get a first look by independent runs; of those
looked at, the most promising get twice as many, and so on. Nothing drawn here is ever bet on, and the share
of runs spent here is bounded.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass, field
from itertools import chain, count, islice
from typing import TYPE_CHECKING, Any

from audit import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from audit.memory import PairMemory

Pair = tuple[Any, Any]

#: Pairs of runs in a first look.
FIRST_LOOK = 16
#: Of all runs so far, the search may have spent this share.
SHARE = 0.3
_NEWCOMERS = 8
#: Once so many wait for their first look, few newcomers join them: to scout costs more than it then gains.
_CROWD = 200
_NEWCOMERS_TO_A_CROWD = 2
_CLIMBERS = 2
_FINALISTS = 4
#: A look is doubled at most so often.
_LEVELS = 9


#: So many proposals in a row that were all seen before: there are no others.
_MOST_REPEATS = 500


@dataclass(eq=False)
class Contender:
    """A pair in the search.

    Parameters
    ----------
    memory
        What is known of it.
    apart
        How far apart coupled runs were.
    level
        How often its look was doubled; −1 before the first look.
    """

    memory: PairMemory
    apart: float = 0.0
    level: int = -1

    @property
    def pair(self) -> Pair:
        """The two databases."""
        return self.memory.left, self.memory.right


@dataclass
class Search:
    """The contenders and where new ones come from.

    Parameters
    ----------
    proposals
        Pairs to try, the most promising first.
    vary
        Gives pairs around a pair, for the climb; None if only the proposals may be tried.
    new
        Makes the memory of a pair.
    scout
        Draws one coupled run a side, where the subject's runs can be coupled, and returns the distance.
    look
        Draws so many independent pairs of runs and lets the memory learn from them.
    rank, guess
        How promising a memory is, by a cautious estimate and by a plain one; larger is better.
    drawn
        How many runs have been drawn in all.
    """

    proposals: Iterator[Pair]
    vary: Callable[[Pair], Iterator[Pair]] | None
    new: Callable[[Any, Any], PairMemory]
    scout: Callable[[PairMemory], float]
    look: Callable[[PairMemory, int], None]
    rank: Callable[[PairMemory], tuple[float, float]]
    guess: Callable[[PairMemory], tuple[float, float]]
    drawn: Callable[[], int]
    contenders: list[Contender] = field(default_factory=list)
    exhausted: bool = False
    spent: int = 0
    _seen: set[Any] = field(default_factory=set)
    _first_looks: int = 0
    _scoutings: int = 0
    _looked: list[list[Contender]] = field(default_factory=lambda: [[] for _ in range(_LEVELS + 2)])
    _queue: deque[Contender] = field(default_factory=deque)
    _furthest_first: list[tuple[float, int, Contender]] = field(default_factory=list)
    _furthest: Contender | None = None
    _places: Iterator[int] = field(default_factory=count)

    def wants(self, spent: int) -> bool:
        """Tell whether the search may spend more, `spent` runs having been drawn in all."""
        if not any(self._looked):
            return True
        return self.spent < SHARE * spent and not (self.exhausted and len(self.contenders) == 1)

    def best(self) -> PairMemory | None:
        """Return the pair to bet on: the most promising or, there being none, a known one that may be."""
        looked = [contender.memory for level in self._looked for contender in level]
        if not looked:
            return None
        top = max(looked, key=self.rank)
        if self.rank(top)[0] > 0:
            return top
        best_known = sorted(looked, key=lambda memory: -memory.pairs)[:_FINALISTS]
        return max([top, *best_known], key=self.guess)

    def step(self) -> bool:
        """Look longer at a pair that has earned it, or else at a new one.

        Returns
        -------
        bool
            Whether there was anything left to do.
        """
        before = self.drawn()
        done = self._look_longer() or self._look_at_one() or self._look_at_what_is_left()
        self.spent += self.drawn() - before
        return done

    def _look_longer(self) -> bool:
        """Double the look at the best of those looked at as long, while fewer than half of them went further.

        Successive halving without waiting, the longest looks first: every length gets about the same share of
        the runs. Runs that were bet on do not count here, or the pairs bet on would use up the longest looks.
        """
        further = len(self._looked[_LEVELS + 1])
        for level in range(_LEVELS, -1, -1):
            waiting = len(self._looked[level])
            if waiting and further < (waiting + further) // 2:
                self._double(level)
                return True
            further += waiting
        return False

    def _double(self, level: int) -> None:
        """Look at the best of those at a level as long again."""
        chosen = max(self._looked[level], key=lambda contender: self.guess(contender.memory))
        self._looked[level].remove(chosen)
        self._look(chosen, FIRST_LOOK << level)

    def _look(self, contender: Contender, runs: int) -> None:
        contender.level += 1
        self._looked[contender.level].append(contender)
        self.look(contender.memory, runs)

    def _look_at_one(self) -> bool:
        """Scout some new pairs; look at the one furthest apart or, every other time, at the oldest."""
        crowd = len(self._queue) >= _CROWD
        for pair in islice(self._unseen(), _NEWCOMERS_TO_A_CROWD if crowd else _NEWCOMERS):
            self._scout(Contender(self.new(*pair)))
        self._first_looks += 1
        chosen = self._next(furthest=self._first_looks % 2 == 1)
        if chosen is None:
            return False
        self._look(chosen, FIRST_LOOK)
        return True

    def _scout(self, contender: Contender) -> None:
        self.contenders.append(contender)
        contender.apart = self.scout(contender.memory)
        self._queue.append(contender)
        heapq.heappush(self._furthest_first, (-contender.apart, next(self._places), contender))
        if self._furthest is None or contender.apart > self._furthest.apart:
            self._furthest = contender

    def _next(self, *, furthest: bool) -> Contender | None:
        """Take the contender furthest apart, or the oldest, of those that have had no look."""
        while self._queue and self._queue[0].level >= 0:
            self._queue.popleft()
        while self._furthest_first and self._furthest_first[0][2].level >= 0:
            heapq.heappop(self._furthest_first)
        if not self._queue:
            return None
        return self._furthest_first[0][2] if furthest else self._queue[0]

    def _look_at_what_is_left(self) -> bool:
        """Double the shortest look once nothing new is left, so that a small domain is looked at in full."""
        for level in range(_LEVELS + 1):
            if self._looked[level]:
                self._double(level)
                return True
        return False

    def _unseen(self) -> Iterator[Pair]:
        """Give pairs not tried before: proposals and, in every other round, the neighbourhood of the best."""
        source = self.proposals
        self._scoutings += 1
        if self.vary is not None and self._scoutings % 2 == 0:
            source = chain(self._around_the_best(), self.proposals)
        repeats = 0
        for pair in source:
            ends = canonical.key(pair[0]), canonical.key(pair[1])
            if ends not in self._seen and ends[::-1] not in self._seen:
                self._seen.add(ends)
                repeats = 0
                yield pair
            elif (repeats := repeats + 1) >= _MOST_REPEATS:
                break
        self.exhausted = True

    def _around_the_best(self) -> Iterator[Pair]:
        assert self.vary is not None
        if self._furthest is None:
            return
        yield from islice(self.vary(self._furthest.pair), _CLIMBERS)
        best = self.best()
        if best is not None and best is not self._furthest.memory:
            yield from islice(self.vary((best.left, best.right)), _CLIMBERS)
