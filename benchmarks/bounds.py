"""How close the bound on ε comes to the truth: pair given, significance 1e-3, median of 5 seeds.

The claim is 0.8 of the true ε and the whole budget is used; the claim sets the scale of the lattice of ε
alone. The runs that confirm a refutation would tighten the bound too: they are cut to the least, so that
it rests on the runs a side that the table names.

Usage: python benchmarks/bounds.py [--seeds N]
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from figures import Figure, show
from scipy.optimize import brentq
from scipy.special import ndtr

from audit import ApproximateDP, PureDP, audit_privacy

DELTA = 1e-3
SIDES = {20_000: 0.88, 200_000: 0.955, 2_000_000: 0.985}
PAIR = ([0], [1])


@dataclass(frozen=True)
class Vectorised:
    """A mechanism on databases of one number; `draw(number, size, rng)` gives its outputs."""

    name: str
    draw: Any

    def __call__(self, database: list[int], rng: np.random.Generator) -> Any:
        return self.draw(database[0], 1, rng)[0]

    def sample(self, database: list[int], size: int, rng: np.random.Generator) -> Any:
        return self.draw(database[0], size, rng)


def laplace(number: float, size: int, rng: np.random.Generator) -> Any:
    return number + rng.laplace(size=size)


def geometric(number: int, size: int, rng: np.random.Generator) -> Any:
    chance = -math.expm1(-1.0)
    return number + rng.geometric(chance, size) - rng.geometric(chance, size)


def randomized_response(number: int, size: int, rng: np.random.Generator) -> Any:
    return np.where(rng.random(size) < math.e / (1 + math.e), number, 1 - number)


def gaussian_delta(epsilon: float, sigma: float) -> float:
    """Give δ(ε) of N(0, σ²) against N(1, σ²): Balle and Wang 2018, Theorem 8."""
    return float(
        ndtr(0.5 / sigma - epsilon * sigma) - math.exp(epsilon) * ndtr(-0.5 / sigma - epsilon * sigma)
    )


def gaussian(epsilon: float) -> Vectorised:
    """Give the Gaussian mechanism whose true ε at `DELTA` is this one."""
    sigma = brentq(lambda s: gaussian_delta(epsilon, s) - DELTA, 1e-2, 1e3, xtol=1e-14)
    return Vectorised("gaussian", lambda number, size, rng: rng.normal(number, sigma, size))


def bounds(mechanism: Vectorised, claim: Any, *, side: int, seeds: int) -> list[float]:
    options: dict[str, Any] = {
        "budget": 2 * side,
        "until": "budget",
        "confirm_budget": 4,
        "significance": 1e-3,
    }
    return [
        audit_privacy(mechanism, claim, pairs=[PAIR], seed=seed, **options).epsilon_lower
        for seed in range(seeds)
    ]


def figure(mechanism: Vectorised, claim: Any, *, true: float, least: float, side: int, seeds: int) -> Figure:
    found = bounds(mechanism, claim, side=side, seeds=seeds)
    middle = median(found)
    what = f"{mechanism.name}, true ε {true:g}, {side:,} runs a side"
    spread = f"{min(found):.4f} to {max(found):.4f}"
    return Figure(what, f"{middle:.4f}", f">= {least:g}", middle >= least, spread)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seeds", type=int, default=5)
    seeds = options.parse_args().seeds
    figures = []
    for draw, slack in ((laplace, 0.0), (geometric, 0.02), (randomized_response, 0.02)):
        for side, least in SIDES.items():
            mechanism = Vectorised(draw.__name__, draw)
            target = round(least - slack, 3)
            figures.append(figure(mechanism, PureDP(0.8), true=1, least=target, side=side, seeds=seeds))
    for true in (1.0, 2.0):
        claim = ApproximateDP(0.8 * true, DELTA)
        figures.append(
            figure(gaussian(true), claim, true=true, least=round(0.9 * true, 3), side=2_000_000, seeds=seeds)
        )
    show(f"Bound on ε at significance 1e-3, median of {seeds} seeds (Gaussian: δ = {DELTA:g})", figures)


if __name__ == "__main__":
    main()
