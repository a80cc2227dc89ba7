"""The statistical path, which bets against the claim by runs.

A refutation is confirmed, and the result is reported.
"""

import math
from bisect import bisect_left
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from audit.databases.domain import no_neighbours
from audit.databases.paths import lengths
from audit.events.features.structure import unread
from audit.evidence.bets import Bet, Ledger, ceiling, log_payoffs
from audit.evidence.memory import PairMemory
from audit.evidence.power import Power, Section, detectable
from audit.results.course import Course
from audit.results.going_on import Before, Ended, joined, sections_of
from audit.results.remembered import first_batch
from audit.results.result import AuditResult, Evidence, Verdict
from audit.sampling import Sampler, stop_asked
from audit.search.climb import FIRST_LOOK
from audit.search.steer import Steering
from audit.task import PrivacyTask
from audit.values.brief import show
from audit.values.said import Said, Says
from audit.verdict import statements
from audit.verdict.betting import Betting, bet_size
from audit.verdict.calls_check import CallsCheck
from audit.verdict.confirm import Confirmation, confirm
from audit.verdict.terms import NeverAnswers, Terms

LEAST_CONFIRMATION = 20_000
#: The value of `Judge.how` if runs are independent trials because the subject keeps no state.
_STATELESS = "stateless"


def least_budget(epsilon: float, delta: float, significance: float) -> int:
    """Return the fewest runs that can refute a claim.

    They refute it if the event happens in all runs of the p side and in no other run.

    Examples
    --------
    >>> 100 < least_budget(1.0, 0.0, 1e-6) < 200
    True
    """
    pairs, wealth, limit = FIRST_LOOK, 0.0, -math.log(significance)
    while True:
        size = bet_size(pairs)
        won = wealth + _leak(pairs, size, epsilon, delta)
        if won >= limit:
            least = bisect_left(
                range(1, size), limit, key=lambda part: wealth + _leak(pairs, part, epsilon, delta)
            )
            return 2 * (pairs + 1 + least)
        wealth, pairs = won, pairs + size
        if pairs > _BEYOND:
            gain = float(log_payoffs(np.array(1.0), np.array(0.0), epsilon, delta)[0].max())
            return math.ceil(limit / max(gain, 1e-300))


#: A least budget up to this many pairs of runs, more than anyone draws, is simulated; a larger one is
#: computed from the largest stake alone.
_BEYOND = 10**12


def _leak(pairs: int, size: int, epsilon: float, delta: float) -> float:
    """Return the log growth of a bet on `size` pairs of runs, if p = 1 and q = 0.

    The stake comes from `pairs` earlier pairs of runs.
    """
    q, counts = 0.5 / (pairs + 1), np.array([size, 0.0, 0.0, size])
    return Bet.on_one(1 - q, q, 2.0 * pairs, counts).log_growth(epsilon, delta)


def audit_by_runs(task: PrivacyTask, before: Before | None = None) -> AuditResult:
    """Return the result of an audit by runs. If `before` is given, continue that audit."""
    least = least_budget(task.claim.epsilon, task.claim.delta, task.options.significance)
    said = f"{least:,}" if least < 10**15 else f"{least:.3g}"
    if before is None:
        task.refuse_hopeless(least, f"an outright leak needs at least {said}")
    with task.sampler(task.subject) as sampler:
        found = _Runs(task, sampler, least, before).audit()
    return found if before is None else joined(found, before)


