"""Many audits in few lines: one for each, and what the session has spent."""

import math
from collections.abc import Sequence

from audit.evidence.together import e_bh, holm
from audit.results.result import AuditResult, Evidence, Verdict
from audit.utility import text as utility_text
from audit.utility.result import UtilityResult
from audit.utility.saved import Saved
from audit.values import wording
from audit.words import alike, allowance, story


def carried_out(result: Saved) -> bool:
    """Return whether the audit came to a verdict on the claim.

    Examples
    --------
    >>> from audit.results.result import Evidence
    >>> carried_out(AuditResult("m", None, Verdict.ERROR, Evidence.STATISTICAL))
    False
    """
    return result.verdict not in {Verdict.ERROR, Verdict.INCONCLUSIVE}


def met(result: Saved) -> bool:
    """Return whether the audit was carried out and ended as expected, and the code is what its text says.

    A claim is refuted only if that was expected.

    Examples
    --------
    >>> from audit.results.result import Evidence
    >>> met(AuditResult("m", None, Verdict.REFUTED, Evidence.STATISTICAL, expected="refuted"))
    True
    """
    as_expected = carried_out(result) and result.refuted == (result.expected == "refuted")
    return as_expected and not result.disagreements


def line(result: Saved) -> str:
    """Return verdict, subject, whether that was expected, and the bound found, in one line.

    Examples
    --------
    >>> from audit.results.result import Evidence
    >>> line(AuditResult("m", None, Verdict.PROVED, Evidence.EXACT, epsilon_lower=1.0))
    'PROVED        m                                           as expected           ε = 1, no runs'
    """
    verdict, name = result.verdict.value.upper(), wording.short(result.subject, 60)
    if not carried_out(result):
        found = wording.short(result.reason, 120)
    else:
        found = _utility_found(result) if isinstance(result, UtilityResult) else _found(result)
        found = "; ".join([*map(str, result.disagreements[:1]), found])
    name += " (utility)" if isinstance(result, UtilityResult) else ""
    return f"{verdict:<12}  {name:<42}  {_mark(result):<20}  {found}"


def _mark(result: Saved) -> str:
    """Return what the verdict means to whoever made the audit.

    Examples
    --------
    >>> from audit.results.result import Evidence
    >>> said = "m", None
    >>> _mark(AuditResult(*said, Verdict.REFUTED, Evidence.STATISTICAL, expected="not refuted"))
    'claim fails'
    >>> _mark(AuditResult(*said, Verdict.PROVED, Evidence.EXACT, expected="refuted"))
    'should be refuted'
    """
    if met(result):
        return "as expected"
    if not carried_out(result):
        return "no verdict"
    if result.refuted == (result.expected == "refuted"):
        return "not as its text"
    return "claim fails" if result.refuted else "should be refuted"


def total(results: Sequence[Saved]) -> str:
    """Return how many met their expectation, and the sum of the significance spent.

    Each audit refutes a claim that holds with at most its own significance, so a session does so at all with
    at most their sum.

    Examples
    --------
    >>> total([])
    '0 audits, 0 as expected; total significance spent: 0'
    """
    spent = sum(result.significance for result in results)
    many = "1 audit" if len(results) == 1 else f"{len(results)} audits"
    as_expected = sum(met(result) for result in results)
    return f"{many}, {as_expected} as expected; total significance spent: {spent:.3g}"


def together(results: Sequence[Saved], *, rate: float = 0.05) -> str:
    """Return how many claims fail when a session's audits are judged together; empty if none can.

    Holm's procedure bounds the chance of naming any claim that holds, e-BH the expected share of such claims
    among those named (`audit.evidence.together`).

    Examples
    --------
    >>> said = Verdict.NOT_REFUTED, Evidence.STATISTICAL
    >>> odd = AuditResult("odd", None, *said, log_wealth=3.5)
    >>> fine = AuditResult("fine", None, *said)
    >>> leak = AuditResult("leak", None, Verdict.REFUTED, Evidence.STATISTICAL, log_wealth=14.0)
    >>> print(together([leak, odd, fine]))
    judged together: Holm names 1 (family-wise error 5 %), e-BH names 2 (false discovery rate 5 %);
    unconfirmed, not refuted alone: odd
    """
    logs = [_log_wealth(result) for result in results]
    if len(results) < 2 or max(logs) < -math.log(rate):  # no rule can name any
        return ""
    strict, wide = holm(logs, rate=rate), e_bh(logs, rate=rate)
    new = [
        wording.short(each.subject, 60)
        for each, named in zip(results, wide, strict=True)
        if named and not each.refuted
    ]
    return (
        f"judged together: Holm names {strict.sum()} (family-wise error {100 * rate:g} %), "
        f"e-BH names {wide.sum()} (false discovery rate {100 * rate:g} %)"
        + (f"; unconfirmed, not refuted alone: {', '.join(new)}" if new else "")
    )


def _log_wealth(result: Saved) -> float:
    """Return the logarithm of an e-value against the claim, 0 if there is no such evidence."""
    if result.evidence is Evidence.EXACT:
        return math.inf if result.refuted else 0.0
    return result.log_wealth if carried_out(result) else 0.0


def warning(result: Saved) -> str:
    """Return a one-line warning about the audit, or an empty text.

    Examples
    --------
    >>> from audit.results.result import Evidence
    >>> said = "m", None, Verdict.NOT_REFUTED, Evidence.STATISTICAL
    >>> warning(AuditResult(*said, only_output="None"))
    'm: Nothing varies: every output, on every database, was None. Is a `return` missing?'
    """
    said = story.unvaried(result) if isinstance(result, AuditResult) else ""
    return f"{wording.short(result.subject, 60)}: {said}" if said else ""


def _found(result: AuditResult) -> str:
    only = result.only_output
    unvaried = [] if only is None else [f"nothing varies (always {wording.short(only, 40)})"]
    epsilon, delta = allowance.claimed(result)
    bound = f"ε {alike.found_beside(result, result.epsilon_lower, epsilon)[0]}"
    if delta > 0:
        found, most = alike.found_beside(result, result.delta_lower, delta)
        times = wording.number(result.delta_lower / delta)
        bound += f" at the claimed δ, δ {found} at the claimed ε (claimed {most}: {times}×)"
    parts = [*unvaried, bound, f"{result.samples:,} runs" if result.samples else "no runs"]
    if result.verdict is Verdict.PROVED and result.family:
        parts.insert(-1, f"all {result.pairs_tried:,} pairs compared")
    if not result.refuted and result.detectable_epsilon is not None:
        parts.append(f"catches ε ≥ {wording.at_most(result.detectable_epsilon)} on one event")
    return ", ".join(parts)


def _utility_found(result: UtilityResult) -> str:
    beta = utility_text.claimed(result)
    bound, most = alike.found_beside(result, result.beta_lower, beta)
    if result.evidence is not Evidence.EXACT and not result.refuted:
        bound = f"≤ {wording.at_most(result.beta_upper)}"
    claimed = "" if beta is None else f" (claimed {most})"
    drawn = f"{result.samples:,} runs" if result.samples else "no runs"
    worst = f", worst on {wording.short(result.worst, 60)}" if result.worst else ""
    size = "" if result.sample_size is None else f", n = {result.sample_size:,}"
    return f"failure probability {bound}{claimed}{size}, {drawn}{worst}"
