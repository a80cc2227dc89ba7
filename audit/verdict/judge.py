"""The confirmation of a refutation by new runs on a fixed event.

These runs decide between REFUTED and INCONCLUSIVE.

**Verdict confirmation.** The wealth tests whether each call keeps the claim, given the subject's state. A
subject may draw noise once and keep it: cached for each database, drawn at import or in its constructor. Its
first answers may keep the claim while its later calls break it. An event learned in one process fits the
noise of that process. So if a subject keeps state, a refutation is confirmed in fresh processes, each of
which makes the subject anew:

- If the event always happened on one side and never on the other, each of many processes makes one run.
- If the event varied, several processes each make an equal part of the calls, and a coin decides the side of
  each call. REFUTED needs two things: the wealth of these calls alone reaches its limit, *and* the event is
  equally frequent in all processes (`spread_evenly`, each side at level `_SPREAD`/2). A second try, at half
  the level, gives each process as many calls as the bets took to refute; it catches faults that appear only
  after many calls.

The calls of a stateless subject are independent. A refutation of such a subject is confirmed in this process,
by single calls. Wealth may come from coupled pairs, or from runs that share one call of a sampler. It refutes
only if single calls refute too. They do so on the fixed event, or in a new audit with at least four times as
many calls. That audit is one more try, at its own level.

**Guarantee.** REFUTED needs a refutation by the bets and its confirmation. If each call keeps the claim given
the past, the chance of REFUTED is at most the significance. Suppose that only first answers keep the claim:
the calls of a process then share the noise that it drew. With one run per process, each run is a first
answer. The wealth of the k-th try then reaches its limit with probability at most significance·2^−k, and at
most 0.001·2^−k. With several runs per process, kept noise makes the event's frequency vary between processes,
which the exact test detects. If the test misses it, the wealth must still reach its limit. Past runs alone
decide which events are tried and in which order. The additional event for a fitted score counts as a try. So
all that an audit shows as confirmed is right, except with a probability of at most the significance.
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
from audit.evidence.growth import growth_rate
from audit.evidence.memory import PairMemory
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

#: A witness gets this multiple of the calls that its estimated growth needs. With 3, well over 99 % of
#: correct estimates are confirmed.
MARGIN = 3.0
LEAST_RUNS = 200
#: An unconfirmed candidate is run again if the calls left are at least this share of the calls that it needs.
_HOPEFUL = 1 / 6
#: On a step of a path, the event that refuted the path is tried first. The step's own events are tried only
#: if their log growth on past runs is at least this many nats.
_ENOUGH_NATS = 8.0
#: A refutation by coupled runs, or by outputs of one call of `sample`, is confirmed by single calls. Their
#: number is at least `_AGAIN` times the runs to the refutation, and at most `_AGAIN` times the audit's
#: budget. The calls begin at the place `_AGAIN_PLACE` of the seed tree.
_AGAIN = 4
_AGAIN_PLACE = 1_000_000
#: The number of fresh processes that share the calls of a varying event. Each makes at least 32 calls;
#: `LEAST_SHARED` is half of the fewest calls in all. More processes confirm kept noise less often. In a
#: simulation at level 0.025 of a mechanism that keeps a third of its answers, 16 processes of 25 calls each
#: confirmed 5 of 1,224 refutations; these settings confirmed none of 1,233.
PARTS = 32
LEAST_SHARED = 32 * PARTS // 2
#: The number of fresh processes of a second try; each makes as many calls as the refutation took.
_WARM_PARTS = 8
#: An event that never varies gets this multiple of the number of processes that it needs, with one run each.
_SINGLES = 1.3
#: The level of the test that an event is equally frequent in all processes. With a larger level, more
#: refutations are attributed to noise that is drawn once and kept.
_SPREAD = 1e-3
#: A second try is made only if it takes at most this many seconds, estimated from the runs so far.
_SECONDS = 60.0


@dataclass
class Judge:
    """Confirms witnesses by new runs, one try after another. The k-th try has the level significance·2^−k."""

    sampler: Sampler
    betting: Betting
    stateless: bool
    #: The most confirming runs on each pair of databases.
    allowance: int
    most: int = 0
    tried: int = 0
    bounds_hold: bool = True
    #: Why a fresh process could not be started; empty if none was needed or all started.
    unavailable: str = ""
    #: Whether the fresh processes showed that the mechanism draws noise once and keeps it for later calls.
    kept: bool = False
    #: Whether fresh processes ran, did not confirm the refutation, and later could not be started.
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
        """Why the subject's runs count as independent trials."""
        if self.stateless or self.in_fresh:
            return "stateless" if self.stateless else "fresh"
        return "renewed" if self._renewed else "unchecked"

    @property
    def _renewed(self) -> bool:
        """Whether the user's `fresh=` makes a new mechanism for every run."""
        return isinstance(self.sampler.subject.object, Renewed)

    def doubt(self, first: Witness) -> str:
        """Return why the bets and the confirming runs are not enough.

        If they refute the claim, the text is empty.
        """
        if self.kept:  # this outweighs any later try
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
        """Return the first confirmed candidate of a pair.

        If none is confirmed, return the first candidate. The estimated growth of a candidate determines the
        number of its runs. The estimate lowers p and raises q by `errors` standard errors. The event of a
        `known` witness is tried first. The pair's own events follow if their growth on past runs is at least
        `_ENOUGH_NATS`.

        Raises
        ------
        TimeIsOver
            The deadline passed; or fresh processes could be started for an earlier witness but cannot be
            started any more.
        """
        self.most = self.sampler.drawn + self.allowance
        first: Witness | None = None
        candidates = find_candidates(memory, self.betting.terms)
        if known is not None:
            own = [each for each in candidates if self._promises(memory, each)]
            candidates = [seen(known.event, memory, side_of(known)), *own][:MOST_CANDIDATES]
        for candidate in candidates:
            # The wealth of whole tables of events reached its limit; the counts of this one event may be
            # chance.
            lucky = self._runs_wanted(candidate, errors) > MARGIN * candidate.past
            for witness in self._tries(memory, candidate, max(errors, 1.0) if lucky else errors):
                if witness.confirmed:
                    return witness
                first = first or witness
        if first is None:
            raise TimeIsOver
        if self.in_fresh:  # with another try, noise that is drawn once would have another chance to pass
            return first
        sober = _sobered(candidates[0], first)  # run it again, with p and q from its own calls
        hopeful = _HOPEFUL * self._runs_wanted(sober, 0.0) <= self._most_runs
        tried = self._tries(memory, sober, 0.0) if hopeful else iter(())
        return next((witness for witness in tried if witness.confirmed), first)

    def single(self, memory: PairMemory) -> Witness | None:
        """Return a confirmed event about one output entry on this pair, or None.

        Looking for this event counts as a try. This try follows the verdict and does not change it.
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
        """Make runs for a candidate, and yield a witness for each plan."""
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
        """Yield plans that divide the calls for this event among fresh processes."""
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
        # The stakes were fixed before these calls, and the calls have new seeds, so the bet also counts in
        # the bounds.
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
        """Half the number of calls that one try may make. The allowance covers two tries."""
        return (self.most - self.sampler.drawn) // 4

    def _runs_wanted(self, candidate: Candidate, errors: float) -> float:
        """Return half the number of calls that very likely confirm this candidate."""
        terms = self._terms()
        p, q = apart(np.array(candidate.p), np.array(candidate.q), candidate.past, errors)
        growth = float(growth_rate(p, q, *terms.at(candidate.distance)))
        return max(MARGIN * terms.log_limit / max(growth, 1e-9), LEAST_RUNS)

    def _again_by_calls(self) -> bool:
        """Return whether single calls also refute the claim, in a new audit of this pair.

        The new audit has at least four times the runs that the bets took to refute. If the estimated growth
        needs more runs, it has these. It has at most four times the budget of the first audit.
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
    """Return a candidate with p and q estimated from its own calls.

    These estimates have no selection bias.
    """
    p, q = ((share * seen.runs + 0.5) / (seen.runs + 1.0) for share in (seen.p, seen.q))
    return replace(candidate, p=p, q=q, past=seen.runs)


