"""Compare pairs of laws with a claim.

The numbers of a law are rounded. `Law.extreme` returns the ends of the rounding error. If p ≥ p⁻ and q ≤ q⁺
outcome by outcome, every event has p(E) − e^ε·q(E) ≥ p⁻(E) − e^ε·q⁺(E). A pair that seems to exceed the claim
is therefore compared again with p⁻ and q⁺. An excess that remains is not due to rounding. So rounding in the
last bit never refutes a mechanism that meets its claim with equality. An excess that does not remain may be
due to rounding. If such an excess is at most `SETTLED` in ε, the pair is `within`, and `slack` is the excess.
Otherwise the pair is neither `over` nor `within`.

The tolerance covers the rounding of the logarithms (about 1e-15 of their size). An excess of 1e-6 is detected
if the numbers are accurate enough. Laws given as fractions are compared without rounding.
"""

from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np

from audit.claims import PrivacyClaim
from audit.distributions.law import Floats, Ints, Law
from audit.laws.divergence import TOLERANCE, loss_epsilon_bounds
from audit.laws.losses import Loss, loss_of
from audit.laws.losses.rational import exceeds, fractions_of
from audit.laws.losses.side_by_side import epsilons, excesses, losses_of, stacked

SETTLED = 1e-3
"""Larger: more claims are proved, less exactly. A claim that is exceeded in ε by at most this counts as met
if rounding explains the excess."""
_NEAR = 1e-6
"""Larger: slower. Laws given as fractions are compared exactly if floats come this close to the claim."""

Numbers = TypeVar("Numbers")


class Score(NamedTuple, Generic[Numbers]):
    """Bounds on ε and δ of a pair of laws, and how the pair meets a claim.

    If many pairs are scored, each field is an array.

    `over` says that the pair surely exceeds the claim, `within` that it surely meets the claim. A pair with a
    tiny excess that rounding explains is `within`. `slack` is then the excess in ε. For all other pairs
    `slack` is 0.
    """

    epsilon: Numbers
    epsilon_upper: Numbers
    delta: Numbers
    delta_upper: Numbers
    over: Any
    within: Any
    slack: Numbers


Scores: TypeAlias = Score[Floats]
"""The scores of all pairs: first of left against right, then of right against left."""


def score(p: Law, q: Law, claim: PrivacyClaim) -> Score[float]:
    """Return the score of one pair.

    Examples
    --------
    >>> from audit.claims import PureDP
    >>> from audit.distributions import Finite
    >>> p = np.exp(-22.0) / (1.0 + np.exp(-22.0))
    >>> found = score(Finite("ab", [1.0 - p, p]), Finite("ab", [p, 1.0 - p]), PureDP(22.0))
    >>> found.over, found.within, 0.0 <= found.slack < 1e-6
    (False, True, True)
    """
    loss = loss_of(p, q)
    smallest = loss_epsilon_bounds(loss, claim.delta)
    over, within = _standing(loss, claim)
    excess, slack = smallest[0] - claim.epsilon, 0.0
    exact = _exactly_over(p, q, claim)
    if exact is not None:
        over, within = exact, not exact
    elif over:
        over, _ = _standing(loss_of(p.extreme(-1), q.extreme(+1)), claim)
        within = not over and excess <= SETTLED
        slack = excess if within else 0.0
    return Score(*smallest, *loss.bounds(claim.epsilon), over, within, slack)


def _standing(loss: Loss, claim: PrivacyClaim) -> tuple[bool, bool]:
    """Return whether the loss surely exceeds the claim, and whether it meets it."""
    if claim.delta > 0.0:
        low, high = loss.bounds(claim.epsilon + TOLERANCE)
        allowed = claim.delta * (1.0 + TOLERANCE)
        return low > allowed, high <= allowed
    over = loss.supremum() > claim.epsilon + TOLERANCE
    return over, not over


class SideBySide:
    """Compares thousands of pairs of finite laws with a claim at once."""

    def __init__(self, laws: list[Law], table: Floats, claim: PrivacyClaim) -> None:
        self._laws, self._table, self._claim = laws, table, claim
        self._fractions = any(fractions_of(law) is not None for law in laws)

    def scores(self, pairs: Ints) -> Scores:
        """Return the scores of pairs of row numbers."""
        epsilon, delta = self._claim.epsilon, self._claim.delta
        losses = losses_of(self._table, *pairs.T)
        worst = epsilons(self._table, pairs[:, 0], losses=losses, delta=delta)
        excess = excesses(self._table, pairs[:, 0], losses=losses, epsilon=epsilon)
        seems = self._over(self._table, pairs, losses)
        over = seems.copy()
        if seems.any() and self._extremes is not None:
            over[seems] = self._over(self._extremes, pairs[seems] + [0, len(self._laws)])
        if self._fractions:
            near = seems | (excess >= delta * (1.0 - _NEAR) - _NEAR if delta else worst >= epsilon - _NEAR)
            for place in np.flatnonzero(near).tolist():
                p, q = pairs[place].tolist()
                exact = _exactly_over(self._laws[p], self._laws[q], self._claim)
                seems[place] = over[place] = over[place] if exact is None else exact
        slack = np.where(seems & ~over, worst - epsilon, 0.0)
        within = ~over & (slack <= SETTLED)
        return Score(worst, worst, excess, excess, over, within, np.where(within, slack, 0.0))

    def _over(self, table: Floats, pairs: Ints, losses: Floats | None = None) -> Any:
        p = pairs[:, 0]
        losses = losses_of(table, *pairs.T) if losses is None else losses
        beyond = self._claim.epsilon + TOLERANCE
        if self._claim.delta == 0.0:
            return losses.max(axis=1) > beyond
        allowed = self._claim.delta * (1.0 + TOLERANCE)
        return excesses(table, p, losses=losses, epsilon=beyond) > allowed

    @cached_property
    def _extremes(self) -> Floats | None:
        """All laws at the lower ends of rounding, then at the upper ends.

        It is None if all laws are exact.
        """
        least, most = ([law.extreme(sign) for law in self._laws] for sign in (-1, +1))
        if all(a is b for a, b in zip(least, most, strict=True)):
            return None
        tables = stacked(least), stacked(most)
        assert tables[0] is not None
        assert tables[1] is not None
        return np.concatenate([tables[0], tables[1]])


def _exactly_over(p: Law, q: Law, claim: PrivacyClaim) -> bool | None:
    """Return whether two laws exceed a claim, or None without fractions."""
    left, right = fractions_of(p), fractions_of(q)
    if left is None or right is None:
        return None
    return exceeds(left, right, epsilon=claim.epsilon, delta=claim.delta)
