"""Summarise many audits. There is a line for each audit, and the significance that the session has spent."""

import math
from collections.abc import Mapping, Sequence

from audit.evidence.together import e_bh, holm
from audit.results.result import AuditResult, Evidence, Verdict
from audit.utility import text as utility_text
from audit.utility.result import UtilityResult
from audit.utility.saved import Saved
from audit.values import wording
from audit.words import alike, allowance, story
from audit.words.text import told_of


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
    """Return whether an audit gave the expected verdict.

    The code must also agree with its source text. If nothing was expected, the claim must not be refuted.

    Examples
    --------
    >>> from audit.results.result import Evidence
    >>> met(AuditResult("m", None, Verdict.REFUTED, Evidence.STATISTICAL, expected="refuted"))
    True
    """
    as_expected = carried_out(result) and result.refuted == (result.expected == "refuted")
    return as_expected and not result.disagreements


def line(result: Saved) -> str:
    """Return an audit's verdict, subject and bound in one line.

    The line also says whether the verdict was expected.

    Examples
    --------
    >>> from audit.results.result import Evidence
    >>> said = "m", None, Verdict.PROVED, Evidence.EXACT
    >>> line(AuditResult(*said, epsilon_lower=1.0, expected="not refuted"))
    'PROVED        m                                           as expected           ε = 1, no runs'
    """
    verdict, name = result.verdict.value.upper(), wording.short(result.subject, 60)
    name += " (utility)" if isinstance(result, UtilityResult) else ""
    return f"{verdict:<12}  {name:<42}  {_mark(result):<20}  {_told(result)}"


def summary(result: Saved) -> str:
    """Return an audit's verdict, subject, claim and bound in one line.

    Examples
    --------
    >>> from audit.claims import PureDP
    >>> from audit.results.result import Evidence
    >>> summary(AuditResult("m", PureDP(1.0), Verdict.PROVED, Evidence.EXACT, epsilon_lower=1.0))
    'PROVED  m  PureDP(epsilon=1): ε = 1, no runs'
    """
    verdict, name = result.verdict.value.upper(), wording.short(result.subject, 60)
    return f"{verdict}  {name}  {told_of(result).title}: {_told(result)}"


def _told(result: Saved) -> str:
    """Return the bound found, or why there is no verdict."""
    if not carried_out(result):
        return wording.short(result.reason, 120)
    found = _utility_found(result) if isinstance(result, UtilityResult) else _found(result)
    return "; ".join([*map(str, result.disagreements[:1]), found])


def _mark(result: Saved) -> str:
    """Return how the verdict compares with the expected verdict.

    The text is empty if nothing was expected.

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
        return "as expected" if result.expected else ""
    if not carried_out(result):
        return "no verdict"
    if result.refuted == (result.expected == "refuted"):
        return "differs from text"
    return "claim fails" if result.refuted else "should be refuted"


def total(results: Sequence[Saved]) -> str:
    """Return how many audits ended as expected, and the significance spent.

    The chance that a session refutes any claim that holds is at most this sum.

    Examples
    --------
    >>> total([])
    '0 audits; total significance spent: 0'
    >>> said = "m", None, Verdict.PROVED, Evidence.EXACT
    >>> total([AuditResult(*said), AuditResult(*said, expected="refuted")])
    '2 audits, 0 of 1 as expected; total significance spent: 2e-06'
    """
    predicted = [result for result in results if result.expected]
    of = "" if len(predicted) == len(results) else f" of {len(predicted)}"
    as_expected = f", {sum(map(met, predicted))}{of} as expected" if predicted else ""
    return f"{_audits(len(results))}{as_expected}; total significance spent: {_spent(results):.3g}"


def ledger(by_test: Mapping[str, Sequence[Saved]], *, most: int = 10) -> list[str]:
    """Return a line for each test with its share of the significance.

    There are no lines if the shares are equal.

    Examples
    --------
    >>> said = "m", None, Verdict.PROVED, Evidence.EXACT
    >>> one, other = (AuditResult(*said, significance=level) for level in (3e-4, 1e-4))
    >>> print(*ledger({"test_a": [one], "test_b": [other, other], "test_c": [other]}), sep=chr(10))
      0.0003    50 %  test_a
      0.0002  33.3 %  test_b, 2 audits
      0.0001  16.7 %  test_c
    """
    spent = {test: _spent(results) for test, results in by_test.items()}
    if len(set(spent.values())) < 2:
        return []
    whole = math.fsum(spent.values())
    ordered = sorted(spent, key=lambda test: (-spent[test], test))
    shown = ordered if len(ordered) <= most else ordered[: most - 1]
    rows = [(spent[test], test, len(by_test[test])) for test in shown]
    if others := ordered[len(shown) :]:
        left = math.fsum(spent[test] for test in others)
        rows.append((left, f"{len(others)} other tests", sum(len(by_test[test]) for test in others)))
    return [
        f"{part:>8.3g}  {100 * part / whole:>4.3g} %  {test}" + (f", {_audits(many)}" if many > 1 else "")
        for part, test, many in rows
    ]


def _audits(many: int) -> str:
    return "1 audit" if many == 1 else f"{many} audits"


def _spent(results: Sequence[Saved]) -> float:
    return math.fsum(result.significance for result in results)


def together(results: Sequence[Saved], *, rate: float = 0.05) -> str:
    """Return a text on how many claims are rejected together.

    Holm's procedure bounds the chance of rejecting any claim that holds. e-BH bounds the expected share of
    such claims among those rejected (`audit.evidence.together`). The text is empty if no claim can be
    rejected.

    Examples
    --------
    >>> said = Verdict.NOT_REFUTED, Evidence.STATISTICAL
    >>> odd = AuditResult("odd", None, *said, log_wealth=3.5)
    >>> fine = AuditResult("fine", None, *said)
    >>> leak = AuditResult("leak", None, Verdict.REFUTED, Evidence.STATISTICAL, log_wealth=14.0)
    >>> print(together([leak, odd, fine]))
    judged together: Holm rejects 1 (family-wise error 5 %), e-BH rejects 2 (false discovery rate 5 %);
    unconfirmed, not refuted alone: odd
    """
    logs = [_log_wealth(result) for result in results]
    if len(results) < 2 or max(logs) < -math.log(rate):  # no rule can reject any
        return ""
    strict, wide = holm(logs, rate=rate), e_bh(logs, rate=rate)
    new = [
        wording.short(each.subject, 60)
        for each, named in zip(results, wide, strict=True)
        if named and not each.refuted
    ]
    return (
        f"judged together: Holm rejects {strict.sum()} (family-wise error {100 * rate:g} %), "
        f"e-BH rejects {wide.sum()} (false discovery rate {100 * rate:g} %)"
        + (f"; unconfirmed, not refuted alone: {', '.join(new)}" if new else "")
    )


def _log_wealth(result: Saved) -> float:
    """Return the logarithm of an e-value against the claim.

    It is 0 if the audit came to no verdict.

    Guarantee
    ---------
    An audit's e-value is its wealth, or ∞ for a refutation by exact laws. A replay has no wealth. Its e-value
    is 1/significance if it refutes, else 0. If the claim holds, a replay refutes with probability at most its
    significance. So the mean of the e-value is at most 1. The event of a replay must have been fixed before
    the calls, as in `audit.verdict.redraw`.
    """
    if result.evidence is Evidence.EXACT:
        return math.inf if result.refuted else 0.0
    if alike.replay_of(result) is not None:
        return -math.log(result.significance) if result.refuted else -math.inf
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
