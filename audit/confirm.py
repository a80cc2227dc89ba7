"""What follows a sampled refutation: its event fixed and run afresh, which decides, and a simpler witness.

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

**Guarantee.** REFUTED needs the crossing and its confirmation: if each call keeps the claim given the past
the chance is at most the significance. If only first answers do, the calls of a process share what it drew;
with one run a process each is a first answer of its own, and the k-th try's wealth crosses with probability at
most significance·2^−k. With several runs a process kept noise moves the event's frequency from process to
process, which the exact test notices; what it misses must then cross by itself.

**The witness.** The event that happened to win has flattered p and q; those of the witness, and their
intervals, come from the confirming calls alone, how many being decided beforehand. A simpler witness is
sought afterwards and decides nothing.
"""

from __future__ import annotations

import contextlib
import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from audit.betting import Betting
from audit.candidates import MOST_CANDIDATES, find_candidates, growth_on, seen
from audit.errors import SubjectError
from audit.evidence import log_payoffs, outcomes
from audit.features import View
from audit.memory import growth_rate
from audit.results import Witness
from audit.sampling import CONFIRM, SHRINK
from audit.shrink import failing_step, shrink
from audit.witness import Plan, TimeIsOver, run_witness, spread_evenly

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from audit.betting import Terms
    from audit.candidates import Candidate
    from audit.databases import Databases
    from audit.memory import PairMemory
    from audit.sampling import Sampler

__all__ = ["Confirmation", "confirm"]

#: Calls of a witness, as a multiple of what its estimated growth needs: confirmed with probability well over
#: 99 %.
_MARGIN = 3.0
LEAST_RUNS = 200
#: By so many standard errors the pair that shrinking chose may have been flattered.
_DOUBT = 2.0
#: What an event of a step must have shown to be tried beside the event that the path fell by.
_ENOUGH_NATS = 8.0
#: A crossing of many runs in one call of a sampler is tried again by calls: so many times as many, from this
#: place of the seed tree on.
_AGAIN = 4
_AGAIN_PLACE = 1_000_000
#: Shrinking may take so many times the runs that the refutation took, and at least so many.
SHRINKING = 12
LEAST_SHRINKING = 1_500
#: Fresh processes that share the calls of a varying event, and the fewest calls that one of them makes.
PARTS = 16
_LEAST_PART = 24
#: Fresh processes of a second try, each with as many calls as the refutation took.
_WARM_PARTS = 8
#: Processes with one run each, as a multiple of what an event that never varies needs.
_SINGLES = 1.3
#: Level of the test that an event is as frequent in every process.
_SPREAD = 1e-3
#: Seconds that a confirmation may take by what runs took so far; a dearer second try is left out.
_SECONDS = 60.0


@dataclass(frozen=True)
class Confirmation:
    """What the runs after a refutation say.

    Parameters
    ----------
    witness
        The strongest pair, confirmed or not, with the simplest one that is confirmed too (itself if none).
    doubt
        Why the verdict is not REFUTED; empty where it is.
    how
        How the subject's runs were told to be trials: "stateless", "fresh" (in fresh processes), or
        "unchecked".
    bounds_hold
        Whether the bets of the audit bound the loss too: false where fresh processes show another one.
    far
        Where the claim fell on databases several steps apart: the witness of that, which is the strongest
        unless a step between them shows a larger loss by runs of its own.
    """

    witness: Witness
    doubt: str
    how: str
    bounds_hold: bool = True
    far: Witness | None = None


def confirm(sampler: Sampler, betting: Betting, *, allowance: int, databases: Databases) -> Confirmation:
    """Fix an event from a crossed audit and run it afresh, which decides; then seek the simplest witness.

    Parameters
    ----------
    sampler, betting
        The audit that crossed.
    allowance
        Most runs for confirming; shrinking may take another allowance.
    databases
        Where simpler pairs come from.
    """
    assert betting.crossed_at is not None
    winner = betting.winner
    judge = _Judge(sampler, betting, stateless=sampler.is_stateless(winner.left, winner.right))
    judge.most = sampler.drawn + allowance
    try:
        first = replace(judge.best(winner), given=databases.only_given)
        doubt = judge.doubt(first)
    except TimeIsOver:
        first = replace(_as_seen(winner, betting.terms), given=databases.only_given)
        doubt = "the time was over before the refutation was confirmed; give it a longer `time_limit`"
    how, bounds_hold = judge.how, judge.bounds_hold
    if doubt:
        return Confirmation(replace(first, simplest=first), doubt, how, bounds_hold, _far(first))
    witness = first
    with contextlib.suppress(TimeIsOver):
        witness = _simplest(judge, winner, first, allowance=allowance, databases=databases)
    if witness.simplest is None:
        witness = replace(witness, simplest=witness)
    return Confirmation(witness, "", how, bounds_hold, _far(first))


