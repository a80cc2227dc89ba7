"""Self-audits as JSON documents, and back."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from audit.codec.encoding import encode
from audit.codec.typed import SCHEMA, built, read_document
from audit.errors import probability
from audit.self_audit.row import Row, SelfAudit


def to_json(result: SelfAudit) -> dict[str, Any]:
    """Return the self-audit as a document, with non-finite numbers tagged.

    Examples
    --------
    >>> to_json(SelfAudit((), "quick", 0, planned=3, level=1e-6))["self_audit"]["extent"]
    'quick'
    """
    stored = asdict(result)
    stored["rows"] = [{**row, "details": [list(pair) for pair in row["details"]]} for row in stored["rows"]]
    stored["errors"] = list(result.errors)
    return {"schema": SCHEMA, "self_audit": encode(stored)}


def from_json(document: Mapping[str, Any]) -> SelfAudit:
    """Return the self-audit of a document.

    Raises
    ------
    AuditError
        The document was not written by dp-audit.

    Examples
    --------
    >>> one = SelfAudit((Row("a", "b", 3, 0.0, details=(("c", "d"),)),), "quick", 0, planned=3, level=1e-6)
    >>> from_json(to_json(one)) == one
    True
    """
    return read_document(document, "self_audit", _result)


def _result(stored: dict[str, Any]) -> SelfAudit:
    errors = stored["errors"]
    result = built(
        SelfAudit,
        stored,
        rows=tuple(map(_row, stored["rows"])),
        errors=tuple(errors) if isinstance(errors, list) else errors,
    )
    probability(result.level, what="The `level`", zero=False, one=False)
    return result


def _row(stored: Any) -> Row:
    details = tuple(tuple(pair) if isinstance(pair, list) else pair for pair in stored["details"])
    return built(Row, stored, details=details)
