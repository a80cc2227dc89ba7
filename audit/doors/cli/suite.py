"""The work of ``dp-audit suite``."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from audit.catalogue import Entry, matching_entries
from audit.codec.files import Unwritable, check_apart, check_writable, file_name, write_text
from audit.codec.stored import read
from audit.doors.attached import load_attached
from audit.doors.carry_out import audit_by_name, audit_entry, failed_entry
from audit.doors.cli.exits import INTERRUPTED, NOT_DONE, suite_exit_code, worst_exit_code
from audit.doors.cli.reading import read_options
from audit.doors.cli.run import warn
from audit.doors.report_link import render_report
from audit.doors.side_by_side import Call, processes_for, side_by_side
from audit.doors.summary import line, together, total
from audit.errors import AuditError
from audit.options import Kind, taken
from audit.results.saved import layout
from audit.utility.saved import Saved, parse_any

Document = Mapping[str, Any]
"""A result as JSON has it."""


def run_suite(
    pattern: str | None,
    *,
    jobs: int | None = None,
    html: Path | None,
    saved: Path | None,
    attached: Sequence[Path] = (),
    **given: Any,
) -> int:
    """Audit the matching entries side by side, losing none that is finished, and return the exit code."""
    entries, beside = matching_entries(pattern), load_attached(attached)
    if saved is None and html is not None:
        saved = html.parent / "results"
    for each in (*attached, None):
        check_apart(html, saved, each)
    store = Store(saved)
    if html is not None:
        check_writable(html)
    audits = planned(entries)
    finished = _audit_all(audits, read_options(given), store, jobs=processes_for(jobs))
    left, unsaved = len(audits) - len(store.results), len(store.unsaved)
    more = f"; {left} not audited" if left else ""
    click.echo(total(store.results) + more + (f"; {unsaved} not saved" if unsaved else ""))
    if said := together(store.results):
        click.echo(said)
    if html is not None and store.results:
        render_report(store.documents, html, **beside)
        click.echo(f"report: {html}")
    if not finished:
        return INTERRUPTED
    code = suite_exit_code(store.results)
    return worst_exit_code([code, NOT_DONE]) if store.unsaved else code


@dataclass(frozen=True)
class Audit:
    """One audit of the suite, and what its file is called."""

    entry: Entry
    kind: Kind
    name: str


def planned(entries: Sequence[Entry]) -> list[Audit]:
    """Return the audits of the entries; an entry may be called what another's utility audit is."""
    audits: dict[str, Audit] = {}
    for entry in entries:
        for kind in entry.audits:
            name = entry.name if kind == "privacy" else f"{entry.name}-{kind}"
            while name in audits:
                name += "+"
            audits[name] = Audit(entry, kind, name)
    return list(audits.values())


def _audit_all(audits: Sequence[Audit], options: Mapping[str, Any], store: "Store", *, jobs: int) -> bool:
    """Fill the store; False when the user stopped it."""
    alone = {**options, "jobs": jobs if len(audits) == 1 else 1}  # many share the cores, each has one

    def call(audit: Audit) -> Call:
        told = taken(audit.kind, alone)
        return Call(
            here=lambda progress: audit_entry(audit.entry, audit.kind, told, progress=progress),
            there=(audit_by_name, audit.entry.name, audit.kind, told),
            seconds=store.seconds(audit.name),
        )

    def take(index: int, answer: Callable[[], Any]) -> None:
        result, document = _result(audits[index], answer)
        store.add(index, audits[index].name, result, document)
        click.echo(line(result))
        warn([result])

    return side_by_side([call(audit) for audit in audits], jobs=jobs, what="audits", take=take)


def _result(audit: Audit, answer: Callable[[], Any]) -> tuple[Saved, Document]:
    """Return the result of an audit and its document; one that was given up has them too."""
    try:
        found = answer()
    except Exception as error:
        if os.environ.get("DP_AUDIT_TRACEBACK"):
            raise
        found = failed_entry(audit.entry, audit.kind, error)
    if isinstance(found, dict):  # it was carried out elsewhere
        return parse_any(found)[0], found
    return found, found.to_json()


class Store:
    """The results so far, each on disk as soon as it exists: in a folder, or in one file of them all."""

    def __init__(self, place: Path | None) -> None:
        self.place = place
        self.unsaved: list[str] = []
        self._found: dict[int, tuple[Saved, Document]] = {}
        self.one_file = place is not None and place.suffix == ".json" and not place.is_dir()
        if place is not None:
            check_writable(place if self.one_file else place / "_.json")

    @property
    def results(self) -> list[Saved]:
        """The results in the order of the catalogue, whichever came first."""
        return [result for _, (result, _) in sorted(self._found.items())]

    @property
    def documents(self) -> list[Document]:
        """The same as they are saved."""
        return [document for _, (_, document) in sorted(self._found.items())]

    def add(self, index: int, name: str, result: Saved, document: Document) -> None:
        """Save the result of the audit with this place in the suite; if that fails, the suite goes on."""
        self._found[index] = result, document
        try:
            self._write(name, document)
        except Unwritable as error:
            self.unsaved.append(name)
            click.echo(f"{name}: not saved: {error}", err=True)

    def seconds(self, name: str) -> float | None:
        """Return how long an audit took when its file was written last; None if that is not known."""
        if self.place is None or self.one_file:
            return None
        try:
            [result] = parse_any(read(self.place / file_name(name)))
        except (AuditError, ValueError):
            return None
        elapsed = result.environment.get("elapsed")
        return elapsed if isinstance(elapsed, float) and elapsed >= 0 else None

    def _write(self, name: str, document: Document) -> None:
        if self.place is None:
            return
        if self.one_file:
            write_text(self.place, "[\n" + ",\n".join(map(layout, self.documents)) + "\n]\n")
            self.unsaved.clear()
        else:
            write_text(self.place / file_name(name), layout(document) + "\n")
