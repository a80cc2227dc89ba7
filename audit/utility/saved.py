"""Saved results of utility audits, read back with any damage named in one line."""

from collections.abc import Mapping
from typing import Any

from audit.codec import fields
from audit.codec.fields import flag, listed, number, one_of, optional, probability, text, value
from audit.errors import CorruptFile
from audit.results.result import AuditResult
from audit.results.saved import contents_of, document_of, is_utility, parse, result_readers
from audit.utility.result import ProblemFinding, UtilityResult, UtilityWitness

#: What an audit of either kind hands back.
Saved = AuditResult | UtilityResult


def parse_utility(
    document: str | bytes | Mapping[str, Any], *, cls: type[UtilityResult] = UtilityResult
) -> UtilityResult:
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
    return cls(**found)


def parse_any(document: str | bytes | Mapping[str, Any]) -> list[Saved]:
    """Return what a document holds: its result, and that of the utility audit which it may carry beside it.

    Examples
    --------
    >>> from audit.results.result import AuditResult, Evidence, Verdict
    >>> document = AuditResult("m", None, Verdict.ERROR, Evidence.EXACT).to_json()
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


_PROBLEM = fields.readers(
    required={"name": text},
    optional={
        "runs": fields.count,
        "failures": number,
        **dict.fromkeys(("upper", "exact"), optional(probability)),
        "met": flag,
    },
)
_FAILURE = fields.readers(
    required={"problem": text, "database": value, "output": value, "error": number},
    optional={
        "failure": probability,
        "seed": optional(fields.seed),
        **dict.fromkeys(("repeats", "refutes"), optional(flag)),
        "source": optional(value),
    },
)
_UTILITY = result_readers(
    required={"kind": one_of("utility")},
    optional={
        **dict.fromkeys(("met", "conditional"), flag),
        **dict.fromkeys(("beta_lower", "beta_upper"), probability),
        "worst": optional(text),
        **dict.fromkeys(("raised", "problems_tried"), fields.count),
        "sample_size": optional(fields.count),
        "witness": optional(_failure),
        "problems": listed(_problem),
    },
)
