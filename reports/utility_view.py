"""Utility audits in the page's words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from audit import story, utility_text
from audit.results import Evidence, Verdict

if TYPE_CHECKING:
    from audit.utility_result import ProblemFinding, UtilityResult, UtilityWitness

MOST_DATABASE = 300


@dataclass(frozen=True)
class ProblemView:
    """One problem: a row of its audit's table."""

    name: str
    runs: str
    failures: str
    most: str
    standing: str


@dataclass(frozen=True)
class FailureView:
    """A failure that was drawn: what, from what, how wrong, and the seed that draws it again."""

    problem: str
    database: str
    output: str
    error: str
    seed: str
    remark: str


@dataclass(frozen=True)
class UtilityView:
    """One utility audit: a row of the table and a section."""

    anchor: str
    name: str
    claim: str
    claim_brief: str
    verdict: str
    kind: str  # class of the verdict's mark
    evidence: str
    outcome: str
    sentence: str
    beta_claimed: str
    beta_found: str
    worst: str
    sample_size: str
    runs: str
    failure: FailureView | None
    problems: tuple[ProblemView, ...]
    findings: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]
    not_tested: tuple[str, ...]
    command: str | None
    environment: tuple[tuple[str, str], ...]
    privacy: tuple[str, str, str] | None  # the same subject's privacy: anchor, verdict, class of its mark


def beta_found(result: UtilityResult) -> str:
    """Return what is known of the worst problem's failure probability, short.

    Examples
    --------
    >>> from audit.utility_result import UtilityResult
    >>> met = UtilityResult("m", None, Verdict.NOT_REFUTED, Evidence.STATISTICAL, beta_upper=0.0999)
    >>> beta_found(met)
    '≤ 0.0999'
    """
    if result.verdict is Verdict.ERROR:
        return ""
    if result.evidence is Evidence.EXACT:
        claimed = utility_text.claimed(result)
        found = story.number(result.beta_lower)
        return f"= {story.apart(result.beta_lower, claimed)[0] if result.refuted and claimed else found}"
    if result.refuted:
        return f"≥ {story.at_least(result.beta_lower)}"
    if result.verdict is Verdict.INCONCLUSIVE:
        return f"{story.at_least(result.beta_lower)} to {story.at_most(result.beta_upper)}"
    return f"≤ {story.at_most(result.beta_upper)}"


def problem_view(problem: ProblemFinding) -> ProblemView:
    """Return one problem in the page's words."""
    exact = problem.exact is not None
    bound = problem.exact if exact else problem.upper
    return ProblemView(
        name=story.short(problem.name, 120),
        runs="" if exact else f"{problem.runs:,}",
        failures="" if exact else story.number(problem.failures),
        most="" if bound is None else f"= {story.number(bound)}" if exact else f"≤ {story.at_most(bound)}",
        standing="met" if problem.met else "not met",
    )


def failure_view(witness: UtilityWitness | None) -> FailureView | None:
    """Return a failure in the page's words."""
    if witness is None:
        return None
    remark = "" if witness.repeats is not False else "The seed did not give the same failure again."
    if witness.failure < 1:
        remark = f"On this database the learner fails with probability {story.number(witness.failure)}."
    return FailureView(
        problem=story.short(witness.problem, 120),
        database=story.shown(witness.database, MOST_DATABASE),
        output=story.shown(witness.output, MOST_DATABASE),
        error=story.number(witness.error),
        seed="" if witness.seed is None else str(witness.seed),
        remark=remark,
    )
