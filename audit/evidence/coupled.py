"""Bets on pairs of runs that start from the same generator state.

Each pair of coupled runs has a generator state of its own. For an event E let X be 1 if the run on the p side
falls into E, and else 0. Let Y be the same for the q side, and R = e^ε. Then

    D = X − R·Y − δ

is linear in X and Y, so E[D | past] = p − R·q − δ for any dependence between X and Y. The claim says that
this is at most 0. The least value is −R − δ. With λ = s/(R + δ), 0 ≤ s < 1 fixed before the pair, 1 + λ·D > 0
and E[1 + λ·D | past] ≤ 1. This is a factor of the wealth like those of `audit.evidence.bets`. If noise is
added to a number, both runs mostly fall on the same side of a threshold. D then varies far less than over
independent runs.

**Guarantee.** The guarantee of `audit.evidence.bets` holds if runs depend only on the database and on the
generator that they are given. The audit checks this before and after the bets, but hidden state can escape
the checks. A library that sometimes shows its last release breaks the guarantee: the second run of a pair
reveals the first. So a claim is refuted only if separate calls confirm the refutation
(`audit.verdict.judge`). Bounds and `detectable_epsilon` assume that no state is kept, and the result lists
this assumption.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from audit.claims import at_distance
from audit.distributions.law import Floats
from audit.events.event import Event
from audit.events.features.views import View
from audit.events.tables import Candidates, Table
from audit.evidence.bets import Bet
from audit.evidence.goals import Aim, CoupledEvent, coupled_gains
from audit.evidence.growth import NEAREST_LEVELS, levels_of
from audit.evidence.memory import MOST_TABLES, Chosen, PairMemory, merged, settled

#: Larger: runs are coupled more rarely. Coupled bets must grow this many times as fast as independent ones.
_WORTH = 1.25
#: Limits memory: this many coupled pairs are kept to be counted again when bins are learned anew.
_KEPT = 16_384
#: Larger: the stake of a bet that aims at a given wealth (`Aim`) is adapted more often. Number of parts of a
#: block, each with its own stake.
_PARTS = 16


@dataclass(frozen=True, kw_only=True)
class CoupledChosen(Chosen):
    """Events of one table on which the next coupled batch is bet.

    The events share one choice of the p side. `shares` are the estimated probabilities of the four outcomes
    of a pair, shape (events, 4).
    """

    shares: Floats


@dataclass(frozen=True)
class CoupledAim:
    """A bet that aims at a given wealth by the last pair of runs.

    For each event of `aim`, `events` holds the `CoupledChosen` with the event, and the event's place in it.
    """

    aim: Aim
    events: tuple[tuple[CoupledChosen, int], ...]

    def parts(self, tables: list[Table], left: View, right: View) -> list[Floats]:
        """Return the counts of a block's pairs for each event, as in `CoupledEvent`."""
        many, found = max(1, min(_PARTS, len(left))), []
        cuts = np.arange(len(left)) * many // max(len(left), 1)
        for chosen, k in self.events:
            sides = (left, right) if chosen.side == 0 else (right, left)
            in_p, in_q = chosen.candidates.inside_p[k], chosen.candidates.inside_q[k]
            bins = [tables[chosen.table].find(view) for view in sides]
            outcome = np.where(in_p[bins[0]], np.where(in_q[bins[1]], 0, 1), np.where(in_q[bins[1]], 2, 3))
            counted = np.bincount(5 * cuts + outcome, minlength=5 * many)
            found.append(counted.reshape(many, 1, 5).astype(np.float64))
        return found


