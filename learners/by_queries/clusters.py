"""Problems of k-means on which Lloyd's iteration tolerates small errors."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from learners.by_queries.centres import distances, nearest
from learners.by_queries.separable import is_point
from learners.finite.listed import LateExamples
from learners.finite.problems import ALMOST

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from learners.by_queries.centres import Centres, KMeansQueries

__all__ = [
    "ClusterProblem",
    "cluster_problems",
    "is_steady",
    "lloyd",
    "off_lloyd",
    "random_clusters",
]

_TRIES = 30
_AWAY = 0.05


def lloyd(
    points: ArrayLike, weights: ArrayLike, algorithm: KMeansQueries
) -> list[tuple[Centres, NDArray[np.float64]]]:
    """Return Lloyd's centres and cluster masses, before each round and at the end.

    Examples
    --------
    >>> from learners.by_queries.centres import KMeansQueries
    >>> rounds = lloyd([(0.0,), (1.0,)], [0.5, 0.5], KMeansQueries(((0.25,), (0.75,)), rounds=1))
    >>> [(centres, mass.tolist()) for centres, mass in rounds]
    [(((0.25,), (0.75,)), [0.5, 0.5]), (((0.0,), (1.0,)), [0.5, 0.5])]
    """
    matrix, masses = np.asarray(points, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    centres: Centres = tuple(tuple(map(float, centre)) for centre in algorithm.start)
    found = []
    for _ in range(algorithm.rounds + 1):
        own = nearest(matrix, centres)
        mass = np.bincount(own, weights=masses, minlength=len(centres)).astype(np.float64)
        found.append((centres, mass))
        centres = tuple(
            old
            if mass[place] < algorithm.least_mass
            else tuple((masses[own == place] @ matrix[own == place] / mass[place]).tolist())
            for place, old in enumerate(centres)
        )
    return found


def off_lloyd(output: Any, points: ArrayLike, weights: ArrayLike, *, algorithm: KMeansQueries) -> float:
    """Return the largest distance of a coordinate from Lloyd's centres.

    It is infinite for an invalid output.

    Examples
    --------
    >>> from learners.by_queries.centres import KMeansQueries
    >>> algorithm = KMeansQueries(((0.25,), (0.75,)), rounds=1)
    >>> off_lloyd(((0.0,), (0.9,)), ((0.0,), (1.0,)), (0.5, 0.5), algorithm=algorithm)
    0.1
    """
    start = algorithm.start
    if not isinstance(output, tuple) or len(output) != len(start):
        return math.inf
    if not all(is_point(centre, dimension=len(start[0])) for centre in output):
        return math.inf
    exact = lloyd(points, weights, algorithm)[-1][0]
    return round(float(np.abs(np.array(output) - np.array(exact)).max()), 15)


def is_steady(points: ArrayLike, weights: ArrayLike, algorithm: KMeansQueries) -> bool:
    """Return whether centres within `accuracy` of Lloyd's always give the same clusters.

    Guarantee
    ---------
    If the result is True and all answers are within tau, the centres stay within `accuracy` of Lloyd's. Proof
    by induction over the rounds: the clusters equal Lloyd's. A centre of mass at least least_mass + tau moves
    to within 2·tau/least_mass of Lloyd's (`KMeansQueries`). A centre of mass below least_mass − tau does not
    move, and neither does Lloyd's. A point stays in its cluster if its own centre is nearer than any other by
    more than 2·√d·accuracy.

    Examples
    --------
    >>> from learners.by_queries.centres import KMeansQueries
    >>> algorithm = KMeansQueries(((0.25,), (0.75,)), rounds=2, tau=0.01, least_mass=0.2)
    >>> is_steady([(0.2,), (0.8,)], [0.5, 0.5], algorithm), is_steady([(0.2,), (0.5,)], [0.5, 0.5], algorithm)
    (True, False)
    """
    slack = 2.0 * math.sqrt(algorithm.dimension) * algorithm.accuracy
    occurring = np.asarray(points, dtype=np.float64)[np.asarray(weights) > 0]
    for place, (centres, mass) in enumerate(lloyd(points, weights, algorithm)[:-1]):
        moved = mass >= algorithm.least_mass + algorithm.tau
        if not (moved | (mass < algorithm.least_mass - algorithm.tau)).all():
            return False
        if place and len(centres) > 1:  # the initial centres are exact
            two = np.sort(np.sqrt(distances(occurring, centres)), axis=1)[:, :2]
            if (two[:, 1] - two[:, 0] <= slack).any():
                return False
    return True


@dataclass(frozen=True, eq=False)
class ClusterProblem:
    """A law on a few points, with Lloyd's centres as the truth.

    Parameters
    ----------
    name
        A name that describes the problem.
    points
        Points of [0, 1]^d.
    weights
        Their probabilities.
    algorithm
        The k-means algorithm.
    examples
        How many independent points `draw` gives.

    Examples
    --------
    >>> from learners.by_queries.centres import KMeansQueries
    >>> algorithm = KMeansQueries(((0.25,), (0.75,)), rounds=1)
    >>> problem = ClusterProblem("two points", ((0.0,), (1.0,)), (0.5, 0.5), algorithm, 3)
    >>> problem.error(((0.0,), (0.9,)), None), problem.error("insufficient samples", None)
    (0.1, inf)
    """

    name: str
    points: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...]
    algorithm: KMeansQueries
    examples: int

    def draw(self, rng: np.random.Generator) -> LateExamples:
        """Return a fresh sample, drawn when it is read."""
        cumulative = np.cumsum(self.weights)
        cumulative[-1] = 1.0
        return LateExamples(self.points, cumulative, self.examples, seed=int(rng.integers(2**63)))

    def error(self, output: Any, database: Any) -> float:
        """Return the largest distance of a coordinate from Lloyd's centres.

        It is infinite for an invalid output.
        """
        del database
        return off_lloyd(output, self.points, self.weights, algorithm=self.algorithm)

    def varied(self, rng: np.random.Generator) -> ClusterProblem:
        """Return a similar problem on which `is_steady` holds, or this problem."""
        for _ in range(_TRIES):
            points, masses = np.array(self.points), np.array(self.weights)
            place, other = rng.integers(0, len(points), size=2).tolist()
            if rng.random() < 0.5:
                points[place] = np.clip(points[place] + rng.uniform(-0.1, 0.1, points.shape[1]), 0.0, 1.0)
            else:
                moved = masses[place] * float(rng.uniform(0.0, 0.5))
                masses[place] -= moved
                masses[other] += moved
            if is_steady(points, masses, self.algorithm):
                name = f"{self.name.removesuffix(', varied')}, varied"
                return replace(
                    self, name=name, points=_tuples(points.tolist()), weights=tuple(masses.tolist())
                )
        return self


def cluster_problems(algorithm: KMeansQueries, *, examples: int) -> list[ClusterProblem]:
    """Return problems on which `is_steady` holds.

    Notes
    -----
    The lightest cluster whose centre must move has the largest error, at most 2·tau/(mass − tau).

    Examples
    --------
    >>> from learners.by_queries.centres import KMeansQueries
    >>> algorithm = KMeansQueries(((0.25,), (0.75,)), rounds=2, tau=0.01, least_mass=0.2)
    >>> len(cluster_problems(algorithm, examples=5))
    5
    """
    count, least = len(algorithm.start), algorithm.least_mass
    light = least + ALMOST * algorithm.tau
    shares = [
        ("balanced", _shares(count, 0, 1.0 / count), 0.5),
        ("unevenly balanced", _shares(count, 0, 1.0 / count), 0.9),
        ("the first hardly heavy enough", _shares(count, 0, light), 0.5),
        ("the last hardly heavy enough", _shares(count, count - 1, light), 0.5),
        ("the last too light", _shares(count, count - 1, (least - algorithm.tau) / ALMOST), 0.5),
    ]
    made = []
    for name, share, part in shares:
        points, weights = [], []
        for centre, mass in zip(algorithm.start, share, strict=True):
            for sign, half in ((1.0, part), (-1.0, 1.0 - part)):
                points.append(tuple(min(1.0, max(0.0, value + sign * _AWAY)) for value in centre))
                weights.append(mass * half)
        if min(weights) >= 0.0 and is_steady(points, weights, algorithm):
            made.append(ClusterProblem(name, tuple(points), tuple(weights), algorithm, examples))
    return made


def random_clusters(
    algorithm: KMeansQueries, *, examples: int, rng: np.random.Generator
) -> ClusterProblem | None:
    """Return a random problem on which `is_steady` holds, or None.

    Examples
    --------
    >>> from learners.by_queries.centres import KMeansQueries
    >>> algorithm = KMeansQueries(((0.25,), (0.75,)), rounds=2, tau=0.01, least_mass=0.2)
    >>> random_clusters(algorithm, examples=5, rng=np.random.default_rng(0)).name
    'random points'
    """
    for _ in range(_TRIES):
        each = int(rng.integers(2, 5))
        start = np.repeat(np.array(algorithm.start, dtype=np.float64), each, axis=0)
        points = np.clip(start + rng.uniform(-2 * _AWAY, 2 * _AWAY, start.shape), 0.0, 1.0)
        weights = rng.dirichlet(np.full(len(points), float(rng.choice([0.3, 3.0]))))
        if is_steady(points, weights, algorithm):
            return ClusterProblem(
                "random points", _tuples(points.tolist()), tuple(weights.tolist()), algorithm, examples
            )
    return None


def _shares(count: int, place: int, share: float) -> list[float]:
    """Return `count` shares that sum to 1, equal except at `place`."""
    if count == 1:
        return [1.0]
    return [share if k == place else (1.0 - share) / (count - 1) for k in range(count)]


def _tuples(rows: list[list[float]]) -> Centres:
    return tuple(map(tuple, rows))
