"""k-means by statistical queries: each round asks about the clusters of the last round's centres."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.claims import Accuracy, PureDP
from audit.errors import InvalidValue, finite_number, positive_int
from audit.relations import Relation
from learners.chunked import ChunkNoise, Model
from learners.chunked_run import ChunkedRun
from learners.clusters import Centres, ClusterProblem, cluster_problems, nearest, random_clusters
from learners.listed import spread
from mechanisms.parameters import PlainParameters
from mechanisms.queries import StatisticalQuery

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from learners.many_chunks import ManyChunks
    from mechanisms.queries import SQOracle

__all__ = ["KMeans", "KMeansQueries", "nearest"]

_WORTHLESS = 0.5
"""So far off is no point of [0, 1] from the middle."""


@dataclass(frozen=True)
class _Share:
    """1 where a point belongs to a centre; its coordinate there, else 0, where `place` is given."""

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
    """`_Share` of many runs, whose centres have shape (runs, clusters, d), at each kind of point."""

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
    """Lloyd's iteration through statistical queries; each centre becomes its cluster's sum ÷ its mass.

    Parameters
    ----------
    start
        The first centres, points of [0, 1]^d.
    rounds
        How many rounds.
    tau
        The tolerance of all queries.
    least_mass
        A centre whose mass is answered below this stays where it is.

    Guarantee
    ---------
    `rounds` rounds of k·(d + 1) queries, k masses and k·d coordinate sums. With a valid oracle and mass m ≥
    least_mass + tau a centre's coordinate is off Lloyd's, for the same clusters, by at most 2·tau/(m − tau):
    |ŝ/m̂ − s/m| ≤ (|ŝ − s| + (s/m)·|m̂ − m|)/m̂ with s/m ≤ 1. With the exact oracle it is Lloyd's iteration
    itself. (K11 §1.1.1 names k-means as an algorithm that seems to need adaptivity.)

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
        matrix = np.asarray(self.start, dtype=np.float64)
        if matrix.ndim != 2 or not matrix.size or not ((matrix >= 0) & (matrix <= 1)).all():
            raise InvalidValue(f"The `start` of `{owner}` must be one or more points of [0, 1]^d.")

    @property
    def dimension(self) -> int:
        """The dimension d."""
        return len(self.start[0])

    @property
    def accuracy(self) -> float:
        """2·tau/least_mass: how far a coordinate of a centre that moved may be off Lloyd's."""
        return 2.0 * self.tau / self.least_mass

    @property
    def most_queries(self) -> int:
        """How many queries are asked."""
        return self.rounds * len(self.start) * (self.dimension + 1)

    def queries(self, centres: Centres) -> list[StatisticalQuery]:
        """Return a round: for each centre its mass, then its coordinate sums."""
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
        """Return the centres of every run, by the same steps as `learn`.

        Examples
        --------
        >>> from learners.chunked import ChunkNoise
        >>> from learners.many_chunks import ManyChunks
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


@dataclass(frozen=True, kw_only=True)
class KMeans(ChunkedRun, PlainParameters):
    """Run k-means privately: every query is answered from a chunk of its own, with noise.

    A database is a list of points of [0, 1]^d; the output is the centres, or "insufficient samples".

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0.
    start, rounds, tau, least_mass
        As in `KMeansQueries`; 2·tau/least_mass, how far a coordinate may be off, below 1/2.
    beta
        Failure probability, in (0, 1/2).
    model
        ``"central"``: noise on the averages; ``"local"``: every record reports for itself.
    records, size
        What a privacy audit builds databases of, and how long they are; default one record a query.

    Raises
    ------
    InvalidValue
        A parameter is out of range; in use, a record that is no point of [0, 1]^d.

    Guarantee
    ---------
    epsilon-differential privacy when one record is replaced, in the local model epsilon-local: a query
    depends on earlier answers only, and each record has part in one answer (`learners.chunked.ChunkNoise`).
    With `sample_size` independent points all answers are within tau, with probability 1 − beta. Where the
    clusters forgive so much (`learners.clusters.is_steady`), every coordinate of the centres is then within
    2·tau/least_mass of what Lloyd's iteration makes of the law itself, after all the rounds.

    Examples
    --------
    >>> kmeans = KMeans(rounds=1)
    >>> kmeans.size, len(kmeans([(0.1,), (0.2,), (0.7,), (0.9,)], np.random.default_rng(0)))
    (4, 2)
    """

    epsilon: float = 1.0
    start: Centres = ((0.25,), (0.75,))
    rounds: int = 1
    tau: float = 0.03
    least_mass: float = 0.3
    beta: float = 0.1
    model: Model = "central"
    records: tuple[Any, ...] | None = None
    size: int | tuple[int, int] | None = None

    name: ClassVar[str] = "k-means"
    reference: ClassVar[str] = "K11 §1.1.1; B Theorem 7; K11 §5.1"
    relation: ClassVar[Relation] = Relation.REPLACE_ONE
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        finite_number(self.beta, what=f"The `beta` of `{type(self).__name__}`", above=0, below=0.5)
        ChunkNoise(self.model, self.epsilon)
        if self.algorithm.accuracy >= _WORTHLESS:
            raise InvalidValue(
                f"The 2·tau/least_mass of `{type(self).__name__}`, how far a centre in [0, 1]^d may be off, "
                f"must be below {_WORTHLESS:g}; got {self.algorithm.accuracy:g}."
            )
        if self.size is None:
            object.__setattr__(self, "size", self.algorithm.most_queries)
        if self.records is None:
            corners = [(value,) * self.algorithm.dimension for value in (0.0, 0.4, 1.0)]
            object.__setattr__(self, "records", tuple(corners))

    @property
    def claim(self) -> PureDP:
        """The privacy claimed."""
        return PureDP(self.epsilon)

    @property
    def algorithm(self) -> KMeansQueries:
        """The SQ algorithm that is run."""
        return KMeansQueries(self.start, self.rounds, self.tau, self.least_mass)

    @property
    def sample_size(self) -> int:
        """The number of points with which all answers are within tau, but with probability beta.

        Examples
        --------
        >>> KMeans().sample_size
        45116
        """
        queries = self.algorithm.queries(self.algorithm.start) * self.rounds
        return len(queries) * ChunkNoise(self.model, self.epsilon).chunk_size(queries, beta=self.beta)

    @property
    def utility_claim(self) -> Accuracy | None:
        """The distance from Lloyd's centres claimed on `sample_size` points of a steady law.

        None where no law of the library is steady, as where the first centres are near one another.

        Examples
        --------
        >>> KMeans().utility_claim, KMeans(rounds=2, start=((0.45,), (0.55,))).utility_claim
        (Accuracy(alpha=0.2, beta=0.1), None)
        """
        return Accuracy(self.algorithm.accuracy, self.beta) if self.problems() else None

    def problems(self) -> list[ClusterProblem]:
        """Return steady problems, with `sample_size` points each."""
        return cluster_problems(self.algorithm, examples=self.sample_size)

    def vary(self, problem: ClusterProblem, rng: np.random.Generator) -> ClusterProblem:
        """Return a steady problem near another one."""
        return problem.varied(rng)

    def random(self, rng: np.random.Generator) -> ClusterProblem:
        """Return a random steady problem, with `sample_size` points."""
        found = random_clusters(self.algorithm, examples=self.sample_size, rng=rng)
        return self.problems()[0] if found is None else found

    @property
    def _wanted(self) -> str:
        return f"a point of [0, 1]^{self.algorithm.dimension}"

    def _is_record(self, record: Any) -> bool:
        try:
            return len(record) == self.algorithm.dimension and all(0.0 <= value <= 1.0 for value in record)
        except TypeError:
            return False
