"""The search for a pair of databases on which the claim fails.

The search only proposes pairs, and bets decide. Pairs come from a stream of proposals and from a climb, which
varies the best pairs so far. Each new pair is scouted by one coupled run on each database, with the same
random draws. The pairs whose outputs lie furthest apart get a few independent runs. The most promising pairs
get further looks, each with twice the runs of the pair (successive halving). Some pairs are the ends of a
path of several neighbour steps. The claim allows a larger loss between such ends, and a promising path is cut
into halves.

After `STEERED_AFTER` runs, recorded random draws of the scouting runs predict the growth of a bet on each
pair (`steer`). The pair with the largest prediction then comes first, unless the counts of its runs
contradict it. The audit never bets on scouting runs, which are a bounded share of all runs.

The caller makes the runs: after `look = search.ask(...)`, it reports them by `search.tell(look, ...)`.
"""

import math
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from audit.databases.paths import halves
from audit.evidence.memory import PairMemory
from audit.search.contenders import Contender, Queue
from audit.values import canonical

#: A sequence of databases, each a neighbour of the one before. A pair of neighbours is a path of one step.
Path = tuple[Any, ...]

#: Number of pairs of independent runs that a pair of databases gets first.
FIRST_LOOK = 16
#: The search may use up to this share of all runs so far.
SHARE = 0.3
#: This share replaces `SHARE` once recorded draws predict growth and over `_CROWD` pairs were scouted.
_STEERED_SHARE = 0.1
#: One pair is favoured over another only if its predicted growth is at least this many times as large.
_CLEARLY = 1.2
#: Recorded draws are used after this many runs. A claim that is refuted with fewer runs does not need them.
STEERED_AFTER = 600
#: Once recorded draws predict growth, only one step in 4 may choose a pair by its counts or outputs instead.
_ORDINARY_EVERY = 4
_NEWCOMERS = 8
#: At most this many pairs are scouted before one of them gets independent runs.
_MOST_FIRST = 24
#: Once this many pairs wait for their first runs, few are added: more scouting would cost too much.
_CROWD = 200
_NEWCOMERS_TO_A_CROWD = 2
_CLIMBERS = 2
#: Every 4th round of scouting adds a longer path; every 4th pair to get its first runs is such a path.
_FAR_EVERY = 4
_FINALISTS = 8
#: If the best event of a pair gained fewer nats than this in all its runs, the gain counts as chance.
_LUCK = 4.0
#: If no pair promises growth against the claimed ε, these shares of ε are tried instead.
_SMALLER = (0.5, 0.25)
#: A pair chosen for its predicted growth is kept unless counts put its growth this many standard errors below
#: the growth of the best pair.
_SURE = 2.0
#: The number of runs that a pair gets at a time is doubled at most this many times.
_LEVELS = 9
#: Once this many pairs have runs, a first look takes twice as many runs. With 3 times as many pairs it takes
#: four times as many, with 7 times eight. What is still not refuted then is too small for a short look, and
#: looks take time.
_SHORT_LOOKS = 16
#: If this many proposals in a row are repeats, the search assumes that the domain has no further pairs.
_MOST_REPEATS = 500


