"""The base class of mechanisms that are composed of other mechanisms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidValue
from audit.relations import Relation, name_of
from audit.subject.subject import Subject, adapt
from mechanisms.composition.accounting import claimed
from mechanisms.subjects.parameters import PlainParameters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from audit.distributions import Law, Product

__all__ = [
    "Combined",
    "columns_of",
    "drawn",
    "laid_out",
    "law_of",
    "listed",
    "product_of",
    "rows",
    "suggested",
]


@dataclass(frozen=True, kw_only=True)
class Combined(PlainParameters):
    """Several mechanisms for the same relation.

    Parameters
    ----------
    parts
        Mechanisms that claim privacy for the same relation.
    relation, records, size
        As for any mechanism. Default: those of the first part.

    Raises
    ------
    InvalidValue
        There are no parts, one of them claims nothing, or they claim for different relations.

    Examples
    --------
    >>> from mechanisms.responses.binary import RandomizedResponse
    >>> Combined(parts=[RandomizedResponse()]).records
    [0, 1]
    """

    parts: Sequence[Any]
    relation: Any = None
    records: Any = None
    size: int | tuple[int, int] | None = None

    def __post_init__(self) -> None:
        if not len(self.parts):
            raise InvalidValue(f"The `parts` of `{type(self).__name__}` must hold at least one; got none.")
        subjects = self.subjects()
        _ = [claimed(subject) for subject in subjects]
        relations = [subject.relation or Relation.REPLACE_ONE for subject in subjects]
        given = [relation for relation in (self.relation, *relations) if relation is not None]
        if any(relation is not given[0] for relation in given):
            names = ", ".join(dict.fromkeys(map(name_of, given)))
            raise InvalidValue(
                f"The `parts` of `{type(self).__name__}` must claim privacy for the same neighbours; "
                f"got {names}."
            )
        for name, value in (
            ("relation", given[0]),
            ("records", subjects[0].records),
            ("size", self.total_size()),
        ):
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)

    @property
    def aligned(self) -> bool:
        """Whether run i uses the generator in the same way on every database."""
        return all(subject.aligned for subject in self.subjects())

    def subjects(self) -> list[Subject]:
        """Return the parts as subjects."""
        return [adapt(part) for part in self.parts]

    def total_size(self) -> Any:
        """Return the number of records in a whole database."""
        return adapt(self.parts[0]).size


def drawn(subject: Subject, database: Any, size: int, *, rng: np.random.Generator) -> Any:
    """Return `size` outputs of a mechanism.

    Examples
    --------
    >>> drawn(adapt(len), [1, 2], 3, rng=np.random.default_rng(0))
    [2, 2, 2]
    """
    if subject.declared_sampler is not None:
        return subject.declared_sampler(subject.prepare(database), size, rng)
    return [subject.call(database, rng) for _ in range(size)]


def listed(outputs: Any) -> list[Any]:
    """Return outputs as a list of Python numbers, arrays or other objects.

    Examples
    --------
    >>> listed(np.array([1.5, 2.0]))
    [1.5, 2.0]
    """
    if isinstance(outputs, np.ndarray):
        return outputs.tolist() if outputs.ndim == 1 else list(outputs)
    return list(outputs)


def rows(columns: list[Any]) -> Any:
    """Return the outputs of several parts, one row per run.

    If all outputs are numbers the result is a matrix, otherwise a list of tuples.

    Examples
    --------
    >>> rows([np.array([1.5, 2.0]), ["a", "b"]])
    [(1.5, 'a'), (2.0, 'b')]
    """
    if all(isinstance(c, np.ndarray) and c.ndim == 1 and c.dtype.kind in "iuf" for c in columns):
        return np.column_stack(columns)
    return list(zip(*map(listed, columns), strict=True))


def laid_out(subject: Subject, database: Any, output: Any) -> list[Any]:
    """Return one output of a mechanism as a list.

    The list has the coordinates of a vector, or else the output itself. A vector is an array of one
    dimension, or a tuple if the law is a product.

    Examples
    --------
    >>> laid_out(adapt(len), [], np.array([1.5, 2.0])), laid_out(adapt(len), [], (1, 2))
    ([1.5, 2.0], [(1, 2)])
    """
    if isinstance(output, np.ndarray) and output.ndim == 1:
        return list(output.tolist())
    return list(output) if isinstance(output, tuple) and _is_vector(subject, database) else [output]


def columns_of(subject: Subject, database: Any, outputs: Any) -> list[Any]:
    """Return many outputs of a mechanism as columns, one per coordinate.

    Examples
    --------
    >>> [column.tolist() for column in columns_of(adapt(len), [], np.array([[1, 2], [3, 4]]))]
    [[1, 3], [2, 4]]
    """
    if isinstance(outputs, np.ndarray):
        return list(outputs.T) if outputs.ndim == 2 else [outputs]
    first = outputs[0] if len(outputs) else None
    if isinstance(first, np.ndarray) and first.ndim == 1:
        return list(np.array(outputs).T)
    if isinstance(first, tuple) and _is_vector(subject, database):
        return [list(column) for column in zip(*outputs, strict=True)]
    return [outputs]


def _is_vector(subject: Subject, database: Any) -> bool:
    from audit.distributions import Product

    return isinstance(law_of(subject, database), Product)


def law_of(subject: Subject, database: Any) -> Law | None:
    """Return the exact law of a mechanism's output, or None.

    Examples
    --------
    >>> law_of(adapt(len), []) is None
    True
    """
    law = subject.distribution
    return None if law is None else law(database)


def product_of(laws: list[Law | None]) -> Product | None:
    """Return the joint law of independent outputs, or None.

    Examples
    --------
    >>> product_of([None]) is None
    True
    """
    from audit.distributions import Product

    factors: list[Law] = []
    for law in laws:
        if law is None:
            return None
        factors += law.factors if isinstance(law, Product) else [law]
    return Product(factors)


def suggested(subject: Subject) -> list[tuple[Any, Any]]:
    """Return the pairs of databases that a mechanism suggests for its audit.

    Examples
    --------
    >>> suggested(adapt(len))
    []
    """
    return [] if subject.suggested_pairs is None else list(subject.suggested_pairs())
