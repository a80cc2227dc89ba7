"""One self-contained page from saved results: no network, no script needed, all foreign text escaped."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from audit.codec.files import Unwritable, check_writable, file_name, why, write_text

from .data import extracted
from .filled import fill
from .report import report

__all__ = ["check_writable", "extracted", "render", "write_report"]

Documents = Sequence[Mapping[str, Any]]


def render(
    documents: Documents | None = None,
    *,
    findings: Documents | None = None,
    studies: Documents | None = None,
    self_audits: Documents | None = None,
    title: str | None = None,
    not_audited: Sequence[str] = (),
    pages: Sequence[str] | None = None,
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
    pages : sequence of str, optional
        Where the page of each document is; the audits are then an index of links to these.

    Raises
    ------
    audit.errors.AuditError
        If a document is damaged.

    Examples
    --------
    >>> "<h1>Two words</h1>" in render([], title="Two words")
    True
    """
    parts = {"findings": findings, "studies": studies, "self_audits": self_audits}
    made = report(documents, **parts, title=title, not_audited=not_audited, pages=pages)
    return fill("report.html", made)


def write_report(
    path: str | os.PathLike[str],
    documents: Documents | None = None,
    *,
    split: bool = False,
    **parts: Any,
) -> None:
    """Write the page to `path`, whole or not at all; `check_writable(path)` tells beforehand if it can be.

    `parts` are the other arguments of `render`. With `split`, each audit has a page of its own in the folder
    ``NAME-audits`` beside ``NAME.html``.

    Raises
    ------
    audit.errors.AuditError
        If a file cannot be written; one line.
    """
    pages: list[str] | None = None
    if split and documents is not None:
        folder = Path(path).with_name(f"{Path(path).stem}-audits")
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise Unwritable(f"{folder} cannot be made: {why(error)}.") from None
        files = [file_name(_page(i, each), ending=".html") for i, each in enumerate(documents)]
        pages = [f"{folder.name}/{file}" for file in files]
        for file, document in zip(files, documents, strict=True):
            write_text(folder / file, render([document]))
    write_text(path, render(documents, pages=pages, **parts))


def _page(place: int, document: Mapping[str, Any]) -> str:
    """Return the name of the page of a document: its place, for two audits may have the same subject."""
    held = document.get("result")
    return f"{place + 1:03d}-{held.get('subject', '') if isinstance(held, Mapping) else ''}"
