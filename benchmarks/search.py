"""Audits that must find the databases themselves.

The significance is 1e-6. For an open case the audit gets a strategy for records, written from the case's
`domain`. The targets:

- A faulty case is refuted within 300,000 runs, in the median over the seeds.
- Its simplest witness has at most as many records as the case's example pair.
- A control is not refuted within 1,000,000 runs.
- Of the peer suite at ε = 1, exactly the rows whose true ε is larger are refuted within 300,000 runs.

Last comes the cost of the search: its share of the runs, its seconds, and the time of an audit at 50 ms
per call.

Usage: python benchmarks/search.py [CASES] [--seeds N] [--runs N] [--jobs N] [--only PART]
       CASES is the folder of open_cases.py.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from figures import Figure, show
from hypothesis import strategies as st
from joblib import Parallel, delayed

from audit import PureDP, audit_privacy
from audit.self_audit.measures.refutations import SIGNIFICANCE
from audit.self_audit.subjects.cases import Case, load_cases
from audit.self_audit.subjects.peers import Peer, peer_suite
from audit.values.progress import AuditProgressed

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "cases"
MOST_RUNS = 300_000
SHARE = 0.4

#: The domain that a user would write after reading only the case's `domain`. Strategies are made in the
#: process that uses them, because not every strategy can be sent to a worker.
DOMAINS: dict[str, Callable[[], dict[str, Any]]] = {
    "o01": lambda: {"records": [0, 1], "size": 10},
    "o02": lambda: {"records": st.floats(-1, 3), "size": (1, 3)},
    "o03": lambda: {"records": [0, 1, 2], "size": (1, 4)},
    "o04": lambda: {"records": st.floats(allow_nan=False, allow_infinity=False), "size": (1, 3)},
    "o05": lambda: {"records": [0, 1], "size": (0, 3)},
    "o06": lambda: {"records": st.integers(0, 100), "size": (0, 5)},
    "o07": lambda: {"records": [0, 1], "size": (1, 4)},
    "o08": lambda: {"records": [0, 1, 2, 3], "size": (1, 4)},
    "o09": lambda: {"records": list(range(11)), "size": (2, 4)},
    "o11": lambda: {"records": st.floats(allow_nan=False, allow_infinity=False), "size": (0, 4)},
    "o12": lambda: {"records": st.text(max_size=3), "size": (0, 4)},
    "o13": lambda: {"records": st.floats(allow_infinity=False), "size": (1, 20)},
    "o14": lambda: {"records": st.floats(-1, 1), "size": (0, 100)},
    "o16": lambda: {"records": st.text(max_size=3), "size": (0, 4)},
    "oc1": lambda: {"records": [0, 1, 2], "size": (0, 4)},
    "oc2": lambda: {"records": st.integers(0, 100), "size": (0, 5)},
    "oc3": lambda: {"records": [(x, y) for x in "xy" for y in range(3)], "size": (1, 3)},
    "oc4": lambda: {"records": st.text(max_size=3), "size": (0, 4)},
}


@dataclass
class Meter:
    """A listener that counts the runs of the search separately."""

    before: int = 0
    runs: dict[str, int] = field(default_factory=dict)

    def __call__(self, progress: Any) -> None:
        if not isinstance(progress, AuditProgressed):
            return
        self.runs[progress.stage] = self.runs.get(progress.stage, 0) + progress.runs - self.before
        self.before = progress.runs

    @property
    def share(self) -> float:
        """The search's share of the runs made up to the refutation."""
        return self.runs.get("searching", 0) / max(1, self.before)


@dataclass(frozen=True)
class Outcome:
    """The outcome of one audit."""

    refuted: bool
    runs: float
    share: float
    records: int
    told: str


