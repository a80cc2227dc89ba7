"""The class C^label of the mistakes that concepts make."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from learners.concepts.base import ConceptClass

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["LabelClass"]


@dataclass(frozen=True)
class LabelClass(ConceptClass):
    """The class C^label of the mistakes that concepts make (BNS §5.1).

    For every c in C, c^label(x, y) is 1 if c(x) ≠ y, else 0.

    Parameters
    ----------
    of
        The class C. A point of C^label is (x, y) with y a label of C. The concepts are those of C.

    Notes
    -----
    C^label has the VC dimension of C, because c^label(x, y) = c(x) ⊕ y. A set of (x, y) with distinct x is
    shattered if and only if C shatters these x. A set that contains (x, 0) and (x, 1) is never shattered.

    Examples
    --------
    >>> from learners.concepts import PointClass
    >>> wrong = LabelClass(PointClass(1))
    >>> wrong.label(0, (0, 1)), wrong.label(0, (0, 0)), wrong.vc_dimension()
    (0, 1, 1)
    """

    of: ConceptClass

    @property
    def concepts(self) -> Sequence[Any]:
        """The concepts of C."""
        return self.of.concepts

    @property
    def domain(self) -> Sequence[Any]:
        """Every (x, y), point by point."""
        return list(product(self.of.listed_domain(), self.of.labels))

    def says(self, concept: Any, points: Sequence[Any]) -> NDArray[np.bool_]:
        """Return whether a concept of C errs on each point."""
        inputs, signs = self.of.split(points)
        return self.of.says(concept, inputs) ^ signs

    def table(self, points: Sequence[Any] | None = None) -> NDArray[np.bool_]:
        """Return whether each concept of C errs on each point."""
        inputs, signs = self.of.split(self.domain if points is None else points)
        return self.of.table(inputs) ^ signs

    def vc_dimension(self) -> int:
        """Return the VC dimension of C."""
        return self.of.vc_dimension()
