"""The findings on a page, with claimed and found values side by side."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard, get_args

from audit.findings import Finding, Judgement, Table, glossary
from audit.findings.saved import from_json
from audit.findings.text import ratio_words
from audit.values import wording

__all__ = ["FindingsPart", "findings_part"]

_SMALL = 100
_KINDS = {"holds": "proved", "loose": "not-refuted", "false": "refuted"}


@dataclass(frozen=True)
class TableView:
    """A table whose cells are all texts.

    The head of each column says whether the column holds numbers.
    """

    caption: str
    columns: tuple[tuple[str, bool], ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class FindingView:
    """One finding, shown as a row of the table and a section.

    `errata` holds pairs (name, anchor or "").
    """

    anchor: str
    finding: Finding
    kind: str
    errata: tuple[tuple[str, str], ...]
    claimed: str
    found: str
    ratio: str
    command: str
    tables: tuple[TableView, ...]


@dataclass(frozen=True)
class FindingsPart:
    """All findings, with counts by judgement and a list of abbreviations."""

    findings: tuple[FindingView, ...]
    counts: tuple[tuple[str, str, int], ...]
    glossary: tuple[tuple[str, str], ...]


def findings_part(documents: Sequence[Mapping[str, Any]]) -> FindingsPart:
    """Return the part of the page on findings, in the order of the documents.

    Examples
    --------
    >>> findings_part([]).findings
    ()
    """
    findings = [from_json(document) for document in documents]
    counts = Counter(finding.judgement for finding in findings)
    anchors = {finding.name: f"finding-{i}" for i, finding in enumerate(findings, start=1)}
    views = tuple(_view(finding, f"finding-{i}", anchors) for i, finding in enumerate(findings, start=1))
    return FindingsPart(
        views,
        tuple((word, _kind(word), counts[word]) for word in get_args(Judgement) if counts[word]),
        glossary(findings),
    )


def _kind(judgement: str) -> str:
    return _KINDS.get(judgement, "inconclusive")


def _view(finding: Finding, anchor: str, anchors: Mapping[str, str]) -> FindingView:
    found, claimed = _number(finding.found), _number(finding.claimed)
    if finding.found is not None and finding.claimed is not None:
        found, claimed = wording.apart(finding.found, finding.claimed)
    return FindingView(
        anchor=anchor,
        finding=finding,
        kind=_kind(finding.judgement),
        errata=tuple((name, anchors.get(name, "")) for name in finding.errata),
        claimed=claimed,
        found=found,
        ratio="" if finding.ratio is None else f"{ratio_words(finding.ratio)}×",
        command=finding.command or f"dp-audit findings '{finding.name}'",
        tables=tuple(map(_table, finding.tables)),
    )


def _table(table: Table) -> TableView:
    columns = tuple(
        (head, any(_is_number(row[i]) for row in table.rows)) for i, head in enumerate(table.columns)
    )
    return TableView(table.caption, columns, tuple(tuple(map(_cell, row)) for row in table.rows))


def _number(value: float | None) -> str:
    return "" if value is None else wording.number(value)


def _cell(value: object) -> str:
    if isinstance(value, int) and _is_number(value):
        return f"{value:,}"
    if not _is_number(value):
        return f"{value}"
    text = wording.number(value)
    whole = text.isdecimal() and not float(value).is_integer() and abs(value) < _SMALL
    return wording.number(value, digits=9) if whole else text  # a value below 1 is not shown as 1


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
