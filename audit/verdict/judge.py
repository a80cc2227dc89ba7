"""Confirmation: the event of a crossing, fixed and run afresh, decides between REFUTED and INCONCLUSIVE.

**Verdict confirmation.** The wealth tests whether each call keeps the claim, given the subject's state. A
subject may draw noise once and keep it: memoised by database, made at import or in its constructor. Its
first answers keep the claim, its later calls break it, and an event learned in one process fits that
process's noise. So the refutation of a subject with state is confirmed in fresh processes, each of which
makes the subject anew:

- If the event never varied on either side, each of many processes makes one run.
- If it varies, several processes make equal parts of the calls, each call with its own coin. REFUTED needs
  two things: the wealth of these calls alone crosses, *and* the event is as frequent in every process
  (`spread_evenly`, each side at `_SPREAD`/2). A second try, at half the level, gives each process as many
  calls as the refutation took; it catches faults that need a warm subject.

The calls of a stateless subject are independent. They are confirmed in this process, call by call.
Wealth from coupled pairs, or from runs that share one call of a sampler, refutes only if single calls refute
too: on the fixed event, or by learning anew from at least four times as many calls. That is one more try, at
its own level.

**Guarantee.** REFUTED needs the crossing and its confirmation. If each call keeps the claim given the past,
the chance of REFUTED is at most the significance. If only first answers keep it, the calls of a process
share the noise it drew. With one run a process, each run is a first answer, and the wealth of the k-th try
crosses with probability at most significance·2^−k, and at most 0.001·2^−k. With several runs a process,
kept noise moves the event's frequency from process to process, which the exact test detects; noise that it
misses must also make the wealth cross. Past runs alone decide which events are tried and in which order. A
second event beside a fitted score counts as a try. So the chance that anything an audit shows as confirmed
is wrong is at most the significance.
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

#: Larger: witnesses take more calls and are confirmed more often. A factor on the calls that the estimated
#: growth needs; 3 confirms well over 99 %.
MARGIN = 3.0
LEAST_RUNS = 200
#: Larger: fewer second runs of an unconfirmed candidate. It is run again if the calls left are at least this
#: share of the calls that it needs.
_HOPEFUL = 1 / 6
#: Larger: fewer events of a step are tried beside the event that refuted the path. The least log growth on
#: past runs, in nats.
_ENOUGH_NATS = 8.0
#: Larger: more single calls to confirm a crossing of coupled runs or of one call of `sample`. A factor on the
#: runs to the crossing for the least budget, and on the audit's budget for the most. The calls begin at this
#: place of the seed tree.
_AGAIN = 4
_AGAIN_PLACE = 1_000_000
#: Larger: kept noise is confirmed less often, and more processes start. The number of fresh processes that
#: share the calls of a varying event, and half the fewest calls in all: 32 calls a process. Simulated with a
#: mechanism that keeps a third of its answers, at level 0.025: 16 processes of 25 calls confirmed 5 of 1,224
#: refutations, these settings none of 1,233.
PARTS = 32
LEAST_SHARED = 32 * PARTS // 2
#: Larger: a second try costs more. The number of its fresh processes, each with as many calls as the
#: refutation took.
_WARM_PARTS = 8
#: Larger: more processes with one run each. A factor on the number that an event that never varies needs.
_SINGLES = 1.3
#: Larger: more refutations are put down to kept noise. The level of the test that an event is as frequent in
#: every process.
_SPREAD = 1e-3
#: Larger: slower subjects get a second try too. The most seconds it may take, estimated from the runs so far.
_SECONDS = 60.0


@dataclass
class Judge:
    """Runs witnesses afresh, one try after the other; the k-th try has the level significance·2^−k."""

    sampler: Sampler
    betting: Betting
    stateless: bool
    #: The most runs for each pair.
    allowance: int
    most: int = 0
    tried: int = 0
    bounds_hold: bool = True
    #: Why no fresh process could be started; empty if none was needed or all started.
    unavailable: str = ""
    #: Whether the fresh processes showed that the mechanism keeps noise.
    kept: bool = False
    #: Whether fresh processes ran without confirming and then could not be started any more.
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
        """Whether the user's `fresh=` makes a new mechanism for every run."""
        return isinstance(self.sampler.subject.object, Renewed)

    def doubt(self, first: Witness) -> str:
        """Return why the crossing and these confirming runs do not refute the claim; empty if they do."""
        if self.kept:  # decides over any later try
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
        """Return the first confirmed candidate of a pair, or the first candidate if none is confirmed.

        The candidate's estimated growth sets the number of runs. To allow for selection bias, the estimate
        lowers p and raises q by `errors` standard errors. The event of a `known` witness is tried first; the
        pair's own events follow if their growth on past runs reaches `_ENOUGH_NATS`.

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
            # The wealth of whole tables crossed; this one event may owe its counts to luck.
            lucky = self._runs_wanted(candidate, errors) > MARGIN * candidate.past
            for witness in self._tries(memory, candidate, max(errors, 1.0) if lucky else errors):
                if witness.confirmed:
                    return witness
                first = first or witness
        if first is None:
            raise TimeIsOver
        if self.in_fresh:  # another try would give kept noise another chance
            return first
        sober = _sobered(candidates[0], first)  # run again; its own calls now set the number of runs
        hopeful = _HOPEFUL * self._runs_wanted(sober, 0.0) <= self._most_runs
        tried = self._tries(memory, sober, 0.0) if hopeful else iter(())
        return next((witness for witness in tried if witness.confirmed), first)

    def single(self, memory: PairMemory) -> Witness | None:
        """Return a confirmed event of one entry on this pair; None if no event was confirmed.

        It counts as a try: the k-th of all, at significance·2^−k. It follows the verdict and does not
        change it.
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
        """Run a candidate, in this process or in fresh ones, and yield the witness of each plan."""
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
        """Yield the plans for this event: how its calls are shared among fresh processes."""
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
        """Return the estimated seconds of this many calls, from the runs so far."""
        took = time.monotonic() - self.betting.started - self.sampler.loading
        return max(took, 0.0) / max(self.sampler.drawn, 1) * calls

    def _terms(self, *, single: bool = False) -> Terms:
        return terms_of(self.betting.terms, self.tried + 1, single=single)

    def _run(self, memory: PairMemory, candidate: Candidate, plan: Plan) -> Witness:
        terms = self._terms(single=plan.is_single)
        loading = self.sampler.loading - self._seconds(2 * plan.runs)  # these runs must end in time
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
        # The stakes were fixed before these calls, which have their own seeds: the bet counts for the bounds.
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
        """The most runs of one try, as half its calls; the allowance covers two tries."""
        return (self.most - self.sampler.drawn) // 4

    def _runs_wanted(self, candidate: Candidate, errors: float) -> float:
        """Return half the number of calls that very likely confirms this candidate."""
        terms = self._terms()
        p, q = apart(np.array(candidate.p), np.array(candidate.q), candidate.past, errors)
        growth = float(growth_rate(p, q, *terms.at(candidate.distance)))
        return max(MARGIN * terms.log_limit / max(growth, 1e-9), LEAST_RUNS)

    def _again_by_calls(self) -> bool:
        """Return whether single calls refute too, in a new audit of this pair.

        Its budget is four times the runs to the crossing, or more if the estimated growth asks for it, up to
        four times the audit's budget.
        """
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
    """Return a candidate with p and q from its own calls, which are free of selection bias."""
    p, q = ((share * seen.runs + 0.5) / (seen.runs + 1.0) for share in (seen.p, seen.q))
    return replace(candidate, p=p, q=q, past=seen.runs)


