"""The sentences of a privacy result."""

from collections.abc import Callable
from decimal import ROUND_FLOOR

from audit.results.result import AuditResult, Evidence, Verdict, Witness
from audit.values.wording import apart, at_least, at_most, interval, number, sentence, short, short_prose
from audit.words import alike
from audit.words.allowance import allowance, allowed, claimed, distance_words
from audit.words.pair_words import MOST_DATABASE, change, pair_words

MOST_EVENT = 200
MOST_EXAMPLE = 90


def title(result: AuditResult) -> str:
    """Return the claim and its relation in one line."""
    claim = alike.claim_words(result)
    return f"{claim} under {short(result.relation, 60)}" if result.relation else claim


def brief_claim(result: AuditResult) -> str:
    """Return the claim as papers write it. For example, ``1-DP`` or ``(1, 1e-06)-DP``."""
    epsilon, delta = claimed(result)
    if epsilon is None:
        return alike.claim_words(result)
    return f"({number(epsilon)}, {number(delta)})-DP" if delta else f"{number(epsilon)}-DP"


class WitnessWords:
    """The texts that describe a witness.

    `limit` is about the largest number of characters for one database. `digits` is the least number of digits
    for the ends of intervals.

    Attributes
    ----------
    change : str
        The one record that changes from the left database to the right one; empty if several change.
    on_p, on_q : str
        Which database `p` is about, and which one `q` is about: left or right.
    database_p, database_q, event : str
        Both databases, and the event in words.
    p, q, limit : str
        The two probabilities, and the largest `p` that the claim allows (empty if unknown).
    allowance : str
        The formula for `limit`: ``e^ε·q + δ``.
    apart : str
        How far apart the two databases are; empty for neighbours.
    p_interval, q_interval : str
        The confidence interval, such as ``" (0.45–0.51)"``; empty if the number is exact.
    part : str
        If the event alone does not break the claim: a sentence that it is part of a larger event; else empty.
    always : str
        If all outputs on the database of `p` are the same: a sentence that says this; else empty.
    beside : str
        If the event uses a fitted score: a sentence on a single output entry that also refutes the claim.
    """

    def __init__(
        self, result: AuditResult, witness: Witness, *, limit: int = MOST_DATABASE, digits: int = 6
    ) -> None:
        most = allowed(result, witness)
        self.change = change(witness)
        self.on_p, self.on_q = ("left", "right") if witness.direction == "left" else ("right", "left")
        self.database_p, self.database_q = pair_words(witness, limit=limit)
        words = getattr(witness.event, "words", None)
        event = words(digits) if callable(words) else f"{witness.event}"
        self.event, self.q = short(event, MOST_EVENT), number(witness.q)
        self.p, self.limit = (number(witness.p), "") if most is None else apart(witness.p, most)
        self.allowance, self.apart = allowance(result, witness), distance_words(result, witness)
        self.p_interval, self.q_interval = interval(witness.p_interval), interval(witness.q_interval)
        self.part = _part_words(result, witness)
        self.beside = _beside_words(result, witness.beside, digits)
        self.always = _always_words(witness, self.on_p)


def witness_story(result: AuditResult, witness: Witness) -> str:
    """Return sentences that describe the witness and what the claim allows."""
    w = WitnessWords(result, witness)
    happens = f'the event "{w.event}" happens with probability {w.p}{w.p_interval}'
    said = f"{w.change} " if w.change else ""
    said += f"On {w.on_p} = {w.database_p} {happens}; on {w.on_q} = {w.database_q} with {w.q}{w.q_interval}."
    said += f" {w.always}" if w.always else ""
    said += f" {w.apart}" if w.apart else ""
    there = "At that distance the claim" if w.apart else "The claim"
    said += f" {there} allows at most {w.allowance} = {w.limit}." if w.limit else ""
    return " ".join(filter(None, [said, w.part, w.beside]))


def _always_words(witness: Witness, where: str) -> str:
    """Return a sentence on equal outputs on p's database, empty if they vary."""
    if witness.p < 1 or not getattr(witness.event, "is_one_output", False):
        return ""
    return f"Every run on {where} gave the same output." if witness.runs else f"On {where} nothing varies."


