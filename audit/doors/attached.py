"""Saved findings, studies and self-audits that a report shows beside its audits, checked beforehand."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from audit.codec.stored import loads, read
from audit.errors import AuditError, CorruptFile
from audit.findings import saved as saved_findings
from audit.self_audit import saved as saved_self_audits
from audit.studies import saved as saved_studies

_READERS = {
    "finding": saved_findings.from_json,
    "study": saved_studies.from_json,
    "self_audit": saved_self_audits.from_json,
}


def load_attached(paths: Iterable[str | os.PathLike[str]]) -> dict[str, Any]:
    """Return the `findings`, `studies` and `self_audits` in files, each in order; None where there are none.

    A file is what `--json` of `dp-audit findings`, `dp-audit study` or `dp-audit self-audit` saves.

    Raises
    ------
    AuditError
        A file is missing, damaged or something else; the message names it.

    Examples
    --------
    >>> load_attached(["no/such/file.json"])
    Traceback (most recent call last):
    audit.errors.CorruptFile: no/such/file.json cannot be read: No such file or directory.
    """
    found: dict[str, list[Mapping[str, Any]]] = {kind: [] for kind in _READERS}
    for path in map(Path, paths):
        for number, document in enumerate(_documents(path), start=1):
            found[_kind(document, path, number)].append(document)
    return {
        "findings": found["finding"] or None,
        "studies": found["study"] or None,
        "self_audits": found["self_audit"] or None,
    }


def _documents(path: Path) -> list[Any]:
    text = read(path)
    try:
        held = loads(text)
    except CorruptFile as error:
        raise CorruptFile(f"{path}: {error}") from None
    return held if isinstance(held, list) else [held]


def _kind(document: Any, path: Path, number: int) -> str:
    """Return what a document is, once it has been read as that."""
    kind = next((kind for kind in _READERS if isinstance(document, dict) and kind in document), None)
    if kind is None:
        raise AuditError(
            f"{path}: document {number} is no finding, study or self-audit; give a file written by "
            "`--json FILE` of `dp-audit findings`, `dp-audit study` or `dp-audit self-audit`."
        )
    try:
        _READERS[kind](document)
    except AuditError as error:
        raise AuditError(f"{path}: document {number}: {error}") from None
    return kind
