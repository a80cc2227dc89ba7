"""Many runs of the search for cuts at once."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from learners.sanitizers.cuts.dyadic import Remaining

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.sanitizers.cuts.dyadic import DyadicTree, Node
    from learners.sanitizers.cuts.search import CutSearch

__all__ = ["cut_runs"]


@dataclass(eq=False)
class _Group:
    """Runs that have the same remaining records."""

    left: Remaining
    runs: list[NDArray[np.intp]] = field(default_factory=list)


def cut_runs(
    search: CutSearch, tree: DyadicTree, size: int, rng: np.random.Generator
) -> list[tuple[Node, ...]]:
    """Return the intervals that each of `size` runs removes.

    This is fast only on databases of few points.

    Examples
    --------
    >>> from learners.sanitizers.cuts.interval_cuts import IntervalCuts
    >>> from learners.sanitizers.cuts.dyadic import DyadicTree
    >>> cuts = IntervalCuts(dimension=64, alpha=0.5)
    >>> tree = DyadicTree(cuts.tally([2**63] * cuts.size), 64)
    >>> [run] = cut_runs(cuts.search, tree, 1, np.random.default_rng(0))
    >>> [(node.low, node.high) for node in run]
    [(9223372036854775808, 9223372036854775808)]
    """
    taken: list[tuple[Node, ...]] = [()] * size
    groups = [_Group(Remaining(tree), [np.arange(size)])]
    for one in rng.spawn(search.rounds):
        following: dict[bytes, _Group] = {}
        for group in groups:
            for node, left, runs in _round(search, group, size, deepcopy(one)):
                following.setdefault(left.counts(0).tobytes(), _Group(left)).runs.append(runs)
                for run in runs.tolist():
                    taken[run] = (*taken[run], node)
        groups = list(following.values())
    return taken


def _round(
    search: CutSearch, group: _Group, size: int, rng: np.random.Generator
) -> list[tuple[Node, Remaining, NDArray[np.intp]]]:
    """Return the intervals that a round removes.

    Each comes with the records left and the runs concerned.
    """
    if not group.left.counts(0).any():
        return []
    runs, found = np.concatenate(group.runs), []
    scales = np.asarray(search.rec.sample(search.quality(group.left), size, rng))
    levels = np.minimum(scales, search.dimension)
    noise, uniforms = rng.laplace(0.0, search.test.scale, size), rng.random(size)
    for level in np.unique(levels[runs]).tolist():
        held = group.left.counts(level)
        ends = np.cumsum(search.weights(held))
        here = runs[levels[runs] == level]
        here = here[held.max() + noise[here] >= search.test.threshold]
        places = np.searchsorted(ends, uniforms[here] * ends[-1], side="right")
        for place in np.unique(places).tolist():
            left = group.left.copy()
            found.append((left.take(level, place), left, here[places == place]))
    return found
