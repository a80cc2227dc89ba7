"""Audits of the open cases on their example pair: runs to a refutation.

The significance is 1e-6. The targets:

- For a faulty case that counting can detect, the median over the seeds is at most 2.5 times the case's own
  limit (see `open_case_limits`) plus 2,000. No seed needs more than 60,000 runs.
- The median over these cases is at most 3,000.
- Controls are never refuted within 1,000,000 runs.
- Other faulty cases are not refuted within 200,000 runs, or the least budget that an audit accepts. For these
  the table gives the detectable ε.

Usage: python benchmarks/open_cases.py [CASES.py] [--seeds N] [--runs N] [--jobs N]
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from statistics import median
from typing import Any

from figures import Figure, show
from joblib import Parallel, delayed
from open_case_limits import limit

from audit import audit_privacy
from audit.self_audit.measures.refutations import SIGNIFICANCE, case_task
from audit.self_audit.subjects.cases import Case, load_cases

DEFAULT = Path(__file__).resolve().parents[2] / "shared" / "cases" / "open_cases.py"
BUDGET = 200_000
MOST_RUNS = 60_000


def audit(path: Path, name: str, *, seed: int, budget: int) -> Any:
    task = case_task(load_cases(path)[name], budget=budget)
    return audit_privacy(task.subject, task.claim, **task.options, seed=seed)


def faulty(name: str, case: Case, results: list[Any]) -> tuple[Figure, float]:
    used = [result.samples_to_refutation or math.inf for result in results]
    least = limit(name, case.claim, significance=SIGNIFICANCE)
    most = MOST_RUNS if least is None else min(MOST_RUNS, 2.5 * least + 2000)
    met = median(used) <= most and max(used) <= MOST_RUNS and all(result.refuted for result in results)
    words = f"{min(used):,.0f} to {max(used):,.0f}" + (f"; own limit {least:,.0f}" if least else "")
    return (
        Figure(f"{name} {case.kind}", f"{median(used):,.0f} runs", f"<= {most:,.0f}", met, words),
        median(used),
    )


def spared(name: str, case: Case, result: Any) -> Figure:
    verdict = result.verdict.name
    found = result.detectable_epsilon
    could = "none" if found is None else f"{found:.4g}"
    note = f"{result.samples:,} runs; detectable ε {could} (claim {case.claim.epsilon:g})"
    return Figure(f"{name} {case.kind}", verdict, "NOT_REFUTED", verdict == "NOT_REFUTED", note)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("cases", nargs="?", type=Path, default=DEFAULT)
    options.add_argument("--seeds", type=int, default=5)
    options.add_argument("--runs", type=int, default=1_000_000, help="runs of each control")
    options.add_argument("--jobs", type=int, default=2)
    given = options.parse_args()
    cases = load_cases(given.cases)
    shown = [name for name, case in cases.items() if case.broken and case.by_counting]
    hidden = [name for name, case in cases.items() if case.broken and not case.by_counting]
    controls = [name for name, case in cases.items() if not case.broken]
    tasks = [(name, 0, BUDGET) for name in hidden] + [(name, 0, given.runs) for name in controls]
    tasks += [(name, seed, BUDGET) for name in shown for seed in range(given.seeds)]
    results: dict[str, list[Any]] = {}
    with Parallel(n_jobs=given.jobs) as parallel:
        done = parallel(
            delayed(audit)(given.cases, name, seed=seed, budget=budget) for name, seed, budget in tasks
        )
    for (name, _, _), result in zip(tasks, done, strict=True):
        results.setdefault(name, []).append(result)
    rows = [faulty(name, cases[name], results[name]) for name in shown]
    overall = median(used for _, used in rows)
    last = Figure("median over the cases", f"{overall:,.0f} runs", "<= 3,000", overall <= 3000)
    show(f"Faulty cases, median of {given.seeds} seeds", [*(row for row, _ in rows), last])
    show("Controls", [spared(name, cases[name], results[name][0]) for name in controls])
    show(
        "Faulty, but not to be shown by counting",
        [spared(name, cases[name], results[name][0]) for name in hidden],
    )


if __name__ == "__main__":
    main()
