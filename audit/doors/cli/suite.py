"""The work of ``dp-audit suite``."""

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from audit.catalogue import Entry, matching_entries
from audit.codec.files import Unwritable, check_apart, check_writable, file_name, write_text
from audit.codec.stored import read
from audit.doors.carry_out import audit_by_name, audit_entry, failed_entry
from audit.doors.cli.exits import INTERRUPTED, NOT_DONE, suite_exit_code, worst_exit_code
from audit.doors.cli.reading import read_options
from audit.doors.cli.run import warn
from audit.doors.report_link import render_report
from audit.doors.saved_parts import documents_in, load_attached
from audit.doors.side_by_side import Call, processes_for, side_by_side
from audit.doors.summary import carried_out, line, together, total
from audit.errors import AuditError
from audit.options import Kind, taken
from audit.results.saved import layout
from audit.sampling.remake.digest import digest_of
from audit.sampling.remake.sources import Look, as_now
from audit.task import version_of
from audit.utility.saved import Saved, parse_any
from audit.words.alike import tried

Document = Mapping[str, Any]
"""A result in its JSON form."""


def run_suite(
    pattern: str | None,
    *,
    jobs: int | None = None,
    html: Path | None,
    saved: Path | None,
    attached: Sequence[Path] = (),
    split: bool = False,
    full: bool = False,
    **given: Any,
) -> int:
    """Audit the matching entries in parallel, and return the exit code.

    Every finished audit is kept. Without a pattern, audits that an entry lists as long are carried out only
    if `full` is True.
    """
    entries, beside = matching_entries(pattern), load_attached(attached)
    if saved is None and html is not None:
        saved = html.parent / "results"
    for each in (*attached, None):
        check_apart(html, saved, each)
    if html is not None:
        check_writable(html)
    every = planned(entries)
    audits = [each for each in every if full or pattern or each.kind not in each.entry.long]
    if audits != every:
        left_out = tried(len(every) - len(audits), "audit")
        click.echo(f"{left_out} of more than 10 seconds left out; --full adds them")
    store = Store(saved, [audit.name for audit in audits])
    finished = _audit_all(audits, read_options(given), store, jobs=processes_for(jobs))
    left, unsaved = store.missing(audits), len(store.unsaved)
    more = f"; {len(left)} not audited" if left else ""
    click.echo(total(store.results) + more + (f"; {unsaved} not saved" if unsaved else ""))
    if said := together(store.results):
        click.echo(said)
    if html is not None and store.results:
        render_report(store.documents, html, **beside, not_audited=left, split=split)
        click.echo(f"report: {html}")
    if not finished:
        click.echo(_stopped(len(store.results), len(audits), store), err=True)
        return INTERRUPTED
    code = suite_exit_code(store.results)
    return worst_exit_code([code, NOT_DONE]) if store.unsaved else code


@dataclass(frozen=True)
class Audit:
    """One audit of the suite, with the name of its file."""

    entry: Entry
    kind: Kind
    name: str


def planned(entries: Sequence[Entry]) -> list[Audit]:
    """Return the audits of the entries, each under a unique name."""
    audits: dict[str, Audit] = {}
    for entry in entries:
        for kind in entry.audits:
            name = entry.name if kind == "privacy" else f"{entry.name}-{kind}"
            while name in audits:
                name += "+"
            audits[name] = Audit(entry, kind, name)
    return list(audits.values())


def _stopped(done: int, planned: int, store: "Store") -> str:
    """Return a sentence on how far the suite came, and how to resume."""
    if store.place is None:
        return f"interrupted; {done} of {planned} audits done, none saved; --json FOLDER saves them"
    return f"interrupted; {done} of {planned} audits saved in {store.place}; the same command resumes"


def _audit_all(audits: Sequence[Audit], options: Mapping[str, Any], store: "Store", *, jobs: int) -> bool:
    """Carry out the audits and store the results. Return False if the user stopped this."""
    look = as_now()
    codes = {} if store.place is None else {each.name: code_of(each, options, look) for each in audits}
    named = [(audit.name, codes.get(audit.name)) for audit in audits]
    todo = [index for index, told in enumerate(named) if not store.keep(index, *told)]
    if len(todo) < len(audits):
        click.echo(f"{len(audits) - len(todo)} of {len(audits)} audits were saved before, with the same code")
    for result in store.results:
        click.echo(line(result))
    alone = {**options, "jobs": jobs if len(todo) == 1 else 1}  # each of many audits gets one core

    def call(index: int) -> Call:
        audit = audits[index]
        told = taken(audit.kind, alone)
        return Call(
            here=lambda progress: audit_entry(audit.entry, audit.kind, told, progress=progress),
            there=(audit_by_name, audit.entry.name, audit.kind, told),
            seconds=store.seconds(audit.name),
        )

    def take(number: int, answer: Callable[[], Any]) -> None:
        audit = audits[todo[number]]
        result, document = _result(audit, answer)
        store.add(todo[number], audit.name, result, document, code=codes.get(audit.name))
        click.echo(line(result))
        warn([result])

    before = len(audits) - len(todo)
    return side_by_side([call(index) for index in todo], jobs=jobs, what="audits", take=take, before=before)


