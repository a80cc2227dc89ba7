"""Which mutations of the catalogue's constants the audits and the tests notice.

Every mutation of `mutated.py` is made in a copy of the tree. There the entries concerned are audited.
Then the tests concerned are run until the first failure. With a file of results, a run continues where it
was stopped.

Usage: python benchmarks/mutations.py [--only suite|tests] [--found FILE] [--rows ROWS] [--kind KIND]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from mutated import MUTATIONS, Mutation

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("audit", "learners", "mechanisms", "reports", "tests", "examples", "benchmarks", "pyproject.toml")
LONGEST = 420
_SUITE = """
import sys
from audit.errors import AuditError
from audit.catalogue import load_catalogue
from audit.doors.carry_out import audit_entry
from audit.doors.formulas import compared
from audit.doors.summary import met
try:
    entries = [entry for entry in load_catalogue() if entry.name in sys.argv[1:]]
except AuditError as error:
    sys.exit(f"noticed: no catalogue: {error}")
for entry in entries:
    if entry.formulas is not None:
        try:
            made = entry.factory()
            found = [each for each in compared(entry.formulas(made), made) if not each.agrees]
        except Exception as error:
            found = [repr(error)]  # the audit of the entry fails
        if found:  # ~: the comparisons alone show it; the audit of the entry makes them too
            sys.exit(f"noticed: ~ {entry.name}: {found[0]}")
for entry in entries:
    for kind in entry.audits:
        result = audit_entry(entry, kind, {})
        if not met(result):
            said = result.disagreements[:1] or (result.verdict.name, result.reason)
            sys.exit(f"noticed: {entry.name} ({kind}): {said}")
"""


def name_of(mutation: Mutation) -> str:
    return f"{mutation.path}: {' '.join(mutation.old.split())} → {' '.join(mutation.new.split())}"


def copied(folder: Path) -> None:
    folder.mkdir()
    for part in PARTS:
        whole = ROOT / part
        if whole.is_dir():
            shutil.copytree(whole, folder / part)  # with the compiled modules
        elif whole.exists():
            shutil.copy2(whole, folder / part)


def spoilt(folder: Path, mutation: Mutation) -> None:
    place = folder / mutation.path
    source = place.read_text()
    if source.count(mutation.old) != 1:
        raise SystemExit(
            f"{mutation.path} must hold once: {mutation.old!r}; found {source.count(mutation.old)}."
        )
    place.write_text(source.replace(mutation.old, mutation.new))


def run(folder: Path, *command: str) -> tuple[int, str]:
    environment = {**os.environ, "PYTHONPATH": str(folder), "OPENBLAS_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            [sys.executable, *command],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return 0, "took too long"
    return done.returncode, done.stdout[-2000:] + done.stderr[-600:]


def noticed_by_suite(folder: Path, mutation: Mutation) -> tuple[bool, str]:
    code, said = run(folder, "-c", _SUITE, *mutation.entries)
    lines = [line for line in said.splitlines() if line.strip()]
    if code and not (lines and lines[-1].startswith("noticed: ")):
        raise SystemExit(f"{mutation.path}: the run itself failed: {said}")
    return code != 0, (lines[-1][:160] if lines else "")


def noticed_by_tests(folder: Path, mutation: Mutation) -> tuple[bool, str]:
    told = " or ".join(f"{entry}{end}]" for entry in mutation.entries for end in ("", "-utility"))
    entries = ("tests/test_catalogue_audit.py", "-k", told)
    for command in (entries, mutation.tests):
        code, said = run(folder, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *command)
        if code not in (0, 5):  # 5: pytest found no such test
            failed = [line for line in said.splitlines() if line.startswith(("FAILED", "ERROR", "E  "))]
            return True, (failed[-1][:160] if failed else f"code {code}")
    return False, ""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", choices=["suite", "tests"])
    parser.add_argument(
        "--found", type=Path, default=Path("mutations.json"), help="what is known, and goes on"
    )
    parser.add_argument("--rows", help="only mutations of rows that begin so: M, L1")
    parser.add_argument("--kind", choices=["privacy", "utility"], help="only mutations of this kind")
    parser.add_argument("--sound", action="store_true", help="first compare a copy without a mutation")
    given = parser.parse_args()
    known: dict[str, dict[str, Any]] = json.loads(given.found.read_text()) if given.found.exists() else {}
    if given.sound:
        sound()
    ways = {"suite": noticed_by_suite, "tests": noticed_by_tests}
    for mutation in MUTATIONS:
        if given.rows and not any(row.startswith(given.rows) for row in mutation.rows.split(", ")):
            continue
        if given.kind not in (None, mutation.kind):
            continue
        name = name_of(mutation)
        row = known.setdefault(name, {"rows": mutation.rows, "kind": mutation.kind})
        left = [way for way in ways if way not in row and given.only in (None, way)]
        if not left:
            continue
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made) / "tree"
            copied(folder)
            spoilt(folder, mutation)
            for way in left:
                began = time.monotonic()
                if way == "tests" and row.get("suite said", "").startswith("noticed: ~"):
                    row[way], row["tests said"] = True, "tests/test_catalogue_audit.py: the same comparison"
                else:
                    row[way], row[f"{way} said"] = ways[way](folder, mutation)
                said, took = "noticed" if row[way] else "MISSED", time.monotonic() - began
                print(f"{way:5} {said:7} {took:4.0f} s  {name[:110]}", flush=True)
                given.found.write_text(json.dumps(known, indent=1, ensure_ascii=False))
    told(known)


def sound() -> None:
    """Check that the comparisons of all entries find nothing on an unchanged copy."""
    every = sorted({entry for mutation in MUTATIONS for entry in mutation.entries})
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "tree"
        copied(folder)
        code, said = run(
            folder, "-c", _SUITE.split("for entry in entries:\n    for kind", maxsplit=1)[0], *every
        )
    if code:
        raise SystemExit(f"Something is noticed in a copy without a mutation: {said}")


def told(known: dict[str, dict[str, Any]]) -> None:
    counts: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for row in known.values():
        for way in ("suite", "tests"):
            if way in row:
                counts[row["kind"], way].append(row[way])
    for (kind, way), noticed in sorted(counts.items()):
        print(f"{kind:8} {way:6} {sum(noticed):3} of {len(noticed):3}: {sum(noticed) / len(noticed):.0%}")
    for name, row in known.items():
        for way in ("suite", "tests"):
            if row.get(way) is False:
                print(f"missed by {way:6} {row['rows']:10} {name}")


if __name__ == "__main__":
    main()
