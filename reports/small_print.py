"""The small print of an audit, as labels and values."""

import re

from audit.results.result import Evidence
from audit.utility import text as utility_text
from audit.utility.result import UtilityResult
from audit.utility.saved import Saved
from audit.values import wording
from audit.words import pair_words, story

__all__ = ["environment", "facts", "few_digits"]

_LONG = re.compile(r"(-?(\d+)\.\d+)(?:e[+-]?\d+)?\b")

_NUMERICS = {
    "ideal": "ideal (as if the mechanism computed with real numbers)",
    "float": "float (the floating-point numbers as returned)",
}


def facts(result: Saved) -> tuple[tuple[str, str], ...]:
    """Return what was audited and how.

    A label without a value is left out.

    Examples
    --------
    >>> from audit.results.result import AuditResult, Verdict
    >>> facts(AuditResult("m", None, Verdict.ERROR, Evidence.EXACT, seed=3))[-2]
    ('Seed', '3')
    """
    told = [
        (
            "Parameters",
            few_digits(
                ", ".join(f"{key} = {wording.shown(value)}" for key, value in result.parameters.items())
            ),
        ),
        ("Statement", result.reference or ""),
        ("Runs", utility_text.runs(result) if isinstance(result, UtilityResult) else story.runs(result)),
        ("Family", result.family or ""),
        ("Failures", _failures(result)),
        ("Bets", _bets(result)),
        ("Significance", f"{result.significance:.3g}"),
        ("Budget", f"{result.budget:,} runs" if result.budget else ""),
        ("Tried first", pair_words.remembered(getattr(result, "remembered", ()))),
        ("Seed", str(result.seed)),
        ("Numerics", _numerics(result)),
    ]
    return tuple((label, value) for label, value in told if value)


def few_digits(text: str) -> str:
    """Return a text whose decimal numbers have three digits.

    Examples
    --------
    >>> few_digits("1.114790751648848, -0.5, 100.0, 1234.567 and 1e-09")
    '1.11, -0.5, 100.0, 1235 and 1e-09'
    """
    return _LONG.sub(_three_digits, text)


def _three_digits(found: re.Match[str]) -> str:
    few = len(found[1].replace("-", "").replace(".", "").lstrip("0")) <= 3
    if few or found[0].endswith(".0"):
        return found[0]
    digits = max(3, len(found[2].lstrip("0")))
    return f"{float(found[0]):.{digits}g}"


def environment(result: Saved) -> tuple[tuple[str, str], ...]:
    """Return in words where the audit ran.

    Examples
    --------
    >>> from audit.results.result import AuditResult, Verdict
    >>> ran = {"elapsed": 1.23456, "command": "dp-audit run m"}
    >>> environment(AuditResult("m", None, Verdict.ERROR, Evidence.EXACT, environment=ran))
    (('elapsed', '1.23 s'),)
    """
    return tuple(
        (key.replace("_", " "), _plain(key, value))
        for key, value in result.environment.items()
        if key != "command"
    )


def _failures(result: Saved) -> str:
    conditional = isinstance(result, UtilityResult) and result.conditional
    return "exact probabilities given each sample" if conditional else ""


def _bets(result: Saved) -> str:
    if result.log_limit is None or result.evidence is not Evidence.STATISTICAL:
        return ""
    against = " against the claim" if isinstance(result, UtilityResult) else ""
    wealth, limit = wording.number(result.log_wealth), wording.number(result.log_limit)
    return f"log wealth {wealth}{against}; {limit} refutes"


def _numerics(result: Saved) -> str:
    return "" if isinstance(result, UtilityResult) else _NUMERICS.get(result.numerics, result.numerics)


def _plain(key: str, value: object) -> str:
    if key == "date" and isinstance(value, str):
        return value.replace("T", " ").replace("+00:00", " UTC")
    if key == "elapsed" and isinstance(value, (int, float)):
        return f"{value:.3g} s"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_plain('', each)}" for name, each in value.items())
    return wording.short(value if isinstance(value, str) else wording.shown(value, 200), 200)
