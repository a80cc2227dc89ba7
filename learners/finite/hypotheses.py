"""Finite hypothesis classes with a truth table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidValue
from learners.concepts.base import check_concepts
from learners.concepts.bits import BitWords
from learners.finite.tables import LabelCounts, TruthTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from learners.concepts import ConceptClass

__all__ = ["Hypotheses", "sauer_bound"]


def sauer_bound(*, points: int, vc_dimension: int) -> int:
    """Return Sauer's bound on the number of labellings.

    Guarantee
    ---------
    A class of VC dimension v has at most Σ_{i ≤ v} C(points, i) labellings (Sauer's lemma, as in K11
    Corollary 3.6).

    Examples
    --------
    >>> sauer_bound(points=10, vc_dimension=2)
    56
    """
    return sum(math.comb(points, size) for size in range(min(points, vc_dimension) + 1))


@dataclass(frozen=True, eq=False)
class Hypotheses:
    """A finite class over a finite domain.

    Parameters
    ----------
    domain
        The points, distinct and hashable.
    names
        The name of each hypothesis in an output; distinct values, or a range.
    table
        The labels that the hypotheses give to the points, as bits.
    labels
        The labels that stand for bit 0 and bit 1 in a record.

    Raises
    ------
    InvalidValue
        There is no hypothesis or no point, a point comes twice, or the table's shape does not match.

    Examples
    --------
    >>> both = Hypotheses.of_rows([[0, 1], [1, 1]], domain="ab")
    >>> both.errors([("a", 1), ("b", 1)]).tolist(), both.index(1), both.index("?")
    ([1.0, 0.0], 1, None)
    """

    domain: Sequence[Any]
    names: Sequence[Any]
    table: TruthTable
    labels: tuple[Any, Any] = (0, 1)

    def __post_init__(self) -> None:
        if not len(self.names) or not len(self.domain):
            raise InvalidValue("A class must hold at least one hypothesis over at least one point.")
        if (self.table.hypotheses, self.table.points) != (len(self.names), len(self.domain)):
            raise InvalidValue(
                f"The truth table must have {len(self.names)} rows of {len(self.domain)} labels; "
                f"got {self.table.hypotheses} of {self.table.points}."
            )
        if len(self.places) != len(self.domain):
            raise InvalidValue("The points of a domain must be distinct.")

    @classmethod
    def of_rows(
        cls, rows: Any, *, domain: Sequence[Any], names: Sequence[Any] | None = None, labels: Any = (0, 1)
    ) -> Hypotheses:
        """Return the class with these rows of bits.

        Examples
        --------
        >>> Hypotheses.of_rows(np.eye(3), domain=range(3)).names
        range(0, 3)
        """
        matrix = np.asarray(rows)
        if matrix.ndim != 2:
            raise InvalidValue(f"The rows of a class must form a matrix; got {matrix.ndim} dimensions.")
        return cls(domain, range(len(matrix)) if names is None else names, TruthTable.of(matrix), labels)

    @classmethod
    def of(cls, concepts: ConceptClass | Hypotheses) -> Hypotheses:
        """Return a concept class as `Hypotheses` over its whole domain.

        Examples
        --------
        >>> from learners.concepts import PointClass
        >>> Hypotheses.of(PointClass(1)).table.rows().astype(int).tolist()
        [[1, 0], [0, 1]]
        """
        if isinstance(concepts, Hypotheses):
            return concepts
        check_concepts(concepts)
        domain, names = concepts.listed_domain(), concepts.listed_concepts()
        if len(domain) * len(names) >= _MOST_CELLS:
            raise InvalidValue(
                f"A truth table must have fewer than 2^32 labels; {len(names)} hypotheses over {len(domain)} "
                "points have more: take a smaller class, or problems of your own."
            )
        return cls(domain, names, TruthTable.of(concepts.table()), concepts.labels)

    @cached_property
    def places(self) -> dict[Any, int]:
        """The index of each point in the domain."""
        return {point: place for place, point in enumerate(self.domain)}

    @cached_property
    def records(self) -> tuple[tuple[Any, Any], ...]:
        """Every pair (x, y)."""
        if isinstance(self.domain, range | BitWords):
            return _records_of(self.domain, self.labels, tuple(map(type, self.labels)))
        return _pairs(self.domain, self.labels)

    @cached_property
    def _indices(self) -> dict[Any, int]:
        return {name: index for index, name in enumerate(self.names)}

    def index(self, name: Any) -> int | None:
        """Return the index of a hypothesis, or None for anything else."""
        try:
            if isinstance(self.names, range):
                return self.names.index(name) if name in self.names else None
            return self._indices.get(name)
        except (TypeError, ValueError):  # a value that cannot be hashed or compared is not a name
            return None

    def predict(self, name: Any, point: Any) -> Any:
        """Return the label that a hypothesis gives to a point.

        Raises
        ------
        InvalidValue
            There is no such hypothesis or point.
        """
        index, place = self.index(name), self.places.get(point)
        if index is None or place is None:
            raise InvalidValue(f"A hypothesis and a point of the class are wanted; got {name!r}, {point!r}.")
        return self.labels[int(self.table.row(index)[place])]

    def errors(self, database: Sequence[Any], *, owner: str = "It") -> NDArray[np.float64]:
        """Return how many records each hypothesis misclassifies."""
        return self.table.errors(self.counts(database, owner=owner))

    def counts(self, database: Sequence[Any], *, owner: str = "It") -> LabelCounts:
        """Return a database as counts."""
        return LabelCounts.of(database, places=self.places, labels=self.labels, owner=owner)

    def some(self, indices: NDArray[np.intp]) -> Hypotheses:
        """Return the class of the hypotheses at `indices`."""
        names = [self.names[index] for index in indices.tolist()]
        table = TruthTable(np.ascontiguousarray(self.table.packed[:, indices]), self.table.points)
        return Hypotheses(self.domain, names, table, self.labels)

    @cached_property
    def vc_dimension(self) -> int:
        """The exact VC dimension."""
        from learners.concepts.shattering import vc_dimension

        return vc_dimension(self.table.rows())

    def distinct(self) -> Hypotheses:
        """Return the class with one hypothesis for each labelling.

        Examples
        --------
        >>> Hypotheses.of_rows([[0, 1], [0, 1], [1, 1]], domain="ab").distinct().names
        [0, 2]
        """
        return self.some(self.table.dichotomies())


_MOST_CELLS = 2**32
"""From this many labels on, a truth table takes 4 GiB or more before it is packed."""


@lru_cache(maxsize=64)
def _records_of(
    domain: range | BitWords, labels: tuple[Any, Any], kinds: tuple[type, ...]
) -> tuple[tuple[Any, Any], ...]:
    """Return all (x, y) from a cache."""
    del kinds
    return _pairs(domain, labels)


def _pairs(domain: Sequence[Any], labels: tuple[Any, Any]) -> tuple[tuple[Any, Any], ...]:
    return tuple((point, label) for point in domain for label in labels)
