"""Speed of the learners for finite classes and by statistical queries.

    python benchmarks/learned.py [generic] [masked] [conjunctions]

Targets are for one core. Figures without a target are for comparison.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from figures import Figure, show

from learners.by_queries.conjunctions import ConjunctionLearner
from learners.finite.hypotheses import Hypotheses
from learners.finite.tables import TruthTable
from learners.generic.agnostic import GenericLearner
from learners.masked import BentLearner, BentQuery, MaskedParityLearner, MaskedPopulation
from learners.masked.experiments import over_concepts
from learners.masked.fourier import split
from mechanisms.queries import AdversarialOracle

if TYPE_CHECKING:
    from collections.abc import Callable

HYPOTHESES = 1_000_000
POINTS = 100
RECORDS = 10_000


def seconds(work: Callable[[], Any]) -> float:
    """Return the shortest time of three tries."""
    return min(_once(work) for _ in range(3))


def _once(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def generic() -> list[Figure]:
    """Time the generic learner over a million hypotheses.

    The figures are one run, packing the table, and the exact law.
    """
    rng = np.random.default_rng(0)
    table = rng.random((HYPOTHESES, POINTS)) < 0.5
    x, y = rng.integers(POINTS, size=RECORDS).tolist(), rng.integers(2, size=RECORDS).tolist()
    database = list(zip(x, y, strict=True))
    packing = seconds(lambda: TruthTable.of(table))
    learner = GenericLearner(concepts=Hypotheses.of_rows(table, domain=range(POINTS)))
    learner.hypotheses.index(0)
    run = seconds(lambda: learner(database, rng))
    law = seconds(lambda: learner.distribution(database))
    what = f"|H| = {HYPOTHESES:,}, |X| = {POINTS}, n = {RECORDS:,}"
    return [
        Figure(f"one run, {what}", f"{run:.3f} s", "< 2 s", run < 2.0),
        Figure("the same, packing the table as well", f"{run + packing:.3f} s", "< 2 s", run + packing < 2.0),
        Figure("its exact law", f"{law:.3f} s"),
    ]


def masked() -> list[Figure]:
    """Time MASKED-PARITY.

    The figures are the transform at d = 16, `BentLearner` on 400 concepts, and private runs.
    """
    transform = seconds(lambda: split.__wrapped__(BentQuery(16)))
    words = range(0, 200 * 327, 327)

    def recover() -> None:
        def upwards(population: Any) -> Any:
            return AdversarialOracle(population, "up")

        assert over_concepts(BentLearner(16).learn, dimension=16, words=words, oracle=upwards).exact == 400

    recoveries = 400 / seconds(recover)
    learner, rng = MaskedParityLearner(dimension=8), np.random.default_rng(0)
    database = MaskedPopulation(8, r=77, a=1).sample(learner.sample_size(), rng)
    run = seconds(lambda: learner(database, rng))
    many = seconds(lambda: learner.sample(database, 1000, rng))
    return [
        Figure("parts of a query on all 131,072 concepts, d = 16", f"{transform:.3f} s"),
        Figure("recoveries by 17 non-adaptive queries, d = 16", f"{recoveries:.0f} a second"),
        Figure(f"one private run, d = 8, n = {learner.sample_size():,}", f"{run:.3f} s"),
        Figure("1,000 private runs at once, the same", f"{many:.3f} s"),
    ]


def conjunctions() -> list[Figure]:
    """Time the learner of conjunctions in the central and the local model.

    The figures are one run and a thousand runs.
    """
    figures = []
    for model in ("central", "local"):
        learner, rng = ConjunctionLearner(dimension=4, alpha=0.3, model=model), np.random.default_rng(0)
        database = learner.problems()[0].draw(rng)
        run = seconds(lambda: learner(database, rng))  # noqa: B023  called at once
        many = seconds(lambda: learner.sample(database, 1000, rng))  # noqa: B023  called at once
        what = f"{model}, d = 4, n = {learner.sample_size():,}"
        figures += [Figure(f"one run, {what}", f"{run:.3f} s"), Figure("1,000 at once", f"{many:.3f} s")]
    return figures


PARTS: dict[str, Callable[[], list[Figure]]] = {
    "generic": generic,
    "masked": masked,
    "conjunctions": conjunctions,
}


def main() -> None:
    """Print the parts asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*", default=list(PARTS), help=f"some of {', '.join(PARTS)}")
    for part in parser.parse_args().parts:
        show(f"Learners: {part}", PARTS[part]())


if __name__ == "__main__":
    main()