@dataclass
class Search:
    """The pairs of databases in the search, and the sources of new pairs.

    Parameters
    ----------
    proposals
        Pairs to try, the most promising first.
    new
        Returns an empty memory for the pair of databases at the ends of a path.
    prospect
        Takes a memory, a number of standard errors and a share of the claimed ε. Returns the predicted growth
        of a bet against that share, and the loss per step. These errors are subtracted from both.
    reach
        Takes a memory. Returns the largest share of the claimed ε that bets on this pair might still refute.
        It is an optimistic estimate, so that a pair with few runs is preferred to one known to be weak.
    vary
        Yields variants of a pair, for the climb; None if only the proposals may be tried.
    further
        Yields longer paths that repeat the change of a pair; None if only neighbours may be tried.
    first
        How many proposals are scouted before the first independent runs on a pair.
    steers
        Returns whether recorded draws can predict the growth of bets on a pair.
    """

    proposals: Iterator[Path]
    new: Callable[[Path], PairMemory]
    prospect: Callable[[PairMemory, float, float], tuple[float, float]]
    reach: Callable[[PairMemory], float]
    vary: Callable[[Path], Iterator[Path]] | None = None
    further: Callable[[Path], Iterator[Path]] | None = None
    first: int = 0
    steers: Callable[[], bool] = bool
    contenders: list[Contender] = field(default_factory=list)
    exhausted: bool = False
    spent: int = 0
    _seen: set[Any] = field(default_factory=set)
    _first_looks: int = 0
    _scoutings: int = 0
    _taken: int = 0
    _looked: list[list[Contender]] = field(default_factory=lambda: [[] for _ in range(_LEVELS + 2)])
    _near: Queue = field(default_factory=Queue)
    _far: Queue = field(default_factory=Queue)
    _furthest: Contender | None = None
    _wanted: bool = True
    _steered: bool = False
    _promised: list[Contender] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._looks = self._steps()

    def ask(self, spent: int, *, more: bool = True) -> Contender | None:
        """Return the pair that gets the next runs; None if no pair or no share of the runs is left.

        Parameters
        ----------
        spent
            The number of runs drawn in the whole audit.
        more
            Whether a new step may begin. A step scouts some pairs, then makes independent runs on one pair.
        """
        self._wanted = more and self.wants(spent)
        self._steered = spent >= STEERED_AFTER and self.steers()
        return next(self._looks)

    def tell(self, look: Contender, runs: int, apart: float = 0.0, promise: float = 0.0) -> None:
        """Record the results of the runs that `ask` requested."""
        self.spent += runs
        if not look.pairs:
            look.apart = apart / look.memory.distance
            look.promise = promise if look.steered else None
            if promise > 0:
                self._promised.append(look)

    def _steps(self) -> Iterator[Contender | None]:
        while True:
            if not (self._wanted and (yield from self._step())):
                yield None

    def _rank(self, memory: PairMemory, share: float = 1.0) -> tuple[float, float]:
        """Return `prospect` minus √(2 ln n) standard errors for the best of n pairs."""
        errors = round(math.sqrt(8 * math.log(1 + len(self.contenders)))) / 2
        return self.prospect(memory, errors, share)

    def _guess(self, memory: PairMemory) -> tuple[float, float]:
        return self.prospect(memory, 0.0, 1.0)

    def _hope(self, memory: PairMemory) -> tuple[float, ...]:
        """Return a sort key for pairs of which none surely promises growth."""
        if (reach := self.reach(memory)) > 0:  # of pairs with the same reach, the one with the fewest runs
            return reach, -memory.pairs
        growth = self._guess(memory)[0]
        smaller = (self._rank(memory, share)[0] for share in _SMALLER)
        promise = growth if growth * memory.pairs > _LUCK else 0.0
        return reach, 0.0, promise, *smaller, -memory.distance, self._rank(memory)[1]

    def wants(self, spent: int) -> bool:
        """Return whether the search may use more runs."""
        if not any(self._looked):
            return True
        share = _STEERED_SHARE if self._promised and len(self.contenders) > _CROWD else SHARE
        return self.spent < share * spent and not (self.exhausted and len(self.contenders) == 1)

    def best(self) -> PairMemory | None:
        """Return the pair to bet on; None if no pair has independent runs yet."""
        looked = [contender.memory for level in self._looked for contender in level]
        if not looked:
            return None
        top = max(looked, key=self._rank)
        if (steered := self._steered_to(top)) is not None:
            return steered
        if self._rank(top)[0] > 0:
            return top
        best_known = sorted(looked, key=lambda memory: -memory.pairs)[:_FINALISTS]
        return max([top, *best_known], key=self._hope)

    def surest_loss(self) -> float:
        """Return the largest estimated loss per step, lowered to allow for the choice of the best pair."""
        return max((self._rank(each.memory)[1] for level in self._looked for each in level), default=0.0)

    def _steered_to(self, top: PairMemory) -> PairMemory | None:
        """Return the pair with the largest predicted growth; None if counts contradict it.

        If nearly as much growth is predicted for `top`, the best pair by counts, return `top`.
        """
        known = sorted((each for each in self._promised if each.level >= 0), key=lambda each: each.worth)
        if not known:
            return None
        least = known[-1].worth[0] / _CLEARLY
        if any(each.memory is top and each.worth[0] >= least for each in known):
            return top
        for each in reversed(known):
            if self.prospect(each.memory, -_SURE, 1.0)[0] >= self._rank(top)[0]:
                return each.memory
        return None

    def _step(self) -> Generator[Contender, None, bool]:
        """Yield the pairs that get runs in this step, and return whether to go on."""
        if self._steered:
            yield from self._asked()
        self._taken += 1
        scouts_alone = bool(self._promised) and self._taken % _ORDINARY_EVERY != 0 and not self.exhausted
        chosen = self._most_promised() or (None if scouts_alone else self._longer())
        if chosen is None:
            yield from self._scouted()
            chosen = self._most_promised() or (None if scouts_alone else self._newcomer() or self._left())
        if chosen is None:
            return scouts_alone
        if chosen.level >= 0:
            self._looked[chosen.level].remove(chosen)
            chosen.pairs = FIRST_LOOK << chosen.level
            chosen.level += 1
        else:
            known = sum(map(len, self._looked))
            chosen.level = min((1 + known // _SHORT_LOOKS).bit_length() - 1, _LEVELS)
            chosen.pairs = FIRST_LOOK << chosen.level
        self._looked[chosen.level].append(chosen)
        yield chosen
        return True

    def _longer(self) -> Contender | None:
        """Return the next pair whose runs are doubled (successive halving), or None.

        A level is left while fewer pairs are beyond it than remain in it. Pairs whose first look was longer
        count as beyond, so once these come the lowest levels are hardly left. Bets do not raise the level.
        """
        further = len(self._looked[_LEVELS + 1])
        for level in range(_LEVELS, -1, -1):
            waiting = len(self._looked[level])
            if waiting and further < (waiting + further) // 2:
                return self._best_at(level)
            further += waiting
        return None

    def _best_at(self, level: int) -> Contender:
        return max(self._looked[level], key=lambda contender: self._guess(contender.memory))

    def _scouted(self) -> Iterator[Contender]:
        new = _NEWCOMERS if self.contenders else max(min(self.first, _MOST_FIRST), _NEWCOMERS)
        if len(self._near) >= _CROWD:
            new = _NEWCOMERS_TO_A_CROWD
        for path in islice(self._unseen(), new):
            contender = Contender(self.new(path))
            contender.steered = self._steered
            self.contenders.append(contender)
            yield contender
            (self._far if contender.is_far else self._near).add(contender)
            self._compare(contender)

    def _compare(self, contender: Contender) -> None:
        """Climb from this pair if it is near and its scouting runs rank it highest."""
        if not contender.is_far and (self._furthest is None or contender.worth > self._furthest.worth):
            self._furthest = contender

    def _asked(self) -> Iterator[Contender]:
        """Request the predicted growth of every scouted pair without a prediction."""
        for contender in self.contenders:
            if contender.scouts is not None:
                contender.pairs, contender.steered = 0, True
                yield contender
                if contender.level < 0:
                    (self._far if contender.is_far else self._near).rank(contender)
                self._compare(contender)

    def _most_promised(self) -> Contender | None:
        """Return the pair without runs whose predicted growth clearly leads, or None."""
        best = max(self._promised, key=lambda contender: contender.worth, default=None)
        known = max((each.worth[0] for each in self._promised if each.level >= 0), default=0.0)
        return best if best is not None and best.level < 0 and best.worth[0] > _CLEARLY * known else None

    def _newcomer(self) -> Contender | None:
        """Return a waiting pair, in turns the furthest apart and the oldest."""
        self._first_looks += 1
        first, then = self._near, self._far
        if self._first_looks % _FAR_EVERY == 0:
            first, then = then, first
        furthest = self._first_looks % 2 == 1 or first is self._far
        return first.next(furthest=furthest) or then.next(furthest=furthest)

    def _left(self) -> Contender | None:
        """Return the best of the pairs with the fewest runs."""
        return next((self._best_at(level) for level in range(_LEVELS + 1) if self._looked[level]), None)

    def _unseen(self) -> Iterator[Path]:
        """Yield pairs that were not tried before."""
        repeats = 0
        for path in self._source():
            if (ends := _ends(path)) not in self._seen:
                self._seen.add(ends)
                repeats = 0
                yield path
            elif (repeats := repeats + 1) >= _MOST_REPEATS:
                break
        self.exhausted = True

    def _source(self) -> Iterator[Path]:
        self._scoutings += 1
        if self.vary is not None and self._scoutings % 2 == 0:
            return chain(self._around_the_best(self.vary), self.proposals)
        if self.further is not None and self._scoutings % _FAR_EVERY == _FAR_EVERY - 1:
            return chain(self._beyond_the_best(self.further), self.proposals)
        return self.proposals

    def _around_the_best(self, vary: Callable[[Path], Iterator[Path]]) -> Iterator[Path]:
        """Yield variants of the pairs that differ most and that promise most."""
        if self._furthest is None:
            return
        yield from islice(vary(self._furthest.memory.path), _CLIMBERS)
        best = self.best()
        if best is not None and best is not self._furthest.memory:
            yield from halves(best.path) if best.distance > 1 else islice(vary(best.path), _CLIMBERS)

    def _beyond_the_best(self, further: Callable[[Path], Iterator[Path]]) -> Iterator[Path]:
        """Yield a path that repeats the change of one pair."""
        newest = next((known for known in reversed(self.contenders) if not known.is_far), None)
        known = self._furthest if self._scoutings % (2 * _FAR_EVERY) < _FAR_EVERY else newest
        if known is not None:
            untried = (path for path in further(known.memory.path) if _ends(path) not in self._seen)
            yield from islice(untried, 1)


def _ends(path: Path) -> frozenset[Any]:
    """Return a key of the two ends, whatever their order."""
    return frozenset((canonical.key(path[0]), canonical.key(path[-1])))