def audited(mechanism: Any, claim: Any, **options: Any) -> Outcome:
    """Carry out an audit, and return what the tables need."""
    meter = Meter()
    result = audit_privacy(mechanism, claim, significance=SIGNIFICANCE, progress=meter, **options)
    records, told = 0, result.verdict.name
    if result.witness is not None:
        simplest = result.witness.simplest or result.witness
        records = len(simplest.left) + len(simplest.right)
        told = f"{simplest.left} {simplest.right}: {simplest.event.words()}"
    return Outcome(result.refuted, result.samples_to_refutation or math.inf, meter.share, records, told)


# Open cases


def open_case(folder: Path, name: str, *, seed: int, budget: int) -> Outcome:
    case = load_cases(folder / "open_cases.py")[name]
    options = {key: value for key, value in case.options.items() if key != "pairs"}
    return audited(case.mechanism, case.claim, budget=budget, seed=seed, **options, **DOMAINS[name]())


def faulty(name: str, case: Case, found: list[Outcome]) -> Figure:
    used = median(outcome.runs for outcome in found)
    most = sum(map(len, case.options["pairs"][0]))
    smallest = all(outcome.records <= most for outcome in found if outcome.refuted)
    seeds = ", ".join(f"{outcome.runs:,.0f}/{outcome.records}" for outcome in found)
    return Figure(
        f"{name} {case.kind}",
        f"{used:,.0f} runs",
        f"<= {MOST_RUNS:,}, <= {most} records",
        used <= MOST_RUNS and smallest,
        f"runs/records: {seeds}; {_cut(found[0].told)}",
    )


def _cut(text: str, most: int = 110) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def spared(name: str, found: list[Outcome]) -> Figure:
    refuted = sum(outcome.refuted for outcome in found)
    return Figure(name, f"{refuted} of {len(found)} refuted", "0", refuted == 0, _cut(found[0].told))


# Peer suite


def peer(folder: Path, name: str, *, seed: int, budget: int) -> Outcome:
    del folder  # the suite is part of the package
    row = peer_suite()[name]
    return audited(row.subject, PureDP(1.0), budget=budget, seed=seed, **row.domain)


def judged(name: str, row: Peer, found: list[Outcome]) -> Figure:
    if not row.flawed:
        return spared(f"{name} (ε <= {row.true_epsilon:.3g})", found)
    used = median(outcome.runs for outcome in found)
    seeds = ", ".join(f"{outcome.runs:,.0f}" for outcome in found)
    note = f"{seeds}; {_cut(found[0].told)}"
    target = f"<= {MOST_RUNS:,}"
    return Figure(
        f"{name} (ε = {row.true_epsilon:.3g})", f"{used:,.0f} runs", target, used <= MOST_RUNS, note
    )


# What the search costs


def response(database: list[int], rng: np.random.Generator) -> bool:
    """Answer with one bit, ε = 0.85."""
    return (rng.random() < 0.7) == (database[0] > 0)


def noisy_sum(database: list[float], rng: np.random.Generator) -> float:
    """Answer with one number, ε = 1."""
    return sum(database) + rng.laplace()


def own_seconds(mechanism: Any, domain: dict[str, Any], pair: tuple[Any, Any], *, rounds: int) -> Figure:
    """Return the seconds of CPU that the search takes in an audit of 200,000 runs.

    This is the time of an audit that searches less the time of an audit whose pair is given.
    """

    def seconds(**where: Any) -> float:
        start = time.process_time()
        audit_privacy(mechanism, PureDP(1.0), until="budget", budget=200_000, **where)
        return time.process_time() - start

    seconds(pairs=[pair])  # imports and caches
    found = median(seconds(**domain) - seconds(pairs=[pair]) for _ in range(rounds))
    return Figure(f"own seconds, {mechanism.__name__}", f"{found:.2f} s", "< 2 s", found < 2)


def slow_keys(database: list[str], rng: np.random.Generator) -> tuple[tuple[str, float], ...]:
    """Return noisy counts of the records, for the values that occur.

    A call takes 50 ms.
    """
    time.sleep(0.05)
    return tuple((key, database.count(key) + rng.laplace()) for key in sorted(set(database)))


