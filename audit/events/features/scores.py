"""A fitted feature: the sum over entries of learned log-ratios (a naive Bayes score).

For mechanisms whose entries carry independent noise this is, up to the fit, the optimal score: the
log-likelihood ratio of independent entries is the sum of theirs.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from audit.distributions.law import Floats
from audit.events.edges import bins_of, learn_edges
from audit.events.features.base import NumberFeature, scored
from audit.events.features.views import View

#: Fitting a score to fewer runs than this a side is noise.
LEAST_FOR_SCORES = 96


@dataclass(frozen=True)
class TableScore(NumberFeature):
    """The sum of per-entry tables, for outputs of as many entries as there are tables.

    Parameters
    ----------
    edges
        For each entry the inner bin edges.
    scores
        For each entry one log-ratio a bin (one more than edges), and a last one for entries that are no
        number.
    """

    edges: tuple[tuple[float, ...], ...]
    scores: tuple[tuple[float, ...], ...]

    @property
    def words(self) -> str:
        """The subject of a sentence."""
        return f"a score fitted to the {len(self.edges)} entries of the output (sum of their log-ratios)"

    def column(self, view: View) -> Floats:
        """Give the feature of every output of a block."""
        sized = [found for size, found in view.vectors.items() if size == len(self.edges)]
        return scored(view, ((where, self.of_rows(matrix)) for where, matrix in sized))

    def of_rows(self, matrix: Floats) -> Floats:
        """Give the score of each row, shape (runs, entries)."""
        total = np.zeros(len(matrix))
        for values, edges, scores in zip(matrix.T, self.edges, self.scores, strict=True):
            if any(scores):
                total = total + np.asarray(scores)[bins_of(values, np.asarray(edges))]
        return total


def fit_score(a: Floats, b: Floats, *, entries: Collection[int] | None = None) -> TableScore:
    """Fit a sum of per-entry log-ratio tables to past outputs of both databases, shapes (runs, entries).

    Only some `entries` count, if these are given.
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
