"""Two local algorithms on records of four bits, and their simulations."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.catalogue import Entry
from mechanisms.composition.processing import Undeclared
from mechanisms.local.laplace import LocalLaplace
from mechanisms.local.protocols import InteractiveProtocol, NonInteractiveProtocol
from mechanisms.queries.population import Population
from mechanisms.queries.simulations.protocol_simulation import ProtocolSimulation
from mechanisms.queries.simulations.simulated_protocol import SimulatedProtocol

if TYPE_CHECKING:
    from collections.abc import Generator

    from numpy.typing import NDArray

__all__ = ["DIMENSION", "average_bit", "parity", "population", "simulated_rounds", "simulated_value"]

DIMENSION = 4
"""Number of bits of a record."""


def average_bit(records: Any) -> NDArray[np.float64]:
    """Return the mean of the bits of each record, with bits as 1 or −1.

    Examples
    --------
    >>> average_bit([0, 7, 15]).tolist()
    [-1.0, 0.5, 1.0]
    """
    return np.asarray(_signs(records).mean(axis=1))


def parity(records: Any) -> NDArray[np.float64]:
    """Return −1 for each record with an odd number of ones, else 1.

    Examples
    --------
    >>> parity([0, 7, 15]).tolist()
    [1.0, -1.0, 1.0]
    """
    return np.asarray(_signs(records).prod(axis=1))


def _signs(records: Any) -> NDArray[np.float64]:
    return np.asarray(
        2.0 * (np.asarray(records)[:, None] >> np.arange(DIMENSION) & 1) - 1.0, dtype=np.float64
    )


def population() -> Population:
    """Return a distribution on 0 … 15 in which k has probability (k + 1)/136.

    Examples
    --------
    >>> round(float(population().weights[15]), 6)
    0.117647
    """
    counts = np.arange(1.0, 1 + 2**DIMENSION)
    return Population(list(range(2**DIMENSION)), counts / counts.sum())


def _two_rounds(_size: int, *, epsilon: float) -> Generator[Any, Any, tuple[float, float]]:
    """Ask an entry for its average bit with noise, then for another bit.

    If the answer is above 0, the next question is for the parity, else for the average bit again.
    """
    noisy = partial(LocalLaplace, epsilon=epsilon / 2.0, vectorised=True, records=range(2**DIMENSION))
    first = yield 0, noisy(query=average_bit)
    second = yield 0, noisy(query=parity if first > 0.0 else average_bit)
    return first, second


def simulated_value(*, epsilon: float = 1.0, beta: float = 0.3) -> SimulatedProtocol:
    """Return a mechanism that runs R_g on one entry, or simulates R_g.

    The database's record says which.

    Examples
    --------
    >>> subject = simulated_value()
    >>> print(subject.claim, round(subject.simulation.distance_bound, 12))
    ApproximateDP(epsilon=0, delta=0.3) 0.1
    """
    records = range(2**DIMENSION)
    noisy = LocalLaplace(epsilon=epsilon, query=average_bit, vectorised=True, records=records)
    protocol = NonInteractiveProtocol(queries=[(0, noisy)], size=1, records=records)
    return SimulatedProtocol(
        simulation=ProtocolSimulation(protocol=protocol, accesses=1, beta=beta),
        population=population(),
        name="simulated-local-laplace",
        reference="K11 Claim 5.9 for R_g of §5.1.1",
    )


def simulated_rounds(*, epsilon: float = 1.0, beta: float = 0.3) -> SimulatedProtocol:
    """Return a mechanism that runs or simulates two noisy rounds on one entry.

    The database's record says which.

    Examples
    --------
    >>> len(simulated_rounds()(["down"], np.random.default_rng(0)))
    2
    """
    algorithm = partial(_two_rounds, epsilon=epsilon)
    protocol = InteractiveProtocol(algorithm=algorithm, epsilon=epsilon, size=1, records=range(2**DIMENSION))
    return SimulatedProtocol(
        simulation=ProtocolSimulation(protocol=protocol, accesses=2, beta=beta),
        population=population(),
        name="simulated-laplace-rounds",
        reference="K11 Claim 5.10 and Lemma 5.8 for R_g of §5.1.1",
    )


_VALUE, _ROUNDS = simulated_value(), simulated_rounds()

entries = (
    Entry(
        _VALUE.name,
        partial(Undeclared, part=_VALUE),
        options={"budget": 4_000, "pairs": _VALUE.suggested_pairs()},
        reference=_VALUE.reference,
        summary="R_g by statistical queries, by densities: distance 0.017, allowed 0.3",
    ),
    Entry(
        _ROUNDS.name,
        partial(Undeclared, part=_ROUNDS),
        options={"budget": 2_000, "pairs": _ROUNDS.suggested_pairs()},
        reference=_ROUNDS.reference,
        summary="two Laplace rounds on an entry, by statistical queries: distance 0.009, allowed 0.3",
    ),
)
