"""Goodness of fit: a million runs of each mechanism against its exact law.

Each mechanism gets two comparisons on each database: the chi-square test on the law's finest partition,
and the e-value of `audit.laws.law_check`. Cells that expect fewer than 5 runs are pooled. If the pool
still expects fewer, its count gets an exact binomial test. An entry without a declared law gets only the
chi-square test, with the law of its source text (`audit.catalogue.Formulas`). All comparisons together
reject a correct mechanism with probability at most 1e-6 (Bonferroni).

The last column belongs to the weakest chi-square test of a row. If this share of the runs moves between
the two likeliest cells, the test notices it with probability 0.99. The column is 0 for a law from a
source text.

A comparison gets at most `--seconds` of processor time, and a row with fewer runs says so. With
`--found FILE` each finished row is kept, and the same command continues. Mechanisms with a false claim
are included, because their law is right.

Usage: python benchmarks/goodness.py [NAME ...] [--runs N] [--seed N] [--only GROUP] [--found FILE]
"""

from __future__ import annotations

import argparse
import json
import math
import time
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from figures import Figure, show

from audit.catalogue import load_catalogue
from audit.distributions.law import OUTSIDE
from audit.doors.declared import Declared
from audit.doors.formulas import misfit
from audit.laws.law_check import law_log_e_value
from audit.sampling.loops import joined
from mechanisms import (
    ChoosingMechanism,
    ChoosingScores,
    ConcavePromise,
    ExponentialMechanism,
    GeometricMechanism,
    LaplaceMean,
    LaplaceMechanism,
    Parallel,
    RandomChoice,
    Sequential,
    StableSelection,
    TightStableSelection,
)
from mechanisms.concave.hard import plateau
from mechanisms.concave.instances import random_quality
from mechanisms.selection.scoring import MostFrequent

if TYPE_CHECKING:
    from collections.abc import Iterator

SIGNIFICANCE = 1e-6
POWER = 0.99
BATCH = 100_000


@dataclass(frozen=True)
class Case:
    """A subject, and its databases as a dict whose keys name their shapes."""

    name: str
    subject: Any
    databases: dict[str, Any]
    text: Any = None  # maps a database to the law in the text, if the subject declares no law


@dataclass(frozen=True)
class Fit:
    """One comparison.

    It has a p-value, a log e-value, the smallest shift that chi-square notices, and the number of runs.
    """

    p_value: float
    log_e_value: float = -math.inf
    seen: float = 0.0
    runs: int = 0