def code_of(audit: Audit, options: Mapping[str, Any], look: Look) -> str:
    """Return a digest of everything that determines an audit's result.

    This is the code, the entry, the options and the versions.
    """
    told = audit.kind, audit.entry.factory, audit.entry.options_for(audit.kind), taken(audit.kind, options)
    versions = [version_of(name) for name in ("dp-audit", "numpy", "scipy", "hypothesis")]
    return digest_of(told, versions, platform.python_version(), engine="audit.doors.carry_out", look=look)


def _result(audit: Audit, answer: Callable[[], Any]) -> tuple[Saved, Document]:
    """Return the result of an audit and its document, even if it failed."""
    try:
        found = answer()
    except Exception as error:  # noqa: BLE001  one failure must not lose the other results
        found = failed_entry(audit.entry, audit.kind, error)
    if isinstance(found, dict):  # from another process
        return parse_any(found)[0], found
    return found, found.to_json()


class Store:
    """The results so far, each saved as soon as it exists.

    A folder has a file for each result, or one file has all results. One file also keeps the results of
    audits whose names are not in `planned`.
    """

    def __init__(self, place: Path | None, planned: Sequence[str] = ()) -> None:
        self.place = place
        self.unsaved: list[str] = []
        self._found: dict[int, tuple[Saved, Document]] = {}
        self.one_file = place is not None and place.suffix == ".json" and not place.is_dir()
        if place is not None:
            check_writable(place if self.one_file else place / "_.json")
        self._earlier = self._saved("") if self.one_file else []
        known = {None, *planned}
        self._others = [each for each in self._earlier if each["environment"].get(_NAME) not in known]

    @property
    def results(self) -> list[Saved]:
        """The results in the order of the catalogue."""
        return [result for _, (result, _) in sorted(self._found.items())]

    @property
    def documents(self) -> list[Document]:
        """The saved forms of the results, in the order of the catalogue."""
        return [document for _, (_, document) in sorted(self._found.items())]

    def missing(self, audits: Sequence[Audit]) -> list[str]:
        """Return the names of the audits that have no result."""
        return [audit.name for index, audit in enumerate(audits) if index not in self._found]

    def keep(self, index: int, name: str, code: str | None) -> bool:
        """Return whether an audit has a saved result, which is then used.

        The saved result must have this digest of the code.
        """
        documents = self._earlier if self.one_file else self._saved(name)
        kept = next((each for each in documents if code and each["environment"].get(_CODE) == code), None)
        found = None if kept is None else parse_any(kept)[0]
        if kept is None or found is None or not carried_out(found):
            return False
        self._found[index] = found, kept
        return True

    def _saved(self, name: str) -> list[Document]:
        """Return the documents in the file of an audit.

        The list is empty if the file does not exist or is damaged.
        """
        if self.place is None:
            return []
        return _documents(self.place if self.one_file else self.place / file_name(name))

    def add(
        self, index: int, name: str, result: Saved, document: Document, *, code: str | None = None
    ) -> None:
        """Save the result of the audit at this place in the suite. If saving fails, the suite continues."""
        if code is not None:
            document = {**document, "environment": {**document["environment"], _CODE: code, _NAME: name}}
        self._found[index] = result, document
        try:
            self._write(name, document)
        except Unwritable as error:
            self.unsaved.append(name)
            click.echo(f"{name}: not saved: {error}", err=True)

    def seconds(self, name: str) -> float | None:
        """Return how many seconds the saved audit took; None if unknown."""
        documents = [] if self.one_file else self._saved(name)
        elapsed = documents[0]["environment"].get("elapsed") if documents else None
        return elapsed if isinstance(elapsed, float) and elapsed >= 0 else None

    def _write(self, name: str, document: Document) -> None:
        if self.place is None:
            return
        if self.one_file:
            held = map(layout, [*self.documents, *self._others])
            write_text(self.place, "[\n" + ",\n".join(held) + "\n]\n")
            self.unsaved.clear()
        else:
            write_text(self.place / file_name(name), layout(document) + "\n")


#: Keys in the environment of a result: the digest of `code_of`, and the name of the audit in the suite.
_CODE, _NAME = "code", "audit"


def _documents(path: Path) -> list[Document]:
    """Return the saved results in a file. The list is empty if the file is missing or damaged."""
    try:
        documents = documents_in(read(path))
        for document in documents:
            parse_any(document)
    except (AuditError, ValueError, RecursionError):
        return []
    return [document for document in documents if isinstance(document.get("environment"), dict)]
