"""Utility audits at failure probability exactly β.

Run `python benchmarks/utility_boundary.py [AUDITS]`. At significance 0.05 an audit may refute with
probability at most 5 %, and call the claim *met* with probability at most 5 %. Of 400 audits at most 38 may
refute and at most 38 may call the claim met: 38 is four standard errors above 20.
"""

import random
import sys
from collections import Counter

from audit import PAC, audit_utility
from audit.problems import FixedProblem, SampledProblem

BETA, SIGNIFICANCE = 0.3, 0.05


def told():
    """Return a problem on which the output is the error."""
    return SampledProblem("told", lambda rng: rng.integers(0, 2, 3).tolist(), lambda error, _: error)


class Ordinary:
    """A learner that fails at random, by the given generator."""

    def __call__(self, _, rng):
        return float(rng.random() < BETA)


class Own:
    """A learner that fails at random, by a generator of the process."""

    def __call__(self, _):
        return float(random.random() < BETA)


class Cycle:
    """A learner that fails in some successive calls of every ten.

    Its constructor draws which calls.
    """

    def __init__(self):
        self.calls = random.randrange(10)

    def __call__(self, *_):
        self.calls += 1
        return float(self.calls % 10 < 10 * BETA)


class Lucky:
    """A learner that draws in its constructor whether it always fails."""

    def __init__(self):
        self.fails = random.random() < BETA

    def __call__(self, *_):
        return float(self.fails)


class FirstCall:
    """A learner that draws at its first call whether it always fails."""

    def __init__(self):
        self.fails = None

    def __call__(self, _, rng):
        if self.fails is None:
            self.fails = float(rng.random() < BETA)
        return self.fails


class Cell:
    """A mutable record that can be hashed."""

    def __init__(self):
        self.value = 1


class Sharing:
    """A learner that fails at random and changes its records.

    It draws from the given generator.
    """

    def __call__(self, database, rng):
        database[0].value = 0
        return float(rng.random() < BETA)


def shared():
    """Return a problem with errors 0 once a learner has changed its record."""
    cell = Cell()
    return FixedProblem("cell", [cell], lambda error, _: error * cell.value)


KINDS = {
    "ordinary": (Ordinary, told),
    "own generator": (Own, told),
    "cycle": (Cycle, told),
    "luck when made": (Lucky, told),
    "luck of the first call": (FirstCall, told),
    "sharing": (Sharing, shared),
}


def main(audits: int) -> None:
    """Print the number of each verdict, for each kind of learner and for all together."""
    total = Counter()
    each = audits // len(KINDS) + 1
    for name, (make, problem) in KINDS.items():
        verdicts = Counter(
            audit_utility(
                make(),
                PAC(0.1, BETA),
                problems=[problem()],
                significance=SIGNIFICANCE,
                seed=seed,
                budget=1_000,
            ).verdict.name
            for seed in range(each)
        )
        total += verdicts
        print(f"{name:24} {dict(verdicts)}", flush=True)
    print(f"{'all':24} {dict(total)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
