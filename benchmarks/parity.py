"""The learners of parities, A and A*: speed, exact laws and audits.

    python benchmarks/parity.py [runs] [privacy] [utility]

Times are seconds of CPU of this one process.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from figures import Figure, show

from audit import Verdict, audit_privacy, audit_utility
from learners import AmplifiedParityLearner, ParityLearner
from learners.parity import BitExamples, hard_problems
from learners.parity.multisets import ParityLearnerMultisets

EXHAUSTIVE = ((2, 10, False), (2, 10, True), (3, 5, False), (3, 5, True))
AMPLIFIED = (("retry", False), ("retry", True), ("held-out", False), ("held-out", True), ("selection", True))


def speed(dimension: int, size: int, *, runs: int, target: int | None, noisy: bool = False) -> Figure:
    """Measure runs of learner A at ε = 1 on uniform examples.

    If `noisy`, their labels are random.
    """
    rng = np.random.default_rng(0)
    learner = ParityLearner(dimension, 1.0)
    database = hard_problems(dimension, alpha=0.1, size=size)[0].draw(rng)
    if noisy:
        database = BitExamples(database.points, rng.random(size) < 0.5)
    rates = []
    for _ in range(3):
        started = time.process_time()
        answers = learner.sample(database, runs, rng)
        rates.append(runs / (time.process_time() - started))
    passed = sum(answer != "⊥" for answer in answers) / runs
    what = f"A, d = {dimension}, n = {size:,}{', random labels' if noisy else ''}"
    rate = float(np.median(rates))
    met = None if target is None else rate >= target
    wanted = "" if target is None else f"≥ {target}"
    return Figure(what, f"{rate:,.0f} runs a second", wanted, met, f"{passed:.2f} with a parity")


def exhaustive(dimension: int, size: int, *, tight: bool) -> Figure:
    """Time a proof of learner A's claim on all samples of one size.

    The samples are compared as multisets with all their neighbours.
    """
    started = time.process_time()
    result = audit_privacy(ParityLearnerMultisets(dimension, 1.0, tight=tight, examples=size))
    seconds = time.process_time() - started
    return Figure(
        f"all samples, d = {dimension}, n = {size}{', tight' if tight else ''}",
        f"{seconds:.0f} s",
        "≤ 60 s",
        seconds <= 60 and result.verdict is Verdict.PROVED,
        f"{result.verdict.name}, {result.pairs_tried:,} pairs, ε {result.epsilon_lower:.6f}",
    )


def exact_law(*, consistent: bool) -> Figure:
    """Time the exact law of learner A, on 20 random examples of 8 bits."""
    rng = np.random.default_rng(1)
    points = rng.random((20, 8)) < 0.5
    labels = np.logical_xor.reduce(points, axis=1) if consistent else rng.random(20) < 0.5
    started = time.process_time()
    law = ParityLearner(8, 1.0).distribution(BitExamples(points, labels))
    seconds = time.process_time() - started
    kind = "a parity's labels" if consistent else "random labels"
    refused = "" if law is None else f"Pr[⊥] = {law.pmf('⊥'):.4f}"
    return Figure(f"exact law, d = 8, n = 20, {kind}", f"{seconds:.2f} s", "≤ 10 s", seconds <= 10, refused)


def utility(form: str, *, tight: bool) -> Figure:
    """Time an audit of the accuracy of learner A* at d = 16.

    Here ε = 1, α = β = 0.1, and the significance is 1e-6.
    """
    learner = AmplifiedParityLearner(16, 1.0, form=form, tight=tight)  # type: ignore[arg-type]  # a Form
    started = time.process_time()
    result = audit_utility(learner)
    seconds = time.process_time() - started
    return Figure(
        f"A*, {form}{', tight' if tight else ''}, d = 16",
        f"{seconds:.0f} s",
        "≤ 60 s",
        seconds <= 60 and result.verdict is Verdict.NOT_REFUTED,
        f"{result.verdict.name}, n = {learner.sample_size():,}, {result.samples:,} runs, "
        f"failure ≤ {result.beta_upper:.4f}",
    )


def runs() -> list[Figure]:
    """Measure the speed of runs of learner A, and of computing its exact law."""
    return [
        speed(64, 20_000, runs=600, target=300),
        speed(64, 20_000, runs=600, target=300, noisy=True),
        speed(256, 100_000, runs=30, target=None),
        exact_law(consistent=True),
        exact_law(consistent=False),
    ]


PARTS = {
    "runs": runs,
    "privacy": lambda: [exhaustive(d, n, tight=tight) for d, n, tight in EXHAUSTIVE],
    "utility": lambda: [utility(form, tight=tight) for form, tight in AMPLIFIED],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=list(PARTS), help=f"some of {', '.join(PARTS)}")
    for part in parser.parse_args().parts:
        show(f"Learners of parities: {part}", PARTS[part]())


if __name__ == "__main__":
    main()
