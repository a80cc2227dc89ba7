"""Private k-means by queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from audit.claims import Accuracy
from audit.errors import InvalidValue, finite_number
from learners.by_queries.both_models import in_both_models
from learners.by_queries.centres import Centres, KMeansQueries
from learners.by_queries.chunked_run import ChunkedRun
from learners.by_queries.chunks import ChunkNoise, Model
from learners.by_queries.clusters import ClusterProblem, cluster_problems, random_clusters
from learners.formulas import parities
from mechanisms.subjects.claimed import ClaimsItsEpsilon

if TYPE_CHECKING:
    import numpy as np

__all__ = ["KMeans"]

_WORTHLESS = 0.5
"""Every point of [0, 1] is within this distance of the middle, so a larger error bound says nothing."""


@dataclass(frozen=True, kw_only=True)
class KMeans(ChunkedRun, ClaimsItsEpsilon):
    """Run k-means privately by noisy queries.

    A database is a list of points of [0, 1]^d. The output is the centres, or "insufficient samples".

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0.
    start, rounds, tau, least_mass
        As in `KMeansQueries`. The error bound of a coordinate, 2·tau/least_mass, must be below 1/2.
    beta
        Failure probability, in (0, 1/2).
    model
        ``"central"``: noise on the averages. ``"local"``: every record adds noise to its own report.
    records, size
        The records of audited databases and their number, by default one for each query.

    Raises
    ------
    InvalidValue
        A parameter is out of range, or a record is not a point of [0, 1]^d.

    Guarantee
    ---------
    epsilon-differential privacy when one record is replaced, and epsilon-local privacy in the local model. A
    query depends only on earlier answers, and each record affects only one answer (`ChunkNoise`).

    With `sample_size` independent points all answers are within tau, with probability 1 − beta. If the
    clusters tolerate such errors (`is_steady`), every coordinate of the final centres is within
    2·tau/least_mass of Lloyd's iteration on the law itself.

    Examples
    --------
    >>> import numpy as np
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
    accuracy: ClassVar[str] = "tau"

    def __post_init__(self) -> None:
        finite_number(self.beta, what=f"The `beta` of `{type(self).__name__}`", above=0, below=0.5)
        if self.algorithm.accuracy >= _WORTHLESS:
            raise InvalidValue(
                f"The 2·tau/least_mass of `{type(self).__name__}`, how far a centre in [0, 1]^d may be off, "
                f"must be below {_WORTHLESS:g}; got {self.algorithm.accuracy:g}."
            )
        self._settle(tuple((value,) * self.algorithm.dimension for value in (0.0, 0.4, 1.0)))

    @property
    def algorithm(self) -> KMeansQueries:
        """The SQ algorithm that is run."""
        return KMeansQueries(self.start, self.rounds, self.tau, self.least_mass)

    @property
    def _needed(self) -> int:
        """The number of points that the utility claim needs.

        Examples
        --------
        >>> KMeans().sample_size()
        45116
        """
        queries = self.algorithm.queries(self.algorithm.start) * self.rounds
        return len(queries) * ChunkNoise(self.model, self.epsilon).chunk_size(queries, beta=self.beta)

    @property
    def utility_claim(self) -> Accuracy | None:
        """The accuracy claimed on `sample_size` points.

        On a steady law (`is_steady`), every coordinate is within 2·tau/least_mass of Lloyd's. None if
        `problems` finds no steady law.

        Examples
        --------
        >>> KMeans().utility_claim, KMeans(rounds=2, start=((0.45,), (0.55,))).utility_claim
        (Accuracy(alpha=0.2, beta=0.1), None)
        """
        return Accuracy(self.algorithm.accuracy, self.beta) if self.problems() else None

    def problems(self) -> list[ClusterProblem]:
        """Return problems on which `is_steady` holds, with `sample_size` points."""
        return cluster_problems(self.algorithm, examples=self.sample_size())

    def random(self, rng: np.random.Generator) -> ClusterProblem:
        """Return a random problem on which `is_steady` holds."""
        found = random_clusters(self.algorithm, examples=self.sample_size(), rng=rng)
        return self.problems()[0] if found is None else found

    @property
    def _wanted(self) -> str:
        return f"a point of [0, 1]^{self.algorithm.dimension}"

    def _is_record(self, record: Any) -> bool:
        try:
            return len(record) == self.algorithm.dimension and all(0.0 <= value <= 1.0 for value in record)
        except TypeError:
            return False


_AT_SIZE: dict[str, Any] = {
    "start": ((0.1, 0.1), (0.9, 0.9)),
    "rounds": 2,
    "tau": 0.03,
    "least_mass": 0.3,
    "beta": 0.1,
    "calm": (0.1, 0.1),
    "odd": (0.9, 0.9),
    "placed": {"audited": 12_000, "places": (500, 10_500), "labels": None},
}
"""Each chunk has 1,000 records. The pairs replace a record read by a mass query of round 1 or of round 2."""

entries = in_both_models(
    KMeans,
    summaries=(
        "k-means by adaptive queries (no law)",
        "k-means by adaptive queries, local (no law)",
        "two centres in the plane, two rounds",
    ),
    stated=_AT_SIZE,
    formulas=parities.k_means,
    options={"budget": 20_000},
    runs=(30_000, 20_000),
)
