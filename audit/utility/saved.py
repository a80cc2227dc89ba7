"""Saved results of utility audits, read back with any damage named in one line."""

from collections.abc import Mapping
from typing import Any, TypeVar

from audit.codec import fields
from audit.codec.fields import (
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
from audit.errors import CorruptFile
from audit.results.result import AuditResult, Evidence, Verdict
from audit.results.saved import claim_of, contents_of, document_of, is_utility, parse
from audit.utility.result import ProblemFinding, UtilityResult, UtilityWitness

#: What an audit of either kind hands back.
Saved = AuditResult | UtilityResult

U = TypeVar("U", bound=UtilityResult)
_TEXTS = listed(text)


def parse_utility(document: str | bytes | Mapping[str, Any], *, cls: type[U] | None = None) -> U:
    """Return the utility result in a document (its text, or what `json.loads` made of it).

    Examples
    --------
    >>> parse_utility('{"schema": 1, "result": {"subject": "m"}}')
    Traceback (most recent call last):
    audit.errors.CorruptFile: this is the saved result of a privacy audit; read it by AuditResult.from_json.
    """
    stored = document_of(document)
    if not is_utility(stored):
        raise CorruptFile("this is the saved result of a privacy audit; read it by AuditResult.from_json.")
    found = contents_of(stored, _UTILITY)
    del found["kind"]
    made: Any = (cls or UtilityResult)(**found)
    return made  # type: ignore[no-any-return]


def parse_any(document: str | bytes | Mapping[str, Any]) -> list[Saved]:
    """Return what a document holds: its result, and that of the utility audit which it may carry beside it.

    Examples
    --------
    >>> from audit.results.result import AuditResult, Evidence, Verdict
    >>> document = AuditResult("m", None, "", Verdict.ERROR, Evidence.EXACT).to_json()
    >>> [result.subject for result in parse_any(document)]
    ['m']
    """
    stored = document_of(document)
    first: Saved = parse_utility(stored) if is_utility(stored) else parse(stored)
    beside = stored.get("utility")
    return [first] if beside is None else [first, parse_utility(beside)]


def _problem(stored: Any, where: str) -> ProblemFinding:
    return ProblemFinding(**fields.fields(stored, where, _PROBLEM))


def _failure(stored: Any, where: str) -> UtilityWitness:
    return UtilityWitness(**fields.fields(stored, where, _FAILURE))


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
        "claim": claim_of,
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
