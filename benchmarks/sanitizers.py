"""The sanitizers: seconds per run, and the stated number m of records.

The table shows m beside the order of the theorem, and the worst error at the least private m.

    python benchmarks/sanitizers.py [speed] [sizes]

Times are seconds of CPU of this one process.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from figures import Figure, show

from learners import IntervalSanitizer, PointSanitizer
from learners.sanitizers.sizes import theorem_3_order, theorem_4_order

LIMIT = 5.0


def speed(made: Any, *, listed: bool) -> Figure:
    """Measure the slowest run of a sanitizer on the databases of its own family."""
    rng, slowest, where = np.random.default_rng(0), 0.0, ""
    for problem in made.problems():
        database = problem.database.tolist() if listed else problem.database
        started = time.process_time()
        made(database, rng)
        seconds = time.process_time() - started
        if seconds > slowest:
            slowest, where = seconds, problem.name
    kind = "a list" if listed else "an array"
    what = f"{made.name}{', proper' if getattr(made, 'proper', True) else ''}, m = {made.size:,}, {kind}"
    return Figure(what, f"{slowest:.2f} s", f"≤ {LIMIT:g} s", slowest <= LIMIT, where)


def size(kind: Any, *, alpha: float) -> Figure:
    """Return the stated number m of records, with two notes.

    The notes are the theorem's order, and the worst error on the least number of records for which the
    sanitizer is private.
    """
    made: Any = kind(alpha=alpha)
    order = (
        theorem_3_order(alpha=alpha, beta=0.1, epsilon=1.0, delta=1e-6)
        if kind is PointSanitizer
        else theorem_4_order(64, alpha=alpha, beta=0.1, epsilon=1.0, delta=1e-6)
    )
    rng, least = np.random.default_rng(1), kind(alpha=alpha, size=made.private_size)
    worst = max(
        problem.errors(least.sample(problem.database, 20, rng), problem.database).max()
        for problem in least.problems()
    )
    notes = f"order {order:.2g}, least private {made.private_size:,}: worst error {worst / alpha:.2f}·α there"
    return Figure(f"{made.name}, d = 64, α = {alpha}", f"m = {made.size:,}", "", None, notes)


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["speed", "sizes"])
    parts = parser.parse_args().parts
    figures = []
    if "speed" in parts:
        made: list[Any] = [PointSanitizer(size=10**6), PointSanitizer(size=10**6, proper=True)]
        made.append(IntervalSanitizer(size=10**6))
        figures += [speed(one, listed=listed) for one in made for listed in (True, False)]
    if "sizes" in parts:
        figures += [size(kind, alpha=a) for kind in (PointSanitizer, IntervalSanitizer) for a in (0.25, 0.1)]
    show("Sanitizers", figures)


if __name__ == "__main__":
    main()
