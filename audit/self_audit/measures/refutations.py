"""How many runs a refutation takes.

The audits are of the catalogue's flawed entries, of the peer suite and of a file of cases. A fault that a
declared law shows takes no runs and is counted separately. Correct mechanisms of the peer suite and of the
cases are controls. An audit at significance 1e-6 refutes each with probability at most 1e-6.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from audit.catalogue import load_catalogue
from audit.claims import PureDP
from audit.results.result import AuditResult, Evidence
from audit.self_audit.audits import Audits, Sizes, Task
from audit.self_audit.judging import judged_share, ranged
from audit.self_audit.row import Row
from audit.self_audit.subjects.cases import Case
from audit.self_audit.subjects.peers import Peer, peer_suite

PART = "runs to refutation"
SIGNIFICANCE = 1e-6
BUDGET = 200_000
PEER_BUDGET = 300_000
#: The number of judged rows without a file of cases.
JUDGED = 1


def rows(audits: Audits, sizes: Sizes) -> Iterator[Row]:
    """Yield the rows of all mechanisms."""
    yield _gallery(audits, sizes.every)
    flawed = {name: peer for name, peer in peer_suite().items() if peer.flawed}
    sound = {name: peer for name, peer in peer_suite().items() if not peer.flawed}
    what = "peer suite at claimed ε = 1, no pair given"
    yield _faulty(audits, what, {name: _peer_task(peer, PEER_BUDGET) for name, peer in flawed.items()})
    what = f"correct mechanisms of the peer suite, {sizes.controls:,} runs,"
    yield _controls(audits, what, {name: _peer_task(peer, sizes.controls) for name, peer in sound.items()})
    yield from _cases(audits, audits.cases)


def _peer_task(peer: Peer, budget: int) -> Task:
    options = {**peer.domain, "significance": SIGNIFICANCE, "budget": budget}
    return Task(peer.subject, PureDP(1.0), options)


def _cases(audits: Audits, cases: Mapping[str, Case]) -> Iterator[Row]:
    tasks = {name: case_task(case, budget=BUDGET) for name, case in cases.items()}
    faulty = [name for name, case in cases.items() if case.broken and case.by_counting]
    hidden = [name for name, case in cases.items() if case.broken and not case.by_counting]
    sound = [name for name, case in cases.items() if not case.broken]
    left = f"; not audited, because counting cannot show them: {', '.join(hidden)}" if hidden else ""
    if faulty:
        row = _faulty(audits, "cases of the file, pair given", {name: tasks[name] for name in faulty})
        yield replace(row, note=row.note + left)
    if sound:
        yield _controls(audits, "controls of the file", {name: tasks[name] for name in sound})


def case_task(case: Case, *, budget: int) -> Task:
    """Return the audit of a case on its pair. A budget that cannot refute the claim is raised."""
    from audit.verdict.by_runs import least_budget

    delta = getattr(case.claim, "delta", 0.0)
    least = least_budget(case.claim.epsilon, delta, SIGNIFICANCE)
    options = {**case.options, "budget": max(budget, least), "significance": SIGNIFICANCE}
    return Task(case.mechanism, case.claim, options)


def _gallery(audits: Audits, every: int) -> Row:
    tasks = {}
    entries = [entry for entry in load_catalogue() if "privacy" in entry.flaws]
    for entry in entries[::every]:
        options = {"significance": SIGNIFICANCE, **entry.options_for("privacy")}
        tasks[entry.name] = Task(entry.factory(), options.pop("claim", None), options)
    some = "" if every == 1 else f", one entry in {every}"
    return _faulty(audits, f"flawed gallery of the catalogue{some}", tasks)


def _faulty(audits: Audits, what: str, tasks: Mapping[str, Task]) -> Row:
    found = dict(zip(tasks, audits.results(PART, what, list(tasks.values())), strict=True))
    used = [_runs(result) for result in found.values() if not _by_law(result)]
    missed = [name for name, result in found.items() if not result.refuted]
    by_law = len(found) - len(used)
    note = f"{len(found) - len(missed)} of {len(found)} refuted"
    note += f", {by_law} by a declared law, without runs" if by_law else ""
    note += f"; not refuted: {', '.join(missed)}" if missed else ""
    told = tuple((name, _told(result)) for name, result in found.items())
    return ranged(PART, what, used, kind="runs", note=note, details=told)


def _controls(audits: Audits, what: str, tasks: Mapping[str, Task]) -> Row:
    found = dict(zip(tasks, audits.results(PART, what, list(tasks.values())), strict=True))
    return judged_share(
        PART,
        f"{what} refuted, significance {SIGNIFICANCE:g}",
        count=sum(result.refuted for result in found.values()),
        n=len(found),
        side="at most",
        limit=SIGNIFICANCE,
        level=audits.level,
        details=[(name, _told(result)) for name, result in found.items()],
    )


def _runs(result: AuditResult) -> float:
    """Return the runs that the refutation took, on both databases together. ∞ if nothing was refuted."""
    runs = result.samples_to_refutation
    return float(runs) if result.refuted and runs else math.inf


def _by_law(result: AuditResult) -> bool:
    """Return whether a declared law refuted the claim."""
    return result.refuted and result.evidence is Evidence.EXACT


def _told(result: AuditResult) -> str:
    if not result.refuted:
        return f"{result.verdict.name} after {result.samples:,} runs"
    return "refuted by its law" if _by_law(result) else f"refuted after {_runs(result):,.0f} runs"
