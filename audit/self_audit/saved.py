"""Convert self-audits to JSON documents and back."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from audit.codec.typed import as_document, built, read_document
from audit.self_audit.row import SelfAudit


def to_json(result: SelfAudit) -> dict[str, Any]:
    """Return the self-audit as a document. Infinite numbers and NaN are tagged.

    Examples
    --------
    >>> to_json(SelfAudit((), "quick", 0, planned=3, level=1e-6))["self_audit"]["extent"]
    'quick'
    """
    return as_document("self_audit", result)


def from_json(document: Mapping[str, Any]) -> SelfAudit:
    """Return the self-audit that a document holds.

    Raises
    ------
    AuditError
        The document was not written by dp-audit.

    Examples
    --------
    >>> from audit.self_audit.row import Row
    >>> one = SelfAudit((Row("a", "b", 3, 0.0, details=(("c", "d"),)),), "quick", 0, planned=3, level=1e-6)
    >>> from_json(to_json(one)) == one
    True
    """
    return read_document(document, "self_audit", partial(built, SelfAudit))
