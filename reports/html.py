"""One self-contained page from saved results.

The page needs no network and no script. Foreign text is escaped.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

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
    index: str = "",
) -> str:
    """Return the page of saved results, findings, studies and self-audits.

    Each kind is in the given order.

    Parameters
    ----------
    documents : sequence of mapping, optional
        Documents as `to_json` of a result or `json.load` of a saved file returns them; None for a page
        without audits.
    findings, studies, self_audits : sequence of mapping, optional
        Documents as `to_json` of `audit.findings.saved`, `audit.studies.saved` and `audit.self_audit.saved`
        returns them; None for a page without them.
    title : str, optional
        Heading of the page. By default it says what is on the page.
    not_audited : sequence of str
        Names of the audits that an interrupted suite left out. The page begins with these.
    pages : sequence of str, optional
        The address of each document's page. The part on audits is then an index with links to these pages.
    index : str
        The address of the index of such pages, for a link to it; empty without an index.

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
    return fill("report.html", made, index=index)


def write_report(
    path: str | os.PathLike[str],
    documents: Documents | None = None,
    *,
    split: bool = False,
    **parts: Any,
) -> None:
    """Write the page to `path`, completely or not at all.

    `parts` are the other arguments of `render`. With `split`, each audit has a separate page in the folder
    ``NAME-audits`` beside ``NAME.html``. `check_writable(path)` tells beforehand whether the file can be
    written.

    Raises
    ------
    audit.errors.AuditError
        If a file cannot be written.
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
            write_text(folder / file, render([document], index=f"../{quote(Path(path).name)}"))
    write_text(path, render(documents, pages=pages, **parts))


def _page(place: int, document: Mapping[str, Any]) -> str:
    """Return the name of a document's page, which starts with a number."""
    held = document.get("result")
    return f"{place + 1:03d}-{held.get('subject', '') if isinstance(held, Mapping) else ''}"
