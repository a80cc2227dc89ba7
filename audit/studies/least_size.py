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

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from audit.errors import AuditError
from audit.laws.divergence import TOLERANCE
from audit.results.result import Verdict
from audit.studies.cells import Step
from audit.utility.exact import exceeds
from audit.utility.front import audit_utility

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from audit.studies.cells import StepVerdict
    from audit.studies.study import Curve, Study

#: Runs that an exact failure probability is compared with, at either end of a bracket.
COMPARED = 200
_VERDICTS: dict[Verdict, StepVerdict] = {
    Verdict.REFUTED: "refuted",
    Verdict.NOT_REFUTED: "met",
    Verdict.PROVED: "met",
    Verdict.INCONCLUSIVE: "open",
}


@dataclass(frozen=True)
class Terms:
    """What an audit of a step may spend.

    Parameters
    ----------
    share
        Its part of the significance.
    budget
        Most runs.
    seed
        Of the study.
    path
        Numbers that lead to this cell in the seed tree.
    jobs
        Worker processes.

    Examples
    --------
    >>> Terms(share=1e-6, budget=1000).of_step(0) != Terms(share=1e-6, budget=1000).of_step(1)
    True
    """

    share: float
    budget: int
    seed: int = 0
    path: tuple[int, ...] = ()
    jobs: int = 1

    def of_step(self, number: int) -> int:
        """Return the seed of a step: another one for every step of every cell."""
        import numpy as np

        words = np.random.SeedSequence((self.seed, *self.path, number)).generate_state(2)
        return int(words[0]) << 31 | int(words[1]) >> 1


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


def take_step(study: Study, curve: Curve, *, value: float, size: int, number: int, terms: Terms) -> Step:
    """Return what an audit at this size shows.

    Raises
    ------
    AuditError
        The audit failed; one line.
    """
    if curve.refuses(value, size):
        return Step(size, "refuted", low=1.0, high=1.0, how="refused")
    if curve.failure is not None:
        failure = _failure(study, curve, value=value, size=size)
        verdict: StepVerdict = "refuted" if exceeds(failure, study.claim.beta) else "met"
        return Step(size, verdict, low=failure, high=failure, how="exact")
    result = _audited(
        study, curve, curve.problems, value=value, size=size, number=number, terms=terms, exact=curve.law
    )
    return _step(size, result)


def _failure(study: Study, curve: Curve, *, value: float, size: int) -> float:
    """Return what the closed form says, or refuse what is no probability."""
    assert curve.failure is not None  # no other curve is asked
    failure = float(curve.failure(value, size))
    if not -TOLERANCE <= failure <= 1.0 + TOLERANCE:  # NaN too
        raise AuditError(
            f"The exact failure probability of `{curve.name}` at {study.parameter} = {value:g}, m = {size} "
            f"must be a probability; got {failure:.4g}."
        )
    return min(1.0, max(0.0, failure))


def _step(size: int, result: Any) -> Step:
    return Step(
        size,
        _VERDICTS[result.verdict],
        low=result.beta_lower,
        high=result.beta_upper,
        runs=result.samples,
        how="runs" if result.evidence.value == "statistical" else "exact",
        family=result.family or "",
        worst=result.worst or "",
    )


def search_step(study: Study, curve: Curve, *, value: float, size: int, number: int, terms: Terms) -> Step:
    """Return what an audit of the family of a curve with a closed form shows at this size.

    Raises
    ------
    AuditError
        The audit failed; one line.
    """
    assert curve.family is not None  # no other curve is searched
    result = _audited(
        study, curve, curve.family, value=value, size=size, number=number, terms=terms, exact=False
    )
    return _step(size, result)


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


def compare_with_runs(
    study: Study, curve: Curve, *, value: float, size: int, number: int, terms: Terms
) -> int:
    """Return how many runs of the learner the closed form of its failure agreed with, 0 if none were drawn.

    Raises
    ------
    AuditError
        They disagree: the learner fails more or less often than the closed form says.

    Notes
    -----
    **Guarantee.** Where the closed form is right they are said to disagree with probability at most the two
    audits' shares: each of the two bounds on the failure probability holds at one.
    """
    if curve.failure is None or curve.refuses(value, size) or COMPARED * size > curve.compared:
        return 0
    failure = _failure(study, curve, value=value, size=size)
    result = _audited(
        study,
        curve,
        curve.problems,
        value=value,
        size=size,
        number=number,
        terms=replace(terms, budget=COMPARED),
        exact=False,
        until="budget",
    )
    if not result.beta_lower - TOLERANCE <= failure <= result.beta_upper + TOLERANCE:
        raise AuditError(
            f"The exact failure probability of `{curve.name}` at {study.parameter} = {value:g}, m = {size} "
            f"is {failure:.4g}, but {result.samples} runs of the learner put it between "
            f"{result.beta_lower:.4g} and {result.beta_upper:.4g}."
        )
    return int(result.samples)


def _audited(
    study: Study,
    curve: Curve,
    problems: Callable[[float, int], Any],
    *,
    value: float,
    size: int,
    number: int,
    terms: Terms,
    exact: bool,
    until: str = "decided",
) -> Any:
    result = audit_utility(
        curve.learner(value, size),
        study.claim,
        problems=problems(value, size),
        exact=exact,
        until=until,
        budget=terms.budget,
        run_time_limit=60.0,
        unfinished="output",
        significance=terms.share,
        seed=terms.of_step(number),
        jobs=terms.jobs,
    )
    if result.verdict not in _VERDICTS:
        raise AuditError(
            f"The audit of `{curve.name}` at {study.parameter} = {value:g}, m = {size} "
            f"failed: {result.reason}"
        )
    return result
