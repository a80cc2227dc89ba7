"""The report for a terminal, and the shorter text of a failed test."""

import textwrap

from audit.results.result import AuditResult, Verdict
from audit.words import again, story

WIDTH = 100
MOST_LINES = 28
MOST_FAILURE_LINES = 10


def full(result: AuditResult) -> str:
    """Return the terminal report: at most 28 lines of plain text.

    Examples
    --------
    >>> from audit.results.result import Evidence
    >>> print(full(AuditResult("counter", None, "replace one", Verdict.ERROR, Evidence.EXACT, "It raises.")))
    ERROR  counter  no claim under replace one
    <BLANKLINE>
      The audit failed: It raises.
      This says nothing for or against the claim.
    <BLANKLINE>
      Runs         0 runs drawn; 0 pairs tried
      Again        the same audit with seed=0
    """
    lines = [_headline(result), ""]
    for paragraph in filter(None, _paragraphs(result)):
        lines += wrapped(paragraph)
    tail = [*entry("Runs", story.runs(result)), *entry("Again", again.reproduction(result))]
    lines = [*lines[: MOST_LINES - len(tail) - 1], ""]
    lists = (("Assumes", result.assumptions), ("Notes", result.notes), ("Not tested", result.not_tested))
    for label, items in lists:
        lines += listed(label, items, most=min(4, MOST_LINES - len(lines) - len(tail)))
    return "\n".join([*lines, *tail])


def short(result: AuditResult) -> str:
    """Return the text of a refutation as a failed test shows it: at most ten lines."""
    subject = story.short(result.subject, 60)
    lines = [f"{subject} does not satisfy its claim: {story.title(result)} is refuted."]
    if result.witness is not None:
        told = textwrap.wrap(story.witness_story(result, result.witness), 140, max_lines=4, placeholder=" …")
        lines += [*told, story.witness_standing(result.witness)]
    lines += [
        story.bounds(result),
        story.meaning(result),
        f"Again: {again.reproduction(result)}",
        _hint(result),
    ]
    return "\n".join([line for line in lines if line][:MOST_FAILURE_LINES])


def _headline(result: AuditResult) -> str:
    said = f"{result.verdict.name}  {story.short(result.subject, 60)}  {story.title(result)}"
    return f"{said}  (nothing varies)" if result.only_output is not None else said


def _paragraphs(result: AuditResult) -> list[str]:
    """Return what is said before the lists, the weightiest first."""
    witness = result.witness if result.refuted else None
    told: list[str] = []
    if result.witness is not None and not result.refuted and story.replay_of(result) is not None:
        told = [story.verdict_sentence(result), story.witness_story(result, result.witness)]
        told += [story.examples(result.witness), story.witness_standing(result.witness, replayed=True)]
    elif witness is not None:
        told = [story.witness_story(result, witness), story.examples(witness)]
        told.append(story.witness_standing(witness))
    elif result.refuted or result.verdict is not Verdict.REFUTED:
        told = [story.verdict_sentence(result)]
    if witness is not None and witness.simpler is not None:
        told.append(f"Simplest: {story.witness_story(result, witness.simpler)}")
    told.append(story.why_no_simpler(result))
    return [*told, story.bounds(result), story.meaning(result)]


def wrapped(text: str) -> list[str]:
    """Return a paragraph of at most five lines."""
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent="  ",
        subsequent_indent="  ",
        max_lines=5,
        placeholder=" …",
        break_on_hyphens=False,
    )


def entry(label: str, text: str, *, most: int = 2) -> list[str]:
    """Return a labelled text of at most so many lines, wider than prose: a command is copied in one piece."""
    start = f"  {label:<13}"
    return textwrap.wrap(
        text,
        WIDTH + 20,
        initial_indent=start,
        subsequent_indent=" " * len(start),
        max_lines=most,
        placeholder=" …",
        break_on_hyphens=False,
    )


def listed(label: str, items: tuple[str, ...], *, most: int) -> list[str]:
    """Return at most `most` lines, two an item; the last says how many items were left out."""
    lines: list[str] = []
    for i, item in enumerate(items):
        told = entry("" if i else label, story.short(item, 2 * WIDTH))
        room = most - len(lines) - (i < len(items) - 1)
        if len(told) > room:
            more = f"… and {len(items) - i} more" if i else "… cut short"
            more += " (all in the result saved with --json or result.to_json())"
            return [*lines, *entry("" if i else label, more)][: max(most, 0)]
        lines += told
    return lines


def _hint(result: AuditResult) -> str:
    epsilon, _ = story.claimed(result)
    if epsilon is None or result.epsilon_lower <= epsilon:
        return "Hint: print(result) for the whole finding; result.witness holds the pair and the event."
    least = story.at_least(result.epsilon_lower)
    where = "check the sensitivity and the noise scale on these two databases"
    return f"Hint: a correct claim needs ε ≥ {least}, perhaps more; {where}."
