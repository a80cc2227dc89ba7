"""What an audit by runs bets against, and how long."""

import math
import time
from dataclasses import dataclass
from typing import Any

from audit.claims import at_distance
from audit.evidence.bets import Ledger
from audit.evidence.bounds import delta_bound, epsilon_bound
from audit.evidence.goals import Goals
from audit.sampling import stop_asked

#: Shares of the wealth that aim at the last run: of an audit that goes on to it, and of one that stops early.
_GOAL_AT_END = 0.8
_GOAL_BESIDE = 0.5


@dataclass(frozen=True)
class Terms:
    """What is bet against, and how long.

    Parameters
    ----------
    epsilon, delta
        The claim.
    significance
        The wealth to reach is 1/significance.
    budget
        Most runs, both sides and exploration included.
    deadline
        Moment of `time.monotonic` after which no new batch begins, or None.
    stop_when_refuted
        Whether to stop at the crossing.
    floats
        Whether bit patterns may be bet on.
    against
        Whether unfinished runs count against the refutation (else they are outputs).
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
        """The account that aims at the last run."""
        share = goal_share(stops=self.stop_when_refuted)
        return Goals(self.log_limit - math.log(share), share)

    def is_late(self, loading: float) -> bool:
        """Whether the time is over: Ctrl-C was pressed, or the deadline has passed.

        The deadline is moved by the seconds that the subject's first run took to load.
        """
        return stop_asked() or (self.deadline is not None and time.monotonic() >= self.deadline + loading)

    def at(self, distance: int) -> tuple[float, float]:
        """Return the claim on databases this many steps apart, as ε and δ."""
        return at_distance(self.epsilon, self.delta, distance)

    def bounds(self, ledger: Ledger) -> dict[str, Any]:
        """Return the lower bounds on ε and δ that bets show, as the fields of a result."""
        claimed, level = self.epsilon, self.significance
        return {
            "epsilon_lower": epsilon_bound(ledger, epsilon=claimed, delta=self.delta, significance=level),
            "delta_lower": delta_bound(ledger, epsilon=claimed, significance=level),
        }


def goal_share(*, stops: bool) -> float:
    """Return the share of the wealth that aims at the last run; `stops`: the audit ends once it refutes."""
    return _GOAL_BESIDE if stops else _GOAL_AT_END
