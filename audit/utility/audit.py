"""One utility audit from its task to its result: exact where laws allow it, by runs elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from audit.errors import InvalidValue, Parameter
from audit.evidence.failures import LEAST_BETA, least_runs
from audit.results.result import Evidence, Verdict
from audit.sampling import CONFIRM, LAW
from audit.sampling.seeds import generator
from audit.subject.subject import Renewed
from audit.utility.betting import UtilityBetting
from audit.utility.exact import TOLERANCE, ExactFailure, exact_failure, exceeds
from audit.utility.experiment import as_subject
from audit.utility.law_check import LEAST_CHECKED, LawCheck
from audit.utility.renewal import ASSUMED, Renewal
from audit.utility.result import ProblemFinding, UtilityResult, UtilityWitness
from audit.utility.runs import reveal
from audit.utility.search import RANDOM, Search, proposed
from audit.values.wording import at_least, at_most

if TYPE_CHECKING:
    from audit.sampling import Sampler
    from audit.utility.betting import Standing
    from audit.utility.search import Look
    from audit.utility.task import UtilityTask

#: Databases on which a declared law is compared with the code, output by output.
CHECKED_DATABASES: Final = 3
#: Steps of a climb over exact failure probabilities that may find nothing worse before it ends.
IDLE: Final = 20
#: Its steps in all: failure probabilities may creep for ever.
MOST_STEPS: Final = 1_000
#: Runs that tell whether the learner honours its generator.
FIRST_RUNS: Final = 8


class UtilityAudit:
    """The steps of one audit, and what they share."""

    def __init__(self, task: UtilityTask) -> None:
        self.task = task
        self.claim = task.claim
        self.law = task.exact and task.subject.declared_law is not None
        self.notes: list[str] = []
        self.samples = 0
        self.looked = 0
        self.renewal: Renewal | None = None

    def result(self) -> UtilityResult:
        """Audit, and say what was found."""
        exact = self._exact() if self.law else None
        if exact is not None:
            return self._by_laws(exact)
        return self._by_runs()

    # --- exact: the failure probability of every problem of the library is known

    def _exact(self) -> list[ExactFailure] | None:
        found = []
        for problem in self.task.family.library:
            one = self._exactly(problem)
            if one is None:
                return None
            found.append(one)
        if self.task.family.finite:
            return found
        rng = np.random.default_rng(self.task.search_seed())
        return self._climbed([*found, *self._random(rng)], rng)

    def _exactly(self, problem: Any) -> ExactFailure | None:
        return exact_failure(self.task.subject, problem, alpha=self.claim.alpha, most=self.task.most)

    def _random(self, rng: np.random.Generator) -> list[ExactFailure]:
        """Look at a few random problems, and keep the worst of them."""
        found = []
        for _ in range(RANDOM if self.task.family.random is not None else 0):
            problem = proposed(self.task.family, "random", rng)
            one = self._exactly(problem)
            self.looked += one is not None
            found += [] if one is None else [one]
        return sorted(found, key=self._badness)[-1:]

    def _climbed(self, found: list[ExactFailure], rng: np.random.Generator) -> list[ExactFailure]:
        """Vary the worst problem as long as that finds a worse one, and keep the worst."""
        if self.task.family.vary is None:
            return found
        idle, best = 0, None
        worst = max(found, key=self._badness)
        for _ in range(MOST_STEPS):
            if idle == IDLE or self.task.is_late():
                break
            problem = proposed(self.task.family, "vary", worst.problem, rng)
            one = self._exactly(problem)
            idle += 1
            self.looked += one is not None
            if one is not None and self._badness(one) > self._badness(worst):
                worst = best = one
                idle = 0
        return found if best is None else [*found, best]

    def _badness(self, found: ExactFailure) -> tuple[float, int]:
        return found.badness(self.claim.alpha)

    def _by_laws(self, found: list[ExactFailure]) -> UtilityResult:
        worst = max(found, key=self._badness)
        databases = [(worst.problem, worst.database)]
        databases += [(each.problem, each.database) for each in found if each is not worst]
        databases = databases[:CHECKED_DATABASES]
        check = LawCheck(self.task, len(databases) + len(found))
        trouble = check.on_databases(databases) or check.on_problems(found)
        self._taken(check)
        over = exceeds(worst.failure, self.claim.beta)
        fields: dict[str, Any] = {
            "beta_lower": worst.failure,
            "beta_upper": worst.failure,
            "worst": worst.problem.name,
            "sample_size": worst.size,
            "problems": tuple(
                ProblemFinding(
                    each.problem.name,
                    upper=each.failure,
                    exact=each.failure,
                    met=not exceeds(each.failure, self.claim.beta),
                )
                for each in found
            ),
            "problems_tried": len(self.task.family.library) + self.looked,
            "family": self.task.family.words(len(self.task.family.library) + self.looked, len(found)),
        }
        if trouble:
            return self._as(Verdict.ERROR, Evidence.EXACT, reason=trouble)
        if check.open:
            fields |= {"unfinished": check.unfinished, "beta_lower": 0.0, "beta_upper": 1.0}
            return self._as(check.verdict, Evidence.EXACT, **{**fields, "reason": check.open})
        if over:
            return self._as(Verdict.REFUTED, Evidence.EXACT, witness=_exact_witness(worst), **fields)
        discrete = all(each.discrete for each in found)
        if not discrete:
            self.notes.append(
                "Not a proof: laws that are not finite are computed in floating point, to within "
                f"{TOLERANCE:g} of beta."
            )
        proved = self.task.family.finite and discrete and self._is_checked(check)
        verdict = Verdict.PROVED if proved else Verdict.NOT_REFUTED
        return self._as(verdict, Evidence.EXACT, met=True, **fields)

    def _is_checked(self, check: LawCheck) -> bool:
        if check.least < LEAST_CHECKED:
            self.notes.append(
                f"Not a proof: the law was compared with only {check.least} runs of a database, "
                f"fewer than {LEAST_CHECKED}; raise `budget`."
            )
        elif not check.stateless:
            self.notes.append("Not a proof: the learner keeps state between runs, or may do so.")
        return check.least >= LEAST_CHECKED and check.stateless

    def _taken(self, check: LawCheck) -> None:
        """Count what a check of laws cost, and keep what it noticed."""
        self.samples += check.samples
        self.notes += [note for note in check.notes if note not in self.notes]

    # --- by runs

    def _by_runs(self) -> UtilityResult:
        task, options = self.task, self.task.options
        least = FIRST_RUNS + least_runs(self.claim.beta, options.significance)
        if options.budget < least:
            raise InvalidValue(
                "The ",
                Parameter("budget"),
                f" of {options.budget} runs can never refute {self.claim} at significance "
                f"{options.significance:g}: even a learner that always fails takes at least {least}, "
                f"{FIRST_RUNS} of them before the first bet.",
            )
        subject = as_subject(task.subject, alpha=self.claim.alpha, law=self.law, most=task.most)
        with task.sampler(subject) as sampler:
            search = Search(
                sampler,
                task.family,
                self.claim.alpha,
                options.budget,
                task.search_seed(),
                task.deadline,
            )
            looks = search.run()
            betting = UtilityBetting(
                sampler,
                looks,
                self.claim.beta,
                options.significance,
                options.budget,
                deadline=task.deadline,
                until_budget=options.until == "budget",
                against=options.unfinished == "against",
                listener=task.listener,
            )
            betting.run()
            return self._judged(betting, sampler, search.looks)

    def _judged(self, betting: UtilityBetting, sampler: Sampler, looks: list[Look]) -> UtilityResult:
        if betting.silent:
            return self._told(betting, sampler, looks, Verdict.ERROR, reason=betting.silent)
        if betting.conditional:
            databases = self._drawn_databases(betting)
            check = LawCheck(self.task, len(databases) + len(betting.standings))
            trouble = check.on_databases(databases) or check.beside_laws(betting.problems)
            self._taken(check)
            if trouble:
                return self._told(betting, sampler, looks, Verdict.ERROR, reason=trouble)
            if check.open:
                return self._told(betting, sampler, looks, check.verdict, reason=check.open)
        return self._decided(betting, sampler, looks)

    def _decided(self, betting: UtilityBetting, sampler: Sampler, looks: list[Look]) -> UtilityResult:
        """Give the verdict that the bets allow, if new learners confirm it where runs share state."""
        if betting.ran and (betting.refuted or betting.met):
            self.renewal = Renewal(self.task, sampler, betting)
            self.renewal.run()
            if doubt := self.renewal.doubt:
                return self._told(betting, sampler, looks, Verdict.INCONCLUSIVE, reason=doubt)
        if betting.refuted:
            witness = self._witness(betting.worst, sampler)
            return self._told(
                betting,
                sampler,
                looks,
                Verdict.REFUTED,
                witness=witness,
                samples_to_refutation=betting.crossed_at,
            )
        if betting.met:
            return self._told(betting, sampler, looks, Verdict.NOT_REFUTED, met=True)
        witness = self._witness(betting.worst, sampler)
        return self._told(
            betting, sampler, looks, Verdict.INCONCLUSIVE, reason=self._open(betting), witness=witness
        )

    def _open(self, betting: UtilityBetting) -> str:
        """Say why the claim is neither refuted nor met."""
        if betting.log_wealth_with_unfinished >= betting.log_limit:
            return (
                "only unfinished runs speak against the claim: they would refute it if they were failures; "
                'audit with `unfinished="output"` to count them as failures, or raise `run_time_limit`'
            )
        low, high = betting.bounds()
        open_ones = [each.look.name for each in betting.standings if not each.met]
        which = f"`{open_ones[0]}`" if len(open_ones) == 1 else f"{len(open_ones)} problems"
        between = f"between {at_least(low)} and {at_most(high)}{self._needs(betting)}"
        return (
            f"{betting.stopped}, and the claim is neither refuted nor met on {which}: the failure "
            f"probability of the worst problem lies {between}{self._kept(betting)}"
        )

    def _kept(self, betting: UtilityBetting) -> str:
        """Say that the runs were those of one learner that keeps state, which may be why."""
        if not betting.ran or self._how() or not betting.sampler.state_kept():
            return ""
        return "; the learner keeps state: to audit new learners, give `fresh=`"

    def _needs(self, betting: UtilityBetting) -> str:
        """Say what no luck could have done: how many runs without any failure meet the claim."""
        if self.claim.beta < LEAST_BETA:
            return "; no number of runs can show that failures never happen"
        each = least_runs(1.0 - self.claim.beta, self.task.options.significance)
        if each * len(betting.standings) <= self.task.options.budget:
            return ""
        return f"; even without a failure each problem needs {each:,} runs: raise `budget`"

    def _drawn_databases(self, betting: UtilityBetting) -> list[tuple[Any, Any]]:
        """Give databases on which the declared law is compared with the code, the worst problem's first."""
        chosen = [betting.problems[k % len(betting.problems)] for k in range(CHECKED_DATABASES)]
        seed = self.task.options.seed
        return [
            (problem, problem.draw(generator(seed, (LAW, 2**20 + k)))) for k, problem in enumerate(chosen)
        ]

    def _witness(self, standing: Standing, sampler: Sampler) -> UtilityWitness | None:
        """Draw the failure again, with its database and output."""
        trial = standing.failing
        if trial is None:
            return None
        shown = reveal(sampler, standing.look.problem, trial, (CONFIRM, 0))
        if shown is None:
            return None
        again = shown.trial
        if not again.failure:  # of a learner that keeps state: what it gives now is no failure
            self.notes.append("The counted failures do not repeat from their seeds.")
            return None
        return UtilityWitness(
            standing.look.name,
            shown.database,
            shown.output,
            again.error,
            again.failure,
            seed=trial.seed,
            repeats=again.failure == trial.failure,
            source=standing.look.problem,
        )

    def _told(
        self, betting: UtilityBetting, sampler: Sampler, looks: list[Look], verdict: Verdict, **fields: Any
    ) -> UtilityResult:
        low, high = betting.bounds() if self.renewal is None else self.renewal.bounds()
        doubtful, anew = self._state_seen()
        if verdict is Verdict.ERROR:
            low, high = 0.0, 1.0
        self.samples += sampler.drawn
        self.notes += [note for note in sampler.notes if note not in self.notes]
        if betting.changed:
            self.notes.append("The learner changes its database; every run received its own copy.")
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
                    met=each.met and not doubtful,
                )
                for each in betting.standings
            ),
            problems_tried=len(looks),
            family=self.task.family.words(len(looks), len(betting.standings)),
            conditional=betting.conditional,
            unfinished=sampler.unfinished,
            raised=betting.raised,
            log_wealth=betting.log_at_crossing if betting.refuted else betting.log_wealth,
            log_limit=betting.log_limit,
            **fields,
        )

    def _state_seen(self) -> tuple[bool, bool]:
        """Tell whether state leaves the verdict in doubt, and whether bounds are those of new learners."""
        renewal = self.renewal
        doubtful = renewal is not None and bool(renewal.doubt)
        return doubtful, doubtful or (renewal is not None and renewal.how == "fresh")

    def _as(self, verdict: Verdict, evidence: Evidence, **fields: Any) -> UtilityResult:
        task, options = self.task, self.task.options
        return UtilityResult(
            subject=task.subject.name,
            claim=task.claim,
            verdict=verdict,
            evidence=evidence,
            samples=self.samples,
            significance=options.significance,
            seed=options.seed,
            budget=options.budget,
            parameters=dict(task.subject.parameters),
            reference=task.subject.reference,
            assumptions=tuple(self._assumptions(evidence, by_law=fields.get("conditional", False))),
            notes=tuple(self.notes),
            not_tested=("problems outside the family", "sample sizes other than the problems' own"),
            **fields,
        )

    def _assumptions(self, evidence: Evidence, *, by_law: bool) -> list[str]:
        said = ["the error is what each problem's `error` measures"]
        if evidence is Evidence.EXACT or by_law:
            said.append("the declared law, which was compared with runs of the code")
        if evidence is Evidence.STATISTICAL:
            said.append("each problem's `draw` gives independent databases")
            said += ASSUMED[self._how()]
        if not self.task.subject.takes_rng:
            said.append("the learner takes no generator: the seed may not reproduce its runs")
        return said

    def _how(self) -> str:
        """Say how the learner's runs were told to be trials."""
        if self.renewal is not None:
            return "" if self.renewal.doubt else self.renewal.how
        return "renewed" if isinstance(self.task.subject.object, Renewed) else ""


def _exact_witness(worst: ExactFailure) -> UtilityWitness:
    return UtilityWitness(
        worst.problem.name,
        worst.database,
        worst.output,
        worst.error,
        worst.at_database,
        source=worst.problem,
    )
