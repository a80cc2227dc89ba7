"""The account that bets on all cells of a table at once.

Its stakes aim at a given wealth by the last call.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from audit.claims import at_distance
from audit.distributions.law import Floats
from audit.evidence.cells import CAP, CAUTION, NOTHING, payoffs, smoothed

#: Larger: bolder bets. One call may lose at most this share of the account's wealth.
_MOST_LOST = 0.95


@dataclass(frozen=True)
class CellCounts:
    """The counts in one table, of past runs and of the batch that is bet on.

    The past counts alone decide how to bet.

    Parameters
    ----------
    table
        Index of the table among all tables of the pair of databases.
    past
        Past runs by cell, left and right, shape (2, cells).
    ordered
        Number of leading cells that are in numeric order.
    blocks
        The batch in parts, shape (parts, 2, cells + 1). The stake changes between parts. The last cell holds
        unfinished runs.
    """

    table: int
    past: Floats
    ordered: int
    blocks: Floats = field(default_factory=lambda: np.zeros((0, 2, 1)))

    @cached_property
    def laws(self) -> tuple[Floats, Floats]:
        """Estimated probabilities of the cells, left and right."""
        return smoothed(*self.past, ordered=self.ordered)

    def plan(self, ratio: Floats, delta: Floats) -> tuple[Floats, Floats, Floats]:
        """Return how to bet against each claim, and how promising this bet is.

        The results are the gain D in each cell, the mean square of D, and a score of the growth. The score is
        for a mean gain lowered by `CAUTION` standard errors, because the best of many tables looks too good.
        If even a mean raised by as much is negative, the mean square is set to 0, and nothing is bet.
        """
        (p, q), past = self.laws, max(self.past.sum(), 1.0)  # perhaps no run has finished
        won = payoffs(p, q, ratio, delta, past=past)
        mean = (won[:, 0] @ p + won[:, 1] @ q) / 2
        square = np.maximum((won[:, 0] ** 2 @ p + won[:, 1] ** 2 @ q) / 2, 1e-300)
        found, error = mean / np.sqrt(square), CAUTION / math.sqrt(past + 1)
        score = (found - error) * np.abs(found - error)
        return won, np.where(found > -error, square, 0.0), score

    def with_blocks(self, parts: Sequence[Floats]) -> "CellCounts":
        """Return a copy with the counts of the batch, block by block."""
        counts = np.concatenate(parts)
        missing = self.past.shape[1] + 1 - counts.shape[2]
        return replace(self, blocks=np.pad(counts, ((0, 0), (0, 0), (0, missing))))


def coupled_gains(ratio: Floats, delta: Floats) -> Floats:
    """Return D = X − e^ε·Y − δ for the four outcomes of a coupled pair of runs.

    Each pair has a run on the p side and one on the q side. X is 1 if the run on the p side is inside the
    event, else 0. Y is the same for the q side. The outcomes are both inside, only the p side, only the q
    side, and neither.

    Parameters
    ----------
    ratio, delta
        e^ε and δ of each claim: two arrays of the same shape (…). The result has shape (…, 4).
    """
    zero = np.zeros_like(ratio)
    return np.stack([1 - ratio, 1 + zero, -ratio, zero], axis=-1) - np.asarray(delta)[..., None]


@dataclass(frozen=True)
class CoupledEvent:
    """An event of coupled pairs, bet on as a table of four cells.

    Parameters
    ----------
    shares
        Estimated probabilities of the four outcomes of a pair, shape (4,).
    blocks
        The counts of pairs by outcome in each part of the batch, shape (parts, 1, 5). The stake changes
        between parts. The last column is empty.
    """

    shares: Floats
    blocks: Floats = field(default_factory=lambda: np.zeros((0, 1, 5)))

    def plan(self, ratio: Floats, delta: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the gain D of each outcome, the mean square of D, and a growth score.

        Each result is for every claim.
        """
        won = coupled_gains(ratio, delta)
        mean, square = won @ self.shares, np.maximum(won**2 @ self.shares, 1e-300)
        return won[:, None, :], square, mean * np.abs(mean) / square

    def with_blocks(self, parts: Sequence[Floats]) -> "CoupledEvent":
        """Return a copy with the counts of the batch, block by block."""
        return replace(self, blocks=np.concatenate(parts))