def slow_leak() -> Figure:
    """Audit a mechanism of 50 ms per call, on one core, with confirmation."""
    start = time.monotonic()
    result = audit_privacy(
        slow_keys, PureDP(1.0), relation="add-or-remove-one", records=st.text("abc", max_size=2), size=(0, 4)
    )
    took = time.monotonic() - start
    met = result.refuted and (result.samples_to_refutation or math.inf) <= 2000 and took <= 180
    value = f"{result.samples_to_refutation} runs, {took:.0f} s"
    note = f"{result.samples} runs in all"
    return Figure("50 ms a call, values in the clear", value, "<= 2,000 runs, <= 180 s", met, note)


def shares(found: list[Outcome]) -> list[Figure]:
    drawn = [outcome.share for outcome in found if outcome.refuted]
    if not drawn:
        return []
    note = f"median {median(drawn):.0%} over {len(drawn)} audits"
    return [
        Figure("runs of the search, largest share", f"{max(drawn):.0%}", "<= 40%", max(drawn) <= SHARE, note)
    ]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("cases", nargs="?", type=Path, default=FOLDER)
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--runs", type=int, default=1_000_000, help="runs of each control")
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--only", choices=("open", "peers", "cost"))
    given = options.parse_args()
    parts = (given.only,) if given.only else ("open", "peers", "cost")
    refuting: list[Outcome] = []
    if "open" in parts:
        refuting += show_open_cases(given)
    if "peers" in parts:
        refuting += show_peers(given)
    figures = shares(refuting)
    if "cost" in parts:
        figures += [
            own_seconds(response, {"records": [0, 1], "size": (1, 5)}, ([0], [1]), rounds=given.rounds),
            own_seconds(
                noisy_sum, {"records": st.floats(0, 1), "size": (1, 5)}, ([0.0], [1.0]), rounds=given.rounds
            ),
            slow_leak(),
        ]
    show("What the search costs", figures)


def drawn_in_parallel(
    audit: Callable[..., Outcome], given: argparse.Namespace, tasks: list[tuple[str, int, int]]
) -> dict[str, list[Outcome]]:
    """Return the outcomes of audits by name, and print them as they arrive."""
    found: dict[str, list[Outcome]] = {}
    with Parallel(n_jobs=given.jobs, return_as="generator") as parallel:
        done = parallel(
            delayed(audit)(given.cases, name, seed=seed, budget=budget) for name, seed, budget in tasks
        )
        for (name, seed, _), outcome in zip(tasks, done, strict=True):
            found.setdefault(name, []).append(outcome)
            print(name, seed, outcome, file=sys.stderr, flush=True)
    return found


def show_open_cases(given: argparse.Namespace) -> list[Outcome]:
    cases = load_cases(given.cases / "open_cases.py")
    broken = [name for name in DOMAINS if cases[name].broken]
    controls = [name for name in DOMAINS if not cases[name].broken]
    tasks = [(name, seed, MOST_RUNS) for name in broken for seed in range(given.seeds)]
    tasks += [(name, 0, given.runs) for name in controls]
    found = drawn_in_parallel(open_case, given, tasks)
    rows = [faulty(name, cases[name], found[name]) for name in broken]
    show(f"Open cases, no pair given, median of {given.seeds} seeds", rows)
    show(f"Controls, {given.runs:,} runs", [spared(name, found[name]) for name in controls])
    return [outcome for name in broken for outcome in found[name]]


def show_peers(given: argparse.Namespace) -> list[Outcome]:
    rows = peer_suite()
    tasks = [(name, seed, MOST_RUNS) for name in rows for seed in range(given.seeds)]
    found = drawn_in_parallel(peer, given, tasks)
    title = f"Peer suite at claimed ε = 1, no pair given, median of {given.seeds} seeds"
    show(title, [judged(name, row, found[name]) for name, row in rows.items()])
    return [outcome for name, row in rows.items() if row.flawed for outcome in found[name]]


if __name__ == "__main__":
    main()
