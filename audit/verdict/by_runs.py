"""The statistical path: bet, confirm, and say what was found."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.databases.domain import no_neighbours
from audit.databases.paths import lengths
from audit.errors import InvalidValue, Parameter
from audit.events.features.structure import unread
from audit.evidence.bets import Bet, Ledger, ceiling, delta_bound, epsilon_bound, log_payoffs
from audit.evidence.power import FLOATS, SIDE_CHANNELS, Power, detectable
from audit.results.result import AuditResult, Evidence, Verdict, Witness
from audit.sampling import MutatedInput, Sampler
from audit.search.climb import FIRST_LOOK
from audit.values.brief import show
from audit.verdict.betting import Betting, NeverAnswers, Terms, bet_size, silence
from audit.verdict.calls_check import CallsCheck
from audit.verdict.confirm import Confirmation, confirm
from audit.verdict.judge import TRIALS

if TYPE_CHECKING:
    from audit.evidence.memory import PairMemory
    from audit.task import PrivacyTask

LEAST_CONFIRMATION = 20_000


def least_budget(epsilon: float, delta: float, significance: float) -> int:
    """Give the fewest runs in which p = 1 against q = 0 is refuted, the event known from the first look.

    Examples
    --------
    >>> 100 < least_budget(1.0, 0.0, 1e-6) < 200
    True
    """
    pairs, wealth, limit = FIRST_LOOK, 0.0, -math.log(significance)
    while True:
        size = bet_size(pairs)
        if wealth + _leak(pairs, size, epsilon, delta) >= limit:
            low, high = 0, size
            while high - low > 1:
                middle = (low + high) // 2
                enough = wealth + _leak(pairs, middle, epsilon, delta) >= limit
                low, high = (low, middle) if enough else (middle, high)
            return 2 * (pairs + high)
        wealth += _leak(pairs, size, epsilon, delta)
        pairs += size
        if pairs > _BEYOND:
            gain = float(log_payoffs(np.array(1.0), np.array(0.0), epsilon, delta)[0].max())
            return math.ceil(limit / max(gain, 1e-300))


#: Pairs of runs that nobody draws: least budgets beyond are given by the largest stake alone.
_BEYOND = 10**12


def _leak(pairs: int, size: int, epsilon: float, delta: float) -> float:
    """Give the log growth of a bet of `size` on an outright leak that `pairs` of runs have shown."""
    q = np.array([0.5 / (pairs + 1)])
    counts = np.array([[size, 0.0, 0.0, size]])
    return Bet(np.zeros(1), 1 - q, q, np.array([2.0 * pairs]), counts).log_growth(epsilon, delta)


def _brief(runs: int) -> str:
    return str(runs) if runs < 10**15 else f"{runs:.3g}"


def audit_by_runs(task: PrivacyTask) -> AuditResult:
    """Audit a task by sampled runs."""
    least = least_budget(task.claim.epsilon, task.claim.delta, task.options.significance)
    if task.options.budget < least:
        raise InvalidValue(
            "The ",
            Parameter("budget"),
            f" of {task.options.budget} runs can never refute {task.claim} at significance "
            f"{task.options.significance:g}: even an outright leak needs at least {_brief(least)}.",
        )
    options = task.options
    with Sampler(
        task.subject,
        seed=options.seed,
        jobs=options.jobs,
        isolate=options.isolate,
        run_time_limit=options.run_time_limit,
    ) as sampler:
        return _Runs(task, sampler).audit(least)


class _Runs:
    """One audit by runs: the state that its steps share."""

    def __init__(self, task: PrivacyTask, sampler: Sampler) -> None:
        self.task, self.sampler = task, sampler
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
        self.notes: list[str] = []
        self.compared_calls = 0

    def audit(self, least: int) -> AuditResult:
        """Bet, then confirm what was refuted."""
        try:
            betting = self._bet()
        except NeverAnswers as silent:
            return self._result(Verdict.ERROR, reason=silence(silent.outcome))
        if betting.search.exhausted and not betting.memories:
            raise no_neighbours()
        if betting.out_of_time:
            spent, budget = betting.spent, self.terms.budget
            self.notes.append(f"Stopped by the time limit after {spent:,} of {budget:,} runs.")
        if betting.refuted:
            return self._refuted(betting)
        return self._not_refuted(betting, least)

    def _bet(self) -> Betting:
        """Bet; for a subject that changes its input, again, once, with a copy for every run."""
        first = self._start()

        def run(betting: Betting) -> Betting:
            betting.run()
            return betting

        def again(fault: MutatedInput) -> Betting:
            self.notes.append(f"{fault} The audit restarted with a new copy of the database for every run.")
            # Wealth lost so far stays lost (and wealth won is given up), or beginning again would be a
            # second chance.
            return run(self._start(Ledger(before=first.ledger), batches=first.batches, already=first.spent))

        return self.sampler.with_copies(lambda: run(first), again)

    def _start(self, ledger: Ledger | None = None, *, batches: int = 0, already: int = 0) -> Betting:
        ledger = Ledger() if ledger is None else ledger
        databases, seed = self.task.databases, np.random.SeedSequence(self.task.pairs_seed())
        steps = lengths(self.terms.epsilon, self.terms.delta)
        proposing, varying = (np.random.default_rng(child) for child in seed.spawn(2))
        return Betting(
            self.sampler,
            databases.proposals(proposing),
            self.terms,
            self.task.listener,
            already=already,
            batches=batches,
            vary=None if databases.only_given else lambda pair: databases.vary(pair, varying),
            further=None if databases.only_given or not steps else lambda p: databases.further(p, steps),
            ledger=ledger,
            log_wealth=ledger.lost(self.terms.epsilon, self.terms.delta),
        )

    def _refuted(self, betting: Betting) -> AuditResult:
        assert betting.crossed_at is not None
        if doubt := self.task.databases.doubt(betting.winner.left, betting.winner.right):
            return self._result(Verdict.INCONCLUSIVE, betting, reason=doubt)
        allowance = self.task.options.confirm_budget or max(LEAST_CONFIRMATION, 4 * betting.crossed_at)
        bets = len(betting.ledger.bets)
        found = self._confirm(betting, allowance)
        self.notes += _far_note(found, self.terms)
        if found.doubt:
            return self._result(
                Verdict.INCONCLUSIVE, betting, reason=found.doubt, witness=found.witness, confirmation=found
            )
        if not found.bounds_hold:  # what was bet before fits this process alone
            betting.ledger = Ledger(betting.ledger.bets[bets:])
        return self._result(
            Verdict.REFUTED,
            betting,
            witness=found.witness,
            confirmation=found,
            samples_to_refutation=betting.crossed_at,
            **self._bounds(betting),
        )

    def _confirm(self, betting: Betting, allowance: int) -> Confirmation:
        """Confirm; where the input is changed only now, again, with a copy for every run."""
        bets = len(betting.ledger.bets)

        def found() -> Confirmation:
            return confirm(self.sampler, betting, allowance=allowance, databases=self.task.databases)

        def again(fault: MutatedInput) -> Confirmation:
            self.notes.append(
                f"{fault} The confirmation restarted with a new copy of the database for every run."
            )
            betting.ledger.keep(bets)  # the same places of the seed tree are bet on again
            return found()

        return self.sampler.with_copies(found, again)

    def _not_refuted(self, betting: Betting, least: int) -> AuditResult:
        if betting.shadow_crossed_at is not None:
            reason = (
                "only unfinished runs speak against the claim: the databases differ in how often a run "
                'finishes; audit with `unfinished="output"` to count them as outputs, or raise '
                "`run_time_limit`"
            )
            return self._result(Verdict.INCONCLUSIVE, betting, reason=reason)
        spent, more = betting.spent, "`time_limit`" if betting.out_of_time else "`budget`"
        if spent < least:
            takes = f"refuting this claim takes at least {_brief(least)}"
            reason = f"stopped after {spent} runs, but {takes}: raise {more}"
            return self._result(Verdict.INCONCLUSIVE, betting, reason=reason)
        if self._stopped_answering(betting):
            reason = (
                "the mechanism stops answering after a number of runs, and refusals caused by earlier runs "
                "are no evidence: give `fresh=`, a function without arguments that makes a new mechanism "
                "for every run"
            )
            return self._result(Verdict.INCONCLUSIVE, betting, reason=reason)
        most_bet = max(betting.memories, key=lambda memory: sum(memory.bets))
        trouble = self._compare_calls(most_bet)
        if trouble:
            return self._result(Verdict.ERROR, betting, reason=trouble)
        power = self._power(most_bet)
        if power.epsilon is None:
            reason = (
                f"{spent:,} runs are too few, raise {more}: audits like this one miss any true ε, however "
                f"large, more than one time in ten on {_likely(power)}"
            )
            return self._result(Verdict.INCONCLUSIVE, betting, reason=reason, **self._bounds(betting))
        return self._result(
            Verdict.NOT_REFUTED,
            betting,
            detectable_epsilon=power.epsilon,
            detectable_event=_likely(power) + _apart(most_bet.distance),
            **self._bounds(betting),
        )

    def _stopped_answering(self, betting: Betting) -> bool:
        """Whether the subject, or a pair bet on, has given no answer for long though it did before."""
        if self.sampler.stopped_answering():
            return True
        most_bet = max(betting.memories, key=lambda memory: sum(memory.bets))
        return most_bet.stopped_answering

    def _compare_calls(self, memory: PairMemory) -> str:
        """Compare the subject's `sample`, if it has one, with its calls; say where they disagree."""
        if self.task.subject.declared_sampler is None or self.sampler.state_suspected():
            return ""
        check = CallsCheck(self.sampler, self.terms)
        trouble = check.disagreement((memory.left, memory.right))
        self.compared_calls = check.compared
        return trouble

    def _power(self, memory: PairMemory) -> Power:
        """Give what the bets on a pair would have shown, as the ε of one step where it is several apart."""
        epsilon, delta = self.terms.at(memory.distance)
        power = detectable(
            replace(memory, path=()),  # the claim is already that about its distance
            memory.bets,
            epsilon=epsilon,
            delta=delta,
            significance=self.terms.significance,
            look=memory.pairs - sum(memory.bets),
        )
        return replace(power, epsilon=None if power.epsilon is None else power.epsilon / memory.distance)

    def _bounds(self, betting: Betting) -> dict[str, Any]:
        terms = self.terms
        significance = terms.significance
        return {
            "epsilon_lower": epsilon_bound(
                betting.ledger, epsilon=terms.epsilon, delta=terms.delta, significance=significance
            ),
            "delta_lower": delta_bound(betting.ledger, epsilon=terms.epsilon, significance=significance),
        }

    def _result(
        self,
        verdict: Verdict,
        betting: Betting | None = None,
        *,
        confirmation: Confirmation | None = None,
        **fields: Any,
    ) -> AuditResult:
        task, options = self.task, self.task.options
        tried = 0 if betting is None else len(betting.memories)
        pairs_bet = 0 if betting is None else sum(betting.bet_sizes)
        return AuditResult(
            subject=task.subject.name,
            claim=task.claim,
            relation=_relation_name(task.relation),
            verdict=verdict,
            evidence=Evidence.STATISTICAL,
            samples=self.sampler.drawn,
            unfinished=self.sampler.unfinished,
            pairs_tried=tried,
            log_wealth=0.0 if betting is None else betting.log_wealth,
            log_limit=self.terms.log_limit,
            ceiling_epsilon=ceiling(pairs_bet, options.significance),
            significance=options.significance,
            seed=options.seed,
            numerics=options.numerics,
            budget=options.budget,
            parameters=dict(task.subject.parameters),
            reference=task.subject.reference,
            assumptions=tuple(self._assumptions(confirmation)),
            notes=(*self.notes, *self.sampler.notes, *self._failures()),
            not_tested=tuple(self._not_tested(verdict, [] if betting is None else betting.memories)),
            only_output=None if verdict is Verdict.REFUTED else self.sampler.variety.only,
            expected=task.subject.expected,
            **fields,
        )

    def _assumptions(self, confirmation: Confirmation | None) -> list[str]:
        said = ["the claim applies to each call, given the subject's state at that call"]
        if confirmation is not None:
            said.append(TRIALS[confirmation.how])
        if not self.task.subject.takes_rng:
            said.append("the subject draws its own randomness: the seed does not reproduce its runs")
        if self.sampler.unfinished:
            how = "count against the refutation" if self.terms.against else "are outputs"
            said.append(f"{self.sampler.unfinished} runs did not finish; they {how}")
        if self.task.options.numerics == "ideal":
            said.append("real-number arithmetic: the low bits of float outputs were not attacked")
        return said

    def _failures(self) -> list[str]:
        """Say how many runs raised, where it is many: what they would have answered was not tested."""
        raised, drawn = self.sampler.raised, self.sampler.drawn
        return [f"{raised:,} of {drawn:,} runs raised an exception."] if 2 * raised > drawn else []

    def _not_tested(self, verdict: Verdict, memories: list[PairMemory]) -> list[str]:
        untested = ["pairs of databases that were not tried"]
        if verdict is Verdict.NOT_REFUTED:
            untested += self.task.databases.left_out()
            if self.task.subject.declared_sampler is not None:
                untested.append(_calls_left(self.compared_calls))
            untested += unread(views for memory in memories for views in memory.kept(0))
        if self.task.options.numerics == "ideal":
            untested.append(FLOATS)
        return [*untested, SIDE_CHANNELS]


