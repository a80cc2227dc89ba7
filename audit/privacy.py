"""`audit_privacy`, the audit of a privacy claim."""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from audit.claims import check_claim
from audit.databases.domain import describe
from audit.errors import InvalidValue, Parameter, blamed
from audit.options import Options
from audit.relations import Relation, check_relation
from audit.results.remembered import kept, remembering
from audit.results.result import AuditResult
from audit.subject.subject import adapt
from audit.subject.surroundings import own_arithmetic
from audit.task import PrivacyTask, carried_out, check_progress, refuse_inside_given


@own_arithmetic()
def audit_privacy(
    mechanism: Any,
    claim: Any = None,
    *,
    relation: Any = None,
    records: Any = None,
    size: int | tuple[int, int] | None = None,
    databases: Any = None,
    pairs: Iterable[tuple[Any, Any]] | None = None,
    convert: Callable[[Any], Any] | None = None,
    valid: Callable[[Any], bool] | None = None,
    numerics: str = "ideal",
    until: str = "refuted",
    budget: int = 200_000,
    confirm_budget: int | None = None,
    time_limit: float | None = None,
    run_time_limit: float = 10.0,
    isolate: bool = False,
    unfinished: str = "against",
    recorded: bool = True,
    fresh: Callable[[], Any] | None = None,
    name: str | None = None,
    significance: float = 1e-6,
    seed: int = 0,
    jobs: int = 1,
    progress: Callable[[Any], None] | None = None,
    extend: AuditResult | None = None,
    remember: Any = None,
) -> AuditResult:
    """Audit a privacy claim and return a verdict with its evidence.

    Parameters
    ----------
    mechanism
        A callable (database, rng) -> output or (database) -> output. Or a subject object, which may also have
        `claim`, `relation`, `records`, `size`, `databases`, `sample`, `distribution` and `suggested_pairs`.
        It has `symmetric` if its law does not depend on the order of the records.
    claim
        `PureDP(epsilon=...)` or `ApproximateDP(epsilon=..., delta=...)`; by default the subject's own.
    relation
        Which databases are neighbours: by default the subject's own, else `Relation.REPLACE_ONE`.
    records, size
        What one record can be: a finite list, or a Hypothesis strategy. How many records there are: n or
        (least, greatest). Under `Relation.LOCAL` there is one.
    databases
        Instead of `records` and `size`: a Hypothesis strategy for a whole database.
    pairs
        Explicit neighbouring pairs (left, right), tried first. If neither `records`, `size` nor `databases`
        is given, no other pairs are tried.
    convert
        A function that turns the list of records into what the mechanism takes, such as an array.
    valid
        A function that returns whether a database (before `convert`) belongs to the domain. No database
        outside the domain is tried. `lambda database: True` allows every database made of records of the
        strategy. A `databases` strategy may have a rule of its own: it is mapped, filtered, unique or
        composed. Without `valid`, it is then taken to contain only the databases that it has generated.
    numerics
        "ideal": test the mechanism as if it computed with real numbers; "float": also attack the low bits of
        float outputs.
    until
        "refuted": stop at the refutation; "budget": go on, to tighten the bounds.
    budget
        Maximum number of runs of the mechanism, on both sides, including the search and the recorded runs.
        Two kinds of run are not counted: runs that confirm a refutation, and calls of the mechanism that are
        compared with the subject's own `sample`.
    confirm_budget
        Maximum number of runs to confirm a refutation. By default four times the runs that the refutation
        took, at least 20,000. If runs were coupled (`audit.evidence.coupled`), the default is at least
        `budget`. The same evidence takes more independent runs than coupled runs.
    time_limit, run_time_limit
        Limits in seconds: for the audit (checked between batches), and for one run.
    isolate
        Whether to run the subject in a child process. There it may hang or die without ending the audit.
    unfinished
        How a run without an output counts (one that hung or died). "against": against the refutation;
        "output": as an output.
    recorded
        Whether to make extra runs in which the draws from `rng` are recorded. The audit never bets on these
        runs. At the start, two runs on the same draws estimate how promising each pair of databases is. The
        audit ranks the pairs by this estimate (`audit.search.steer`). After a refutation, recorded runs look
        for the error in the mechanism. `result.fault` names it. Recorded runs change no verdict.
    fresh
        A function without arguments that makes a new mechanism for every run. Use it if earlier runs of the
        mechanism change later answers: it has a budget, an accountant or a cache.
    name
        The mechanism's name in results, if its own says little (a lambda, a partial).
    significance
        The audit's error probability: the largest chance of refuting a claim that holds.
    seed
        The seed of all randomness in the audit, a whole number ≥ 0.
    jobs
        Number of worker processes; the result does not depend on it.
    progress
        A function that receives the events of `audit.values.progress`.
    extend
        The result of an earlier audit to continue, read from a file that was saved with
        ``to_json(extend=True)``. `budget` is then the number of runs to add. Code, versions, claim, databases
        and options must be those of the earlier audit.
    remember
        A folder of saved refutations. Suppose a saved refutation names this audit's subject and relation, and
        the domain contains its pair. Then this pair is tried first. A new refutation is saved in the folder.
        The result holds the saved pairs that were tried. To repeat the audit with its seed, pass
        `remember=result.remembered` or the path of the saved result.

    Returns
    -------
    AuditResult
        `str(result)` is the report.

    Raises
    ------
    AuditError
        A bad argument (also a ValueError or TypeError). A fault of the *mechanism* raises no error; the
        verdict reports it.

    Notes
    -----
    **Guarantee.** Suppose the claim holds for every call of the mechanism, given the mechanism's state at the
    call. Then the verdict is not REFUTED with probability at least 1 − significance (see
    `audit.evidence.bets`). REFUTED with EXACT evidence rests on the declared law. Half of the significance is
    spent on comparing this law with runs. The other half is spent on bets on runs of the code
    (`audit.verdict.code_bets`).

    Examples
    --------
    >>> from audit import PureDP, audit_privacy
    >>> def leaky(database, rng):
    ...     return sum(database) + rng.laplace(scale=0.2)
    >>> result = audit_privacy(leaky, PureDP(epsilon=1.0), records=[0, 1], size=3)
    >>> result.verdict.name, result.epsilon_lower > 1
    ('REFUTED', True)
    """
    given = locals()  # the arguments only: no other local variable exists yet
    refuse_inside_given()
    described = make_task(**{name: arg for name, arg in given.items() if name not in {"extend", "remember"}})
    task = remembering(described, remember, extend)
    return kept(carried_out(task, lambda: _dispatch(task, extend)), remember)


