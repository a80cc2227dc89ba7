"""The search for the least m at which a claim is met, by sequential bisection.

**The rule.** From a first guess, m is doubled until the claim is met, or halved until it is refuted. The
refuted size and the larger size that met the claim are the ends of the bracket. The bracket is then cut at
their geometric mean. A step is "open" if it neither refutes the claim nor shows it met. The failure
probability is then close to beta. After an open step, the bracket has a side below the open sizes and a side
above them. The wider side is cut. The search ends if the ends of each side are adjacent or within the
resolution. It also ends if no size is left, or after a fixed number of steps.

**Guarantee.** Each step has a share of the significance, fixed before the first step. It also has its own
branch of the seed tree. Given the earlier steps, the chance that a step refutes a true claim is at most its
share. The claim may be false on a listed problem (`audit_utility`). The chance that a step then calls it met
is at most the share too. So the chance that any verdict is wrong is at most the sum of the shares. This holds
for any choice of sizes.

A closed form gives the failure probability on one problem. At the least m that meets the claim by this form,
a family of other problems is searched. If this search refutes the claim, the bisection continues above m. It
then audits the family, and each audit has its own share. The verdicts do not assume that failures become
rarer with more records. A bracket bounds the least m only if they do.
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

#: At each end of a bracket, a closed form is compared with this many runs. More runs find a wrong form more
#: reliably.
COMPARED = 200
#: Number of shares of the significance for comparing a closed form with runs: two comparisons, with two
#: bounds each.
_COMPARISONS = 4
_VERDICTS: dict[Verdict, StepVerdict] = {
    Verdict.REFUTED: "refuted",
    Verdict.NOT_REFUTED: "met",
    Verdict.PROVED: "met",
    Verdict.INCONCLUSIVE: "open",
}


def next_size(
    steps: Sequence[Step], *, start: int, largest: int, resolution: float = 1.1, most: int = 16
) -> int | None:
    """Return the size to try after the steps so far; None if the search is over.

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
    """Return the next size, which cuts the widest side of the bracket.

    The cut is at the geometric mean of the side. Return None if no side is wide enough.
    """
    sides = [(refuted, min(opened)), (max(opened), met)] if opened else [(refuted, met)]
    wide = [(low, high) for low, high in sides if high - low > 1 and high > resolution * low]
    if not wide:
        return None
    low, high = max(wide, key=lambda side: side[1] / side[0])
    return min(max(math.isqrt(low * high), low + 1), high - 1)


