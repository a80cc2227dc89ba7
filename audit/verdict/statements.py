"""What the results of both paths and of replays say alike: what was asked, and what runs assume."""

from typing import Any

from audit.relations import name_of
from audit.results.result import AuditResult, Evidence, Verdict
from audit.subject.subject import Subject
from audit.task import PrivacyTask

#: What no audit of real numbers looks at, and what none looks at.
FLOATS = 'the floats as returned (numerics="float")'
SIDE_CHANNELS = "timing, memory and other side channels"

REAL_LAWS = "real-number arithmetic: the laws are those of the mechanism without rounding"
NOT_ITS_LAW = "the subject's outputs do not follow its declared law: {}"

#: What a refutation assumes, by how the subject's runs were found to be independent trials.
TRIALS = {
    "fresh": "fresh processes share no noise (through absolute paths or remote services); they confirmed "
    "the refutation, each with its own mechanism",
    "renewed": "the mechanisms made by `fresh=` share no noise (not checked)",
    "stateless": "the subject keeps no state between runs",
    "unchecked": "the subject keeps no noise between calls (not checked: give `fresh=`, or a function that "
    "can be imported)",
}

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
BY_SAMPLE = "fails only when many runs share one call of `sample`: single calls did not confirm it"


def result_of(task: PrivacyTask, verdict: Verdict, evidence: Evidence, **fields: Any) -> AuditResult:
    """Return the result of an audit: what its task says, and the fields that were found."""
    return AuditResult(
        **task.said(),
        relation=name_of(task.relation),
        verdict=verdict,
        evidence=evidence,
        numerics=task.options.numerics,
        expected=task.subject.expected,
        **fields,
    )


def assumed_of_runs(
    subject: Subject, *, how: str, unfinished: int, against: bool, numerics: str
) -> tuple[str, ...]:
    """Return what a verdict by runs assumes.

    Parameters
    ----------
    subject
        What was run.
    how
        How its runs were found to be independent trials, a key of `TRIALS`; empty if nothing crossed.
    unfinished
        How many runs did not finish.
    against
        Whether these count against the refutation.
    numerics
        As in the audit.
    """
    said = ["the claim applies to each call, given the subject's state at that call"]
    said += [TRIALS[how]] if how else []
    if not subject.takes_rng:
        said.append("the subject draws its own randomness: the seed does not reproduce its runs")
    if unfinished:
        counted = "count against the refutation" if against else "are outputs"
        said.append(f"{unfinished} runs did not finish; they {counted}")
    if numerics == "ideal":
        said.append("real-number arithmetic: the low bits of float outputs were not attacked")
    return tuple(said)
