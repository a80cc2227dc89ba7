"""Audits on a page, as texts, numbers and pictures."""

import dataclasses
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from audit.events.features.bits import reads_bits_of_floats
from audit.results.fault import FaultKind
from audit.results.result import AuditResult, Evidence, Verdict, Witness
from audit.utility import text as utility_text
from audit.utility.result import UtilityResult
from audit.utility.saved import Saved
from audit.values import wording
from audit.words import again, alike, allowance, fault_words, story

from . import overview
from .claim_words import claim_sentence
from .pictures import claim, courses
from .pictures import utility as utility_pictures
from .pictures.drawing import Picture
from .pictures.outputs import outputs_picture
from .side_by_side import aligned
from .small_print import environment, facts, few_digits
from .utility_view import FailureView, ProblemView, beta_found, failure_view, problem_views

MOST_DATABASE = 300
_MOST_RECORD = 60
_MOST_LINE = 240
_DIGITS = 3  # of an event; the JSON inside has all
_MOST_ALERTS, _MOST_NAMES = 8, 12


@dataclass(frozen=True)
class WitnessView:
    """A witness in texts, with its databases side by side."""

    words: story.WitnessWords
    rows: tuple[tuple[str, str, str, bool], ...]  # place, left, right, whether they differ
    examples: str
    standing: str
    pictures: tuple[Picture, ...]


@dataclass(frozen=True)
class Bounds:
    """The numbers of one audit in the index.

    `sort` holds them by column, for sorting the rows.
    """

    claimed: str
    found: str
    more: str  # δ, if the claim has one
    detectable: str | None  # None if nothing was left to detect
    sort: tuple[float, float, float]


@dataclass(frozen=True)
class AuditView:
    """One audit, shown as a row of the index and a section."""

    anchor: str
    href: str
    what: str
    name: str
    claim: str
    claim_brief: str
    claim_words: str
    relation: str
    verdict: str
    kind: str  # class of the verdict's mark, and its name in a filter
    evidence: str
    outcome: str
    wrong: bool
    sentence: str
    why: str  # what is wrong, in one line
    bounds: Bounds
    runs: str
    witness: WitnessView | None
    simplest: WitnessView | None
    why_no_simpler: str
    failure: FailureView | None
    fault: str
    fault_kind: str
    findings: tuple[str, ...]
    pictures: tuple[Picture, ...]
    problems: tuple[ProblemView, ...]
    mutation: tuple[str, ...]  # lines of its mutation check
    facts: tuple[tuple[str, str], ...]
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]
    not_tested: tuple[str, ...]
    command: str | None
    python: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    which: str = ""  # what distinguishes it from audits of the same name
    beside: tuple[str, str, str] | None = None  # the same subject's other audit: link, what, verdict


@dataclass(frozen=True)
class AuditsPart:
    """All audits, what is wrong first."""

    about: str
    sentence: str
    alerts: tuple[tuple[AuditView, ...], ...]  # audits with one reason are together
    more_alerts: int
    counts: tuple[tuple[str, str, int], ...]  # verdict, class, how many
    picture: Picture | None
    audits: tuple[AuditView, ...]
    groups: tuple[tuple[str, tuple[AuditView, ...]], ...]  # the same audits in groups, by anchor
    spent: str
    not_audited: tuple[str, ...]  # audits that an interrupted suite left out
    split: bool


def audits_part(
    results: Sequence[Saved],
    *,
    checks: Mapping[int, Sequence[str]] | None = None,
    not_audited: Sequence[str] = (),
    pages: Sequence[str] | None = None,
) -> AuditsPart:
    """Return the part of the page on these results.

    `checks` maps a result's index to its mutation checks. `not_audited` names the audits that an interrupted
    suite left out. With `pages`, the address of each result's own page, the part is only an index.

    Examples
    --------
    >>> audits_part([]).audits
    ()
    """
    told = checks or {}
    views = [
        audit_view(result, anchor=f"audit-{i}", page=pages[i] if pages else None, mutation=told.get(i, ()))
        for i, result in enumerate(results)
    ]
    views = _told_apart(results, views)
    order = sorted(range(len(results)), key=lambda i: overview.rank(results[i]))
    ordered = tuple(views[i] for i in order)
    alerts = _alerts([each for each in ordered if each.wrong]) if len(results) > 1 else ()
    seen = Counter(result.verdict for result in results)
    names = dict.fromkeys("wrong" if each.wrong else each.kind for each in ordered)
    return AuditsPart(
        about=overview.about(results),
        sentence=overview.outcome_sentence(results),
        alerts=alerts,
        more_alerts=sum(each.wrong for each in ordered) - sum(map(len, alerts)),
        counts=tuple((v.value, _kind(v), seen[v]) for v in Verdict if seen[v]),
        picture=overview.all_audits(results),
        audits=ordered,
        groups=tuple((name, tuple(e for e in ordered if _group(e) == name)) for name in names),
        spent=f"{math.fsum(result.significance for result in results):.3g}",
        not_audited=tuple(not_audited),
        split=pages is not None,
    )


