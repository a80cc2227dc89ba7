"""The only module that makes HTML pages of audits.

It works even if a project has its own package `reports`. `audit` has no import statement for `reports`. It
finds the package that was installed beside it, and recognises that package by a constant. If another package
is called `reports`, it loads ours under another name.
"""

import importlib.metadata
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from audit.entry_points import new_module, spec_of
from audit.errors import AuditError
from audit.subject.surroundings import own_arithmetic

NAME = "reports"
MARK = "DP_AUDIT_REPORT"
_ALIAS = "_dp_audit_reports"  # used where another package is called `reports`


Documents = Sequence[Mapping[str, Any]]


@own_arithmetic()
def render_report(
    documents: Documents | None,
    path: str | os.PathLike[str],
    *,
    findings: Documents | None = None,
    studies: Documents | None = None,
    self_audits: Documents | None = None,
    title: str | None = None,
    not_audited: Sequence[str] = (),
    split: bool = False,
) -> None:
    """Write the page of saved results, findings, studies and self-audits to `path`.

    Parameters
    ----------
    documents : sequence of mapping, optional
        Documents as `AuditResult.to_json` returns them; None for a page without audits.
    path : path
        The file. `audit.codec.files.check_writable` tells beforehand whether it can be written.
    findings, studies, self_audits : sequence of mapping, optional
        Documents as `to_json` of `audit.findings.saved`, `audit.studies.saved` and `audit.self_audit.saved`
        returns them; None for a page without them.
    title : str, optional
        Heading of the page. By default it says what is on the page.
    not_audited : sequence of str
        Names of the audits that an interrupted suite left out.
    split : bool
        Whether each audit has a page of its own, in the folder ``NAME-audits`` beside ``NAME.html``.

    Raises
    ------
    AuditError
        If the page cannot be written, or our package is missing.

    Examples
    --------
    >>> import tempfile
    >>> page = Path(tempfile.mkdtemp()) / "index.html"
    >>> render_report([], page)
    >>> page.read_text(encoding="utf-8")[:15]
    '<!DOCTYPE html>'
    """
    parts = {"findings": findings, "studies": studies, "self_audits": self_audits}
    _module("html").write_report(path, documents, **parts, title=title, not_audited=not_audited, split=split)


def extract(page: str) -> dict[str, Any]:
    """Return the documents and the title that a page was made from.

    They are arguments of `render_report`.

    Raises
    ------
    CorruptFile
        The page holds no results, or damaged ones.
    """
    found: dict[str, Any] = _module("data").extracted(page)
    return found


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"{_package().__name__}.{name}")


def _package() -> ModuleType:
    """Return our package, even if another package has its name.

    Raise an error if ours is missing or replaced.
    """
    if _ALIAS in sys.modules:
        return sys.modules[_ALIAS]
    spec = spec_of(NAME)  # found without running it
    named = Path(spec.origin).resolve() if spec is not None and spec.origin else None
    for place in _places():
        if place.is_file():
            ours = importlib.import_module(NAME) if named == place else _load(place)
            if getattr(ours, MARK, None) == 1:
                return ours
            named = place
    if named is None:
        raise AuditError("The package `reports` of dp-audit is missing; reinstall dp-audit.")
    raise AuditError(
        f"Another package, {named}, has replaced the package `reports` of dp-audit; reinstall dp-audit."
    )


def _places() -> Iterator[Path]:
    """Yield the places where our package may be.

    The first is beside `audit`, the second in the installed distribution.
    """
    yield Path(__file__).resolve().parents[2] / NAME / "__init__.py"
    try:
        files = importlib.metadata.files("dp-audit") or ()
    except importlib.metadata.PackageNotFoundError:
        return
    for file in files:
        if file.parts == (NAME, "__init__.py"):
            yield Path(str(file.locate())).resolve()


def _load(place: Path) -> ModuleType:
    """Return the package at `place`, loaded under another name."""
    module, run = new_module(_ALIAS, place, parts=[str(place.parent)])
    run()
    if getattr(module, MARK, None) != 1:
        del sys.modules[_ALIAS]
    return module