def _never_varied(memory: PairMemory, candidate: Candidate) -> bool:
    """Return whether all stored p-side runs and no q-side run were in the event."""
    p_in, p_out, q_in, q_out = memory.seen(candidate.event, candidate.side)
    return bool(p_out == 0 and q_in == 0 and p_in and q_out)


def differs(blocks: Floats) -> bool:
    """Return whether the event is more frequent in some processes than in others.

    A difference on one of the two sides is enough.

    Parameters
    ----------
    blocks
        The number of calls inside and outside the event, shape (processes, 4). The p side comes first.

    Examples
    --------
    >>> differs(np.array([[5.0, 5, 1, 9]] * 8)), differs(np.array([[10.0, 0, 1, 9], [0, 10, 1, 9]] * 4))
    (False, True)
    """
    sides = ((blocks[:, k], blocks[:, k] + blocks[:, k + 1]) for k in (0, 2))
    return any(spread_evenly(hits, calls) < _SPREAD / 2 for hits, calls in sides)


def singly(candidate: Candidate, terms: Terms) -> Plan:
    """Return a plan of one call per process.

    It is for an event always seen on the p side and never on the q side.

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
    """Return which side of a witness is the p side. The result is 0 for left and 1 for right."""
    return 0 if witness.direction == "left" else 1
