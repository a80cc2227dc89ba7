"""Everything that a page shows, with its table of contents."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from audit.mutation.result import MutationCheck
from audit.utility.saved import Saved, parse_any

from .data import embedded
from .findings import FindingsPart, findings_part
from .self_audit import SelfAuditsPart, self_audits_part
from .studies import StudiesPart, studies_part
from .view import AuditsPart, audits_part

__all__ = ["Chapter", "Report", "report"]

TITLES = {
    "audits": "Privacy audit",
    "findings": "Statements checked",
    "studies": "Least sample sizes",
    "self-audits": "The auditor audited",
}


@dataclass(frozen=True)
class Chapter:
    """A line in the table of contents.

    It has the name of a part, the number of its items, and links (text, anchor) to these.

    A group (title, count, links) shows its links when the reader opens it.
    """

    anchor: str
    title: str
    count: str
    links: tuple[tuple[str, str], ...]
    groups: tuple[tuple[str, int, tuple[tuple[str, str], ...]], ...] = ()


@dataclass(frozen=True)
class Report:
    """All that a page shows.

    A part not asked for is None. If there is only one part, `contents` is empty.
    """

    title: str
    audits: AuditsPart | None
    findings: FindingsPart | None
    studies: StudiesPart | None
    self_audits: SelfAuditsPart | None
    contents: tuple[Chapter, ...]
    data: Any  # the documents, as markup


def report(
    documents: Sequence[Mapping[str, Any]] | None,
    *,
    findings: Sequence[Mapping[str, Any]] | None = None,
    studies: Sequence[Mapping[str, Any]] | None = None,
    self_audits: Sequence[Mapping[str, Any]] | None = None,
    title: str | None = None,
    not_audited: Sequence[str] = (),
    pages: Sequence[str] | None = None,
) -> Report:
    """Return the report of these documents; see `reports.html.render`.

    Examples
    --------
    >>> report([], findings=[]).title
    'Privacy audit'
    """
    audited = None if documents is None else _audits(documents, not_audited, pages)
    found = None if findings is None else findings_part(findings)
    studied = None if studies is None else studies_part(studies)
    checked = None if self_audits is None else self_audits_part(self_audits)
    chapters = [
        *(() if audited is None else (_of_audits(audited),)),
        *(() if found is None else (_of_findings(found),)),
        *(() if studied is None else (_of_studies(studied),)),
        *(() if checked is None else (_of_self_audits(checked),)),
    ]
    given: dict[str, Any] = {"title": title, "documents": documents, "findings": findings, "studies": studies}
    given |= {"self_audits": self_audits, "not_audited": list(not_audited) or None}
    data = embedded({name: value for name, value in given.items() if value is not None})
    if title is None:
        title = _title(audited) or TITLES[chapters[0].anchor if chapters else "audits"]
    contents = tuple(chapters) if len(chapters) > 1 else ()
    return Report(title, audited, found, studied, checked, contents, data)


def _title(part: AuditsPart | None) -> str:
    """Return a heading with the audited subject.

    If there are several subjects, the heading is empty.
    """
    names = {each.name for each in part.audits} if part is not None else set()
    if len(names) != 1:
        return ""
    kinds = sorted({each.what for each in part.audits}) if part is not None else []
    return f"Audit of {names.pop()}: {' and '.join(kinds)}"


def _audits(
    documents: Sequence[Mapping[str, Any]], not_audited: Sequence[str], pages: Sequence[str] | None
) -> AuditsPart:
    """Return the part of the page on audits, with their mutation checks."""
    results: list[Saved] = []
    checks: dict[int, list[str]] = {}
    places: list[str] = []
    for place, document in enumerate(documents):
        first, *beside = parse_any(document)
        stored = document.get("mutation")
        if stored is not None:
            checks[len(results)] = MutationCheck.from_json(first.subject, first.claim, stored=stored).lines
        results += [first, *beside]
        places += [pages[place]] * (1 + len(beside)) if pages else []
    return audits_part(results, checks=checks, not_audited=not_audited, pages=places if pages else None)


def _of_audits(part: AuditsPart) -> Chapter:
    index = (("Index", "index-heading"),) if len(part.audits) > 1 else ()
    each = (("Each audit", "audits-heading"),) if part.audits and not part.split else ()
    return Chapter("audits", "Audits", _many(len(part.audits), "audit"), (*index, *each))


def _of_findings(part: FindingsPart) -> Chapter:
    groups = tuple((word, count, _judged(part, word)) for word, _, count in part.counts)
    links = (("Statements", "statements"), ("Findings", "findings-heading")) if groups else ()
    names = (("Texts and abbreviations", "names"),) if part.glossary else ()
    count = _many(len(part.findings), "statement")
    return Chapter("findings", TITLES["findings"], count, (*links, *names), groups)


def _judged(part: FindingsPart, judgement: str) -> tuple[tuple[str, str], ...]:
    """Return the links to all findings that have this judgement, sorted by name."""
    judged = (view for view in part.findings if view.finding.judgement == judgement)
    return tuple(sorted(((view.finding.name, view.anchor) for view in judged), key=_by_number))


def _of_studies(part: StudiesPart) -> Chapter:
    links = tuple((view.study.name, view.anchor) for view in part.studies)
    return Chapter("studies", TITLES["studies"], _many(len(links), "study", "studies"), links)


def _of_self_audits(part: SelfAuditsPart) -> Chapter:
    links = tuple((view.title, view.anchor) for view in part.self_audits)
    return Chapter("self-audits", TITLES["self-audits"], _many(len(links), "self-audit"), links)


def _by_number(link: tuple[str, str]) -> list[tuple[str, int]]:
    """Return a sort key that puts E2 before E10."""
    return [(text, int(number or 0)) for text, number in re.findall(r"(\D*)(\d*)", link[0])]


def _many(count: int, one: str, more: str = "") -> str:
    return f"{count} {one if count == 1 else more or one + 's'}"
