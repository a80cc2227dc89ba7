"""Which event to show: those that refuted a claim on a pair, the simplest among equals, with rounded bounds.

Nothing is drawn here. A candidate is fixed from past runs, and then run afresh as a witness (`confirm`).
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audit.events.event import AtomIn, Event, NumberIn, RegionIn
from audit.evidence.memory import PairMemory, growth_rate
from audit.verdict.terms import Terms

#: Candidates tried; the k-th (from 1) is confirmed at significance·2^−k, so that all together spend at most
#: one.
MOST_CANDIDATES = 3


@dataclass(frozen=True)
class Candidate:
    """An event fixed as a witness: the direction, the past's estimates, how far apart the databases are."""

    event: Event
    side: int
    p: float
    q: float
    past: float
    distance: int = 1


def find_candidates(memory: PairMemory, terms: Terms) -> list[Candidate]:
    """Return the events that refute the claim best on the past, the simplest among equals first."""
    found: list[tuple[float, Candidate]] = []
    claimed = terms.at(memory.distance)
    for chosen in memory.choose(terms.epsilon, terms.delta, against=terms.against):
        growth = growth_rate(chosen.candidates.p, chosen.candidates.q, *claimed)
        for k in np.argsort(-growth, kind="stable")[:6]:
            event = memory.event(chosen, int(k))
            p, q = float(chosen.candidates.p[k]), float(chosen.candidates.q[k])
            candidate = Candidate(event, chosen.side, p, q, chosen.candidates.past, memory.distance)
            found.append((float(growth[k]) * 0.97 ** _complexity(event), candidate))
    found.sort(key=lambda item: -item[0])
    distinct: list[Candidate] = []
    for _, candidate in found:
        tidy = _tidy(candidate, memory, terms)
        if all(tidy.event != other.event for other in distinct):
            distinct.append(tidy)
        if len(distinct) == MOST_CANDIDATES:
            break
    return distinct


#: How much harder than the output itself a feature is to look at, for a person; 2 for others.
_EFFORT = (
    dict.fromkeys(("Value", "Whole", "Coordinate", "Entry", "Part", "PartIs"), 0)
    | dict.fromkeys(("Length", "Kind", "Keys", "Difference", "PartsDifference"), 1)
    | dict.fromkeys(("TableScore", "PartsScore"), 20)
)


def _complexity(event: Event) -> int:
    parts = 0
    for condition in event.conditions:
        if not isinstance(condition, RegionIn):
            parts += _EFFORT.get(type(condition.feature).__name__, 2)
        if isinstance(condition, AtomIn):
            parts += max(8 * (not condition.examples), len(condition.examples))
        elif isinstance(condition, NumberIn):
            parts += 2 * len(condition.intervals) + condition.unscored
    return parts


def _tidy(candidate: Candidate, memory: PairMemory, terms: Terms) -> Candidate:
    """Round the event's bounds to the fewest digits that keep its growth on the kept outputs."""
    event = candidate.event
    if not any(isinstance(condition, NumberIn) for condition in event.conditions):
        return candidate
    wanted = growth_on(event, memory, candidate.side, terms)
    for digits in (1, 2, 3, 4):
        rounded = Event(tuple(_rounded(condition, digits) for condition in event.conditions))
        if growth_on(rounded, memory, candidate.side, terms) >= 0.95 * wanted > 0:
            return replace(candidate, event=rounded)
    return candidate


def _rounded(condition: Any, digits: int) -> Any:
    if not isinstance(condition, NumberIn):
        return condition
    intervals = tuple(
        (low, high) if _is_narrow(low, high) else (float(f"{low:.{digits}g}"), float(f"{high:.{digits}g}"))
        for low, high in condition.intervals
    )
    return replace(condition, intervals=intervals)


def _is_narrow(low: float, high: float) -> bool:
    """Return whether an interval is an atom's own, which rounding would miss."""
    return math.isfinite(low) and math.isfinite(high) and high - low <= 1e-6 * max(1.0, abs(low))


def seen(event: Event, memory: PairMemory, side: int) -> Candidate:
    """Return an event as a candidate, with what the kept outputs of a pair say of it."""
    p_in, p_out, q_in, q_out = memory.seen(event, side).tolist()
    p, q = (p_in + 0.5) / (p_in + p_out + 1), (q_in + 0.5) / (q_in + q_out + 1)
    return Candidate(event, side, p, q, p_in + p_out, memory.distance)


def growth_on(event: Event, memory: PairMemory, side: int, terms: Terms) -> float:
    """Return the growth by an event on the kept outputs of a pair, in nats a pair of runs."""
    found = seen(event, memory, side)
    return float(growth_rate(np.array(found.p), np.array(found.q), *terms.at(memory.distance)))
