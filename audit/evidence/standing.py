"""Where the accounts of an audit stand against some claims: what an audit that goes on starts from."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from audit.distributions.law import Floats
from audit.evidence.reserve import Reserved

#: Log wealth is kept in thousandths, rounded down: less than there is.
_PARTS = 1_000
#: A log wealth, in thousandths, that no later bet undoes: the claim was rejected once, which is for good.
FOR_GOOD = 10**9
_LEAST = -(10**9)

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Standing:
    """The log wealth of both accounts against each of some claims.

    **Guarantee.** The accounts go on where they stood, or with less: their whole path is one supermartingale.
    A claim whose wealth has crossed counts as rejected from then on, whatever follows.

    Parameters
    ----------
    bets
        How many bets there were.
    claims
        Pairs (ε, δ).
    own, reserve, goal
        For each claim the logs, in thousandths, of what the account of events has bet and of its reserve, and
        of what the account with a goal has.
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
        """Return the standing of both accounts.

        Parameters
        ----------
        claims
            The claims.
        account, goal
            The accounts against them.
        lost
            Log of what is left of either, at most 0, shape (claims,).
        rejected
            Which claims have been rejected, shape (claims,).
        """
        own = np.where(rejected, FOR_GOOD / _PARTS, account.log_bet + lost)
        logs = (own, account.log_reserve + lost, goal + lost)
        return cls(account.bets, tuple(claims), *map(_thousandths, logs))

    def at(self, epsilons: Floats, deltas: Floats) -> tuple[Reserved, Floats]:
        """Return both accounts against some of the claims."""
        places = [self._places[claim] for claim in zip(epsilons.tolist(), deltas.tolist(), strict=True)]
        logs = np.array([self.own, self.reserve, self.goal], dtype=float)[:, places] / _PARTS
        return Reserved(self.bets, logs[0], logs[1]), logs[2]

    @cached_property
    def _places(self) -> dict[tuple[float, float], int]:
        return {claim: place for place, claim in enumerate(self.claims)}


def _thousandths(logs: Floats) -> tuple[int, ...]:
    held = np.clip(_PARTS * logs, _LEAST, FOR_GOOD)
    return tuple(math.floor(log) for log in held.tolist())
