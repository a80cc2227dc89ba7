"""Sentences that the results of every kind of audit share."""

from decimal import ROUND_FLOOR, ROUND_HALF_EVEN

from audit.results.result import AuditResult, Evidence, SavedResult, Verdict
from audit.values.wording import apart, confidence, number, sentence, short
from audit.words.allowance import claimed

#: The verdicts that say nothing about the claim.
UNDECIDED = (Verdict.ERROR, Verdict.INCONCLUSIVE)
_NEAR = 1.05


def claim_words(result: SavedResult) -> str:
    """Return the claim of an audit as a text."""
    return "no claim" if result.claim is None else short(f"{result.claim}", 80)


def no_verdict(result: SavedResult) -> str:
    """Return a sentence on why the audit decided nothing."""
    start = "The audit reached no verdict" if result.verdict is Verdict.INCONCLUSIVE else "The audit failed"
    return f"{start}: {sentence(short(result.reason or 'no reason is recorded', 400))}"


def found_beside(result: SavedResult, found: float, claimed: float | None) -> tuple[str, str]:
    """Return the bound that an audit found and the claimed value, as texts.

    If the bound refutes the claim, both texts have enough digits to differ.

    Examples
    --------
    >>> from audit.results.result import AuditResult
    >>> said = "m", None, Verdict.REFUTED
    >>> found_beside(AuditResult(*said, Evidence.STATISTICAL), 1.0991, 1.0986)
    ('≥ 1.0991', '1.0986')
    >>> found_beside(AuditResult(*said, Evidence.EXACT), 2.0991, 1.0986)
    ('= 2.1', '1.1')
    """
    exact = result.evidence is Evidence.EXACT
    rounding = ROUND_HALF_EVEN if exact else ROUND_FLOOR
    if result.refuted and claimed:
        bound, most = apart(found, claimed, rounding=rounding)
    else:
        bound, most = number(found, rounding=rounding), number(claimed)
    return f"{'=' if exact else '≥'} {bound}", most


def separately(result: SavedResult) -> str:
    """Return a sentence on the confidence of two bounds."""
    return f"Each bound holds with confidence {confidence(result.significance)} separately, not jointly."


def chance(result: SavedResult) -> str:
    """Return a sentence on the chance that a refutation by runs is wrong."""
    return f"If the claim holds, the chance of this refutation is at most {result.significance:.3g}."


def drawn(result: SavedResult) -> str:
    """Return a text with the number of runs.

    It also says after how many runs the claim was refuted, and how many did not finish.
    """
    fell = result.samples_to_refutation
    until = f", the claim was refuted after {fell:,}" if fell is not None else ""
    lost = f"; {result.unfinished:,} unfinished" if result.unfinished else ""
    return f"{result.samples:,} runs drawn{until}{lost}"


def tried(count: int, noun: str, *, of: int = 0) -> str:
    """Return a text with a number of things, and the total if it is larger.

    Examples
    --------
    >>> tried(1, "pair"), tried(3, "pair", of=1000)
    ('1 pair', '3 of 1,000 pairs')
    """
    whole = f" of {of:,}" if of > count else ""
    return f"{count:,}{whole} {noun}" if count == 1 else f"{count:,}{whole} {noun}s"


def replay_of(result: SavedResult) -> str | None:
    """Return the name of the subject whose saved witness was replayed. None if the result is of an audit."""
    saved = result.environment.get("replay_of")
    return saved if isinstance(saved, str) else None


def with_text(result: SavedResult) -> str:
    """Return a text that compares the code with the formulas of its source.

    Without formulas, the text is empty.

    Examples
    --------
    >>> from audit.results.agreement import Agreement
    >>> from audit.results.result import AuditResult, Evidence, Verdict
    >>> scale = Agreement("scale", 2.0, 2.0, 2.0, 2.0)
    >>> with_text(AuditResult("m", None, Verdict.PROVED, Evidence.EXACT, agreements=(scale,)))
    'code and formulas agree (1 comparison)'
    """
    count, differ = len(result.agreements), result.disagreements
    if differ:
        return "; ".join(map(str, differ))
    if not count:
        return ""
    worst = [each for each in result.agreements if each.claimed is not None]
    said = f"code and formulas agree ({tried(count, 'comparison')})"
    return "; ".join([said, *map(str, worst or _unreached(result))])


def _unreached(result: SavedResult) -> list[str]:
    """Return texts on the smallest faults that an exact audit detects.

    The first text says by which factor the loss would have to grow to exceed the claim. The second names the
    smallest error that the comparison with a formula detects. There are no texts if the loss is near the
    claim.
    """
    if not isinstance(result, AuditResult) or result.evidence is not Evidence.EXACT:
        return []
    found = result.epsilon_lower, result.delta_lower
    times = [most / least for most, least in zip(claimed(result), found, strict=True) if most and least]
    if times and min(times) < _NEAR:
        return []
    seen = [f"a loss {number(min(times))} times as large exceeds it"] if times else []
    faults = [each.fault for each in result.agreements if each.fault]
    seen += [f"a number of the text that is off by {max(faults):.2g} shows"] if faults else []
    return ["; ".join(["no database is known that comes near the claim", *seen])] if seen else []
