"""Findings as documents that JSON can hold, and back."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from audit.codec.encoding import encode
from audit.codec.typed import SCHEMA, checked, read_document
from audit.errors import InvalidKind
from audit.findings.finding import Finding, Table

_RENAMED = {"statistical": "sampled"}
"""Methods as they were once called."""


def to_json(finding: Finding) -> dict[str, Any]:
    """Return the finding as a document; numbers that are not finite are tagged.

    Examples
    --------
    >>> to_json(Finding("E8", "K08", "√2/s.", "typo", "√2·s."))["finding"]["judgement"]
    'typo'
    """
    stored = {field.name: getattr(finding, field.name) for field in fields(finding)}
    stored["errata"] = list(finding.errata)
    stored["glossary"] = [list(pair) for pair in finding.glossary]
    tables = [{field.name: getattr(table, field.name) for field in fields(table)} for table in finding.tables]
    return {"schema": SCHEMA, "finding": encode(stored | {"tables": tables})}


def from_json(document: Mapping[str, Any]) -> Finding:
    """Return the finding of a document.

    Raises
    ------
    AuditError
        If the document is none of ours; one line.

    Examples
    --------
    >>> one = Finding("E8", "K08", "√2/s.", "typo", "√2·s.", tables=(Table(("s",), ((2.0,),)),))
    >>> from_json(to_json(one)) == one
    True
    """
    return read_document(document, "finding", _finding)


def _finding(stored: dict[str, Any]) -> Finding:
    method = stored.get("method", "exact")
    whole: dict[str, Any] = {
        "tables": tuple(map(_table, stored["tables"])),
        "errata": _as_tuple(stored.get("errata", ())),
        "glossary": tuple(map(_as_tuple, _as_tuple(stored.get("glossary", ())))),
        "method": _RENAMED.get(method, method),
    }
    return Finding(**stored | whole)


def _table(stored: Any) -> Table:
    rows = _as_tuple(stored["rows"])
    if not isinstance(rows, tuple):
        raise InvalidKind("The rows of a `Table` must be a list of rows.")
    whole = stored | {"columns": _as_tuple(stored["columns"]), "rows": tuple(map(_as_tuple, rows))}
    return checked(Table(**whole))


def _as_tuple(value: Any) -> Any:
    """Return a tuple for a list, and anything else as it is."""
    return tuple(value) if isinstance(value, list) else value
