"""The Laplace mechanism for any query of bounded sensitivity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.catalogue import Entry
from audit.errors import InvalidValue, finite_number, positive_int
from audit.relations import Relation
from mechanisms.formulas import noise
from mechanisms.noise.noises import LaplaceNoise
from mechanisms.subjects.answers import floats
from mechanisms.subjects.claimed import ClaimsItsEpsilon
from mechanisms.subjects.neighbours import Pair, widest_pairs
from mechanisms.subjects.plain_queries import total

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from audit.distributions import Density, Product

__all__ = ["LaplaceMechanism"]


@dataclass(frozen=True, kw_only=True)
class LaplaceMechanism(ClaimsItsEpsilon):
    """Answers a query with Laplace noise of scale sensitivity/epsilon.

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0.
    query
        The query f. It takes a database, and returns a number, or a vector if `dimension` is given. Default:
        the sum.
    sensitivity
        The most Δf by which f changes between neighbours, in L1 norm for a vector. It is not checked. The
        default, 1, is right for the default query on the default records.
    dimension
        The length of the vector that the query returns, or None if it returns a number.
    relation, records, size
        Which databases are neighbours, their possible records, and their length (or least and greatest).

    Raises
    ------
    InvalidValue
        `epsilon`, `sensitivity` or sensitivity/epsilon is not a finite number > 0. The query's answer is not
        finite or has another shape.

    Guarantee
    ---------
    epsilon-differential privacy under `relation`, for real numbers (B Definition 2 generalised, Theorem 3;
    K11 Theorem 2.3; BNS Theorem 1). The low bits of double-precision noise reveal more. The density at v is Π
    exp(−|v_j − f(z)_j|/λ)/2λ with λ = Δf/epsilon. By the triangle inequality, the log-ratio between
    neighbours is at most ‖f(z) − f(z′)‖₁/λ ≤ epsilon. Points v beyond f(z) as seen from f(z′) attain the
    bound ‖f(z) − f(z′)‖₁/λ.

    Examples
    --------
    >>> mechanism = LaplaceMechanism(epsilon=0.5)
    >>> print(mechanism.claim, mechanism.scale)
    PureDP(epsilon=0.5) 2.0
    >>> mechanism.distribution([1, 0, 1]).cdf(2.0)
    0.5
    """

    epsilon: float = 1.0
    query: Callable[[Any], Any] = total
    sensitivity: float = 1.0
    dimension: int | None = None
    relation: Relation = Relation.REPLACE_ONE
    records: Sequence[Any] = (0, 1)
    size: int | tuple[int, int] = 3

    name: ClassVar[str] = "laplace"
    reference: ClassVar[str] = "B Definition 2 (any f) and Theorem 3; K11 Theorem 2.3; BNS Theorem 1"
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        owner = type(self).__name__
        finite_number(self.epsilon, what=f"The `epsilon` of `{owner}`", above=0)
        finite_number(self.sensitivity, what=f"The `sensitivity` of `{owner}`", above=0)
        if self.dimension is not None:
            positive_int(self.dimension, what=f"The `dimension` of `{owner}`")
        LaplaceNoise(self.scale)

    @property
    def scale(self) -> float:
        """Scale of the noise, sensitivity/epsilon."""
        return self.sensitivity / self.epsilon

    def answer(self, database: Any) -> float | NDArray[np.float64]:
        """Return the query's exact answer.

        Raises
        ------
        InvalidValue
            The answer is not finite or not of the declared shape.
        """
        answer = floats(self.query(database), what=f"The answer of the query of `{type(self).__name__}`")
        shape = () if self.dimension is None else (self.dimension,)
        if answer.shape != shape or not np.isfinite(answer).all():
            raise InvalidValue(
                f"The answer of the query of `{type(self).__name__}` must be finite, of shape {shape}; "
                f"got {answer.tolist()!r:.60}."
            )
        return float(answer) if self.dimension is None else answer

    def __call__(self, database: Any, rng: np.random.Generator) -> float | NDArray[np.float64]:
        """Return one noisy answer, as a float or an array of `dimension` floats."""
        answer = self.answer(database)
        if isinstance(answer, float):
            return answer + rng.laplace(0.0, self.scale)
        return answer + rng.laplace(0.0, self.scale, answer.shape)

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return `size` noisy answers, of shape (size,) or (size, dimension).

        The noise of run i does not depend on the database.
        """
        answer = self.answer(database)
        return answer + LaplaceNoise(self.scale).sample((size, *np.shape(answer)), rng)

    def distribution(self, database: Any) -> Density | Product:
        """Return the exact law of an answer."""
        return LaplaceNoise(self.scale).law(self.answer(database))

    def error_bound(self, beta: float) -> float:
        """Return the error that the largest coordinate exceeds with probability `beta`.

        Guarantee
        ---------
        If the query returns a number, the value is (sensitivity/epsilon)·ln(1/beta), exactly (BNS
        Theorem 1). For vectors see `LaplaceNoise.bound`.

        Examples
        --------
        >>> round(LaplaceMechanism(epsilon=2.0).error_bound(0.05), 6)
        1.497866
        """
        return LaplaceNoise(self.scale).bound(beta, coordinates=self.dimension or 1)

    def suggested_pairs(self) -> list[Pair]:
        """Return pairs of a constant database and a neighbour with another answer."""
        return widest_pairs(self._distance, relation=self.relation, records=self.records, size=self.size)

    def _distance(self, left: Any, right: Any) -> float:
        return float(np.abs(np.subtract(self.answer(left), self.answer(right))).sum())


entry = Entry(
    LaplaceMechanism.name,
    LaplaceMechanism,
    reference=LaplaceMechanism.reference,
    summary="a count with Laplace noise",
    formulas=noise.laplace,
)
