"""Self-audits on a page, each figure beside its interval and its limit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from audit.self_audit.row import Row, SelfAudit
from audit.self_audit.saved import from_json
from audit.self_audit.text import PURPOSE, limit, measured, small_print, spread, verdict

__all__ = ["SelfAuditsPart", "self_audits_part"]

_KINDS = {True: "not-refuted", False: "refuted", None: "measured"}


@dataclass(frozen=True)
class RowView:
    """A row of a measure's table, and the figures behind the row."""

    row: Row
    kind: str
    measured: str
    spread: str
    limit: str


@dataclass(frozen=True)
class MeasureView:
    """The rows of one measure, and its purpose."""

    anchor: str
    title: str
    purpose: str
    rows: tuple[RowView, ...]

    @property
    def kind(self) -> str:
        """The kind of the worst row."""
        kinds = {view.kind for view in self.rows}
        return next(kind for kind in ("refuted", "not-refuted", "measured") if kind in kinds)

    @property
    def detailed(self) -> tuple[RowView, ...]:
        """The rows whose figures are shown separately."""
        return tuple(view for view in self.rows if view.row.details)


@dataclass(frozen=True)
class SelfAuditView:
    """One self-audit: its overall verdict, and its measures."""

    anchor: str
    title: str
    verdict: str
    small_print: str
    command: str
    errors: tuple[str, ...]
    measures: tuple[MeasureView, ...]


@dataclass(frozen=True)
class SelfAuditsPart:
    """All self-audits, and how many rows keep, break or lack a limit."""

    self_audits: tuple[SelfAuditView, ...]
    counts: tuple[tuple[str, str, int], ...]


def self_audits_part(documents: Sequence[Mapping[str, Any]]) -> SelfAuditsPart:
    """Return the part of the page on self-audits, in the order of the documents.

    Examples
    --------
    >>> self_audits_part([]).self_audits
    ()
    """
    results = [from_json(document) for document in documents]
    rows = [row for result in results for row in result.rows]
    counts = {row.verdict: (row.verdict.lower(), _KINDS[row.kept], 0) for row in rows}
    for row in rows:
        word, kind, count = counts[row.verdict]
        counts[row.verdict] = (word, kind, count + 1)
    views = tuple(_view(result, f"self-audit-{k}") for k, result in enumerate(results, start=1))
    return SelfAuditsPart(views, tuple(counts.values()))


def _view(result: SelfAudit, anchor: str) -> SelfAuditView:
    only = f" {result.parts[0].replace(' ', '-')}" if len(result.parts) == 1 else ""
    options = f"{only}{' --quick' if result.extent == 'quick' else ''} --seed {result.seed}"
    options += f" --cases {result.cases}" if result.cases else ""
    return SelfAuditView(
        anchor=anchor,
        title=f"{result.extent.capitalize()} self-audit, seed {result.seed}",
        verdict=verdict(result),
        small_print=small_print(result),
        command=f"dp-audit self-audit{options}",
        errors=result.errors,
        measures=tuple(
            MeasureView(
                f"{anchor}-{k}",
                part.capitalize(),
                PURPOSE.get(part, ""),
                tuple(_row(row) for row in result.rows if row.part == part),
            )
            for k, part in enumerate(result.parts, start=1)
        ),
    )


def _row(row: Row) -> RowView:
    return RowView(row, _KINDS[row.kept], measured(row), spread(row), limit(row))
