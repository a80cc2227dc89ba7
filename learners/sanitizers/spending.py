"""What each of many private steps may cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from audit.claims import ApproximateDP, PureDP
from mechanisms.composition.accounting import advanced_bound, composed_delta, sequential_bound

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from audit.claims import PrivacyClaim

__all__ = ["Spending", "affordable"]

_STEPS = 40
_HUGE = 1e100
"""Squares of larger epsilons overflow; for these the sum of the epsilons is the better bound anyway."""
_ACCURACY = 2e-9
"""A computed delta must be below `delta` by this margin, which is twice the error of `composed_delta`."""


@dataclass(frozen=True)
class Spending:
    """The cost of a composition, by three accountants.

    Parameters
    ----------
    step
        The epsilon of one step, from which `claims` was computed.
    claims
        The claims of all steps that can be run.
    delta
        The delta of all steps together.

    Guarantee
    ---------
    `basic`, `advanced` and `optimal` each bound every composition of the claims, even an adaptive one
    (`mechanisms.composition.accounting`).

    Examples
    --------
    >>> spent = Spending(0.1, (ApproximateDP(0.1, 1e-8),) * 20, 1e-6)
    >>> round(spent.basic, 3), round(spent.advanced, 3), round(spent.optimal, 3)
    (2.0, 2.0, 1.793)
    """

    step: float
    claims: tuple[PureDP | ApproximateDP, ...]
    delta: float

    @cached_property
    def _sums(self) -> PureDP | ApproximateDP:
        return sequential_bound(self.claims)

    @property
    def basic(self) -> float:
        """The sum of the epsilons."""
        return self._sums.epsilon

    @property
    def advanced(self) -> float:
        """The epsilon at `delta` by advanced composition; infinite without slack."""
        slack = self.delta - self._sums.delta
        if slack <= 0.0 or self.basic > _HUGE:
            return math.inf
        return advanced_bound(self.claims, slack=slack).epsilon

    @property
    def optimal(self) -> float:
        """The least epsilon at `delta` that follows from the claims."""
        from mechanisms.composition.accounting import composed_epsilon

        return composed_epsilon(self.claims, delta=self.delta)

    def simply_within(self, epsilon: float) -> bool:
        """Return whether basic or advanced composition stays within (epsilon, delta)."""
        return self._sums.delta <= self.delta and min(self.basic, self.advanced) <= epsilon

    def within(self, epsilon: float) -> bool:
        """Return whether some composition bound stays within (epsilon, delta)."""
        if self.simply_within(epsilon):
            return True
        return _composed_delta(self.claims, epsilon) <= self.delta - _ACCURACY


@lru_cache(maxsize=1_024)
def _composed_delta(claims: tuple[PureDP | ApproximateDP, ...], epsilon: float) -> float:
    """Return the delta of optimal composition, from a cache."""
    return composed_delta(claims, epsilon=epsilon)


def affordable(
    claims: Callable[[float], Sequence[PrivacyClaim]], *, epsilon: float, delta: float, largest: float
) -> Spending:
    """Return the cost at the largest affordable step.

    Parameters
    ----------
    claims
        Takes the epsilon of one step, returns the claims of all steps, which grow with this epsilon.
    epsilon, delta
        The budget for all steps together.
    largest
        The upper limit of the epsilon of one step.

    Guarantee
    ---------
    A step is within the budget if basic, advanced or optimal composition shows it. Bisection finds the
    largest such step.

    Examples
    --------
    >>> spent = affordable(lambda step: [PureDP(step)] * 100, epsilon=1.0, delta=1e-6, largest=1.0)
    >>> round(spent.step, 5), spent.within(1.0)
    (0.02401, True)
    """

    def spending(step: float) -> Spending:
        told = [claim for claim in claims(step) if isinstance(claim, (PureDP, ApproximateDP))]
        return Spending(step, tuple(told), delta)

    most = min(epsilon, largest)
    simple = _largest(lambda step: spending(step).simply_within(epsilon), 0.0, most, steps=_STEPS)
    best = _largest(
        lambda step: spending(step).within(epsilon), simple, min(2.0 * simple, most), steps=_STEPS // 2
    )
    return spending(best)


def _largest(holds: Callable[[float], bool], low: float, high: float, *, steps: int) -> float:
    """Return about the largest number at which `holds` is true.

    `holds` must be true at `low`.
    """
    if holds(high):
        return high
    for _ in range(steps):
        middle = (low + high) / 2.0
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
