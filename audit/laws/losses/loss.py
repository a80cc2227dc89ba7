"""The privacy loss log p/q of a pair of laws, part by part."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from audit.distributions.law import Floats, log_add
from audit.laws.region import Region

SLACK = 1e-12
"""A loss above a level by at most this counts as equal to the level, because logarithms are rounded."""


class Cells(NamedTuple):
    """Parts of the output space, with the log masses and loss in each part.

    `low` and `high` are bounds on the loss.

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

    @classmethod
    def joined(cls, parts: "Iterable[Cells]") -> "Cells":
        """Return the cells of disjoint parts."""
        return cls(*map(np.concatenate, zip(*parts, strict=True)))


class Loss(ABC):
    """The loss L = log p/q of outputs drawn from p."""

    @abstractmethod
    def supremum(self) -> float:
        """Return the essential supremum of L. It is ∞ if p has mass where q has none."""

    @abstractmethod
    def log_lost(self) -> float:
        """Return log Pr[L = ∞]."""

    @abstractmethod
    def bounds(self, level: float) -> tuple[float, float]:
        """Return a lower and an upper bound on the excess over a level.

        The excess is p(E) − exp(level)·q(E) for E = {L > level}. The bounds are equal if the excess is exact.
        """


class ScalarLoss(Loss):
    """The loss of an output that is not a vector."""

    @abstractmethod
    def masses_above(self, level: float) -> tuple[Floats, Floats]:
        """Return the log masses of parts of {L > level + SLACK}.

        The parts are disjoint. The masses are under p and under q.
        """

    @abstractmethod
    def part_above(self, level: float) -> Region:
        """Return the event {L > level + SLACK}."""

    @abstractmethod
    def cells(self, step: float) -> Cells:
        """Return cells in which the loss varies by little more than `step`."""

    def excess(self, level: float) -> float:
        """Return p(E) − exp(level)·q(E) for E = {L > level}.

        It is summed part by part to avoid cancellation.
        """
        log_p, log_q = self.masses_above(level)
        some = ~np.isneginf(log_p)  # a very narrow or far-out part may have no mass in floats
        log_p, log_q = log_p[some], log_q[some]
        return float(np.sum(np.exp(log_p) * np.maximum(-np.expm1(level + log_q - log_p), 0.0)))

    def bounds(self, level: float) -> tuple[float, float]:
        """Return the exact excess over a level, as lower and as upper bound."""
        value = self.excess(level)
        return value, value


class JoinedLoss(ScalarLoss):
    """The loss of laws whose outputs fall into atoms and a line.

    `atoms` are the atoms of both laws. An atom inside an event's interval is excluded unless its own loss is
    above the level.

    Examples
    --------
    >>> JoinedLoss([]).supremum()
    -inf
    """

    def __init__(self, parts: list[ScalarLoss], atoms: Sequence[Any] = ()) -> None:
        self.parts, self.atoms = parts, atoms

    def supremum(self) -> float:
        """Return the largest of the parts' suprema."""
        return max((part.supremum() for part in self.parts), default=-np.inf)

    def log_lost(self) -> float:
        """Return the log of the mass with infinite loss."""
        return float(log_add(np.array([part.log_lost() for part in self.parts])))

    def masses_above(self, level: float) -> tuple[Floats, Floats]:
        """Return the log-masses of the sets with a loss above the level."""
        masses = [part.masses_above(level) for part in self.parts]
        return np.concatenate([p for p, _ in masses]), np.concatenate([q for _, q in masses])

    def part_above(self, level: float) -> Region:
        """Return the union of the parts' events."""
        parts = [part.part_above(level) for part in self.parts]
        listed = Region(outcomes=sum((part.outcomes for part in parts), ()))
        line = Region(intervals=sum((part.intervals for part in parts), ()))
        excluded = [atom for atom in self.atoms if line.contains(atom) and not listed.contains(atom)]
        return Region(listed.outcomes, line.intervals, tuple(excluded))

    def cells(self, step: float) -> Cells:
        """Return the cells of all parts."""
        return Cells.joined(part.cells(step) for part in self.parts)
