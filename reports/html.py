"""One self-contained page from saved results: no network, no script needed, all foreign text escaped."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from audit.codec.files import check_writable, write_text

from .filled import fill
from .report import report

__all__ = ["check_writable", "render", "write_report"]

Documents = Sequence[Mapping[str, Any]]


def render(
    documents: Documents | None = None,
    *,
    findings: Documents | None = None,
    studies: Documents | None = None,
    self_audits: Documents | None = None,
    title: str | None = None,
    not_audited: Sequence[str] = (),
) -> str:
    """Return the page of saved results, findings, studies and self-audits, each in their order.

    Parameters
    ----------
    documents : sequence of mapping, optional
        What `to_json` of results returns, or `json.load` of a saved file; None for a page without audits.
    findings, studies, self_audits : sequence of mapping, optional
        What `to_json` of `audit.findings.saved`, of `audit.studies.saved` and of `audit.self_audit.saved`
        returns; None for a page without them.
    title : str, optional
        Heading of the page, by default one that says what is on it.
    not_audited : sequence of str
        Names of what an interrupted suite left out: the page says so first.

    Raises
    ------
    audit.errors.AuditError
        If a document is damaged.

    Examples
    --------
    >>> "<h1>Two words</h1>" in render([], title="Two words")
    True
    """
    parts = report(
        documents,
        findings=findings,
        studies=studies,
        self_audits=self_audits,
        title=title,
        not_audited=not_audited,
    )
    return fill("report.html", parts)


def write_report(path: str | os.PathLike[str], documents: Documents | None = None, **parts: Any) -> None:
    """Write the page to `path`, whole or not at all; `parts` are the other arguments of `render`.

    `check_writable(path)` tells beforehand if it can be written.

    Raises
    ------
    audit.errors.AuditError
        If the file cannot be written; one line.
    """
    write_text(path, render(documents, **parts))
