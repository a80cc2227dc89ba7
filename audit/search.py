"""The search for the pair of databases on which the claim fails. It proposes; it never decides.

Pairs come from a stream of proposals and from a climb around the best pairs so far. Each is scouted by one
coupled run a side; those whose outputs lie furthest apart get a first look by independent runs; of those
looked at, the most promising get twice as many, and so on. Nothing drawn here is ever bet on, and the share
of runs spent here is bounded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain, islice
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
_CLIMBERS = 2
_FINALISTS = 4
#: A look is doubled at most so often.
_LEVELS = 9


#: So many proposals in a row that were all seen before: there are no others.
_MOST_REPEATS = 500


@dataclass
class Contender:
    """A pair in the search: what is known of it, how far apart coupled runs were, the runs looked at."""

    memory: PairMemory
    distance: float = 0.0
    looked: int = 0

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

    def wants(self, spent: int) -> bool:
        """Tell whether the search may spend more, `spent` runs having been drawn in all."""
        if not any(True for _ in self._looked()):
            return True
        return self.spent < SHARE * spent and not (self.exhausted and len(self.contenders) == 1)

    def best(self) -> PairMemory | None:
        """Return the pair to bet on: the most promising or, there being none, a known one that may be."""
        looked = [contender.memory for contender in self._looked()]
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
        done = self._look_longer() or self._look_at_one()
        self.spent += self.drawn() - before
        return done

    def _look_longer(self) -> bool:
        """Double the look at the best of those looked at as long, while fewer than half of them went further.

        Successive halving without waiting, the longest looks first: every length gets about the same share of
        the runs. Runs that were bet on do not count here, or the pairs bet on would use up the longest looks.
        """
        looked = list(self._looked())
        for level in range(_LEVELS, -1, -1):
            runs = FIRST_LOOK << level
            reached = [contender for contender in looked if contender.looked >= runs]
            waiting = [contender for contender in reached if contender.looked < 2 * runs]
            if waiting and len(reached) - len(waiting) < len(reached) // 2:
                chosen = max(waiting, key=lambda contender: self.guess(contender.memory))
                chosen.looked += runs
                self.look(chosen.memory, runs)
                return True
        return False

    def _look_at_one(self) -> bool:
        """Scout some new pairs; look at the one furthest apart or, every other time, at the oldest."""
        for pair in islice(self._unseen(), _NEWCOMERS):
            contender = Contender(self.new(*pair))
            self.contenders.append(contender)
            contender.distance = self.scout(contender.memory)
        waiting = [contender for contender in self.contenders if not contender.memory.pairs]
        if not waiting:
            return False
        self._first_looks += 1
        furthest = self._first_looks % 2
        chosen = max(waiting, key=lambda contender: contender.distance) if furthest else waiting[0]
        chosen.looked = FIRST_LOOK
        self.look(chosen.memory, FIRST_LOOK)
        return True

    def _looked(self) -> Iterator[Contender]:
        return (contender for contender in self.contenders if contender.memory.pairs)

    def _unseen(self) -> Iterator[Pair]:
        """Give pairs not tried before: proposals and, in every other round, the neighbourhood of the best."""
        source = self.proposals
        self._scoutings += 1
        if self.vary is not None and self._scoutings % 2 == 0:
            source = chain(self._around_the_best(), self.proposals)
        repeats = 0
        for pair in source:
            forwards, backwards = canonical.key(list(pair)), canonical.key([pair[1], pair[0]])
            if forwards not in self._seen and backwards not in self._seen:
                self._seen.add(forwards)
                repeats = 0
                yield pair
            elif (repeats := repeats + 1) >= _MOST_REPEATS:
                break
        self.exhausted = True

    def _around_the_best(self) -> Iterator[Pair]:
        assert self.vary is not None
        if not self.contenders:
            return
        furthest = max(self.contenders, key=lambda contender: contender.distance)
        yield from islice(self.vary(furthest.pair), _CLIMBERS)
        best = self.best()
        if best is not None and best is not furthest.memory:
            yield from islice(self.vary((best.left, best.right)), _CLIMBERS)
