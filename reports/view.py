"""The audits in the page's words: results turned into texts and numbers before any markup."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from audit.results.result import AuditResult, Evidence, Verdict, Witness
from audit.utility import text as utility_text
from audit.utility.result import UtilityResult
from audit.utility.saved import Saved
from audit.values import wording
from audit.words import again, alike, allowance, fault_words, story

from .diagram import Diagram, diagram
from .small_print import environment, facts
from .utility_view import UtilityView, beta_found, failure_view, problem_views

MOST_DATABASE = 300
AS_EXPECTED, UNEXPECTED = "as expected", "unexpected"


@dataclass(frozen=True)
class WitnessView:
    """A witness: its story in parts, where the numbers come from, and its picture."""

    words: story.WitnessWords
    formula: tuple[tuple[str, str], ...]  # what the claim allows: text, and the exponent after it
    examples: str
    standing: str
    diagram: Diagram | None


@dataclass(frozen=True)
class SubjectView:
    """One audit: a row of the table and a section."""

    anchor: str
    name: str
    claim: str
    claim_brief: str
    relation: str
    verdict: str
    kind: str  # class of the verdict's mark
    evidence: str
    numerics: str
    outcome: str
    sentence: str
    epsilon_claimed: str
    epsilon_found: str
    ratio: str
    delta_claimed: str
    delta_found: str
    delta_ratio: str
    runs: str
    detectable: str | None
    witness: WitnessView | None
    simplest: WitnessView | None
    why_no_simpler: str
    fault: str
    findings: tuple[str, ...]
    mutation: tuple[str, ...]  # lines of its mutation check
    facts: tuple[tuple[str, str], ...]
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]
    not_tested: tuple[str, ...]
    command: str | None
    python: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class AuditsPart:
    """All audits."""

    subjects: tuple[SubjectView, ...]
    utilities: tuple[UtilityView, ...]
    sections: tuple[SubjectView | UtilityView, ...]  # both audits of a subject beside each other
    counts: tuple[tuple[str, str, int], ...]  # verdict, class, how many
    unexpected: tuple[SubjectView | UtilityView, ...]
    expectations: int
    spent: str
    not_audited: tuple[str, ...] = ()  # what an interrupted suite left out


def audits_part(
    results: Sequence[Saved],
    *,
    checks: Mapping[int, Sequence[str]] | None = None,
    not_audited: Sequence[str] = (),
) -> AuditsPart:
    """Return the part of these results, in their order; `checks` are the lines of mutation checks, by place.

    `not_audited` names what an interrupted suite left out.

    Examples
    --------
    >>> audits_part([]).subjects
    ()
    """
    told = checks or {}
    private = [(r, told.get(i, ())) for i, r in enumerate(results) if isinstance(r, AuditResult)]
    useful = [result for result in results if isinstance(result, UtilityResult)]
    subjects = tuple(
        subject_view(result, anchor=f"subject-{i}", mutation=check)
        for i, (result, check) in enumerate(private, start=1)
    )
    beside = {_whom(result): view for (result, _), view in zip(private, subjects, strict=True)}
    utilities = tuple(
        utility_view(result, anchor=f"utility-{i}", privacy=beside.get(_whom(result)))
        for i, result in enumerate(useful, start=1)
    )
    sections = _side_by_side(subjects, utilities)
    seen = Counter(result.verdict for result in results)
    return AuditsPart(
        subjects=subjects,
        utilities=utilities,
        sections=sections,
        counts=tuple((v.value, kind(v), seen[v]) for v in Verdict if seen[v]),
        unexpected=tuple(each for each in sections if each.outcome == UNEXPECTED),
        expectations=sum(each.outcome != "" for each in sections),
        spent=f"{math.fsum(result.significance for result in results):.3g}",
        not_audited=tuple(not_audited),
    )


def _whom(result: Saved) -> tuple[str, str]:
    """Return what the two audits of a subject have in common."""
    return result.subject, repr(sorted(result.parameters.items(), key=repr))


def _side_by_side(
    subjects: Sequence[SubjectView], utilities: Sequence[UtilityView]
) -> tuple[SubjectView | UtilityView, ...]:
    ordered: list[SubjectView | UtilityView] = []
    for subject in subjects:
        ordered.append(subject)
        ordered += [each for each in utilities if each.privacy and each.privacy[0] == subject.anchor]
    return (*ordered, *(each for each in utilities if each.privacy is None))


def utility_view(result: UtilityResult, *, anchor: str, privacy: SubjectView | None) -> UtilityView:
    """Return one utility audit in the page's words."""
    claimed = utility_text.claimed(result)
    findings = (utility_text.bounds(result), utility_text.meaning(result))
    return UtilityView(
        anchor=anchor,
        name=wording.short(result.subject, 120) or "(no name)",
        claim=alike.claim_words(result),
        claim_brief=utility_text.brief_claim(result),
        verdict=result.verdict.value,
        kind=kind(result.verdict),
        evidence=result.evidence.value,
        outcome=outcome(result),
        sentence=utility_text.verdict_sentence(result),
        beta_claimed="" if claimed is None else wording.number(claimed),
        beta_found=beta_found(result),
        worst=wording.short(result.worst or "", 120),
        sample_size="" if result.sample_size is None else f"{result.sample_size:,}",
        runs=f"{result.samples:,}",
        failure=failure_view(result.witness),
        problems=problem_views(result),
        findings=tuple(filter(None, (*findings, beside_text(result)))),
        facts=facts(result),
        assumptions=result.assumptions,
        notes=result.notes,
        not_tested=result.not_tested,
        command=again.command(result),
        environment=environment(result),
        privacy=None if privacy is None else (privacy.anchor, privacy.verdict, privacy.kind),
    )


