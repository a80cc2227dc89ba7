"""The event to show for a witness.

Of the events that refute a claim about equally fast, it is the easiest to read. This module makes no runs. It
fixes candidates from past runs; `confirm` then makes new runs for them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np

from audit.events.event import Event
from audit.events.tables import Table, apart
from audit.evidence.growth import growth_rate
from audit.evidence.memory import PairMemory
from audit.verdict.shown.plainer import boxes, offers_of, tables_of
from audit.verdict.shown.readable import effort, in_fewer_words, is_fitted, is_of_one_entry, score_of
from audit.verdict.terms import Terms

#: The most candidates that are tried. The k-th (from 1) is confirmed at level significance·2^−k, so the
#: levels of all add up to at most the significance.
MOST_CANDIDATES = 3
#: Events with at least this share of the best growth count as equally good, so the easiest to read of them
#: comes first.
ALIKE = 0.8
#: The growth of a fitted score is multiplied by this when it is compared with other events. A larger factor
#: shows fitted scores more often.
_FITTED = 0.5
#: A shorter event replaces a longer one only if it keeps this share of the longer one's growth.
_KEPT = 0.9
#: An event about one entry is tried beside a fitted score only if it exceeds the claim by this many standard
#: errors. A larger number tries fewer events.
_SURE = 3.0
#: The most events considered per table, and the most that are shortened in all.
_MOST_OF_A_TABLE, _MOST_TIDIED = 6, 12


@dataclass(frozen=True)
class Candidate:
    """An event to test as a witness. `distance` counts the steps between its databases."""

    event: Event
    side: int
    p: float
    q: float
    past: float
    distance: int = 1


def find_candidates(memory: PairMemory, terms: Terms) -> list[Candidate]:
    """Return the events to try as a witness, in order.

    The event with the largest growth is among them. Of the events whose growth on past runs is close to the
    best (`ALIKE`), the easiest to read comes first.
    """
    found = _found(memory, terms)
    if not found:
        return []
    best = max(found, key=lambda each: each.growth)
    most = max(each.worth for each in found)
    alike = [each for each in found if each.worth >= ALIKE * most]
    alike = _distinct(sorted(alike, key=_Found.by_effort))[:_MOST_TIDIED]
    others = sorted(found, key=lambda each: -each.worth * 0.97**each.effort)[: 2 * MOST_CANDIDATES]
    alike, [best], others = ([e.tidied(memory, terms) for e in each] for each in (alike, [best], others))
    alike = _distinct(sorted(alike, key=_Found.by_effort))
    ordered = _distinct([*alike[: MOST_CANDIDATES - 1], best, *alike, *others])
    return [each.candidate for each in ordered[:MOST_CANDIDATES]]


def find_single(memory: PairMemory, terms: Terms) -> Candidate | None:
    """Return the most readable of the best one-entry events, or None.

    The best are those with nearly the largest growth (`ALIKE`). If none surely has positive growth, return
    None.
    """
    found = [each for each in _found(memory, terms) if is_of_one_entry(each.event) and each.surely(terms)]
    if not found:
        return None
    most = max(each.growth for each in found)
    alike = sorted((each for each in found if each.growth >= ALIKE * most), key=_Found.by_effort)
    return alike[0].tidied(memory, terms).candidate


@dataclass(frozen=True)
class _Found:
    """A candidate, with its log growth as estimated from past runs."""

    candidate: Candidate
    growth: float

    @property
    def event(self) -> Event:
        return self.candidate.event

    @property
    def worth(self) -> float:
        """The growth, reduced for events that use a fitted score."""
        return self.growth * (_FITTED if is_fitted(self.event) else 1.0)

    def surely(self, terms: Terms) -> bool:
        """Return whether the growth is surely positive.

        The estimate lowers p and raises q by `_SURE` standard errors.
        """
        known = self.candidate
        p, q = apart(np.array(known.p), np.array(known.q), known.past, _SURE)
        return bool(growth_rate(p, q, *terms.at(known.distance)) > 0)

    @cached_property
    def effort(self) -> int:
        return effort(self.event)

    def by_effort(self) -> tuple[int, float]:
        return self.effort, -self.growth

    def tidied(self, memory: PairMemory, terms: Terms) -> "_Found":
        """Return the candidate, with a shorter event if one grows nearly as fast."""
        side, told = self.candidate.side, self.event
        wanted = _KEPT * growth_on(told, memory, side, terms)
        for k in range(len(told.conditions)):
            fewer = in_fewer_words(told, k, memory)
            told = next((e for e in fewer if growth_on(e, memory, side, terms) >= wanted > 0), told)
        return self if told is self.event else _Found(replace(self.candidate, event=told), self.growth)


def _found(memory: PairMemory, terms: Terms) -> list[_Found]:
    """Return the events with their estimated growth.

    These include events on entries of the best fitted score.
    """
    claimed = terms.at(memory.distance)
    found = list(_of_tables(memory.tables, memory, terms))
    best = max((each for each in found if is_fitted(each.event)), key=lambda each: each.growth, default=None)
    score = None if best is None else score_of(best.event)
    if best is not None and score is not None:
        found += _of_tables(tables_of(score, memory), memory, terms)
        side, past = best.candidate.side, sum(map(len, chain(*memory.kept(0)))) / 2
        for event, p, q in boxes(score, memory, side, claimed):
            growth = float(growth_rate(np.array(p), np.array(q), *claimed))
            found.append(_Found(Candidate(event, side, p, q, past, memory.distance), growth))
    return found


def _of_tables(tables: list[Table], memory: PairMemory, terms: Terms) -> Iterator[_Found]:
    for table, side, offer, errors in offers_of(tables, against=terms.against):
        growth = growth_rate(*apart(offer.p, offer.q, offer.past, errors), *terms.at(memory.distance))
        for k in np.argsort(-growth, kind="stable")[:_MOST_OF_A_TABLE]:
            condition = table.bins.condition(offer.inside_p[k, : table.bins.width])
            p, q = float(offer.p[k]), float(offer.q[k])
            candidate = Candidate(Event((condition,)), side, p, q, offer.past, memory.distance)
            yield _Found(candidate, float(growth[k]))


def _distinct(found: Iterable[_Found]) -> list[_Found]:
    kept: dict[str, _Found] = {}
    for each in found:
        kept.setdefault(each.event.words(), each)
    return list(kept.values())


def seen(event: Event, memory: PairMemory, side: int) -> Candidate:
    """Return an event as a candidate. Its p and q are estimated from the stored outputs of a pair."""
    p_in, p_out, q_in, q_out = memory.seen(event, side).tolist()
    p, q = (p_in + 0.5) / (p_in + p_out + 1), (q_in + 0.5) / (q_in + q_out + 1)
    return Candidate(event, side, p, q, p_in + p_out, memory.distance)


def growth_on(event: Event, memory: PairMemory, side: int, terms: Terms, *, errors: float = 0.0) -> float:
    """Return the log growth of an event on the stored outputs of a pair.

    The growth is in nats per pair of runs. The estimate lowers p and raises q by `errors` standard errors.
    """
    found = seen(event, memory, side)
    p, q = apart(np.array(found.p), np.array(found.q), found.past, errors)
    return float(growth_rate(p, q, *terms.at(memory.distance)))
