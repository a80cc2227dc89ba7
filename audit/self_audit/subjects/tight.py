"""Mechanisms that meet their claim (ε, δ) with equality. A refutation of such a claim is a false alarm."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.self_audit.subjects.exact import Drawn, geometric, laplace

#: δ(1) of N(0, 1) against N(1, 1).
_GAUSSIAN_DELTA = (math.erfc(0.5 / math.sqrt(2)) - math.e * math.erfc(1.5 / math.sqrt(2))) / 2
_SWAPPED = math.exp(-0.5) * (1 + 0.25) / 2  # Pr[difference of two Laplace(2) > 1]


@dataclass(frozen=True)
class Tight:
    """A mechanism and pairs on which it meets its claim with equality.

    Parameters
    ----------
    mechanism, pairs
        The audited mechanism and the pairs of databases.
    epsilon, delta
        The claim, which holds with equality.
    """

    mechanism: Any
    pairs: tuple[tuple[Any, Any], ...]
    epsilon: float
    delta: float = 0.0


class ChainedResponse:
    """Randomized response added to the previous output, modulo 2.

    The mechanism keeps state. Given the state, each call tells the truth with probability 3/4. So ε = ln 3
    with equality.
    """

    def __init__(self) -> None:
        self.last = 0

    def __call__(self, database: Any, rng: np.random.Generator) -> int:
        """Return the output of one run, which is also the next state."""
        told = database[0] if rng.random() < 0.75 else 1 - database[0]
        self.last = (self.last + told) % 2
        return self.last


def randomized_response(database: Any, rng: np.random.Generator) -> str:
    """Return whether the first record is 1, correct with probability 3/4."""
    truth = rng.random() < 0.75
    return "yes" if (database[0] == 1) == truth else "no"


def noisy_counts() -> Drawn:
    """Return a mechanism that releases three counts with Laplace noise."""
    return Drawn(
        "histogram",
        lambda database, size, rng: np.bincount(database, minlength=3) + rng.laplace(size=(size, 3)),
    )


def tight_cases() -> dict[str, Tight]:
    """Return the tight mechanisms by name, each newly made.

    Examples
    --------
    >>> tight_cases()["laplace"].epsilon
    1.0
    """
    normal = Drawn("gaussian", lambda database, size, rng: database[0] + rng.normal(size=size))
    larger = Drawn(
        "noisy max",
        lambda answers, size, rng: (answers + rng.laplace(scale=2, size=(size, 2))).argmax(axis=1),
    )
    return {
        "laplace": Tight(laplace().mechanism, (([0.0], [1.0]),), 1.0),
        "geometric": Tight(geometric().mechanism, (([0], [1]),), 1.0),
        "randomized response": Tight(randomized_response, (([0], [1]),), math.log(3)),
        "gaussian": Tight(normal, (([0.0], [1.0]),), 1.0, _GAUSSIAN_DELTA),
        "histogram": Tight(noisy_counts(), (([0, 1, 2], [0, 1, 2, 2]),), 1.0),
        "noisy max": Tight(larger, (([1.0, 0.0], [0.0, 1.0]),), math.log((1 - _SWAPPED) / _SWAPPED)),
        "chained response": Tight(ChainedResponse(), (([0], [1]),), math.log(3)),
    }
