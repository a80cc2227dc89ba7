"""Accounts that bet on whole tables with a last call in view, and their wealth against any claim."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from audit.claims import at_distance
from audit.distributions.law import Floats
from audit.evidence.cells import payoffs, smoothed

#: The largest share of an account that a call may lose.
_MOST_LOST = 0.95
#: A mean square of D that is left by rounding only: there is no way to bet.
_NOTHING = 1e-18
#: No ε beyond this one can be told from it by so few runs as are ever drawn, and squares of e^ε are floats.
_CAP = 300.0
_SQRT_TAU = math.sqrt(2 * math.pi)


@dataclass(frozen=True)
class CellCounts:
    """A table as the past counted it, and what the parts of a batch then showed in its cells.

    Parameters
    ----------
    table
        The place of the table among those of its pair.
    past
        Past runs by cell, left and right, shape (2, cells).
    ordered
        How many leading cells are in numeric order.
    blocks
        The batch in parts, between which the stake changes: shape (parts, 2, cells + 1). The last cell holds
        runs that count against a refutation because they have no output.
    """

    table: int
    past: Floats
    ordered: int
    blocks: Floats = field(default_factory=lambda: np.zeros((0, 2, 1)))

    @cached_property
    def laws(self) -> tuple[Floats, Floats]:
        """What the past says of the probabilities of the cells, left and right."""
        return smoothed(*self.past, ordered=self.ordered)

    def plan(self, ratio: Floats, delta: Floats) -> tuple[Floats, Floats, Floats]:
        """Return what calls win in each cell, the mean of its square, and the growth promised, by claim."""
        p, q = self.laws
        won = payoffs(p, q, ratio, delta, past=self.past.sum())
        mean = (won[:, 0] @ p + won[:, 1] @ q) / 2
        square = np.maximum((won[:, 0] ** 2 @ p + won[:, 1] ** 2 @ q) / 2, 1e-300)
        return won, square, mean * np.abs(mean) / square

    def with_blocks(self, parts: Sequence[Floats]) -> "CellCounts":
        """Return the table with what the parts of its batch showed."""
        counts = np.concatenate(parts)
        missing = self.past.shape[1] + 1 - counts.shape[2]
        return replace(self, blocks=np.pad(counts, ((0, 0), (0, 0), (0, missing))))


def coupled_gains(ratio: Floats, delta: Floats) -> Floats:
    """Return D = X − e^ε·Y − δ of a coupled pair: both inside, only the p side, only the q side, neither.

    Parameters
    ----------
    ratio, delta
        e^ε and δ of claims, of one shape; the outcomes are a last axis more.
    """
    zero = np.zeros_like(ratio)
    return np.stack([1 - ratio, 1 + zero, -ratio, zero], axis=-1) - np.asarray(delta)[..., None]


@dataclass(frozen=True)
class CoupledEvent:
    """An event of coupled pairs (`audit.evidence.coupled`), bet on as a table of four cells.

    Parameters
    ----------
    shares
        What the past says of the four outcomes of a pair, shape (4,).
    blocks
        The batch in parts, between which the stake changes: pairs by outcome, shape (parts, 1, 5); the last
        column is empty.
    """

    shares: Floats
    blocks: Floats = field(default_factory=lambda: np.zeros((0, 1, 5)))

    def plan(self, ratio: Floats, delta: Floats) -> tuple[Floats, Floats, Floats]:
        """Return what pairs win by outcome, the mean of its square, and the growth promised, by claim."""
        won = coupled_gains(ratio, delta)
        mean, square = won @ self.shares, np.maximum(won**2 @ self.shares, 1e-300)
        return won[:, None, :], square, mean * np.abs(mean) / square

    def with_blocks(self, parts: Sequence[Floats]) -> "CoupledEvent":
        """Return the event with what the parts of its batch showed."""
        return replace(self, blocks=np.concatenate(parts))


@dataclass(frozen=True)
class Aim:
    """What one batch is bet on: the tables that promised most, and the calls still to come.

    Parameters
    ----------
    tables
        The tables, one of which is chosen for each claim by what the past promised.
    calls
        How many calls, or coupled pairs, may be bet on from the beginning of the batch on.
    distance
        How many steps of neighbours lie between the two databases.
    lost
        Whether the batch was broken off. What the bet became is unknown then, and all of it counts as lost.
    """

    tables: tuple[CellCounts | CoupledEvent, ...]
    calls: int
    distance: int = 1
    lost: bool = False

    def drawn(self, blocks: Sequence[Sequence[Floats]]) -> "Aim":
        """Return the aim with what its batch showed, block by block and in each block by table."""
        by_table = zip(self.tables, zip(*blocks, strict=True), strict=True)
        return replace(self, tables=tuple(table.with_blocks(parts) for table, parts in by_table))


@dataclass(frozen=True)
class Goals:
    """An account with a goal, and how its wealth moves.

    Parameters
    ----------
    log_limit
        The log wealth that is aimed at.
    share
        The share of all wealth that is bet so.
    """

    log_limit: float
    share: float

    def path(self, aims: Sequence[Aim | None], epsilons: Floats, deltas: Floats, logs: Floats) -> Floats:
        """Return the log wealth after each aim against each claim from that before, shape (aims, claims)."""
        path = np.empty((len(aims), len(epsilons)))
        for row, aim in zip(path, aims, strict=True):
            if aim is not None:
                logs = self.after(aim, logs, epsilons, deltas)
            row[:] = logs
        return path

    def after(self, aim: Aim, logs: Floats, epsilons: Floats, deltas: Floats) -> Floats:
        """Return the log wealth after a batch from that before it, shape (claims,)."""
        if aim.lost:
            return np.full(len(logs), -np.inf)
        claims = [at_distance(e, d, aim.distance) for e, d in zip(epsilons, deltas, strict=True)]
        ratio = np.exp(np.minimum([epsilon for epsilon, _ in claims], _CAP))
        delta = np.array([delta for _, delta in claims])
        plans = [table.plan(ratio, delta) for table in aim.tables]
        best = np.argmax([plan[2] for plan in plans], axis=0)
        logs = logs.copy()
        for place, (won, square, _) in enumerate(plans):
            here = np.flatnonzero((best == place) & (square > _NOTHING))
            if len(here):
                logs[here] = self._bet(aim, place, logs[here], won[here], square[here])
        return logs

    def _bet(self, aim: Aim, place: int, logs: Floats, won: Floats, square: Floats) -> Floats:
        worst = won.min(axis=2, keepdims=True)
        won = np.concatenate([won, worst], axis=2)
        most = _MOST_LOST / -worst.min(axis=1)[:, 0]
        left = aim.calls
        for counts in aim.tables[place].blocks:
            wealth = np.exp(np.clip(logs - self.log_limit, -600.0, 0.0))
            z = ndtri(np.minimum(wealth, 1 - 1e-12))
            stake = np.exp(-(z**2) / 2) / (_SQRT_TAU * wealth * np.sqrt(max(left, 1) * square))
            stake = np.where(logs < self.log_limit, np.minimum(stake, most), 0.0)
            logs = logs + (counts * np.log1p(stake[:, None, None] * won)).sum(axis=(1, 2))
            left -= int(counts.sum())
        return logs
