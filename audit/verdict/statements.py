"""The fields and assumptions shared by the results of all kinds of audits.

These are audits by laws, audits by runs, and replays.
"""

from typing import Any

from audit.relations import name_of
from audit.results.result import AuditResult, Evidence, Verdict
from audit.subject.subject import Subject
from audit.task import PrivacyTask
from audit.values.said import Said, Says

NOT_ITS_LAW = "the subject's outputs do not follow its declared law: {}"

HOLDS_DATA = "it holds data that importing or constructing it does not restore"
_FRESH = "give `fresh=`, a function without arguments that makes a new mechanism"
STOPS_ANSWERING = (
    "the mechanism stops answering after a number of runs, and refusals caused by earlier runs are no "
    f"evidence: {_FRESH} for every run"
)
KEPT = (
    "the mechanism keeps noise between calls: the event is more frequent in some fresh processes than in "
    f"others; if this is not intended, {_FRESH}"
)
IN_COMPANY = (
    "fails only when runs share state: fresh processes, each with its own mechanism, did not confirm the "
    f"failure; to audit each run separately, {_FRESH}"
)
UNTOLD = (
    "the outputs never vary on either database; noise drawn once and kept would look the same, and the "
    "mechanism cannot be made anew in a fresh process to check ({}); "
    f"{_FRESH}, or pass a function that can be imported"
)
BY_COUPLED = (
    "fails only where both runs of a pair start from one generator state: independent calls did not confirm "
    "it. There were too few of them (raise `budget`), or the mechanism keeps state between calls"
)
BY_SAMPLE = "fails only when many runs share one call of `sample`: single calls did not confirm it"


def result_of(task: PrivacyTask, verdict: Verdict, evidence: Evidence, **fields: Any) -> AuditResult:
    """Return the result of an audit with the given fields. The fields that the task determines are added."""
    return AuditResult(
        **task.said(),
        relation=name_of(task.relation),
        verdict=verdict,
        evidence=evidence,
        numerics=task.options.numerics,
        expected=task.subject.expected,
        remembered=task.remembered,
        **fields,
    )


def assumed_of_runs(
    subject: Subject, *, how: str, unfinished: int, against: bool, numerics: str
) -> tuple[Said, ...]:
    """Return the assumptions on which a verdict by runs rests.

    Parameters
    ----------
    subject
        The audited subject.
    how
        Why the subject's runs count as independent trials, as in `Judge.how`. Empty if the bets did not
        refute the claim.
    unfinished
        The number of unfinished runs.
    against
        Whether unfinished runs count against a refutation.
    numerics
        The audit's `numerics`.
    """
    said = [Says.EACH_CALL(subject="subject")]
    if how:
        said.append(Says[how.upper()](subject="subject" if how == "stateless" else "mechanism"))
    if not subject.takes_rng:
        said.append(Says.OWN_RANDOMNESS())
    if unfinished:
        counted = Says.UNFINISHED_AGAINST if against else Says.UNFINISHED_OUTPUTS
        said.append(counted(runs=unfinished))
    if numerics == "ideal":
        said.append(Says.LOW_BITS())
    return tuple(said)
