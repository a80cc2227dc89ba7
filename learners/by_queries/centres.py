"""k-means by statistical queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidValue, finite_number, positive_int
from learners.finite.listed import spread
from mechanisms.queries import StatisticalQuery
from mechanisms.subjects.answers import floats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from learners.by_queries.many_chunks import ManyChunks
    from mechanisms.queries import SQOracle

__all__ = ["Centres", "KMeansQueries", "distances", "nearest"]

Centres = tuple[tuple[float, ...], ...]
"""One point of [0, 1]^d for each cluster."""


def nearest(points: Any, centres: Centres) -> NDArray[np.intp]:
    """Return the index of each point's nearest centre.

    Examples
    --------
    >>> nearest([(0.1,), (0.5,), (0.9,)], ((0.0,), (1.0,))).tolist()
    [0, 0, 1]
    """

    def of(some: Sequence[Any]) -> NDArray[np.intp]:
        return np.asarray(distances(np.asarray(some, dtype=np.float64), centres).argmin(axis=1))

    return spread(of, points)


def distances(points: NDArray[np.float64], centres: Centres) -> NDArray[np.float64]:
    """Return squared distances, shape (points, centres).

    Examples
    --------
    >>> distances(np.array([[0.5]]), ((0.0,), (1.0,))).tolist()
    [[0.25, 0.25]]
    """
    matrix = points.reshape(-1, len(centres[0]))
    return np.asarray(((matrix[:, None, :] - np.array(centres)[None, :, :]) ** 2).sum(axis=2))


@dataclass(frozen=True)
class _Share:
    """The query that is 1 on the points nearest to a centre.

    If `place` is given, the value is this coordinate instead of 1.
    """

    centres: Centres
    cluster: int
    place: int | None = None

    def many(self, records: Sequence[Any]) -> NDArray[np.float64]:
        inside = np.asarray(nearest(records, self.centres) == self.cluster)
        if self.place is None:
            return inside.astype(np.float64)
        return np.where(inside, spread(self._coordinate, records), 0.0)

    def _coordinate(self, records: Sequence[Any]) -> NDArray[np.float64]:
        return np.asarray(records, dtype=np.float64).reshape(len(records), -1)[:, self.place]

    def __call__(self, record: Any) -> float:
        return float(self.many([record])[0])


@dataclass(frozen=True)
class _Shares:
    """The values of `_Share` in many runs."""

    points: NDArray[np.float64]
    centres: NDArray[np.float64]
    cluster: int
    place: int | None

    def __call__(self, kinds: NDArray[np.intp]) -> NDArray[np.float64]:
        points = self.points[kinds]
        apart = [((points - centre[:, None]) ** 2).sum(axis=2) for centre in self.centres.transpose(1, 0, 2)]
        inside = np.argmin(apart, axis=0) == self.cluster
        return np.asarray(inside * (1.0 if self.place is None else points[:, self.place]))


@dataclass(frozen=True)
class KMeansQueries:
    """Lloyd's iteration for k-means through statistical queries.

    Parameters
    ----------
    start
        The initial centres, points of [0, 1]^d.
    rounds
        The number of rounds.
    tau
        The tolerance of all queries.
    least_mass
        If the answer for a cluster's mass is below this, its centre does not move.

    Guarantee
    ---------
    The algorithm asks `rounds` rounds of k·(d + 1) queries: k masses and k·d coordinate sums. Let a cluster
    have the mass m ≥ least_mass + tau and the coordinate sum s. Let a valid oracle answer m̂ and ŝ. Then
    |ŝ/m̂ − s/m| ≤ (|ŝ − s| + (s/m)·|m̂ − m|)/m̂ with s/m ≤ 1. So each coordinate is within 2·tau/(m − tau) of
    Lloyd's centre for the same clusters. With the exact oracle, the algorithm is Lloyd's iteration.

    Examples
    --------
    >>> from mechanisms.queries import ExactOracle, Population
    >>> points = [(0.0,), (0.2,), (0.8,), (1.0,)]
    >>> centres = KMeansQueries(((0.0,), (0.5,)), rounds=3).learn(ExactOracle(Population(points)))
    >>> [round(x, 12) for (x,) in centres]
    [0.1, 0.9]
    """

    start: Centres
    rounds: int = 5
    tau: float = 0.01
    least_mass: float = 0.05

    def __post_init__(self) -> None:
        owner = type(self).__name__
        positive_int(self.rounds, what=f"The `rounds` of `{owner}`")
        finite_number(self.tau, what=f"The `tau` of `{owner}`", above=0)
        finite_number(self.least_mass, what=f"The `least_mass` of `{owner}`", above=0, maximum=1)
        matrix = floats(self.start, what=f"The `start` of `{owner}`")
        if matrix.ndim != 2 or not matrix.size or not ((matrix >= 0) & (matrix <= 1)).all():
            raise InvalidValue(f"The `start` of `{owner}` must be one or more points of [0, 1]^d.")

    @property
    def dimension(self) -> int:
        """The dimension d."""
        return len(self.start[0])

    @property
    def accuracy(self) -> float:
        """The largest distance of a coordinate from Lloyd's centres."""
        return 2.0 * self.tau / self.least_mass

    @property
    def most_queries(self) -> int:
        """How many queries are asked."""
        return self.rounds * len(self.start) * (self.dimension + 1)

    def queries(self, centres: Centres) -> list[StatisticalQuery]:
        """Return the queries of one round, centre by centre."""
        return [
            StatisticalQuery(function, self.tau, low=0.0, high=1.0, vectorised=function.many)
            for cluster in range(len(centres))
            for place in (None, *range(self.dimension))
            for function in [_Share(centres, cluster, place)]
        ]

    def learn(self, oracle: SQOracle) -> Centres:
        """Return the centres after the last round."""
        centres = tuple(tuple(map(float, centre)) for centre in self.start)
        for _ in range(self.rounds):
            answers = np.array(oracle.ask_all(self.queries(centres))).reshape(len(centres), -1)
            centres = tuple(
                self._moved(old, answer[0], answer[1:]) for old, answer in zip(centres, answers, strict=True)
            )
        return centres

    def learn_many(self, oracle: ManyChunks) -> list[Centres]:
        """Return the centres of every run.

        Examples
        --------
        >>> from learners.by_queries.chunks import ChunkNoise
        >>> from learners.by_queries.many_chunks import ManyChunks
        >>> noise, rng = ChunkNoise("central", 10.0), np.random.default_rng(0)
        >>> oracle = ManyChunks([(0.1,), (0.9,)] * 800, queries=4, noise=noise, runs=2, rng=rng)
        >>> found = KMeansQueries(((0.25,), (0.75,)), rounds=1).learn_many(oracle)
        >>> np.array(found).round(1).tolist()
        [[[0.1], [0.9]], [[0.1], [0.9]]]
        """
        width = self.queries(self.start)[0].width
        points = np.array(oracle.records, dtype=np.float64).reshape(-1, self.dimension)
        centres = np.repeat(np.array(self.start, dtype=np.float64)[None], oracle.runs, axis=0)
        for _ in range(self.rounds):
            of = [
                _Shares(points, centres, cluster, place)
                for cluster in range(len(self.start))
                for place in (None, *range(self.dimension))
            ]
            answers = np.column_stack([oracle.ask(values, width=width) for values in of])
            answers = answers.reshape(oracle.runs, len(self.start), -1)
            moved = answers[..., :1] >= self.least_mass
            fresh = np.clip(answers[..., 1:] / np.where(moved, answers[..., :1], 1.0), 0.0, 1.0)
            centres = np.where(moved, fresh, centres)
        return [tuple(map(tuple, run)) for run in centres.tolist()]

    def _moved(self, old: tuple[float, ...], mass: float, sums: NDArray[np.float64]) -> tuple[float, ...]:
        if mass < self.least_mass:
            return old
        return tuple(np.clip(sums / mass, 0.0, 1.0).tolist())
