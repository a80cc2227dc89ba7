"""Utility audits as a page shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from audit.results.result import Evidence, Verdict
from audit.utility import text as utility_text
from audit.values import wording
from audit.words import alike

from .small_print import few_digits

if TYPE_CHECKING:
    from audit.utility.result import ProblemFinding, UtilityResult, UtilityWitness

MOST_DATABASE = 300
REFUTED, UNDECIDED = "refuted", "undecided"


@dataclass(frozen=True)
class ProblemView:
    """One problem: a row of its audit's table."""

    name: str
    runs: str
    failures: str
    bound: str
    standing: str


@dataclass(frozen=True)
class FailureView:
    """A failure that was drawn.

    It has a problem, a database, an output, an error, and the seed that draws it again.
    """

    problem: str
    database: str
    output: str
    error: str
    seed: str
    remark: str


def beta_found(result: UtilityResult) -> str:
    """Return the bounds on the worst problem's failure probability, in short.

    Examples
    --------
    >>> from audit.utility.result import UtilityResult
    >>> met = UtilityResult("m", None, Verdict.NOT_REFUTED, Evidence.STATISTICAL, beta_upper=0.0999)
    >>> beta_found(met)
    '≤ 0.0999'
    """
    if result.verdict is Verdict.ERROR:
        return ""
    if result.evidence is Evidence.EXACT or result.refuted:
        return alike.found_beside(result, result.beta_lower, utility_text.claimed(result))[0]
    if result.verdict is Verdict.INCONCLUSIVE:
        return f"{wording.at_least(result.beta_lower)} to {wording.at_most(result.beta_upper)}"
    return f"≤ {wording.at_most(result.beta_upper)}"


def problem_views(result: UtilityResult) -> tuple[ProblemView, ...]:
    """Return the problems of an audit as a page shows them.

    A refuted problem shows its lower bound.

    Examples
    --------
    >>> from audit.utility.result import ProblemFinding, UtilityResult
    >>> found = (ProblemFinding("heavy", 90, 40.0, 1.0), ProblemFinding("uniform"))
    >>> result = UtilityResult("m", None, Verdict.REFUTED, Evidence.STATISTICAL, worst="heavy",
    ...                        beta_lower=0.25, problems=found)
    >>> [(view.name, view.bound, view.standing) for view in problem_views(result)]
    [('heavy', '≥ 0.25', 'refuted'), ('uniform', '', 'not bet on')]
    """
    order = [REFUTED, UNDECIDED, "met", "not bet on"]
    views = [_problem_view(problem, result) for problem in result.problems]
    return tuple(sorted(views, key=lambda view: order.index(view.standing)))


def _problem_view(problem: ProblemFinding, result: UtilityResult) -> ProblemView:
    exact = problem.exact is not None
    return ProblemView(
        name=wording.short(problem.name, 120),
        runs="" if exact else f"{problem.runs:,}",
        failures="" if exact else wording.number(problem.failures),
        bound=_bound(problem, result),
        standing=_standing(problem, result),
    )


def _bound(problem: ProblemFinding, result: UtilityResult) -> str:
    """Return the bound on a problem's failure probability, or an empty text."""
    if problem.exact is not None or _standing(problem, result) == REFUTED:
        found = result.beta_lower if problem.exact is None else problem.exact
        return alike.found_beside(result, found, utility_text.claimed(result))[0]
    return "" if problem.upper is None or problem.upper >= 1 else f"≤ {wording.at_most(problem.upper)}"


def _standing(problem: ProblemFinding, result: UtilityResult) -> str:
    """Return the verdict on a problem.

    A refutation counts even if the claim was met there before.
    """
    exact = problem.exact is not None
    if result.verdict is Verdict.ERROR or (exact and result.verdict is Verdict.INCONCLUSIVE):
        return UNDECIDED
    if result.refuted and (not problem.met if exact else problem.name == result.worst):
        return REFUTED
    if problem.met:
        return "met"
    return UNDECIDED if exact or problem.runs else "not bet on"


def failure_view(witness: UtilityWitness | None) -> FailureView | None:
    """Return a failure as a page shows it, or None without a failure."""
    if witness is None:
        return None
    remark = ""
    if witness.failure < 1:
        remark = f"On this database the learner fails with probability {wording.number(witness.failure)}."
    return FailureView(
        problem=wording.short(witness.problem, 120),
        database=wording.shown(witness.database, MOST_DATABASE),
        output=few_digits(wording.shown(witness.output, MOST_DATABASE)),
        error=wording.number(witness.error),
        seed=utility_text.seed_words(witness),
        remark=remark,
    )
