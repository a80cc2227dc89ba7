"""The privacy loss log p/q of a pair of laws, part by part."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from audit.distributions.law import log_add

if TYPE_CHECKING:
    from audit.distributions.law import Floats

SLACK = 1e-12
"""A loss this close above a level counts as equal to it: the rounding of the logarithms themselves."""


@dataclass(frozen=True)
class Cells:
    """The p-mass and q-mass of parts of the output space, and bounds of the loss inside each.

    Examples
    --------
    >>> one = Cells(np.zeros(1), np.zeros(1), low=np.zeros(1), high=np.zeros(1))
    >>> len(one.log_p)
    1
    """

    log_p: Floats
    log_q: Floats
    low: Floats
    high: Floats


class Part(NamedTuple):
    """Outcomes, open intervals, and outcomes inside the intervals that do not belong to the event."""

    outcomes: tuple[Any, ...] = ()
    intervals: tuple[tuple[float, float], ...] = ()
    excluded: tuple[Any, ...] = ()


class Loss(ABC):
    """The loss L = log p/q of one output drawn from p."""

    @abstractmethod
    def supremum(self) -> float:
        """Return the essential supremum of L; ∞ where p has mass and q none."""

    @abstractmethod
    def log_lost(self) -> float:
        """Return log Pr[L = ∞]."""

    @abstractmethod
    def masses_above(self, level: float) -> tuple[Floats, Floats]:
        """Return log-masses under p and q of disjoint parts that make up {L > level + SLACK}."""

    @abstractmethod
    def part_above(self, level: float) -> Part:
        """Return the event {L > level + SLACK}."""

    @abstractmethod
    def cells(self, step: float) -> Cells:
        """Return cells in which the loss varies by little more than `step`."""

    def excess(self, level: float) -> float:
        """Return p(E) − exp(level)·q(E) of E = {L > level}, summed part by part so that nothing cancels."""
        log_p, log_q = self.masses_above(level)
        if not len(log_p):
            return 0.0
        return float(np.sum(np.exp(log_p) * np.maximum(-np.expm1(level + log_q - log_p), 0.0)))

    def bounds(self, level: float) -> tuple[float, float]:
        """Return a lower and an upper bound of the excess, equal where it is exact."""
        value = self.excess(level)
        return value, value


class JoinedLoss(Loss):
    """The loss of laws whose outputs fall into disjoint parts (atoms and a line).

    Examples
    --------
    >>> JoinedLoss([]).supremum()
    -inf
    """

    def __init__(self, parts: list[Loss]) -> None:
        self.parts = parts

    def supremum(self) -> float:
        """Return the largest of the parts' suprema."""
        return max((part.supremum() for part in self.parts), default=-np.inf)

    def log_lost(self) -> float:
        """Return the log of the parts' sum."""
        return float(log_add(np.array([part.log_lost() for part in self.parts])))

    def masses_above(self, level: float) -> tuple[Floats, Floats]:
        """Return the masses of all parts."""
        masses = [part.masses_above(level) for part in self.parts]
        return np.concatenate([p for p, _ in masses]), np.concatenate([q for _, q in masses])

    def part_above(self, level: float) -> Part:
        """Return the union of the parts' events."""
        parts = [part.part_above(level) for part in self.parts]
        return Part(
            sum((part.outcomes for part in parts), ()),
            sum((part.intervals for part in parts), ()),
            sum((part.excluded for part in parts), ()),
        )

    def cells(self, step: float) -> Cells:
        """Return the cells of all parts."""
        cells = [part.cells(step) for part in self.parts]
        names = ("log_p", "log_q", "low", "high")
        return Cells(*(np.concatenate([getattr(cell, name) for cell in cells]) for name in names))
