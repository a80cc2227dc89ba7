"""The local randomizer R_g, which adds Laplace noise to a bounded query."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.catalogue import Entry
from audit.errors import InvalidValue, finite_number, flag, positive_int
from audit.relations import Relation
from mechanisms.formulas import noise
from mechanisms.local.bounded import BoundedQuery
from mechanisms.noise.noises import LaplaceNoise
from mechanisms.subjects.claimed import ClaimsItsEpsilon

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from audit.distributions import Density, Product
    from mechanisms.subjects.neighbours import Pair

__all__ = ["LocalLaplace", "only_record", "widest_records"]


@dataclass(frozen=True, kw_only=True)
class LocalLaplace(ClaimsItsEpsilon):
    """The local randomizer R_g(u) = g(u) + Lap(2b/epsilon).

    g is a query with values in [−b, b], and u is an entry.

    Parameters
    ----------
    epsilon
        The privacy of the entry, > 0.
    query
        The query g. It takes an entry, and returns a number, or a vector if `dimension` is given. Default:
        the entry itself.
    bound
        The bound b > 0. A coordinate outside [−b, b] is refused, never clamped.
    dimension
        The length d of the vector that the query returns, or None if it returns a number.
    norm
        For vectors, the most that |g₁| + … + |g_d| can be. A value beyond is refused. Default: d·b.
    vectorised
        Whether `query` takes an array of entries and returns all values, entries along the first axis.
    records
        The possible entries, for the audit.

    Raises
    ------
    InvalidValue
        A parameter is out of range, a value lies outside [−b, b], or a database has more than one record.

    Guarantee
    ---------
    epsilon-local differential privacy (K11 §5.1.1, and Definition 5.1 applied to densities). Two values of g
    are at most Δ = 2b apart, two vectors at most Δ = 2·min(d·b, norm) in L1 norm. The noise has scale λ =
    Δ/epsilon on every coordinate. By the triangle inequality, the log-ratio of the densities is at most ‖g(u)
    − g(u′)‖₁/λ ≤ epsilon. If two entries attain Δ, epsilon is reached. This is about real numbers; the low
    bits of double-precision noise reveal more.

    Examples
    --------
    >>> randomizer = LocalLaplace(epsilon=0.5)
    >>> print(randomizer.claim, randomizer.scale)
    PureDP(epsilon=0.5) 4.0
    >>> round(randomizer.distribution([0.0]).pdf(0.0), 12)
    0.125
    """

    epsilon: float = 1.0
    query: Callable[[Any], Any] | None = None
    bound: float = 1.0
    dimension: int | None = None
    norm: float | None = None
    vectorised: bool = False
    records: Sequence[Any] = (-1, 0, 1)

    name: ClassVar[str] = "local-laplace"
    reference: ClassVar[str] = "K11 §5.1.1 (R_g) and Definition 5.1"
    relation: ClassVar[Relation] = Relation.LOCAL
    size: ClassVar[int] = 1
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        owner = type(self).__name__
        flag(self.vectorised, what=f"The `vectorised` of `{owner}`")
        finite_number(self.epsilon, what=f"The `epsilon` of `{owner}`", above=0)
        finite_number(self.bound, what=f"The `bound` of `{owner}`", above=0)
        if self.dimension is not None:
            positive_int(self.dimension, what=f"The `dimension` of `{owner}`")
        if self.norm is not None:
            finite_number(self.norm, what=f"The `norm` of `{owner}`", above=0)
            if self.dimension is None:
                raise InvalidValue(f"The `norm` of `{owner}` is for vectors: give a `dimension`, or no norm.")
        LaplaceNoise(self.scale)

    @property
    def scale(self) -> float:
        """Scale λ of the noise on every coordinate."""
        return self._bounded.sensitivity / self.epsilon

    def values(self, entries: Any) -> NDArray[np.float64]:
        """Return g of every entry, of shape (entries,) or (entries, dimension).

        Raises
        ------
        InvalidValue
            A value lies outside [−b, b].

        Examples
        --------
        >>> LocalLaplace(query=lambda u: -u).values([1, 0])
        array([-1.,  0.])
        """
        return self._bounded.values(entries)

    def respond(self, entries: Any, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return one answer of every entry, drawn independently.

        Examples
        --------
        >>> LocalLaplace().respond([1, 0, -1], np.random.default_rng(0)).shape
        (3,)
        """
        values = self.values(entries)
        noise: NDArray[np.float64] = rng.laplace(0.0, self.scale, values.shape)
        noise += values
        return noise

    def __call__(self, database: Sequence[Any], rng: np.random.Generator) -> float | NDArray[np.float64]:
        """Return one answer of the entry, as a float or an array of `dimension` floats."""
        answer = self.sample(database, 1, rng)[0]
        return float(answer) if self.dimension is None else np.asarray(answer)

    def sample(self, database: Sequence[Any], size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return `size` answers of the entry, of shape (size,) or (size, dimension).

        The noise of run i does not depend on the database.
        """
        value = self.values([only_record(database, owner=type(self).__name__)])[0]
        return np.asarray(value + LaplaceNoise(self.scale).sample((size, *value.shape), rng))

    def distribution(self, database: Sequence[Any]) -> Density | Product:
        """Return the exact law of an answer."""
        value = self.values([only_record(database, owner=type(self).__name__)])[0]
        return LaplaceNoise(self.scale).law(float(value) if self.dimension is None else value)

    def densities(self, entries: Any, answer: Any) -> NDArray[np.float64]:
        """Return the density of an answer for each entry, of shape (entries,).

        Examples
        --------
        >>> LocalLaplace().densities([0, 1], 0.0).round(6).tolist()
        [0.25, 0.151633]
        """
        away = np.abs(np.asarray(answer) - self.values(entries)).reshape(len(entries), -1)
        width = away.shape[1]
        found: NDArray[np.float64] = np.exp(-away.sum(axis=1) / self.scale) / (2.0 * self.scale) ** width
        return found

    def suggested_pairs(self) -> list[Pair]:
        """Return the two entries whose values are furthest apart."""
        return widest_records(self.values, self.records)

    @property
    def _bounded(self) -> BoundedQuery:
        return BoundedQuery(
            self.query,
            bound=self.bound,
            dimension=self.dimension,
            norm=self.norm,
            vectorised=self.vectorised,
            owner=type(self).__name__,
        )


def only_record(database: Sequence[Any], *, owner: str) -> Any:
    """Return the only record of a database.

    Raises
    ------
    InvalidValue
        The database has no record or several.

    Examples
    --------
    >>> only_record([3], owner="LocalLaplace")
    3
    """
    if len(database) != 1:
        raise InvalidValue(f"A database of `{owner}` must hold one record; got {len(database)}.")
    return database[0]


def widest_records(values: Callable[[Any], NDArray[np.float64]], records: Sequence[Any]) -> list[Pair]:
    """Return the two one-record databases with values furthest apart in L1 norm.

    Examples
    --------
    >>> widest_records(np.asarray, [0, 5, 2])
    [([0], [5])]
    """
    tried = list(records)[:64]
    if len(tried) < 2:
        return []
    images = values(tried).reshape(len(tried), -1)
    distances = np.abs(images[:, None] - images[None]).sum(axis=2)
    left, right = np.unravel_index(int(distances.argmax()), distances.shape)
    return [([tried[left]], [tried[right]])] if left != right else []


entries = (
    Entry(
        "local-laplace",
        LocalLaplace,
        reference=LocalLaplace.reference,
        summary="R_g: a value in [−b, b] with noise of scale 2b/ε",
        formulas=noise.local_laplace,
    ),
    Entry(
        "local-laplace-vector",
        partial(LocalLaplace, dimension=2, records=((-1, -1), (-1, 1), (1, 1))),
        reference=LocalLaplace.reference,
        summary="R_g for two coordinates, ε split evenly",
        formulas=noise.local_laplace,
    ),
    Entry(
        "local-laplace-one-hot",
        partial(LocalLaplace, dimension=3, norm=1.0, records=((1, 0, 0), (0, 1, 0), (0, 0, 1))),
        reference=LocalLaplace.reference,
        summary="R_g for one-hot vectors, of L1 sensitivity 2",
        formulas=noise.local_laplace,
    ),
)