def _simplest(
    judge: _Judge, winner: PairMemory, first: Witness, *, allowance: int, databases: Databases
) -> Witness:
    """Return the strongest witness, with the simplest that is confirmed too."""
    sampler, looks, near = judge.sampler, _Looks(judge.sampler, judge.betting), first
    if winner.distance > 1:
        winner = _step(looks, winner, first)
        judge.most = sampler.drawn + allowance
        near = judge.best(winner, errors=_DOUBT, known=first)
    strongest = _stronger(first, near)
    simplest = near
    if (near is first or near.confirmed) and not databases.only_given:
        looks.most = sampler.drawn + looks.allowance - 4 * near.runs
        simpler = _shrunk(looks, winner, databases)
        judge.most = sampler.drawn + allowance
        with contextlib.suppress(TimeIsOver):
            simplest = near if simpler is winner else judge.best(simpler, errors=_DOUBT)
    if not simplest.confirmed:
        simplest = near if near.confirmed else strongest
    return replace(strongest, simplest=simplest)


def _as_seen(memory: PairMemory, terms: Terms) -> Witness:
    """Return the pair and event that crossed, unconfirmed, with what the search saw of them."""
    candidate = find_candidates(memory, terms)[0]
    return Witness(
        left=memory.left,
        right=memory.right,
        event=candidate.event,
        p=candidate.p,
        q=candidate.q,
        runs=memory.pairs,
        direction="left" if candidate.side == 0 else "right",
        confirmed=False,
        against=terms.against,
        distance=memory.distance,
    )


def _far(witness: Witness) -> Witness | None:
    return witness if witness.distance > 1 else None


def _stronger(far: Witness, near: Witness) -> Witness:
    """Return the step between distant databases if its own runs show a larger loss a step, or alone one."""
    if not near.confirmed:
        return far
    return near if not far.confirmed or near.epsilon_lower >= far.epsilon_lower else far


