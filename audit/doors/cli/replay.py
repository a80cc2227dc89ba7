"""The work of ``dp-audit replay``."""

from __future__ import annotations

import dataclasses
import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from audit.codec.stored import read
from audit.doors.cli.exits import NOT_DONE, NOTHING_REFUTED, REFUTED, exit_code
from audit.doors.options import read_options, read_parameters
from audit.doors.regressions import drawn_from, load_witness, with_source
from audit.doors.summary import line
from audit.errors import AuditError, CorruptFile
from audit.subject.conversion import saved_convert
from audit.subject.loading import locate_target, require_trust
from audit.subject.subject import adapt
from audit.subject.targets import rebuild_subject
from audit.utility.replay import replay_failure
from audit.utility.result import UtilityResult
from audit.utility.saved import parse_any
from audit.utility.text import witness_story
from audit.verdict.replay import replay_witness

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from audit.results.result import AuditResult
    from audit.utility.result import UtilityWitness

    Replay = Callable[[str], AuditResult]


def replay(
    named: Sequence[str],
    *,
    settings: Iterable[str],
    convert: str | None,
    problems: str | None,
    fresh: bool,
    trust: bool,
) -> int:
    """Draw saved witnesses again, print what came out, and return the exit code."""
    files, target = _told_apart(named)
    parameters, options = read_parameters(settings), read_options({"convert": convert, "problems": problems})
    useful = _utility_of(files[0]) if len(files) == 1 else None
    if useful is not None:
        return _failure_again(useful, files[0], target, parameters, options, trust=trust)

    def again(file: str) -> AuditResult:
        result = load_witness(file)
        name = target or result.target
        if name is None:
            raise AuditError(f"{file} does not say what was audited; give TARGET too.")
        if not target:
            require_trust(name, what="TARGET", trust=trust)
        how = options.get("convert") or saved_convert(result.environment, file=file, trust=trust)
        place = name if target else locate_target(name, file, source=result.environment.get("source"))
        subject = rebuild_subject(place, result.parameters, parameters)
        answer = replay_witness(result, adapt(subject, convert=how), target=name, fresh=fresh, isolate=True)
        answer = answer if target else with_source(answer, result, place)
        command = command_line(file, target, parameters, convert=convert, fresh=fresh, trust=trust)
        return dataclasses.replace(answer, environment={**answer.environment, "command": command})

    if len(files) > 1:
        return _one_by_one(files, again)
    answer = again(files[0])
    click.echo(str(answer))
    return exit_code(answer)


def _utility_of(file: str) -> UtilityResult | None:
    """Return the utility result that a file holds, where no privacy witness is there to be replayed."""
    try:
        first, *beside = parse_any(read(file))
    except CorruptFile:
        return None  # what is wrong with it is said by who reads it next
    if isinstance(first, UtilityResult):
        return first
    if first.witness is not None:
        return None
    return next((each for each in beside if isinstance(each, UtilityResult) and each.witness), None)


def _failure_again(
    result: UtilityResult,
    file: str,
    target: str | None,
    parameters: Mapping[str, Any],
    options: Mapping[str, Any],
    *,
    trust: bool,
) -> int:
    """Draw a failure again, say what came out, and return the exit code: 1 if it is a failure still."""
    if result.witness is None:
        raise AuditError(f"{file} holds no failure, so there is nothing to replay.")
    name = target or result.target
    if name is None:
        raise AuditError(f"{file} does not say what was audited; give TARGET too.")
    if not target:
        require_trust(name, what="TARGET", trust=trust)
    how = options.get("convert") or saved_convert(result.environment, file=file, trust=trust)
    place = name if target else locate_target(name, file, source=result.environment.get("source"))
    subject = rebuild_subject(place, result.parameters, parameters)
    again = replay_failure(
        result, adapt(subject, convert=how), problems=options.get("problems"), isolate=True
    )
    same = "the same output as the saved one" if again.repeats else "a different output from the saved one"
    stands = again.failure > 0 if again.refutes is None else again.refutes
    click.echo(
        f"{witness_story(again)} This is {same}."
        if stands
        else f"NOT REPRODUCED: on `{again.problem}` the learner gave {same}, and {_kept(again)}."
    )
    said = "" if target else drawn_from(result, place)
    if said:
        click.echo(f"It was {said}.")
    return REFUTED if stands else NOTHING_REFUTED


def _kept(again: UtilityWitness) -> str:
    return "did not fail" if again.refutes is None else "fails with probability at most beta"


def command_line(
    file: str,
    target: str | None,
    parameters: Mapping[str, Any],
    *,
    convert: str | None,
    fresh: bool,
    trust: bool = False,
) -> str:
    """Return the command that repeats a replay.

    Examples
    --------
    >>> command_line("w.json", "m.py:f", {"k": 2}, convert=None, fresh=True)
    'dp-audit replay w.json m.py:f --set k=2 --fresh'
    """
    words = ["dp-audit", "replay", file, *([target] if target else [])]
    for name, value in parameters.items():
        words += ["--set", f"{name}={value}"]
    words += ["--convert", convert] if convert else []
    words += ["--fresh"] if fresh else []
    return shlex.join([*words, *(["--trust"] if trust else [])])


def _told_apart(named: Sequence[str]) -> tuple[list[str], str | None]:
    """Return the files, and the target if the last of several names is none of a file."""
    *files, last = named
    if not files or last.endswith(".json") or Path(last).is_file():
        return [*files, last], None
    return files, last


def _one_by_one(files: list[str], again: Replay) -> int:
    """Print a line for each file; one that is damaged or cannot be replayed does not stop the others."""
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
    return next((code for code in (REFUTED, NOT_DONE) if counts[code]), NOTHING_REFUTED)
