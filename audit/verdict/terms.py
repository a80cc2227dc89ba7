"""The claim that an audit by runs bets against, and the audit's limits."""

import math
import time
from dataclasses import dataclass
from typing import Any

from audit.claims import at_distance
from audit.evidence.bets import Ledger
from audit.evidence.bounds import delta_bound, epsilon_bound
from audit.evidence.goals import Goals
from audit.evidence.memory import PairMemory
from audit.sampling import stop_asked
from audit.values.outcomes import Raised, Unfinished

#: The share of the wealth whose bets aim to refute by the last run; the bets of the rest aim to refute early.
#: `_GOAL_AT_END` is for audits that run to the end, `_GOAL_BESIDE` for audits that stop once they refute.
_GOAL_AT_END = 0.8
_GOAL_BESIDE = 0.5
#: Shares of the claimed ε that `Terms.reach` tries.
_SHARES = tuple(k / 20 for k in range(1, 41))
#: Larger: pairs with few runs get more bets. Number of standard errors by which `Terms.reach` is optimistic.
_OPTIMISM = 0.5


@dataclass(frozen=True)
class Terms:
    """The claim that an audit bets against, and the limits of the audit.

    Parameters
    ----------
    epsilon, delta
        The claim.
    significance
        The error probability; the claim is refuted when the wealth reaches 1/significance.
    budget
        The most runs, on both sides together, including those of the search.
    deadline
        The time, in seconds of `time.monotonic`, after which no new batch begins; None for no limit.
    stop_when_refuted
        Whether to stop as soon as the wealth refutes the claim.
    floats
        Whether events may use bit patterns of floats.
    against
        Whether unfinished runs count in favour of the claim; otherwise they count as outputs.
    """

    epsilon: float
    delta: float
    significance: float
    budget: int
    deadline: float | None = None
    stop_when_refuted: bool = True
    floats: bool = False
    against: bool = True

    @property
    def log_limit(self) -> float:
        """The log wealth at which the claim is refuted."""
        return -math.log(self.significance)

    @property
    def goals(self) -> Goals:
        """The account of the wealth that aims to refute the claim by the last run."""
        share = goal_share(stops=self.stop_when_refuted)
        return Goals(self.log_limit - math.log(share), share)

    def is_late(self, loading: float) -> bool:
        """Return whether Ctrl-C was pressed or the deadline has passed.

        The deadline is extended by the seconds that it took to load the subject.
        """
        return stop_asked() or (self.deadline is not None and time.monotonic() >= self.deadline + loading)

    def at(self, distance: int) -> tuple[float, float]:
        """Return the claim on databases this many steps apart, as ε and δ."""
        return at_distance(self.epsilon, self.delta, distance)

    def reach(self, memory: PairMemory, pairs: int) -> float:
        """Return the largest share of ε that bets on a pair of databases may still refute; 0 if none.

        Shares up to 2 are tried. `pairs` is the number of pairs of runs that may still be bet on. The
        estimate is optimistic. Otherwise a pair that is known to be weak would be preferred to pairs with few
        runs. An audit that stops once it refutes does not spread its runs over pairs in this way, so its
        reach is 0.
        """
        if self.stop_when_refuted:
            return 0.0
        needed = self._needed(memory, pairs) - _OPTIMISM
        strong = memory.strengths(self.epsilon, self.delta, _SHARES)
        return max(
            (share for share, each in zip(_SHARES, strong, strict=True) if each >= needed), default=0.0
        )

    def knows_little(self, memory: PairMemory, pairs: int) -> bool:
        """Return whether a pair has so few runs that it has the largest reach even with no evidence."""
        return not self.stop_when_refuted and self._needed(memory, pairs) <= _OPTIMISM

    def _needed(self, memory: PairMemory, pairs: int) -> float:
        """Return how strong the runs so far must be, in standard errors, for bets on `pairs` to refute.

        Bets with a gain of z standard errors add about z²/2 to the log wealth. One standard error is added as
        a margin, so that the gain is large enough in five cases of six.
        """
        return (math.sqrt(2 * self.log_limit) + 1) * math.sqrt(memory.pairs / max(pairs, 1))

    def bounds(self, ledger: Ledger) -> dict[str, Any]:
        """Return the lower bounds on ε and δ that these bets give, as fields of a result."""
        claimed, level = self.epsilon, self.significance
        return {
            "epsilon_lower": epsilon_bound(ledger, epsilon=claimed, delta=self.delta, significance=level),
            "delta_lower": delta_bound(ledger, epsilon=claimed, significance=level),
        }


def goal_share(*, stops: bool) -> float:
    """Return the share of the wealth for bets that aim to refute by the last run.

    `stops` says whether the audit ends once it refutes.
    """
    return _GOAL_BESIDE if stops else _GOAL_AT_END


class NeverAnswers(Exception):  # noqa: N818 - an outcome of the subject, not an error of ours
    """Every run so far raised or did not finish. The message shows one of these runs."""

    def __init__(self, outcome: Raised | Unfinished) -> None:
        said = f"every run {outcome}"
        if isinstance(outcome, Unfinished):
            said = f"no run finished: {outcome.reason}"
        super().__init__(said)
