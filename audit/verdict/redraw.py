"""Run a saved witness again, and decide on the claim by these runs alone.

The verdict in the file does not count. The calls are made as for the witness: in this process if the subject
is stateless, else in fresh processes (`judge`). If the calls in this process refute the claim but the subject
keeps state, fresh processes must confirm. If the calls do not refute the claim but were enough to refute it
at the saved p and q, the verdict is NOT_REFUTED. If there were too few calls, the replay draws enough new
calls, or says that it cannot decide.

**Guarantee.** The pair, the event, the direction and the number of calls are fixed before the calls are made.
The stakes are fixed too. Stakes on the saved calls come from the estimates made before these calls. Stakes on
new calls come from the saved p and q. The first calls are tested at level significance·2^−k, as the k-th
witness of the audit was. Further calls are tested at half of that level. So if each call keeps the claim, the
chance that either test refutes it is below the audit's significance (`evidence`). This holds only if the
author of the file has not seen the calls. If the event was fitted to the calls of one seed, it may refute a
true claim with just these calls. New calls (`fresh`) do not have this weakness.
"""

import contextlib
import math
from dataclasses import dataclass, replace

import numpy as np

from audit.errors import SubjectError
from audit.evidence.bets import Bet, log_payoffs, matched, outcomes
from audit.results.result import Verdict, Witness
from audit.sampling import CONFIRM, Sampler
from audit.subject.subject import Renewed
from audit.verdict.judge import LEAST_SHARED, MARGIN, PARTS, differs, side_of, singly
from audit.verdict.shown.candidates import Candidate
from audit.verdict.statements import HOLDS_DATA, IN_COMPANY, KEPT, UNTOLD
from audit.verdict.terms import Terms
from audit.verdict.witness import Drawn, Plan, run_witness, terms_of

#: The first index of the seed paths of new calls; no audit uses this index.
_NEW = 1_000
#: The most new calls, as a multiple of the number of saved calls. A larger multiple lets more replays decide.
_MOST = 8
#: Even if the saved calls were few, this many new calls are allowed.
_LEAST_MOST = 40_000