def _never_varied(memory: PairMemory, candidate: Candidate) -> bool:
    """Return whether the event happened in every kept run of the p side and in none of the q side."""
    p_in, p_out, q_in, q_out = memory.seen(candidate.event, candidate.side)
    return bool(p_out == 0 and q_in == 0 and p_in and q_out)


def differs(blocks: Floats) -> bool:
    """Return whether the event is more frequent in some processes than in others, on either side.

    Parameters
    ----------
    blocks
        Calls of the p side inside and outside the event, then of the q side, shape (processes, 4).

    Examples
    --------
    >>> differs(np.array([[5.0, 5, 1, 9]] * 8)), differs(np.array([[10.0, 0, 1, 9], [0, 10, 1, 9]] * 4))
    (False, True)
    """
    sides = ((blocks[:, k], blocks[:, k] + blocks[:, k + 1]) for k in (0, 2))
    return any(spread_evenly(hits, calls) < _SPREAD / 2 for hits, calls in sides)


def singly(candidate: Candidate, terms: Terms) -> Plan:
    """Return the plan with one call a process, for an event that always happens on p's side, never on q's.

    Parameters
    ----------
    candidate
        The event.
    terms
        The claim to bet against, and the level that refutes it.

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
    """Return the p side of a witness: 0 for left, 1 for right."""
    return 0 if witness.direction == "left" else 1
