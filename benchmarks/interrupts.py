"""Ctrl-C at random moments of `suite`, `run`, `study` and `findings`.

    python benchmarks/interrupts.py [TIMES [COMMAND...]]

Each command is interrupted at a random moment of its usual time. It has to end within `PATIENCE` seconds,
with exit code 130 (or by SIGINT itself, before our code is loaded). The saved files must equal those of
an undisturbed command.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PATIENCE = 60.0
INTERRUPTED = {130, -signal.SIGINT}
#: Commands that save the verdict so far, and the verdicts that may replace that of the whole audit.
SAVES_SO_FAR, SO_FAR = {"run", "sampled"}, {"inconclusive", "not refuted"}
STARTING = (
    "Fatal Python error: init_import_site"  # Python itself says so with exit 1, before any code of ours
)
DP_AUDIT = Path(sys.executable).with_name("dp-audit")
MINE = '''
from itertools import combinations

from audit.claims import PAC, PureDP
from audit.distributions import Finite
from audit.problems import FixedProblem
from audit.studies import Curve, Study


class Declared:
    """Exactly 0.5-private: all its pairs are compared, in several chunks."""

    claim, records, size = PureDP(0.5), range(40), 2

    def __call__(self, database, rng):
        return bool(rng.random() < 0.5 + 0.1 * (sum(database) > 40))

    def distribution(self, database):
        at = 0.5 + 0.1 * (sum(database) > 40)
        return Finite([True, False], [at, 1 - at])


def coin(database, rng):
    return int(rng.integers(0, 2))


def wrong(value, m):
    return lambda database, rng: int(rng.random() < value * 2.0**-m)


problem = FixedProblem("one", [0], lambda output, database: output)
curve = Curve("halves", wrong, lambda value, m: [problem], budget=400)
study = Study("halves", "Halves.", PAC(0.1, 0.1), "c", (1.0, 4.0), (curve,))
declared = Declared()
'''
COMMANDS = {
    "suite": ["suite", "laplace-mean-c*", "--json", "saved", "--budget", "2000"],
    "run": ["run", "mine.py:declared", "--budget", "8000", "--json", "saved/one.json"],
    "sampled": ["run", "mine.py:coin", "--epsilon", "1", "--pair", "[0]", "[1]", "--json", "saved/one.json"],
    "study": ["study", "mine.py:study", "--json", "saved/study.json", "--cells", "cells"],
    "findings": ["findings", "E1", "--json", "saved/findings.json"],
}


def main() -> None:
    """Interrupt each command as often as asked, and print what went wrong."""
    times, *names = sys.argv[1:] or ["40"]
    wrong = [
        said for name in names or COMMANDS for said in interrupted(name, int(times), rng=random.Random(name))
    ]
    print("\n".join(wrong) or "nothing went wrong")
    sys.exit(bool(wrong))


def interrupted(name: str, times: int, *, rng: random.Random) -> list[str]:
    """Return what went wrong when a command was interrupted this many times."""
    began = time.monotonic()
    code, expected, _ = run(name, None)
    whole = time.monotonic() - began
    wrong, stopped = [], 0
    for _ in range(times):
        after = rng.uniform(0.0, whole)
        left, found, said = run(name, after)
        ended = left in INTERRUPTED or said.startswith(STARTING)
        stopped += ended
        if left != code and not ended:
            wrong.append(f"{name} after {after:.2f} s: exit {left}: {said}")
        wrong += [
            f"{name} after {after:.2f} s: saved {key} = {value}"
            for key, value in found.items()
            if value != expected.get(key) and not (ended and name in SAVES_SO_FAR and value in SO_FAR)
        ]
        if "Traceback" in said and left == 130:
            wrong.append(f"{name} after {after:.2f} s: {said}")
    print(f"{name}: {times} interrupts in {whole:.1f} s, {stopped} of them before it was done")
    return wrong


def run(name: str, after: float | None) -> tuple[int, dict[str, object], str]:
    """Return the exit code of a command, what it saved, and what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "mine.py").write_text(MINE)
        process = subprocess.Popen(
            [DP_AUDIT, *COMMANDS[name]],
            cwd=place,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        if after is not None:
            try:
                process.wait(after)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the whole group
        try:
            _, said = process.communicate(timeout=PATIENCE if after is not None else None)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return 999, {}, f"still running {PATIENCE} s after Ctrl-C"
        return process.returncode, dict(saved(place)), said


def saved(place: Path) -> list[tuple[str, object]]:
    """Return what was saved, by name: verdicts, brackets, numbers found.

    A damaged file raises an error.
    """
    found: list[tuple[str, object]] = []
    for path in sorted(place.glob("saved/*.json")):
        held = json.loads(path.read_text())
        for document in held if isinstance(held, list) else [held]:
            found += told(path.name, document)
    for path in sorted(place.glob("cells/*.json")):
        steps = json.loads(path.read_text())["steps"]
        found += [(f"{path.name} {step['size']}", step["verdict"]) for step in steps]
    return found


def told(name: str, document: dict[str, dict[str, object]]) -> list[tuple[str, object]]:
    if "result" in document:
        return [(name, document["result"]["verdict"])]
    if "finding" in document:
        return [(str(document["finding"]["name"]), document["finding"]["found"])]
    return [
        (f"{curve['name']} {cell['value']}", json.dumps(cell["steps"]))
        for curve in document["study"]["curves"]  # type: ignore[attr-defined]
        for cell in curve["cells"]
    ]


if __name__ == "__main__":
    main()
