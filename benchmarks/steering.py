"""Runs to a refutation without a given pair, with and without recorded draws.

With `recorded=True`, recorded draws steer the search for a pair. The subjects are those mechanisms of the
peer suite whose true ε is above the claimed 1, and faulty mechanisms from a file of cases. Counting
outputs can find the faults of these cases. A case has a key ``search``, an expression over `st` that
gives the keywords of `audit_privacy` for the domain.

Usage: python benchmarks/steering.py [CASES] [--seeds N] [--runs N] [--jobs N]
       CASES is the file of cases (default: open_cases2.py in the folder of open cases). The other keys of
       a case are described in `audit.self_audit.subjects.cases`.
"""

import argparse
from pathlib import Path
from statistics import median
from typing import Any

from hypothesis import strategies as st
from joblib import Parallel, delayed
from search import FOLDER, MOST_RUNS

from audit import PureDP, audit_privacy
from audit.self_audit.measures.refutations import SIGNIFICANCE
from audit.self_audit.subjects.cases import load_cases
from audit.self_audit.subjects.peers import peer_suite
from audit.subject.loading import load_object


def suite_and_cases(path: Path) -> dict[str, tuple[Any, Any, dict[str, Any]]]:
    """Return subjects by name, each with its claim and its domain."""
    found: dict[str, tuple[Any, Any, dict[str, Any]]] = {
        name: (row.subject, PureDP(1.0), row.domain) for name, row in peer_suite().items() if row.flawed
    }
    told = load_object(f"{path}:CASES")
    for name, case in load_cases(path).items():
        if case.broken and case.by_counting:
            domain = eval(told[name]["search"], {"st": st})
            options = {key: value for key, value in case.options.items() if key != "pairs"}
            found[name] = case.mechanism, case.claim, {**options, **domain}
    return found


def runs(path: Path, name: str, *, seed: int, budget: int, recorded: bool) -> int:
    """Return the number of runs until the refutation, or the whole budget."""
    mechanism, claim, domain = suite_and_cases(path)[name]
    options = {"budget": budget, "seed": seed, "confirm_budget": 2_000, "significance": SIGNIFICANCE}
    result = audit_privacy(mechanism, claim, **domain, **options, recorded=recorded)
    return result.samples_to_refutation or budget


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("cases", nargs="?", type=Path, default=FOLDER / "open_cases2.py")
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--runs", type=int, default=MOST_RUNS)
    options.add_argument("--jobs", type=int, default=2)
    given = options.parse_args()
    print(f"{'median of ' + str(given.seeds) + ' seeds':20}{'steered':>10}{'not':>10}{'ratio':>8}  by seed")
    with Parallel(n_jobs=given.jobs) as parallel:
        for name in suite_and_cases(given.cases):
            ways = [(seed, recorded) for seed in range(given.seeds) for recorded in (True, False)]
            found = parallel(
                delayed(runs)(given.cases, name, seed=seed, budget=given.runs, recorded=recorded)
                for seed, recorded in ways
            )
            steered, without = found[::2], found[1::2]
            seeds = ", ".join(f"{a:,}/{b:,}" for a, b in zip(steered, without, strict=True))
            middle = median(steered), median(without)
            print(
                f"{name:20}{middle[0]:10,.0f}{middle[1]:10,.0f}{middle[0] / middle[1]:8.2f}  {seeds}",
                flush=True,
            )


if __name__ == "__main__":
    main()
