"""Goodness of fit: a million runs of each mechanism against its exact law, on inputs of every shape.

Each mechanism gets two comparisons: the chi-square test on the law's finest partition (cells that expect
fewer than 5 runs are pooled), and the e-value of `audit.laws.law_check`. Together they accuse a right
mechanism with probability at most 1e-6. The last column gives the power of the weakest chi-square test of a
row. It is the share of runs that must move between the two likeliest cells to be noticed with probability
0.99.

The tests in tests/mechanisms draw as many runs if that fits into ten seconds per file: for everything except
compositions and the catalogue's own databases.

Usage: python benchmarks/goodness.py [--runs N] [--seed N] [--only shapes|catalogue]
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from figures import Figure, show

from audit.catalogue import load_catalogue
from audit.distributions.law import OUTSIDE
from audit.laws.law_check import law_log_e_value
from mechanisms import (
    ChoosingScores,
    ConcavePromise,
    ExponentialMechanism,
    LaplaceMean,
    StableSelection,
    TightStableSelection,
)
from mechanisms.concave.hard import plateau
from mechanisms.concave.instances import random_quality

if TYPE_CHECKING:
    from collections.abc import Iterator

SIGNIFICANCE = 1e-6
POWER = 0.99
DATABASES = 1


@dataclass(frozen=True)
class Case:
    """A subject, and databases by the name of their shape."""

    name: str
    subject: Any
    databases: dict[str, Any]


@dataclass(frozen=True)
class Fit:
    """One comparison: the p-value, the log e-value, and the smallest shift that chi-square notices."""

    p_value: float
    log_e_value: float
    seen: float


def score_shapes(rng: np.random.Generator, count: int, *, lead: float) -> dict[str, Any]:
    """Return scores of solutions by shape; concave and two-peaked ones have a gap of `lead`."""
    place = np.arange(count)
    return {
        "random": rng.uniform(0.0, 4.0 * lead, count),
        "concave": -lead * np.abs(place - count // 3),
        "non-concave": 3.0 * lead * (place == 1) + 2.0 * lead * (place == count - 2) + lead * (place % 2) / 2,
        "tied": np.full(count, 7.0),
        "extreme": np.where(place == 0, 1e300, -1e300),
    }


def quality_shapes(rng: np.random.Generator, top: int, lead: float) -> dict[str, Any]:
    """Return qualities on {0 … top} for Rec, about as high as A_dist requires."""
    third = top // 3
    return {
        "random": random_quality(top, rng, lead=lead),
        "concave": plateau(top, third, third + top // 40, height=lead + 2.0, floor=lead / 2.0),
        "non-concave": plateau(top, 5, 9, height=lead).plus(3.0),
        "tied": plateau(top, 0, top, height=lead),
        "extreme": plateau(top, third, third, height=1e300, floor=-1e300),
    }


def shaped(rng: np.random.Generator) -> Iterator[Case]:
    """Yield the selections and Rec on scores of every shape."""
    told: dict[str, Any] = {"solutions": range(40), "score": lambda rows, _: rows, "vectorised": True}
    yield Case("exponential, by shape", ExponentialMechanism(**told), score_shapes(rng, 40, lead=2.0))
    for kind in (StableSelection, TightStableSelection):
        subject = kind(epsilon=2.0, delta=0.02, **told)
        yield Case(f"{kind.name}, by shape", subject, score_shapes(rng, 40, lead=subject.threshold - 1.0))
    choosing = ChoosingScores(epsilon=2.0, delta=0.5, alpha=0.9, beta=0.9, growth=1, solutions=5)
    vectors = {
        "random": rng.integers(0, 20, 5).tolist(),
        "concave": [3, 7, 9, 7, 3],
        "non-concave": [9, 1, 0, 1, 9],
        "tied": [4] * 5,
        "extreme": [19, 0, 0, 0, 0],
    }
    yield Case(f"{ChoosingScores.name}, by shape", choosing, vectors)
    for top in (64, 4096, 2**64):
        rec = ConcavePromise(top=top, delta=0.01, promise=30.0, beta=None)
        yield Case(f"concave-promise, T = {top:.3g}", rec, quality_shapes(rng, top, rec.test.threshold))
    means = {"random": rng.uniform(0, 1, 5), "tied": [0.5] * 5, "extreme": [1.0, 0, 0, 0, 1.0]}
    yield Case(f"{LaplaceMean.name}, by shape", LaplaceMean(epsilon=0.3), means)


def catalogued(rng: np.random.Generator) -> Iterator[Case]:
    """Yield every right mechanism that declares a law, on its own pair and random databases."""
    for entry in load_catalogue():
        subject = entry.factory()
        known = all(hasattr(subject, word) for word in ("distribution", "sample", "records", "size"))
        if entry.expected == "refuted" or not known or not subject.records:
            continue
        if not type(subject).__module__.startswith("mechanisms."):
            continue
        records, size = list(subject.records), subject.size
        length = size if isinstance(size, int) else size[1]
        if hasattr(subject, "suggested_pairs") and subject.suggested_pairs():
            databases = dict(zip(("left", "right"), subject.suggested_pairs()[0], strict=True))
        else:
            databases = {}
        for number in range(DATABASES):
            databases[f"random {number}"] = [records[i] for i in rng.integers(0, len(records), length)]
        if subject.distribution(next(iter(databases.values()))) is not None:
            yield Case(entry.name, subject, databases)


def compared(case: Case, database: Any, *, runs: int, rng: np.random.Generator) -> Fit:
    from scipy import optimize, stats

    law, outputs = case.subject.distribution(database), case.subject.sample(database, runs, rng)
    partition = law.partitions()[-1]
    cells = partition.locate(outputs)
    if (cells == OUTSIDE).any():
        return Fit(0.0, math.inf, 0.0)
    expected = runs * np.exp(partition.log_probabilities)
    counts = np.bincount(cells, minlength=len(expected)).astype(float)
    rare = expected < 5.0
    if rare.any():
        counts = np.append(counts[~rare], counts[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    log_e = law_log_e_value(law, outputs)
    if counts[expected == 0.0].any():
        return Fit(0.0, log_e, 0.0)
    counts, expected = counts[expected > 0.0], expected[expected > 0.0]
    if len(expected) < 2:
        return Fit(1.0, log_e, 0.0)
    statistic = ((counts - expected) ** 2 / expected).sum()
    freedom = len(expected) - 1
    limit = stats.chi2.isf(SIGNIFICANCE / 1000, freedom)
    noncentral = optimize.brentq(lambda x: stats.ncx2.sf(limit, freedom, x) - POWER, 1e-3, 1e5)
    largest = np.sort(expected)[-2:] / runs
    return Fit(
        float(stats.chi2.sf(statistic, freedom)),
        log_e,
        math.sqrt(noncentral / runs / (1.0 / largest).sum()),
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=1_000_000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--only", choices=("shapes", "catalogue"))
    given = options.parse_args()
    rng, started = np.random.default_rng(given.seed), time.perf_counter()
    cases = [] if given.only == "catalogue" else list(shaped(rng))
    cases += [] if given.only == "shapes" else list(catalogued(rng))
    fits = {
        case.name: {
            name: compared(case, database, runs=given.runs, rng=rng)
            for name, database in case.databases.items()
        }
        for case in cases
    }
    comparisons = 2 * sum(map(len, fits.values()))
    least = SIGNIFICANCE / comparisons
    rows = []
    for name, found in fits.items():
        p_value = min(fit.p_value for fit in found.values())
        log_e = max(fit.log_e_value for fit in found.values())
        rows.append(
            Figure(
                f"{name} ({len(found)})",
                f"p {p_value:.2g}, log e {log_e:.1f}",
                f"p > {least:.1g}, log e < {-math.log(least):.1f}",
                p_value > least and log_e < -math.log(least),
                f"{max(fit.seen for fit in found.values()):.2%}",
            )
        )
    spent = time.perf_counter() - started
    show(f"{given.runs:,} runs against the law, {comparisons} comparisons, {spent:.0f} s", rows)
    if any(row.met is False for row in rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
