"""The check that a subject's `sample` draws what its calls return.

Single calls confirm every refutation (`confirm`), and test every declared law (`by_law`). A verdict of not
refuted may rest on runs of `sample` alone. This check compares the outputs of `sample` and of single calls on
one database, as if they came from two databases. It bets against the claim that both have the same
law (ε = 0).

**Guarantee.** If both have the same law and the runs are independent, the chance of reporting a difference is
at most the significance. There are two databases, and the check starts a second time if a call changes its
input. Each of these four gets a quarter of the significance, and its wealth is a test martingale
(`audit.evidence.bets`).
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

#: Larger: smaller differences are found, for more runs. The most calls on each database, with as many outputs
#: of `sample`; a budget below `MOST`·`_SHARE` runs allows 1/`_SHARE` of itself.
MOST: Final = 500
_SHARE: Final = 40
_FIRST: Final = 20
#: Larger: floats that differ by rounding count as different. Significant digits compared; the last digits of
#: a sum depend on the order of its terms.
_DIGITS: Final = 10
#: Larger: the shown event differs more but may be longer. The least difference of its two shares, as a part
#: of the largest difference.
_WELL: Final = 0.7


@dataclass
class CallsCheck:
    """The comparison of `sample` with single calls on the two databases of one pair.

    Parameters
    ----------
    sampler
        Draws the runs.
    terms
        The audit's terms: its significance, its deadline, whether bit patterns count.
    compared
        Calls on each database so far.
    """

    sampler: Sampler
    terms: Terms
    compared: int = 0
    _batches: Iterator[int] = field(default_factory=count)
    _digits: int = _DIGITS

    def disagreement(self, pair: Pair) -> str:
        """Return one sentence saying where the two disagree; empty if no difference was found."""
        return self.sampler.with_copies(lambda: self._told_apart(pair))

    def _told_apart(self, pair: Pair) -> str:
        alike = replace(self.terms, epsilon=0.0, delta=0.0, significance=self.terms.significance / 4)
        self.compared = 0
        sides = [_Side(PairMemory(database, database, floats=alike.floats), alike) for database in pair]
        most = min(MOST, self.terms.budget // _SHARE)
        while self.compared < most and not self.terms.is_late(self.sampler.loading):
            size = min(max(_FIRST, self.compared), most - self.compared)  # batches double, so there are few
            batches = self._drawn(pair, size)
            self.compared += size
            for side, runs in zip(sides, batches, strict=True):
                if side.differs(runs, last=self.compared >= most):
                    return side.words(self.compared)
        return ""

    def _drawn(self, pair: Pair, size: int) -> list[Runs]:
        """Return a batch: for each database, outputs of `sample` and those of as many calls."""
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
            self._digits = COARSE  # set by the first outputs, on which there was no bet
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
    """The runs and the wealth on one database."""

    memory: PairMemory
    terms: Terms
    log_wealth: float = 0.0

    def differs(self, runs: Runs, *, last: bool) -> bool:
        """Return whether a difference is found once the bets on a batch are settled; learn from the batch.

        No bet follows the `last` batch. It is learned from only to show a difference.
        """
        chosen = self.memory.choose(0.0, 0.0)
        crosses, blocks = self.memory.take([runs])
        if chosen:
            self.log_wealth += bet_on(chosen, crosses).log_growth(0.0, 0.0)
        found = self.log_wealth >= self.terms.log_limit
        if found or not last:
            self.memory.learn(blocks, crosses)
        return found

    def words(self, compared: int) -> str:
        event, (at_once, called) = self._shown()
        return (
            f"`sample` and single calls disagree: on {show(self.memory.left, 40)} "
            f"{event.words()} in {at_once:.3g} of the outputs of `sample`, but in {called:.3g} of those of "
            f"{compared} calls (log e-value {self.log_wealth:.4g}, limit {self.terms.log_limit:.4g})"
        )

    def _shown(self) -> tuple[Event, tuple[float, float]]:
        """Return the event with the shortest text among those that differ enough, with its two shares."""
        found = [candidate.event for candidate in find_candidates(self.memory, self.terms)]
        events = [*found, *(simple for event in found for simple in _simpler(event))]
        counts = [self.memory.seen(event, 0) for event in events]
        shares = [(float(a / (a + b)), float(c / (c + d))) for a, b, c, d in counts]
        widest = max(abs(one - other) for one, other in shares)
        telling = [k for k, (one, other) in enumerate(shares) if abs(one - other) >= _WELL * widest]
        k = min(telling, key=lambda k: len(events[k].words()))
        return events[k], shares[k]


def _simpler(event: Event) -> list[Event]:
    """Return two single-interval versions of an event of several intervals, or none for other events.

    One spans all intervals; the other runs from the end of the first to the start of the last.
    """
    [condition, *more] = event.conditions
    if more or not isinstance(condition, NumberIn) or len(condition.intervals) < 2:
        return []
    (low, first), *_, (last, high) = condition.intervals
    return [Event((replace(condition, intervals=(ends,)),)) for ends in ((low, high), (first, last))]
