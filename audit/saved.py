"""Saved results: read back with any damage named in one line, written so that no file is ever half there."""

import json
import os
from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from audit.encoding import CorruptFile, decode, dumps
from audit.files import check_writable, why, write_text
from audit.results import SCHEMA, AuditResult, Evidence, Verdict, Witness
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
Reader = Callable[[Any, str], Any]
_MOST_STEPS = 1_000_000


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
    try:
        text = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise CorruptFile(f"{os.fspath(path)} cannot be read: {why(error)}.") from None
    try:
        return parse(text)
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
    fields = _contents(stored, _UTILITY)
    del fields["kind"]
    made: Any = (cls or UtilityResult)(**fields)
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
    stored = _loads(document) if isinstance(document, (str, bytes)) else document
    if not isinstance(stored, Mapping):
        raise CorruptFile(f"a saved result is a JSON object; got {_kind(stored)}.")
    for key in ("schema", "result"):
        if key not in stored:
            raise CorruptFile(f'the key "{key}" is missing: this is no saved audit result.')
    if stored["schema"] != SCHEMA or isinstance(stored["schema"], bool):
        raise CorruptFile(
            f"schema must be {SCHEMA}, the newest this dp-audit reads; got {_got(stored['schema'])}."
        )
    return stored


def _is_utility(stored: Mapping[str, Any]) -> bool:
    return isinstance(stored["result"], Mapping) and stored["result"].get("kind") == "utility"


def _contents(stored: Mapping[str, Any], readers: Mapping[str, tuple[Reader, bool]]) -> dict[str, Any]:
    try:
        fields = _fields(stored["result"], "result", readers)
        fields["environment"] = _plain_dict(stored.get("environment", {}), "environment")
    except RecursionError:
        raise CorruptFile("nested too deeply.") from None
    return fields


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


def _loads(text: str | bytes) -> Any:
    def constant(name: str) -> None:
        raise CorruptFile(f"{name} is no JSON; numbers that are not finite are tagged.")

    try:
        return json.loads(text, parse_constant=constant)
    except json.JSONDecodeError as error:
        raise CorruptFile(f"not JSON at line {error.lineno} column {error.colno}: {error.msg}.") from None
    except UnicodeDecodeError as error:
        raise CorruptFile(f"not text: byte {error.start} is no UTF-8.") from None
    except RecursionError:
        raise CorruptFile("nested too deeply.") from None


def _kind(stored: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "a boolean", type(None): "null"}
    return names.get(type(stored), "a number")


def _got(stored: Any) -> str:
    text = json.dumps(stored, default=str)
    return text if len(text) <= 40 else text[:37] + "..."


def _wrong(where: str, wanted: str, stored: Any) -> CorruptFile:
    return CorruptFile(f"{where} must be {wanted}; got {_got(stored)}.")


def _fields(stored: Any, where: str, readers: Mapping[str, tuple[Reader, bool]]) -> dict[str, Any]:
    """Read the fields of an object: unknown ones are refused, missing ones only if they are required."""
    if not isinstance(stored, Mapping):
        raise _wrong(where, "an object", stored)
    unknown = sorted(set(stored) - set(readers))
    if unknown:
        raise CorruptFile(f"{where} has the unknown field {_got(unknown[0])}.")
    missing = [name for name, (_, required) in readers.items() if required and name not in stored]
    if missing:
        raise CorruptFile(f"{where}.{missing[0]} is missing.")
    return {name: readers[name][0](item, f"{where}.{name}") for name, item in stored.items()}


def _text(stored: Any, where: str) -> str:
    if not isinstance(stored, str):
        raise _wrong(where, "text", stored)
    return stored


def _number(stored: Any, where: str) -> float:
    value = decode(stored, where=where) if isinstance(stored, dict) else stored
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _wrong(where, "a number", stored)
    return value


def _probability(stored: Any, where: str) -> float:
    value = _number(stored, where)
    if not 0 <= value <= 1:
        raise _wrong(where, "a number in [0, 1]", stored)
    return value


def _significance(stored: Any, where: str) -> float:
    value = _number(stored, where)
    if not 0 < value < 1:
        raise _wrong(where, "a number strictly between 0 and 1", stored)
    return value


def _count(stored: Any, where: str) -> int:
    if isinstance(stored, bool) or not isinstance(stored, int) or stored < 0:
        raise _wrong(where, "a whole number ≥ 0", stored)
    return stored


def _steps(stored: Any, where: str) -> int:
    if not 1 <= _count(stored, where) <= _MOST_STEPS:
        raise _wrong(where, f"a whole number from 1 to {_MOST_STEPS:,}", stored)
    return int(stored)


def _flag(stored: Any, where: str) -> bool:
    if not isinstance(stored, bool):
        raise _wrong(where, "true or false", stored)
    return stored


def _value(stored: Any, where: str) -> Any:
    return decode(stored, where=where)


def _plain_dict(stored: Any, where: str) -> dict[str, Any]:
    value = decode(stored, where=where)
    if not isinstance(value, dict):
        raise _wrong(where, "an object", stored)
    return value


