"""The confirmation of a refutation by bets, and a simpler witness.

The event that won the bets was selected, so its p and q are biased. The witness therefore has p, q and
intervals from the confirming calls alone. Their number is fixed beforehand. The search for the simplest
witness does not change the verdict.
"""

import contextlib
from dataclasses import dataclass, replace
from typing import Any

from audit.databases.chosen import Databases
from audit.errors import SubjectError
from audit.evidence.memory import PairMemory
from audit.results.result import Witness
from audit.sampling import SHRINK, Sampler, TimeIsOver, stop_asked, why_over
from audit.search.shrink import failing_step, shrink
from audit.values import canonical
from audit.verdict.betting import Betting
from audit.verdict.judge import Judge, side_of
from audit.verdict.shown.candidates import Candidate, find_candidates, growth_on
from audit.verdict.shown.readable import is_fitted
from audit.verdict.terms import Terms

#: The allowance for selection bias in the shrunk pair, in standard errors.
_DOUBT = 2.0
#: The event for the simplest pair is learned from this many pairs of runs.
_KNOWN = 256
#: Shrinking may take this multiple of the runs that the bets took to refute the claim.
SHRINKING = 12
#: Shrinking may always take this many runs, even if the multiple `SHRINKING` allows fewer.
LEAST_SHRINKING = 1_500


@dataclass(frozen=True)
class Confirmation:
    """What the runs after a refutation by bets showed.

    Parameters
    ----------
    witness
        The strongest witness, confirmed or not. Its `simplest` is the simplest confirmed witness, which may
        be the strongest witness itself.
    doubt
        Why the verdict is not REFUTED; empty if it is REFUTED.
    how
        Why the subject's runs count as independent trials, as in `Judge.how`.
    bounds_hold
        Whether the audit's bets also give bounds on ε and δ. If the event has another frequency in fresh
        processes, they do not.
    far
        The witness on databases several steps apart, if the claim failed there.
    """

    witness: Witness
    doubt: str
    how: str
    bounds_hold: bool = True
    far: Witness | None = None


def confirm(sampler: Sampler, betting: Betting, *, allowance: int, databases: Databases) -> Confirmation:
    """Return the confirmation of an audit whose bets refuted the claim.

    The event is fixed, new runs are made, and the pair is shrunk.

    Parameters
    ----------
    sampler, betting
        The bets that refuted the claim, and their sampler.
    allowance
        The most runs of the confirmation; shrinking has another allowance.
    databases
        The source of simpler pairs.
    """
    winner = betting.winner
    judge = Judge(sampler, betting, sampler.is_stateless(winner.left, winner.right), allowance)
    try:
        first = replace(judge.best(winner), given=databases.only_given)
        doubt = judge.doubt(first)
    except TimeIsOver:
        first = replace(_as_seen(winner, betting.terms), given=databases.only_given)
        more = "let it go on" if stop_asked() else "raise `time_limit`"
        doubt = f"{why_over()} before the refutation was confirmed; {more}"
    how, bounds_hold = judge.how, judge.bounds_hold
    if doubt:
        first = replace(first, confirmed=False)  # otherwise a replay would take it for a refutation
    witness = first
    if not doubt:
        with contextlib.suppress(TimeIsOver):
            witness = _simplest(judge, winner, first, databases)
    if witness.simplest is None:
        witness = replace(witness, simplest=witness)
    return Confirmation(witness, doubt, how, bounds_hold, far=first if first.distance > 1 else None)


def _simplest(judge: Judge, winner: PairMemory, first: Witness, databases: Databases) -> Witness:
    """Return the strongest witness, with the simplest confirmed witness as its `simplest`."""
    looks, near = _Looks(judge.sampler, judge.betting), first
    if winner.distance > 1:
        winner = _step(looks, winner, first)
        near = judge.best(winner, errors=_DOUBT, known=first)
    strongest = _stronger(first, near)
    simplest, on = near, winner
    if (near is first or near.confirmed) and not databases.only_given:
        looks.most = judge.sampler.drawn + looks.allowance - 4 * near.runs
        looks.pairs.clear()
        looks.take(winner)
        on = shrink(winner, simpler=databases.simpler, look=looks, growth=looks.growth, taken=looks.take)
        with contextlib.suppress(TimeIsOver):
            if on is winner:
                simplest = replace(near, simpler_tried=len(looks.pairs))
            else:
                looks.know(on)
                simplest = judge.best(on, errors=_DOUBT)
    if not simplest.confirmed:
        simplest, on = near if near.confirmed else strongest, winner
    return _beside_a_score(judge, strongest, simplest, on)


