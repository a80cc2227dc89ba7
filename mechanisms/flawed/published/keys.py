"""Mechanisms that publish keys too easily, without declared laws."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from audit.catalogue import Entry
from audit.relations import Relation
from mechanisms.comparison.threshold_release import ThresholdRelease
from mechanisms.flawed.published.on_records import OnRecords

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

__all__ = ["InclusiveThreshold", "KeysFromData"]


@dataclass(frozen=True, kw_only=True)
class KeysFromData(OnRecords):
    """A noisy count for every key that occurs in the data.

    A key that only one record has shows that record, so the loss is unbounded. Keys fixed in advance would be
    right, or a threshold and a delta (`ThresholdRelease`).

    Parameters
    ----------
    epsilon, size
        As in `OnRecords`.

    Examples
    --------
    >>> import numpy as np
    >>> [key for key, _ in KeysFromData()(["b", "a", "b"], np.random.default_rng(0))]
    ['a', 'b']
    """

    size: int | tuple[int, int] = (0, 3)

    name: ClassVar[str] = "flawed-keys-from-data"
    reference: ClassVar[str] = "Annamalai et al. 2024; hazy/dpart pull request 6; synthcity issue 278"
    relation: ClassVar[Relation] = Relation.ADD_OR_REMOVE_ONE

    @property
    def records(self) -> Any:
        """A Hypothesis strategy for a key, which is a short text."""
        from hypothesis import strategies  # loaded here only: a run does not need it

        return strategies.text(max_size=3)

    def __call__(self, database: Sequence[str], rng: np.random.Generator) -> tuple[tuple[str, float], ...]:
        """Return every key with its noisy count."""
        counts = Counter(database)
        return tuple((key, counts[key] + rng.laplace(scale=1.0 / self.epsilon)) for key in sorted(counts))


@dataclass(frozen=True, kw_only=True)
class InclusiveThreshold(ThresholdRelease):
    """Publishes noisy counts that are equal to the threshold, too.

    The delta suits counts above the threshold. A key with one record is published with probability Pr[noise ≥
    threshold − 1], and never without the record. This is e^epsilon times the delta claimed: 0.01339 instead
    of 0.004926 at threshold 5 and epsilon = 1.

    Parameters
    ----------
    epsilon, threshold, size
        As in `ThresholdRelease`.

    Examples
    --------
    >>> InclusiveThreshold().is_released(5), ThresholdRelease().is_released(5)
    (True, False)
    """

    name: ClassVar[str] = "flawed-inclusive-threshold"
    reference: ClassVar[str] = "opendp/opendp issue 2922; google/differential-privacy pull request 101"

    # none suggested: the audit has to find the pair
    suggested_pairs: ClassVar[Any] = None

    def is_released(self, value: int) -> bool:
        """Return whether a noisy count is published."""
        return value >= self.threshold


entries = (
    Entry(
        KeysFromData.name,
        KeysFromData,
        expected="refuted",
        reference=KeysFromData.reference,
        summary="a count for every key in the data: unbounded",
    ),
    Entry(
        InclusiveThreshold.name,
        InclusiveThreshold,
        options={"records": ["a", "b"], "size": (0, 2)},
        expected="refuted",
        reference=InclusiveThreshold.reference,
        summary="publishes at the threshold too: δ 0.0134, not 0.0049",
    ),
)
