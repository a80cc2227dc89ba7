"""One run of the search for cuts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from learners.sanitizers.cuts.dyadic import Remaining

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.sanitizers.cuts.dyadic import DyadicTree, Node
    from mechanisms.comparison.threshold import ThresholdTest
    from mechanisms.concave import ConcavePromise

__all__ = ["CutSearch"]


@dataclass(frozen=True, eq=False)
class CutSearch:
    """The parameters of the search for cuts.

    Parameters
    ----------
    dimension
        d; the levels are 0 … d.
    rounds
        The maximum number of rounds.
    rec
        The mechanism that finds the level from the vector of qualities.
    test
        The noisy test of the largest count at a level. If it fails, the run ends.
    least
        t, the number of records that an interval should contain, alpha·size.
    weight
        A quarter of the epsilon of one step. An interval with c records is chosen with weight e^(`weight`·c).

    Examples
    --------
    >>> from learners.sanitizers import IntervalCuts
    >>> from learners.sanitizers.cuts.dyadic import DyadicTree
    >>> cuts = IntervalCuts(dimension=64, alpha=0.5)
    >>> tree = DyadicTree(cuts.tally([2**63] * cuts.size), 64)
    >>> [(node.low, node.high) for node in cuts.search.run(tree, np.random.default_rng(0))]
    [(9223372036854775808, 9223372036854775808)]
    """

    dimension: int
    rounds: int
    rec: ConcavePromise
    test: ThresholdTest
    least: float
    weight: float

    def run(self, tree: DyadicTree, rng: np.random.Generator) -> tuple[Node, ...]:
        """Return the intervals that one run removes."""
        left, taken = Remaining(tree), []
        for _ in range(self.rounds):
            level = min(int(self.rec(self.quality(left), rng)), self.dimension)
            held = left.counts(level)
            noise, uniform = rng.laplace(0.0, self.test.scale), rng.random()
            if not held.any() or held.max() + noise < self.test.threshold:
                break
            ends = np.cumsum(self.weights(held))
            taken.append(left.take(level, int(np.searchsorted(ends, uniform * ends[-1], side="right"))))
        return tuple(taken)

    def quality(self, left: Remaining) -> NDArray[np.float64]:
        """Return Rec's quality of every level 0 … top."""
        most = left.highest()
        most = np.append(most, [most[-1]] * (self.rec.top - self.dimension))
        below = np.concatenate([[0.0], most[:-1]])
        return np.asarray(np.minimum(most, 2.0 * self.least - below))

    def weights(self, held: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return each interval's weight in the choice, 0 if the interval is empty."""
        relative = (held - held.max()).astype(np.float64)
        return np.asarray(np.where(held > 0, np.exp(self.weight * relative), 0.0))
