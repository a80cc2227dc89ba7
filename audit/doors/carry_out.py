"""Carry out one audit in the same way for every user interface."""

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from audit.catalogue import Entry, load_catalogue
from audit.claims import PrivacyClaim, UtilityClaim
from audit.doors.formulas import with_formulas
from audit.doors.side_by_side import told_of
from audit.errors import InvalidValue, Parameter
from audit.options import Kind
from audit.privacy import audit_privacy
from audit.results.result import AuditResult, Evidence, Verdict
from audit.utility.front import audit_utility
from audit.utility.result import UtilityResult
from audit.utility.saved import Saved
from audit.values.nearest import near
from audit.values.progress import Listener


def carry_out(
    kind: Kind,
    subject: Any,
    claim: Any = None,
    *,
    options: Mapping[str, Any],
    progress: Listener | None = None,
) -> Saved:
    """Return the result of an audit.

    The audited claim is the first that exists of these: `claim`, ``options["claim"]``, the subject's own.

    Raises
    ------
    AuditError
        A bad argument.

    Examples
    --------
    >>> from audit.claims import PureDP
    >>> options = {"claim": PureDP(1.0), "pairs": [([0], [1])], "budget": 1000}
    >>> carry_out("privacy", lambda database: sum(database), options=options).verdict.name
    'REFUTED'
    """
    front = audit_privacy if kind == "privacy" else audit_utility
    check_keywords(options, front)
    told = {"progress": progress, **options}
    own = told.pop("claim", None)
    result: Saved = front(subject, own if claim is None else claim, **told)
    return result


def check_keywords(options: Iterable[str], *fronts: Callable[..., Any], whose: str = "") -> None:
    """Raise an error unless every option is an option of some audit.

    Parameters
    ----------
    options
        The names of the options.
    fronts
        Functions whose keywords are allowed; by default `audit_privacy` and `audit_utility`.
    whose
        The message begins with this text: the thing that has no such option. By default, the names of
        `fronts`.

    Raises
    ------
    InvalidValue
        An option is unknown; the message suggests the nearest one.

    Examples
    --------
    >>> check_keywords(["bugdet"], audit_privacy)
    Traceback (most recent call last):
    audit.errors.InvalidValue: `audit_privacy` has no option `bugdet`; did you mean `budget`?
    """
    asked = fronts or (audit_privacy, audit_utility)
    known = {name for front in asked for name in list(inspect.signature(front).parameters)[1:]}
    for name in options:
        if name not in known:
            whose = whose or " or ".join(f"`{front.__name__}`" for front in asked)
            raise InvalidValue(f"{whose} has no option ", Parameter(name), near(name, sorted(known)))


def carry_out_entry(entry: Entry, kind: Kind, claim: Any = None, **told: Any) -> Saved:
    """Return the result of auditing an entry's subject. Code and formulas of the entry are compared."""
    made = entry.factory()
    result = with_formulas(carry_out(kind, made, claim, **told), entry, kind, made)
    reference = entry.reference or result.reference
    return dataclasses.replace(result, subject=entry.name, reference=reference)


def audit_entry(
    entry: Entry, kind: Kind, given: Mapping[str, Any], *, progress: Listener | None = None
) -> Saved:
    """Return the result of auditing an entry in a child process.

    If the audit cannot be carried out, the result has the verdict ERROR.

    Examples
    --------
    >>> from audit.catalogue import Entry
    >>> audit_entry(Entry("odd", lambda: len), "privacy", {}).reason
    'len declares no claim; give one, such as `PureDP(epsilon=1.0)`.'
    """
    options = {**entry.options_for(kind), **given, "isolate": True}
    try:
        result = carry_out_entry(entry, kind, options=options, progress=progress)
    except Exception as error:  # noqa: BLE001  one entry that fails must not lose the others
        return failed_entry(entry, kind, error)
    if isinstance(result, AuditResult):
        result = dataclasses.replace(result, _ended=None)  # large, and only `extend` needs it
    return dataclasses.replace(result, target=entry.name, expected=entry.expects(kind))


def audit_by_name(name: str, kind: Kind, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of auditing the entry with this name, as a document."""
    [entry] = [entry for entry in load_catalogue() if entry.name == name]
    return audit_entry(entry, kind, given).to_json()


def failed_entry(entry: Entry, kind: Kind, error: Exception) -> Saved:
    """Return the result of an entry whose audit could not be carried out."""
    made, claims = (AuditResult, PrivacyClaim) if kind == "privacy" else (UtilityResult, UtilityClaim)
    claim, reason = entry.options_for(kind).get("claim"), " ".join(told_of(error).split())
    known = claim if isinstance(claim, claims) else None
    told: dict[str, Any] = {"target": entry.name, "expected": entry.expects(kind)}
    told["reference"] = entry.reference or None
    return made(entry.name, known, Verdict.ERROR, Evidence.STATISTICAL, reason, **told)
