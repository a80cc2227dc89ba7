"""Whether a subject's `sample` draws what its calls return.

A refutation is confirmed by calls (`confirm`), and a declared law is compared with them (`by_law`). What was
not refuted rests on runs that `sample` drew, many at once: here outputs of both ways on one database stand
beside each other like those of two databases, and what is bet against is that they have one law, ε = 0.

**Guarantee.** If they have one law and the runs are independent, a difference is reported with probability
at most the significance: each of two databases, and each of two beginnings where a call changes its input,
gets a quarter of it, and its wealth is a test martingale (`audit.evidence.bets`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Final

from audit.databases.chosen import Pair
from audit.distributions.forms import COARSE, coarse, plain
from audit.events.event import Event, NumberIn
from audit.evidence.memory import PairMemory, bet_on
from audit.sampling import CALLS, Runs, Sampler
from audit.values.brief import show
from audit.verdict.shown.candidates import find_candidates
from audit.verdict.terms import Terms

#: Calls on each database at most, and as many outputs of `sample`; a smaller share of a small budget.
MOST: Final = 500
_SHARE: Final = 40
_FIRST: Final = 20
#: Digits in which floats are compared: sums of the same numbers in another order differ in the last ones.
_DIGITS: Final = 10
#: An event is shown for its few words if it differs by so much of the widest difference.
_WELL: Final = 0.7


@dataclass
class CallsCheck:
    """The comparison of both ways on the two databases of one pair.

    Parameters
    ----------
    sampler
        Draws the runs.
    terms
        Those of the audit: its significance, its deadline, whether bit patterns count.
    compared
        Calls on each database so far.
    """

    sampler: Sampler
    terms: Terms
    compared: int = 0
    _batches: Iterator[int] = field(default_factory=count)
    _digits: int = _DIGITS

    def disagreement(self, pair: Pair) -> str:
        """Return where the two ways disagree, in one sentence; empty if no difference was found."""
        return self.sampler.with_copies(lambda: self._told_apart(pair))

    def _told_apart(self, pair: Pair) -> str:
        alike = replace(self.terms, epsilon=0.0, delta=0.0, significance=self.terms.significance / 4)
        self.compared = 0
        sides = [_Side(PairMemory(database, database, floats=alike.floats), alike) for database in pair]
        most = min(MOST, self.terms.budget // _SHARE)
        while self.compared < most and not self.terms.is_late(self.sampler.loading):
            size = min(max(_FIRST, self.compared), most - self.compared)  # as many as are known: few batches
            batches = self._drawn(pair, size)
            self.compared += size
            for side, runs in zip(sides, batches, strict=True):
                if side.learn(runs):
                    return side.words(self.compared)
        return ""

    def _drawn(self, pair: Pair, size: int) -> list[Runs]:
        """Draw a batch: of either database the outputs of `sample`, and those of as many calls."""
        place = next(self._batches)
        ways = [
            list(self.sampler.draw(*pair, size, (CALLS, place, way), singly=singly))
            for way, singly in enumerate((False, True))
        ]
        sides = [
            [[output for block in way for output in block.left] for way in ways],
            [[output for block in way for output in block.right] for way in ways],
        ]
        if not place and any(coarse(outputs) for side in sides for outputs in side):
            self._digits = COARSE  # by the kind of the first outputs, which nothing was bet on
        digits = None if self.terms.floats else self._digits
        return [
            Runs(
                [plain(each, digits) for each in at_once],
                [plain(each, digits) for each in called],
                typed=False,
            )
            for at_once, called in sides
        ]


@dataclass
class _Side:
    """What is known of one database."""

    memory: PairMemory
    terms: Terms
    log_wealth: float = 0.0

    def learn(self, runs: Runs) -> bool:
        """Settle the bets on a batch, learn from it, and return whether a difference was found."""
        chosen = self.memory.choose(0.0, 0.0)
        crosses, blocks = self.memory.take([runs])
        if chosen:
            self.log_wealth += bet_on(chosen, crosses).log_growth(0.0, 0.0)
        self.memory.learn(blocks, crosses)
        return self.log_wealth >= self.terms.log_limit

    def words(self, compared: int) -> str:
        event, (at_once, called) = self._shown()
        return (
            f"`sample` and single calls disagree: on {show(self.memory.left, 40)} "
            f"{event.words()} in {at_once:.3g} of the outputs of `sample`, but in {called:.3g} of those of "
            f"{compared} calls (log e-value {self.log_wealth:.4g}, limit {self.terms.log_limit:.4g})"
        )

    def _shown(self) -> tuple[Event, tuple[float, float]]:
        """Return the event that is said in the fewest words among those that differ well, and its shares."""
        found = [candidate.event for candidate in find_candidates(self.memory, self.terms)]
        events = [*found, *(simple for event in found for simple in _simpler(event))]
        counts = [self.memory.seen(event, 0) for event in events]
        shares = [(float(a / (a + b)), float(c / (c + d))) for a, b, c, d in counts]
        widest = max(abs(one - other) for one, other in shares)
        telling = [k for k, (one, other) in enumerate(shares) if abs(one - other) >= _WELL * widest]
        k = min(telling, key=lambda k: len(events[k].words()))
        return events[k], shares[k]


def _simpler(event: Event) -> list[Event]:
    """Return one interval for an event of many, and one for what lies between the outermost of them."""
    [condition, *more] = event.conditions
    if more or not isinstance(condition, NumberIn) or len(condition.intervals) < 2:
        return []
    (low, first), *_, (last, high) = condition.intervals
    return [Event((replace(condition, intervals=(ends,)),)) for ends in ((low, high), (first, last))]
