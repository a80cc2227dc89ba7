"""Saved results: read back with any damage named in one line, written so that no file is ever half there."""

import json
import os
from collections.abc import Mapping
from typing import Any, TypeVar

from audit import fields
from audit.brief import show
from audit.claims import PrivacyClaim, UtilityClaim
from audit.encoding import CorruptFile, dumps, is_event
from audit.fields import (
    listed,
    member,
    number,
    one_of,
    optional,
    plain_dict,
    probability,
    readers,
    text,
    value,
)
from audit.files import check_writable, write_text
from audit.results import SCHEMA, AuditResult, Evidence, Verdict, Witness
from audit.stored import ForeignClaim, Opaque, loads, read
from audit.utility.result import ProblemFinding, UtilityResult, UtilityWitness

__all__ = [
    "Saved",
    "check_writable",
    "layout",
    "load",
    "parse",
    "parse_any",
    "parse_utility",
    "save",
    "write_text",
]

R = TypeVar("R", bound=AuditResult)
U = TypeVar("U", bound=UtilityResult)
Saved = AuditResult | UtilityResult


def load(path: str | os.PathLike[str]) -> AuditResult:
    """Return the result saved at `path`.

    Raises
    ------
    CorruptFile
        If the file is missing, unreadable or damaged; one line that names the file and the place.

    Examples
    --------
    >>> load("no/such/file.json")
    Traceback (most recent call last):
    audit.stored.CorruptFile: no/such/file.json cannot be read: No such file or directory.
    """
    document = read(path)
    try:
        return parse(document)
    except CorruptFile as error:
        raise CorruptFile(f"{os.fspath(path)}: {error}") from None


def parse(document: str | bytes | Mapping[str, Any], *, cls: type[R] | None = None) -> R:
    """Return the privacy result in a document (its text, or what `json.loads` made of it).

    Examples
    --------
    >>> parse('{"schema": 1}')
    Traceback (most recent call last):
    audit.stored.CorruptFile: the key "result" is missing: this is no saved audit result.
    """
    stored = _document(document)
    if _is_utility(stored):
        raise CorruptFile("this is the saved result of a utility audit; read it by UtilityResult.from_json.")
    made: Any = (cls or AuditResult)(**_contents(stored, _RESULT))
    if made.witness is not None and not isinstance(made.claim, (PrivacyClaim, ForeignClaim, Opaque)):
        raise CorruptFile(f"result.claim must be a privacy claim; got {show(made.claim, 40)}.")
    return made  # type: ignore[no-any-return]


def parse_utility(document: str | bytes | Mapping[str, Any], *, cls: type[U] | None = None) -> U:
    """Return the utility result in a document (its text, or what `json.loads` made of it).

    Examples
    --------
    >>> parse_utility('{"schema": 1, "result": {"subject": "m"}}')
    Traceback (most recent call last):
    audit.stored.CorruptFile: this is the saved result of a privacy audit; read it by AuditResult.from_json.
    """
    stored = _document(document)
    if not _is_utility(stored):
        raise CorruptFile("this is the saved result of a privacy audit; read it by AuditResult.from_json.")
    found = _contents(stored, _UTILITY)
    del found["kind"]
    made: Any = (cls or UtilityResult)(**found)
    return made  # type: ignore[no-any-return]


def parse_any(document: str | bytes | Mapping[str, Any]) -> list[Saved]:
    """Return what a document holds: its result, and that of the utility audit which it may carry beside it.

    Examples
    --------
    >>> from audit.results import AuditResult, Evidence, Verdict
    >>> document = AuditResult("m", None, "", Verdict.ERROR, Evidence.EXACT).to_json()
    >>> [result.subject for result in parse_any(document)]
    ['m']
    """
    stored = _document(document)
    first: Saved = parse_utility(stored) if _is_utility(stored) else parse(stored)
    beside = stored.get("utility")
    return [first] if beside is None else [first, parse_utility(beside)]


def _document(document: str | bytes | Mapping[str, Any]) -> Mapping[str, Any]:
    stored = loads(document) if isinstance(document, (str, bytes)) else document
    if not isinstance(stored, Mapping):
        raise CorruptFile(f"a saved result is a JSON object; got {fields.kind(stored)}.")
    for key in ("schema", "result"):
        if key not in stored:
            raise CorruptFile(f'the key "{key}" is missing: this is no saved audit result.')
    if stored["schema"] != SCHEMA or isinstance(stored["schema"], bool):
        raise CorruptFile(
            f"schema must be {SCHEMA}, the newest this dp-audit reads; got {fields.got(stored['schema'])}."
        )
    return stored


def _is_utility(stored: Mapping[str, Any]) -> bool:
    return isinstance(stored["result"], Mapping) and stored["result"].get("kind") == "utility"


def _contents(stored: Mapping[str, Any], known: Mapping[str, tuple[fields.Reader, bool]]) -> dict[str, Any]:
    try:
        found = fields.fields(stored["result"], "result", known)
        found["environment"] = plain_dict(stored.get("environment", {}), "environment")
        if isinstance(found["environment"].get("elapsed"), (int, float)):
            number(found["environment"]["elapsed"], "environment.elapsed")
    except RecursionError:
        raise CorruptFile("nested too deeply.") from None
    return found


