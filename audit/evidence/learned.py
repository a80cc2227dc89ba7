"""A score of vectors that is learned from runs.

The score is a sum over entries and over differences of neighbouring entries. Each such column is cut at
quantiles into a few bins. The score of a run is the sum of the weights of its bins. The weights come from a
ridge regression of the side on the bins. Its means come from up to about `ENOUGH` pairs of runs. Its
covariance comes from the first `FOR_COVARIANCE` runs of each side. The ridge penalty maximises the
likelihood. For small differences this is the best additive score, because it accounts for the correlation of
entries.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from audit.distributions.law import Floats, Ints
from audit.events.edges import bins_of, learn_edges
from audit.events.features.scores import AdditiveScore, Codes, coded, with_differences
from audit.events.features.views import View
from audit.events.tables import NumberBins, Table

#: Larger: a better estimate of the covariance. Number of runs of each side that are used for it.
FOR_COVARIANCE = 100_000
#: Limits memory: the kept runs of a side take at most this many bytes.
_KEPT_BYTES = 2**24
#: Larger: weights are more exact, but fewer runs are counted in the cells of the last score. The score is not
#: fitted anew after this many pairs of runs. At most this many runs of a side are kept to cut the score into
#: cells.
ENOUGH = 250_000
#: A score is learned once each side has this many runs.
LEAST = 2_000
#: Larger: bins follow the log-ratio more closely but take time. Maximum number of bins of one column
#: (`_BINS`), and of all columns together (`_ALL_BINS`).
_BINS = 12
_ALL_BINS = 420
#: Vectors with more entries get no score: they would have too many bins.
_WIDEST = 70
_STRENGTHS = np.exp(np.linspace(-20.0, 4.0, 49))


@dataclass(frozen=True)
class Coded:
    """The vectors of a block as bin indices, left and right."""

    counts: Floats
    runs: Floats
    codes: tuple[Codes, Codes]


class ScoreLearner:
    """Statistics of the vectors of a pair of databases, and the score fitted to them.

    Parameters
    ----------
    left, right
        Past vectors of both databases, shape (runs, entries); they fix the bins.
    """

    def __init__(self, left: Floats, right: Floats) -> None:
        self.entries = left.shape[1]
        columns = with_differences(np.concatenate([left, right])).T
        most = int(np.clip(_ALL_BINS // len(columns), 3, _BINS))
        self.edges = tuple(tuple(_few(learn_edges(column), most - 1).tolist()) for column in columns)
        self.starts = np.cumsum([0, *(len(edges) + 2 for edges in self.edges)])
        width = int(self.starts[-1])
        self.counts, self.runs = np.zeros((2, width)), np.zeros(2)
        self._gram, self._seen = np.zeros((2, width, width)), np.zeros(2)
        self._kept: tuple[list[Codes], list[Codes]] = ([], [])
        self._most = min(ENOUGH, _KEPT_BYTES // (2 * len(columns)))

    def code(self, left: View, right: View) -> Coded:
        """Return a block coded as bins."""
        counts, runs, kept = np.zeros((2, int(self.starts[-1]))), np.zeros(2), []
        for side, view in enumerate((left, right)):
            columns = coded(view, self.edges) if self.entries in view.vectors else []
            runs[side] = len(columns[0]) if columns else 0
            most = max(0, self._most - self._known(side))
            some = np.zeros((min(most, int(runs[side])), len(self.edges)), dtype=np.int16)
            for k, column in enumerate(columns):
                start, end = self.starts[k : k + 2]
                counts[side, start:end] = np.bincount(column, minlength=end - start)
                some[:, k] = column[:most] + start
            kept.append(some)
        return Coded(counts, runs, (kept[0], kept[1]))

    def add(self, coded: Coded) -> None:
        """Learn from a block."""
        self.counts += coded.counts
        self.runs += coded.runs
        for side, offered in enumerate(coded.codes):
            codes = offered[: max(0, self._most - self._known(side))]
            self._kept[side].append(codes)
            codes = codes[: max(0, FOR_COVARIANCE - int(self._seen[side]))]
            if len(codes):
                places = np.zeros((len(codes), int(self.starts[-1])), dtype=np.float32)
                np.put_along_axis(places, codes.astype(np.intp), 1.0, axis=1)
                self._gram[side] += places.T @ places
                self._seen[side] += len(codes)

    def _known(self, side: int) -> int:
        return sum(map(len, self._kept[side]))

    def table(self) -> Table:
        """Return the table of the present score, with the kept runs as its counts.

        A score looks too good on the runs it was fitted to. So each cell's log-ratio of the two sides is
        multiplied by a factor of at most 1: the separation that the fit expects on new runs, as a share of
        the separation on these runs.
        """
        weights, kept = self._weights()
        sides = [np.concatenate(codes) for codes in self._kept]
        self._kept = ([sides[0]], [sides[1]])
        scored = [_scored(codes, weights) for codes in sides]
        pieces = [weights[a:b] for a, b in zip(self.starts[:-1], self.starts[1:], strict=True)]
        score = AdditiveScore(self.edges, tuple(tuple(piece.tolist()) for piece in pieces))
        edges = learn_edges(np.concatenate(scored))
        table = Table(NumberBins(score, edges))
        width = table.counts.shape[1]
        counts = np.array([np.bincount(bins_of(values, edges), minlength=width) for values in scored])
        runs = np.maximum(counts.sum(axis=1), 1)
        ratio = kept * np.log((counts[0] + 0.5) / (counts[1] + 0.5) * runs[1] / runs[0])
        of_left = 1 / (1 + np.exp(-ratio) * runs[1] / runs[0])
        table.counts += counts.sum(axis=0) * np.stack([of_left, 1 - of_left])
        return table

    def _weights(self) -> tuple[Floats, float]:
        """Return the weight of each bin, and the expected separation of new runs relative to these runs.

        What columns share is fitted first: it takes few numbers, so few runs suffice. The rest is fitted
        next.
        """
        means = self.counts / np.maximum(self.runs, 1)[:, None]
        covariance = np.zeros_like(self._gram[0])
        for gram, seen in zip(self._gram, self._seen, strict=True):
            mean = np.diag(gram) / seen
            covariance += (gram / seen - np.outer(mean, mean)) / 2
        steps, noise = _thermometer(self.starts), float((1 / self.runs).sum())
        covariance, apart = steps.T @ covariance @ steps, steps.T @ (means[0] - means[1])
        alike = self._alike()
        found = alike @ _ridge(alike.T @ covariance @ alike, alike.T @ apart, noise)
        found = found + _ridge(covariance, apart - covariance @ found, noise)
        kept = found @ covariance @ found / max(float(found @ apart), 1e-300)
        return steps @ found, float(np.clip(kept, 0.0, 1.0))

    def _alike(self) -> Floats:
        """Return a matrix from the steps that columns share to all steps, shape (steps, shared).

        Columns share steps if they have the same number of bins and are both entries or both differences.
        """
        kinds: dict[tuple[bool, int], list[int]] = {}
        for k, (first, end) in enumerate(pairwise(self.starts.tolist())):
            kinds.setdefault((k < self.entries, end - first), []).append(first)
        shared = [np.zeros((int(self.starts[-1]), width)) for _, width in kinds]
        for block, firsts in zip(shared, kinds.values(), strict=True):
            for first in firsts:
                block[first : first + block.shape[1]] = np.eye(block.shape[1])
        return np.hstack(shared)


def learner_of(left: View, right: View) -> ScoreLearner | None:
    """Return a learner for the outputs of both databases, or None.

    None is returned unless all outputs are vectors of one width.
    """
    widths = {width for view in (left, right) for width in view.vectors}
    width = next(iter(widths), 0)
    if len(widths) != 1 or not 2 <= width <= _WIDEST or left.rest or right.rest:
        return None
    if any(len(vectors(view, width)) < len(view) for view in (left, right)):
        return None
    learner = ScoreLearner(vectors(left, width), vectors(right, width))
    learner.add(learner.code(left, right))
    return learner


def vectors(view: View, entries: int) -> Floats:
    """Return the outputs of a block that are vectors of this length.

    The result has shape (outputs, entries).
    """
    found = view.vectors.get(entries)
    return np.zeros((0, entries)) if found is None else found[1]


def _few(edges: Floats, most: int) -> Floats:
    return (
        edges if len(edges) <= most else edges[np.linspace(0, len(edges) - 1, most + 2)[1:-1].astype(np.intp)]
    )


def _ridge(covariance: Floats, apart: Floats, noise: float) -> Floats:
    """Return the coefficients of a ridge regression of the likeliest strength, shape (steps,).

    Parameters
    ----------
    covariance
        Covariance of the steps within a side.
    apart
        Differences of means, shape (steps,).
    noise
        The variance of such a difference, for a step of variance 1.
    """
    found = np.zeros_like(apart)
    spread = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    used = spread > 1e-4
    if not used.any():
        return found
    unit = spread[used]
    values, vectors = np.linalg.eigh(covariance[np.ix_(used, used)] / np.outer(unit, unit))
    values = np.maximum(values, 1e-9)
    seen = vectors.T @ (apart[used] / unit)
    errors = noise * values
    variances = errors + _STRENGTHS[:, None] * values**2
    fits = -(np.log(variances) + seen**2 / variances).sum(axis=1)
    strength = _STRENGTHS[int(np.argmax(fits))]
    found[used] = vectors @ (seen * strength * values / (errors + strength * values**2)) / unit
    return found


def _scored(codes: Codes, weights: Floats) -> Floats:
    total = np.zeros(len(codes))
    for column in codes.T:  # one column at a time: all at once would take much memory
        total = total + weights[column]
    return total


def _thermometer(starts: Ints) -> Floats:
    """Return the thermometer codes of all bins.

    The code of a bin has a 1 for each step up to this bin. The bin "no number" has a step of its own.
    """
    steps = np.zeros((int(starts[-1]), int(starts[-1])))
    for first, end in pairwise(starts):
        size = end - first
        steps[first:end, first:end] = np.tril(np.ones((size, size)))
        steps[first:end, first] = 0.0
        steps[end - 1, first:end] = 0.0
        steps[end - 1, end - 1] = 1.0
    return steps