def _optional(read: Reader) -> Reader:
    return lambda stored, where: None if stored is None else read(stored, where)


def _listed(read: Reader, *, make: type = tuple, length: int | None = None) -> Reader:
    def items(stored: Any, where: str) -> Any:
        if not isinstance(stored, list) or (length is not None and len(stored) != length):
            raise _wrong(where, "a list" if length is None else f"a list of {length}", stored)
        return make(read(item, f"{where}[{i}]") for i, item in enumerate(stored))

    return items


def _one_of(*values: str, kind: type[Enum] | None = None) -> Reader:
    def choose(stored: Any, where: str) -> Any:
        if not isinstance(stored, str) or stored not in values:
            raise _wrong(where, "one of " + ", ".join(values), stored)
        return kind(stored) if kind else stored

    return choose


def _member(kind: type[Enum]) -> Reader:
    return _one_of(*(str(member.value) for member in kind), kind=kind)


def _witness(stored: Any, where: str) -> Witness:
    return Witness(**_fields(stored, where, _WITNESS))


def _problem(stored: Any, where: str) -> ProblemFinding:
    return ProblemFinding(**_fields(stored, where, _PROBLEM))


def _failure(stored: Any, where: str) -> UtilityWitness:
    return UtilityWitness(**_fields(stored, where, _FAILURE))


def _readers(
    *, required: Mapping[str, Reader], optional: Mapping[str, Reader]
) -> Mapping[str, tuple[Reader, bool]]:
    needed = {name: (read, True) for name, read in required.items()}
    return MappingProxyType(needed | {name: (read, False) for name, read in optional.items()})


_INTERVAL = _optional(_listed(_probability, length=2))
_TEXTS = _listed(_text)
_WITNESS = _readers(
    required={"left": _value, "right": _value, "event": _value, "p": _probability, "q": _probability},
    optional={
        "p_interval": _INTERVAL,
        "q_interval": _INTERVAL,
        "runs": _count,
        "direction": _one_of("left", "right"),
        "confirmed": _flag,
        "confidence": _optional(_probability),
        "epsilon_lower": _number,
        "seed": _optional(_listed(_count, make=list)),
        "fresh": _flag,
        "parts": _count,
        "against": _flag,
        "distance": _steps,
        "simplest": _optional(_witness),
        "given": _flag,
        "examples": _listed(_listed(_text), length=2),
    },
)
_RESULT = _readers(
    required={
        "subject": _text,
        "claim": _value,
        "relation": _text,
        "verdict": _member(Verdict),
        "evidence": _member(Evidence),
    },
    optional={
        **dict.fromkeys(("reason", "numerics"), _text),
        **dict.fromkeys(("epsilon_lower", "delta_lower", "log_wealth"), _number),
        "significance": _significance,
        **dict.fromkeys(("epsilon_upper", "delta_upper"), _optional(_number)),
        **dict.fromkeys(("detectable_epsilon", "ceiling_epsilon"), _optional(_number)),
        **dict.fromkeys(("tolerance", "log_limit"), _optional(_number)),
        **dict.fromkeys(("detectable_event", "family", "reference", "target"), _optional(_text)),
        **dict.fromkeys(("samples", "unfinished", "pairs_tried", "seed", "budget"), _count),
        **dict.fromkeys(("samples_to_refutation", "pairs_total"), _optional(_count)),
        **dict.fromkeys(("assumptions", "notes", "not_tested"), _TEXTS),
        "witness": _optional(_witness),
        "parameters": _plain_dict,
        "expected": _optional(_one_of("refuted", "not refuted")),
    },
)
_PROBLEM = _readers(
    required={"name": _text},
    optional={
        "runs": _count,
        "failures": _number,
        "upper": _optional(_probability),
        "exact": _optional(_probability),
        "met": _flag,
    },
)
_FAILURE = _readers(
    required={"problem": _text, "database": _value, "output": _value, "error": _number},
    optional={"failure": _probability, "seed": _optional(_count), "repeats": _optional(_flag)},
)
_UTILITY = _readers(
    required={
        "kind": _one_of("utility"),
        "subject": _text,
        "claim": _value,
        "verdict": _member(Verdict),
        "evidence": _member(Evidence),
    },
    optional={
        "reason": _text,
        **dict.fromkeys(("met", "conditional"), _flag),
        **dict.fromkeys(("beta_lower", "beta_upper"), _probability),
        "log_wealth": _number,
        "significance": _significance,
        "log_limit": _optional(_number),
        **dict.fromkeys(("worst", "family", "reference", "target"), _optional(_text)),
        **dict.fromkeys(("samples", "unfinished", "raised", "problems_tried", "seed", "budget"), _count),
        **dict.fromkeys(("sample_size", "samples_to_refutation"), _optional(_count)),
        **dict.fromkeys(("assumptions", "notes", "not_tested"), _TEXTS),
        "witness": _optional(_failure),
        "problems": _listed(_problem),
        "parameters": _plain_dict,
        "expected": _optional(_one_of("refuted", "not refuted")),
    },
)
