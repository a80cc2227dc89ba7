"""The privacy loss of vectors of independent coordinates."""

import contextlib
import math
from functools import cached_property

import numpy as np

from audit.distributions.law import Floats, log_complement
from audit.laws.losses.atoms import AtomLoss
from audit.laws.losses.bracket import Bracket
from audit.laws.losses.loss import SLACK, Loss, ScalarLoss

MERGED = 1e-12
"""Sums of losses that differ by at most this count as one value."""

MOST_VALUES = 2**20
MOST_CONDITIONS = 2**12


class VectorLoss(Loss):
    """The loss of a product of laws, as a sum of losses of coordinates.

    `losses` holds the losses of the coordinates that differ. `summands`, if given, are fewer independent
    losses whose sum has the same distribution.

    The supremum is the sum of the coordinates' suprema. The excess is exact if at most one coordinate is not
    finite. Then the sums of the finite coordinates' losses are enumerated, and equal sums are merged. If more
    coordinates are not finite, or if there are too many sums, the excess has two bounds.

    Examples
    --------
    >>> from audit.distributions import Finite
    >>> coin = AtomLoss(Finite("ab", [0.75, 0.25]), Finite("ab", [0.25, 0.75]))
    >>> VectorLoss({0: coin, 3: coin}).bounds(0.0)
    (0.5, 0.5)
    """

    def __init__(self, losses: dict[int, ScalarLoss], *, summands: list[ScalarLoss] | None = None) -> None:
        self.losses = losses
        self.summands = list(losses.values()) if summands is None else summands
        self._finite = [loss for loss in self.summands if isinstance(loss, AtomLoss)]
        self._others = [loss for loss in self.summands if not isinstance(loss, AtomLoss)]

    def supremum(self) -> float:
        """Return the sum of the coordinates' suprema."""
        return sum(self._suprema.values())

    def log_lost(self) -> float:
        """Return the log-probability that the loss of some coordinate is infinite."""
        kept = sum(float(log_complement(loss.log_lost())) for loss in self.losses.values())
        return float(log_complement(kept))

    def bounds(self, level: float) -> tuple[float, float]:
        """Return a lower and an upper bound on the excess over a level."""
        if level >= self.supremum() - SLACK:
            return 0.0, 0.0
        if self._bracket is not None:
            return self._bracket.bounds(level)
        value = self._exact(level)
        return value, value

    def boxes_above(self, level: float) -> list[dict[int, float]]:
        """Return boxes inside the set of outputs whose loss exceeds the level.

        A box maps each of its coordinates to the level that the coordinate's loss must exceed.
        """
        suprema, total = self._suprema, self.supremum()
        alone = [{index: level} for index in suprema if suprema[index] > level]
        if not math.isfinite(total) or total <= 0:
            return alone
        return [*alone, {index: level * top / total for index, top in suprema.items()}]

    @cached_property
    def _suprema(self) -> dict[int, float]:
        known = {loss: loss.supremum() for loss in dict.fromkeys(self.losses.values())}
        return {index: known[loss] for index, loss in self.losses.items()}

    @cached_property
    def _bracket(self) -> Bracket | None:
        most = MOST_CONDITIONS if self._others else MOST_VALUES
        with contextlib.suppress(OverflowError):
            if len(self._others) <= 1 and len(self._sums[0]) <= most:
                return None
        return Bracket(self.summands)

    @cached_property
    def _sums(self) -> tuple[Floats, Floats]:
        """The sums of the finite coordinates' losses, and the log-mass of each under p."""
        losses, logs = np.zeros(1), np.zeros(1)
        for loss in self._finite:
            cells = loss.cells(0.0)
            if len(losses) * len(cells.low) > 8 * MOST_VALUES:
                raise OverflowError
            sums, masses = np.add.outer(losses, cells.low), np.add.outer(logs, cells.log_p)
            losses, logs = _merged(sums.ravel(), masses.ravel())
        return losses, logs

    def _exact(self, level: float) -> float:
        losses, logs = self._sums
        if not self._others:
            return float(np.sum(np.exp(logs) * np.maximum(-np.expm1(np.minimum(level - losses, 0.0)), 0.0)))
        (other,) = self._others
        terms = [math.exp(log) * other.excess(level - loss) for loss, log in zip(losses, logs, strict=True)]
        return math.fsum(terms)


def _merged(losses: Floats, logs: Floats) -> tuple[Floats, Floats]:
    order = np.argsort(losses, kind="stable")
    losses, logs = losses[order], logs[order]
    with np.errstate(invalid="ignore"):
        new = np.concatenate([[True], ~(np.diff(losses) <= MERGED)])
    new[1:] &= ~(np.isposinf(losses[1:]) & np.isposinf(losses[:-1]))
    starts = np.flatnonzero(new)
    return losses[starts], np.logaddexp.reduceat(logs, starts)
