"""What a subject claims, and so which audits it gets; light, for it looks at attributes only."""

from collections.abc import Mapping
from typing import Any

from audit.catalogue import Entry
from audit.options import Kind


def claims_utility(subject: Any) -> bool:
    """Return whether a subject claims utility and has problems to audit that on: a sequence, or `problems()`.

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
