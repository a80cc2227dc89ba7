"""The bound on ε for each mechanism of the peer suite, beside other auditors.

The mechanisms and pairs are those of a file with the layout of peer_suite.py. The best bound of four
published auditors was measured on the same pairs, with 0.8 to 60 million runs each. The rows below the
suite are mechanisms whose evidence is spread over many coordinates. Every audit has the claim ε = 0.1 and
confidence 0.9, and a row shows the median over the seeds.

"÷ drawing" is the audit's processor time divided by that of drawing its runs. It is given for the whole
audit, and without the single calls that confirm a refutation.

Usage: python benchmarks/peers.py [FILE] [--only ROW ...] [--seeds N ...] [--runs N] [--search]
       --search gives the audits no pair; each takes at most five minutes.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from pathlib import Path
from statistics import median
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy is loaded

import numpy as np
from search import FOLDER

from audit import AuditResult, PureDP, Relation, audit_privacy
from audit.self_audit.subjects.exact import Drawn
from audit.subject.loading import load_object

CLAIMED = 0.1
CONFIDENCE = 0.9
#: The largest bound that a peer showed on each row, as published with the suite.
BEST = {
    "laplace": 0.098,
    "trunc_geom": 0.112,
    "noisy_hist1": 0.094,
    "noisy_hist2": 9.77,
    "rnm1": 0.088,
    "rnm3": 0.241,
    "rnm4": 0.365,
    "svt1": 0.073,
    "svt3": 0.125,
    "svt4": 0.163,
    "svt5": 9.69,
    "svt6": 0.263,
    "prefix_sum": 0.472,
}
#: The bound on ε that each row below the suite must reach.
ASKED = {"laplace_20": 0.045, "response_20_bits": 0.28, "svt_2_numbers": 0.034, "tree": 0.08, "top_3": 0.05}
#: The share of the best peer's bound that a row must reach: `SHARE` if the audit is given the row's pairs,
#: `SHARE_SEARCHING` if it must search.
SHARE, SHARE_SEARCHING = 0.97, 0.93
SECONDS_SEARCHING = 300.0


class Timed(Drawn):
    """A subject made from a function of (answers, runs, rng).

    It adds up the time that its runs take.
    """

    def __init__(self, name: str, function: Any) -> None:
        super().__init__(name, lambda answers, *how: function(np.asarray(answers, dtype=float), *how))
        #: Processor time in `sample` and in single calls; number of runs drawn by `sample`.
        self.seconds, self.alone, self.runs = 0.0, 0.0, 0

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> Any:
        """Return the outputs of `size` runs."""
        started = time.process_time()
        outputs = super().sample(database, size, rng)
        self.seconds += time.process_time() - started
        self.runs += size
        return outputs

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return the output of one run."""
        started = time.process_time()
        output = super().__call__(database, rng)
        self.alone += time.process_time() - started
        return output


def laplace_20(answers: Any, runs: int, rng: np.random.Generator) -> Any:
    """Return twenty answers, each with noise for ε/20.

    All twenty may differ by 1 between two databases.
    """
    return answers + rng.laplace(scale=20 / CLAIMED, size=(runs, 20))


def response_20_bits(bits: Any, runs: int, rng: np.random.Generator) -> Any:
    """Return twenty bits, each by randomized response at ε/2.

    If six bits differ, the loss is 3ε.
    """
    keep = 1 / (1 + math.exp(-CLAIMED / 2))
    return np.where(rng.random((runs, 20)) < keep, bits, 1 - bits)


def svt_2_numbers(answers: Any, runs: int, rng: np.random.Generator) -> Any:
    """Return the noisy values of the first two of ten answers above 1.

    They are chosen by the sparse vector technique. Half of ε is for the choice (Lyu, Su and Li 2017,
    Algorithm 1 with c = 2), half for the numbers.
    """
    first = CLAIMED / 4
    threshold = 1 + rng.laplace(scale=1 / first, size=(runs, 1))
    hit = answers + rng.laplace(scale=4 / first, size=(runs, 10)) >= threshold
    numbers = answers + rng.laplace(scale=4 / CLAIMED, size=(runs, 10))
    ended = np.cumsum(hit, axis=1) - hit >= 2
    return np.where(ended, -2000.0, np.where(hit, numbers, -1000.0))


