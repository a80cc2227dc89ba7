"""Read and write saved results. A one-line message names any damage. No incomplete file is ever left."""

import dataclasses
import json
import os
from collections.abc import Mapping
from enum import Enum
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from audit.claims import PrivacyClaim, UtilityClaim
from audit.codec import fields
from audit.codec.fields import listed, member, number, one_of, optional, probability, text, value
from audit.codec.files import write_text
from audit.codec.stored import ForeignClaim, Opaque, dumps, loads, read
from audit.errors import CorruptFile
from audit.events.event import Event
from audit.results.result import SCHEMA, AuditResult, SavedResult, Witness
from audit.results.saved_value import SavedValue, is_saved
from audit.values.brief import show
from audit.values.said import Said


def load(path: str | os.PathLike[str]) -> AuditResult:
    """Return the result saved at `path`.

    Raises
    ------
    CorruptFile
        If the file is missing, unreadable or damaged.

    Examples
    --------
    >>> load("no/such/file.json")
    Traceback (most recent call last):
    audit.errors.CorruptFile: no/such/file.json cannot be read: No such file or directory.
    """
    document = read(path)
    try:
        return parse(document)
    except CorruptFile as error:
        raise CorruptFile(f"{os.fspath(path)}: {error}") from None


def parse(document: str | bytes | Mapping[str, Any], *, cls: type[AuditResult] = AuditResult) -> AuditResult:
    """Return the privacy result that a document holds.

    A document is a text, or what `json.loads` makes of the text.

    Examples
    --------
    >>> parse('{"schema": 1}')
    Traceback (most recent call last):
    audit.errors.CorruptFile: the key "result" is missing: this is not a saved audit result.
    """
    stored = document_of(document)
    if is_utility(stored):
        raise CorruptFile(
            "this is the saved result of a utility audit; read it with UtilityResult.from_json."
        )
    found = contents_of(stored, _RESULT)
    standing = stored.get("standing")  # checked only before another audit continues from it
    if not isinstance(standing, (dict, type(None))):
        raise CorruptFile(f"standing must be an object; got {fields.kind(standing)}.")
    made = cls(**found, _ended=standing)
    if made.witness is not None and not isinstance(made.claim, (PrivacyClaim, ForeignClaim, Opaque)):
        raise CorruptFile(f"result.claim must be a privacy claim; got {show(made.claim, 40)}.")
    return made


