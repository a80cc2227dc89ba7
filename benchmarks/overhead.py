"""The cost of an audit beyond the runs that it draws.

The mechanisms meet their claims, so every audit uses its whole budget. Audits and bare draws are timed in
turn, in seconds of CPU. The table gives the median over the rounds.

Usage: python benchmarks/overhead.py [--runs N] [--rounds N]
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy is loaded

import numpy as np
from figures import Figure, show

from audit import PureDP, Relation, audit_privacy

if TYPE_CHECKING:
    from collections.abc import Callable

MEMORY_RUNS = 10_000_000


class Laplace:
    """A vectorised mechanism with one number as output, ε = 1.

    It declares no law, so it is audited by runs.
    """

    def __call__(self, database: list[float], rng: np.random.Generator) -> float:
        return database[0] + rng.laplace()

    def sample(self, database: list[float], size: int, rng: np.random.Generator) -> Any:
        return database[0] + rng.laplace(size=size)


class NoisyMax:
    """A vectorised report-noisy-max over ten numbers, ε = 1."""

    def __call__(self, database: list[float], rng: np.random.Generator) -> int:
        return int(np.argmax(np.array(database) + rng.exponential(2.0, 10)))

    def sample(self, database: list[float], size: int, rng: np.random.Generator) -> Any:
        return np.argmax(np.array(database) + rng.exponential(2.0, (size, 10)), axis=1)


class NoisyCounts:
    """Ten vectorised noisy counts, ε = 1.

    Two of the counts differ between the two databases.
    """

    def __call__(self, database: list[float], rng: np.random.Generator) -> Any:
        return np.array(database) + rng.laplace(scale=2.0, size=10)

    def sample(self, database: list[float], size: int, rng: np.random.Generator) -> Any:
        return np.array(database) + rng.laplace(scale=2.0, size=(size, 10))


def scalar(database: list[float], rng: np.random.Generator) -> float:
    """Answer with one number, ε = 1."""
    return database[0] + rng.laplace()


def ten(database: list[float], rng: np.random.Generator) -> tuple[float, ...]:
    """Answer with a tuple of ten numbers.

    The first number depends on the database.
    """
    noise = rng.laplace(size=10).tolist()
    noise[0] += database[0]
    return tuple(noise)


_KEYS = [f"key{k}" for k in range(10)]


def named(database: list[float], rng: np.random.Generator) -> dict[str, float]:
    """Answer with a dict of ten numbers.

    The first number depends on the database.
    """
    noise = rng.laplace(size=10).tolist()
    noise[0] += database[0]
    return dict(zip(_KEYS, noise, strict=True))


NUMBERS = ([0.0] * 10, [1.0] + [0.0] * 9)
COUNTS = ([0.0] * 10, [1.0, 1.0] + [0.0] * 8)
SCORES = ([1.0] * 10, [2.0] + [0.0] * 9)  # every query moves by 1, one of them up and the others down


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def audit(mechanism: Any, pair: tuple[Any, Any], runs: int) -> None:
    result = audit_privacy(
        mechanism,
        PureDP(epsilon=1.0),
        relation=Relation.QUERY_ANSWERS,
        pairs=[pair],
        budget=runs,
        until="budget",
    )
    if result.samples < runs - 1:
        raise SystemExit(f"The audit of {result.subject} used {result.samples} of {runs} runs only.")


def draw_at_once(mechanism: Any, pair: tuple[Any, Any], runs: int) -> None:
    rng = np.random.default_rng(0)
    for database in pair:
        mechanism.sample(database, runs // 2, rng)


def draw_each(mechanism: Any, pair: tuple[Any, Any], runs: int) -> None:
    rng = np.random.default_rng(0)
    left, right = pair
    for _ in range(runs // 2):
        mechanism(left, rng)
        mechanism(right, rng)


def ratio(mechanism: Any, pair: tuple[Any, Any], *, runs: int, rounds: int, most: float) -> Figure:
    audit(mechanism, pair, 10_000)  # imports and caches
    times = [
        (seconds(lambda: audit(mechanism, pair, runs)), seconds(lambda: draw_at_once(mechanism, pair, runs)))
        for _ in range(rounds)
    ]
    found = median(whole / bare for whole, bare in times)
    spent = " / ".join(f"{1e3 * median(column):.0f}" for column in zip(*times, strict=True))
    name = f"vectorised {type(mechanism).__name__}, audit / draw"
    return Figure(name, f"{found:.1f} x", f"<= {most:g} x", found <= most, f"{spent} ms")


def difference(mechanism: Any, pair: tuple[Any, Any], *, runs: int, rounds: int, most: float) -> Figure:
    audit(mechanism, pair, 10_000)
    times = [
        (seconds(lambda: audit(mechanism, pair, runs)), seconds(lambda: draw_each(mechanism, pair, runs)))
        for _ in range(rounds)
    ]
    found = median(1e6 * (whole - bare) / runs for whole, bare in times)
    spent = " / ".join(f"{1e6 * median(column) / runs:.2f}" for column in zip(*times, strict=True))
    name = f"per-run callable, {mechanism.__name__}: audit - loop"
    return Figure(name, f"{found:+.2f} us a run", f"<= +{most:g} us", found <= most, f"{spent} us a run")


def peak() -> int:
    """Return this process's peak memory in kB, without that of its parent."""
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if "VmHWM" in line)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def memory(kind: str, runs: int) -> Figure:
    """Measure the peak memory of an audit in a separate process."""
    command = [sys.executable, __file__, "--memory", kind, "--runs", str(runs)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = int(done.stdout) / 1024
    return Figure(f"peak memory, {runs:,} runs, {kind}", f"{found:.0f} MB", "< 400 MB", found < 400)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=1_000_000)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--memory", choices=("vectorised", "scalar"), help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.memory:
        audit(Laplace() if given.memory == "vectorised" else scalar, NUMBERS, given.runs)
        print(peak())
        return
    size = {"runs": given.runs, "rounds": given.rounds}
    show(
        f"Overhead of an audit of {given.runs:,} runs, median of {given.rounds}",
        [
            ratio(Laplace(), NUMBERS, most=4, **size),
            ratio(NoisyMax(), SCORES, most=2.5, **size),
            ratio(NoisyCounts(), COUNTS, most=6, **size),
            difference(scalar, NUMBERS, most=5, **size),
            difference(ten, NUMBERS, most=20, **size),
            difference(named, NUMBERS, most=20, **size),
            *(memory(kind, MEMORY_RUNS) for kind in ("vectorised", "scalar")),
        ],
    )


if __name__ == "__main__":
    main()
