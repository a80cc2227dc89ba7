"""Laws of vectors of independent coordinates."""

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np

from audit.distributions.law import OUTSIDE, Ints, Law, Outputs, Partition
from audit.errors import InvalidKind


class Product(Law):
    """The law of a vector with independent coordinates.

    Outputs may be tuples, lists or one-dimensional arrays.

    Examples
    --------
    >>> from audit.distributions import Density
    >>> law = Product([Density.laplace(0.0, 1.0), Density.laplace(5.0, 1.0)])
    >>> law.sample(3, np.random.default_rng(0)).shape
    (3, 2)
    """

    def __init__(self, factors: Sequence[Law]) -> None:
        self.factors = tuple(factors)
        plain = [isinstance(factor, Law) and not isinstance(factor, Product) for factor in self.factors]
        if not plain or not all(plain):
            raise InvalidKind("The `factors` of `Product` must be one or more laws that are not products.")

    def support(self) -> tuple[Any, ...]:
        """Return the supports of the coordinates."""
        return tuple(factor.support() for factor in self.factors)

    def logpmf(self, output: Any) -> float:
        """Return the log-probability of one vector. It is −∞ if a coordinate has no atom."""
        return sum(_point_mass(factor, x) for factor, x in zip(self.factors, output, strict=True))

    def pmf(self, output: Any) -> float:
        """Return the probability of one vector."""
        return float(np.exp(self.logpmf(output)))

    def logpdf(self, output: Any) -> float:
        """Return the log-density of one vector whose coordinates all have densities."""
        factors: tuple[Any, ...] = self.factors
        return float(sum(factor.logpdf(x) for factor, x in zip(factors, output, strict=True)))

    def pdf(self, output: Any) -> float:
        """Return the density of one vector whose coordinates all have densities."""
        return float(np.exp(self.logpdf(output)))

    def sample(self, size: int, rng: np.random.Generator) -> Outputs:
        """Return `size` independent vectors.

        They are a matrix if all coordinates are numbers, else tuples.
        """
        columns = [factor.sample(size, rng) for factor in self.factors]
        if all(isinstance(column, np.ndarray) and column.dtype.kind in "iuf" for column in columns):
            return np.column_stack(columns)
        listed = [column.tolist() if isinstance(column, np.ndarray) else column for column in columns]
        return list(zip(*listed, strict=True))

    def bins(self, k: int) -> Partition:
        """Return a joint partition with about k cells. It cuts the first log₂ k coordinates in two."""
        first = self.factors[: max(1, int(np.log2(k)))]
        cells = [self._of_coordinate(i, factor.bins(2)) for i, factor in enumerate(first)]
        return reduce(_joint, cells)

    def partitions(self) -> list[Partition]:
        """Return partitions of single and of consecutive coordinates."""
        alone = [
            self._of_coordinate(i, partition)
            for i, factor in enumerate(self.factors)
            for partition in factor.partitions()
        ]
        quarters = [self._of_coordinate(i, factor.bins(4)) for i, factor in enumerate(self.factors)]
        together = [_joint(a, b) for a, b in pairwise(quarters)]
        return [*alone, *together]

    def extreme(self, sign: int) -> "Product":
        """Return the product of the coordinates' `extreme` laws."""
        return Product([factor.extreme(sign) for factor in self.factors])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Product) and self.factors == other.factors

    def __hash__(self) -> int:
        return hash(self.factors)

    def __repr__(self) -> str:
        return f"Product({list(self.factors)!r})"

    def _of_coordinate(self, index: int, partition: Partition) -> Partition:
        def locate(outputs: Outputs) -> Ints:
            fits, column = column_of(outputs, index, length=len(self.factors))
            cells = np.full(len(outputs), OUTSIDE, dtype=np.intp)
            cells[fits] = partition.locate(column)
            return cells

        return Partition(partition.log_probabilities, locate)


def column_of(outputs: Outputs, index: int, *, length: int) -> tuple[Any, Outputs]:
    """Return which outputs are vectors of this length, and their coordinate `index`."""
    if isinstance(outputs, np.ndarray) and outputs.ndim == 2:
        fit = outputs.shape[1] == length
        return np.full(len(outputs), fit), outputs[:, index] if fit else []
    fits = np.array([is_vector(output, length) for output in outputs], dtype=bool)
    return fits, [output[index] for output, fit in zip(outputs, fits, strict=True) if fit]


def is_vector(output: Any, length: int) -> bool:
    """Return whether an output is a vector of this length."""
    if isinstance(output, np.ndarray):
        return output.ndim == 1 and len(output) == length
    return isinstance(output, (tuple, list)) and len(output) == length


def _joint(first: Partition, second: Partition) -> Partition:
    width = len(second.log_probabilities)
    logs = np.add.outer(first.log_probabilities, second.log_probabilities).ravel()

    def locate(outputs: Outputs) -> Ints:
        a, b = first.locate(outputs), second.locate(outputs)
        return np.where((a >= 0) & (b >= 0), a * width + b, OUTSIDE)

    return Partition(logs, locate)


def _point_mass(factor: Any, x: Any) -> float:
    return float(factor.logpmf(x)) if hasattr(factor, "logpmf") else -np.inf
