"""The loss on finitely many outcomes."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit.distributions.finite import Finite, same_outcomes
from audit.distributions.law import OUTSIDE, Floats, Law, as_numbers, log_add
from audit.laws.losses.loss import SLACK, Cells, ScalarLoss
from audit.laws.region import Region

LISTED = 64
"""Larger: longer events are listed. Intervals hold an event of more numbers than this."""


class AtomLoss(ScalarLoss):
    """The privacy loss log p/q, if p has finitely many outcomes.

    Each law may be a part of a larger law. The log masses of the parts are `log_p` and `log_q`. If `alone` is
    true, no other outputs lie between the numbers. An event of many numbers is then returned as intervals.

    Examples
    --------
    >>> p, q = Finite("ab", [0.75, 0.25]), Finite("ab", [0.25, 0.75])
    >>> round(AtomLoss(p, q).supremum(), 9) == round(float(np.log(3.0)), 9)
    True
    """

    def __init__(
        self, p: Finite, q: Law | None, *, log_p: float = 0.0, log_q: float = 0.0, alone: bool = True
    ) -> None:
        self.law, self.alone = p, alone
        self.log_p = p.log_probabilities + log_p
        self.log_q = _aligned(p, q) + log_q

    def supremum(self) -> float:
        """Return the largest loss among p's outcomes."""
        return float(np.max(self._losses, initial=-np.inf))

    def log_lost(self) -> float:
        """Return the log of the mass of p where q has none."""
        return float(log_add(self.log_p[np.isposinf(self._losses)]))

    def masses_above(self, level: float) -> tuple[Floats, Floats]:
        """Return the log-masses of the outcomes with a loss above the level. They are under p and under q."""
        above = self._losses > level + SLACK
        return self.log_p[above], self.log_q[above]

    def part_above(self, level: float) -> Region:
        """Return the outcomes with a loss above the level. If they are many numbers, intervals hold them."""
        above = self._losses > level + SLACK
        chosen = np.flatnonzero(above).tolist()
        if len(chosen) > LISTED and self.alone:
            values, real = as_numbers(self.law.outcomes)
            if real.all():
                return Region(intervals=_runs(values, above))
        return Region(outcomes=tuple(self.law.outcome(index) for index in chosen))

    def cells(self, step: float) -> Cells:  # noqa: ARG002 - atoms are as fine as can be
        """Return one cell for each outcome of positive probability under p."""
        has = np.isfinite(self.log_p)
        return Cells(self.log_p[has], self.log_q[has], self._losses[has], self._losses[has])

    @cached_property
    def _losses(self) -> Floats:
        has = np.isfinite(self.log_p)
        with np.errstate(invalid="ignore"):
            return np.where(has, self.log_p - self.log_q, -np.inf)


def _aligned(p: Finite, q: Any) -> Floats:
    """Return q's log-probabilities of p's outcomes."""
    if q is None:
        return np.full(len(p.outcomes), -np.inf)
    if isinstance(q, Finite) and same_outcomes(p, q):
        return q.log_probabilities
    if not isinstance(q, Finite):
        values, real = as_numbers(p.outcomes)
        return np.where(real, q.logpmf(np.where(real, values, 0.5)), -np.inf)
    if p.ambiguous:
        index = np.array([q.by_exact_key.get(key, OUTSIDE) for key in p.exact_keys], dtype=np.intp)
    else:
        index = q.locate(p.outcomes)
    return np.where(index >= 0, q.log_probabilities[index], -np.inf)


def _runs(values: Floats, above: NDArray[np.bool_]) -> tuple[tuple[float, float], ...]:
    """Return open intervals that contain exactly the numbers marked `above`.

    An interval ends half-way to the next number. If there is no float half-way, the interval ends at that
    number. An open interval leaves its ends out.
    """
    order = np.argsort(values)
    values, above = values[order], above[order]
    lower, upper = values[:-1], values[1:]
    middles = lower / 2.0 + upper / 2.0  # halved first: the sum may overflow
    starts = np.concatenate([[-np.inf], np.where((lower < middles) & (middles < upper), middles, lower)])
    ends = np.concatenate([np.where((lower < middles) & (middles < upper), middles, upper), [np.inf]])
    edges = np.flatnonzero(np.diff(np.concatenate([[False], above, [False]]).astype(int)))
    return tuple((float(starts[a]), float(ends[b - 1])) for a, b in edges.reshape(-1, 2))