def score_shapes(rng: np.random.Generator, count: int, *, lead: float) -> dict[str, Any]:
    """Return the scores of `count` solutions for each shape.

    In two shapes the best solution leads by `lead`.
    """
    place = np.arange(count)
    return {
        "random": rng.uniform(0.0, 4.0 * lead, count),
        "concave": -lead * np.abs(place - count // 3),
        "non-concave": 3.0 * lead * (place == 1) + 2.0 * lead * (place == count - 2) + lead * (place % 2) / 2,
        "tied": np.full(count, 7.0),
        "extreme": np.where(place == 0, 1e300, -1e300),
    }


def quality_shapes(rng: np.random.Generator, top: int, lead: float) -> dict[str, Any]:
    """Return quality functions on {0 … top} for Rec, by shape.

    They are about as high as A_dist requires.
    """
    third = top // 3
    return {
        "random": random_quality(top, rng, lead=lead),
        "concave": plateau(top, third, third + top // 40, height=lead + 2.0, floor=lead / 2.0),
        "non-concave": plateau(top, 5, 9, height=lead).plus(3.0),
        "tied": plateau(top, 0, top, height=lead),
        "extreme": plateau(top, third, third, height=1e300, floor=-1e300),
    }


def shaped(rng: np.random.Generator) -> Iterator[Case]:
    """Yield cases of the selections, Rec and the Laplace mean, for every shape."""
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


def composed(rng: np.random.Generator) -> Iterator[Case]:
    """Yield cases of compositions, and of a choice among 2^64 solutions."""
    vector = LaplaceMechanism(dimension=2, size=2, query=lambda rows: [sum(rows), -rows[0]])
    count = GeometricMechanism(epsilon=0.5, size=2)
    pairs = {"left": [0, 1], "right": [1, 1]}
    halves = {side: [*rows, 1, 0] for side, rows in pairs.items()}
    yield Case("a sequence with vectors", Sequential(parts=[count, vector]), pairs)
    yield Case(
        "nested parts with vectors", Parallel(parts=[count, Sequential(parts=[vector, count])]), halves
    )
    sums = [LaplaceMechanism(epsilon=epsilon, size=2, query=sum) for epsilon in (2.0, 0.5)]
    yield Case("a choice of densities", RandomChoice(parts=sums, probabilities=[0.25, 0.75]), pairs)
    huge = ChoosingMechanism(candidates=MostFrequent(2**64), size=1000)
    rows = {
        "two peaks": [3] * 241 + [2**63] * 240 + [-1] * 519,
        "random": rng.integers(0, 2**63, 1000).tolist(),
        "tied": [0] * 300 + [1] * 300 + [2**64 - 1] * 300 + [-1] * 100,
    }
    yield Case("choosing among 2^64", huge, rows)


def catalogued(_: np.random.Generator) -> Iterator[Case]:
    """Yield every entry with a law, on a few of its databases."""
    for entry in load_catalogue():
        if entry.options is None:  # its `distribution` is of examples, not of outputs
            continue
        subject = entry.factory()
        if hasattr(subject, "distribution"):
            pairs = Declared(entry).pairs
            databases = {"left": pairs[0][0], "right": pairs[0][1], "other": pairs[-1][0]}
            if subject.distribution(databases["left"]) is not None:
                yield Case(entry.name, subject, databases)
                continue
        formulas = None if entry.formulas is None else entry.formulas(subject)
        if formulas is not None and formulas.law is not None:
            databases = {f"database {place}": each for place, each in enumerate(formulas.databases)}
            yield Case(entry.name, subject, databases, formulas.law)


def drawn(case: Case, database: Any, *, runs: int, seconds: float, rng: np.random.Generator) -> Any:
    """Return as many outputs as asked for, or as many as the seconds allow."""
    at_once = getattr(case.subject, "sample", None)

    def batch(size: int) -> Any:
        if at_once is not None:
            return at_once(database, size, rng)
        return [case.subject(database, rng) for _ in range(size)]

    began, batches, left = time.process_time(), [batch(min(runs, 1_000))], runs - 1_000
    while left > 0 and time.process_time() - began < seconds:
        each = (time.process_time() - began) / (runs - left)
        size = max(1_000, min(left, BATCH, int((seconds - (time.process_time() - began)) / max(each, 1e-9))))
        batches.append(batch(min(left, size)))
        left -= size
    return joined(batches)


def compared(case: Case, database: Any, outputs: Any) -> Fit:
    """Return how well outputs fit the law.

    An output that the law excludes makes the p-value 0.
    """
    from scipy import optimize, stats

    runs = len(outputs)
    if case.text is not None:
        return Fit(10.0 ** -misfit(list(outputs), case.text(database)), runs=runs)
    law = case.subject.distribution(database)
    partition = law.partitions()[-1]
    cells = partition.locate(outputs)
    if (cells == OUTSIDE).any():
        return Fit(0.0, math.inf, runs=runs)
    expected = runs * np.exp(partition.log_probabilities)
    counts = np.bincount(cells, minlength=len(expected)).astype(float)
    rare, tests = expected < 5.0, []
    if rare.any():
        pooled, share = int(counts[rare].sum()), float(expected[rare].sum()) / runs
        counts, expected = counts[~rare], expected[~rare]
        if runs * share >= 5.0:
            counts, expected = np.append(counts, pooled), np.append(expected, runs * share)
        else:  # chi-square does not fit so rare an event: its count has an exact test
            tests.append(float(stats.binomtest(pooled, runs, min(1.0, share)).pvalue))
    log_e = law_log_e_value(law, outputs)
    if counts[expected == 0.0].any():
        return Fit(0.0, log_e, runs=runs)
    counts, expected = counts[expected > 0.0], expected[expected > 0.0]
    if len(expected) < 2:
        return Fit(min(tests, default=1.0), log_e, runs=runs)
    statistic = ((counts - expected) ** 2 / expected).sum()
    freedom = len(expected) - 1
    tests.append(float(stats.chi2.sf(statistic, freedom)))
    limit = stats.chi2.isf(SIGNIFICANCE / 1000, freedom)
    noncentral = optimize.brentq(lambda x: stats.ncx2.sf(limit, freedom, x) - POWER, 1e-3, 1e5)
    largest = np.sort(expected)[-2:] / runs
    return Fit(
        min(1.0, len(tests) * min(tests)),  # Bonferroni
        log_e,
        math.sqrt(noncentral / runs / (1.0 / largest).sum()),
        runs,
    )


def fits_of(case: Case, *, runs: int, seconds: float, seed: int) -> list[Fit]:
    """Return the comparison on each database, with a generator of the case's own."""
    rng = np.random.default_rng([seed, zlib.crc32(case.name.encode())])
    return [
        compared(case, database, drawn(case, database, runs=runs, seconds=seconds, rng=rng))
        for database in case.databases.values()
    ]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("names", nargs="*", metavar="NAME", help="only cases of these names, in this order")
    options.add_argument("--runs", type=int, default=1_000_000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--only", choices=("shapes", "compositions", "catalogue"))
    options.add_argument("--found", type=Path, help="finished rows, and where they are kept")
    options.add_argument("--seconds", type=float, default=600.0, help="the most for the runs of a comparison")
    given = options.parse_args()
    groups = {"shapes": shaped, "compositions": composed, "catalogue": catalogued}
    cases = [
        case
        for name, group in groups.items()
        if given.only in (None, name)
        for case in group(np.random.default_rng(given.seed))
    ]
    if given.names:
        named = [case for case in cases if case.name in given.names]
        cases = sorted(named, key=lambda case: given.names.index(case.name))
    known = json.loads(given.found.read_text()) if given.found and given.found.exists() else {}
    for case in cases:
        if case.name in known:
            continue
        began = time.process_time()
        fits = fits_of(case, runs=given.runs, seconds=given.seconds, seed=given.seed)
        known[case.name] = {"seconds": time.process_time() - began, "fits": [asdict(fit) for fit in fits]}
        if given.found:
            print(f"{known[case.name]['seconds']:6.1f} s  {case.name}", flush=True)
            given.found.write_text(json.dumps(known, indent=1))
    told = {case.name: [Fit(**fit) for fit in known[case.name]["fits"]] for case in cases}
    spent = sum(known[case.name]["seconds"] for case in cases)
    rows, comparisons = table(told, runs=given.runs)
    show(f"{given.runs:,} runs against the law, {comparisons} comparisons, {spent:.0f} s of CPU", rows)
    if any(row.met is False for row in rows):
        raise SystemExit(1)


def table(told: dict[str, list[Fit]], *, runs: int) -> tuple[list[Figure], int]:
    """Return a row for each case, and how many comparisons share the significance."""
    comparisons = 2 * sum(map(len, told.values()))
    least = SIGNIFICANCE / comparisons
    rows = []
    for name, fits in told.items():
        p_value, log_e = min(fit.p_value for fit in fits), max(fit.log_e_value for fit in fits)
        fewest = min(fit.runs for fit in fits)
        rows.append(
            Figure(
                f"{name} ({len(fits)})" + (f", {fewest:,} runs" if fewest < runs else ""),
                f"p {p_value:.2g}, log e {log_e:.1f}",
                f"p > {least:.1g}, log e < {-math.log(least):.1f}",
                p_value > least and log_e < -math.log(least),
                f"{max(fit.seen for fit in fits):.2%}",
            )
        )
    return rows, comparisons


if __name__ == "__main__":
    main()