@dataclass
class Coupling:
    """What coupled runs of one pair of databases showed.

    Parameters
    ----------
    memory
        What all runs on the pair of databases showed.
    pairs
        Number of coupled pairs of runs so far.
    bets
        Sizes of the coupled batches that were bet on, in pairs.
    """

    memory: PairMemory
    pairs: int = 0
    bets: list[int] = field(default_factory=list)
    _kept: list[tuple[View, View]] = field(default_factory=list)
    _joints: dict[int, tuple[Table, Floats]] = field(default_factory=dict)

    def count(self, blocks: list[tuple[View, View]]) -> list[Floats]:
        """Return the counts of a batch in every table, by the bins of both runs."""
        return [np.sum([joint(table, *pair) for pair in blocks], axis=0) for table in self.memory.tables]

    def learn(self, blocks: list[tuple[View, View]], counts: list[Floats]) -> None:
        """Learn from a finished batch that was counted in the present tables."""
        for table, counted in zip(self.memory.tables, counts, strict=True):
            self._joints[id(table)] = table, self._joint(table) + counted
        for left, right in blocks:
            if sum(len(kept) for kept, _ in self._kept) < _KEPT:
                self._kept.append((left, right))
            self.pairs += len(left)

    def _joint(self, table: Table) -> Floats:
        """Return the counts of pairs by the bins of both runs.

        For a new table, only the pairs still stored are counted.
        """
        found = self._joints.get(id(table))
        if found is not None and found[0] is table:
            return found[1]
        width = table.bins.width + 1
        if not self._kept:
            return np.zeros((width, width))
        self._kept = [tuple(merged([pair[side] for pair in self._kept]) for side in (0, 1))]  # type: ignore[list-item]
        counted = joint(table, *self._kept[0])
        self._joints[id(table)] = table, counted
        return counted

    def _offers(self, *, against: bool) -> list[tuple[int, int, Candidates, Floats]]:
        """Return the events of every table and p side, with their shares.

        The shares are the probabilities of a pair's four outcomes.
        """
        tables = self.memory.tables
        self._joints = {key: kept for key, kept in self._joints.items() if any(kept[0] is t for t in tables)}
        return [
            (index, side, candidates, _shares(candidates, _seen(self._joint(tables[index]), side)))
            for index, side, candidates in self.memory.suggested(against=against)
        ]

    def choose(self, epsilon: float, delta: float, *, against: bool) -> list[CoupledChosen]:
        """Return the events with the largest expected growth at ε or near it."""
        offers = self._offers(against=against)
        if not offers:
            return []
        levels, delta = self._levels(epsilon, delta)
        promise = np.concatenate([growth(shares, levels, delta) for *_, shares in offers], axis=1)
        return [
            CoupledChosen(**vars(chosen), shares=offers[place][3][mine])
            for chosen, place, mine in self.memory.pick([each[:3] for each in offers], promise)
        ]

    def _levels(self, epsilon: float, delta: float) -> tuple[Floats, float]:
        """Return the claims against which events are ranked.

        These are several ε, shape (levels, 1), and one δ.
        """
        far, delta = at_distance(epsilon, delta, self.memory.distance)
        return (far / epsilon if epsilon else 1.0) * levels_of(epsilon)[:, None], delta

    def aim(self, chosen: list[CoupledChosen], epsilon: float, delta: float, *, pairs: int) -> "CoupledAim":
        """Return the next bet of the account that aims at a given wealth.

        Parameters
        ----------
        chosen
            The events of the next batch.
        epsilon, delta
            The claim.
        pairs
            Number of pairs of runs that may still be bet on.
        """
        places = [(each, k) for each in chosen for k in range(len(each.shares))]
        shares = np.concatenate([each.shares for each in chosen])
        levels, delta = self._levels(epsilon, delta)
        best = growth(shares, levels[NEAREST_LEVELS], delta).argmax(axis=1)
        taken = list(dict.fromkeys(best.tolist()))[:MOST_TABLES]
        events = tuple(CoupledEvent(shares[k]) for k in taken)
        return CoupledAim(Aim(events, pairs, self.memory.distance), tuple(places[k] for k in taken))

    def bet_on(self, chosen: list[CoupledChosen], counts: list[Floats]) -> Bet:
        """Return the bet on the chosen events, with the counts of the batch that followed."""
        seen = [_by_event(each.candidates, _seen(counts[each.table], each.side)) for each in chosen]
        bet = settled(chosen, seen)
        shares = np.concatenate([each.shares for each in chosen])
        return replace(bet, past=np.full_like(bet.past, self.pairs), shares=shares)

    def rarer(self, event: Event) -> float:
        """Return how often only the q side is in the event in coupled runs.

        The number is relative to independent runs.
        """
        inside = [np.concatenate([event.members(pair[side]) for pair in self._kept]) for side in (0, 1)]
        p_side, q_side = sorted(inside, key=lambda side: -side.mean())
        expected = q_side.mean() * (1 - p_side.mean()) * len(p_side)
        return float(((q_side & ~p_side).sum() + 0.5) / (expected + 0.5))

    def is_worth(self, epsilon: float, delta: float, *, against: bool) -> bool:
        """Return whether coupled bets against ε/2 grow much faster than independent ones."""
        offers = self._offers(against=against)
        epsilon, delta = at_distance(epsilon / 2, delta, self.memory.distance)

        def fastest(outcomes: Iterable[Floats]) -> float:
            return max((float(growth(shares, epsilon, delta).max()) for shares in outcomes), default=0.0)

        together = fastest(shares for *_, shares in offers)
        apart = fastest(coupled_outcomes(each.p, each.q) for _, _, each, _ in offers)
        return together > _WORTH * max(apart, 0.0) and together > 0


