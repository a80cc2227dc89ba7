"""Measure statistical queries: outputs of B_(R,ε), answers, and error.

Usage: python benchmarks/queries.py [--outputs N]
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

import numpy as np
from figures import Figure, show

from mechanisms.queries import (
    AdversarialOracle,
    ExactOracle,
    Population,
    PrivateOracle,
    RandomizerSimulation,
    RandomOracle,
    SampleOracle,
    StatisticalQuery,
    private_sample_size,
    sample_size,
)
from mechanisms.queries.simulations.tables import kary_response

if TYPE_CHECKING:
    from collections.abc import Callable

    from mechanisms.queries import Oracle

TARGET = 50_000.0


def rate(work: Callable[[], object], count: int) -> float:
    """Return how many things per second `work` makes.

    A call of `work` makes `count` things. The fastest of three calls is taken.
    """
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return count / min(seconds)


def simulation(categories: int, oracle: Oracle, outputs: int) -> tuple[float, float]:
    """Return outputs per second and queries per output of k-ary response at ε = 1."""
    randomizer = kary_response(1.0, categories)
    simulated = RandomizerSimulation(randomizer=randomizer, base=0, accesses=10, beta=0.1)
    rng = np.random.default_rng(0)
    found = rate(lambda: simulated.sample(oracle, outputs, rng), outputs)
    return found, oracle.asked / (3 * outputs)


def simulations(outputs: int) -> list[Figure]:
    figures = []
    for categories in (2, 4, 16):
        population = Population(list(range(categories)))
        kinds: dict[str, Oracle] = {
            "exact": ExactOracle(population),
            "random": RandomOracle(population, rng=np.random.default_rng(1)),
            "adversarial": AdversarialOracle(population, "up"),
        }
        for name, oracle in kinds.items():
            found, queries = simulation(
                categories, oracle, outputs if name != "adversarial" else outputs // 10
            )
            exact = name == "exact"
            figures.append(
                Figure(
                    f"B_(R,ε), |W| = {categories}, {name} oracle",
                    f"{found:,.0f} outputs/s",
                    f"≥ {TARGET:,.0f}/s" if exact else "",
                    found >= TARGET if exact else None,
                    f"{queries:.2f} queries an output; e = 2.72 for the exact oracle's best",
                )
            )
    return figures


def answers(queries: int) -> list[Figure]:
    """Return how fast oracles answer from samples.

    Their speed is compared with that of the vectorised average alone.
    """
    query = StatisticalQuery.fraction(lambda x: x > 0.5, tau=0.02, vectorised=lambda xs: xs > 0.5)
    rng = np.random.default_rng(0)
    needed = {
        "SampleOracle": sample_size(queries, tau=0.02, beta=0.05),
        "PrivateOracle": private_sample_size(queries, tau=0.02, beta=0.05, epsilon=1.0),
    }
    figures = []
    for name, size in needed.items():
        sample = rng.random(size)

        def ask(name: str = name, sample: np.ndarray = sample) -> None:
            if name == "SampleOracle":
                oracle: Oracle = SampleOracle(sample, queries=queries, beta=0.05)
            else:
                oracle = PrivateOracle(sample, epsilon=1.0, queries=queries, beta=0.05, rng=rng)
            oracle.ask_all([query] * queries)

        found = rate(ask, size)
        plain = rate(lambda sample=sample: (sample > 0.5).mean(), size)
        value = f"{found:,.0f} records/s"
        figures.append(Figure(name, value, "", None, f"{found / plain:.2f} of numpy's (x > 1/2).mean()"))
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--outputs", type=int, default=500_000)
    options = parser.parse_args()
    show("Simulated outputs, k-ary response, ε = 1, β/t = 0.01", simulations(options.outputs))
    show("Answers to 200 queries within 0.02", answers(200))


if __name__ == "__main__":
    main()
