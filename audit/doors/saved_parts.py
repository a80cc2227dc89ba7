"""Read a report, a JSON file or a folder of results."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from audit.codec.stored import dumps, loads, read
from audit.doors.report_link import extract
from audit.errors import AuditError, CorruptFile
from audit.findings import saved as saved_findings
from audit.self_audit import saved as saved_self_audits
from audit.studies import saved as saved_studies
from audit.utility.saved import parse_any

#: For each kind of document: the part of a page to which it belongs, and the function that reads it.
_KINDS: dict[str, tuple[str, Callable[[Any], object]]] = {
    "result": ("documents", parse_any),
    "finding": ("findings", saved_findings.from_json),
    "study": ("studies", saved_studies.from_json),
    "self_audit": ("self_audits", saved_self_audits.from_json),
}
_PARTS = [part for part, _ in _KINDS.values()]


def load_parts(
    paths: Iterable[str | os.PathLike[str]], *, said: Callable[[str], object] = lambda _: None
) -> dict[str, Any]:
    """Return the documents in these files as arguments of `render_report`.

    There is one argument for each kind of document. It is None if no file has a document of its kind. A file
    is a report, of this version or a newer one, or JSON that `--json` saved. A folder stands for all its JSON
    files, sorted by name. The first title found is taken. If several files hold the same audit, the last one
    counts. Then `said` gets a message with the number of such audits.

    Raises
    ------
    AuditError
        A file is missing, damaged or of another kind; the message names it.

    Examples
    --------
    >>> load_parts(["no/such/file.html"])
    Traceback (most recent call last):
    audit.errors.CorruptFile: no/such/file.html cannot be read: No such file or directory.
    """
    found: dict[str, Any] = {}
    left_out = 0
    for path in (each for given in paths for each in _files(Path(given))):
        for name, value in _read(path).items():
            if name == "title":
                found.setdefault(name, value)
            elif value is not None:
                found[name], again = _merged(found.get(name, []), value)
                left_out += again
    if left_out:
        some = "1 result is" if left_out == 1 else f"{left_out} results are"
        said(f"{some} in several files: the last one counts.")
    return {**dict.fromkeys(_PARTS), **found}


def _merged(known: list[Any], more: list[Any]) -> tuple[list[Any], int]:
    """Return earlier documents updated from a new file.

    Also return the number of documents that were replaced.
    """
    later = {*map(_identity, more)}
    kept = [each for each in known if _identity(each) not in later]
    return [*kept, *more], len(known) - len(kept)


def _identity(document: Any) -> str:
    """Return a key that only documents of the same audit share.

    The key holds kind, subject, claim, relation, parameters, seed, target and command. It also holds the
    number that the audit has in its test. A function in a notebook has no target and no command. Its key is
    the whole result.
    """
    if not isinstance(document, dict) or "result" not in document:
        return dumps(document)
    result, environment = document["result"], document.get("environment", {})
    target, command = result.get("target"), environment.get("command")
    named = [result.get(name) for name in ("kind", "subject", "claim", "relation", "parameters", "seed")]
    repeated = [target, command, environment.get("number")]  # a test may make several audits
    return dumps([*named, *repeated] if target or command else result)


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(path.glob("*.json"))
    if not files:
        raise AuditError(f"{path} has no saved results: no file in it ends in .json.")
    return files


def _read(path: Path) -> dict[str, Any]:
    text = read(path)
    try:
        if text.lstrip()[:1] == b"<":
            parts = extract(text.decode("utf-8", "replace"))
            for name, documents in parts.items():
                for document in documents if name in _PARTS else ():
                    _check(document)
            return parts
        parts = {}
        for document in documents_in(text):
            parts.setdefault(_check(document), []).append(document)
    except AuditError as error:
        raise CorruptFile(f"{path}: {error}") from None
    return parts


def documents_in(text: bytes) -> list[Any]:
    """Return the documents in the text of a file. The file holds one document or a list."""
    held = loads(text)
    return held if isinstance(held, list) else [held]


def _check(document: Any) -> str:
    """Return the part of a page to which a document belongs.

    Raise an error if the document cannot be read.
    """
    kind = next((kind for kind in _KINDS if isinstance(document, dict) and kind in document), None)
    if kind is None:
        raise AuditError("it holds something that is not a result, finding, study or self-audit.")
    part, read_document = _KINDS[kind]
    read_document(document)
    return part


def load_attached(paths: Iterable[str | os.PathLike[str]]) -> dict[str, Any]:
    """Return the `findings`, `studies` and `self_audits` in these files.

    A missing kind is None. Each file was saved by `--json` of `dp-audit findings`, `dp-audit study` or
    `dp-audit self-audit`.

    Raises
    ------
    AuditError
        A file is missing, damaged or of another kind; the message names it.

    Examples
    --------
    >>> load_attached(["no/such/file.json"])
    Traceback (most recent call last):
    audit.errors.CorruptFile: no/such/file.json cannot be read: No such file or directory.
    """
    found: dict[str, Any] = dict.fromkeys(part for part in _PARTS if part != "documents")
    for path in map(Path, paths):
        text = read(path)
        try:
            documents = documents_in(text)
        except CorruptFile as error:
            raise CorruptFile(f"{path}: {error}") from None
        for number, document in enumerate(documents, start=1):
            part = _attached(document, f"{path}: document {number}")
            found[part] = [*(found[part] or ()), document]
    return found


def _attached(document: Any, where: str) -> str:
    if not isinstance(document, dict) or not ({*_KINDS} - {"result"}) & {*document}:
        raise AuditError(
            f"{where} is not a finding, study or self-audit; give a file written by "
            "`--json FILE` of `dp-audit findings`, `dp-audit study` or `dp-audit self-audit`."
        )
    try:
        return _check({name: value for name, value in document.items() if name != "result"})
    except AuditError as error:
        raise AuditError(f"{where}: {error}") from None
