"""The privacy loss on the line or on the integers."""

import math
import sys
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from audit.distributions.law import Floats, log_add
from audit.distributions.line import LineLaw
from audit.laws.losses.loss import SLACK, Cells, ScalarLoss
from audit.laws.losses.ratio import Interval, Ratio, ratio_of
from audit.laws.region import Region

CELLS = 2**11
"""Larger: finer cells. The number of quantiles of p that cut a segment before its cells are refined."""


@dataclass(frozen=True)
class Segment:
    """An interval in which each law has at most one piece. Without a piece of q, the loss is ∞."""

    left: float
    right: float
    p: Any
    q: Any
    ratio: Ratio


class LineLoss(ScalarLoss):
    """The privacy loss between two laws on the line.

    Each law may be a part of a larger law. The log masses of the parts are `log_p` and `log_q`.

    Examples
    --------
    >>> from audit.distributions import Density
    >>> LineLoss(Density.laplace(0.0), Density.laplace(1.0)).supremum()
    1.0
    """

    def __init__(self, p: LineLaw, q: LineLaw | None, *, log_p: float = 0.0, log_q: float = 0.0) -> None:
        self.p, self.lattice = p, p.lattice
        self.q_pieces: tuple[Any, ...] = () if q is None else q.pieces
        self.log_p, self.log_q = log_p, log_q

    def supremum(self) -> float:
        """Return the largest of the segments' suprema."""
        return max(self._supremum(segment) for segment in self.segments)

    def log_lost(self) -> float:
        """Return the log of p's mass outside q's support."""
        lost = [s for s in self.segments if s.q is None]
        return float(log_add(np.array([self._log_mass(s.p, s.left, s.right) for s in lost]))) + self.log_p

    def masses_above(self, level: float) -> tuple[Floats, Floats]:
        """Return the log-masses of the sets where the loss is above the level.

        They are under p and under q.
        """
        sets = self._level_sets(level)
        log_p = [self._log_mass(s.p, low, high) + self.log_p for s, low, high in sets]
        log_q = [self._log_mass(s.q, low, high) + self.log_q for s, low, high in sets]
        return np.array(log_p), np.array(log_q)

    def part_above(self, level: float) -> Region:
        """Return the set where the loss is above the level, as open intervals."""
        wide = 0.5 if self.lattice else 0.0
        joined: list[Interval] = []
        for _, low, high in self._level_sets(level):
            if joined and joined[-1][1] == low - wide:
                joined[-1] = (joined[-1][0], high + wide)
            else:
                joined.append((low - wide, high + wide))
        return Region(intervals=tuple(joined))

    def cells(self, step: float) -> Cells:
        """Return cells in which the loss changes by about `step`."""
        return Cells.joined(self._segment_cells(segment, step) for segment in self.segments)

    @cached_property
    def segments(self) -> list[Segment]:
        """The segments that have p-mass, from left to right."""
        found = []
        for piece in self.p.pieces:
            for left, right in self._cut(piece.left, piece.right):
                q = next((each for each in self.q_pieces if each.left <= left and right <= each.right), None)
                ratio = ratio_of(piece, q, left=left, right=right, shift=self.log_p - self.log_q)
                found.append(Segment(left, right, piece, q, ratio))
        return found

    def _cut(self, left: float, right: float) -> list[Interval]:
        """Return the intervals between the ends of q's pieces from left to right."""
        step = 1.0 if self.lattice else 0.0
        starts = (x for piece in self.q_pieces for x in (piece.left, piece.right + step))
        cuts = sorted({left, right + step, *(x for x in starts if left < x < right + step)})
        return [(low, high - step) for low, high in pairwise(cuts)]

    def _supremum(self, segment: Segment) -> float:
        turns = segment.ratio.turns
        if self.lattice:
            turns = np.clip([np.floor(turns), np.ceil(turns)], segment.left, segment.right)
        return float(np.max(segment.ratio.value(turns)))

    def _level_sets(self, level: float) -> list[tuple[Segment, float, float]]:
        # a segment without q-mass lies above every level
        sets, least = [], min(level + SLACK, sys.float_info.max)
        for segment in self.segments:
            above = _integer_sets(segment, least) if self.lattice else segment.ratio.above(least)
            sets += [(segment, *interval) for interval in above]
        return sets

    def _log_mass(self, piece: Any, low: Any, high: Any) -> Any:
        return np.full(np.shape(low), -np.inf) if piece is None else self.p.mass_of(piece, low, high)

    def _segment_cells(self, segment: Segment, step: float) -> Cells:
        if self.lattice:
            low = self._integers(segment)
            high = np.append(low[1:] - 1.0, segment.right)
        else:
            edges = self._edges(segment, step)
            low, high = edges[:-1], edges[1:]
        log_p = self._log_mass(segment.p, low, high) + self.log_p
        log_q = self._log_mass(segment.q, low, high) + self.log_q
        ends = segment.ratio.value(low), segment.ratio.value(high)
        return Cells(log_p, log_q, np.minimum(*ends), np.maximum(*ends))

    def _edges(self, segment: Segment, step: float) -> Floats:
        """Return the edges of cells in rising order.

        In each cell the loss is monotone and changes by about `step`.
        """
        piece = segment.p.clipped(segment.left, segment.right)
        logits = np.linspace(-34.0, 34.0, CELLS)
        inner = piece.invert(1.0 / (1.0 + np.exp(-logits)))
        edges = np.unique(np.concatenate([inner, segment.ratio.turns]))
        with np.errstate(invalid="ignore"):
            moves = np.abs(np.diff(segment.ratio.value(edges)))
        counts = np.where(np.isfinite(moves) & np.isfinite(np.diff(edges)), np.ceil(moves / step), 1.0)
        counts = np.clip(counts, 1, 2**16).astype(int)
        place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        width = np.where(counts > 1, np.diff(edges) / counts, 0.0)
        return np.append(np.repeat(edges[:-1], counts) + place * np.repeat(width, counts), edges[-1])

    def _integers(self, segment: Segment) -> Floats:
        """Return the first integer of each cell. An integer of p-mass above e⁻³⁶ is a cell of its own."""
        tail, middle = 34.0 * CELLS, float(self.p.ppf(0.5))
        low, high = max(segment.left, -tail + middle), min(segment.right, tail + middle)
        singles = np.arange(low, high + 1.0)
        heavy = singles[self._log_mass(segment.p, singles, singles) > -36.0]
        ends = [segment.left, *heavy, heavy[-1] + 1.0] if len(heavy) else [segment.left]
        return np.unique([x for x in ends if x <= segment.right])


def _integer_sets(segment: Segment, level: float) -> list[Interval]:
    """Return the ranges of integers in a segment with a loss above a level."""
    ratio = segment.ratio
    if segment.left == segment.right:
        return [(segment.left, segment.right)] if float(ratio.value(segment.left)) > level else []
    runs = []
    for start, end in ratio.above(level):
        low, high = float(np.ceil(start)), float(np.floor(end))
        low += math.isfinite(low) and not float(ratio.value(low)) > level
        high -= math.isfinite(high) and not float(ratio.value(high)) > level
        if low <= high:
            runs.append((low, high))
    return runs
