"""What a subject claims, and so which audits it gets; light, for it looks at attributes only."""

from collections.abc import Mapping
from typing import Any

from audit.catalogue import Entry, Kind

#: Keywords that mean the same to `audit_privacy` and `audit_utility`.
SHARED = (
    "convert",
    "fresh",
    "budget",
    "time_limit",
    "run_time_limit",
    "isolate",
    "unfinished",
    "significance",
    "seed",
    "jobs",
    "progress",
)


def claims_utility(subject: Any) -> bool:
    """Tell whether a subject claims utility and has problems to audit that on: a sequence, or `problems()`.

    Examples
    --------
    >>> claims_utility(len)
    False
    """
    return _has(subject, "utility_claim") and _has(subject, "problems")


def _has(subject: Any, name: str) -> bool:
    try:
        return getattr(subject, name, None) is not None
    except Exception:  # noqa: BLE001  a property of the user's may raise anything; the audit will say what
        return True


def claims(subject: Any, options: Mapping[str, Any]) -> list[Kind]:
    """Return the audits that a subject, or an entry, gets with these options of its privacy audit.

    What claims nothing gets a privacy audit, which says that a claim is missing.

    Examples
    --------
    >>> claims(len, {})
    ['privacy']
    """
    if isinstance(subject, Entry):
        return list(subject.audits)
    utility = claims_utility(subject)
    private = "claim" in options or getattr(subject, "claim", None) is not None
    kinds: list[Kind] = ["privacy"] if private or not utility else []
    return [*kinds, "utility"] if utility else kinds


def utility_options(entry: Entry) -> dict[str, Any]:
    """Return the options of an entry's utility audit: its own, and what it shares but the budget.

    Examples
    --------
    >>> entry = Entry("n", lambda: len, options={"budget": 9, "convert": str}, utility={"seed": 1})
    >>> utility_options(entry)
    {'convert': <class 'str'>, 'seed': 1}
    """
    kept = shared(entry.options or {})
    kept.pop("budget", None)  # how many runs a privacy audit needs says nothing of failures
    return {**kept, **(entry.utility or {})}


def shared(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a privacy audit that its utility audit takes too.

    Examples
    --------
    >>> shared({"size": 3, "budget": 100, "until": "budget"})
    {'budget': 100, 'until': 'budget'}
    """
    kept = {name: value for name, value in options.items() if name in SHARED}
    return {**kept, "until": "budget"} if options.get("until") == "budget" else kept
