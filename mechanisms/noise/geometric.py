"""The geometric mechanism for integer queries, and its truncated form."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.catalogue import Entry
from audit.errors import InvalidKind, InvalidValue, finite_number, positive_int
from audit.relations import Relation
from mechanisms.formulas import noise
from mechanisms.noise.noises import GeometricNoise
from mechanisms.subjects.claimed import ClaimsItsEpsilon
from mechanisms.subjects.neighbours import Pair, widest_pairs
from mechanisms.subjects.plain_queries import total

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from audit.distributions import Countable, Finite

__all__ = ["GeometricMechanism", "TruncatedGeometricMechanism"]

_LARGEST_ANSWER = 2**53
"""Largest integer answer that the mechanism accepts."""


@dataclass(frozen=True, kw_only=True)
class _NoisyInteger(ClaimsItsEpsilon):
    """The common part of the two geometric mechanisms."""

    epsilon: float = 1.0
    query: Callable[[Any], Any] = total
    sensitivity: int = 1
    relation: Relation = Relation.REPLACE_ONE
    records: Sequence[Any] = (0, 1)
    size: int | tuple[int, int] = 3

    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        owner = type(self).__name__
        finite_number(self.epsilon, what=f"The `epsilon` of `{owner}`", above=0)
        what = f"The `sensitivity` of `{owner}`"
        finite_number(positive_int(self.sensitivity, what=what, maximum=None), what=what)
        GeometricNoise(self.rate)

    @property
    def rate(self) -> float:
        """The rate ln α = epsilon/sensitivity of the noise."""
        return self.epsilon / self.sensitivity

    def answer(self, database: Any) -> int:
        """Return the query's exact answer, an integer."""
        answer = self.query(database)
        try:
            number = index(answer)
        except TypeError:
            raise InvalidKind(
                f"The answer of the query of `{type(self).__name__}` must be an integer; got {answer!r:.60}."
            ) from None
        if abs(number) > _LARGEST_ANSWER:
            raise InvalidValue(
                f"The answer of the query of `{type(self).__name__}` must be at most 2^53; got {number}."
            )
        return number

    def suggested_pairs(self) -> list[Pair]:
        """Return pairs of a constant database and a neighbour with another answer."""
        return widest_pairs(self._distance, relation=self.relation, records=self.records, size=self.size)

    def _distance(self, left: Any, right: Any) -> int:
        return abs(self.answer(left) - self.answer(right))

    def _noisy(self, database: Any, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        return self.answer(database) + GeometricNoise(self.rate).sample(size, rng)


@dataclass(frozen=True, kw_only=True)
class GeometricMechanism(_NoisyInteger):
    """Answers an integer query with two-sided geometric noise.

    The parameter of the noise is α = e^(epsilon/sensitivity).

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0.
    query
        The query f, which takes a database and returns an integer. Default: the sum of the records.
    sensitivity
        The most Δf by which f changes between neighbours, a whole number ≥ 1. It is not checked.
    relation, records, size
        Which databases are neighbours, their possible records, and their length (or least and greatest).

    Raises
    ------
    InvalidValue
        `epsilon` or `sensitivity` is out of range, epsilon/sensitivity is below 1e-12, or an answer is above
        2^53.
    InvalidKind
        The query's answer is no integer.

    Guarantee
    ---------
    epsilon-differential privacy under `relation` (C §2). The noise law p(k) = (α − 1)/(α + 1)·α^(−|k|) has
    p(k + j)/p(k) = α^(|k| − |k + j|) ≤ α^|j|. (C prints |k − j| in place of |k + j|.) So the probabilities on
    neighbours differ by at most the factor α^Δf = e^epsilon. This holds on a computer too, as far as numpy's
    generator draws geometric variables exactly.

    Examples
    --------
    >>> import math
    >>> mechanism = GeometricMechanism(epsilon=math.log(2))
    >>> round(mechanism.distribution([1, 0, 1]).pmf(2), 12)
    0.333333333333
    """

    name: ClassVar[str] = "geometric"
    reference: ClassVar[str] = "C §2"

    def __call__(self, database: Any, rng: np.random.Generator) -> int:
        """Return one noisy answer."""
        return int(self._noisy(database, 1, rng)[0])

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return `size` noisy answers. The noise of run i does not depend on the database."""
        return self._noisy(database, size, rng)

    def distribution(self, database: Any) -> Countable:
        """Return the exact law of an answer."""
        return GeometricNoise(self.rate).law(self.answer(database))

    def error_bound(self, beta: float) -> int:
        """Return the least error that is exceeded with probability at most `beta`.

        Guarantee
        ---------
        See `GeometricNoise.bound`. No smaller whole number is enough.

        Examples
        --------
        >>> GeometricMechanism(epsilon=1.0).error_bound(0.05)
        3
        """
        return GeometricNoise(self.rate).bound(beta)


@dataclass(frozen=True, kw_only=True)
class TruncatedGeometricMechanism(_NoisyInteger):
    """Answers an integer query with geometric noise, clamped into {0 … upper}.

    Parameters
    ----------
    epsilon, query, sensitivity, relation, records, size
        As in `GeometricMechanism`.
    upper
        A whole number ≥ 1. Answers below 0 become 0, answers above `upper` become `upper`.

    Raises
    ------
    InvalidValue
        As in `GeometricMechanism`, or `upper` is out of range.

    Guarantee
    ---------
    epsilon-differential privacy under `relation` (C §2). Clamping is a function of the geometric mechanism's
    output, and post-processing cannot lose privacy (K11 Claim 2.2). The exact answer may lie outside the
    range. No smaller epsilon holds, because Pr[0] = α^(−a)/(1 + α^(−1)) for an exact answer a in the range.
    Conditioning on the range instead would cost more than epsilon
    (`mechanisms.flawed.RenormalisedGeometric`).

    Examples
    --------
    >>> import math
    >>> law = TruncatedGeometricMechanism(epsilon=math.log(2), upper=3).distribution([1, 0, 0])
    >>> [round(law.pmf(k), 9) for k in range(4)]
    [0.333333333, 0.333333333, 0.166666667, 0.166666667]
    """

    upper: int = 3

    name: ClassVar[str] = "truncated-geometric"
    reference: ClassVar[str] = "C §2; clamping, not conditioning"

    def __post_init__(self) -> None:
        super().__post_init__()
        positive_int(self.upper, what=f"The `upper` of `{type(self).__name__}`", maximum=_LARGEST_ANSWER)

    def __call__(self, database: Any, rng: np.random.Generator) -> int:
        """Return one noisy answer in {0 … upper}."""
        return int(self.sample(database, 1, rng)[0])

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return `size` noisy answers in {0 … upper}."""
        return np.clip(self._noisy(database, size, rng), 0, self.upper)

    def distribution(self, database: Any) -> Finite:
        """Return the exact law of an answer."""
        from audit.distributions import Finite

        return Finite.from_clamped(GeometricNoise(self.rate).law(self.answer(database)), 0, self.upper)

    def error_bound(self, beta: float) -> int:
        """Return a bound that the error exceeds with probability at most `beta`.

        Guarantee
        ---------
        The error is the distance to the clamped exact answer. Clamping moves no two numbers further apart, so
        `GeometricNoise.bound` holds. The error never exceeds `upper`.

        Examples
        --------
        >>> TruncatedGeometricMechanism(epsilon=0.01, upper=3).error_bound(0.05)
        3
        """
        return min(GeometricNoise(self.rate).bound(beta), self.upper)


entries = (
    Entry(
        GeometricMechanism.name,
        GeometricMechanism,
        reference=GeometricMechanism.reference,
        summary="a count with two-sided geometric noise",
        formulas=noise.geometric,
    ),
    Entry(
        TruncatedGeometricMechanism.name,
        TruncatedGeometricMechanism,
        reference=TruncatedGeometricMechanism.reference,
        summary="a count with two-sided geometric noise, clamped into {0 … b}",
        formulas=noise.truncated_geometric,
    ),
)
