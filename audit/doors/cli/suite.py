"""The work of ``dp-audit suite``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from audit.catalogue import Entry, matching_entries
from audit.codec.files import Unwritable, check_apart, check_writable, file_name, write_text
from audit.doors.attached import load_attached
from audit.doors.carry_out import audit_entry
from audit.doors.cli.exits import INTERRUPTED, NOT_DONE, suite_exit_code, worst_exit_code
from audit.doors.cli.reading import read_options
from audit.doors.cli.run import warn
from audit.doors.report_link import render_report
from audit.doors.summary import line, together, total
from audit.options import taken
from audit.results.saved import layout, save
from audit.utility.saved import Saved
from audit.values.progress import terminal_progress


def run_suite(
    pattern: str | None,
    *,
    html: Path | None,
    saved: Path | None,
    attached: Sequence[Path] = (),
    **given: Any,
) -> int:
    """Audit the matching entries one by one, losing none that is finished, and return the exit code."""
    entries, beside = matching_entries(pattern), load_attached(attached)
    if saved is None and html is not None:
        saved = html.parent / "results"
    for each in (*attached, None):
        check_apart(html, saved, each)
    store = Store(saved)
    if html is not None:
        check_writable(html)
    finished = _audit_all(entries, read_options(given), store)
    planned = sum(len(entry.audits) for entry in entries)
    left, unsaved = planned - len(store.results), len(store.unsaved)
    more = f"; {left} not audited" if left else ""
    click.echo(total(store.results) + more + (f"; {unsaved} not saved" if unsaved else ""))
    if said := together(store.results):
        click.echo(said)
    if html is not None and store.results:
        documents = [result.to_json() for result in store.results]
        render_report(documents, html, **beside)
        click.echo(f"report: {html}")
    if not finished:
        return INTERRUPTED
    code = suite_exit_code(store.results)
    return worst_exit_code([code, NOT_DONE]) if store.unsaved else code


def _audit_all(entries: list[Entry], options: Mapping[str, Any], store: "Store") -> bool:
    """Fill the store; False when the user stopped it."""
    with terminal_progress() as progress:
        try:
            for entry in entries:
                for kind in entry.audits:
                    result = audit_entry(entry, kind, taken(kind, options), progress=progress)
                    store.add(entry.name if kind == "privacy" else f"{entry.name}-{kind}", result)
                    click.echo(line(result))
                    warn([result])
        except KeyboardInterrupt:
            return False
    return True


class Store:
    """The results so far, each on disk as soon as it exists: in a folder, or in one file of them all."""

    def __init__(self, place: Path | None) -> None:
        self.place = place
        self.results: list[Saved] = []
        self.unsaved: list[str] = []
        self._names: set[str] = set()
        self.one_file = place is not None and place.suffix == ".json" and not place.is_dir()
        if place is not None:
            check_writable(place if self.one_file else place / "_.json")

    def add(self, name: str, result: Saved) -> None:
        """Save the result; if that fails (a full disk), the suite goes on."""
        self.results.append(result)
        while name in self._names:  # an entry may be called what another's utility audit is
            name += "+"
        self._names.add(name)
        try:
            self._write(name, result)
        except Unwritable as error:
            self.unsaved.append(name)
            click.echo(f"{name}: not saved: {error}", err=True)

    def _write(self, name: str, result: Saved) -> None:
        if self.place is None:
            return
        if self.one_file:
            documents = ",\n".join(layout(each.to_json()) for each in self.results)
            write_text(self.place, f"[\n{documents}\n]\n")
            self.unsaved.clear()
        else:
            save(result, self.place / file_name(name))
