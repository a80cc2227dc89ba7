"""Fitted scores, which add up learned log-ratios of the entries.

If the noise of the entries is independent, the best score is the log-likelihood ratio of the output. It is
the sum of the log-likelihood ratios of its entries. A fitted score estimates this sum.
"""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from audit.distributions.law import Floats
from audit.events.edges import bins_of, learn_edges
from audit.events.features.base import NumberFeature, scored
from audit.events.features.views import View

Codes = NDArray[np.int16]

#: Least number of runs on a side for fitting a score; with fewer runs the score would be noise.
LEAST_FOR_SCORES = 96
#: The description of a score names at most this many entries.
MOST_NAMED = 3
#: Larger: fewer tables count as having a trend (the others are printed as ±). A table has a trend if its
#: scores and the order of its bins have at least this correlation.
_MONOTONE = 0.5


@dataclass(frozen=True)
class TableScore(NumberFeature):
    """A fitted score that adds up one log-ratio for each entry of an output.

    Each log-ratio is read from a table. The score is defined for outputs with as many entries as there are
    tables.

    Parameters
    ----------
    edges
        For each entry the edges between its bins.
    scores
        For each entry the log-ratio of each of its bins, then the log-ratio of values that are not numbers.
    """

    edges: tuple[tuple[float, ...], ...]
    scores: tuple[tuple[float, ...], ...]

    @property
    def words(self) -> str:
        """The name of the feature, as the subject of a sentence."""
        return f"a score fitted to {self.entries} entries{self._mostly()}"

    @property
    def entries(self) -> int:
        """Number of entries of a vector."""
        return len(self.edges)

    def names(self) -> list[str]:
        """Return what each table is about."""
        return [f"output[{i}]" for i in range(len(self.edges))]

    def heaviest(self) -> list[tuple[int, str]]:
        """Return the indices of the tables with their trends, heaviest first.

        A trend is +, − or ± (none is clear). The weight is the standard deviation of the score over the bins,
        which hold about equally many runs.
        """
        found = []
        for k, (_, scores) in enumerate(zip(self.edges, self.scores, strict=True)):
            column = np.array(scores[:-1])
            weight, steps = float(column.std()), np.arange(len(column)) - (len(column) - 1) / 2
            slope = float(steps @ column) / max(weight * float(np.sqrt(steps @ steps * len(column))), 1e-300)
            if weight > 0:
                found.append((-weight, k, "±" if abs(slope) < _MONOTONE else "+" if slope > 0 else "−"))
        return [(k, sign) for _, k, sign in sorted(found)]

    def _mostly(self) -> str:
        names = self.names()
        told = [f"{sign} {names[k]}" for k, sign in self.heaviest()[:MOST_NAMED]]
        return f", mostly {', '.join(told)}," if told else ""

    def column(self, view: View) -> Floats:
        """Return the value of the feature for every output of a block."""
        sized = [found for size, found in view.vectors.items() if size == self.entries]
        return scored(view, ((where, self.of_rows(matrix)) for where, matrix in sized))

    def of_rows(self, matrix: Floats) -> Floats:
        """Return the score of each row of a matrix. The matrix has shape (runs, entries)."""
        total = np.zeros(len(matrix))
        for values, edges, scores in zip(matrix.T, self.edges, self.scores, strict=True):
            if any(scores):
                total = total + np.asarray(scores)[bins_of(values, np.asarray(edges))]
        return total


@dataclass(frozen=True)
class AdditiveScore(TableScore):
    """A fitted score with a table also for each difference of neighbouring entries.

    Parameters
    ----------
    edges, scores
        As in `TableScore`: first for the d entries, then for the d − 1 differences.
    """

    @property
    def entries(self) -> int:
        """Number of entries of a vector."""
        return (len(self.edges) + 1) // 2

    def names(self) -> list[str]:
        """Return what each table is about."""
        single = [f"output[{i}]" for i in range(self.entries)]
        return single + [f"({after} − {before})" for before, after in pairwise(single)]

    def column(self, view: View) -> Floats:
        """Return the value of the feature for every output of a block."""
        if self.entries not in view.vectors:
            return scored(view, ())
        where, matrix = view.vectors[self.entries]
        total = np.zeros(len(matrix))
        for codes, scores in zip(coded(view, self.edges), self.scores, strict=True):
            total += np.asarray(scores).take(codes)
        return scored(view, [(where, total)])


def coded(view: View, edges: tuple[tuple[float, ...], ...]) -> list[Codes]:
    """Return the bins of the entries and differences of a block's vectors.

    There is one array for each column. The block keeps the bins.
    """
    if ("coded", edges) not in view.inside:
        columns = with_differences(view.vectors[(len(edges) + 1) // 2][1]).T
        view.inside["coded", edges] = [
            bins_of(column, np.asarray(inner)).astype(np.int16)
            for column, inner in zip(columns, edges, strict=True)
        ]
    found: list[Codes] = view.inside["coded", edges]
    return found


def with_differences(matrix: Floats) -> Floats:
    """Return each row's entries, then the differences of adjacent entries.

    Shape (runs, d) gives shape (runs, 2d − 1).
    """
    with np.errstate(all="ignore"):
        return np.hstack([matrix, np.diff(matrix, axis=1)])


def fit_score(a: Floats, b: Floats, *, entries: Collection[int] | None = None) -> TableScore:
    """Return a score fitted to past outputs of both databases.

    Parameters
    ----------
    a, b
        The outputs, shape (runs, entries).
    entries
        Indices of the entries that are scored; all by default.
    """
    most = int(np.clip(len(a) // 24, 4, 24))
    edges: list[tuple[float, ...]] = []
    scores: list[tuple[float, ...]] = []
    for i in range(a.shape[1]):
        if entries is not None and i not in entries:
            edges.append(())
            scores.append((0.0, 0.0))
            continue
        inner = learn_edges(np.concatenate([a[:, i], b[:, i]]))
        if len(inner) > most:
            inner = inner[np.linspace(0, len(inner) - 1, most).astype(np.intp)]
        width = len(inner) + 2
        of_a, of_b = (np.bincount(bins_of(rows[:, i], inner), minlength=width) for rows in (a, b))
        edges.append(tuple(inner.tolist()))
        scores.append(tuple(np.log((of_a + 3.0) / (of_b + 3.0)).tolist()))
    return TableScore(tuple(edges), tuple(scores))
