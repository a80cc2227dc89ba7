"""The event of a crossing, fixed and run afresh: what decides between REFUTED and INCONCLUSIVE.

**Verdict confirmation.** Wealth that crossed refutes a claim about each call, given what the subject keeps.
Noise that a subject drew once and keeps (memoised by database, made at import or in its constructor) breaks
that claim though each first answer keeps it, and an event learned in one process fits that process's noise.
So a refutation of a subject that is not stateless is confirmed in fresh processes that make the subject anew:

- where the event never varied on either side, by one run in each of many processes;
- where it varies, by equal parts of the calls in several processes, each call with its coin; REFUTED only if
  these calls cross by themselves, *and* the event is as frequent in every process (`spread_evenly`, each side
  at `_SPREAD`/2); a second try, at half the level, gives each process as many calls as the refutation took,
  for a fault that needs a warm subject.

A stateless subject's calls depend on nothing that is kept: they are confirmed in this process, run by run.
Wealth that rests on coupled pairs, or on runs of one call of a sampler, refutes only if calls of their own do
so too: by the event, or learned anew from four times as many calls. That is one more try, at its own level.

**Guarantee.** REFUTED needs the crossing and its confirmation: if each call keeps the claim given the past
the chance is at most the significance. If only first answers do, the calls of a process share what it drew;
with one run a process each is a first answer of its own, and the k-th try's wealth crosses with
probability at most significance·2^−k, and at most 0.001·2^−k. With several runs a process kept noise moves
the event's frequency from process to process, which the exact test notices; what it misses must then cross
by itself. Which event is tried, and in which order, is decided on past runs alone; a second event beside a
fitted score is a try like the others, so that all that an audit shows as confirmed is wrong with probability
at most the significance.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from audit.distributions.law import Floats
from audit.errors import SubjectError
from audit.events.tables import apart
from audit.evidence.bets import log_payoffs, outcomes
from audit.evidence.memory import PairMemory, growth_rate
from audit.results.result import Witness
from audit.sampling import CONFIRM, Sampler, TimeIsOver
from audit.subject.subject import Renewed
from audit.verdict.betting import Betting
from audit.verdict.shown.candidates import (
    MOST_CANDIDATES,
    Candidate,
    find_candidates,
    find_single,
    growth_on,
    seen,
)
from audit.verdict.statements import BY_COUPLED, BY_SAMPLE, HOLDS_DATA, IN_COMPANY, KEPT, UNTOLD
from audit.verdict.terms import Terms
from audit.verdict.witness import SECONDS_ALONE, Plan, run_witness, spread_evenly, terms_of

#: Calls of a witness, as a multiple of what its estimated growth needs: confirmed with probability well over
#: 99 %.
MARGIN = 3.0
LEAST_RUNS = 200
#: A candidate that was not confirmed is run once more where what it may take is this share of what it needs.
_HOPEFUL = 1 / 6
#: What an event of a step must have shown to be tried beside the event that the path fell by.
_ENOUGH_NATS = 8.0
#: What crossed in runs that share one call of `sample` is tried again with single calls: up to this many
#: times as many of them, drawn from this place of the seed tree on.
_AGAIN = 4
_AGAIN_PLACE = 1_000_000
#: Fresh processes that share the calls of a varying event, and half of the fewest calls that they make: 32
#: each. In a simulation of a mechanism that keeps a third of its answers, 16 processes of 25 calls confirmed
#: 5 of 1,224 refutations at 0.025, and these none of 1,233.
PARTS = 32
LEAST_SHARED = 32 * PARTS // 2
#: Fresh processes of a second try, each with as many calls as the refutation took.
_WARM_PARTS = 8
#: Processes with one run each, as a multiple of what an event that never varies needs.
_SINGLES = 1.3
#: Level of the test that an event is as frequent in every process.
_SPREAD = 1e-3
#: Seconds that a second try may take by what runs took so far; a dearer one is left out.
_SECONDS = 60.0


@dataclass
class Judge:
    """Runs witnesses afresh, one try after the other; the k-th in all has significance·2^−k."""

    sampler: Sampler
    betting: Betting
    stateless: bool
    #: Most runs that each pair may take.
    allowance: int
    most: int = 0
    tried: int = 0
    bounds_hold: bool = True
    #: Why fresh processes could not be had, where they were wanted.
    unavailable: str = ""
    #: What the fresh processes said of noise that is kept.
    kept: bool = False
    #: Whether fresh processes have run, and did not confirm before they could not be had any more.
    denied: bool = False
    _last_varied: bool = False
    _seconds_left: float = SECONDS_ALONE

    def __post_init__(self) -> None:
        if not self.stateless and self.sampler.recipe is None:
            self.unavailable = HOLDS_DATA

    @property
    def in_fresh(self) -> bool:
        """Whether witnesses are run in fresh processes."""
        return not self.stateless and not self.unavailable

    @property
    def how(self) -> str:
        """How the subject's runs were found to be independent trials."""
        if self.stateless or self.in_fresh:
            return "stateless" if self.stateless else "fresh"
        return "renewed" if self._renewed else "unchecked"

    @property
    def _renewed(self) -> bool:
        """Whether every run has a mechanism of its own, which the user's `fresh=` makes."""
        return isinstance(self.sampler.subject.object, Renewed)

    def doubt(self, first: Witness) -> str:
        """Return why the crossing and these confirming runs do not refute; empty if they do."""
        if self.kept:  # whatever a later try was run in
            return KEPT
        if self.in_fresh or self.denied:
            return "" if first.confirmed else IN_COMPANY
        if not self.stateless and not self._renewed and (first.p, first.q) == (1.0, 0.0):
            return UNTOLD.format(self.unavailable)
        coupled = self.betting.coupled.in_wealth
        by_calls = self.sampler.subject.declared_sampler is None and not coupled
        if first.confirmed or by_calls or self._again_by_calls():
            return ""
        return BY_COUPLED if coupled else BY_SAMPLE

    def best(self, memory: PairMemory, *, errors: float = 0.0, known: Witness | None = None) -> Witness:
        """Return the first candidate of a pair that is confirmed, or else the first.

        There are as many runs as the candidate's growth asks for. Before that, `errors` standard errors are
        taken from its p and added to its q, for what was chosen for its growth looks better than it is. The
        event of a `known` witness comes first; those of the pair itself must then show enough.

        Raises
        ------
        TimeIsOver
            The deadline passed, or fresh processes that ran before cannot be had for another witness.
        """
        self.most = self.sampler.drawn + self.allowance
        first: Witness | None = None
        candidates = find_candidates(memory, self.betting.terms)
        if known is not None:
            own = [each for each in candidates if self._promises(memory, each)]
            candidates = [seen(known.event, memory, side_of(known)), *own][:MOST_CANDIDATES]
        for candidate in candidates:
            # Whole tables crossed, but not this event: it may be a lucky one.
            lucky = self._runs_wanted(candidate, errors) > MARGIN * candidate.past
            for witness in self._tries(memory, candidate, max(errors, 1.0) if lucky else errors):
                if witness.confirmed:
                    return witness
                first = first or witness
        if first is None:
            raise TimeIsOver
        if self.in_fresh:  # one more try would be one more chance for noise that a process keeps
            return first
        sober = _sobered(candidates[0], first)  # once more, with as many runs as its own calls ask for
        hopeful = _HOPEFUL * self._runs_wanted(sober, 0.0) <= self._most_runs
        tried = self._tries(memory, sober, 0.0) if hopeful else iter(())
        return next((witness for witness in tried if witness.confirmed), first)

    def single(self, memory: PairMemory) -> Witness | None:
        """Return an event of one entry that is confirmed on this pair too; None where none is.

        It is one more try: the k-th of all, at significance·2^−k. It comes after the verdict and decides
        nothing.
        """
        self.most = self.sampler.drawn + self.allowance
        candidate = find_single(memory, self.betting.terms)
        if candidate is None or self._runs_wanted(candidate, 1.0) > self._most_runs:
            return None
        return next((each for each in self._tries(memory, candidate, 1.0) if each.confirmed), None)

    def _promises(self, memory: PairMemory, candidate: Candidate) -> bool:
        growth = growth_on(candidate.event, memory, candidate.side, self.betting.terms)
        return growth * memory.pairs >= _ENOUGH_NATS

    def _tries(self, memory: PairMemory, candidate: Candidate, errors: float) -> Iterator[Witness]:
        """Run a candidate: in this process or, one way after the other, in fresh ones."""
        runs = int(max(1, min(self._runs_wanted(candidate, errors), self._most_runs)))
        if self.denied:
            return
        if self.in_fresh:
            try:
                for plan in self._plans(memory, candidate, runs):
                    yield self._run(memory, candidate, plan)
            except SubjectError as error:
                self.unavailable, self.denied = str(error), self.tried > 0
            if self.in_fresh or self.denied:
                return
        yield self._run(memory, candidate, Plan(runs))

    def _plans(self, memory: PairMemory, candidate: Candidate, runs: int) -> Iterator[Plan]:
        """Yield the ways to share calls among fresh processes that this event asks for."""
        crossed = self.betting.crossed_at
        if _never_varied(memory, candidate):
            yield singly(candidate, self._terms(single=True))
            if not self._last_varied:
                return
        yield Plan(max(LEAST_SHARED, min(runs, 3 * crossed // 2)), parts=PARTS)
        warm = _WARM_PARTS * crossed // 2
        if warm > runs and not self.kept and self._seconds(2 * warm) <= _SECONDS:
            yield Plan(warm, parts=_WARM_PARTS)

    def _seconds(self, calls: int) -> float:
        """Estimate the seconds that this many calls take, from those made so far."""
        took = time.monotonic() - self.betting.started - self.sampler.loading
        return max(took, 0.0) / max(self.sampler.drawn, 1) * calls

    def _terms(self, *, single: bool = False) -> Terms:
        return terms_of(self.betting.terms, self.tried + 1, single=single)

    def _run(self, memory: PairMemory, candidate: Candidate, plan: Plan) -> Witness:
        terms = self._terms(single=plan.is_single)
        loading = self.sampler.loading - self._seconds(2 * plan.runs)  # those runs have to end in time
        if terms.is_late(loading):
            raise TimeIsOver
        started = time.monotonic()
        drawn = run_witness(
            self.sampler,
            (memory.left, memory.right),
            candidate,
            terms,
            plan=plan,
            path=(CONFIRM, self.tried + 1, 0),
            seconds=self._seconds_left,
        )
        self._seconds_left -= (time.monotonic() - started) * plan.is_single
        if plan.parts and all(drawn.silent) and not memory.raised:
            raise SubjectError("no run in a fresh process gives an answer")
        self.tried += 1
        # Fixed before it was drawn, from its own part of the seed tree: one more bet for the bounds.
        self.betting.ledger.add(drawn.bet)
        witness = drawn.witness
        self._last_varied = 0 < witness.p < 1 or 0 < witness.q < 1
        if not plan.parts:
            return witness
        if not plan.is_single and differs(drawn.blocks):
            self.kept = True
            return replace(witness, confirmed=False)
        self.bounds_hold = self.bounds_hold and not differs(
            np.stack([drawn.bet.counts[0], memory.seen(candidate.event, candidate.side)])
        )
        return witness

    @property
    def _most_runs(self) -> int:
        """Half the calls that a try may take, so that the allowance is enough for two."""
        return (self.most - self.sampler.drawn) // 4

    def _runs_wanted(self, candidate: Candidate, errors: float) -> float:
        """Return half the calls that most likely confirm this candidate."""
        terms = self._terms()
        p, q = apart(np.array(candidate.p), np.array(candidate.q), candidate.past, errors)
        growth = float(growth_rate(p, q, *terms.at(candidate.distance)))
        return max(MARGIN * terms.log_limit / max(growth, 1e-9), LEAST_RUNS)

    def _again_by_calls(self) -> bool:
        """Whether calls refute the claim too, learning anew on this pair, given four times as many."""
        betting, winner = self.betting, self.betting.winner
        growth = winner.prospect(betting.terms.epsilon, betting.terms.delta, errors=1.0)[0]
        needed = 2 * MARGIN * betting.terms.log_limit / growth if growth > 0 else 0.0
        budget = int(min(max(_AGAIN * betting.crossed_at, needed), _AGAIN * betting.terms.budget))
        again = Betting(
            self.sampler,
            [winner.path],
            replace(self._terms(), budget=budget, stop_when_refuted=True),
            by_calls=True,
            batches=_AGAIN_PLACE,
        )
        again.run()
        self.tried += 1
        return again.refuted


def _sobered(candidate: Candidate, seen: Witness) -> Candidate:
    """Return a candidate with what its own calls showed of it: those that led to it had flattered it."""
    p, q = ((share * seen.runs + 0.5) / (seen.runs + 1.0) for share in (seen.p, seen.q))
    return replace(candidate, p=p, q=q, past=seen.runs)


def _never_varied(memory: PairMemory, candidate: Candidate) -> bool:
    """Whether the event happened in every run kept of one side, and in none of the other."""
    p_in, p_out, q_in, q_out = memory.seen(candidate.event, candidate.side)
    return bool(p_out == 0 and q_in == 0 and p_in and q_out)


def differs(blocks: Floats) -> bool:
    """Whether the event is more frequent in some processes than in others, on either side.

    Parameters
    ----------
    blocks
        Calls of the p side inside the event and outside, of the q side so too, shape (processes, 4).

    Examples
    --------
    >>> differs(np.array([[5.0, 5, 1, 9]] * 8)), differs(np.array([[10.0, 0, 1, 9], [0, 10, 1, 9]] * 4))
    (False, True)
    """
    sides = ((blocks[:, k], blocks[:, k] + blocks[:, k + 1]) for k in (0, 2))
    return any(spread_evenly(hits, calls) < _SPREAD / 2 for hits, calls in sides)


def singly(candidate: Candidate, terms: Terms) -> Plan:
    """Return the single calls that most likely refute an event that happens on one side always, else never.

    Parameters
    ----------
    candidate
        The event.
    terms
        What is bet against, at the level that refutes.

    Examples
    --------
    >>> terms = Terms(epsilon=1.0, delta=0.0, significance=5e-7, budget=1_000)
    >>> 80 <= singly(Candidate(None, 0, 0.99, 0.01, 100.0), terms).parts <= 120
    True
    """
    p, q = np.array([candidate.p]), np.array([candidate.q])
    sure, never = np.array([1.0]), np.array([0.0])
    growth = float((outcomes(sure, never) @ log_payoffs(p, q, *terms.at(candidate.distance))[0]).max())
    pairs = math.ceil(_SINGLES * terms.log_limit / max(growth, 1e-9) / 2) + 2
    return Plan(pairs, parts=2 * pairs)


def side_of(witness: Witness) -> int:
    """Return which database the p side of a witness is: 0 for left, 1 for right."""
    return 0 if witness.direction == "left" else 1
