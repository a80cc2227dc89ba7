"""The exit codes of ``dp-audit``."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # importing only the constants is fast
    from audit.utility.saved import Saved

NOTHING_REFUTED = 0
REFUTED = 1
USAGE = 2
NOT_DONE = 3
INTERRUPTED = 130


def exit_code(result: "Saved") -> int:
    """Return the exit code of one audit.

    Examples
    --------
    >>> from audit.results.result import AuditResult, Evidence, Verdict
    >>> exit_code(AuditResult("m", None, Verdict.INCONCLUSIVE, Evidence.STATISTICAL))
    3
    """
    names = {"REFUTED": REFUTED, "NOT_REFUTED": NOTHING_REFUTED, "PROVED": NOTHING_REFUTED}
    return names.get(result.verdict.name, NOT_DONE)


def worst_exit_code(codes: Iterable[int]) -> int:
    """Return the exit code of several audits of a subject.

    It is 1 if an audit refutes, else 3 if an audit failed, else 0.

    Examples
    --------
    >>> worst_exit_code([NOTHING_REFUTED, NOT_DONE])
    3
    """
    found = {*codes}
    return next((code for code in (REFUTED, NOT_DONE) if code in found), NOTHING_REFUTED)


def suite_exit_code(results: Iterable["Saved"]) -> int:
    """Return the exit code of a suite.

    It is 1 if a verdict is not the one that its entry expects.

    Examples
    --------
    >>> suite_exit_code([])
    0
    """
    from audit.doors.summary import carried_out, met

    unmet = [result for result in results if not met(result)]
    return worst_exit_code(REFUTED if carried_out(result) else NOT_DONE for result in unmet)
