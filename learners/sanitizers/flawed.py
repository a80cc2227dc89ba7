"""Flawed sanitizers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar

from audit.catalogue import Entry
from audit.claims import ApproximateDP, PureDP
from learners.sanitizers.intervals import IntervalSanitizer
from learners.sanitizers.points import PointSanitizer
from learners.sanitizers.spending import Spending
from learners.sanitizers.swaps import LOOSE, swaps
from mechanisms.noise.noises import GeometricNoise

__all__ = ["UnsplitIntervalSanitizer", "UnsplitPointSanitizer"]


class _Unsplit:
    """A flaw in which every step gets the whole budget."""

    epsilon: float
    delta: float

    @property
    def choosing_delta(self) -> float:
        """The whole delta."""
        return self.delta

    @cached_property
    def noise(self) -> GeometricNoise:
        """The noise on every count, at the whole epsilon."""
        return GeometricNoise(self.epsilon / 2.0)


@dataclass(frozen=True, kw_only=True)
class UnsplitPointSanitizer(_Unsplit, PointSanitizer):
    """Wrong sanitizer of points that spends the budget repeatedly.

    Guarantee
    ---------
    Not (epsilon, delta)-private: the k rounds and the counts add up to ((k + 1)·epsilon, k·delta).

    Examples
    --------
    >>> sanitizer = UnsplitPointSanitizer(dimension=1, epsilon=8.0, delta=0.1, alpha=0.5, beta=0.5)
    >>> sanitizer.rounds, sanitizer.spending.step, sanitizer.spending.basic
    (2, 8.0, 24.0)
    """

    name: ClassVar[str] = "flawed-point-sanitizer-unsplit"
    reference: ClassVar[str] = "BNS Theorem 3: what composition is for"

    @cached_property
    def spending(self) -> Spending:
        """The cost that is really spent."""
        claims = (ApproximateDP(self.epsilon, self.delta),) * self.rounds + (PureDP(self.epsilon),)
        return Spending(self.epsilon, claims, self.delta)


@dataclass(frozen=True, kw_only=True)
class UnsplitIntervalSanitizer(_Unsplit, IntervalSanitizer):
    """Wrong sanitizer of thresholds that spends the budget repeatedly.

    Guarantee
    ---------
    Not (epsilon, delta)-private: all calls of Rec and of the choosing mechanism add up, and so do the counts.

    Examples
    --------
    >>> sanitizer = UnsplitIntervalSanitizer(dimension=1, epsilon=8.0, delta=0.1, alpha=0.5, beta=0.5)
    >>> sanitizer.rounds, sanitizer.spending.step, sanitizer.spending.basic
    (3, 8.0, 56.0)
    """

    name: ClassVar[str] = "flawed-interval-sanitizer-unsplit"
    reference: ClassVar[str] = "BNS Theorem 4: what composition is for"

    @cached_property
    def spending(self) -> Spending:
        """The cost that is really spent."""
        claims = (*self.step_claims(self.epsilon), PureDP(self.epsilon))
        return Spending(self.epsilon, claims, self.delta)


entry = Entry(
    "flawed-point-sanitizer-unsplit",
    partial(UnsplitPointSanitizer, dimension=1, **LOOSE, size=18),
    options={"pairs": swaps(0, 1, size=18, many=18), "budget": 2_000},
    expected="refuted",
    reference=UnsplitPointSanitizer.reference,
    summary="every round spends the whole budget",
)
