"""`audit_utility`, which audits a learner's claim on its problems."""

import time
from collections.abc import Callable
from typing import Any

from audit.claims import UtilityClaim, check_utility_claim
from audit.errors import InvalidValue, Parameter, blamed, flag
from audit.options import OF_BOTH, OneOf, Options
from audit.subject.subject import Subject, adapt
from audit.subject.surroundings import own_arithmetic
from audit.task import carried_out, check_progress, refuse_inside_given
from audit.utility.audit import UtilityAudit
from audit.utility.families import read_problems
from audit.utility.result import UtilityResult
from audit.utility.task import UtilityTask


@own_arithmetic()
def audit_utility(
    learner: Any,
    claim: Any = None,
    *,
    problems: Any = None,
    convert: Callable[[Any], Any] | None = None,
    exact: bool = True,
    until: str = "decided",
    budget: int = 200_000,
    time_limit: float | None = None,
    run_time_limit: float = 10.0,
    isolate: bool = False,
    unfinished: str = "against",
    fresh: Callable[[], Any] | None = None,
    name: str | None = None,
    significance: float = 1e-6,
    seed: int = 0,
    jobs: int = 1,
    progress: Callable[[Any], None] | None = None,
) -> UtilityResult:
    """Return the result of an audit of a learner's claim.

    The claim is that the error is at most alpha, except with probability at most beta.

    Parameters
    ----------
    learner
        A callable (database, rng) -> output or (database) -> output. It may also have `utility_claim`,
        `problems()`, `vary(problem, rng)`, `random(rng)` and `distribution(database)`.
    claim
        `PAC(alpha, beta)`, `Accuracy(alpha, beta)` or similar; by default the subject's `utility_claim`.
    problems
        A sequence of problems (`audit.problems`), a Hypothesis strategy for one, or an object that proposes
        them; by default the subject.
    convert
        Turns a database into the type that the learner takes.
    exact
        If the subject declares a finite exact law, `distribution(database)`, use the law instead of runs.
    until
        With "decided", stop as soon as the claim is refuted or met. With "budget", use the whole budget to
        tighten the bounds.
    budget
        The most runs of the learner, including those of the search. Further runs are not counted. Two runs
        repeat a failure. Up to three quarters of the budget compare a declared law with the code. Another 24
        to 32 runs check whether the learner keeps state. If it does, new learners in fresh processes confirm
        the verdict. This takes at most four times the budget or, if that is more, 20,000 runs.
    time_limit, run_time_limit
        The most seconds for the audit (checked between batches) and for one run.
    isolate
        Run the learner in a child process, so that it may hang or crash.
    unfinished
        With "against", an unfinished run is no evidence for or against the claim. With "output", an
        unfinished run is a failure.
    fresh
        For learners that keep state, a function without arguments that makes a new learner for every run.
    name
        The learner's name in results, for example if the learner is a lambda.
    significance
        The error probability of the audit. It bounds the chance that a true claim is refuted. It also bounds
        the chance that a claim counts as met although it is false on a listed problem.
    seed
        The root of all randomness of the audit, a whole number ≥ 0.
    jobs
        The number of worker processes. The result does not depend on it.
    progress
        Receives the events of `audit.values.progress`.

    Returns
    -------
    UtilityResult
        `str(result)` is the report.

    Raises
    ------
    AuditError
        An argument is wrong, or a problem cannot draw or measure. For `PAC`, finite errors above 1 are wrong
        too. If the *learner* raises, the run is a failure and the audit goes on.

    Notes
    -----
    **Guarantee.** If on every problem the error is above alpha with probability at most beta, the verdict is
    REFUTED with probability at most significance. If on some listed problem that probability is larger than
    beta, the verdict is NOT_REFUTED with probability at most significance (`audit.evidence.failures`).

    A learner may keep state, or draw from other sources than its generator. The claim is then about each
    call, given the learner's state. The verdict stands only if new learners in fresh processes confirm it
    (`audit.utility.renewal`). With `fresh=` the claim is about the first call of a new learner. A claim
    neither refuted nor met is INCONCLUSIVE.

    Examples
    --------
    >>> from audit import Accuracy, audit_utility
    >>> from audit.problems import SampledProblem
    >>> coins = SampledProblem("fair coins", lambda rng: rng.integers(0, 2, 25), lambda p, _: abs(p - 0.5))
    >>> result = audit_utility(lambda database: sum(database) / 25, Accuracy(0.1, 0.1), problems=[coins])
    >>> result.verdict.name, result.beta_lower > 0.1
    ('REFUTED', True)
    """
    given = locals()  # all arguments: nothing else is defined yet
    refuse_inside_given()
    OneOf(("decided", "budget"))(until, what=Parameter("until"))
    flag(exact, what=Parameter("exact"))
    check_progress(progress)
    own = {name: given[name] for name in OF_BOTH}
    options = Options(until="budget" if until == "budget" else "refuted", **own)
    declaring = adapt(learner, convert=convert, name=name)
    task = UtilityTask(
        subject=adapt(declaring, fresh=fresh),
        claim=_claim_of(declaring, claim),
        family=read_problems(problems, subject=declaring.object),
        options=options,
        exact=exact,
        started=time.monotonic(),
        listener=progress,
    )
    return carried_out(task, UtilityAudit(task).result)


def _claim_of(subject: Subject, claim: Any) -> UtilityClaim:
    if claim is None:
        with blamed(f"The `utility_claim` of {subject.name} cannot be read"):
            claim = getattr(subject.object, "utility_claim", None)
    if claim is None:
        raise InvalidValue(
            f"No utility claim: {subject.name} declares none; give one, such as ",
            *(Parameter("claim", example="PAC(alpha=0.1, beta=0.05)"), "."),
        )
    return check_utility_claim(claim)
