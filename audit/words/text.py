"""The report for a terminal, and the shorter texts of a failed test."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR

from audit.results.fault import FaultKind
from audit.results.result import AuditResult, SavedResult
from audit.values import wording
from audit.values.on_demand import ability
from audit.words import again, alike, allowance, fault_words, pair_words, story

WIDTH = 100
MOST_LINES = 28
#: The width of a failed test's text in columns: pytest indents it by four, and a screen has 80 columns.
FAILURE_WIDTH = 76
#: The most lines of the list of assumptions, and of the list of notes. These are not counted in `MOST_LINES`.
MOST_LISTED = 4
#: The most lines of the list of what was not tested. They suffice for every entry: an audit has fewer than a
#: dozen.
MOST_UNTESTED = 24


@dataclass(frozen=True, kw_only=True)
class Told:
    """The texts on the result of any kind of audit.

    Attributes
    ----------
    title : str
        The claim, in one line.
    paragraphs : sequence of str
        The paragraphs of the report before its lists, the most important first; empty ones are left out.
    witness : str
        Sentences on the simplest witness; empty without a witness.
    hint : str
        A labelled line that says where to look next.
    bounds, meaning, runs, again : str
        The bounds found, their confidence, the runs made, and how to repeat the audit.
    standing : str
        A sentence on where the numbers of the simplest witness come from.
    mark : str
        A text that follows the headline.
    entries : sequence of str
        The lines of the report that come before the line on runs.
    """

    title: str
    paragraphs: Sequence[str]
    witness: str
    hint: str
    bounds: str
    meaning: str
    runs: str
    again: str
    standing: str = ""
    mark: str = ""
    entries: Sequence[str] = ()


def full(result: SavedResult) -> str:
    """Return the report for a terminal.

    It is plain text of at most 28 lines, and three lists. The lists are what was not tested, the assumptions
    and the notes.

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
    untested = listed("Not tested", result.not_tested, most=_scaled(MOST_UNTESTED))
    beside = entry("By the text", alike.with_text(result), most=3)
    tail = [*told.entries, *beside, *entry("Runs", told.runs), *_whole("Again", told.again)]
    most = _scaled(MOST_LINES) - len(tail)
    lines = [*lines[: most - 1], ""]
    for label, items in (("Assumes", result.assumptions), ("Notes", result.notes)):
        lines += listed(label, items, most=_scaled(MOST_LISTED))
    return "\n".join([*lines, *untested, *tail])


def short(result: SavedResult) -> str:
    """Return the text on a refutation for a failed test, at most 22 lines."""
    told = told_of(result)
    first = f"{wording.short(result.subject, 60)} does not satisfy its claim: {told.title} is refuted."
    found = _narrow(f"Found: {told.bounds} {told.meaning}", most=5)
    witness = _narrow(f"Witness: {told.witness} {told.standing}", most=10) if told.witness else []
    return "\n".join([first, *found, *witness, *_narrow(told.hint, most=5), _again(told)])


def failure(result: SavedResult) -> str:
    """Return the message of a test that failed because of this result."""
    if result.refuted:
        return short(result)
    told = told_of(result)
    if result.disagreements:
        first = f"{wording.short(result.subject, 60)} differs from the formulas of its text."
        return "\n".join([first, *map(str, result.disagreements[:9])])
    first = f"{wording.short(result.subject, 60)}: {result.verdict.name} on {told.title}."
    reason = wording.short(result.reason, 400)
    return "\n".join([first, *_narrow(reason), *_narrow(told.runs), _again(told)])


def not_refuted(result: SavedResult) -> str:
    """Return the message of a test that expected a refutation."""
    told = told_of(result)
    first = f"{wording.short(result.subject, 60)}: expected REFUTED, got {result.verdict.name}."
    return "\n".join([first, *_narrow(told.bounds), *_narrow(told.runs), _again(told)])


def _again(told: Told) -> str:
    return f"Again: {told.again.partition(chr(10))[0]}"


def told_of(result: SavedResult) -> Told:
    """Return the texts on a result of any kind."""
    told: Told = ability(f"told{result._kind}")(result)  # noqa: SLF001 - a value of ours
    return told


def told_privacy(result: AuditResult) -> Told:
    """Return the texts on the result of a privacy audit."""
    witness, bounds, meaning = result.witness, story.bounds(result), story.meaning(result)
    replayed = alike.replay_of(result) is not None and not result.refuted
    told = "" if witness is None else story.witness_story(result, witness)
    standing = "" if witness is None else story.witness_standing(witness, replayed=replayed)
    simpler = None if witness is None or not result.refuted else witness.simpler
    simplest = "" if simpler is None else story.witness_story(result, simpler)
    paragraphs = [] if witness is not None and result.refuted else [story.verdict_sentence(result)]
    if witness is not None and (result.refuted or replayed):
        paragraphs += [told, story.examples(witness), standing]
    if simplest:
        paragraphs.append(f"Simplest: {simplest}")
    return Told(
        title=story.title(result),
        paragraphs=[*paragraphs, story.why_no_simpler(result), bounds, meaning],
        witness=simplest or told,  # the fault is that of the simplest pair
        hint=_hint(result),
        bounds=bounds,
        meaning=meaning,
        standing=standing if simpler is None else story.witness_standing(simpler),
        runs=story.runs(result),
        again=again.reproduction(result),
        entries=[
            *([] if result.fault is None else entry("Fault", fault_words.told(result.fault), most=3)),
            *entry("Tried first", pair_words.remembered(result.remembered)),
        ],
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


def _narrow(text: str, *, most: int = 6) -> list[str]:
    return wording.hanging("", text, width=FAILURE_WIDTH, most=most)


def wrapped(text: str) -> list[str]:
    """Return a paragraph of at most seven lines."""
    return wording.hanging("  ", text, width=wording.columns(WIDTH), most=_scaled(7))


def entry(label: str, text: str, *, most: int = 2) -> list[str]:
    """Return a labelled text of at most `most` lines."""
    width = wording.columns(WIDTH + 20)
    return wording.hanging(f"  {label:<13}", text, width=width, most=_scaled(most))


def _whole(label: str, text: str) -> list[str]:
    """Return a labelled text without line breaks, so that a command can be copied."""
    first, *others = text.split("\n")
    return [f"  {label:<13}{first}", *(f"  {'':<13}{line}" for line in others)]


def _scaled(lines: int) -> int:
    """Return this number of lines, or more for a narrow terminal."""
    return math.ceil(lines * WIDTH / wording.columns(WIDTH))


def listed(label: str, items: tuple[str, ...], *, most: int) -> list[str]:
    """Return at most `most` lines, one or two for each item. The last line counts the items left out."""
    lines: list[str] = []
    for i, item in enumerate(items):
        told = entry("" if i else label, wording.short(item, 2 * WIDTH))
        if len(told) > most - len(lines) - (i < len(items) - 1):
            more = f"… and {len(items) - i} more (all in the result saved with --json or result.to_json())"
            return [*lines, *entry("", more)]
        lines += told
    return lines