def _beside_words(result: AuditResult, beside: Witness | None, digits: int) -> str:
    """Return a sentence on a single output entry that refutes the claim too."""
    if beside is None:
        return ""
    w = WitnessWords(result, beside, digits=digits)
    happens = f'"{w.event}" happens with probability {w.p}{w.p_interval} on {w.on_p}'
    most = f"; at most {w.limit} is allowed" if w.limit else ""
    return f"One entry alone shows it too: {happens} and {w.q}{w.q_interval} on {w.on_q}{most}."


def _part_words(result: AuditResult, witness: Witness) -> str:
    """Return a note if the event alone does not refute the claim."""
    most = allowed(result, witness)
    exact = result.refuted and result.evidence is Evidence.EXACT
    if not exact or most is None or witness.p > most:
        return ""
    whole = "Over all outputs with a likelihood ratio above e^ε"
    return (
        "This event is only part of the one that breaks the claim. "
        f"{whole}, p − e^ε·q is {at_least(result.delta_lower)}."
    )


def examples(witness: Witness) -> str:
    """Return a sentence with examples of outputs on both databases.

    The sentence is empty if no examples were stored.

    Examples
    --------
    >>> examples(Witness([0], [1], None, 0.5, 0.1, runs=9, examples=(("0", "2"), ("1", "1"))))
    'Outputs on left: 0, 2, …; on right: 1, …'
    >>> examples(Witness([0], [1], None, 0.5, 0.1, examples=(("0", "2"), ("1",))))
    'Most probable outputs on left: 0, 2; on right: 1.'
    """
    if not any(witness.examples):
        return ""
    more = ", …" if witness.runs > max(map(len, witness.examples)) else ""
    unlike = map(dict.fromkeys, witness.examples)
    left, right = (", ".join(short(each, MOST_EXAMPLE) for each in texts) for texts in unlike)
    kind = "Outputs" if witness.runs else "Most probable outputs"
    return f"{kind} on left: {left}{more}; on right: {right}{more or '.'}"


def why_no_simpler(result: AuditResult) -> str:
    """Return why no simpler witness is shown for a refutation.

    The text is empty if a simpler witness is shown.
    """
    witness, is_audit = result.witness, alike.replay_of(result) is None
    if witness is None or witness.simpler is not None or not (result.refuted and is_audit):
        return ""
    if result.evidence is Evidence.EXACT:
        return "This is the worst pair compared; the audit did not look for a simpler one."
    if witness.given:
        return "The pair was given; the audit did not look for a simpler one."
    return "" if witness.simplest is None else _no_simpler(witness.simplest.simpler_tried)


def _no_simpler(tried: int | None) -> str:
    if tried is None:
        return "No simpler pair was shown to fail."
    if not tried:
        return "No simpler pair was tried: the domain has none, or too few runs were left for it."
    if tried == 1:
        return "The one simpler pair tried did not fail."
    return f"None of the {tried:,} simpler pairs tried failed."


def witness_standing(witness: Witness, *, replayed: bool = False) -> str:
    """Return a text on where the witness's numbers come from. It also says what the numbers prove."""
    if not witness.runs:
        return "Both probabilities are exact."
    level = f", each at confidence {witness.confidence:.6g}," if witness.confidence else ""
    where = f" in {witness.parts:,} fresh processes" if witness.parts else ""
    drawn = f"about {witness.runs:,} runs on each side{where}, drawn after the event was fixed"
    if witness.confirmed:
        return f"The numbers{level} come from {drawn}; these runs alone confirm the refutation."
    if replayed:
        return f"The numbers{level} come from {drawn}; these runs alone do not refute the claim."
    return f"The numbers{level} come from {drawn}; these runs alone do not confirm the refutation."


def verdict_sentence(result: AuditResult) -> str:
    """Return a sentence that states the verdict."""
    return _VERDICTS[result.verdict](result)


def _refuted(result: AuditResult) -> str:
    exact = result.evidence is Evidence.EXACT
    how = "by the exact output laws" if exact else "by runs of the mechanism"
    return f"The claim does not hold: it is refuted {how}."


