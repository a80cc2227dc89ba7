"""The text on how to repeat an audit."""

import shlex

from audit.results.result import AuditResult, Evidence, SavedResult
from audit.values.said import UNSEEDED
from audit.values.wording import short, visible
from audit.words.alike import replay_of

#: A command with more characters is not shown, because a shortened command cannot be run.
LONGEST = 4_000


def command(result: SavedResult) -> str | None:
    """Return the command that repeats the audit.

    None if there is no single command, or if the command is too long.
    """
    given = result.environment.get("command")
    if isinstance(given, str) and given:
        return _shown(given)
    if getattr(result, "earlier", ()):  # several audits cannot be repeated by one command
        return None
    if result.target is None or replay_of(result) is not None:
        return None
    options = f"{result._only}--seed {result.seed} --significance {result.significance:g}"  # noqa: SLF001
    options += f" --budget {result.budget}" if result.budget else ""
    options += "" if result.numerics == "ideal" else f" --numerics {result.numerics}"
    return _shown(f"dp-audit run {shlex.quote(result.target)} {options}")


def _shown(line: str) -> str | None:
    return visible(line) if len(line) <= LONGEST else None


def reproduction(result: SavedResult) -> str:
    """Return a text on how to reproduce the result. A command stands alone on the first line, for copying."""
    again = command(result)
    if again is not None:
        return f"{again}\nor result.replay()" if _replays(result) else again
    if earlier := getattr(result, "earlier", ()):
        replay = "result.replay(), or " if _replays(result) else ""
        return f"{replay}the same {len(earlier) + 1} audits in a row, with seed={result.seed}"
    if replay_of(result) is not None:
        return "result.replay()" if _replays(result) else "the same replay"
    if _is_unseeded(result):
        return "result.replay(), which draws new runs" if _replays(result) else "the same audit, on new runs"
    call = "result.replay(), or the same audit" if _replays(result) else "the same audit"
    pairs = " and remember=result.remembered" if getattr(result, "remembered", ()) else ""
    return f"{call} with seed={result.seed}{pairs}"


def python_lines(result: AuditResult) -> list[str]:
    """Return lines of Python that run the witness of a saved result again.

    Without a witness, the lines repeat the audit. There are no lines if a command can repeat the audit.
    """
    if not _replays(result):
        return [] if command(result) else _audit_lines(result)
    loading = "result = AuditResult.from_json(Path(FILE).read_text())  # FILE: where this result was saved"
    lines = ["from pathlib import Path", "from audit import AuditResult", loading]
    subject = "" if result.target else "subject"
    if result.evidence is Evidence.EXACT:
        return [*lines, f"print(result.replay({subject}))  # from the declared laws, checked against runs"]
    if _is_unseeded(result):
        return [*lines, f"print(result.replay({subject}))  # new runs"]
    anew = f"{subject}{', ' if subject else ''}fresh=True"
    return [
        *lines,
        f"print(result.replay({subject}))  # the same runs",
        f"print(result.replay({anew}))  # new runs",
    ]


def _audit_lines(result: AuditResult) -> list[str]:
    options = f"seed={result.seed}, significance={result.significance:g}"
    options += f", budget={result.budget}" if result.budget else ""
    options += "" if result.numerics == "ideal" else f', numerics="{result.numerics}"'
    claim = "" if result.claim is None else f"{short(f'{result.claim}', 80)}, "
    return [f"audit_privacy(subject, {claim}{options})  # add the same databases and other options"]


def _is_unseeded(result: SavedResult) -> bool:
    """Return whether runs of the subject depend on more than the seed."""
    return any(getattr(said, "kind", "") in UNSEEDED for said in (*result.notes, *result.assumptions))


def _replays(result: SavedResult) -> bool:
    return result.witness is not None and result.witness.replayable