def _alerts(wrong: Sequence[AuditView]) -> tuple[tuple[AuditView, ...], ...]:
    """Return groups of audits that need attention, by verdict and reason.

    Long lists are cut.
    """
    alike: dict[tuple[str, str, str], list[AuditView]] = {}
    for each in wrong:
        alike.setdefault((each.why, each.kind, each.outcome), []).append(each)
    return tuple(tuple(group[:_MOST_NAMES]) for group in list(alike.values())[:_MOST_ALERTS])


def _group(each: AuditView) -> str:
    return "wrong" if each.wrong else each.kind


def _kind(verdict: Verdict) -> str:
    return verdict.value.replace(" ", "-")


def _whom(result: Saved) -> tuple[str, str]:
    """Return a key that the privacy and the utility audit of a subject share."""
    return result.subject, repr(sorted(result.parameters.items(), key=repr))


def _told_apart(results: Sequence[Saved], views: Sequence[AuditView]) -> list[AuditView]:
    """Return the views with links between them, and different texts for equal names.

    A privacy audit and the first utility audit of the same subject link to each other. Audits of the same
    name also show the command that repeats them.
    """
    pairs = list(zip(results, views, strict=True))
    first = {(view.what, *_whom(result)): view for result, view in reversed(pairs)}
    names = Counter((view.what, view.name) for view in views)
    told = []
    for result, view in pairs:
        what = "utility" if view.what == "privacy" else "privacy"
        other = first.get((what, *_whom(result)))
        link = None if other is None else (other.href, other.what, other.verdict)
        which = view.command if view.command and names[view.what, view.name] > 1 else ""
        told.append(dataclasses.replace(view, beside=link, which=which))
    return told


def audit_view(
    result: Saved, *, anchor: str, page: str | None = None, mutation: Sequence[str] = ()
) -> AuditView:
    """Return one audit as a page shows it.

    `mutation` holds the lines of its mutation check.
    """
    private = isinstance(result, AuditResult)
    own = _of_privacy(result) if isinstance(result, AuditResult) else _of_utility(result)
    common = {
        "anchor": anchor,
        "href": page or f"#{anchor}",
        "what": "privacy" if private else "utility",
        "name": wording.short(result.subject.replace(".<locals>.", "."), 120) or "(no name)",
        "claim": "no claim" if result.claim is None else wording.short(few_digits(f"{result.claim}"), 120),
        "claim_words": claim_sentence(result),
        "verdict": result.verdict.value,
        "kind": _kind(result.verdict),
        "evidence": result.evidence.value,
        "outcome": overview.outcome(result),
        "wrong": overview.is_wrong(result),
        "runs": f"{result.samples:,}",
        "mutation": tuple(mutation),
        "facts": facts(result),
        "assumptions": result.assumptions,
        "notes": tuple(map(few_digits, result.notes)),
        "not_tested": result.not_tested,
        "command": again.command(result),
        "environment": environment(result),
    }
    return AuditView(**common, **own)  # type: ignore[arg-type]


def _of_privacy(result: AuditResult) -> dict[str, object]:
    witness, fault = result.witness, result.fault
    drawn = (
        claim.closeness(result),
        *(() if witness is not None else (claim.profile(result, None),)),
        courses.evidence(result),
        courses.search(result),
    )
    return {
        "claim_brief": story.brief_claim(result),
        "relation": result.relation,
        "sentence": story.verdict_sentence(result),
        "why": _why(result),
        "bounds": _bounds(result),
        "witness": _witness(result, witness),
        "simplest": _witness(result, witness.simpler if witness else None, draw=False),
        "why_no_simpler": story.why_no_simpler(result),
        "failure": None,
        "fault": "" if fault is None else fault_words.told(fault),
        "fault_kind": "" if fault is None or fault.kind is FaultKind.UNKNOWN else fault.kind.value,
        "findings": tuple(filter(None, (story.bounds(result), story.meaning(result), _by_the_text(result)))),
        "pictures": tuple(filter(None, drawn)),
        "problems": (),
        "python": tuple(again.python_lines(result)),
    }