def _not_reproduced(result: AuditResult) -> str:
    name, witness = _of_another(result), result.witness
    if result.evidence is Evidence.EXACT or witness is None:
        law = f"NOT REPRODUCED: the declared laws do not confirm the saved refutation{name}"
        return f"{law}. Only the saved event on the saved pair was checked. This is not a proof."
    drawn = f"about {witness.runs:,} runs on each side tested the saved event on the saved pair"
    start = f"NOT REPRODUCED: these runs do not confirm the saved refutation{name}"
    return f"{start}: {drawn}. No other event or pair was tried. This is not a proof."


def _of_another(result: AuditResult) -> str:
    """Return ``" of SUBJECT"`` if a replay used the witness of another subject; else empty."""
    saved = alike.replay_of(result)
    return f" of {short(saved, 60)}" if saved is not None and saved != result.subject else ""


def _not_refuted(result: AuditResult) -> str:
    if alike.replay_of(result) is not None:
        return _not_reproduced(result)
    if result.evidence is Evidence.EXACT:
        family = f" ({short(result.family, 120)})" if result.family else ""
        kept = f"The exact laws satisfy the claim on {_pairs(result)}{family}."
        return f"{kept} {_why_no_proof(result)}"
    tried = f"in {result.samples:,} runs on {_pairs(result)}"
    found = f"No event that breaks the claim was found {tried}. This is not a proof."
    return f"{unvaried(result)} {found}" if result.only_output is not None else found


def unvaried(result: AuditResult) -> str:
    """Return a sentence on equal outputs and the likely cause.

    The sentence is empty if the outputs vary.

    Examples
    --------
    >>> said = "m", None, Verdict.NOT_REFUTED, Evidence.STATISTICAL
    >>> unvaried(AuditResult(*said, only_output="None"))
    'Nothing varies: every output, on every database, was None. Is a `return` missing?'
    """
    if result.only_output is None:
        return ""
    cause = " Is a `return` missing?" if result.only_output == "None" else ""
    return f"Nothing varies: every output, on every database, was {short(result.only_output, 60)}.{cause}"


def _why_no_proof(result: AuditResult) -> str:
    """Return why exact laws that satisfy the claim do not prove it."""
    if result.family is None or result.pairs_total != result.pairs_tried:
        return "Other pairs were not compared: this is not a proof."
    slack = "" if result.tolerance is None else f", to a tolerance of {result.tolerance:.2g}"
    compared = f"continuous laws (and products) were compared in floating point{slack}"
    return f"These are all pairs of the family, but {compared}: this is not a proof."


def _proved(result: AuditResult) -> str:
    family = short(result.family or _pairs(result), 160)
    kept = "the exact laws of every such pair satisfy it"
    return f"The claim is proved over {family}: {kept}. The proof covers only that family."


#: Two bounds closer than this (relatively, if they are above 1) count as equal: they differ only by rounding.
_ROUNDING = 1e-9
_VERDICTS: dict[Verdict, Callable[[AuditResult], str]] = {
    Verdict.REFUTED: _refuted,
    Verdict.NOT_REFUTED: _not_refuted,
    Verdict.PROVED: _proved,
    Verdict.INCONCLUSIVE: alike.no_verdict,
    Verdict.ERROR: alike.no_verdict,
}


def _pairs(result: AuditResult) -> str:
    return alike.tried(result.pairs_tried, "pair", of=result.pairs_total or 0)


def bounds(result: AuditResult) -> str:
    """Return a text with the bounds on the true ε and δ."""
    epsilon, delta_claimed = claimed(result)
    if epsilon is None or result.verdict in alike.UNDECIDED:
        return ""
    where = " at the claimed δ" if delta_claimed else ""  # otherwise (ε, δ) would look like one claim
    if result.evidence is Evidence.EXACT:
        return _exact_bounds(result, epsilon, where)
    if result.epsilon_lower <= 0 and result.delta_lower <= 0:
        return (
            "No privacy loss was measured: the outputs hardly differed between the databases tried. "
            "Other records or another size may show more."
        )
    least, most = apart(result.epsilon_lower, epsilon, rounding=ROUND_FLOOR)
    found = f"The true ε{where} is at least {least} (claimed {most})"
    delta = f"the true δ at the claimed ε is at least {at_least(result.delta_lower)}"
    return f"{found}; {delta}. {alike.separately(result)}"


