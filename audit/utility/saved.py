"""Read saved results of utility audits. An error names the damage in one line."""

from collections.abc import Mapping
from typing import Any

from audit.codec import fields
from audit.codec.fields import listed, one_of, optional, probability
from audit.errors import CorruptFile
from audit.results.result import AuditResult
from audit.results.saved import contents_of, document_of, is_utility, parse, reads, result_fields
from audit.utility.result import ProblemFinding, UtilityResult, UtilityWitness

#: The result of a privacy audit or of a utility audit.
Saved = AuditResult | UtilityResult


def parse_utility(
    document: str | bytes | Mapping[str, Any], *, cls: type[UtilityResult] = UtilityResult
) -> UtilityResult:
    """Return the utility result that a document holds.

    A document is a text, or what `json.loads` makes of the text.

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
    """Return the results that a document holds.

    There are two if the document also holds the result of a utility audit.

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


_OF_UTILITY = result_fields(
    UtilityResult,
    beta_lower=probability,
    beta_upper=probability,
    witness=optional(reads(UtilityWitness, failure=probability, seed=optional(fields.seed))),
    problems=listed(reads(ProblemFinding, upper=optional(probability), exact=optional(probability))),
)
_UTILITY = {"kind": (one_of("utility"), True), **_OF_UTILITY}