@dataclass
class _Judge:
    """Runs witnesses afresh, one try after the other; the k-th in all has significance·2^−k."""

    sampler: Sampler
    betting: Betting
    stateless: bool
    most: int = 0
    tried: int = 0
    bounds_hold: bool = True
    #: Why fresh processes could not be had, where they were wanted.
    unavailable: str = ""
    #: What the fresh processes said of noise that is kept.
    kept: bool = False

    def __post_init__(self) -> None:
        if not self.stateless and self.sampler.recipe is None:
            self.unavailable = "it cannot be made anew"

    @property
    def in_fresh(self) -> bool:
        """Whether witnesses are run in fresh processes."""
        return not self.stateless and not self.unavailable

    @property
    def how(self) -> str:
        """How the subject's runs were told to be trials."""
        return "stateless" if self.stateless else ("unchecked" if self.unavailable else "fresh")

    def doubt(self, first: Witness) -> str:
        """Say why the crossing and these confirming runs do not refute; nothing where they do."""
        if self.in_fresh:
            if first.confirmed:
                return ""
            return _KEPT if self.kept else _IN_COMPANY
        if not self.stateless and (first.p, first.q) == (1.0, 0.0):
            return _UNTOLD
        if first.confirmed or self.sampler.subject.declared_sampler is None or self._again_by_calls():
            return ""
        return _BY_SAMPLE

    def best(self, memory: PairMemory, *, errors: float = 0.0, known: Witness | None = None) -> Witness:
        """Return the first candidate of a pair that is confirmed, or else the first.

        The runs are as many as its growth asks for, less so many standard errors: what was chosen for its
        growth has been flattered. The event of a `known` witness comes first; those of the pair itself must
        then show enough.
        """
        first: Witness | None = None
        candidates = find_candidates(memory, self.betting.terms)
        if known is not None:
            own = [each for each in candidates if self._promises(memory, each)]
            candidates = [seen(known.event, memory, _side(known)), *own][:MOST_CANDIDATES]
        for candidate in candidates:
            for witness in self._tries(memory, candidate, errors):
                if witness.confirmed:
                    return witness
                first = first or witness
        assert first is not None
        return first

    def _promises(self, memory: PairMemory, candidate: Candidate) -> bool:
        growth = growth_on(candidate.event, memory, candidate.side, self.betting.terms)
        return growth * memory.pairs >= _ENOUGH_NATS

    def _tries(self, memory: PairMemory, candidate: Candidate, errors: float) -> Iterator[Witness]:
        """Run a candidate: in this process or, one way after the other, in fresh ones."""
        runs = self._runs_needed(memory, candidate, errors)
        if self.in_fresh:
            try:
                for plan in self._plans(memory, candidate, runs):
                    yield self._run(memory, candidate, plan)
            except SubjectError as error:
                self.unavailable = str(error)
            else:
                return
        yield self._run(memory, candidate, Plan(runs))

    def _plans(self, memory: PairMemory, candidate: Candidate, runs: int) -> Iterator[Plan]:
        """Give the ways to share calls among fresh processes that this event asks for."""
        crossed = self.betting.crossed_at or 0
        if _never_varied(memory, candidate):
            singles = _singles_needed(candidate, self._terms().at(memory.distance), self._terms().log_limit)
            if self._affordable(singles, singles):
                yield Plan(singles // 2, parts=singles)
            if not self._last_varied:
                return
        least = PARTS * _LEAST_PART // 2
        yield Plan(max(least, min(runs, max(least, 3 * crossed // 2))), parts=PARTS)
        warm = _WARM_PARTS * crossed // 2
        if warm > runs and not self.kept and self._affordable(2 * warm, _WARM_PARTS):
            yield Plan(warm, parts=_WARM_PARTS)

    def _affordable(self, calls: int, processes: int) -> bool:
        """Whether calls and processes most likely take less than a minute, by what the audit took so far."""
        started, drawn = self.betting.started, max(self.sampler.drawn, 1)
        return (time.monotonic() - started) / drawn * calls + 0.02 * processes <= _SECONDS

    def _terms(self) -> Terms:
        terms = self.betting.terms
        return replace(terms, significance=terms.significance / 2 ** (self.tried + 1))

    def _run(self, memory: PairMemory, candidate: Candidate, plan: Plan) -> Witness:
        terms = self._terms()
        drawn = run_witness(
            self.sampler,
            (memory.left, memory.right),
            candidate,
            terms,
            plan=plan,
            path=(CONFIRM, self.tried + 1, 0),
            distance=memory.distance,
        )
        if plan.parts and drawn.raised and not memory.raised:
            raise SubjectError("in a fresh process every run raises")
        self.tried += 1
        # Fixed before it was drawn, from its own part of the seed tree: one more bet for the bounds.
        self.betting.ledger.add(drawn.bet)
        witness = drawn.witness
        self._last_varied = 0 < witness.p < 1 or 0 < witness.q < 1
        if not plan.parts:
            return witness
        if plan.parts < 2 * plan.runs and _differs(drawn.blocks):
            self.kept = True
            return replace(witness, confirmed=False)
        self.bounds_hold = self.bounds_hold and not _differs(
            np.stack([drawn.bet.counts[0], _counts_seen(memory, candidate)])
        )
        return witness

    _last_varied: bool = False

    def _runs_needed(self, memory: PairMemory, candidate: Candidate, errors: float) -> int:
        """Give half of how many calls most likely confirm this candidate, within the allowance."""
        terms, room = self._terms(), self.most - self.sampler.drawn
        growth = float(growth_rate(*map(np.array, candidate.apart(errors)), *terms.at(memory.distance)))
        needed = _MARGIN * terms.log_limit / max(growth, 1e-9)
        return int(max(1, min(max(needed, LEAST_RUNS), room // 4)))

    def _again_by_calls(self) -> bool:
        """Whether calls refute the claim too, learning anew on this pair, given four times as many."""
        betting, winner = self.betting, self.betting.winner
        assert betting.crossed_at is not None
        growth = winner.prospect(betting.terms.epsilon, betting.terms.delta, errors=1.0)[0]
        needed = 2 * _MARGIN * betting.terms.log_limit / growth if growth > 0 else 0.0
        budget = int(min(max(_AGAIN * betting.crossed_at, needed), _AGAIN * betting.terms.budget))
        again = Betting(
            self.sampler,
            [winner.path or (winner.left, winner.right)],
            replace(betting.terms, budget=budget, stop_when_refuted=True),
            stage=CONFIRM,
            look_stage=CONFIRM,
            singly=True,
            batches=_AGAIN_PLACE,
        )
        again.run()
        return again.refuted


_FRESH = "give `fresh=`, a function without arguments that makes a new mechanism"
_KEPT = (
    "the mechanism keeps noise between calls: the event is more frequent in some fresh processes than in others; "
    f"if it should not, {_FRESH}"
)
_IN_COMPANY = (
    "fails only when runs share state: fresh processes, each with a mechanism of its own, did not confirm it; "
    f"to audit every run by itself, {_FRESH}"
)
_UNTOLD = (
    "the outputs never vary on either database, which noise drawn once and kept would look like too, and the "
    f"mechanism cannot be made anew to tell; {_FRESH}, or pass a function that can be imported"
)
_BY_SAMPLE = "fails only when many runs share one call of `sample`: single calls did not confirm it"


def _never_varied(memory: PairMemory, candidate: Candidate) -> bool:
    """Whether the event happened in every run kept of one side, and in none of the other."""
    p_in, p_out, q_in, q_out = _counts_seen(memory, candidate)
    return bool(p_out == 0 and q_in == 0 and p_in and q_out)


def _counts_seen(memory: PairMemory, candidate: Candidate) -> NDArray[np.float64]:
    """Count the runs kept of a pair: the p side inside the event and outside, the q side inside and outside."""
    counts = []
    for side in memory.kept(candidate.side):
        inside = sum(int(candidate.event.members(view).sum()) for view in side)
        counts += [inside, sum(map(len, side)) - inside]
    return np.array(counts, dtype=float)


def _differs(blocks: NDArray[np.float64]) -> bool:
    """Whether the event is more frequent in some processes than in others, on either side."""
    sides = ((blocks[:, k], blocks[:, k] + blocks[:, k + 1]) for k in (0, 2))
    return any(spread_evenly(hits, calls) < _SPREAD / 2 for hits, calls in sides)


def _singles_needed(candidate: Candidate, claimed: tuple[float, float], log_limit: float) -> int:
    """Give how many single calls most likely refute an event that happens on one side always, else never."""
    p, q = np.array([candidate.p]), np.array([candidate.q])
    sure, never = np.array([1.0]), np.array([0.0])
    growth = float((outcomes(sure, never) @ log_payoffs(p, q, *claimed)[0]).max())
    return 2 * math.ceil(_SINGLES * log_limit / max(growth, 1e-9) / 2) + 4


def _step(looks: _Looks, memory: PairMemory, witness: Witness) -> PairMemory:
    """Return the step of a path on which the event of a witness fails most, by a third of the allowance."""
    terms, side = looks.terms, _side(witness)
    looks.most = looks.sampler.drawn + looks.allowance // 3
    return failing_step(
        memory,
        look=looks,
        growth=lambda piece: growth_on(witness.event, piece, side, terms),
        floats=terms.floats,
    )


def _side(witness: Witness) -> int:
    return 0 if witness.direction == "left" else 1


class _Looks:
    """Looks at pairs around a refuted one, as far as their own allowance of runs reaches."""

    def __init__(self, sampler: Sampler, betting: Betting) -> None:
        assert betting.crossed_at is not None
        self.sampler, self.terms, self.winner = sampler, betting.terms, betting.winner
        most = min(SHRINKING * betting.crossed_at, betting.terms.budget // 2)
        self.allowance = max(LEAST_SHRINKING, most)
        self.most = sampler.drawn + self.allowance
        self.tried = 0

    def __call__(self, memory: PairMemory, runs: int) -> bool:
        """Look at a pair so often; False where runs or time do not reach."""
        late = self.terms.deadline is not None and time.monotonic() >= self.terms.deadline
        if late or self.sampler.drawn + 2 * runs > self.most:
            return False
        self.tried += 1
        with contextlib.suppress(SubjectError):  # `convert` may refuse a pair that shrinking made up
            drawn = self.sampler.draw(memory.left, memory.right, runs, (SHRINK, self.tried))
            crosses, blocks = memory.take((View(runs.left), View(runs.right)) for runs in drawn)
            memory.learn(blocks, crosses)
        return True

    def growth(self, memory: PairMemory, errors: float) -> float:
        """Give what a pair promises, less so many standard errors, in nats a pair of runs."""
        if memory.raised and not self.winner.raised:
            return 0.0  # perhaps no database of the domain at all
        return memory.prospect(self.terms.epsilon, self.terms.delta, errors=errors)[0]


def _shrunk(looks: _Looks, memory: PairMemory, databases: Databases) -> PairMemory:
    """Return what is known of the simplest pair on which the claim still visibly fails."""
    return shrink(
        memory,
        simpler=databases.simpler,
        look=looks,
        growth=looks.growth,
        floats=looks.terms.floats,
    )
