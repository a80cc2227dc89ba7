"""Parallel composition: mechanisms on disjoint parts of one database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from audit.errors import InvalidValue
from audit.relations import Relation, name_of
from audit.subject.subject import adapt
from mechanisms.composition.accounting import claimed, parallel_bound
from mechanisms.composition.combined import (
    Combined,
    columns_of,
    drawn,
    laid_out,
    law_of,
    product_of,
    rows,
    suggested,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from audit.claims import PrivacyClaim
    from audit.distributions import Product

__all__ = ["Parallel"]


@dataclass(frozen=True, kw_only=True)
class Parallel(Combined):
    """Run every mechanism on its own part of the database.

    Parameters
    ----------
    parts
        Mechanisms that claim privacy for the same relation.
    part_of
        For ADD_OR_REMOVE_ONE: a function of a record that returns the number of its part. Default, for
        REPLACE_ONE and REPLACE_LABEL: the parts are consecutive blocks of equal length.
    relation, records, size
        As for any mechanism. Default: relation and records of the first part, and the sum of the sizes.

    Raises
    ------
    InvalidValue
        Neighbours could differ in two parts. With `part_of`, a replaced record may change its part. With
        blocks, an added record shifts all records after it.

    Guarantee
    ---------
    The privacy is `parallel_bound` of the parts' claims, because neighbours differ in one part only.

    Examples
    --------
    >>> from mechanisms import LaplaceMechanism
    >>> halves = Parallel(parts=[LaplaceMechanism(epsilon=0.5), LaplaceMechanism(epsilon=1.0)])
    >>> print(halves.claim, halves.size, halves.split([1, 0, 1, 1]))
    PureDP(epsilon=1) 6 [[1, 0], [1, 1]]
    """

    part_of: Callable[[Any], int] | None = None

    name: ClassVar[str] = "parallel-composition"
    reference: ClassVar[str] = "B Theorem 7, the chunks S_i"

    def __post_init__(self) -> None:
        super().__post_init__()
        right = (
            (Relation.REPLACE_ONE, Relation.REPLACE_LABEL)
            if self.part_of is None
            else (Relation.ADD_OR_REMOVE_ONE,)
        )
        if self.relation not in right:
            how = "by position" if self.part_of is None else "by `part_of`"
            raise InvalidValue(
                f"The parts of `Parallel` must be told apart so that neighbours differ in one; {how} they "
                f"are not, for {name_of(self.relation)}."
            )

    @property
    def claim(self) -> PrivacyClaim:
        """The privacy claimed, with the largest epsilon and delta of the parts."""
        return parallel_bound(claimed(subject) for subject in self.subjects())

    def split(self, database: Sequence[Any]) -> list[Any]:
        """Return the parts of a database."""
        count, length = len(self.parts), len(database)
        if self.part_of is None:
            return [database[length * i // count : length * (i + 1) // count] for i in range(count)]
        found: list[list[Any]] = [[] for _ in self.parts]
        for record in database:
            place = self.part_of(record)
            if place not in range(count):
                raise InvalidValue(f"`part_of` must return one of 0 … {count - 1}; got {place!r:.40}.")
            found[place].append(record)
        return found

    def __call__(self, database: Any, rng: np.random.Generator) -> tuple[Any, ...]:
        """Return one output of each part."""
        pairs = zip(self.subjects(), self.split(database), strict=True)
        told = ((subject, part, subject.call(part, rng)) for subject, part in pairs)
        return tuple(value for subject, part, output in told for value in laid_out(subject, part, output))

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> Any:
        """Return `size` outputs, as a matrix or as tuples."""
        pairs = zip(self.subjects(), self.split(database), strict=True)
        told = [(subject, part, drawn(subject, part, size, rng=rng)) for subject, part in pairs]
        return rows(
            [column for subject, part, outputs in told for column in columns_of(subject, part, outputs)]
        )

    def distribution(self, database: Any) -> Product | None:
        """Return the exact law, or None if a part declares no law."""
        pairs = zip(self.subjects(), self.split(database), strict=True)
        return product_of([law_of(subject, part) for subject, part in pairs])

    def suggested_pairs(self) -> list[tuple[Any, Any]]:
        """Return a pair of whole databases for each suggested pair of a part.

        All other parts repeat one record. If `part_of` is given, there are no pairs.
        """
        if self.part_of is not None:
            return []
        count = len(self.parts)
        return [
            (
                _between(left, left[0], before=i, after=count - 1 - i),
                _between(right, left[0], before=i, after=count - 1 - i),
            )
            for i, subject in enumerate(self.subjects())
            for left, right in suggested(subject)
            if len(left)
        ]

    def total_size(self) -> Any:
        """Return the size of a whole database.

        If the parts' sizes are whole numbers, this is their sum. Otherwise it is the size of the first part.
        """
        sizes = [subject.size for subject in self.subjects()]
        if all(isinstance(size, int) for size in sizes):
            return sum(sizes)
        return adapt(self.parts[0]).size


def _between(part: Sequence[Any], filler: Any, *, before: int, after: int) -> list[Any]:
    """Return a database of `filler` with one part in its place."""
    return [filler] * (len(part) * before) + list(part) + [filler] * (len(part) * after)