def document_of(document: str | bytes | Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the JSON object of a document. A schema that this version cannot read is refused."""
    stored = loads(document) if isinstance(document, (str, bytes)) else document
    if not isinstance(stored, Mapping):
        raise CorruptFile(f"a saved result must be a JSON object; got {fields.kind(stored)}.")
    for key in ("schema", "result"):
        if key not in stored:
            raise CorruptFile(f'the key "{key}" is missing: this is not a saved audit result.')
    if stored["schema"] not in (1, SCHEMA) or isinstance(stored["schema"], bool):
        newest = f"at most {SCHEMA}, the newest this dp-audit reads"
        raise CorruptFile(f"schema must be {newest}; got {fields.got(stored['schema'])}.")
    return stored


def is_utility(stored: Mapping[str, Any]) -> bool:
    """Return whether a document comes from a utility audit."""
    return isinstance(stored["result"], Mapping) and stored["result"].get("kind") == "utility"


def contents_of(stored: Mapping[str, Any], known: fields.Known) -> dict[str, Any]:
    """Return the environment of a document and the fields of its result.

    `known` holds the readers of the fields.
    """
    try:
        found = fields.fields(stored["result"], "result", known)
        found["environment"] = fields.plain_dict(stored.get("environment", {}), "environment")
        if isinstance(found["environment"].get("elapsed"), (int, float)):
            number(found["environment"]["elapsed"], "environment.elapsed")
    except RecursionError:
        raise CorruptFile("nested too deeply.") from None
    return found


def layout(document: Mapping[str, Any]) -> str:
    """Return the text of a document for a file.

    Each field is a line. Equal results give equal bytes.

    Examples
    --------
    >>> print(layout({"schema": 1, "result": {"subject": "m"}, "environment": {}}))
    {
    "schema": 1,
    "result": {
      "subject": "m"
    },
    "environment": {}
    }
    """
    parts = [f"{json.dumps(key)}: {_block(value)}" for key, value in document.items()]
    return "{\n" + ",\n".join(parts) + "\n}"


def save(result: SavedResult, path: str | os.PathLike[str]) -> None:
    """Write the result's document to `path`. If that fails, no incomplete file is left."""
    write_text(path, layout(result.to_json()) + "\n")


def _block(value: Any) -> str:
    if not isinstance(value, dict) or not value or "$" in value:
        return dumps(value)
    return "{\n" + ",\n".join(f"  {json.dumps(key)}: {dumps(item)}" for key, item in value.items()) + "\n}"


def _any_of(kinds: tuple[type, ...], wanted: str) -> fields.Reader:
    """Return a reader of values of these kinds, of None and of unknown classes."""

    def read_one(stored: Any, where: str) -> Any:
        found = value(stored, where)
        if found is not None and not isinstance(found, (*kinds, Opaque)):
            raise CorruptFile(f"{where} must be {wanted}; got {show(found, 40)}.")
        return found

    return read_one


def _witness(stored: Any, where: str) -> Any:
    return _WITNESS(stored, where)  # looked up late, because a witness holds simpler witnesses


def _said(stored: Any, where: str) -> Said:
    """Return a sentence from its saved form, which schema 1 keeps as a text."""
    found = fields.fields(stored, where, _SAID) if isinstance(stored, dict) else {"text": text(stored, where)}
    return Said(**found)


def known_fields(made: type[SavedValue], **special: fields.Reader) -> fields.Known:
    """Return a reader for each saved field of a class.

    It is the reader in `special`, or one chosen by the type.
    """
    types, saved = get_type_hints(made), [each for each in dataclasses.fields(made) if is_saved(each.name)]
    read = {each.name: special.get(each.name) or _by_type(types[each.name]) for each in saved}
    unset = dataclasses.MISSING
    needed = {each.name for each in saved if each.default is unset and each.default_factory is unset}
    return {name: (reader, name in needed) for name, reader in read.items()}


def reads(made: type[SavedValue], **special: fields.Reader) -> fields.Reader:
    """Return a reader of values of a class."""
    known = known_fields(made, **special)

    def read_one(stored: Any, where: str) -> SavedValue:
        found = made(**fields.fields(stored, where, known))
        if not found.is_coherent:
            raise CorruptFile(f"{where} is damaged: its columns do not belong together.")
        return found

    return read_one


def _by_type(kind: Any) -> fields.Reader:
    if kind in _BY_TYPE:
        return _BY_TYPE[kind]
    if get_origin(kind) is tuple:  # a tuple of any length
        return listed(_by_type(get_args(kind)[0]))
    if get_origin(kind) is UnionType:  # such as `int | None`
        return optional(_by_type(get_args(kind)[0]))
    return member(kind) if issubclass(kind, Enum) else reads(kind)


def result_fields(made: type[SavedResult], **special: fields.Reader) -> fields.Known:
    """Return a reader for each saved field of a class of results."""
    return known_fields(made, **_OF_RESULTS, **special)


_SAID = {"kind": (text, True), "text": (text, True)}
#: Readers for some types of fields; `_by_type` handles further types.
_BY_TYPE: dict[Any, fields.Reader] = {
    Any: value,
    str: text,
    bool: fields.flag,
    int: fields.count,
    float: number,
    dict[str, Any]: fields.plain_dict,
    tuple[float, float]: listed(probability, length=2),
    Said: _said,
    Witness: _witness,
}
_OF_RESULTS = {
    "claim": _any_of((PrivacyClaim, UtilityClaim), "a claim"),
    "significance": fields.significance,
    "seed": fields.seed,
    "expected": optional(one_of("refuted", "not refuted")),
}
_WITNESS = reads(
    Witness,
    event=_any_of((Event,), "an event"),
    p=probability,
    q=probability,
    runs=fields.runs,
    direction=one_of("left", "right"),
    confidence=optional(probability),
    seed=optional(fields.seed_path),
    distance=fields.steps,
    examples=listed(listed(text), length=2),
)


def _pairs(stored: Any, where: str) -> tuple[tuple[Any, Any], ...]:
    found = value(stored, where)
    if not isinstance(found, tuple) or not all(isinstance(each, tuple) and len(each) == 2 for each in found):
        raise CorruptFile(f"{where} must be pairs of databases; got {show(found, 40)}.")
    return found


_RESULT = result_fields(AuditResult, remembered=_pairs)