def kind(verdict: Verdict) -> str:
    """Return the class that colours a verdict."""
    return verdict.value.replace(" ", "-")


def outcome(result: Saved) -> str:
    """Say whether a verdict is the one its catalogue entry expects; nothing where nothing is expected.

    Examples
    --------
    >>> outcome(AuditResult("m", None, Verdict.REFUTED, Evidence.EXACT, expected="not refuted"))
    'unexpected'
    """
    if result.expected is None:
        return ""
    if result.disagreements:
        return UNEXPECTED
    wanted = {Verdict.REFUTED} if result.expected == "refuted" else {Verdict.NOT_REFUTED, Verdict.PROVED}
    return AS_EXPECTED if result.verdict in wanted else UNEXPECTED


def beside_text(result: Saved) -> str:
    """Return how the code compares with the formulas of its text; empty where there are none."""
    told = alike.with_text(result)
    return f"By the text: {told}." if told else ""


def subject_view(result: AuditResult, *, anchor: str, mutation: Sequence[str] = ()) -> SubjectView:
    """Return one audit in the page's words; `mutation` is what its mutation check says, by lines."""
    witness = result.witness
    claimed, delta = allowance.claimed(result)
    epsilon_found, epsilon_claimed = alike.found_beside(result, result.epsilon_lower, claimed)
    delta_found, delta_claimed = alike.found_beside(result, result.delta_lower, delta)
    known = claimed is not None and result.verdict not in (Verdict.ERROR, Verdict.INCONCLUSIVE)
    return SubjectView(
        anchor=anchor,
        name=wording.short(result.subject, 120) or "(no name)",
        claim="no claim" if result.claim is None else wording.short(f"{result.claim}", 120),
        claim_brief=story.brief_claim(result),
        relation=result.relation,
        verdict=result.verdict.value,
        kind=kind(result.verdict),
        evidence=result.evidence.value,
        numerics=result.numerics,
        outcome=outcome(result),
        sentence=story.verdict_sentence(result),
        epsilon_claimed=epsilon_claimed if claimed is not None else "",
        epsilon_found=epsilon_found if known else "",
        ratio=_ratio(result.epsilon_lower, claimed) if known else "",
        delta_claimed=delta_claimed if claimed is not None else "",
        delta_found=delta_found if known else "",
        delta_ratio=_ratio(result.delta_lower, delta) if known else "",
        runs=f"{result.samples:,}",
        detectable=_detectable(result),
        witness=_witness(result, witness),
        simplest=_witness(result, witness.simpler if witness else None),
        why_no_simpler=story.why_no_simpler(result),
        fault="" if result.fault is None else fault_words.told(result.fault),
        findings=tuple(filter(None, (story.bounds(result), story.meaning(result), beside_text(result)))),
        mutation=tuple(mutation),
        facts=facts(result),
        assumptions=result.assumptions,
        notes=result.notes,
        not_tested=result.not_tested,
        command=again.command(result),
        python=tuple(again.python_lines(result)),
        environment=environment(result),
    )


def _witness(result: AuditResult, witness: Witness | None) -> WitnessView | None:
    if witness is None:
        return None
    words = story.WitnessWords(result, witness, limit=MOST_DATABASE)
    return WitnessView(
        words,
        exponents(words.allowance),
        story.examples(witness),
        story.witness_standing(witness, replayed=alike.replay_of(result) is not None),
        diagram(result, witness, words),
    )


def exponents(formula: str) -> tuple[tuple[str, str], ...]:
    """Return the parts of a formula, each with the exponent that follows it.

    Examples
    --------
    >>> exponents("e^(2ε)·q + e^ε·δ")
    (('e', '2ε'), ('·q + e', 'ε'), ('·δ', ''))
    """
    parts = [*re.split(r"\^(\([^)]*\)|.)", formula), ""]
    return tuple((text, raised.strip("()")) for text, raised in zip(parts[::2], parts[1::2], strict=True))


def _ratio(found: float, claimed: float | None) -> str:
    if not claimed or not math.isfinite(claimed) or not math.isfinite(found):
        return ""
    return f"{wording.apart(found / claimed, 1.0)[0]}×"


def _detectable(result: AuditResult) -> str | None:
    """Return the detectable ε; None where the question does not arise, as for exact laws."""
    if result.evidence is Evidence.EXACT or result.verdict is not Verdict.NOT_REFUTED:
        return None
    return "" if result.detectable_epsilon is None else wording.at_most(result.detectable_epsilon)