def joint(table: Table, left: View, right: View) -> Floats:
    """Return the counts of a block's pairs of runs by the bins of both runs.

    The result has shape (bins + 1, bins + 1).

    Parameters
    ----------
    table
        The bins.
    left, right
        The runs; those at the same index are a pair.
    """
    width = table.bins.width + 1
    places = table.find(left) * width + table.find(right)
    return np.bincount(places, minlength=width * width).reshape(width, width).astype(np.float64)


def _seen(counted: Floats, side: int) -> Floats:
    return counted if side == 0 else counted.T


def _by_event(candidates: Candidates, counted: Floats) -> Floats:
    """Return counts of pairs of runs by their four outcomes, shape (events, 4).

    The outcomes are both inside, only the p side, only the q side, and neither.
    """
    rows = candidates.inside_p @ counted
    both = (rows * candidates.inside_q).sum(axis=1)
    p_side, q_side = rows.sum(axis=1), candidates.inside_q @ counted.sum(axis=0)
    return np.stack([both, p_side - both, q_side - both, counted.sum() - p_side - q_side + both], axis=1)


def _shares(candidates: Candidates, counted: Floats) -> Floats:
    """Return estimated probabilities of the four outcomes of a pair of runs.

    p and q come from all runs. Coupled runs give the factor `rarer` of `coupled_outcomes`. Half a pair is
    added to both of its counts, so that it is positive. The result has shape (events, 4).
    """
    p, q = candidates.p, candidates.q
    rarer = (_by_event(candidates, counted)[:, 2] + 0.5) / (counted.sum() * (q * (1 - p)) + 0.5)
    return coupled_outcomes(p, q, rarer)


def coupled_outcomes(p: Floats, q: Floats, rarer: Floats | float = 1.0) -> Floats:
    """Return the probabilities of the four outcomes of a pair of runs. The result has shape (…, 4).

    Parameters
    ----------
    p, q
        The probabilities of the event on the p side and on the q side.
    rarer
        Pr[only the run on the q side is inside the event], divided by its value for independent runs.
    """
    q_side = np.minimum(np.maximum(rarer * (q * (1 - p)), q - p), np.minimum(q, 1 - p))
    both = q - q_side
    return np.stack([both, p - both, q_side, 1 - p - q_side], axis=-1)


def growth(shares: Floats, epsilon: Floats | float, delta: float) -> Floats:
    """Return a second-order approximation of the best log growth per coupled pair.

    Parameters
    ----------
    shares
        Probabilities of the four outcomes, shape (events, 4).
    epsilon, delta
        The claim, or several in a shape that broadcasts with (events,).
    """
    won = coupled_gains(np.asarray(np.exp(np.minimum(epsilon, 300.0))), np.asarray(delta))
    mean, square = ((won**power * shares).sum(axis=-1) for power in (1, 2))
    return np.asarray(0.5 * mean * np.abs(mean) / np.maximum(square, 1e-300))
