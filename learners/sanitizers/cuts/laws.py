"""The exact law of the search for cuts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from learners.sanitizers.cuts.dyadic import Remaining

if TYPE_CHECKING:
    from learners.sanitizers.cuts.dyadic import DyadicTree, Node
    from learners.sanitizers.cuts.search import CutSearch

__all__ = ["cut_law"]


@dataclass(frozen=True, eq=False)
class _Round:
    """The probability of each result of a round."""

    refused: float
    taken: dict[Node, tuple[float, Remaining]]


def cut_law(search: CutSearch, tree: DyadicTree) -> dict[tuple[Node, ...], float]:
    """Return the probability of every sequence of intervals.

    Examples
    --------
    >>> from learners.sanitizers.cuts.interval_cuts import IntervalCuts
    >>> from learners.sanitizers.cuts.dyadic import DyadicTree
    >>> cuts = IntervalCuts(dimension=64, alpha=0.5)
    >>> tree = DyadicTree(cuts.tally([0] * 9000 + [2**63] * (cuts.size - 9000)), 64)
    >>> law = cut_law(cuts.search, tree)
    >>> round(sum(law.values()), 9), max(len(nodes) for nodes in law)
    (1.0, 2)
    """
    known: dict[bytes, _Round] = {}
    final: dict[tuple[Node, ...], float] = {}
    running: dict[tuple[Node, ...], tuple[float, Remaining]] = {(): (1.0, Remaining(tree))}
    for _ in range(search.rounds):
        following: dict[tuple[Node, ...], tuple[float, Remaining]] = {}
        for taken, (mass, left) in running.items():
            key = left.counts(0).tobytes()
            found = known[key] = known.get(key) or _round(search, left)
            final[taken] = mass * found.refused
            following |= {(*taken, node): (mass * p, after) for node, (p, after) in found.taken.items()}
        running = following
    return final | {taken: mass for taken, (mass, _) in running.items()}


def _round(search: CutSearch, left: Remaining) -> _Round:
    if not left.counts(0).any():
        return _Round(1.0, {})
    refused, taken = 0.0, {}
    for level, mass in _levels(search, left).items():
        held = left.counts(level)
        best = float(held.max())
        refused += mass * math.exp(search.test.log_fail(best))
        weights = search.weights(held)
        shares = mass * math.exp(search.test.log_pass(best)) * weights / weights.sum()
        for place in np.flatnonzero(weights).tolist():
            after = left.copy()
            taken[after.take(level, place)] = (float(shares[place]), after)
    return _Round(refused, taken)


def _levels(search: CutSearch, left: Remaining) -> dict[int, float]:
    """Return the probability of every level."""
    law = search.rec.distribution(search.quality(left))
    levels: dict[int, float] = {}
    for place, log in enumerate(law.log_probabilities.tolist()):
        level = min(int(law.outcome(place)), search.dimension)
        levels[level] = levels.get(level, 0.0) + math.exp(log)
    return levels
