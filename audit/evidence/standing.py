"""What a later audit needs to continue an audit.

This is the wealth of the audit's accounts against some claims.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from audit.distributions.law import Flags, Floats
from audit.evidence.reserve import Reserved

#: Log wealth is saved in thousandths, rounded down, so that a continued audit never gains by rounding.
_PARTS = 1_000
#: The log wealth, in thousandths, against a claim that was rejected once. No later bet undoes the rejection.
FOR_GOOD = 10**9
_LEAST = -(10**9)


@dataclass(frozen=True)
class Standing:
    """The log wealth of the two accounts of an audit against several claims.

    **Guarantee.** The accounts continue with their earlier wealth, or with less, so their whole path is one
    supermartingale. A claim stays rejected once the wealth against it has crossed the threshold.

    Parameters
    ----------
    bets
        Number of bets so far.
    claims
        Pairs (ε, δ).
    own, reserve, goal
        Log wealth against each claim, in thousandths. `own` is the part of the event account that is bet, and
        `reserve` is the rest. `goal` is the account with a goal.
    """

    bets: int
    claims: tuple[tuple[float, float], ...]
    own: tuple[int, ...]
    reserve: tuple[int, ...]
    goal: tuple[int, ...]

    @classmethod
    def of(
        cls,
        claims: Sequence[tuple[float, float]],
        account: Reserved,
        goal: Floats,
        *,
        lost: Floats,
        rejected: Flags,
    ) -> "Standing":
        """Return the wealth of both accounts in the form that is saved.

        Parameters
        ----------
        claims
            The claims.
        account, goal
            The account for events, and the log wealth of the account with a goal, against these claims.
        lost
            Log of the factor that remains after earlier losses, at most 0, shape (claims,).
        rejected
            Whether each claim has been rejected, shape (claims,).
        """
        own = np.where(rejected, FOR_GOOD / _PARTS, account.log_bet + lost)
        logs = (own, account.log_reserve + lost, goal + lost)
        return cls(account.bets, tuple(claims), *map(_thousandths, logs))

    def at(self, epsilons: Floats, deltas: Floats) -> tuple[Reserved, Floats]:
        """Return the wealth of both accounts against these claims.

        For the account with a goal, this is the log wealth.
        """
        places = [self._places[claim] for claim in zip(epsilons.tolist(), deltas.tolist(), strict=True)]
        logs = np.array([self.own, self.reserve, self.goal], dtype=float)[:, places] / _PARTS
        return Reserved(self.bets, logs[0], logs[1]), logs[2]

    @cached_property
    def _places(self) -> dict[tuple[float, float], int]:
        return {claim: place for place, claim in enumerate(self.claims)}


def _thousandths(logs: Floats) -> tuple[int, ...]:
    held = np.clip(_PARTS * logs, _LEAST, FOR_GOOD)
    return tuple(math.floor(log) for log in held.tolist())
