"""The least m that meets a claim, by sequential bisection: each step is an audit at a size of its own.

**The rule.** From a first guess m is doubled or halved until one size is refuted and a larger one met; then
the bracket is cut at its geometric middle. A step that shows neither ("open") says that the failure
probability there is close to beta: both sides of the open sizes are then cut in turn, the wider one first.
It ends when the ends of every side are neighbours or within the resolution, when no size is left, or after
so many steps.

**Guarantee.** Each step has a share of the significance that was fixed before the first one, and draws from
a branch of the seed tree that no other step uses. Given the steps before it, it refutes a true claim, or
calls one met that is false on a problem of the list, with probability at most its share (`audit_utility`).
So all verdicts are right but with probability at most the sum of the shares, however the sizes were chosen.
A closed form tells the failure probability on one problem; at the least m that it allows a family of others
is searched. Where that refutes, the bisection goes on above m by audits of the family, each with a share too.
That failing is the rarer the more records there are is assumed only where a bracket is read as one of the
least m; the verdicts do not need it.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audit.errors import AuditError
from audit.laws.divergence import TOLERANCE
from audit.results.result import Evidence, Verdict
from audit.studies.cells import Cell, Step, StepVerdict
from audit.studies.study import Curve, Study
from audit.utility.exact import exceeds
from audit.utility.front import audit_utility
from audit.utility.result import UtilityResult

#: Runs that an exact failure probability is compared with, at either end of a bracket.
COMPARED = 200
#: Shares that the two comparisons of a closed form with runs take, two bounds each.
COMPARISONS = 4
_VERDICTS: dict[Verdict, StepVerdict] = {
    Verdict.REFUTED: "refuted",
    Verdict.NOT_REFUTED: "met",
    Verdict.PROVED: "met",
    Verdict.INCONCLUSIVE: "open",
}


@dataclass(eq=False)
class LeastSize:
    """The search for one least m: of a curve, at a value of the parameter.

    Parameters
    ----------
    study, curve, value
        Where it is sought.
    share
        The part of the significance that each audit has.
    budget
        Most runs of an audit; None for what the study says.
    seed
        Of the study.
    path
        Numbers that lead to this cell in the seed tree.
    jobs
        Worker processes.
    steps
        The steps that were taken, in their order.
    """

    study: Study
    curve: Curve
    value: float
    share: float
    budget: int | None
    seed: int
    path: tuple[int, ...]
    jobs: int
    steps: list[Step]

    @property
    def cell(self) -> Cell:
        """The steps as what is known of the least m."""
        bound = None if self.curve.bound is None else float(self.curve.bound(self.value))
        return Cell(float(self.value), self.study.place(self.value), bound, tuple(self.steps))

    @property
    def step_budget(self) -> int:
        """Most runs of a step."""
        return self.budget or self.curve.budget or self.study.budget

    @property
    def family_budget(self) -> int:
        """Most runs of an audit of the family of a closed form; 0 without a family."""
        return 0 if self.curve.family is None else self.budget or self.study.search

    def advance(self) -> bool:
        """Take the next step; return False where the search is over.

        Raises
        ------
        AuditError
            The audit of the step failed; one line.
        """
        size = self._next()
        if size is None:
            met = self._unsearched()
            if met is None:
                return False
            self.steps = searched(self.steps, self._audit_family(met))
        elif self.curve.failure is not None and self._audits_of_family():
            self.steps.append(self._audit_family(size))  # the family refuted what the closed form allows
        else:
            self.steps.append(self.take_step(size))
            if self._next() is None:
                self._compare()
        return True

    def _next(self) -> int | None:
        study = self.study
        return next_size(
            self.steps,
            start=self.curve.begin(self.value),
            largest=study.largest,
            resolution=study.resolution,
            most=study.steps,
        )

    def _audits_of_family(self) -> int:
        return sum(bool(step.family) for step in self.steps)

    def _unsearched(self) -> int | None:
        """Return the least m that a closed form allows where its family was not yet searched there."""
        has_both = self.curve.failure is not None and self.curve.family is not None
        return self.cell.met if has_both and not self._audits_of_family() else None

    def take_step(self, size: int) -> Step:
        """Return what an audit at this size shows, or the closed form."""
        if self.curve.refuses(self.value, size):
            return Step(size, "refuted", low=1.0, high=1.0, how="refused")
        if self.curve.failure is not None:
            failure = self._failure(self.curve.failure, size)
            verdict: StepVerdict = "refuted" if exceeds(failure, self.study.claim.beta) else "met"
            return Step(size, verdict, low=failure, high=failure, how="exact")
        budget, problems = self.step_budget, self.curve.problems
        return _step(size, self._audited(problems, size, len(self.steps), budget, exact=self.curve.law))

    def _audit_family(self, size: int) -> Step:
        """Return what an audit of the family of a closed form shows at this size."""
        assert self.curve.family is not None  # no other curve is searched
        number = self.study.steps + COMPARISONS + self._audits_of_family()
        result = self._audited(self.curve.family, size, number, self.family_budget, exact=False)
        return _step(size, result)

    def _compare(self) -> None:
        """Compare a closed form with runs at either end of the bracket.

        Raises
        ------
        AuditError
            They disagree: the learner fails more or less often than the closed form says.

        Notes
        -----
        **Guarantee.** Where the closed form is right they are said to disagree with probability at most the
        two audits' shares: each of the two bounds on the failure probability holds at one.
        """
        curve = self.curve
        for place, size in enumerate((self.cell.refuted, self.cell.met)):
            if curve.failure is None or size is None or curve.refuses(self.value, size):
                continue
            if COMPARED * size > curve.compared:
                continue
            failure, number = self._failure(curve.failure, size), self.study.steps + place
            found = self._audited(curve.problems, size, number, COMPARED, exact=False, until="budget")
            if not found.beta_lower - TOLERANCE <= failure <= found.beta_upper + TOLERANCE:
                raise AuditError(
                    f"The exact failure probability of {self._where(size)} is {failure:.4g}, but "
                    f"{found.samples} runs of the learner put it between {found.beta_lower:.4g} and "
                    f"{found.beta_upper:.4g}."
                )

    def _failure(self, failure: Callable[[float, int], float], size: int) -> float:
        """Return what the closed form says, or refuse what is no probability."""
        found = float(failure(self.value, size))
        if not -TOLERANCE <= found <= 1.0 + TOLERANCE:  # NaN too
            raise AuditError(
                f"The exact failure probability of {self._where(size)} must be a probability; "
                f"got {found:.4g}."
            )
        return min(1.0, max(0.0, found))

    def _where(self, size: int) -> str:
        return f"`{self.curve.name}` at {self.study.parameter} = {self.value:g}, m = {size}"

    def _audited(
        self,
        problems: Callable[[float, int], Any],
        size: int,
        number: int,
        budget: int,
        *,
        exact: bool,
        until: str = "decided",
    ) -> UtilityResult:
        result = audit_utility(
            self.curve.learner(self.value, size),
            self.study.claim,
            problems=problems(self.value, size),
            exact=exact,
            until=until,
            budget=budget,
            run_time_limit=60.0,
            unfinished="output",
            significance=self.share,
            seed=self._seed(number),
            jobs=self.jobs,
        )
        if result.verdict not in _VERDICTS:
            raise AuditError(f"The audit of {self._where(size)} failed: {result.reason}")
        return result

    def _seed(self, number: int) -> int:
        """Return the seed of an audit: another one for every audit of every cell."""
        words = np.random.SeedSequence((self.seed, *self.path, number)).generate_state(2)
        return int(words[0]) << 31 | int(words[1]) >> 1


def _step(size: int, result: UtilityResult) -> Step:
    return Step(
        size,
        _VERDICTS[result.verdict],
        low=result.beta_lower,
        high=result.beta_upper,
        runs=result.samples,
        how="runs" if result.evidence is Evidence.STATISTICAL else "exact",
        family=result.family or "",
        worst=result.worst or "",
    )


def searched(steps: list[Step], found: Step) -> list[Step]:
    """Return the steps of a closed form once its family was searched at the least m that they met.

    Unless the search refutes the claim, the step at that m stays met: on the closed form's problem, with what
    the search bounds on the others, `high`, beside it; that is mostly above beta there. If it does,
    nothing is known of that m and above but by audits of the family: what the closed form met there is left
    out, and the bisection goes on.

    Examples
    --------
    >>> steps = [Step(8, "refuted", how="exact"), Step(16, "met", low=0.1, how="exact")]
    >>> [step.verdict for step in searched(steps, Step(16, "open", high=0.2, family="ours"))]
    ['refuted', 'met']
    >>> [(step.size, step.verdict) for step in searched(steps, Step(16, "refuted", family="ours"))]
    [(8, 'refuted'), (16, 'refuted')]
    """
    if found.verdict == "refuted":
        return [*(step for step in steps if step.verdict != "met"), found]
    return [
        replace(
            step,
            high=max(step.low, found.high),
            runs=found.runs,
            family=found.family,
            worst=found.worst,
        )
        if step.size == found.size
        else step
        for step in steps
    ]


def next_size(
    steps: Sequence[Step], *, start: int, largest: int, resolution: float = 1.1, most: int = 16
) -> int | None:
    """Return the size of the next step, None where the search is over: a function of the steps alone.

    Examples
    --------
    >>> next_size([], start=10, largest=100), next_size([Step(10, "refuted")], start=10, largest=100)
    (10, 20)
    >>> next_size([Step(10, "refuted"), Step(20, "met")], start=10, largest=100)
    14
    >>> next_size([Step(10, "refuted"), Step(11, "met")], start=10, largest=100)
    """
    if len(steps) >= most:
        return None
    if not steps:
        return min(max(1, start), largest)
    tried = [step.size for step in steps]
    met = min((step.size for step in steps if step.verdict == "met"), default=None)
    refuted = max((step.size for step in steps if step.verdict == "refuted"), default=None)
    if met is None:
        return None if max(tried) >= largest else min(largest, 2 * max(tried))
    if refuted is None:
        return None if min(tried) <= 1 else min(tried) // 2
    return _cut([step.size for step in steps if step.verdict == "open"], refuted, met, resolution)


def _cut(opened: list[int], refuted: int, met: int, resolution: float) -> int | None:
    """Return the middle of the wider of the two sides that may still be cut."""
    sides = [(refuted, min(opened)), (max(opened), met)] if opened else [(refuted, met)]
    wide = [(low, high) for low, high in sides if high - low > 1 and high > resolution * low]
    if not wide:
        return None
    low, high = max(wide, key=lambda side: side[1] / side[0])
    return min(max(math.isqrt(low * high), low + 1), high - 1)