@dataclass
class Redraw:
    """The new runs of the saved witness of an audit.

    Parameters
    ----------
    sampler
        Runs the subject.
    witness
        The saved witness, with its databases and its event restored.
    terms
        The claim and the limits, at the audit's significance.
    fresh
        Whether to make new calls from unused seeds at once, instead of first repeating the saved calls.
    """

    sampler: Sampler
    witness: Witness
    terms: Terms
    fresh: bool
    #: Why the calls count as independent trials, as in `Judge.how`; empty if they do not refute the claim.
    how: str = ""
    #: Whether the calls, made again from the saved seeds, gave the saved p and q.
    reproduced: bool = False
    reason: str = ""

    def decide(self) -> tuple[Verdict, Drawn]:
        """Return the verdict of the new runs, and the last calls drawn."""
        saved = self.witness.seed or []
        path = tuple(saved) if len(saved) > 1 else (CONFIRM, 1, 0)
        if self.fresh:
            path = _after(path)
        drawn = self._saved(path)
        again, known = drawn.witness, self.witness
        self.reproduced = not self.fresh and (again.p, again.q) == (known.p, known.q)
        if drawn.witness.confirmed or all(drawn.silent) or self._shows(drawn):
            return self._judged(drawn, path)
        further = _after((CONFIRM, path[-2] + 1, 0))
        calls = self._calls_needed(drawn, further)
        if calls is None:
            return self._judged(drawn, path)
        return self._judged(self._new(further, drawn, calls), further)

    def _saved(self, path: tuple[int, ...]) -> Drawn:
        """Return as many calls as the witness had, made in the same kind of process.

        If a fresh process is needed but cannot be started, this process makes the calls.
        """
        known = self.witness
        plan = Plan(known.runs, known.parts, copies=known.fresh and not known.parts)
        seen = (known.p, known.q) if self.fresh else known.foreseen or (0.0, 0.0)
        candidate = self._candidate(seen, past=float(known.runs) if self.fresh else 0.0)
        if plan.parts and self.sampler.recipe is not None:
            with contextlib.suppress(SubjectError):
                return self._run(plan, candidate, path)
        return self._run(replace(plan, parts=0), candidate, path)

    def _new(self, path: tuple[int, ...], before: Drawn, calls: int) -> Drawn:
        """Return this many new calls, with stakes from the saved p and q.

        The calls are made in the same kind of process as `before`.
        """
        parts = before.witness.parts
        runs = max(math.ceil(calls / 2), LEAST_SHARED if parts else 1)
        parts = 2 * runs if before.plan.is_single else parts and PARTS
        return self._run(Plan(runs, parts), self._new_stakes(), path)

    def _judged(self, drawn: Drawn, path: tuple[int, ...]) -> tuple[Verdict, Drawn]:
        """Return the verdict of these calls.

        If the subject keeps state, fresh processes must confirm a refutation.
        """
        witness = drawn.witness
        if all(drawn.silent) or (any(drawn.silent) and not witness.confirmed):
            return self._silent(drawn)
        if not witness.confirmed:
            return self._unconfirmed(drawn)
        if witness.parts:
            self.how = "fresh"
            return self._spread(drawn)
        if self.sampler.is_stateless(witness.left, witness.right):
            self.how = "stateless"
        elif isinstance(self.sampler.subject.object, Renewed):
            self.how = "renewed"
        else:
            return self._elsewhere(drawn, path)
        return Verdict.REFUTED, drawn

    def _elsewhere(self, drawn: Drawn, path: tuple[int, ...]) -> tuple[Verdict, Drawn]:
        """Return the verdict after fresh processes have repeated the calls.

        This is for a subject that keeps state. If fresh processes cannot make the subject, the refutation
        stands unconfirmed. With p = 1 and q = 0, the verdict is INCONCLUSIVE.
        """
        witness = drawn.witness
        sure = (witness.p, witness.q) == (1.0, 0.0)
        candidate = self._candidate((witness.p, witness.q), past=float(witness.runs))
        unavailable = HOLDS_DATA
        if self.sampler.recipe is not None:
            plan = Plan(max(witness.runs, LEAST_SHARED), parts=PARTS)
            if sure:
                plan = singly(candidate, self._terms(path, single=True))
            try:
                anew = self._run(plan, candidate, _after(path))
            except SubjectError as error:
                unavailable = str(error)
            else:
                self.how = "fresh"
                return self._spread(anew)
        if sure:
            return self._doubted(drawn, UNTOLD.format(unavailable))
        self.how = "unchecked"
        return Verdict.REFUTED, drawn

    def _spread(self, drawn: Drawn) -> tuple[Verdict, Drawn]:
        """Return the verdict of calls in fresh processes, REFUTED or INCONCLUSIVE.

        If processes made several calls each, the event must also be equally frequent in all of them.
        """
        if not drawn.plan.is_single and differs(drawn.blocks):
            return self._doubted(drawn, KEPT)
        return (Verdict.REFUTED, drawn) if drawn.witness.confirmed else self._doubted(drawn, IN_COMPANY)

    def _unconfirmed(self, drawn: Drawn) -> tuple[Verdict, Drawn]:
        """Return the verdict of calls that did not refute the claim.

        If this many calls refute on average at the p and q of `_sought`, it is NOT_REFUTED, else
        INCONCLUSIVE.
        """
        if self._shows(drawn):
            return Verdict.NOT_REFUTED, drawn
        runs = 2 * drawn.witness.runs
        return self._doubted(drawn, f"{runs:,} runs are too few to decide on this event: audit it again")

    def _silent(self, drawn: Drawn) -> tuple[Verdict, Drawn]:
        """Return the verdict if no call on some database gave an answer."""
        left, right = drawn.silent
        if left and right:
            self.reason = f"every run {left}"
            return Verdict.ERROR, drawn
        where = f"every run on the {'left' if left else 'right'} database {left or right}"
        self.reason = f"{where}; the saved event was not tried there"
        return Verdict.INCONCLUSIVE, drawn

    def _doubted(self, drawn: Drawn, reason: str) -> tuple[Verdict, Drawn]:
        self.reason = reason
        return Verdict.INCONCLUSIVE, replace(drawn, witness=replace(drawn.witness, confirmed=False))

    def _shows(self, drawn: Drawn) -> bool:
        """Return whether this many calls refute on average at the p and q of `_sought`."""
        return self._growth(drawn.bet, drawn.bet.calls) >= drawn.log_limit

    def _calls_needed(self, drawn: Drawn, path: tuple[int, ...]) -> int | None:
        """Return how many new calls are enough to refute at the p and q of `_sought`.

        The number includes a margin. If it is more than a replay may draw, return None.
        """
        new, limit = self._new_stakes(), self._terms(path, single=drawn.plan.is_single).log_limit
        calls, most = max(drawn.bet.calls, 2), max(_LEAST_MOST, 2 * _MOST * self.witness.runs)
        bet = Bet.on_one(new.p, new.q, 2 * new.past, drawn.bet.counts[0], drawn.bet.distance)
        while calls <= most:
            if self._growth(bet, calls) >= MARGIN * limit:
                return calls
            calls *= 2
        return None

    @property
    def _sought(self) -> tuple[float, float]:
        """The p and q that the calls must be able to detect.

        Normally they are the saved ones. If the claim was changed after the audit, it is enough that the
        calls can detect q = 0. The claim was changed if a confirmed witness cannot have refuted it.
        """
        p, q, runs = self.witness.p, self.witness.q, self.witness.runs
        claimed = self.terms.at(self.witness.distance)
        seen = np.clip([p, q], 1e-3, 1 - 1e-3)
        payoffs = log_payoffs(seen[0], seen[1], *claimed)
        most = float(matched(2 * runs * outcomes(np.array(p), np.array(q)), payoffs).max())
        return (p, 0.0) if self.witness.confirmed and most < self.terms.log_limit else (p, q)

    def _new_stakes(self) -> Candidate:
        """Return the event, with stakes for the p and q of `_sought`.

        The saved runs count as past runs if `_sought` has their q.
        """
        seen = self._sought[1] == self.witness.q
        return self._candidate(self._sought, past=float(self.witness.runs) if seen else 0.0)

    def _growth(self, bet: Bet, calls: int) -> float:
        """Return the expected log growth of a bet after this many calls. p and q are those of `_sought`."""
        p, q = self._sought
        counts = calls * outcomes(np.array(p), np.array(q))[None, :]
        return replace(bet, counts=counts).log_growth(self.terms.epsilon, self.terms.delta)

    def _candidate(self, estimates: tuple[float, float], *, past: float) -> Candidate:
        p, q = np.clip(estimates, 1e-3, 1 - 1e-3).tolist()
        known = self.witness
        return Candidate(known.event, side_of(known), p, q, past, known.distance)

    def _terms(self, path: tuple[int, ...], *, single: bool) -> Terms:
        """Return the terms for the k-th witness of the audit. The seed path of this witness gives k."""
        return terms_of(self.terms, max(path[-2], 1), single=single)

    def _run(self, plan: Plan, candidate: Candidate, path: tuple[int, ...]) -> Drawn:
        return run_witness(
            self.sampler,
            (self.witness.left, self.witness.right),
            candidate,
            self._terms(path, single=plan.is_single),
            plan=plan,
            path=path,
        )


def _after(path: tuple[int, ...]) -> tuple[int, ...]:
    """Return a seed path that was not used before.

    Neither an audit nor the replay that drew from `path` used it.

    Examples
    --------
    >>> _after((4, 1, 0)), _after(_after((4, 1, 0)))[1]
    ((2, 1000, 4, 1, 0), 1001)
    """
    if path[1] >= _NEW:
        return (path[0], path[1] + 1, *path[2:])
    return (CONFIRM, _NEW, *path)
