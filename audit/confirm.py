"""What follows a sampled refutation: a witness run afresh, from fresh copies, and an A/A control.

The event that happened to win has flattered p and q. A witness is therefore fixed first, then run on its
own: how many runs is decided beforehand, p and q and their intervals come from these runs alone, and so does
its own wealth.
"""

from __future__ import annotations

import contextlib
import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from audit import canonical
from audit.betting import Betting, NeverAnswers, Terms
from audit.candidates import MOST_CANDIDATES, Candidate, find_candidates, growth_on, seen
from audit.errors import SubjectError
from audit.evidence import Bet, clopper_pearson
from audit.examples import noting
from audit.features import View
from audit.memory import growth_rate
from audit.results import Witness
from audit.sampling import CONFIRM, CONTROL, SHRINK
from audit.shrink import failing_step, shrink

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from audit.databases import Databases, Pair
    from audit.memory import PairMemory
    from audit.sampling import Runs, Sampler

__all__ = ["Candidate", "Confirmation", "confirm", "loss", "run_witness"]

#: Runs of a witness, as a multiple of what its estimated growth needs: confirmed with probability well over
#: 99 %.
_MARGIN = 3.0
LEAST_RUNS = 200
#: By so many standard errors the pair that shrinking chose may have been flattered.
_DOUBT = 2.0
#: What an event of a step must have shown to be tried beside the event that the path fell by.
_ENOUGH_NATS = 8.0
#: A refutation that no witness confirms is tried again by runs that stand alone: so many times as many, from
#: this place of the seed tree on.
_AGAIN = 4
_AGAIN_PLACE = 1_000_000
#: Shrinking may take so many times the runs that the refutation took, and at least so many.
SHRINKING = 12
LEAST_SHRINKING = 1_500
#: Of the interval of p and of that of q, each by itself: both hold with 0.98 at least.
CONFIDENCE = 0.99


@dataclass(frozen=True)
class Confirmation:
    """What the runs after a refutation say.

    Parameters
    ----------
    witness
        The strongest pair, confirmed or not, with the simplest one that is confirmed too (itself if none).
    depends_on_state
        Refuted with the subject's state kept, but not from fresh copies.
    control_refuted
        The A/A control was refuted too.
    fresh
        Whether fresh copies were needed ("every run on a fresh copy"), not needed, or not possible (None).
    far
        Where the claim fell on databases several steps apart: the witness of that, which is the strongest
        unless a step between them shows a larger loss by runs of its own.
    """

    witness: Witness
    depends_on_state: bool
    control_refuted: bool
    fresh: bool | None
    far: Witness | None = None


