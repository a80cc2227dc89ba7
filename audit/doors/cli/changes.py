"""Find what changed between two saved sessions."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from audit.findings import Finding
from audit.findings import saved as saved_findings
from audit.results.result import AuditResult, Evidence
from audit.utility import text as utility_text
from audit.utility.saved import Saved, parse_any
from audit.values.wording import apart, number, short
from audit.verdict.witness import loss
from audit.words import allowance, story

#: Two bounds differ if their intervals are further apart than this. The distance is relative to the largest
#: interval end, or to 1 if that is larger.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Change:
    """One change, with the old and the new value in words."""

    kind: str
    name: str
    words: str


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Return what changed between the documents of two sessions.

    `load_parts` returns such documents. If a subject has several audits, they are compared in the order in
    which they were made. Findings are compared by name. A bound has changed if the two audits' intervals for
    the true value are disjoint. An interval comes from the runs of the witness. Without a witness, it reaches
    from the lower bound to the upper bound or to the detectable value.

    Examples
    --------
    >>> from audit.results.result import Verdict
    >>> old = AuditResult("m", None, Verdict.PROVED, Evidence.EXACT).to_json()
    >>> new = AuditResult("m", None, Verdict.REFUTED, Evidence.EXACT).to_json()
    >>> [(each.kind, each.words) for each in changes({"documents": [old]}, {"documents": [new]})]
    [('verdict', 'proved → refuted')]
    """
    old, new = _named(before), _named(after)
    found = [Change("added", name, _told(new[name])) for name in new if name not in old]
    found += [Change("removed", name, _told(old[name])) for name in old if name not in new]
    for name, one in old.items():
        if name in new:
            found += [Change(kind, name, words) for kind, words in _compared(one, new[name])]
    order = ("verdict", "judgement", "claim", "bound", "added", "removed")
    return sorted(found, key=lambda change: order.index(change.kind))


def compared(before: Mapping[str, Any], after: Mapping[str, Any]) -> int:
    """Return how many audits and findings both sessions have in common."""
    return len({*_named(before)} & {*_named(after)})


def _named(parts: Mapping[str, Any]) -> dict[str, Saved | Finding]:
    """Return results and findings by name. Audits with the same name are numbered from the second on."""
    found: dict[str, Saved | Finding] = {}
    seen: Counter[str] = Counter()
    for document in parts.get("documents") or ():
        for result in parse_any(document):
            name = short(result.subject, 60) + ("" if isinstance(result, AuditResult) else " (utility)")
            seen[name] += 1
            found[name if seen[name] == 1 else f"{name} [{seen[name]}]"] = result
    for document in parts.get("findings") or ():
        finding = saved_findings.from_json(document)
        found[f"finding {short(finding.name, 60)}"] = finding
    return found


def _told(one: Saved | Finding) -> str:
    return one.judgement if isinstance(one, Finding) else one.verdict.value


def _compared(old: Saved | Finding, new: Saved | Finding) -> list[tuple[str, str]]:
    if isinstance(old, Finding) or isinstance(new, Finding):
        return [("judgement", f"{_told(old)} → {_told(new)}")] * (_told(old) != _told(new))
    found = [("verdict", f"{_told(old)} → {_told(new)}")] * (old.verdict is not new.verdict)
    if f"{old.claim}" != f"{new.claim}":
        found.append(("claim", f"{_brief(old)} → {_brief(new)}"))
    spans, others = _spans(old), _spans(new)
    for name in spans.keys() & others.keys():
        one, other = spans[name], others[name]
        slack = _ROUNDING * max([1.0, *(abs(end) for end in (*one, *other) if math.isfinite(end))])
        if max(one[0], other[0]) > min(one[1], other[1]) + slack:
            found.append(("bound", f"{name}: {_span(one)} → {_span(other)}"))
    return found


def _brief(result: Saved) -> str:
    private = isinstance(result, AuditResult)
    return story.brief_claim(result) if private else utility_text.brief_claim(result)  # type: ignore[arg-type]


def _spans(result: Saved) -> dict[str, tuple[float, float]]:
    """Return the interval of each quantity in which its true value lies."""
    if result.verdict.name in {"ERROR", "INCONCLUSIVE"}:
        return {}
    if not isinstance(result, AuditResult):
        return {"β": (result.beta_lower, result.beta_upper)}
    if result.evidence is Evidence.EXACT:
        ends = ((result.epsilon_lower, result.epsilon_upper), (result.delta_lower, result.delta_upper))
        return {
            name: (low, low if high is None else max(low, high))
            for name, (low, high) in zip(("ε", "δ"), ends, strict=True)
        }
    witness, delta = result.witness, allowance.claimed(result)[1]
    if witness is not None and witness.p_interval and witness.q_interval and witness.distance == 1:
        (p_low, p_high), (q_low, q_high) = witness.p_interval, witness.q_interval
        return {"ε": (loss(p_low, q_high, delta), loss(p_high, q_low, delta))}
    most = math.inf if result.detectable_epsilon is None else result.detectable_epsilon
    return {"ε": (result.epsilon_lower, max(most, result.epsilon_lower))}


def _span(span: tuple[float, float]) -> str:
    low, high = span
    return number(low) if high <= low else f"{apart(low, high)[0]} to {apart(high, low)[0]}"


def lines(found: Sequence[Change], *, of: int) -> list[str]:
    """Return a line for each change, and a last line with their number.

    Examples
    --------
    >>> lines([Change("verdict", "m", "proved → refuted")], of=2)
    ['VERDICT    m: proved → refuted', '1 change; audits and findings compared: 2']
    >>> lines([], of=2)
    ['nothing changed; audits and findings compared: 2']
    """
    said = "nothing changed" if not found else f"{len(found)} change{'' if len(found) == 1 else 's'}"
    told = [f"{change.kind.upper():<9}  {change.name}: {change.words}" for change in found]
    return [*told, f"{said}; audits and findings compared: {of}"]
