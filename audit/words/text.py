"""The report for a terminal and the shorter texts of a failed test: one layout for every kind of audit."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR

from audit.results.fault import FaultKind
from audit.results.result import AuditResult, SavedResult
from audit.values import wording
from audit.values.on_demand import ability
from audit.words import again, alike, allowance, fault_words, story

WIDTH = 100
MOST_LINES = 28
MOST_FAILURE_LINES = 10


@dataclass(frozen=True, kw_only=True)
class Told:
    """What is said of a result, whatever kind of audit it is from.

    Attributes
    ----------
    title : str
        The claim, in one line.
    paragraphs : sequence of str
        The report before its lists, the weightiest first; empty ones are left out.
    witness : str
        The witness in sentences; empty without one.
    worth : sequence of str
        What a failed test says after its witness: where the numbers come from, and what they are worth.
    hint : str
        Where to look next: a labelled line.
    bounds, runs, again : str
        What is known of the loss or the failure, what was drawn, and how to see the same again.
    mark : str
        What stands behind the headline.
    entries : sequence of str
        Lines of the report before that of its runs.
    """

    title: str
    paragraphs: Sequence[str]
    witness: str
    worth: Sequence[str]
    hint: str
    bounds: str
    runs: str
    again: str
    mark: str = ""
    entries: Sequence[str] = ()


def full(result: SavedResult) -> str:
    """Return the terminal report: at most 28 lines of plain text.

    Examples
    --------
    >>> from audit.results.result import Evidence, Verdict
    >>> failed = "counter", None, Verdict.ERROR, Evidence.EXACT, "It raises."
    >>> print(full(AuditResult(*failed, relation="local")))
    ERROR  counter  no claim under local
    <BLANKLINE>
      The audit failed: It raises.
      This says nothing for or against the claim.
    <BLANKLINE>
      Runs         0 runs drawn; 0 pairs tried
      Again        the same audit with seed=0
    """
    told = told_of(result)
    lines = [f"{result.verdict.name}  {wording.short(result.subject, 60)}  {told.title}{told.mark}", ""]
    for paragraph in filter(None, told.paragraphs):
        lines += wrapped(paragraph)
    tail = [
        *told.entries,
        *entry("By the text", alike.with_text(result), most=3),
        *entry("Runs", told.runs),
        *entry("Again", told.again),
    ]
    lines = [*lines[: MOST_LINES - len(tail) - 1], ""]
    lists = (("Assumes", result.assumptions), ("Notes", result.notes), ("Not tested", result.not_tested))
    for label, items in lists:
        lines += listed(label, items, most=min(4, MOST_LINES - len(lines) - len(tail)))
    return "\n".join([*lines, *tail])


def short(result: SavedResult) -> str:
    """Return the text of a refutation as a failed test shows it: at most ten lines."""
    told = told_of(result)
    first = f"{wording.short(result.subject, 60)} does not satisfy its claim: {told.title} is refuted."
    witness = textwrap.wrap(told.witness, 140, max_lines=4, placeholder=" …")
    lines = [first, *witness, *told.worth, f"Again: {told.again}", told.hint]
    return "\n".join([line for line in lines if line][:MOST_FAILURE_LINES])


def failure(result: SavedResult) -> str:
    """Return the text of a test that failed on this result."""
    if result.refuted:
        return short(result)
    told = told_of(result)
    if result.disagreements:
        first = f"{wording.short(result.subject, 60)} is not what its text says."
        return "\n".join([first, *map(str, result.disagreements)][:MOST_FAILURE_LINES])
    first = f"{wording.short(result.subject, 60)}: {result.verdict.name} on {told.title}."
    lines = (first, wording.short(result.reason, 400), told.runs, f"Again: {told.again}")
    return "\n".join(filter(None, lines))


def not_refuted(result: SavedResult) -> str:
    """Return the text of a test that expected a refutation which did not come."""
    told = told_of(result)
    first = f"{wording.short(result.subject, 60)}: expected REFUTED, got {result.verdict.name}."
    return "\n".join(filter(None, (first, told.bounds, told.runs, f"Again: {told.again}")))


def told_of(result: SavedResult) -> Told:
    """Return what is said of a result of any kind."""
    told: Told = ability(f"told{result._kind}")(result)  # noqa: SLF001 - a value of ours
    return told


def told_privacy(result: AuditResult) -> Told:
    """Return what is said of a privacy audit."""
    witness, bounds, meaning = result.witness, story.bounds(result), story.meaning(result)
    replayed = alike.replay_of(result) is not None and not result.refuted
    told = "" if witness is None else story.witness_story(result, witness)
    standing = "" if witness is None else story.witness_standing(witness, replayed=replayed)
    paragraphs = [] if witness is not None and result.refuted else [story.verdict_sentence(result)]
    if witness is not None and (result.refuted or replayed):
        paragraphs += [told, story.examples(witness), standing]
    if witness is not None and result.refuted and witness.simpler is not None:
        paragraphs.append(f"Simplest: {story.witness_story(result, witness.simpler)}")
    return Told(
        title=story.title(result),
        paragraphs=[*paragraphs, story.why_no_simpler(result), bounds, meaning],
        witness=told,
        worth=(standing, bounds, meaning),
        hint=_hint(result),
        bounds=bounds,
        runs=story.runs(result),
        again=again.reproduction(result),
        entries=[] if result.fault is None else entry("Fault", fault_words.told(result.fault), most=3),
        mark="" if result.only_output is None else "  (nothing varies)",
    )


def _hint(result: AuditResult) -> str:
    if result.fault is not None and result.fault.kind is not FaultKind.UNKNOWN:
        return f"Fault: {fault_words.told(result.fault)}"
    epsilon, _ = allowance.claimed(result)
    if epsilon is None or result.epsilon_lower <= epsilon:
        return "Hint: print(result) for the whole finding; result.witness holds the pair and the event."
    least, _ = wording.apart(result.epsilon_lower, epsilon, rounding=ROUND_FLOOR)
    where = "check the sensitivity and the noise scale on these two databases"
    return f"Hint: a correct claim needs ε ≥ {least}, perhaps more; {where}."


def wrapped(text: str) -> list[str]:
    """Return a paragraph of at most seven lines."""
    return wording.hanging("  ", text, width=WIDTH, most=7)


def entry(label: str, text: str, *, most: int = 2) -> list[str]:
    """Return a labelled text of at most this many lines, wider than prose: commands are copied whole."""
    return wording.hanging(f"  {label:<13}", text, width=WIDTH + 20, most=most)


def listed(label: str, items: tuple[str, ...], *, most: int) -> list[str]:
    """Return at most `most` lines, two an item; the last says how many items were left out."""
    lines: list[str] = []
    for i, item in enumerate(items):
        told = entry("" if i else label, wording.short(item, 2 * WIDTH))
        room = most - len(lines) - (i < len(items) - 1)
        if len(told) > room:
            more = f"… and {len(items) - i} more" if i else "… cut short"
            more += " (all in the result saved with --json or result.to_json())"
            return [*lines, *entry("" if i else label, more)][: max(most, 0)]
        lines += told
    return lines
