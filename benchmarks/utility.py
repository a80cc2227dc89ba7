"""How many runs a utility audit takes, and how often it is wrong.

An auditor that sees only failures needs at least ln(1/s)/KL(p‖β) runs on average to decide between p and
β with error s. The runs are shown as a multiple of this number, for a refutation (p > β) and for a claim
that is met (p < β). False alarms are counted in audits at significance 0.05, of learners that fail with
probability exactly β.

Usage: python benchmarks/utility.py [--seeds N] [--audits N]
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass
from statistics import NormalDist, fmean, median, stdev
from typing import Any

from figures import Figure, show
from limits import best_growth

from audit import PAC, audit_utility
from audit.problems import SampledProblem

SIGNIFICANCE, LEVEL, BETA = 1e-6, 0.05, 0.1


@dataclass(frozen=True)
class Failing:
    """A learner that fails with probability p on the database p."""

    def __call__(self, database: Any, rng: Any) -> float:
        return float(rng.random() < database)


def problem(p: float, name: str = "one") -> SampledProblem:
    return SampledProblem(name, lambda _: p, lambda output, _: output)


def to_verdict(p: float, *, seeds: int) -> Figure:
    """Return how many runs the verdict takes.

    They are the runs up to a refutation or, for a met claim, the runs that were bet on.
    """
    limit = -math.log(SIGNIFICANCE) / best_growth(p, BETA)
    used = []
    for seed in range(seeds):
        result = audit_utility(Failing(), PAC(0.5, BETA), problems=[problem(p)], seed=seed)
        assert result.refuted == (p > BETA)
        bet = sum(each.runs for each in result.problems)
        used.append((result.samples_to_refutation or bet) / limit)
    middle = median(used)
    word = "refuted" if p > BETA else "met"
    note = f"{middle * limit:,.0f} runs; {min(used):.2f} to {max(used):.2f}; limit {limit:,.0f} runs"
    met = middle <= 2.0 if p < 1 else None
    return Figure(
        f"{word}: p = {p:g}, claimed {BETA:g}", f"{middle:.2f}", "<= 2.0" if p < 1 else "", met, note
    )


def false_alarms(count: int, *, audits: int) -> Figure:
    """Count the false alarms of audits on `count` problems with failure probability β.

    The figure's note gives the mean of min(wealth at the stop, 20).
    """
    problems = [problem(BETA, f"{k}") for k in range(count)]
    refuted, stopped = 0, []
    for seed in range(audits):
        result = audit_utility(
            Failing(), PAC(0.5, BETA), problems=problems, budget=400, significance=LEVEL, seed=seed
        )
        refuted += result.refuted
        stopped.append(min(math.exp(result.log_wealth), 1 / LEVEL))
    most = audits * LEVEL + 4 * math.sqrt(audits * LEVEL * (1 - LEVEL))
    slack = NormalDist().inv_cdf(1 - 1e-4) * stdev(stopped) / math.sqrt(audits)
    fair = refuted <= most and fmean(stopped) <= 1 + slack
    words = "a tight learner" if count == 1 else f"the worst of {count} tight problems"
    note = f"{audits:,} audits at {LEVEL:g}; mean stopped wealth {fmean(stopped):.3f} (fair: 1 at most)"
    return Figure(f"false alarms, {words}", f"{refuted}", f"<= {most:.0f}", fair, note)


def amplified_parity() -> Figure:
    from learners import AmplifiedParityLearner

    start = time.process_time()
    result = audit_utility(AmplifiedParityLearner(dimension=16, epsilon=1.0, beta=BETA))
    seconds = time.process_time() - start
    note = f"{result.verdict.value}, {result.samples:,} runs on {len(result.problems)} problems"
    return Figure("A* for parities of 16 bits, β = 0.1", f"{seconds:.1f} s", "<= 60 s", seconds <= 60, note)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seeds", type=int, default=21)
    options.add_argument("--audits", type=int, default=1_000)
    given = options.parse_args()
    show(
        f"Runs to the verdict as a multiple of the limit, significance {SIGNIFICANCE:g}, median of seeds",
        [to_verdict(p, seeds=given.seeds) for p in (0.15, 0.2, 0.3, 0.5, 1.0, 0.05, 0.02, 1e-9)],
    )
    show("Whole audits", [*(false_alarms(k, audits=given.audits) for k in (1, 4)), amplified_parity()])


if __name__ == "__main__":
    main()
