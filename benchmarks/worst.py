"""Search for databases on which entries of the catalogue have their largest loss.

Each start is a pair of neighbours that an audit would propose, or one of the entry's own pairs. A step
leads to other neighbours, or changes many equal records of the two databases into another record at once.
A step is kept if the exact loss rises. If the loss stays the same, the step is kept if another number of
`rank` rises.

The result belongs in the entry's `Formulas.epsilon` or `Formulas.delta`, if the largest loss has no
closed form. The pair that was found belongs in the entry's `pairs`. Raise `--sizes` until the loss no
longer grows.

Usage: python benchmarks/worst.py [PATTERN] [--starts N] [--steps N] [--sizes LOW HIGH] [--seed N]
"""

from __future__ import annotations

import argparse
import math
from itertools import chain, islice
from typing import Any

import numpy as np

from audit.catalogue import Entry, matching_entries
from audit.errors import AuditError
from audit.laws.divergence import epsilon_at, hockey_stick
from audit.privacy import PrivacyTask, make_task

Rank = tuple[float, ...]


def task_of(entry: Entry, sizes: tuple[int, int] | None) -> PrivacyTask:
    """Return the task of an entry.

    If `sizes` is given, the databases have these sizes.
    """
    options = dict(entry.options or {})
    if sizes is not None:
        options["size"] = sizes
    return make_task(entry.factory(), **options)


def rank(task: PrivacyTask, pair: Any) -> Rank:
    """Return the loss at the claimed delta, the claimed epsilon's delta, and more.

    There are three further numbers: the loss at delta/4, and the delta at epsilon/4 and at 0. They rank
    pairs for which the other two numbers are 0.
    """
    law_of, claim = task.subject.distribution, task.claim
    epsilon, delta = claim.epsilon, getattr(claim, "delta", 0.0)  # type: ignore[attr-defined]
    one, other = (law_of(database) for database in pair)  # type: ignore[misc]
    ways = (one, other), (other, one)
    losses = (max(epsilon_at(*way, level) for way in ways) for level in (delta, delta / 4.0))
    deltas = (max(hockey_stick(*way, level) for way in ways) for level in (epsilon, epsilon / 4.0, 0.0))
    (loss, low), (excess, *further) = losses, deltas
    return loss, excess, low, *further


def climbed(
    task: PrivacyTask, start: Any, *, by: int, steps: int, rng: np.random.Generator
) -> tuple[Rank, Any]:
    """Climb from a pair of databases, and return the largest rank and its pair.

    The rank is by loss if `by` is 0, by delta if `by` is 1.
    """
    best, pair = rank(task, start), start
    vary = task.databases.vary(pair, rng)
    for _ in range(steps):
        tried = turned(pair, rng) if rng.random() < 0.5 else next(vary, None)
        if tried is None:
            vary = task.databases.vary(pair, rng)
            continue
        found = rank(task, tried)
        if _by(found, by) > _by(best, by):
            best, pair = found, tried
            vary = task.databases.vary(pair, rng)
    return best, pair


def turned(pair: Any, rng: np.random.Generator) -> Any:
    """Change several equal records of the two databases, and return the new pair.

    All of the records become the same other record. Their number is drawn at random. Return None if the
    databases share no record, or are not lists of equal length.
    """
    one, other = pair
    if not isinstance(one, list) or not isinstance(other, list) or len(one) != len(other):
        return None
    shared = [place for place, record in enumerate(one) if record == other[place]]
    if not shared:
        return None
    record = one[int(rng.choice(shared))]
    equal = [place for place in shared if one[place] == record]
    many = math.ceil(len(equal) ** rng.random())
    into = [*one, *other][int(rng.integers(2 * len(one)))]
    changed = [list(one), list(other)]
    for place in equal[:many]:
        for side in changed:
            side[place] = into
    return changed[0], changed[1]


def _by(found: Rank, by: int) -> Rank:
    return (found[by], *found)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("pattern", nargs="?")
    parser.add_argument("--starts", type=int, default=32)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--sizes", type=int, nargs=2)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    sizes = None if given.sizes is None else (given.sizes[0], given.sizes[1])
    for entry in matching_entries(given.pattern):
        if entry.options is None or entry.expected == "refuted":
            continue
        try:
            task = task_of(entry, sizes)
            own = islice(task_of(entry, None).databases.pairs(most=4, rng=np.random.default_rng(0)), 4)
            told = ""
            for by, name in ((0, "epsilon"), (1, "delta"))[: 1 + (getattr(task.claim, "delta", 0.0) > 0.0)]:
                rng = np.random.default_rng(given.seed)
                starts = islice(chain(own, task.databases.proposals(rng)), given.starts)
                best = max(
                    (climbed(task, start, by=by, steps=given.steps, rng=rng) for start in starts),
                    key=lambda found: _by(found[0], by),
                )
                told += f"; {name} {best[0][by]:.6g} on {best[1]!r}"
        except (AuditError, TypeError, AttributeError) as error:
            told = f"; {error!r:.100}"
        print(f"{entry.name} ({task.claim}){told}", flush=True)


if __name__ == "__main__":
    main()