class _Runs:
    """The state shared by the steps of one audit by runs."""

    def __init__(self, task: PrivacyTask, sampler: Sampler, least: int, before: Before | None) -> None:
        self.task, self.sampler, self.least, self.before = task, sampler, least, before
        self.betting: Betting | None = None
        options = task.options
        self.terms = Terms(
            epsilon=task.claim.epsilon,
            delta=task.claim.delta,
            significance=options.significance,
            budget=options.budget,
            deadline=task.deadline,
            stop_when_refuted=options.until == "refuted",
            floats=options.numerics == "float",
            against=options.unfinished == "against",
        )
        self.notes: list[Said] = []
        self.compared_calls = 0

    def audit(self) -> AuditResult:
        """Bet, confirm if the bets refute the claim, and return the result."""
        try:
            betting = self.betting = self._bet()
        except NeverAnswers as silent:
            return self._result(Verdict.ERROR, reason=str(silent))
        if betting.search.exhausted and not betting.memories:
            raise no_neighbours(self.task.databases)
        if betting.out_of_time:
            how = Says.STOPPED if stop_asked() else Says.OUT_OF_TIME
            self.notes.append(how(spent=betting.spent, budget=self.terms.budget))
        if betting.refuted:
            return self._refuted(betting)
        return self._not_refuted(betting)

    def _bet(self) -> Betting:
        """Return the finished bets. If the subject changes its input, start again with copies."""
        first = self._start()

        def again() -> Betting:
            self.notes.append(Says.RESTARTED(what="audit"))
            return self._start(given_up=first).run()

        return self.sampler.with_copies(first.run, again)

    def _start(self, given_up: Betting | None = None) -> Betting:
        databases, before, known = self.task.databases, self.before, list[tuple[Any, ...]]()
        seed = np.random.SeedSequence(self.task.pairs_seed())
        if before is not None:
            seed = np.random.SeedSequence((*self.task.pairs_seed(), len(before.result.earlier) + 1))
            known = [each.path for each in before.pairs if databases.has_path(each.path)]
        ranks = self.task.options.recorded and not (databases.only_given and len(databases.given) == 1)
        steps = lengths(self.terms.epsilon, self.terms.delta)
        proposing, varying = (np.random.default_rng(child) for child in seed.spawn(2))
        return Betting(
            self.sampler,
            chain(known, databases.proposals(proposing)),
            self.terms,
            self.task.listener,
            vary=None if databases.only_given else lambda pair: databases.vary(pair, varying),
            further=None if databases.only_given or not steps else lambda p: databases.further(p, steps),
            first=len(databases.given) + len(databases.strange_pairs),
            steering=Steering(self.terms.epsilon, self.terms.delta) if ranks else None,
            given_up=given_up,
            start=None if before is None or given_up is not None else before.standing,
            coupled_before=before is not None and before.coupled,
            batches=first_batch(self.task) if before is None else before.batches,
        )

    def _refuted(self, betting: Betting) -> AuditResult:
        if doubt := self.task.databases.doubt(betting.winner.left, betting.winner.right):
            return self._result(Verdict.INCONCLUSIVE, reason=doubt)
        most = max(LEAST_CONFIRMATION, 4 * betting.crossed_at, self.terms.budget * (betting.coupled.runs > 0))
        allowance = self.task.options.confirm_budget or most
        bets = len(betting.ledger.bets)
        found = self._confirm(betting, allowance)
        self.notes += _far_note(found, self.terms)
        seen: dict[str, Any] = {"how": found.how, "witness": found.witness}
        if found.doubt:
            return self._result(Verdict.INCONCLUSIVE, reason=found.doubt, **seen)
        if not found.bounds_hold:  # the earlier bets hold only for this process
            betting.ledger = Ledger(betting.ledger.bets[bets:])
        elif betting.coupled.in_wealth and found.how != _STATELESS:
            self._drop_coupled(betting)
        bounds = self.terms.bounds(betting.ledger)
        return self._result(Verdict.REFUTED, samples_to_refutation=betting.crossed_at, **seen, **bounds)

    def _confirm(self, betting: Betting, allowance: int) -> Confirmation:
        """Return the confirmation. If the subject changes its input for the first time, confirm on copies."""
        bets = len(betting.ledger.bets)

        def found() -> Confirmation:
            return confirm(self.sampler, betting, allowance=allowance, databases=self.task.databases)

        def again() -> Confirmation:
            self.notes.append(Says.RESTARTED(what="confirmation"))
            betting.ledger.keep(bets)  # the next try bets on runs of the same seeds again
            return found()

        return self.sampler.with_copies(found, again)

    def _not_refuted(self, betting: Betting) -> AuditResult:
        if betting.shadow_crossed_at:
            reason = (
                "only unfinished runs speak against the claim: the databases differ in how often a run "
                'finishes; audit with `unfinished="output"` to count them as outputs, or raise '
                "`run_time_limit`"
            )
            return self._result(Verdict.INCONCLUSIVE, reason=reason)
        spent, more = betting.spent, "raise `time_limit`" if betting.out_of_time else "raise `budget`"
        more = "let it go on" if stop_asked() else more
        spent += 0 if self.before is None else self.before.result.samples
        if spent < self.least:
            takes = f"refuting this claim takes at least {self.least}"
            reason = f"stopped after {spent} runs, but {takes}: {more}"
            return self._result(Verdict.INCONCLUSIVE, reason=reason)
        most_bet = max(
            betting.memories, key=lambda memory: sum(s.pairs for s in self._sections(betting, memory))
        )
        if self.sampler.stopped_answering() or most_bet.stopped_answering:
            return self._result(Verdict.INCONCLUSIVE, reason=statements.STOPS_ANSWERING)
        if trouble := self._compare_calls(most_bet):
            return self._result(Verdict.ERROR, reason=trouble)
        how = self._how_coupled(betting)
        power, bounds = self._power(betting, most_bet), self.terms.bounds(betting.ledger)
        likely = f"any event of probability {power.p:.3g}"
        if power.event is not None:
            likely = f"an event of probability {power.p:.3g}: {power.event.words(digits=3)}"
        if power.epsilon is None and (self.before is None or self.before.result.detectable_epsilon is None):
            reason = (
                f"{spent:,} runs are too few, {more}: audits like this one miss any true ε, however "
                f"large, more than one time in ten on {likely}"
            )
            return self._result(Verdict.INCONCLUSIVE, reason=reason, how=how, **bounds)
        if most_bet.distance > 1:
            likely += f" (on databases at distance {most_bet.distance})"
        told = {"detectable_epsilon": power.epsilon, "detectable_event": likely, **bounds}
        return self._result(Verdict.NOT_REFUTED, how=how, **told)

    def _how_coupled(self, betting: Betting) -> str:
        """Return why coupled runs count as evidence.

        The text is empty if there are no coupled runs, or if they have to be dropped. They are dropped unless
        the subject is known to keep no state.
        """
        if not betting.coupled.in_wealth:
            return ""
        if self.sampler.state_suspected() is False:
            return _STATELESS
        self.notes.append(Says.COUPLED_DROPPED())
        self._drop_coupled(betting)
        return ""

    def _drop_coupled(self, betting: Betting) -> None:
        """Let the bounds rest on single calls alone.

        If earlier audits used coupled runs, the bounds rest on nothing.
        """
        betting.ledger = Ledger() if betting.coupled.before else betting.ledger.by_calls()
        betting.coupled.give_up()

    def _sections(self, betting: Betting, memory: PairMemory) -> tuple[Section, ...]:
        """Return the batches bet on for two databases, with those of earlier audits."""
        return sections_of(memory, betting.coupled.of(memory), self.before)

    def _compare_calls(self, memory: PairMemory) -> str:
        """Return a text that says where the subject's `sample` and calls disagree.

        If they agree, the text is empty.
        """
        if self.task.subject.declared_sampler is None or self.sampler.state_suspected():
            return ""
        check = CallsCheck(self.sampler, self.terms)
        trouble = check.disagreement((memory.left, memory.right))
        self.compared_calls = check.compared
        return trouble

    def _power(self, betting: Betting, memory: PairMemory) -> Power:
        """Return the power of the bets on a pair. Its ε is per step between the two databases."""
        epsilon, delta = self.terms.at(memory.distance)
        coupling = betting.coupled.of(memory)
        power = detectable(
            replace(memory, path=()),  # the claim passed here is already the one for this distance
            self._sections(betting, memory),
            epsilon=epsilon,
            delta=delta,
            significance=self.terms.significance * (1 - self.terms.goals.share),
            rarer=None if coupling is None else coupling.rarer,
        )
        return replace(power, epsilon=None if power.epsilon is None else power.epsilon / memory.distance)

    def _result(self, verdict: Verdict, *, how: str = "", **fields: Any) -> AuditResult:
        """Return the result. If the bets refuted the claim, `how` says why runs are independent trials."""
        sampler, betting = self.sampler, self.betting
        memories, pairs_bet, log_wealth, ended = [], 0, 0.0, None
        courses: dict[str, Course | None] = {}
        if betting is not None:
            memories, log_wealth = betting.memories, betting.log_wealth
            courses["wealth_course"] = Course.of(betting.wealth)
            courses["search_course"] = Course.of((pairs, max(loss, 0.0)) for pairs, loss in betting.losses)
            ended = Ended.of(
                self.task,
                betting.ledger,
                [(memory, betting.coupled.of(memory)) for memory in memories],
                batches=betting.batches,
                coupled=betting.coupled.in_wealth,
                before=self.before,
            )
            pairs_bet = ended.pairs_bet
        return statements.result_of(
            self.task,
            verdict,
            Evidence.STATISTICAL,
            samples=sampler.drawn,
            unfinished=sampler.unfinished,
            pairs_tried=len(memories),
            log_wealth=log_wealth,
            log_limit=self.terms.log_limit,
            ceiling_epsilon=ceiling(pairs_bet, self.terms.significance),
            assumptions=statements.assumed_of_runs(
                self.task.subject,
                how=how,
                unfinished=sampler.unfinished,
                against=self.terms.against,
                numerics=self.task.options.numerics,
            ),
            notes=(*self.notes, *sampler.notes, *self._failures(), *self._coupled()),
            not_tested=tuple(self._not_tested(verdict, memories)),
            only_output=None if verdict is Verdict.REFUTED else sampler.variety.only,
            _ended=ended,
            **courses,
            **fields,
        )

    def _coupled(self) -> list[str]:
        """Return a note if coupled runs were bet on."""
        runs = 0 if self.betting is None else self.betting.coupled.runs
        return [Says.COUPLED(runs=runs)] if runs else []

    def _failures(self) -> list[Said]:
        """Return a note if many runs raised an exception."""
        raised, drawn = self.sampler.raised, self.sampler.drawn
        return [Says.RAISED(raised=raised, drawn=drawn)] if 2 * raised > drawn else []

    def _not_tested(self, verdict: Verdict, memories: list[PairMemory]) -> list[Said]:
        untested = [Says.OTHER_PAIRS()]
        if verdict is Verdict.NOT_REFUTED:
            untested += self.task.databases.left_out()
            if self.task.subject.declared_sampler is not None:
                calls = Says.FEW_SINGLE_CALLS if self.compared_calls else Says.NO_SINGLE_CALLS
                untested.append(calls(compared=self.compared_calls))
            untested += unread(views for memory in memories for views in memory.kept(0))
        if self.task.options.numerics == "ideal":
            untested.append(Says.FLOATS())
        return [*untested, Says.SIDE_CHANNELS()]


def _far_note(found: Confirmation, terms: Terms) -> list[Said]:
    """Return a note on the distant databases that refuted the claim.

    If the witness has these databases itself, the note says only how far apart they are.
    """
    seen = found.far
    if seen is None:
        return []
    if found.witness.distance > 1:
        how = Says.FAR_ALONE if found.witness.simpler is None else Says.FAR_AND_STEP
        return [how(distance=found.witness.distance)]
    epsilon, delta = terms.at(seen.distance)
    allowed = f"e^{epsilon:.3g}·q" + (f" + {delta:.3g}" if delta else "")
    p, q = f"{seen.p:.3g} on {show(seen.on_p, 30)}", f"{seen.q:.3g} on {show(seen.on_q, 30)}"
    standing = Says.FAR_CONFIRMED if seen.confirmed else Says.FAR_NOT_CONFIRMED
    event = seen.event.words(digits=3)
    return [
        Says.FAR_FAILED(distance=seen.distance, event=event, p=p, q=q, allowed=allowed),
        standing(runs=seen.runs),
    ]
