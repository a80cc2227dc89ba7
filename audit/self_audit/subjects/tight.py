"""Mechanisms that meet their claim (ε, δ) with equality; a refutation of one is a false alarm."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

ALPHA = math.exp(-1.0)
_SWAPPED = math.exp(-0.5) * (1 + 0.25) / 2  # Pr[difference of two Laplace(2) > 1]


@dataclass(frozen=True)
class Tight:
    """A mechanism on pairs that meet the claim (ε, δ) with equality.

    Parameters
    ----------
    mechanism, pairs
        The audited mechanism and pairs.
    epsilon, delta
        The smallest true claim.
    """

    mechanism: Any
    pairs: tuple[tuple[Any, Any], ...]
    epsilon: float
    delta: float = 0.0


class Laplace:
    """The first record with Laplace noise of scale 1."""

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return the output of one run."""
        return database[0] + rng.laplace()

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Return the outputs of `size` runs."""
        return np.asarray(database[0] + rng.laplace(size=size))


class Gaussian:
    """The first record with Gaussian noise of standard deviation 1."""

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return the output of one run."""
        return database[0] + rng.normal()

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Return the outputs of `size` runs."""
        return np.asarray(database[0] + rng.normal(size=size))


class Histogram:
    """The vector of counts of three categories, each with Laplace noise."""

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return the output of one run."""
        return self.sample(database, 1, rng)[0]

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Return the outputs of `size` runs, shape (size, 3)."""
        return np.asarray(np.bincount(database, minlength=3) + rng.laplace(size=(size, 3)))


class Geometric:
    """The first record with two-sided geometric noise of ε = 1."""

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return the output of one run."""
        return int(self.sample(database, 1, rng)[0])

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Return the outputs of `size` runs."""
        p = 1 - ALPHA
        return np.asarray(database[0] + rng.geometric(p, size) - rng.geometric(p, size))


class NoisyMax:
    """The index of the larger of two answers, each with Laplace noise of scale 2."""

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return the output of one run."""
        return int(np.argmax(np.asarray(database) + rng.laplace(scale=2, size=2)))

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Return the outputs of `size` runs."""
        return np.asarray(np.argmax(np.asarray(database) + rng.laplace(scale=2, size=(size, 2)), axis=1))


class ChainedResponse:
    """Randomized response added to the previous output, modulo 2, so that it keeps state.

    Given its state, each call tells the truth with probability 3/4: ε = ln 3 with equality.
    """

    def __init__(self) -> None:
        self.last = 0

    def __call__(self, database: Any, rng: np.random.Generator) -> int:
        """Return the output of one run, which is the state of the next run."""
        told = database[0] if rng.random() < 0.75 else 1 - database[0]
        self.last = (self.last + told) % 2
        return self.last


def randomized_response(database: Any, rng: np.random.Generator) -> str:
    """Return whether the first record is 1, telling the truth with probability 3/4."""
    truth = rng.random() < 0.75
    return "yes" if (database[0] == 1) == truth else "no"


def _normal_cdf(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


#: δ(1) of N(0, 1) against N(1, 1).
GAUSSIAN_DELTA = _normal_cdf(-0.5) - math.e * _normal_cdf(-1.5)


def tight_cases() -> dict[str, Tight]:
    """Return the cases by name, each with a newly made mechanism.

    Examples
    --------
    >>> tight_cases()["laplace"].epsilon
    1.0
    """
    return {
        "laplace": Tight(Laplace(), (([0.0], [1.0]),), 1.0),
        "geometric": Tight(Geometric(), (([0], [1]),), 1.0),
        "randomized response": Tight(randomized_response, (([0], [1]),), math.log(3)),
        "gaussian": Tight(Gaussian(), (([0.0], [1.0]),), 1.0, GAUSSIAN_DELTA),
        "histogram": Tight(Histogram(), (([0, 1, 2], [0, 1, 2, 2]),), 1.0),
        "noisy max": Tight(NoisyMax(), (([1.0, 0.0], [0.0, 1.0]),), math.log((1 - _SWAPPED) / _SWAPPED)),
        "chained response": Tight(ChainedResponse(), (([0], [1]),), math.log(3)),
    }
