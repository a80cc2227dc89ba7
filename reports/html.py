"""One self-contained page from saved results: no network, no script needed, all foreign text escaped."""

import base64
import hashlib
import os
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.saved import check_writable, parse_any, write_text
from audit.wording import visible

from .view import page

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["check_writable", "fill", "render", "write_report"]

TEMPLATES = Path(__file__).parent / "templates"


def render(documents: Sequence[Mapping[str, Any]], *, title: str = "Privacy audit") -> str:
    """Return the page for the documents of saved results, in their order.

    Parameters
    ----------
    documents : sequence of mapping
        What `to_json` of results returns, or `json.load` of a saved file.
    title : str
        Heading of the page.

    Raises
    ------
    audit.encoding.CorruptFile
        If a document is damaged.

    Examples
    --------
    >>> "<h1>Two words</h1>" in render([], title="Two words")
    True
    """
    results = [result for document in documents for result in parse_any(document)]
    return fill("page.html", page(results, title=title))


def fill(template: str, page: Any) -> str:
    """Return one of our templates filled with what it shows, style and script within."""
    style, script = (_asset(name) for name in ("style.css", "filter.js"))
    own = {"style": style, "script": script, "policy": _policy(style, script)}
    return _environment().get_template(template).render(page=page, **own)


def write_report(
    path: str | os.PathLike[str], documents: Sequence[Mapping[str, Any]], *, title: str = "Privacy audit"
) -> None:
    """Write the page to `path`, whole or not at all; `check_writable(path)` tells beforehand if it can be.

    Raises
    ------
    audit.errors.AuditError
        If the file cannot be written; one line.
    """
    write_text(path, render(documents, title=title))


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(TEMPLATES),  # not by package name: the package may be loaded under another
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )


def _shown(value: Any) -> Any:
    """Make unseen characters (control, bidirectional) of every text visible; escaping follows."""
    return visible(value) if type(value) is str else value


def _asset(name: str) -> Any:
    """Return one of our own files, which is the only text that is not escaped."""
    from markupsafe import Markup

    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))  # noqa: S704 - our own file


def _policy(style: str, script: str) -> str:
    """Return a content policy under which the page's own style and script work, and nothing else does."""
    own = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    return f"default-src 'none'; style-src 'sha256-{own[0]}'; script-src 'sha256-{own[1]}'; base-uri 'none'"