def _calls_left(compared: int) -> str:
    if not compared:
        return "single calls: all runs came from its `sample`, many at once"
    return (
        f"single calls beyond {compared:,} on each database of one pair, which agreed: all other runs came "
        "from its `sample`, many at once"
    )


def _far_note(found: Confirmation, terms: Terms) -> list[str]:
    """Tell of databases several steps apart on which the claim fell, where the witness is another pair."""
    seen = found.far
    if seen is None:
        return []
    if found.witness.distance > 1:
        return [_step_note(found.witness)]
    epsilon, delta = terms.at(seen.distance)
    allowed = f"e^{epsilon:.3g}·q" + (f" + {delta:.3g}" if delta else "")
    p, q = (f"{share:.3g} on {show(side, 30)}" for share, side in _shares(seen))
    standing = "separate runs confirm that" if seen.confirmed else "separate runs did not confirm that"
    where = f"at distance {seen.distance} the claim failed: {seen.event.words()} with p = {p}, q = {q}"
    return [
        f"{where}; at most {allowed} is allowed",
        f"{standing} ({seen.runs:,} on each side); the witness is the single step that fails most",
    ]


def _step_note(witness: Witness) -> str:
    start = f"at distance {witness.distance} the claim failed"
    if witness.simpler is None:
        return f"{start}; no single step was confirmed separately"
    return f"{start}; the simplest witness is a single step, confirmed separately"


def _shares(witness: Witness) -> tuple[tuple[float, Any], tuple[float, Any]]:
    return (witness.p, witness.on_p), (witness.q, witness.on_q)


def _likely(power: Power) -> str:
    if power.event is None:
        return f"any event of probability {power.p:.3g}"
    return f"an event of probability {power.p:.3g}: {power.event.words()}"


def _apart(distance: int) -> str:
    return f" (on databases at distance {distance})" if distance > 1 else ""


def _relation_name(relation: Any) -> str:
    from audit.relations import name_of

    return name_of(relation)
