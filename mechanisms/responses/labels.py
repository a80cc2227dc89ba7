"""Randomized response on the labels of records with public features."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from audit.catalogue import Entry
from audit.errors import InvalidValue, positive_int
from audit.relations import Relation
from mechanisms.formulas import responses as formulas
from mechanisms.subjects.claimed import ClaimsPure

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from mechanisms.subjects.neighbours import Pair

__all__ = ["LabelResponse"]


@dataclass(frozen=True, kw_only=True)
class LabelResponse(ClaimsPure):
    """Publishes every (feature, label) with the label after randomized response.

    Parameters
    ----------
    epsilon
        The privacy claimed, > 0. A label is kept with probability e^epsilon/(e^epsilon + k − 1).
    labels
        The number k ≥ 2 of labels, which are 0 … k − 1.
    size
        Number of records of audited databases.

    Guarantee
    ---------
    epsilon-differential privacy when one *label* is replaced. The reports of other records keep their laws.
    Each probability of this record's report changes by the factor e^epsilon or not at all. If a feature can
    change, nothing is private.

    Examples
    --------
    >>> import numpy as np
    >>> [feature for feature, _ in LabelResponse()([("x", 0), ("y", 2)], np.random.default_rng(0))]
    ['x', 'y']
    """

    labels: int = 3
    size: int | tuple[int, int] = 2

    name: ClassVar[str] = "label-response"
    reference: ClassVar[str] = "K11 §1.1 and Definition 5.1, for the label of a record"
    relation: ClassVar[Relation] = Relation.REPLACE_LABEL

    def __post_init__(self) -> None:
        super().__post_init__()
        positive_int(self.labels, what=f"The `labels` of `{type(self).__name__}`", minimum=2)

    @property
    def records(self) -> list[tuple[str, int]]:
        """Two features with every label."""
        return [(feature, label) for feature in ("x", "y") for label in range(self.labels)]

    def __call__(
        self, database: Sequence[tuple[Any, int]], rng: np.random.Generator
    ) -> tuple[tuple[Any, int], ...]:
        """Return the published records."""
        return tuple((feature, self._report(label, rng)) for feature, label in map(self._read, database))

    def _read(self, record: Any) -> tuple[Any, int]:
        """Return a feature and its label."""
        try:
            feature, label = record
            known = label in range(self.labels)
        except (TypeError, ValueError):
            known = False
        if not known:
            raise InvalidValue(
                f"A record of `{type(self).__name__}` must be a feature and a label from 0 to "
                f"{self.labels - 1}; got {record!r:.40}."
            )
        return feature, label

    def _report(self, label: int, rng: np.random.Generator) -> int:
        others = (self.labels - 1) * math.exp(-self.epsilon)  # total weight of the lies; the truth has 1
        if rng.random() * (1.0 + others) < 1.0:
            return label
        return (label + int(rng.integers(1, self.labels))) % self.labels

    def suggested_pairs(self) -> list[Pair]:
        """Return two databases that differ in one label."""
        return [([("x", 0), ("y", 0)], [("x", 1), ("y", 0)])]


entry = Entry(
    LabelResponse.name,
    LabelResponse,
    options={"budget": 30_000},
    reference=LabelResponse.reference,
    summary="features in clear, labels by randomized response (no law)",
    formulas=formulas.labels,
)