def layout(document: Mapping[str, Any]) -> str:
    """Return the text of a document for a file: one line per field, the same bytes for the same result.

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


def save(result: Saved, path: str | os.PathLike[str]) -> None:
    """Write the result's document to `path`, whole or not at all."""
    write_text(path, layout(result.to_json()) + "\n")


def _block(value: Any) -> str:
    if not isinstance(value, dict) or not value or "$" in value:
        return dumps(value)
    return "{\n" + ",\n".join(f"  {json.dumps(key)}: {dumps(item)}" for key, item in value.items()) + "\n}"


def _claim(stored: Any, where: str) -> Any:
    claim = value(stored, where)
    if claim is not None and not isinstance(claim, (PrivacyClaim, UtilityClaim, Opaque)):
        raise CorruptFile(f"{where} must be a claim; got {show(claim, 40)}.")
    return claim


def _event(stored: Any, where: str) -> Any:
    event = value(stored, where)
    if event is not None and not isinstance(event, Opaque) and not is_event(event):
        raise CorruptFile(f"{where} must be an event; got {show(event, 40)}.")
    return event


def _witness(stored: Any, where: str) -> Witness:
    return Witness(**fields.fields(stored, where, _WITNESS))


def _problem(stored: Any, where: str) -> ProblemFinding:
    return ProblemFinding(**fields.fields(stored, where, _PROBLEM))


def _failure(stored: Any, where: str) -> UtilityWitness:
    return UtilityWitness(**fields.fields(stored, where, _FAILURE))


_INTERVAL = optional(listed(probability, length=2))
_TEXTS = listed(text)
_WITNESS = readers(
    required={"left": value, "right": value, "event": _event, "p": probability, "q": probability},
    optional={
        "p_interval": _INTERVAL,
        "q_interval": _INTERVAL,
        "runs": fields.runs,
        "direction": one_of("left", "right"),
        "confirmed": fields.flag,
        "confidence": optional(probability),
        "epsilon_lower": number,
        "foreseen": _INTERVAL,
        "seed": optional(fields.seed_path),
        "fresh": fields.flag,
        "parts": fields.count,
        "against": fields.flag,
        "distance": fields.steps,
        "simplest": optional(_witness),
        "given": fields.flag,
        "examples": listed(listed(text), length=2),
    },
)
_RESULT = readers(
    required={
        "subject": text,
        "claim": _claim,
        "relation": text,
        "verdict": member(Verdict),
        "evidence": member(Evidence),
    },
    optional={
        **dict.fromkeys(("reason", "numerics"), text),
        **dict.fromkeys(("epsilon_lower", "delta_lower", "log_wealth"), number),
        "significance": fields.significance,
        **dict.fromkeys(("epsilon_upper", "delta_upper"), optional(number)),
        **dict.fromkeys(("detectable_epsilon", "ceiling_epsilon", "law_distance"), optional(number)),
        **dict.fromkeys(("tolerance", "log_limit"), optional(number)),
        **dict.fromkeys(("detectable_event", "only_output"), optional(text)),
        **dict.fromkeys(("family", "reference", "target"), optional(text)),
        **dict.fromkeys(("samples", "unfinished", "pairs_tried", "budget"), fields.count),
        "seed": fields.seed,
        **dict.fromkeys(("samples_to_refutation", "pairs_total"), optional(fields.count)),
        **dict.fromkeys(("assumptions", "notes", "not_tested"), _TEXTS),
        "witness": optional(_witness),
        "parameters": plain_dict,
        "expected": optional(one_of("refuted", "not refuted")),
    },
)
_PROBLEM = readers(
    required={"name": text},
    optional={
        "runs": fields.count,
        "failures": number,
        "upper": optional(probability),
        "exact": optional(probability),
        "met": fields.flag,
    },
)
_FAILURE = readers(
    required={"problem": text, "database": value, "output": value, "error": number},
    optional={
        "failure": probability,
        "seed": optional(fields.seed),
        "repeats": optional(fields.flag),
        "source": optional(value),
        "refutes": optional(fields.flag),
    },
)
_UTILITY = readers(
    required={
        "kind": one_of("utility"),
        "subject": text,
        "claim": _claim,
        "verdict": member(Verdict),
        "evidence": member(Evidence),
    },
    optional={
        "reason": text,
        **dict.fromkeys(("met", "conditional"), fields.flag),
        **dict.fromkeys(("beta_lower", "beta_upper"), probability),
        "log_wealth": number,
        "significance": fields.significance,
        "log_limit": optional(number),
        **dict.fromkeys(("worst", "family", "reference", "target"), optional(text)),
        **dict.fromkeys(("samples", "unfinished", "raised", "problems_tried", "budget"), fields.count),
        "seed": fields.seed,
        **dict.fromkeys(("sample_size", "samples_to_refutation"), optional(fields.count)),
        **dict.fromkeys(("assumptions", "notes", "not_tested"), _TEXTS),
        "witness": optional(_failure),
        "problems": listed(_problem),
        "parameters": plain_dict,
        "expected": optional(one_of("refuted", "not refuted")),
    },
)
