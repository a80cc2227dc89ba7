"""The central mechanisms at the sizes they are meant for: seconds and memory.

Each figure is the median of several rounds, beside its target. Each round runs in a separate process. Seconds
are of CPU.

Usage: python benchmarks/central.py [--rounds N]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from figures import Figure, show

from audit import PureDP, Verdict, audit_privacy
from audit.distributions import Finite
from mechanisms import ExponentialMechanism, StableSelection
from mechanisms.concave import ConcavePromise, ThresholdAgreement
from mechanisms.selection.scoring import MostFrequent

if TYPE_CHECKING:
    from collections.abc import Callable

MILLION = 1_000_000
OUTCOMES = 16


@dataclass(frozen=True)
class Work:
    """A task to time.

    It has a name, a function that prepares it, and limits on seconds and (for some) MB.
    """

    name: str
    make: Callable[[], Callable[[], object]]
    seconds: float
    megabytes: float | None = None


def recursion() -> tuple[ConcavePromise, list[tuple[int, int]]]:
    """Return Rec on thresholds over 64-bit points, with a sample.

    The sample is 100,000 points labelled by one of the thresholds.
    """
    points = np.random.default_rng(0).integers(0, 2**64, 100_000, dtype=np.uint64).tolist()
    rows = [(x, int(x < 2**63 + 12345)) for x in points]
    rec = ConcavePromise(
        top=2**64, promise=1e5, beta=None, quality=ThresholdAgreement(64, margin=1e5), accounting="tight"
    )
    return rec, rows


def rec_run() -> Callable[[], object]:
    rec, rows = recursion()
    rng = np.random.default_rng(1)
    return lambda: rec(rows, rng)


def rec_law() -> Callable[[], object]:
    rec, rows = recursion()
    return lambda: rec.distribution(rows)


def candidates() -> ExponentialMechanism:
    scores = np.random.default_rng(2).normal(size=MILLION) * 30.0
    return ExponentialMechanism(solutions=range(MILLION), score=lambda *_: scores, vectorised=True)


def exponential_law() -> Callable[[], object]:
    mechanism = candidates()
    return lambda: mechanism.distribution([])


def exponential_draws() -> Callable[[], object]:
    mechanism, rng = candidates(), np.random.default_rng(3)
    return lambda: mechanism.sample([], MILLION, rng)


def stable_run() -> Callable[[], object]:
    mechanism, rng = StableSelection(leaders=MostFrequent(2**64)), np.random.default_rng(4)
    records = [2**64 - 1] * 300 + list(range(99_700))
    return lambda: mechanism(records, rng)


class Rolled:
    """One of 16 answers, at ε = 1 exactly.

    The record's own answer is e times as likely as any other.
    """

    claim: ClassVar[PureDP] = PureDP(1.0)
    records: ClassVar[range] = range(1414)
    size: ClassVar[int] = 1

    def __call__(self, database: list[int], rng: np.random.Generator) -> int:
        return int(self.sample(database, 1, rng)[0])

    def sample(self, database: list[int], size: int, rng: np.random.Generator) -> Any:
        return rng.choice(OUTCOMES, size, p=self._probabilities(database))

    def distribution(self, database: list[int]) -> Finite:
        return Finite(range(OUTCOMES), self._probabilities(database))

    def _probabilities(self, database: list[int]) -> list[float]:
        likely = float(np.e / (np.e + OUTCOMES - 1))
        rest = (1.0 - likely) / (OUTCOMES - 1)
        return [likely if k == database[0] % OUTCOMES else rest for k in range(OUTCOMES)]


def million_pairs() -> Callable[[], object]:
    """Return an audit of a subject over all 998,991 pairs of its databases.

    An audit may compare at most a million pairs.
    """

    def audit() -> object:
        result = audit_privacy(Rolled())
        if result.verdict is not Verdict.PROVED or result.pairs_tried != 1414 * 1413 // 2:
            raise SystemExit(f"{result.verdict.name} on {result.pairs_tried} pairs.")
        return result

    return audit


WORKS = (
    Work("Rec, T = 2^64, m = 100,000: one run", rec_run, 1.0, 300.0),
    Work("Rec, T = 2^64, m = 100,000: its exact law", rec_law, 10.0, 300.0),
    Work("exponential, 1,000,000 candidates: law", exponential_law, 1.0),
    Work("exponential, 1,000,000 candidates: 1,000,000 draws", exponential_draws, 1.0),
    Work("A_dist, 2^64 candidates, m = 100,000: one run", stable_run, 1.0),
    Work("exhaustive exact audit: 998,991 pairs, 16 outcomes", million_pairs, 30.0),
)


def peak() -> float:
    """Return this process's peak memory in MB, without that of its parent."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if "VmHWM" in line) / 1024


def measured(number: int, rounds: int) -> dict[str, Any]:
    warnings.simplefilter("ignore")
    work, times = WORKS[number].make(), []
    for _ in range(rounds):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return {"seconds": median(times), "megabytes": peak()}


def figures(number: int, rounds: int) -> list[Figure]:
    work = WORKS[number]
    command = [sys.executable, __file__, "--work", str(number), "--rounds", str(rounds)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = json.loads(done.stdout)
    seconds, megabytes = found["seconds"], found["megabytes"]
    note = "" if work.megabytes else f"peak {megabytes:.0f} MB"
    rows = [Figure(work.name, f"{seconds:.2f} s", f"< {work.seconds:g} s", seconds < work.seconds, note)]
    if work.megabytes is not None:
        met = megabytes < work.megabytes
        rows.append(Figure("... peak memory", f"{megabytes:.0f} MB", f"< {work.megabytes:g} MB", met))
    return rows


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--work", type=int, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.work is not None:
        print(json.dumps(measured(given.work, given.rounds)))
        return
    rows = [row for number in range(len(WORKS)) for row in figures(number, given.rounds)]
    show(f"The central mechanisms, median of {given.rounds}", rows)
    if any(row.met is False for row in rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
