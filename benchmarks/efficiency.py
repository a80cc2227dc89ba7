"""How many pairs of runs a refutation takes, as a multiple of the least for independent sides.

That limit is ln(1/significance)/KL for the best event, whose probabilities p and q come from the exact laws
here, never from the auditor; KL is the infimum of KL(p‖p′) + KL(q‖q′) over what the claim allows. The best
event is one of the events "likelihood ratio above a level": KL rises with p and falls with q.

Usage: python benchmarks/efficiency.py [--seeds N]
"""

from __future__ import annotations

import argparse
import itertools
import math
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from figures import Figure, show
from limits import best_log_growth
from scipy.integrate import quad

from audit import PureDP, Relation, audit_privacy

SIGNIFICANCE = 1e-6
SHARES = (0.5, 0.8, 0.9)
Events = list[tuple[float, float]]


@dataclass(frozen=True)
class Case:
    """A mechanism with a pair of databases, its true ε there, and (p, q) of the events by falling ratio."""

    name: str
    draw: Any
    pair: tuple[Any, Any]
    true: float
    events: Events

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        return self.draw(database, 1, rng)[0]

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> Any:
        return self.draw(database, size, rng)


def by_ratio(p: Any, q: Any) -> Events:
    """Give the events "ratio above a level" of two finite laws, both ways round."""
    found = []
    for x, y in ((np.array(p), np.array(q)), (np.array(q), np.array(p))):
        order = np.argsort(-x / y, kind="stable")
        found += list(zip(np.cumsum(x[order]), np.cumsum(y[order]), strict=True))
    return [(min(1.0, float(a)), min(1.0, float(b))) for a, b in found]


def laplace() -> Case:
    """Answers 0 and 1: the ratio falls along the line, so the events are half-lines."""

    def below(x: float) -> float:
        return 0.5 * math.exp(x) if x < 0 else 1 - 0.5 * math.exp(-x)

    ends = np.linspace(-4.0, 4.0, 1601)
    events = [(below(end), below(end - 1)) for end in ends]
    return Case(
        "laplace", lambda database, size, rng: database[0] + rng.laplace(size=size), ([0], [1]), 1.0, events
    )


def geometric() -> Case:
    ratio = math.exp(-1.0)
    outcomes = np.arange(-60, 61)
    law = [(1 - ratio) / (1 + ratio) * ratio ** np.abs(outcomes - answer) for answer in (0, 1)]

    def draw(database: Any, size: int, rng: np.random.Generator) -> Any:
        return database[0] + rng.geometric(1 - ratio, size) - rng.geometric(1 - ratio, size)

    return Case("geometric", draw, ([0], [1]), 1.0, by_ratio(*law))


def randomized_response() -> Case:
    keep = math.e / (1 + math.e)

    def draw(database: Any, size: int, rng: np.random.Generator) -> Any:
        return np.where(rng.random(size) < keep, database[0], 1 - database[0])

    return Case("randomized response", draw, ([0], [1]), 1.0, by_ratio([keep, 1 - keep], [1 - keep, keep]))


def noisy_max() -> Case:
    """Report noisy max with Laplace(2) noise over five answers, ε = 1; its law by quadrature."""
    pair = ([1.0, 1, 1, 1, 1], [2.0, 0, 0, 0, 0])
    p, q = (_law_of_maximum(answers) for answers in pair)
    true = float(np.abs(np.log(p / q)).max())

    def draw(database: Any, size: int, rng: np.random.Generator) -> Any:
        return (np.array(database) + rng.laplace(scale=2.0, size=(size, 5))).argmax(axis=1)

    return Case("noisy max", draw, pair, true, by_ratio(p, q))


def _law_of_maximum(answers: list[float]) -> Any:
    def below(x: float) -> float:
        return 0.5 * math.exp(x / 2) if x < 0 else 1 - 0.5 * math.exp(-x / 2)

    def density(x: float, best: int) -> float:
        others = math.prod(below(x - other) for k, other in enumerate(answers) if k != best)
        return 0.25 * math.exp(-abs(x - answers[best]) / 2) * others

    knots = [-80.0, *sorted(set(answers)), 80.0]
    pieces = list(itertools.pairwise(knots))
    law = [sum(quad(density, a, b, args=(k,))[0] for a, b in pieces) for k in range(len(answers))]
    assert abs(sum(law) - 1) < 1e-9
    return np.array(law)


def figure(case: Case, share: float, *, seeds: int) -> Figure:
    claim = share * case.true
    growth = max(best_log_growth(p, q, claim, 0.0) for p, q in case.events)
    limit = -math.log(SIGNIFICANCE) / growth
    used = []
    for seed in range(seeds):
        result = audit_privacy(
            case,
            PureDP(claim),
            relation=Relation.QUERY_ANSWERS,
            pairs=[case.pair],
            budget=math.ceil(40 * limit),
            confirm_budget=4,
            significance=SIGNIFICANCE,
            seed=seed,
        )
        used.append((result.samples_to_refutation or math.inf) / 2 / limit)
    middle = median(used)
    what = f"{case.name}, claim {share:g} of true ε {case.true:.3f}"
    note = f"{min(used):.2f} to {max(used):.2f}; limit {limit:,.0f} pairs"
    return Figure(what, f"{middle:.2f}", "<= 2.5 (aim 2.0)", middle <= 2.5, note)


def leak() -> Figure:
    result = audit_privacy(lambda database: database[0], PureDP(1.0), pairs=[([0], [1])])
    runs = result.samples_to_refutation
    met = runs is not None and runs <= 250
    return Figure("outright leak, p = 1 and q = 0, claim 1", f"{runs} runs", "<= 250 runs", met)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seeds", type=int, default=11)
    seeds = options.parse_args().seeds
    cases = (laplace(), geometric(), randomized_response(), noisy_max())
    figures = [figure(case, share, seeds=seeds) for case in cases for share in SHARES]
    show(
        f"Pairs used as a multiple of the limit, significance {SIGNIFICANCE:g}, median of {seeds} seeds",
        [*figures, leak()],
    )


if __name__ == "__main__":
    main()
