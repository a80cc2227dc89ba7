"""One utility audit, from its task to its result.

The audit is exact if the declared laws allow it. Otherwise it rests on runs.
"""

import contextlib
import math
from itertools import cycle, islice
from typing import Any, Final

import numpy as np

from audit.evidence.failures import LEAST_BETA, least_runs
from audit.results.result import Evidence, Verdict
from audit.sampling import LAW, Sampler, TimeIsOver
from audit.sampling.seeds import generator
from audit.utility.betting import UtilityBetting
from audit.utility.exact import TOLERANCE, ExactFailure, exact_failure, exceeds
from audit.utility.experiment import Revealed, as_subject, length
from audit.utility.law_check import LEAST_CHECKED, LawCheck
from audit.utility.renewal import ASSUMED, Renewal
from audit.utility.result import ProblemFinding, UtilityResult, UtilityWitness
from audit.utility.runs import reveal
from audit.utility.search import RANDOM, Search, proposed
from audit.utility.task import UtilityTask
from audit.values.said import Said, Says
from audit.values.wording import at_least, at_most

#: The number of databases on which outputs of the code are compared with the declared law.
CHECKED_DATABASES: Final = 3
#: A climb over exact failure probabilities ends after this many steps in a row that find nothing worse.
IDLE: Final = 20
#: The most steps of a climb. Failure probabilities may rise by ever smaller steps without end.
MOST_STEPS: Final = 1_000
#: The number of runs that check whether the learner draws from its generator alone.
FIRST_RUNS: Final = 8


