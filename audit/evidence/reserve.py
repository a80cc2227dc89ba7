"""An account that keeps a reserve, so that early bets cannot lose everything."""

import math
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from audit.distributions.law import Floats

#: Larger: more is risked on the first pairs. This share of the wealth is bet from the first bet on; after n
#: bets 1/n of the rest is still in reserve.
_AT_ONCE = 0.8


@dataclass(frozen=True)
class Reserved:
    """The wealth of an account against each claim.

    The wealth has two parts: a part that is bet, and a reserve.

    **Guarantee.** The amount that leaves the reserve before a bet depends on the number of bets alone. From
    then on it is multiplied by factors whose conditional expectation is at most 1. So the sum of both parts
    is a non-negative supermartingale that starts at 1.

    Parameters
    ----------
    bets
        Number of bets so far.
    log_bet, log_reserve
        Logs of the wealth that is bet and of the reserve, shape (claims,).
    """

    bets: int
    log_bet: Floats
    log_reserve: Floats

    @classmethod
    def new(cls, claims: int) -> "Reserved":
        """Return the wealth before the first bet."""
        return cls(0, np.full(claims, -np.inf), np.zeros(claims))

    @property
    def log_wealth(self) -> Floats:
        """Log of the whole wealth, shape (claims,)."""
        return np.asarray(np.logaddexp(self.log_bet, self.log_reserve))

    def after(self, growth: Floats) -> "Reserved":
        """Return the wealth after one more bet. `growth` is the log of the bet's factor for each claim."""
        left = 1 - _AT_ONCE if self.bets == 0 else self.bets / (self.bets + 1)
        bet = np.logaddexp(self.log_bet, self.log_reserve + math.log1p(-left))
        return Reserved(self.bets + 1, np.asarray(bet + growth), self.log_reserve + math.log(left))

    def states(self, growths: Floats) -> "list[Reserved]":
        """Return the account before the first bet and after each bet. `growths` are the bets' log factors."""
        return list(accumulate(growths.T, Reserved.after, initial=self))

    def path(self, growths: Floats) -> Floats:
        """Return the log wealth before the first bet and after each bet.

        The result has shape (claims, 1 + bets).

        Parameters
        ----------
        growths
            Logs of the factors, shape (claims, bets).

        Examples
        --------
        >>> bool(Reserved.new(1).path(np.full((1, 99), -1.0))[0, -1] > math.log(0.2 / 100))
        True
        """
        return np.column_stack([state.log_wealth for state in self.states(growths)])
