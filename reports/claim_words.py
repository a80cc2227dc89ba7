"""What a claim promises, in a sentence."""

import math

from audit.results.result import AuditResult, SavedResult
from audit.values.wording import number
from audit.words.allowance import accuracy, claimed


def claim_sentence(result: SavedResult) -> str:
    """Return the claim in words, or an empty text if its numbers are unknown.

    Examples
    --------
    >>> from audit.claims import PureDP
    >>> from audit.results.result import Evidence, Verdict
    >>> said = "m", PureDP(1.0), Verdict.PROVED, Evidence.EXACT
    >>> claim_sentence(AuditResult(*said, relation="replace-one"))
    'On neighbouring databases every event has p ≤ e^ε·q with e^ε = 2.72.'
    """
    if not isinstance(result, AuditResult):
        return "" if (known := accuracy(result)) is None else _accuracy(*known)
    epsilon, delta = claimed(result)
    if epsilon is None:
        return ""
    factor = number(math.exp(epsilon)) if epsilon < 700 else "∞"
    added, most = (" + δ", f" and δ = {number(delta)}") if delta else ("", "")
    return f"On neighbouring databases every event has p ≤ e^ε·q{added} with e^ε = {factor}{most}."


def _accuracy(alpha: float, beta: float) -> str:
    said = f"On every problem the error is above α = {number(alpha)}"
    return f"{said} with probability at most β = {number(beta)}."
