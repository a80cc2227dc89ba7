"""The cost of the LR oracle and of averages in the local model.

The cost is compared with numpy's own draws. Usage:

    python benchmarks/local.py [--entries 1000000] [--stream 10000000] [--rounds 5]

Exits with 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import time
from typing import TYPE_CHECKING

import numpy as np
from figures import Figure, show

from mechanisms import KaryRandomizedResponse, RandomizedResponse
from mechanisms.local import LaplaceAverage, LocalLaplace, LROracle, SignAverage, SignResponse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

_CHUNK = 500_000
_RANDOMIZERS = 10


def seconds(work: Callable[[], object], *, rounds: int) -> float:
    """Return the median seconds of CPU of several rounds."""
    times = []
    for _ in range(rounds):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return statistics.median(times)


def chunks(total: int, value: float = 0.5) -> Iterator[NDArray[np.float64]]:
    """Yield entries in chunks."""
    for start in range(0, total, _CHUNK):
        yield np.full(min(_CHUNK, total - start), value)


def oracle_figures(entries: int, *, rounds: int) -> list[Figure]:
    """Time the LR oracle, which randomizes every entry ten times."""
    rng, figures = np.random.default_rng(0), []
    bits, values = rng.integers(0, 2, entries), rng.uniform(-1.0, 1.0, entries)
    cases = {
        "randomized response": (bits, RandomizedResponse(epsilon=0.1)),
        "the same, entries in a list": (bits.tolist(), RandomizedResponse(epsilon=0.1)),
        "16-ary randomized response": (
            rng.integers(0, 16, entries),
            KaryRandomizedResponse(epsilon=0.1, categories=16),
        ),
        "±1 response": (2 * bits - 1, SignResponse(epsilon=0.1)),
        "Laplace, every entry different": (values, LocalLaplace(epsilon=0.1)),
    }
    for name, (database, randomizer) in cases.items():

        def ask(database: object = database, randomizer: object = randomizer) -> None:
            oracle = LROracle(database, epsilon=1.0, rng=rng)  # type: ignore[arg-type]
            for _ in range(_RANDOMIZERS):
                oracle.ask(oracle.everyone, randomizer)

        took = seconds(ask, rounds=rounds)
        what = f"LR oracle, {entries:,} entries × {_RANDOMIZERS}: {name}"
        figures.append(Figure(what, f"{took:.2f} s", "< 3 s", took < 3.0))
    return figures


def stream_figures(total: int, *, rounds: int) -> list[Figure]:
    """Return the speed and the memory of streamed averages.

    The speed is a share of the speed of numpy's Laplace draws.
    """
    rng = np.random.default_rng(0)

    def bare() -> None:
        for chunk in chunks(total):
            rng.laplace(0.0, 2.0, len(chunk))

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    average, signs = LaplaceAverage(size=total), SignAverage(size=total)
    draw = seconds(bare, rounds=rounds)
    laplace = seconds(lambda: average.stream(chunks(total), rng), rounds=rounds)
    sign = seconds(lambda: signs.stream(chunks(total, 1.0), rng), rounds=rounds)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    share = draw / laplace
    return [
        Figure(
            f"A_g over {total:,} entries in chunks, rate ÷ numpy's Laplace rate",
            f"{share:.2f}",
            "≥ 0.5",
            share >= 0.5,
            f"{total / laplace / 1e6:.0f} million entries a second",
        ),
        Figure("the same by ±1 responses", f"{draw / sign:.2f}", "", None, f"{sign:.2f} s"),
        Figure("peak memory of both, beyond what was used before", f"{grown:.0f} MB", "< 50 MB", grown < 50),
    ]


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--stream", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    streamed = stream_figures(options.stream, rounds=options.rounds)
    figures = [*streamed, *oracle_figures(options.entries, rounds=options.rounds)]
    show("The local model", figures)
    return int(any(figure.met is False for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