def confirm(sampler: Sampler, betting: Betting, *, allowance: int, databases: Databases) -> Confirmation:
    """Fix witnesses from a crossed audit and run them afresh, then the simplest that shrinking finds.

    Parameters
    ----------
    sampler, betting
        The audit that crossed.
    allowance
        Most runs for confirming; the control may take as many as the refutation, shrinking another allowance.
    databases
        Where simpler pairs come from.
    """
    assert betting.crossed_at is not None
    winner = betting.winner
    judge = _Judge(sampler, betting, fresh=sampler.state_suspected(), most=sampler.drawn + allowance)
    first = near = replace(judge.best(winner), given=databases.only_given)
    if judge.in_company and not first.confirmed:
        judge.depends = judge.depends or not _stands_alone(sampler, betting, fresh=bool(judge.fresh))
    control = _control(sampler, winner, betting.terms, runs=betting.crossed_at)
    depends = judge.depends and not first.confirmed
    if control or depends:
        return Confirmation(replace(first, simplest=first), depends, control, judge.fresh, _far(first))
    looks = _Looks(sampler, betting)
    if winner.distance > 1:
        winner = _step(looks, winner, first)
        judge.most = sampler.drawn + allowance
        near = judge.best(winner, errors=_DOUBT, known=first)
    simplest = near
    if (near is first or near.confirmed) and not databases.only_given:
        looks.most = sampler.drawn + looks.allowance - 4 * near.runs
        simpler = _shrunk(looks, winner, databases)
        judge.most = sampler.drawn + allowance
        simplest = near if simpler is winner else judge.best(simpler, errors=_DOUBT)
    strongest = _stronger(first, near)
    if not simplest.confirmed:
        simplest = near if near.confirmed else strongest
    witness = replace(strongest, simplest=simplest)
    return Confirmation(
        witness, depends_on_state=False, control_refuted=False, fresh=judge.fresh, far=_far(first)
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
    """Runs witnesses afresh, one candidate after the other; the k-th in all has significance·2^−k."""

    sampler: Sampler
    betting: Betting
    fresh: bool | None
    most: int
    tried: int = 0
    depends: bool = False

    def _looks_kept(self, memory: PairMemory, witness: Witness) -> bool:
        """Tell whether noise that was drawn once and kept out of sight would look just like this."""
        if self.fresh is None and _is_constant(memory):
            return True
        suspect = self.sampler.subject.takes_rng and not self.sampler.honours_rng
        return suspect and (witness.p, witness.q) == (1.0, 0.0)

    @property
    def in_company(self) -> bool:
        """Whether the refutation rests on runs that shared the subject's state or one call of its sampler."""
        return bool(self.fresh) or self.sampler.subject.declared_sampler is not None

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
            witness = self._run(memory, candidate, errors)
            if witness.confirmed:
                return witness
            first = first or witness
        assert first is not None
        return first

    def _promises(self, memory: PairMemory, candidate: Candidate) -> bool:
        growth = growth_on(candidate.event, memory, candidate.side, self.betting.terms)
        return growth * memory.pairs >= _ENOUGH_NATS

    def _run(self, memory: PairMemory, candidate: Candidate, errors: float) -> Witness:
        self.tried += 1
        terms = self.betting.terms
        own = replace(terms, significance=terms.significance / 2**self.tried)
        room = self.most - self.sampler.drawn
        runs = _runs_needed(candidate, own.at(memory.distance), own.log_limit, room=room, errors=errors)
        path = (CONFIRM, self.tried, 0)
        witness, bet = run_witness(
            self.sampler,
            (memory.left, memory.right),
            candidate,
            own,
            runs=runs,
            path=path,
            alone=True,
            fresh=bool(self.fresh),
            distance=memory.distance,
        )
        # Fixed before it was drawn, from its own part of the seed tree: one more bet for the bounds.
        self.betting.ledger.add(bet)
        if self._looks_kept(memory, witness):
            self.depends = True
            return replace(witness, confirmed=False)
        return witness


def _stands_alone(sampler: Sampler, betting: Betting, *, fresh: bool) -> bool:
    """Tell whether runs that each stand alone refute the claim too, given four times as many."""
    winner = betting.winner
    assert betting.crossed_at is not None
    growth = winner.prospect(betting.terms.epsilon, betting.terms.delta, errors=1.0)[0]
    needed = 2 * _MARGIN * betting.terms.log_limit / growth if growth > 0 else 0.0
    budget = int(min(max(_AGAIN * betting.crossed_at, needed), _AGAIN * betting.terms.budget))
    terms = replace(betting.terms, budget=budget, deadline=None, stop_when_refuted=True)
    again = Betting(
        sampler,
        [winner.path or (winner.left, winner.right)],
        terms,
        stage=CONFIRM,
        look_stage=CONFIRM,
        fresh=fresh,
        singly=not fresh,
        batches=_AGAIN_PLACE,
    )
    again.run()
    return again.refuted


def _is_constant(memory: PairMemory) -> bool:
    """Tell whether either database has only ever given one output."""
    outputs = [[output for view in side for output in view.outputs] for side in memory.kept(0)]
    return all(len({canonical.key(output) for output in side}) == 1 for side in outputs)


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
            views = ((View(runs.left, runs.typed), View(runs.right, runs.typed)) for runs in drawn)
            crosses, blocks = memory.take(views)
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


def _runs_needed(
    candidate: Candidate, claimed: tuple[float, float], log_limit: float, *, room: int, errors: float
) -> int:
    """Give how many pairs of runs most likely confirm this candidate, within the allowance."""
    p, q = candidate.apart(errors)
    growth = float(growth_rate(np.array(p), np.array(q), *claimed))
    needed = _MARGIN * log_limit / max(growth, 1e-9)
    return int(max(1, min(max(needed, LEAST_RUNS), room // 4)))


def run_witness(
    sampler: Sampler,
    pair: Pair,
    candidate: Candidate,
    terms: Terms,
    *,
    runs: int,
    path: tuple[int, ...],
    alone: bool,
    fresh: bool = False,
    distance: int = 1,
) -> tuple[Witness, Bet]:
    """Run a witness `runs` times a side, all fixed beforehand, and judge it by these runs alone.

    `alone` calls the subject run by run, `fresh` starts each from a copy of the subject as it was at first:
    the claim is about each call, whatever company it is drawn in. At a `distance` it is the claim about that.
    """
    counts = np.zeros(4)
    blocks = sampler.draw(*pair, runs, path, fresh=fresh, singly=alone and not fresh)
    examples: tuple[list[str], list[str]] = ([], [])
    noted = noting(blocks, left=examples[0], right=examples[1])
    for left, right in _members(noted, candidate, against=terms.against):
        p_side, q_side = (left, right) if candidate.side == 0 else (right, left)
        both, p_hits, q_hits = (p_side & q_side).sum(), p_side.sum(), q_side.sum()
        counts += [both, p_hits - both, q_hits - both, len(left) - p_hits - q_hits + both]
    bet = Bet(
        log_prior=np.zeros(1),
        p=np.array([candidate.p]),
        q=np.array([candidate.q]),
        past=np.array([candidate.past]),
        counts=counts[None, :],
        distance=distance,
    )
    p_hits, q_hits = int(counts[0] + counts[1]), int(counts[0] + counts[2])
    p_interval = clopper_pearson(p_hits, runs, CONFIDENCE)
    q_interval = clopper_pearson(q_hits, runs, CONFIDENCE)
    witness = Witness(
        left=pair[0],
        right=pair[1],
        event=candidate.event,
        p=p_hits / runs,
        q=q_hits / runs,
        p_interval=p_interval,
        q_interval=q_interval,
        confidence=CONFIDENCE,
        runs=runs,
        direction="left" if candidate.side == 0 else "right",
        confirmed=bet.log_growth(terms.epsilon, terms.delta) >= terms.log_limit,
        epsilon_lower=loss(p_interval[0], q_interval[1], terms.at(distance)[1]) / distance,
        seed=list(path),
        fresh=fresh,
        against=terms.against,
        distance=distance,
        examples=(tuple(examples[0]), tuple(examples[1])),
    )
    return witness, bet


def loss(p: float, q: float, delta: float) -> float:
    """Give the ε that p and q show at this δ: ln((p − δ)/q), at least 0, infinite for q = 0."""
    if p - delta <= q:
        return 0.0
    return math.inf if q == 0 else math.log((p - delta) / q)


def _members(
    blocks: Iterable[Runs], candidate: Candidate, *, against: bool
) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """Give the membership of every run, left and right, block by block."""
    for block in blocks:
        sides = []
        for side, outputs in enumerate((block.left, block.right)):
            view = View(outputs)
            inside = candidate.event.members(view)
            if against and len(view.unfinished):
                inside[view.unfinished] = side != candidate.side
            sides.append(inside)
        yield sides[0], sides[1]


def _control(sampler: Sampler, memory: PairMemory, terms: Terms, *, runs: int) -> bool:
    """Audit the left database against itself at ε = 0: refuted only if runs depend on each other."""
    aa = replace(terms, epsilon=0.0, delta=0.0, budget=runs, deadline=None, stop_when_refuted=True)
    control = Betting(sampler, [(memory.left, memory.left)], aa, stage=CONTROL, look_stage=CONTROL)
    with contextlib.suppress(NeverAnswers):  # failing alike on both sides tells nothing apart
        control.run()
    return control.refuted
