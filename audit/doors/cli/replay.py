"""The work of ``dp-audit replay``."""

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from audit.codec.stored import read
from audit.doors.cli.exits import NOT_DONE, NOTHING_REFUTED, REFUTED, exit_code, worst_exit_code
from audit.doors.cli.reading import read_options, read_parameters
from audit.doors.cli.run import command_line
from audit.doors.regressions import drawn_from, load_witness, saved_subject, with_source
from audit.doors.summary import line
from audit.errors import AuditError, CorruptFile
from audit.results.result import AuditResult
from audit.subject.subject import Subject
from audit.utility.replay import replay_failure
from audit.utility.result import UtilityResult
from audit.utility.saved import Saved, parse_any
from audit.utility.text import witness_story
from audit.verdict.replay import replay_witness


def replay(
    named: Sequence[str],
    *,
    settings: Iterable[str],
    convert: str | None,
    problems: str | None,
    fresh: bool,
    trust: bool,
) -> int:
    """Replay saved witnesses, print the results, and return the exit code."""
    files, target = _told_apart(named)
    parameters, options = read_parameters(settings), read_options({"convert": convert, "problems": problems})
    useful = _utility_of(files[0]) if len(files) == 1 else None

    def drawn(result: Saved, file: str) -> tuple[Subject, str]:
        told: dict[str, Any] = {"target": target, "parameters": parameters, "convert": options.get("convert")}
        return saved_subject(result, file, **told, what="TARGET", trust=trust)

    if useful is not None:
        if useful.witness is None:
            raise AuditError(f"{files[0]} holds no failure, so there is nothing to replay.")
        subject, place = drawn(useful, files[0])
        said = None if target else drawn_from(useful, place)
        return _failure_again(useful, subject, problems=options.get("problems"), said=said)

    def again(file: str) -> AuditResult:
        result = load_witness(file)
        subject, place = drawn(result, file)
        answer = replay_witness(result, subject, target=target or result.target, fresh=fresh, isolate=True)
        answer = answer if target else with_source(answer, result, place)
        words = ["replay", file, *([target] if target else [])]
        command = command_line(words, parameters, {"convert": convert, "fresh": fresh, "trust": trust})
        return dataclasses.replace(answer, environment={**answer.environment, "command": command})

    if len(files) > 1:
        return _one_by_one(files, again)
    answer = again(files[0])
    click.echo(str(answer))
    return exit_code(answer)


def _utility_of(file: str) -> UtilityResult | None:
    """Return the utility result in a file that is to be replayed.

    None if the file holds a privacy witness or cannot be read.
    """
    try:
        first, *beside = parse_any(read(file))
    except CorruptFile:
        return None  # the next function that reads the file reports the error
    if isinstance(first, UtilityResult):
        return first
    if first.witness is not None:
        return None
    return next((each for each in beside if isinstance(each, UtilityResult) and each.witness), None)


def _failure_again(result: UtilityResult, subject: Subject, *, problems: Any, said: str | None) -> int:
    """Replay a failure, print the result, and return the exit code.

    The exit code is 1 if the claim still fails.
    """
    again = replay_failure(result, subject, problems=problems, isolate=True)
    told: dict[bool | None, str] = {
        True: "the same output as the saved one",
        False: "a different output from the saved one",
    }
    same = told.get(again.repeats, "an output; the saved one is known by its text only")
    stands = again.failure > 0 if again.refutes is None else again.refutes
    kept = "did not fail" if again.refutes is None else "fails with probability at most beta"
    click.echo(
        f"{witness_story(again)} This is {same}."
        if stands
        else f"NOT REPRODUCED: on `{again.problem}` the learner gave {same}, and {kept}."
    )
    if said:
        click.echo(f"It was {said}.")
    return REFUTED if stands else NOTHING_REFUTED


def _told_apart(named: Sequence[str]) -> tuple[list[str], str | None]:
    """Return the files and the target.

    If several names are given and the last one is not a file, it is the target. Otherwise the target is None.
    """
    *files, last = named
    if not files or last.endswith(".json") or Path(last).is_file():
        return [*files, last], None
    return files, last


def _one_by_one(files: list[str], again: Callable[[str], AuditResult]) -> int:
    """Print a line for each file, and return the exit code.

    A file that is damaged or cannot be replayed gets a line too.
    """
    counts: Counter[int] = Counter()
    for file in files:
        try:
            answer = again(file)
        except AuditError as error:
            counts[NOT_DONE] += 1
            said = str(error).removeprefix(file).lstrip(": ")
            click.echo(f"{file}: not replayed: {said}")
        else:
            counts[exit_code(answer)] += 1
            click.echo(f"{file}: {line(answer)}")
    click.echo(
        f"{len(files)} refutations replayed: {counts[REFUTED]} stand, {counts[NOTHING_REFUTED]} do not, "
        f"{counts[NOT_DONE]} could not be replayed"
    )
    return worst_exit_code(counts)
