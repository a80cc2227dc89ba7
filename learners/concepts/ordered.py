"""Classes over the numbers 0 … 2^d − 1."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidValue, positive_int
from audit.values.brief import show
from learners.concepts.base import ConceptClass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["IntervalClass", "PointClass"]


@dataclass(frozen=True)
class _OnNumbers(ConceptClass):
    """A class on the numbers 0 … 2^dimension − 1."""

    dimension: int

    def __post_init__(self) -> None:
        positive_int(self.dimension, what=f"The `dimension` of `{type(self).__name__}`")

    @property
    def domain(self) -> range:
        """The numbers 0 … 2^dimension − 1."""
        return range(2**self.dimension)

    def vc_dimension(self) -> int:
        """Return 1.

        No concept of POINT is 1 at two points. A concept of INTERVAL that is 1 at x is 1 at all points below.
        """
        return 1

    def says(self, concept: Any, points: Sequence[Any]) -> NDArray[np.bool_]:
        """Return a concept's labels of points, shape (points,)."""
        return np.asarray(self._labels(concept, self._numbers(points)), dtype=np.bool_)

    def table(self, points: Sequence[Any] | None = None) -> NDArray[np.bool_]:
        """Return every concept's labels of points, as `ConceptClass.table`."""
        points = self.listed_domain() if points is None else points
        concepts, numbers = self.listed_concepts(), self._numbers(points)
        rows = [self._labels(concept, numbers) for concept in concepts]
        return np.array(rows, dtype=np.bool_).reshape(len(rows), len(points))

    @abstractmethod
    def _labels(self, concept: Any, numbers: NDArray[Any]) -> Any:
        """Return a concept's labels of numbers."""

    def _numbers(self, points: Sequence[Any]) -> NDArray[Any]:
        """Return points as int64 if they fit, else as Python ints."""
        ends = (*points[:1], *points[-1:]) if isinstance(points, range) else points
        for point in ends:
            whole = isinstance(point, (int, np.integer)) and not isinstance(point, bool)
            if not whole or not 0 <= point < 2**self.dimension:
                raise InvalidValue(
                    f"A point of `{type(self).__name__}` must be a whole number from 0 to "
                    f"2^{self.dimension} − 1; got {show(point)}."
                )
        return np.array(points, dtype=object if self.dimension > 63 else np.int64)


@dataclass(frozen=True)
class PointClass(_OnNumbers):
    """The class of points, POINT_d in BNS §3.1.

    For j in 0 … 2^d − 1, concept c_j is 1 at x = j only.

    Examples
    --------
    >>> points = PointClass(64)
    >>> points.label(2**64 - 1, 2**64 - 1), points.size == 2**64, points.vc_dimension()
    (1, True, 1)
    """

    @property
    def concepts(self) -> range:
        """The numbers j."""
        return self.domain

    def _labels(self, concept: Any, numbers: NDArray[Any]) -> Any:
        return numbers == concept


@dataclass(frozen=True)
class IntervalClass(_OnNumbers):
    """The class of thresholds, INTERVAL_d in BNS §3.2.

    For j in 0 … 2^d, concept c_j is 1 at x < j.

    Examples
    --------
    >>> intervals = IntervalClass(2)
    >>> intervals.table().astype(int).tolist()
    [[0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]
    """

    @property
    def concepts(self) -> range:
        """The thresholds j = 0 … 2^d."""
        return range(2**self.dimension + 1)

    def _labels(self, concept: Any, numbers: NDArray[Any]) -> Any:
        return numbers < concept
