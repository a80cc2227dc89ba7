"""Binary randomized response for a ±1 query."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.catalogue import Entry
from audit.errors import InvalidValue, finite_number, flag
from audit.relations import Relation
from mechanisms.formulas import responses
from mechanisms.local.bounded import BoundedQuery
from mechanisms.local.laplace import only_record, widest_records
from mechanisms.responses.binary import RandomizedResponse
from mechanisms.subjects.claimed import ClaimsItsEpsilon

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from audit.distributions import Finite
    from mechanisms.subjects.neighbours import Pair

__all__ = ["SignResponse"]


@dataclass(frozen=True, kw_only=True)
class SignResponse(ClaimsItsEpsilon):
    """Reports whether a query is 1 or −1, truthfully with probability e^ε/(e^ε + 1).

    Parameters
    ----------
    epsilon
        The privacy of the entry, > 0.
    query
        The query g. It takes an entry and returns −1 or 1. Default: the entry itself.
    vectorised
        Whether `query` takes an array of entries and returns all values.
    records
        The possible entries, for the audit.

    Raises
    ------
    InvalidValue
        `epsilon` is out of range, or a value is neither −1 nor 1.

    Guarantee
    ---------
    epsilon-local differential privacy, because it is `RandomizedResponse` on the value g(u) of an entry u. A
    report has the expectation g(u)·tanh(epsilon/2).

    Examples
    --------
    >>> law = SignResponse(epsilon=math.log(2)).distribution([1])
    >>> round(law.pmf(1), 12), round(law.pmf(-1), 12)
    (0.666666666667, 0.333333333333)
    """

    epsilon: float = 1.0
    query: Callable[[Any], Any] | None = None
    vectorised: bool = False
    records: Sequence[Any] = (-1, 1)

    name: ClassVar[str] = "local-sign-response"
    reference: ClassVar[str] = "K11 §1.1 (Warner) and Definition 5.1, for g: D → {−1, 1}"
    relation: ClassVar[Relation] = Relation.LOCAL
    size: ClassVar[int] = 1
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        flag(self.vectorised, what=f"The `vectorised` of `{type(self).__name__}`")
        finite_number(self.epsilon, what=f"The `epsilon` of `{type(self).__name__}`", above=0)

    @property
    def truth(self) -> float:
        """Probability that the truth is reported."""
        return RandomizedResponse(epsilon=self.epsilon).truth

    @property
    def shrinkage(self) -> float:
        """The factor tanh(epsilon/2) by which the mean of a report is too small."""
        return math.tanh(self.epsilon / 2.0)

    def values(self, entries: Any) -> NDArray[np.float64]:
        """Return g of every entry.

        Raises
        ------
        InvalidValue
            A value is neither −1 nor 1.

        Examples
        --------
        >>> SignResponse(query=lambda u: 1 if u > 3 else -1).values([2, 4])
        array([-1.,  1.])
        """
        owner = type(self).__name__
        bounded = BoundedQuery(self.query, bound=1.0, vectorised=self.vectorised, owner=owner)
        values = bounded.values(entries)
        if (odd := np.abs(values) != 1.0).any():
            raise InvalidValue(f"The query of `{owner}` must be −1 or 1; got {float(values[odd][0]):g}.")
        return values

    def respond(self, entries: Any, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return one report of every entry, drawn independently.

        Examples
        --------
        >>> SignResponse(epsilon=800.0).respond([1, -1], np.random.default_rng(0))
        array([ 1, -1])
        """
        values = self.values(entries)
        honest = rng.random(len(values)) < self.truth
        return np.where(honest, values, -values).astype(np.int64)

    def __call__(self, database: Sequence[Any], rng: np.random.Generator) -> int:
        """Return one report of the entry."""
        return int(self.sample(database, 1, rng)[0])

    def sample(self, database: Sequence[Any], size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return `size` reports of the entry.

        Whether run i tells the truth does not depend on the entry.
        """
        value = int(self.values([only_record(database, owner=type(self).__name__)])[0])
        return np.where(rng.random(size) < self.truth, value, -value).astype(np.int64)

    def distribution(self, database: Sequence[Any]) -> Finite:
        """Return the exact law of a report."""
        from audit.distributions import Finite

        value = int(self.values([only_record(database, owner=type(self).__name__)])[0])
        bits = RandomizedResponse(epsilon=self.epsilon).distribution([(value + 1) // 2])
        assert isinstance(bits, Finite)
        return Finite([-1, 1], log_probabilities=bits.log_probabilities)

    def suggested_pairs(self) -> list[Pair]:
        """Return two entries with different answers."""
        return widest_records(self.values, self.records)


entry = Entry(
    "local-sign-response",
    SignResponse,
    reference=SignResponse.reference,
    summary="randomized response to a ±1 query",
    formulas=responses.signs,
)
