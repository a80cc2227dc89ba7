"""The claims of a subject, which decide how to audit it."""

from collections.abc import Mapping
from typing import Any

from audit.catalogue import Entry
from audit.options import Kind


def claims_utility(subject: Any) -> bool:
    """Return whether a subject has a utility claim and problems to test it.

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
    """Return the kinds of audit that apply to a subject or entry.

    `options` are those of its privacy audit. A subject without a claim gets a privacy audit, which reports
    the missing claim.

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