class UtilityAudit:
    """The steps of one audit, and what the steps share."""

    sampler: Sampler
    betting: UtilityBetting
    renewal: Renewal

    def __init__(self, task: UtilityTask) -> None:
        self.task = task
        self.claim = task.claim
        self.notes: list[Said] = []
        self.samples = 0
        self.tried = len(task.family.library)

    def result(self) -> UtilityResult:
        """Return the result of the audit."""
        exact = self._exact() if self.task.exact else None
        return self._by_runs() if exact is None else self._by_laws(exact)

    # --- exact: the failure probability on every problem of the library is known

    def _exact(self) -> list[ExactFailure] | None:
        found = []
        for problem in self.task.family.library:
            one = exact_failure(self.task.subject, problem, self.claim)
            if one is None:
                return None
            found.append(one)
        if self.task.family.finite:
            return found
        rng = self.task.search_rng()
        return self._climbed([*found, *self._random(rng)], rng)

    def _proposed(self, way: str, *arguments: Any) -> ExactFailure | None:
        """Return the exact failure probability on a proposed problem, or None if unknown."""
        found = exact_failure(self.task.subject, proposed(self.task.family, way, *arguments), self.claim)
        self.tried += found is not None
        return found

    def _random(self, rng: np.random.Generator) -> list[ExactFailure]:
        """Return the worst of a few random problems."""
        many = RANDOM if self.task.family.random is not None else 0
        found = [self._proposed("random", rng) for _ in range(many)]
        return sorted(filter(None, found), key=self._badness)[-1:]

    def _climbed(self, found: list[ExactFailure], rng: np.random.Generator) -> list[ExactFailure]:
        """Return the failures found, and a worse one if a climb ends at it."""
        worst = first = max(found, key=self._badness)
        idle = IDLE if self.task.family.vary is None else 0
        for _ in range(MOST_STEPS):
            if idle == IDLE or self.task.is_late():
                break
            one = self._proposed("vary", worst.problem, rng)
            idle += 1
            if one is not None and self._badness(one) > self._badness(worst):
                worst, idle = one, 0
        return found if worst is first else [*found, worst]

    def _badness(self, found: ExactFailure) -> tuple[float, int]:
        """Return a sort key for problems.

        The key is the failure probability, then the error in whole percent of alpha. The verdict depends on
        failures alone. Errors guide the search between problems that fail equally often. Whole percents end a
        climb that gains only tiny amounts.
        """
        near = min(found.error / self.claim.alpha, 1.0) if self.claim.alpha > 0 else 0.0
        return found.failure, 0 if math.isnan(near) else int(100 * near)

    def _by_laws(self, found: list[ExactFailure]) -> UtilityResult:
        worst = max(found, key=self._badness)
        ordered = [worst, *(each for each in found if each is not worst)]
        databases = [(each.problem, each.database) for each in ordered[:CHECKED_DATABASES]]
        check = LawCheck(self.task, len(databases) + len(found), self.notes)
        trouble = check.on_databases(databases) or check.on_problems(found)
        self.samples += check.samples
        if trouble:
            return self._as(Verdict.ERROR, Evidence.EXACT, reason=trouble)
        fields: dict[str, Any] = {
            "beta_lower": worst.failure,
            "beta_upper": worst.failure,
            "worst": worst.problem.name,
            "sample_size": length(worst.database),
            "problems": tuple(
                ProblemFinding(
                    each.problem.name,
                    upper=each.failure,
                    exact=each.failure,
                    met=not exceeds(each.failure, self.claim.beta),
                )
                for each in found
            ),
            "problems_tried": self.tried,
            "family": self.task.family.words(self.tried, len(found)),
        }
        if check.open:
            fields |= {"unfinished": check.unfinished, "beta_lower": 0.0, "beta_upper": 1.0}
            return self._as(check.verdict, Evidence.EXACT, **fields, reason=check.open)
        if exceeds(worst.failure, self.claim.beta):
            return self._as(Verdict.REFUTED, Evidence.EXACT, witness=_exact_witness(worst), **fields)
        discrete = all(each.discrete for each in found)
        if not discrete:
            self.notes.append(Says.NOT_FINITE(tolerance=TOLERANCE))
        proved = self.task.family.finite and discrete and self._is_checked(check)
        verdict = Verdict.PROVED if proved else Verdict.NOT_REFUTED
        return self._as(verdict, Evidence.EXACT, met=True, **fields)

    def _is_checked(self, check: LawCheck) -> bool:
        if check.least < LEAST_CHECKED:
            self.notes.append(Says.FEW_COMPARED(runs=check.least, least=LEAST_CHECKED))
        elif not check.stateless:
            self.notes.append(Says.MAY_KEEP_STATE(subject="learner"))
        return check.least >= LEAST_CHECKED and check.stateless

    # --- by runs

    def _by_runs(self) -> UtilityResult:
        task = self.task
        least = FIRST_RUNS + least_runs(self.claim.beta, task.options.significance)
        why = f"a learner that always fails takes at least {least}, {FIRST_RUNS} of them before the first bet"
        task.refuse_hopeless(least, why)
        with task.sampler(as_subject(task.subject, task.claim, law=task.exact)) as self.sampler:
            search = Search(task, self.sampler)
            self.betting = UtilityBetting(task, self.sampler, search.run())
            self.renewal = Renewal(task, self.sampler, self.betting)
            self.tried = len(search.looks)
            self.betting.run()
            verdict, fields = self._decided()
            return self._told(verdict, **fields)

    def _decided(self) -> tuple[Verdict, dict[str, Any]]:
        """Return the verdict, and the fields of the result that depend on it.

        If declared laws were used in bets, the laws must agree with the code. If runs share state, new
        learners must confirm the verdict.
        """
        betting = self.betting
        if betting.silent:
            self._refuse_lists()
            return Verdict.ERROR, {"reason": betting.silent}
        if betting.conditional:
            databases = self._drawn_databases()
            check = LawCheck(self.task, len(databases) + len(betting.standings), self.notes)
            trouble = check.on_databases(databases) or check.beside_laws(betting.problems)
            self.samples += check.samples
            if trouble or check.open:
                return Verdict.ERROR if trouble else check.verdict, {"reason": trouble or check.open}
        if betting.ran and (betting.refuted or betting.met):
            self.renewal.run()
            if doubt := self.renewal.doubt:
                return Verdict.INCONCLUSIVE, {"reason": doubt}
        if betting.refuted:
            found = {"witness": self._witness(), "samples_to_refutation": betting.crossed_at}
            return Verdict.REFUTED, found
        if betting.met:
            return Verdict.NOT_REFUTED, {"met": True}
        return Verdict.INCONCLUSIVE, {"witness": self._witness(), "reason": self._open()}

    def _refuse_lists(self) -> None:
        """Raise an error if the learner got lists but takes arrays or frames."""
        [(_, database), *_] = self._drawn_databases()
        with self.task.sampler(self.task.subject) as sampler:
            list(sampler.draw(database, database, 1, (LAW, 0)))

    def _open(self) -> str:
        """Return why the claim is neither refuted nor met."""
        betting = self.betting
        if betting.log_wealth_with_unfinished >= betting.log_limit:
            return (
                "only unfinished runs speak against the claim: they would refute it if they were failures; "
                'audit with `unfinished="output"` to count them as failures, or raise `run_time_limit`'
            )
        low, high = betting.bounds()
        open_ones = [each.look.name for each in betting.standings if not each.met]
        which = f"`{open_ones[0]}`" if len(open_ones) == 1 else f"{len(open_ones)} problems"
        between = f"between {at_least(low)} and {at_most(high)}{self._needs()}"
        return (
            f"{betting.stopped}, and the claim is neither refuted nor met on {which}: the failure "
            f"probability of the worst problem lies {between}{self._kept()}"
        )

    def _kept(self) -> str:
        """Return a note if all runs shared one learner with state, else an empty text."""
        if not self.betting.ran or self.renewal.how or not self.sampler.state_kept():
            return ""
        return "; the learner keeps state: to audit new learners, give `fresh=`"

    def _needs(self) -> str:
        """Return how many runs without failure would meet the claim, as a text.

        The text is empty if the budget is large enough.
        """
        if self.claim.beta < LEAST_BETA:
            return "; no number of runs can show that failures never happen"
        each = least_runs(1.0 - self.claim.beta, self.task.options.significance)
        if each * len(self.betting.standings) <= self.task.options.budget:
            return ""
        return f"; even without a failure each problem needs {each:,} runs: raise `budget`"

    def _drawn_databases(self) -> list[tuple[Any, Any]]:
        """Return databases on which to compare law and code, as (problem, database).

        The first database is from the worst problem.
        """
        problems, seed = self.betting.problems, self.task.options.seed
        chosen = enumerate(islice(cycle(problems), CHECKED_DATABASES))
        return [(problem, problem.draw(generator(seed, (LAW, 2**20 + k)))) for k, problem in chosen]

    def _witness(self) -> UtilityWitness | None:
        """Return the failure as a witness, or None if it cannot be shown again."""
        worst = self.betting.worst
        trial = worst.failing
        if trial is None:
            return None
        shown = None
        with contextlib.suppress(TimeIsOver):
            shown = reveal(self.sampler, worst.look.problem, trial.seed)
        if not isinstance(shown, Revealed):
            return None
        again = shown.trial
        if not again.failure:  # the learner keeps state and does not fail this time
            self.notes.append(Says.LEARNER_UNSTEADY())
            return None
        return UtilityWitness(
            worst.look.name,
            shown.database,
            shown.output,
            again.error,
            again.failure,
            seed=trial.seed,
            repeats=again.failure == trial.failure,
            source=worst.look.problem,
        )

    def _told(self, verdict: Verdict, **fields: Any) -> UtilityResult:
        betting, sampler, renewal = self.betting, self.sampler, self.renewal
        low, high = (0.0, 1.0) if verdict is Verdict.ERROR else renewal.bounds()
        anew = bool(renewal.doubt) or renewal.how == "fresh"  # bounds are for new learners
        self.samples += sampler.drawn
        self.notes += [note for note in sampler.notes if note not in self.notes]
        if betting.changed:
            self.notes.append(Says.LEARNER_CHANGES_INPUT())
        return self._as(
            verdict,
            Evidence.STATISTICAL,
            beta_lower=low,
            beta_upper=high,
            worst=betting.worst.look.name,
            sample_size=betting.worst.size,
            problems=tuple(
                ProblemFinding(
                    each.look.name,
                    runs=each.bets.runs,
                    failures=each.bets.failures,
                    upper=betting.upper(each) if each.bets.runs and not anew else None,
                    met=each.met and not renewal.doubt,
                )
                for each in betting.standings
            ),
            problems_tried=self.tried,
            family=self.task.family.words(self.tried, len(betting.standings)),
            conditional=betting.conditional,
            unfinished=sampler.unfinished,
            raised=betting.raised,
            log_wealth=betting.log_at_crossing if betting.refuted else betting.log_wealth,
            log_limit=betting.log_limit,
            **fields,
        )

    def _as(self, verdict: Verdict, evidence: Evidence, **fields: Any) -> UtilityResult:
        return UtilityResult(
            **self.task.said(),
            verdict=verdict,
            evidence=evidence,
            samples=self.samples,
            assumptions=tuple(self._assumptions(evidence, by_law=fields.get("conditional", False))),
            notes=tuple(self.notes),
            not_tested=(Says.OTHER_PROBLEMS(), Says.OTHER_SIZES()),
            **fields,
        )

    def _assumptions(self, evidence: Evidence, *, by_law: bool) -> list[Said]:
        said = [Says.ERROR_MEASURED()]
        if evidence is Evidence.EXACT or by_law:
            said.append(Says.LEARNER_LAW())
        if evidence is Evidence.STATISTICAL:
            said.append(Says.DRAWS())
            how = "" if self.renewal.doubt else self.renewal.how
            said += [each(subject="learner") for each in ASSUMED[how]]
        if not self.task.subject.takes_rng:
            said.append(Says.LEARNER_NO_GENERATOR())
        return said


def _exact_witness(worst: ExactFailure) -> UtilityWitness:
    return UtilityWitness(
        worst.problem.name, worst.database, worst.output, worst.error, worst.at_database, source=worst.problem
    )
