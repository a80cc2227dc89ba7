"""The run of a self-audit, one measure after another.

**Guarantee.** Each end of each interval is wrong with probability at most ``PAGE / judged rows``. A row fails
only if one particular end is wrong or the auditor breaks a promise. A correct auditor keeps three promises.
It refutes true claims at most as often as it states. Its intervals hold as often as stated. It detects a
detectable ε nine times in ten. By the union bound, the chance that a correct auditor fails any row is at most
`PAGE`. This holds for any dependence between rows.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from audit.errors import AuditError
from audit.privacy import audit_privacy
from audit.self_audit.audits import Auditor, Audits, Sizes, Step
from audit.self_audit.measures import coverage, efficiency, false_alarms, refutations, tightness
from audit.self_audit.row import Row, SelfAudit
from audit.self_audit.subjects.cases import Case, load_cases

#: A bound on the chance that a correct auditor fails any row. A larger bound gives narrower intervals.
PAGE = 1e-4
QUICK = Sizes(
    "quick", audits=10, witnesses=20, detections=20, every=8, controls=20_000, repeats=3, side=20_000
)
FULL = Sizes(
    "full", audits=150, witnesses=200, detections=200, every=1, controls=300_000, repeats=11, side=200_000
)
MEASURES = (false_alarms, refutations, efficiency, tightness, coverage)
PARTS = tuple(measure.PART for measure in MEASURES)

Listener = Callable[[Step | Row], None]


class SelfAuditInterrupted(KeyboardInterrupt):
    """Ctrl-C was pressed. `result` has the finished rows."""

    result = property(lambda self: self.args[0])


def self_audit(
    *,
    sizes: Sizes = FULL,
    seed: int = 0,
    cases: Path | None = None,
    parts: Iterable[str] = PARTS,
    auditor: Auditor = audit_privacy,
    listener: Listener | None = None,
) -> SelfAudit:
    """Run a self-audit of the auditor and return its rows.

    Parameters
    ----------
    sizes
        The extent: `QUICK` or `FULL`.
    seed
        The root of all randomness; the same seed and versions give the same rows.
    cases
        A file of cases for the measure `refutations` (`subjects.cases`); the code in the file is run.
    parts
        The names of the measures to run, from `PARTS`. The level of a row does not depend on this choice.
    auditor
        The auditor under test, called like `audit_privacy`.
    listener
        Called with a `Step` before each audit, and with each `Row` once it is measured.

    Raises
    ------
    SelfAuditInterrupted
        Ctrl-C was pressed; the exception has the finished rows.
    AuditError
        The file is not a file of cases. (An error in an audit is not raised; it is added to `errors` of the
        result.)

    Examples
    --------
    >>> self_audit(parts=()).rows
    ()
    """
    held = {} if cases is None else load_cases(cases)
    planned = judged_rows(held)
    level = PAGE / planned
    audits = Audits(seed, level, auditor, listener, held)
    found: list[Row] = []
    errors: list[str] = []
    named = "" if cases is None else cases.name
    ended = partial(SelfAudit, extent=sizes.extent, seed=seed, planned=planned, level=level, cases=named)
    wanted = frozenset(parts)
    try:
        for measure in MEASURES:
            try:
                for row in measure.rows(audits, sizes) if measure.PART in wanted else ():
                    found.append(row)
                    if listener is not None:
                        listener(row)
            except Exception as error:  # an error in one measure must not stop the others
                if os.environ.get("DP_AUDIT_TRACEBACK"):
                    raise
                said = f"{error}" if isinstance(error, AuditError) else f"{type(error).__name__}: {error}"
                errors.append(f"{measure.PART} was broken off: {' '.join(said.split())}")
    except KeyboardInterrupt:
        raise SelfAuditInterrupted(ended(tuple(found), errors=tuple(errors))) from None
    return ended(tuple(found), errors=tuple(errors))


def judged_rows(cases: Mapping[str, Case]) -> int:
    """Return the number of judged rows of a complete self-audit.

    Examples
    --------
    >>> judged_rows({})
    36
    """
    controls = any(not case.broken for case in cases.values())
    known: int = sum(measure.JUDGED for measure in MEASURES)
    return known + controls
