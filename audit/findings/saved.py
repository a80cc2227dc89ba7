"""Write findings as JSON documents, and read them back."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from audit.codec.encoding import encode
from audit.codec.typed import SCHEMA, built, read_document
from audit.findings.finding import Finding

_RENAMED = {"statistical": "sampled"}
"""Maps the former name of a method to its present name."""


def to_json(finding: Finding) -> dict[str, Any]:
    """Return the finding as a document. Non-finite numbers are tagged.

    Examples
    --------
    >>> to_json(Finding("E8", "K08", "√2/s.", "typo", "√2·s."))["finding"]["judgement"]
    'typo'
    """
    stored = asdict(finding)
    for name in ("errata", "glossary", "tables"):
        stored[name] = list(stored[name])
    stored["glossary"] = list(map(list, finding.glossary))
    return {"schema": SCHEMA, "finding": encode(stored)}


def from_json(document: Mapping[str, Any]) -> Finding:
    """Return the finding that a document holds.

    Raises
    ------
    AuditError
        The document was not written by dp-audit.

    Examples
    --------
    >>> from audit.findings import Table
    >>> one = Finding("E8", "K08", "√2/s.", "typo", "√2·s.", tables=(Table(("s",), ((2.0,),)),))
    >>> from_json(to_json(one)) == one
    True
    """
    return read_document(document, "finding", _finding)


def _finding(stored: dict[str, Any]) -> Finding:
    method = stored.get("method", "exact")
    return built(Finding, {**stored, "method": _RENAMED.get(method, method)})