def extend(result: AuditResult, *, budget: int, **options: Any) -> AuditResult:
    """Return the result of continuing a finished audit with more runs. See `AuditResult.extend`."""
    from audit.results.going_on import refuse_over

    refuse_inside_given()
    refuse_over(result)
    ended = result._ended  # noqa: SLF001 - a value of ours
    listener = options.pop("progress", None)
    unknown = sorted(set(options) - _OF_A_PART)
    if unknown:
        raise InvalidValue(f"`extend` takes no `{unknown[0]}`: it is that of the audit that goes on.")
    if ended is None or isinstance(ended, dict):
        raise InvalidValue(
            "This result was not made here, so its mechanism is not known: give it to the audit, "
            "`audit_privacy(mechanism, ..., extend=result)`."
        )
    check_progress(listener)
    told = replace(ended.task.options, **{"time_limit": None, **options}, budget=budget)
    task = replace(ended.task, options=told, listener=listener, started=time.monotonic())
    return own_arithmetic()(carried_out)(task, lambda: _dispatch(task, result))


#: Options that `extend` may change, because they change no bet.
_OF_A_PART = {"time_limit", "confirm_budget", "jobs"}


def make_task(
    mechanism: Any,
    claim: Any = None,
    *,
    relation: Any = None,
    records: Any = None,
    size: Any = None,
    databases: Any = None,
    pairs: Any = None,
    convert: Any = None,
    fresh: Any = None,
    name: Any = None,
    valid: Any = None,
    progress: Any = None,
    **told: Any,
) -> PrivacyTask:
    """Return the task of an audit, from the arguments of `audit_privacy`.

    `told` holds the arguments that `Options` takes.

    Raises
    ------
    AuditError
        A bad argument.

    Examples
    --------
    >>> from audit import PureDP
    >>> make_task(lambda database, rng: 0, PureDP(1.0), records=[0, 1], size=2).databases.count()
    4
    """
    options = Options(**told)
    check_progress(progress)
    subject = adapt(mechanism, convert=convert, fresh=fresh, name=name)
    claim = subject.claim if claim is None else claim
    if claim is None:
        raise InvalidValue(
            f"{subject.name} declares no claim; give one, such as ",
            Parameter("claim", example="PureDP(epsilon=1.0)"),
            ".",
        )
    claim = check_claim(claim)
    relation = check_relation(relation or subject.relation or Relation.REPLACE_ONE)
    own = pairs is None or records is not None or databases is not None or size is not None
    if own and databases is None:  # what the caller leaves out comes from the subject
        databases = subject.databases if records is None and pairs is None else None
        records = subject.records if records is None else records
        size = subject.size if size is None else size
    with blamed(f"`suggested_pairs` of {subject.name} failed"):
        suggested = list(subject.suggested_pairs()) if own and subject.suggested_pairs else ()
    domain = describe(
        relation,
        pairs=pairs,
        records=records,
        size=size,
        databases=databases,
        suggested=suggested,
        valid=valid,
    )
    return PrivacyTask(
        subject=subject,
        claim=claim,
        relation=relation,
        databases=domain,
        options=options,
        started=time.monotonic(),
        listener=progress,
    )


def _dispatch(task: PrivacyTask, extended: AuditResult | None) -> AuditResult:
    task = replace(task, started=time.monotonic())  # the audit's time does not include loading our modules
    found = _decided(task, extended)
    if not (found.refuted and task.options.recorded):
        return found
    from audit.faults.examine import fault_behind

    return replace(found, fault=fault_behind(task, found))


def _decided(task: PrivacyTask, extended: AuditResult | None) -> AuditResult:
    from audit.results.going_on import before_of
    from audit.verdict.by_law import audit_by_law
    from audit.verdict.by_runs import audit_by_runs

    if extended is not None:
        return audit_by_runs(task, before_of(extended, task))
    if task.subject.declared_law is not None and task.options.numerics == "ideal":
        found = audit_by_law(task)
        if found is not None:
            return found
    return audit_by_runs(task)
