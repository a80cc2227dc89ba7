"""Correct mechanisms examined as if they had been refuted: no fault may be named.

The mechanisms are the correct ones of the catalogue, of the peer suite and of two files of cases.
Mechanisms of the panel that are correct or reuse their noise are examined too. Each is examined on the
first pair that its audit would try. A mechanism with a row in the file of JSON lines is not examined
again.

Usage: python benchmarks/fault_controls.py [--names PATTERN] [--lines FILE] [--cases FOLDER]
"""

import argparse
import os
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from faults import keep, read
from figures import Figure, show
from panel_entries import PANEL
from search import FOLDER

from audit import AuditResult, FaultKind, PureDP, audit_privacy
from audit.catalogue import load_catalogue
from audit.faults.examine import fault_behind
from audit.privacy import make_task
from audit.self_audit.subjects.cases import load_cases
from audit.self_audit.subjects.peers import peer_suite


def controls(folder: Path) -> Iterator[tuple[str, str, Any]]:
    """Yield the group, the name and the task of every correct mechanism."""
    for entry in load_catalogue():
        if "privacy" in entry.audits and entry.expects("privacy") != "refuted":
            yield (
                "catalogue",
                entry.name,
                lambda entry=entry: make_task(entry.factory(), **entry.options_for("privacy")),
            )
    for name, peer in peer_suite().items():
        if not peer.flawed:
            yield "peers", name, lambda peer=peer: make_task(peer.subject, PureDP(1.0), **peer.domain)
    for name, found in PANEL.items():
        if found.group in ("correct", "kept"):
            yield (
                f"panel, {found.group}",
                name,
                lambda found=found: make_task(found.start(), found.claim, **found.where),
            )
    for file in ("open_cases.py", "open_cases2.py"):
        for name, case in load_cases(folder / file).items():
            if not case.broken:
                yield (
                    "cases",
                    name,
                    lambda case=case: make_task(case.mechanism, case.claim, **case.options),
                )


@cache
def refutation() -> AuditResult:
    """Return a refutation with a witness.

    If `examined` is given, the witness has its databases.
    """
    return audit_privacy(sum, PureDP(1.0), pairs=[([0], [1])], budget=1_000)


def examined(task: Any) -> tuple[str, str]:
    """Examine a task as if its claim had been refuted, and return the fault.

    The fault is returned as its kind and its text.
    """
    refuted = refutation()
    left, right = next(iter(task.databases.proposals(np.random.default_rng(0))))[:2]
    assert refuted.witness is not None
    witness = replace(refuted.witness, left=left, right=right, simplest=None)
    fault = fault_behind(task, replace(refuted, witness=witness))
    assert fault is not None
    return fault.kind.name, fault.words


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", default="*")
    parser.add_argument("--lines", type=Path)
    parser.add_argument("--cases", type=Path, default=FOLDER)
    given = parser.parse_args()
    given.lines, given.cases = given.lines and given.lines.resolve(), given.cases.resolve()
    known, counts = read(given.lines), defaultdict[str, Counter[str]](Counter)
    folder = tempfile.TemporaryDirectory()  # some mechanisms keep their noise in files
    os.environ |= {"HOME": folder.name, "TMPDIR": folder.name}
    os.chdir(folder.name)
    for group, name, make in controls(given.cases):
        if not fnmatchcase(name, given.names):
            continue
        if (group, name) not in known:
            known[group, name] = examined(make())
            keep(given.lines, group, name, *known[group, name])
        kind, words = known[group, name]
        counts[group][kind] += 1
        if kind != FaultKind.UNKNOWN.name:
            print(f"{group}: {name}: {kind} {words}", flush=True)
    rows = []
    for group, found in counts.items():
        named = found.total() - found[FaultKind.UNKNOWN.name]
        rows.append(Figure(group, f"{named} named of {found.total()}", "0", named == 0))
    show("Correct mechanisms, examined as if they had been refuted", rows)
    if any(row.met is False for row in rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
