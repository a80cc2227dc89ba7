"""Past runs on a pair of databases, counted by bins of a feature.

The counts suggest events, which are sets of bins. For numbers, an event may be all bins above an edge, or all
bins below an edge. For all features, an event may be the bins with the largest ratio of counts. The counts of
such an event are leave-one-out. Without this rule, the runs that chose the bins would make it look better
(selection bias).
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from audit.distributions.law import Flags, Floats, Ints
from audit.events.edges import LARGEST, bins_of, is_new, learn_edges
from audit.events.event import AtomIn, Condition, NumberIn
from audit.events.features.base import AtomFeature, Feature, NumberFeature
from audit.events.features.views import View

MOST_ATOMS = 200


@dataclass(frozen=True)
class NumberBins:
    """Bins of a number feature, with one bin for outputs without a number.

    Parameters
    ----------
    edges
        Sorted; bin k holds edges[k−1] ≤ value < edges[k].
    """

    feature: NumberFeature
    edges: Floats

    @property
    def width(self) -> int:
        """The number of bins."""
        return len(self.edges) + 2

    @property
    def ordered(self) -> int:
        """Number of leading bins that are in numeric order."""
        return len(self.edges) + 1

    def find(self, view: View) -> Ints:
        """Return the bin of every output of a block."""
        return bins_of(self.feature.values(view), self.edges)

    def condition(self, members: Flags) -> Condition:
        """Return the condition "the value lies in one of these bins" as merged intervals."""
        lows = np.append(-np.inf, self.edges)
        highs = np.append(np.minimum(self.edges, LARGEST), np.inf)  # the last bin holds +inf alone
        steps = np.diff(members[: self.ordered].astype(int), prepend=0, append=0)
        firsts, lasts = np.flatnonzero(steps > 0), np.flatnonzero(steps < 0) - 1
        intervals = tuple(zip(lows[firsts].tolist(), highs[lasts].tolist(), strict=True))
        return NumberIn(self.feature, intervals, unscored=bool(members[self.width - 1]))


@dataclass(frozen=True)
class AtomBins:
    """Bins of an atom feature. Each value seen at least twice has a bin. All other values share one bin."""

    feature: AtomFeature
    known: dict[Hashable, int]
    examples: tuple[Any, ...]

    ordered = 0

    @property
    def width(self) -> int:
        """The number of bins."""
        return len(self.known) + 1

    def find(self, view: View) -> Ints:
        """Return the bin of every output of a block."""
        other = len(self.known)
        if not other:  # no value recurs: skip the keys
            return np.zeros(len(view), dtype=np.intp)
        get = self.known.get
        return np.array([get(value, other) for value in self.feature.values(view)], dtype=np.intp)

    def condition(self, members: Flags) -> Condition:
        """Return the condition "the value is in one of these bins".

        The bin of all other values is left out.
        """
        chosen = np.flatnonzero(members[: len(self.known)])
        return AtomIn(self.feature, tuple(self.examples[k] for k in chosen))


Bins = NumberBins | AtomBins


def learn_bins(feature: Feature, views: list[View]) -> Bins:
    """Return the bins of a feature, learned from past outputs of both databases."""
    if isinstance(feature, NumberFeature):
        column = np.concatenate([feature.values(view) for view in views])
        return NumberBins(feature, learn_edges(column))
    assert isinstance(feature, AtomFeature)
    counts: Counter[Hashable] = Counter()
    examples: dict[Hashable, Any] = {}
    for view in views:
        for value, output in zip(feature.values(view), view.outputs, strict=True):
            counts[value] += 1
            examples.setdefault(value, output)
    known = [value for value, count in counts.most_common(MOST_ATOMS) if count >= 2]
    places = {value: k for k, value in enumerate(known)}
    return AtomBins(feature, places, tuple(examples[value] for value in known))


@dataclass(frozen=True)
class Candidates:
    """Events over the bins of one table, with their estimated probabilities.

    Parameters
    ----------
    inside_p, inside_q
        Whether each bin belongs to the event on the p side, and on the q side. The last bin holds unfinished
        runs. Shape (events, bins + 1).
    p, q
        Estimated probabilities, strictly inside (0, 1), shape (events,).
    past
        Average number of runs on a side from which the estimates are made.
    """

    inside_p: Flags
    inside_q: Flags
    p: Floats
    q: Floats
    past: float

    def take(self, index: Ints) -> "Candidates":
        """Return some of the events."""
        return Candidates(self.inside_p[index], self.inside_q[index], self.p[index], self.q[index], self.past)

    def count(self, counted: Floats) -> Floats:
        """Return the counts of a batch for each event, shape (events, 4).

        The four are the runs inside and outside the event on the p side, then those on the q side.

        Parameters
        ----------
        counted
            Runs by bin, shape (2, bins + 1): the p side, then the q side.
        """
        of_p, of_q = self.inside_p @ counted[0], self.inside_q @ counted[1]
        return np.stack([of_p, counted[0].sum() - of_p, of_q, counted[1].sum() - of_q], axis=1)


def apart(p: Floats, q: Floats, past: Floats | float, errors: float) -> tuple[Floats, Floats]:
    """Return p lowered and q raised by some standard errors.

    `errors` is the number of standard errors. The estimates p and q come from `past` runs.
    """
    low = p - errors * np.sqrt(p * (1 - p) / (past + 1))
    high = q + errors * np.sqrt(q * (1 - q) / (past + 1))
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


@dataclass
class Table:
    """Counts of one feature's bins on both databases of a pair. The last bin holds unfinished runs.

    Parameters
    ----------
    bins
        The bins.
    counts
        Shape (2, bins + 1): left and right.
    """

    bins: Bins
    counts: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.counts = np.zeros((2, self.bins.width + 1))

    def find(self, view: View) -> Ints:
        """Return the bin of every run. Unfinished runs have the last bin."""
        found = self.bins.find(view)
        if len(view.unfinished):
            found[view.unfinished] = self.bins.width
        return found

    def count(self, left: View, right: View) -> Floats:
        """Return the counts of a block's runs by bin.

        The result has shape (2, bins + 1), for left and right.
        """
        width = self.bins.width + 1
        counted = [np.bincount(self.find(side), minlength=width) for side in (left, right)]
        return np.array(counted, dtype=np.float64)

    def count_parts(self, left: View, right: View, parts: Sequence[tuple[int, int]]) -> Floats:
        """Return the counts of the runs of each part of a block by bin.

        The result has shape (parts, 2, bins + 1). Each item of `parts` holds how many left runs and how many
        right runs the next part has.
        """
        width, sides = self.bins.width + 1, []
        for view, sizes in zip((left, right), zip(*parts, strict=True), strict=True):
            places = np.repeat(np.arange(len(sizes)) * width, sizes) + self.find(view)
            sides.append(np.bincount(places, minlength=len(sizes) * width).reshape(-1, width))
        return np.stack(sides, axis=1).astype(np.float64)

    def suggest(self, side: int, *, unfinished_counts_against: bool) -> Candidates | None:
        """Return the events that may be bet on.

        The p side is the database `side`: 0 for left, 1 for right.
        """
        x, y = self.counts[[side, 1 - side], : -1 if unfinished_counts_against else None]
        ordered, (rated, hits_p, hits_q) = self.bins.ordered, _ratios(x, y)
        inside = np.concatenate([_tails(len(x), ordered), rated])
        hits_p = np.concatenate([_in_tails(x, ordered), hits_p])
        hits_q = np.concatenate([_in_tails(y, ordered), hits_q])
        return self._estimated(side, inside, hits_p, hits_q, against=unfinished_counts_against)

    def plain(self, side: int, *, unfinished_counts_against: bool) -> Candidates | None:
        """Return events that need few words.

        Such an event is one bin alone, or "the feature is a number". They are for showing, not for betting.
        Their estimates are not corrected for selection bias.
        """
        width = self.bins.width if self.bins.ordered else self.bins.width - 1  # "all others" has no words
        x, y = self.counts[[side, 1 - side], : -1 if unfinished_counts_against else None]
        inside = np.eye(width, len(x), dtype=bool)
        if self.bins.ordered:
            inside = np.vstack([inside, np.arange(len(x)) < self.bins.ordered])
        return self._estimated(side, inside, inside @ x, inside @ y, against=unfinished_counts_against)

    def _estimated(
        self, side: int, inside: Flags, hits_p: Floats, hits_q: Floats, *, against: bool
    ) -> Candidates | None:
        """Return the events with probabilities estimated from these hits, or None.

        If there are no events, return None.
        """
        if not len(inside):
            return None
        if against:
            # An unfinished run might have given any answer. Count it against the bet: outside the event on
            # the p side, inside it on the q side.
            hits_q = hits_q + self.counts[1 - side][-1]
            last = np.zeros((len(inside), 1), dtype=bool)
            inside_p, inside_q = np.hstack([inside, last]), np.hstack([inside, ~last])
        else:
            inside_p = inside_q = inside
        of_p, of_q = self.counts[side].sum(), self.counts[1 - side].sum()
        p, q = (hits_p + 0.5) / (of_p + 1), (hits_q + 0.5) / (of_q + 1)
        return Candidates(inside_p, inside_q, p, q, past=float(of_p + of_q) / 2)


@lru_cache(maxsize=256)
def _tails(width: int, ordered: int) -> Flags:
    """Return the events "at least an edge" and "below an edge".

    There are two for every edge of the ordered bins.
    """
    index, cuts = np.arange(width), np.arange(1, ordered)
    above = (index[None, :] >= cuts[:, None]) & (index < ordered)
    below = index[None, :] < cuts[:, None]
    return np.concatenate([above, below])


def _in_tails(counts: Floats, ordered: int) -> Floats:
    """Return the counts in each of `_tails`. This is faster than a product with them."""
    below = counts[:ordered].cumsum()
    return np.concatenate([below[-1] - below[:-1], below[:-1]]) if ordered else counts[:0]


_SHARES = np.array([0.001, 0.003, 0.01, 0.03, 0.06, 0.12, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8])


def _ratios(x: Floats, y: Floats) -> tuple[Flags, Floats, Floats]:
    """Return events of several sizes, with their leave-one-out counts.

    Each event is the set of bins with the largest ratios of count x to count y. A run in bin b counts as a
    hit only if b would be in the event without that run. For x this rule removes the bias of choosing the bin
    because of the run. For y the rule can only raise the estimated probability.
    """
    more, beyond = x + 0.5, y + 0.5
    ratio = more / beyond
    order = np.argsort(-ratio, kind="stable")
    share = np.cumsum(x[order]) / max(1.0, x.sum())
    places = np.zeros(len(x) + 1, dtype=bool)
    places[np.searchsorted(share, _SHARES)] = places[np.arange(1, 4) * len(x) // 4] = places[:3] = True
    levels = ratio[order[:-1][places[: len(x) - 1]]]
    levels = levels[is_new(levels)][:, None]
    hits_p = (np.maximum(more - 1, 0.5) / beyond >= levels) @ x
    hits_q = (more / np.maximum(beyond - 1, 0.5) >= levels) @ y
    return ratio >= levels, hits_p, hits_q


def added(sums: list[Floats], more: list[Floats]) -> list[Floats]:
    """Return the sums of counts of several blocks, with one more block added.

    `sums` is empty before the first block.
    """
    return [a + b for a, b in zip(sums, more, strict=True)] if sums else more