def _of_utility(result: UtilityResult) -> dict[str, object]:
    claimed = utility_text.claimed(result)
    drawn = (utility_pictures.error_picture(result), utility_pictures.failure_rates(result))
    found = beta_found(result)
    return {
        "claim_brief": utility_text.brief_claim(result),
        "relation": "",
        "sentence": utility_text.verdict_sentence(result),
        "why": wording.short_prose(utility_text.verdict_sentence(result), _MOST_LINE),
        "bounds": Bounds(
            "" if claimed is None else f"β = {wording.number(claimed)}",
            f"β {found}" if found else "",
            "",
            None,
            (_finite(claimed), _finite(result.beta_lower), -1.0),
        ),
        "witness": None,
        "simplest": None,
        "why_no_simpler": "",
        "failure": failure_view(result.witness),
        "fault": "",
        "fault_kind": "",
        "findings": tuple(
            filter(None, (utility_text.bounds(result), utility_text.meaning(result), _by_the_text(result)))
        ),
        "pictures": tuple(filter(None, drawn)),
        "problems": problem_views(result),
        "python": (),
    }


def _by_the_text(result: Saved) -> str:
    """Return a text that compares code and formulas.

    Without formulas the text is empty.
    """
    told = alike.with_text(result)
    return f"By the text: {told}." if told else ""


def _bounds(result: AuditResult) -> Bounds:
    claimed, delta = allowance.claimed(result)
    if claimed is None:
        return Bounds("", "", "", _detectable(result), (-1.0, -1.0, -1.0))
    found, most = alike.found_beside(result, result.epsilon_lower, claimed)
    delta_found, delta_most = alike.found_beside(result, result.delta_lower, delta)
    known = result.verdict not in (Verdict.ERROR, Verdict.INCONCLUSIVE)
    return Bounds(
        f"ε = {most}" + (f", δ = {delta_most}" if delta else ""),
        f"ε {found}" if known else "",
        f"δ {delta_found}" if known and (delta or result.refuted) else "",
        _detectable(result),
        (
            _finite(claimed),
            _finite(result.epsilon_lower) if known else -1.0,
            _finite(result.detectable_epsilon),
        ),
    )


def _finite(value: float | None) -> float:
    """Return the number by which a column is sorted, −1 if it is missing."""
    if value is None or math.isnan(value):
        return -1.0
    return min(value, 1e308)


def _detectable(result: AuditResult) -> str | None:
    """Return the detectable ε, or None if nothing is left to detect."""
    if result.evidence is Evidence.EXACT or result.verdict is not Verdict.NOT_REFUTED:
        return None
    return "" if result.detectable_epsilon is None else wording.at_most(result.detectable_epsilon)


def _why(result: AuditResult) -> str:
    """Return a line that says what is wrong.

    For a refutation it names the fault, or else the event's probability. In other cases it gives the reason
    of the verdict.
    """
    if result.refuted and result.fault is not None:
        return wording.short_prose(fault_words.told(result.fault), _MOST_LINE)
    if result.refuted and result.witness is not None:
        words = story.WitnessWords(result, result.witness, digits=_DIGITS)
        most = f", at most {words.limit} is allowed" if words.limit else ""
        return f"“{wording.short(words.event, 80)}” has probability {words.p}{most}."
    return wording.short_prose(story.verdict_sentence(result), _MOST_LINE)


def _witness(result: AuditResult, witness: Witness | None, *, draw: bool = True) -> WitnessView | None:
    if witness is None:
        return None
    words = story.WitnessWords(result, witness, limit=MOST_DATABASE, digits=_DIGITS)
    outputs = story.examples(witness)
    drawn = (
        claim.event_picture(result, witness, words),
        outputs_picture(witness),
        claim.profile(result, witness),
        claim.trade_off(result, witness),
    )
    return WitnessView(
        words,
        tuple(map(_aligned, aligned(witness, limit=_MOST_RECORD))),
        outputs if reads_bits_of_floats(witness.event) else few_digits(outputs),
        story.witness_standing(witness, replayed=alike.replay_of(result) is not None),
        tuple(filter(None, drawn)) if draw else (),
    )


def _aligned(row: tuple[str, str, str, bool]) -> tuple[str, str, str, bool]:
    """Return a row of two databases in few digits, or more if these hide a difference."""
    place, left, right, differs = row
    short = few_digits(left), few_digits(right)
    return row if differs and short[0] == short[1] else (place, *short, differs)