@dataclass(frozen=True)
class Aim:
    """A bet on one batch that aims at a given wealth.

    Parameters
    ----------
    tables
        The tables. The bet against a claim is on the table with the largest expected growth.
    calls
        Number of calls, or of coupled pairs, that may still be bet on at the beginning of the batch.
    distance
        Number of steps from one database to the other; each step leads to a neighbour.
    lost
        Whether the batch was broken off. The result of the bet is then unknown, and the whole bet counts as
        lost.
    """

    tables: tuple[CellCounts | CoupledEvent, ...]
    calls: int
    distance: int = 1
    lost: bool = False

    def drawn(self, blocks: Sequence[Sequence[Floats]]) -> "Aim":
        """Return a copy with the counts of the batch.

        `blocks` has the counts of each block, table by table.
        """
        by_table = zip(self.tables, zip(*blocks, strict=True), strict=True)
        return replace(self, tables=tuple(table.with_blocks(parts) for table, parts in by_table))


@dataclass(frozen=True)
class Goals:
    """An account whose stakes aim at a given wealth.

    Parameters
    ----------
    log_limit
        The log wealth to reach.
    share
        The account's share of all wealth.
    """

    log_limit: float
    share: float

    def path(self, aims: Sequence[Aim | None], epsilons: Floats, deltas: Floats, logs: Floats) -> Floats:
        """Return the log wealth after each bet, shape (aims, claims).

        `logs` is the log wealth before the first bet.
        """
        path = np.empty((len(aims), len(epsilons)))
        for row, aim in zip(path, aims, strict=True):
            if aim is not None:
                logs = self.after(aim, logs, epsilons, deltas)
            row[:] = logs
        return path

    def after(self, aim: Aim, logs: Floats, epsilons: Floats, deltas: Floats) -> Floats:
        """Return the log wealth after a batch, shape (claims,). `logs` is the log wealth before the batch."""
        if aim.lost:
            return np.full(len(logs), -np.inf)
        claims = [at_distance(e, d, aim.distance) for e, d in zip(epsilons, deltas, strict=True)]
        ratio = np.exp(np.minimum([epsilon for epsilon, _ in claims], CAP))
        delta = np.array([delta for _, delta in claims])
        plans = [table.plan(ratio, delta) for table in aim.tables]
        best = np.argmax([plan[2] for plan in plans], axis=0)
        logs = logs.copy()
        for place, (won, square, _) in enumerate(plans):
            here = np.flatnonzero((best == place) & (square > NOTHING))
            if len(here):
                logs[here] = self._bet(aim, place, logs[here], won[here], square[here])
        return logs

    def _bet(self, aim: Aim, place: int, logs: Floats, won: Floats, square: Floats) -> Floats:
        worst = won.min(axis=2, keepdims=True)
        won = np.concatenate([won, worst], axis=2)
        most = _MOST_LOST / -worst.min(axis=1)[:, 0]
        left = aim.calls
        for counts in aim.tables[place].blocks:
            wealth = np.exp(np.minimum(np.maximum(logs - self.log_limit, -600.0), 0.0))
            z = ndtri(np.minimum(wealth, 1 - 1e-12))
            stake = np.exp(-(z**2) / 2) / (math.sqrt(2 * math.pi) * wealth * np.sqrt(max(left, 1) * square))
            stake = np.where(logs < self.log_limit, np.minimum(stake, most), 0.0)
            logs = logs + (counts * np.log1p(stake[:, None, None] * won)).sum(axis=(1, 2))
            left -= int(counts.sum())
        return logs