def _beside_a_score(judge: Judge, strongest: Witness, simplest: Witness, on: PairMemory) -> Witness:
    """Return the strongest witness, with the simplest witness as its `simplest`.

    If the simplest witness uses a fitted score, it gets a second event about one output entry, as `beside`.
    """
    alone = simplest.seed == strongest.seed
    if is_fitted(simplest.event) and simplest.left is on.left:
        with contextlib.suppress(TimeIsOver):
            simplest = replace(simplest, beside=judge.single(on))
    return replace(simplest if alone else strongest, simplest=simplest)


def _as_seen(memory: PairMemory, terms: Terms) -> Witness:
    """Return the pair and event that won the bets as an unconfirmed witness.

    Its p and q come from the search.
    """
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


def _stronger(far: Witness, near: Witness) -> Witness:
    """Return the confirmed witness with the larger ε per step.

    If neither witness is confirmed, return `far`.
    """
    if not near.confirmed:
        return far
    return near if not far.confirmed or near.epsilon_lower >= far.epsilon_lower else far


class _Looks:
    """Runs on simpler versions of a refuted pair, up to an allowance."""

    def __init__(self, sampler: Sampler, betting: Betting) -> None:
        self.sampler, self.terms, self.winner = sampler, betting.terms, betting.winner
        most = min(SHRINKING * betting.crossed_at, betting.terms.budget // 2)
        self.allowance = max(LEAST_SHRINKING, most)
        self.most = sampler.drawn + self.allowance
        self.tried = 0
        #: The event that refutes the claim on the pair being shrunk.
        self.known: Candidate | None = None
        #: The pairs on which this object drew runs so far.
        self.pairs: set[Any] = set()

    def __call__(self, memory: PairMemory, runs: int) -> bool:
        """Draw pairs of runs, and return False if too few runs or too little time is left."""
        late = self.terms.is_late(self.sampler.loading)
        if late or self.sampler.drawn + 2 * runs > self.most:
            return False
        self.tried += 1
        self.pairs.add(canonical.key([memory.left, memory.right]))
        with contextlib.suppress(SubjectError):  # `convert` may refuse a pair that shrinking invented
            drawn = self.sampler.draw(memory.left, memory.right, runs, (SHRINK, self.tried))
            crosses, blocks = memory.take(drawn)
            memory.learn(blocks, crosses)
        return True

    def growth(self, memory: PairMemory, errors: float) -> float:
        """Return the estimated log growth per pair of runs, in nats.

        The estimate is lowered by `errors` standard errors. It is the larger one for two kinds of events. One
        kind is learned on this pair, and may miss the fault after few runs. The other is `known`, which
        refutes the claim on the pair being shrunk.
        """
        if memory.raised and not self.winner.raised:
            return 0.0  # perhaps this database is outside the domain
        learned = memory.prospect(self.terms.epsilon, self.terms.delta, errors=errors)[0]
        if self.known is None:
            return learned
        known = growth_on(self.known.event, memory, self.known.side, self.terms, errors=errors)
        return max(learned, known)

    def know(self, memory: PairMemory) -> None:
        """Draw more runs on a pair that has few runs. An event learned from few runs overfits."""
        if memory.pairs < _KNOWN:
            self(memory, _KNOWN - memory.pairs)

    def take(self, memory: PairMemory) -> None:
        """Set `known` to the best event of a simpler pair on which the claim failed."""
        self.known = next(iter(find_candidates(memory, self.terms)), None)


def _step(looks: _Looks, memory: PairMemory, witness: Witness) -> PairMemory:
    """Return the one step of a path on which the witness's event breaks the claim most clearly.

    The search for this step may use a third of the allowance of runs.
    """
    looks.most = looks.sampler.drawn + looks.allowance // 3
    return failing_step(
        memory,
        look=looks,
        growth=lambda piece: growth_on(witness.event, piece, side_of(witness), looks.terms),
    )