def _exact_bounds(result: AuditResult, epsilon: float, where: str) -> str:
    found, most = apart(result.epsilon_lower, epsilon)
    if alike.replay_of(result) is not None:
        return f"The saved event shows an exact ε{where} of {found} (claimed {most})."
    first, later = f"The largest ε{where} over these pairs", "the largest δ at the claimed ε"
    if is_bracketed(result):
        losses = _between(result.epsilon_lower, result.epsilon_upper)
        excess = _between(result.delta_lower, result.delta_upper)
        return f"{first} {losses} (claimed {number(epsilon)}); {later} {excess}. Nothing was sampled."
    return f"{first} is {found} (claimed {most}); {later} is {number(result.delta_lower)}. Both are exact."


def is_bracketed(result: AuditResult) -> bool:
    """Return whether bounds from exact laws differ by more than rounding."""
    ends = ((result.epsilon_lower, result.epsilon_upper), (result.delta_lower, result.delta_upper))
    return any(high is not None and high > low + _ROUNDING * max(1.0, low) for low, high in ends)


def _between(low: float, high: float | None) -> str:
    """Return a text with the two bounds of a number. The text has enough digits to distinguish the bounds."""
    if high is None or high <= low:
        return f"is {number(low)}"
    larger, smaller = apart(high, low)
    return f"lies between {smaller} and {larger}"


def meaning(result: AuditResult) -> str:
    """Return a text on what the evidence proves."""
    if result.verdict in alike.UNDECIDED:
        return "This says nothing for or against the claim."
    if result.evidence is Evidence.EXACT:
        return _exact_meaning(result)
    if result.refuted:
        return alike.chance(result)
    return detectable(result)


def _exact_meaning(result: AuditResult) -> str:
    if alike.replay_of(result) is not None:
        return f"The laws are those the subject declares; {result.samples:,} runs did not contradict them."
    slack = f" Tolerance for rounding: {result.tolerance:.2g}." if result.tolerance is not None else ""
    drawn = (
        f"; {result.samples:,} runs did not contradict them" if result.samples and not result.refuted else ""
    )
    told = f"The laws are those the subject declares{drawn}; no sampling error is involved.{slack}"
    return " ".join(filter(None, [told, may_hide(result)]))


def may_hide(result: AuditResult) -> str:
    """Return a text on how far the code may differ from the declared law.

    The text is empty if no such distance is known.
    """
    if result.law_distance is None:
        return ""
    far = f"differs from its law by {at_most(result.law_distance)} in total variation"
    if result.detectable_epsilon is None:
        start = f"Audits like this one catch code that {far} nine times in ten"
        return f"{start}. They may miss smaller differences, whatever their ε."
    event = f" on one event, {short(result.detectable_event, 120)}" if result.detectable_event else ""
    start = f"Nine times in ten, audits like this one catch code that {far}"
    return f"{start}, and a true ε of {at_most(result.detectable_epsilon)}{event}. They may miss less."


def detectable(result: AuditResult) -> str:
    """Return a text on which true ε an audit by runs could have detected."""
    if alike.replay_of(result) is not None:
        return "A replay checks only the saved event and pair; an audit looks for others."
    said = [_detected(result)] if result.detectable_epsilon is not None else []
    if result.ceiling_epsilon is not None:
        most = at_most(result.ceiling_epsilon)
        said.append(f"With this many runs no audit can certify more than ε = {most}.")
    return " ".join(said) or "What this audit could have found is unknown."


def _detected(result: AuditResult) -> str:
    least = at_most(result.detectable_epsilon or 0.0)
    event = short_prose(result.detectable_event or "any event of probability 1/2", 160)
    caught = f"Audits like this one catch ε ≥ {least} nine times in ten on one event of one pair, {event}"
    return f"{sentence(caught)} They may miss a smaller ε there, and a larger one on other events or pairs."


def runs(result: AuditResult) -> str:
    """Return a text with the number and the kind of the runs."""
    parts = f", in {len(result.earlier) + 1} audits that go on from one another" if result.earlier else ""
    return f"{alike.drawn(result)}{parts}; {alike.tried(result.pairs_tried, 'pair')} tried"
