"""Check that a subject's `sample` has the same law as its calls.

Single calls confirm every refutation (`confirm`) and test every declared law (`by_law`). But the verdict
NOT_REFUTED may rest on runs of `sample` alone. This check takes outputs of `sample` and of single calls on
one database. It treats them as if they came from two databases. It bets against the claim ε = 0, which says
that both laws are the same.

**Guarantee.** Suppose both laws are the same and the runs are independent. The chance of reporting a
difference is then at most the significance. There are two databases, and the check starts a second time if a
call changes its input. So there are at most four tests. Each test gets a quarter of the significance, and its
wealth is a test martingale (`audit.evidence.bets`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Final

from audit.databases.chosen import Pair
from audit.distributions.forms import COARSE, coarse, plain
from audit.events.event import Event, NumberIn
from audit.evidence.memory import PairMemory, bet_on
from audit.sampling import CALLS, Runs, Sampler
from audit.values.brief import show
from audit.verdict.shown.candidates import find_candidates
from audit.verdict.terms import Terms

#: The most calls on each database, compared with as many outputs of `sample`. If the budget is below
#: `MOST`·`_SHARE` runs, there are budget/`_SHARE` calls. More calls detect smaller differences.
MOST: Final = 500
_SHARE: Final = 40
_FIRST: Final = 20
#: Floats are compared to this many significant digits, because the last digits of a sum depend on the order
#: of its terms.
_DIGITS: Final = 10
#: The shown event is the shortest of those whose two frequencies differ by at least this fraction of the
#: largest difference.
_WELL: Final = 0.7


@dataclass
class CallsCheck:
    """The comparison of `sample` with single calls on the two databases of one pair.

    Parameters
    ----------
    sampler
        Draws the runs.
    terms
        The terms of the audit: significance, deadline, and whether bit patterns of floats count.
    compared
        The number of calls on each database so far.
    """

    sampler: Sampler
    terms: Terms
    compared: int = 0
    _batches: Iterator[int] = field(default_factory=count)
    _digits: int = _DIGITS

    def disagreement(self, pair: Pair) -> str:
        """Return a sentence that says where calls and `sample` disagree.

        If no difference was found, the sentence is empty.
        """
        return self.sampler.with_copies(lambda: self._told_apart(pair))

    def _told_apart(self, pair: Pair) -> str:
        alike = replace(self.terms, epsilon=0.0, delta=0.0, significance=self.terms.significance / 4)
        self.compared = 0
        sides = [_Side(PairMemory(database, database, floats=alike.floats), alike) for database in pair]
        most = min(MOST, self.terms.budget // _SHARE)
        while self.compared < most and not self.terms.is_late(self.sampler.loading):
            size = min(max(_FIRST, self.compared), most - self.compared)  # batches double: there are few
            batches = self._drawn(pair, size)
            self.compared += size
            for side, runs in zip(sides, batches, strict=True):
                if side.differs(runs, last=self.compared >= most):
                    return side.words(self.compared)
        return ""

    def _drawn(self, pair: Pair, size: int) -> list[Runs]:
        """Return a batch of outputs of `sample` and of single calls, by database."""
        place = next(self._batches)
        ways = [
            list(self.sampler.draw(*pair, size, (CALLS, place, way), singly=singly))
            for way, singly in enumerate((False, True))
        ]
        sides = [
            [list(chain.from_iterable(getattr(block, side) for block in way)) for way in ways]
            for side in ("left", "right")
        ]
        if not place and any(coarse(outputs) for side in sides for outputs in side):
            self._digits = COARSE  # decided by the first outputs, which were not bet on
        digits = None if self.terms.floats else self._digits
        return [
            Runs([plain(o, digits) for o in at_once], [plain(o, digits) for o in called], typed=False)
            for at_once, called in sides
        ]


@dataclass
class _Side:
    """The runs and the wealth on one database."""

    memory: PairMemory
    terms: Terms
    log_wealth: float = 0.0

    def differs(self, runs: Runs, *, last: bool) -> bool:
        """Bet on a batch, learn from it, and return whether a difference was found.

        No bet follows the `last` batch, so the check learns from it only if it shows a difference.
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
        """Return the shortest event that differs well, and its two frequencies.

        The frequencies are in the outputs of `sample` and of calls.
        """
        found = [candidate.event for candidate in find_candidates(self.memory, self.terms)]
        events = [*found, *(simple for event in found for simple in _simpler(event))]
        counts = [self.memory.seen(event, 0) for event in events]
        shares = [(float(a / (a + b)), float(c / (c + d))) for a, b, c, d in counts]
        widest = max(abs(one - other) for one, other in shares)
        telling = [k for k, (one, other) in enumerate(shares) if abs(one - other) >= _WELL * widest]
        k = min(telling, key=lambda k: len(events[k].words()))
        return events[k], shares[k]


def _simpler(event: Event) -> list[Event]:
    """Return two simpler versions of an event with several intervals.

    Each version has one interval. The first interval spans all intervals. The second interval extends from
    the end of the first to the start of the last. Other events have no simpler version.
    """
    [condition, *more] = event.conditions
    if more or not isinstance(condition, NumberIn) or len(condition.intervals) < 2:
        return []
    (low, first), *_, (last, high) = condition.intervals
    return [Event((replace(condition, intervals=(ends,)),)) for ends in ((low, high), (first, last))]
