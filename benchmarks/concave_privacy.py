"""The exact privacy loss of Rec on random pairs of qualities, beside its claim.

Qualities that are neighbours are compared in both directions by the exact law of Rec. The points are 0 …
T, with T at most 4096. The promise is random: it may be too small to be of use, or larger than Lemma 3
requires. Usage:

    python benchmarks/concave_privacy.py [--pairs 10000] [--seed 0]

Exits with 1 if the loss on a pair exceeds the claim.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict

import numpy as np
from figures import Figure, show

from audit.laws.exact import compare_pairs
from mechanisms.composition.accounting import composed_epsilon
from mechanisms.concave import ConcavePromise, calls, random_pair

TOPS = (33, 48, 64, 100, 255, 256, 1000, 1024, 4095, 4096)
PARAMETERS = ((1.0, 1e-6), (0.1, 1e-3), (1.0, 0.05), (4.0, 1e-6))
BLOCK = 10


def mechanism(rng: np.random.Generator, top: int, *, epsilon: float, delta: float) -> ConcavePromise:
    """Return Rec with a random promise and alpha.

    Its claim is composed from the claims of the calls in its code.
    """
    threshold = 4.0 / epsilon * np.log(1.0 / delta) + 2.0
    promise = float(threshold * 10.0 ** rng.uniform(-2.0, 1.5))
    alpha = float(rng.choice([0.05, 0.5, 0.5, 1.0]))
    return ConcavePromise(
        epsilon=epsilon, delta=delta, top=top, promise=promise, alpha=alpha, beta=None, accounting="tight"
    )


def main() -> int:
    """Compare the pairs and print the largest loss for each (ε, δ)."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    worst: dict[tuple[float, float], list[float]] = defaultdict(lambda: [0.0, 0.0])
    broken, done, started = 0, 0, time.perf_counter()
    while done < options.pairs:
        epsilon, delta = PARAMETERS[done // BLOCK % len(PARAMETERS)]
        subject = mechanism(rng, TOPS[int(rng.integers(len(TOPS)))], epsilon=epsilon, delta=delta)
        pairs = [random_pair(subject.top, rng, lead=subject.test.threshold) for _ in range(BLOCK)]
        found = compare_pairs(pairs, subject.distribution, subject.claim)
        broken += not found.within
        record = worst[epsilon, delta]
        record[:] = max(record[0], found.epsilon), max(record[1], found.delta)
        done += len(pairs)
    figures = [Figure("pairs compared exactly, both ways round", f"{done}", "≥ 10000", done >= 10_000)]
    for (epsilon, delta), (loss, excess) in sorted(worst.items()):
        claim = mechanism(rng, 4096, epsilon=epsilon, delta=delta).claim
        best = composed_epsilon(calls(4096, epsilon=epsilon, delta=delta, tight=True), delta=claim.delta)
        figures += [
            Figure(
                f"ε found at δ = {claim.delta:g}, calls at ε = {epsilon:g}",
                f"{loss:.4f}",
                f"≤ {claim.epsilon:g}",
                loss <= claim.epsilon,
                f"ratio {loss / claim.epsilon:.3f}; optimal composition of the calls {best:.4f}",
            ),
            Figure(
                f"δ found at ε = {claim.epsilon:g}",
                f"{excess:.3g}",
                f"≤ {claim.delta:g}",
                excess <= claim.delta,
            ),
        ]
    figures.append(Figure("claims broken", f"{broken}", "0", broken == 0))
    show(f"Rec on random neighbouring quality functions, {time.perf_counter() - started:.0f} s", figures)
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