def searched(steps: Sequence[Step], found: Step) -> list[Step]:
    """Return the steps that a closed form decided, after a search of other problems.

    `found` is this search, made at the least m of the "met" steps. If it does not refute the claim, the step
    at that m remains "met" on the closed form's problem. The step's `high` becomes the bound that the search
    found on the failure probability of the other problems. This bound is mostly above beta. If the search
    refutes the claim, the closed form does not decide at that m and above. The "met" steps are dropped, and
    audits of the other problems follow.

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
    told: dict[str, Any] = {"runs": found.runs, "family": found.family, "worst": found.worst}
    return [
        replace(step, high=max(step.low, found.high), **told) if step.size == found.size else step
        for step in steps
    ]


def most_audits(study: Study, curve: Curve) -> int:
    """Return the largest number of audits that a cell can take."""
    if curve.failure is None:
        return study.steps
    return _COMPARISONS + (0 if curve.family is None else study.steps)


@dataclass(frozen=True, kw_only=True)
class CellSearch:
    """The search for the least m of one cell.

    Parameters
    ----------
    study, curve, value
        The study, curve and value of the cell.
    path
        The cell's place in the seed tree.
    share
        The share of the significance for each audit.
    budget
        The most runs of an audit; None for the budget of the curve or the study.
    seed
        The seed of the study.
    jobs
        The number of worker processes.
    """

    study: Study
    curve: Curve
    value: float
    path: tuple[int, ...]
    share: float
    budget: int | None
    seed: int
    jobs: int

    def key(self) -> dict[str, Any]:
        """Return what determines the cell's result, except the code."""
        study, curve = self.study, self.curve
        return {
            "study": study.name,
            "curve": curve.name,
            "value": float(self.value),
            "claim": str(study.claim),
            "fixed": study.fixed,
            "budget": self._step_budget,
            "search": 0 if curve.family is None else self._search_budget,
            "largest": study.largest,
            "resolution": study.resolution,
            "steps": study.steps,
            "start": curve.begin(self.value),
            "law": curve.law,
            "compared": curve.compared,
            "path": list(self.path),
            "share": self.share,
            "seed": self.seed,
        }

    @property
    def _step_budget(self) -> int:
        return self.budget or self.curve.budget or self.study.budget

    @property
    def _search_budget(self) -> int:
        return self.budget or self.study.search

    def cell(self, steps: Sequence[Step]) -> Cell:
        """Return the cell with these steps."""
        bound = None if self.curve.bound is None else float(self.curve.bound(self.value))
        return Cell(float(self.value), self.study.place(self.value), bound, tuple(steps))

    def advance(self, steps: Sequence[Step]) -> list[Step] | None:
        """Return the steps after one more audit or exact computation. None if the search is over.

        Raises
        ------
        AuditError
            The audit failed, or runs of the learner contradict a closed form.
        """
        curve, size = self.curve, self._next(steps)
        was_searched = curve.failure is not None and any(step.family for step in steps)
        if size is not None and was_searched:  # a problem of the family refuted the claim
            return [*steps, self._search(size, steps)]
        if size is not None:
            further = [*steps, self.take(size, number=len(steps))]
            if self._next(further) is None:  # compare with runs before the last step is saved
                self._compare(self.cell(further))
            return further
        met = [step.size for step in steps if step.verdict == "met"]
        if curve.failure is None or curve.family is None or was_searched or not met:
            return None
        return searched(steps, self._search(min(met), steps))

    def _next(self, steps: Sequence[Step]) -> int | None:
        study = self.study
        return next_size(
            steps,
            start=self.curve.begin(self.value),
            largest=study.largest,
            resolution=study.resolution,
            most=study.steps,
        )

    def take(self, size: int, *, number: int) -> Step:
        """Return the step at this size, by the closed form or by an audit."""
        curve = self.curve
        if curve.refuses(self.value, size):
            return Step(size, "refuted", low=1.0, high=1.0, how="refused")
        if curve.failure is not None:
            failure = self._failure(size)
            verdict: StepVerdict = "refuted" if exceeds(failure, self.study.claim.beta) else "met"
            return Step(size, verdict, low=failure, high=failure, how="exact")
        result = self._audit(curve.problems, size, number=number, budget=self._step_budget, exact=curve.law)
        return _step(size, result)

    def _search(self, size: int, steps: Sequence[Step]) -> Step:
        """Return the step at this size from an audit of the curve's `family` of problems."""
        assert self.curve.family is not None  # only curves with a family get here
        number = self.study.steps + _COMPARISONS + sum(bool(step.family) for step in steps)
        return _step(size, self._audit(self.curve.family, size, number=number, budget=self._search_budget))

    def _compare(self, cell: Cell) -> None:
        """Raise an error if runs of the learner contradict the closed form.

        Both ends of the bracket are checked. **Guarantee.** If the closed form is right, the error is raised
        with probability at most `_COMPARISONS` shares of the significance. At each end there are two bounds
        on the failure probability. Each bound is wrong with probability at most one share.
        """
        curve = self.curve
        for number, size in enumerate((cell.refuted, cell.met), start=self.study.steps):
            if size is None or curve.failure is None or curve.refuses(self.value, size):
                continue
            if COMPARED * size > curve.compared:
                continue
            failure = self._failure(size)
            result = self._audit(curve.problems, size, number=number, budget=COMPARED, until="budget")
            if not result.beta_lower - TOLERANCE <= failure <= result.beta_upper + TOLERANCE:
                raise AuditError(
                    f"The exact failure probability of {self._place(size)} is {failure:.4g}, but "
                    f"{result.samples} runs of the learner put it between {result.beta_lower:.4g} and "
                    f"{result.beta_upper:.4g}."
                )

    def _failure(self, size: int) -> float:
        """Return the failure probability by the closed form."""
        assert self.curve.failure is not None  # only curves with a closed form get here
        failure = float(self.curve.failure(self.value, size))
        if not -TOLERANCE <= failure <= 1.0 + TOLERANCE:  # also if it is NaN
            raise AuditError(
                f"The exact failure probability of {self._place(size)} must be a probability; "
                f"got {failure:.4g}."
            )
        return min(1.0, max(0.0, failure))

    def _audit(
        self,
        problems: Callable[[float, int], Any],
        size: int,
        *,
        number: int,
        budget: int,
        exact: bool = False,
        until: str = "decided",
    ) -> UtilityResult:
        """Return the result of an audit, whose seed depends on `number`."""
        words = np.random.SeedSequence((self.seed, *self.path, number)).generate_state(2)
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
            seed=int(words[0]) << 31 | int(words[1]) >> 1,
            jobs=self.jobs,
        )
        if result.verdict not in _VERDICTS:
            raise AuditError(f"The audit of {self._place(size)} failed: {result.reason}")
        return result

    def _place(self, size: int) -> str:
        return f"`{self.curve.name}` at {self.study.parameter} = {self.value:g}, m = {size}"


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