def tree(counts: Any, runs: int, rng: np.random.Generator) -> Any:
    """Return the 31 noisy sums of a dyadic tree over 16 counts.

    A change of one count moves five sums.
    """
    levels = [counts]
    while len(levels[-1]) > 1:
        levels.append(levels[-1].reshape(-1, 2).sum(axis=1))
    sums = np.concatenate(levels)
    return sums + rng.laplace(scale=5 / CLAIMED, size=(runs, len(sums)))


def top_3(answers: Any, runs: int, rng: np.random.Generator) -> Any:
    """Return the places of the three largest of twelve answers.

    They are chosen by exponential mechanisms at ε/3.
    """
    noisy = answers + rng.gumbel(scale=6 / CLAIMED, size=(runs, 12))
    return np.argsort(-noisy, axis=1)[:, :3].astype(float)


def spread() -> dict[str, tuple[Any, list[tuple[Any, Any]]]]:
    """Return the mechanisms with spread evidence, with the pairs of each."""
    half, bits, leaves = [1.0] * 6 + [0.0] * 6, [0.0] * 20, [3.0] * 16
    return {
        "laplace_20": (laplace_20, [([0.0] * 20, [1.0] * 20)]),
        "response_20_bits": (response_20_bits, [(bits, [1.0] * 6 + bits[6:])]),
        "svt_2_numbers": (svt_2_numbers, [([1.0] * 10, [2.0] * 5 + [0.0] * 5), ([1.0] * 10, [2.0] * 10)]),
        "tree": (tree, [(leaves, [4.0, *leaves[1:]])]),
        "top_3": (top_3, [(half, [1.0 - each for each in half]), ([1.0] * 12, [2.0] * 3 + [0.0] * 9)]),
    }


def audited(subject: Timed, pairs: Any, *, search: bool, **options: Any) -> tuple[AuditResult, float]:
    """Return the result and the processor time of an audit.

    The audit uses its whole budget.
    """
    given = [([float(x) for x in left], [float(x) for x in right]) for left, right in pairs]
    domain: dict[str, Any] = {"pairs": given}
    if search:
        domain = {"size": len(given[0][0]), "time_limit": SECONDS_SEARCHING}
    options |= {"relation": Relation.QUERY_ANSWERS, "until": "budget", "significance": 1 - CONFIDENCE}
    started = time.process_time()
    result = audit_privacy(subject, PureDP(CLAIMED), **domain, **options)
    return result, time.process_time() - started


def main() -> None:
    """Print a line for each audit, and a line for each row of the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, default=FOLDER / "peer_suite.py")
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--runs", type=int)
    parser.add_argument("--search", action="store_true")
    given = parser.parse_args()
    suite = load_object(f"{given.file}:SUITE")
    rows = {name: (suite[name][0], suite[name][3]) for name in BEST} | ({} if given.search else spread())
    runs = given.runs or (10_000_000 if given.search else 5_000_000)
    share = SHARE_SEARCHING if given.search else SHARE
    print(f"{'':18}{'bound':>9}{'asked':>9}{'':>8}{'÷ drawing':>11}{'no calls':>10}  by seed")
    for name in given.only or rows:
        function, pairs = rows[name]
        bounds, costs, bare = [], [], []
        for seed in given.seeds:
            subject = Timed(name, function)
            result, seconds = audited(subject, pairs, search=given.search, budget=runs, seed=seed)
            drawing = subject.seconds / subject.runs * result.samples
            bounds.append(result.epsilon_lower)
            costs.append(seconds / drawing)
            bare.append((seconds - subject.alone) / drawing)
            found = f"{result.epsilon_lower:.4f} {result.verdict.name} {result.samples:,} runs"
            print(f"  {name} {seed}: {found}, {seconds:.0f} s, drawing {drawing:.1f} s", flush=True)
        asked = share * BEST[name] if name in BEST else ASKED[name]
        met = "met" if median(bounds) >= asked else "MISSED"
        each = ", ".join(f"{bound:.4f}" for bound in bounds)
        figures = f"{median(bounds):9.4f}{asked:9.4f}{met:>8}{median(costs):11.1f}{median(bare):10.1f}"
        print(f"{name:18}{figures}  {each}", flush=True)


if __name__ == "__main__":
    main()
