"""The learners of points and thresholds over 64 bits: speed and sample sizes.

    python benchmarks/approximate.py

Times are seconds of CPU per run and per exact law, the median of three.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from figures import Figure, show

from learners.approximate import IntervalLearner, IntervalProblem, NumberSource, PointLearner, PointProblem
from learners.approximate.sizes import lemma_3_size
from learners.pure import HashedPointLearner, PureIntervalLearner, PurePointLearner

if TYPE_CHECKING:
    from collections.abc import Callable

SIZE = 100_000


def seconds(run: Callable[[], Any]) -> float:
    """Return the median processor time of three runs."""
    taken = []
    for _ in range(3):
        started = time.process_time()
        run()
        taken.append(time.process_time() - started)
    return float(np.median(taken))


def samples() -> tuple[Any, Any]:
    """Return SIZE distinct numbers below 2^64, labelled by a threshold and by a point."""
    rng, everywhere = np.random.default_rng(0), NumberSource(64, spread=True)
    light = NumberSource(64, ((7, 0.1),), spread=True)
    return (
        IntervalProblem("", everywhere, 2**63, SIZE).draw(rng),
        PointProblem("", light, 7, SIZE).draw(rng),
    )


def runs() -> list[Figure]:
    """Return the times of a run and of an exact law at m = 100,000.

    Each learner runs on a list of pairs (x, y), and on the same examples as counts (`NumberSample`).
    """
    rng = np.random.default_rng(1)
    thresholds, points = samples()
    found = []
    for kind, sample in (
        (IntervalLearner, thresholds),
        (PureIntervalLearner, thresholds),
        (PointLearner, points),
        (PurePointLearner, points),
        (HashedPointLearner, points),
    ):
        learner: Any = kind(dimension=64)
        pairs = list(sample)
        learner(sample, rng)
        taken = seconds(partial(learner, pairs, rng))
        counted = seconds(partial(learner, sample, rng))
        found.append(
            Figure(
                f"{kind.__name__}, d = 64, m = {SIZE:,}",
                f"{taken:.2f} s a run",
                "< 2 s",
                taken < 2.0,
                f"{counted:.2f} s where the sample is counted",
            )
        )
    law = seconds(lambda: IntervalLearner(dimension=64).distribution(thresholds))
    return [*found, Figure(f"exact law of IntervalLearner, m = {SIZE:,}", f"{law:.2f} s")]


def sizes() -> list[Figure]:
    """Return how many examples each learner needs at α = β = 0.1, ε = 1, δ = 1e-6."""
    found = []
    for kind in (PurePointLearner, HashedPointLearner, PointLearner, PureIntervalLearner, IntervalLearner):
        told = [kind(dimension=d).sample_size() for d in (16, 32, 64)]
        found.append(Figure(f"m of {kind.__name__}, d = 16, 32, 64", ", ".join(f"{m:,}" for m in told)))
    accounts = {"alpha": 0.1, "beta": 0.1, "epsilon": 1.0, "delta": 1e-6}
    printed, shifted = (lemma_3_size(2**64, shifted=one, **accounts) for one in (False, True))
    even = IntervalLearner(dimension=64, split="even").sample_size()
    return [
        *found,
        Figure("m of IntervalLearner, even split, d = 64", f"{even:,}"),
        Figure("BNS Lemma 3 as printed, with the shifted score", f"{printed:.1e}, {shifted:.1e}"),
    ]


if __name__ == "__main__":
    show("Time", runs())
    show("Examples", sizes())
