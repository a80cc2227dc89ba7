"""Findings as JSON documents, and back."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from audit.codec.encoding import encode
from audit.codec.typed import SCHEMA, built, read_document
from audit.errors import InvalidKind
from audit.findings.finding import Finding, Table

_RENAMED = {"statistical": "sampled"}
"""Former names of methods."""


def to_json(finding: Finding) -> dict[str, Any]:
    """Return the finding as a document, with non-finite numbers tagged.

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
    """Return the finding of a document.

    Raises
    ------
    AuditError
        The document was not written by dp-audit.

    Examples
    --------
    >>> one = Finding("E8", "K08", "√2/s.", "typo", "√2·s.", tables=(Table(("s",), ((2.0,),)),))
    >>> from_json(to_json(one)) == one
    True
    """
    return read_document(document, "finding", _finding)


def _finding(stored: dict[str, Any]) -> Finding:
    method = stored.get("method", "exact")
    return built(
        Finding,
        stored,
        tables=tuple(map(_table, stored["tables"])),
        errata=_as_tuple(stored.get("errata", ())),
        glossary=tuple(map(_as_tuple, _as_tuple(stored.get("glossary", ())))),
        method=_RENAMED.get(method, method),
    )


def _table(stored: Any) -> Table:
    rows = _as_tuple(stored["rows"])
    if not isinstance(rows, tuple):
        raise InvalidKind("The rows of a `Table` must be a list of rows.")
    return built(Table, stored, columns=_as_tuple(stored["columns"]), rows=tuple(map(_as_tuple, rows)))


def _as_tuple(value: Any) -> Any:
    """Return a tuple for a list, and anything else as it is."""
    return tuple(value) if isinstance(value, list) else value
